"""tf.data.Dataset.from_generator."""
import numpy as np

from ... import _sources
from ..._types import TensorSpec as PsTensorSpec
from ..._values import Value, call, is_tracing
from ._identity import identity
from ._ops import lowered
from ._structures import fields, leaves, like_of, mapped, plain
from ._symbols import symbol
from ._tensors import RaggedTensor, SparseTensor, constant, pack
from ._types import RaggedTensorSpec, SparseTensorSpec, TensorSpec, TypeSpec, as_dtype


def signature(output_types, output_shapes, output_signature):
    """The structure of TypeSpecs that the arguments of from_generator say."""
    if output_types is not None and output_signature is not None:
        raise TypeError("The `output_types` argument can not be used together with the `output_signature` argument.")
    if output_shapes is not None and output_signature is not None:
        raise TypeError("The `output_shapes` argument can not be used together with the `output_signature` argument.")
    if output_signature is None and output_types is None:
        raise TypeError("To specify the output signature you need to provide either the `output_signature` argument "
                        "or the `output_types` argument.")
    if output_signature is not None:
        for s in leaves(output_signature):
            if not isinstance(s, TypeSpec):
                raise TypeError(f"`output_signature` must contain objects that are subclass of `tf.TypeSpec` but "
                                f"found {type(s)} which is not.")
        return output_signature
    types = mapped(as_dtype, output_types)
    shapes = None if output_shapes is None else _along(types, output_shapes)
    at = iter([None] * len(leaves(types)) if shapes is None else shapes)
    return mapped(lambda dtype: TensorSpec(next(at), dtype), types)


def _along(structure, x):
    """The parts of x at the leaves of a structure."""
    inside = fields(structure)
    if inside is not None:
        other = fields(x) or x
        return [part for k, v in inside.items() for part in _along(v, other[k])]
    if isinstance(structure, dict):
        return [part for k, v in structure.items() for part in _along(v, x[k])]
    if isinstance(structure, tuple):
        if not isinstance(x, (tuple, list)) or len(x) != len(structure):
            raise TypeError(f"The two structures don't have the same nested structure: {structure!r}, {x!r}")
        return [part for v, w in zip(structure, x) for part in _along(v, w)]
    return [x]


def _expanded(spec):
    """A leaf of a signature as the dense tensors that it is made of."""
    if isinstance(spec, RaggedTensorSpec):
        inner = spec.shape[spec.ragged_rank + 1:] if spec.shape.rank is not None else ()
        return (PsTensorSpec(spec.dtype.ps, (None, *inner)),
                *(PsTensorSpec(as_dtype("int64").ps, (None,)) for _ in range(spec.ragged_rank)))
    if isinstance(spec, SparseTensorSpec):
        rank = spec.shape.rank
        return (PsTensorSpec(as_dtype("int64").ps, (None, rank)), PsTensorSpec(spec.dtype.ps, (None,)),
                PsTensorSpec(as_dtype("int64").ps, (rank,)))
    if not isinstance(spec, TensorSpec):
        raise TypeError(f"a generator gives tensors, ragged and sparse tensors: {spec!r}")
    return PsTensorSpec(spec.dtype.ps, None if spec.shape.rank is None else tuple(spec.shape))


