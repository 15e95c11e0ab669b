"""Ragged tensors and text: ops of other libraries that stand rarely in functions of rows, as ours."""
from functions_case import literal
from functions_map.call import call, dtype_name

ROWIDS = "repeat(arange(size(row_lengths(x0))), row_lengths(x0))"


def by_rows(case, lengths):
    """Values cut into rows of these lengths."""
    return f"from_row_lengths(x0, {lengths})"


def from_value_rowids(case):
    ids = case.attrs.get("value_rowids")
    text = f"int64({ids})" if ids else "zeros([0], dtype=int64)" if ids is not None else "int64(x1)"
    rows = case.attrs.get("nrows") or (max(ids, default=-1) + 1 if ids is not None else "max(int64(x1)) + 1")
    return by_rows(case, f"bincount({text}, minlength={rows})")


def given(case, name):
    value = case.attrs.get(name)
    if value is None:
        return "int64(x1)"
    return f"int64({literal(value)})" if value else "zeros([0], dtype=int64)"


def from_row_starts(case):
    return f"let s = concat({given(case, 'row_starts')}, [shape(x0)[0]]); from_row_splits(x0, s)"


def from_row_limits(case):
    return f"let s = concat([0], {given(case, 'row_limits')}); from_row_splits(x0, s)"


def from_uniform_row_length(case):
    n = case.attrs["uniform_row_length"]
    return f"from_row_lengths(x0, fill([shape(x0)[0] // {n}], {n}))"


def tiled(case):
    first, second = case.attrs.get("multiples", [1, 1])
    text = f"concat({', '.join(['x0'] * second)}, axis=1)" if second > 1 else "x0"
    return f"let x = {text}; concat({', '.join(['x'] * first)}, axis=0)" if first > 1 else text


def cast(case):
    return f"{dtype_name(case.attrs['dtype'])}(x0)"


# Over ragged inputs, which are made in the function.
RAGGED = {
    "ragged_tile": tiled, "ragged_merge_dims": "flat_values(x0)", "ragged_cast": cast, "ragged_to_list": "x0",
    "ragged_equal": "x0 == x1", "ragged_add": "x0 + x1", "ragged_subtract": "x0 - x1", "ragged_multiply": "x0 * x1",
    "ragged_maximum": "maximum(x0, x1)", "ragged_where": "where(x0, x1, x2)", "ragged_reverse": "x0[::-1]",
    "ragged_size": "int32(size(flat_values(x0)))", "ragged_rank": "int32(2)", "ragged_identity": "x0",
    "ragged_map_flat_values": "x0 * 2", "ragged_square": "square(x0)", "ragged_abs": "abs(x0)",
    "ragged_with_values": "with_flat_values(x0, x1)", "ragged_with_flat_values": "with_flat_values(x0, x1)",
    "ragged_as_string": "as_string(x0)", "ragged_to_number": call("to_number", dtype="out_type"),
    "row_splits_to_segment_ids": ROWIDS, "ragged_hash": call("to_hash_bucket_fast", "num_buckets"),
    "ragged_nvals": "size(flat_values(x0))",
    "ragged_max_row_length": "max(row_lengths(x0))", "ragged_first": "x0[0]", "ragged_row": "x0[0]",
    "string_upper_ragged": "upper(x0)", "string_strip_ragged": "strip(x0)",
    "string_length_ragged": "int32(string_length(x0))", "string_join_ragged": "join(x0, x1)",
    "string_substr_ragged": call("substr", "pos", "len"), "string_to_number_ragged": "to_number(x0)",
    "string_split_ragged": call("split_text", "sep", "maxsplit"),
    "regex_replace_ragged": call("regex_replace", "pattern", "rewrite", "replace_global"),
    "to_hash_bucket_fast_ragged": call("to_hash_bucket_fast", "num_buckets"),
    "unicode_decode_ragged": call("unicode_decode", "input_encoding"),
}

# Over tensors.
DENSE = {
    "ragged_from_value_rowids": from_value_rowids, "ragged_from_row_starts": from_row_starts,
    "ragged_from_row_limits": from_row_limits, "ragged_from_uniform_row_length": from_uniform_row_length,
    "segment_ids_to_row_splits": "concat([0], cumsum(bincount(x0)))",
    "sparse_to_dense": "to_tensor(x0)", "sparse_from_dense": "to_sparse(from_tensor(x0))",
    "string_not_equal": "x0 != x1", "string_concat": "x0 + x1", "string_less": "x0 < x1",
    "argsort_strings": "int32(argsort(x0))", "unique_strings": "unique(x0)[0]", "string_unique": "unique(x0)[0]",
    "as_string_int": "as_string(x0)", "as_string_float": "as_string(x0)", "string_upper_lower": "upper(lower(x0))",
    "inverse_string_lookup": lambda c: f"gather({literal(c.attrs['keys'])}, x0)",
    "unicode_length": 'int32(string_length(x0, unit="UTF8_CHAR"))',
}
