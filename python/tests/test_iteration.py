"""Iteration: memory, states, errors, signals, threads, forks."""
import os
import pathlib
import pickle
import signal
import tempfile
import threading
import unittest

import numpy as np

import penstock as ps

ENDLESS = "range(1) | repeat() | filter(x -> x > 0) | prefetch(1)"  # another thread computes, and no element comes


class Memory(unittest.TestCase):
    def test_batches_outlive_everything(self):
        it = iter(ps.range(100_000).map(lambda x: {"x": x, "y": x * 2}).batch(1000))
        batches = list(it)
        del it
        self.assertEqual(sum(int(b["x"].sum()) for b in batches), sum(range(100_000)))
        self.assertEqual(batches[99]["y"][-1], 2 * 99_999)

    def test_batches_are_read_only(self):
        [batch] = ps.range(3).batch(3)
        with self.assertRaises(ValueError):
            batch[0] = 1
        self.assertFalse(batch.flags.owndata)

    def test_empty_arrays(self):
        [x] = ps.from_tensors([1.0]).map(lambda x: x[:0])
        self.assertEqual(x.shape, (0,))

    def test_other_kinds(self):
        [sparse] = ps.from_tensors(ps.sparse([[0, 1]], [5], [2, 2]))
        self.assertEqual((sparse.values.tolist(), sparse.shape.tolist()), ([5], [2, 2]))
        self.assertEqual(list(ps.range(2).map(lambda x: ps.optional_of(x))), [0, 1])


class States(unittest.TestCase):
    def test_every_place(self):
        ds = ps.range(30).shuffle(7, seed=1, reshuffle_each_iteration=False).map(lambda x: x * 2).batch(4)
        want = [b.tolist() for b in ds]
        for at in range(len(want) + 1):
            it = ds.iterate()
            got = [next(it).tolist() for _ in range(at)]
            got += [b.tolist() for b in ds.restore(it.save_state())]
            self.assertEqual(got, want)

    def test_state_dict(self):
        ds = ps.range(6).configure(checkpoints=True)
        it = iter(ds)
        next(it)
        state = it.state_dict()
        list(it)
        it.load_state_dict(state)
        self.assertEqual(list(it), [1, 2, 3, 4, 5])

    def test_ranks(self):
        ranks = [ps.range(12).shard(2, i) for i in range(2)]
        states = []
        for ds in ranks:
            it = ds.configure(checkpoints=True).iterate()
            next(it)
            states.append(it.save_state())
        rest = [x for i in range(3) for x in ps.range(12).shard(3, i).restore(states)]
        self.assertEqual(sorted(rest), list(range(2, 12)))

    def test_wrong_states(self):
        state = ps.range(6).iterate().save_state()
        with self.assertRaises(RuntimeError):
            ps.range(7).restore(state)
        with self.assertRaises(ps.DataLoss):
            ps.range(6).restore(state[:10])


class Errors(unittest.TestCase):
    def test_kinds(self):
        with self.assertRaises(ValueError) as caught:
            ps.range(3).batch(0)
        self.assertEqual((caught.exception.code, caught.exception.node), ("INVALID_ARGUMENT", "batch"))
        with self.assertRaises(FileNotFoundError):
            list(ps.tfrecord("/nowhere/x.tfrecord"))
        with self.assertRaisesRegex(LookupError, "did you mean map"):
            ps.parse("range(3) | mpa(x -> x)")

    def test_an_element_that_fails(self):
        it = iter(ps.from_list(["1", "x", "3"]).map(lambda s: ps.to_number(s, ps.int64)))
        self.assertEqual(next(it), 1)
        with self.assertRaisesRegex(ps.InvalidArgument, "x"):
            next(it)
        self.assertEqual(list(it), [3])

    def test_damaged_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "x.tfrecord")
            file.write_bytes(b"not a record at all, but long enough")
            with self.assertRaises(ps.DataLoss) as caught:
                list(ps.tfrecord(str(file)))
            self.assertIn("x.tfrecord", str(caught.exception))
            self.assertEqual((caught.exception.file, caught.exception.offset), (str(file), 0))

    def test_the_part_of_a_file_that_is_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            file = str(pathlib.Path(folder, "numbers: 1 (old).txt"))
            pathlib.Path(file).write_text("1\nx\n", encoding="utf-8")
            with self.assertRaises(ps.InvalidArgument) as caught:
                list(ps.text_line(file).map(lambda s: ps.to_number(s, ps.int64)))
            e = pickle.loads(pickle.dumps(caught.exception))
            self.assertEqual((e.file, e.record, e.offset), (file, 1, None))
            missing = str(pathlib.Path(folder, "missing"))
            with self.assertRaises(FileNotFoundError) as caught:
                list(ps.tfrecord(missing))
            self.assertEqual((caught.exception.file, caught.exception.filename), (missing, missing))
        with self.assertRaises(ps.InvalidArgument) as caught:
            ps.range(3).batch(0)
        self.assertIsNone(caught.exception.file)


class Behaviour(unittest.TestCase):
    def test_ctrl_c(self):
        sent = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
        sent.start()
        with self.assertRaises(KeyboardInterrupt):
            list(ps.parse(ENDLESS))
        with self.assertRaises(KeyboardInterrupt):
            sent = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
            sent.start()
            ps.parse(ENDLESS).run()

    def test_ctrl_c_while_the_calling_thread_computes(self):
        """The iterator stays where it stood, and is opened again there by the next call."""
        it = ps.parse("range(1099511627776) | filter(x -> x < 5)").configure(threads=1).iterate()
        self.assertEqual([next(it) for _ in range(5)], [0, 1, 2, 3, 4])
        state = it.save_state()
        for _ in range(2):
            sent = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
            sent.start()
            with self.assertRaises(KeyboardInterrupt):
                next(it)
            self.assertEqual(it.save_state(), state)

    def test_other_threads_run_meanwhile(self):
        """A thread that must run for the pipeline to be left: it could not if the wait held the GIL."""
        ran = threading.Event()
        main = threading.main_thread()

        def other():
            ran.set()
            signal.pthread_kill(main.ident, signal.SIGINT)
        with self.assertRaises(KeyboardInterrupt):
            threading.Thread(target=other).start()
            list(ps.parse(ENDLESS))
        self.assertTrue(ran.is_set())

    def test_threads_share_an_iterator(self):
        it = iter(ps.range(10_000))
        parts = [[] for _ in range(4)]
        threads = [threading.Thread(target=lambda p=p: p.extend(it)) for p in parts]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(sorted(x for p in parts for x in p), list(range(10_000)))

    def test_an_iterator_is_left_early(self):
        for _ in range(5):
            it = iter(ps.range(1 << 40).map(lambda x: x + 1).batch(100).prefetch(4))
            next(it)
            del it

    def test_fork(self):
        ds = ps.range(10)
        it = ds.iterate()
        next(it)
        child = os.fork()
        if child == 0:
            good = sum(ds) == 45
            try:
                next(it)
                good = False
            except RuntimeError as e:
                good = good and "forked" in str(e)
            os._exit(0 if good else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(next(it), 1)


if __name__ == "__main__":
    unittest.main()
