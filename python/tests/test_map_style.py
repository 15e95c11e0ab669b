"""Datasets of Python that are asked for items by index."""
import unittest
import warnings

import numpy as np

import penstock as ps
from penstock import _map_style


class MapStyle(unittest.TestCase):
    class Squares:
        def __len__(self):
            return 50

        def __getitem__(self, i):
            if i >= 50:
                raise IndexError(i)
            return np.full(3, i, np.float32), i * i

    def test_order_and_size(self):
        ds = ps.from_map_style(self.Squares())
        self.assertEqual(len(ds), 50)
        self.assertEqual([int(y) for _, y in ds], [i * i for i in range(50)])
        [(x, y)] = ds.skip(1).take(2).batch(2)
        self.assertEqual((x.tolist(), y.tolist()), ([[1, 1, 1], [2, 2, 2]], [1, 4]))

    def test_shuffle(self):
        ds = ps.from_map_style(self.Squares(), shuffle=True, seed=3)
        first, second = [int(y) for _, y in ds], [int(y) for _, y in ds.repeat(2).skip(50)]
        self.assertEqual(sorted(first), [i * i for i in range(50)])
        self.assertEqual(sorted(second), [i * i for i in range(50)])
        self.assertNotEqual(first, second)


class Fetched(MapStyle.Squares):
    """Items of several sizes, by __getitems__; says what it was called with."""

    def __init__(self):
        self.batches, self.single, self.bad = [], [], set()

    def __getitem__(self, i):
        self.single.append(i)
        if i in self.bad:
            raise ValueError(f"item {i} is bad")
        return self.item(i)

    def __getitems__(self, indices):
        self.batches.append(indices)
        if self.bad & set(indices):
            raise ValueError("a bad item is among them")
        return [self.item(i) for i in indices]

    @staticmethod
    def item(i):
        return {"x": np.full(i % 4, i, np.float32), "name": str(i), "n": i}


class OneByOne:
    """The same items, without __getitems__."""

    def __len__(self):
        return 50

    def __getitem__(self, i):
        return Fetched.item(i)


def plain(dataset):
    return [(e["x"].tolist(), e["name"], int(e["n"])) for e in dataset]


class GetItems(unittest.TestCase):
    def test_items_come_in_lists(self):
        data = Fetched()
        ds = ps.from_map_style(data, fetch_size=20)
        self.assertEqual(plain(ds), plain(ps.from_map_style(OneByOne())))
        self.assertEqual((sorted(data.batches), data.single), ([list(range(20)), list(range(20, 40)), list(range(40, 50))], [0]))
        self.assertEqual((len(ds), ds.spec), (50, ps.from_map_style(OneByOne()).spec))
        self.assertEqual(int(ds[33]["n"]), 33)
        self.assertEqual([int(e["n"]) for e in ds[3::10]], [3, 13, 23, 33, 43])
        self.assertIs(type(data.batches[0][0]), int)

    def test_order_is_that_of_single_items(self):
        for make in (lambda d: ps.from_map_style(d, shuffle=True, seed=3).repeat(2),
                     lambda d: ps.from_map_style(d, num_parallel_calls=3).configure(threads=3),
                     lambda d: ps.from_map_style(d, shuffle=True, seed=3).shard(3, 1),
                     lambda d: ps.from_map_style(d).global_shuffle(seed=5).repeat(2),
                     lambda d: ps.from_map_style(d).global_shuffle(seed=1, reshuffle_each_iteration=False).skip(30)):
            data = Fetched()
            self.assertEqual(plain(make(data)), plain(make(OneByOne())))
            self.assertGreater(len(data.batches), 1)

    def test_states(self):
        def ds():
            return ps.from_map_style(Fetched(), shuffle=True, seed=3, identity="fetched", fetch_size=8)
        whole = plain(ds())
        for n in (0, 5, 8, 21, 50):
            it = iter(ds())
            given = [next(it) for _ in range(n)]
            self.assertEqual(plain(given) + plain(ds().restore(it.save_state())), whole)

    def test_an_item_that_fails_is_an_error_at_its_place(self):
        data = Fetched()
        data.bad = {7}
        it = iter(ps.from_map_style(data, fetch_size=5))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            self.assertEqual([int(next(it)["n"]) for _ in range(7)], list(range(7)))
            with self.assertRaisesRegex(ps.InvalidArgument, "item 7 is bad") as caught:
                next(it)
            self.assertIsInstance(caught.exception.__cause__, ValueError)
            self.assertEqual([int(e["n"]) for e in it], list(range(8, 50)))
        self.assertEqual(sorted(data.single), [0, *range(5, 10)])

    def test_a_list_of_another_length(self):
        class Short(Fetched):
            def __getitems__(self, indices):
                return super().__getitems__(indices)[1:]
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            self.assertEqual(plain(ps.from_map_style(Short(), fetch_size=50)), plain(ps.from_map_style(OneByOne())))
        self.assertIn("49 items for 50 indices", str(seen[0].message))

    def test_iterators_that_are_dropped_leave_no_old_items(self):
        data = Fetched()
        data.epoch = 0
        data.item = lambda i: {"epoch": data.epoch, "n": i}
        ds = ps.from_map_style(data, fetch_size=10)
        for data.epoch in range(1, 60):
            next(iter(ds))
        data.epoch = 60
        self.assertEqual({int(e["epoch"]) for e in ds}, {60})

    def test_items_that_wait_are_bounded(self):
        fetched = _map_style._Fetched(_map_style._Item(Fetched()), 25)
        for _ in range(9):
            fetched.fetch(np.arange(20))
        self.assertEqual(sum(map(len, fetched.items.values())), 25)
        self.assertEqual([fetched.take(i)["n"] for i in range(20)], list(range(20)))
        self.assertEqual(sum(map(len, fetched.items.values())), 5)

    def test_processes(self):
        self.assertEqual(plain(ps.from_map_style(Fetched(), processes=1)), plain(ps.from_map_style(OneByOne())))

    def test_without(self):
        data = Fetched()
        self.assertEqual(len(list(ps.from_map_style(data, fetch_size=1).filter(lambda e: True))), 50)
        self.assertEqual(data.batches, [])
        data.__getitems__ = None  # PyTorch's loader takes None for absent, too
        list(ps.from_map_style(data))
        self.assertEqual(data.batches, [])
        with self.assertRaisesRegex(ps.InvalidArgument, "fetch_size must be positive: 0"):
            ps.from_map_style(data, fetch_size=0)


if __name__ == "__main__":
    unittest.main()
