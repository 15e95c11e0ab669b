"""Control flow, Python code and assertions inside functions, with TensorFlow's names."""
import contextlib
import threading

import numpy as np

from ... import _functions, _sources, _values
from ..._types import TensorSpec as PsTensorSpec
from ..._values import Value, is_tracing
from . import errors
from ._functions import UNKNOWN, entered, normalized, to_ps
from ._functions import like as like_of_result
from ._identity import identity
from ._ops import either, lowered, op
from ._structures import dressed, plain
from ._symbols import Frame, Root, Symbol, frame_of_items, symbol
from ._tensors import Tensor, constant, pack
from ._types import as_dtype


def _symbols_of(value, structure):
    """The structure of a normalized one, of a ps.Value that stands for it."""
    def leaf(path):
        def take(v):
            for key in path:
                v = v[key]
            return v
        return take

    def walk(x, path):
        if isinstance(x, dict):
            return {k: walk(v, (*path, k)) for k, v in x.items()}
        if isinstance(x, tuple):
            return tuple(walk(v, (*path, i)) for i, v in enumerate(x))
        return symbol(leaf(path), value)
    return dressed(like_of_result(structure), walk(plain(structure), ()), lambda v, _: v)


def cond(pred, true_fn=None, false_fn=None, name=None):
    """true_fn() if pred holds, else false_fn(); only one of them is computed."""
    if not isinstance(pred, Value):
        return true_fn() if pred else false_fn()
    then, other = (normalized(tuple(v) if isinstance(v, list) else v) for v in (true_fn(), false_fn()))
    if then is None:
        return None
    return _symbols_of(symbol(_functions.cond, pred, to_ps(then), to_ps(other)), then)


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """The function of the first condition that holds, else ``default``."""
    pairs = list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else list(pred_fn_pairs)
    if default is None:
        default = pairs[-1][1]

    def rest(i):
        return default() if i == len(pairs) else cond(pairs[i][0], pairs[i][1], lambda: rest(i + 1))
    return rest(0)


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """The function of that index."""
    pairs = list(branch_fns.items()) if isinstance(branch_fns, dict) else [
        f if isinstance(f, tuple) else (i, f) for i, f in enumerate(branch_fns)]
    return case([(either("equal", branch_index, i), f) for i, f in pairs], default or pairs[-1][1])


MOST_ROUNDS = 1_000_000


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True,  # noqa: A002
               swap_memory=False, maximum_iterations=None, name=None):
    """loop_vars = body(*loop_vars) while cond(*loop_vars) holds; at most a million rounds."""
    as_list = isinstance(loop_vars, list)
    state = normalized(tuple(loop_vars) if isinstance(loop_vars, (list, tuple)) and not hasattr(loop_vars, "_fields")
                       else (loop_vars,))
    if not is_tracing():
        while cond(*state):
            state = body(*state)
            state = normalized(tuple(state) if isinstance(state, (list, tuple)) else (state,))
    else:
        frame, like = Frame(lambda: None), like_of_result(state)

        def arguments(x):
            return entered(x, _specs(to_ps(state)), like, frame)

        def holds(x):
            return to_ps(normalized(cond(*arguments(x))))

        def step(x):
            out = body(*arguments(x))
            return to_ps(normalized(tuple(out) if isinstance(out, (list, tuple)) and not hasattr(out, "_fields") else (out,)))

        rounds = MOST_ROUNDS if maximum_iterations is None else int(maximum_iterations)
        out = symbol(lambda s: _values.call("while_loop", (s, holds, step, rounds), {}), to_ps(state))
        state = _symbols_of(out, state)
    return list(state) if as_list else state if len(state) > 1 else state[0]


def _specs(x):
    if isinstance(x, dict):
        return {k: _specs(v) for k, v in x.items()}
    return tuple(map(_specs, x)) if isinstance(x, tuple) else UNKNOWN


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True,
           name=None, fn_output_signature=None):
    """fn of each item along axis 0, stacked."""
    elems = normalized(elems)
    if not is_tracing():
        from ._ops import evaluated
        return evaluated(lambda e: _values.call("map_fn", (e, _of_item(fn, None)), {}), to_ps(elems))
    frame = frame_of_items(elems if isinstance(elems, Value) else None) if isinstance(elems, Symbol) else None
    return symbol(lambda e: _values.call("map_fn", (e, _of_item(fn, frame)), {}), to_ps(elems))


def _of_item(fn, frame):
    def body(item):
        return to_ps(normalized(fn(Symbol(item._core, frame and Root(frame, ())))))
    return body




def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):  # noqa: N803
    """func of NumPy arrays, called for each element. Tout: the dtypes of what it gives."""
    return _python(func, inp, Tout, lambda x: x)


def py_function(func=None, inp=None, Tout=None, name=None):  # noqa: N803
    """func of tensors that have .numpy(), called for each element. Tout: the dtypes of what it gives."""
    return _python(func, inp, Tout, lambda x: Tensor(np.asarray(x)) if not isinstance(x, bytes) else constant(x))


