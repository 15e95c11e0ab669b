"""`for`, `while` and comprehensions over symbolic values; see _control.py.

One round is traced; the variables that it sets and that are read later are the state of the engine's `reduce`, or of
`while_loop` where a break, a return or a condition ends it.
"""
from . import _core
from ._builtins import items, length, symbolic, truth
from ._choices import FINISHED, LEFT, RETURNED, Variables, Returned, choose, inline
from ._errors import traced
from ._merging import Unset, filled, next_state, slotted
from ._recording import not_taking, note, now_taking, recorded, tracing
from ._values import Value, to_core

MOST_ROUNDS = 10_000_000  # of a `while`, so that one without end is an error
MOST_UNROLLED = 64  # rounds of a loop over Python's own values that a symbolic condition ends


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
    variables = Variables(get, put, names, kept)
    with not_taking():
        if symbolic(iterable):
            return _for_symbolic(items(iterable), body, variables, leaves_)
        iterator = iter(iterable)
        for item in iterator:
            before = variables.pictures() if leaves_ else []
            how = body(item)
            if isinstance(how, Returned):
                return Ended(RETURNED, lambda how=how: how.value)
            if symbolic(how):
                variables.set(before)
                return _ended_by_value(item, iterator, iterable, body, variables, leaves_)
            if how == LEFT:
                return Ended(LEFT)
    return Ended(FINISHED)


def _ended_by_value(item, iterator, iterable, body, variables, leaves_):
    """The rounds from an item of Python's on, the first of which may end the loop."""
    rest = [item]
    for later in iterator:
        rest.append(later)
        if len(rest) <= MOST_UNROLLED:
            continue
        if isinstance(iterable, range):
            return _for_symbolic(items(range(item, iterable.stop, iterable.step)), body, variables, leaves_)
        raise traced(f"a loop over more than {MOST_UNROLLED} of Python's own values ends when a value says so that is only known "
                     "when the pipeline runs", "loop over a range or a tensor, or over fewer")
    return _unrolled(rest, body, variables)


def _unrolled(over, body, variables):
    """Round after round, each inside the choice of the one before; the end is RETURNED + the number of the round."""
    returning = set()  # the rounds that may return

    def rounds(at):
        if at == len(over):
            return FINISHED
        before = variables.pictures()

        def leave():
            variables.set(before)
            returning.add(at)
            return RETURNED + at
        how, may_return = _returning(lambda: body(over[at]))
        if isinstance(how, Returned):
            return leave()
        if not symbolic(how):
            return LEFT if how == LEFT else rounds(at + 1)
        left = (lambda: choose(how == LEFT, lambda: LEFT, leave, variables)) if may_return else lambda: LEFT
        return choose(how == FINISHED, lambda: rounds(at + 1), left, variables)

    def value(left):
        first, *later = left
        if not later:
            return _taken(variables, lambda: body(over[first]))
        return choose(how == RETURNED + first, lambda: _taken(variables, lambda: body(over[first])), lambda: value(later), variables)

    how = rounds(0)
    return Ended(how, (lambda: value(sorted(returning))) if returning else None)


def _returning(trace):
    """-> (what trace() gives, whether a return was among it): one may stand where Python's own values do not lead."""
    outer, tracing.returns = getattr(tracing, "returns", False), False
    try:
        return trace(), tracing.returns
    finally:
        tracing.returns = outer


def _taken(variables, body):
    """The result of a round that is known to return; the variables stay as they are."""
    before = variables.pictures()
    try:
        with now_taking():
            out = body()
    finally:
        variables.set(before)
    if not isinstance(out, Returned):
        raise traced("a return in this loop is not converted", "set a variable, and write `break`")
    return out.value


def while_(test, body, get, put, names, kept, leaves_):
    """`while`."""
    variables = Variables(get, put, names, kept)
    with not_taking():
        while True:
            condition = test()
            before = variables.pictures()
            how = FINISHED
            if not symbolic(condition):
                if not condition:
                    return Ended(FINISHED)
                how = body()
            if isinstance(how, Returned):
                return Ended(RETURNED, lambda how=how: how.value)
            if symbolic(condition) or symbolic(how):
                note("while")
                variables.set(before)
                return _rounds(lambda _: truth(test()), lambda _: body(), variables, leaves_, MOST_ROUNDS)
            if how == LEFT:
                return Ended(LEFT)


def _for_symbolic(over, body, variables, leaves_):
    note("for")
    if leaves_:
        n = length(over)
        return _rounds(lambda i: i < n, lambda i: body(over.at(i)), variables, leaves_, 1 << 62)
    state = _State(variables)

    def one_round(before, item):
        state.enter(before)
        body(over.split(item._core))
        return tuple(state.left())
    f = state.recorded(2, one_round)
    state.end(Value(_core.call("reduce", [over.core(), to_core(tuple(state.first)), f], [])))
    return Ended(FINISHED)


def _rounds(test, body, variables, leaves_, most):
    """A loop that may end anywhere: its state is (the number of the round, how it ends), if it may, and the variables."""
    state = _State(variables)
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
    return Ended(ended[1] if leaves_ else FINISHED, (lambda: _taken(variables, lambda: body(ended[0]))) if returns else None)


class _State:
    """The variables of a loop as the state of a function that goes round."""

    def __init__(self, variables):
        self.variables, self.before, self.first = variables, variables.pictures(), []
        self.slots = [slotted(name, x, self.first) for name, x in zip(variables.names[:variables.kept], self.before)]

    def recorded(self, count, f):
        try:
            return recorded(count, f, "a loop")
        finally:
            self.variables.set(self.before)

    def at_round(self, state, at):
        values = [state[at + i] for i in range(len(self.first))]
        return [filled(x, values) for x in self.slots]

    def enter(self, state, at=0):
        """Sets the variables at the begin of a round."""
        self.variables.set([*self.at_round(state, at), *self.before[self.variables.kept:]])

    def left(self):
        """The leaves of the variables at the end of a round."""
        values = [None] * len(self.first)
        for name, slot, x in zip(self.variables.names, self.slots, self.variables.pictures()):
            next_state(name, slot, x, values)
        return values

    def end(self, state, at=0):
        """Sets the variables after the loop."""
        self.variables.end([Unset(name, "is assigned in a loop only, which may have no round") if isinstance(x, Unset) else x
                        for name, x in zip(self.variables.names, self.at_round(state, at))])


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
