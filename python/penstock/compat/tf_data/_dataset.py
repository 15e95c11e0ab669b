"""tf.data.Dataset over ps.Dataset: what it is, and how it is iterated. Sources and stages: the files beside this one."""
import numpy as np

from ... import _types as ps_types
from ..._calls import build
from ..._dataset import Dataset as PsDataset
from ..._errors import Error
from ..._values import is_tracing
from . import errors
from ._building import _call, stage
from ._functions import UNKNOWN, Function, like, normalized, to_ps
from ._ops import scalar, wrapped
from ._optional import Optional
from ._options import Options, configured
from ._sources import Sources
from ._stages import Stages
from ._structures import Keyed, Made, Nested, dressed
from ._symbols import Frame, Symbol, frame_of_elements, symbol
from ._tensors import Tensor, constant
from ._types import (DatasetSpec, NoneTensorSpec, OptionalSpec, RaggedTensorSpec, SparseTensorSpec, TensorSpec,
                     as_dtype)

INFINITE, UNKNOWN_CARDINALITY = -1, -2


class Dataset(Sources, Stages):
    """tf.data.Dataset: an immutable pipeline. Elements are tensors in tuples, namedtuples, dicts, attrs classes.

    >>> from penstock.compat import tf_data as tf
    >>> ds = tf.data.Dataset.range(5).map(lambda x: (x, x * 2)).batch(2)
    >>> for x, y in ds:
    ...     print(x.numpy(), y.numpy())
    [0 1] [0 2]
    [2 3] [4 6]
    [4] [8]
    """

    def __init__(self, variant_tensor):
        self._set(variant_tensor if isinstance(variant_tensor, (PsDataset, Symbol)) else variant_tensor._ps)

    def _set(self, ps, like=None, options=None, inputs=()):
        self._ps, self._like, self._inputs_ = ps, like, tuple(inputs)
        merged = options or Options()
        for one in inputs:
            merged = one._options.merge(merged) if merged is not one._options else merged
        self._options, self._run = merged, None

    @classmethod
    def _of(cls, ps, like=None, inputs=(), options=None):
        out = object.__new__(Dataset)
        out._set(ps, like, options, inputs)
        return out

    def _stage(self, name, *args, like="same", inputs=(), **named):
        return Dataset._of(stage(name, self, *args, **named), self._like if isinstance(like, str) else like,
                           (self, *inputs))

    def _function(self, f, name, **named):
        return Function(f, self, name, **named)

    def _spec(self):
        if isinstance(self._ps, PsDataset):
            return self._ps.spec
        spec = self._ps._spec()
        return spec.element if isinstance(spec, ps_types.DatasetSpec) else UNKNOWN

    def _frame(self):
        return Frame(lambda: self._ps) if isinstance(self._ps, PsDataset) else frame_of_elements(self._ps)

    def _inputs(self):
        return list(self._inputs_)

    @property
    def ps(self):
        """The ps.Dataset below: for ``explain()``, ``optimize()``, ``save_state()`` and the rest of Penstock."""
        if self._run is None:  # one object: its iterators share caches, and each is an epoch of its own
            self._run = configured(self._ps, self._options)
        return self._run

    @property
    def element_spec(self):
        """The structure of an element, of tf.TensorSpec and the like.

        >>> Dataset.from_tensor_slices({"x": [1.5, 2.5]}).element_spec
        {'x': TensorSpec(shape=(), dtype=tf.float32, name=None)}
        """
        spec = self._spec()
        if spec is UNKNOWN:
            raise TypeError("the elements of this dataset are computed from values that do not say what they are")
        return dressed(self._like, spec, to_tf_spec)

    def __iter__(self):
        if not isinstance(self._ps, PsDataset):
            raise RuntimeError("a dataset inside a function cannot be iterated with `for`: use map, reduce or flat_map")
        return Iterator(self)

    def __bool__(self):
        return True

    __nonzero__ = __bool__

    def __len__(self):
        n = self._cardinality()
        if n == INFINITE:
            raise TypeError("The dataset is infinite.")
        if n == UNKNOWN_CARDINALITY:
            raise TypeError("The dataset length is unknown.")
        return n

    def _cardinality(self):
        return self._ps._core.cardinality()

    def cardinality(self):
        """The number of elements: INFINITE_CARDINALITY (-1), UNKNOWN_CARDINALITY (-2)."""
        return symbol(_call, "cardinality", self._ps) if isinstance(self._ps, Symbol) else constant(
            np.int64(self._cardinality()))

    def options(self):
        """The options that hold for it; to change some, give new ones to with_options."""
        return self._options.merge(Options()).frozen()

    def with_options(self, options, name=None):
        """The same elements, with options for all of the pipeline."""
        merged = self._options.merge(options)
        ps = self._ps
        if options.deterministic is not None:
            ps = stage("with_options", ps, deterministic=bool(options.deterministic))
        out = Dataset._of(ps, self._like, (self,), merged)
        out._options = merged
        return out

    def as_numpy_iterator(self):
        """An iterator over elements of NumPy's arrays and scalars, and bytes.

        >>> list(Dataset.range(3).as_numpy_iterator())
        [0, 1, 2]
        """
        return NumpyIterator(self)

    def apply(self, transformation_func):
        """transformation_func(dataset)."""
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(dataset)}.")
        return dataset

    def fingerprint(self):
        """64 bits that are the same for the same pipeline."""
        return constant(np.uint64(int(build("fingerprint", (self._ps,), {})["identity"][:16], 16)))

    @errors.building
    def reduce(self, initial_state, reduce_func, name=None):
        """reduce_func(state, element) over all elements, beginning with initial_state.

        >>> import numpy as np
        >>> Dataset.range(5).reduce(np.int64(0), lambda s, x: s + x).numpy()
        10
        """
        state, f = self._state_function(initial_state, reduce_func, "Dataset.reduce()")
        out = stage("reduce", self, to_ps(state), f.of_state())
        if isinstance(out, Symbol):
            return out
        return dressed(like(state), out, lambda v, _: wrapped(v))

    @errors.building
    def get_single_element(self, name=None):
        """The one element there is."""
        out = stage("get_single_element", self)
        return out if isinstance(out, Symbol) else dressed(self._like, out, lambda v, _: wrapped(v))

    def _state_function(self, initial_state, f, name):
        state = normalized(initial_state)
        if isinstance(self._ps, PsDataset) and not is_tracing():
            made = build("from_tensors", (to_ps(state),), {})
            frame, spec = Frame(lambda: made), made.spec
        else:
            one = symbol(_call, "from_tensors", to_ps(state))
            made = one._spec()
            frame, spec = frame_of_elements(one), made.element if made is not None else UNKNOWN
        return state, self._function(f, name, state=(frame, spec, like(state)))

    def __repr__(self):
        return f"<_{type(self).__name__} element_spec={self.element_spec!r}>"


