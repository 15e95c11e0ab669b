"""NumPy's functions over symbolic values: each as the engine's ops, with NumPy's names of arguments.

A function that is given a symbolic value comes here (__array_function__). FUNCTIONS is the table; see also _numpy_ufuncs.py.
"""
import functools
import inspect

from ._errors import traced
from ._numpy_ufuncs import axes_of, cast, instead_of, refused
from ._values import call

_NONE = object()  # NumPy's own "not given"
FUNCTIONS = {}


def function_of(function, args, named):
    """numpy.where(x, y, z) and the like."""
    name = function.__name__.rstrip("_")
    if ".linalg" in function.__module__ or ".fft" in function.__module__:
        name = ("linalg." if ".linalg" in function.__module__ else "fft.") + name
    if name not in FUNCTIONS:
        raise refused(f"numpy.{name}", instead_of(name.rpartition(".")[2]))
    try:
        inspect.signature(FUNCTIONS[name]).bind(*args, **named)
    except TypeError as e:
        raise traced(f"numpy.{name} is called with arguments that cannot be a part of a pipeline ({e})",
                     f"leave them out, or use {instead_of(name)}") from None
    return FUNCTIONS[name](*args, **named)


def _fraction(x):
    """x, of integers as floats: NumPy's means have fractions."""
    return call("divide", (x, 1), {})


def _flat(x):
    return call("reshape", (x, [-1]), {})


def _numpy(f):
    """Enters a function in the table under its own name, less the underscore that sets it apart from Python's."""
    FUNCTIONS[f.__name__.strip("_")] = f
    return f


def _reduction(op):
    def numpy_reduction(a, axis=None, dtype=None, out=None, keepdims=False):
        _no(out=out)
        a = cast(a, dtype)
        return call(op, (a,), {"axis": axes_of(axis), "keepdims": bool(keepdims)})
    return numpy_reduction


def _no(**given):
    for name, value in given.items():
        if value is not None:
            raise traced(f"NumPy's argument {name}= cannot be a part of a pipeline", "leave it out")


@_numpy
def mean(a, axis=None, dtype=None, out=None, keepdims=False):
    _no(out=out)
    a = _fraction(a) if dtype is None else cast(a, dtype)
    return call("reduce_mean", (a,), {"axis": axes_of(axis), "keepdims": bool(keepdims)})


for _name, _op in {"sum": "reduce_sum", "prod": "reduce_prod", "all": "reduce_all", "any": "reduce_any"}.items():
    FUNCTIONS[_name] = _reduction(_op)


def _extreme(op):
    def numpy_extreme(a, axis=None, out=None, keepdims=False):
        _no(out=out)
        return call(op, (a,), {"axis": axes_of(axis), "keepdims": bool(keepdims)})
    return numpy_extreme


FUNCTIONS.update(max=_extreme("reduce_max"), amax=_extreme("reduce_max"), min=_extreme("reduce_min"), amin=_extreme("reduce_min"))


