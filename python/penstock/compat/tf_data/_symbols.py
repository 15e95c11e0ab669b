"""Values of a function that know what they are: ps.Value with TensorFlow's attributes.

A Symbol keeps how it was computed. Its dtype and shape are asked of the engine when the function wants them: the
computation is done again over the datasets whose elements it started from (its frames), as a map of them.
"""
import contextlib
import threading

from ... import _values
from ..._calls import build
from ..._errors import Error
from ..._types import TensorSpec
from ..._values import Value
from ._types import TensorShape, as_dtype


class Frame:
    """A function that is traced: ``make`` gives a ps.Dataset of the elements that it is called with."""

    def __init__(self, make):
        self.make = make


class Root:
    """Where a Symbol starts: a part of the element of a frame."""

    def __init__(self, frame, path):
        self.frame, self.path = frame, path


class Symbol(Value):
    """A tensor in a function: tf.Tensor there."""

    __slots__ = ("_how", "_known")
    __hash__ = object.__hash__
    is_symbol = True

    def __init__(self, core, how=None):
        super().__init__(core)
        self._how, self._known = how, None

    def _spec(self):
        """Penstock's spec of it, or None if it is computed from values that do not say how."""
        if self._known is None:
            try:
                self._known = (over(self, "map").spec,)
            except (Error, LookupError, TypeError):
                self._known = (None,)
        return self._known[0]

    @property
    def dtype(self):
        """Its dtype; a TypeError if it is computed from values that do not say."""
        spec = self._spec()
        if not isinstance(spec, TensorSpec):
            raise TypeError("the dtype of this value is not known while the function is traced: name it, tf.int32")
        return as_dtype(spec.dtype)

    @property
    def shape(self):
        """Its shape as far as it is known."""
        spec = self._spec()
        return TensorShape(spec.shape if isinstance(spec, TensorSpec) else None)

    ndim = property(lambda self: self.shape.rank)
    kind = property(lambda self: getattr(self._spec(), "kind", None))

    def get_shape(self):
        """Its shape as far as it is known."""
        return self.shape

    def set_shape(self, shape):
        """From here on it has that shape; another one is an error of the element."""
        from ._ops import ensure_shape
        same = Symbol(self._core, self._how)
        fixed = ensure_shape(same, shape)
        self._core, self._how, self._known = fixed._core, fixed._how, None

    def __getitem__(self, key):
        return symbol(Value.__getitem__, self, key)

    def __array_ufunc__(self, ufunc, method, *args, **named):
        return symbol(Value.__array_ufunc__, self, ufunc, method, *args, **named)

    def __truediv__(self, other):
        return symbol(Value.__truediv__, _real(self), _real(other))

    def __rtruediv__(self, other):
        return symbol(Value.__rtruediv__, _real(self), _real(other))

    # Ragged and sparse tensors.
    values = property(lambda self: symbol(_op, "flat_values", self))
    flat_values = values
    indices = property(lambda self: symbol(_op, "sparse_indices", self))
    dense_shape = property(lambda self: symbol(_op, "sparse_shape", self))
    row_splits = property(lambda self: symbol(_op, "row_splits", self))

    def row_lengths(self, axis=1, name=None):
        """The length of each row of a ragged tensor."""
        return symbol(_op, "row_lengths", self)

    def to_tensor(self, default_value=None, name=None, shape=None):
        """A ragged tensor as a dense one."""
        named = {} if shape is None else {"shape": [None if n is None else int(n) for n in shape]}
        return symbol(_op, "to_tensor", self, *([] if default_value is None else [default_value]), **named)

    def numpy(self):
        """There is none while a function is traced."""
        raise AttributeError("a value of a function has no .numpy(): write tf.py_function or tf.numpy_function")


def _op(name, *args, **named):
    return _values.call(name, args, named)


def _real(x):
    """x for `/`: integers are divided as float64."""
    if not isinstance(x, Symbol):
        return x.astype("float64") if getattr(getattr(x, "dtype", None), "kind", "") in "iu" and hasattr(x, "astype") else x
    spec = x._spec()
    name = spec.dtype.name if isinstance(spec, TensorSpec) else ""
    return symbol(_op, "cast", x, as_dtype("float32" if name in ("int8", "uint8", "int16", "uint16") else "float64").ps) \
        if "int" in name else x


