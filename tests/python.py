#!/usr/bin/env python3
"""Builds the Python extension against the library of build/PRESET, and runs python/tests and the docstrings' examples.

python.py [--preset PRESET] [--update] [FILTER]

Debian's python3 gets a venv, build/python-venv, with nanobind and what the tests use from PyPI, and the extension a folder of its own,
build/python-PRESET. Without the packages of the group python, or without a way to PyPI and a venv that an earlier run made, it says so and
runs nothing.
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
import sysconfig

from program import ENV, TooLong, execute

ROOT = pathlib.Path(__file__).resolve().parent.parent
VENV = ROOT / "build/python-venv"
PYTHON = VENV / "bin/python"
NEEDED = ["nanobind==3.1.0", "mypy==2.4.1", "attrs==26.1.0"]


def run(*command, **more):
    return subprocess.run([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          **more)


def failed(output):
    print(output.rstrip())
    print("0 passed, 1 failed")
    sys.exit(1)


def make_venv():
    """-> None, or why there is none. The venv is made in another place first: it is whole or absent."""
    if PYTHON.exists() and run(PYTHON, "-m", "nanobind", "--version").returncode == 0:
        return None
    if not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists():
        return "python3-dev is not installed"
    new = VENV.with_name("python-venv.new")
    shutil.rmtree(new, ignore_errors=True)
    done = run("/usr/bin/python3", "-m", "venv", "--system-site-packages", new)
    if done.returncode:
        return done.stdout.split("\n")[0]
    done = run(new / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1",
               "--timeout", "20", *NEEDED)
    if done.returncode:
        return done.stdout.rstrip().split("\n")[-1]
    shutil.rmtree(VENV, ignore_errors=True)
    new.rename(VENV)
    return None


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
    if reason := make_venv():
        print(f"left out: no venv with {', '.join(NEEDED)}: {reason}")
        print("0 passed, 0 failed")
        return
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
