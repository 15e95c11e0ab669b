"""ps.optimize: one line that makes a loader return the fastest pipeline it can make."""
import functools
import inspect
import itertools
import os
import typing
import warnings

from . import _core, _pages, _remembered
from ._dataset import Dataset
from ._errors import Error, InvalidArgument
from ._quantities import rate_text, table
from ._rates import measured_rate
from ._reports import setting

_UNKNOWN = -2  # as penstock._core gives it for a number of elements
_MOST_TEXT = 1 << 20  # bytes of a plan that is kept in a file


class Candidate(typing.NamedTuple):
    """One pipeline that ps.optimize looked at.

    ``arguments``: those of pick_best that made it. ``plan``: "as written" or "optimized". ``rate``: measured, elements per
    second over all epochs; None if it failed. ``note``: how the rate is known, or the error.
    """

    arguments: dict
    plan: str
    rate: typing.Optional[float]
    note: str

    @property
    def name(self):
        """Arguments and plan in words."""
        return ", ".join([*(f"{k}={v!r}" for k, v in self.arguments.items()), self.plan])


class Choice:
    """The report of ps.optimize: ``chosen`` is a ps.Candidate, one of ``candidates``, and ``reason`` says why in a sentence.

    ``changes`` are those of the optimizer to the pipeline chosen: (text, predicted rate after it). ``remembered``: the result
    of an earlier call was used. ``file``: where it is kept for later ones, None if it is not; ``notes`` say why, and more.
    """

    def __init__(self, candidates, index, reason, changes=(), notes=(), file=None, remembered=False):
        self.candidates, self.index, self.reason = candidates, index, reason
        self.changes, self.notes = [tuple(c) for c in changes], list(notes)
        self.file, self.remembered = file, remembered

    @property
    def chosen(self):
        """The candidate that was chosen."""
        return self.candidates[self.index]

    def _rows(self):
        return [(c.name, rate_text(c.rate), c.note, "chosen" if i == self.index else "") for i, c in enumerate(self.candidates)]

    def _lines(self):
        return [*(f"{what} -> {rate_text(rate)}" for what, rate in self.changes), *self.notes]

    def __str__(self):
        return "\n".join([self.reason, table(self._rows(), left=(0, 2, 3)), *self._lines()])

    def __repr__(self):
        return f"<ps.Choice: {self.reason}>"

    def _repr_html_(self):
        return _pages.fragment(_pages.paragraph(self.reason, strong=True),
                               _pages.grid(("pipeline", "rate", "measured over", ""), self._rows(), left=(0, 2, 3)),
                               *(_pages.paragraph(line, note=True) for line in self._lines()))


class OptimizedDataset(Dataset):
    """A dataset that ps.optimize chose: ``report``, a ps.Choice, says why. Its methods give plain datasets."""

    __slots__ = ("report",)

    def __init__(self, dataset, report):
        super().__init__(dataset._core, dataset._codes)
        self.report = report

    def __repr__(self):
        return f"{super().__repr__()[:-1]}; {self.report.reason}>"

    def _repr_html_(self):
        return super()._repr_html_() + self.report._repr_html_()


def optimize(loader=None, *, pick_best=None, epochs=10, seconds=2.0, trace_seconds=1.5, remember=True, **options):
    """Has a loader return the fastest pipeline that it can make, or makes a dataset the fastest that it can be.

    A decorator of a function that returns a dataset: ``@ps.optimize`` or ``@ps.optimize(pick_best=...)``. ``ps.optimize(ds)``
    does the same for a dataset. The result is a dataset whose ``report``, a ps.Choice, says what was chosen and why.

    ``pick_best``: names of the function's arguments with the values to try: all combinations are made, traced and optimized
    (the same elements in the same order as each is written, see Dataset.optimize), must have equal specs and
    lengths (do not vary the size of a batch), and are measured as written and optimized. An argument that the call itself gives is not varied. A combination that fails is left out with
    a RuntimeWarning; if all fail, the first error is raised.

    ``epochs``: passes that the training makes, by which a cache pays or not. ``seconds``: length of each measurement,
    ``trace_seconds`` of each trace. ``options``: the machine to plan for, see Dataset.explain.

    The result is kept in a file in PENSTOCK_CACHE_DIR (else XDG_CACHE_HOME/penstock, else ~/.cache/penstock) and used again
    while the text of the combinations, sizes and times of their files, the options and the number of cores are the same;
    ``remember=False`` keeps none. PENSTOCK_OPTIMIZE=0 in the environment turns all of it off: the first combination as written.

    Raises ps.InvalidArgument for unequal specs or lengths, TypeError for unknown arguments and for a loader that returns no dataset.

    >>> import penstock as ps
    >>> @ps.optimize(pick_best={"cache": [True, False]}, seconds=0.05, trace_seconds=0.05, remember=False)
    ... def load(n, cache):
    ...     ds = ps.range(n).map(lambda x: x * x)
    ...     return ds.cache() if cache else ds
    >>> ds = load(100)
    >>> len(ds), len(ds.report.candidates) >= 2
    (100, True)
    """
    search = _Search(pick_best or {}, epochs, seconds, trace_seconds, remember, options)
    if loader is None:
        return lambda f: _decorated(f, search)
    if isinstance(loader, Dataset):
        if pick_best:
            raise TypeError("optimize: pick_best varies the arguments of a function: decorate the one that makes the dataset")
        return search([({}, lambda: loader)])
    if not callable(loader):
        raise TypeError(f"optimize takes a dataset, or a function that returns one: {loader!r}")
    return _decorated(loader, search)


