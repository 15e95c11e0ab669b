"""penstock.compat.tf_data: whole input pipelines as programs for TensorFlow have them; TensorFlow 2.21 gives the same."""
import unittest

import numpy as np
from tf_data_case import DatasetTestCase, evaluate

from penstock.compat import tf_data as tf

Dataset = tf.data.Dataset


def elements(ds):
    def plain(x):
        if isinstance(x, (tuple, list)):
            return tuple(map(plain, x))
        if isinstance(x, dict):
            return {k: plain(v) for k, v in x.items()}
        return x.tolist() if hasattr(x, "tolist") else x
    return [plain(evaluate(x)) for x in ds]


class Images(DatasetTestCase):
    def setUp(self):
        pixels = np.random.RandomState(0).randint(0, 255, (40, 60, 3)).astype(np.uint8)
        self.jpeg = tf.io.encode_jpeg(pixels, quality=95)

    def test_training(self):
        def prepared(data, label):
            image = tf.io.decode_jpeg(data, channels=3)
            image = tf.image.convert_image_dtype(image, tf.float32)
            image = tf.image.resize(image, [32, 32])
            image = tf.image.random_flip_left_right(image)
            image = tf.clip_by_value(tf.image.random_brightness(image, 0.1), 0.0, 1.0)
            image = (image - tf.constant([0.485, 0.456, 0.406])) / tf.constant([0.229, 0.224, 0.225])
            image.set_shape([32, 32, 3])
            return image, tf.one_hot(label, 10)
        ds = Dataset.from_tensors((self.jpeg, 3)).repeat(3).map(prepared, num_parallel_calls=tf.data.AUTOTUNE).batch(2)
        self.assertSpec(ds, (tf.TensorSpec([None, 32, 32, 3], tf.float32), tf.TensorSpec([None, 10], tf.float32)))
        self.assertEqual([i.shape.as_list() for i, _ in ds], [[2, 32, 32, 3], [1, 32, 32, 3]])

    def test_crops_before_decoding(self):
        def center(data):
            shape = tf.image.extract_jpeg_shape(data)
            offset = tf.cast((tf.cast(shape[0], tf.float32) - 20.0) / 2.0, tf.int32)
            return tf.image.decode_and_crop_jpeg(data, tf.stack([offset, 0, 20, 20]), channels=3)
        [x] = Dataset.from_tensors(self.jpeg).map(center)
        self.assertEqual(x.shape, [20, 20, 3])

        def distorted(data):
            box = tf.constant([0.0, 0.0, 1.0, 1.0], dtype=tf.float32, shape=[1, 1, 4])
            begin, size, _ = tf.image.sample_distorted_bounding_box(
                tf.io.extract_jpeg_shape(data), bounding_boxes=box, area_range=[0.05, 1.0], max_attempts=100,
                use_image_if_no_bounding_boxes=True)
            y, x, _ = tf.unstack(begin)
            height, width, _ = tf.unstack(size)
            return tf.image.resize(tf.image.decode_and_crop_jpeg(data, tf.stack([y, x, height, width]), channels=3), [24, 24])
        [x] = Dataset.from_tensors(self.jpeg).map(distorted)
        self.assertEqual(x.shape, [24, 24, 3])

    def test_labels_from_names(self):
        classes = ["d1", "d2"]
        ds = Dataset.from_tensor_slices(["a/d1/x.jpg", "a/d2/y.jpg"]).map(
            lambda name: tf.argmax(tf.cast(tf.strings.split(name, "/")[-2] == classes, tf.int32)))
        self.assertEqual(elements(ds), [0, 1])


class Text(DatasetTestCase):
    def test_tokens(self):
        words = tf.lookup.KeyValueTensorInitializer(["the", "cat", "sat"], tf.constant([0, 1, 2], tf.int64))
        table = tf.lookup.StaticVocabularyTable(words, 1)

        def tokens(line):
            return table.lookup(tf.strings.split(tf.strings.regex_replace(tf.strings.lower(line), "[^a-z ]", "")))
        ds = Dataset.from_tensor_slices(["The cat, sat!", "cat zebra"]).map(tokens)
        self.assertDatasetProduces(ds.padded_batch(2, padding_values=np.int64(-1)), [[[0, 1, 2], [1, 3, -1]]])

    def test_language_model(self):
        ds = Dataset.range(10).batch(4, drop_remainder=True).map(lambda c: (c[:-1], c[1:]))
        self.assertDatasetProduces(ds, [([0, 1, 2], [1, 2, 3]), ([4, 5, 6], [5, 6, 7])])


class Tables(DatasetTestCase):
    def test_features(self):
        def features(d):
            label = d.pop("y")
            return {**d, "age": (d["age"] - 25) / 5, "male": tf.cast(d["sex"] == "m", tf.int32)}, label
        ds = Dataset.from_tensor_slices({"age": [20.0, 30.0], "sex": ["m", "f"], "y": [0, 1]}).map(features).batch(2)
        self.assertDatasetProduces(ds, [({"age": [-1.0, 1.0], "sex": [b"m", b"f"], "male": [1, 0]}, [0, 1])])

    def test_lines(self):
        def columns(line):
            fields = tf.io.decode_csv(line, [0.0] * 3)
            return tf.stack(fields[:-1]), fields[-1]
        ds = Dataset.from_tensor_slices(["a,b,c", "1,2,3", "4,5,6"]).skip(1).map(columns)
        self.assertDatasetProduces(ds, [([1.0, 2.0], 3.0), ([4.0, 5.0], 6.0)])

    def test_weights_and_classes(self):
        ds = Dataset.from_tensor_slices(([1.0, 2.0, 3.0], [0, 1, 0]))
        weighted = ds.map(lambda x, y: (x, y, tf.where(tf.equal(y, 1), 2.0, 1.0)))
        self.assertEqual(elements(weighted), [(1.0, 0, 1.0), (2.0, 1, 2.0), (3.0, 0, 1.0)])
        self.assertEqual(elements(ds.filter(lambda x, y: tf.equal(y, 0)).map(lambda x, y: x)), [1.0, 3.0])


class Series(DatasetTestCase):
    def test_windows(self):
        ds = Dataset.range(6).window(4, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(4))
        self.assertEqual(elements(ds.map(lambda w: (w[:-1], w[-1]))), [([0, 1, 2], 3), ([1, 2, 3], 4), ([2, 3, 4], 5)])
        split = Dataset.range(5).window(3, shift=1, drop_remainder=True).flat_map(
            lambda w: Dataset.zip((w.take(2).batch(2), w.skip(2).batch(1))))
        self.assertEqual(elements(split), [([0, 1], [2]), ([1, 2], [3]), ([2, 3], [4])])

    def test_mixed_pairs(self):
        share = 0.25
        pairs = Dataset.zip((Dataset.from_tensors([1.0, 2.0]), Dataset.from_tensors([3.0, 4.0])))
        self.assertEqual(elements(pairs.map(lambda a, b: share * a + (1 - share) * b)), [[2.5, 3.5]])


if __name__ == "__main__":
    unittest.main()
