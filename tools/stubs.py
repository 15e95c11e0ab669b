#!/usr/bin/env python3
"""Writes python/penstock/__init__.pyi: python/own.pyi and, from the engine's table, every operator and op.

Runs with the package importable: tests/python.py --update. python/tests/test_stubs.py compares in every test run.
"""
import inspect
import keyword
import pathlib

from penstock import _calls

ROOT = pathlib.Path(__file__).resolve().parent.parent / "python"
STUB = ROOT / "penstock/__init__.pyi"
NUMBERS = {bool: "_Bool", int: "_Int", float: "_Float", str: "_Str"}


def type_of(kind, default):
    if kind in ("dataset", "datasets"):
        return "Dataset" if kind == "dataset" else "Any"  # several: datasets, or structures of them
    if kind == "function":
        return "_Function"
    number = NUMBERS.get(type(default)) if kind == "constant" else None
    return number or "Any"


def default_text(value):
    return "..." if value is _calls.auto else repr(value)


def parameter_texts(parameters, method):
    signature = _calls.signature(parameters, method)
    kinds = {p[0]: p[1] for p in parameters}
    out, starred = [], False
    for p in signature.parameters.values():
        if p.name == "self":
            out.append("self")
            continue
        if p.kind is p.VAR_POSITIONAL:
            out.append(f"*{p.name}: Any")
            starred = True
            continue
        if p.kind is p.KEYWORD_ONLY and not starred:
            out.append("*")
            starred = True
        kind = kinds.get(p.name) or kinds[p.name.rstrip("_")]
        text = type_of(kind, p.default)
        if p.default is inspect.Parameter.empty:
            out.append(f"{p.name}: {text}")
        else:
            out.append(f"{p.name}: {text}{' | None' if p.default is None and text != 'Any' else ''} = {default_text(p.default)}")
    return out


def definition(name, group, method=False, indent="", decorator=""):
    kind, _, doc, parameters = group[name]
    result = "Any" if kind in ("op", "sink") else "Dataset"
    head = f"{indent}{decorator}{indent if decorator else ''}def {name}({', '.join(parameter_texts(parameters, method))}) -> {result}:"
    doc = doc.replace("\\", "\\\\").replace('"""', "'''")
    end = " " if doc.endswith('"') else ""
    return f'{head}\n{indent}    """{doc}{end}"""\n'


def stub():
    operators = [n for n in sorted(_calls.OPERATORS) if not keyword.iskeyword(n)]
    ops = [n for n in sorted(_calls.OPS) if not keyword.iskeyword(n)]
    own = (ROOT / "own.pyi").read_text(encoding="utf-8")
    taken = {line.split("(")[0].split()[-1].rstrip(":") for line in own.splitlines() if line.startswith(("def ", "class "))}
    methods = [n for n in operators if _calls.is_method(n)]
    functions = [n for n in operators if n not in methods]
    out = own.replace("    # operators\n", "".join(definition(n, _calls.OPERATORS, True, "    ") for n in methods))
    of_package = [definition(n, _calls.OPERATORS) for n in functions if n not in taken]
    of_package += [definition(n, _calls.OPS) for n in ops if n not in functions and n not in taken]
    groups = {}
    for n in ops:
        group = _calls.OPS[n][1]
        if group.isidentifier() and group not in _calls.NAMES and group not in taken:
            groups.setdefault(group, []).append(n)
    for group, names in sorted(groups.items()):
        of_package.append(f"class {group}:\n" + "".join(definition(n, _calls.OPS, False, "    ", "@staticmethod\n") for n in names))
    of_package += [f"{name}: DType\n" for name in _calls._core.types if name not in taken]
    return f"# Made by tools/stubs.py of python/own.pyi and the engine's table.\n{out.replace('# functions' + chr(10), chr(10).join(of_package))}"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
