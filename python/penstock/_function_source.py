"""The syntax tree of a Python function, found by its file, its line and, for lambdas, its columns."""
import ast
import linecache

MOST_FILES = 32  # whose trees are kept
_files = {}  # file name: (text, {(first line, name): [(node, name of the class around it)]})


def node_of(f):
    """-> (the node of a function's def or lambda, the name of the class that it stands in), or None.

    None where there is no source (a function of C, of exec), where the file has changed, and where
    several lambdas of a line cannot be told apart.
    """
    code = f.__code__
    lines = linecache.getlines(code.co_filename, f.__globals__)
    found = [(node, around) for node, around in _index(code.co_filename, "".join(lines)).get((code.co_firstlineno, code.co_name), ())
             if _parameters(node) == _parameters_of_code(code)]
    if len(found) > 1:
        places = _places(code)
        found = _by_columns(places, found) if places else _by_names(code, found)
    return found[0] if found else None


def _index(file, text):
    """All functions of a file, by the first line that their code has."""
    if file in _files and _files[file][0] == text:
        return _files[file][1]
    out = {}

    def walk(node, around):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.Lambda)):
                first = min([child.lineno, *(d.lineno for d in getattr(child, "decorator_list", ()))])
                out.setdefault((first, getattr(child, "name", "<lambda>")), []).append((child, around))
            walk(child, child.name if isinstance(child, ast.ClassDef) else around)

    try:
        walk(ast.parse(text), "")
    except (SyntaxError, ValueError, RecursionError):  # not a file of Python, as that of a template
        out = {}
    while len(_files) >= MOST_FILES:
        del _files[next(iter(_files))]
    _files[file] = text, out
    return out


def _parameters(node):
    a = node.args
    named = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]
    return tuple(p.arg for p in named)


def _parameters_of_code(code):
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return code.co_varnames[:count]


def _places(code):
    """The places of the instructions of a code, known since Python 3.11: (line, column, last line, last column)."""
    positions = code.co_positions() if hasattr(code, "co_positions") else ()
    return [(p[0], p[2], p[1], p[3]) for p in positions if None not in p and p[2:] != (0, 0)]


def _by_columns(places, found):
    """The innermost function that all of them stand in."""
    def holds(node):
        body = node.body if isinstance(node, ast.Lambda) else node
        begin, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
        return all(begin <= (a, b) and (c, d) <= end for a, b, c, d in places)

    inside = [(node, around) for node, around in found if holds(node)]
    return inside[-1:]  # a function that stands in another one follows it


def _by_names(code, found):
    """Those that use the names and constants of the code, if they are one text."""
    def of_code(code):
        names = {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
        constants = set()
        for c in code.co_consts:
            if hasattr(c, "co_code"):
                inner = of_code(c)
                names, constants = names | inner[0], constants | inner[1]
            elif isinstance(c, (int, float, str, bytes)):
                constants.add(c)
        return names, constants

    def of_node(node):
        names, constants = set(), set()
        for n in ast.walk(node):
            names |= {getattr(n, "id", None), getattr(n, "attr", None), getattr(n, "arg", None)}
            if isinstance(n, ast.Constant) and isinstance(n.value, (int, float, str, bytes)):
                constants.add(n.value)
        return names - {None}, constants

    names, constants = of_code(code)
    names = {n for n in names if not n.startswith(".")}  # the argument of a comprehension
    same = [pair for pair in found if of_node(pair[0])[0] == names and of_node(pair[0])[1] <= constants | {True, False}]
    exact = [pair for pair in same if of_node(pair[0])[1] >= constants - {"<lambda>", "<listcomp>", "<genexpr>"}] or same
    return exact[:1] if len({ast.dump(node) for node, _ in exact}) == 1 else []