def _wrapped(name):
    method = getattr(Value, name)

    def operator(self, *others):
        from ._tensors import pack
        return symbol(method, self, *(pack(o) if isinstance(o, (list, tuple)) else o for o in others))
    return operator


for _name in ("add", "sub", "mul", "floordiv", "mod", "pow", "matmul"):
    for _side in ("", "r"):
        if hasattr(Value, f"__{_side}{_name}__"):
            setattr(Symbol, f"__{_side}{_name}__", _wrapped(f"__{_side}{_name}__"))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs"):
    setattr(Symbol, f"__{_name}__", _wrapped(f"__{_name}__"))


def _bits(name):
    logical, bitwise = _wrapped(name), {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}

    def operator(self, *other):
        spec = self._spec()
        if isinstance(spec, TensorSpec) and "int" in spec.dtype.name:
            op = bitwise.get(name.strip("_").removeprefix("r") if name != "__invert__" else "", "bitwise_invert")
            return symbol(_op, op, self, *other)
        return logical(self, *other)
    return operator


for _name in ("and", "or", "xor", "rand", "rxor", "invert"):
    setattr(Symbol, f"__{_name}__", _bits(f"__{_name}__"))
Symbol.__ror__ = Symbol.__or__


def symbol(f, *args, **named):
    """f(*args), a ps.Value, as a Symbol."""
    return Symbol(f(*args, **named)._core, (f, args, named))


def roots(x, out):
    """Adds the frames to ``out`` that x starts from."""
    if isinstance(x, Symbol) and x._how is not None:
        if isinstance(x._how, Root):
            out[x._how.frame] = None
        else:
            for part in (x._how[1], x._how[2]):
                roots(part, out)
    elif isinstance(x, Value):
        raise LookupError("a value that does not say how it was computed")
    elif isinstance(x, dict):
        for v in x.values():
            roots(v, out)
    elif isinstance(x, (list, tuple)):
        for v in x:
            roots(v, out)
    elif isinstance(x, slice):
        roots((x.start, x.stop, x.step), out)
    return out


def again(x, elements):
    """x, computed from the elements of its frames."""
    if isinstance(x, Symbol):
        if isinstance(x._how, Root):
            out = elements[x._how.frame]
            for key in x._how.path:
                out = out[key]
            return out
        f, args, named = x._how
        return f(*again(list(args), elements), **again(named, elements))
    if isinstance(x, dict):
        return {k: again(v, elements) for k, v in x.items()}
    if type(x) in (list, tuple):
        return type(x)(again(v, elements) for v in x)
    if isinstance(x, slice):
        return slice(*(again(v, elements) for v in (x.start, x.stop, x.step)))
    return x


@contextlib.contextmanager
def _outside():
    """While datasets are built that have nothing to do with the function being traced."""
    depth, _values._tracing.depth = getattr(_values._tracing, "depth", 0), 0
    try:
        yield
    finally:
        _values._tracing.depth = depth


_replay = threading.local()  # .elements: {frame: element} while computations are done again


@contextlib.contextmanager
def replaying(elements):
    """While functions are called again, with these elements of their frames."""
    before = getattr(_replay, "elements", None)
    _replay.elements = {**(before or {}), **elements}
    try:
        yield _replay.elements
    finally:
        _replay.elements = before


def is_replay():
    """Whether a function is called only to see what it gives."""
    return getattr(_replay, "elements", None) is not None


def over(x, operator, f=lambda v: v):
    """-> a ps.Dataset: ``operator`` of the elements that x starts from, with f(x) for each."""
    frames = list(roots(x, {}))
    one = len(frames) == 1

    def body(v):
        with replaying({frame: v if one else v[i] for i, frame in enumerate(frames)}) as elements:
            return f(again(x, elements))

    with _outside():
        if frames:
            source = build("zip", (tuple(frame.make() for frame in frames),), {})
        else:
            source = build("range", (1,), {})
        return getattr(source, operator)(body)


def frame_of_items(x):
    """The frame of a function of the items of a tensor."""
    return Frame(lambda: over(x, "flat_map", lambda v: _values.call("from_tensor_slices", (v,), {})))


def frame_of_elements(x):
    """The frame of a function of the elements of a dataset that is a Symbol."""
    return Frame(lambda: over(x, "flat_map"))
