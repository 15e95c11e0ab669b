"""Tensors that are there: NumPy arrays with TensorFlow's attributes, ragged and sparse ones."""
import numbers

import numpy as np

from ... import _arrays
from ..._values import Value
from ._types import RaggedTensorSpec, SparseTensorSpec, TensorShape, TensorSpec, as_dtype


class _TensorKind(type):
    """isinstance(x, tf.Tensor) holds for the values of a function, too."""

    def __instancecheck__(cls, x):
        return type.__instancecheck__(cls, x) or cls is Tensor and getattr(type(x), "is_symbol", False)


class Tensor(np.ndarray, metaclass=_TensorKind):
    """A NumPy array, ``.numpy()`` and the shape as TensorFlow has them; rank 0 stays an array.

    >>> x = constant([[1, 2]])
    >>> x.shape, x.dtype.name, x.numpy().sum(), int(x[0, 1])
    (TensorShape([1, 2]), 'int32', 3, 2)
    """

    __hash__ = None

    def __new__(cls, array):
        return np.asarray(array).view(cls)

    shape = property(lambda self: TensorShape(np.ndarray.shape.__get__(self)))
    rank = property(lambda self: self.ndim)
    device = ""

    def numpy(self):
        """The plain array; of rank 0 the number, or bytes."""
        array = self.view(np.ndarray)
        return array if self.ndim else array[()]

    def get_shape(self):
        """Its shape."""
        return self.shape

    def set_shape(self, shape):
        """Checks the shape."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape {shape}")

    def __getitem__(self, index):
        if any(isinstance(i, Value) for i in (index if isinstance(index, tuple) else (index,))):
            from ._ops import op
            return op("identity", self)[index]
        out = np.ndarray.__getitem__(self, index)
        return out if isinstance(out, Tensor) else _scalar(out)

    def __iter__(self):
        if not self.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(len(self)))

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return np.asarray(array).view(Tensor)

    def __bool__(self):
        return bool(self.numpy())

    def __repr__(self):
        return f"<tf.Tensor: shape={self.shape}, dtype={as_dtype(self.dtype).name}, numpy={self.numpy()!r}>"

    def __format__(self, spec):
        return format(self.numpy(), spec)

    def __str__(self):
        return f"tf.Tensor({self.numpy()}, shape={self.shape}, dtype={as_dtype(self.dtype).name})"

    def __reduce__(self):
        return Tensor, (self.view(np.ndarray),)


def _beside(array, x):
    """What stands beside a tensor in an expression: Python's numbers, lists and texts take its dtype."""
    if isinstance(x, (str, bytes)):
        return constant(x)
    if isinstance(x, (list, tuple)):
        x = constant(x)
    elif not isinstance(x, (bool, int, float)):
        return x
    kind = np.asarray(x).dtype.kind
    fits = kind == array.dtype.kind or kind in "bi" and array.dtype.kind in "uif"
    return np.asarray(x, array.dtype) if fits else x


def _operator(name):
    method = getattr(np.ndarray, name)
    return lambda self, other: method(self, _beside(self, other))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "eq", "ne", "lt", "le", "gt", "ge"):
    for _side in ("", "r"):
        if hasattr(np.ndarray, f"__{_side}{_name}__"):
            setattr(Tensor, f"__{_side}{_name}__", _operator(f"__{_side}{_name}__"))


def _scalar(x):
    return np.array(x, object if isinstance(x, bytes) else None).view(Tensor)


