"""Parquet files: row groups, read by pyarrow, which lets go of the GIL, and cut into rows by the engine."""
import glob
import os

import pyarrow
import pyarrow.parquet

from ._arrow import files_identity, rows_of_batches, trees_of
from ._calls import build
from ._columns import batch_arrays
from ._errors import DataLoss, InvalidArgument, NotFound
from ._sources import py_map

_MOST_FOOTERS = 16


def from_parquet(paths, columns, fill, shuffle, seed, num_shards, index, num_parallel_calls):
    """See ps.from_parquet."""
    found = _files(paths)
    schema, groups = _metadata(found, columns)
    trees = trees_of(schema)
    read = _Groups(groups, schema, trees, fill)
    indices = build("range", (len(groups),), {})
    if shuffle:
        indices = indices.shuffle(max(len(groups), 1), **({} if seed is None else {"seed": seed}))
    if num_shards > 1 or index:
        indices = indices.shard(num_shards, index)
    parallel = {} if num_parallel_calls is None else {"num_parallel_calls": num_parallel_calls}
    identity = files_identity(found, schema) + (f" {fill!r}" if fill else "")
    ds = rows_of_batches(trees, lambda spec: indices.map(py_map(read, spec=spec, identity=identity), **parallel))
    whole = num_shards == 1 and not index
    return ds.assert_cardinality(sum(rows for _, _, _, rows in groups)) if whole else ds


def _files(paths):
    patterns = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    out = []
    for pattern in map(os.fspath, patterns):
        found = [pattern] if os.path.exists(pattern) else sorted(glob.glob(pattern, recursive=True))
        if not found:
            raise NotFound(f"from_parquet: no file: {pattern}", file=pattern)
        out += sorted(glob.glob(os.path.join(pattern, "**/*.parquet"), recursive=True)) if os.path.isdir(pattern) else found
    if not out:
        raise NotFound(f"from_parquet: no file: {', '.join(map(os.fspath, patterns)) or 'the list is empty'}")
    return out


def _metadata(paths, columns):
    """-> (schema of the columns, [(path, row group, first row in the file, rows)])."""
    schema, groups = None, []
    for path in paths:
        with _saying(path):
            with pyarrow.parquet.ParquetFile(path, memory_map=True) as file:
                mine = file.schema_arrow.remove_metadata()
                rows = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        if columns is not None:
            missing = [c for c in columns if c not in mine.names]
            if missing:
                raise InvalidArgument(f"from_parquet: {path} has no column {missing[0]!r}; it has: {', '.join(mine.names)}", file=path)
            mine = pyarrow.schema([mine.field(c) for c in columns])
        schema = schema or mine
        if not mine.equals(schema):
            raise InvalidArgument(f"from_parquet: {path} has other columns than {paths[0]}: {_difference(mine, schema)}", file=path)
        groups += [(path, i, sum(rows[:i]), n) for i, n in enumerate(rows) if n]
    return schema, groups


def _difference(mine, schema):
    for name in dict.fromkeys([*schema.names, *mine.names]):
        here, there = (s.field(name).type if name in s.names else "absent" for s in (mine, schema))
        if here != there:
            return f'"{name}" is {here}, and {there} there'
    return "their order"


class _saying:
    """Errors of pyarrow name the file."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        return self

    def __exit__(self, kind, e, traceback):
        if isinstance(e, (pyarrow.ArrowInvalid, pyarrow.ArrowException, OSError)) and not isinstance(
                e, (FileNotFoundError, PermissionError)):
            raise DataLoss(f"from_parquet: {self.path}: {' '.join(str(e).split())}", file=self.path) from e


class _Groups:
    """The arrays of row group i."""

    def __init__(self, groups, schema, trees, fill):
        self.groups, self.schema, self.trees, self.fill = groups, schema, trees, fill
        self._footers = {}  # of the files read last: a footer may be longer than a row group

    def __call__(self, i):
        path, group, first_row, _ = self.groups[int(i)]
        with _saying(path):
            with pyarrow.parquet.ParquetFile(path, metadata=self._footers.get(path), memory_map=True) as file:
                table = file.read_row_group(group, columns=self.schema.names, use_threads=False).select(self.schema.names)
                self._keep(path, file.metadata)
            [batch] = table.combine_chunks().to_batches() or [pyarrow.RecordBatch.from_pylist([], schema=table.schema)]
        try:
            arrays = batch_arrays(self.trees.values(), batch, first_row, self.fill)
        except InvalidArgument as e:
            raise InvalidArgument(f"{e} ({path})", file=path) from None
        return arrays if len(arrays) > 1 else arrays[0]

    def _keep(self, path, footer):
        self._footers[path] = footer
        for oldest in list(self._footers)[:-_MOST_FOOTERS]:
            self._footers.pop(oldest, None)
