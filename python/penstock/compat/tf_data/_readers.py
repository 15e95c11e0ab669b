"""The readers of tf.data: classes, as TensorFlow has them."""
from . import errors
from ._building import number, stage
from ._dataset import Dataset
from ._sources import names
from ._tensors import Tensor
from ._types import as_dtype


def _compression(name):
    if isinstance(name, Tensor):
        name = name.numpy().decode()
    return None if name in (None, "") else name


def _reading(buffer_size, num_parallel_reads):
    buffer_size, reads = number(buffer_size, "buffer_size"), number(num_parallel_reads, "num_parallel_reads")
    return {"buffer_size": buffer_size or None, "num_parallel_reads": None if reads is None or reads == -1 else reads}


class TFRecordDataset(Dataset):
    """The records of TFRecord files."""

    @errors.building
    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        self._set(stage("tfrecord", names(filenames), compression=_compression(compression_type),
                        **_reading(buffer_size, num_parallel_reads)))


class TextLineDataset(Dataset):
    """The lines of text files."""

    @errors.building
    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        self._set(stage("text_line", names(filenames), compression=_compression(compression_type),
                        **_reading(buffer_size, num_parallel_reads)))


class FixedLengthRecordDataset(Dataset):
    """Pieces of one length of files, between a header and a footer."""

    @errors.building
    def __init__(self, filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None,
                 compression_type=None, num_parallel_reads=None, name=None):
        self._set(stage("fixed_length_record", names(filenames), number(record_bytes, "record_bytes"),
                        header_bytes=number(header_bytes, "header_bytes"),
                        footer_bytes=number(footer_bytes, "footer_bytes"), compression=_compression(compression_type),
                        **_reading(buffer_size, num_parallel_reads)))


class CsvDataset(Dataset):
    """The rows of delimited text, with a dtype or a default for each column."""

    @errors.building
    def __init__(self, filenames, record_defaults, compression_type=None, buffer_size=None, header=False,
                 field_delim=",", use_quote_delim=True, na_value="", select_cols=None, exclude_cols=None):
        self._set(stage("csv", names(filenames), [_column(c) for c in record_defaults],
                        compression=_compression(compression_type), buffer_size=number(buffer_size, "buffer_size"),
                        header=header or None, field_delim=field_delim, use_quote_delim=use_quote_delim,
                        na_value=na_value, select_cols=select_cols and list(select_cols),
                        exclude_cols=exclude_cols and list(exclude_cols)))


def _column(default):
    """A column's dtype, or the value that stands for a missing one."""
    from ._tensors import constant
    try:
        return as_dtype(default).ps
    except TypeError:
        pass
    value = constant(default)
    if value.ndim == 1:
        if not value.size:
            return as_dtype(value.dtype).ps
        value = value[0]
    return value.numpy() if value.dtype != object else value.item()
