"""tf.data.experimental's datasets that are made of several stages: of CSV files, and of files of tf.train.Example."""
import csv
import gzip
import io
import itertools
import zlib

import numpy as np

from ._building import stage
from ._dataset import Dataset
from ._parsing import parse_example
from ._readers import TFRecordDataset, _column, _compression
from ._types import as_dtype


def parse_example_dataset(features, num_parallel_calls=1, deterministic=None):
    """For apply: the features of batches of tf.train.Example."""
    return lambda ds: ds.map(lambda s: parse_example(s, features))


def make_batched_features_dataset(file_pattern, batch_size, features, reader=None, label_key=None, reader_args=None,
                                  num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
                                  prefetch_buffer_size=None, reader_num_threads=None, parser_num_threads=None,
                                  sloppy_ordering=False, drop_final_batch=False):
    """Batches of the features of files of tf.train.Example: dicts, with a label (dict, label)."""
    made = reader or TFRecordDataset
    ds = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    ds = ds.interleave(lambda file: made(file, *(reader_args or [])), cycle_length=reader_num_threads or 1)
    ds = _in_batches(ds, batch_size, num_epochs, shuffle and shuffle_buffer_size, shuffle_seed, drop_final_batch)
    ds = ds.map(lambda s: parse_example(s, features))
    return ds if label_key is None else ds.map(lambda e: _labelled(e, label_key))


def make_csv_dataset(file_pattern, batch_size, column_names=None, column_defaults=None, label_name=None,
                     select_columns=None, field_delim=",", use_quote_delim=True, na_value="", header=True,
                     num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
                     prefetch_buffer_size=None, num_parallel_reads=None, sloppy=False, num_rows_for_inference=100,
                     compression_type=None, ignore_errors=False, encoding="utf-8"):
    """Batches of the rows of CSV files: dicts of columns, with a label (dict, label)."""
    files = [f.decode() for f in Dataset.list_files(file_pattern, shuffle=False).as_numpy_iterator()]
    rows = _first_rows(files[0], compression_type, field_delim, use_quote_delim, encoding,
                       None if num_rows_for_inference is None else num_rows_for_inference + 1)
    if column_names is None:
        column_names = rows[0]
    if len(set(column_names)) != len(column_names):
        raise ValueError(f"Cannot have duplicate column names: {column_names}")
    wanted = _chosen(column_names, select_columns)
    if label_name is not None and label_name not in [column_names[i] for i in wanted]:
        raise ValueError(f"`label_name` provided must be one of the columns: {label_name!r}")
    if column_defaults is None:
        body = rows[1:] if header else rows
        column_defaults = [_inferred([row[i] for row in body if i < len(row)], na_value) for i in wanted]
    elif len(column_defaults) == len(column_names) and len(wanted) != len(column_names):
        column_defaults = [column_defaults[i] for i in wanted]
    columns = [_column(c) for c in column_defaults]
    source = stage("list_files", files, shuffle=shuffle or None) if shuffle else files
    ds = Dataset._of(stage("csv", source, columns, compression=_compression(compression_type), header=header or None,
                           field_delim=field_delim, use_quote_delim=use_quote_delim, na_value=na_value,
                           select_cols=None if len(wanted) == len(column_names) else wanted))
    if ignore_errors:
        ds = ds.ignore_errors()
    names = [column_names[i] for i in wanted]
    ds = _in_batches(ds, batch_size, num_epochs, shuffle and shuffle_buffer_size, shuffle_seed, num_epochs is None)
    ds = ds.map(lambda *values: dict(zip(names, values)))
    return ds if label_name is None else ds.map(lambda e: _labelled(e, label_name))


def _in_batches(ds, batch_size, num_epochs, shuffle_buffer_size, seed, drop_remainder):
    if shuffle_buffer_size:
        ds = ds.shuffle(shuffle_buffer_size, seed)
    if num_epochs != 1:
        ds = ds.repeat(num_epochs)
    return ds.batch(batch_size, drop_remainder=drop_remainder)


def _labelled(element, key):
    rest = dict(element)
    label = rest.pop(key)
    return rest, label


def _chosen(names, select):
    """The indices of the columns that are wanted, ascending."""
    if select is None:
        return list(range(len(names)))
    if len(set(select)) != len(select):
        raise ValueError(f"`select_columns` contains duplicates: {select}")
    return sorted(names.index(c) if isinstance(c, str) else int(c) for c in select)


def _first_rows(file, compression, delim, quotes, encoding, count):
    with open(file, "rb") as raw:
        data = raw if not compression else io.BytesIO(
            gzip.decompress(raw.read()) if compression == "GZIP" else zlib.decompress(raw.read()))
        reader = csv.reader(io.TextIOWrapper(data, encoding=encoding, newline=""), delimiter=delim,
                            quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE)
        return list(itertools.islice(reader, count))


def _inferred(fields, na_value):
    """The narrowest dtype that holds a column's fields, as its default: 0, 0.0 or an empty string."""
    for name in ("int32", "int64", "float32", "float64"):
        if all(f in ("", na_value) or _holds(name, f) for f in fields):
            return np.zeros([], as_dtype(name).as_numpy_dtype)
    return ""


def _holds(name, field):
    try:
        if name.startswith("int"):
            return np.iinfo(name).min <= int(field) <= np.iinfo(name).max
        return abs(float(field)) <= np.finfo(name).max
    except ValueError:
        return False
