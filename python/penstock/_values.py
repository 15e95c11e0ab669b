"""Symbolic values, which a function of a pipeline computes with while it is traced, and what becomes one."""
import numbers
import sys
import threading

from . import _core
from ._arrays import is_array, is_dataclass
from ._errors import InvalidArgument, traced
from ._types import DTYPES, DType

MOST_ENTRIES = 100_000  # of an array that becomes a constant of a function
_tracing = threading.local()


def code(callable_):
    """A callable for penstock._core, owned by the dataset that is being built."""
    made = _core.Code(callable_)
    inputs = getattr(_tracing, "inputs", None)
    if inputs is None:
        raise InvalidArgument("py_map is called in a function of a pipeline only")
    inputs.codes.append(made)
    return made


def is_tracing():
    """True while a function of a pipeline is traced in this thread."""
    return getattr(_tracing, "depth", 0) > 0


class Inputs:
    """The datasets that the arguments of one call hold, functions included."""

    def __init__(self):
        self.datasets, self.codes = [], []

    def __enter__(self):
        self.outer = getattr(_tracing, "inputs", None)
        _tracing.inputs = self
        return self

    def __exit__(self, *_):
        _tracing.inputs = self.outer

    def value(self, dataset):
        for i, known in enumerate(self.datasets):
            if known is dataset._core:
                return _core.input(i)
        self.datasets.append(dataset._core)
        self.codes += dataset._codes
        return _core.input(len(self.datasets) - 1)


class Auto:
    """A knob that is left to Penstock: ``num_parallel_calls=ps.auto``."""

    def __repr__(self):
        return "ps.auto"


auto = Auto()


class Value:
    """Something computed from an element: what a function of a pipeline is given, and computes with.

    Operators, comparisons, indexing and slices work as on NumPy arrays; ``x.NAME(...)`` is
    ``ps.NAME(x, ...)``. It has no value while the function is traced: for a choice write ``ps.where`` or
    ``ps.cond``.

    >>> import penstock as ps
    >>> list(ps.range(4).map(lambda x: ps.where(x % 2 == 0, x, -x)))
    [0, -1, 2, -3]
    """

    __slots__ = ("_core",)
    __array_priority__ = 1000
    __hash__ = object.__hash__

    def __init__(self, core):
        self._core = core

    def __getitem__(self, key):
        if isinstance(key, (str, bytes)):
            return Value(_core.field(self._core, to_core(key)))
        pieces = key if isinstance(key, tuple) else (key,)
        return Value(_core.subscript(self._core, [piece(p) for p in pieces]))

    def __getattr__(self, name):
        from ._calls import NAMES
        if name in NAMES:
            return lambda *args, **named: call(name, (self, *args), named)
        raise AttributeError(f"a value of a pipeline has no attribute {name!r}; the component of that name is x[{name!r}]")

    def __neg__(self):
        return Value(_core.negative(self._core))

    def __pos__(self):
        return self

    def __abs__(self):
        return call("abs", (self,), {})

    def __matmul__(self, other):
        return call("matmul", (self, other), {})

    def __rmatmul__(self, other):
        return call("matmul", (other, self), {})

    def __invert__(self):
        return Value(_core.logical_not(self._core))

    def __bool__(self):
        raise traced("Python asks whether a value is true that is only known when the pipeline runs",
                     "for `a if x > 0 else b` and `if` write ps.where(x > 0, a, b) (both are computed) or ps.cond(x > 0, a, b); "
                     "for `and`, `or`, `not` write &, |, ~")

    def __iter__(self):
        raise traced("Python asks for the items of a value, whose number is only known when the pipeline runs",
                     "take them by index, x[0], or by name, x[\"label\"]; the parts of a tuple are arguments of their own: "
                     "lambda image, label: ...")

    def __len__(self):
        raise traced("Python asks for the size of a value, which is only known when the pipeline runs",
                     "write ps.shape(x)[0]")

    def __contains__(self, item):
        raise traced("Python asks whether a value that is only known when the pipeline runs holds something",
                     "write ps.reduce_any(x == item)")

    def _number(self, *_):
        raise traced("Python asks for the number that a value is, which is only known when the pipeline runs",
                     "compute with ps functions; to convert it write ps.int64(x) or ps.float32(x)")

    __int__ = __float__ = __index__ = __complex__ = __round__ = _number

    def __array__(self, *_, **__):
        raise traced("NumPy asks for an array of values that are only known when the pipeline runs",
                     "use the ps function instead")

    def __array_ufunc__(self, ufunc, method, *args, **named):
        name = {"true_divide": "divide", "remainder": "modulo", "absolute": "abs", "invert": "logical_not",
                "bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor"}.get(
            ufunc.__name__, ufunc.__name__)
        from ._calls import NAMES
        if method != "__call__" or named or name not in NAMES:
            raise traced(f"numpy.{ufunc.__name__} cannot be a part of a pipeline", "use the ps function instead")
        return call(name, args, {})

    def __repr__(self):
        return "<a value of a pipeline>"


def _binary(op, swapped):
    def method(self, other):
        other = to_core(other)
        a, b = (other, self._core) if swapped else (self._core, other)
        return Value(_core.binary(op, a, b))
    return method


