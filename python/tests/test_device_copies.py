"""Copies to a device, without any framework: a device is a list here."""
import unittest

import penstock as ps
from penstock._device_copies import CopiedAhead, DeviceCopies
from penstock._feed import Feed


class ListFeed(Feed):
    def __init__(self, dataset, ahead=2, broken=()):
        super().__init__(dataset, "list", ahead, shard=False)
        self.there, self.broken = [], broken

    def _copied(self, element):
        if int(element) in self.broken:
            raise MemoryError(f"no room for {element}")
        self.there.append(int(element))
        return int(element)


class Copies(unittest.TestCase):
    def test_they_are_made_ahead(self):
        for ahead in (0, 1, 3):
            feed = ListFeed(ps.range(20), ahead)
            it = iter(feed)
            for i in range(6):  # the first is given at once, then more are ahead
                self.assertEqual((next(it), len(feed.there)), (i, i + 1 + min(ahead, i)))
            self.assertEqual(list(it), list(range(6, 20)))

    def test_errors_of_elements_and_of_copies_come_at_their_place(self):
        feed = ListFeed(ps.range(6).map(lambda x: 12 // (x - 3)), broken=[-6, 6])
        it, got = iter(feed), []
        while True:
            try:
                got.append(next(it))
            except StopIteration:
                break
            except (ps.Error, MemoryError) as e:
                got.append(type(e))
        self.assertEqual(got, [-4, MemoryError, -12, ps.InvalidArgument, 12, MemoryError])
        stage = feed.trace().data["stages"][0]
        self.assertEqual((stage["elements"], stage["errors"]), (6, 3))

    def test_states_are_those_of_the_trainer(self):
        whole = list(ps.range(9).shuffle(9, seed=1))
        for n in range(10):
            feed, other = ListFeed(ps.range(9).shuffle(9, seed=1)), ListFeed(ps.range(9).shuffle(9, seed=1))
            it = iter(feed)
            given = [next(it) for _ in range(n)]
            other.load_state_dict(feed.state_dict())
            self.assertEqual(given + list(other), whole)

    def test_time_of_copies_is_none_of_the_consumers(self):
        it = iter(ps.range(100).map(lambda x: x + 1).batch(10))
        it.copies = DeviceCopies("list", 0)

        def copy(x):
            end = it.copies.cpu_seconds + 0.001
            while it.copies.cpu_seconds < end:
                it.copies.made(lambda x: x, None)
            return x
        self.assertEqual(len(list(CopiedAhead(it, copy, 0))), 10)
        plain, seen = ps.Trace(it._trace()).data, it.trace().data
        consumer, cpu = plain["interval"]["consumer_seconds"], seen["stages"][0]["cpu_seconds"]
        self.assertGreater(cpu, 0.01)
        self.assertAlmostEqual(seen["interval"]["consumer_seconds"], max(0.0, consumer - cpu))
        self.assertEqual([(s["id"], s["inputs"], s["op"]) for s in seen["stages"]],
                         [(0, [1], "copy"), (1, [2], "batch"), (2, [3], "map"), (3, [], "range")])
        self.assertEqual([s["label"] for s in it.explain().data["stages"]][0], "copy to list")

    def test_stages_of_functions_keep_their_parents(self):
        feed = ListFeed(ps.range(3).interleave(lambda n: ps.range(n).map(lambda x: x + 1), cycle_length=2))
        list(feed)
        stages = feed.trace().data["stages"]
        parents = {s["op"]: s["parent"] for s in stages[1:]}
        self.assertEqual(stages[0]["parent"], -1)
        self.assertEqual(parents["interleave"], -1)
        self.assertEqual(stages[parents["map"]]["op"], "interleave")
        self.assertIn("copy to list", feed.explain().text)


if __name__ == "__main__":
    unittest.main()
