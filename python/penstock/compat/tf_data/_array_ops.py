"""TensorFlow's functions whose arguments are not those of one op."""
import math as pymath

import numpy as np

from ..._values import Value, is_tracing

from ._building import op_seed
from ._ops import cast, either, ensure_shape, op
from ._tensors import RaggedTensor, SparseTensor, constant, is_tensor, pack, ragged_constant
from ._types import as_dtype


def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    """A tensor of numbers, lists, arrays and values."""
    if isinstance(value, (RaggedTensor, SparseTensor, Value)):
        return value
    out = pack(value)
    return out if dtype is None else constant(value, dtype) if not isinstance(out, Value) else cast(out, dtype)


def concat(values, axis, name=None):
    """Tensors one after the other along an axis."""
    values = [convert_to_tensor(v) for v in (values if isinstance(values, (list, tuple)) else [values])]
    if len(values) == 1:
        return values[0]
    ragged = any(isinstance(v, RaggedTensor) or getattr(v, "kind", "") == "ragged" for v in values)
    return op("ragged_concat" if ragged else "concat", *values, axis=int(axis))


def stack(values, axis=0, name="stack"):
    """Tensors along a new axis."""
    if isinstance(values, (np.ndarray, Value)):
        return values
    if len(values) == 1:
        return op("expand_dims", convert_to_tensor(values[0]), int(axis))
    return op("stack", *map(convert_to_tensor, values), axis=int(axis) or None)


def unstack(value, num=None, axis=0, name="unstack"):
    """The items along an axis, whose number is known: a list."""
    value = convert_to_tensor(value)
    n = num if num is not None else value.shape[axis]
    if n is None:
        raise ValueError(f"Cannot infer argument `num` from shape {value.shape}")
    index = (slice(None),) * (axis % max(len(value.shape), 1))
    return [value[(*index, i)] for i in range(int(n))]


def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    """Parts along an axis: that many of one size, or of these sizes; a list."""
    value, axis = convert_to_tensor(value), int(axis)
    if isinstance(num_or_size_splits, (int, np.integer)):
        size = value.shape[axis]
        if size is None or size % num_or_size_splits:
            raise ValueError(f"axis {axis} of size {size} cannot be split evenly into {num_or_size_splits}")
        sizes = [size // int(num_or_size_splits)] * int(num_or_size_splits)
    else:
        sizes = [int(n) for n in np.asarray(num_or_size_splits)]
    ends = np.cumsum([0, *sizes])
    index = (slice(None),) * (axis % max(len(value.shape), 1))
    return [value[(*index, slice(int(a), int(b)))] for a, b in zip(ends, ends[1:])]


def pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None):
    """Values before and after each axis."""
    paddings = paddings if isinstance(paddings, Value) else np.asarray(paddings).tolist() if not any(
        isinstance(i, Value) for p in paddings for i in p) else [list(p) for p in paddings]
    return op("pad", convert_to_tensor(tensor), paddings, value=constant_values or None,
              mode=None if mode.upper() == "CONSTANT" else mode.lower())


def where(condition, x=None, y=None, name=None):
    """x where the condition holds, else y; of the condition alone, the indices where it does."""
    if x is None and y is None:
        return op("nonzero", convert_to_tensor(condition))
    return either("where", condition, x, y)


def shape(input, out_type="int32", name=None):  # noqa: A002
    """The sizes of a tensor, as int32."""
    return cast(op("shape", convert_to_tensor(input)), out_type)


def size(input, out_type="int32", name=None):  # noqa: A002
    """The number of entries, as int32."""
    return cast(op("size", convert_to_tensor(input)), out_type)


def rank(input, name=None):  # noqa: A002
    """The number of axes, as int32."""
    return cast(op("rank", convert_to_tensor(input)), "int32")


def range_(*args, delta=1, limit=None, start=None, dtype=None, name=None):
    """range(limit), range(start, limit, delta)."""
    given = [*([] if start is None else [start]), *args, *([] if limit is None else [limit])]
    if len(given) == 1:
        given = [0, *given]
    given = given if len(given) == 3 else [*given, delta]
    whole = [constant(v) if not isinstance(v, Value) else v for v in given]
    if dtype is None and not any(isinstance(v, Value) for v in given):
        kinds = [np.asarray(v).dtype for v in whole]
        dtype = next((k for k in kinds if k.kind == "f"), np.result_type(*kinds))
    out = op("arange", *(v if isinstance(v, Value) else v.item() for v in whole))
    return out if dtype is None else cast(out, dtype)


def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """A new axis of size ``depth``, with on_value at the index."""
    dtype = as_dtype(dtype or (np.asarray(on_value).dtype if isinstance(on_value, np.ndarray) else "float32"))
    out = op("one_hot", pack(indices), int(depth), dtype=dtype.ps, axis=axis)
    if (on_value, off_value) in ((None, None), (1, 0), (1, None)):
        return out
    return where(op("cast", out, as_dtype("bool").ps), cast(1 if on_value is None else on_value, dtype),
                 cast(off_value or 0, dtype))


