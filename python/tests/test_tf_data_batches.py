"""penstock.compat.tf_data: batches, windows and groups, in the way of TensorFlow's own tests."""
import itertools
import unittest

import numpy as np
from tf_data_case import DatasetTestCase, evaluate

from penstock.compat import tf_data as tf

Dataset = tf.data.Dataset


def lists(ds):
    return [np.asarray(x).tolist() for x in ds]


class Batch(DatasetTestCase):
    def test_basic(self):
        components = (np.arange(7), np.array([[1, 2, 3]]) * np.arange(7)[:, np.newaxis], np.array(37.0) * np.arange(7))
        for count, size, drop, parallel in itertools.product([0, 28], [14, 15], [True, False], [None, 1, 2]):
            ds = Dataset.from_tensor_slices(components).map(lambda x, y, z: (tf.square(x), tf.square(y), tf.square(z)))
            ds = ds.repeat(count).batch(size, drop, parallel)
            self.assertEqual([s.shape.as_list() for s in ds.element_spec],
                             [[size if drop else None, *c.shape[1:]] for c in components])
            n, expected = count * 7, []
            for at in range(0, n, size):
                rows = [i % 7 for i in range(at, min(at + size, n))]
                if len(rows) == size or not drop:
                    expected.append(tuple(c[rows] ** 2 for c in components))
            self.assertDatasetProduces(ds, expected)
        with self.assertRaises((tf.errors.InvalidArgumentError, ValueError)):
            list(Dataset.range(10).batch(0))
        self.assertDatasetProduces(Dataset.range(5).batch(tf.constant(5, tf.int64), name="batch"), [list(range(5))])

    def test_shapes_that_differ(self):
        def generator():
            yield [1.0, 2.0, 3.0]
            yield [7.0, 8.0, 9.0, 10.0]
        ds = Dataset.from_generator(generator, tf.float32, output_shapes=[None]).batch(3)
        with self.assertRaises(tf.errors.InvalidArgumentError):
            list(ds)

    def test_sparse(self):
        def sparse(i):
            return tf.sparse.SparseTensor(indices=[[0]], values=(i * [1]), dense_shape=[1])
        got = [evaluate(x) for x in Dataset.range(10).map(sparse).batch(5)]
        self.assertEqual(got, [([[0, 0], [1, 0], [2, 0], [3, 0], [4, 0]], [i * 5 + j for j in range(5)], [5, 1])
                               for i in range(2)])
        [nested] = Dataset.range(10).map(sparse).batch(5).batch(2)
        self.assertEqual(nested.dense_shape.numpy().tolist(), [2, 5, 1])

        def growing(i):
            return tf.sparse.SparseTensor(indices=tf.expand_dims(tf.range(i, dtype=tf.int64), 1),
                                          values=tf.fill([tf.cast(i, tf.int32)], i), dense_shape=[i])
        got = [evaluate(x) for x in Dataset.range(10).map(growing).batch(5)]
        self.assertEqual(got[1], ([[j, k] for j in range(5) for k in range(5 + j)],
                                  [5 + j for j in range(5) for _ in range(5 + j)], [5, 9]))

    def test_ragged(self):
        def ragged(i):
            return tf.RaggedTensor.from_tensor(i * [[1]])
        got = [evaluate(x) for x in Dataset.range(10).map(ragged).batch(5)]
        self.assertEqual(got, [[[[i * 5 + j]] for j in range(5)] for i in range(2)])
        rows = Dataset.range(4).map(tf.ragged.range).batch(2)
        self.assertEqual([evaluate(x) for x in rows], [[[[]], [[0]]], [[[0, 1]], [[0, 1, 2]]]])
        rows = Dataset.range(1, 4).map(lambda n: {"a": tf.fill([n], n), "b": n}).ragged_batch(3)
        [x] = rows
        self.assertEqual((evaluate(x["a"]), x["b"].numpy().tolist()), ([[1], [2, 2], [3, 3, 3]], [1, 2, 3]))
        self.assertEqual(rows.element_spec["a"], tf.RaggedTensorSpec([None, None], tf.int64, 1))
        deep = Dataset.range(1, 3).map(lambda x: tf.fill([2, x, 3, 2 * x, 4], x)).ragged_batch(2)
        self.assertEqual((deep.element_spec.shape.as_list(), deep.element_spec.ragged_rank), ([None, 2, None, 3, None, 4], 4))
        values = [[[i] * (i % 3) for i in range(j)] * (j % 3) for j in range(4)]
        nested = Dataset.from_tensor_slices(tf.ragged.constant(values)).ragged_batch(2)
        self.assertEqual([evaluate(x) for x in nested], [values[:2], values[2:]])

    def test_sparse_batch(self):
        ds = Dataset.range(1, 4).map(lambda n: tf.fill([n], n)).sparse_batch(3, [4])
        self.assertEqual([evaluate(x) for x in ds],
                         [([[0, 0], [1, 0], [1, 1], [2, 0], [2, 1], [2, 2]], [1, 2, 2, 3, 3, 3], [3, 4])])

    def test_unbatch(self):
        ds = Dataset.range(10).batch(4).unbatch()
        self.assertDatasetProduces(ds, list(range(10)))
        data = tuple([(np.array(range(10)) * i).tolist() for i in range(3)])
        ds = Dataset.from_tensor_slices(data).batch(2).unbatch()
        self.assertDatasetProduces(ds, [(0, i, 2 * i) for i in range(10)])
        self.assertDatasetProduces(Dataset.from_tensor_slices(np.zeros([2, 0, 3])).unbatch(), [])
        with self.assertRaises((ValueError, tf.errors.InvalidArgumentError)):
            Dataset.range(3).unbatch()
        uneven = Dataset.from_tensors((np.arange(2), np.arange(3))).map(
            lambda a, b: (tf.numpy_function(lambda x: x, [a], tf.int64), tf.numpy_function(lambda x: x, [b], tf.int64)))
        with self.assertRaises(tf.errors.InvalidArgumentError):
            list(uneven.map(lambda a, b: (tf.ensure_shape(a, [None]), tf.ensure_shape(b, [None]))).unbatch())

    def test_rebatch(self):
        self.assertEqual(lists(Dataset.range(9).batch(4).rebatch(2)), [[0, 1], [2, 3], [4, 5], [6, 7], [8]])
        self.assertEqual(lists(Dataset.range(9).batch(4).rebatch(2, drop_remainder=True)), [[0, 1], [2, 3], [4, 5], [6, 7]])
        self.assertEqual(lists(Dataset.range(8).batch(4).rebatch([2, 1, 1])), [[0, 1], [2], [3], [4, 5], [6], [7]])


