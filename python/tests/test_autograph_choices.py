"""if, conditional expressions, and, or and not of Python over values of a pipeline."""
import collections
import dataclasses
import unittest

import numpy as np
from autograph_case import Both

import penstock as ps

FACTOR = 3


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


if __name__ == "__main__":
    unittest.main()
