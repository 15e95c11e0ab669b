"""ps.optimize: which variant is chosen, what is remembered, what is said about the others."""
import contextlib
import itertools
import os
import pathlib
import pickle
import tempfile
import unittest
import unittest.mock
import warnings

import penstock as ps
from penstock import _rates

SHORT = {"seconds": 0.02, "trace_seconds": 0.02}


def squares(n=50, cache=False, skip=0):
    ds = ps.range(n).map(lambda x: x * x).skip(skip)
    return ds.cache() if cache else ds


def rates(step=1):
    """Measures nothing: each candidate is faster than the one before, or slower."""
    numbers = itertools.count(1000, step)
    return unittest.mock.patch("penstock._optimize.measured_rate", lambda *_: (float(next(numbers)), "made up"))


class Optimize(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        with contextlib.ExitStack() as stack:
            stack.enter_context(unittest.mock.patch.dict(os.environ, PENSTOCK_CACHE_DIR=str(self.folder / "kept")))
            os.environ.pop("PENSTOCK_OPTIMIZE", None)
            self.addCleanup(stack.pop_all().close)

    def kept(self):
        return sorted((self.folder / "kept").rglob("*"), key=lambda p: p.is_file())[1:]

    def test_the_fastest_variant(self):
        load = ps.optimize(squares, pick_best={"cache": [False, True]}, **SHORT)
        for step, cache, others in ((1, True, "cache=True|cache=False"), (-1, False, "cache=False|cache=True")):
            with self.subTest(step), rates(step):
                ds = load(20 + step)
            self.assertEqual(list(ds), [x * x for x in range(20 + step)])
            self.assertEqual(ds.report.chosen.arguments, {"cache": cache})
            self.assertEqual(ds.report.chosen.rate, max(c.rate for c in ds.report.candidates))
            self.assertEqual({c.arguments["cache"] for c in ds.report.candidates}, {True, False})
            self.assertRegex(ds.report.reason, rf"^cache={cache}, .* runs at .*k?/s, 1 times the rate of ({others}), ")
            self.assertIn(ds.report.reason, repr(ds))
            self.assertIn("chosen", str(ds.report))
            self.assertIn("made up", ds.report._repr_html_())

    def test_it_is_measured(self):
        ds = ps.optimize(pick_best={"cache": [False, True]}, **SHORT)(squares)(n=30)
        self.assertTrue(all(c.rate > 0 for c in ds.report.candidates))
        self.assertEqual(ds.report.chosen.rate, max(c.rate for c in ds.report.candidates))

    def test_all_ways_to_write_it(self):
        @ps.optimize
        def plain():
            """Documented."""
            return squares()
        self.assertEqual(plain.__doc__, "Documented.")
        for ds in (plain(), ps.optimize(**SHORT)(squares)(), ps.optimize(squares(), **SHORT)):
            self.assertEqual(list(ds), list(squares()))
            self.assertIsInstance(ds, ps.Dataset)
            self.assertEqual(list(ds.take(2)), [0, 1])

    def test_it_shuffles_as_a_new_dataset(self):
        def make():
            return ps.range(50).shuffle(50, seed=7)
        for _ in range(2):  # measured, then remembered
            ds, new = ps.optimize(make, **SHORT)(), make()
            self.assertEqual([list(ds), list(ds)], [list(new), list(new)])

    def test_plans_without_a_text_of_their_own(self):
        with rates(), unittest.mock.patch("penstock._core.parse", side_effect=ps.NotFound("no such arrays")):
            ds = ps.optimize(squares(), **SHORT)
        self.assertEqual(ds.report.chosen.plan, "optimized")
        self.assertIn("not remembered: the plan cannot be read from its text: no such arrays", str(ds.report))
        with rates(), unittest.mock.patch("penstock._optimize._MOST_TEXT", 10):
            self.assertIn("too long", str(ps.optimize(squares(), **SHORT).report))
        self.assertFalse((self.folder / "kept").exists())

    def test_it_remembers(self):
        load = ps.optimize(pick_best={"cache": [False, True]}, **SHORT)(squares)
        with rates():
            first, other = load(20), load(21)
        self.assertEqual(len(self.kept()), 2)
        self.assertIn(pathlib.Path(first.report.file), self.kept())
        with unittest.mock.patch("penstock._optimize.measured_rate", side_effect=AssertionError("measured again")):
            again = load(20)
        self.assertTrue(again.report.remembered)
        self.assertFalse(other.report.remembered)
        self.assertEqual(str(again), str(first))
        self.assertEqual([*again.report.candidates], [*first.report.candidates])
        self.assertEqual(list(again), list(first))

    def test_other_data_is_another_question(self):
        file = self.folder / "data.txt"
        for make in (lambda: ps.text_line(str(file)), lambda: ps.files(str(self.folder / "*.txt")).interleave(ps.text_line)):
            file.write_text("a\nb\n")
            load = ps.optimize(make, **SHORT)
            self.assertFalse(load().report.remembered)
            self.assertTrue(load().report.remembered)
            file.write_text("a\nb\nc\n")
            ds = load()
            self.assertFalse(ds.report.remembered)
            self.assertEqual(list(ds), [b"a", b"b", b"c"])

    def test_values_without_a_name_of_their_own(self):
        for _ in range(2):  # the repr of each object is another one
            ds = ps.optimize(pick_best={"step": [lambda x: x * 2, lambda x: x + x]}, **SHORT)(lambda step: ps.range(4).map(step))()
        self.assertTrue(ds.report.remembered)
        self.assertEqual(list(pickle.loads(pickle.dumps(ds))), [0, 2, 4, 6])

    def test_a_damaged_file(self):
        load = ps.optimize(**SHORT)(squares)
        with rates(-1):
            whole = load()
            [file] = self.kept()
            text = file.read_text()
            for damage in ("", text[:-9], "[]", text.replace('"candidates"', '"c"'), text.replace('"chosen": 0', '"chosen": 9')):
                file.write_text(damage)
                with self.assertWarnsRegex(RuntimeWarning, "is damaged and measured again"):
                    ds = load()
                self.assertFalse(ds.report.remembered)
                self.assertEqual(str(ds), str(whole))
                self.assertTrue(load().report.remembered)

    def test_a_folder_that_cannot_be_written(self):
        (self.folder / "kept").write_text("a file")
        with self.assertWarnsRegex(RuntimeWarning, "not remembered"):
            ds = ps.optimize(squares(), **SHORT)
        self.assertIsNone(ds.report.file)
        self.assertIn("not remembered", str(ds.report))

    def test_python_code_is_not_remembered(self):
        ds = ps.optimize(ps.range(5).map(ps.py_map(lambda x: x + 1)), **SHORT)
        self.assertEqual([int(x) for x in ds], [1, 2, 3, 4, 5])
        self.assertIn("calls Python code", str(ds.report))
        self.assertFalse((self.folder / "kept").exists())

    def test_no_elements(self):
        ds = ps.optimize(ps.range(0).batch(2), **SHORT)
        self.assertEqual(list(ds), [])
        self.assertIn("no elements came out", ds.report.reason)

    def test_turned_off(self):
        with unittest.mock.patch.dict(os.environ, PENSTOCK_OPTIMIZE="0"):
            ds = ps.optimize(pick_best={"cache": [True, False]}, **SHORT)(squares)(7)
            self.assertEqual(str(ds), str(squares(7, cache=True)))
            self.assertIn("PENSTOCK_OPTIMIZE", ds.report.reason)
            with self.assertRaises(ZeroDivisionError):
                ps.optimize(lambda: 1 // 0)()

    def test_a_variant_that_fails(self):
        @ps.optimize(pick_best={"folder": [str(self.folder / "none"), None, 3]}, **SHORT)
        def load(folder):
            if folder is None:
                raise KeyError("folder")
            return ps.text_line(folder).map(lambda s: ps.int64(ps.crc32c(s))) if isinstance(folder, str) else ps.range(folder)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            ds = load()
        self.assertEqual(list(ds), [0, 1, 2])
        text = "\n".join(str(w.message) for w in seen)
        self.assertIn("left out folder=None: KeyError", text)
        self.assertRegex(text, "left out folder='.*none': NotFound")
        failed = [c for c in ds.report.candidates if c.rate is None]
        self.assertEqual(len(failed), 2)
        self.assertTrue(any("NotFound" in c.note for c in failed))
        self.assertIn("not remembered: a combination failed", str(ds.report))
        self.assertFalse((self.folder / "kept").exists())
        with warnings.catch_warnings(), self.assertRaises(KeyError):
            warnings.simplefilter("ignore")
            ps.optimize(pick_best={"folder": [None]}, **SHORT)(load.__wrapped__)()

    def test_other_elements(self):
        load = ps.optimize(pick_best={"kind": ["int64", "float32"]}, **SHORT)(lambda kind: ps.range(3).map(f"x -> {kind}(x)"))
        with self.assertRaisesRegex(ps.InvalidArgument, "kind='int64' int64, with kind='float32' float32"):
            load()
        load = ps.optimize(pick_best={"skip": [0, 2]}, **SHORT)(squares)
        with self.assertRaisesRegex(ps.InvalidArgument, "skip=0 50 elements, with skip=2 48 elements"):
            load()

    def test_arguments_that_are_given(self):
        load = ps.optimize(pick_best={"cache": [False, True]}, **SHORT)(squares)
        with rates():
            self.assertEqual({str(c.arguments) for c in load(5, False).report.candidates}, {"{}"})
            self.assertEqual(load(5, cache=True).report.chosen.name.split(", ")[0], load(5, cache=True).report.chosen.plan)

    def test_mistakes(self):
        with self.assertRaisesRegex(TypeError, "'cash'"):
            ps.optimize(pick_best={"cash": [1]})(squares)
        with self.assertRaisesRegex(TypeError, "must return a ps.Dataset, not list"):
            ps.optimize(lambda: [1])()
        with self.assertRaisesRegex(TypeError, "takes a dataset"):
            ps.optimize(3)
        with self.assertRaisesRegex(TypeError, "decorate"):
            ps.optimize(squares(), pick_best={"cache": [True]})
        with self.assertRaisesRegex(TypeError, "no option 'core'"):
            ps.optimize(squares(), core=3)
        for bad in ({"pick_best": {"cache": []}}, {"epochs": 0}, {"seconds": 0}):
            with self.assertRaises(ps.InvalidArgument):
                ps.optimize(squares, **bad)


class Rates(unittest.TestCase):
    def test_passes_that_end(self):
        rate, how = _rates.measured_rate(squares(), 60.0, 3, 1.0)
        self.assertGreater(rate, 0)
        self.assertEqual(how, "3 passes")
        self.assertEqual(_rates.measured_rate(squares(), 60.0, 1, 1.0)[1], "one pass")

    def test_a_pass_that_does_not_end(self):
        ds = ps.range(1).repeat().map(lambda x: x + 1)
        self.assertEqual(_rates.measured_rate(ds, 0.01, 3, 5.0)[1], "part of a pass")
        slow = ps.range(10**12).cache()
        self.assertEqual(_rates.measured_rate(slow, 0.01, 3, 5.0)[1], "first pass, later ones predicted")

    def test_no_elements(self):
        self.assertEqual(_rates.measured_rate(ps.range(0), 0.01, 3, 1.0)[0], 0)


if __name__ == "__main__":
    unittest.main()
