"""penstock.compat.tf_data: TensorFlow's functions by their names, outside of a pipeline and in one.

Each case is an expression; what it must give was computed by TensorFlow 2.21.
"""
import unittest

import numpy as np
from tf_data_case import DatasetTestCase, evaluate

from penstock.compat import tf_data as tf

CASES = {  # an expression of x = [[1.0, -2.0, 3.5], [0.0, 4.0, -1.5]], n = [3, 1, 2], s = ["a b", "C", ""]
    "tf.abs(x)": [[1.0, 2.0, 3.5], [0.0, 4.0, 1.5]],
    "tf.cast(x, tf.int32)": [[1, -2, 3], [0, 4, -1]],
    "tf.math.floormod(n, 2)": [1, 1, 0],
    "n / 2": [1.5, 0.5, 1.0],
    "n // 2": [1, 0, 1],
    "-n % 3": [0, 2, 1],
    "2 - n": [-1, 1, 0],
    "n ** 2": [9, 1, 4],
    "n & 1": [1, 1, 0],
    "n > 1": [True, False, True],
    "~(n > 1)": [False, True, False],
    "tf.add(n, [1, 1, 1])": [4, 2, 3],
    "tf.maximum(x, 0.0)": [[1.0, 0.0, 3.5], [0.0, 4.0, 0.0]],
    "tf.clip_by_value(x, -1.0, 1.0)": [[1.0, -1.0, 1.0], [0.0, 1.0, -1.0]],
    "tf.reduce_sum(x)": 5.0,
    "tf.reduce_mean(x, axis=1)": [2.5 / 3, 2.5 / 3],
    "tf.reduce_max(x, 0, keepdims=True)": [[1.0, 4.0, 3.5]],
    "tf.reduce_all(n > 0)": True,
    "tf.argmax(x, axis=1)": [2, 1],
    "tf.math.top_k(x, k=2)[1]": [[2, 0], [1, 0]],
    "tf.cumsum(n)": [3, 4, 6],
    "tf.shape(x)": [2, 3],
    "tf.size(x)": 6,
    "tf.rank(x)": 2,
    "tf.reshape(x, [3, -1])[1]": [3.5, 0.0],
    "tf.expand_dims(n, 0)": [[3, 1, 2]],
    "tf.squeeze(tf.expand_dims(n, 0))": [3, 1, 2],
    "tf.transpose(x)[0]": [1.0, 0.0],
    "tf.concat([n, [9]], axis=0)": [3, 1, 2, 9],
    "tf.stack([n, n], axis=1)[0]": [3, 3],
    "tf.unstack(x)[1]": [0.0, 4.0, -1.5],
    "tf.split(n, 3)[2]": [2],
    "tf.split(n, [1, 2])[1]": [1, 2],
    "tf.tile(n, [2])": [3, 1, 2, 3, 1, 2],
    "tf.pad(n, [[1, 2]])": [0, 3, 1, 2, 0, 0],
    "tf.pad(n, [[1, 0]], constant_values=7)": [7, 3, 1, 2],
    "tf.gather(x, [2, 0], axis=1)": [[3.5, 1.0], [-1.5, 0.0]],
    "tf.boolean_mask(n, n > 1)": [3, 2],
    "tf.where(n > 1, n, 0)": [3, 0, 2],
    "tf.where(n > 1)": [[0], [2]],
    "tf.one_hot(n, 4)": [[0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]],
    "tf.one_hot(n, 2, on_value=5, off_value=-1, dtype=tf.int32)": [[-1, -1], [-1, 5], [-1, -1]],
    "tf.fill([2], n[0])": [3, 3],
    "tf.zeros([2], tf.int32)": [0, 0],
    "tf.ones_like(n)": [1, 1, 1],
    "tf.range(3)": [0, 1, 2],
    "tf.range(1, 7, 2)": [1, 3, 5],
    "tf.range(n[0])": [0, 1, 2],
    "tf.linspace(0.0, 1.0, 3)": [0.0, 0.5, 1.0],
    "tf.reverse(n, [0])": [2, 1, 3],
    "tf.sort(n)": [1, 2, 3],
    "tf.argsort(n)": [1, 2, 0],
    "tf.unique(tf.constant([4, 5, 4]))[1]": [0, 1, 0],
    "tf.sequence_mask([1, 2], 3)": [[True, False, False], [True, True, False]],
    "tf.broadcast_to(n, [2, 3])[1]": [3, 1, 2],
    "tf.repeat(n, 2)": [3, 3, 1, 1, 2, 2],
    "tf.slice(x, [0, 1], [2, 1])": [[-2.0], [4.0]],
    "tf.nn.softmax(tf.zeros([2]))": [0.5, 0.5],
    "tf.math.divide_no_nan(x, 0.0)[0]": [0.0, 0.0, 0.0],
    "tf.linalg.matmul(x, tf.transpose(x))[0]": [17.25, -13.25],
    "tf.strings.length(s)": [3, 1, 0],
    "tf.strings.lower(s)": [b"a b", b"c", b""],
    "tf.strings.join([s, s], '-')": [b"a b-a b", b"C-C", b"-"],
    "tf.strings.split(s)": [[b"a", b"b"], [b"C"], []],
    "tf.strings.split(s[0])": [b"a", b"b"],
    "tf.strings.split('a,b', ',')": [b"a", b"b"],
    "tf.strings.substr(s, 0, 1)": [b"a", b"C", b""],
    "tf.strings.regex_replace(s, '[a-z]', '_')": [b"_ _", b"C", b""],
    "tf.strings.to_number(['1.5', '2'])": [1.5, 2.0],
    "tf.strings.to_number('7', tf.int64)": 7,
    "tf.strings.as_string(n)": [b"3", b"1", b"2"],
    "tf.strings.reduce_join(s)": b"a bC",
    "tf.strings.to_hash_bucket_fast(s, 10)": [7, 7, 3],
    "s + '!'": [b"a b!", b"C!", b"!"],
    "s == 'C'": [False, True, False],
    "tf.io.decode_raw('\\x01\\x02', tf.uint8)": [1, 2],
    "tf.io.decode_csv('1,x', [[0], ['']])[1]": b"x",
    "tf.io.decode_base64(tf.io.encode_base64('hi'))": b"hi",
    "tf.ragged.constant([[1, 2], [3]]).to_tensor()": [[1, 2], [3, 0]],
    "tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 3])": [[1, 2], [3]],
    "tf.sparse.to_dense(tf.sparse.SparseTensor([[0, 1]], [5], [1, 2]))": [[0, 5]],
    "tf.image.convert_image_dtype(tf.constant([[[255, 0, 51]]], tf.uint8), tf.float32)": [[[1.0, 0.0, 0.2]]],
    "tf.image.flip_left_right(tf.reshape(tf.range(4), [1, 4, 1]))": [[[3], [2], [1], [0]]],
    "tf.image.resize(tf.reshape(tf.range(4), [2, 2, 1]), [1, 1])": [[[1.5]]],
    "tf.image.resize_with_crop_or_pad(tf.reshape(tf.range(4), [2, 2, 1]), 1, 1)": [[[0]]],
    "tf.image.rgb_to_grayscale(tf.constant([[[255, 255, 255]]], tf.uint8))": [[[255]]],
    "tf.convert_to_tensor([1, 2], tf.float32)": [1.0, 2.0],
    "tf.constant(5, shape=[2])": [5, 5],
    "tf.add_n([n, n])": [6, 2, 4],
    "tf.eye(2)": [[1.0, 0.0], [0.0, 1.0]],
    "tf.identity(n)[1:]": [1, 2],
    "x[..., tf.newaxis][0, 0]": [1.0],
    "x[:, ::-1][0]": [3.5, -2.0, 1.0],
}
IN_FUNCTIONS_ONLY = set()
SOURCE = {"x": np.float32([[1.0, -2.0, 3.5], [0.0, 4.0, -1.5]]), "n": np.int32([3, 1, 2])}


