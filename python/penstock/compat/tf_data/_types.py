"""Dtypes, shapes and specs with TensorFlow's names and rules."""
import numbers

from ... import _types as ps_types

_PS_NAMES = {"string": "bytes"}


class DType(ps_types.DType):
    """A dtype: ``tf.int32``, ``tf.string``, ... It equals NumPy's dtype of that kind, and its name.

    >>> from penstock.compat import tf_data as tf
    >>> tf.int32 == "int32", tf.as_dtype("float32"), tf.string.ps
    (True, tf.float32, ps.bytes)
    """

    __slots__ = ()

    @property
    def ps(self):
        """Penstock's own."""
        return ps_types.DTYPES[_PS_NAMES.get(self.name, self.name)]

    @property
    def as_numpy_dtype(self):
        """NumPy's class of scalars; ``object`` for strings."""
        return self.ps.numpy.type if self.name != "string" else object

    @property
    def dtype(self):  # NumPy asks this of what it compares a dtype to
        return self.ps.numpy

    numpy = dtype
    base_dtype = real_dtype = property(lambda self: self)
    as_datatype_enum = property(lambda self: self.name)
    is_integer = property(lambda self: self.name.lstrip("u").startswith("int"))
    is_floating = property(lambda self: "float" in self.name)
    is_bool = property(lambda self: self.name == "bool")
    is_unsigned = property(lambda self: self.name.startswith("uint"))
    is_numeric = property(lambda self: self.is_integer or self.is_floating)
    size = property(lambda self: self.ps.numpy.itemsize)

    def _limits(self):
        import numpy
        return numpy.iinfo(self.ps.numpy) if self.is_integer else numpy.finfo(self.ps.numpy)

    min = property(lambda self: self._limits().min)
    max = property(lambda self: self._limits().max)

    def is_compatible_with(self, other):
        """Whether it is the same one."""
        return self == as_dtype(other)

    def __eq__(self, other):
        if isinstance(other, ps_types.DType):
            return self.name == _NAMES.get(other.name, other.name)
        try:
            return other is not None and self.name == as_dtype(other).name
        except TypeError:
            return False

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"tf.{self.name}"

    __str__ = __repr__

    def __call__(self, x):
        from ._tensors import constant
        return constant(x, self)

    def __reduce__(self):
        return as_dtype, (self.name,)


_NAMES = {ours: theirs for theirs, ours in _PS_NAMES.items()}
DTYPES = {_NAMES.get(name, name): DType(_NAMES.get(name, name)) for name in ps_types.DTYPES}
_PYTHONS = {int: "int32", float: "float32", bool: "bool", str: "string", bytes: "string", object: "string"}


def as_dtype(x):
    """The DType of a name, of NumPy's dtype or class, or of Python's own types.

    >>> import numpy as np
    >>> as_dtype(np.int64), as_dtype(float), as_dtype("bool")
    (tf.int64, tf.float32, tf.bool)
    """
    if isinstance(x, DType):
        return x
    if isinstance(x, ps_types.DType):
        return DTYPES[_NAMES.get(x.name, x.name)]
    if isinstance(x, str):
        x = _NAMES.get(x, {"float": "float32", "double": "float64", "half": "float16", "object": "string"}.get(x, x))
        if x in DTYPES:
            return DTYPES[x]
    elif isinstance(x, type) and x in _PYTHONS:
        return DTYPES[_PYTHONS[x]]
    else:
        import numpy
        try:
            dtype = numpy.dtype(x)
        except TypeError:
            dtype = None
        if dtype is not None and x is not None:
            return DTYPES["string" if dtype.kind in "OSU" else dtype.name]
    raise TypeError(f"Cannot convert the argument {x!r} to a tf.DType")


class TensorShape(tuple):
    """A shape: a tuple of sizes, None where one is not known; ``rank`` is None where their number is not.

    >>> TensorShape([2, None]).as_list(), TensorShape(None).rank
    ([2, None], None)
    """

    def __new__(cls, sizes=()):
        if isinstance(sizes, TensorShape):
            return sizes
        if isinstance(sizes, numbers.Integral):
            sizes = (sizes,)
        out = super().__new__(cls, () if sizes is None else (_size(n) for n in sizes))
        out._known = sizes is not None
        return out

    rank = ndims = property(lambda self: len(self) if self._known else None)
    dims = property(lambda self: list(self) if self._known else None)

    def as_list(self):
        """The sizes; a ValueError if their number is not known."""
        if not self._known:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self)

    def num_elements(self):
        """The product of the sizes, None if it is not known."""
        if not self.is_fully_defined():
            return None
        out = 1
        for n in self:
            out *= n
        return out

    def is_fully_defined(self):
        """Whether each size is known."""
        return self._known and None not in self

    def is_compatible_with(self, other):
        """Whether a tensor can have both shapes."""
        other = TensorShape(other)
        if not (self._known and other._known):
            return True
        return len(self) == len(other) and all(a is None or b is None or a == b for a, b in zip(self, other))

    def with_rank(self, rank):
        """This shape, which has that rank, or it is a ValueError."""
        if not self._known:
            return TensorShape([None] * rank)
        if len(self) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")
        return self

    def concatenate(self, other):
        """The sizes of both."""
        other = TensorShape(other)
        return TensorShape([*self, *other] if self._known and other._known else None)

    def __getitem__(self, i):
        if not self._known:
            return TensorShape(None) if isinstance(i, slice) else None
        out = tuple.__getitem__(self, i)
        return TensorShape(out) if isinstance(i, slice) else out

    def __add__(self, other):
        return self.concatenate(other)

    def __eq__(self, other):
        if not isinstance(other, TensorShape):
            if other is not None and not isinstance(other, (list, tuple)):
                return NotImplemented
            other = TensorShape(other)
        return self._known == other._known and tuple.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((tuple(self), self._known))

    def __str__(self):
        return "(" + ", ".join(map(str, self)) + ("," if len(self) == 1 else "") + ")" if self._known else "<unknown>"

    def __repr__(self):
        return f"TensorShape({list(self) if self._known else None})"

    def __reduce__(self):
        return TensorShape, (list(self) if self._known else None,)


