"""JAX, where it is installed."""
import os
import unittest
import unittest.mock

import numpy as np

import penstock as ps

os.environ.setdefault("JAX_PLATFORMS", "cpu")
try:
    import jax
    import jax.numpy as jnp
    from penstock._jax_dataset import to_jax
except ImportError:
    jax = None


def shuffled():
    return ps.range(20).shuffle(20, seed=3).batch(4)


def lists(batches):
    return [b.tolist() for b in batches]


@unittest.skipUnless(jax, "JAX is not installed")
class Jax(unittest.TestCase):
    def test_arrays_share_memory(self):
        ds = ps.range(256).map(lambda x: {"x": ps.float32(x), "two": (x, ps.uint8(x)), "even": x % 2 == 0,
                                          "name": ps.bytes("n")}).batch(128)
        first = next(iter(ps.jax(ds)))
        self.assertIsInstance(first["x"], jax.Array)
        self.assertEqual((first["x"].dtype, first["two"][0].dtype, first["two"][1].dtype, first["even"].dtype),
                         (jnp.float32, jnp.int32, jnp.uint8, jnp.bool_))
        self.assertEqual((first["x"].tolist(), first["even"].tolist()[:2]), (list(range(128)), [True, False]))
        self.assertEqual(first["name"], [b"n"] * 128)
        batch = next(iter(ds))["x"]
        if batch.__array_interface__["data"][0] % 64 == 0:
            self.assertEqual(to_jax(batch).unsafe_buffer_pointer(), batch.__array_interface__["data"][0])
        kept = to_jax(batch)
        del batch
        self.assertEqual(float(jax.jit(jnp.sum)(kept)), sum(range(128)))

    def test_unaligned_arrays_are_right(self):
        values = np.arange(40, dtype=np.float32)
        for x in ps.jax(ps.from_tensor_slices(values[1:37].reshape(4, 9))):
            self.assertEqual(x.shape, (9,))
        self.assertEqual([x.tolist() for x in ps.jax(ps.from_tensor_slices(values[3:33].reshape(3, 10)))],
                         values[3:33].reshape(3, 10).tolist())

    def test_scalars_and_other_kinds(self):
        self.assertEqual([int(x) for x in ps.jax(ps.range(3))], [0, 1, 2])
        [r] = ps.jax(ps.from_tensor_slices(ps.ragged([[1, 2], [3]])).ragged_batch(2))
        self.assertEqual((r.values.tolist(), r.splits[0].tolist()), ([1, 2, 3], [0, 2, 3]))
        self.assertEqual(list(ps.jax(ps.range(0).batch(2))), [])

    def test_64_bits(self):
        with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
            [x] = ps.jax(ps.range(3).batch(3))
            self.assertEqual((x.dtype, x.tolist()), (jnp.int64, [0, 1, 2]))

    def test_devices_and_shardings(self):
        one = jax.sharding.SingleDeviceSharding(jax.devices()[0])
        whole = lists(shuffled())
        for where in ({"device": "cpu"}, {"device": jax.devices()[0]}, {"sharding": one}, {"device": "cpu:0", "ahead": 0}):
            with self.subTest(where):
                got = list(ps.jax(shuffled(), **where))
                self.assertEqual(lists(got), whole)
                self.assertEqual(got[0].devices(), {jax.devices()[0]})
        with self.assertRaisesRegex(ps.InvalidArgument, "a device or a sharding"):
            ps.jax(shuffled(), device="cpu", sharding=one)
        with self.assertRaisesRegex(ps.InvalidArgument, "no device 'cpu:9'"):
            ps.jax(shuffled(), device="cpu:9")

    def test_no_more_than_asked_for_is_copied_ahead(self):
        feed = ps.jax(ps.range(20), device="cpu", ahead=3)
        it = iter(feed)
        for made in (1, 3, 5, 7, 8, 9):
            next(it)
            self.assertEqual(feed._iterator.stats()["stages"][0]["elements"], made)

    def test_errors_come_at_their_place(self):
        ds = ps.range(6).map(lambda x: 12 // (x - 3))
        for device in (None, "cpu"):
            it = iter(ps.jax(ds, device=device))
            self.assertEqual([int(next(it)) for _ in range(3)], [-4, -6, -12])
            with self.assertRaises(ps.Error):
                next(it)
            self.assertEqual([int(x) for x in it], [12, 6])

    def test_ranks(self):
        shares = []
        for rank in range(2):
            with unittest.mock.patch.multiple(jax, process_index=lambda rank=rank: rank, process_count=lambda: 2):
                shares.append([int(x) for x in ps.jax(ps.range(5))])
                self.assertEqual(len(ps.jax(ps.range(5))), 3 - rank)
                self.assertEqual([int(x) for x in ps.jax(ps.range(5), shard=False)], [0, 1, 2, 3, 4])
        self.assertEqual(shares, [[0, 2, 4], [1, 3]])

    def test_states(self):
        whole = lists(shuffled())
        for device in (None, "cpu"):
            for n in range(len(whole) + 1):
                one, other = ps.jax(shuffled(), device=device), ps.jax(shuffled(), device=device)
                walk = iter(one)
                given = [next(walk).tolist() for _ in range(n)]
                other.set_state(one.get_state())
                self.assertEqual(given + lists(other), whole, (device, n))

    def test_epochs(self):
        feed = ps.jax(shuffled())
        first, second, third = lists(feed), lists(feed), lists(feed)
        self.assertEqual(len({str(e) for e in (first, second, third)}), 3)
        feed.set_epoch(1)
        self.assertEqual(lists(feed), second)
        self.assertEqual(lists(feed), third)
        self.assertEqual(sum([first, second, third], []), lists(shuffled().repeat(3)))
        feed.set_epoch(1)
        walk = iter(feed)
        given = [next(walk).tolist()]
        other = ps.jax(shuffled())
        other.load_state_dict(feed.state_dict())
        other.set_epoch(1)  # as a loop over epochs does that begins in the middle of one
        self.assertEqual(given + lists(other), second)
        self.assertEqual(lists(other), third)
        with self.assertRaisesRegex(ValueError, "counted from 0"):
            feed.set_epoch(-1)

    def test_copies_are_counted(self):
        with ps.watch(quiet=True) as seen:
            list(ps.jax(shuffled(), device="cpu"))
        self.assertGreater(seen.copy_seconds, 0)
        self.assertIn("copies to", str(seen))
        self.assertEqual(seen.explanation.data["stages"][0]["op"], "copy")

    def test_copies_are_a_stage(self):
        feed = ps.jax(shuffled().map(lambda x: ps.float32(x)), device="cpu")
        list(feed)
        trace = feed.trace()
        first, second = trace.data["stages"][:2]
        self.assertEqual((first["op"], first["elements"], first["inputs"], second["id"]), ("copy", 5, [1], 1))
        self.assertEqual((first["label"], first["spec"]), (f"copy to {jax.devices()[0]}", second["spec"]))
        self.assertGreater(first["cpu_seconds"], 0)
        for stages in (feed.explain().data["stages"], trace.explain().data["stages"]):
            self.assertEqual([s["op"] for s in stages], ["copy", "map", "batch", "shuffle", "range"])
            self.assertIs(stages[0]["cacheable"], False)
        self.assertEqual(feed.stats()["stages"][0]["op"], "copy")
        self.assertEqual(ps.parse(trace.program).spec, feed.dataset.spec)
        self.assertEqual(ps.jax(shuffled(), device="cpu").dataset.trace().data["stages"][0]["op"], "batch")
        with self.assertRaisesRegex(ps.FailedPrecondition, "nothing has been iterated"):
            ps.jax(shuffled()).explain()

    def test_dlpack(self):
        [batch] = ps.range(4).map(lambda x: ps.float32(x)).batch(4)
        self.assertEqual(jax.dlpack.from_dlpack(ps.to_dlpack(batch)).tolist(), [0, 1, 2, 3])


class WithoutJax(unittest.TestCase):
    @unittest.skipIf(jax, "JAX is installed")
    def test_the_error_is_pythons(self):
        with self.assertRaises(ImportError):
            ps.jax(ps.range(1))


if __name__ == "__main__":
    unittest.main()
