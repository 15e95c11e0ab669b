"""Functions of Python, traced once: operators, indexing, structures, and what cannot be traced."""
import collections
import dataclasses
import unittest

import numpy as np

import penstock as ps


def first(f, *items):
    """What map(f) makes of one element."""
    [out] = ps.from_tensors(items[0] if len(items) == 1 else items).map(f)
    return out


class Operators(unittest.TestCase):
    def test_arithmetic(self):
        x = [7.0, -3.0]
        for f in (lambda x: x + 1, lambda x: 1 + x, lambda x: x - 2, lambda x: 2 - x, lambda x: x * 3, lambda x: 3 * x,
                  lambda x: x / 2, lambda x: 2 / x, lambda x: x // 2, lambda x: x % 4, lambda x: x ** 2, lambda x: -x,
                  lambda x: +x, abs):
            np.testing.assert_array_equal(first(f, x), f(np.array(x, np.float32)))

    def test_comparisons(self):
        x = [1, 2, 3]
        for f in (lambda x: x < 2, lambda x: x <= 2, lambda x: x > 2, lambda x: x >= 2, lambda x: x == 2, lambda x: x != 2,
                  lambda x: 2 < x, lambda x: (x > 1) & (x < 3), lambda x: (x < 2) | (x > 2), lambda x: ~(x == 2),
                  lambda x: (x < 3) ^ (x > 1)):
            np.testing.assert_array_equal(first(f, x), f(np.array(x)))

    def test_indices(self):
        x = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
        for f in (lambda x: x[0], lambda x: x[-1], lambda x: x[1:], lambda x: x[:, 1], lambda x: x[::-1, ::2],
                  lambda x: x[..., 0], lambda x: x[None, 1:2], lambda x: x[0, 1], lambda x: x[1:, :-1]):
            np.testing.assert_array_equal(first(f, x), f(np.array(x)))
        self.assertEqual(first(lambda x: x[x[0, 0], 1:2], x).tolist(), [5])

    def test_numpy_functions(self):
        np.testing.assert_allclose(first(lambda x: np.sqrt(x) + np.add(x, np.float32(1)), [4.0]), [7.0])
        np.testing.assert_array_equal(first(lambda x: np.array([1, 2]) + x, 1), [2, 3])
        with self.assertRaisesRegex(TypeError, "numpy.hypot"):
            ps.range(3).map(lambda x: np.hypot(x, x))

    def test_ops_by_name(self):
        self.assertEqual(first(lambda x: ps.reduce_sum(x), [1, 2]), 3)
        self.assertEqual(first(lambda x: x.sum(), [1, 2]), 3)
        self.assertEqual(first(lambda x: ps.text.upper(x), "ab"), b"AB")
        self.assertIs(ps.image.decode_jpeg, ps.decode_jpeg)
        with self.assertRaisesRegex(AttributeError, "has no attribute 'nothing'"):
            ps.range(3).map(lambda x: x.nothing())

    def test_casts_and_dtypes(self):
        self.assertEqual(first(lambda x: ps.float32(x) / 2, 1).dtype, np.float32)
        self.assertEqual(first(lambda x: ps.cast(x, np.uint8), 1).dtype, np.uint8)
        self.assertEqual(first(lambda x: ps.cast(x, np.dtype("int16")), 1).dtype, np.int16)


class Structures(unittest.TestCase):
    def test_results(self):
        Point = collections.namedtuple("Point", "x y")

        @dataclasses.dataclass
        class Pair:
            a: object
            b: object

        self.assertEqual(first(lambda x: {"a": x, "b": (x, [x, x + 1])}, 1)["b"][1].tolist(), [1, 2])
        self.assertEqual(first(lambda x: Point(x, x + 1), 1), {"x": 1, "y": 2})
        self.assertEqual(first(lambda x: Pair(x, 2 * x), 1), {"a": 1, "b": 2})
        self.assertEqual(first(lambda x: (), 1), ())

    def test_arguments(self):
        pairs = ps.zip(ps.range(3), ps.range(3, 6))
        self.assertEqual(list(pairs.map(lambda a, b: a * b)), [0, 4, 10])
        self.assertEqual(list(pairs.map(lambda p: p[0] + p[1])), [3, 5, 7])
        self.assertEqual(list(ps.range(2).map(lambda x, scale=10: x * scale)), [0, 10])
        with self.assertRaisesRegex(ValueError, "at most 4 arguments: 5"):
            pairs.map(lambda a, b, c, d, e: a)

    def test_a_function_is_called_once(self):
        calls = []
        self.assertEqual(list(ps.range(100).map(lambda x: calls.append(x) or x + 1))[-1], 100)
        self.assertEqual(len(calls), 1)

    def test_what_is_used_twice_is_computed_once(self):
        def twice(x):
            noise = ps.random_uniform([2], seed=1)
            return noise - noise
        self.assertEqual(first(twice, 1).tolist(), [0, 0])

    def test_text(self):
        self.assertEqual(list(ps.range(3).map("x -> x + 1")), [1, 2, 3])

    def test_numpy_constants(self):
        table = np.array([[1.5, 2.5], [3.5, 4.5]])
        np.testing.assert_array_equal(first(lambda i: table + i, 1.0), table + 1)
        self.assertEqual(first(lambda i: np.array([True, False])[0] | (i > 1), 2), True)
        with self.assertRaisesRegex(ValueError, "too large for a constant"):
            ps.range(1).map(lambda x: x + np.zeros(1_000_000))


class NotTraced(unittest.TestCase):
    def check(self, f, *said):
        with self.assertRaises(TypeError) as caught:
            ps.range(3).map(f)
        text = str(caught.exception)
        for words in (__file__, *said):
            self.assertIn(words, text)
        self.assertIsInstance(caught.exception, ps.Error)
        self.assertEqual(caught.exception.line, f.__code__.co_firstlineno)

    def test_what_cannot_be_traced(self):
        self.check(lambda x: range(3)[x], "ps.int64(x)", "self.check(lambda x: range(3)[x]")
        self.check(lambda x: [y for y in range(9)[x:]], "ps.int64(x)")

    def test_without_source(self):
        for text, said in (("1 if x > 0 else 2", "ps.where(x > 0, a, b)"), ("x > 0 and x", "write &, |, ~"), ("[y for y in x]", "x[0]"),
                           ("len(x)", "ps.shape(x)[0]"), ("int(x)", "ps.int64(x)"), ("3 in x", "ps.reduce_any")):
            with self.assertRaises(ps.TraceError) as caught:
                ps.range(3).map(eval(f"lambda x: {text}"))
            self.assertIn(said, str(caught.exception))

    def test_the_users_own_exception(self):
        class Mine(Exception):
            pass

        def f(x):
            raise Mine("mine")
        with self.assertRaisesRegex(Mine, "mine"):
            ps.range(3).map(f)
        self.assertEqual(list(ps.range(1)), [0])  # nothing is left of the function that failed

    def test_a_value_that_leaves_its_function(self):
        kept = []
        ps.range(3).map(lambda x: kept.append(x) or x)
        with self.assertRaisesRegex(ValueError, "used outside of it"):
            ps.range(3).map(lambda y: y + kept[0])

    def test_other_objects(self):
        with self.assertRaisesRegex(ValueError, "a object cannot be a part of a pipeline"):
            ps.range(3).map(lambda x: object())


if __name__ == "__main__":
    unittest.main()
