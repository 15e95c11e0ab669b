"""tf.errors: TensorFlow's error classes, each of them also the ps.Error of the same code."""
import functools

from ... import _errors


class OpError(_errors.Error):
    """Base of all of them: made as TensorFlow's are, OpError(node_def, op, message).

    >>> OutOfRangeError(None, None, "the end").message
    'the end'
    """

    def __init__(self, node_def=None, op=None, message="", error_code=None, *, node="", origin=(None, None, None)):
        super().__init__(message, node, *origin)
        self.node_def, self.op, self.error_code = node_def, op, error_code or self.code

    def __reduce__(self):
        return _again, (type(self), self.message, self.node, (self.file, self.offset, self.record))


def _again(kind, message, node, origin):
    return kind(message=message, node=node, origin=origin)


def _kind(name, base):
    return type(name, (OpError, base), {"__module__": __name__, "__doc__": base.__doc__})


InvalidArgumentError = _kind("InvalidArgumentError", _errors.InvalidArgument)
NotFoundError = _kind("NotFoundError", _errors.NotFound)
AlreadyExistsError = _kind("AlreadyExistsError", _errors.AlreadyExists)
PermissionDeniedError = _kind("PermissionDeniedError", _errors.PermissionDenied)
ResourceExhaustedError = _kind("ResourceExhaustedError", _errors.ResourceExhausted)
FailedPreconditionError = _kind("FailedPreconditionError", _errors.FailedPrecondition)
OutOfRangeError = _kind("OutOfRangeError", _errors.OutOfRange)
UnimplementedError = _kind("UnimplementedError", _errors.Unimplemented)
InternalError = _kind("InternalError", _errors.Internal)
UnavailableError = _kind("UnavailableError", _errors.Unavailable)
DataLossError = _kind("DataLossError", _errors.DataLoss)
CancelledError = _kind("CancelledError", _errors.Cancelled)


class UnknownError(OpError):
    """An exception of the user's code that has no code of its own."""


class WrongCallError(InvalidArgumentError, TypeError):
    """A call that is refused before anything runs. TensorFlow raises any of the three, so it is all of them."""


_KINDS = {kind.code: kind for kind in (
    InvalidArgumentError, NotFoundError, AlreadyExistsError, PermissionDeniedError, ResourceExhaustedError,
    FailedPreconditionError, OutOfRangeError, UnimplementedError, InternalError, UnavailableError, DataLossError,
    CancelledError)}


# What TensorFlow says of an error, for programs and tests that look for it: (stage, a part of Penstock's message, the sentence).
_SENTENCES = (
    ("filter", "expected", "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor"),
    ("take_while", "expected", "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor"),
    ("scan", "the state is", "Invalid `scan_func`. The element types for the new state must match the initial state."),
    ("reduce", "the state is", "The element types for the new state must match the initial state."),
    ("concatenate", "its elements are", "Incompatible dataset elements"),
    ("group_by_window", "key_func gives", "Invalid `key_func`. `key_func` must return a single `tf.int64` scalar tensor"),
    ("group_by_window", "window_size_func gives",
     "Invalid `window_size_func`. `window_size_func` must return a single `tf.int64` scalar tensor"),
    ("get_single_element", "no element", "Dataset was empty."),
    ("get_single_element", "more than one", "Dataset had more than one element."),
    ("assert_cardinality", "the input was expected", "Input dataset was expected"),
)


def _said(error):
    for node, part, sentence in _SENTENCES:
        if error.node == node and part in error.message:
            if part in sentence or node == "assert_cardinality":
                return error.message.replace(part, sentence)
            return f"{sentence} {error.message}" if sentence.endswith(".") else f"{sentence}: {error.message}"
    return error.message


def of(error, building=False):
    """-> the error of this module for one of Penstock's; ``building``: nothing has run yet."""
    if isinstance(error, OpError):
        return error
    kind = _KINDS.get(error.code, UnknownError)
    if building and kind is InvalidArgumentError:
        kind = WrongCallError
    out = _again(kind, _said(error), error.node, (error.file, error.offset, error.record))
    out.code = out.error_code = error.code
    out.__cause__ = error.__cause__
    return out.with_traceback(error.__traceback__)


def wrong(message, node=""):
    """-> the error of a call that is refused."""
    return WrongCallError(message=message, node=node)


def building(f):
    """f, whose errors are those of this module."""
    @functools.wraps(f)
    def call(*args, **named):
        try:
            return f(*args, **named)
        except _errors.Error as e:
            if isinstance(e, (OpError, _errors.TraceError)):
                raise
            raise of(e, building=True) from e.__cause__
    return call
