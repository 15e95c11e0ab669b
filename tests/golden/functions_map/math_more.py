"""Ops of other libraries that are expressions over ours, and options that ours spell otherwise."""
import copy

import numpy as np
from functions_case import literal
from functions_map.call import dtype_name


def given(case, name, otherwise=None):
    value = case.attrs.get(name)
    return otherwise if value is None else value


def axis_option(case, name="axis"):
    value = case.attrs.get(name)
    return "" if value is None else f", axis={literal(value)}"


def keep(case):
    return ", keepdims=true" if case.attrs.get("keepdims") else ""


def softmax(name):
    return lambda case: f"{name}(x0{axis_option(case)})"


def norm(case):
    over, order = axis_option(case) + keep(case), given(case, "ord", "euclidean")
    if order in ("inf", float("inf")):
        return f"max(abs(x0){over})"
    if order == 1:
        return f"sum(abs(x0){over})"
    if order not in ("euclidean", "fro", 2):
        dtype = case.dtype("x0")
        return f"power(sum(power(abs(x0), {dtype}({order})){over}), {dtype}({1 / order}))"
    return f"norm(x0{over})"


def gather(case):
    if case.attrs.get("batch_dims") == 1:
        return "map_fn((params, indices), ((p, i) -> gather(p, i)))"
    return f"gather(params, indices{axis_option(case)})"


def boolean_mask(case):
    if case.attrs.get("axis"):
        axis = case.attrs["axis"] % len(case.shape("x0"))
        good = str(case.shape("x1") == case.shape("x0")[axis:axis + 1]).lower()
        return f"gather(x0, nonzero(assert({good}, x1, message=\"mask\"))[:, 0]{axis_option(case)})"
    return "boolean_mask(x0, x1)"


def matrix(case, name, option):
    if not (case.attrs.get(option) or case.attrs.get("adjoint" + option[9:])):
        return name
    rank = len(case.shape(name))
    return f"transpose({name}, {[*range(rank - 2), rank - 1, rank - 2]})"


def matmul(case):
    return f"matmul({matrix(case, 'x0', 'transpose_a')}, {matrix(case, 'x1', 'transpose_b')})"


def sequence_mask(case):
    text = f"sequence_mask(x0{', maxlen=' + literal(case.attrs['maxlen']) if case.attrs.get('maxlen') is not None else ''})"
    return f"{case.attrs['dtype']}({text})" if case.attrs.get("dtype") else text


def bincount(case):
    if "x1" in case.inputs:  # weights
        return "unsorted_segment_sum(x1, x0, max(int64(x0)) + 1)"
    least = given(case, "minlength", 0)
    text = f"bincount(x0, minlength={least})"
    return f"int32({text}[:{case.attrs['maxlength']}])" if case.attrs.get("maxlength") is not None else f"int32({text})"


def one_hot(case):
    a, on, off = case.attrs, case.attrs.get("on_value"), case.attrs.get("off_value")
    text = f"one_hot(x0, {a['depth']}{axis_option(case)}"
    if on is None and off is None:
        return text + (f", dtype={a['dtype']})" if a.get("dtype") else ")")
    dtype = a.get("dtype") or ("bool" if isinstance(on if on is not None else off, bool) else "float32" if isinstance(on if on is not None else off, float) else "int32")
    return f"where({text}, dtype=bool), {dtype}({literal(1 if on is None else on)}), {dtype}({literal(off or 0)}))"


def fill(case):
    value, dims = case.attrs["value"], case.attrs["dims"]
    dims = f"reshape({literal(dims)}, [{len(dims)}])" if dims else "zeros([0], dtype=int64)"
    if isinstance(value, (str, dict)):
        return f"fill({dims}, {literal(value)})"
    dtype = "bool" if isinstance(value, bool) else "float32" if isinstance(value, float) else "int32"
    return f"fill({dims}, {dtype}({literal(value)}))"


