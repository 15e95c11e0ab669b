"""Rewrites the syntax tree of a function so that its ifs, loops and logic are calls of penstock._control.

    if x > 0:                       def then():
        y = x                           nonlocal y
    else:             becomes           y = x
        y = -x                      def otherwise():
                                        nonlocal y
                                        y = -x
                                    control.if_(x > 0, then, otherwise, lambda: (y,), put, ("y",), 1)

where put sets the variables. Functions inside stay as they are: each is converted on its own when it is called or traced.
All nodes keep their lines.
"""
import ast
import copy

from ._liveness import FUNCTIONS, annotate, bound, changed
from ._returns import Normalizer, NotConverted, leaves

CONTROL = "_penstock_control"
_COMPARED = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.In: "in",
             ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}
_OF_A_FRAME = {"super", "locals", "globals", "vars", "dir", "eval", "exec"}


def rewritten(node, around, free):
    """A def or lambda, rewritten; around: the name of its class, free: the names that it has from functions around it."""
    node = copy.deepcopy(node)
    if any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) for n in _own(node)):
        raise NotConverted("a generator or coroutine")
    _without_values(node)
    if around:
        _Private(around.lstrip("_")).visit(node)
    rewriter = _Rewriter(node, free)
    if isinstance(node, ast.Lambda):
        node.body = rewriter.visit(node.body)
        return node
    node.decorator_list, node.returns = [], None
    body = Normalizer(rewriter.name).block(node.body)
    annotate(body)
    made = rewriter.block(body, False)
    unset = sorted(rewriter.moved & rewriter.local - rewriter.parameters)
    node.body = [*rewriter.declarations, *(rewriter.unset(name, node) for name in unset), *made]
    return node


def _own(node):
    """The nodes of a function, those of functions inside left out."""
    left = list(ast.iter_child_nodes(node))
    while left:
        n = left.pop()
        yield n
        if not isinstance(n, (*FUNCTIONS, ast.ClassDef)):
            left.extend(ast.iter_child_nodes(n))


def _without_values(node):
    """Defaults are those of the function that is converted; annotations say nothing."""
    args = node.args
    none = ast.copy_location(ast.Constant(None), node)
    args.defaults = [none for _ in args.defaults]
    args.kw_defaults = [d and none for d in args.kw_defaults]
    for a in [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]:
        a.annotation = None


