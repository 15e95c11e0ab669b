"""Functions of a pipeline as TensorFlow calls them: with structures, and what may come back."""
import numbers

import numpy as np

from ... import _types as ps_types
from ... import _values
from ..._dataset import Dataset as PsDataset
from ..._errors import TraceError
from ..._values import Value
from . import _symbols
from ._ops import lowered
from ._optional import Optional
from ._structures import Keyed, Made, Nested, like_of, mapped, plain, unpacks
from ._symbols import Root, Symbol, symbol
from ._tensors import RaggedTensor, SparseTensor, Tensor, constant, pack
from ._types import TensorShape


UNKNOWN = object()  # the spec of elements that are computed from values that do not say how


def _part(x, key):
    return x if x is None or x is UNKNOWN else x[key]


def entered(value, spec, like, frame, path=()):
    """The structure that stands for an element, of a ps.Value, its spec and its like."""
    from ._dataset import Dataset

    def part(key, name):
        return entered(value[name], _part(spec, name), _part(inner, key), frame, (*path, name))

    inner = like.likes if isinstance(like, (Made, Keyed)) else like
    if isinstance(like, Made):
        return like.cls(**{k: part(k, k) for k in inner})
    if isinstance(like, Keyed):
        return {k: part(k, str(k)) for k in inner}
    if isinstance(spec, dict) or spec is UNKNOWN and isinstance(like, dict):
        return {k: part(k, k) for k in (like if spec is UNKNOWN else spec)}
    if type(spec) is tuple or spec is UNKNOWN and type(like) is tuple:
        return tuple(part(i, i) for i in range(len(like if spec is UNKNOWN else spec)))
    if spec is None:
        return None
    made = Symbol(value._core, Root(frame, path))
    made._known = None if spec is UNKNOWN else (spec,)
    if isinstance(spec, ps_types.DatasetSpec) or isinstance(like, Nested):
        return Dataset._of(made, like.like if like else None)
    if spec is not UNKNOWN and spec.kind == "optional":
        return Optional(made)
    return made


def normalized(x):
    """A structure whose leaves are tensors: Python's numbers and lists become some."""
    def leaf(v):
        from ._dataset import Dataset
        if v is None or isinstance(v, (Value, Tensor, RaggedTensor, SparseTensor, Dataset, Optional)):
            return v
        if isinstance(v, (numbers.Number, str, bytes, bytearray, np.ndarray, np.generic, list)) or hasattr(
                type(v), "__array__"):
            return pack(v)
        if isinstance(v, PsDataset):
            return Dataset._of(v)
        if isinstance(v, TensorShape):
            return constant(v.as_list(), "int32" if v else "int64")
        raise TypeError(f"{v!r:.80}")
    return mapped(leaf, x)


def to_ps(x):
    """A normalized structure as ps functions take it."""
    from ._dataset import Dataset

    def leaf(v):
        if isinstance(v, (Dataset, Optional)):
            return v._ps
        return lowered(v)
    return plain(x, leaf)


def like(x):
    """The like of elements that are like a normalized structure."""
    from ._dataset import Dataset

    def leaf(v):
        return Nested(v._like) if isinstance(v, Dataset) and v._like is not None else None
    return like_of(x, leaf)


def called(f, arguments):
    """f(*arguments), converted first if its control flow asks for what values are; see penstock._convert."""
    inputs = getattr(_values._tracing, "inputs", None)
    held = inputs and (len(inputs.datasets), len(inputs.codes))
    try:
        return f(*arguments)
    except TraceError as e:
        if not getattr(e, "convertible", False):
            raise
        from ..._convert import converted
        again = converted(f)
        if again is None:
            raise
    if inputs:
        del inputs.datasets[held[0]:], inputs.codes[held[1]:]
    return again(*arguments)


class Function:
    """f as a function of the elements of a dataset. ``like``: that of what it gave, once it has been called."""

    def __init__(self, f, dataset, name, state=None):
        if not callable(f):
            raise TypeError(f"`{name}` takes a function: {f!r:.60}")
        self.f, self.name, self.dataset, self.like, self.gave = f, name, dataset, None, None
        self.spec, self.element_like = dataset._spec(), dataset._like
        self.state, self.frame, self.integer = state, dataset._frame(), None

    def of_elements(self, integer=None):
        """For map, filter and the like: the parts of a tuple are arguments of their own.

        ``integer`` is the dtype that Python's integers take where the function gives one; int32, if it is left out.
        """
        self.integer = integer
        unpacked = unpacks(self.element_like, self.spec)

        def body(x):
            whole = (x,) if unpacked and len(self.spec) == 1 else x  # Penstock gives the item of a tuple of one
            element = entered(whole, self.spec, self.element_like, self.frame)
            return self._called({self.frame: whole}, *(element if unpacked else (element,)))
        return body

    def of_state(self):
        """For scan and reduce: (state, element)."""
        frame, spec, state_like = self.state

        def body(s, x):
            return self._called({frame: s, self.frame: x}, entered(s, spec, state_like, frame),
                                entered(x, self.spec, self.element_like, self.frame))
        return body

    def of_key(self, frame, spec):
        """For group_by_window: (key, dataset of a window), or the key alone."""
        def both(k, w):
            from ._dataset import Dataset
            window = Symbol(w._core, Root(self.frame, ()))
            window._known = (ps_types.DatasetSpec(self.spec),)
            return self._called({frame: k, self.frame: w}, entered(k, spec, None, frame),
                                Dataset._of(window, self.element_like))
        return both

    def _called(self, elements, *arguments):
        if not _symbols.is_replay():
            return self._recorded(arguments)
        with _symbols.replaying(elements) as known:
            return _symbols.again(self._recorded(arguments), known)

    def _recorded(self, arguments):
        from ._control import assertions
        with assertions() as asserted:
            out = to_ps(self._result(called(self.f, arguments)))
        for condition, message in asserted:
            out = plain(out, lambda v: v if v is None else symbol(
                _values.call, "assert", (condition, v), {"message": message}))
        return out

    def _result(self, result):
        if isinstance(result, list):
            result = tuple(result)
        if self.integer and isinstance(result, int) and not isinstance(result, bool):
            result = constant(result, self.integer)
        try:
            result = normalized(result)
        except (TypeError, ValueError) as e:
            raise TypeError(f"Unsupported return value from function passed to {self.name}: {result!r}. {e}") from e
        self.like, self.gave = like(result), result
        return result


def key_function(f, frame, spec, integer=None):
    """f of a key, a ps.Value; see Function.of_elements."""
    def body(k):
        out = called(f, (entered(k, spec, None, frame),))
        plain_int = integer and isinstance(out, int) and not isinstance(out, bool)
        return to_ps(normalized(constant(out, integer) if plain_int else out))
    return body
