"""penstock.compat.tf_data: sources and generators, in the way of TensorFlow's own tests."""
import collections
import pathlib
import tempfile
import unittest

import numpy as np
from tf_data_case import DatasetTestCase, evaluate

from penstock.compat import tf_data as tf

Dataset = tf.data.Dataset
Pair = collections.namedtuple("Pair", ["label", "image"])


class Sources(DatasetTestCase):
    def test_from_tensors_keeps_tuples_and_makes_tensors_of_lists(self):
        self.assertDatasetProduces(Dataset.from_tensors([1, 2, 3]), [np.array([1, 2, 3], np.int32)])
        self.assertDatasetProduces(Dataset.from_tensors((1, [2.5, 3])), [(1, [2.5, 3])])
        self.assertSpec(Dataset.from_tensors((1, [2.5, 3])), (tf.TensorSpec([], tf.int32), tf.TensorSpec([2], tf.float32)))
        self.assertDatasetProduces(Dataset.from_tensors({"a": [[1], [2]], "b": ("x", b"y")}),
                                   [{"a": [[1], [2]], "b": (b"x", b"y")}])
        self.assertSpec(Dataset.from_tensors(np.zeros([2, 0])), tf.TensorSpec([2, 0], tf.float64))

    def test_large_tensors(self):
        big = np.arange(3000.0).reshape(30, 100)
        self.assertDatasetProduces(Dataset.from_tensors(big), [big])
        self.assertDatasetProduces(Dataset.from_tensors({"a": big, "b": (big, 1)}), [{"a": big, "b": (big, 1)}])
        self.assertDatasetProduces(Dataset.from_tensor_slices((big, {"b": big})), [(r, {"b": r}) for r in big])

    def test_from_tensor_slices(self):
        components = (np.tile(np.array([[1], [2], [3]]), 20), np.array([10.0, 11.0, 12.0]))
        self.assertDatasetProduces(Dataset.from_tensor_slices(components),
                                   [tuple(c[i] for c in components) for i in range(3)])
        self.assertSpec(Dataset.from_tensor_slices([1, 2, 3]), tf.TensorSpec([], tf.int32))
        self.assertDatasetProduces(Dataset.from_tensor_slices({"foo": [1, 2], "bar": [[4.0], [5.0]]}),
                                   [{"foo": 1, "bar": [4.0]}, {"foo": 2, "bar": [5.0]}])
        self.assertDatasetProduces(Dataset.from_tensor_slices([]), [])
        self.assertDatasetProduces(Dataset.from_tensor_slices(tf.range(3)), [0, 1, 2])
        with self.assertRaises((ValueError, TypeError)):
            Dataset.from_tensor_slices(3)
        with self.assertRaises((ValueError, tf.errors.InvalidArgumentError)):
            Dataset.from_tensor_slices(([1, 2], [1, 2, 3]))

    def test_ragged_and_sparse_tensors(self):
        rows = tf.ragged.constant([[1, 2], [], [3]])
        [x] = Dataset.from_tensors(rows)
        self.assertEqual(x.to_list(), [[1, 2], [], [3]])
        sparse = tf.sparse.SparseTensor([[0, 1], [2, 0]], [5, 6], [3, 2])
        [x] = Dataset.from_tensors(sparse)
        self.assertEqual(evaluate(x), ([[0, 1], [2, 0]], [5, 6], [3, 2]))
        self.assertSpec(Dataset.from_tensors(sparse), tf.SparseTensorSpec([3, 2], tf.int32))
        self.assertSpec(Dataset.from_tensors(rows), tf.RaggedTensorSpec([3, None], tf.int32, 1))

    def test_range(self):
        self.assertDatasetProduces(Dataset.range(5), [0, 1, 2, 3, 4])
        self.assertDatasetProduces(Dataset.range(2, 5), [2, 3, 4])
        self.assertDatasetProduces(Dataset.range(10, 2, -3), [10, 7, 4])
        self.assertDatasetProduces(Dataset.range(5, 1), [])
        self.assertSpec(Dataset.range(3, output_type=tf.int32), tf.TensorSpec([], tf.int32))
        self.assertDatasetProduces(Dataset.range(tf.constant(2, tf.int64)), [0, 1])
        with self.assertRaises((ValueError, TypeError)):
            Dataset.range()
        with self.assertRaises((ValueError, tf.errors.InvalidArgumentError)):
            Dataset.range(0, 1, 0)

    def test_zip(self):
        a, b = Dataset.range(1, 4), Dataset.range(4, 7)
        self.assertDatasetProduces(Dataset.zip(a, b), [(1, 4), (2, 5), (3, 6)])
        self.assertDatasetProduces(Dataset.zip((a, b)), [(1, 4), (2, 5), (3, 6)])
        self.assertDatasetProduces(Dataset.zip(a), [1, 2, 3])
        self.assertDatasetProduces(Dataset.zip((a,)), [(1,), (2,), (3,)])
        self.assertDatasetProduces(Dataset.zip({"x": a, "y": (b, a)}), [{"x": i, "y": (i + 3, i)} for i in (1, 2, 3)])
        self.assertDatasetProduces(Dataset.zip(Pair(a, b)), [Pair(1, 4), Pair(2, 5), Pair(3, 6)])
        self.assertDatasetProduces(Dataset.zip(datasets=(a, b.take(2))), [(1, 4), (2, 5)])
        for wrong in ([a, b], ((a, [b]),), 1):
            with self.assertRaises(TypeError):
                Dataset.zip(wrong)
        with self.assertRaises(TypeError):
            Dataset.zip()

    def test_random_and_counter(self):
        self.assertDatasetProduces(Dataset.counter(3, 2).take(3), [3, 5, 7])
        one, other = (list(Dataset.random(seed=5).take(4).as_numpy_iterator()) for _ in range(2))
        self.assertEqual(one, other)
        self.assertEqual(len(set(one)), 4)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in "cab":
                pathlib.Path(folder, f"{name}.txt").write_text(f"{name}1\n{name}2\n")
            files = Dataset.list_files(f"{folder}/*.txt", shuffle=False)
            self.assertEqual([pathlib.Path(f.decode()).name for f in files.as_numpy_iterator()], ["a.txt", "b.txt", "c.txt"])
            self.assertEqual(len(files), 3)
            shuffled = Dataset.list_files([f"{folder}/*.txt"], seed=1)
            self.assertCountEqual(list(shuffled.as_numpy_iterator()), list(files.as_numpy_iterator()))
            self.assertDatasetProduces(files.flat_map(tf.data.TextLineDataset), [b"a1", b"a2", b"b1", b"b2", b"c1", b"c2"])
            self.assertDatasetProduces(tf.data.TextLineDataset(files), [b"a1", b"a2", b"b1", b"b2", b"c1", b"c2"])
            self.assertDatasetProduces(files.interleave(tf.data.TextLineDataset, cycle_length=3),
                                       [b"a1", b"b1", b"c1", b"a2", b"b2", b"c2"])
            self.assertDatasetProduces(tf.data.FixedLengthRecordDataset(f"{folder}/a.txt", 2, header_bytes=1, footer_bytes=1),
                                       [b"1\n", b"a2"])
            with self.assertRaises(tf.errors.InvalidArgumentError):
                list(Dataset.list_files(f"{folder}/*.none"))
            with self.assertRaises(tf.errors.NotFoundError):
                list(tf.data.TextLineDataset(f"{folder}/none"))

    def test_tfrecords(self):
        with tempfile.TemporaryDirectory() as folder:
            for compression in ("", "GZIP", "ZLIB"):
                file = f"{folder}/{compression}.tfrecord"
                with tf.io.TFRecordWriter(file, tf.io.TFRecordOptions(compression_type=compression)) as out:
                    for n in range(4):
                        out.write(b"%d" % n * n)
                self.assertDatasetProduces(tf.data.TFRecordDataset(file, compression), [b"", b"1", b"22", b"333"])
                self.assertDatasetProduces(tf.data.TFRecordDataset([file, file], compression, num_parallel_reads=2).skip(4),
                                           [b"22", b"22", b"333", b"333"])


