"""tf.data.Dataset's batches, windows and groups."""
import numpy as np

from ... import _types as ps_types
from ..._dataset import Dataset as PsDataset
from ..._values import Value
from . import errors
from ._building import number, parallel, stage
from ._functions import UNKNOWN, Function, key_function
from ._structures import Keyed, Made, fields
from ._symbols import Frame, frame_of_elements
from ._tensors import constant
from ._types import TensorShape, as_dtype


class Batches:
    """Those that put elements together, and take them apart."""

    @errors.building
    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None):
        """batch_size consecutive elements, stacked.

        >>> from penstock.compat import tf_data as tf
        >>> [x.numpy().tolist() for x in tf.data.Dataset.range(5).batch(2)]
        [[0, 1], [2, 3], [4]]
        """
        return self._stage("batch", number(batch_size, "batch_size"), drop_remainder=_flag(drop_remainder),
                           num_parallel_calls=parallel(num_parallel_calls),
                           deterministic=None if num_parallel_calls is None else deterministic)

    @errors.building
    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None):
        """batch_size consecutive elements, padded to one shape and stacked."""
        spec, like = self._spec(), self._like
        for s in _leaves(spec):
            if isinstance(s, ps_types.DatasetSpec):
                raise TypeError("`padded_batch` is not supported for datasets of datasets")
            if isinstance(s, ps_types.TensorSpec) and s.kind != "tensor":
                raise TypeError("`padded_batch` is only supported for datasets that produce tensor elements but type spec of "
                                f"elements in the input dataset is not a subclass of TensorSpec: {s.kind}")
        if padded_shapes is None and any(getattr(s, "shape", ()) is None for s in _leaves(spec)):
            raise ValueError("You must provide `padded_shapes` argument because component 0 has unknown rank.")
        return self._stage("padded_batch", number(batch_size, "batch_size"), drop_remainder=_flag(drop_remainder),
                           **_padding(spec, like, padded_shapes, padding_values))

    @errors.building
    def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype="int64", name=None):
        """batch_size consecutive elements; components of unknown sizes become ragged tensors."""
        return self._stage("ragged_batch", number(batch_size, "batch_size"), drop_remainder=_flag(drop_remainder))

    @errors.building
    def sparse_batch(self, batch_size, row_shape, name=None):
        """batch_size consecutive tensors as a sparse tensor."""
        return self._stage("sparse_batch", number(batch_size, "batch_size"), _shape(row_shape))

    @errors.building
    def unbatch(self, name=None):
        """The items of each element along its first axis."""
        return self._stage("unbatch")

    @errors.building
    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """Batches cut anew: of one size, or of several in turn."""
        if not isinstance(batch_size, Value):
            sizes = np.asarray(batch_size)
            if sizes.dtype.kind not in "iu":
                raise TypeError(f"`batch_size` must be integers: {batch_size!r:.60}")
            batch_size = [int(n) for n in sizes] if sizes.ndim else int(sizes)
        return self._stage("rebatch", batch_size, drop_remainder=_flag(drop_remainder))

    @errors.building
    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Datasets of ``size`` elements, in the structure of an element."""
        return self._stage("window", number(size, "size"), shift=number(shift, "shift"), stride=number(stride, "stride"),
                           drop_remainder=_flag(drop_remainder))

    @errors.building
    def group_by_window(self, key_func, reduce_func, window_size=None, window_size_func=None, name=None):
        """Elements gathered by key; each full window is given to reduce_func, whose elements come out.

        >>> from penstock.compat import tf_data as tf
        >>> ds = tf.data.Dataset.range(5).group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), window_size=2)
        >>> [x.numpy().tolist() for x in ds]
        [[0, 2], [1, 3], [4]]
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
        key = self._function(key_func, "Dataset.group_by_window()")
        int64 = ps_types.TensorSpec(as_dtype("int64").ps, ())
        keys = self._keys(key)
        reduced = Function(reduce_func, self, "Dataset.group_by_window()")
        both = reduced.of_key(keys, int64)

        def checked(k, w):
            out = both(k, w)
            if not hasattr(type(reduced.gave), "element_spec"):
                raise TypeError(f"`reduce_func` must return a `Dataset` object. Got {type(reduced.gave).__name__!r}.")
            return out
        size = None if window_size_func is None else key_function(window_size_func, keys, int64, "int64")
        ps = stage("group_by_window", self, key.of_elements("int64"), checked, window_size=number(window_size, "window_size"),
                   window_size_func=size)
        return self._made(ps, reduced.gave._like if reduced.gave is not None else None)

    def _keys(self, key):
        """The frame of keys, which are numbers of some elements."""
        one = stage("range", 1)
        return Frame(lambda: one) if isinstance(one, PsDataset) else frame_of_elements(one)

    @errors.building
    def bucket_by_sequence_length(self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None,
                                  padding_values=None, pad_to_bucket_boundary=False, no_padding=False,
                                  drop_remainder=False, name=None):
        """Elements of like length batched together, padded to the longest of the batch."""
        sizes, boundaries = [number(n) for n in bucket_batch_sizes], [number(n) for n in bucket_boundaries]
        if len(sizes) != len(boundaries) + 1:
            raise ValueError("`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
                             f"`len(bucket_batch_sizes)={len(sizes)}` and `len(bucket_boundaries)={len(boundaries)}`.")
        f = self._function(element_length_func, "Dataset.bucket_by_sequence_length()")
        return self._stage("bucket_by_sequence_length", f.of_elements(), boundaries, batch_sizes=sizes,
                           pad_to_bucket_boundary=_flag(pad_to_bucket_boundary), no_padding=_flag(no_padding),
                           drop_remainder=_flag(drop_remainder),
                           **_padding(self._spec(), self._like, padded_shapes, padding_values))


