"""The recording of functions: what is known of it in this thread, and the regions that values belong to."""
import threading

from . import _core
from ._errors import TraceError, users_line

tracing = threading.local()  # depth, inputs, region, taking, returns, asked


class Region:
    """A side of an `if`, or a round of a loop, while it is traced; its values mean nothing after it."""

    __slots__ = ("what", "open")

    def __init__(self, what):
        self.what, self.open = what, True


def recorded(count, f, what=None):
    """A function of the engine: f called once, now, with `count` symbolic values; what: the region that it is."""
    from ._values import Value, to_core
    failed = []

    def body(parts):
        outer = getattr(tracing, "region", None)
        tracing.depth = getattr(tracing, "depth", 0) + 1
        region = tracing.region = Region(what) if what else outer
        try:
            return to_core(f(*map(Value, parts)))
        except BaseException as e:
            failed.append(e)
            raise
        finally:
            tracing.depth -= 1
            tracing.region = outer
            if what:
                region.open = False

    try:
        return _core.record(count, body)
    except BaseException as e:
        if failed and failed[0] is not e:  # the user's own exception, not one on the way through C++
            raise failed[0] from None
        raise
    finally:
        failed.clear()  # its traceback holds this frame


def taking():
    """Whether a round of a loop is traced of which it is known that it returns."""
    return getattr(tracing, "taking", False)


class _Taking:
    def __init__(self, now):
        self.now = now

    def __enter__(self):
        self.outer, tracing.taking = taking(), self.now

    def __exit__(self, *_):
        tracing.taking = self.outer


def now_taking():
    return _Taking(True)


def not_taking():
    return _Taking(False)


def note(kind):
    """Remembers that a statement of the user's became a part of the pipeline, for errors that are found later."""
    inputs = getattr(tracing, "inputs", None)
    if inputs is not None:
        place = users_line()
        if place and (kind, *place) not in inputs.converted:
            inputs.converted.append((kind, *place))


_SAYS = {"if": r"`if`", "and, or": r"expected bool", "for": r"reduce|while_loop|the state|expected a tensor|shape", "while":
         r"while_loop|the state|expected bool", "comprehension": "map_fn|expected a tensor"}


def located(error, converted):
    """An error of the engine on what was converted, with the lines that it may be of; or the error itself."""
    import linecache
    import re
    places = list(dict.fromkeys((file, line) for kind, file, line in converted if re.search(_SAYS[kind], error.message)))
    if not places:
        return error
    lines = "".join(f"\n    {file}:{line}: {linecache.getline(file, line).strip()}" for file, line in places)
    out = TraceError(f"{error}: it is made by Python's control flow:{lines}")
    out.file, out.line = places[0]
    return out
