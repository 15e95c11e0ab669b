"""Datasets: what a pipeline is in Python."""
import os

from . import _core, _pages
from ._arrays import is_array, to_core
from ._calls import OPERATORS, Method, build, is_method
from ._errors import FailedPrecondition, InvalidArgument
from ._quantities import shortened
from ._reports import Explanation, Optimization, Trace, setting
from ._types import leaf
from ._watch import watching


class Dataset:
    """An immutable pipeline. Every method gives a new one; nothing runs before it is iterated.

    Its operators (``map``, ``batch``, ``shuffle``, ...) are those of the pipe language; help(ps.Dataset) lists
    them, docs/operators.md describes them. ``str(ds)`` is the text of the pipeline, ``ps.parse`` reads it.

    >>> import penstock as ps
    >>> ds = ps.range(5).map(lambda x: x * x).batch(2)
    >>> for batch in ds:
    ...     print(batch)
    [0 1]
    [4 9]
    [16]
    >>> print(ds)
    range(5)
    | map(x -> x * x)
    | batch(2)
    """

    __slots__ = ("_core", "_codes")

    def __init__(self, core, codes=()):
        self._core = core
        self._codes = codes  # the Python code that it calls, which it owns; see python/src/code.h

    def __iter__(self):
        return Iterator(self)

    def iterate(self, epoch=None, progress=False):
        """An iterator that can be saved: the same as iter(ds), each with other random draws than the one before.

        ``epoch`` says which draws: those of that iterator of a dataset, counted from 0, and of that pass of ``repeat``;
        equal in all processes.

        ``progress=True`` gives one that draws a bar instead; see ps.progress.

        >>> import penstock as ps
        >>> next(ps.range(3).iterate())
        0
        >>> ds = ps.range(100).shuffle(100, seed=7)
        >>> list(ds.iterate(epoch=1)) == list(ds.repeat(2))[100:]
        True
        """
        iterator = Iterator(self, epoch=epoch)
        if not progress:
            return iterator
        from ._progress import progress as drawn
        return drawn(iterator, self._core.cardinality())

    def restore(self, state):
        """An iterator that goes on where the one stood that gave ``state``; a list of states: those of all ranks.

        >>> import penstock as ps
        >>> ds = ps.range(5)
        >>> it = ds.iterate()
        >>> next(it), next(it)
        (0, 1)
        >>> list(ds.restore(it.save_state()))
        [2, 3, 4]
        """
        return Iterator(self, state)

    def __len__(self):
        n = self._core.cardinality()
        if n < 0:
            raise TypeError("the pipeline has no end" if n == -1 else "the number of elements is not known before they are counted")
        return n

    def __bool__(self):
        return True

    def __getitem__(self, index):
        """ds[i]: the element at that index. ds[start:stop:step]: these elements, by take, skip and shard; nothing runs.

        ``ds[rank::world]`` is the share of one of ``world`` ranks, as ds.shard(world, rank). Negative places count from
        the end of a dataset whose length is known.

        >>> import penstock as ps
        >>> list(ps.range(10)[1::3]), list(ps.range(10)[-3:])
        ([1, 4, 7], [7, 8, 9])
        >>> print(ps.range(10)[1::3])
        range(10)
        | shard(3, 1)
        """
        if isinstance(index, slice):
            return _sliced(self, index)
        if not hasattr(index, "__index__"):
            raise TypeError(f"a dataset is indexed by an integer or a slice: {index!r}")
        index = index.__index__()
        if index < 0:
            index += len(self)
        return build("at", (self, index), {})

    @property
    def spec(self):
        """The structure of an element: ps.TensorSpec in tuples and dicts.

        >>> import penstock as ps
        >>> ps.from_tensor_slices({"x": [1.0, 2.0]}).spec
        {'x': TensorSpec(dtype=ps.float32, shape=(), kind='tensor', ragged_rank=0)}
        """
        return self._core.spec(leaf)

    def apply(self, stages):
        """Further stages, as text or as a function of the dataset.

        >>> import penstock as ps
        >>> list(ps.range(9).apply("skip(1) | take(2)"))
        [1, 2]
        """
        return stages(self) if callable(stages) else Dataset(self._core.apply(stages), self._codes)

    def configure(self, **options):
        """How it runs: threads, memory_bytes, block_rows, optimize, latency, checkpoints, seed, tune.

        Left out: all cores, three quarters of the memory, blocks of 4096 rows, optimized, no latency mode, states of
        iterators that are reached by running again, seed 0 for stages without one, knobs that move while it runs
        (tune=False: they stay as they are at the start; the elements are the same, docs/tuner.md).

        >>> import penstock as ps
        >>> list(ps.range(3).configure(threads=1))
        [0, 1, 2]
        """
        names = ("threads", "memory_bytes", "block_rows", "optimize", "latency", "checkpoints", "seed",
                 "tune")
        merged = dict(zip(names, self._core.options()))
        for name in options:
            if name not in merged:
                raise TypeError(f"there is no option {name!r}; there are: {', '.join(names)}")
            if isinstance(merged[name], bool) != isinstance(options[name], bool) or not hasattr(options[name], "__index__"):
                wanted = "True or False" if isinstance(merged[name], bool) else "an integer"
                raise TypeError(f"configure: {name} must be {wanted}: {options[name]!r}")
        merged.update(options)
        return Dataset(self._core.configured(*merged.values()), self._codes)

    def run(self, progress=False):
        """Runs it to the end, gives what was counted: a dict, "stages" with a dict for each stage.

        ``progress=True`` draws a bar on stderr if that is a terminal.

        >>> import penstock as ps
        >>> ps.range(100).run()["elements"]
        100
        """
        iterator = _core.Iterator(self._core, self._codes)
        if progress:
            from ._progress import drained
            drained(iterator, self._core.cardinality())
        else:
            iterator._drain()
        return iterator._stats()

    def explain(self, seconds=3.0, elements=0, **options):
        """Runs it for some seconds (or elements): what limits its rate, and what to do about it.

        ``options`` are the machine and the consumer to explain it for: cores, memory_bytes (for caches),
        disk_bytes_per_second, consumer_seconds (the trainer's work for an element). Left out: this machine, no consumer.

        >>> import penstock as ps
        >>> ps.range(1000).explain().verdict.split(":")[0]
        'input-bound'
        >>> ps.range(1000).explain(consumer_seconds=1.0).data["verdict"]["holder"]
        'consumer'
        """
        return Explanation(*_core.explain(self._core, seconds, elements, setting(options)))

    def trace(self, seconds=3.0, elements=0):
        """Runs it for some seconds (or elements): the text of a trace file, which the command line takes for a pipeline.

        >>> import penstock as ps
        >>> ps.range(100).trace().program
        'range(100)'
        """
        return Trace(_core.trace(self._core, seconds, elements))

    def optimize(self, trace_seconds=1.5, measure_seconds=0.0, epochs=0, **options):
        """Searches the plan that gives the same elements in the same order fastest; see ps.Optimization.

        ``epochs``: passes to plan for, which decide if a cache pays; left out 1, or 10 for a pipeline that repeats for ever.
        ``options``: the machine to plan for, as for explain. ps.optimize chooses among several pipelines, too.
        """
        dataset, *rest = _core.optimize(self._core, trace_seconds, measure_seconds, epochs, setting(options))
        return Optimization(Dataset(dataset, self._codes), *rest)

    def optimized(self):
        """The plan that is run when it is iterated: rewritten, all knobs set.

        >>> import penstock as ps
        >>> list(ps.range(9).skip(6).optimized())
        [6, 7, 8]
        """
        return Dataset(self._core.optimized(), self._codes)

    def __str__(self):
        return self._core.text().rstrip("\n")

    def __repr__(self):
        return f"<ps.Dataset of {self._core.spec_text()}: {' '.join(shortened(str(self)).split())}>"

    def _repr_html_(self):
        return _pages.fragment(_pages.paragraph(f"elements: {self._core.spec_text()}", strong=True), _pages.program(str(self)))

    def __reduce__(self):
        if self._codes:
            raise FailedPrecondition("a pipeline over Python code, or over more than 1 MiB of memory, cannot be pickled: "
                                     "build it anew where it is needed")
        return _again, (self._core.text(), self._core.options())


