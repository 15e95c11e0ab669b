"""tf.lookup: tables of constants, of a file, and of a dataset."""
from ... import _values
from ._ops import op
from ._sources import text
from ._tensors import constant, pack
from ._types import as_dtype


class KeyValueTensorInitializer:
    """A table of two lists."""

    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        self.keys, self.values = constant(keys, key_dtype), constant(values, value_dtype)

    key_dtype = property(lambda self: as_dtype(self.keys.dtype))
    value_dtype = property(lambda self: as_dtype(self.values.dtype))

    def table(self, named):
        """As Penstock has it."""
        return _values.call("table", (self.keys.numpy(), self.values.numpy()), named)


class TextFileIndex:
    """Which part of a line is meant."""
    WHOLE_LINE, LINE_NUMBER = -2, -1


class TextFileInitializer:
    """A table in a file, one entry per line."""

    def __init__(self, filename, key_dtype, key_index, value_dtype, value_index, vocab_size=None, delimiter="\t",
                 name=None, value_index_offset=0):
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        self._file, self._columns, self._size = text(filename), (key_index, value_index), vocab_size
        self._delimiter = delimiter

    def table(self, named):
        """As Penstock has it."""
        key, value = ({-2: "whole_line", -1: "line_number"}.get(c, c) for c in self._columns)
        more = {} if self._size is None else {"size": int(self._size)}
        return _values.call("vocabulary", (self._file,), {
            "key_column": key, "value_column": value, "key_dtype": self.key_dtype.ps, "value_dtype": self.value_dtype.ps,
            "delimiter": self._delimiter, **more, **named})


class DatasetInitializer:
    """A table of a dataset of pairs. tf.data.experimental.DatasetInitializer."""

    def __init__(self, dataset):
        keys, values = dataset.element_spec
        self.dataset, self.key_dtype, self.value_dtype = dataset, keys.dtype, values.dtype

    def table(self, named):
        """As Penstock has it."""
        return _values.call("table", (self.dataset._ps,), named)


class StaticHashTable:
    """A table that gives the default for a key it does not hold.

    >>> from penstock.compat import tf_data as tf
    >>> table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    >>> [x.numpy() for x in tf.data.Dataset.from_tensor_slices(["b", "z"]).map(table.lookup)]
    [2, -1]
    """

    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False):
        self._initializer = initializer
        self._named = {"default": constant(default_value, initializer.value_dtype).numpy().tolist() if
                       initializer.value_dtype != "string" else default_value}

    key_dtype = property(lambda self: self._initializer.key_dtype)
    value_dtype = property(lambda self: self._initializer.value_dtype)
    initializer = None

    def lookup(self, keys, name=None):
        """The values of the keys."""
        return op("lookup", _Table(self), pack(keys))

    __getitem__ = lookup


class StaticVocabularyTable(StaticHashTable):
    """A table that gives an unknown key one of some buckets."""

    def __init__(self, initializer, num_oov_buckets, lookup_key_dtype=None, name=None, experimental_is_anonymous=False):
        self._initializer, self._named = initializer, {"oov_buckets": int(num_oov_buckets)}


class _Table:
    def __init__(self, table):
        self.table = table

    def expression(self):
        """Made where it is used, so that a dataset in it is one of the inputs there."""
        return self.table._initializer.table(self.table._named)


TF = {"lookup.KeyValueTensorInitializer": KeyValueTensorInitializer, "lookup.TextFileInitializer": TextFileInitializer,
      "lookup.TextFileIndex": TextFileIndex, "lookup.StaticHashTable": StaticHashTable,
      "lookup.StaticVocabularyTable": StaticVocabularyTable}
