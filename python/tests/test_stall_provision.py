"""ps.stall and ps.provision: the command's answers as values."""
import tempfile
import unittest

import penstock as ps
from penstock import _command


def has_command():
    try:
        return bool(_command.program())
    except ps.NotFound:
        return False


ENDLESS = ps.range(1_000_000_000).batch(16)


class Sentences(unittest.TestCase):
    def test_parts(self):
        def part(value):
            return {"value": value, "low": value - 0.001, "high": value + 0.001}
        step = ps.Stall({"verdict": "said", "step_seconds": 0.05, "waits_for_storage": part(0.02), "waits_for_work": part(-0.0005),
                         "consumer": part(0.0305), "consumer_seconds": 0.03, "source": None,
                         "runs": {"whole": 0.05, "in_memory": 0.03, "one_element": 0.0305, "source": None}})
        self.assertAlmostEqual(step.waiting_share, 0.39)
        self.assertEqual(step.storage, (0.02, 0.019, 0.021))
        self.assertRegex(step.text, r"waits for storage +20 ms +40% +19 ms to 21 ms")
        self.assertRegex(step.text, r"waits for work +0 ns +0%")
        self.assertNotIn("source", step.text)
        self.assertEqual(step._repr_html_().count("<tr>"), 2 + 3 + 3)
        self.assertEqual(repr(step), "<ps.Stall: said>")

    def test_needs(self):
        cores = {"low": 1.0, "value": 2.0, "high": 3.0}
        data = {"rate": 40.0, "reached": True, "fits": 1, "cheapest": None, "machine": {"binds": "cores", "rate": 50.0, "stage": None},
                "options": [{"cached": [], "cores": cores, "disk_bytes_per_second": 1e6, "memory_bytes": 10_000_000},
                            {"cached": ["map: x"], "cores": cores, "disk_bytes_per_second": 0.0, "memory_bytes": 20_000_000}]}
        needs = ps.Provision(data)
        self.assertEqual(needs.best.way, "cache after map: x")
        self.assertIn("40/s needs 2.00 cores", needs.verdict)
        self.assertRegex(needs.text, r"without a cache +2.00 cores +1 MB/s +10 MB")
        self.assertEqual(needs._repr_html_().count("<tr>"), 3)
        refused = ps.Provision({**data, "reached": False, "fits": None, "options": []})
        self.assertIsNone(refused.best)
        self.assertEqual((refused.limit, refused.text), ("cores", "40/s is not reached: cores allows 50/s"))


@unittest.skipUnless(has_command(), "the penstock command is neither installed nor named by PENSTOCK_COMMAND")
class Command(unittest.TestCase):
    def test_stall(self):
        step = ps.stall(ENDLESS, consumer=0.002, seconds=1, threads=1)
        parts = step.storage.value + step.work.value + step.consumer.value
        self.assertAlmostEqual(parts, step.step_seconds)
        self.assertGreaterEqual(step.data["runs"]["one_element"], 0.002)
        self.assertIn(step.verdict, str(step))

    def test_provision(self):
        needs = ps.provision(ENDLESS, target=100, seconds=0.2, prices={"core": 0.05})
        self.assertTrue(needs.reached)
        self.assertGreater(needs.best.cores, 0)
        self.assertGreater(needs.cheapest["price"], 0)
        slow = ps.from_tensor_slices([1.0, 2.0]).repeat().map(lambda x: ps.reduce_sum(ps.exp(ps.fill([30_000], x))))
        there = ps.provision(slow, target=1e9, cores=1, seconds=0.2)
        self.assertEqual((there.reached, there.limit), (False, "cores"))

    def test_mistakes(self):
        with self.assertRaisesRegex(ps.FailedPrecondition, "stall: the pipeline dataset calls Python code"):
            ps.stall(ps.range(1).map(ps.py_map(lambda x: x)))
        with self.assertRaisesRegex(ps.InvalidArgument, "stall: seconds must be positive: 0"):
            ps.stall(ENDLESS, seconds=0)
        with self.assertRaisesRegex(ps.InvalidArgument, "stall: consumer must be at least 0 seconds: -1"):
            ps.stall(ENDLESS, consumer=-1)
        with self.assertRaisesRegex(ps.FailedPrecondition, "the pipeline has 1 element"):
            ps.stall(ps.range(1), seconds=0.2)
        with self.assertRaisesRegex(ps.InvalidArgument, "provision: target must be a positive rate: 0"):
            ps.provision(ENDLESS, target=0)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write("[]")
            file.flush()
            with self.assertRaisesRegex(ps.InvalidArgument, "it is no object"):
                ps.provision(ENDLESS, target=1, prices=file.name)


if __name__ == "__main__":
    unittest.main()