def squeeze(case):
    axis = case.attrs.get("axis")
    return "squeeze(x0)" if axis in (None, []) else f"squeeze(x0, axis={literal(axis)})"


def split(case):
    sizes = literal(case.attrs["num_or_sizes"])
    return f"split_tensor(x0, {sizes}{axis_option(case)})"


def linspace(case):
    a = case.attrs
    dtype = "float32" if any(isinstance(a[k], float) for k in ("start", "stop")) else "float64"
    return f"linspace({dtype}({literal(a['start'])}), {dtype}({literal(a['stop'])}), {a['num']})"


def ordered(text):
    def make(case):
        down = ", descending=true" if case.attrs.get("direction") == "DESCENDING" else ""
        return text.format(f"x0{axis_option(case)}{down}")
    return make


def pad(case):
    mode = case.attrs.get("mode")
    extra = f", mode={literal(mode.lower())}" if mode else ""
    value = case.attrs.get("constant_values")
    extra += f", value={literal(value)}" if value is not None else ""
    extra += ', value=""' if value is None and case.dtype("x0") == "string" else ""
    text = f"pad(x0, reshape({literal(case.attrs['paddings'])}, [-1, 2]){extra})"
    return f"bool({text.replace('x0', 'uint8(x0)', 1)})" if case.dtype("x0") == "bool" else text


def no_nan(case):
    """Integers divide as numbers."""
    if "int" in case.dtype("x0"):
        dtype = "float32" if case.dtype("x0") in ("int8", "uint8", "int16", "uint16") else "float64"
        return f"divide_no_nan({dtype}(x0), {dtype}(x1))"
    return "divide_no_nan(x0, x1)"


def expression(text):
    """`_0` stands for the dtype of x0."""
    return lambda case: text.replace("_0", case.dtype("x0")) if "_0" in text else text


def over_axes(text):
    return lambda case: text.replace("AXES", axis_option(case) + keep(case)).replace("_0", case.dtype("x0"))


def scattered(combine):
    """x0 changed at the places x1 by x2: of a vector, or of rows; one place may be named twice."""
    def make(case):
        n = case.inputs["x1"]["shape"][0]
        return (f"reduce(arange({n}), x0, (x, i) -> tensor_scatter_update(x, x1[i:i + 1], "
                f"{combine.format('gather_nd(x, x1[i:i + 1])', 'x2[i:i + 1]')}))")
    return make


def by_segment(combine, empty, end):
    """One result for each segment: `combine` of the items that name it, `empty` where none does. Without a number
    of segments they ascend, and those without items are 0."""
    def make(case):
        count, dtype = case.attrs.get("num_segments"), case.dtype("x0")
        if count is None:
            good, start = "all(x1[1:] >= x1[:-1])", f"zeros_like(x0[0]){end}"
            count = "max(int64(x1)) + 1"
        else:
            good, start = f"all(x1 < {count})", limit(dtype, empty)
        x, zero = "boolean_mask(x0, x1 == s)", "zeros_like(x0[0])"
        if combine == SEGMENTS["mean"] and "int" in dtype and "num_segments" in case.attrs:  # divides as numbers do
            real = "float32" if dtype in ("int8", "uint8", "int16", "uint16") else "float64"
            x, zero = f"{real}({x})", f"{real}({zero})"
        one = combine.format(x=x, empty=start, zero=zero)
        if len(case.shape("x0")) > 1:  # the shape of an item is known
            one = f"reshape({one}, {case.shape('x0')[1:]})"
        return f"let ids = assert({good}, x1, message=\"segments\"); map_fn(arange({count}), s -> {one.replace('x1', 'ids')})"
    return make


def limit(dtype, empty):
    """What the smallest or the largest of nothing is, in the shape of an item."""
    if empty == "none":
        return "zeros_like(x0[0])"
    if "int" in dtype:
        value = getattr(np.iinfo(dtype), empty)
    else:
        value = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38,
                 "float64": 1.7976931348623157e308}[dtype] * (1 if empty == "max" else -1)
    return f"fill(shape(x0)[1:], {dtype}({value}))"


