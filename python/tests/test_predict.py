"""ps.predict and ps.compare: the command's answers as values, its errors as exceptions."""
import os
import pathlib
import stat
import tempfile
import unittest
import unittest.mock

import penstock as ps
from penstock import _command

PROFILES = pathlib.Path(__file__).resolve().parents[2] / "tests/cluster"
CHAIN = PROFILES / "chain.json"


def has_command():
    try:
        return bool(_command.program())
    except ps.NotFound:
        return False


@unittest.skipUnless(has_command(), "the penstock command is neither installed nor named by PENSTOCK_COMMAND")
class Predict(unittest.TestCase):
    def test_a_curve(self):
        p = ps.predict(CHAIN, workers=range(1, 5), servers=[1, 2], bandwidth="20Mbit")
        self.assertEqual([(q.workers, q.servers) for q in p.points], [(w, s) for s in (1, 2) for w in range(1, 5)])
        for q in p.points:
            self.assertLess(q.low, q.steps_per_second)
            self.assertLess(q.steps_per_second, q.high)
            self.assertIn(q.binds, ("worker", "downlink", "uplink", "server"))
            self.assertAlmostEqual(q.examples_per_second, 32 * q.steps_per_second)
        self.assertIs(p.best, max(p.points, key=lambda q: q.steps_per_second))
        self.assertEqual(p.text.split("\n")[0].split(), ["workers", "servers", "steps/s", "90", "%", "interval", "examples/s", "binds"])
        self.assertIn(p.advice[0], p.text)
        self.assertIn(f"{p.best.workers} workers", repr(p))
        self.assertEqual(p.data["points"][0]["steps_per_s"], p.points[0].steps_per_second)
        self.assertEqual(p._repr_html_().count("<tr>"), 9)

    def test_options_become_flags(self):
        p = ps.predict(str(CHAIN), workers=2, bandwidth="1Gbit", model="ideal", batch_scale=2, seed=None, corrections=False)
        [q] = p.points
        self.assertEqual((q.workers, q.has_interval), (2, False))
        self.assertAlmostEqual(q.examples_per_second, 2 * 32 * q.steps_per_second)
        with tempfile.TemporaryDirectory() as folder:
            order = pathlib.Path(folder, "order.json")
            ps.predict(CHAIN, workers="1..2", bandwidth="1Gbit", o=order)
            self.assertTrue(order.exists())

    def test_mistakes_are_those_of_the_command(self):
        for options, message in (({"foo": 3}, "predict: unknown flag --foo"), ({"bandwidth": "x"}, "predict: rate must be"),
                                 ({}, "--bandwidth 1Gbit"), ({"workers": [0]}, "--workers must be sizes")):
            with self.assertRaisesRegex(ps.InvalidArgument, message):
                ps.predict(CHAIN, **options)
        with self.assertRaisesRegex(FileNotFoundError, "none.json"):
            ps.predict("none.json")

    def test_commands_that_do_not_answer(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "penstock")
            with unittest.mock.patch.dict(os.environ, PENSTOCK_COMMAND=str(script)):
                with self.assertRaisesRegex(ps.NotFound, "does not start"):
                    ps.predict(CHAIN)
                script.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
                script.chmod(stat.S_IRWXU)
                with self.assertRaisesRegex(ps.Error, "status 3: broken"):
                    ps.predict(CHAIN)


@unittest.skipUnless(has_command(), "the penstock command is neither installed nor named by PENSTOCK_COMMAND")
class Compare(unittest.TestCase):
    def test_two_pipelines(self):
        a = ps.range(2000).map(lambda x: x * x).batch(10)
        c = ps.compare(a, ps.range(1000).batch(10), seconds=0.5, threads=1)
        self.assertIs(c.same_elements, False)
        self.assertEqual((c.rates, c.ratio), ((c.data["a"]["rate"], c.data["b"]["rate"]), c.data["ratio"]["value"]))
        self.assertIn("map", [name.split(":")[0] for name, _, cost in c.stages if cost is None])
        self.assertIn("NOT the same", str(c))
        self.assertIn(c.verdict, repr(c))
        self.assertEqual(c._repr_html_().count("<tr>"), 6 + len(c.stages))
        self.assertTrue(ps.compare(a, a.prefetch(2), seconds=0.2).same_elements)

    def test_sentences(self):
        def comparison(low, high):
            side = {"rate": 1.0, "cpu_seconds_per_element": 1.0, "cores_used": 1.0, "first_element_seconds": 1.0}
            return ps.Comparison({"a": side, "b": side, "ratio": {"low": low, "value": 2.0, "high": high}, "pairs": 3,
                                  "same_elements": None, "stages": []})
        for low, high, said in ((1.5, 2.5, "b is faster: 2 times"), (0.5, 0.9, "b is slower"), (0.5, 2.5, "no difference is certain"),
                                (None, None, "measured once")):
            self.assertIn(said, comparison(low, high).verdict)

    def test_mistakes(self):
        with self.assertRaisesRegex(ps.FailedPrecondition, "compare: the pipeline b calls Python code"):
            ps.compare(ps.range(1), ps.range(1).map(ps.py_map(lambda x: x)))
        with self.assertRaisesRegex(ps.InvalidArgument, "seconds must be positive: 0"):
            ps.compare(ps.range(1), ps.range(1), seconds=0)
        with self.assertRaisesRegex(ps.InvalidArgument, "compare: unknown flag --foo"):
            ps.compare(ps.range(1), ps.range(1), foo=1)
        with self.assertRaisesRegex(FileNotFoundError, "none.txt"):
            ps.compare(ps.text_line("none.txt"), ps.range(1))


class Command(unittest.TestCase):
    def test_none_is_found(self):
        with unittest.mock.patch.dict(os.environ, PENSTOCK_COMMAND="", PATH=""), \
                unittest.mock.patch("importlib.util.find_spec", return_value=None), self.assertRaisesRegex(ps.NotFound, "PENSTOCK_COMMAND"):
            _command.program()


if __name__ == "__main__":
    unittest.main()
