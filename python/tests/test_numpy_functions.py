"""NumPy's functions over values of a pipeline: each gives what NumPy gives, run on the same arrays; the others are refused."""
import subprocess
import sys
import unittest

import numpy as np

import penstock as ps

SEED = int(np.random.SeedSequence().generate_state(1)[0])

FLOATS = (  # of a matrix
    lambda x: np.where(x > 0, x, -x), lambda x: np.where(x > 0, 1, 0), lambda x: np.stack([x, x + 1]),
    lambda x: np.stack([x, -x], axis=1), lambda x: np.stack([x, -x], axis=-1), lambda x: np.concatenate([x, x * 2], axis=1),
    lambda x: np.concatenate((x, x), axis=None), lambda x: np.append(x, x), lambda x: np.append(x, x, axis=0),
    np.sum, lambda x: np.sum(x, axis=(0, 1), keepdims=True), lambda x: np.sum(x, 1), lambda x: np.sum(x, axis=1, dtype=np.float64),
    np.mean, lambda x: np.mean(x, axis=0), lambda x: np.mean(x, axis=-1, keepdims=True), np.prod, lambda x: np.prod(x, axis=0),
    np.max, lambda x: np.max(x, 1), lambda x: np.amax(x, axis=0), lambda x: np.min(x, axis=0, keepdims=True), np.amin,
    np.std, lambda x: np.std(x, axis=1), lambda x: np.std(x, axis=1, ddof=1, keepdims=True), np.var,
    lambda x: np.var(x, axis=0, ddof=1), lambda x: np.var(x, ddof=1),
    lambda x: np.any(x > 1), lambda x: np.any(x > 1, axis=0), lambda x: np.all(x > -1, axis=1, keepdims=True),
    np.argmax, np.argmin, lambda x: np.argmax(x, axis=1), lambda x: np.argmin(x, axis=0), lambda x: np.argmax(x, axis=1, keepdims=True),
    lambda x: np.clip(x, -1, 1), lambda x: np.clip(x, None, 1), lambda x: np.clip(x, a_min=0, a_max=None),
    lambda x: np.reshape(x, (2, -1)), lambda x: np.reshape(x, -1), np.ravel, np.transpose, lambda x: np.transpose(x, (1, 0)),
    lambda x: np.expand_dims(x, 1), lambda x: np.expand_dims(x, (0, -1)), lambda x: np.squeeze(x[None]),
    lambda x: np.squeeze(x[None, :, None], axis=(0, 2)), lambda x: np.squeeze(x[None], axis=0),
    lambda x: np.pad(x, ((1, 0), (0, 2))), lambda x: np.pad(x, ((1, 0), (0, 2)), constant_values=7),
    lambda x: np.pad(x, [(1, 0), (0, 2)], mode="reflect"), lambda x: np.pad(x, ((1, 1), (2, 2)), "symmetric"),
    lambda x: np.dot(x, np.transpose(x)), lambda x: np.matmul(x, np.transpose(x)), lambda x: x @ np.transpose(x),
    lambda x: np.tensordot(x, x, axes=2), lambda x: np.tensordot(x, x, axes=((0, 1), (0, 1))), lambda x: np.inner(x[0], x[1]),
    lambda x: np.outer(x[0], x[1]), lambda x: np.dot(x[0], x[1]), lambda x: np.dot(x, x[0]),
    np.zeros_like, np.ones_like, lambda x: np.ones_like(x, dtype=np.int32), np.flip, lambda x: np.flip(x, 0),
    lambda x: np.flip(x, axis=(0, 1)), np.fliplr, np.flipud, lambda x: np.tile(x, (2, 1)), lambda x: np.tile(x[0], 2),
    np.sort, lambda x: np.sort(x, axis=0), lambda x: np.sort(x, axis=None), np.argsort, lambda x: np.argsort(x, axis=0, kind="stable"),
    np.cumsum, lambda x: np.cumsum(x, axis=1), lambda x: np.cumprod(x, axis=0), lambda x: np.repeat(x, 2),
    lambda x: np.repeat(x, 2, axis=1), lambda x: np.roll(x, 1), lambda x: np.roll(x, 1, axis=1), lambda x: np.roll(x, (1, 2), axis=(0, 1)),
    lambda x: np.take(x, [0, 2], axis=1), lambda x: np.take(x, [3, 1]), lambda x: np.searchsorted(np.sort(x[0]), x[1]),
    lambda x: np.searchsorted(np.array([-1, 0, 1], np.float32), x[0], side="right"), lambda x: np.unique(np.round(x)),
    np.round, lambda x: np.round(x, 1), lambda x: np.around(x, decimals=2), np.diff, lambda x: np.diff(x, axis=0), lambda x: np.diff(x, n=2),
    lambda x: np.count_nonzero(x > 0), lambda x: np.count_nonzero(x, axis=0), lambda x: np.broadcast_to(x, (2, 3, 4)),
    np.shape, np.size, lambda x: np.size(x, 1), np.ndim, np.linalg.norm, lambda x: np.linalg.norm(x, axis=1),
    lambda x: np.linalg.norm(x, ord=1, axis=0), lambda x: np.linalg.norm(x, axis=1, keepdims=True), lambda x: np.linalg.norm(x, "fro"),
    lambda x: np.sqrt(np.abs(x)), np.exp, np.expm1, lambda x: np.log(np.square(x) + 1), lambda x: np.log1p(np.fabs(x)), np.sin, np.cos,
    np.tanh, np.arctan, lambda x: np.arctan2(x, 2), lambda x: np.arcsin(np.clip(x, -1, 1)), np.sign, np.floor, np.ceil, np.rint,
    np.negative, np.positive, lambda x: np.maximum(x, 0), lambda x: np.minimum(0, x), lambda x: np.power(np.abs(x), 2),
    lambda x: np.true_divide(x, 2), lambda x: np.floor_divide(x, 2), lambda x: np.mod(x, 2), lambda x: np.fmod(x, 2),
    lambda x: np.isnan(np.where(x > 0, np.nan, x)), lambda x: np.isfinite(x / np.zeros_like(x)), np.isinf,
    lambda x: np.logical_and(x > 0, x < 1), lambda x: np.logical_or(x > 1, x < 0), lambda x: np.logical_xor(x > 1, x > 0),
    lambda x: np.logical_not(x > 0), lambda x: np.less(x, 0), lambda x: np.equal(x, x), lambda x: np.greater_equal(x, 0),
    np.add.reduce, lambda x: np.add.reduce(x, axis=None), lambda x: np.maximum.reduce(x, axis=1, keepdims=True),
    lambda x: np.minimum.reduce(x, 1), lambda x: np.multiply.reduce(x), lambda x: np.logical_or.reduce(x > 0),
    lambda x: np.add.accumulate(x, axis=1), lambda x: np.add(x, 1, dtype=np.float64), lambda x: np.array([1, 2, 3, 4], np.float32) * x)