class _Private(ast.NodeTransformer):
    """Names that are private to a class, __x, are written as the class has them."""

    def __init__(self, around):
        self.around = around

    def generic_visit(self, node):
        for field in ("id", "attr", "arg"):
            name = getattr(node, field, None)
            if isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
                setattr(node, field, f"_{self.around}{name}")
        return super().generic_visit(node)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, node, free):
        args = node.args
        self.first = next(iter([*args.posonlyargs, *args.args]), None)
        self.parameters = {a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs,
                                           *filter(None, (args.vararg, args.kwarg))]}
        body = [] if isinstance(node, ast.Lambda) else node.body
        own = [n for s in body for n in (s, *_own(s))]
        self.globals = {name for n in own if isinstance(n, ast.Global) for name in n.names}
        self.declared = {name for n in own if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
        self.declarations = [n for n in own if isinstance(n, (ast.Global, ast.Nonlocal))]
        self.local = bound(body) - self.declared
        self.variables = (self.local | self.declared | self.parameters | set(free)) - self.globals
        self.used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | self.parameters
        self.moved, self.count, self.in_loop = set(), 0, False

    # Small pieces of tree.

    def name(self, kind):
        while True:
            self.count += 1
            name = f"_{kind}_{self.count}"
            if name not in self.used:
                return name

    def at(self, node, made):
        """A new tree at the lines of a node."""
        for n in ast.walk(made):
            if isinstance(n, (ast.expr, ast.stmt, ast.arg)) and not hasattr(n, "lineno"):
                ast.copy_location(n, node)
        return made

    def call(self, node, what, *args):
        return self.at(node, ast.Call(ast.Attribute(ast.Name(CONTROL, ast.Load()), what, ast.Load()), list(args), []))

    def later(self, node, names=()):
        """lambda names: node"""
        args = ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])
        return self.at(node, ast.Lambda(args, node))

    def define(self, at, kind, body, sets, parameters=()):
        """-> (def kind(parameters): body, its name); sets: the variables that the body binds."""
        sets = sets & self.variables
        out = [ast.Nonlocal(sorted(sets))] if sets else []
        self.moved |= sets
        name = self.name(kind)
        args = ast.arguments([], [ast.arg(p) for p in parameters], None, [], [], None, [])
        made = ast.FunctionDef(name, args, [*out, *body], [], None)
        if "type_params" in ast.FunctionDef._fields:  # of Python 3.12
            made.type_params = []
        return self.at(at, made), ast.Name(name, ast.Load())

    def unset(self, name, node):
        return self.at(node, ast.Assign([ast.Name(name, ast.Store())], self.call(node, "Unset", ast.Constant(name))))

    # Statements.

    def block(self, statements, in_loop):
        outer, self.in_loop = self.in_loop, in_loop
        out = []
        for s in statements:
            made = self.visit(s)
            out += made if isinstance(made, list) else [made] if made is not None else []
        self.in_loop = outer
        return out

    def body(self, statements, in_loop):
        """The statements of a function that stands for a block."""
        out = self.block(statements, in_loop)
        return [*out, self.at(statements[-1], ast.Return(ast.Constant(0 if in_loop else None)))] if statements else [ast.Pass()]

    def state(self, at, kept, others):
        """-> (the def that sets variables, [how to get them, to set them, their names, how many of them are kept]).

        kept: those that are read afterwards; others are set back only before the other side, or another round, is traced.
        """
        if (kept | others) & self.globals:
            raise NotConverted("a global variable that a block sets")
        kept = sorted(kept & self.variables)
        names = [*kept, *sorted(others & self.variables - set(kept))]
        if not names:
            return [], [ast.Constant(None), ast.Constant(None), ast.Tuple([], ast.Load()), ast.Constant(0)]
        get = self.later(self.at(at, ast.Tuple([ast.Name(n, ast.Load()) for n in names], ast.Load())))
        values = self.name("values")
        set_all = ast.Assign([ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())], ast.Name(values, ast.Load()))
        put, put_name = self.define(at, "put", [set_all], set(names), [values])
        return [put], [get, put_name, ast.Tuple([ast.Constant(n) for n in names], ast.Load()), ast.Constant(len(kept))]

    def visit_If(self, s):
        if s.stays:
            s.test = self.visit(s.test)
            s.body, s.orelse = self.block(s.body, self.in_loop), self.block(s.orelse, self.in_loop)
            return s
        inside = [*s.body, *s.orelse]
        in_body, in_orelse = bound(s.body), bound(s.orelse)
        put, state = self.state(s.test, (in_body | in_orelse) & s.live_out | changed(inside), in_body | in_orelse)
        test = self.condition(s.test)
        then, then_name = self.define(s.test, "then", self.body(s.body, self.in_loop), in_body)
        otherwise, otherwise_name = self.define(s.test, "otherwise", self.body(s.orelse, self.in_loop) if s.orelse else
                                                [ast.Return(ast.Constant(0 if self.in_loop else None))], in_orelse)
        made = self.call(s.test, "if_", test, then_name, otherwise_name, *state)
        return [*put, then, otherwise, self.at(s.test, ast.Return(made) if any(map(leaves, inside)) else ast.Expr(made))]

    def loop(self, s, what, given, first, parameters, at):
        """first: the statements that begin the body; given: what the loop goes over, or its condition."""
        targets = bound([s.target]) if isinstance(s, ast.For) else set()
        sets = bound(s.body) | targets
        kept = bound(s.body) & (s.live_head | s.live_out) | targets & s.live_out | changed(s.body)
        put, state = self.state(at, kept, sets)
        define, define_name = self.define(at, "body", [*first, *self.body(s.body, True)], sets, parameters)
        made = self.call(at, what, given, define_name, *state, ast.Constant(2 if s.returns else int(s.stops)))
        result = ast.Assign([ast.Name(s.result, ast.Store())], made) if s.result else ast.Expr(made)
        return [*put, define, self.at(at, result)]

    def visit_For(self, s):
        item = self.name("item")
        iterable = self.visit(s.iter)
        if _is_plain_call(iterable):
            iterable.func.func.attr = "loop_function"
        take = self.at(s, ast.Assign([self.visit(copy.deepcopy(s.target))], ast.Name(item, ast.Load())))
        return self.loop(s, "for_", iterable, [take], [item], s.iter)

    def visit_While(self, s):
        if _walrus(s.test):
            raise NotConverted("an assignment in the condition of a loop")
        return self.loop(s, "while_", self.later(self.condition(s.test)), [], [], s.test)

    def visit_Return(self, s):
        value = self.at(s, ast.Constant(None)) if s.value is None else self.visit(s.value)
        if isinstance(value, ast.Name):
            value = self.call(s, "known", value)
        if not self.in_loop:
            return self.at(s, ast.Return(value))
        return self.at(s, ast.Return(self.call(s, "Returned", value)))

    def visit_Break(self, s):
        return self.at(s, ast.Return(ast.Constant(1)))

    def visit_Continue(self, s):
        return self.at(s, ast.Return(ast.Constant(0)))

    def visit_Delete(self, s):
        names = [t for t in s.targets if isinstance(t, ast.Name) and t.id in self.variables]
        others = [t for t in s.targets if t not in names]
        s.targets = [self.visit(t) for t in others]
        return [self.unset(t.id, s) for t in names] + ([s] if others else [])

    def visit_Assert(self, s):
        message = self.later(self.visit(s.msg)) if s.msg else ast.Constant(None)
        return self.at(s, ast.Expr(self.call(s, "assert_", self.visit(s.test), message)))

    def visit_Global(self, s):
        return None  # they stand at the top

    visit_Nonlocal = visit_Global

    def visit_AnnAssign(self, s):
        if s.value is None:
            return None
        return self.visit(self.at(s, ast.Assign([s.target], s.value)))

    def kept(self, node):
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = kept

    # Expressions.

    def visit_IfExp(self, e):
        if _walrus(e):
            return self.generic_visit(e)
        return self.call(e, "if_", self.condition(e.test), self.later(self.visit(e.body)), self.later(self.visit(e.orelse)),
                         ast.Constant(None), ast.Constant(None), ast.Tuple([], ast.Load()), ast.Constant(0))

    def condition(self, e):
        """An expression of which only the truth counts."""
        return self.logic(e, self.condition, "_truth") if isinstance(e, ast.BoolOp) else self.visit(e)

    def logic(self, e, visit, kind):
        if _walrus(e):
            return self.generic_visit(e)
        first, *rest = [visit(v) for v in e.values]
        return self.call(e, ("and" if isinstance(e.op, ast.And) else "or") + kind, first, *map(self.later, rest))

    def visit_BoolOp(self, e):
        return self.logic(e, self.visit, "_")

    def visit_UnaryOp(self, e):
        if not isinstance(e.op, ast.Not):
            return self.generic_visit(e)
        return self.call(e, "not_", self.condition(e.operand))

    def visit_Compare(self, e):
        if _walrus(e) or len(e.ops) == 1 and not isinstance(e.ops[0], (ast.In, ast.NotIn)):
            return self.generic_visit(e)
        first = self.visit(e.left)
        names = [ast.Constant(_COMPARED[type(op)]) for op in e.ops]
        return self.call(e, "compare", first, ast.Tuple(names, ast.Load()), *(self.later(self.visit(c)) for c in e.comparators))

    def visit_Call(self, e):
        if isinstance(e.func, ast.Name) and e.func.id in _OF_A_FRAME:
            if e.func.id == "super" and not e.args and self.first:
                e.args = [self.at(e, ast.Name(n, ast.Load())) for n in ("__class__", self.first.arg)]
            return e
        self.generic_visit(e)
        e.func = self.call(e.func, "function", e.func)
        return e

    def comprehension(self, e, kind):
        g = e.generators[0]
        targets = [g.target] if isinstance(g.target, ast.Name) else getattr(g.target, "elts", [])
        plain = targets and all(isinstance(t, ast.Name) for t in targets)
        if len(e.generators) > 1 or g.is_async or not plain or _walrus(e):
            return self.generic_visit(e)
        names = [t.id for t in targets]
        conditions = [self.later(self.visit(c), names) for c in g.ifs]
        return self.call(e, kind, self.visit(g.iter), self.later(self.visit(e.elt), names),
                         ast.Constant(not isinstance(g.target, ast.Name)), *conditions)

    def visit_ListComp(self, e):
        return self.comprehension(e, "list_of")

    def visit_GeneratorExp(self, e):
        return self.comprehension(e, "items_of")


def _walrus(e):
    return any(isinstance(n, ast.NamedExpr) for n in ast.walk(e))


def _is_plain_call(e):
    f = getattr(e, "func", None)
    return isinstance(e, ast.Call) and isinstance(f, ast.Call) and isinstance(f.func, ast.Attribute) and f.func.attr == "function" and \
        isinstance(f.func.value, ast.Name) and f.func.value.id == CONTROL
