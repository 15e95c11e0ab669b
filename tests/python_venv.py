"""The virtual environment that runs the tests of the Python package: build/python-venv.

It has what the tests need, or is not made at all. Packages that some tests use if they are there come in a second step: each is
installed by itself, since one without a wheel for this Python must neither leave out the others nor fail the tests, which say
what they leave out. NumPy stays the one that Debian has.
"""
import pathlib
import re
import shutil
import subprocess
import sysconfig
import time

VENV = pathlib.Path(__file__).resolve().parent.parent / "build/python-venv"
PYTHON = VENV / "bin/python"
NEEDED = ["nanobind==3.1.0", "mypy==2.4.1", "attrs==26.1.0"]
# The newest versions that work with NumPy 1.24. Each package has a module of its name.
OPTIONAL = ["pyarrow==21.0.0", "webdataset==1.0.2", "matplotlib==3.10.9", "polars==2.1.0", "datasets==4.8.5", "jax==0.4.38"]
OPTIONAL_SECONDS = 120  # for all of them: 40 s without a cache
PIP = ["-m", "pip", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "20"]


def run(*command, **more):
    return subprocess.run([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          **more)


def last_line(done):
    return done.stdout.rstrip().rpartition("\n")[2]


def make():
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
    done = run(new / "bin/python", *PIP, "install", *NEEDED)
    if done.returncode:
        return last_line(done)
    shutil.rmtree(VENV, ignore_errors=True)
    new.rename(VENV)
    return None


def add_optional(packages=OPTIONAL):
    """Installs those that an earlier call did not; -> why others are absent, a line each."""
    tried = VENV / "optional"
    if tried.exists() and tried.read_text(encoding="utf-8").split() == packages:
        return []
    constraints = VENV / "constraints.txt"
    constraints.write_text(f"numpy=={run(PYTHON, '-c', 'import numpy; print(numpy.__version__)').stdout}", encoding="utf-8")
    end, absent = time.monotonic() + OPTIONAL_SECONDS, []
    for package in packages:
        try:
            reason = _add(package, constraints, end - time.monotonic())
        except subprocess.TimeoutExpired:
            return [*absent, f"{package} and those after it: not installed within {OPTIONAL_SECONDS} s"]
        if reason and "from versions: none" in reason:  # pip's words for an index that does not answer
            return [*absent, f"{package} and those after it: {reason}"]
        absent += [f"{package}: {reason}"] if reason else []
    tried.write_text("\n".join(packages), encoding="utf-8")
    return absent


def _add(package, constraints, seconds):
    """-> None, or why the package is not there."""
    name = package.partition("=")[0]
    done = run(PYTHON, *PIP, "install", "--only-binary=:all:", "--constraint", constraints, package, timeout=max(seconds, 1))
    if done.returncode:
        errors = re.findall(r"^ERROR: (.*)", done.stdout, re.M)
        return errors[0] if errors else last_line(done)
    done = run(PYTHON, "-c", f"import {name}")
    if done.returncode == 0:
        return None
    run(PYTHON, *PIP, "uninstall", "--yes", name)  # a test would find it, and fail as the import does
    return last_line(done)
