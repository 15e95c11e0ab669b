"""NumPy's ufuncs over symbolic values (__array_ufunc__): UFUNCS is the table, INSTEAD says what to write for others."""
from ._calls import NAMES
from ._errors import traced
from ._values import call

UFUNCS = {"absolute": "abs", "fabs": "abs", "true_divide": "divide", "remainder": "modulo", "mod": "modulo", "fmod": "truncate_modulo",
          "invert": "logical_not", "bitwise_and": "logical_and", "bitwise_or": "logical_or", "bitwise_xor": "logical_xor",
          "rint": "round", "positive": "identity", "isnan": "is_nan", "isinf": "is_inf", "isfinite": "is_finite",
          "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "arcsinh": "asinh", "arccosh": "acosh",
          "arctanh": "atanh"}
UFUNCS.update({name: name for name in (
    "add", "subtract", "multiply", "divide", "floor_divide", "negative", "power", "sign", "square", "reciprocal", "sqrt", "exp",
    "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh", "floor", "ceil", "maximum", "minimum",
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor",
    "logical_not", "left_shift", "right_shift", "matmul")})
REDUCTIONS = {"add": "reduce_sum", "multiply": "reduce_prod", "maximum": "reduce_max", "minimum": "reduce_min",
              "logical_and": "reduce_all", "logical_or": "reduce_any"}
RUNNING = {"add": "cumsum", "multiply": "cumprod"}
INSTEAD = {"hypot": "ps.sqrt(x * x + y * y)", "nonzero": "ps.nonzero(x)", "argwhere": "ps.nonzero(x)", "histogram": "ps.histogram",
           "digitize": "ps.bucketize", "einsum": "ps.tensordot", "deg2rad": "x * (math.pi / 180)", "radians": "x * (math.pi / 180)",
           "rad2deg": "x * (180 / math.pi)", "degrees": "x * (180 / math.pi)", "exp2": "2.0 ** x", "cbrt": "x ** (1 / 3)",
           "full_like": "ps.fill(ps.shape(x), value)", "copysign": "ps.abs(x) * ps.sign(y)",
           "split": "ps.split_tensor", "array_split": "ps.split_tensor", "hstack": "ps.concat(a, b, axis=1)",
           "vstack": "ps.concat(a, b, axis=0), or ps.stack(a, b) of vectors", "swapaxes": "ps.transpose(x, [1, 0, 2])",
           "moveaxis": "ps.transpose(x, [1, 2, 0])", "rot90": "ps.image.rot90", "isin": "ps.reduce_any(x[..., None] == values, axis=-1)",
           "select": "ps.where in ps.where", "compress": "ps.boolean_mask", "extract": "ps.boolean_mask",
           "bitwise_count": "ps.bitwise_and", "trunc": "ps.float32(ps.int64(x))", "fix": "ps.float32(ps.int64(x))"}


def refused(what, instead):
    return traced(f"{what} cannot be a part of a pipeline", f"write {instead} instead")


def ufunc_of(name, method, args, named):
    """numpy.add(x, y), and numpy.add.reduce(x) and the like."""
    dtype = named.pop("dtype", None)
    if method == "__call__" and name in UFUNCS and not named:
        out = call(UFUNCS[name], args, {})
    elif method == "reduce" and name in REDUCTIONS and is_default(named, initial=None, where=True, out=(None,)):
        axis = args[1] if len(args) > 1 else named.get("axis", 0)
        out = call(REDUCTIONS[name], (args[0],), {"axis": axes_of(axis), "keepdims": named.get("keepdims", False)})
    elif method == "accumulate" and name in RUNNING and is_default(named, out=(None,)):
        out = call(RUNNING[name], (args[0],), {"axis": args[1] if len(args) > 1 else named.get("axis", 0)})
    elif method == "__call__" and name in UFUNCS:
        raise traced(f"numpy.{name} takes {', '.join(sorted(named))} here, which cannot be a part of a pipeline", "leave it out")
    else:
        of_method = {"outer": "x[:, None] and y[None, :] as arguments of it", "at": "ps.scatter_nd", "reduceat": "ps.segment_sum"}
        raise refused(f"numpy.{name}" + ("" if method == "__call__" else f".{method}"), of_method.get(method, instead_of(name)))
    return cast(out, dtype)


def instead_of(name):
    if name in INSTEAD:
        return INSTEAD[name]
    near = [op for op in (name, f"reduce_{name}", f"is_{name[2:]}") if op in NAMES]
    return f"ps.{near[0]}" if near else "ps functions (docs/functions.md has all of them)"


def is_default(named, **defaults):
    return all(named.get(k, v) is v or named[k] == v or named[k] is None for k, v in defaults.items())


def axes_of(axis):
    return list(axis) if isinstance(axis, tuple) else axis


def cast(x, dtype):
    if dtype is None:
        return x
    from ._types import DType
    if isinstance(dtype, DType):
        return dtype(x)
    import numpy
    return call("cast", (x, numpy.dtype(dtype)), {})