def _sliced(dataset, index):
    places = [None if place is None else place.__index__() for place in (index.start, index.stop, index.step)]
    if places[2] is not None and places[2] <= 0:
        raise ValueError(f"a dataset goes forward only: the step of a slice must be positive: {places[2]}")
    if any(place is not None and place < 0 for place in places[:2]):
        places = index.indices(len(dataset))
    start, stop, step = places[0] or 0, places[1], places[2] or 1
    if stop is not None:
        dataset = dataset.take(stop)
    if start < step:
        return dataset if step == 1 else dataset.shard(step, start)
    dataset = dataset.skip(start)
    return dataset if step == 1 else dataset.shard(step, 0)


def _again(text, options):
    return Dataset(_core.parse(text, {}).configured(*options))


class Iterator(_core.Iterator):
    """One pass over a dataset. Threads may share it: each element goes to one of them.

    >>> import penstock as ps
    >>> it = iter(ps.range(3))
    >>> next(it)
    0
    >>> state = it.state_dict()
    >>> list(it)
    [1, 2]
    >>> it.load_state_dict(state)
    >>> list(it)
    [1, 2]
    """

    __slots__ = ("copies",)

    def __init__(self, dataset, state=None, epoch=None):
        super().__init__(dataset._core, dataset._codes, *([] if state is None and epoch is None else
                                                          [epoch] if state is None else [_states(state)]))
        self.copies = None  # the DeviceCopies of ps.torch and ps.jax
        for one in watching:
            one.add(dataset, self)

    def save_state(self):
        """Where it stands, as bytes: kilobytes, whatever the stages hold; see Dataset.restore."""
        return self._save()

    def state_dict(self):
        """The same, as trainers keep it."""
        return {"penstock": self._save()}

    def load_state_dict(self, state):
        """Goes on where the iterator stood that gave ``state``."""
        self._restore(_states(state))

    get_state, set_state = state_dict, load_state_dict  # Grain's names

    def stats(self):
        """What has been counted so far; see Dataset.run. From any thread, at any time.

        Copies of ps.torch and ps.jax to a device are the first of "stages"; they are in "consumer_seconds", too.
        """
        out = self._stats()
        if self.copies:
            self.copies.among(out["stages"])
        return out

    def explain(self):
        """What has limited the rate so far, the work of whoever takes the elements included; see Dataset.explain.

        Copies of ps.torch and ps.jax to a device are a stage of their own, here and in ``trace``.

        >>> import penstock as ps
        >>> it = iter(ps.range(1000).batch(10))
        >>> for batch in it:
        ...     pass
        >>> it.explain().data["trust"]["ended"]
        True
        """
        return self.trace().explain() if self.copies else Explanation(*self._explain())

    def trace(self):
        """The text of a trace of the run so far; see Dataset.trace."""
        text = self._trace()
        return Trace(self.copies.in_trace(text) if self.copies else text)