def value(x):
    x = evaluate(x)
    return x.tolist() if hasattr(x, "tolist") else x


class Ops(DatasetTestCase):
    def same(self, expected, got):
        if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
            for a, b in zip(expected, got):
                self.same(a, b)
        elif isinstance(expected, float):
            self.assertAlmostEqual(expected, got, places=5)
        else:
            self.assertEqual((expected, type(expected)), (got, type(got)))

    def test_at_once(self):
        names = {"tf": tf, **{k: tf.constant(v) for k, v in SOURCE.items()}, "s": tf.constant(["a b", "C", ""])}
        for source, expected in CASES.items():
            with self.subTest(source):
                self.same(expected, value(eval(source, names)))  # noqa: S307

    def test_in_functions(self):
        ds = tf.data.Dataset.from_tensors((SOURCE["x"], SOURCE["n"], ["a b", "C", ""]))
        for source, expected in CASES.items():
            with self.subTest(source):
                function = eval(f"lambda x, n, s: {source}", {"tf": tf})  # noqa: S307
                [got] = ds.map(function)
                self.same(expected, value(got))

    def test_dtypes(self):
        x = tf.constant([1.5])
        for source, dtype in (("tf.shape(x)", "int32"), ("tf.argmax(x)", "int64"), ("tf.range(3)", "int32"),
                              ("tf.range(3.0)", "float32"), ("tf.constant(1)", "int32"), ("tf.strings.length('a')", "int32"),
                              ("tf.one_hot(1, 2)", "float32"), ("tf.size(x, tf.int64)", "int64"), ("tf.where(x > 1.0)", "int64"),
                              ("tf.math.top_k(x)[1]", "int32"), ("tf.io.decode_raw('a', tf.uint8)", "uint8"),
                              ("tf.cast(x, tf.float64) * 2", "float64"), ("tf.constant([1, 2]) * 2", "int32"),
                              ("tf.constant(2 ** 40)", "int64")):
            with self.subTest(source):
                self.assertEqual(eval(source, {"tf": tf, "x": x}).dtype, getattr(tf, dtype))  # noqa: S307

    def test_random(self):
        ds = tf.data.Dataset.range(50).map(lambda _: tf.random.uniform([], 5, 8, dtype=tf.int32))
        self.assertEqual({int(x) for x in ds}, {5, 6, 7})
        ds = tf.data.Dataset.range(3).map(lambda x: tf.random.shuffle(tf.range(10), seed=3))
        self.assertEqual({tuple(sorted(x.numpy())) for x in ds}, {tuple(range(10))})
        image = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        ds = tf.data.Dataset.from_tensors(image).repeat(20).map(lambda i: tf.image.random_flip_left_right(i, seed=1))
        self.assertEqual({x.numpy().tobytes() for x in ds}, {image.tobytes(), image[:, ::-1].tobytes()})
        cropped = tf.data.Dataset.from_tensors(image).map(lambda i: tf.image.random_crop(i, [2, 2, 3]))
        self.assertEqual(next(iter(cropped)).shape, [2, 2, 3])

    def test_images(self):
        image = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
        png = tf.io.encode_png(image)
        ds = tf.data.Dataset.from_tensors(png).map(lambda s: tf.image.decode_png(s, channels=3))
        self.assertDatasetProduces(ds, [image])
        jpeg = tf.io.encode_jpeg(np.full([16, 16, 3], 100, np.uint8))
        ds = tf.data.Dataset.from_tensors(jpeg).map(tf.io.decode_jpeg).map(lambda i: tf.image.resize(i, [8, 8]) / 255.0)
        [x] = ds
        self.assertEqual((x.shape, x.dtype), ([8, 8, 3], tf.float32))
        self.assertAlmostEqual(float(tf.reduce_mean(x)), 100 / 255, places=2)
        ds = tf.data.Dataset.from_tensors(image).map(lambda i: tf.image.central_crop(i, 0.5)).batch(1)
        self.assertDatasetProduces(ds, [image[None, 1:3, 1:3]])

    def test_parsing(self):
        text = ('{"features": {"feature": {"a": {"int64List": {"value": [5]}}, "b": {"floatList": {"value": [0.5, 1.5]}}, '
                '"c": {"bytesList": {"value": ["eA==", "eQ=="]}}}}}')
        records = tf.data.Dataset.from_tensors(text).map(lambda s: tf.io.decode_json_example(s)).repeat(2)
        features = {"a": tf.io.FixedLenFeature([], tf.int64), "b": tf.io.FixedLenFeature([2], tf.float32),
                    "c": tf.io.VarLenFeature(tf.string), "d": tf.io.FixedLenFeature([1], tf.int64, default_value=[7]),
                    "e": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)}
        ds = records.map(lambda r: tf.io.parse_single_example(r, features))
        x = next(iter(ds))
        self.assertEqual([evaluate(x[k]).tolist() if k != "c" else evaluate(x[k]) for k in "abde"], [5, [0.5, 1.5], [7], []])
        self.assertEqual(evaluate(x["c"]), ([[0], [1]], [b"x", b"y"], [2]))
        dense = ds.map(lambda e: tf.sparse.to_dense(e["c"]))
        self.assertDatasetProduces(dense, [[b"x", b"y"]] * 2)
        batches = records.batch(2).map(lambda r: tf.io.parse_example(r, {"a": features["a"], "b": features["b"]}))
        self.assertDatasetProduces(batches, [{"a": [5, 5], "b": [[0.5, 1.5], [0.5, 1.5]]}])


if __name__ == "__main__":
    unittest.main()
