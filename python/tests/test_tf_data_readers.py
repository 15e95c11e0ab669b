"""penstock.compat.tf_data: readers, tables and ragged tensors in functions, in the way of TensorFlow's own tests."""
import gzip
import pathlib
import tempfile
import unittest

from tf_data_case import DatasetTestCase, evaluate

from penstock.compat import tf_data as tf

Dataset = tf.data.Dataset
experimental = tf.data.experimental


class Readers(DatasetTestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, data):
        (self.folder / name).write_bytes(data)
        return str(self.folder / name)

    def test_lines(self):
        a, empty = self.write("a.txt", b"l1\nl2\r\nl3"), self.write("b.txt", b"")
        lines = [b"l1", b"l2", b"l3"]
        for names in (a, [a], pathlib.Path(a), [pathlib.Path(a)], tf.constant([a]), [a, empty]):
            self.assertDatasetProduces(tf.data.TextLineDataset(names), lines)
        self.assertDatasetProduces(tf.data.TextLineDataset(Dataset.from_tensor_slices([a, a])), lines * 2)
        self.assertDatasetProduces(tf.data.TextLineDataset([]), [])
        packed = self.write("g.gz", gzip.compress(b"z1\nz2\n"))
        self.assertDatasetProduces(tf.data.TextLineDataset(packed, "GZIP", buffer_size=10, num_parallel_reads=2), [b"z1", b"z2"])
        with self.assertRaises(TypeError):
            tf.data.TextLineDataset([1, 2])

    def test_records_of_one_length(self):
        file = self.write("f.bin", b"HHaaaabbbbF")
        self.assertDatasetProduces(tf.data.FixedLengthRecordDataset(file, 4, header_bytes=2, footer_bytes=1), [b"aaaa", b"bbbb"])
        with self.assertRaises(tf.errors.InvalidArgumentError):
            list(tf.data.FixedLengthRecordDataset(file, 4))

    def test_csv(self):
        file = self.write("c.csv", b'a,b,c\n1,2.5,x\n,,\n3,4.5,"y,z"\n')
        ds = experimental.CsvDataset(file, [0, 1.5, "d"], header=True)
        self.assertDatasetProduces(ds, [(1, 2.5, b"x"), (0, 1.5, b"d"), (3, 4.5, b"y,z")])
        ds = experimental.CsvDataset(file, [[0], tf.constant([], dtype=tf.string)], header=True, select_cols=[0, 2])
        self.assertEqual(evaluate(next(iter(ds))), (1, b"x"))
        ds = experimental.CsvDataset(file, [tf.int32, tf.float32, tf.string], header=True)
        self.assertSpec(ds, (tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.string)))

    def test_batches_of_csv_files(self):
        a = self.write("a.csv", b'n,f,s,big\n1,2.5,x,5000000000\n,,,\n3,4.5,"y,z",7\n')
        self.write("b.csv", b"n,f,s,big\n4,2,w,1\n")
        ds = experimental.make_csv_dataset(a, 2, num_epochs=1, shuffle=False)
        self.assertDatasetProduces(ds, [
            {"n": [1, 0], "f": [2.5, 0.0], "s": [b"x", b""], "big": [5000000000, 0]},
            {"n": [3], "f": [4.5], "s": [b"y,z"], "big": [7]}])
        self.assertEqual([s.dtype for s in ds.element_spec.values()], [tf.int32, tf.float32, tf.string, tf.int64])
        ds = experimental.make_csv_dataset(a, 3, select_columns=["s", "n"], label_name="n", num_epochs=1, shuffle=False)
        self.assertDatasetProduces(ds, [({"s": [b"x", b"", b"y,z"]}, [1, 0, 3])])
        ds = experimental.make_csv_dataset(str(self.folder / "*.csv"), 1, num_epochs=2)
        self.assertEqual(sorted(int(x["n"][0]) for x in ds), [0, 0, 1, 1, 3, 3, 4, 4])
        with self.assertRaises(ValueError):
            experimental.make_csv_dataset(a, 2, label_name="q")

    def test_batches_of_examples(self):
        text = '{"features": {"feature": {"a": {"int64List": {"value": [%d]}}, "b": {"floatList": {"value": [0.5]}}}}}'
        with tf.io.TFRecordWriter(str(self.folder / "r.tfrecord")) as out:
            for i in range(5):
                out.write(tf.io.decode_json_example(text % i).numpy())
        features = {"a": tf.io.FixedLenFeature([], tf.int64), "b": tf.io.FixedLenFeature([1], tf.float32)}
        ds = experimental.make_batched_features_dataset(str(self.folder / "*.tfrecord"), 2, features, label_key="a",
                                                        num_epochs=1, shuffle=False, drop_final_batch=True)
        self.assertDatasetProduces(ds, [({"b": [[0.5], [0.5]]}, [0, 1]), ({"b": [[0.5], [0.5]]}, [2, 3])])
        records = tf.data.TFRecordDataset(tf.io.gfile.glob(str(self.folder / "*.tfrecord")))
        ds = records.batch(3).apply(experimental.parse_example_dataset({"a": features["a"]}))
        self.assertDatasetProduces(ds, [{"a": [0, 1, 2]}, {"a": [3, 4]}])

    def test_missing_files(self):
        for reader in (tf.data.TFRecordDataset, tf.data.TextLineDataset):
            with self.assertRaises(tf.errors.NotFoundError):
                list(reader(str(self.folder / "none")))

    def test_tables(self):
        words = self.write("words.txt", b"x\ny\n")
        whole, number = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
        of_file = tf.lookup.TextFileInitializer(words, tf.string, whole, tf.int64, number)
        ds = Dataset.from_tensor_slices(["y", "q"])
        self.assertDatasetProduces(ds.map(tf.lookup.StaticHashTable(of_file, -1).lookup), [1, -1])
        table = tf.lookup.StaticVocabularyTable(of_file, 2)
        self.assertDatasetProduces(ds.take(1).map(table.lookup), [1])
        pairs = Dataset.zip((Dataset.range(2), Dataset.from_tensor_slices([10, 11])))
        table = tf.lookup.StaticHashTable(experimental.DatasetInitializer(pairs), -1)
        self.assertDatasetProduces(Dataset.range(3).map(table.lookup), [10, 11, -1])


