"""penstock.compat.tf_data: sources, structures and functions, in the way of TensorFlow's own tests."""
import collections
import importlib.util
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


class Functions(DatasetTestCase):
    def test_tuples_are_arguments(self):
        components = (np.arange(7), np.array([[1, 2, 3]]) * np.arange(7)[:, np.newaxis], np.array(37.0) * np.arange(7))
        ds = Dataset.from_tensor_slices(components).map(lambda x, y, z: (tf.square(x), tf.square(y), tf.square(z)))
        self.assertDatasetProduces(ds, [tuple(c[i] ** 2 for c in components) for i in range(7)])
        self.assertDatasetProduces(Dataset.from_tensors((3,)).map(lambda x: x + 1), [4])
        self.assertDatasetProduces(Dataset.from_tensors(((1, 2), 3)).map(lambda a, b: a[0] * 10 + a[1] + b), [15])
        six = Dataset.from_tensors((1, 2, 3, 4, 5, 6))
        self.assertDatasetProduces(six.map(lambda *x: sum(x)), [21])
        self.assertDatasetProduces(six.map(lambda a, b, c, d, e, f: (f, a)), [(6, 1)])
        with self.assertRaises(TypeError):
            Dataset.from_tensors({"a": 1, "b": 2}).map(lambda a, b: a + b)

    def test_dicts_and_namedtuples_are_one_argument(self):
        ds = Dataset.range(10).map(lambda x: {"foo": x * 2, "bar": x ** 2}).map(lambda d: d["foo"] + d["bar"])
        self.assertDatasetProduces(ds, [i * 2 + i ** 2 for i in range(10)])
        pairs = Dataset.zip((Dataset.range(3), Dataset.range(3).map(lambda x: -x))).map(Pair)
        self.assertDatasetProduces(pairs, [Pair(i, -i) for i in range(3)])
        self.assertDatasetProduces(pairs.map(lambda p: p._replace(image=2 * p.image)).shuffle(1).batch(3),
                                   [Pair([0, 1, 2], [0, -2, -4])])

    def test_attrs_classes(self):
        try:
            import attr
        except ImportError:
            self.skipTest("attrs is not installed")
        made = attr.make_class("Made", ["x", "y"])
        ds = Dataset.zip(made(x=Dataset.range(3), y=Dataset.range(3, 6)))
        self.assertEqual([(type(e), int(e.x), int(e.y)) for e in ds], [(made, 0, 3), (made, 1, 4), (made, 2, 5)])
        self.assertDatasetProduces(ds.map(lambda e: e.x * e.y), [0, 4, 10])

    def test_lists(self):
        self.assertDatasetProduces(Dataset.range(3).map(lambda x: [x, tf.constant(37.0)]), [(i, 37.0) for i in range(3)])
        self.assertDatasetProduces(Dataset.range(2).map(lambda x: [x, "hello", 10]), [(0, b"hello", 10), (1, b"hello", 10)])
        ds = Dataset.from_tensors([0, 1, 2]).repeat(2).map(lambda a: ([a[1], a[0] + a[2]], a[1]))
        self.assertDatasetProduces(ds, [(np.array([1, 2]), 1)] * 2)
        self.assertDatasetProduces(Dataset.range(2).map(lambda x: {"a": [x, x]}), [{"a": [0, 0]}, {"a": [1, 1]}])

    def test_python_numbers_are_int32_and_float32(self):
        ds = Dataset.range(1).map(lambda x: (1, 2.5, True, "s", [1, 2]))
        self.assertSpec(ds, (tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.bool),
                             tf.TensorSpec([], tf.string), tf.TensorSpec([2], tf.int32)))
        self.assertSpec(Dataset.from_tensor_slices([1, 2]).map(lambda x: x * 2 + 1), tf.TensorSpec([], tf.int32))
        self.assertSpec(Dataset.range(2).map(lambda x: x / 2), tf.TensorSpec([], tf.float64))
        self.assertSpec(Dataset.range(2).map(lambda x: tf.shape([x, x])), tf.TensorSpec([1], tf.int32))

    def test_none(self):
        ds = Dataset.range(4).map(lambda x: (x, None)).batch(4)
        self.assertEqual(type(ds.element_spec[1]).__name__, "NoneTensorSpec")
        self.assertDatasetProduces(ds.map(lambda x, y: x), [[0, 1, 2, 3]])

    def test_dtype_and_shape_are_known(self):
        seen = []

        def look(x, y):
            z = tf.cast(x, tf.float32) * y
            seen.append((x.dtype, x.shape.as_list(), z.dtype, z.shape.as_list(), tf.reshape(y, [-1, 1]).shape.as_list()))
            return z
        list(Dataset.from_tensors((np.arange(3), np.float32([1, 2, 3]))).map(look))
        self.assertEqual(seen[0], (tf.int64, [3], tf.float32, [3], [3, 1]))

        def inner(x):
            return Dataset.from_tensors((x, x)).map(lambda a, b: (a, x)).map(lambda a, b: tf.fill([2], a + b, ) if a.dtype == tf.int64
                                                                             else a)
        self.assertDatasetProduces(Dataset.range(2).flat_map(inner), [[0, 0], [2, 2]])

    def test_set_shape(self):
        def fixed(x):
            x = tf.numpy_function(lambda v: v * 2, [x], tf.int64)
            x.set_shape([])
            return x
        self.assertSpec(Dataset.range(3).map(fixed), tf.TensorSpec([], tf.int64))
        self.assertDatasetProduces(Dataset.range(3).map(fixed), [0, 2, 4])

    def test_numpy_and_py_functions(self):
        def both(x):
            return tf.numpy_function(lambda v: (v, np.array(37.0)), [x], [tf.int64, tf.float64])
        self.assertDatasetProduces(Dataset.range(3).map(both), [(i, 37.0) for i in range(3)])
        ds = Dataset.range(3).map(lambda x: tf.py_function(lambda v: v.numpy() * 2, [x], tf.int64))
        self.assertDatasetProduces(ds, [0, 2, 4])
        ds = Dataset.from_tensor_slices(["a", "b"]).map(lambda s: tf.numpy_function(lambda v: v.upper(), [s], tf.string))
        self.assertDatasetProduces(ds, [b"A", b"B"])

    def test_an_exception_is_an_error_in_its_place(self):
        def broken(x):
            if x == 1:
                raise ValueError("one is wrong")
            return x
        get_next = self.getNext(Dataset.range(3).map(lambda x: tf.numpy_function(broken, [x], tf.int64)))
        self.assertEqual(get_next(), 0)
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "one is wrong"):
            get_next()
        wrong = Dataset.range(1).map(lambda x: tf.numpy_function(lambda v: np.float64(v), [x], tf.float32))
        with self.assertRaises(tf.errors.InvalidArgumentError) as raised:
            next(iter(wrong))
        self.assertNotIn("_control.py", str(raised.exception))
        self.assertEqual(get_next(), 2)

    def test_errors_of_elements(self):
        components = np.array([1.0, 2.0, 3.0, np.nan, 5.0]).astype(np.float32)
        for more in ({}, {"num_parallel_calls": 2}, {"num_parallel_calls": tf.data.AUTOTUNE}):
            ds = Dataset.from_tensor_slices(components).map(lambda x: tf.debugging.check_numerics(x, "message"), **more)
            get_next = self.getNext(ds.prefetch(2))
            for _ in range(3):
                get_next()
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "message"):
                get_next()
            get_next()
            with self.assertRaises(tf.errors.OutOfRangeError):
                get_next()
        self.assertDatasetProduces(ds.ignore_errors(), [1.0, 2.0, 3.0, 5.0])

    def test_assertions_hold_without_being_used(self):
        def positive(x):
            tf.debugging.assert_greater(x, tf.constant(0, tf.int64), message="too small")
            return x
        get_next = self.getNext(Dataset.range(2).map(positive))
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "too small"):
            get_next()
        self.assertEqual(get_next(), 1)

    def test_unsupported_results(self):
        with self.assertRaisesRegex(TypeError, "Unsupported return value from function passed to Dataset.map"):
            Dataset.range(2).map(lambda x: object())
        with self.assertRaises(TypeError):
            Dataset.range(2).flat_map(lambda x: 1)
        with self.assertRaises((ValueError, TypeError)):
            Dataset.range(2).filter(lambda x: x + 1)

    def test_case_and_cond(self):
        def choose(x):
            return tf.case([(tf.equal(x, 1), lambda: x * 10), (tf.equal(x, 2), lambda: x * 100)], default=lambda: -x)
        self.assertDatasetProduces(Dataset.range(4).map(choose), [0, 10, 200, -3])
        ds = Dataset.range(4).map(lambda x: tf.cond(x % 2 == 0, lambda: (x, x + 1), lambda: (-x, x)))
        self.assertDatasetProduces(ds, [(0, 1), (-1, 1), (2, 3), (-3, 3)])

    def test_loops(self):
        def power(x):
            return tf.while_loop(lambda i, p: i < 3, lambda i, p: (i + 1, p * x), [tf.constant(0), tf.constant(1, tf.int64)])[1]
        self.assertDatasetProduces(Dataset.range(4).map(power), [0, 1, 8, 27])
        row = np.arange(6)
        ds = Dataset.from_tensors(row).map(lambda elems: tf.map_fn(lambda x: x * x, elems))
        self.assertDatasetProduces(ds, [row ** 2])

    def test_tables(self):
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(
            tf.constant(["brain", "salad"]), tf.constant([0, 1], tf.int64)), -1)
        ds = Dataset.from_tensor_slices(["brain salad tank"]).map(tf.strings.split).map(table.lookup)
        self.assertDatasetProduces(ds, [[0, 1, -1]])


