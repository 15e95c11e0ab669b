"""The programs and the notebook of examples/python: each is run, and what it trains has to have learned."""
import ast
import contextlib
import importlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

import penstock as ps
from penstock import _command

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples/python"
BY_CHANCE = 0.25


def is_installed(name):
    return importlib.util.find_spec(name) is not None


class Examples(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext_(tempfile.TemporaryDirectory()))
        self.enterContext_(unittest.mock.patch.object(sys, "path", [str(FOLDER), *sys.path]))
        self.enterContext_(unittest.mock.patch.dict(os.environ, PENSTOCK_CACHE_DIR=str(self.folder / "cache")))

    def enterContext_(self, context):  # unittest has it from 3.11 on
        value = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return value

    def trained(self, name):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            losses, accuracy = importlib.import_module(name).main(self.folder)
        self.assertLess(losses[-1], losses[0] / 4)
        self.assertGreater(accuracy, 3.5 * BY_CHANCE)
        self.assertRegex(out.getvalue(), r"epoch 1: loss [\d.]+\n(?s:.*)accuracy on unseen images: [\d.]+ %\n$")
        return losses, accuracy

    def test_train_images(self):
        first = self.trained("train_images")
        self.assertEqual(self.trained("train_images"), first)

    @unittest.skipUnless(is_installed("torch"), "PyTorch is not installed")
    def test_train_images_torch(self):
        self.trained("train_images_torch")

    def test_every_program_is_tested(self):
        self.assertEqual({f.stem for f in FOLDER.glob("*.py")} - {"shapes"},
                         {name[5:] for name in dir(self) if name.startswith("test_train")})
        readme = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
        for file in FOLDER.glob("*.*"):
            self.assertIn(f"(python/{file.name})", readme)

    def test_the_notebook(self):
        try:
            _command.program()
        except ps.NotFound as e:
            self.skipTest(str(e))
        shown, names = run_notebook(FOLDER / "tour.ipynb", self.folder)
        self.assertLess(names["losses"][-1], names["losses"][0] / 4)
        self.assertGreater(names["accuracy"], 3.5 * BY_CHANCE)
        kinds = [type(x) for x in shown]
        for kind in (ps.Dataset, ps.Explanation, ps.Optimization, ps.Choice, ps.Prediction):
            self.assertIn(kind, kinds)


def run_notebook(file, folder):
    """Runs its code cells in order, as Jupyter does.

    -> the values that the cells end in, each of which has been shown, and the names that they define. The files that it makes
    lie in the folder.
    """
    names, shown = {"__name__": "__main__"}, []
    cells = [c for c in json.loads(file.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == "code"]
    with contextlib.redirect_stdout(io.StringIO()), unittest.mock.patch.object(tempfile, "tempdir", str(folder)):
        for i, cell in enumerate(cells):
            tree = ast.parse("".join(cell["source"]), f"{file.name}, cell {i}")
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, f"{file.name}, cell {i}", "exec"), names)  # noqa: S102
            if last is not None:
                value = eval(compile(ast.Expression(last.value), f"{file.name}, cell {i}", "eval"), names)  # noqa: S307
                shown.append(value)
                getattr(value, "_repr_html_", value.__repr__)()
    return shown, names


if __name__ == "__main__":
    unittest.main()
