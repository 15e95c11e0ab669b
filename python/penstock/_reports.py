"""Results of explain, trace and optimize."""

from . import _core, _pages, _plots
from ._quantities import bytes_text, rate_text, scaled, seconds_text, shortened, table

_SETTING = {"cores": 0, "memory_bytes": 0, "disk_bytes_per_second": 0.0, "consumer_seconds": 0.0}


def setting(options):
    """The machine and the consumer that a question is about: a tuple for penstock._core."""
    for name in options:
        if name not in _SETTING:
            raise TypeError(f"there is no option {name!r}; there are: {', '.join(_SETTING)}")
    return tuple(type(default)(options.get(name, default)) for name, default in _SETTING.items())


class Explanation:
    """What limits the rate of a pipeline: ``verdict`` is a sentence, ``str()`` the table, ``data`` all of it.

    ``data`` is described in docs/format/explain.md. A notebook shows a table with bars.

    >>> import penstock as ps
    >>> e = ps.range(1000).explain()
    >>> e.verdict == e.data["verdict"]["text"]
    True
    """

    def __init__(self, text, verdict, data):
        import json
        self.text, self.verdict, self.data = text, verdict, json.loads(data)

    def plot(self, ax=None):
        """Draws the measured rate and its ceilings as bars, with matplotlib; returns the axes.

        ``ax``: axes to draw on; left out, those of a new figure. Raises ImportError without matplotlib.
        """
        return _plots.ceilings(self, ax)

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<ps.Explanation: {self.verdict}>"

    def _repr_html_(self):
        data, trust = self.data, self.data["trust"]
        plan = [": ".join(filter(None, (step["change"], step["gain"]))) for step in data["plan"]]
        return _pages.fragment(
            _pages.paragraph(self.verdict, strong=True), _stage_grid(data),
            _pages.legend(("busy", _pages.BUSY), ("starved", _pages.STARVED), ("blocked", _pages.BLOCKED)), _ceiling_grid(data),
            *(_pages.paragraph(f"{i}. {text}") for i, text in enumerate(plan, 1)),
            _pages.paragraph(f"{trust['elements']} elements in {seconds_text(trust['seconds'])}"
                             + (f", {100 * trust['coverage']:.0f} % of the data" if trust["coverage"] is not None else "")
                             + (": too short to rely on" if trust["too_short"] else ""), note=True))


def _stage_grid(data):
    rows = []
    for stage in data["stages"]:
        shares = _pages.bar((stage["busy"], _pages.BUSY), (stage["starved"], _pages.STARVED), (stage["blocked"], _pages.BLOCKED))
        rows.append((stage["label"], rate_text(stage["rate"]), seconds_text(stage["demand_seconds"]), f"{stage['cores_used']:.2f}",
                     shares, bytes_text(stage["bytes_per_element"]), bytes_text((stage["size"]["bytes"] or {}).get("value")),
                     stage["cache"]))
    heads = ("stage", "rate", "CPU per element", "cores", "threads' time", "bytes each", "whole", "cache")
    return _pages.grid(heads, rows, left=(0, 4, 7))


def _ceiling_grid(data):
    known = [c for c in data["ceilings"] if c["rate"] is not None]
    # Bars of ceilings that are far away fill the width: the next ones are of interest.
    top = 4 * max([data["rate"], *(c["rate"] for c in known[:1])]) or 1
    rows = [("measured", rate_text(data["rate"]), _pages.bar((data["rate"] / top, _pages.BUSY)), "")]
    for c in known:
        times = f"{scaled(c['rate'] / data['rate'])}x" if data["rate"] else ""
        rows.append((c["name"], rate_text(c["rate"]), _pages.bar((c["rate"] / top, _pages.CEILING)), times))
    return _pages.grid(("ceiling", "elements", "", ""), rows, left=(0, 2))


class Trace(str):
    """The text of a trace: a pipeline's program and its counters (docs/format/trace.md). The command line takes its file.

    ``program`` is the pipeline's text, ``data`` everything as dicts and lists.

    >>> import penstock as ps
    >>> t = ps.range(100).trace()
    >>> t.program
    'range(100)'
    >>> t.data["interval"]["elements"], t.explain().data["trust"]["ended"]
    (100, True)
    """

    @property
    def data(self):
        """All of it, as json.loads gives it."""
        import json
        return json.loads(self)

    @property
    def program(self):
        """The text of the pipeline."""
        return self.data["program"].rstrip("\n")

    def explain(self, **options):
        """What limited the rate of the traced run; for ``options`` see Dataset.explain. Runs nothing."""
        return Explanation(*_core.explain_trace(self, setting(options)))

    def __repr__(self):
        interval = self.data["interval"]
        return f"<ps.Trace: {interval['elements']} elements in {seconds_text(interval['seconds'])}: {' '.join(shortened(self.program).split())}>"

    def _repr_html_(self):
        data = self.data
        rows = [(s["label"], scaled(s["elements"]), scaled(s["errors"]), seconds_text(s["cpu_seconds"]), bytes_text(s["bytes"]),
                 bytes_text(s["bytes_read"])) for s in data["stages"]]
        interval = data["interval"]
        head = f"{interval['elements']} elements in {seconds_text(interval['seconds'])}, {data['machine']['cores']} cores"
        return _pages.fragment(_pages.paragraph(head, strong=True),
                               _pages.grid(("stage", "elements", "errors", "CPU", "bytes", "read"), rows),
                               _pages.program(self.program))


class Optimization:
    """The fastest plan that was found: ``dataset``, with every knob in its text.

    ``rate`` is predicted, elements per second over all epochs, ``interval`` its (low, high), (0, inf) if too little was seen for one; ``first_pass_rate`` and
    ``later_passes_rate`` are its parts. ``changes`` are (text, predicted rate after it); ``notes`` say where a cache may not
    stand; ``measured`` is (before, after) if measure_seconds asks for it, else None.

    >>> import penstock as ps
    >>> ds = ps.range(1000).map(lambda x: x + 1)
    >>> list(ds.optimize(trace_seconds=0.1).dataset) == list(ds)
    True
    """

    def __init__(self, dataset, rates, changes, notes, measured):
        self.dataset, self.changes, self.notes, self.measured = dataset, changes, notes, measured
        low, self.rate, high, self.first_pass_rate, self.later_passes_rate = rates
        self.interval = (low, high)

    def _head(self):
        low, high = self.interval
        span = "no interval: the traces are too short" if high == float("inf") else f"{rate_text(low)} to {rate_text(high)}"
        out = f"predicted: {rate_text(self.rate)} ({span})"
        if self.measured:
            before, after = self.measured
            out += f"; measured: {rate_text(before)} before, {rate_text(after)} after"
            out += "" if after > before else ": keep the pipeline as it is"
        return out

    def __str__(self):
        changes = [(what, "->", rate_text(rate)) for what, rate in self.changes]
        parts = [table(changes) if changes else "no change: nothing was found that is faster", *self.notes, self._head(), "",
                 shortened(str(self.dataset))]
        return "\n".join(parts)

    def __repr__(self):
        return f"<ps.Optimization: {rate_text(self.rate)} predicted, {len(self.changes)} changes>"

    def _repr_html_(self):
        rows = [(what, rate_text(rate)) for what, rate in self.changes]
        changes = _pages.grid(("change", "predicted"), rows) if rows else _pages.paragraph("no change: nothing was found that is faster")
        return _pages.fragment(_pages.paragraph(self._head(), strong=True), changes,
                               *(_pages.paragraph(note, note=True) for note in self.notes), _pages.program(str(self.dataset)))
