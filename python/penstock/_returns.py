"""Moves statements so that return, break and continue stand at the end of their blocks.

What follows an `if` that may leave goes into its sides:

    if x < 0:                       if x < 0:
        return 0         becomes        return 0
    y = x + 1                       else:
    return y                            y = x + 1
                                        return y

so each `if` is a choice between two results. A return in a loop ends it, and an `if` after the loop returns.
"""
import ast
import copy

MOST_COPIED = 20_000  # nodes, of functions whose ifs are followed by much in many ways


class NotConverted(Exception):
    """A function that stays as it is."""


def leaves(node, loops=False):
    """Whether a statement holds a return, or a break or continue of the loop around it."""
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, (ast.Break, ast.Continue)):
        return not loops
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
        return False
    if isinstance(node, (ast.For, ast.While)):
        return any(leaves(s, True) for s in node.body) or any(leaves(s, loops) for s in node.orelse)
    return any(leaves(child, loops) for child in ast.iter_child_nodes(node))


def holds(node, kind):
    """Whether a statement holds one of that kind; a break: one of the loop around it."""
    if isinstance(node, kind):
        return True
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
        return False
    if kind is ast.Break and isinstance(node, (ast.For, ast.While)):
        return holds_any(node.orelse, kind)
    return any(holds(child, kind) for child in ast.iter_child_nodes(node))


def falls_through(statements):
    """Whether what follows a block may run."""
    if not statements:
        return True
    last = statements[-1]
    if isinstance(last, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
        return False
    if isinstance(last, ast.If):
        return falls_through(last.body) or falls_through(last.orelse)
    return falls_through(last.body) if isinstance(last, ast.With) else True


class Normalizer:
    """Moves the statements of one function; name(kind) gives a variable's name that the function does not use."""

    def __init__(self, name):
        self.name, self.copied = name, 0

    def block(self, statements, whole=True):
        """The statements in that form; whole is False in a `with` or `try`, whose ifs with a return stay Python's."""
        out = []
        for i, s in enumerate(statements):
            rest = statements[i + 1:]
            if isinstance(s, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
                return [*out, s]
            if isinstance(s, ast.If):
                s = copy.copy(s)
                s.stays = not whole and leaves(s)
                if whole and leaves(s):
                    then = [*s.body, *(self.copy(rest) if falls_through(s.body) else [])]
                    s.orelse = self.block([*s.orelse, *(rest if falls_through(s.orelse) else [])])
                    s.body = self.block(then)
                    return [*out, s]
                s.body, s.orelse = self.block(s.body, whole), self.block(s.orelse, whole)
                out.append(s)
            elif isinstance(s, (ast.For, ast.While)):
                s, after = self.loop(s)
                if after:
                    return [*out, s, *self.block([*after, *rest], whole)]
                out.append(s)
            else:
                out.append(self.inside(s))
        return out

    def loop(self, s):
        """-> (the loop without else, the ifs that must follow it)."""
        s = copy.copy(s)
        s.stops, s.returns, after = holds_any(s.body, ast.Break), holds_any(s.body, ast.Return), []
        s.result = self.name("loop") if s.orelse or s.returns else None

        def told(what):
            return ast.copy_location(ast.Attribute(ast.copy_location(ast.Name(s.result, ast.Load()), s), what, ast.Load()), s)
        if s.returns:
            value = ast.copy_location(ast.Return(told("value")), s)
            endless = isinstance(s, ast.While) and isinstance(s.test, ast.Constant) and s.test.value and not s.stops
            after.append(value if endless else ast.copy_location(ast.If(told("returned"), [value], []), s))
        if s.orelse:
            after.append(ast.copy_location(ast.If(told("finished"), s.orelse, []), s))
        s.body, s.orelse = self.block(s.body), []
        return s, after

    def inside(self, s):
        """`with`, `try`, `match`: their blocks."""
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return s
        s = copy.copy(s)
        for field in ("body", "orelse", "finalbody"):
            if isinstance(getattr(s, field, None), list):
                setattr(s, field, self.block(getattr(s, field), False))
        for field in ("handlers", "cases"):
            if hasattr(s, field):
                setattr(s, field, [self.inside(part) for part in getattr(s, field)])
        return s

    def copy(self, statements):
        self.copied += sum(1 for s in statements for _ in ast.walk(s))
        if self.copied > MOST_COPIED:
            raise NotConverted("too many paths")
        return copy.deepcopy(statements)


def holds_any(statements, kind):
    return any(holds(s, kind) for s in statements)