def to_tf_spec(spec, like):
    """A leaf of Penstock's spec as TensorFlow writes it."""
    if spec is None:
        return NoneTensorSpec()
    if isinstance(spec, ps_types.DatasetSpec):
        return DatasetSpec(dressed(like.like if isinstance(like, Nested) else None, spec.element, to_tf_spec))
    dtype = as_dtype(spec.dtype)
    if spec.kind == "ragged":
        return RaggedTensorSpec(spec.shape, dtype, spec.ragged_rank)
    if spec.kind == "sparse":
        return SparseTensorSpec(spec.shape, dtype)
    out = TensorSpec(spec.shape, dtype)
    return OptionalSpec(out) if spec.kind == "optional" else out


class Iterator:
    """One pass over a dataset: iter(ds).

    >>> it = iter(Dataset.range(2))
    >>> it.get_next().numpy(), next(it).numpy(), it.get_next_as_optional().has_value().numpy()
    (0, 1, False)
    """

    def __init__(self, dataset):
        if not isinstance(dataset, Dataset):
            raise TypeError(f"expected a tf.data.Dataset: {dataset!r:.60}")
        self._dataset = dataset
        try:
            self._iterator = dataset.ps.iterate()
        except Error as e:
            raise errors.of(e) from e.__cause__
        self._next, self._convert = self._iterator.__next__, converter(dataset._ps.spec, dataset._like, self._tensor)

    @staticmethod
    def _tensor(x):
        return x.view(Tensor) if isinstance(x, np.ndarray) else scalar(x)

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return self._convert(self._next())
        except Error as e:
            raise errors.of(e) from e.__cause__

    next = __next__

    def get_next(self, name=None):
        """The next element; an OutOfRangeError after the last one."""
        try:
            return self.__next__()
        except StopIteration:
            raise errors.OutOfRangeError(message="End of sequence", node="IteratorGetNext") from None

    _next_internal = get_next

    def get_next_as_optional(self):
        """The next element as a tf.experimental.Optional, which holds none after the last one."""
        try:
            return Optional(value=self.__next__())
        except StopIteration:
            return Optional(element_spec=self.element_spec)

    @property
    def element_spec(self):
        """That of the dataset."""
        return self._dataset.element_spec

    def save_state(self):
        """Where it stands; see ps.Iterator.save_state and ps.Dataset.restore."""
        return self._iterator.save_state()

    def state_dict(self):
        """The same, as trainers keep it."""
        return self._iterator.state_dict()

    def load_state_dict(self, state):
        """Goes on where the iterator stood that gave ``state``."""
        self._iterator.load_state_dict(state)


def converter(spec, like, tensor):
    """-> the function that makes TensorFlow's element of one of Penstock's; ``tensor`` is that of dense tensors."""
    if isinstance(like, (Made, Keyed)):
        parts = [(k, str(k), converter(spec[str(k)], v, tensor)) for k, v in like.likes.items()]
        made = like.cls if isinstance(like, Made) else None
        return lambda x: made(**{k: f(x[n]) for k, n, f in parts}) if made else {k: f(x[n]) for k, n, f in parts}
    if isinstance(spec, dict):
        parts = [(k, converter(v, like and like[k], tensor)) for k, v in spec.items()]
        return lambda x: {k: f(x[k]) for k, f in parts}
    if type(spec) is tuple:
        parts = [converter(v, like and like[i], tensor) for i, v in enumerate(spec)]
        return lambda x: tuple([f(v) for f, v in zip(parts, x)])
    if isinstance(spec, ps_types.DatasetSpec):
        inner = like.like if isinstance(like, Nested) else None
        return lambda x: Dataset._of(x, inner)
    if spec is not None and spec.kind == "optional":
        shown = to_tf_spec(spec, None)._value_spec
        return lambda x: Optional(value=None if x is None else wrapped(x), element_spec=shown)
    return tensor if spec is not None and spec.kind == "tensor" else wrapped


def _leaves(spec):
    if isinstance(spec, dict):
        return [leaf for v in spec.values() for leaf in _leaves(v)]
    return [leaf for v in spec for leaf in _leaves(v)] if type(spec) is tuple else [spec]


class NumpyIterator(Iterator):
    """The elements of a dataset as NumPy has them."""

    def __init__(self, dataset):
        for spec in _leaves(dataset._spec()):
            if isinstance(spec, ps_types.DatasetSpec):
                raise TypeError("`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets of datasets.")
        super().__init__(dataset)

    @staticmethod
    def _tensor(x):
        return x
