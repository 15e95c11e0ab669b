"""Arrow columns as the engine's arrays: offsets of lists, and entries; no row of Python's is made.

A column is a tree of leaves: a struct has one for each of its fields, any other type is one. A leaf keeps the steps that
lead from the column's array to its entries; each chunk of the column is led through them.
"""
import numpy
import pyarrow

from . import _core
from ._arrays import to_core
from ._errors import InvalidArgument
from ._types import DTYPES, TensorSpec

_CASTS = {"string_view": "large_string", "binary_view": "large_binary", "fixed_size_binary": "large_binary"}
_INTEGERS = {"timestamp": "int64", "duration": "int64", "date64": "int64", "time64": "int64", "date32": "int32", "time32": "int32"}
_NUMBERS = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double", "halffloat"}
_TEXTS = {"string": "int32", "binary": "int32", "large_string": "int64", "large_binary": "int64"}
_MOST_LEVELS = 2
_DTYPES = {"float": "float32", "double": "float64", "halffloat": "float16"}


class Leaf:
    """The entries of a column, or of a field of a struct in it."""

    def __init__(self, name, dtype, steps=(), item=()):
        self.name, self.dtype, self.steps, self.item = name, dtype, steps, item

    @property
    def levels(self):
        """The number of lists around an entry."""
        return sum(step[0] == "list" for step in self.steps)

    def after(self, step):
        """The leaf of a column whose array is led through ``step`` first."""
        if step[0] == "fixed" and self.levels == 0 and self.dtype != "bytes":
            return Leaf(self.name, self.dtype, (step, *self.steps), (step[1], *self.item))
        if step[0] == "fixed":  # of strings, or of lists: a list, each of the same length
            step = ("list", step[1])
        if step[0] == "list" and self.levels == _MOST_LEVELS:
            raise InvalidArgument(f'from_arrow: column "{self.name}" has lists in lists in lists; elements hold two levels: '
                                  "flatten one (pyarrow.compute.list_flatten), or leave the column out with columns=")
        return Leaf(self.name, self.dtype, (step, *self.steps), self.item)

    def specs(self):
        """Of the arrays of a batch: see ``batch_arrays``."""
        integers = TensorSpec(DTYPES["int64"], (None,))
        return [integers] * (0, 1, 3)[self.levels] + [TensorSpec(DTYPES[self.dtype], (None, *self.item))]


def tree_of(field_type, name):
    """-> Leaf, or {key: tree} of a struct."""
    kind = _kind(field_type)
    if kind in _NUMBERS:
        return Leaf(name, _DTYPES.get(kind, kind))
    if kind in _TEXTS:
        return Leaf(name, "bytes")
    if kind in _CASTS:
        return _after(("cast", _CASTS[kind]), tree_of(getattr(pyarrow, _CASTS[kind])(), name))
    if kind in _INTEGERS:
        return Leaf(name, _INTEGERS[kind], (("view", _INTEGERS[kind]),))
    if kind == "struct":
        fields = [field_type.field(i) for i in range(field_type.num_fields)]
        if fields:
            return {f.name: _after(("field", i), tree_of(f.type, f"{name}.{f.name}")) for i, f in enumerate(fields)}
    if kind in ("list", "large_list"):
        return _after(("list", None), tree_of(field_type.value_type, name))
    if kind == "fixed_size_list":
        return _after(("fixed", field_type.list_size), tree_of(field_type.value_type, name))
    if kind == "dictionary":
        return _after(("decode",), tree_of(field_type.value_type, name))
    if kind == "extension":
        return _after(("storage",), _of_extension(field_type, name))
    raise InvalidArgument(f'from_arrow: column "{name}" is of type {field_type}, which elements do not hold: '
                          'cast it (table.cast, pyarrow.compute.cast), or leave it out with columns=')


def _kind(field_type):
    if isinstance(field_type, pyarrow.BaseExtensionType):
        return "extension"
    kinds = {getattr(pyarrow.lib, f"Type_{n.upper()}", None): n for n in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double", "string", "binary",
        "large_string", "large_binary", "string_view", "binary_view", "fixed_size_binary", "timestamp", "duration", "date64",
        "time64", "date32", "time32", "struct", "list", "large_list", "fixed_size_list", "dictionary")}
    kinds[pyarrow.lib.Type_HALF_FLOAT] = "halffloat"
    return kinds.get(field_type.id)


def _of_extension(field_type, name):
    if not isinstance(field_type, pyarrow.FixedShapeTensorType):
        return tree_of(field_type.storage_type, name)
    if field_type.permutation and list(field_type.permutation) != sorted(field_type.permutation):
        raise InvalidArgument(f'from_arrow: column "{name}" has tensors with permuted axes: store them in row-major order')
    leaf = tree_of(field_type.storage_type, name)
    leaf.item = tuple(field_type.shape)
    return leaf


def _after(step, tree):
    return {k: _after(step, v) for k, v in tree.items()} if isinstance(tree, dict) else tree.after(step)


