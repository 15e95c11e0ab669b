"""Functions and methods made from the engine's own table of operators and ops, each when it is first asked for.

There are a thousand, and their signatures alone would be half of the time that `import penstock` takes.
"""
import keyword
import sys
import types

from . import _core
from ._values import Inputs, auto, call, is_tracing, to_core

OPERATORS, OPS = {}, {}
for _name, _kind, _group, _doc, _parameters in _core.calls():
    (OPS if _kind == "op" else OPERATORS)[_name] = (_kind, _group, _doc, _parameters)
NAMES = OPERATORS.keys() | OPS.keys()

_DEFAULTS = {"none": None, "auto": auto, "true": True, "false": False}


def _default(text):
    if text in _DEFAULTS:
        return _DEFAULTS[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text[1:-1] if text.startswith('"') else text


def signature(parameters, method=False):
    """The Python signature of a call: what help() shows, and what says how many arguments it must have."""
    import inspect
    P = inspect.Parameter
    out = []
    several = False
    for i, (name, kind, required, by_name, fallback) in enumerate(parameters):
        name = "self" if method and i == 0 else name + "_" * keyword.iskeyword(name)
        if kind in ("datasets", "tensors"):
            out.append(P(name, P.VAR_POSITIONAL))
            several = True
            continue
        has_default = not required or any(p.default is not P.empty for p in out)
        out.append(P(name, P.KEYWORD_ONLY if by_name or several else P.POSITIONAL_OR_KEYWORD,
                     default=(None if required else _default(fallback)) if has_default else P.empty))
    out.sort(key=lambda p: p.kind)
    return inspect.Signature(out)


def build(name, args, named):
    """A call of an operator: a dataset, a sink's value, or inside a function a value that stands for these."""
    from ._dataset import Dataset
    from ._sources import py_map
    functions = {p[0] for p in OPERATORS[name][3] if p[1] == "function"}
    positions = [p[1] == "function" for p in OPERATORS[name][3]]

    def argument(x, is_function):
        if is_function and isinstance(x, py_map):
            if x.processes and any(p[0] == "num_parallel_calls" for p in OPERATORS[name][3]):
                named.setdefault("num_parallel_calls", x.processes)
            x = x.over(args[0])
        return _core.expression(x) if is_function and isinstance(x, str) else to_core(x)

    if is_tracing():
        return call(name, args, named)
    with Inputs() as inputs:
        values = [argument(a, i < len(positions) and positions[i]) for i, a in enumerate(args)]
        keyed = [(k, argument(v, k in functions)) for k, v in named.items()]
        built = _core.combine(name, inputs.datasets, values, keyed)
    codes = tuple(dict.fromkeys(inputs.codes))
    return built.value(codes) if OPERATORS[name][0] == "sink" else Dataset(built, codes)


def _documented(f, name, doc, parameters, method=False):
    f.__name__ = f.__qualname__ = name
    f.__module__ = "penstock"
    f.__signature__ = signature(parameters, method)
    f.__doc__ = f"{doc}\n\n{name}{f.__signature__}"
    return f


def operator_function(name):
    """ps.NAME of a source, and of an operator that takes several datasets."""
    _, _, doc, parameters = OPERATORS[name]
    return _documented(lambda *args, **named: build(name, args, named), name, doc, parameters)


def operator_method(name):
    """ds.NAME of an operator whose first argument is a dataset."""
    _, _, doc, parameters = OPERATORS[name]
    return _documented(lambda self, *args, **named: build(name, (self, *args), named), name, doc, parameters, True)


def op_function(name):
    """ps.NAME of an op."""
    _, _, doc, parameters = OPS[name]
    return _documented(lambda *args, **named: call(name, args, named), name, doc, parameters)


def is_method(name):
    parameters = OPERATORS[name][3]
    return bool(parameters) and parameters[0][1] == "dataset"


class Method:
    """A method of a class that is made, and takes this one's place, when it is first asked for."""

    def __init__(self, cls, name):
        self.cls, self.name = cls, name

    def __get__(self, instance, owner=None):
        method = operator_method(self.name)
        setattr(self.cls, self.name, method)
        return method.__get__(instance, owner)


def functions():
    """-> {name: what makes it of the name} of the package; groups of ops are namespaces where their name is free."""
    out = dict.fromkeys(OPS, op_function)
    out.update((name, operator_function) for name in OPERATORS if not is_method(name))
    out.update((group, _group) for _, group, _, _ in OPS.values() if group.isidentifier() and group not in NAMES)
    return out


def _group(group):
    """The ops of a group as a module, so that help() lists them."""
    module = types.ModuleType(f"penstock.{group}", f"The ops of the group {group}.")
    inside = vars(module)
    names = [name for name, op in OPS.items() if op[1] == group]
    later = dict.fromkeys(names, lambda name: getattr(sys.modules["penstock"], name))
    inside["__getattr__"], inside["__dir__"] = made_later(inside, later)
    return module


def made_later(inside, makers):
    """-> __getattr__ and __dir__ of a module, whose names are ``inside``, for members that are made when first asked for."""
    own = [name for name in inside if not name.startswith("_")]

    def get(name):
        if name == "__all__":
            made = sorted({*own, *makers})
        elif name in makers:
            made = makers[name](name)
        else:
            raise AttributeError(f"module {inside['__name__']!r} has no attribute {name!r}")
        return inside.setdefault(name, made)  # another thread may have been faster

    return get, lambda: sorted({*inside, *makers})
