"""The `penstock` command, for answers that only it has: run with --json, its errors raised as the package's own."""
import contextlib
import json
import os
import pathlib
import warnings

from ._errors import KINDS, Error, FailedPrecondition, NotFound


def program():
    """The command's file: PENSTOCK_COMMAND, or the one that was installed with the package, or the first in PATH."""
    if chosen := os.environ.get("PENSTOCK_COMMAND"):
        return chosen
    import importlib.util
    import shutil
    package = importlib.util.find_spec("penstock_command")
    beside = [os.path.join(folder, "penstock") for folder in (package.submodule_search_locations or ())] if package else []
    found = next((file for file in beside if os.access(file, os.X_OK)), None) or shutil.which("penstock")
    if found is None:
        raise NotFound("the penstock command is neither installed with the package nor in PATH; set PENSTOCK_COMMAND to its file")
    return found


def flags(options):
    """Command-line words of keyword options.

    Lists become 1,2,3, True a flag without value; None and False are left out.

    >>> flags({"workers": range(1, 4), "batch_scale": 2, "corrections": True, "seed": None, "o": "order.json"})
    ['--workers', '1,2,3', '--batch-scale', '2', '--corrections', '-o', 'order.json']
    """
    words = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append(("-" if len(name) == 1 else "--") + name.replace("_", "-"))
        if value is not True:
            words.append(_text(value))
    return words


def _text(value):
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    try:
        return ",".join(map(str, value))
    except TypeError:  # not iterable: a number
        return str(value)


@contextlib.contextmanager
def pipeline_files(command, datasets):
    """-> files with the texts of named datasets, for as long as the context lasts.

    Raises ps.FailedPrecondition for one that calls Python code.
    """
    import tempfile
    for name, dataset in datasets.items():
        if dataset._codes:
            raise FailedPrecondition(f"the pipeline {name} calls Python code, which the command does not have", command)
    with tempfile.TemporaryDirectory() as folder:
        files = [os.path.join(folder, f"{name}.pipe") for name in datasets]
        for file, dataset in zip(files, datasets.values()):
            pathlib.Path(file).write_text(str(dataset) + "\n", encoding="utf-8")
        yield files


def answer(command, words):
    """The object that `penstock COMMAND WORDS --json` prints.

    Raises the package's error of the code that the command names; warnings of the command are given as RuntimeWarning.
    """
    import subprocess
    try:
        done = subprocess.run([program(), command, *words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, encoding="utf-8", errors="replace", check=False)
    except OSError as e:
        raise NotFound(f"the penstock command does not start: {e}", command) from e
    said = done.stderr.strip()
    try:
        out = json.loads(done.stdout)
    except ValueError:
        raise Error(f"the command ended with status {done.returncode}: {said or 'without a word'}", command) from None
    if "error" in out:
        error = out["error"]
        raise _error(error["code"], error["message"], command)
    if said:
        warnings.warn(f"penstock {command}: {said}", RuntimeWarning, stacklevel=3)
    return out


def _error(code, message, command):
    out = KINDS.get(code, Error)(message, command)
    out.code = code
    return out
