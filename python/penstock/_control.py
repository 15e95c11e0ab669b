"""What converted functions call for their ifs, loops and logic: Python's own meaning, unless the values are symbolic.

Then both sides of an `if`, and one round of a loop, are traced; variables that they set are results of a `cond` or the state
of a `reduce` or `while_loop` of the engine. Each block is a function of its own in the pipeline: only the side that is taken
is computed.
"""
from . import _core
from ._builtins import COMPARISONS, FUNCTIONS, items, length, range_, symbolic, truth
from ._convert import converted
from ._errors import traced
from ._merging import Unset, filled, joined, leaves, mapped, next_state, pictured, restored, slotted
from ._recording import not_taking, note, now_taking, recorded, taking, tracing
from ._values import Value, call, to_core

MOST_ROUNDS = 10_000_000  # of a `while`, so that one without end is an error
MOST_UNROLLED = 64  # rounds of a loop over Python's own values that a symbolic condition ends
FINISHED, LEFT, RETURNED = 0, 1, 2  # how a round ends, and a loop


class Block:
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


def function(f):
    """What is called in place of f: its symbolic form, or the converted function."""
    try:
        known = FUNCTIONS.get(f)
    except TypeError:  # no hash
        known = None
    return known or converted(f) or f


def loop_function(f):
    """The same of `for i in f(...)`, where ps.range is Python's."""
    import penstock
    return range_ if f is penstock.range else function(f)


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


# Choices.

def if_(test, then, otherwise, get, put, names, kept):
    """`if`, and `a if test else b`: the result of a side, which may set variables."""
    if not symbolic(test):
        return then() if test else otherwise()
    return _choose(truth(test), then, otherwise, Block(get, put, names, kept))


def _choose(test, then, otherwise, block):
    note("if")
    before = block.pictures()
    sides = [_Side(f, block, before) for f in (then, otherwise)]
    ends = [isinstance(side.result, Returned) for side in sides]
    if taking() and ends[0] != ends[1]:  # a side that does not return is not the one that was taken
        return sides[ends.index(True)].alone()
    pairs = []
    results = [side.result if not end else side.result.value if taking() else RETURNED for side, end in zip(sides, ends)]
    result = joined(None, *results, pairs)
    after = [joined(name, a, b, pairs) for name, a, b in zip(block.names[:block.kept], *(side.after for side in sides))]
    values = []
    if pairs:
        chosen = Value(_core.cond(to_core(test), *(side.picked([pair[i] for pair in pairs]) for i, side in enumerate(sides))))
        values = [chosen] if len(pairs) == 1 else [chosen[i] for i in range(len(pairs))]
    block.end([filled(x, values) for x in after])
    result = restored(filled(result, values))
    return Returned(result) if taking() and all(ends) else result


class _Side:
    """One side of an `if`, traced: its result, the variables after it, and the function that computes both."""

    def __init__(self, f, block, before):
        self.places = {}  # id of a symbolic value: its place in what the function gives

        def trace():
            block.set(before)
            result = f()
            self.result = Returned(pictured(result.value)) if isinstance(result, Returned) else pictured(result)
            self.after = block.pictures()[:block.kept]
            self.values = [v for x in (getattr(self.result, "value", self.result), *self.after) for v in leaves(x)]
            self.places = {id(v): i for i, v in enumerate(self.values)}
            return tuple(self.values)

        try:
            self.body = recorded(1, lambda _: trace(), "a side of an `if`")
        finally:
            block.set(before)

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
        """What this side returns, as if there was no other."""
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


# Loops.

class Ended:
    """How a loop ended, for its `else` and for a return in it; how may be a symbolic number.

    A symbolic loop stops in the state that the round which returns began with; value() runs this round once more, where it is
    known to return.
    """

    def __init__(self, how, value=None):
        self.how, self._value = how, value

    @property
    def finished(self):
        return self.how == FINISHED

    @property
    def returned(self):
        return self._value is not None and self.how >= RETURNED

    @property
    def value(self):
        return self._value()


