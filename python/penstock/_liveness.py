"""Which variables a statement binds, and which are read after it: what an `if` or a loop must give back.

annotate() sets live_out on each If and loop: the variables that are read after it, and live_head on loops: those that the
next round, or what follows the loop, reads.
"""
import ast

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
CHANGES = {"add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "reverse",
           "setdefault", "sort", "update"}


def reads(*nodes):
    """The names that are read anywhere in these nodes."""
    return {n.id for node in nodes if node is not None for n in ast.walk(node)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def bound(statements):
    """The names that statements bind, those of functions and classes in them not included."""
    out = set()

    def walk(node):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            out.add(node.name)
            return
        if isinstance(node, ast.Lambda):
            return
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            out.update(n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
            return
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            out.add(node.id)
        elif isinstance(node, ast.alias):
            out.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            out.add(node.name)
        elif type(node).__name__ in ("MatchAs", "MatchStar") and node.name:
            out.add(node.name)
        elif type(node).__name__ == "MatchMapping" and node.rest:
            out.add(node.rest)
        for child in ast.iter_child_nodes(node):
            walk(child)

    for statement in statements:
        walk(statement)
    return out


def changed(statements):
    """The names of what may be changed in its place: x[i] = ..., x.a = ..., x.append(...)."""
    out = set()
    for node in (n for s in statements for n in ast.walk(s)):
        target = node.func if isinstance(node, ast.Call) else node
        if isinstance(node, ast.Call) and not (isinstance(target, ast.Attribute) and target.attr in CHANGES):
            continue
        if isinstance(target, (ast.Subscript, ast.Attribute)) and (isinstance(node, ast.Call) or not isinstance(target.ctx, ast.Load)):
            while isinstance(target, (ast.Subscript, ast.Attribute)):
                target = target.value
            if isinstance(target, ast.Name):
                out.add(target.id)
    return out


def annotate(statements):
    """Sets live_out and live_head on the ifs and loops of a function's body, whose returns stand at ends of blocks."""
    inner = [n for s in statements for n in ast.walk(s) if isinstance(n, FUNCTIONS)]
    always = reads(*inner)  # a function inside may be called anywhere
    _block(statements, always, always, always)


def _block(statements, out, after, head):
    """-> what is live before a block; out: after it, after and head: where break and continue of its loop go."""
    for s in reversed(statements):
        out = _statement(s, out, after, head)
    return out


def _statement(s, out, after, head):
    if isinstance(s, (ast.Return, ast.Raise)):
        return reads(s)
    if isinstance(s, ast.Break):
        return after
    if isinstance(s, ast.Continue):
        return head
    if isinstance(s, ast.If):
        s.live_out = out | after | head
        return reads(s.test) | _block(s.body, out, after, head) | _block(s.orelse, out, after, head)
    if isinstance(s, (ast.For, ast.While)):
        return _loop(s, out)
    if isinstance(s, ast.With):
        inside = _block(s.body, out, after, head)
        return (inside - bound(list(filter(None, (i.optional_vars for i in s.items))))) | reads(*s.items)
    if isinstance(s, ast.Try) or hasattr(s, "handlers") or hasattr(s, "cases"):
        everything = out | reads(s)
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            for part in getattr(s, name, ()):
                _block(getattr(part, "body", [part]) if name in ("handlers", "cases") else [part], everything, after, head)
        return everything
    return (out - bound([s])) | reads(s) | ({s.target.id} if _adds_to_name(s) else set())


def _adds_to_name(s):
    return isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name)


def _loop(s, out):
    test = reads(s.test) if isinstance(s, ast.While) else set()
    targets = bound([s.target]) if isinstance(s, ast.For) else set()
    head = out | test
    while True:
        again = head | (_block(s.body, head, out, head) - targets)
        if again == head:
            break
        head = again
    s.live_out, s.live_head = out, head
    return head | (reads(s.iter) if isinstance(s, ast.For) else set())