def _spread(op, square):
    """var and std; ddof=1 divides by one less than the number of entries."""
    def numpy_spread(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
        _no(out=out)
        a = _fraction(a) if dtype is None else cast(a, dtype)
        named = {"axis": axes_of(axis), "keepdims": bool(keepdims)}
        spread = call(op, (a,), named)
        if ddof == 0:
            return spread
        n = call("reduce_sum", (call("ones_like", (spread if axis is None else a,), {}),), named)
        n = call("size", (a,), {}) if axis is None else n
        factor = call("float64", (n,), {}) / call("float64", (n - ddof,), {})
        return call("float64", (spread,), {}) * (call("sqrt", (factor,), {}) if square else factor)
    return numpy_spread


FUNCTIONS.update(std=_spread("reduce_std", True), var=_spread("reduce_variance", False))


def _position(op):
    def numpy_position(a, axis=None, out=None, keepdims=False):
        _no(out=out)
        found = call(op, (_flat(a),), {"axis": 0}) if axis is None else call(op, (a,), {"axis": axis})
        if keepdims and axis is None:
            raise traced(f"numpy.{op} with keepdims needs an axis", "write axis=")
        return call("expand_dims", (found, axis), {}) if keepdims else found
    return numpy_position


FUNCTIONS.update(argmax=_position("argmax"), argmin=_position("argmin"))


def _running(op):
    def numpy_running(a, axis=None, dtype=None, out=None):
        _no(out=out)
        a = cast(a, dtype)
        return call(op, (_flat(a),), {"axis": 0}) if axis is None else call(op, (a,), {"axis": axis})
    return numpy_running


FUNCTIONS.update(cumsum=_running("cumsum"), cumprod=_running("cumprod"))


@_numpy
def where(condition, x=_NONE, y=_NONE):
    if x is _NONE or y is _NONE:
        raise refused("numpy.where of a condition alone", "ps.nonzero(condition)")
    return call("where", (condition, x, y), {})


@_numpy
def stack(arrays, axis=0, out=None):
    _no(out=out)
    return call("stack", tuple(arrays), {"axis": axis})


@_numpy
def concatenate(arrays, axis=0, out=None, dtype=None):
    _no(out=out)
    parts = tuple(arrays) if axis is not None else tuple(map(_flat, arrays))
    return cast(call("concat", parts, {"axis": axis or 0}), dtype)


FUNCTIONS["concat"] = concatenate


@_numpy
def append(arr, values, axis=None):
    return concatenate((arr, values), axis)


@_numpy
def clip(a, a_min=None, a_max=None, out=None, min=None, max=None):  # noqa: A002
    _no(out=out)
    low, high = a_min if min is None else min, a_max if max is None else max
    if low is None or high is None:
        op, bound = ("minimum", high) if low is None else ("maximum", low)
        return a if bound is None else call(op, (a, bound), {})
    return call("clip", (a, low, high), {})


@_numpy
def reshape(a, shape=None, order="C", newshape=None):
    if order != "C":
        raise traced("numpy.reshape in another order than C cannot be a part of a pipeline", "transpose before it")
    shape = newshape if shape is None else shape
    return call("reshape", (a, list(shape) if isinstance(shape, (tuple, list)) else [shape]), {})


@_numpy
def ravel(a, order="C"):
    return reshape(a, -1, order)


@_numpy
def transpose(a, axes=None):
    return call("transpose", (a,), {} if axes is None else {"perm": list(axes)})


FUNCTIONS["permute_dims"] = transpose


@_numpy
def expand_dims(a, axis):
    for one in sorted(axis) if isinstance(axis, tuple) else (axis,):
        a = call("expand_dims", (a, one), {})
    return a


@_numpy
def squeeze(a, axis=None):
    return call("squeeze", (a,), {} if axis is None else {"axis": list(axis) if isinstance(axis, tuple) else axis})


@_numpy
def pad(array, pad_width, mode="constant", constant_values=0):
    widths = pad_width if isinstance(pad_width, (tuple, list)) else ()
    if not widths or not all(isinstance(w, (tuple, list)) and len(w) == 2 for w in widths):
        raise traced("numpy.pad is given one width for all axes, whose number is only known when the pipeline is built",
                     "give the widths of each axis, ((before, after), ...)")
    named = {"mode": mode} if mode != "constant" else {"value": constant_values}
    return call("pad", (array, [list(w) for w in widths]), named)


@_numpy
def dot(a, b, out=None):
    _no(out=out)
    b = call("assert", (call("rank", (b,), {}) <= 2, b), {"message": "numpy.dot: the second one has more than two axes: use matmul"})
    return call("tensordot", (a, b, 1), {})


@_numpy
def inner(a, b):
    return call("reduce_sum", (a * b,), {"axis": -1})


@_numpy
def outer(a, b, out=None):
    _no(out=out)
    return _flat(a)[:, None] * _flat(b)[None, :]


@_numpy
def tensordot(a, b, axes=2):
    return call("tensordot", (a, b), {"axes": [list(x) if isinstance(x, tuple) else [x] for x in axes]
                                      if isinstance(axes, (tuple, list)) else axes})


def _like(op):
    def numpy_like(a, dtype=None, order="K", subok=True, shape=None):
        _no(shape=shape)
        return call(op, (cast(a, dtype),), {})
    return numpy_like


FUNCTIONS.update(zeros_like=_like("zeros_like"), ones_like=_like("ones_like"))


@_numpy
def flip(m, axis=None):
    return call("reverse", (m,), {} if axis is None else {"axis": list(axis) if isinstance(axis, tuple) else [axis]})


FUNCTIONS["flipud"] = functools.partial(flip, axis=0)
FUNCTIONS["fliplr"] = functools.partial(flip, axis=1)


@_numpy
def tile(A, reps):  # noqa: N803
    return call("tile", (A, list(reps) if isinstance(reps, (tuple, list)) else [reps]), {})


@_numpy
def repeat(a, repeats, axis=None):
    return call("repeat", (a, repeats), {} if axis is None else {"axis": axis})


@_numpy
def roll(a, shift, axis=None):
    if axis is None:
        return call("reshape", (call("roll", (_flat(a), shift), {"axis": 0}), call("shape", (a,), {})), {})
    return call("roll", (a, axes_of(shift)), {"axis": axes_of(axis)})


def _ordered(op):
    def numpy_ordered(a, axis=-1, kind=None, order=None, stable=None):
        _no(order=order)
        return call(op, (_flat(a) if axis is None else a,), {"axis": -1 if axis is None else axis})
    return numpy_ordered


FUNCTIONS.update(sort=_ordered("sort"), argsort=_ordered("argsort"))


@_numpy
def take(a, indices, axis=None, out=None, mode="raise"):
    _no(out=out)
    return call("gather", (_flat(a) if axis is None else a, indices), {"axis": axis or 0})


@_numpy
def searchsorted(a, v, side="left"):
    return call("searchsorted", (a, v), {"side": side})


@_numpy
def bincount(x, weights=None, minlength=0):
    _no(weights=weights)
    return call("bincount", (x,), {"minlength": minlength})


@_numpy
def unique(ar):
    return call("sort", (call("unique", (_flat(ar),), {})[0],), {})


def _rounded(a, decimals=0, out=None):
    _no(out=out)
    if decimals == 0:
        return call("round", (a,), {})
    return call("round", (a * 10.0 ** decimals,), {}) / 10.0 ** decimals


FUNCTIONS.update(round=_rounded, around=_rounded)


@_numpy
def diff(a, n=1, axis=-1):
    for _ in range(n):
        after, before = (slice(1, None), slice(None, -1))
        if axis == -1:
            a = a[..., after] - a[..., before]
        elif axis >= 0:
            skipped = (slice(None),) * axis
            a = a[(*skipped, after)] - a[(*skipped, before)]
        else:
            raise traced("numpy.diff along an axis that is counted from the end", "count it from the front")
    return a


@_numpy
def count_nonzero(a, axis=None, keepdims=False):
    return call("reduce_sum", (call("int64", (call("bool", (a,), {}),), {}),), {"axis": axes_of(axis), "keepdims": keepdims})


@_numpy
def broadcast_to(array, shape, subok=False):
    return call("broadcast_to", (array, list(shape) if isinstance(shape, tuple) else [shape]), {})


@_numpy
def shape(a):
    return call("shape", (a,), {})


@_numpy
def size(a, axis=None):
    return call("size", (a,), {}) if axis is None else call("shape", (a,), {})[axis]


@_numpy
def ndim(a):
    return call("rank", (a,), {})


def _norm(x, ord=None, axis=None, keepdims=False):  # noqa: A002
    if ord in (None, 2) and not (ord == 2 and axis is None) or ord == "fro":
        return call("norm", (x,), {"axis": axes_of(axis), "keepdims": keepdims})
    if ord == 1 and isinstance(axis, int):
        return call("reduce_sum", (call("abs", (x,), {}),), {"axis": axis, "keepdims": keepdims})
    raise traced(f"numpy.linalg.norm with ord={ord!r} and axis={axis!r} cannot be a part of a pipeline",
                 "write ps.norm(x), or ps.reduce_sum(ps.abs(x))")


FUNCTIONS["linalg.norm"] = _norm
