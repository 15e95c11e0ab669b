"""NumPy arrays into sources and out of elements; NumPy is loaded when the first one is seen."""
import collections
import sys

from . import _core
from ._errors import InvalidArgument


class Ragged(collections.namedtuple("Ragged", "values splits")):
    """A ragged tensor: item i of axis k is [splits[k][i], splits[k][i + 1]) of the next; the last cut ``values``.

    >>> import penstock as ps
    >>> ds = ps.from_tensor_slices(ps.ragged([[1, 2], [], [3]])).ragged_batch(3)
    >>> [r] = ds
    >>> r.values.tolist(), r.splits[0].tolist()
    ([1, 2, 3], [0, 2, 2, 3])
    """

    __slots__ = ()


class Sparse(collections.namedtuple("Sparse", "indices values shape")):
    """A sparse tensor: ``values[i]`` stands at ``indices[i]``, the rest is 0."""

    __slots__ = ()


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


def dataset(core, codes):
    """A nested dataset; called by penstock._core."""
    from ._dataset import Dataset
    return Dataset(core, codes)


def is_array(x):
    """True for arrays of NumPy, and for what other libraries convert to one."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(x, numpy.ndarray):
        return True
    return hasattr(type(x), "__array__") and hasattr(type(x), "shape") and not isinstance(x, type) and \
        not (numpy is not None and isinstance(x, numpy.generic))


def is_dataclass(x):
    """True for values of dataclasses; `dataclasses`, which is slow to load, is there when one has been made."""
    return hasattr(type(x), "__dataclass_fields__")


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


def dtype_of(x):
    """-> (name of the dtype, rank) of a value of Python code: numbers and strings, arrays, and what NumPy makes one of."""
    kind = type(x)
    if kind in _SCALARS:
        return _SCALARS[kind], 0
    import numpy
    array = numpy.asarray(x)
    if array.dtype.kind in "SUO":
        for item in array.ravel().tolist():
            if not isinstance(item, (str, bytes, bytearray)):
                wrong_item(x)
        return "bytes", array.ndim
    if isinstance(x, list) and array.dtype.name == "float64":  # Python's numbers are float32 here, as in text
        return "float32", array.ndim
    return array.dtype.name, array.ndim


_SCALARS = {int: "int64", float: "float32", bool: "bool", str: "bytes", bytes: "bytes", bytearray: "bytes"}


def converted(x, dtype, alone):
    """An array of that dtype for the engine; called by penstock._core. Not ``alone``: others may write to x, it is copied."""
    import numpy
    if dtype == "bytes":
        return to_core(numpy.asarray(x, dtype=object))
    from ._types import DTYPES
    wanted = DTYPES[dtype].numpy
    array = numpy.asarray(x)
    if array.dtype != wanted:
        cast = _cast(array, wanted, written=not hasattr(x, "dtype"))
        if cast is None:
            raise InvalidArgument(f"expected {dtype}: {array.dtype.name} {_shown(x)}")
        return to_core(cast)
    if array.base is not None or array is x and not alone:
        array = array.copy()
    return to_core(array)


def _cast(array, dtype, written):
    """The array with another dtype of its kind, or None. ``written``: of Python's numbers, which have any that holds them."""
    import numpy
    if array.dtype == object:
        return None
    if written and array.dtype.kind == "i" and dtype.kind in "iu":
        cast = array.astype(dtype)
        return cast if (cast == array).all() else None
    return array.astype(dtype) if numpy.can_cast(array.dtype, dtype, "same_kind") else None


def _shown(x):
    text = " ".join(repr(x).split())
    return text if len(text) <= 60 else text[:57] + "..."


def wrong_item(item):
    raise InvalidArgument(f"an array of objects must hold strings: {item!r:.60}")


def to_dlpack(x):
    """An array of an element for the ``from_dlpack`` of other libraries: its own memory, not copied.

    Libraries that do not know read-only arrays refuse NumPy's view of it. Do not write to what they make of it.

    >>> import numpy as np, penstock as ps
    >>> [batch] = ps.range(3).batch(3)
    >>> np.from_dlpack(ps.to_dlpack(batch))
    array([0, 1, 2])
    """
    array = shared(x)
    if array is not None:
        return array
    if not hasattr(x, "dtype") or x.dtype.kind in "SUO":
        raise InvalidArgument(f"to_dlpack takes an array of numbers: {x!r:.60}")
    import numpy
    return to_core(numpy.array(x))


def shared(x):
    """The engine's own array, which has __dlpack__, under a NumPy array that is the whole of it; else None."""
    array = getattr(getattr(x, "base", None), "obj", getattr(x, "base", None))  # a memoryview of it
    return array if isinstance(array, _core.Array) and x.nbytes == memoryview(array).nbytes else None
