"""Dtypes, and descriptions of elements."""
import collections

from . import _core


class DType:
    """The type of a tensor's entries: ``ps.int64``, ``ps.float32``, ``ps.bytes``, ... Called, it casts.

    >>> import penstock as ps
    >>> list(ps.range(2).map(lambda x: ps.float32(x) / 2))
    [0.0, 0.5]
    >>> ps.float32.numpy
    dtype('float32')
    """

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __call__(self, x):
        from ._values import call
        return call(self.name, (x,), {})

    @property
    def numpy(self):
        """NumPy's dtype; that of strings is object, that of bfloat16 comes from ml_dtypes."""
        import numpy
        if self.name == "bfloat16":
            import ml_dtypes
            return numpy.dtype(ml_dtypes.bfloat16)
        return numpy.dtype({"bytes": "object", "boolean": "bool"}.get(self.name, self.name))

    def __repr__(self):
        return f"ps.{self.name}"

    def __reduce__(self):
        return dtype, (self.name,)


DTYPES = {name: DType(name) for name in _core.types}


def dtype(name):
    """The dtype of that name."""
    return DTYPES[name]


class TensorSpec(collections.namedtuple("TensorSpec", "dtype shape kind ragged_rank", defaults=("tensor", 0))):
    """What is known of a tensor: its dtype and its shape (None: an unknown size, or an unknown rank).

    ``kind`` is "tensor", "ragged" (axes 1 to ``ragged_rank`` are), "sparse" or "optional".

    >>> import penstock as ps
    >>> ps.range(4).batch(2, drop_remainder=True).spec.shape
    (2,)
    """

    __slots__ = ()


class DatasetSpec(collections.namedtuple("DatasetSpec", "element")):
    """An element that is a dataset: the spec of its elements."""

    __slots__ = ()


def leaf(kind, what, shape, ragged_rank):
    """One place of a spec; called by penstock._core."""
    return DatasetSpec(what) if kind == "dataset" else TensorSpec(DTYPES[what], shape, kind, ragged_rank)