class PaddedBatch(DatasetTestCase):
    def setUp(self):
        self.ds = Dataset.range(1, 5).map(lambda n: tf.fill([n], n))

    def test_to_the_longest(self):
        self.assertDatasetProduces(self.ds.padded_batch(2), [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]])
        self.assertDatasetProduces(self.ds.padded_batch(3, drop_remainder=True), [[[1, 0, 0], [2, 2, 0], [3, 3, 3]]])
        for shape in ([None], [-1], tf.TensorShape([None]), (None,), np.array([-1])):
            self.assertDatasetProduces(self.ds.padded_batch(2, shape), [[[1, 0], [2, 2]], [[3, 3, 3, 0], [4, 4, 4, 4]]])
        self.assertSpec(self.ds.padded_batch(2, [5]), tf.TensorSpec([None, 5], tf.int64))

    def test_values(self):
        self.assertDatasetProduces(self.ds.take(2).padded_batch(2, [3], np.int64(-1)), [[[1, -1, -1], [2, 2, -1]]])
        self.assertDatasetProduces(self.ds.take(2).padded_batch(2, [3], tf.constant(-1, tf.int64)), [[[1, -1, -1], [2, 2, -1]]])
        pairs = self.ds.take(2).map(lambda x: (x, tf.strings.as_string(x)))
        self.assertDatasetProduces(pairs.padded_batch(2, ([None], [3]), (np.int64(-1), "end")),
                                   [([[1, -1], [2, 2]], [[b"1", b"end", b"end"], [b"2", b"2", b"end"]])])
        self.assertDatasetProduces(pairs.padded_batch(2), [([[1, 0], [2, 2]], [[b"1", b""], [b"2", b"2"]])])
        named = self.ds.take(2).map(lambda x: {"a": x, "b": x})
        self.assertDatasetProduces(named.padded_batch(2, {"a": [None], "b": [3]}, {"a": np.int64(7), "b": None}),
                                   [{"a": [[1, 7], [2, 2]], "b": [[1, 0, 0], [2, 2, 0]]}])

    def test_wrong_calls(self):
        with self.assertRaises((TypeError, ValueError)):
            self.ds.padded_batch(2, [None], "a")
        with self.assertRaises((TypeError, ValueError)):
            self.ds.padded_batch(2, ([None], [None]))
        for ds, shape, said in ((Dataset.range(3), [1], r"\(1,\) is not compatible with the shape \(\) of"),
                                (Dataset.from_tensors([1, 2, 3]), [1], r"\(1,\) is not compatible with the shape \(3,\) of"),
                                (self.ds, [[1, 1], [1, 1]], r"must be a `tf.int64` vector tensor, but its shape was \(2, 2\)")):
            with self.assertRaisesRegex(ValueError, said):
                ds.padded_batch(2, shape)
        with self.assertRaisesRegex(TypeError, "its element type was float32"):
            self.ds.padded_batch(2, tf.constant([1.5]))
        with self.assertRaisesRegex(TypeError, "not a subclass of TensorSpec"):
            Dataset.from_tensors(tf.ragged.constant([[0, 42]])).padded_batch(10)
        with self.assertRaises((tf.errors.InvalidArgumentError, tf.errors.DataLossError)):
            list(self.ds.padded_batch(4, [2]))
        unknown = Dataset.from_generator(lambda: iter([[1], [2, 3]]), tf.int64)
        with self.assertRaises(ValueError):
            unknown.padded_batch(2)
        self.assertDatasetProduces(unknown.padded_batch(2, [None]), [[[1, 0], [2, 3]]])


