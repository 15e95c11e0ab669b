"""PyTorch, where it is installed."""
import unittest
import unittest.mock

import penstock as ps

try:
    import torch
    from penstock._torch_dataset import to_torch
except ImportError:
    torch = None


def rank_of(items, rank):
    with unittest.mock.patch.dict("os.environ", RANK=str(rank), WORLD_SIZE="2"):
        return [int(x) for x in ps.torch(items)]


@unittest.skipUnless(torch, "PyTorch is not installed")
class Torch(unittest.TestCase):
    def test_tensors_share_memory(self):
        ds = ps.range(6).map(lambda x: {"x": ps.float32(x), "two": (x, ps.uint8(x)), "name": ps.bytes("n")}).batch(3)
        [first, second] = ps.torch(ds)
        self.assertEqual(first["x"].tolist(), [0, 1, 2])
        self.assertEqual((first["x"].dtype, first["two"][1].dtype), (torch.float32, torch.uint8))
        self.assertEqual(second["name"], [b"n"] * 3)
        batch = next(iter(ds))["x"]
        self.assertEqual(to_torch(batch).data_ptr(), batch.__array_interface__["data"][0])

    def test_scalars_and_other_kinds(self):
        self.assertEqual([x.item() for x in ps.torch(ps.range(3))], [0, 1, 2])
        [r] = ps.torch(ps.from_tensor_slices(ps.ragged([[1, 2], [3]])).ragged_batch(2))
        self.assertEqual(r.values.tolist(), [1, 2, 3])

    def test_a_data_loader(self):
        for workers in (0, 2):
            loader = torch.utils.data.DataLoader(ps.torch(ps.range(10).batch(2)), batch_size=None, num_workers=workers,
                                                 multiprocessing_context="spawn" if workers else None)
            self.assertEqual(sorted(x for b in loader for x in b.tolist()), list(range(10)))

    def test_ranks(self):
        ds = ps.range(5)
        self.assertEqual((rank_of(ds, 0), rank_of(ds, 1)), ([0, 2, 4], [1, 3]))
        self.assertEqual(len(ps.torch(ds)), 5)

    def test_states(self):
        def ds():
            return ps.range(20).shuffle(8, seed=3).batch(4)
        whole = [b.tolist() for b in ps.torch(ds())]
        one = ps.torch(ds())
        self.assertIn("penstock", one.state_dict())
        walk = iter(one)
        given = [next(walk).tolist(), next(walk).tolist()]
        other = ps.torch(ds())
        other.load_state_dict(one.state_dict())
        self.assertEqual(given + [b.tolist() for b in other], whole)

    def test_epochs(self):
        def ds():
            return ps.range(20).shuffle(20, seed=3)
        feed = ps.torch(ds())
        first, second, third = ([int(x) for x in feed] for _ in range(3))
        self.assertEqual(first + second + third, list(ds().repeat(3)))
        feed.set_epoch(1)
        self.assertEqual([int(x) for x in feed], second)
        for rank in range(2):  # each epoch is dealt anew, the same on all ranks
            with unittest.mock.patch.dict("os.environ", RANK=str(rank), WORLD_SIZE="2"):
                feed = ps.torch(ds())
                self.assertEqual([[int(x) for x in feed] for _ in range(2)], [first[rank::2], second[rank::2]])
                feed.set_epoch(2)
                self.assertEqual([int(x) for x in feed], third[rank::2])
        feed = ps.torch(ds())
        feed.set_epoch(1)
        walk = iter(feed)
        given = [int(next(walk)), int(next(walk))]
        other = ps.torch(ds())
        other.set_state(feed.get_state())
        other.set_epoch(1)
        self.assertEqual(given + [int(x) for x in other], second)

    def test_map_style_datasets(self):
        data = torch.utils.data
        whole = data.TensorDataset(torch.arange(6), torch.arange(12.0).reshape(6, 2))
        joined = data.ConcatDataset([data.Subset(whole, [4, 0]), whole])
        self.assertEqual([int(n) for n, _ in ps.from_map_style(joined)], [4, 0, 0, 1, 2, 3, 4, 5])
        self.assertEqual([x.tolist() for _, x in ps.from_map_style(joined).take(2)], [[8, 9], [0, 1]])
        self.assertEqual(ps.from_map_style(joined).spec[1].dtype, ps.float32)

    def test_device(self):
        kinds = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]
        for kind in kinds:
            got = list(ps.torch(ps.range(6).batch(2), device=kind))
            self.assertEqual({b.device.type for b in got}, {kind})
            self.assertEqual([b.tolist() for b in got], [[0, 1], [2, 3], [4, 5]])

    def test_copies_are_a_stage(self):
        feed = ps.torch(ps.range(6).batch(2), device="cpu")
        list(feed)
        first = feed.trace().data["stages"][0]
        self.assertEqual((first["label"], first["elements"], first["inputs"]), ("copy to cpu", 3, [1]))
        self.assertEqual([s["op"] for s in feed.explain().data["stages"]], ["copy", "batch", "range"])

    def test_an_error_ends_nothing(self):
        for device in (None, "cpu"):
            feed = ps.torch(ps.range(6).map(lambda x: 12 // (x - 3)), device=device)
            it = iter(feed)
            self.assertEqual([int(next(it)) for _ in range(3)], [-4, -6, -12])
            with self.assertRaises(ps.Error):
                next(it)
            self.assertEqual([int(x) for x in it], [12, 6])


class WithoutTorch(unittest.TestCase):
    @unittest.skipIf(torch, "PyTorch is installed")
    def test_the_error_is_pythons(self):
        with self.assertRaises(ImportError):
            ps.torch(ps.range(1))


if __name__ == "__main__":
    unittest.main()