class RaggedTensor:
    """A ragged tensor: values, and where its rows begin and end.

    >>> x = ragged_constant([[1, 2], [], [3]])
    >>> x.to_list(), x.shape, x.row_splits.numpy().tolist()
    ([[1, 2], [], [3]], TensorShape([3, None]), [0, 2, 2, 3])
    """

    def __init__(self, flat_values, nested_row_splits):
        self.flat_values = Tensor(flat_values)
        self.nested_row_splits = tuple(Tensor(np.asarray(s, np.int64)) for s in nested_row_splits)

    dtype = property(lambda self: self.flat_values.dtype)
    ragged_rank = property(lambda self: len(self.nested_row_splits))
    row_splits = property(lambda self: self.nested_row_splits[0])
    shape = property(lambda self: TensorShape([len(self.row_splits) - 1, *[None] * self.ragged_rank,
                                               *self.flat_values.shape[1:]]))

    @property
    def values(self):
        """The rows behind each other: ragged themselves, if more than one axis is."""
        rest = self.nested_row_splits[1:]
        return RaggedTensor(self.flat_values, rest) if rest else self.flat_values

    def to_list(self):
        """Nested lists."""
        out = self.flat_values.view(np.ndarray).tolist()
        for splits in reversed(self.nested_row_splits):
            at = splits.view(np.ndarray).tolist()
            out = [out[a:b] for a, b in zip(at, at[1:])]
        return out

    def numpy(self):
        """An array, of objects if its rows differ in length."""
        rows = self.to_list()
        if len({len(r) for r in rows}) <= 1 and self.ragged_rank == 1:
            return np.array(rows, self.dtype)
        out = np.empty(len(rows), object)
        out[:] = [np.array(r, self.dtype if self.ragged_rank == 1 else object) for r in rows]
        return out

    def row_lengths(self):
        """The length of each row."""
        return Tensor(np.diff(self.row_splits.view(np.ndarray)))

    def to_tensor(self, default_value=None, shape=None):
        """A dense tensor, filled up with ``default_value``."""
        from ._ops import op
        return op("to_tensor", self, default_value, shape=shape and list(shape))

    def __len__(self):
        return len(self.row_splits) - 1

    def __getitem__(self, i):
        if not isinstance(i, numbers.Integral):
            raise TypeError(f"a ragged tensor is indexed by a number here: {i!r}")
        a, b = self.row_splits[i], self.row_splits[int(i) + 1]
        inner = self.nested_row_splits[1:]
        if not inner:
            return self.flat_values[int(a):int(b)]
        splits, values = [], (int(a), int(b))
        for s in inner:
            part = s.view(np.ndarray)[values[0]:values[1] + 1]
            values = int(part[0]), int(part[-1])
            splits.append(part - part[0])
        return RaggedTensor(self.flat_values[values[0]:values[1]], splits)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        return f"<tf.RaggedTensor {self.to_list()}>"

    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        """Rows from where they begin and end."""
        from ._ops import either
        return either("from_row_splits", values, row_splits)

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        """Rows from their lengths."""
        from ._ops import either
        return either("from_row_lengths", values, row_lengths)

    @classmethod
    def from_tensor(cls, tensor, lengths=None, padding=None, ragged_rank=1, name=None, row_splits_dtype="int64"):
        """The rows of a tensor, cut at their lengths or before their padding."""
        from ._ops import op
        return op("from_tensor", tensor, lengths=lengths, padding=padding)


class SparseTensor:
    """A sparse tensor: ``values[i]`` stands at ``indices[i]``. In a function it is made of values.

    >>> SparseTensor([[0, 1]], [5], [2, 2]).dense_shape.numpy().tolist()
    [2, 2]
    """

    def __new__(cls, indices=None, values=None, dense_shape=None):
        if any(isinstance(leaf, Value) for x in (indices, values, dense_shape) for leaf in _flat(x)):
            from ._ops import op
            return op("sparse", as_int64(indices), values, as_int64(dense_shape))
        return super().__new__(cls)

    def __init__(self, indices, values, dense_shape):
        self.indices = constant(indices, "int64")
        if self.indices.size == 0 and self.indices.ndim < 2:
            self.indices = constant(np.zeros([0, len(dense_shape)], np.int64))
        self.values, self.dense_shape = constant(values), constant(dense_shape, "int64")

    dtype = property(lambda self: self.values.dtype)
    shape = property(lambda self: TensorShape(self.dense_shape.numpy()))

    def get_shape(self):
        """Its shape."""
        return self.shape

    def __iter__(self):
        return iter((self.indices, self.values, self.dense_shape))

    def __repr__(self):
        return f"SparseTensor(indices={self.indices!r}, values={self.values!r}, dense_shape={self.dense_shape!r})"


def _flat(x):
    return [leaf for item in x for leaf in _flat(item)] if isinstance(x, (list, tuple)) else [x]


def as_int64(x):
    """x as int64, whichever it is."""
    from ._ops import op
    return op("cast", pack(x), as_dtype("int64").ps)


def ragged_constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype="int64"):
    """A ragged tensor of nested lists: tf.ragged.constant.

    >>> ragged_constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1).shape
    TensorShape([2, None, 2])
    """
    depth = ragged_rank if ragged_rank is not None else max(_depth(pylist) - 1 - len(inner_shape or ()), 0)
    if isinstance(pylist, np.ndarray):
        pylist = pylist.tolist()
    if not depth:
        return constant(pylist, dtype)
    splits, rows = [], pylist
    for _ in range(depth):
        ends = np.cumsum([0, *(len(r) for r in rows)])
        splits.append(ends)
        rows = [item for row in rows for item in row]
    values = constant(rows, dtype) if rows or dtype is not None else constant(np.zeros([0], np.float32))
    return RaggedTensor(values, splits)


