"""ps.compare: which of two pipelines is faster, by how much, and which stages make the difference."""
from . import _command, _pages
from ._errors import InvalidArgument
from ._quantities import rate_text, seconds_text, table


class Comparison:
    """Rates of two pipelines that were measured in turn; see ps.compare.

    ``ratio`` is the rate of b over that of a, ``interval`` its 95 % interval (low, high), None if they were measured once, as
    with a cache that fills. ``rates`` are both, elements per second. ``same_elements`` is None if they cannot be compared.
    ``stages`` are (name, CPU seconds per element in a, in b), None where a pipeline has no such stage; the largest difference
    first. ``data`` is all of it (docs/format/compare.md).
    """

    def __init__(self, data):
        self.data = data
        self.ratio, self.same_elements = data["ratio"]["value"], data["same_elements"]
        low, high = data["ratio"]["low"], data["ratio"]["high"]
        self.interval = None if low is None else (low, high)
        self.rates = (data["a"]["rate"], data["b"]["rate"])
        self.stages = [(s["stage"], s["a"], s["b"]) for s in data["stages"]]

    @property
    def verdict(self):
        """Which is faster, in a sentence."""
        if self.interval is None:
            return f"b runs at {self.ratio:.3g} times the rate of a, measured once, as its cache fills"
        low, high = self.interval
        pairs = f"({low:.3g} to {high:.3g}, {self.data['pairs']} pairs of runs)"
        if low <= 1 <= high:
            return f"no difference is certain: b runs at {self.ratio:.3g} times the rate of a {pairs}"
        return f"b is {'faster' if low > 1 else 'slower'}: {self.ratio:.3g} times the rate of a {pairs}"

    def _lines(self):
        same = {True: "the same", False: "NOT the same", None: "not comparable"}[self.same_elements]
        return [self.verdict, f"the first elements of both are {same}"]

    def _rows(self):
        a, b = self.data["a"], self.data["b"]
        per_stage = [("CPU time per element by stage", "", "")] if self.stages else []
        per_stage += [(f"- {name}", seconds_text(x), seconds_text(y)) for name, x, y in self.stages]
        return [("elements", *map(rate_text, self.rates)),
                ("CPU time per element", *(seconds_text(side["cpu_seconds_per_element"]) for side in (a, b))),
                ("cores in use", *(f"{side['cores_used']:.2f}" for side in (a, b))),
                ("time to the first element", *(seconds_text(side["first_element_seconds"]) for side in (a, b))), *per_stage]

    def __str__(self):
        return "\n".join([*self._lines(), table([("", "a", "b"), *self._rows()])])

    def __repr__(self):
        return f"<ps.Comparison: {self.verdict}>"

    def _repr_html_(self):
        first, *rest = self._lines()
        return _pages.fragment(_pages.paragraph(first, strong=True), *map(_pages.paragraph, rest), _pages.grid(("", "a", "b"), self._rows()))


def compare(a, b, seconds=20.0, **options):
    """Measures two datasets in turn until one is surely faster or the time is over; says which, and which stages make it so.

    ``options`` are the flags of `penstock compare`, with _ for -: ``threads=2``, ``memory="1GiB"``. Runs that command on the
    texts of both (see ps.predict), with its own options: those of Dataset.configure are not used. Raises
    ps.FailedPrecondition for pipelines that call Python code, and the errors of the pipelines.

        result = ps.compare(ds, ds.optimize().dataset)
        result.ratio, result.interval, result.same_elements
    """
    if not seconds > 0:
        raise InvalidArgument(f"seconds must be positive: {seconds}", "compare")
    with _command.pipeline_files("compare", {"a": a, "b": b}) as files:
        return Comparison(_command.answer("compare", [*files, "--seconds", str(seconds), *_command.flags(options)]))
