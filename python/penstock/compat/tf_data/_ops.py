"""Ops: recorded in a function, evaluated by the engine outside of one."""
import numpy as np

from ... import _core, _values
from ..._arrays import Ragged, Sparse
from ..._arrays import to_core as array_to_core
from ..._calls import OPS, build
from ..._dataset import Dataset as PsDataset
from ..._errors import Error
from ..._values import Value, is_tracing
from . import errors
from ._symbols import Symbol, symbol
from ._tensors import RaggedTensor, SparseTensor, Tensor, constant, pack
from ._types import TensorShape, as_dtype

MOST_ENTRIES = 256  # of an array that is written into a pipeline as a constant


def lowered(x):
    """x as ps functions take it: ragged and sparse tensors are expressions, empty arrays keep their dtype."""
    if isinstance(x, RaggedTensor):
        return _values.call("ragged", (x.to_list(),), {"ragged_rank": x.ragged_rank, "dtype": as_dtype(x.dtype).ps})
    if isinstance(x, SparseTensor):
        return _values.call("sparse", tuple(map(lowered, x)), {})
    if isinstance(x, np.ndarray):
        if x.size == 0:
            return _values.call("zeros", ([int(n) for n in x.shape], as_dtype(x.dtype).ps), {})
        return x.view(np.ndarray)
    if isinstance(x, (list, tuple)):
        return type(x)(map(lowered, x))
    return x.expression() if hasattr(type(x), "expression") else x


def _op(name, *args, **named):
    return _values.call(name, tuple(lowered(a) for a in args), {k: lowered(v) for k, v in named.items()})


def op(name, *args, **named):
    """An op of Penstock; a result of the engine's, or a Symbol in a function. Named arguments that are None are left out."""
    named = {k: v for k, v in named.items() if v is not None}
    while args and args[-1] is None:
        args = args[:-1]
    return symbol(_op, name, *args, **named) if is_tracing() else evaluated(_op, name, *args, **named)


def either(name, *args, **named):
    """An op whose arguments are tensors: lists become some, numbers where there is no other."""
    known = any(isinstance(a, (np.ndarray, np.generic, Value, RaggedTensor, SparseTensor)) for a in args)
    return op(name, *(a if a is None or known and isinstance(a, (int, float)) or isinstance(
        a, (RaggedTensor, SparseTensor)) else pack(a) for a in args), **named)


def stacked(items):
    """tf.stack of some."""
    return op("stack", *items)


def cast(x, dtype, name=None):
    """tf.cast.

    >>> cast([1.5, 2.5], "int32").numpy().tolist()
    [1, 2]
    """
    return op("cast", x if isinstance(x, (RaggedTensor, SparseTensor)) else pack(x), as_dtype(dtype).ps)


def ensure_shape(x, shape, name=None):
    """x, whose shape is that one; another is an error.

    >>> ensure_shape(constant([1, 2]), [None]).shape
    TensorShape([2])
    """
    x, shape = pack(x), TensorShape(shape)
    if isinstance(x, np.ndarray):
        if not x.shape.is_compatible_with(shape):
            raise errors.InvalidArgumentError(message=
                f"Shape of tensor {list(x.shape)} is not compatible with expected shape {list(shape)}.", node="ensure_shape")
        return x
    if shape.rank is None:
        return x
    sizes = op("shape", x)
    known = [(i, n) for i, n in enumerate(shape) if n is not None]
    holds = symbol(Value.__eq__, op("size", sizes), shape.rank)
    checked = op("assert", holds, x, message=f"the shape is not compatible with expected shape {list(shape)}")
    wanted = [n if n is not None else op("shape", checked)[i] for i, n in enumerate(shape)]
    if known:
        sizes = op("shape", checked)
        for i, n in known:
            checked = op("assert", sizes[i] == n, checked,
                         message=f"the shape is not compatible with expected shape {list(shape)}")
    return op("reshape", checked, wanted)


def evaluated(f, *args, **named):
    """f(*args) of ps.Values, computed now: a Tensor, or what else it gives."""
    arrays = []

    def place(x):
        if isinstance(x, np.ndarray) and x.size > MOST_ENTRIES:
            arrays.append(x.view(np.ndarray))
            return _Place(len(arrays) - 1)
        if isinstance(x, RaggedTensor):
            return _Split(place(x.values), place(x.row_splits))
        if isinstance(x, (list, tuple)):
            return type(x)(map(place, x))
        return x

    args, named = [place(a) for a in args], {k: place(v) for k, v in named.items()}

    def body(*values):
        def filled(x):
            if isinstance(x, _Place):
                return values[0] if len(arrays) == 1 else values[0][x.index]
            if isinstance(x, _Split):
                return _values.call("from_row_splits", (lowered(filled(x.values)), lowered(filled(x.splits))), {})
            return type(x)(map(filled, x)) if isinstance(x, (list, tuple)) else x
        return f(*map(filled, args), **{k: filled(v) for k, v in named.items()})

    try:
        ds = PsDataset(_core.slices_of_tuple([array_to_core(a[None]) for a in arrays])) if arrays else build(
            "range", (1,), {})
        return wrapped(build("get_single_element", (ds.map(lambda x: body(x)),), {}))
    except Error as e:
        raise errors.of(e) from e.__cause__


class _Place:
    def __init__(self, index):
        self.index = index


class _Split:
    def __init__(self, values, splits):
        self.values, self.splits = values, splits


def wrapped(x):
    """An element of Penstock as TensorFlow has it."""
    if isinstance(x, np.ndarray):
        return x.view(Tensor)
    if isinstance(x, Ragged):
        return RaggedTensor(x.values, x.splits)
    if isinstance(x, Sparse):
        return SparseTensor(x.indices, x.values, x.shape)
    if isinstance(x, dict):
        return {k: wrapped(v) for k, v in x.items()}
    if isinstance(x, tuple):
        return tuple(map(wrapped, x))
    if isinstance(x, PsDataset):
        from ._dataset import Dataset
        return Dataset._of(x)
    return x if x is None else scalar(x)


def scalar(x):
    """A Tensor of rank 0 of a NumPy scalar or bytes."""
    return np.array(x, object if isinstance(x, bytes) else None).view(Tensor)


def parameters(name):
    """-> [(name, kind)] of an op."""
    return [(p[0], p[1]) for p in OPS[name][3]]


__all__ = ["Symbol", "Tensor", "cast", "constant", "either", "ensure_shape", "evaluated", "lowered", "op", "pack", "wrapped"]
