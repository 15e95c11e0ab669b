"""tf.io.gfile: files of the local file system."""
import glob as globs
import os
import shutil

from ._sources import text


def glob(pattern):
    """Names of the files that match a pattern, or one of several."""
    patterns = [pattern] if isinstance(pattern, (str, bytes, os.PathLike)) else pattern
    return sorted(name for p in patterns for name in globs.glob(text(p)))


def GFile(name, mode="r"):  # noqa: N802
    """open."""
    return open(text(name), mode)  # noqa: SIM115


def copy(src, dst, overwrite=False):
    """A copy of a file."""
    if os.path.exists(text(dst)) and not overwrite:
        raise FileExistsError(text(dst))
    shutil.copyfile(text(src), text(dst))


def _of_path(f):
    return lambda path: f(text(path))


TF = {"io.gfile.glob": glob, "io.gfile.GFile": GFile, "io.gfile.copy": copy, "io.gfile.exists": _of_path(os.path.exists),
      "io.gfile.isdir": _of_path(os.path.isdir), "io.gfile.listdir": _of_path(os.listdir),
      "io.gfile.makedirs": _of_path(lambda path: os.makedirs(path, exist_ok=True)), "io.gfile.mkdir": _of_path(os.mkdir),
      "io.gfile.remove": _of_path(os.remove), "io.gfile.rmtree": _of_path(shutil.rmtree)}