def gelu(case):
    dtype = case.dtype("x0")
    if case.attrs.get("approximate"):
        return (f"{dtype}(0.5) * x0 * ({dtype}(1) + tanh({dtype}(0.7978845608028654) * "
                f"(x0 + {dtype}(0.044715) * power(x0, {dtype}(3)))))")
    return f"{dtype}(0.5) * x0 * erfc(-x0 * {dtype}(float32(0.7071067811865476)))"  # there a float32, too


SEGMENTS = {
    "mean": "if any(x1 == s) then mean({x}, axis=0) else {zero}",
    "max": "if any(x1 == s) then max({x}, axis=0) else {empty}",
    "min": "if any(x1 == s) then min({x}, axis=0) else {empty}",
    "prod": "prod({x}, axis=0)",
}

# Of [..., 2], whose entries are the parts: z is x0, w is x1.
COMPLEX = {
    "add": "x0 + x1", "subtract": "x0 - x1", "negative": "-x0", "identity": "x0", "zeros_like": "zeros_like(x0)",
    "multiply": "let (a, b) = (x0[..., 0], x0[..., 1]); let (c, d) = (x1[..., 0], x1[..., 1]); "
                "stack(a * c - b * d, a * d + b * c, axis=-1)",
    "divide": "let (a, b) = (x0[..., 0], x0[..., 1]); let (c, d) = (x1[..., 0], x1[..., 1]); let n = c * c + d * d; "
              "stack((a * c + b * d) / n, (b * c - a * d) / n, axis=-1)",
    "square": "let (a, b) = (x0[..., 0], x0[..., 1]); stack(a * a - b * b, a * b + a * b, axis=-1)",
    "reciprocal": "let (a, b) = (x0[..., 0], x0[..., 1]); let n = a * a + b * b; stack(a / n, -b / n, axis=-1)",
    "exp": "let (a, b) = (exp(x0[..., 0]), x0[..., 1]); stack(a * cos(b), a * sin(b), axis=-1)",
    "log": "let (a, b) = (x0[..., 0], x0[..., 1]); stack(_0(0.5) * log(a * a + b * b), atan2(b, a), axis=-1)",
    "sqrt": "let (a, b) = (x0[..., 0], x0[..., 1]); let r = sqrt(a * a + b * b); "
            "stack(sqrt((r + a) / _0(2)), where(b < _0(0), -sqrt((r - a) / _0(2)), sqrt((r - a) / _0(2))), axis=-1)",
    "sin": "let (a, b) = (x0[..., 0], x0[..., 1]); stack(sin(a) * cosh(b), cos(a) * sinh(b), axis=-1)",
    "cos": "let (a, b) = (x0[..., 0], x0[..., 1]); stack(cos(a) * cosh(b), -sin(a) * sinh(b), axis=-1)",
    "tanh": "let (a, b) = (_0(2) * x0[..., 0], _0(2) * x0[..., 1]); let n = cosh(a) + cos(b); "
            "stack(sinh(a) / n, sin(b) / n, axis=-1)",
    "pow": "let (a, b) = (x0[..., 0], x0[..., 1]); let (c, d) = (x1[..., 0], x1[..., 1]); "
           "let (r, t) = (_0(0.5) * log(a * a + b * b), atan2(b, a)); let (m, p) = (exp(c * r - d * t), d * r + c * t); "
           "stack(m * cos(p), m * sin(p), axis=-1)",
    "sign": "x0 / expand_dims(sqrt(sum(square(x0), axis=-1)), -1)",
    "equal": "all(x0 == x1, axis=-1)", "not_equal": "any(x0 != x1, axis=-1)",
    "matmul": "let (a, b) = (x0[..., 0], x0[..., 1]); let (c, d) = (x1[..., 0], x1[..., 1]); "
              "stack(matmul(a, c) - matmul(b, d), matmul(a, d) + matmul(b, c), axis=-1)",
}


