"""Functions that cannot be converted: the error shows the line, and says what to write."""
import unittest

import penstock as ps

FACTOR = 3


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


if __name__ == "__main__":
    unittest.main()
