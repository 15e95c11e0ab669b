"""Large arrays and mapped files as sources: shared, and no part of the pipeline's text."""
import os
import pathlib
import pickle
import tempfile
import unittest

import numpy as np
from source_case import SourceCase

import penstock as ps


def resident_bytes():
    return int(pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def large(seed=0):
    return np.random.default_rng(seed).random((5, 60_000), np.float32)


class Memory(SourceCase):
    def test_values_passes_ranks_and_states(self):
        def check(make, same, count=5):
            ds = make()
            self.assertEqual(len(ds), count)
            for walk, indices in ((ds, range(count)), (ds.repeat(2), [*range(count)] * 2), (ds[1::2], range(1, count, 2))):
                got = list(walk)
                self.assertEqual(len(got), len(indices))
                self.assertTrue(all(same(x, i) for x, i in zip(got, indices)))
            it = ds.iterate()
            for n in range(count + 1):
                left = list(make().restore(it.save_state()))
                self.assertEqual(len(left), count - n)
                self.assertTrue(all(same(x, n + i) for i, x in enumerate(left)))
                next(it, None)
            self.assertTrue(same(ds[count - 1], count - 1))
        check(lambda: ps.from_tensor_slices(large()), lambda x, i: (x == large()[i]).all())
        check(lambda: ps.from_tensor_slices({"x": large(), "n": np.arange(5)}), lambda x, i: (x["x"] == large()[i]).all() and x["n"] == i)
        check(lambda: ps.from_tensor_slices((large(), np.arange(5))), lambda x, i: (x[0] == large()[i]).all() and x[1] == i)
        words = np.array([b"x" * 300_000 + b"%d" % i for i in range(5)])
        check(lambda: ps.from_tensor_slices({"w": words, "n": np.arange(5)}), lambda x, i: x["w"] == words[i])

    def test_the_text_is_short(self):
        ds = ps.from_tensor_slices({"x": large()}).batch(2)
        self.assertEqual(str(ds), 'from_memory(arrays="{x: float32[60000]}")\n| batch(2)')
        it = iter(ds)
        list(it)
        self.assertLess(len(it.trace()), 100_000)
        self.assertEqual(it.explain().data["trust"]["ended"], True)
        with self.assertRaisesRegex(ps.NotFound, "from_memory"):
            ps.parse(str(ds))
        with self.assertRaisesRegex(ps.FailedPrecondition, "cannot be pickled"):
            pickle.dumps(ds)

    def test_small_arrays_are_text(self):
        ds = ps.from_tensor_slices({"x": np.arange(3)})
        self.assertEqual([int(e["x"]) for e in pickle.loads(pickle.dumps(ds))], [0, 1, 2])

    def test_a_state_needs_the_same_contents(self):
        state = iter(ps.from_tensor_slices(large())).save_state()
        with self.assertRaises(ps.FailedPrecondition):
            ps.from_tensor_slices(large(1)).restore(state)

    def test_shapes_that_differ(self):
        with self.assertRaisesRegex(ps.InvalidArgument, "differ in their first size"):
            ps.from_tensor_slices({"x": large(), "n": np.arange(4)})


class Mapped(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = f"{folder.name}/data.bin"
        self.rows = 64 * 1024
        with open(self.path, "wb") as f:  # 256 MiB, of which nothing is on the disk
            f.truncate(self.rows * 4096)

    def mapped(self, mode="r"):
        return np.memmap(self.path, np.float32, mode, shape=(self.rows, 1024))

    def test_it_is_not_read_into_memory(self):
        self.mapped("r+")[7, 3] = 5
        before = resident_bytes()
        ds = ps.from_tensor_slices({"x": self.mapped(), "n": np.arange(self.rows)})
        self.assertEqual((len(ds), ds[7]["x"][3], int(ds[-1]["n"])), (self.rows, 5, self.rows - 1))
        it = iter(ds.global_shuffle(seed=1).batch(8))
        for _ in range(4):
            next(it)
        state = it.save_state()
        self.assertEqual(len(next(ds.global_shuffle(seed=1).batch(8).restore(state))["x"]), 8)
        it.explain()
        self.assertLess(len(str(ds)), 1000)
        self.assertLess(resident_bytes() - before, 128 << 20)

    def test_loaded_with_numpy(self):
        path = self.path + ".npy"
        np.save(path, np.arange(600_000).reshape(3, 200_000))
        ds = ps.from_tensor_slices(np.load(path, mmap_mode="r"))
        self.assertEqual([int(x[1]) for x in ds], [1, 200_001, 400_001])
        it = ds.iterate()
        next(it)
        self.assertEqual([int(x[1]) for x in ps.from_tensor_slices(np.load(path, mmap_mode="r")).restore(it.save_state())],
                         [200_001, 400_001])

    def test_a_state_is_of_the_file_as_it_was_and_of_the_part_of_it(self):
        ds = ps.from_tensor_slices(self.mapped()[10:20_000])
        state = ds.iterate().save_state()
        self.assertEqual(len(next(ps.from_tensor_slices(self.mapped()[10:20_000]).restore(state))), 1024)
        for other in (self.mapped()[11:20_001], self.mapped()[10:19_000]):
            with self.assertRaises(ps.FailedPrecondition):
                ps.from_tensor_slices(other).restore(state)
        os.utime(self.path, ns=(1, 1))
        with self.assertRaises(ps.FailedPrecondition):
            ps.from_tensor_slices(self.mapped()[10:20_000]).restore(state)


class DlPack(unittest.TestCase):
    def test_numpy(self):
        [batch] = ps.range(3).batch(3)
        shared = np.from_dlpack(ps.to_dlpack(batch))
        self.assertEqual(shared.__array_interface__["data"][0], batch.__array_interface__["data"][0])
        self.assertEqual(np.from_dlpack(ps.to_dlpack(batch[1:])).tolist(), [1, 2])
        self.assertEqual(np.from_dlpack(ps.to_dlpack(np.float32(2))).tolist(), 2)
        with self.assertRaisesRegex(ps.InvalidArgument, "array of numbers"):
            ps.to_dlpack(np.array([b"a"], object))


class Buffers(unittest.TestCase):
    def test_strings_have_none(self):
        strings = ps._core.texts([b"a", b"b"], [2])
        with self.assertRaises(BufferError):
            memoryview(strings)
        with self.assertRaisesRegex(ps.InvalidArgument, "must hold strings"):
            list(ps.from_generator(lambda: iter([(strings,)]), spec=ps.TensorSpec(ps.bytes, (None,))))
        self.assertEqual([x.tolist() for x in ps.from_generator([strings], spec=ps.TensorSpec(ps.bytes, (None,)))], [[b"a", b"b"]])


if __name__ == "__main__":
    unittest.main()