def for_(iterable, body, get, put, names, kept, leaves_):
    """`for`; leaves_: 0, or 1 with a break in it, or 2 with a return."""
    block = Block(get, put, names, kept)
    with not_taking():
        if symbolic(iterable):
            return _for_symbolic(items(iterable), body, block, leaves_)
        iterator = iter(iterable)
        for item in iterator:
            before = block.pictures() if leaves_ else []
            how = body(item)
            if isinstance(how, Returned):
                return Ended(RETURNED, lambda how=how: how.value)
            if symbolic(how):
                block.set(before)
                return _ended_by_value(item, iterator, iterable, body, block, leaves_)
            if how == LEFT:
                return Ended(LEFT)
    return Ended(FINISHED)


def _ended_by_value(item, iterator, iterable, body, block, leaves_):
    """The rounds from an item of Python's on, the first of which may end the loop."""
    rest = [item]
    for later in iterator:
        rest.append(later)
        if len(rest) <= MOST_UNROLLED:
            continue
        if isinstance(iterable, range):
            return _for_symbolic(items(range(item, iterable.stop, iterable.step)), body, block, leaves_)
        raise traced(f"a loop over more than {MOST_UNROLLED} of Python's own values ends when a value says so that is only known "
                     "when the pipeline runs", "loop over a range or a tensor, or over fewer")
    return _unrolled(rest, body, block)


def _unrolled(over, body, block):
    """Round after round, each inside the choice of the one before; the end is RETURNED + the number of the round."""
    returning = set()  # the rounds that may return

    def rounds(at):
        if at == len(over):
            return FINISHED
        before = block.pictures()

        def leave():
            block.set(before)
            returning.add(at)
            return RETURNED + at
        how, may_return = _returning(lambda: body(over[at]))
        if isinstance(how, Returned):
            return leave()
        if not symbolic(how):
            return LEFT if how == LEFT else rounds(at + 1)
        left = (lambda: _choose(how == LEFT, lambda: LEFT, leave, block)) if may_return else lambda: LEFT
        return _choose(how == FINISHED, lambda: rounds(at + 1), left, block)

    def value(left):
        first, *later = left
        if not later:
            return _taken(block, lambda: body(over[first]))
        return _choose(how == RETURNED + first, lambda: _taken(block, lambda: body(over[first])), lambda: value(later), block)

    how = rounds(0)
    return Ended(how, (lambda: value(sorted(returning))) if returning else None)


def _returning(trace):
    """-> (what trace() gives, whether a return was among it): one may stand where Python's own values do not lead."""
    outer, tracing.returns = getattr(tracing, "returns", False), False
    try:
        return trace(), tracing.returns
    finally:
        tracing.returns = outer


def _taken(block, body):
    """What a round returns that is known to return; the variables stay as they are."""
    before = block.pictures()
    try:
        with now_taking():
            out = body()
    finally:
        block.set(before)
    if not isinstance(out, Returned):
        raise traced("a return in this loop is not converted", "set a variable, and write `break`")
    return out.value


def while_(test, body, get, put, names, kept, leaves_):
    """`while`."""
    block = Block(get, put, names, kept)
    with not_taking():
        while True:
            condition = test()
            before = block.pictures()
            how = FINISHED
            if not symbolic(condition):
                if not condition:
                    return Ended(FINISHED)
                how = body()
            if isinstance(how, Returned):
                return Ended(RETURNED, lambda how=how: how.value)
            if symbolic(condition) or symbolic(how):
                note("while")
                block.set(before)
                return _rounds(lambda _: truth(test()), lambda _: body(), block, leaves_, MOST_ROUNDS)
            if how == LEFT:
                return Ended(LEFT)


def _for_symbolic(over, body, block, leaves_):
    note("for")
    if leaves_:
        n = length(over)
        return _rounds(lambda i: i < n, lambda i: body(over.at(i)), block, leaves_, 1 << 62)
    state = _State(block)

    def one_round(before, item):
        state.enter(before)
        body(over.split(item._core))
        return tuple(state.left())
    f = state.recorded(2, one_round)
    state.end(Value(_core.call("reduce", [over.core(), to_core(tuple(state.first)), f], [])))
    return Ended(FINISHED)


