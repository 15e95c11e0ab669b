#!/usr/bin/env python3
"""The optional packages of build/python-venv (python_venv.py): none of them can fail the tests.

optional_packages.py [FILTER]

The environment's python is a script here that notes how it was called. Closing line: N passed, N failed.
"""
import pathlib
import sys
import tempfile

import python_venv

PYTHON = r"""#!/bin/bash
here=$(dirname "$0")
case "$*" in
  *"import numpy"*) echo 1.24.2 ;;
  *"import broken"*) echo "ImportError: broken requires NumPy 2"; exit 1 ;;
  *install*) echo "${@: -1}" >>"$here/installed" ;;
esac
case "$*" in
  *uninstall*) echo "uninstalled" >>"$here/installed" ;;
  *install*missing==1) echo "ERROR: Could not find a version of missing (from versions: 2, 3)"; exit 1 ;;
  *install*silence==1) echo "ERROR: Could not find a version of silence (from versions: none)"; exit 1 ;;
  *install*slow==1) exec sleep 1000 ;;
esac
"""


class Place:
    """A folder with an environment's python."""

    def __init__(self, folder):
        python_venv.VENV = self.folder = pathlib.Path(folder)
        python_venv.PYTHON = self.folder / "python"
        python_venv.PYTHON.write_text(PYTHON, encoding="utf-8")
        python_venv.PYTHON.chmod(0o755)

    def add(self, *packages):
        """-> the reasons, and what was installed so far."""
        reasons = python_venv.add_optional(list(packages))
        notes = self.folder / "installed"
        return reasons, notes.read_text(encoding="utf-8").split() if notes.exists() else []


def one_that_is_missing(place):
    reasons, tried = place.add("a==1", "missing==1", "b==1")
    yield tried == ["a==1", "missing==1", "b==1"], f"tried {tried}"
    yield len(reasons) == 1 and reasons[0].startswith("missing==1: Could not find"), reasons
    yield place.add("a==1", "missing==1", "b==1") == ([], tried), "it is tried again"
    yield place.add("a==1", "c==1")[1][-1] == "c==1", "another list is not installed"


def no_answer(place):
    reasons, tried = place.add("silence==1", "a==1")
    yield tried == ["silence==1"], f"tried {tried}"
    yield len(reasons) == 1 and "those after it" in reasons[0], reasons
    yield len(place.add("silence==1", "a==1")[1]) == 2, "it is not tried again"


def no_end(place):
    python_venv.OPTIONAL_SECONDS, before = 0.1, python_venv.OPTIONAL_SECONDS
    reasons, _ = place.add("slow==1", "a==1")
    python_venv.OPTIONAL_SECONDS = before
    yield len(reasons) == 1 and "not installed within" in reasons[0], reasons


def one_that_cannot_be_imported(place):
    reasons, tried = place.add("broken==1", "a==1")
    yield tried == ["broken==1", "broken", "uninstalled", "a==1"], f"tried {tried}"
    yield reasons == ["broken==1: ImportError: broken requires NumPy 2"], reasons


def the_numpy_that_is_there(place):
    place.add("a==1")
    text = (place.folder / "constraints.txt").read_text(encoding="utf-8").strip()
    yield text == "numpy==1.24.2", text


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    passed = failed = 0
    for case in (one_that_is_missing, no_answer, no_end, one_that_cannot_be_imported, the_numpy_that_is_there):
        name = f"optional packages: {case.__name__}"
        if wanted not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            wrong = [what for right, what in case(Place(folder)) if not right]
        for what in wrong:
            print(f"FAIL {name}: {what}")
        passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
