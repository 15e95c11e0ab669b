"""The stub that type checkers and editors read: up to date, and of the same names as the package."""
import ast
import importlib.util
import inspect
import keyword
import pathlib
import unittest

import penstock as ps

ROOT = pathlib.Path(__file__).resolve().parents[2]


def stubs():
    spec = importlib.util.spec_from_file_location("stubs", ROOT / "tools/stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names_of(body):
    out = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            out[node.name] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            out[node.target.id] = node
    return out


class Stub(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = (ROOT / "python/penstock/__init__.pyi").read_text(encoding="utf-8")
        cls.names = names_of(ast.parse(cls.text).body)

    def test_it_is_up_to_date(self):
        self.assertEqual(stubs().stub(), self.text, "run tests/python.py --update")

    def test_it_has_the_names_of_the_package(self):
        public = {n for n in ps.__all__ if not keyword.iskeyword(n)}
        self.assertEqual(public - self.names.keys(), set())
        self.assertEqual({n for n in self.names if not n.startswith("_")} - public, set())

    def test_classes_have_their_methods_and_parameters(self):
        for name, node in self.names.items():
            what = getattr(ps, name, None)
            if not isinstance(node, ast.ClassDef) or not inspect.isclass(what):
                continue
            members = names_of(node.body)
            for method in list(vars(what)):
                f = getattr(what, method)
                if method.startswith("_") or not inspect.isfunction(f) or issubclass(what, tuple):
                    continue
                self.assertIn(method, members, name)
                a = members[method].args
                said = [x.arg for x in (*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs,
                                        *([a.kwarg] if a.kwarg else []))]
                self.assertEqual(said, list(inspect.signature(f).parameters), f"{name}.{method}")

    def test_functions_have_their_parameters(self):
        for name, node in self.names.items():
            if isinstance(node, ast.FunctionDef):
                a = node.args
                said = {x.arg for x in (*a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs, *([a.kwarg] if a.kwarg else []))}
                self.assertEqual(said, set(inspect.signature(getattr(ps, name)).parameters), name)


if __name__ == "__main__":
    unittest.main()