def _decorated(loader, search):
    signature = inspect.signature(loader)
    takes_any = any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values())
    for name in search.pick_best:
        if name not in signature.parameters and not takes_any:
            raise TypeError(f"optimize: pick_best names {name!r}, which is no argument of {loader.__name__}{signature}")

    @functools.wraps(loader)
    def load(*args, **named):
        given = signature.bind_partial(*args, **named).arguments
        free = {name: values for name, values in search.pick_best.items() if name not in given and name not in named}
        combinations = [dict(zip(free, values)) for values in itertools.product(*free.values())]
        return search([(c, functools.partial(loader, *args, **named, **c)) for c in combinations])
    return load


class _Variant:
    """One combination: its arguments, and its dataset or the error of making it."""

    def __init__(self, arguments, make):
        self.arguments, self.dataset, self.error, self.found = arguments, None, None, None
        try:
            self.dataset = make()
        except Exception as e:
            self.error = e
        if self.error is None and not isinstance(self.dataset, Dataset):
            raise TypeError(f"optimize: the function must return a ps.Dataset, not {type(self.dataset).__name__}")

    @property
    def name(self):
        return ", ".join(f"{k}={v!r}" for k, v in self.arguments.items()) or "the pipeline"

    def question(self):
        """All that decides its result: text, data, how it runs."""
        if self.error is not None:
            return [self.name, repr(self.error)]
        identity = self.dataset.fingerprint()["identity"].decode()
        return [self.name, str(self.dataset), identity, list(self.dataset._core.options())]


