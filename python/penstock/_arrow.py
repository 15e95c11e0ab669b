"""Arrow tables and streams as datasets; pyarrow is loaded with this file."""
import hashlib
import threading

import numpy
import pyarrow

from . import _core
from ._calls import build
from ._columns import batch_arrays, described, leaves, parts, tree_of
from ._dataset import Dataset
from ._errors import FailedPrecondition, InvalidArgument
from ._memory import Held, from_memory
from ._sources import from_generator
from ._values import Value, call, to_core

_MOST_HASHED_BYTES = 256 << 20  # a larger table has no identity of its own


def from_arrow(data, columns, fill, identity):
    """See ps.from_arrow."""
    data = _opened(data)
    if isinstance(data, pyarrow.Table):
        data = data if columns is None else data.select(columns)
        return from_table(data, trees_of(data.schema), fill, identity=identity)
    if isinstance(data, (pyarrow.Array, pyarrow.ChunkedArray)):
        if columns is not None:
            raise InvalidArgument(f"from_arrow: one array has no columns to choose from: {columns!r:.60}")
        tree = tree_of(data.type, "")
        return from_table(pyarrow.table({"": data}), tree, fill, identity=identity)
    return _stream(data, columns, fill, identity)


def _opened(data):
    """A Table, an array, or what gives a RecordBatchReader."""
    if isinstance(data, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([data])
    if isinstance(data, (pyarrow.Table, pyarrow.Array, pyarrow.ChunkedArray, pyarrow.RecordBatchReader)):
        return data
    if callable(data) or hasattr(data, "scanner"):
        return data
    if hasattr(data, "__arrow_c_stream__"):
        if not hasattr(data, "__len__"):  # a query, say, which runs anew for each pass
            return lambda: pyarrow.RecordBatchReader.from_stream(data)
        try:
            return pyarrow.table(data)
        except (pyarrow.ArrowInvalid, TypeError, ValueError):
            return pyarrow.chunked_array(data)
    if hasattr(data, "__arrow_c_array__"):
        array = pyarrow.array(data)
        return pyarrow.Table.from_struct_array(array) if pyarrow.types.is_struct(array.type) else array
    raise InvalidArgument("from_arrow takes a pyarrow Table, RecordBatch, RecordBatchReader or Dataset, an object with "
                          f"__arrow_c_stream__ or __arrow_c_array__, or a function that gives one: {data!r:.60}")


def trees_of(schema):
    if not len(schema):
        raise InvalidArgument("from_arrow: there is no column")
    if len(set(schema.names)) < len(schema.names):
        raise InvalidArgument(f"from_arrow: two columns have one name: {', '.join(schema.names)}")
    return {name: tree_of(schema.field(name).type, name) for name in schema.names}


def from_table(table, tree, fill, indices=None, identity=""):
    """The rows of a table, or of these ``indices`` of it, in the structure of ``tree``. No copy but of numbers in chunks."""
    is_array = table.column_names == [""]
    trees = [tree] if is_array else list(tree.values())
    found = [(leaf, _chunks(leaf, column, fill)) for one, column in zip(trees, table.columns) for leaf in leaves(one)]
    identity = identity or _identity(table, found, indices)
    sliced, rows = {}, {}  # by place: entries that stand one after the other, and columns whose rows are made one by one
    for i, (leaf, chunks) in enumerate(found):
        entries = _entries(leaf, chunks)
        if entries is None or indices is not None and leaf.item:
            rows[i] = leaf, chunks
        else:
            sliced[i] = entries if indices is None else entries[indices]

    def memory(arrays, keys, what):
        return from_memory(arrays, keys, identity and f"{identity} {what}")

    if not rows and len(found) == len(trees) and not any(isinstance(one, dict) for one in trees):
        return memory(list(sliced.values()), [] if is_array else list(tree), "slices")
    inputs = []
    if rows:
        inputs.append(memory([numpy.ascontiguousarray(indices, numpy.int64)], [], "indices") if indices is not None else
                      build("range", (table.num_rows,), {}))
    if sliced:
        inputs.append(memory(list(sliced.values()), [], "slices"))
    op = _core.rows_op([described(*row) for row in rows.values()], identity) if rows else None

    def element(*given):
        values = _made(op, rows, given[0]) if rows else {}
        if sliced:
            values.update(zip(sliced, [given[-1][k] for k in range(len(sliced))] if len(sliced) > 1 else given[-1:]))
        return _structured(tree, iter(values[i] for i in range(len(found))))

    if len(inputs) == 1:
        ds = inputs[0].map(lambda x: element(x))
    else:
        ds = build("zip", tuple(inputs), {}).map(lambda row, x: element(row, x))
    return Dataset(ds._core, (*ds._codes, Held()))


def _made(op, rows, index):
    """-> {place: value} of the columns whose rows the op makes."""
    made = iter(_outputs(op([to_core(index)]), [leaf for leaf, _ in rows.values()]))
    out = {}
    for i, (leaf, _) in rows.items():
        splits = [next(made) for _ in range(leaf.levels - 1)]
        out[i] = _ragged(next(made), splits)
    return out


def _outputs(called, of):
    """The values of an op that gives the arrays of these leaves."""
    count = sum(max(leaf.levels, 1) for leaf in of)
    value = Value(called)
    return [value[i] for i in range(count)] if count > 1 else [value]


def _ragged(values, splits):
    for row_splits in reversed(splits):
        values = call("from_row_splits", (values, row_splits), {})
    return values


def _structured(tree, values):
    return {k: _structured(v, values) for k, v in tree.items()} if isinstance(tree, dict) else next(values)


def _chunks(leaf, column, fill):
    out, row = [], 0
    for chunk in column.chunks or [pyarrow.array([], column.type)]:
        if len(chunk) or not out:
            out.append(parts(leaf, chunk, row, fill))
        row += len(chunk)
    return out[1:] if len(out) > 1 and not _rows_of(out[0]) else out


def _rows_of(part):
    levels, entries, text_offsets = part
    return len(levels[0]) - 1 if levels else len(entries if text_offsets is None else text_offsets[1:])


def _entries(leaf, chunks):
    """One array of all rows, or None where rows are made one by one."""
    if leaf.levels or leaf.dtype == "bytes" or leaf.item and len(chunks) > 1:
        return None
    return chunks[0][1] if len(chunks) == 1 else numpy.concatenate([entries for _, entries, _ in chunks])


def _identity(table, found, indices):
    """A hash of the contents, or "" if there are too many: a state is then for this process only."""
    chunks = [_sliced(chunk) for _, chunks in found for chunk in chunks]
    if sum(a.nbytes for levels, entries, _ in chunks for a in (*levels, entries)) > _MOST_HASHED_BYTES:
        return ""  # not by table.nbytes: it fails for views of strings in pyarrow 21
    hashed = hashlib.blake2b(repr((table.schema.to_string(), table.num_rows)).encode(), digest_size=16)
    for levels, entries, text_offsets in chunks:
        if text_offsets is not None:
            levels = [*levels, text_offsets - text_offsets[0]]
        for array in (*levels, entries):
            hashed.update(numpy.ascontiguousarray(array).view(numpy.uint8).data if array.size else b"")
    if indices is not None:
        hashed.update(numpy.ascontiguousarray(indices, numpy.int64).data)
    return f"arrow {hashed.hexdigest()}"


def _sliced(chunk):
    """The chunk with the bytes of its own texts only."""
    levels, entries, text_offsets = chunk
    return chunk if text_offsets is None else (levels, entries[int(text_offsets[0]):int(text_offsets[-1])], text_offsets)


def _stream(data, columns, fill, identity):
    """The rows of batches, as they come."""
    if columns is not None and not hasattr(data, "scanner"):
        raise InvalidArgument("from_arrow: columns= is for tables and datasets; choose those of a reader where it is made")
    open_ = _opener(data, columns)
    schema = data.schema if isinstance(data, pyarrow.RecordBatchReader) else \
        _selected(data.schema, columns) if hasattr(data, "scanner") else open_().schema
    trees = trees_of(schema)

    def batches():
        row = 0
        for batch in open_():
            arrays = batch_arrays(trees.values(), batch, row, fill)
            yield arrays if len(arrays) > 1 else arrays[0]
            row += len(batch)

    if not identity and hasattr(data, "files"):
        identity = files_identity(data.files, schema)
    return rows_of_batches(trees, lambda spec: from_generator(batches, spec=spec, identity=identity))


def _selected(schema, columns):
    return schema if columns is None else pyarrow.schema([schema.field(name) for name in columns])


def _opener(data, columns):
    """-> what opens a RecordBatchReader for each pass."""
    if hasattr(data, "scanner"):
        return lambda: data.scanner(columns=columns).to_reader()
    if not isinstance(data, pyarrow.RecordBatchReader):
        return lambda: _reader(data())
    left, lock = [data], threading.Lock()

    def once():
        with lock:
            if not left:
                raise FailedPrecondition("from_arrow: the reader has been read: a stream gives one pass. Give a function that opens "
                                         "one, from_arrow(lambda: reader), for several passes and for states")
            return left.pop()
    return once


def _reader(made):
    if isinstance(made, pyarrow.RecordBatchReader):
        return made
    if hasattr(made, "scanner"):
        return made.scanner().to_reader()
    if not hasattr(made, "__arrow_c_stream__"):
        raise InvalidArgument(f"from_arrow: the function must give a reader, or what one can be made from: {made!r:.60}")
    return pyarrow.RecordBatchReader.from_stream(made)


def rows_of_batches(trees, make):
    """The rows of a dataset of batches, ``make(spec)``, whose elements are tuples of the arrays of ``batch_arrays``."""
    found = leaves(trees)
    spec = tuple(s for leaf in found for s in leaf.specs())
    batches = make(spec if len(spec) > 1 else spec[0])

    def cut(x):
        made = iter([x[i] for i in range(len(spec))] if len(spec) > 1 else [x])
        columns = tuple(tuple(_cut(made, leaf)) if leaf.levels == 2 else next(_cut(made, leaf)) for leaf in found)
        return columns if len(columns) > 1 else columns[0]  # a tuple of one is taken apart

    def element(x):
        columns = [x[i] for i in range(len(found))] if len(found) > 1 else [x]
        return _structured(trees, (call("from_row_lengths", (column[1], column[0]), {}) if leaf.levels == 2 else column
                                   for leaf, column in zip(found, columns)))

    return batches.map(lambda x: cut(x)).unbatch().map(lambda x: element(x))


def _cut(arrays, leaf):
    """The arrays of a leaf, cut into those of rows; of lists in lists, the lengths of the inner ones come first."""
    for _ in range(max(leaf.levels, 1)):
        splits = next(arrays) if leaf.levels else None
        yield next(arrays) if splits is None else call("from_row_splits", (next(arrays), splits), {})


def files_identity(paths, schema):
    """Names files as they are now."""
    import os
    found = [(path, s.st_size, s.st_mtime_ns) for path in paths if os.path.exists(path) for s in [os.stat(path)]]
    if len(found) < len(paths):
        return ""
    return "arrow " + hashlib.blake2b(repr((found, schema.to_string())).encode(), digest_size=16).hexdigest()
