"""ps.optimize: one line that makes a loader return the fastest pipeline it can make."""
import contextlib
import functools
import inspect
import itertools
import os
import warnings

from . import _core, _remembered
from ._choice import Candidate, Choice, OptimizedDataset, reason
from ._dataset import Dataset
from ._errors import Error, InvalidArgument
from ._rates import measured_rate
from ._reports import setting
from ._variants import Variant, check_specs

_MOST_TEXT = 1 << 20  # bytes of a plan that is kept in a file


def optimize(loader=None, *, pick_best=None, epochs=10, seconds=2.0, trace_seconds=1.5, remember=True, **options):
    """Has a loader return the fastest pipeline that it can make, or makes a dataset the fastest that it can be.

    A decorator of a function that returns a dataset: ``@ps.optimize`` or ``@ps.optimize(pick_best=...)``. ``ps.optimize(ds)``
    does the same for a dataset. The result is a dataset whose ``report``, a ps.Choice, says what was chosen and why.

    ``pick_best``: names of the function's arguments with the values to try. All combinations are made, traced and optimized
    (the same elements in the same order as each is written, see Dataset.optimize), then measured as written and optimized.
    They must have equal specs and lengths: do not vary the size of a batch. An argument that the call itself gives is not
    varied. A combination that fails is left out with a RuntimeWarning; if all fail, the first error is raised.

    ``epochs``: passes that the training makes, by which a cache pays or not. ``seconds``: length of each measurement,
    ``trace_seconds`` of each trace. ``options``: the machine to plan for, see Dataset.explain.

    The result is kept in a file in PENSTOCK_CACHE_DIR (else XDG_CACHE_HOME/penstock, else ~/.cache/penstock) and used again
    while the text of the combinations, sizes and times of their files, the options and the number of cores are the same, unless
    a combination failed; ``remember=False`` keeps none. PENSTOCK_OPTIMIZE=0 in the environment turns all of it off: the first combination as written.

    Raises ps.InvalidArgument for unequal specs or lengths, TypeError for unknown arguments and for a loader that returns no
    dataset.

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
            return OptimizedDataset(Variant(arguments, make).made(), Choice([only], 0, "off: PENSTOCK_OPTIMIZE is 0"))
        variants = [Variant(*maker) for maker in makers]
        check_specs(variants)
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
        _load_what_is_loaded_once(variants)
        tried = [pair for v in variants for pair in self._measured(v)]
        index = max(range(len(tried)), key=lambda i: tried[i][0].rate or -1.0)
        candidates = [candidate for candidate, _ in tried]
        if candidates[index].rate is None:
            next(v for v in variants if v.error is not None).made()
        positions = [next(i for i, v in enumerate(variants) if v.arguments is c.arguments) for c in candidates]
        changes = variants[positions[index]].found.changes if candidates[index].plan == "optimized" else ()
        if not why_not and any(v.error is not None for v in variants):
            why_not = "not remembered: a combination failed"
        choice = Choice(candidates, index, reason(candidates, index), changes, [why_not] if why_not else [])
        dataset = tried[index][1]
        if not why_not:
            _keep(file, choice, positions, dataset)
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


def _load_what_is_loaded_once(variants):
    """Takes an element, as the first of a process loads NumPy; a pipeline that fails will fail again when it is measured."""
    for v in variants:
        if v.error is None:
            with contextlib.suppress(Exception):
                next(iter(v.dataset.configure()), None)
                return


def _keep(file, choice, positions, dataset):
    plan = str(dataset) if choice.chosen.plan == "optimized" else None
    why_not = plan and _unreadable(plan)
    if why_not:
        choice.notes.append(f"not remembered: {why_not}")
        return
    rows = [[i, c.plan, c.rate, c.note] for i, c in zip(positions, choice.candidates)]
    problem = _remembered.keep(file, {"chosen": choice.index, "reason": choice.reason, "plan": plan, "changes": choice.changes,
                                      "candidates": rows})
    if problem:
        choice.notes.append(f"not remembered: {problem}")
        warnings.warn(f"optimize: the result is not remembered: {problem}", RuntimeWarning, stacklevel=5)
    else:
        choice.file = file


def _unreadable(plan):
    """-> why a plan cannot be kept as its text; None if it can."""
    if len(plan) > _MOST_TEXT:
        return f"the plan's text is too long: {len(plan)} bytes"
    try:
        _core.parse(plan, {})
    except Error as e:  # it is for people: of arrays that are no part of it, of registered code
        return f"the plan cannot be read from its text: {e.message}"
    return None


def _recalled(answer, variants, file):
    candidates = [Candidate(variants[i].arguments, plan, rate, note) for i, plan, rate, note in answer["candidates"]]
    written = variants[answer["candidates"][answer["chosen"]][0]].dataset
    dataset = written
    if answer["plan"] is not None:
        dataset = Dataset(_core.parse(answer["plan"], {}).configured(*written._core.options()))
        if dataset.spec != written.spec:
            raise ValueError("its plan gives other elements")
    choice = Choice(candidates, answer["chosen"], answer["reason"], answer["changes"], ["remembered from an earlier call"], file, True)
    return OptimizedDataset(dataset, choice)
