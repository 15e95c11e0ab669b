"""for and while of Python over values of a pipeline."""
import unittest

import numpy as np
from autograph_case import Both

import penstock as ps


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


if __name__ == "__main__":
    unittest.main()
