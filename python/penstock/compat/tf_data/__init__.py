"""The interface of tf.data over Penstock, for programs without TensorFlow.

>>> from penstock.compat import tf_data as tf
>>> ds = (tf.data.Dataset.from_tensor_slices({"x": [1.0, 2.0, 3.0], "y": [0, 1, 0]})
...       .map(lambda e: (tf.math.square(e["x"]), tf.one_hot(e["y"], 2)))
...       .batch(2))
>>> for x, y in ds:
...     print(x.numpy(), y.numpy().tolist())
[1. 4.] [[1.0, 0.0], [0.0, 1.0]]
[9.] [[1.0, 0.0]]

Names, arguments, defaults, structures and error classes are TensorFlow's: ``tf.data.Dataset``, ``tf.data.TFRecordDataset``,
``tf.io``, ``tf.image``, ``tf.strings``, ``tf.math``, ``tf.errors``, ``tf.int32``, ... docs/from-tfdata.md says what differs.
An element's tensors are NumPy arrays that also have ``.numpy()``. ``ds.ps`` is the ps.Dataset below.
"""
import types

from . import _array_ops, _checkpoint, _control, _files, _lookup, _names, _parsing, _record_writer, data, errors
from ._building import set_seed
from ._dataset import Dataset, Iterator
from ._optional import Optional
from ._options import Options
from ._readers import CsvDataset, FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from ._tensors import RaggedTensor, SparseTensor, Tensor
from ._types import (DTYPES, DatasetSpec, DType, NoneTensorSpec, OptionalSpec, RaggedTensorSpec, SparseTensorSpec,
                     TensorShape, TensorSpec, TypeSpec, as_dtype)
from .data import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, experimental

__version__ = "2.21"  # the TensorFlow whose answers it is compared with
newaxis = None


def _assembled():
    """The functions by their names in tf, as namespaces."""
    out = {}
    whole = {**_names.functions(), **_array_ops.TF, **_control.TF, **_parsing.TF, **_lookup.TF, **_record_writer.TF,
             **_checkpoint.TF, **_files.TF,
             "random.set_seed": set_seed, "compat.v1.data.get_output_shapes": data.get_output_shapes,
             "compat.v1.data.get_output_types": data.get_output_types, "dtypes.as_dtype": as_dtype,
             "ragged.RaggedTensor": RaggedTensor, "experimental.Optional": Optional,
             "data.experimental.DatasetInitializer": _lookup.DatasetInitializer,
             "compat.v1.SparseTensorValue": SparseTensor, "compat.v1.data.Dataset": Dataset,
             "executing_eagerly": lambda: True}
    for name, function in whole.items():
        *path, last = name.split(".")
        inside = out
        for part in path:
            inside = inside.setdefault(part, {})
        inside[last] = function
    out.pop("data")
    experimental.DatasetInitializer = _lookup.DatasetInitializer
    return {name: _namespace(v) for name, v in out.items()}


def _namespace(x):
    return types.SimpleNamespace(**{k: _namespace(v) for k, v in x.items()}) if isinstance(x, dict) else x


_own = dict(globals())
globals().update(DTYPES)
globals().update({name: value for name, value in _assembled().items() if name not in _own or name.startswith("_")})
float, double, half = DTYPES["float32"], DTYPES["float64"], DTYPES["float16"]  # noqa: A001
SparseTensorValue = SparseTensor

__all__ = ["AUTOTUNE", "CsvDataset", "DType", "Dataset", "DatasetSpec", "FixedLengthRecordDataset", "INFINITE_CARDINALITY",
           "Iterator", "NoneTensorSpec", "Optional", "OptionalSpec", "Options", "RaggedTensor", "RaggedTensorSpec",
           "SparseTensor", "SparseTensorSpec", "TFRecordDataset", "Tensor", "TensorShape", "TensorSpec", "TextLineDataset",
           "TypeSpec", "UNKNOWN_CARDINALITY", "as_dtype", "data", "errors"]