def _states(state):
    if isinstance(state, dict):
        state = state["penstock"]
    return list(state) if isinstance(state, (list, tuple)) else [state]


def from_tensor_slices(tensors):
    """The items of arrays along axis 0; of a dict or a tuple of arrays: dicts or tuples of items.

    NumPy's memory is used as it is, not copied; do not write to it while the dataset lives. A np.memmap is read as rows
    are asked for. Arrays of more than 1 MiB together are no part of the pipeline's text: it cannot be parsed or pickled.

    >>> import numpy as np, penstock as ps
    >>> ds = ps.from_tensor_slices({"x": np.eye(2, dtype=np.float32), "y": np.arange(2)})
    >>> ds[1]["x"], ds[1]["y"]
    (array([0., 1.], dtype=float32), 1)
    """
    if is_array(tensors):
        return _slices([tensors], [])
    if isinstance(tensors, tuple) and hasattr(tensors, "_fields"):
        tensors = tensors._asdict()
    items = list(tensors.values()) if isinstance(tensors, dict) else tensors if isinstance(tensors, tuple) else []
    if not any(map(is_array, items)):
        return build("from_tensor_slices", (tensors,), {})
    import numpy
    if not all(is_array(i) or isinstance(i, list) for i in items):
        raise InvalidArgument("from_tensor_slices takes one array, or a dict or a tuple of arrays; zip datasets for more")
    return _slices([numpy.asanyarray(i) for i in items], list(tensors) if isinstance(tensors, dict) else None)


def _slices(arrays, keys):
    """``keys``: of a dict; None: a tuple; []: the one array."""
    import numpy
    arrays = [numpy.asanyarray(a) for a in arrays]
    if sum(a.nbytes for a in arrays) > _MOST_TEXT_BYTES and (keys is None) <= (len(arrays) > 1):
        from ._memory import from_memory, identity_of
        return from_memory(arrays, keys or [], identity_of(arrays))
    shared = [to_core(a) for a in arrays]
    if keys is None:
        return Dataset(_core.slices_of_tuple(shared))
    return Dataset(_core.slices_of_dict(list(zip(keys, shared))) if keys else _core.slices(shared[0]))


_MOST_TEXT_BYTES = 1 << 20  # arrays of more are no part of the text of a pipeline


def parse(text, **settings):
    """The pipeline of a text; ``settings`` are its params.

    >>> import penstock as ps
    >>> list(ps.parse("param n = 3\\nrange(n)", n=2))
    [0, 1]
    """
    return Dataset(_core.parse(text, {k: str(v) for k, v in settings.items()}))


def read(path, **settings):
    """The pipeline of a .pipe file; ``settings`` are its params."""
    return Dataset(_core.read(os.fspath(path), {k: str(v) for k, v in settings.items()}))


for _name in OPERATORS:
    if is_method(_name) and not hasattr(Dataset, _name):
        setattr(Dataset, _name, Method(Dataset, _name))