def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    """The indices that would sort along an axis, as int32."""
    return cast(op("argsort", pack(values), axis=axis, descending=direction == "DESCENDING" or None), "int32")


def sort(values, axis=-1, direction="ASCENDING", name=None):
    """Sorted along an axis."""
    return op("sort", pack(values), axis=axis, descending=direction == "DESCENDING" or None)


def searchsorted(sorted_sequence, values, side="left", out_type="int32", name=None):
    """Where values would be put in."""
    return cast(op("searchsorted", pack(sorted_sequence), pack(values), side=side), out_type)


def bincount(arr, weights=None, minlength=None, maxlength=None, dtype="int32", name=None):
    """How often each number occurs."""
    if weights is not None or maxlength is not None:
        raise ValueError("bincount counts integers, without weights and maxlength")
    return cast(op("bincount", pack(arr), minlength=minlength), dtype)


def from_dense(tensor, name=None):
    """The entries of a tensor that are not zero, as a sparse one."""
    tensor = convert_to_tensor(tensor)
    zero = b"" if tensor.dtype in (object, "string") else 0
    indices = op("nonzero", tensor != zero)
    return op("sparse", indices, op("gather_nd", tensor, indices), op("cast", op("shape", tensor), as_dtype("int64").ps))


def ragged_boolean_mask(data, mask, name=None):
    """The entries where a mask holds."""
    data = convert_to_tensor(data)
    ragged = isinstance(data, RaggedTensor) or getattr(data, "kind", "") == "ragged"
    return op("ragged_boolean_mask" if ragged else "boolean_mask", data, convert_to_tensor(mask))


def unique(x, out_idx="int32", name=None):
    """(values in the order they come first, the index of each entry's value)."""
    values, index = _pair(op("unique", pack(x)), 2)
    return values, cast(index, out_idx)


def _pair(x, n):
    return tuple(x[i] for i in range(n)) if isinstance(x, Value) else tuple(x)


def top_k(input, k=1, sorted=True, index_type="int32", name=None):  # noqa: A002
    """(the k largest along the last axis, their indices)."""
    values, index = _pair(op("top_k", pack(input), int(k)), 2)
    return values, cast(index, index_type)


def _arg(name):
    def function(input, axis=None, output_type="int64", name_=None):  # noqa: A002
        return cast(op(name, pack(input), axis=None if axis is None else int(axis)), output_type)
    function.__name__, function.__doc__ = name, f"The index of the {name[3:]}imum along an axis, 0 if none is said."
    return function


argmax, argmin = _arg("argmax"), _arg("argmin")


def divide(x, y, name=None):
    """x / y; integers are divided as float64."""
    x = x if isinstance(x, Value) or isinstance(y, Value) else pack(x)
    if isinstance(x, np.ndarray) and x.dtype.kind in "iu":
        x = cast(x, "float64" if x.dtype.itemsize > 2 else "float32")
        y = y if isinstance(y, Value) else constant(np.asarray(y), x.dtype)
    return either("divide", x, y) if not hasattr(x, "is_symbol") else x / y


def add_n(inputs, name=None):
    """The sum of tensors of one shape."""
    out = convert_to_tensor(inputs[0])
    for x in inputs[1:]:
        out = out + convert_to_tensor(x)
    return out


def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None):  # noqa: A002
    """The Euclidean norm."""
    if ord not in ("euclidean", 2):
        raise ValueError(f"norm computes the Euclidean norm: {ord!r}")
    return op("norm", pack(tensor), axis=axis, keepdims=keepdims)


def l2_normalize(x, axis=None, epsilon=1e-12, name=None):
    """x over its Euclidean norm."""
    x = pack(x)
    return x * op("rsqrt", either("maximum", op("reduce_sum", op("square", x), axis=axis, keepdims=True), epsilon))


def eye(num_rows, num_columns=None, batch_shape=None, dtype="float32", name=None):
    """The identity matrix."""
    return constant(np.eye(int(num_rows), None if num_columns is None else int(num_columns)), dtype)


def uniform(shape, minval=0, maxval=None, dtype="float32", seed=None, name=None):  # noqa: A002
    """Random numbers; the stream is Penstock's, not TensorFlow's."""
    dtype = as_dtype(dtype)
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    return op("random_uniform", _sizes(shape), low=minval, high=maxval, dtype=dtype.ps, seed=op_seed(seed))


def normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None):
    """Random numbers; the stream is Penstock's, not TensorFlow's."""
    return op("random_normal", _sizes(shape), mean=mean, stddev=stddev, dtype=as_dtype(dtype).ps, seed=op_seed(seed))


def _sizes(shape):
    if isinstance(shape, Value) or isinstance(shape, (list, tuple)) and any(isinstance(n, Value) for n in shape):
        return shape
    return [int(n) for n in np.asarray(shape, np.int64).ravel()]


def string_length(input, unit="BYTE", name=None):  # noqa: A002
    """The length of each string, as int32."""
    return cast(op("string_length", pack(input), unit=None if unit == "BYTE" else unit), "int32")


