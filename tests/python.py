#!/usr/bin/env python3
"""Builds the Python extension against the library of build/PRESET, and runs python/tests and the docstrings' examples.

python.py [--preset PRESET] [--update] [FILTER]

Debian's python3 gets a venv, build/python-venv, with nanobind and what the tests use from PyPI (python_venv.py), and the
extension a folder of its own, build/python-PRESET. Without the packages of the group python, or without a way to PyPI and a
venv that an earlier run made, it says so and runs nothing. Tests of packages that PyPI does not have for this Python are left out.
With the sanitizers their runtimes are loaded first (LD_PRELOAD); leaks are not looked for, since the interpreter has its own.
--update first writes the stub, python/penstock/__init__.pyi, anew. Closing line: N passed, N failed.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

import python_venv
from program import ENV, TooLong, execute
from python_venv import PYTHON, run

ROOT = pathlib.Path(__file__).resolve().parent.parent


def failed(output):
    print(output.rstrip())
    print("0 passed, 1 failed")
    sys.exit(1)


def cached(build, name):
    m = re.search(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(encoding="utf-8"), re.M)
    return m[1] if m else ""


def build(preset):
    """-> the folder that `import penstock` finds the package in, and the sanitizers."""
    library, folder = ROOT / "build" / preset, ROOT / f"build/python-{preset}"
    kind = cached(library, "CMAKE_BUILD_TYPE")
    flags, sanitize = cached(library, f"CMAKE_CXX_FLAGS_{kind.upper()}"), cached(library, "PENSTOCK_SANITIZE")
    for command in (["cmake", "-S", ROOT / "python", "-B", folder, "-G", "Ninja", f"-DCMAKE_BUILD_TYPE={kind}",
                     f"-DCMAKE_CXX_FLAGS_{kind.upper()}={flags}", f"-DPENSTOCK_SANITIZE={sanitize}",
                     f"-DPENSTOCK_BUILD={library}", f"-DPython_EXECUTABLE={PYTHON}"], ["cmake", "--build", folder]):
        done = run(*command)
        if done.returncode:
            failed(done.stdout)
    site = folder / "site"
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(ROOT / "python/penstock", site / "penstock", ignore=shutil.ignore_patterns("__pycache__"))
    for extension in folder.glob("_core*.so"):
        (site / "penstock" / extension.name).symlink_to(extension)
    return site, sanitize


def environment(site, sanitize):
    command = ROOT / "build" / site.parent.name.replace("python-", "", 1) / "penstock"
    env = {**os.environ, **ENV, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1", "PENSTOCK_COMMAND": str(command)}
    if sanitize:
        runtimes = {"address": "libasan.so", "undefined": "libubsan.so", "thread": "libtsan.so"}
        names = [runtimes[s] for s in sanitize.split(",")] + ["libstdc++.so"]
        env["LD_PRELOAD"] = " ".join(run("gcc", f"-print-file-name={name}").stdout.strip() for name in names)
        env["ASAN_OPTIONS"] += ":detect_leaks=0"
    return env


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("filter", nargs="?", default="")
    ap.add_argument("--preset", default="dev")
    ap.add_argument("--update", action="store_true")
    a = ap.parse_args()
    if reason := python_venv.make():
        print(f"left out: no venv with {', '.join(python_venv.NEEDED)}: {reason}")
        print("0 passed, 0 failed")
        return
    for line in python_venv.add_optional():
        print(f"left out: {line}")
    site, sanitize = build(a.preset)
    if a.update:
        done = subprocess.run([PYTHON, ROOT / "tools/stubs.py"], env=environment(site, sanitize), check=False)
        if done.returncode:
            failed("tools/stubs.py")
    try:
        status, out, err = execute([str(PYTHON), str(ROOT / "python/tests/run.py"), a.filter], cwd=ROOT,
                                   env=environment(site, sanitize))
    except TooLong as e:
        failed(f"python/tests/run.py: {e}")
    print((err + out).rstrip())
    if not re.fullmatch(r"\d+ passed, \d+ failed", out.rstrip().split("\n")[-1]):
        failed(f"python/tests/run.py: exit {status}")
    sys.exit(1 if status else 0)


if __name__ == "__main__":
    main()