INTEGERS = (  # of a matrix; dtypes of NumPy's results hold
    np.sum, np.mean, lambda x: np.mean(x, axis=1), np.std, np.var, np.max, lambda x: np.cumsum(x, axis=0), np.argmax, np.count_nonzero,
    lambda x: np.bincount(np.abs(x[0]), minlength=20), lambda x: np.mod(x, 3), lambda x: np.power(x, 2), lambda x: np.left_shift(x, 1),
    lambda x: np.right_shift(x, 1), np.unique, lambda x: np.sort(x, axis=1), lambda x: np.clip(x, -2, 2), np.abs, np.sign,
    lambda x: np.where(x > 0, x, 0), lambda x: np.mean(x, dtype=np.float32), lambda x: np.linalg.norm(np.true_divide(x, 1)))


class Functions(unittest.TestCase):
    def check(self, functions, arrays, same_dtype):
        for i, f in enumerate(functions):
            with self.subTest(number=i, names=getattr(getattr(f, "__code__", None), "co_names", f), seed=SEED):
                for x in arrays:
                    with np.errstate(all="ignore"):
                        wanted = np.asarray(f(x))
                    [out] = ps.from_tensor_slices(x[None]).map(f)
                    out = np.asarray(out)
                    self.assertEqual(out.shape, wanted.shape)
                    np.testing.assert_allclose(out, wanted, rtol=1e-5, atol=1e-5)
                    if same_dtype:
                        self.assertEqual(out.dtype, wanted.dtype)

    def test_floats(self):
        draw = np.random.default_rng(SEED)
        self.check(FLOATS, [draw.normal(size=(3, 4)).astype(np.float32) for _ in range(3)], False)

    def test_integers(self):
        draw = np.random.default_rng(SEED)
        self.check(INTEGERS, [draw.integers(-9, 10, size=(3, 4)) for _ in range(3)], True)

    def test_what_is_no_value_stays_numpys(self):
        self.assertEqual(list(ps.range(2).map(lambda x: x + np.sum(np.arange(4)))), [6, 7])