def _python(func, inp, types, seen):
    several = isinstance(types, (list, tuple))
    types = [as_dtype(getattr(t, "dtype", t)) for t in (types if several else [types])]

    def call(*values):
        try:
            out = func(*map(seen, values))
        except StopIteration as e:
            raise ValueError(f"StopIteration: {e}") from e
        except errors.OutOfRangeError as e:  # the end of nothing but the function
            raise errors.UnknownError(message=f"OutOfRangeError: {e.message}") from e
        if out is None:
            raise TypeError(f"{func} returned None")
        out = list(out) if several else [out]
        if len(out) != len(types):
            raise ValueError(f"{func} returned {len(out)} values for {len(types)} dtypes")
        made = [_given(x, t) for x, t in zip(out, types)]
        return tuple(made) if len(made) > 1 else made[0]

    inputs = [pack(x) for x in inp]
    if not is_tracing():
        out = call(*(x.numpy() for x in inputs))
        out = [constant(x) for x in (out if len(types) > 1 else [out])]
        return out if several else out[0]
    specs = tuple(PsTensorSpec(t.ps, None) for t in types)
    spec, name = specs if len(specs) > 1 else specs[0], identity(func)
    function = _sources.py_map(call if inputs else lambda _: call(), spec=spec, identity=name)
    inputs = inputs or [constant(0)]

    def made(*values):
        out = function(*map(lowered, values))
        return Value(_values.to_core(out)) if isinstance(out, tuple) else out
    out = symbol(made, *inputs)
    if len(types) > 1:
        return [symbol(Value.__getitem__, out, i) for i in range(len(types))]
    return [out] if several else out


def _given(x, dtype):
    """What Python code gave, as an array of that dtype."""
    x = np.asarray(x if isinstance(x, (np.ndarray, np.generic)) else constant(x, None if dtype == "string" else dtype))
    if (x.dtype.kind in "OSU") != (dtype == "string") or dtype != "string" and x.dtype != dtype.ps.numpy:
        raise ValueError(f"the function returned {x.dtype} where {dtype.name} was expected")
    if dtype == "string":
        x = np.asarray(constant(x))
    return x if x.ndim else x[()]


_pending = threading.local()


@contextlib.contextmanager
def assertions():
    """Collects the conditions that a function asserts while it is traced: a list of (condition, message)."""
    before, _pending.list = getattr(_pending, "list", None), []
    try:
        yield _pending.list
    finally:
        _pending.list = before


def Assert(condition, data=None, summarize=None, name=None):  # noqa: N802
    """An InvalidArgumentError of the element where the condition does not hold everywhere."""
    said = next((d for d in data or [] if isinstance(d, (str, bytes))), "assertion failed")
    return _assert(condition, said.decode() if isinstance(said, bytes) else said)


def _assert(condition, message):
    if not isinstance(condition, Value):
        if not np.all(np.asarray(condition)):
            raise errors.InvalidArgumentError(message=message, node="assert")
    elif getattr(_pending, "list", None) is not None:
        _pending.list.append((condition, message))


def _assertion(name, said):
    def function(x, y, message=None, summarize=None, name_=None):
        return _assert(op("reduce_all", either(name, x, y)), f"{message + ': ' if message else ''}x {said} y did not hold")
    function.__name__, function.__doc__ = f"assert_{name}", f"An InvalidArgumentError of the element where not x {said} y."
    return function


def _assert_none_equal(x, y, message=None, summarize=None, name=None):
    """An InvalidArgumentError of the element where an x equals its y."""
    return _assert(op("reduce_all", either("not_equal", x, y)), f"{message + ': ' if message else ''}x != y did not hold")


def _sign(name, op_name, said):
    def function(x, message=None, summarize=None, name_=None):
        return _assert(op("reduce_all", either(op_name, x, 0)), f"{message + ': ' if message else ''}x {said} 0 did not hold")
    function.__name__, function.__doc__ = name, f"An InvalidArgumentError of the element where not x {said} 0."
    return function


def check_numerics(tensor, message, name=None):
    """The tensor; an InvalidArgumentError of the element where it holds an infinity or no number."""
    tensor = pack(tensor)
    if not isinstance(tensor, Value):
        if not np.all(np.isfinite(tensor)):
            raise errors.InvalidArgumentError(message=f"{message} : Tensor had NaN or Inf values", node="CheckNumerics")
        return tensor
    return op("assert", op("reduce_all", op("is_finite", tensor)), tensor, message=f"{message} : Tensor had NaN or Inf values")


def assert_rank(x, rank, message=None, name=None):
    """Checks a tensor's rank."""
    return _assert(either("equal", op("rank", pack(x)), rank), message or f"expected rank {rank}")


@contextlib.contextmanager
def control_dependencies(control_inputs):
    """Nothing: what a function asserts holds for all that it gives."""
    yield


def function(func=None, input_signature=None, autograph=True, **_):
    """tf.function: the function as it is."""
    return func if func is not None else lambda f: f


TF = {
    "cond": cond, "case": case, "switch_case": switch_case, "while_loop": while_loop, "map_fn": map_fn,
    "vectorized_map": map_fn, "numpy_function": numpy_function, "py_function": py_function,
    "compat.v1.py_func": numpy_function, "control_dependencies": control_dependencies, "function": function,
    "debugging.Assert": Assert, "Assert": Assert, "debugging.check_numerics": check_numerics,
    "debugging.assert_rank": assert_rank, "debugging.assert_none_equal": _assert_none_equal,
    "debugging.assert_positive": _sign("assert_positive", "greater", ">"),
    "debugging.assert_negative": _sign("assert_negative", "less", "<"),
    "debugging.assert_non_negative": _sign("assert_non_negative", "greater_equal", ">="),
    **{f"debugging.assert_{name}": _assertion(name, said) for name, said in (
        ("equal", "=="), ("less", "<"), ("less_equal", "<="), ("greater", ">"), ("greater_equal", ">="))},
}