def parts(leaf, array, first_row, fill):
    """-> ([offsets of each level], entries, offsets of strings or None) of a chunk of its column, as NumPy arrays."""
    levels, back = [], []  # back: from a position in the array at hand to the one in the array before it
    for i, step in enumerate(leaf.steps):
        if step[0] == "field":
            array = array.flatten()[step[1]]  # with the nulls of the struct
            continue
        array = _without_nulls(leaf, array, leaf.steps[i:], first_row, back, fill)
        if step[0] == "list":
            offsets, array = _listed(array, step[1])
            levels.append(offsets)
            back.append(lambda p, offsets=offsets: int(numpy.searchsorted(offsets, p, "right")) - 1)
        elif step[0] == "fixed":
            array = array.flatten()
            back.append(lambda p, size=step[1]: p // size)
        else:
            array = _converted(array, step)
    array = _without_nulls(leaf, array, (), first_row, back, fill)
    if leaf.dtype == "bytes":
        return levels, *_texts(array)
    entries = array.to_numpy(zero_copy_only=leaf.dtype != "bool")
    return levels, entries.reshape(-1, *leaf.item), None


def _converted(array, step):
    if step[0] == "decode":
        return array.dictionary_decode()
    if step[0] == "storage":
        return array.storage
    if step[0] == "view":
        return array.view(getattr(pyarrow, step[1])())
    if step[1] == "large_binary" and pyarrow.types.is_fixed_size_binary(array.type):
        array = array.cast(pyarrow.binary())
    return array.cast(getattr(pyarrow, step[1])())


def _listed(array, size):
    """-> (offsets that begin with 0, the entries between the first and the last); ``size``: of a fixed-size list."""
    if size is not None:
        return numpy.arange(0, (len(array) + 1) * size, max(size, 1), dtype=numpy.int64)[:len(array) + 1] if size else \
            numpy.zeros(len(array) + 1, numpy.int64), array.flatten()
    offsets = array.offsets.to_numpy()
    if not len(offsets):
        offsets = numpy.zeros(1, numpy.int32)
    begin, end = int(offsets[0]), int(offsets[-1])
    return offsets - offsets.dtype.type(begin) if begin else offsets, array.values.slice(begin, end - begin)


def _texts(array):
    """-> (bytes, offsets) of a string or binary array."""
    dtype = numpy.dtype(_TEXTS[_kind(array.type)])
    _, offsets, data = array.buffers()
    found = numpy.frombuffer(offsets, dtype)[array.offset:array.offset + len(array) + 1] if offsets and offsets.size \
        else numpy.zeros(1, dtype)
    return numpy.frombuffer(data, numpy.uint8) if data and data.size else numpy.zeros(0, numpy.uint8), found


def _without_nulls(leaf, array, steps, first_row, back, fill):
    if array.null_count == 0:
        return array
    column = leaf.name.split(".")[0]
    value = fill.get(leaf.name, fill.get(column)) if isinstance(fill, dict) else fill
    if value is not None:
        import pyarrow.compute
        try:
            return pyarrow.compute.coalesce(array, pyarrow.scalar(value, array.type))
        except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError, pyarrow.ArrowTypeError, TypeError, ValueError) as e:
            raise InvalidArgument(f'from_arrow: column "{leaf.name}" cannot be filled with {value!r}: {e}') from None
    position = int(numpy.argmax(array.is_null().to_numpy(zero_copy_only=False)))
    for outward in reversed(back):
        position = outward(position)
    example = [] if any(step[0] == "list" for step in steps) else "" if leaf.dtype == "bytes" else 0
    raise InvalidArgument(f'from_arrow: column "{leaf.name}": row {first_row + position} has a null, which a tensor cannot hold: '
                          f'give a value for it, fill={{"{leaf.name}": {example!r}}}, drop such rows before, '
                          f'or leave the column out with columns=')


def leaves(tree):
    """In reading order."""
    return [leaf for v in tree.values() for leaf in leaves(v)] if isinstance(tree, dict) else [tree]


def batch_arrays(trees, batch, first_row, fill):
    """The arrays of a RecordBatch as penstock._core has them: of each leaf its entries, of lists the splits before them.

    Lists in lists have three before them: the splits of the inner lists, their lengths, and the splits of the entries.
    """
    out = []
    for tree, array in zip(trees, batch.columns):
        for leaf in leaves(tree):
            levels, entries, text_offsets = parts(leaf, array, first_row, fill)
            if len(levels) == 2:
                outer, inner = levels
                levels = [outer, numpy.diff(inner), inner[outer]]
            out += [to_core(splits.astype(numpy.int64, copy=False)) for splits in levels]
            out.append(to_core(entries) if text_offsets is None else _core.texts_of(to_core(text_offsets), to_core(entries)))
    return out


def described(leaf, chunks):
    """A column in memory for penstock._core.rows_op; ``chunks``: of ``parts``."""
    nothing = to_core(numpy.zeros(0, numpy.int64))
    out = []
    for levels, entries, text_offsets in chunks:
        rows = len(levels[0]) - 1 if levels else len(entries if text_offsets is None else text_offsets[1:])
        out.append((rows, [to_core(offsets) for offsets in levels], to_core(entries),
                    nothing if text_offsets is None else to_core(text_offsets)))
    return (leaf.dtype, leaf.levels, list(leaf.item), out)
