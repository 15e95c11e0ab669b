"""Runs the tests beside this file, and the examples in the package's docstrings, whose names contain FILTER.

run.py [FILTER]. Closing line: N passed, N failed.
"""
import doctest
import importlib
import pathlib
import pkgutil
import sys
import unittest

import numpy
import penstock

if int(numpy.__version__.partition(".")[0]) > 1:
    numpy.set_printoptions(legacy="1.25")  # the examples show 1 where NumPy 2 shows np.int64(1)


def all_tests():
    here = pathlib.Path(__file__).parent
    suites = [unittest.defaultTestLoader.discover(str(here), pattern="test_*.py")]
    names = [m.name for m in pkgutil.walk_packages(penstock.__path__, "penstock.") if m.name != "penstock._core"]
    for name in ["penstock", *names]:
        try:
            module = importlib.import_module(name)
        except ImportError as e:
            if not any(optional in str(e) for optional in ("torch", "jax", "pyarrow")):  # which need not be there
                raise
            continue
        suites += [doctest.DocTestCase(t) for t in doctest.DocTestFinder().find(module) if t.examples]
    while suites:
        suite = suites.pop(0)
        if isinstance(suite, unittest.TestSuite):
            suites[:0] = list(suite)
        else:
            yield suite


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    tests = unittest.TestSuite(t for t in all_tests() if wanted in f"python: {t.id()}")
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(tests)
    for reason in sorted({reason for _, reason in result.skipped}):
        print(f"left out: {reason}")
    failed = len({str(t) for t, _ in result.failures + result.errors})
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