class Refused(unittest.TestCase):
    def check(self, f, *said):
        with self.assertRaises(ps.TraceError) as caught:
            ps.from_tensor_slices([[1.0, 2.0]]).map(f)
        for words in (__file__, *said):
            self.assertIn(words, str(caught.exception))
        self.assertEqual(caught.exception.line, f.__code__.co_firstlineno)

    def test_functions(self):
        self.check(lambda x: np.hypot(x, x), "numpy.hypot", "write ps.sqrt(x * x + y * y) instead")
        self.check(lambda x: np.median(x), "numpy.median", "docs/functions.md")
        self.check(lambda x: np.histogram(x), "numpy.histogram", "ps.histogram")
        self.check(lambda x: np.nonzero(x), "numpy.nonzero", "ps.nonzero(x)")
        self.check(lambda x: np.linalg.inv(x), "numpy.linalg.inv", "ps functions")
        self.check(lambda x: np.linalg.norm(x, 3), "ord=3", "ps.norm")
        self.check(lambda x: np.fft.rfft(x), "numpy.fft.rfft", "ps.rfft")
        self.check(lambda x: np.where(x > 0), "condition alone", "ps.nonzero(condition)")

    def test_arguments(self):
        self.check(lambda x: np.mean(x, where=x > 0), "'where'", "leave them out, or use ps.mean")
        self.check(lambda x: np.sum(x, out=x), "out=", "leave it out")
        self.check(lambda x: np.sort(x, order="a"), "order=")
        self.check(lambda x: np.pad(x, 1), "one width for all axes", "give the widths of each axis")
        self.check(lambda x: np.reshape(x, (2, 1), order="F"), "another order", "transpose")
        self.check(lambda x: np.add(x, x, where=True), "where", "leave it out")
        self.check(lambda x: np.argmax(x, keepdims=True), "needs an axis")

    def test_methods_of_ufuncs(self):
        self.check(lambda x: np.add.outer(x, x), "numpy.add.outer", "x[:, None]")
        self.check(lambda x: np.add.at(x, 0, 1), "numpy.add.at", "ps.scatter_nd")

    def test_arrays_of_values(self):
        self.check(lambda x: np.array(x), "NumPy asks for an array", "ps.stack")
        self.check(lambda x: np.arange(x), "NumPy asks", "ps.arange(n)")

    def test_dot_of_more_axes(self):
        [out] = ps.from_tensor_slices(np.ones((1, 2, 2, 2), np.float32)).map(lambda x: np.dot(x[0], x[0]))
        np.testing.assert_array_equal(out, np.full((2, 2), 2))
        with self.assertRaisesRegex(ps.InvalidArgument, "use matmul"):
            list(ps.from_tensor_slices(np.ones((1, 2, 2, 2), np.float32)).map(lambda x: np.dot(x, x)))


class Import(unittest.TestCase):
    def test_numpy_is_not_loaded(self):
        code = ("import sys, penstock as ps; ps.range(3).map(lambda x: ps.sqrt(ps.float32(x)) if x > 1 else 0.0); "
                "print('numpy' in sys.modules)")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertIn("TraceError", done.stderr)  # there is no source of -c
        code = code.replace(" if x > 1 else 0.0", "")
        self.assertEqual(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout, "False\n")


if __name__ == "__main__":
    unittest.main()