@unittest.skipUnless(tf.__name__ == "tensorflow" or importlib.util.find_spec("penstock._convert"),
                     "functions are not converted")
class ControlFlow(DatasetTestCase):
    def test_if(self):
        def parity(x):
            if x % 2 == 0:
                y = x * 10
            else:
                y = -x
            return y, tf.cast(y, tf.float32)
        self.assertDatasetProduces(Dataset.range(4).map(parity), [(0, 0.0), (-1, -1.0), (20, 20.0), (-3, -3.0)])

        def early(d):
            if d["a"] > 1 and not d["b"] == 4:
                return d["a"]
            return d["b"]
        self.assertDatasetProduces(Dataset.from_tensor_slices({"a": [1, 2, 3], "b": [4, 5, 4]}).map(early), [4, 2, 4])
        inner = Dataset.range(4).flat_map(lambda x: Dataset.range(2).map(lambda y: y if x > 1 else -y))
        self.assertDatasetProduces(inner, [0, -1, 0, -1, 0, 1, 0, 1])

    def test_loops(self):
        def sums(x):
            s = tf.constant(0, tf.int64)
            for i in tf.range(x):
                s += i
            while s > 3:
                s = s - 3
            return s
        self.assertDatasetProduces(Dataset.range(5).map(sums), [0, 0, 1, 3, 3])

    def test_functions_of_tf_are_called_as_they_are(self):
        def first(x):
            if tf.equal(x, 1):
                return tf.where(x > 0, -x, x)
            return tf.concat([[x], [x]], 0)[0]
        self.assertDatasetProduces(Dataset.range(3).map(first), [0, -1, 2])


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
