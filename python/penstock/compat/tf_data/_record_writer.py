"""Files of TFRecords that programs write themselves: tf.io.TFRecordWriter."""
import gzip
import struct
import zlib

from ... import _values
from ..._calls import build
from ._sources import text


def _masked_crc(data):
    """TFRecord's checksum, computed by the engine."""
    ds = build("from_tensors", (data,), {}).map(lambda s: _values.call("crc32c", (s,), {"masked": True}))
    return struct.pack("<I", int(build("get_single_element", (ds,), {})))


class TFRecordOptions:
    """compression_type: "", "GZIP" or "ZLIB"."""

    def __init__(self, compression_type=None, **_):
        self.compression_type = compression_type or ""


class TFRecordWriter:
    """Writes records to a TFRecord file.

    >>> import os, tempfile
    >>> from penstock.compat import tf_data as tf
    >>> file = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tf.io.TFRecordWriter(file) as writer:
    ...     writer.write(b"one")
    >>> [r.numpy() for r in tf.data.TFRecordDataset(file)]
    [b'one']
    """

    def __init__(self, path, options=None):
        compression = getattr(options, "compression_type", options) or ""
        self._file, self._deflate = None, None
        if compression == "GZIP":
            self._file = gzip.open(text(path), "wb")
        else:
            self._file = open(text(path), "wb")  # noqa: SIM115
        if compression == "ZLIB":
            self._deflate = zlib.compressobj()

    def write(self, record):
        """Adds a record."""
        record = record.encode() if isinstance(record, str) else bytes(record)
        length = struct.pack("<Q", len(record))
        data = length + _masked_crc(length) + record + _masked_crc(record)
        self._file.write(self._deflate.compress(data) if self._deflate else data)

    def flush(self):
        """Writes what is buffered."""
        self._file.flush()

    def close(self):
        """Ends the file."""
        if self._deflate:
            self._file.write(self._deflate.flush())
            self._deflate = None
        self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


TF = {"io.TFRecordWriter": TFRecordWriter, "io.TFRecordOptions": TFRecordOptions}
