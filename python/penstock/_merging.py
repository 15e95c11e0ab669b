"""The variables of a converted function: two sides of an `if` joined, and the state of a loop.

A variable may hold values in dicts, lists, tuples, namedtuples and dataclasses. Dicts and lists that a block changes in place
are pictured before it, and set back, so that both sides begin with the same.
"""
import dataclasses
import numbers

from ._errors import traced
from ._values import Value


class Unset:
    """A variable that has no value on some way to here; any use of it says so."""

    def __init__(self, name, why="is used before it is assigned"):
        object.__setattr__(self, "_said", (name, why))

    def error(self):
        name, why = object.__getattribute__(self, "_said")
        return traced(f"the variable `{name}` {why}", f"assign `{name}` before it")

    def _use(self, *_, **__):
        raise self.error()

    def __getattr__(self, name):
        raise self.error()


for _name in ("bool iter len call getitem setitem contains int float index add radd sub rsub mul rmul truediv rtruediv "
              "floordiv rfloordiv mod rmod pow rpow matmul rmatmul and rand or ror xor rxor neg pos abs invert eq ne lt le gt "
              "ge format str repr array").split():
    setattr(Unset, f"__{_name}__", Unset._use)
Unset.__hash__ = object.__hash__


class Picture:
    """A dict or list, and what it held."""

    def __init__(self, container, content):
        self.container, self.content = container, content


class Slot:
    """The place of a leaf among those that a choice or a loop gives."""

    def __init__(self, index):
        self.index = index


def pictured(x):
    """x, its dicts and lists as pictures."""
    if type(x) is dict:
        return Picture(x, {k: pictured(v) for k, v in x.items()})
    if type(x) is list:
        return Picture(x, [pictured(v) for v in x])
    return x


def restored(x):
    """The variable of a picture; dicts and lists are the same ones, with that content."""
    if not isinstance(x, Picture):
        return x
    if isinstance(x.content, dict):
        held = {k: restored(v) for k, v in x.content.items()}
        x.container.clear()
        x.container.update(held)
    else:
        x.container[:] = [restored(v) for v in x.content]
    return x.container


def is_leaf(x):
    """Whether x becomes one value of the pipeline."""
    return isinstance(x, (Value, numbers.Number, str, bytes)) or hasattr(x, "__array__") and not isinstance(x, Unset)


def _children(x):
    """-> ([(key, child)], how to make one of new children), or None for what has none."""
    if isinstance(x, Picture):
        keys = list(x.content) if isinstance(x.content, dict) else range(len(x.content))
        pairs = [(k, x.content[k]) for k in keys]
        return pairs, lambda new: Picture(x.container, dict(zip(keys, new)) if isinstance(x.content, dict) else list(new))
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return list(zip(x._fields, x)), lambda new: type(x)(*new)
    if isinstance(x, tuple):
        return list(enumerate(x)), tuple
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        names = [f.name for f in dataclasses.fields(x)]
        return [(n, getattr(x, n)) for n in names], lambda new: dataclasses.replace(x, **dict(zip(names, new)))
    return None


def leaves(x):
    """The symbolic values in a variable."""
    if isinstance(x, Value):
        return [x]
    inside = _children(x)
    return [leaf for _, child in inside[0] for leaf in leaves(child)] if inside else []


def filled(x, values):
    """x with values in place of its slots."""
    if isinstance(x, Slot):
        return values[x.index]
    inside = _children(x)
    return inside[1]([filled(child, values) for _, child in inside[0]]) if inside else x


def mapped(x, f):
    """x with f(value) in place of its symbolic values."""
    if isinstance(x, Value):
        return f(x)
    inside = _children(x)
    return inside[1]([mapped(child, f) for _, child in inside[0]]) if inside else x


def joined(name, a, b, pairs, path=""):
    """A variable after an `if`: leaves that differ become slots, and their two values are appended to pairs."""
    if a is b or isinstance(a, Unset) and isinstance(b, Unset):
        return a
    if isinstance(a, Unset) or isinstance(b, Unset):
        return Unset(name, "is assigned on one side of an `if` only")
    if is_leaf(a) and is_leaf(b):
        if type(a) is type(b) and isinstance(a, (numbers.Number, str, bytes)) and (a == b or a != a and b != b):
            return a
        pairs.append((a, b))
        return Slot(len(pairs) - 1)
    left, right = _children(a), _children(b)
    if left is None or right is None or _kind(a) != _kind(b) or [k for k, _ in left[0]] != [k for k, _ in right[0]]:
        raise _different(name, a, b, path)
    children = [joined(name, x, y, pairs, f"{path}[{k!r}]") for (k, x), (_, y) in zip(left[0], right[0])]
    if isinstance(a, Picture) and a.container is not b.container:  # neither side's own
        return Picture(type(a.container)(), left[1](children).content)
    return left[1](children)


def _kind(x):
    return type(x.content) if isinstance(x, Picture) else type(x)


def told(x):
    """A few words on a variable, for errors."""
    if isinstance(x, Picture):
        keys = ", ".join(map(repr, x.content)) if isinstance(x.content, dict) else len(x.content)
        return f"a dict with {keys}" if isinstance(x.content, dict) else f"a list of {keys}"
    if x is None:
        return "None"
    if isinstance(x, tuple):
        return f"a tuple of {len(x)}"
    return "a value of the pipeline" if isinstance(x, Value) else f"a {type(x).__name__}"


def _different(name, a, b, path):
    if name is None:
        what = f"one side of an `if` gives {told(a)}{path and ' at ' + path}, the other {told(b)}"
        return traced(what, "return values of one structure on each way through the function")
    return traced(f"`{name}{path}` is {told(a)} after one side of an `if` and {told(b)} after the other",
                  "give it one structure on both sides")


def slotted(name, x, values):
    """A variable of a loop's state: x with a slot for each leaf, whose value is appended. All else must stay as it is."""
    if is_leaf(x):
        values.append(x)
        return Slot(len(values) - 1)
    inside = _children(x)
    return inside[1]([slotted(name, child, values) for _, child in inside[0]]) if inside else x


def next_state(name, before, after, values):
    """Takes the leaves of a loop's variable after a round, in the order of the slots of before."""
    if isinstance(before, Slot):
        if not is_leaf(after):
            raise _changing(name, "a value", told(after))
        values[before.index] = after
        return
    old, new = _children(before), _children(after)
    if old is None:
        if after is not before and not isinstance(before, Unset):  # which one of the loop's own is
            raise _changing(name, told(before), told(after))
        return
    if new is None or _kind(before) != _kind(after) or [k for k, _ in old[0]] != [k for k, _ in new[0]]:
        raise _changing(name, told(before), told(after))
    for (_, x), (_, y) in zip(old[0], new[0]):
        next_state(name, x, y, values)


def _changing(name, before, after):
    grows = "a list of" in before and "a list of" in after
    what = f"`{name}` is {before} before a round of the loop and {after} after it, and the number of rounds is only known when " \
           "the pipeline runs"
    return traced(what, "write a comprehension, [f(v) for v in x], or ps.map_fn(x, f) for a list of results" if grows else
                  "give it before the loop a value of the structure that it has in it")
