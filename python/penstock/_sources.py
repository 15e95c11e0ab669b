"""Python code as a source of elements, and as a function of a pipeline."""
import atexit

from . import _core
from ._dataset import Dataset
from ._errors import InvalidArgument, forget_errors
from ._structures import flat, leaves, picked, rebuilt, spec_of, to_spec
from ._types import TensorSpec
from ._values import Value, arity, code, to_core


def _described(spec):
    """The parts of a spec as penstock._core takes them."""
    out = []
    for leaf in leaves(spec):
        if not isinstance(leaf, TensorSpec) or leaf.kind != "tensor":
            raise InvalidArgument(f"Python code gives and takes tensors only: {leaf!r:.80}")
        out.append((leaf.dtype.name, None if leaf.shape is None else [-1 if n is None else n for n in leaf.shape]))
    if not out:
        raise InvalidArgument("an element without a tensor in it")
    return out


def from_generator(make, spec=None, identity=""):
    """The elements that an iterable gives; ``make`` is a function that makes one anew for each pass, or is one itself.

    Elements are arrays, numbers and strings in tuples, dicts, namedtuples and dataclasses. ``spec`` says what they
    are (``ps.TensorSpec``, ``ps.float32``, in the same structure); left out, dtypes and ranks are those of the first
    element. An array that nobody else holds is not copied. ``identity`` names the code and its data: a state is
    restored in another process, and a cache on disk is used again, if it is the same.

    An exception is an error at its place; a generator that raised has ended.

    >>> import numpy as np, penstock as ps
    >>> def walk():
    ...     for n in range(3):
    ...         yield {"n": n, "ones": np.ones(n, np.float32)}
    >>> ds = ps.from_generator(walk)
    >>> ds.spec["ones"]
    TensorSpec(dtype=ps.float32, shape=(None,), kind='tensor', ragged_rank=0)
    >>> [int(x["ones"].sum()) for x in ds]
    [0, 1, 2]
    """
    if not callable(make):
        given = make
        if iter(given) is given:
            raise InvalidArgument("an iterator can be walked over once only: give the function that makes it, or a list")

        def make():
            return given
    if spec is None:
        try:
            spec = spec_of(next(iter(make())))
        except StopIteration:
            raise InvalidArgument("there is no first element to see the spec in: say it, spec=ps.float32") from None
    spec = to_spec(spec)
    row = _row(spec)
    described = _described(spec)
    shallow = not isinstance(spec, TensorSpec) and len(described) == len(spec) > 1 and \
        all(isinstance(s, TensorSpec) for s in (spec.values() if isinstance(spec, dict) else spec))
    keys = list(spec) if shallow and isinstance(spec, dict) else []
    open_ = _core.Code(lambda: map(row, make()) if row else iter(make()))
    ds = Dataset(_core.generator(described, keys, open_, identity), (open_,))
    return ds if shallow or row is None else ds.map(lambda x: _restored(spec, x))


def _row(spec):
    """-> what makes of a value the row that penstock._core takes: a value, or a list of several; None: nothing to do."""
    if isinstance(spec, TensorSpec):
        return None
    return (lambda x: flat(spec, x)) if len(leaves(spec)) > 1 else (lambda x: flat(spec, x)[0])


def _restored(spec, x):
    """The structure of a spec around the value of one tensor, or of a tuple."""
    count = len(leaves(spec))
    return rebuilt(spec, (x[i] for i in range(count)) if count > 1 else iter([x]))


class py_map:
    """A Python function to be run for each element, not traced: ``ds.map(ps.py_map(f))``, ``ds.filter(ps.py_map(f))``.

    f is given NumPy arrays and scalars in the element's structure (the parts of a tuple as arguments of their own, if
    it takes as many) and returns such. ``spec`` says what it returns; left out, it is called once with the first
    element of the pipeline, and dtypes and ranks are those of what it returns. ``num_parallel_calls`` of ``map``
    calls it from several threads, which is of use while it does not hold the GIL (NumPy, decoders, files).
    ``processes`` has it called in that many processes instead; it must be possible to pickle it and what it returns.
    ``identity``: see ps.from_generator.

    In a traced function it is called with values, and needs its spec.

    >>> import penstock as ps
    >>> list(ps.range(3).map(ps.py_map(lambda x: f"{x:03d}")))
    [b'000', b'001', b'002']
    >>> parity = ps.py_map(lambda n: "odd" if n % 2 else "even", spec=ps.bytes)
    >>> [e["is"] for e in ps.range(2).map(lambda n: {"is": parity(n)})]
    [b'even', b'odd']
    """

    def __init__(self, f, spec=None, processes=0, identity=""):
        if not callable(f):
            raise InvalidArgument(f"py_map takes a function: {f!r:.60}")
        self.f, self.processes, self.identity = f, processes, identity
        self.spec = None if spec is None else to_spec(spec)

    def __call__(self, *values):
        if self.spec is None:
            raise InvalidArgument("py_map in a traced function needs the spec of what it returns: spec=ps.float32")
        return self._traced(self.spec, list(values), self.f)

    def over(self, dataset):
        """-> the function of a pipeline that calls f with the dataset's elements."""
        inside = dataset.spec
        _described(inside)
        unpacked = isinstance(inside, tuple) and not isinstance(inside, TensorSpec) and arity(self.f) == len(inside)

        def call(g, element):
            return g(*element) if unpacked else g(element)

        spec = self.spec
        if spec is None:
            try:
                first = next(iter(dataset.take(1)))
            except StopIteration:
                raise InvalidArgument("py_map: there is no first element to call the function with: say what it "
                                      "returns, spec=ps.float32") from None
            spec = to_spec(spec_of(call(self.f, first)))
        f = Processes(self.f, self.processes) if self.processes else self.f
        plain = isinstance(inside, TensorSpec) or unpacked and len(leaves(inside)) == len(inside)
        on_leaves = f if plain else lambda *x: call(f, rebuilt(inside, iter(x)))
        return lambda x: self._traced(spec, picked(inside, x), on_leaves)

    def _traced(self, spec, values, f):
        row = _row(spec)
        op = _core.own_op("py_map", len(values), _described(spec),
                          code(f if row is None else lambda *x: row(f(*x))), self.identity)
        return _restored(spec, Value(op([to_core(v) for v in values])))


class Processes:
    """f, called in other processes."""

    def __init__(self, f, count):
        self.f, self.count, self.pool = f, count, None

    def __call__(self, *arguments):
        if self.pool is None:
            import concurrent.futures
            import multiprocessing
            self.pool = concurrent.futures.ProcessPoolExecutor(
                self.count, mp_context=multiprocessing.get_context("forkserver"), initializer=_set_function,
                initargs=(self.f,))
        return self.pool.submit(_call_function, arguments).result()


def _set_function(f):
    global _function
    _function = f


def _call_function(arguments):
    return _function(*arguments)


@atexit.register
def close():
    """Before the interpreter ends: no thread of a pipeline may call Python code after that."""
    _core.Iterator._close_all()
    forget_errors()
