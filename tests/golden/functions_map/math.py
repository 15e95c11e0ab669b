"""Math and arrays: recorded op -> an expression over the inputs' names."""
import numpy as np
from functions_case import literal
from functions_map import math_more, math_rare
from functions_map.call import call, dtype_name


def complex_input(case):
    return case.dtype("x0").startswith("complex")


def cast(case):
    if case.attrs["dtype"].startswith("complex"):  # we have no such dtype: [..., 2] holds the parts
        part = {"complex64": "float32", "complex128": "float64"}[case.attrs["dtype"]]
        return f"{part}(x0)" if complex_input(case) else f"stack({part}(x0), zeros_like({part}(x0)), axis=-1)"
    return f"{dtype_name(case.attrs['dtype'])}(x0)"


def int32(make):
    """TensorFlow's places and sizes are int32, ours int64."""
    return lambda case: f"int32({make(case)})"


def option(case, *names):
    """The attributes that are recorded, as further arguments."""
    return "".join(f", {n}={literal(case.attrs[n])}" for n in names if case.attrs.get(n) is not None)


def split(case):
    return f"split(x0, {literal(case.attrs['num_or_sizes'])}{option(case, 'axis')})"


def repeat(case):
    """A number as a vector of one."""
    x = "x0" if case.shape("x0") else "expand_dims(x0, 0)"
    return f"repeat({x}, {literal(case.attrs['repeats'])}{option(case, 'axis')})"


def strided_slice(case):
    def piece(p):
        if p == "...":
            return "..."
        if p == "new":
            return "none"
        if isinstance(p, int):
            return str(p)
        return ":".join("" if v is None else str(v) for v in p)
    return f"x0[{', '.join(map(piece, case.attrs['spec']))}]"


def pad(case):
    mode = case.attrs.get("mode")
    extra = f", mode={literal(mode.lower())}" if mode else ""
    value = case.attrs.get("constant_values")
    extra += f", value={literal(value)}" if value is not None else ""
    return f"pad(x0, reshape({literal(case.attrs['paddings'])}, [-1, 2]){extra})"


def vector(value):
    """A list of integers as a tensor, the empty one too."""
    return f"reshape({literal(value)}, [{len(value)}])" if value else "zeros([0], dtype=int64)"


def scatter_nd(case):
    """Falses are added to as numbers are; strings are joined."""
    shape = vector(case.attrs["shape"])
    if case.dtype("x1") == "bool":
        return f"bool(scatter_nd(x0, uint8(x1), {shape}))"
    if case.dtype("x1") == "string":
        return (f"reduce(arange(shape(x0)[0]), zeros({shape}, dtype=bytes), (x, i) -> "
                "tensor_scatter_update(x, x0[i:i + 1], gather_nd(x, x0[i:i + 1]) + x1[i:i + 1]))")
    return f"scatter_nd(x0, x1, {shape})"


def reshape(case):
    return f"reshape(x0, {vector(case.attrs['shape'])})"


def ordered(case):
    return "uint8(x0)" if case.dtype("x0") == "bool" else "x0"


def descending(case):
    return ", descending=true" if case.attrs.get("direction") == "DESCENDING" else ""


def numbers(dtype, *values):
    return ", ".join(f"{dtype}({literal(v)})" for v in values)


def span(case):
    a = case.attrs
    dtype = "float32" if any(isinstance(a[k], float) for k in a) else "int32"
    return f"{dtype}(arange({literal(a['start'])}, {literal(a['limit'])}, {literal(a['delta'])}))"


def linspace(case):
    a = case.attrs
    return f"linspace({numbers('float32', a['start'], a['stop'])}, {a['num']})"


def moments(case):
    over = f"axis={literal(case.attrs['axes'])}" + (", keepdims=true" if case.attrs.get("keepdims") else "")
    return f"(mean(x0, {over}), reduce_variance(x0, {over}))"


def l2_normalize(case):
    return ("let x = x0; x * rsqrt(maximum(sum(square(x), axis="
            f"{literal(case.attrs.get('axis'))}, keepdims=true), 1e-12))")