def _size(n):
    n = None if n is None else n.__index__()
    if n is not None and n < -1:
        raise ValueError(f"Dimension {n} must be >= 0")
    return None if n == -1 else n


class TypeSpec:
    """Base of the specs: equal where all that they say is."""

    def _said(self):
        return tuple(sorted(self.__dict__.items(), key=lambda item: item[0]))

    def __eq__(self, other):
        return type(self) is type(other) and self._said() == other._said()

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((type(self), repr(self)))


class TensorSpec(TypeSpec):
    """A tensor's shape and dtype.

    >>> TensorSpec([None, 2], "int64")
    TensorSpec(shape=(None, 2), dtype=tf.int64, name=None)
    """

    def __init__(self, shape, dtype="float32", name=None):
        self.shape, self.dtype, self._name = TensorShape(shape), as_dtype(dtype), name

    name = property(lambda self: self._name)
    rank = property(lambda self: self.shape.rank)

    def _said(self):
        return self.shape, self.dtype

    def is_compatible_with(self, other):
        """Whether a tensor, or a tensor of the other spec, fits."""
        return isinstance(getattr(other, "dtype", None), object) and self.dtype == as_dtype(other.dtype) and \
            self.shape.is_compatible_with(other.shape)

    @classmethod
    def from_tensor(cls, tensor, name=None):
        """The spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    from_spec = from_tensor

    def __repr__(self):
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self._name!r})"


class RaggedTensorSpec(TypeSpec):
    """A ragged tensor's shape, dtype and number of ragged axes.

    >>> RaggedTensorSpec([2, None], "int32").ragged_rank
    1
    """

    def __init__(self, shape=None, dtype="float32", ragged_rank=None, row_splits_dtype="int64", flat_values_spec=None):
        self.shape, self.dtype = TensorShape(shape), as_dtype(dtype)
        self.row_splits_dtype, self.flat_values_spec = as_dtype(row_splits_dtype), flat_values_spec
        if ragged_rank is None:
            if self.shape.rank is None:
                raise ValueError("Must specify ragged_rank or a shape with known rank.")
            ragged_rank = self.shape.rank - 1
        self.ragged_rank = ragged_rank

    def _said(self):
        return self.shape, self.dtype, self.ragged_rank

    def __repr__(self):
        return f"RaggedTensorSpec({self.shape!r}, {self.dtype!r}, {self.ragged_rank}, {self.row_splits_dtype!r})"


class SparseTensorSpec(TypeSpec):
    """A sparse tensor's shape and dtype.

    >>> SparseTensorSpec([3], "int32")
    SparseTensorSpec(TensorShape([3]), tf.int32)
    """

    def __init__(self, shape=None, dtype="float32"):
        self.shape, self.dtype = TensorShape(shape), as_dtype(dtype)

    def __repr__(self):
        return f"SparseTensorSpec({self.shape!r}, {self.dtype!r})"


class DatasetSpec(TypeSpec):
    """An element that is a dataset.

    >>> DatasetSpec(TensorSpec([], "int32"))
    DatasetSpec(TensorSpec(shape=(), dtype=tf.int32, name=None), TensorShape([]))
    """

    def __init__(self, element_spec, dataset_shape=()):
        self.element_spec, self._dataset_shape = element_spec, TensorShape(dataset_shape)

    def __repr__(self):
        return f"DatasetSpec({self.element_spec!r}, {self._dataset_shape!r})"


class OptionalSpec(TypeSpec):
    """An element that is there or not.

    >>> OptionalSpec(TensorSpec([], "int32"))
    OptionalSpec(TensorSpec(shape=(), dtype=tf.int32, name=None))
    """

    def __init__(self, element_spec):
        self._value_spec = element_spec

    def __repr__(self):
        return f"OptionalSpec({self._value_spec!r})"


class NoneTensorSpec(TypeSpec):
    """The component None."""

    def __repr__(self):
        return "NoneTensorSpec()"
