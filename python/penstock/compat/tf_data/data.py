"""tf.data."""
from . import experimental
from ._dataset import Dataset, Iterator, NumpyIterator
from ._options import Options, ThreadingOptions
from ._readers import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from ._types import DatasetSpec

AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -1, -2


def get_output_shapes(dataset):
    """tf.compat.v1.data.get_output_shapes: the shapes of an element's tensors, in its structure."""
    from ._structures import mapped
    return mapped(lambda spec: getattr(spec, "shape", None), dataset.element_spec)


def get_output_types(dataset):
    """tf.compat.v1.data.get_output_types: the dtypes of an element's tensors, in its structure."""
    from ._structures import mapped
    return mapped(lambda spec: getattr(spec, "dtype", None), dataset.element_spec)


__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "DatasetSpec",
           "FixedLengthRecordDataset", "Iterator", "NumpyIterator", "Options", "TFRecordDataset", "TextLineDataset",
           "ThreadingOptions", "experimental"]
