"""tf.experimental.Optional: a tensor that is there or not."""
from ... import _values
from ..._values import is_tracing
from ._symbols import symbol


class Optional:
    """A value, or none. In a function it is a value of the function.

    >>> Optional.from_value(5).get_value().numpy(), Optional.empty(None).has_value().numpy()
    (5, False)
    """

    def __init__(self, ps=None, value=None, element_spec=None):
        self._ps, self._value, self._element_spec = ps, value, element_spec

    @classmethod
    def from_value(cls, value):
        """One that holds a tensor."""
        from ._functions import normalized
        value = normalized(value)
        if is_tracing():
            return cls(symbol(_values.call, "optional_of", (value,), {}))
        return cls(value=value)

    @classmethod
    def empty(cls, element_spec):
        """One that holds nothing."""
        if is_tracing():
            shape = element_spec.shape
            return cls(symbol(_values.call, "optional_none", (element_spec.dtype.ps,), {
                "shape": [-1 if n is None else n for n in shape]}))
        return cls(element_spec=element_spec)

    def has_value(self, name=None):
        """Whether it holds something."""
        from ._tensors import constant
        return constant(self._value is not None) if self._ps is None else symbol(_values.call, "has_value", (self._ps,), {})

    def get_value(self, name=None):
        """The tensor; an InvalidArgumentError if there is none."""
        from . import errors
        if self._ps is not None:
            return symbol(_values.call, "get_value", (self._ps,), {})
        if self._value is None:
            raise errors.InvalidArgumentError(message="The given optional does not have a value.", node="OptionalGetValue")
        return self._value
