"""ps.watch: a training loop looked at from outside."""
import io
import threading
import unittest

import penstock as ps


def spin(n):
    for _ in range(n):
        pass


class Watch(unittest.TestCase):
    def test_a_slow_trainer(self):
        out = io.StringIO()
        ds = ps.range(40)
        with ps.watch(ds, file=out) as seen:
            for _ in ds:
                spin(100_000)
        self.assertEqual(seen.steps, 40)
        self.assertLess(seen.waited_seconds, seen.seconds)
        self.assertFalse(seen.explanation.data["verdict"]["input_bound"])
        self.assertRegex(out.getvalue(), r"^40 steps in .* s, .* ms each; the trainer waited .* ms of them \(\d+ %\)\n.+\n$")

    def test_a_slow_pipeline(self):
        ds = ps.range(20).map(ps.py_map(lambda x: spin(100_000) or x, spec=ps.int64))
        with ps.watch(ds, quiet=True) as seen:
            list(ds)
        self.assertTrue(seen.explanation.data["verdict"]["input_bound"])
        self.assertGreater(seen.waited_seconds, seen.seconds / 2)

    def test_the_lock_of_python_is_a_resource(self):
        ds = ps.range(20).map(ps.py_map(lambda x: spin(100_000) or x, spec=ps.int64), num_parallel_calls=2).map(lambda x: x + 1)
        it = iter(ds)
        list(it)
        causes = {c["cause"]: c for c in it.explain().data["verdict"]["causes"]}
        self.assertIn("one thread at a time", causes["lock"]["why"])
        self.assertIn("lock", [c["kind"] for c in it.explain().data["ceilings"]])
        self.assertGreater(sum(s["lock_seconds"] for s in it.stats()["stages"]), 0)
        plain = iter(ps.range(20))
        list(plain)
        self.assertNotIn("lock", {c["cause"] for c in plain.explain().data["verdict"]["causes"]})

    def test_which_iterations(self):
        ds, other = ps.range(10), ps.range(3)
        with ps.watch(ds, quiet=True) as seen, ps.watch(quiet=True) as everything:
            list(ds), list(other)
            it = iter(ds)
            next(it)
        self.assertEqual((seen.steps, everything.steps), (11, 14))
        list(ds)
        self.assertEqual(seen.steps, 11)
        with ps.watch(ds, quiet=True) as nothing:
            pass
        self.assertIn("no steps", str(nothing))

    def test_an_error_inside(self):
        with self.assertRaises(KeyError), ps.watch(quiet=True) as seen:
            next(iter(ps.range(3)))
            raise KeyError
        self.assertEqual(seen.steps, 1)

    def test_a_running_iterator(self):
        it = iter(ps.range(100_000).batch(10))
        seen = []
        walk = threading.Thread(target=lambda: [None for _ in it])
        walk.start()
        while walk.is_alive() and len(seen) < 5:
            seen.append(it.stats()["elements"])
            it.trace()
        walk.join()
        self.assertEqual(seen, sorted(seen))
        self.assertTrue(it.explain().data["trust"]["ended"])


if __name__ == "__main__":
    unittest.main()
