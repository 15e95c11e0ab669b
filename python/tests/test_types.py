"""Type checkers find nothing wrong with the examples, where mypy is installed."""
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import penstock

try:
    import mypy
except ImportError:
    mypy = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The names that the blocks of the documents take as known.
GIVEN = """from typing import Any, Iterator
import numpy as np
dataset: list[Any] = []
def train(image: Any, label: Any) -> None: ...
def use(image: Any, label: Any) -> None: ...
def step(batch: Any) -> None: ...
def walk() -> Iterator[Any]: return iter([])
def augment(x: Any) -> Any: return x
def is_good(x: Any) -> bool: return True
"""


@unittest.skipUnless(mypy, "mypy is not installed")
class Types(unittest.TestCase):
    def check(self, *words):
        """Raises for what mypy --strict finds, the package's stub seen as if it were installed."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "penstock").mkdir()
            for name in ("__init__.pyi", "py.typed"):
                pathlib.Path(folder, "penstock", name).write_bytes(pathlib.Path(penstock.__file__).with_name(name).read_bytes())
            done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", f"{folder}/cache",
                                   *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                                  env={"MYPYPATH": f"{folder}:{ROOT / 'examples/python'}", "PATH": ""})
        self.maxDiff = None
        self.assertEqual(done.stdout, "")

    def test_the_examples(self):
        self.check(*(f for f in sorted((ROOT / "examples/python").glob("*.py")) if "torch" not in f.name))

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_the_example_with_torch(self):
        self.check("--allow-untyped-calls", ROOT / "examples/python/train_images_torch.py")  # Tensor.backward has no types

    def test_the_documents(self):
        for document in ("README.md", "docs/python.md"):
            blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / document).read_text(encoding="utf-8"), re.M | re.S)
            with self.subTest(document), tempfile.NamedTemporaryFile("w", suffix=".py") as file:
                file.write("\n".join([GIVEN, *blocks]))
                file.flush()
                # Functions that a pipeline traces need no annotations; pyarrow need not be there.
                self.check("--allow-untyped-defs", "--allow-untyped-calls", "--ignore-missing-imports", file.name)

    def test_mistakes_are_found(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write("import penstock as ps\nps.range(3).batsh(2)\nps.range(3).optimize(epochs='x')\n")
            file.flush()
            with self.assertRaisesRegex(AssertionError, "(?s)batsh.*epochs"):
                self.check(file.name)


if __name__ == "__main__":
    unittest.main()