class Generators(DatasetTestCase):
    def test_a_new_pass_calls_it_again(self):
        def generator():
            for i in range(1, 5):
                yield [i] * i
        self.assertDatasetProduces(Dataset.from_generator(generator, tf.int64).repeat(2), [[i] * i for i in range(1, 5)] * 2,
                                   num_test_iterations=2)
        self.assertSpec(Dataset.from_generator(generator, tf.int64), tf.TensorSpec(None, tf.int64))
        self.assertDatasetProduces(Dataset.from_generator(lambda: np.arange(3), tf.int64), [0, 1, 2])

    def test_conversion(self):
        def generator():
            yield [1]
            yield [2]
        for dtype in (tf.int8, tf.int32, tf.int64):
            got = list(Dataset.from_generator(generator, dtype, output_shapes=[1]).as_numpy_iterator())
            self.assertEqual([x.tolist() for x in got], [[1], [2]])
            self.assertEqual({x.dtype for x in got}, {np.dtype(dtype.as_numpy_dtype)})
        self.assertDatasetProduces(Dataset.from_generator(lambda: iter(["foo", b"bar"]), tf.string, []), [b"foo", b"bar"])

    def test_an_element_of_another_type_is_an_error_in_its_place(self):
        def generator():
            yield np.array([1, 2, 3], dtype=np.int64)
            yield "ERROR"
            yield np.array([7, 8, 9, 10], dtype=np.int64)
            yield np.array([11, 12, 13], dtype=np.int64)
        get_next = self.getNext(Dataset.from_generator(generator, tf.int64, output_shapes=[3]))
        self.assertAllEqual([1, 2, 3], get_next())
        for _ in range(2):
            with self.assertRaises(tf.errors.InvalidArgumentError):
                get_next()
        self.assertAllEqual([11, 12, 13], get_next())
        with self.assertRaises(tf.errors.OutOfRangeError):
            get_next()

    def test_structures(self):
        def generator():
            yield 1, 2
            yield 3
            yield 4, 5, 6
            yield 9, 10
        get_next = self.getNext(Dataset.from_generator(generator, (tf.int64, tf.int64)))
        self.assertEqual(evaluate(get_next()), (1, 2))
        for _ in range(2):
            with self.assertRaises(tf.errors.InvalidArgumentError):
                get_next()
        self.assertEqual(evaluate(get_next()), (9, 10))
        signature = {"a": tf.TensorSpec([], tf.int32), "b": (tf.TensorSpec([2], tf.float32), tf.TensorSpec([], tf.string))}
        ds = Dataset.from_generator(lambda: iter([{"a": 1, "b": ([1, 2], "x")}]), output_signature=signature)
        self.assertSpec(ds, signature)
        self.assertDatasetProduces(ds, [{"a": 1, "b": ([1.0, 2.0], b"x")}])

    def test_arguments(self):
        def count(n, text):
            for i in range(n):
                yield i, text
        ds = Dataset.from_generator(count, (tf.int64, tf.string), ((), ()), args=(tf.constant(2), "Hi!"))
        self.assertDatasetProduces(ds, [(0, b"Hi!"), (1, b"Hi!")])

        def of_element(n):
            def repeated(k):
                for _ in range(k):
                    yield np.array(k, dtype=np.int64)
            return Dataset.from_generator(repeated, tf.int64, (), args=(n,))
        self.assertDatasetProduces(Dataset.range(4).flat_map(of_element), [1, 2, 2, 3, 3, 3])

    def test_ragged_and_sparse(self):
        def generator():
            yield tf.ragged.constant([[1, 2], [3]], dtype=tf.int64), tf.sparse.SparseTensor([[0]], [5], [2])
        ds = Dataset.from_generator(generator, output_signature=(tf.RaggedTensorSpec([2, None], tf.int64),
                                                                 tf.SparseTensorSpec([2], tf.int32)))
        [(ragged, sparse)] = ds
        self.assertEqual(ragged.to_list(), [[1, 2], [3]])
        self.assertEqual(evaluate(sparse), ([[0]], [5], [2]))

    def test_wrong_calls(self):
        with self.assertRaisesRegex(TypeError, "must be a Python callable|must be a callable|callable"):
            Dataset.from_generator([1], tf.int64)
        with self.assertRaises(TypeError):
            Dataset.from_generator(lambda: iter([1]))
        with self.assertRaises(TypeError):
            Dataset.from_generator(lambda: iter([1]), tf.int64, output_signature=tf.TensorSpec([], tf.int64))


if __name__ == "__main__":
    unittest.main()
