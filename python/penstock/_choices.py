"""`if`, `and`, `or`, `not` and comparisons over symbolic values; see _control.py.

Both sides of an `if` are traced, each as a function of its own, so that only the side that is taken is computed. The variables
that they set are results of one `cond`.
"""
from . import _core
from ._builtins import COMPARISONS, symbolic, truth
from ._errors import traced
from ._merging import Unset, filled, joined, leaves, mapped, pictured, restored
from ._recording import note, recorded, taking, tracing
from ._values import Value, call, to_core

FINISHED, LEFT, RETURNED = 0, 1, 2  # how a round of a loop ends, and the loop


class Variables:
    """The variables that a block may set: how to get and to set them, and their names; the first `kept` are read after it."""

    def __init__(self, get, put, names, kept):
        self.get, self.put, self.names, self.kept = get, put, names, kept

    def pictures(self):
        return [pictured(x) for x in self.get()] if self.get else []

    def set(self, pictures):
        if self.put:
            self.put([restored(x) for x in pictures])

    def end(self, pictures):
        """Sets those that are read after the block; the others have no value there."""
        self.set([*pictures, *(Unset(name, "is not known after this block") for name in self.names[self.kept:])])


def inline(f, what):
    """The core value that f computes, in a scope of its own: what it makes is computed only where it stands."""
    return _inlined(recorded(1, lambda _: f(), what))


def _inlined(body):
    return _core.call("map_structure", [_core.integer(0), body], [])


def known(x):
    """A variable that is returned."""
    if isinstance(x, Unset):
        raise x.error()
    return x


class Returned:
    """`return value` in a loop: of Python's own loops the result, else a reason to end it; see Ended.value."""

    def __init__(self, value):
        self.value = value
        tracing.returns = True


def if_(test, then, otherwise, get, put, names, kept):
    """`if`, and `a if test else b`: the result of a side, which may set variables."""
    if not symbolic(test):
        return then() if test else otherwise()
    return choose(truth(test), then, otherwise, Variables(get, put, names, kept))


def choose(test, then, otherwise, variables):
    note("if")
    before = variables.pictures()
    sides = [_Side(f, variables, before) for f in (then, otherwise)]
    ends = [isinstance(side.result, Returned) for side in sides]
    if taking() and ends[0] != ends[1]:  # a side that does not return is not the one that was taken
        return sides[ends.index(True)].alone()
    pairs = []
    results = [side.result if not end else side.result.value if taking() else RETURNED for side, end in zip(sides, ends)]
    result = joined(None, *results, pairs)
    after = [joined(name, a, b, pairs) for name, a, b in zip(variables.names[:variables.kept], *(side.after for side in sides))]
    values = []
    if pairs:
        chosen = Value(_core.cond(to_core(test), *(side.picked([pair[i] for pair in pairs]) for i, side in enumerate(sides))))
        values = [chosen] if len(pairs) == 1 else [chosen[i] for i in range(len(pairs))]
    variables.end([filled(x, values) for x in after])
    result = restored(filled(result, values))
    return Returned(result) if taking() and all(ends) else result


class _Side:
    """One side of an `if`, traced: its result, the variables after it, and the function that computes both."""

    def __init__(self, f, variables, before):
        self.places = {}  # id of a symbolic value: its place in what the function gives

        def trace():
            variables.set(before)
            result = f()
            self.result = Returned(pictured(result.value)) if isinstance(result, Returned) else pictured(result)
            self.after = variables.pictures()[:variables.kept]
            self.values = [v for x in (getattr(self.result, "value", self.result), *self.after) for v in leaves(x)]
            self.places = {id(v): i for i, v in enumerate(self.values)}
            return tuple(self.values)

        try:
            self.body = recorded(1, lambda _: trace(), "a side of an `if`")
        finally:
            variables.set(before)

    def _own(self, whole, v):
        if id(v) not in self.places:
            return to_core(v)
        return _core.subscript(whole, [_core.index(_core.integer(self.places[id(v)]))])

    def picked(self, values):
        """A tuple of these, each computed by this side or known without it; one alone is no tuple."""
        def pick(_):
            whole = _inlined(self.body)
            return self._own(whole, values[0]) if len(values) == 1 else _core.tuple([self._own(whole, v) for v in values])
        return _inlined(_core.record(1, pick))

    def alone(self):
        """The result of this side, as if there was no other."""
        whole = _inlined(self.body)
        return Returned(restored(mapped(self.result.value, lambda v: Value(self._own(whole, v)))))


# Logic.

def and_(first, *rest):
    """`a and b and ...`: of symbolic values, which must be booleans, the logical one; b is not computed where a decides."""
    return _logic("and", first, rest, lambda x: x)


def or_(first, *rest):
    return _logic("or", first, rest, lambda x: x)


def and_truth(first, *rest):
    """The same where only its truth counts, as in an `if`: values are true that are not zero."""
    return _logic("and", first, rest, truth)


def or_truth(first, *rest):
    return _logic("or", first, rest, truth)


def _logic(op, value, rest, form):
    for i, later in enumerate(rest):
        if symbolic(value):
            note("and, or")
            right = inline(lambda i=i, later=later: form(_logic(op, later(), rest[i + 1:], form)), f"a side of `{op}`")
            return Value(_core.binary(op, to_core(form(value)), right))
        if bool(value) == (op == "or"):
            return value
        value = later()
    return value


def not_(x):
    return Value(_core.logical_not(truth(x)._core)) if symbolic(x) else not x


def compare(left, ops, *rest):
    """`a < b < c`, `x in y`."""
    right = rest[0]()
    first = _contains(left, right, ops[0]) if ops[0] in ("in", "not in") else COMPARISONS[ops[0]](left, right)
    return and_(first, lambda: compare(right, ops[1:], *rest[1:])) if len(ops) > 1 else first


def _contains(item, container, op):
    if isinstance(container, Value):
        out = call("reduce_any", (container == item,), {})
    elif symbolic(item) or isinstance(container, (list, tuple)) and any(map(symbolic, container)):
        if isinstance(container, (str, bytes)):
            raise traced("Python asks whether a text holds a value that is only known when the pipeline runs",
                         "write ps.regex_partial_match(text, pattern)")
        out = False
        for known in container:
            out = or_(out, lambda known=known: item == known)
    else:
        return item in container if op == "in" else item not in container
    return out if op == "in" else not_(out)


def assert_(test, message):
    """`assert`: of a symbolic value an error, since nothing that is computed would depend on it."""
    if symbolic(test):
        raise traced("an `assert` of a value that is only known when the pipeline runs is not converted",
                     "write x = ps.assert_(condition, x, message=\"...\") where x goes on")
    if not test:
        raise AssertionError(*([message()] if message else []))