class _Search:
    def __init__(self, pick_best, epochs, seconds, trace_seconds, remember, options):
        self.pick_best = {name: list(values) for name, values in pick_best.items()}
        for name, values in self.pick_best.items():
            if not values:
                raise InvalidArgument(f"pick_best: no value to try for {name!r}", "optimize")
        if epochs < 1:
            raise InvalidArgument(f"epochs must be positive: {epochs}", "optimize")
        if not seconds > 0:
            raise InvalidArgument(f"seconds must be positive: {seconds}", "optimize")
        self.epochs, self.seconds, self.trace_seconds, self.remember = epochs, seconds, trace_seconds, remember
        self.options = options
        setting(options)  # raises for an unknown one

    def __call__(self, makers):
        if os.environ.get("PENSTOCK_OPTIMIZE") == "0":
            arguments, make = makers[0]
            only = Candidate(arguments, "as written", None, "not measured")
            return OptimizedDataset(_made(_Variant(arguments, make)), Choice([only], 0, "off: PENSTOCK_OPTIMIZE is 0"))
        variants = [_Variant(*maker) for maker in makers]
        _check_specs(variants)
        file, why_not = self._file(variants)
        kept = _remembered.recall(file, lambda answer: _recalled(answer, variants, file)) if file else None
        return kept or self._chosen(variants, file, why_not)

    def _file(self, variants):
        """-> (where the result is kept, None) or (None, why it is not)."""
        if not self.remember:
            return None, "not remembered: remember=False"
        if any(v.dataset is not None and v.dataset._codes for v in variants):
            return None, "not remembered: the pipeline calls Python code"
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        try:
            return _remembered.file_of([self.epochs, setting(self.options), cores, [v.question() for v in variants]]), None
        except Error as e:
            return None, f"not remembered: {e}"

    def _chosen(self, variants, file, why_not):
        for v in variants:  # all before the first is measured: the files that they read are in the page cache then
            self._optimize(v)
        tried = [pair for v in variants for pair in self._measured(v)]
        index = max(range(len(tried)), key=lambda i: tried[i][0].rate or -1.0)
        candidates = [candidate for candidate, _ in tried]
        if candidates[index].rate is None:
            _made(next(v for v in variants if v.error is not None))
        variant = next(v for v in variants if v.arguments is candidates[index].arguments)
        changes = variant.found.changes if candidates[index].plan == "optimized" else ()
        choice = Choice(candidates, index, _reason(candidates, index), changes, [why_not] if why_not else [])
        dataset = tried[index][1]
        if file:
            self._keep(file, choice, dataset)
        return OptimizedDataset(dataset, choice)

    def _optimize(self, v):
        if v.error is None:
            try:
                v.found = v.dataset.optimize(self.trace_seconds, epochs=self.epochs, **self.options)
            except Exception as e:
                v.error = e
        if v.error is not None:
            warnings.warn(f"optimize: left out {v.name}: {type(v.error).__name__}: {v.error}", RuntimeWarning, stacklevel=6)

    def _measured(self, v):
        """Yields (candidate, dataset) for each of its plans."""
        if v.error is not None:
            yield Candidate(v.arguments, "as written", None, f"{type(v.error).__name__}: {v.error}"), None
            return
        found, plans = v.found, [("as written", v.dataset)]
        if found.changes:
            plans.append(("optimized", found.dataset))
        ratio = found.later_passes_rate / found.first_pass_rate if found.first_pass_rate else 1.0
        for plan, dataset in plans:
            try:  # on a copy, which has a cache of its own
                rate, note = measured_rate(dataset.configure(), self.seconds, self.epochs, ratio)
            except Exception as e:
                v.error, rate, note = e, None, f"{type(e).__name__}: {e}"
                warnings.warn(f"optimize: left out {v.name}, {plan}: {note}", RuntimeWarning, stacklevel=6)
            yield Candidate(v.arguments, plan, rate, note), dataset

    def _keep(self, file, choice, dataset):
        plan = str(dataset) if choice.chosen.plan == "optimized" else None
        if plan is not None and len(plan) > _MOST_TEXT:
            choice.notes.append(f"not remembered: the plan's text has {len(plan)} bytes")
            return
        answer = {"chosen": choice.index, "reason": choice.reason, "plan": plan, "changes": choice.changes,
                  "candidates": [[c.name, c.plan, c.rate, c.note] for c in choice.candidates]}
        if problem := _remembered.keep(file, answer):
            choice.notes.append(f"not remembered: {problem}")
            warnings.warn(f"optimize: the result is not remembered: {problem}", RuntimeWarning, stacklevel=5)
        else:
            choice.file = file


def _made(variant):
    if variant.error is not None:
        raise variant.error
    return variant.dataset


def _check_specs(variants):
    """Raises for pipelines whose rates cannot be compared: of other elements, or of another number of them, as far as known."""
    made = [v for v in variants if v.dataset is not None]
    for v in made[1:]:
        core, first = v.dataset._core, made[0].dataset._core
        if v.dataset.spec != made[0].dataset.spec:
            raise InvalidArgument(f"the pipelines of pick_best give different elements: with {made[0].name} {first.spec_text()}, "
                                  f"with {v.name} {core.spec_text()}", "optimize")
        sizes = [c.cardinality() for c in (first, core)]
        if sizes[0] != sizes[1] and _UNKNOWN not in sizes:
            numbers = ["no end" if n < 0 else f"{n} elements" for n in sizes]
            raise InvalidArgument(f"the pipelines of pick_best cannot be compared: with {made[0].name} {numbers[0]}, "
                                  f"with {v.name} {numbers[1]}", "optimize")


def _reason(candidates, index):
    chosen = candidates[index]
    others = [c for i, c in enumerate(candidates) if i != index and c.rate]
    out = f"{chosen.name} runs at {rate_text(chosen.rate)}"
    if others and chosen.rate:
        next_best = max(others, key=lambda c: c.rate)
        out += f", {chosen.rate / next_best.rate:.3g} times the rate of {next_best.name}"
    elif not others:
        out += ": nothing was found that is faster" if len(candidates) == 1 else ": the others failed"
    return out


def _recalled(answer, variants, file):
    by_name = {v.name: v for v in variants}
    names = {Candidate(v.arguments, plan, None, "").name: v for v in variants for plan in ("as written", "optimized")}
    candidates = [Candidate(names[name].arguments, plan, rate, note) for name, plan, rate, note in answer["candidates"]]
    index = answer["chosen"]
    written = by_name[names[answer["candidates"][index][0]].name].dataset
    dataset = written
    if answer["plan"] is not None:
        dataset = Dataset(_core.parse(answer["plan"], {}).configured(*written._core.options()))
        if dataset.spec != written.spec:
            raise ValueError("its plan gives other elements")
    return OptimizedDataset(dataset, Choice(candidates, index, answer["reason"], answer["changes"], ["remembered from an earlier call"],
                                            file, True))