class Groups(DatasetTestCase):
    def test_group_by_window(self):
        ds = Dataset.range(10).group_by_window(lambda x: x % 2, lambda k, w: w.batch(4), window_size=4)
        self.assertEqual(lists(ds), [[0, 2, 4, 6], [1, 3, 5, 7], [8], [9]])
        ds = Dataset.range(10).group_by_window(lambda x: x % 2, lambda k, w: w.batch(10).map(lambda x: (k, tf.reduce_sum(x))),
                                               window_size_func=lambda k: (k + 1) * 2)
        self.assertDatasetProduces(ds, [(0, 2), (0, 10), (1, 16), (0, 8), (1, 9)])
        sizes = tf.constant([1, 2], tf.int64)
        ds = Dataset.range(6).group_by_window(lambda x: x % 2, lambda k, w: w.batch(9), window_size_func=lambda k: sizes[k])
        self.assertEqual(lists(ds), [[0], [2], [1, 3], [4], [5]])
        self.assertEqual(lists(Dataset.range(4).group_by_window(lambda x: 0, lambda k, w: w.batch(9), 3)), [[0, 1, 2], [3]])

        def padded(key, window):  # a window is read twice, padded to a shape that depends on its key
            return Dataset.zip((window.padded_batch(4, [None]), window.padded_batch(4, tf.convert_to_tensor([(key + 1) * 10]))))
        ds = Dataset.range(6).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x)).group_by_window(
            lambda x: tf.cast(tf.shape(x)[0] // 3, tf.int64), padded, 4)
        self.assertEqual([(a.shape.as_list(), b.shape.as_list()) for a, b in ds], [([3, 2], [3, 10]), ([3, 5], [3, 20])])
        pairs = Dataset.from_tensor_slices((np.arange(6), np.arange(6) * 10)).group_by_window(
            lambda a, b: a % 3, lambda k, w: w.map(lambda a, b: a + b).batch(2), 2)
        self.assertEqual(lists(pairs), [[0, 33], [11, 44], [22, 55]])
        with self.assertRaises(ValueError):
            Dataset.range(3).group_by_window(lambda x: x, lambda k, w: w)
        with self.assertRaises((TypeError, ValueError)):
            Dataset.range(3).group_by_window(lambda x: x, lambda k, w: 1, 2)
        with self.assertRaises((TypeError, ValueError)):
            Dataset.range(3).group_by_window(lambda x: tf.cast(x, tf.float32), lambda k, w: w, 2)

    def test_bucket_by_sequence_length(self):
        def sequences():
            for n in (1, 5, 2, 7, 6, 3, 8, 1):
                yield [n] * n
        ds = Dataset.from_generator(sequences, tf.int64, output_shapes=[None])
        got = ds.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [4], [2, 2])
        self.assertEqual(lists(got), [[[1, 0], [2, 2]], [[5] * 5 + [0] * 2, [7] * 7],
                                      [[6] * 6 + [0] * 2, [8] * 8], [[3, 3, 3], [1, 0, 0]]])
        got = ds.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [4, 9], [2, 2, 2], padded_shapes=[None],
                                           padding_values=np.int64(-1), pad_to_bucket_boundary=True, drop_remainder=True)
        self.assertEqual([np.asarray(x).shape for x in got], [(2, 3), (2, 8), (2, 8), (2, 3)])
        with self.assertRaises(ValueError):
            ds.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [4], [2])
        pairs = ds.map(lambda x: (x, tf.shape(x)[0])).bucket_by_sequence_length(lambda x, n: n, [4], [3, 3])
        self.assertEqual([np.asarray(n).tolist() for _, n in pairs], [[5, 7, 6], [1, 2, 3], [1], [8]])

    def test_buckets_of_tuples_of_one_and_of_sparse_tensors(self):
        def records():
            for n in (3, 1, 5, 2):
                yield ({"values": [1] * n, "indices": [[i] for i in range(n)], "dense_shape": (n,)},)
        types = ({"values": tf.int64, "indices": tf.int64, "dense_shape": tf.int64},)
        shapes = ({"values": tf.TensorShape([None]), "indices": tf.TensorShape([None, 1]), "dense_shape": tf.TensorShape([1])},)
        ds = Dataset.from_generator(records, types, shapes)
        dense = ds.map(lambda r: (r["values"],)).bucket_by_sequence_length(lambda x, y=None: tf.shape(x)[0], [3], [2, 2])
        self.assertDatasetProduces(dense, [([[1, 1, 1, 0, 0], [1] * 5],), ([[1, 0], [1, 1]],)])
        sparse = ds.map(lambda r: (tf.sparse.SparseTensor(**r),)).bucket_by_sequence_length(
            lambda x: tf.shape(x)[0], [3], [2, 2], no_padding=True)
        self.assertEqual([x.dense_shape.numpy().tolist() for (x,) in sparse], [[2, 5], [2, 2]])
        self.assertIsInstance(sparse.element_spec, tuple)

    def test_windows(self):
        for size, shift, stride, drop in itertools.product((1, 3), (None, 1, 2), (1, 2), (False, True)):
            ds = Dataset.range(7).window(size, shift, stride, drop).flat_map(lambda x: x.batch(10))
            step, expected = shift or size, []
            for start in range(0, 7, step):
                window = list(range(start, min(start + (size - 1) * stride + 1, 7), stride))
                if len(window) == size or not drop:
                    expected.append(window)
            self.assertEqual(lists(ds), expected)
        with self.assertRaises((ValueError, tf.errors.InvalidArgumentError)):
            list(Dataset.range(3).window(0))

    def test_map_and_batch_and_others(self):
        experimental = tf.data.experimental
        self.assertEqual(lists(Dataset.range(4).apply(experimental.map_and_batch(lambda x: x * 2, 2))), [[0, 2], [4, 6]])
        self.assertEqual(lists(Dataset.range(4).batch(2).apply(experimental.unbatch())), [0, 1, 2, 3])
        self.assertEqual(sorted(lists(Dataset.range(3).apply(experimental.shuffle_and_repeat(3, 2)))), [0, 0, 1, 1, 2, 2])
        ds = Dataset.from_tensor_slices({"x": [5, 6]}).apply(experimental.pad_to_cardinality(3))
        self.assertEqual([(int(e["x"]), bool(e["valid"])) for e in ds], [(5, True), (6, True), (0, False)])
        reducer = experimental.Reducer(lambda _: np.int64(0), lambda s, x: s + x, lambda s: s)
        self.assertEqual(lists(Dataset.range(10).apply(experimental.group_by_reducer(lambda x: x % 2, reducer))), [20, 25])
        self.assertEqual(lists(experimental.from_list([1, 2, 3])), [1, 2, 3])
        self.assertEqual(lists(experimental.Counter(1).take(2)), [1, 2])


if __name__ == "__main__":
    unittest.main()
