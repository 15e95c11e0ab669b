"""penstock.compat.tf_data: datasets in datasets, in the way of TensorFlow's own tests."""
import collections
import unittest

import numpy as np
from tf_data_case import DatasetTestCase

from penstock.compat import tf_data as tf

Dataset = tf.data.Dataset
Pair = collections.namedtuple("Pair", ["label", "image"])


class NestedDatasets(DatasetTestCase):
    def test_flat_map(self):
        ds = Dataset.from_tensor_slices([1, 2, 3, 4, 5]).flat_map(
            lambda x: Dataset.from_tensors([x]).repeat(tf.cast(x, tf.int64)))
        self.assertDatasetProduces(ds, [[i] for i in range(1, 6) for _ in range(i)])
        nested = Dataset.from_tensor_slices(np.reshape(np.arange(4), (2, 2))).flat_map(
            lambda row: Dataset.from_tensor_slices(row).flat_map(lambda x: Dataset.range(x)))
        self.assertDatasetProduces(nested, [0, 0, 1, 0, 1, 2])
        whole = Dataset.range(3)
        self.assertDatasetProduces(Dataset.range(2).flat_map(lambda _: whole.batch(2)), [[0, 1], [2]] * 2)

    def test_functions_see_outer_elements(self):
        ds = Dataset.range(3).flat_map(lambda x: Dataset.range(x).map(lambda y: (x, y)).filter(lambda a, b: b < 1))
        self.assertDatasetProduces(ds, [(1, 0), (2, 0)])
        ds = Dataset.range(1, 3).map(lambda x: {"n": x}).flat_map(
            lambda e: Dataset.range(2).map(lambda i: Pair(i, e["n"])).map(lambda p: p._replace(label=p.label + p.image)))
        self.assertDatasetProduces(ds, [Pair(1, 1), Pair(2, 1), Pair(2, 2), Pair(3, 2)])

    def test_windows(self):
        ds = Dataset.range(7).window(3, shift=2, drop_remainder=True).flat_map(lambda w: w.batch(3))
        self.assertDatasetProduces(ds, [[0, 1, 2], [2, 3, 4], [4, 5, 6]])
        ds = Dataset.from_tensor_slices({"a": [1, 2, 3], "b": [4, 5, 6]}).window(2)
        self.assertEqual([{k: [int(x) for x in v] for k, v in w.items()} for w in ds],
                         [{"a": [1, 2], "b": [4, 5]}, {"a": [3], "b": [6]}])
        zipped = ds.flat_map(lambda w: Dataset.zip((w["a"].batch(2), w["b"].batch(2))))
        self.assertDatasetProduces(zipped, [([1, 2], [4, 5]), ([3], [6])])
        sums = Dataset.range(6).window(2).map(lambda w: w.reduce(tf.constant(0, tf.int64), lambda s, x: s + x))
        self.assertDatasetProduces(sums, [1, 5, 9])
        pairs = Dataset.from_tensor_slices(([1, 2, 3], [4, 5, 6])).window(2).flat_map(
            lambda a, b: Dataset.zip(a, b)).map(lambda x, y: x * y)
        self.assertDatasetProduces(pairs, [4, 10, 18])

    def test_lists_of_datasets(self):
        several = [Dataset.range(2).map(lambda x: {"x": x}) for _ in range(2)]
        expected = [{"x": 0}, {"x": 1}] * 2
        self.assertDatasetProduces(Dataset.from_tensor_slices(several).flat_map(lambda d: d), expected)
        self.assertDatasetProduces(Dataset.from_tensors(several).unbatch().flat_map(lambda d: d), expected)
        ds = Dataset.from_tensors(several).flat_map(Dataset.from_tensor_slices)
        self.assertDatasetProduces(ds.flat_map(lambda d: d), expected)

    def test_datasets_of_datasets(self):
        ds = Dataset.from_tensors([1.0, 2.0, 3.0]).map(Dataset.from_tensor_slices).map(lambda d: d.batch(3)).flat_map(
            lambda x: x)
        self.assertDatasetProduces(ds, [[1.0, 2.0, 3.0]])
        ds = Dataset.range(10).map(lambda i: Dataset.from_tensors(i)).batch(5).map(lambda x: x).unbatch().flat_map(
            lambda x: x)
        self.assertDatasetProduces(ds, list(range(10)))
        self.assertSpec(Dataset.range(2).window(2), tf.data.DatasetSpec(tf.TensorSpec([], tf.int64)))


if __name__ == "__main__":
    unittest.main()