def named(expression, *fields):
    """A tuple's items under the recorded names."""
    names = ", ".join(f[0] for f in enumerate_letters(fields))
    values = ", ".join(f"{field}: {cast_}({letter})" if cast_ else f"{field}: {letter}"
                       for letter, (field, cast_) in enumerate_letters(fields))
    return f"let ({names}) = {expression}; {{{values}}}"


def enumerate_letters(fields):
    return [("abc"[i], f if isinstance(f, tuple) else (f, None)) for i, f in enumerate(fields)]


def to_number(case):
    return f"to_number(x0{', dtype=' + case.attrs['out_type'] if case.attrs.get('out_type') else ''})"


def as_string(case):
    a = {k: v for k, v in case.attrs.items() if v is not None}
    if case.dtype("x0") == "bool":  # TensorFlow lets a width for numbers pass and does nothing with it
        a = {k: v for k, v in a.items() if k not in ("width", "fill")}
    return f"as_string(x0{''.join(f', {k}={literal(v)}' for k, v in a.items())})"


def sequence_mask(case):
    return f"sequence_mask(x0{option(case, 'maxlen')})"


def in_top_k(case):
    return f"in_top_k(x1, x0, {case.attrs['k']})"


def fill(case):
    return f"fill({vector(case.attrs['dims'])}, int32({literal(case.attrs['value'])}))"


MAP = {
    "cast": cast, "cast_out_of_range": cast, "saturate_cast": call("saturate_cast", "dtype"),
    "bitcast": call("bitcast", "dtype"),
    "add": call("add"), "subtract": call("subtract"), "multiply": call("multiply"),
    "divide": call("divide"), "truediv": call("divide"), "floordiv": call("floor_divide"),
    "floormod": call("modulo"), "truncatediv": call("truncate_divide"),
    "truncatemod": call("truncate_modulo"), "divide_no_nan": call("divide_no_nan"), "pow": call("power"),
    "round": call("round"), "rint": call("round"), "atan2": call("atan2"),
    **{op: call(op) for op in """negative abs sign floor ceil square exp expm1 log log1p sqrt rsqrt tanh sigmoid sin cos
       tan asin acos sinh cosh atan erf reciprocal softplus relu left_shift right_shift bitwise_and bitwise_or
       bitwise_xor bitwise_invert equal not_equal less less_equal greater greater_equal maximum minimum is_nan is_inf
       is_finite logical_and logical_or logical_xor logical_not squared_difference softmax log_softmax matmul norm
       zeros_like boolean_mask gather_nd segment_sum""".split()},
    "where": lambda case: "where(x0, x1, x2)" if "x1" in case.inputs else "nonzero(x0)",
    "clip": lambda case: "clip(x, lo, hi)",
    "broadcast_to": lambda case: f"broadcast_to(x0, {vector(case.attrs['shape'])})",
    **{op: call(op, "axis", "keepdims") for op in """reduce_sum reduce_mean reduce_prod reduce_min reduce_max reduce_any
       reduce_all reduce_std reduce_variance reduce_logsumexp""".split()},
    "l2_normalize": l2_normalize, "moments": moments,
    "argmax": lambda case: f"{case.attrs.get('output_type', 'int64')}(argmax({ordered(case)}{option(case, 'axis')}))",
    "argmin": lambda case: f"{case.attrs.get('output_type', 'int64')}(argmin({ordered(case)}{option(case, 'axis')}))",
    "cumsum": call("cumsum", "axis", "exclusive", "reverse"),
    "cumprod": call("cumprod", "axis", "exclusive", "reverse"),
    "stack": call("stack", "axis"), "concat": call("concat", "axis"), "split": split,
    "unstack": call("unstack", "axis"), "strided_slice": strided_slice,
    "slice": lambda case: f"slice(x0, {vector(case.attrs['begin'])}, {vector(case.attrs['size'])})",
    "gather": lambda case: f"gather(params, indices{option(case, 'axis')})",
    "gather_nd": lambda case: "gather_nd(params, indices)",
    "scatter_nd": scatter_nd,
    "tensor_scatter_nd_update": call("tensor_scatter_update"),
    "reshape": reshape, "transpose": call("transpose", "perm"), "expand_dims": call("expand_dims", "axis"),
    "squeeze": call("squeeze", "axis"), "pad": pad,
    "one_hot": lambda case: f"one_hot(x0, {case.attrs['depth']}{option(case, 'axis')}"
                            f"{', dtype=' + case.attrs['dtype'] if case.attrs.get('dtype') else ''})",
    "unique": lambda case: named("unique(x0)", "y", ("idx", "int32")),
    "unique_with_counts": lambda case: named("unique_with_counts(x0)", "y", ("idx", "int32"), ("count", "int32")),
    "sort": lambda case: f"sort(x0{descending(case)})",
    "argsort": lambda case: f"int32(argsort(x0{descending(case)}))",
    "top_k": lambda case: named(f"top_k(x0, {case.attrs['k']})", "values", ("indices", "int32")),
    "in_top_k": in_top_k,
    "searchsorted": int32(call("searchsorted", "side")),
    "bucketize": lambda case: f"int32(bucketize(x0, float32({literal(case.attrs['boundaries'])})))",
    "histogram_fixed_width": lambda case: f"int32(histogram(x0, x1, {case.attrs['nbins']}))",
    "bincount": int32(call("bincount")),
    "range": span, "linspace": linspace,
    "tile": lambda case: f"tile(x0, {vector(case.attrs['multiples'])})",
    "repeat": repeat,
    "reverse": call("reverse", "axis"), "roll": call("roll", "shift", "axis"), "sequence_mask": sequence_mask,
    "space_to_depth": call("space_to_depth", "block_size"), "depth_to_space": call("depth_to_space", "block_size"),
    "tensordot": call("tensordot", "axes"),
    "shape": int32(call("shape")), "size": int32(call("size")), "rank": int32(call("rank")), "fill": fill,
    "unsorted_segment_sum": lambda case: f"unsorted_segment_sum(x0, x1, {case.attrs['num_segments']})",
    "to_number": to_number, "as_string": as_string,
    **math_more.MAP, **math_rare.MAP,
}