def _depth(x):
    if isinstance(x, np.ndarray):
        return x.ndim
    return 1 + max((_depth(i) for i in x), default=0) if isinstance(x, (list, tuple)) else 0


def pack(x):
    """A tensor of numbers, lists and values: tf.convert_to_tensor."""
    if isinstance(x, (list, tuple)) and any(isinstance(leaf, Value) for leaf in _flat(x)):
        from ._ops import stacked
        return stacked([pack(i) for i in x])
    return x if isinstance(x, Value) else constant(x)


def constant(value, dtype=None, shape=None, name="Const"):
    """A tensor: numbers are int32 (int64 if they need it) and float32. tf.constant, tf.convert_to_tensor.

    >>> constant([1, 2]).dtype.name, constant(1.5).dtype.name, constant("a").numpy()
    ('int32', 'float32', b'a')
    """
    array = _array(value, None if dtype is None else as_dtype(dtype))
    if shape is not None:
        array = np.broadcast_to(array, tuple(shape)) if array.size == 1 else array.reshape(tuple(shape))
    return Tensor(array)


def _array(value, dtype):
    if isinstance(value, (np.ndarray, np.generic)) or hasattr(type(value), "__array__"):
        array = np.asarray(value)
        if array.dtype.kind in "SUO":
            array = _texts(array)
        return array if dtype is None or array.dtype == dtype.ps.numpy else _cast(array, dtype, value)
    if value is None:
        raise ValueError("Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a Tensor.")
    items = _flat(value)
    if any(isinstance(i, (str, bytes, bytearray)) for i in items):
        if not all(isinstance(i, (str, bytes, bytearray, np.ndarray)) for i in items):
            raise ValueError(f"Can't convert Python sequence with mixed types to Tensor: {value!r:.80}")
        return _cast(_texts(_rectangle(value, object)), dtype, value) if dtype is not None else \
            _texts(_rectangle(value, object))
    for i in items:
        if not isinstance(i, (numbers.Number, np.ndarray, np.generic)) and not hasattr(type(i), "__array__"):
            raise ValueError(f"Attempt to convert a value ({i!r:.60}) with an unsupported type ({type(i)}) to a Tensor.")
    array = _rectangle(value, None)
    if dtype is not None:
        return _cast(array, dtype, value)
    if not any(isinstance(i, (np.ndarray, np.generic)) for i in items):
        if array.dtype.kind == "f" or not items:
            array = array.astype(np.float32)
        elif array.dtype.kind == "i" and (array.size == 0 or -2 ** 31 <= array.min() and array.max() < 2 ** 31):
            array = array.astype(np.int32)
    return array


def _cast(array, dtype, value):
    if not array.size:
        return np.empty(array.shape, dtype.ps.numpy)
    if (dtype.name == "string") != (array.dtype == object) or array.dtype.kind == "f" and not isinstance(
            value, np.ndarray) and dtype.is_integer and array.size:
        raise TypeError(f"Cannot convert {value!r:.60} to EagerTensor of dtype {dtype.name}")
    return array.astype(dtype.ps.numpy)


def _rectangle(value, dtype):
    try:
        array = np.array(value, dtype)
    except ValueError:
        array = None
    if array is None or array.ndim != _depth_of_numbers(value):
        raise ValueError(f"Can't convert non-rectangular Python sequence to Tensor: {value!r:.80}")
    return array


def _depth_of_numbers(x):
    if isinstance(x, (list, tuple)):
        return 1 + (_depth_of_numbers(x[0]) if x else 0)
    return np.ndim(x)


def _texts(array):
    out = np.empty(array.shape, object)
    out[...] = array
    flat = out.reshape(-1)
    for i, item in enumerate(flat):
        if isinstance(item, str):
            flat[i] = item.encode()
        elif not isinstance(item, bytes):
            flat[i] = bytes(item) if isinstance(item, bytearray) else _arrays.wrong_item(item)
    return out


def is_tensor(x):
    """Whether it is a tensor, ragged and sparse ones and the values of a function included."""
    return isinstance(x, (Tensor, RaggedTensor, SparseTensor, Value))


def spec_of(x):
    """The spec of a tensor."""
    if isinstance(x, RaggedTensor):
        return RaggedTensorSpec(x.shape, x.dtype, x.ragged_rank)
    if isinstance(x, SparseTensor):
        return SparseTensorSpec(x.shape, x.dtype)
    return TensorSpec(x.shape, x.dtype)
