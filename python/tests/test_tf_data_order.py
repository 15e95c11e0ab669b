"""penstock.compat.tf_data: which elements come, and in which order, in the way of TensorFlow's own tests."""
import collections
import itertools
import tempfile
import unittest

import numpy as np
from tf_data_case import DatasetTestCase, evaluate

from penstock.compat import tf_data as tf

Dataset = tf.data.Dataset


def numbers(ds):
    return [int(x) for x in ds]


class Order(DatasetTestCase):
    def test_take_skip_repeat_shard(self):
        ds = Dataset.from_tensor_slices((np.arange(10),))
        for count, expected in ((4, range(4)), (25, range(10)), (-1, range(10)), (0, [])):
            self.assertDatasetProduces(ds.take(count), [(i,) for i in expected])
        for count, expected in ((4, range(4, 10)), (25, []), (-1, []), (0, range(10))):
            self.assertDatasetProduces(ds.skip(count), [(i,) for i in expected])
        self.assertDatasetProduces(Dataset.range(3).repeat(2), [0, 1, 2, 0, 1, 2])
        self.assertDatasetProduces(Dataset.range(3).repeat(0), [])
        self.assertDatasetProduces(Dataset.range(3).repeat().take(7), [0, 1, 2, 0, 1, 2, 0])
        self.assertDatasetProduces(Dataset.range(0).repeat(), [])
        self.assertDatasetProduces(Dataset.range(10).shard(3, 1), [1, 4, 7])
        self.assertDatasetProduces(Dataset.range(10).shard(tf.constant(20, tf.int64), 5), [5])
        for shards, index in ((5, 7), (5, -3), (-3, 1), (0, 1)):
            with self.assertRaises((tf.errors.InvalidArgumentError, ValueError)):
                list(Dataset.range(10).shard(shards, index))

    def test_concatenate(self):
        a = Dataset.from_tensor_slices((np.array([1, 2]), np.array([1.5, 2.5])))
        b = Dataset.from_tensor_slices((np.array([3]), np.array([3.5])))
        self.assertDatasetProduces(a.concatenate(b), [(1, 1.5), (2, 2.5), (3, 3.5)])
        rows = Dataset.from_tensors(np.zeros([2, 3])).concatenate(Dataset.from_tensors(np.zeros([4, 3])))
        self.assertSpec(rows, tf.TensorSpec([None, 3], tf.float64))
        for other in (Dataset.range(2), Dataset.from_tensor_slices((np.array(["a"]), np.array([1.5])))):
            with self.assertRaises((TypeError, ValueError)):
                a.concatenate(other)

    def test_enumerate(self):
        ds = Dataset.from_tensor_slices((["a", "b"], [1, 2], [37.0, 38.0])).enumerate(start=20)
        self.assertDatasetProduces(ds, [(20, (b"a", 1, 37.0)), (21, (b"b", 2, 38.0))])
        self.assertEqual(ds.element_spec[0], tf.TensorSpec([], tf.int64))

    def test_filter(self):
        self.assertDatasetProduces(Dataset.range(100).filter(lambda x: x % 3 == 0), list(range(0, 100, 3)))
        ds = Dataset.range(10).map(lambda x: {"foo": x * 2, "bar": x ** 2}).filter(lambda d: tf.equal(d["bar"] % 2, 0))
        self.assertDatasetProduces(ds.map(lambda d: d["foo"] + d["bar"]), [i * 2 + i ** 2 for i in range(10) if i % 2 == 0])
        ds = Dataset.from_tensor_slices((np.arange(5), np.arange(5) * 2)).filter(lambda x, y: x + y > 6)
        self.assertDatasetProduces(ds, [(3, 6), (4, 8)])
        self.assertDatasetProduces(Dataset.range(4).filter(lambda x: tf.logical_and(x > 0, x != 2)), [1, 3])
        self.assertDatasetProduces(Dataset.from_tensor_slices([[True], [False]]).filter(lambda x: x[0]), [[True]])

    def test_take_while(self):
        self.assertDatasetProduces(Dataset.range(10).take_while(lambda x: x < 3), [0, 1, 2])
        self.assertDatasetProduces(Dataset.range(1, 10).repeat(2).take_while(lambda x: x % 4 != 0), [1, 2, 3])

    def test_unique(self):
        ds = Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1])
        self.assertDatasetProduces(ds.unique(), [1, 37, 2])
        self.assertDatasetProduces(Dataset.from_tensor_slices(["a", "b", "a"]).unique(), [b"a", b"b"])

    def test_scan(self):
        def fibonacci(state, _):
            a, b = state
            return (b, a + b), a
        ds = Dataset.range(8).scan((tf.constant(0, tf.int64), tf.constant(1, tf.int64)), fibonacci)
        self.assertDatasetProduces(ds, [0, 1, 1, 2, 3, 5, 8, 13])
        ds = Dataset.from_tensors(1).repeat(5).scan([0, 1], lambda a, _: ([a[1], a[0] + a[1]], a[1]))
        self.assertDatasetProduces(ds, [1, 1, 2, 3, 5])
        counted = Dataset.from_tensor_slices(np.arange(4)).scan({"n": np.int64(0)}, lambda s, x: (
            {"n": s["n"] + 1}, {"sum": s["n"] + x}))
        self.assertDatasetProduces(counted, [{"sum": 0}, {"sum": 2}, {"sum": 4}, {"sum": 6}])
        with self.assertRaises(TypeError):
            Dataset.range(2).scan(np.int64(0), lambda s, x: s + x)
        with self.assertRaisesRegex(TypeError, "The element types for the new state must match the initial state."):
            Dataset.range(2).scan(np.int64(0), lambda s, x: (tf.cast(s, tf.float32), x))
        grows = Dataset.from_tensors(0).repeat(3).scan(([0], 1), lambda s, x: (
            (tf.concat([s[0], s[0]], 0), tf.expand_dims(s[1], 0)), (s, x)))
        self.assertEqual(grows.element_spec[0][0].shape.as_list(), [None])
        self.assertIsNone(grows.element_spec[0][1].shape.rank)
        self.assertDatasetProduces(grows, [(([0] * 2 ** i, np.array(1, ndmin=i)), 0) for i in range(3)])

    def test_reduce(self):
        self.assertEqual(int(Dataset.range(1, 6).reduce(np.int64(0), lambda s, x: s + x)), 15)
        ds = Dataset.from_tensor_slices((np.arange(1, 5), np.arange(1, 5) * 2))
        self.assertEqual(evaluate(ds.reduce((np.int64(0), np.int64(1)), lambda s, x: (s[0] + x[0], s[1] * x[1]))), (10, 384))
        self.assertEqual(evaluate(Dataset.range(4).reduce({"a": 0}, lambda s, x: {"a": s["a"] + 1})), {"a": 4})
        self.assertEqual(int(Dataset.range(0).reduce(7, lambda s, x: s + 1)), 7)
        with self.assertRaises(tf.errors.InvalidArgumentError):
            Dataset.from_tensors(np.float32("nan")).reduce(np.float32(0), lambda s, x: s + tf.debugging.check_numerics(x, "m"))

    def test_apply(self):
        self.assertDatasetProduces(Dataset.range(5).apply(lambda ds: ds.filter(lambda x: x % 2 == 0).map(lambda x: x * 3)),
                                   [0, 6, 12])
        with self.assertRaises(TypeError):
            Dataset.range(5).apply(lambda ds: 1)

    def test_get_single_element(self):
        self.assertEqual(evaluate(Dataset.from_tensors((1, [2])).get_single_element())[0], 1)
        for n, said in ((0, "Dataset was empty."), (2, "Dataset had more than one element.")):
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, said):
                Dataset.range(n).get_single_element()

    def test_choose_and_sample(self):
        words = [b"foo", b"bar", b"baz"]
        datasets = [Dataset.from_tensors(w).repeat() for w in words]
        choices = np.array([0, 1, 2, 1, 0, 2, 2])
        ds = Dataset.choose_from_datasets(datasets, Dataset.from_tensor_slices(choices))
        self.assertDatasetProduces(ds, [words[i] for i in choices])
        short = [Dataset.range(0), Dataset.range(3), Dataset.range(10)]
        choice = Dataset.from_tensor_slices(np.array([0, 1, 2]))
        self.assertDatasetProduces(Dataset.choose_from_datasets(short, choice, stop_on_empty_dataset=True), [])
        self.assertDatasetProduces(Dataset.choose_from_datasets(short, choice, stop_on_empty_dataset=False), [0, 0])
        mixed = Dataset.sample_from_datasets([Dataset.range(20), Dataset.range(100, 120)], [0.5, 0.5], seed=3)
        got = numbers(mixed)
        self.assertEqual(sorted(got), [*range(20), *range(100, 120)])
        self.assertEqual([x for x in got if x < 50], list(range(20)))
        self.assertEqual(numbers(Dataset.sample_from_datasets(
            [Dataset.range(3), Dataset.range(9)], [1.0, 0.0])), [0, 1, 2])
        with self.assertRaises((ValueError, TypeError)):
            Dataset.sample_from_datasets([Dataset.range(2)], [0.5, 0.5])
        with self.assertRaises((ValueError, TypeError)):
            Dataset.sample_from_datasets([])
        with self.assertRaises((ValueError, TypeError)):
            Dataset.choose_from_datasets(short, choice.map(lambda x: tf.cast(x, tf.int32)))

    def test_rejection_resample(self):
        ds = Dataset.from_tensor_slices(np.repeat([0, 1, 2, 3], [60, 20, 10, 10])).shuffle(100, seed=1).repeat(20)
        ds = ds.rejection_resample(lambda c: tf.cast(c, tf.int32), [0.25] * 4, initial_dist=[0.6, 0.2, 0.1, 0.1], seed=2)
        classes = collections.Counter(int(c) for c, data in ds if int(c) == int(data))
        self.assertLess(max(classes.values()) / min(classes.values()), 1.7)

    def test_cache(self):
        calls = []

        def count(x):
            calls.append(x)
            return x
        ds = Dataset.range(4).map(lambda x: tf.numpy_function(count, [x], tf.int64)).cache()
        self.assertDatasetProduces(ds, [0, 1, 2, 3], num_test_iterations=3)
        self.assertEqual(len(calls), 4)
        with tempfile.TemporaryDirectory() as folder:
            ds = Dataset.range(4).map(lambda x: x * 2).cache(f"{folder}/a")
            self.assertDatasetProduces(ds, [0, 2, 4, 6], num_test_iterations=2)

    def test_save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            ds = Dataset.range(10).map(lambda x: {"x": x, "name": tf.strings.as_string(x)})
            ds.save(f"{folder}/a")
            again = Dataset.load(f"{folder}/a")
            self.assertEqual(again.element_spec, ds.element_spec)
            self.assertDatasetProduces(again, [{"x": i, "name": b"%d" % i} for i in range(10)])
            self.assertEqual(len(again), 10)
            Dataset.range(10).save(f"{folder}/b", shard_func=lambda x: x % 3)
            self.assertEqual(sorted(numbers(Dataset.load(f"{folder}/b"))), list(range(10)))
            read = Dataset.load(f"{folder}/b", reader_func=lambda shards: shards.interleave(lambda x: x, cycle_length=3))
            self.assertEqual(sorted(numbers(read)), list(range(10)))
            Dataset.range(3).save(f"{folder}/a")
            self.assertEqual(numbers(Dataset.load(f"{folder}/a")), [0, 1, 2])
            with self.assertRaises(tf.errors.NotFoundError):
                Dataset.load(f"{folder}/none")
            self.assertEqual(sorted(numbers(Dataset.range(5).snapshot(f"{folder}/s"))), list(range(5)))


