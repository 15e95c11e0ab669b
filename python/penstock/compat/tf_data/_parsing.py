"""tf.io's parsing of tf.train.Example."""
import typing

from ... import _values
from ._ops import op
from ._tensors import pack
from ._types import as_dtype


class FixedLenFeature(typing.NamedTuple):
    """Exactly ``shape`` values, or the default."""
    shape: typing.Any
    dtype: typing.Any
    default_value: typing.Any = None


class VarLenFeature(typing.NamedTuple):
    """Any number of values: a sparse tensor."""
    dtype: typing.Any


class FixedLenSequenceFeature(typing.NamedTuple):
    """Any number of pieces of ``shape`` values."""
    shape: typing.Any
    dtype: typing.Any
    allow_missing: bool = False
    default_value: typing.Any = None


class SparseFeature(typing.NamedTuple):
    """A sparse tensor of lists of indices and of values."""
    index_key: typing.Any
    value_key: str
    dtype: typing.Any
    size: typing.Any
    already_sorted: bool = False


class RaggedFeature(typing.NamedTuple):
    """A ragged tensor of values and partitions."""

    class RowSplits(typing.NamedTuple):  # noqa: D106
        key: str

    class RowLengths(typing.NamedTuple):  # noqa: D106
        key: str

    class RowStarts(typing.NamedTuple):  # noqa: D106
        key: str

    class RowLimits(typing.NamedTuple):  # noqa: D106
        key: str

    class ValueRowIds(typing.NamedTuple):  # noqa: D106
        key: str

    class UniformRowLength(typing.NamedTuple):  # noqa: D106
        length: int

    dtype: typing.Any
    value_key: typing.Any = None
    partitions: tuple = ()
    row_splits_dtype: typing.Any = "int32"
    validate: bool = False


_PARTITIONS = {"RowSplits": "row_splits", "RowLengths": "row_lengths", "RowStarts": "row_starts",
               "RowLimits": "row_limits", "ValueRowIds": "value_rowids", "UniformRowLength": "uniform_row_length"}


def _plain(x):
    if hasattr(x, "tolist"):
        x = x.tolist()
    return x


def _feature(key, f):
    """A feature of TensorFlow as an expression of Penstock."""
    if isinstance(f, VarLenFeature):
        return _made(f.dtype, kind="var")
    if isinstance(f, FixedLenFeature):
        return _made(f.dtype, shape=_sizes(f.shape), default=_default(f))
    if isinstance(f, FixedLenSequenceFeature):
        return _made(f.dtype, shape=_sizes(f.shape), kind="sequence", default=_default(f),
                     allow_missing=f.allow_missing or None)
    if isinstance(f, SparseFeature):
        several = isinstance(f.index_key, (list, tuple))
        return _made(f.dtype, kind="sparse", value_key=f.value_key,
                     index_key=list(f.index_key) if several else [f.index_key],
                     size=_plain(list(f.size)) if several else [int(f.size)])
    if isinstance(f, RaggedFeature):
        return _made(f.dtype, kind="ragged", value_key=f.value_key, partitions=[
            (_PARTITIONS[type(p).__name__], p[0]) for p in f.partitions] or None)
    raise ValueError(f"Unsupported type for feature {key!r}: {f!r}")


def _made(dtype, **named):
    return _values.call("feature", (as_dtype(dtype).ps,), {k: v for k, v in named.items() if v is not None})


def _sizes(shape):
    if shape is None:
        raise ValueError("a feature needs a shape")
    return [int(n) for n in (shape if hasattr(shape, "__iter__") else [shape])]


def _default(f):
    value = _plain(f.default_value)
    if isinstance(value, list) and len(value) == 1 and not _sizes(f.shape):
        value = value[0]
    return value


def _features(features):
    return {key: _feature(key, f) for key, f in features.items()}


def parse_single_example(serialized, features, example_names=None, name=None):
    """The features of a tf.train.Example: a dict.

    >>> from penstock.compat import tf_data as tf
    >>> json = '{"features": {"feature": {"x": {"int64List": {"value": [5]}}}}}'
    >>> ds = tf.data.Dataset.from_tensors(json).map(tf.io.decode_json_example)
    >>> [x] = ds.map(lambda r: tf.io.parse_single_example(r, {"x": tf.io.FixedLenFeature([], tf.int64)}))
    >>> x["x"].numpy()
    5
    """
    if not features:
        raise ValueError("Invalid argument: Missing: features was empty")
    out = op("parse_example", pack(serialized), _Features(_features(features)))
    return out if isinstance(out, dict) else {key: out[key] for key in features}


parse_example = parse_single_example


def parse_single_sequence_example(serialized, context_features=None, sequence_features=None, example_name=None, name=None):
    """(context, sequences) of a tf.train.SequenceExample: two dicts."""
    context, sequence = context_features or {}, sequence_features or {}
    out = op("parse_sequence_example", pack(serialized), _Features(_features(context)), _Features(_features(sequence)))
    if isinstance(out, tuple):
        return out[:2]
    return {k: out[0][k] for k in context}, {k: out[1][k] for k in sequence}


class _Features(dict):
    """Kept as it is by what replaces tensors in arguments."""


TF = {"io.FixedLenFeature": FixedLenFeature, "io.VarLenFeature": VarLenFeature,
      "io.FixedLenSequenceFeature": FixedLenSequenceFeature, "io.SparseFeature": SparseFeature,
      "io.RaggedFeature": RaggedFeature, "io.parse_single_example": parse_single_example,
      "io.parse_example": parse_example, "io.parse_single_sequence_example": parse_single_sequence_example}
