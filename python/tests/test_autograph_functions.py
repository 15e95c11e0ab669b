"""Functions that converted functions call: builtins, methods, closures, lambdas, and random ones."""
import functools
import linecache
import math
import unittest

from autograph_case import NUMBERS, Both
from random_functions import random_function

import penstock as ps

FACTOR = 3


def helper(v, low=2):
    if v < low:
        return low
    return v


def recursive(v, depth):
    return v if depth == 0 else recursive(v + 1 if v > 0 else v - 1, depth - 1)


def doubled(f):
    @functools.wraps(f)
    def inner(*args):
        return 2 * f(*args)
    return inner


class Builtins(Both):
    def test_numbers(self):
        for f in (lambda x: int(float(x) / 2), lambda x: float(x) / 4, lambda x: bool(x), lambda x: max(x, 2), lambda x: min(3, x, 5),
                  lambda x: max([x, 1]), lambda x: divmod(x, 3)[0] + divmod(x, 3)[1], lambda x: abs(x) if x else 1,
                  lambda x: round(x * 0.75) if x != 2 else 0, lambda x: sum([x, 1, x]) if x else 0, lambda x: sum(range(3)) + max(x, 0),
                  lambda x: any([x > 3, x < -3]), lambda x: all([x > 3, x < 10]),
                  lambda x: max(v for v in (x, 1)) + sum(v for v in [x, 2]) if x > 0 else 0, lambda x: any([x == 1, True])):
            self.same(f)

    def test_math(self):
        for f in (lambda x: math.sqrt(abs(float(x))), lambda x: math.floor(float(x) / 2), lambda x: math.ceil(float(x) / 2),
                  lambda x: math.exp(float(x)), lambda x: math.atan2(float(x), 2.0), lambda x: math.fabs(float(x)),
                  lambda x: math.pow(float(abs(x)), 2.0), lambda x: math.log(float(abs(x)) + math.sqrt(4))):
            self.same(f)


class Functions(Both):
    def test_kinds(self):
        class Scale:
            def __init__(self, by):
                self.by, self.__most = by, 9

            def method(self, x):
                return self.by * x if x < self.__most else self.__most

            def __call__(self, x):
                return self.method(x) + 1 if x > 0 else 0

            @property
            def of_class(self):
                return type(self).__name__

        class Derived(Scale):
            def method(self, x):
                y = super().method(x)
                if x > 1:
                    y = y + super().method(1)
                return y
        for f in (Scale(3).method, Scale(3), Derived(2).method, functools.partial(lambda a, x: x if x > a else a, 2), doubled(helper),
                  lambda x: helper(x) + helper(x, low=4), lambda x: recursive(x, 3), lambda x, scale=10: x * scale if x > 0 else scale):
            self.same(f)

    def test_names_around(self):
        offset, calls = 1, []

        def f(x):
            nonlocal offset
            calls.append(1)
            offset = 5
            inner = lambda v: v if v > offset else -v  # noqa: E731

            def local(v):
                return inner(v) + offset if v > 2 else later(v)
            return local(x) + FACTOR

        def later(v):
            return v * 2 if v < 0 else 0
        self.same(f)
        self.assertEqual(len(calls), len(NUMBERS) + 2)  # once as it is, once converted

    def test_a_function_without_control_flow_is_called_once(self):
        calls = []
        self.assertEqual(list(ps.range(2).map(lambda x: calls.append(1) or x)), [0, 1])
        self.assertEqual(len(calls), 1)

    def test_lambdas_of_a_line(self):
        fs = [lambda x: 1 if x > 0 else 2, lambda x: 3 if x > 0 else 4, lambda x: (lambda y: 5 if y > 0 else 6)(x)]
        self.assertEqual([list(ps.range(2).map(f)) for f in fs], [[2, 1], [4, 3], [6, 5]])
        self.assertEqual(list(ps.range(4).map(lambda x: -x if x > 1 else x).filter(lambda x: x > 0 or x < -2)), [1, -3])

    def test_lambdas_of_a_line_without_columns(self):
        from penstock import _function_source
        fs = [lambda x: 1 if x > 0 else 2, lambda x: 3 if x > 0 else 4, lambda x: FACTOR if x > 0 else 2, lambda x: 3 if x > 0 else 4]
        for i, f in enumerate(fs):
            found = [(node, "") for node, _ in _function_source._index(__file__, "".join(linecache.getlines(__file__)))[
                f.__code__.co_firstlineno, "<lambda>"]]
            [(node, _)] = _function_source._by_names(f.__code__, found)
            self.assertEqual(eval(compile(_expression(node), "", "eval"), {"FACTOR": 30})(1), [1, 3, 30, 3][i])
        twins = [lambda x: x - 1 if x > 0 else 1, lambda x: 1 - x if x > 0 else 1]
        f = twins[0]
        found = [(node, "") for node, _ in _function_source._index(__file__, "".join(linecache.getlines(__file__)))[
            f.__code__.co_firstlineno, "<lambda>"]]
        self.assertEqual(_function_source._by_names(f.__code__, found), [])

    def test_functions_of_operators_and_ops(self):
        self.assertEqual(list(ps.range(6).filter(lambda x: x > 1 and x % 2 == 0)), [2, 4])
        self.assertEqual(list(ps.range(3).flat_map(lambda n: ps.range(n).map(lambda k: k if k > 0 else n))), [1, 2, 1])
        self.assertEqual(ps.range(5).reduce(0, lambda s, x: s + x if x > 2 else s), 7)
        pairs = ps.zip(ps.range(3), ps.range(3, 6))
        self.assertEqual(list(pairs.map(lambda a, b: a if a > 1 else b)), [3, 4, 2])
        self.assertEqual(list(ps.range(2).map(lambda x: ps.map_fn(ps.arange(3), lambda v: v if v > x else x)))[1].tolist(), [1, 1, 2])

    def test_python_code_is_never_converted(self):
        seen = []

        def plain(v):
            seen.append(type(v).__name__)
            return int(v) if v > 0 else -1

        def f(x):
            y = ps.py_map(lambda v: plain(v) + (1 if v > 1 else 0), spec=ps.int64)(x)
            return y if x > 0 else x * 0 + y - 1
        self.assertEqual(list(ps.range(4).map(f)), [-2, 1, 3, 4])
        self.assertNotIn("Value", seen)
        self.assertEqual(list(ps.range(3).map(ps.py_map(plain))), [-1, 1, 2])

    def test_tracebacks_have_the_users_lines(self):
        def f(x):
            if x > 0:
                x = x + 1
                raise KeyError("mine")
            return x
        frames, tb = [], None
        try:
            ps.range(3).map(f)
        except KeyError as e:
            tb = e.__traceback__
        while tb:
            frames.append((tb.tb_frame.f_code.co_filename, tb.tb_lineno - f.__code__.co_firstlineno, tb.tb_frame.f_code.co_name))
            tb = tb.tb_next
        self.assertEqual([frame for frame in frames if frame[2] == "f"], [(__file__, 1, "f"), (__file__, 3, "f")])


class Random(Both):
    def test_random_functions(self):
        for seed in range(60):
            f, text = random_function(seed)
            with self.subTest(seed=seed, text=text):
                self.assertEqual(list(ps.from_tensor_slices(NUMBERS).map(f)), [f(x) for x in NUMBERS])


def _expression(node):
    import ast
    return ast.fix_missing_locations(ast.Expression(node))


if __name__ == "__main__":
    unittest.main()