def complex_first(make):
    return lambda case: math_more.of_complex(case) or make(math_more.with_parts(case))


MAP = {op: complex_first(make) for op, make in MAP.items()}


def tensor(array):
    """An array in the records' form."""
    def entry(v):
        if isinstance(v, (float, np.floating)):
            return float(v) if np.isfinite(v) else repr(float(v))
        return v.item() if isinstance(v, np.generic) else v
    return {"dtype": str(array.dtype), "shape": list(array.shape), "data": [entry(v) for v in array.reshape(-1)]}


def saturated(case):
    """What does not fit becomes the nearest number that does, NaN 0."""
    dtype = case.attrs["dtype"]
    if dtype == "float32" and case.dtype("x0") == "float64":  # TensorFlow makes 0 of what is below the normal
        with np.errstate(over="ignore"):
            return {"out": tensor(case.array("x0").astype(np.float32))}
    if "float" in dtype and case.op == "saturate_cast" and "int" in case.dtype("x0") and "trap" in case.record:
        return {"out": tensor(case.array("x0").astype(dtype))}
    if "float" in dtype or "complex" in dtype or dtype in ("bool", "string") or case.dtype("x0") in ("bool", "string"):
        return None
    if case.op != "saturate_cast" and "float" not in case.dtype("x0"):
        return None  # integers to integers wrap
    if dtype == "string":
        return None
    limits = np.iinfo(dtype)
    values = [0 if v != v else limits.max if v >= limits.max else limits.min if v <= limits.min else int(v)
              for v in case.array("x0").reshape(-1).tolist()]
    return {"out": {"dtype": dtype, "shape": case.shape("x0"), "data": values}}


def broadcast(case):
    """Whether the shapes of x0 and x1 go together."""
    try:
        np.broadcast_shapes(case.shape("x0"), case.shape("x1"))
    except ValueError:
        return False
    return True


