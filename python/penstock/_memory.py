"""Arrays in memory as datasets: shared, and no part of the pipeline's text."""
import os

from . import _core
from ._arrays import to_core
from ._dataset import Dataset


class Held:
    """Stands among the code of a pipeline for memory that its text does not hold: such a pipeline is not pickled."""

    __slots__ = ()


def from_memory(arrays, keys, identity=""):
    """The items of arrays; see Dataset::from_memory in include/penstock/dataset.h."""
    return Dataset(_core.memory([to_core(a) for a in arrays], keys, identity), (Held(),))


def identity_of(arrays):
    """Names arrays of which some are mapped from files: these by their files as they are now, others by their contents.

    "" if none is mapped: the engine hashes contents faster.
    """
    import hashlib
    found = [_mapped(a) for a in arrays]
    if not any(found):
        return ""
    hashed = hashlib.blake2b(digest_size=16)
    for array, where in zip(arrays, found):
        if where is None and array.dtype.kind in "SUO":
            hashed.update(repr(array.tolist()).encode())
        elif where is None:
            import numpy
            hashed.update(repr((array.dtype.str, array.shape)).encode())
            hashed.update(numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8).data if array.size else b"")
        else:
            hashed.update(repr(where).encode())
    return f"mapped {hashed.hexdigest()}"


def _mapped(array):
    """-> the file that an array is mapped from and its place there, or None."""
    import numpy
    root, base = None, array
    while isinstance(base, numpy.ndarray):
        root = base if isinstance(base, numpy.memmap) else root
        base = base.base
    if root is None or root.filename is None:
        return None
    try:
        status = os.stat(root.filename)
    except OSError:
        return None
    place = array.__array_interface__["data"][0] - root.__array_interface__["data"][0] + root.offset
    return (os.path.realpath(root.filename), status.st_size, status.st_mtime_ns, place, array.dtype.str, array.shape, array.strides)
