"""Functions of ordinary Python: each is run by Python and as a function of a pipeline, over the same inputs."""
import collections
import dataclasses
import functools
import linecache
import math
import random
import unittest

import numpy as np
from random_functions import random_function

import penstock as ps

SEED = random.randrange(1 << 30)
NUMBERS = [-7, -2, -1, 0, 1, 2, 3, 4, 5, 9, 12]
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


class Both(unittest.TestCase):
    def same(self, f, inputs=NUMBERS, over=None):
        """f of each input, by Python and by the pipeline; over: what Python gives f instead."""
        with self.subTest(line=f.__code__.co_firstlineno if hasattr(f, "__code__") else f):
            wanted = [f(x) for x in (inputs if over is None else over)]
            out = list(ps.from_tensor_slices(inputs).map(f))
            for a, b in zip(out, wanted):
                np.testing.assert_allclose(np.asarray(a, float), np.asarray(b, float), rtol=1e-5)
            self.assertEqual(len(out), len(wanted))


class Choices(Both):
    def test_expressions(self):
        for f in (lambda x: 1 if x > 0 else 2, lambda x: x if x > 0 else -x, lambda x: 6 // x if x != 0 else 0,
                  lambda x: (1 if x > 3 else 2) if x > 0 else (3 if x < -1 else 4), lambda x: 1.5 if x else 0.5,
                  lambda x: 0 < x < 4, lambda x: 0 < x <= FACTOR != x, lambda x: -1 <= x, lambda x: x > 0 and x < 4,
                  lambda x: x < 0 or x > 3 or x == 1, lambda x: not x > 0, lambda x: not x, lambda x: x > 0 and not x == 2,
                  lambda x: x in (1, 2, 9), lambda x: x not in [1, x + 1], lambda x: x != 0 and 6 // x > 1,
                  lambda x: x == 0 or 6 // x > 1, lambda x: (x > 0 or None is None) and x < 5, lambda x: True and x > 1,
                  lambda x: False or x > 1, lambda x: 1 if x > 0 and 7 // x > 2 else 0):
            self.same(f)

    def test_statements(self):
        def sides(x):
            if x > 2:
                y = x * 2
                z = y * y
            elif x > 0:
                y, z = x, 1
            else:
                y = -x
                z = 6 // (x - 1)
                z = z * z
            return y + z

        def only_then(x):
            y = 1
            if x > 0:
                y = y + x
                y += FACTOR
            return y

        def returns(x):
            """Guards, each the end of the function."""
            if x < 0:
                return 0
            if x == 1:
                return 10
            y = x + 1
            if y > 3:
                y = y * 100
                return y
            return y - 1

        def on_both(x):
            if x > 0:
                if x > 3:
                    return x
                x = x + 100
            else:
                x = x - 100
                if x < -101:
                    return x
            return x * 2

        def of_python(x):
            kind = "plus"
            if kind == "plus":
                x = x + 1
            return x if kind else -x

        def tried(x):
            try:
                if x > 1:
                    y = 1
                else:
                    y = int("2")
            except Exception:
                y = 3
            finally:
                y = y + x
            return y

        def typed(x: int) -> int:
            y: int = 0
            z: int
            if x > 1:
                z: int = 5
                y = z
                del z
            return y

        def unused(x):
            t = 1
            if x > 0:
                t = "text"
                x = x + len(t)
            t = x * 2
            return t
        for f in (sides, only_then, returns, on_both, of_python, tried, typed, unused):
            self.same(f)

    def test_containers(self):
        Point = collections.namedtuple("Point", "x y")

        @dataclasses.dataclass
        class Pair:
            a: object
            b: object

        def dicts(x):
            d = {"a": 1, "b": {"c": [x, 2]}}
            same = d
            if x > 1:
                d["a"] = x * 3
                d["b"]["c"][1] = 5
            return d["a"] + d["b"]["c"][0] * d["b"]["c"][1] + same["a"]

        def lists(x):
            parts = [x]
            if x > 1:
                parts.append(x * x)
            else:
                parts.append(7)
            return parts[0] + parts[1]

        def tuples(x):
            p, q = (x, 1), Point(x, 2)
            if x > 0:
                p, q = (5, x), Point(1, q.x)
            return p[0] * 2 + p[1] + q.x * q.y

        def classes(x):
            pair = Pair(x, 1)
            if x > 2:
                pair = Pair(1, x)
            return pair.a - pair.b
        for f in (dicts, lists, tuples, classes):
            self.same(f)

    def test_structures_are_results(self):
        def f(x):
            if x > 0:
                return {"a": x, "b": (1.5, 7 // x)}
            return {"a": 0, "b": (-1.0, 3)}
        self.assertEqual(list(ps.range(3).map(f)), [{"a": 0, "b": (-1.0, 3)}, {"a": 1, "b": (1.5, 7)}, {"a": 2, "b": (1.5, 3)}])

    def test_only_the_side_that_is_taken_is_computed(self):
        def f(x):
            if x != 0:
                y = 6 // x
                return y * y + y
            return 0
        self.same(f)
        self.assertIn("if x != 0 then", str(ps.range(3).map(f)))

    def test_tensors(self):
        rows = [[1.0, -2.0], [3.0, 4.0], [-1.0, -1.0]]

        def f(x):
            if x[0] > 0 and np.sum(x) > 0:
                x = x * 2
            return x if x[1] > 0 else np.abs(x)
        self.same(f, rows, np.array(rows, np.float32))

    def test_texts(self):
        out = ps.from_tensor_slices(["a", "bb", "c"]).map(lambda s: s if s == "bb" or s in ("a", "x") else "none")
        self.assertEqual(list(out), [b"a", b"bb", b"none"])


class Loops(Both):
    def test_for(self):
        def sums(x):
            total = 0
            for i in range(x):
                total += i * x
            return total

        def steps(x):
            out = 0
            for i in range(10, x, -3):
                out = out * 10 + i
            return out

        def nested(x):
            n = 0
            for i in range(x):
                for k in range(i):
                    if k % 2 == 0:
                        n += k * i
            return n

        def unrolled(x):
            for i in range(3):
                for k in (1, 2):
                    if x > i:
                        x = x - k
            return x

        def several(x):
            a, b = 0, 1
            for _ in range(abs(x) % 9):
                a, b = b, a + b
            return a

        def no_state(x):
            for i in range(x):
                i + 1
            return x
        def backwards(x):
            out = 0
            for i in reversed(range(x)):
                out = out * 10 + i
            for i, k in reversed(tuple(enumerate(range(3)))):
                out = out * 3 + i * k
            return out

        def together(x):
            out = 0
            for i, (a, b) in enumerate(zip(range(x), range(10)), start=2):
                out += i * a + b
            return out
        for f in (sums, steps, nested, unrolled, several, no_state, backwards, together):
            self.same(f)

    def test_break_continue_else_return(self):
        def ends(x):
            total = 0
            for i in range(x):
                if i == 3:
                    break
                if i == 1:
                    continue
                total += i + x
            else:
                total += 1000
            return total

        def found(x):
            for i in range(x):
                y = i * 2
                if i * i > x:
                    return i + y
            return -1

        def found_in_python(x):
            for i in range(5):
                if i * i > x:
                    return i * 10
                x = x - 1
            return -1

        def far(x):
            for i in range(1000):
                if i * i > x:
                    break
                x = x + 1
            return x

        def of_two(x):
            for i in range(3):
                for k in range(x):
                    if i * k > 6:
                        return i * 100 + k
                    if k > 5:
                        break
            return x
        for f in (ends, found, found_in_python, far, of_two):
            self.same(f)

    def test_while(self):
        def halved(x):
            n = 0
            while x > 0:
                x = x // 2
                n += 1
            return n

        def forever(x):
            while True:
                x = x + 3
                if x > 10:
                    break
            return x

        def two_ends(x):
            n = 0
            while x > 0 and n < 3:
                x, n = x - 1, n + 1
            else:
                n += 10
            return x * 100 + n

        def returns(x):
            while True:
                x = x + 1
                if x % 5 == 0:
                    return x * 2

        def of_python(x):
            n = 3
            while n:
                n -= 1
                x = x + n
            return x
        for f in (halved, forever, two_ends, returns, of_python):
            self.same(f)

    def test_over_tensors(self):
        rows = np.array([[1.0, -2.0, 3.0], [3.0, 4.0, 9.5], [-1.0, -1.0, 0.0]], np.float32)

        def sums(x):
            total = 0
            for v in x:
                total = total + v * v
            return total

        def first_large(x):
            for i, v in enumerate(x):
                if v > 2:
                    return v * 10 + np.float32(0) if i is None else v * 10
            return -1.0

        def pairs(x):
            out = 0.0
            for a, b in zip(x, x[1:]):
                out = out + a * b
            return out

        def largest(x):
            best = x[0]
            for v in x[1:]:
                if v > best:
                    best = v
            return best

        def counted(x):
            n = 0
            for i in range(len(x)):
                if x[i] < 0:
                    n += i
            return n
        for f in (sums, first_large, pairs, largest, counted, lambda x: len(x), lambda x: [v * 2 for v in x],
                  lambda x: sum(v * v for v in x), lambda x: max(x) - min(x), lambda x: [a + float(i) for i, a in enumerate(x)],
                  lambda x: any(v > 3 for v in x), lambda x: all(x > -2), lambda x: sum([v for v in (x[0], x[1]) if True]),
                  lambda x: x[1] in x, lambda x: 3.0 in x, lambda x: sorted(x), lambda x: x[::-1] if sum(x) > 3 else x):
            self.same(f, rows)

    def test_items_of_a_matrix(self):
        def f(x):
            out = np.zeros_like(x[0])
            for row in x:
                out = out + row
            return out
        x = np.arange(12).reshape(2, 3, 2)
        self.same(f, x)

    def test_a_range_of_the_package(self):
        def f(x):
            total = 0
            for i in ps.range(x):
                if i % 2 == 0:
                    total += i
            return total
        self.assertEqual(list(ps.range(6).map(f)), [0, 0, 0, 2, 2, 6])

    def test_literals_take_the_dtype_of_the_loop(self):
        def f(x):
            total, n = 0, 0
            for v in x:
                total += v
                n += 1
            return total, n
        for dtype in (np.float32, np.float64, np.int16, np.uint8):
            total, n = next(iter(ps.from_tensor_slices(np.ones((1, 3), dtype)).map(f)))
            self.assertEqual((total, total.dtype, n, n.dtype), (3, dtype, 3, np.int64))

    def test_a_loop_without_end_is_an_error_of_its_element(self):
        def f(x):
            while x > 0:
                x = x + 1
                if x > 5:
                    x = 3
            return x
        from penstock import _loops
        self.addCleanup(setattr, _loops, "MOST_ROUNDS", _loops.MOST_ROUNDS)
        _loops.MOST_ROUNDS = 100
        it = iter(ps.range(2).map(f))
        self.assertEqual(next(it), 0)
        with self.assertRaisesRegex(ps.InvalidArgument, "still holds after 100 rounds"):
            next(it)


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
        for seed in range(SEED, SEED + 60):
            f, text = random_function(seed)
            with self.subTest(seed=seed, text=text):
                self.assertEqual(list(ps.from_tensor_slices(NUMBERS).map(f)), [f(x) for x in NUMBERS])


class Refused(unittest.TestCase):
    def check(self, f, *said, line=0, source=None):
        with self.assertRaises(ps.TraceError) as caught:
            (source or ps.range(3)).map(f)
        for words in (__file__, *said):
            self.assertIn(words, str(caught.exception))
        self.assertEqual(caught.exception.line, f.__code__.co_firstlineno + line)

    def test_one_side_only(self):
        def f(x):
            if x > 0:
                y = x
            return x + y
        self.check(f, "the variable `y` is assigned on one side of an `if` only: assign `y` before it", "return x + y", line=3)

    def test_one_way_gives_nothing(self):
        def f(x):
            if x > 0:
                return x
        self.check(f, "one side of an `if` gives a value of the pipeline, the other None", "on each way", line=1)

    def test_structures_that_differ(self):
        def f(x):
            y = {"a": x}
            if x > 0:
                y = {"b": x}
            return y["a"]
        self.check(f, "`y` is a dict with 'b' after one side of an `if` and a dict with 'a' after the other", line=2)

    def test_dtypes_that_differ(self):
        self.check(lambda x: x if x > 0 else "none", "the sides of `if` differ: int64 and bytes", "lambda x: x if x > 0")

        def f(x):
            y = x
            if x > 0:
                y = ps.float32(x)
            return y
        self.check(f, "the sides of `if` differ: float32 and int64", "if x > 0:", line=2)

    def test_conditions(self):
        self.check(lambda x: 1 if x else 2, "the condition of `if` is bool[2], expected a scalar bool",
                   source=ps.from_tensor_slices([[1, 2]]))
        self.check(lambda x: x and x + 1, "expected bool")

    def test_states_of_loops(self):
        def none(x):
            best = None
            for i in range(x):
                best = i
            return best
        self.check(none, "`best` is None before a round of the loop and a value of the pipeline after it", line=2)

        def grows(x):
            out = []
            for i in range(x):
                out.append(i)
            return out
        self.check(grows, "`out` is a list of 0 before a round", "write a comprehension", line=2)

        def dtype(x):
            y = x
            for i in range(x):
                y = ps.float32(y)
            return y
        self.check(dtype, "the state is (int64,), the function gives (float32,)", "for i in range(x):", line=2)

        def only_inside(x):
            for i in range(x):
                y = i
            return y
        self.check(only_inside, "the variable `y` is assigned in a loop only", line=3)

    def test_values_that_leave_a_block(self):
        kept, holder = [], type("Holder", (), {})()

        def appends(x):
            if x > 0:
                kept.append(x * 2)
            return x
        self.check(appends, "`kept` is a list of 1 after one side of an `if` and a list of 0 after the other", line=1)

        def sets(x):
            if x > 0:
                holder.value = x * 2
            return x + holder.value
        self.check(sets, "a value that a side of an `if` computes is used outside of it", "assign it to a variable", line=3)

    def test_asserts(self):
        def f(x):
            assert x > 0, "positive"
            return x
        self.check(f, "an `assert` of a value", "write x = ps.assert_(condition, x", line=1)

    def test_a_return_inside_with(self):
        def f(x):
            with unittest.mock.patch("os.sep", "/"):
                if x > 0:
                    return 1
            return 0
        import unittest.mock  # noqa: F401
        self.check(f, "Python asks whether a value is true", "ps.cond(x > 0, a, b)", line=2)

    def test_comprehensions(self):
        self.check(lambda x: [v for v in x if v > 0], "the number of its items", "ps.boolean_mask", source=ps.from_tensor_slices([[1, 2]]))
        self.check(lambda x: [v for v in (1, 2) if x > v], "the `if` of a comprehension", "ps.where")

    def test_parts_of_an_element(self):
        def f(x):
            total = 0
            for part in x:
                total += part
            return total
        self.check(f, "is a tuple of 2", "for part in x:", source=ps.zip(ps.range(2), ps.range(2)), line=2)

    def test_values_cannot_be_changed(self):
        def f(x):
            x["a"] = 1
            return x
        self.check(f, "cannot be changed", "ps.tensor_scatter_update", line=1)

    def test_without_source(self):
        names = {}
        exec("f = lambda x: 1 if x > 0 else 2", names)
        with self.assertRaisesRegex(ps.TraceError, "write ps.where"):
            ps.range(3).map(names["f"])

    def test_globals(self):
        def f(x):
            global FACTOR
            if x > 0:
                FACTOR = x
            return x
        self.check(f, "Python asks whether a value is true", line=2)

    def test_generators_and_walrus(self):
        def f(x):
            while (y := x - 1) > 0:
                x = y
            return x
        self.check(f, "Python asks whether a value is true", line=1)


def _expression(node):
    import ast
    return ast.fix_missing_locations(ast.Expression(node))


if __name__ == "__main__":
    unittest.main()
