"""ps.predict: the command's answers as values, its errors as exceptions."""
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


class Command(unittest.TestCase):
    def test_none_is_found(self):
        with unittest.mock.patch.dict(os.environ, PENSTOCK_COMMAND="", PATH=""), \
                unittest.mock.patch("importlib.util.find_spec", return_value=None), self.assertRaisesRegex(ps.NotFound, "PENSTOCK_COMMAND"):
            _command.program()


if __name__ == "__main__":
    unittest.main()
