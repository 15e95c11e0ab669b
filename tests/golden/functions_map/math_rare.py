"""Ops of other libraries that stand rarely in functions of rows: expressions over ours."""
import itertools

import numpy as np
from functions_case import literal


def expression(text):
    """`_0` stands for the dtype of x0."""
    return lambda case: text.replace("_0", case.dtype("x0")) if "_0" in text else text


def rank(case, name="x0"):
    return len(case.shape(name))


def turned(order, text):
    return f"transpose({text}, {list(order)})" if list(order) != list(range(len(order))) else text


def axis_of(case, otherwise=0):
    return (case.attrs.get("axis") or otherwise) % max(1, rank(case))


def cumulative_logsumexp(case):
    """Each from the one before, so that nothing overflows."""
    if rank(case) == 0 or not -rank(case) <= (case.attrs.get("axis") or 0) < rank(case):
        return f"cumsum(x0, axis={case.attrs.get('axis') or 0})"
    axis, dtype = axis_of(case), case.dtype("x0")
    order = [axis] + [i for i in range(rank(case)) if i != axis]
    x, low = turned(order, "x0"), f"{dtype}(-inf)"
    back = "[::-1]" if case.attrs.get("reverse") else ""
    given = "before" if case.attrs.get("exclusive") else "both"
    state = f"fill({[case.shape('x0')[i] for i in order[1:]] or 'zeros([0], dtype=int64)'}, {low})"
    step = (f"((before, v) -> let m = maximum(before, v); let d = where(before == v, {dtype}(0), -abs(before - v)); "
            f"let both = where(is_inf(m), m, m + log1p(exp(d))); (both, {given}))")
    text = f"let (_, y) = scan(({x}){back}, {state}, {step}); y{back}"
    return turned(np.argsort(order).tolist(), f"({text})")


def reverse_sequence(case):
    """The first lengths[i] items along seq_axis the other way round."""
    a = case.attrs
    axis, batch = a.get("seq_axis", a.get("seq_dim", 1)) or 0, a.get("batch_axis", a.get("batch_dim", 0)) or 0
    order = [batch, axis] + [i for i in range(rank(case)) if i not in (batch, axis)]
    good = f"all(x1 <= {case.shape('x0')[axis]})"
    turned_back = f"reshape(concat(row[:k][::-1], row[k:]), {[case.shape('x0')[i] for i in order[1:]]})"
    text = (f"(let n = assert({good}, x1, message=\"lengths\"); "
            f"map_fn(({turned(order, 'x0')}, n), ((row, k) -> {turned_back})))")
    return turned(np.argsort(order).tolist(), text)


def dynamic_partition(case):
    parts = ", ".join(f"boolean_mask(x0, x1 == {i})" for i in range(case.attrs["num_partitions"]))
    return f"({parts},)"


def einsum(case):
    """Each operand with an axis for every letter, multiplied and summed."""
    equation = case.attrs["equation"].replace(" ", "")
    left, _, right = equation.partition("->")
    terms = left.split(",")
    if "->" not in equation:
        letters = sorted(set("".join(terms)))
        right = "".join(c for c in letters if "".join(terms).count(c) == 1)
    if "." in equation or any(len(set(t)) < len(t) for t in terms):
        return None
    every = right + "".join(sorted(set("".join(terms)) - set(right)))
    factors = []
    for name, term in zip(case.inputs, terms):
        order = [term.index(c) for c in every if c in term]
        cut = ", ".join(":" if c in term else "none" for c in every)
        factors.append(f"{turned(order, name)}[{cut}]")
    summed = list(range(len(right), len(every)))
    product = " * ".join(factors)
    return f"sum({product}, axis={summed})" if summed else product


def band_part(case):
    low, high = case.attrs.get("num_lower", -1), case.attrs.get("num_upper", -1)
    rows, columns = case.shape("x0")[-2:]
    keep = ["true"] + ([f"d <= {low}"] if low >= 0 else []) + ([f"d >= {-high}"] if high >= 0 else [])
    return (f"let d = expand_dims(arange({rows}), 1) - expand_dims(arange({columns}), 0); "
            f"where(d == d and {' and '.join(keep)}, x0, zeros_like(x0))")


def blocks(case):
    size = case.attrs.get("block_shape", case.attrs.get("block_size", 2))
    return [size, size] if isinstance(size, int) else size