def shifted(case):
    """Bit by bit: nothing is left beyond the width but the sign; a negative count is an error."""
    if not broadcast(case):
        return None
    a, b = np.broadcast_arrays(case.array("x0"), case.array("x1"))
    if (b < 0).any():
        return {"error": {"code": "INVALID_ARGUMENT"}}
    bits = 8 * a.dtype.itemsize
    out = [int(x) << min(int(n), 64) if case.op == "left_shift" else int(x) >> min(int(n), 64)
           for x, n in zip(a.reshape(-1), b.reshape(-1))]
    wrapped = [x & (2**bits - 1) for x in out]
    if a.dtype.kind == "i":
        wrapped = [x - 2**bits if x >= 2**(bits - 1) else x for x in wrapped]
    return {"out": {"dtype": str(a.dtype), "shape": list(a.shape), "data": wrapped}}


def places_in_order(case):
    """NaN counts as the largest number; bytes are sorted by their values."""
    x = case.array("x0")
    down = case.attrs.get("direction") == "DESCENDING"
    lines = x.reshape(-1, x.shape[-1]) if x.size else x.reshape(0, max(1, x.shape[-1]))

    def key(v):
        return v if x.dtype == object else (1, 0) if v != v else (0, v)
    return x, [sorted(range(len(line)), key=lambda i: key(line[i])) if not down else
               sorted(range(len(line) - 1, -1, -1), key=lambda i: key(line[i]))[::-1] for line in lines]


def ordered_alike(case):
    """Only around NaN, and of bytes, the orders differ."""
    x = case.array("x0")
    return x.ndim == 0 or (x.dtype != object and not (x.dtype.kind == "f" and np.isnan(x).any()))


def in_order(case):
    if ordered_alike(case):
        return None
    x, places = places_in_order(case)
    lines = x.reshape(-1, x.shape[-1]) if x.size else []
    data = [line[i] for line, at in zip(lines, places) for i in at]
    if x.dtype == object:
        data = [v.decode() for v in data]
        return {"out": {"dtype": "string", "shape": list(x.shape), "data": data}}
    return {"out": tensor(np.array(data, x.dtype).reshape(x.shape))}


def argsorted(case):
    if ordered_alike(case):
        return None
    x, places = places_in_order(case)
    return {"out": tensor(np.array([i for at in places for i in at], np.int32).reshape(x.shape))}


def own_range(case):
    """Away from the end there is nothing on the way."""
    a = case.attrs
    if "error" not in case.record or not a["delta"] or (a["limit"] - a["start"]) * a["delta"] > 0:
        return None
    dtype = "float32" if any(isinstance(a[k], float) for k in a) else "int32"
    return {"out": {"dtype": dtype, "shape": [0], "data": []}}


def search(case):
    """NaN goes behind all numbers, as in NumPy."""
    return {"out": case.record["numpy"]} if "numpy" in case.record else None


def truncated(case):
    """Integers of every width, and by zero the error that floor_divide gives."""
    a, b = case.array("x0"), case.array("x1")
    if "error" not in case.record or a.dtype.kind not in "iu" or not broadcast(case):
        return None
    if (b == 0).any():
        return {"error": {"code": "INVALID_ARGUMENT"}}
    pairs = [(int(x), int(y)) for x, y in zip(*(v.reshape(-1) for v in np.broadcast_arrays(a, b)))]
    quotients = [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in pairs]
    out = quotients if case.op == "truncatediv" else [x - q * y for q, (x, y) in zip(quotients, pairs)]
    return {"out": {"dtype": str(a.dtype), "shape": list(np.broadcast(a, b).shape), "data": out}}


OWN = {
    "cast": saturated, "cast_out_of_range": saturated, "saturate_cast": saturated,
    "left_shift": shifted, "right_shift": shifted, "sort": in_order, "argsort": argsorted, "searchsorted": search,
    "truncatediv": truncated, "truncatemod": truncated, "range": own_range,
}