def is_complex(case):
    return any(isinstance(v, dict) and "complex" in v.get("dtype", "") for v in case.inputs.values())


def with_parts(case):
    """The case with axes and shapes that leave the last axis, which holds the parts of complex numbers, where it is."""
    if not is_complex(case) or "x0" not in case.inputs:
        return case
    rank, changed = len(case.shape("x0")), dict(case.attrs)
    axis = changed.get("axis")
    if isinstance(axis, list):
        changed["axis"] = [a % rank for a in axis]
    elif axis is not None:
        changed["axis"] = axis % (rank + (case.op in ("stack", "expand_dims")))
    elif case.op in ("reduce_sum", "reduce_mean"):
        changed["axis"] = list(range(rank))
    if case.op == "transpose":
        changed["perm"] = [*(changed.get("perm") or range(rank - 1, -1, -1)), rank]
    if case.op in ("reshape", "broadcast_to"):
        changed["shape"] = [*changed["shape"], 2]
    out = copy.copy(case)
    out.attrs = changed
    return out


def of_complex(case):
    """The op on complex numbers; None where it is not one of COMPLEX, or they are none."""
    if not is_complex(case):
        return None
    text = COMPLEX.get("divide" if case.op == "truediv" else case.op)
    return text and text.replace("_0", {"complex64": "float32", "complex128": "float64"}[case.dtype("x0")])