class Interleave(DatasetTestCase):
    def expected(self, lists, cycle_length, block_length):
        """The order of TensorFlow's own reference."""
        out, rest = [], itertools.chain([iter(x) for x in lists])
        slots = [None] * cycle_length
        at = 0
        for i in range(cycle_length):
            slots[i] = next(rest, None)
        open_ = sum(s is not None for s in slots)
        while open_:
            slot = slots[at]
            if slot is not None:
                ended = False
                for _ in range(block_length):
                    try:
                        out.append(next(slot))
                    except StopIteration:
                        ended = True
                        break
                if ended:
                    slots[at] = None
            at = (at + 1) % cycle_length
            if slots[at] is None:
                slots[at] = next(rest, None)
            open_ = sum(s is not None for s in slots)
        return out

    def test_order(self):
        inputs = np.array([4, 5, 6])
        for cycle, block, parallel in itertools.product((1, 2, 3, 7), (1, 2, 3), (None, 1, 3, tf.data.AUTOTUNE)):
            if parallel is not None and parallel > cycle:
                continue
            with self.subTest(cycle=cycle, block=block, parallel=parallel):
                ds = Dataset.from_tensor_slices(inputs).repeat(2).interleave(
                    lambda x: Dataset.from_tensors(x).repeat(x), cycle, block, parallel)
                self.assertDatasetProduces(ds, self.expected([[i] * i for i in [4, 5, 6, 4, 5, 6]], cycle, block))

    def test_known_order(self):
        ds = Dataset.from_tensor_slices([4, 5, 6]).repeat(2).interleave(
            lambda x: Dataset.from_tensors(x).repeat(tf.cast(x, tf.int64)), cycle_length=2, block_length=1)
        self.assertEqual(numbers(ds), [4, 5, 4, 5, 4, 5, 4, 5, 5, 6, 6, 4, 6, 4, 6, 4, 6, 4, 6, 5, 6, 5, 6, 5, 6, 5, 6, 5, 6, 6][:30])

    def test_errors(self):
        values = [1, 2, 3, np.nan, 5]
        ds = Dataset.from_tensor_slices(np.float32(values)).map(
            lambda x: tf.debugging.check_numerics(x, "message")).interleave(Dataset.from_tensors, cycle_length=2)
        get_next = self.getNext(ds)
        for expected in (1.0, 2.0, 3.0):
            self.assertEqual(get_next(), expected)
        with self.assertRaises(tf.errors.InvalidArgumentError):
            get_next()
        self.assertEqual(get_next(), 5.0)
        with self.assertRaises(tf.errors.OutOfRangeError):
            get_next()
        with self.assertRaises((tf.errors.InvalidArgumentError, ValueError)):
            list(Dataset.range(2).interleave(Dataset.from_tensors, cycle_length=2, block_length=0))