def string_join(inputs, separator="", name=None):
    """Strings joined entry by entry."""
    inputs = list(map(convert_to_tensor, inputs))
    return op("join", *inputs, sep=separator) if len(inputs) > 1 else inputs[0]


def string_split(input, sep=None, maxsplit=-1, name=None):  # noqa: A002
    """The pieces of each string; of several, a ragged tensor."""
    return op("split_text", pack(input), sep=sep or None, maxsplit=maxsplit if maxsplit != -1 else None)


def string_format(template, inputs, placeholder="{}", summarize=3, name=None):
    """A template, filled in."""
    inputs = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    return op("format", template, list(map(convert_to_tensor, inputs)), placeholder=placeholder, summarize=summarize)


def ragged_range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype="int64"):
    """A row of numbers for each limit; of a single one, the row."""
    if limits is None and deltas == 1:
        return op("ragged_range", op("reshape", convert_to_tensor(starts), [-1]))
    return range_(starts, limits, deltas, dtype=dtype)


def ragged_stack(values, axis=0, name=None):
    """Tensors of different lengths as the rows of a ragged one."""
    values = [convert_to_tensor(v) for v in values]
    if not is_tracing() and all(isinstance(v, np.ndarray) and v.ndim == 1 for v in values):
        lengths = np.cumsum([0, *(len(v) for v in values)])
        return RaggedTensor(np.concatenate([np.asarray(v) for v in values]), [lengths])
    return op("ragged_stack", *values)


def sparse_concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    """Sparse tensors one after the other along an axis."""
    return op("sparse_concat", *sp_inputs, axis=int(axis), expand_nonconcat_dims=expand_nonconcat_dims or None)


def decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", select_cols=None, name=None):
    """The fields of lines of delimited text: a list of tensors."""
    from ._readers import _column
    out = op("decode_csv", pack(records), [_column(c) for c in record_defaults], field_delim=field_delim,
             use_quote_delim=use_quote_delim, na_value=na_value, select_cols=select_cols and list(select_cols))
    return [out[i] for i in range(len(record_defaults))]


def decode_wav(contents, desired_channels=-1, desired_samples=-1, name=None):
    """(samples as float32, the sample rate)."""
    out = op("decode_wav", pack(contents), desired_channels=desired_channels, desired_samples=desired_samples)
    return _pair(out, 2)


def sample_distorted_bounding_box(image_size, bounding_boxes, seed=0, min_object_covered=0.1, aspect_ratio_range=None,
                                  area_range=None, max_attempts=None, use_image_if_no_bounding_boxes=None, name=None):
    """(begin, size, box) of a random piece of an image; the stream is Penstock's, not TensorFlow's."""
    out = op("sample_distorted_bounding_box", pack(image_size), pack(bounding_boxes), seed=op_seed(seed or None),
             min_object_covered=min_object_covered, max_attempts=max_attempts,
             aspect_ratio_range=aspect_ratio_range and list(aspect_ratio_range),
             area_range=area_range and list(area_range), use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes)
    return _pair(out, 3)


TF = {
    "convert_to_tensor": convert_to_tensor, "constant": constant, "cast": cast, "ensure_shape": ensure_shape,
    "concat": concat, "stack": stack, "unstack": unstack, "split": split, "pad": pad, "where": where, "shape": shape,
    "size": size, "rank": rank, "range": range_, "one_hot": one_hot, "unique": unique, "add_n": add_n, "eye": eye,
    "is_tensor": is_tensor, "argmax": argmax, "argmin": argmin, "divide": divide, "truediv": divide, "math.divide": divide,
    "math.truediv": divide, "math.argmax": argmax, "math.argmin": argmin, "math.top_k": top_k, "nn.top_k": top_k,
    "argsort": argsort, "sort": sort,
    "searchsorted": searchsorted, "math.bincount": bincount, "sparse.from_dense": from_dense,
    "ragged.boolean_mask": ragged_boolean_mask,
    "math.add_n": add_n, "norm": norm, "math.l2_normalize": l2_normalize,
    "linalg.norm": norm, "nn.l2_normalize": l2_normalize, "random.uniform": uniform, "random.normal": normal, "strings.join": string_join,
    "strings.length": string_length,
    "strings.split": string_split, "strings.format": string_format, "ragged.constant": ragged_constant,
    "ragged.range": ragged_range, "ragged.stack": ragged_stack, "sparse.SparseTensor": SparseTensor,
    "sparse.concat": sparse_concat, "io.decode_csv": decode_csv, "audio.decode_wav": decode_wav,
    "image.sample_distorted_bounding_box": sample_distorted_bounding_box,
    "math.pi": pymath.pi,
}
for _name in ("to_int32", "to_int64", "to_float", "to_double"):
    TF[f"compat.v1.{_name}"] = (lambda kind: lambda x, name=None: cast(x, kind))(
        {"to_int32": "int32", "to_int64": "int64", "to_float": "float32", "to_double": "float64"}[_name])