def space_to_batch(case):
    size, pads = blocks(case), case.attrs.get("paddings", [[0, 0], [0, 0]])
    m, n, shape = len(size), rank(case), case.shape("x0")
    padded = [shape[0]] + [shape[i + 1] + sum(pads[i]) for i in range(m)] + shape[m + 1:]
    if any(padded[i + 1] % size[i] for i in range(m)):
        return "reshape(x0, [0, 7])"
    split = [padded[0]] + list(itertools.chain(*([padded[i + 1] // size[i], size[i]] for i in range(m)))) + padded[m + 1:]
    order = [2 * i + 2 for i in range(m)] + [0] + [2 * i + 1 for i in range(m)] + list(range(2 * m + 1, n + m))
    out = [shape[0] * int(np.prod(size))] + [padded[i + 1] // size[i] for i in range(m)] + padded[m + 1:]
    full = [[0, 0]] + pads + [[0, 0]] * (n - m - 1)
    return f"reshape(transpose(reshape(pad(x0, {full}), {split}), {order}), {out})"


def batch_to_space(case):
    size, crops = blocks(case), case.attrs.get("crops", [[0, 0], [0, 0]])
    m, n, shape = len(size), rank(case), case.shape("x0")
    if shape[0] % int(np.prod(size)):
        return "reshape(x0, [0, 7])"
    batch = shape[0] // int(np.prod(size))
    order = [m] + list(itertools.chain(*([m + 1 + i, i] for i in range(m)))) + list(range(2 * m + 1, n + m))
    out = [batch] + [shape[i + 1] * size[i] for i in range(m)] + shape[m + 1:]
    cut = ", ".join([":"] + [f"{crops[i][0]}:{out[i + 1] - crops[i][1]}" for i in range(m)])
    return f"reshape(transpose(reshape(x0, {[*size, batch, *shape[1:]]}), {order}), {out})[{cut}]"


def polyval(case):
    """Coefficients from the highest power down: attributes, or the inputs before the last."""
    coeffs = case.attrs.get("coeffs")
    names = list(case.inputs)
    terms = [f"{case.dtype(names[-1])}({literal(c)})" for c in coeffs] if coeffs else names[:-1]
    text = terms[0]
    for term in terms[1:]:
        text = f"({text}) * {names[-1]} + {term}"
    return text


def pooled(combine):
    """Windows of [batch, rows, columns, channels], without filling up."""
    def make(case):
        a = case.attrs
        size, stride = a.get("ksize", 2), a.get("strides", a.get("ksize", 2))
        size = [size, size] if isinstance(size, int) else size[-3:-1] if len(size) == 4 else size
        stride = [stride, stride] if isinstance(stride, int) else stride[-3:-1] if len(stride) == 4 else stride
        if a.get("padding", "VALID") != "VALID" or rank(case) != 4:
            return None
        rows, columns, channels = case.shape("x0")[1:]
        out = [case.shape("x0")[0], (rows - size[0]) // stride[0] + 1, (columns - size[1]) // stride[1] + 1]
        return (f"{combine}(reshape(extract_patches(x0, {size}, strides={stride}), "
                f"{[*out, size[0] * size[1], channels]}), axis=3)")
    return make


def half_rolled(case):
    """roll by half the length."""
    axes = case.attrs.get("axes")
    axes = [axes] if isinstance(axes, int) else axes if axes is not None else list(range(rank(case)))
    sign = 1 if case.op == "fftshift" else -1
    shifts = [sign * (case.shape("x0")[a] // 2) for a in axes]
    return f"roll(x0, shift={shifts}, axis={[a % rank(case) for a in axes]})"


ALIASES = {
    "sub": "x0 - x1", "mul": "x0 * x1", "add_v2": "x0 + x1", "realdiv": "divide(x0, x1)", "mod": "modulo(x0, x1)",
    "floor_div": "floor_divide(x0, x1)", "floor_mod": "modulo(x0, x1)", "truncate_div": "truncate_divide(x0, x1)",
    "truncate_mod": "truncate_modulo(x0, x1)", "scalar_mul": "x0 * x1", "inv": "reciprocal(x0)", "neg": "negative(x0)",
    "invert": "bitwise_invert(x0)", "isnan": "is_nan(x0)", "isinf": "is_inf(x0)", "isfinite": "is_finite(x0)",
    "bias_add": "x0 + x1", "l2_loss": "sum(square(x0)) / _0(2)", "matrix_transpose": "transpose(x0, [1, 0])",
    "crelu": "concat(relu(x0), relu(-x0), axis=-1)", "hard_sigmoid": "clip(x0 / _0(6) + _0(0.5), _0(0), _0(1))",
    "zero_fraction": "mean(float32(x0 == _0(0)))", "global_norm": "sqrt(sum(square(x0)))",
    "is_non_decreasing": "let x = reshape(x0, [-1]); all(x[1:] >= x[:-1])",
    "is_strictly_increasing": "let x = reshape(x0, [-1]); all(x[1:] > x[:-1])",
    "tensor_diag": "where(expand_dims(arange(size(x0)), 1) == expand_dims(arange(size(x0)), 0), x0, _0(0))",
    "tensor_diag_part": "map_fn(arange(shape(x0)[0]), i -> x0[i, i])",
    "set_diag": "let (h, w) = (shape(x0)[0], shape(x0)[1]); "
                "where(expand_dims(arange(h), 1) == expand_dims(arange(w), 0), expand_dims(x1, 1), x0)",
    "deg2rad": "x0 * _0(0.017453292519943295)",
    "softmax_cross_entropy_with_logits": "-sum(x0 * log_softmax(x1), axis=-1)",
    "sigmoid_cross_entropy_with_logits": "maximum(x1, _0(0)) - x1 * x0 + log1p(exp(-abs(x1)))",
    "reduce_range": "max(x0) - min(x0)", "shape_n": "(int32(shape(x0)), int32(shape(x1)))",
    "broadcast_dynamic_shape": "shape(broadcast_to(zeros(x0), maximum(x0, x1)))",
    "clip_by_value": "clip(x0, x1, x2)", "tensor_equals": "x0 == x1", "dot": "sum(x0 * x1)",
    "outer": "expand_dims(x0, 1) * expand_dims(x1, 0)", "cumulative_max": "scan(x0, x0[0], (m, v) -> "
    "(maximum(m, v), maximum(m, v)))[1]",
}

# Bessel functions by their integrals over a period, or over cosh: sums of equal steps are as good as float64 for
# arguments of usual size.
TURNS = "(float64(arange(512)) * float64(0.01227184630308513))"  # of a whole period
STEPS = "(float64(arange(4000)) * float64(0.005))"


def bessel(term, over=TURNS, combine="mean({}, axis=-1)"):
    """`term` over x (an axis more) and t."""
    def make(case):
        return (f"let x = expand_dims(float64(x0), -1); let t = {over}; {case.dtype('x0')}({combine.format(term)})")
    return make


def bessel_k(term):
    return bessel(term, STEPS, "(sum({0}, axis=-1) - float64(0.5) * ({0})[..., 0]) * float64(0.005)")


BESSEL = {
    "i0": bessel("exp(x * cos(t))"), "i1": bessel("cos(t) * exp(x * cos(t))"),
    "i0e": bessel("exp(x * cos(t) - abs(x))"), "i1e": bessel("cos(t) * exp(x * cos(t) - abs(x))"),
    "j0": bessel("cos(x * sin(t))"), "j1": bessel("cos(t - x * sin(t))"),
    "k0": bessel_k("exp(-x * cosh(t))"), "k1": bessel_k("cosh(t) * exp(-x * cosh(t))"),
    "k0e": bessel_k("exp(x - x * cosh(t))"), "k1e": bessel_k("cosh(t) * exp(x - x * cosh(t))"),
}

MAP = {
    **{f"bessel_{name}": make for name, make in BESSEL.items()},
    **{op: expression(text) for op, text in ALIASES.items()},
    "cumulative_logsumexp": cumulative_logsumexp, "reverse_sequence": reverse_sequence,
    "dynamic_partition": dynamic_partition, "einsum": einsum, "band_part": band_part, "matrix_band_part": band_part,
    "space_to_batch": space_to_batch, "space_to_batch_nd": space_to_batch,
    "batch_to_space": batch_to_space, "batch_to_space_nd": batch_to_space, "polyval": polyval,
    "max_pool": pooled("max"), "max_pool2d": pooled("max"), "avg_pool": pooled("mean"), "avg_pool2d": pooled("mean"),
    "fftshift": half_rolled, "ifftshift": half_rolled,
    **{op: (lambda name: lambda c: f"{name}(x0)")(op) for op in ("digamma", "erfinv")},
    "ndtri": expression("_0(1.4142135623730951) * erfinv(_0(2) * x0 - _0(1))"),
    "ndtr": expression("_0(0.5) * erfc(-x0 / _0(1.4142135623730951))"),
    "unsorted_segment_sqrt_n": lambda c: (
        f"let n = unsorted_segment_sum(ones_like(x0), x1, {c.attrs['num_segments']}); "
        f"unsorted_segment_sum(x0, x1, {c.attrs['num_segments']}) / sqrt(maximum(n, ones_like(n)))"),
}
