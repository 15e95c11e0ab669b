"""Bars: drawn where they are asked for, silent elsewhere."""
import contextlib
import io
import unittest

import penstock as ps
from penstock import _progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Progress(unittest.TestCase):
    def last(self, out):
        text = out.getvalue()
        self.assertTrue(text.endswith("\n"))
        return text.rstrip("\n").split("\r")[-1].rstrip()

    def test_of_a_dataset(self):
        out = io.StringIO()
        self.assertEqual(list(ps.progress(ps.range(1500), file=out)), list(range(1500)))
        self.assertRegex(self.last(out), r"^100 % \|█{20}\| 1.5k/1.5k \S+/s, \d+:\d\d, waited \d+ %$")

    def test_of_an_unknown_number(self):
        out = io.StringIO()
        list(ps.progress(ps.range(50).filter(lambda x: x < 10), file=out))
        self.assertRegex(self.last(out), r"^10 elements \S+/s, \d+:\d\d, waited \d+ %$")
        out = io.StringIO()
        list(ps.progress(ps.range(50).filter(lambda x: x < 10), total=20, file=out))
        self.assertRegex(self.last(out), r"^ 50 % \|█{10} {10}\| 10/20 ")

    def test_only_on_a_terminal(self):
        for out, shown in ((io.StringIO(), False), (Terminal(), True)):
            with contextlib.redirect_stderr(out):
                self.assertEqual(list(ps.range(3).iterate(progress=True)), [0, 1, 2])
                self.assertEqual(ps.range(3).run(progress=True)["elements"], 3)
                self.assertEqual(list(ps.progress(iter(ps.range(3)))), [0, 1, 2])
            self.assertEqual(out.getvalue().count("\n"), 3 * shown)
            self.assertEqual("3/3" in out.getvalue(), shown)
        with contextlib.redirect_stderr(None):
            self.assertEqual(list(ps.range(3).iterate(progress=True)), [0, 1, 2])

    def test_it_is_an_iterator(self):
        out = io.StringIO()
        it = ps.progress(ps.range(5), file=out)
        self.assertEqual([next(it), next(it)], [0, 1])
        state = it.save_state()
        self.assertEqual(it.stats()["elements"], 2)
        self.assertEqual(list(ps.progress(ps.range(5).restore(state), file=io.StringIO())), [2, 3, 4])
        with ps.watch(quiet=True) as seen:
            list(ps.progress(ps.range(5), file=out))
        self.assertEqual(seen.steps, 5)

    def test_a_loop_that_is_left(self):
        out = io.StringIO()
        for x in ps.progress(ps.range(100), file=out):
            if x == 3:
                break
        self.assertRegex(self.last(out), r"4/100")

    def test_an_error_ends_the_line(self):
        out = Terminal()
        with contextlib.redirect_stderr(out), self.assertRaises(ps.InvalidArgument):
            ps.range(3).map(lambda x: x // (x - 1)).run(progress=True)
        self.assertEqual(out.getvalue().count("\n"), 1)

    def test_a_shorter_line_hides_the_longer_one(self):
        out = io.StringIO()
        bar = _progress.Bar(None, out)
        bar.draw(1234567, 0)
        bar.draw(1, 0)
        long, short = out.getvalue().split("\r")[1:]
        self.assertEqual(len(long.rstrip()), len(long))
        self.assertGreaterEqual(len(short), len(long) - 1)


if __name__ == "__main__":
    unittest.main()
