"""Functions written in ordinary Python, converted so that their ifs, loops and logic can be traced.

A function is first traced as it is. It is converted, and traced once more, when it asks a symbolic value for what is only known
when the pipeline runs: whether it is true, its items, its size. Most functions never ask; converting all of them, as AutoGraph
does, would cost each lambda about 0.8 ms, and the reading of its file, where its tracing takes 0.06 ms.
"""
import __future__
import ast
import functools
import os
import sys
import types
import weakref

from ._errors import is_own
from ._function_source import node_of
from ._returns import NotConverted
from ._rewrite import CONTROL, rewritten

_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_FOREIGN = {"numpy", "torch", "jax", "tensorflow", "ml_dtypes"}
_codes = weakref.WeakKeyDictionary()  # of a function: the converted one, or None


def converted(f):
    """The function with its control flow as calls of penstock._control, or None where it cannot be converted.

    It has the globals, closure and defaults of the function. So it is with methods, partials and objects that are called.
    """
    if isinstance(f, types.FunctionType):
        return _converted_function(f) if _is_users(f) else None
    if isinstance(f, types.MethodType):
        inner = converted(f.__func__)
        return inner and types.MethodType(inner, f.__self__)
    if isinstance(f, functools.partial):
        inner = converted(f.func)
        return inner and functools.partial(inner, *f.args, **f.keywords)
    called = getattr(type(f), "__call__", None)
    if isinstance(f, type) or not isinstance(called, types.FunctionType):
        return None
    inner = converted(called)
    return inner and types.MethodType(inner, f)


def _is_users(f):
    file = os.path.abspath(f.__code__.co_filename)
    if is_own(file) or CONTROL in f.__code__.co_freevars:
        return False
    if (f.__module__ or "").split(".")[0] in _FOREIGN:
        return False
    return not file.startswith(_LIBRARY) or "-packages" + os.sep in file


def _converted_function(f):
    code = f.__code__
    if code not in _codes:
        try:
            _codes[code] = _converted_code(f)
        except (NotConverted, SyntaxError, RecursionError):
            _codes[code] = None
    made = _codes[code]
    if made is None:
        return None
    from . import _control
    cells = dict(zip(code.co_freevars, f.__closure__ or ()))
    cells[CONTROL] = types.CellType(_control)
    out = types.FunctionType(made, f.__globals__, f.__name__, f.__defaults__, tuple(cells[name] for name in made.co_freevars))
    out.__kwdefaults__, out.__qualname__, out.__module__, out.__dict__ = f.__kwdefaults__, f.__qualname__, f.__module__, f.__dict__
    return out


def _converted_code(f):
    found = node_of(f)
    if found is None:
        raise NotConverted("there is no source")
    node, around = found
    free = f.__code__.co_freevars
    new = rewritten(node, around, free)
    # A function around it binds the names that it has from outside, so that they stay free ones.
    args = ast.arguments([], [ast.arg(n) for n in (CONTROL, *free)], None, [], [], None, [])
    body = [ast.Return(new)] if isinstance(new, ast.Lambda) else [new]
    name = f.__code__.co_name
    if not isinstance(new, ast.Lambda):
        new.name = name = "_converted"  # binds no name that the function may use
    outer = ast.FunctionDef("_around", args, body, [], None)
    if sys.version_info >= (3, 12):
        outer.type_params = []
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(outer, node)], []))
    flags = f.__code__.co_flags & __future__.annotations.compiler_flag
    code = compile(module, f.__code__.co_filename, "exec", dont_inherit=True, flags=flags)
    return _named(_inner(_inner(code, "_around"), name), f.__code__.co_name)


def _inner(code, name):
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)


def _named(code, name):
    """The code with the blocks in it named as the function is, as its user knows it in a traceback."""
    inside = tuple(_named(c, name if c.co_name.startswith("_") and c.co_name[1:].split("_")[0] in _BLOCKS else c.co_name)
                   if isinstance(c, types.CodeType) else c for c in code.co_consts)
    return code.replace(co_name=name, co_consts=inside)


_BLOCKS = {"then", "otherwise", "body", "put"}
