"""The results of ps.optimize that are kept between processes: a small JSON file each.

They lie in PENSTOCK_CACHE_DIR, or in penstock/ of XDG_CACHE_HOME (else ~/.cache). A file is replaced whole, so processes may
share the folder; one that cannot be read is measured again, with a warning.
"""
import json
import os
import warnings

from . import _core

_FORMAT = 1


def folder():
    """Where results are kept.

    >>> import os
    >>> os.path.isabs(folder())
    True
    """
    own = os.environ.get("PENSTOCK_CACHE_DIR")
    if not own:
        own = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "penstock")
    return os.path.join(os.path.abspath(own), "optimize")


def file_of(question):
    """The file for the answer to a question: anything that JSON can hold."""
    import hashlib
    text = json.dumps([_FORMAT, _core.version, question], sort_keys=True)
    return os.path.join(folder(), hashlib.sha256(text.encode()).hexdigest()[:32] + ".json")


def recall(file, read):
    """-> read(what was kept), or None."""
    try:
        with open(file, encoding="utf-8") as f:
            return read(json.load(f))
    except FileNotFoundError:
        return None
    except Exception as e:  # whatever a damaged file makes of it
        warnings.warn(f"optimize: {file} is damaged and measured again ({type(e).__name__}: {e})", RuntimeWarning, stacklevel=2)
        return None


def keep(file, answer):
    """-> None, or why it cannot be kept."""
    import tempfile
    where = os.path.dirname(file)
    try:
        os.makedirs(where, exist_ok=True)
        handle, new = tempfile.mkstemp(dir=where, prefix=".new-")
        try:
            with open(handle, "w", encoding="utf-8") as f:
                json.dump(answer, f, indent=1)
            os.replace(new, file)
        except BaseException:
            os.unlink(new)
            raise
    except OSError as e:
        return str(e)
    return None
