"""Errors: one exception for each kind, which is also one of Python's own."""
import collections
import os
import sys


class Error(Exception):
    """Something went wrong in a pipeline.

    ``code`` is the kind ("NOT_FOUND"), ``node`` the stage that says it ("" if none does), ``message`` the
    text without it. ``file``, ``offset`` (in bytes) and ``record`` (counted from 0) say which part of which file it is
    about; each is None if the error does not name one.

    >>> import penstock as ps
    >>> try:
    ...     ps.range(3).batch(0)
    ... except ps.Error as e:
    ...     e.code, e.node, isinstance(e, ValueError)
    ('INVALID_ARGUMENT', 'batch', True)
    """

    code = "UNKNOWN"

    def __init__(self, message="", node="", file=None, offset=None, record=None):
        super().__init__(f"{node}: {message}" if node else message)
        self.message, self.node = message, node
        self.file, self.offset, self.record = file, offset, record
        if isinstance(self, OSError):
            self.filename = file

    def __reduce__(self):
        return type(self), (self.message, self.node, self.file, self.offset, self.record)

    def __str__(self):  # OSError and KeyError have their own
        return str(self.args[0]) if self.args else ""


class InvalidArgument(Error, ValueError):
    """An argument, a type or a value that cannot be used."""
    code = "INVALID_ARGUMENT"


class NotFound(Error, FileNotFoundError, LookupError):
    """There is no such file, component or name."""
    code = "NOT_FOUND"


class AlreadyExists(Error, FileExistsError):
    """A file or a name is there already."""
    code = "ALREADY_EXISTS"


class PermissionDenied(Error, PermissionError):
    """The system refuses it."""
    code = "PERMISSION_DENIED"


class ResourceExhausted(Error, MemoryError):
    """Memory, or another budget, is used up."""
    code = "RESOURCE_EXHAUSTED"


class FailedPrecondition(Error, RuntimeError):
    """Not in this state: a checkpoint of another pipeline, an iterator after a fork."""
    code = "FAILED_PRECONDITION"


class OutOfRange(Error, IndexError):
    """After the end."""
    code = "OUT_OF_RANGE"


class Unimplemented(Error, NotImplementedError):
    """It could be meant, but is not supported."""
    code = "UNIMPLEMENTED"


class Internal(Error, RuntimeError):
    """A defect of Penstock."""
    code = "INTERNAL"


class Unavailable(Error, OSError):
    """Storage does not answer."""
    code = "UNAVAILABLE"


class DataLoss(Error, OSError):
    """Damaged data: a wrong checksum, a cut file."""
    code = "DATA_LOSS"


class Cancelled(Error):
    """The run was cancelled."""
    code = "CANCELLED"


class TraceError(Error, TypeError):
    """A function asks for a value that is only known when the pipeline runs."""
    code = "INVALID_ARGUMENT"
    convertible = False


KINDS = {kind.code: kind for kind in (InvalidArgument, NotFound, AlreadyExists, PermissionDenied, ResourceExhausted,
                                      FailedPrecondition, OutOfRange, Unimplemented, Internal, Unavailable, DataLoss,
                                      Cancelled)}


__all__ = sorted(["Error", "TraceError", *(kind.__name__ for kind in KINDS.values())])


def make(code, message, node, *origin):
    """The exception of an error of the engine; called by penstock._core. ``origin``: file, offset and record."""
    kind = KINDS.get(code, Error)
    out = kind(message, node, *origin)
    out.code = code
    for text, exception in reversed(list(_thrown.items())):
        if text in message:
            out.__cause__ = exception
            del _thrown[text]  # it holds the frames that it went through
            break
    return out


_PYTHONS = ((FileNotFoundError, "NOT_FOUND"), (PermissionError, "PERMISSION_DENIED"), (FileExistsError, "ALREADY_EXISTS"),
            (NotImplementedError, "UNIMPLEMENTED"), (MemoryError, "RESOURCE_EXHAUSTED"), (IndexError, "OUT_OF_RANGE"),
            (KeyError, "NOT_FOUND"), (OSError, "UNAVAILABLE"), (ValueError, "INVALID_ARGUMENT"), (TypeError, "INVALID_ARGUMENT"))
_thrown = collections.OrderedDict()  # message: exception, of rows whose Python code raised and which nobody has got yet
_MOST_THROWN = 16


def is_own(file):
    """Whether a file of code belongs to this package."""
    return os.path.abspath(file).startswith(os.path.dirname(os.path.abspath(__file__)) + os.sep)


def row_error(exception, traceback):
    """-> (code, message) of a row whose Python code raised; called by penstock._core."""
    if isinstance(exception, Error):
        code = exception.code if exception.code != "CANCELLED" else "UNKNOWN"
        message = str(exception)
    else:
        code = next((code for kind, code in _PYTHONS if isinstance(exception, kind)), "UNKNOWN")
        text = str(exception)
        message = type(exception).__name__ + (f": {text}" if text else "")
    if exception.__traceback__ is None and traceback is not None:
        exception = exception.with_traceback(traceback)
    frame = exception.__traceback__
    while frame and frame.tb_next and not is_own(frame.tb_next.tb_frame.f_code.co_filename):
        frame = frame.tb_next
    if frame and not is_own(frame.tb_frame.f_code.co_filename):
        message += f" ({frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}, in {frame.tb_frame.f_code.co_name})"
    _thrown[message] = exception
    _thrown.move_to_end(message)
    while len(_thrown) > _MOST_THROWN:
        _thrown.popitem(last=False)
    return code, message


def forget_errors():
    """Lets go of exceptions that nobody has got."""
    _thrown.clear()


def _is_numpys(file):
    return file.startswith("<__array_function__") or f"{os.sep}numpy{os.sep}" in file


def users_line():
    """-> (file, line) of the user's function that is running, or None."""
    frame = sys._getframe(1)
    while frame and (is_own(frame.f_code.co_filename) or _is_numpys(frame.f_code.co_filename)):
        frame = frame.f_back
    return frame and (frame.f_code.co_filename, frame.f_lineno)


def traced(what, instead, convertible=False):
    """-> TraceError that shows the line of the user's function which asks for `what`.

    convertible: a conversion of the function may answer; see _convert.py.
    """
    place = users_line()
    if place is None:
        error = TraceError(f"{what}: {instead}")
    else:
        import linecache
        file, line = place
        text = linecache.getline(file, line).strip()
        shown = f"\n    {text}" if text else ""
        error = TraceError(f"{file}:{line}: {what}: {instead}{shown}")
        error.file, error.line = file, line
    error.convertible = convertible
    if convertible:
        from ._recording import tracing
        tracing.asked = error
    return error