class Shuffle(DatasetTestCase):
    def test_all_come(self):
        for buffer in (1, 5, 10, 100):
            self.assertEqual(sorted(numbers(Dataset.range(20).shuffle(buffer))), list(range(20)))
        self.assertEqual(numbers(Dataset.range(20).shuffle(1)), list(range(20)))
        self.assertEqual(sorted(numbers(Dataset.range(20).shuffle(tf.data.UNKNOWN_CARDINALITY))), list(range(20)))
        for at, x in enumerate(numbers(Dataset.range(50).shuffle(5, seed=1))):
            self.assertLess(x, at + 5)

    def test_seeds(self):
        def order(**named):
            return numbers(Dataset.range(20).shuffle(20, **named))
        self.assertEqual(order(seed=7), order(seed=7))
        self.assertNotEqual(order(seed=7), order(seed=8))
        self.assertNotEqual(order(), order())

    def test_iterations(self):
        ds = Dataset.range(20).shuffle(20, seed=7)
        self.assertNotEqual(numbers(ds), numbers(ds))
        ds = Dataset.range(20).shuffle(20, seed=7, reshuffle_each_iteration=False)
        self.assertEqual(numbers(ds), numbers(ds))
        twice = numbers(ds.repeat(2))
        self.assertEqual(twice[:20], twice[20:])
        twice = numbers(Dataset.range(20).shuffle(20, seed=7, reshuffle_each_iteration=True).repeat(2))
        self.assertEqual(sorted(twice[:20]), list(range(20)))
        self.assertNotEqual(twice[:20], twice[20:])

    def test_the_global_seed(self):
        def order():
            tf.random.set_seed(5)
            return numbers(Dataset.range(20).shuffle(20)), numbers(Dataset.range(20).shuffle(20))
        try:
            self.assertEqual(order(), order())
            self.assertNotEqual(*order())
        finally:
            tf.random.set_seed(None)

    def test_wrong_sizes(self):
        for make in (lambda: Dataset.range(5).shuffle(0), lambda: Dataset.range(5).shuffle(-1),
                     lambda: Dataset.range(5).prefetch(-5), lambda: Dataset.range(5).batch(0)):
            with self.assertRaises(tf.errors.InvalidArgumentError):
                list(make())
        self.assertEqual(numbers(Dataset.range(3).prefetch(0)), [0, 1, 2])


