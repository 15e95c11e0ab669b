"""Python's own functions and those of `math`, over symbolic values: what a converted function calls in their stead."""
import builtins
import functools
import math
import operator

from . import _core
from ._errors import traced
from ._values import Value, call, to_core


def symbolic(x):
    return isinstance(x, (Value, Items))


class Items:
    """Items of range, enumerate and zip of symbolic values: one or several tensors that a loop goes over.

    part is a value, whose items a loop takes, or a tuple of such parts, whose items are tuples.
    """

    def __init__(self, part):
        self.part = part

    def core(self):
        def of(part):
            return _core.tuple([of(p) for p in part]) if isinstance(part, tuple) else to_core(part)
        return of(self.part)

    def split(self, item):
        """The item of a round, as Python has it."""
        def of(part, core):
            if isinstance(part, tuple):
                return tuple(of(p, _core.subscript(core, [_core.index(_core.integer(i))])) for i, p in enumerate(part))
            return Value(core)
        return of(self.part, item)

    def at(self, i):
        """Item i."""
        def of(part):
            return tuple(of(p) for p in part) if isinstance(part, tuple) else part[i]
        return of(self.part)

    def size(self):
        first = self.part
        while isinstance(first, tuple):
            first = first[0]
        return length(first)


def items(x):
    """A symbolic value, or what is given beside one, as Items. A tuple or a dict is not gone over: the engine says so."""
    if isinstance(x, Items):
        return x
    if isinstance(x, Value):
        return Items(call("identity", (x,), {}))
    if isinstance(x, range):
        return Items(call("arange", (x.start, x.stop, x.step), {}))
    return Items(call("identity", (list(x),), {}))


def length(x):
    if isinstance(x, Items):
        return x.size()
    return call("shape", (x,), {})[0] if isinstance(x, Value) else len(x)


def range_(*args):
    return Items(call("arange", args, {})) if any(map(symbolic, args)) else range(*args)


def _cut(part, n):
    return tuple(_cut(p, n) for p in part) if isinstance(part, tuple) else part[:n]


def zip_(*args, **named):
    if not any(map(symbolic, args)):
        return zip(*args, **named)
    several = [items(a) for a in args]
    sizes = [i.size() for i in several]
    n = functools.reduce(lambda a, b: call("minimum", (a, b), {}), sizes)
    return Items(tuple(_cut(i.part, n) if len(several) > 1 else i.part for i in several))


def enumerate_(x, start=0):
    if not symbolic(x):
        return enumerate(x, start)
    one = items(x)
    return Items((call("arange", (one.size(),), {}) + start, one.part))


def reversed_(x):
    def backwards(part):
        return tuple(map(backwards, part)) if isinstance(part, tuple) else part[::-1]
    return Items(backwards(items(x).part)) if symbolic(x) else reversed(x)


def sorted_(x, **named):
    if not isinstance(x, Value):
        return sorted(x, **named)
    if named.keys() - {"reverse"} or symbolic(named.get("reverse")):
        raise traced("sorted() has a key, which a symbolic value has no use for", "write ps.gather(x, ps.argsort(key))")
    return call("sort", (x,), {"axis": 0, "descending": builtins.bool(named.get("reverse", False))})


def number(dtype, plain):
    def convert(x=0, *rest):
        return call(dtype, (x,), {}) if isinstance(x, Value) and not rest else plain(x, *rest)
    return convert


def extreme(op, reduction, plain):
    """min and max: of the items of one argument, or of several."""
    def of(*args, **named):
        if len(args) == 1 and symbolic(args[0]):
            if named:
                raise traced(f"{plain.__name__}() has {', '.join(named)}, which is not converted", f"write ps.{reduction}(x)")
            return call(reduction, (_tensor(args[0]),), {})
        values = list(args[0]) if len(args) == 1 else list(args)
        if named or not any(map(symbolic, values)):
            return plain(values, **named)
        return functools.reduce(lambda a, b: call(op, (a, b), {}), values)
    return of


def _tensor(x):
    return x.part if isinstance(x, Items) else x


def sum_(x, start=0):
    if not symbolic(x):
        return sum(x, start)
    total = call("reduce_sum", (_tensor(x),), {"axis": 0})
    return total if isinstance(start, int) and start == 0 else start + total


def _holds(reduction, plain, op, first):
    def of(x):
        if symbolic(x):
            return call(reduction, (truth(_tensor(x)),), {})
        x = list(x)
        if not any(map(symbolic, x)):
            return plain(x)
        return functools.reduce(lambda a, b: Value(_core.binary(op, to_core(a), to_core(truth(b)))), x, first)
    return of


def truth(x):
    """A value as a boolean: other than zero. The engine leaves the cast of a boolean out."""
    return call("bool", (x,), {}) if isinstance(x, Value) else bool(x)


def round_(x, digits=None):
    if not symbolic(x):
        return round(x) if digits is None else round(x, digits)
    if digits is None:
        return call("int64", (call("round", (x,), {}),), {})
    raise traced("round() has a number of digits", "write ps.round(x * 100) / 100")


def _math(name, op, integer=False):
    plain = getattr(math, name)

    def of(*args):
        if not any(map(symbolic, args)):
            return plain(*args)
        if len(args) > 1 and name == "log":
            raise traced("math.log() has a base", "write ps.log(x) / ps.log(base)")
        out = call(op, args, {})
        return call("int64", (out,), {}) if integer else out
    return of


FUNCTIONS = {len: length, range: range_, zip: zip_, enumerate: enumerate_, reversed: reversed_, sorted: sorted_,
             int: number("int64", int), float: number("float32", float), bool: truth, sum: sum_, round: round_,
             min: extreme("minimum", "reduce_min", min), max: extreme("maximum", "reduce_max", max),
             any: _holds("reduce_any", any, "or", False), all: _holds("reduce_all", all, "and", True)}
for _name in ("sqrt", "exp", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "atan2",
              "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma"):
    FUNCTIONS[getattr(math, _name)] = _math(_name, _name)
for _name, (_op, _integer) in {"fabs": ("abs", False), "pow": ("power", False), "isnan": ("is_nan", False),
                               "isinf": ("is_inf", False), "isfinite": ("is_finite", False), "floor": ("floor", True),
                               "ceil": ("ceil", True)}.items():
    FUNCTIONS[getattr(math, _name)] = _math(_name, _op, _integer)
COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
               "!=": operator.ne, "is": operator.is_, "is not": operator.is_not}