MAP = {
    "softmax": softmax("softmax"), "log_softmax": softmax("log_softmax"), "norm": norm, "gather": gather,
    "boolean_mask": boolean_mask, "matmul": matmul, "sequence_mask": sequence_mask, "bincount": bincount,
    "one_hot": one_hot, "fill": fill, "squeeze": squeeze, "split": split, "linspace": linspace,
    "sort": ordered("sort({})"), "argsort": ordered("int32(argsort({}))"), "pad": pad, "divide_no_nan": no_nan,
    "multiply_no_nan": expression("where(x1 == _0(0), _0(0), x0 * x1)"),
    "xdivy": expression("where(x0 == _0(0), _0(0), x0 / x1)"),
    "xlogy": expression("where(x0 == _0(0), _0(0), x0 * log(x1))"),
    "xlog1py": expression("where(x0 == _0(0), _0(0), x0 * log1p(x1))"),
    "squared_difference": lambda c: "square(x0 - x1)" if "16" in c.dtype("x0") and "float" in c.dtype("x0") else
                                    "squared_difference(x0, x1)",  # of halves, each step is rounded
    "ones_like": expression("ones_like(x0)"), "identity": expression("x0"), "stop_gradient": expression("x0"),
    "relu6": expression("relu6(x0)"),
    "elu": expression("elu(x0)"),
    "selu": expression("selu(x0)"),
    "gelu": gelu,
    "leaky_relu": lambda c: f"where(x0 < {c.dtype('x0')}(0), {c.dtype('x0')}({c.attrs.get('alpha', 0.20000000298023224)}) * x0, x0)",
    "silu": expression("x0 * sigmoid(x0)"), "swish": expression("x0 * sigmoid(x0)"),
    "softsign": expression("x0 / (_0(1) + abs(x0))"), "log_sigmoid": expression("-softplus(-x0)"),
    "reciprocal_no_nan": expression("divide_no_nan(_0(1), x0)"),
    **{op: expression(f"{op}(x0)") for op in ("asinh", "acosh", "atanh", "erfc", "lgamma", "log2", "log10")},
    "reduce_euclidean_norm": lambda c: over_axes(
        "_0(sqrt(float64(sum(square(x0)AXES))))" if "int" in c.dtype("x0") else "_0(sqrt(sum(square(float64(x0))AXES)))")(c),
    "count_nonzero": over_axes("sum(int64(bool(x0))AXES)"),
    "reduce_mean_squared": over_axes("mean(square(x0)AXES)"),
    "tensor_scatter_nd_add": scattered("{} + {}"), "tensor_scatter_nd_sub": scattered("{} - {}"),
    "tensor_scatter_nd_max": scattered("maximum({}, {})"), "tensor_scatter_nd_min": scattered("minimum({}, {})"),
    **{f"{kind}segment_{op}": by_segment(text, {"max": "min", "min": "max"}.get(op, "none"), "")
       for op, text in SEGMENTS.items() for kind in ("", "unsorted_")},
    "histogram_fixed_width_bins": lambda c: (
        f"int32(clip(floor((x0 - x1[0]) / (x1[1] - x1[0]) * {float(c.attrs.get('nbins', 100))}), 0.0, "
        f"{float(c.attrs.get('nbins', 100) - 1)}))"),
    "eye": lambda c: f"float32(expand_dims(arange({c.attrs['num_rows']}), 1) == "
                     f"expand_dims(arange({c.attrs.get('num_columns') or c.attrs['num_rows']}), 0))",
    "diag": expression("where(expand_dims(arange(size(x0)), 1) == expand_dims(arange(size(x0)), 0), x0, _0(0))"),
    "diag_part": expression("map_fn(arange(minimum(shape(x0)[0], shape(x0)[1])), i -> x0[i, i])"),
    "trace": expression("sum(map_fn(arange(minimum(shape(x0)[0], shape(x0)[1])), i -> x0[i, i]))"),
    "invert_permutation": expression("int32(argsort(x0))"),
    "meshgrid": expression("(broadcast_to(expand_dims(x0, 0), [size(x1), size(x0)]), "
                           "broadcast_to(expand_dims(x1, 1), [size(x1), size(x0)]))"),
    "zeros": lambda c: f"zeros({c.attrs['shape']}, dtype={dtype_name(c.attrs.get('dtype', 'float32'))})",
    "ones": lambda c: f"ones({c.attrs['shape']}, dtype={dtype_name(c.attrs.get('dtype', 'float32'))})",
    "add_n": lambda c: " + ".join(c.inputs),
    "cross": expression("let (a, b) = (x0, x1); stack(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], "
                        "a[0] * b[1] - a[1] * b[0])"),
    "matvec": expression("matmul(x0, expand_dims(x1, 1))[:, 0]"),
    "clip_by_norm": lambda c: f"x0 * ({c.attrs['clip_norm']} / maximum(norm(x0), {c.attrs['clip_norm']}))",
    "unravel_index": expression("stack(x0 // x1[1], x0 % x1[1])"),
    "setdiff1d": expression("let keep = not any(expand_dims(x0, 1) == expand_dims(x1, 0), axis=1); "
                            "{out: boolean_mask(x0, keep), idx: int32(nonzero(keep)[:, 0])}"),
    "confusion_matrix": expression("let n = maximum(max(x0), max(x1)) + 1; "
                                   "scatter_nd(stack(x0, x1, axis=1), ones_like(x0), stack(n, n))"),
    "complex": expression("stack(x0, x1, axis=-1)"),
    "real": expression("x0[..., 0]"), "imag": expression("x0[..., 1]"),
    "conj": lambda c: f"x0 * {'float32' if c.dtype('x0') == 'complex64' else 'float64'}([1, -1])",
    "angle": lambda c: "atan2(x0[..., 1], x0[..., 0])" if "complex" in c.dtype("x0") else
                       f"where(x0 < {c.dtype('x0')}(0), {c.dtype('x0')}(3.141592653589793), zeros_like(x0))",
    "abs": lambda c: "sqrt(sum(square(x0), axis=-1))" if "complex" in c.dtype("x0") else "abs(x0)",
    "population_count": lambda c: f"uint8(reduce(arange({8 * np.dtype(c.dtype('x0')).itemsize}), (zeros_like(x0), x0), ((n, x), i) -> "
                                  f"(n + bitwise_and(x, {c.dtype('x0')}(1)), right_shift(x, {c.dtype('x0')}(1))))[0])",
}
