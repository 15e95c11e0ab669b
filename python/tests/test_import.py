"""`import penstock` loads little, and members that are made when first asked for look as if they had been there."""
import inspect
import pathlib
import pickle
import pydoc
import subprocess
import sys
import unittest

import penstock as ps

SLOW = ("numpy", "torch", "jax", "pyarrow", "matplotlib", "typing", "inspect", "dataclasses", "json", "html", "re", "ast", "linecache",
        "tokenize", "multiprocessing", "concurrent", "asyncio", "pickle", "logging", "importlib.metadata")


def printed_by(code, shown="sys.modules"):
    """The names that are shown by an interpreter which has loaded nothing else, not even what a site's .pth files load."""
    site = pathlib.Path(ps.__file__).absolute().parent.parent
    done = subprocess.run([sys.executable, "-S", "-c", f"import sys\nsys.path.insert(0, {str(site)!r})\n{code}\nprint(*{shown})"],
                          stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.split()


class Import(unittest.TestCase):
    def test_it_loads_nothing_slow(self):
        bare, ours = printed_by(""), printed_by("import penstock")
        self.assertIn("penstock._dataset", ours)
        self.assertEqual([m for m in ours if m in SLOW], [m for m in bare if m in SLOW])
        others = [m for m in ours if m not in bare and m.partition(".")[0] != "penstock"]
        self.assertLessEqual(len(others), 24, others)

    def test_it_makes_no_function_of_the_table(self):
        made = set(printed_by("import penstock as ps", "(n for n in ps._calls.functions() if n in vars(ps))"))
        self.assertEqual(made - ps._types.DTYPES.keys(), {"from_tensor_slices", "parse"})  # which are written by hand
        self.assertEqual(printed_by("import penstock as ps", "(n for n, f in vars(ps.Dataset).items() if n == 'batch' and "
                                    "not isinstance(f, ps._calls.Method))"), [])

    def test_a_pipeline_is_built_without_numpy(self):
        self.assertNotIn("numpy", printed_by("import penstock as ps\nps.range(9).map(lambda x: ps.abs(x) + 1).batch(2).spec"))


class Later(unittest.TestCase):
    def test_all_and_dir_have_every_member(self):
        self.assertEqual(set(ps.__all__) - set(dir(ps)), set())
        for name in ps.__all__:
            self.assertIsNotNone(getattr(ps, name))
        self.assertLessEqual({"range", "sqrt", "image", "int64", "Dataset", "torch", "InvalidArgument"}, set(ps.__all__))

    def test_star(self):
        names = {}
        exec("from penstock import *", names)
        self.assertEqual(set(ps.__all__) - names.keys(), set())
        self.assertIs(names["sqrt"], ps.sqrt)

    def test_there_is_no_such_member(self):
        with self.assertRaisesRegex(AttributeError, "module 'penstock' has no attribute 'sqroot'"):
            ps.sqroot
        with self.assertRaisesRegex(AttributeError, "module 'penstock.image' has no attribute 'sqrt'"):
            ps.image.sqrt

    def test_methods_are_functions(self):
        self.assertTrue(inspect.isfunction(ps.Dataset.batch))
        self.assertIs(ps.Dataset.batch, ps.Dataset.batch)
        self.assertIn("batch_size", inspect.signature(ps.range(3).batch).parameters)

        class Mine(ps.Dataset):
            pass

        self.assertIs(Mine.take, ps.Dataset.take)

    def test_they_are_pickled_by_name(self):
        self.assertIs(pickle.loads(pickle.dumps(ps.sqrt)), ps.sqrt)
        self.assertIs(pickle.loads(pickle.dumps(ps.image.decode_jpeg)), ps.decode_jpeg)
        self.assertEqual(pickle.loads(pickle.dumps(ps.TensorSpec(ps.int64, (2,)))), ps.TensorSpec(ps.int64, (2,)))

    def test_help_shows_them(self):
        self.assertIn("sqrt(", pydoc.plain(pydoc.render_doc(ps)))
        self.assertIn("decode_jpeg(", pydoc.plain(pydoc.render_doc(ps.image)))
        self.assertIn("batch(self, ", pydoc.plain(pydoc.render_doc(ps.Dataset)))
