"""Operators of Penstock as datasets of this package call them."""
import itertools
import random

import numpy as np

from ..._calls import build
from ..._values import Value, is_tracing
from . import errors
from ._symbols import symbol


def _call(name, *args, **named):
    return build(name, args, named)


def stage(name, *args, **named):
    """An operator of Penstock; inside a function a Symbol. Named arguments that are None are left out."""
    args, named = list(map(_below, args)), {k: _below(v) for k, v in named.items() if v is not None}
    return symbol(_call, name, *args, **named) if is_tracing() else build(name, tuple(args), named)


def _below(x):
    if type(x) in (list, tuple):
        return type(x)(map(_below, x))
    if isinstance(x, dict):
        return {k: _below(v) for k, v in x.items()}
    return x._ps if hasattr(type(x), "element_spec") and hasattr(x, "_ps") else x


def number(x, name="count"):
    """An argument that is a number, as Python has it; a value of a function stays one."""
    if x is None or isinstance(x, Value):
        return x
    try:
        return int(x) if isinstance(x, np.ndarray) else x.__index__()
    except (AttributeError, TypeError, ValueError):
        raise TypeError(f"`{name}` must be an integer: {x!r:.60}") from None


def parallel(num_parallel_calls):
    """num_parallel_calls of Penstock: AUTOTUNE (-1) and None are left to it."""
    n = number(num_parallel_calls, "num_parallel_calls")
    if n is not None and not isinstance(n, Value) and n < 1:
        if n != -1:
            raise errors.wrong(f"`num_parallel_calls` must be positive or tf.data.AUTOTUNE: {n}")
        return None
    return n


class _Seeds:
    """The global seed, and how many operations have asked for one of their own since it was set."""
    given = None
    count = itertools.count()


def set_seed(seed):
    """tf.random.set_seed: operations without a seed of their own draw from this one, in the order they are built."""
    _Seeds.given, _Seeds.count = None if seed is None else int(seed), itertools.count()


def op_seed(seed):
    """The seed of an operation: its own, the global one, or one that differs from run to run."""
    seed = None if seed is None else number(seed, "seed")
    if isinstance(seed, Value):
        return seed
    if seed is None:
        if _Seeds.given is None:
            return random.SystemRandom().getrandbits(62)
        seed = 1_000_003 + next(_Seeds.count)
    elif _Seeds.given is None:
        return seed & (2 ** 63 - 1)
    return (_Seeds.given * 0x9E3779B97F4A7C15 + seed) & (2 ** 63 - 1)