for _name, _op in {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**"}.items():
    setattr(Value, f"__{_name}__", _binary(_op, False))
    setattr(Value, f"__r{_name}__", _binary(_op, True))
for _name, _op in {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    setattr(Value, f"__{_name}__", _binary(_op, False))


def _either(op, swapped):
    def method(self, other):
        return call(op, (other, self) if swapped else (self, other), {})
    return method


for _name, _op in {"and": "logical_and", "or": "logical_or", "xor": "logical_xor"}.items():
    setattr(Value, f"__{_name}__", _either(_op, False))
    setattr(Value, f"__r{_name}__", _either(_op, True))
for _name, _op in {"lshift": "left_shift", "rshift": "right_shift"}.items():
    setattr(Value, f"__{_name}__", _either(_op, False))
    setattr(Value, f"__r{_name}__", _either(_op, True))


def piece(key):
    """One piece of x[...]."""
    if key is None:
        return _core.new_axis()
    if key is Ellipsis:
        return _core.ellipsis()
    if isinstance(key, slice):
        return _core.slice(*(None if part is None else to_core(part) for part in (key.start, key.stop, key.step)))
    return _core.index(to_core(key))


def to_core(x):
    """A Python value as an expression: numbers, strings, structures, dtypes, arrays, datasets, functions."""
    if isinstance(x, Value):
        return x._core
    if isinstance(x, bool):
        return _core.boolean(x)
    if isinstance(x, int):
        return _core.integer(x)
    if isinstance(x, float):
        return _core.floating(x)
    if isinstance(x, str):
        return _core.text(x.encode())
    if isinstance(x, (bytes, bytearray)):
        return _core.text(bytes(x))
    if x is None:
        return _core.none()
    if x is auto:
        return _core.automatic()
    if isinstance(x, DType):
        return _core.name(x.name)
    if isinstance(x, dict):
        return _core.dict([(key_of(k), to_core(v)) for k, v in x.items()])
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return _core.dict([(k, to_core(v)) for k, v in zip(x._fields, x)])
    if isinstance(x, tuple):
        return _core.tuple([to_core(v) for v in x])
    if isinstance(x, list):
        return _core.list([to_core(v) for v in x])
    if is_dataclass(x):
        import dataclasses
        return _core.dict([(f.name, to_core(getattr(x, f.name))) for f in dataclasses.fields(x)])
    return _other_to_core(x)


def _other_to_core(x):
    from ._dataset import Dataset
    if isinstance(x, Dataset):
        inputs = getattr(_tracing, "inputs", None)
        if inputs is None:
            raise InvalidArgument("a dataset is an argument of dataset operators only")
        return inputs.value(x)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if isinstance(x, numpy.dtype) or isinstance(x, type) and issubclass(x, numpy.generic):
            return _core.name(numpy.dtype(x).name)
        if isinstance(x, numpy.generic):
            x = numpy.asarray(x)
    if is_array(x):
        return _constant(x)
    if isinstance(x, numbers.Integral):
        return _core.integer(int(x))
    if isinstance(x, numbers.Real):
        return _core.floating(float(x))
    if callable(x):
        return function(x)
    raise InvalidArgument(f"a {type(x).__name__} cannot be a part of a pipeline: {x!r:.60}")


def _constant(x):
    import numpy
    x = numpy.asarray(x)
    if x.size > MOST_ENTRIES:
        raise InvalidArgument(f"an array of {x.size} entries is too large for a constant of a function (at most {MOST_ENTRIES}); "
                              "make it a source with ps.from_tensor_slices, or a file for ps.load_array")
    listed = to_core(x.tolist())
    if x.dtype.kind in "SUO":
        return listed
    name = {"bool": "boolean"}.get(x.dtype.name, x.dtype.name)
    return _core.call(next(t for t in DTYPES if t in (name, x.dtype.name)), [listed], [])


def key_of(key):
    if not isinstance(key, str):
        raise InvalidArgument(f"the keys of a dict must be strings: {key!r:.60}")
    return key


def call(name, args, named):
    """An op, or a stage inside a function, as a value."""
    return Value(_core.call(name, [to_core(a) for a in args], [(k, to_core(v)) for k, v in named.items()]))


def arity(f):
    """The number of arguments that a function must be given: parts of an element."""
    import inspect
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return 1
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = sum(p.default is p.empty for p in positional)
    takes_one = positional or any(p.kind == p.VAR_POSITIONAL for p in parameters)
    return required or (1 if takes_one else 0)


def function(f):
    """A Python function as a function of a pipeline: called once, now, with symbolic values."""
    failed = []

    def body(parts):
        _tracing.depth = getattr(_tracing, "depth", 0) + 1
        try:
            return to_core(f(*map(Value, parts)))
        except BaseException as e:
            failed.append(e)
            raise
        finally:
            _tracing.depth -= 1

    try:
        return _core.record(arity(f), body)
    except BaseException as e:
        if failed and failed[0] is not e:  # the user's own exception, not one on the way through C++
            raise failed[0] from None
        raise