class WhatADatasetSays(DatasetTestCase):
    def test_cardinality(self):
        five = Dataset.range(5)
        for ds, expected in ((five, 5), (five.batch(2), 3), (five.batch(2, drop_remainder=True), 2), (five.repeat(), -1),
                             (five.repeat(2), 10), (five.filter(lambda x: True), -2), (five.take(2), 2), (five.skip(4), 1),
                             (five.shard(2, 1), 2), (five.concatenate(five), 10), (Dataset.zip(five, five.repeat()), 5),
                             (five.window(2), 3), (five.flat_map(Dataset.from_tensors), -2), (five.map(lambda x: x), 5),
                             (Dataset.from_generator(lambda: iter([1]), tf.int64), -2), (five.enumerate(), 5),
                             (five.shuffle(2), 5), (five.prefetch(1), 5), (five.batch(2).unbatch(), -2)):
            self.assertEqual(int(ds.cardinality()), expected)
        self.assertEqual((tf.data.INFINITE_CARDINALITY, tf.data.UNKNOWN_CARDINALITY), (-1, -2))
        self.assertEqual(five.cardinality().numpy(), 5)

    def test_len_and_bool(self):
        self.assertEqual(len(Dataset.range(5)), 5)
        self.assertTrue(Dataset.range(0))
        with self.assertRaisesRegex(TypeError, "infinite"):
            len(Dataset.range(5).repeat())
        with self.assertRaisesRegex(TypeError, "unknown"):
            len(Dataset.range(5).filter(lambda x: True))

    def test_assert_cardinality(self):
        assert_cardinality = tf.data.experimental.assert_cardinality
        ds = Dataset.range(10).filter(lambda x: x < 5)
        self.assertEqual(int(ds.apply(assert_cardinality(5)).cardinality()), 5)
        self.assertDatasetProduces(ds.apply(assert_cardinality(5)), list(range(5)))
        for wrong in (3, 7):
            with self.assertRaises(tf.errors.FailedPreconditionError):
                list(ds.apply(assert_cardinality(wrong)))

    def test_element_spec(self):
        self.assertSpec(Dataset.from_tensors(([0.5], {"a": 1})).batch(2),
                        (tf.TensorSpec([None, 1], tf.float32), {"a": tf.TensorSpec([None], tf.int32)}))
        self.assertEqual(iter(Dataset.range(2)).element_spec, tf.TensorSpec([], tf.int64))

    def test_iterators(self):
        it = iter(Dataset.range(2))
        self.assertEqual((int(next(it)), int(it.get_next())), (0, 1))
        with self.assertRaises(tf.errors.OutOfRangeError):
            it.get_next()
        with self.assertRaises(StopIteration):
            next(it)
        it = iter(Dataset.range(1))
        self.assertTrue(it.get_next_as_optional().has_value())
        last = it.get_next_as_optional()
        self.assertFalse(last.has_value())
        with self.assertRaises(tf.errors.InvalidArgumentError):
            last.get_value()

    def test_numpy_iterator(self):
        ds = Dataset.from_tensor_slices({"a": ([1, 2], [3, 4]), "b": ["x", "y"]})
        self.assertEqual(list(ds.as_numpy_iterator()), [{"a": (1, 3), "b": b"x"}, {"a": (2, 4), "b": b"y"}])
        self.assertIsInstance(next(Dataset.range(2).batch(2).as_numpy_iterator()), np.ndarray)
        with self.assertRaises(TypeError):
            Dataset.range(2).window(2).as_numpy_iterator()

    def test_random_access(self):
        ds = Dataset.range(10).map(lambda x: x * 2).skip(1)
        self.assertEqual(int(tf.data.experimental.at(ds, 3)), 8)
        with self.assertRaises(tf.errors.OutOfRangeError):
            tf.data.experimental.at(ds, 9)

    def test_options(self):
        options = tf.data.Options()
        options.deterministic = False
        options.threading.private_threadpool_size = 1
        ds = Dataset.range(5).with_options(options).map(lambda x: x + 1)
        self.assertEqual(ds.options().deterministic, False)
        self.assertEqual(ds.options().threading.private_threadpool_size, 1)
        self.assertEqual(sorted(numbers(ds)), [1, 2, 3, 4, 5])
        other = tf.data.Options()
        other.deterministic = True
        self.assertEqual(ds.with_options(other).options().deterministic, True)
        zipped = Dataset.zip(ds, Dataset.range(5))
        self.assertEqual(zipped.options().threading.private_threadpool_size, 1)
        with self.assertRaises(TypeError):
            options.deterministic = "yes"
        with self.assertRaises(AttributeError):
            options.determinstic = True
        with self.assertRaisesRegex(ValueError, "Mutating"):
            ds.options().deterministic = True
        with self.assertRaisesRegex(ValueError, "Mutating"):
            ds.options().threading.private_threadpool_size = 2
        self.assertEqual(tf.data.Options(), tf.data.Options())
        self.assertNotEqual(tf.data.Options(), options)

    def test_checkpoints(self):
        ds = Dataset.range(20).shuffle(8, seed=3, reshuffle_each_iteration=False).batch(4)
        whole = [x.numpy().tolist() for x in ds]
        with tempfile.TemporaryDirectory() as folder:
            it = iter(ds)
            given = [next(it).numpy().tolist(), next(it).numpy().tolist()]
            manager = tf.train.CheckpointManager(tf.train.Checkpoint(iterator=it), folder, max_to_keep=1)
            manager.save()
            self.assertEqual(manager.save(), manager.latest_checkpoint)
            self.assertEqual(len(manager.checkpoints), 1)
            other = iter(Dataset.range(20).shuffle(8, seed=3, reshuffle_each_iteration=False).batch(4))
            tf.train.Checkpoint(iterator=other).restore(tf.train.latest_checkpoint(folder))
            self.assertEqual(given + [x.numpy().tolist() for x in other], whole)
            with self.assertRaises(tf.errors.NotFoundError):
                tf.train.Checkpoint(iterator=other).restore(f"{folder}/none-3")

    def test_values_are_read(self):
        x, y = next(iter(Dataset.from_tensor_slices(([[1.5, 2.5]], ["a"]))))
        self.assertEqual((x.shape.as_list(), x.dtype, y.dtype, y.numpy()), ([2], tf.float32, tf.string, b"a"))
        self.assertEqual((float(x[1]), x.numpy().sum(), len(x)), (2.5, 4.0, 2))
        self.assertEqual([int(v) for v in next(iter(Dataset.range(3).batch(3)))], [0, 1, 2])


if __name__ == "__main__":
    unittest.main()