def _flag(x):
    """A flag, of what stands for one; None if it is not set."""
    return x if isinstance(x, Value) else bool(x) or None


def _leaves(spec):
    if isinstance(spec, dict):
        return [leaf for v in spec.values() for leaf in _leaves(v)]
    return [leaf for v in spec for leaf in _leaves(v)] if type(spec) is tuple else [spec]


def _padding(spec, like, shapes, values):
    out = {}
    if shapes is not None:
        out["padded_shapes"] = _beside(spec, like, shapes, _padded_shape)
    if values is not None:
        out["padding_values"] = _beside(spec, like, values, _value, broadcast=True)
    return out


def _beside(spec, like, given, leaf, broadcast=False):
    """The structure of spec, with leaf(spec, part of given) in place of its leaves."""
    if spec is UNKNOWN or not isinstance(spec, dict) and type(spec) is not tuple:
        return leaf(spec, given)
    if given is None or broadcast and not isinstance(given, (dict, tuple, list)) and fields(given) is None:
        inside = {k: given for k in spec} if isinstance(spec, dict) else (given,) * len(spec)
    else:
        inside = fields(given) or given
    likes = like.likes if isinstance(like, (Made, Keyed)) else like
    if isinstance(spec, dict):
        keys = likes if isinstance(like, Keyed) else spec
        if not isinstance(inside, dict) or set(inside) != set(keys):
            raise TypeError(f"The two structures don't have the same nested structure: {given!r} beside {list(keys)}")
        return {str(k): _beside(spec[str(k)], likes and likes[k], inside[k], leaf, broadcast) for k in keys}
    if not isinstance(inside, (tuple, list)) or len(inside) != len(spec):
        raise TypeError(f"The two structures don't have the same nested structure: {given!r} beside {len(spec)} parts")
    return tuple(_beside(s, likes and likes[i], inside[i], leaf, broadcast) for i, s in enumerate(spec))


def _padded_shape(spec, x):
    """The shape that a component is padded to."""
    sizes = _shape(x)
    if isinstance(spec, ps_types.TensorSpec) and spec.kind == "tensor" and spec.shape is not None and isinstance(sizes, list):
        if len(sizes) != len(spec.shape) or any(n is not None and m is not None and n < m for n, m in zip(sizes, spec.shape)):
            raise ValueError(f"The padded shape {TensorShape(sizes)} is not compatible with the shape "
                             f"{TensorShape(spec.shape)} of the corresponding input component.")
    return sizes


def _shape(x):
    if x is None:
        return None
    if isinstance(x, Value):
        return x
    if isinstance(x, np.ndarray):
        if x.dtype.kind not in "iu":
            raise TypeError(f"Padded shape {x!r} must be a `tf.int64` vector tensor, but its element type was {x.dtype}.")
        x = x.tolist()
    try:
        sizes = TensorShape(x)
    except (TypeError, AttributeError):
        shape = np.shape(x) if isinstance(x, (list, tuple)) else type(x).__name__
        raise ValueError(f"Padded shape {x!r} must be a `tf.int64` vector tensor, but its shape was {shape}.") from None
    return [None if n is None else int(n) for n in sizes]


def _value(spec, x):
    if isinstance(x, Value) or spec is UNKNOWN or spec is None:
        return x
    dtype = as_dtype(spec.dtype)
    if x is None:
        return "" if dtype == "string" else False if dtype == "bool" else 0.0 if dtype.is_floating else 0
    given = constant(x, None if isinstance(x, (np.ndarray, np.generic)) or (dtype == "string") != isinstance(
        x, (str, bytes)) else dtype)
    if as_dtype(given.dtype) != dtype:
        raise TypeError(f"Mismatched type. The type of the padding value is {as_dtype(given.dtype)!r}, but that of "
                        f"the component is {dtype!r}.")
    return given.numpy()