def _rounds(test, body, block, leaves_, most):
    """A loop that may end anywhere: its state is (the number of the round, how it ends), if it may, and the variables."""
    state = _State(block)
    lead = 2 if leaves_ else 0

    def goes_on(before):
        state.enter(before, lead)
        more = inline(lambda: test(before[0]), "a loop")
        return Value(_core.binary("and", to_core(before[1] == FINISHED), more) if leaves_ else more)

    def one_round(before):
        state.enter(before, lead)
        how = body(before[0])
        if isinstance(how, Returned):
            how = RETURNED
        after = tuple(state.left())
        if leaves_ == 0:
            return after
        if leaves_ == LEFT:
            return (before[0] + 1, how, *after)
        stays = tuple(before[i + 2] for i in range(len(after)))
        if not symbolic(how):
            return (before[0], how, *stays) if how == RETURNED else (before[0] + 1, how, *after)
        kept = Value(_core.cond(to_core(how == RETURNED), to_core((before[0], *stays)), to_core((before[0] + 1, *after))))
        return (kept[0], how, *(kept[i + 1] for i in range(len(after))))

    condition = state.recorded(1, goes_on)
    f, returns = _returning(lambda: state.recorded(1, one_round))
    first = to_core(((0, FINISHED) if leaves_ else ()) + tuple(state.first))
    ended = Value(_core.call("while_loop", [first, condition, f, to_core(most)], []))
    state.end(ended, lead)
    return Ended(ended[1] if leaves_ else FINISHED, (lambda: _taken(block, lambda: body(ended[0]))) if returns else None)


class _State:
    """The variables of a loop as the state of a function that goes round."""

    def __init__(self, block):
        self.block, self.before, self.first = block, block.pictures(), []
        self.slots = [slotted(name, x, self.first) for name, x in zip(block.names[:block.kept], self.before)]

    def recorded(self, count, f):
        try:
            return recorded(count, f, "a loop")
        finally:
            self.block.set(self.before)

    def variables(self, state, at):
        values = [state[at + i] for i in range(len(self.first))]
        return [filled(x, values) for x in self.slots]

    def enter(self, state, at=0):
        """Sets the variables at the begin of a round."""
        self.block.set([*self.variables(state, at), *self.before[self.block.kept:]])

    def left(self):
        """The leaves of the variables at the end of a round."""
        values = [None] * len(self.first)
        for name, slot, x in zip(self.block.names, self.slots, self.block.pictures()):
            next_state(name, slot, x, values)
        return values

    def end(self, state, at=0):
        """Sets the variables after the loop."""
        self.block.end([Unset(name, "is assigned in a loop only, which may have no round") if isinstance(x, Unset) else x
                        for name, x in zip(self.block.names, self.variables(state, at))])


# Comprehensions.

def list_of(iterable, item, apart, *conditions):
    """`[item(x) for x in iterable if ...]`; of a symbolic value ps.map_fn."""
    if not symbolic(iterable):
        return list(items_of(iterable, item, apart, *conditions))
    return items_of(iterable, item, apart, *conditions)


def items_of(iterable, item, apart, *conditions):
    if not symbolic(iterable):
        return _python_items(iterable, item, apart, conditions)
    note("comprehension")
    if conditions:
        raise traced("a comprehension over a value has an `if`, and the number of its items is only known when the pipeline runs",
                     "write ps.boolean_mask(x, condition)")
    over = items(iterable)

    def one(x):
        x = over.split(x._core)
        return item(*x) if apart else item(x)
    return Value(_core.call("map_fn", [over.core(), recorded(1, one, "a comprehension")], []))


def _python_items(iterable, item, apart, conditions):
    for x in iterable:
        x = x if apart else (x,)
        if all(if_python(condition(*x)) for condition in conditions):
            yield item(*x)


def if_python(condition):
    """The `if` of a comprehension."""
    if symbolic(condition):
        raise traced("the `if` of a comprehension asks whether a value is true that is only known when the pipeline runs",
                     "write ps.boolean_mask(x, condition), or ps.where(condition, x, 0) for its items")
    return condition
