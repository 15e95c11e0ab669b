"""The structure of Python values: dicts, tuples, namedtuples, dataclasses and lists around arrays."""
import numbers

from ._arrays import dtype_of, is_dataclass
from ._errors import InvalidArgument
from ._types import DTYPES, DType, TensorSpec


def parts(x):
    """-> {key: part} of a dict, a namedtuple or a dataclass, a tuple of parts, or None for an array, a number, a string."""
    if isinstance(x, dict):
        return x
    if isinstance(x, tuple) and hasattr(x, "_fields") and not isinstance(x, TensorSpec):
        return x._asdict()
    if is_dataclass(x):
        import dataclasses
        return {f.name: getattr(x, f.name) for f in dataclasses.fields(x)}
    if isinstance(x, tuple) and not isinstance(x, TensorSpec):
        return x
    if isinstance(x, list) and not _is_tensor(x):
        return tuple(x)
    return None


def _is_tensor(x):
    """Whether a list holds numbers only, or strings, or lists of one length that do."""
    return all(isinstance(i, numbers.Number) for i in x) or all(isinstance(i, (str, bytes)) for i in x) or \
        all(isinstance(i, list) and len(i) == len(x[0]) and _is_tensor(i) for i in x)


def structured(x, leaf):
    """x with leaf(part) in place of each array, number and string; its dicts and tuples are plain ones."""
    inside = parts(x)
    if inside is None:
        return leaf(x)
    if isinstance(inside, dict):
        return {k: structured(v, leaf) for k, v in inside.items()}
    return tuple(structured(v, leaf) for v in inside)


def leaves(structure):
    """Those of a structure of plain dicts and tuples, in reading order."""
    if isinstance(structure, dict):
        return [leaf for v in structure.values() for leaf in leaves(v)]
    if isinstance(structure, tuple) and not isinstance(structure, TensorSpec):
        return [leaf for v in structure for leaf in leaves(v)]
    return [structure]


def spec_of(x):
    """The spec of elements like x: their dtypes and ranks; sizes may differ from one to the next."""
    def leaf(v):
        name, rank = dtype_of(v)
        return TensorSpec(DTYPES[name], (None,) * rank)
    return structured(x, leaf)


def to_spec(spec):
    """A spec as people write it: TensorSpec, ps.float32 or NumPy's dtypes for scalars, in dicts and tuples."""
    def leaf(s):
        if isinstance(s, TensorSpec):
            return s
        if isinstance(s, DType):
            return TensorSpec(s, ())
        if isinstance(s, type) and s in _PLAIN:
            return TensorSpec(DTYPES[_PLAIN[s]], ())
        try:
            import numpy
            return TensorSpec(DTYPES[numpy.dtype(s).name], ())
        except (TypeError, KeyError):
            raise InvalidArgument(f"a spec is made of ps.TensorSpec and dtypes: {s!r:.60}") from None
    return structured(spec, leaf)


_PLAIN = {int: "int64", float: "float32", bool: "bool", str: "bytes", bytes: "bytes"}


def flat(spec, x):
    """The leaves of x, in the order of the spec's."""
    if isinstance(spec, TensorSpec):
        return [x]
    out = []
    _flat(spec, x, out)
    return out


def _flat(spec, x, out):
    if isinstance(spec, TensorSpec):
        out.append(x)
        return
    inside = parts(x)
    if isinstance(spec, dict):
        if not isinstance(inside, dict) or inside.keys() != spec.keys():
            raise InvalidArgument(f"expected a dict with {', '.join(map(repr, spec))}: {_said(inside, x)}")
        for key, part in spec.items():
            _flat(part, inside[key], out)
    else:
        inside = tuple(x) if isinstance(x, list) else inside
        if not isinstance(inside, tuple) or len(inside) != len(spec):
            raise InvalidArgument(f"expected a tuple of {len(spec)}: {_said(inside, x)}")
        for part, value in zip(spec, inside):
            _flat(part, value, out)


def _said(inside, x):
    if isinstance(inside, dict):
        return f"a dict with {', '.join(map(repr, inside))}" if inside else "an empty dict"
    return f"a tuple of {len(inside)}" if isinstance(inside, tuple) else f"a {type(x).__name__}"


def rebuilt(spec, values):
    """The structure of a spec around the next values of an iterator."""
    if isinstance(spec, dict):
        return {k: rebuilt(v, values) for k, v in spec.items()}
    if isinstance(spec, tuple) and not isinstance(spec, TensorSpec):
        return tuple(rebuilt(v, values) for v in spec)
    return next(values)


def picked(spec, x):
    """The leaves of a structure that takes part[key] and part[i]."""
    if isinstance(spec, dict):
        return [leaf for k, v in spec.items() for leaf in picked(v, x[k])]
    if isinstance(spec, tuple) and not isinstance(spec, TensorSpec):
        return [leaf for i, v in enumerate(spec) for leaf in picked(v, x[i])]
    return [x]
