"""Assertions about datasets, as TensorFlow's own tests of tf.data make them."""
import unittest

import numpy as np

from penstock.compat import tf_data as tf


def evaluate(x):
    """NumPy's values of an element: ragged tensors as nested lists, sparse ones as (indices, values, shape)."""
    if x is None:
        return None
    if isinstance(x, dict):
        return {k: evaluate(v) for k, v in x.items()}
    if isinstance(x, tf.SparseTensor):
        return x.indices.numpy().tolist(), x.values.numpy().tolist(), x.dense_shape.numpy().tolist()
    if isinstance(x, tf.RaggedTensor):
        return x.to_list()
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*map(evaluate, x))
    if isinstance(x, (tuple, list)):
        return type(x)(map(evaluate, x))
    if isinstance(x, tf.data.Dataset):
        return [evaluate(v) for v in x]
    return x.numpy() if hasattr(x, "numpy") else x


class DatasetTestCase(unittest.TestCase):
    def assertAllEqual(self, expected, got):
        if isinstance(expected, dict):
            self.assertEqual(sorted(expected), sorted(got))
            for k in expected:
                self.assertAllEqual(expected[k], got[k])
        elif isinstance(expected, tuple):
            self.assertIs(type(expected), type(got), f"{expected!r} {got!r}")
            self.assertEqual(len(expected), len(got))
            for a, b in zip(expected, got):
                self.assertAllEqual(a, b)
        else:
            a, b = np.asarray(expected), np.asarray(got)
            self.assertEqual(a.shape, b.shape, f"{expected!r} {got!r}")
            np.testing.assert_array_equal(a, b)

    def getNext(self, dataset):
        return iter(dataset).get_next

    def assertDatasetProduces(self, dataset, expected_output=None, expected_error=None, expected_error_iter=1,
                              assert_items_equal=False, num_test_iterations=1):
        if expected_error is not None:
            get_next = self.getNext(dataset)
            with self.assertRaisesRegex(*expected_error):
                for _ in range(expected_error_iter):
                    get_next()
            return
        for _ in range(num_test_iterations):
            get_next, result = self.getNext(dataset), []
            for _ in expected_output:
                result.append(evaluate(get_next()))
            if assert_items_equal:
                self.assertCountEqual(result, expected_output)
            else:
                for expected, got in zip(expected_output, result):
                    self.assertAllEqual(expected, got)
            for _ in range(2):
                with self.assertRaises(tf.errors.OutOfRangeError):
                    get_next()

    def assertSpec(self, dataset, spec):
        self.assertEqual(dataset.element_spec, spec)