def _leaf(spec, x):
    """A part of an element as the arrays that _expanded says."""
    if isinstance(spec, RaggedTensorSpec):
        if not isinstance(x, RaggedTensor) or x.ragged_rank != spec.ragged_rank:
            raise TypeError(f"expected a ragged tensor that fits {spec!r}: {x!r:.80}")
        return (np.asarray(x.flat_values), *map(np.asarray, x.nested_row_splits))
    if isinstance(spec, SparseTensorSpec):
        if not isinstance(x, SparseTensor):
            raise TypeError(f"expected a sparse tensor that fits {spec!r}: {x!r:.80}")
        return np.asarray(x.indices), np.asarray(x.values), np.asarray(x.dense_shape)
    try:
        array = np.asarray(x) if isinstance(x, np.ndarray) and x.dtype.kind not in "SUO" else \
            np.asarray(constant(x, spec.dtype if not isinstance(x, (np.ndarray, np.generic)) else None))
        if array.dtype != spec.dtype.ps.numpy:
            if (array.dtype == object) != (spec.dtype == "string"):
                raise TypeError("another kind")
            array = array.astype(spec.dtype.ps.numpy)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"`generator` yielded an element that could not be converted to the expected type. The expected "
                        f"type was {spec.dtype.name}, but the yielded element was {x!r:.80}.") from None
    if not spec.shape.is_compatible_with(np.shape(array)):
        raise ValueError(f"`generator` yielded an element of shape {np.shape(array)} where an element of shape "
                         f"{spec.shape} was expected.")
    return array if array.ndim else array[()]


def from_generator(generator, output_types, output_shapes, args, output_signature):
    """See tf.data.Dataset.from_generator."""
    from ._dataset import Dataset
    if not callable(generator):
        raise TypeError("`generator` must be a Python callable.")
    spec = signature(output_types, output_shapes, output_signature)
    leaf_specs = leaves(spec)
    args = () if args is None else tuple(pack(a) for a in args)

    def prepared(x):
        try:
            parts = _along(spec, x)
        except (TypeError, KeyError, IndexError):
            raise TypeError("`generator` yielded an element that did not match the expected structure. The expected "
                            f"structure was {spec!r}, but the yielded element was {x!r:.80}.") from None
        at = iter(_leaf(s, p) for s, p in zip(leaf_specs, parts))
        return plain(mapped(lambda _: next(at), spec))

    if is_tracing() and any(isinstance(a, Value) for a in args):
        return Dataset._of(_whole(generator, args, spec, leaf_specs, prepared), like_of(spec))
    given = [a.numpy() for a in args]
    ds = _sources.from_generator(lambda: map(prepared, generator(*given)), spec=plain(spec, _expanded),
                                 identity=identity(generator, repr(given), repr(spec)))
    if any(isinstance(s, (RaggedTensorSpec, SparseTensorSpec)) for s in leaf_specs):
        ds = ds.map(lambda x: _joined(plain(spec), x))
    return Dataset._of(ds, like_of(spec))


def _joined(spec, x):
    if isinstance(spec, dict):
        return {k: _joined(s, x[k]) for k, s in spec.items()}
    if isinstance(spec, tuple):
        return tuple(_joined(s, x[i]) for i, s in enumerate(spec))
    if isinstance(spec, RaggedTensorSpec):
        out = x[0]
        for i in range(spec.ragged_rank, 0, -1):
            out = call("from_row_splits", (out, x[i]), {})
        return out
    if isinstance(spec, SparseTensorSpec):
        return call("sparse", (x[0], x[1], x[2]), {})
    return x


def _whole(generator, args, spec, leaf_specs, prepared):
    """The elements of a generator whose arguments are values of a function: all are made at once, and sliced."""
    stacked = tuple(PsTensorSpec(s.dtype.ps, (None, *s.shape)) for s in leaf_specs)

    def rows(*values):
        found = [leaves(prepared(x)) for x in generator(*values)]
        return tuple(np.stack([np.asarray(row[i]) for row in found]) if found else
                     np.zeros([0, *(n or 0 for n in s.shape)], s.dtype.ps.numpy) for i, s in enumerate(leaf_specs))

    def made(*values):
        call_rows, parts = (rows, stacked) if len(leaf_specs) > 1 else (lambda *v: rows(*v)[0], stacked[0])
        function = _sources.py_map(call_rows, spec=parts, identity=identity(generator, repr(spec)))
        out = function(*map(lowered, values))
        at = iter(range(len(leaf_specs)))
        whole = plain(mapped(lambda _: out[next(at)] if len(leaf_specs) > 1 else out, spec))
        return call("from_tensor_slices", (whole,), {})
    return symbol(made, *args)


