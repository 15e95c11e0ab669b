"""Datasets of Hugging Face's library: by their Arrow tables where they have one."""
import pyarrow

from ._arrow import from_table, trees_of
from ._errors import InvalidArgument
from ._map_style import from_map_style
from ._sources import from_generator

_PLAIN_FORMATS = (None, "python", "numpy", "torch", "jax", "tensorflow", "arrow")


def from_huggingface(dataset, columns, fill, identity):
    """See ps.from_huggingface."""
    if not hasattr(dataset, "features"):
        raise InvalidArgument(f"from_huggingface takes a datasets.Dataset or an IterableDataset: {dataset!r:.60}")
    if not hasattr(dataset, "__len__") or not hasattr(dataset, "data"):
        chosen = dataset if columns is None else dataset.select_columns(columns)
        return from_generator(lambda: iter(chosen), identity=identity)
    form = dataset.format
    if form["type"] not in _PLAIN_FORMATS or form.get("format_kwargs", {}).get("transform"):
        return from_map_style(dataset if columns is None else dataset.select_columns(columns), identity=identity)
    names = form["columns"] or dataset.column_names if columns is None else columns
    missing = [c for c in names if c not in dataset.column_names]
    if missing:
        raise InvalidArgument(f"from_huggingface: there is no column {missing[0]!r}; there are: {', '.join(dataset.column_names)}")
    table = getattr(dataset.data, "table", dataset.data).select(names)
    table = pyarrow.table({name: _files_of(table, name, dataset.features[name]) for name in names})
    indices = getattr(dataset, "_indices", None)
    if indices is not None:
        indices = indices.column(0).to_numpy()
    return from_table(table, trees_of(table.schema), fill, indices, identity or _named(dataset, names, fill))


def _files_of(table, name, feature):
    """The column, or of images and audio the bytes of their files."""
    column = table.column(name)
    if type(feature).__name__ not in ("Image", "Audio", "Video") or not pyarrow.types.is_struct(column.type):
        return column
    field = column.type.get_field_index("bytes")
    chunks = [chunk.flatten()[field] for chunk in column.chunks]
    return pyarrow.chunked_array(chunks, column.type.field(field).type)


def _named(dataset, names, fill):
    fingerprint = getattr(dataset, "_fingerprint", None)
    return f"huggingface {fingerprint} {names!r} {fill!r}" if fingerprint else ""


