"""NumPy arrays into sources and out of elements; NumPy is loaded when the first one is seen."""
import sys
import typing

from . import _core
from ._errors import InvalidArgument


class Ragged(typing.NamedTuple):
    """A ragged tensor: item i of axis k is [splits[k][i], splits[k][i + 1]) of the next; the last cut ``values``.

    >>> import penstock as ps
    >>> ds = ps.from_tensor_slices(ps.ragged([[1, 2], [], [3]])).ragged_batch(3)
    >>> [r] = ds
    >>> r.values.tolist(), r.splits[0].tolist()
    ([1, 2, 3], [0, 2, 2, 3])
    """

    values: typing.Any
    splits: tuple


class Sparse(typing.NamedTuple):
    """A sparse tensor: ``values[i]`` stands at ``indices[i]``, the rest is 0."""

    indices: typing.Any
    values: typing.Any
    shape: typing.Any


def strings(items, shape):
    """An array of bytes objects; called by penstock._core."""
    import numpy
    out = numpy.empty(len(items), dtype=object)
    out[:] = items
    return out.reshape(shape)


def bfloat16(bits):
    """The array whose 16 bits each these are; called by penstock._core."""
    try:
        import ml_dtypes
    except ImportError:
        raise InvalidArgument("NumPy has no bfloat16; install ml_dtypes, or map with ps.float32 first") from None
    return bits.view(ml_dtypes.bfloat16)


def dataset(core):
    """A nested dataset; called by penstock._core."""
    from ._dataset import Dataset
    return Dataset(core)


def is_array(x):
    """True for arrays of NumPy, and for what other libraries convert to one."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(x, numpy.ndarray):
        return True
    return hasattr(type(x), "__array__") and hasattr(type(x), "shape") and not isinstance(x, type) and \
        not (numpy is not None and isinstance(x, numpy.generic))


def to_core(x):
    """An array as the engine has them: shared where NumPy's memory is fit for it, else copied first."""
    import numpy
    x = numpy.asarray(x)
    if x.dtype.kind in "SUO":
        items = [i.encode() if isinstance(i, str) else bytes(i) if isinstance(i, (bytes, bytearray)) else wrong_item(i)
                 for i in x.ravel().tolist()]
        return _core.texts(items, list(x.shape))
    x = numpy.require(x, dtype=x.dtype.newbyteorder("="), requirements=["C", "ALIGNED"])
    return _core.share(x.dtype.name, list(x.shape), x.__array_interface__["data"][0], x)


def wrong_item(item):
    raise InvalidArgument(f"an array of objects must hold strings: {item!r:.60}")
