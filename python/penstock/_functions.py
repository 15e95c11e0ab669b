"""What functions of a pipeline use besides the ops: choices, and text of the pipe language."""
from . import _core
from ._values import Value, to_core


def cond(condition, then, otherwise):
    """``then`` where the condition, a boolean, holds, else ``otherwise``; only one of them is computed.

    >>> import penstock as ps
    >>> list(ps.range(3).map(lambda x: ps.cond(x > 0, 6 // x, 0)))
    [0, 6, 3]
    """
    return Value(_core.cond(to_core(condition), to_core(then), to_core(otherwise)))


def expr(text):
    """An expression of the pipe language: ``ps.expr("250ms")``, ``ps.expr("x -> x + 1")``.

    >>> import penstock as ps
    >>> list(ps.range(2).map(ps.expr("x -> x + 1")))
    [1, 2]
    """
    return Value(_core.expression(text))