class Ragged(DatasetTestCase):
    def test_in_functions(self):
        ds = Dataset.from_tensors(tf.ragged.constant([[1], [2, 3]]))
        for function, expected in ((lambda r: r.row_lengths(), [1, 2]), (lambda r: r.values, [1, 2, 3]),
                                   (lambda r: r.to_tensor(default_value=-1), [[1, -1], [2, 3]]), (lambda r: r[1], [2, 3]),
                                   (lambda r: tf.reduce_sum(r, axis=1), [1, 5]), (lambda r: r + 1, [[2], [3, 4]])):
            [got] = ds.map(function)
            got = evaluate(got)
            self.assertEqual(got if isinstance(got, list) else got.tolist(), expected)


class Experimental(DatasetTestCase):
    def test_functions_for_apply(self):
        of_two = experimental.parallel_interleave(lambda x: Dataset.range(x, x + 2), cycle_length=2)
        self.assertDatasetProduces(Dataset.range(2).apply(of_two), [0, 1, 1, 2])
        self.assertDatasetProduces(Dataset.range(9).apply(experimental.take_while(lambda x: x < 2)), [0, 1])
        ds = Dataset.from_tensor_slices([1.0, 0.0, 4.0]).map(lambda x: tf.debugging.check_numerics(1.0 / x, "zero"))
        self.assertDatasetProduces(ds.apply(experimental.ignore_errors()), [1.0, 0.25])
        self.assertDatasetProduces(Dataset.range(2).apply(experimental.copy_to_device("/cpu:0")), [0, 1])

    def test_weights_of_a_dataset(self):
        weights = Dataset.from_tensors([0.5, 0.5]).repeat(4)
        ds = Dataset.sample_from_datasets([Dataset.range(4), Dataset.range(10, 14)], weights=weights)
        self.assertEqual(len(list(ds)), 4)  # each has as many as there are draws: a draw of one that ended gives nothing
        with self.assertRaises(tf.errors.InvalidArgumentError):
            list(Dataset.choose_from_datasets([Dataset.range(3)], Dataset.range(1, 3)))


if __name__ == "__main__":
    unittest.main()
