"""Functions of ordinary Python, run by Python and as functions of a pipeline."""
import unittest

import numpy as np

import penstock as ps

NUMBERS = [-7, -2, -1, 0, 1, 2, 3, 4, 5, 9, 12]


class Both(unittest.TestCase):
    def same(self, f, inputs=NUMBERS, over=None):
        """f of each input, by Python and by the pipeline; over: what Python gives f instead."""
        with self.subTest(line=f.__code__.co_firstlineno if hasattr(f, "__code__") else f):
            wanted = [f(x) for x in (inputs if over is None else over)]
            out = list(ps.from_tensor_slices(inputs).map(f))
            for a, b in zip(out, wanted):
                np.testing.assert_allclose(np.asarray(a, float), np.asarray(b, float), rtol=1e-5)
            self.assertEqual(len(out), len(wanted))
