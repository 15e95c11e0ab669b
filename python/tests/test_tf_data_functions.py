"""penstock.compat.tf_data: functions of map and the like, in the way of TensorFlow's own tests."""
import collections
import importlib.util
import unittest

import numpy as np
from tf_data_case import DatasetTestCase

from penstock.compat import tf_data as tf

Dataset = tf.data.Dataset
Pair = collections.namedtuple("Pair", ["label", "image"])


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


if __name__ == "__main__":
    unittest.main()
