"""Text: recorded op -> an expression over the inputs' names."""
import base64
import json
import re

from functions_case import Plan, literal, ragged_dtype, raw_bytes
from functions_map import text_rare
from functions_map.call import call


def options(case, *names, **renamed):
    """", option=value" for each recorded attribute; renamed: ours=theirs."""
    pairs = [(n, n) for n in names] + list(renamed.items())
    return "".join(f", {ours}={literal(case.attrs[theirs])}" for ours, theirs in pairs
                   if case.attrs.get(theirs) is not None)


def on_ragged(expression):
    """An expression over literals: ragged inputs are made in the function."""
    def make(case):
        lets = "".join(f"let {name} = {case.text(name)}; " for name in case.inputs)
        return Plan(f"range(1) | map(_ -> {lets}{expression if isinstance(expression, str) else expression(case)})",
                    whole=True)
    return make


def maybe_ragged(expression):
    """As on_ragged, where an input is ragged; else an expression over the inputs' names."""
    def make(case):
        if any(isinstance(v, dict) and v.get("ragged") for v in case.inputs.values()):
            return on_ragged(expression)(case)
        return expression if isinstance(expression, str) else expression(case)
    return make


def literal_in_function(expression):
    """Empty strings of shape []: the input as a literal."""
    return on_ragged(expression)


def split_v1(case):
    """TensorFlow gives no piece of an empty string, though it keeps empty pieces."""
    text = "split_any(x0" + options(case, "skip_empty", delimiters="delimiter") + ")"
    if case.attrs.get("skip_empty") is False and "" in case.inputs["x0"]["data"]:
        text = (f"(let r = {text}; let n = row_lengths(r); let some = x0 != \"\"; "
                "from_row_lengths(boolean_mask(flat_values(r), repeat(some, n)), n * int64(some)))")
    return f"to_sparse({text})"


def transcode(case):
    return "unicode_transcode(x0" + options(case, "input_encoding", "output_encoding", "errors", "replacement_char",
                                            "replace_control_characters") + ")"


def unicode_options(case):
    return options(case, "input_encoding", "errors", "replacement_char", "replace_control_characters")


def table(case):
    values = ", " + literal(case.attrs["values"]) if "values" in case.attrs else ""
    default = f", default={literal(case.attrs['default'])}" if "default" in case.attrs else ""
    oov = f", oov_buckets={case.attrs['num_oov_buckets']}" if "num_oov_buckets" in case.attrs else ""
    return f"lookup(table({literal(case.attrs['keys'])}{values}{default}{oov}), x0)"


def vocabulary_file(case):
    path = f"{case.folder}/{case.id}.vocab"
    with open(path, "wb") as f:
        f.write(raw_bytes(case.attrs["file_bytes"]))
    more = options(case, size="vocab_size", key_column="key", value_column="value")
    return f"lookup(vocabulary({json.dumps(path)}, default=-1{more}), x0)"


def gnmt(case):
    a = case.attrs
    return (f"let words = split(x0)[:{a['src_max_len']}]; "
            f"let ids = lookup(table({literal(a['vocab_'])}, default=0), words); "
            f"{{ids: concat(concat([int64({a['sos']})], ids), [int64({a['eos']})]), length: int32(size(words))}}")


def ngrams(case):
    return "ngrams(x0" + options(case, "ngram_width", "separator", "pad_values", "padding_width",
                                 "preserve_short_sequences") + ")"


def bucket(case):
    bounds = literal(case.attrs["bucket_boundaries"])
    return Plan(f"range(1) | map(_ -> sum(int64({bounds} <= {case.inputs['length']})))", whole=True, judge=same_number)


def same_number(case, results):
    got = results[0].get("element")
    return None if got and int(got[""]) == case.record["out"] else f"expected {case.record['out']}, got {results}"


def fingerprint(case):
    if "uint64" not in case.record.get("out", {}):
        return "fingerprint(x)"
    return Plan("fingerprint64(x)", judge=lambda c, results:
                None if int(results[0]["element"][""]) == int(c.record["out"]["uint64"]) else f"got {results}")


def reduce_join(case):
    return "reduce_join(x0" + options(case, "axis", "separator", "keepdims") + ")"


def join(case):
    names = ", ".join(case.inputs)
    if len(case.inputs) == 1:
        return names
    return f"join({names}" + options(case, sep="separator") + ")"


def ragged_reduce(op):
    """TensorFlow's mean of the rows of integers is float64. Along axis 0, and of all, there is no row to keep."""
    def make(case):
        x = "float64(x0)" if op == "mean" and "int" in ragged_dtype(case.inputs["x0"]) else "x0"
        axis = axis_in_source(case, 1 if "axis" in case.record.get("src", "axis") else None)
        if axis is None:
            return f"{op}(flat_values({x}))"
        if axis == 0 and op == "sum":
            return f"sum(to_tensor({x}), axis=0)"
        return f"{op}({x}, axis={literal(axis)})"
    return on_ragged(make)


def ragged_range(case):
    """From starts to limits by deltas: by their numbers of entries."""
    a, names = case.attrs, list(case.inputs)
    dtype = case.dtype(names[0])
    if len(names) == 1 and not a:
        return f"{dtype}(ragged_range({names[0]}))"
    given = [*names, *(k for k in ("starts", "limits", "deltas") if k in a and k not in names)]
    starts, limits = given[:2] if len(given) > 1 else ("starts", given[0])
    value = {k: k if k in names else f"{dtype}({literal(a[k])})" for k in given}
    delta = value.get(given[2]) if len(given) > 2 else f"{dtype}(1)"
    return (f"let (s, d) = (int64({value[starts]}), int64({delta})); "
            f"let n = maximum((int64({value[limits]}) - s + d - where(d > 0, 1, -1)) // d, 0); "
            "let i = repeat(arange(size(n)), n); let (s, d) = (s + n * 0, d + n * 0); "
            f"{dtype}(from_row_lengths(flat_values(ragged_range(n)) * gather(d, i) + gather(s, i), n))")


def formatted(case):
    """Without a value nothing is put in; `range` gives the element then."""
    if not case.inputs:
        return Plan(f"range(1) | map(_ -> {literal(case.attrs['template'])})", whole=True)
    return ("format(" + literal(case.attrs["template"]) + "".join(f", {n}" for n in case.inputs) +
            options(case, "summarize", "placeholder") + ")")


def ragged_slice(case):
    """The recorded source says which: x[...]."""
    source = case.record.get("src", "").replace("tf.newaxis", "none")
    return f"x0{source[source.index('['):]}" if re.fullmatch(r"x\d?\[[^\[\]]*\]", source) else "x0[:, -1:]"


def axis_in_source(case, otherwise):
    found = re.search(r"axis=(-?\d+)", case.record.get("src", ""))
    return case.attrs.get("axis", int(found[1]) if found else otherwise)


def ragged_concat(case):
    return f"concat({', '.join(case.inputs)}, axis={axis_in_source(case, 1)})"


def ragged_gather(case):
    indices = case.attrs.get("indices")
    given = "zeros([0], dtype=int64)" if indices == [] else literal(indices or [2, 0])
    rows = next((name for name in ("x1", "indices") if name in case.inputs), given)
    return f"gather({next(iter(case.inputs))}, {rows})"


def own_split(case):
    """On white space with maxsplit as Python does, where TensorFlow keeps the blanks around and adds empty pieces."""
    most, given = case.attrs.get("maxsplit"), case.inputs["x0"]
    if most is None or most < 0 or case.attrs.get("sep") or given.get("ragged") or len(given["shape"]) > 1:
        return None
    rows = [raw_bytes(text).split(None, most) for text in given["data"]]
    pieces = [piece for row in rows for piece in row]
    values = {"dtype": "string", "shape": [len(pieces)],
              "data": [{"b64": base64.b64encode(p).decode()} for p in pieces]}
    if given["shape"] == []:
        return {"out": values}
    ends = [sum(map(len, rows[:i])) for i in range(len(rows) + 1)]
    return {"out": {"ragged": True, "row_splits": ends, "values": values}}


def own_case(case):
    """A NUL is a character like others; TensorFlow's text ends there."""
    raws = [raw_bytes(v) for v in case.inputs["x0"].get("data", [])]
    if "error" in case.record or not any(b"\0" in raw for raw in raws) or any(max(raw) > 127 for raw in raws if raw):
        return None
    changed = [raw.lower() if case.op == "lower" else raw.upper() for raw in raws]
    return {"out": {"dtype": "string", "shape": case.inputs["x0"]["shape"],
                    "data": [{"b64": base64.b64encode(x).decode()} for x in changed]}}


def own_vocabulary(case):
    """An empty file is a wrong one, and not the end of the data."""
    return {"error": {"code": "INVALID_ARGUMENT"}} if raw_bytes(case.attrs["file_bytes"]) == b"" else None


MAP = {
    "split": maybe_ragged(lambda c: "split_text(x0" + options(c, "sep", "maxsplit") + ")"),
    "string_split_v1": split_v1,
    "regex_replace": call("regex_replace", "pattern", "rewrite", "replace_global"),
    "regex_full_match": call("regex_full_match", "pattern"),
    "lower": maybe_ragged(lambda c: "lower(x0" + options(c, "encoding") + ")"),
    "upper": maybe_ragged(lambda c: "upper(x0" + options(c, "encoding") + ")"),
    "string_lower_ragged": on_ragged("lower(x0)"),
    "strip": "strip(x0)",
    "join": join,
    "reduce_join": reduce_join,
    "unsorted_segment_join": lambda c: "unsorted_segment_join(x0, x1" + options(c, "num_segments", "separator") +
                             ("" if "separator" in c.attrs else ', separator=":"') + ")",
    "substr": call("substr", "unit"),
    "length": lambda c: "int32(string_length(x0" + options(c, "unit") + "))",
    "bytes_split": "bytes_split(x0)",
    "unicode_split": lambda c: "unicode_split(x0" + options(c, "errors", "replacement_char") + ")",
    "unicode_decode": lambda c: f"unicode_decode(x0{unicode_options(c)})",
    "unicode_decode_with_offsets": lambda c: f"unicode_decode_with_offsets(x0{unicode_options(c)})",
    "unicode_encode": maybe_ragged(lambda c: "unicode_encode(x0" +
                                   options(c, "output_encoding", "errors", "replacement_char") + ")"),
    "unicode_transcode": transcode,
    "unicode_script": "unicode_script(x0)",
    "normalize_utf8": call("normalize_utf8", "form"),
    "to_hash_bucket_fast": call("to_hash_bucket_fast", "num_buckets"),
    "to_hash_bucket_strong": call("to_hash_bucket_strong", "num_buckets", "key"),
    "to_hash_bucket": call("to_hash_bucket", "num_buckets"),
    "fingerprint64": fingerprint,
    "ngrams": maybe_ragged(ngrams),
    "format": formatted,
    "string_equal": "x0 == x1",
    "sort_strings": "sort(x0)",
    "as_string_bool": "as_string(x0)",
    "static_hash_table": table,
    "static_vocabulary_table": table,
    "vocabulary_file": vocabulary_file,
    "ragged_to_tensor": on_ragged(lambda c: "to_tensor(x0" + options(c, "shape", default="default_value") + ")"),
    "ragged_from_tensor": lambda c: "from_tensor(x0" + options(c, "lengths", "padding") + ")",
    "ragged_row_lengths": on_ragged("row_lengths(x0)"),
    "ragged_concat": on_ragged(ragged_concat),
    "ragged_slice": on_ragged(ragged_slice),
    "ragged_reduce_sum": ragged_reduce("sum"),
    "ragged_reduce_max": ragged_reduce("max"),
    **{f"ragged_reduce_{op}": ragged_reduce(op) for op in ("mean", "min", "prod", "any", "all")},
    "ragged_row_splits": on_ragged("row_splits(x0)"),
    "ragged_row_starts": on_ragged("row_splits(x0)[:-1]"), "ragged_row_limits": on_ragged("row_splits(x0)[1:]"),
    "ragged_nrows": on_ragged("size(row_lengths(x0))"),
    "ragged_value_rowids": on_ragged("repeat(arange(size(row_lengths(x0))), row_lengths(x0))"),
    "ragged_flat_values": on_ragged("flat_values(x0)"), "ragged_values": on_ragged("flat_values(x0)"),
    "ragged_bounding_shape": on_ragged("shape(to_tensor(x0))"), "ragged_to_sparse": on_ragged("to_sparse(x0)"),
    "ragged_to_dense": on_ragged("to_tensor(x0)"),
    "ragged_range": ragged_range,
    "ragged_from_row_splits": lambda c: f"from_row_splits(x0, {literal(c.attrs['row_splits'])})",
    "ragged_from_row_lengths": lambda c: f"from_row_lengths(x0, {literal(c.attrs['row_lengths'])})",
    "unicode_split_with_offsets": lambda c: (
        f"let s = unicode_split(x0{options(c, 'errors', 'replacement_char')}); "
        f"(s, unicode_decode_with_offsets(x0{options(c, 'errors', 'replacement_char')})[1])"),
    "regex_partial_match": call("regex_partial_match", "pattern"), "fingerprint": fingerprint,
    "ragged_map": on_ragged(lambda c: f"{c.record['out']['values'].get('dtype', 'int32')}(x0 * 2)"),
    "ragged_boolean_mask": on_ragged("boolean_mask(x0, x0 > 2)"),
    "ragged_gather": on_ragged(ragged_gather),
    "ragged_stack": maybe_ragged(lambda c: f"ragged_stack({', '.join(c.inputs)})"),
    "chain_gnmt": gnmt,
    "bucket_by_length": bucket,
}
MAP |= {op: on_ragged(make) for op, make in text_rare.RAGGED.items()} | text_rare.DENSE
MAP = {op: (lambda text: lambda case: text)(make) if isinstance(make, str) else make for op, make in MAP.items()}


def own_join(case):
    """join broadcasts as arithmetic does; shapes that do not broadcast are refused."""
    shapes = {tuple(v["shape"]) for v in case.inputs.values()}
    if "error" not in case.record or len(case.inputs) != 2 or (1,) not in shapes or any(len(s) > 1 for s in shapes):
        return None
    a, b = ([raw_bytes(e) for e in v["data"]] for v in case.inputs.values())
    n = max(len(a), len(b))
    separator = case.attrs.get("separator", "").encode()
    joined = [a[i % len(a)] + separator + b[i % len(b)] for i in range(n)]
    return {"out": {"dtype": "string", "shape": [n], "data": [{"b64": base64.b64encode(x).decode()} for x in joined]}}


def own_reduce_join(case):
    """An axis that does not exist is a wrong call: INVALID_ARGUMENT."""
    return {"error": {"code": "INVALID_ARGUMENT"}} if case.record.get("error", {}).get("code") == "OUT_OF_RANGE" else None


def own_substr(case):
    """A negative length is all that is left, of characters as of bytes."""
    if "error" in case.record or case.attrs.get("unit") != "UTF8_CHAR" or case.inputs["len"]["shape"] != []:
        return None
    length, pos, given = case.inputs["len"]["data"][0], case.inputs["pos"], case.inputs["x"]
    if length >= 0 or pos["shape"] != [] or given["shape"] != []:
        return None
    text = raw_bytes(given["data"][0]).decode("utf-8", "surrogateescape")
    rest = text[pos["data"][0]:].encode("utf-8", "surrogateescape")
    return {"out": {"dtype": "string", "shape": [], "data": [{"b64": base64.b64encode(rest).decode()}]}}


def own_extreme(case):
    """Of an empty row what it is of nothing anywhere: an infinity."""
    def entry(v):
        return v if abs(float(v)) < 3.4e38 else "inf" if float(v) > 0 else "-inf"
    out = case.record.get("out", {})
    if "float" not in out.get("dtype", "") or out["shape"] == []:
        return None
    return {"out": {**out, "data": [entry(v) for v in out["data"]]}}


OWN = {"ragged_reduce_max": own_extreme, "ragged_reduce_min": own_extreme,
       "join": own_join, "reduce_join": own_reduce_join, "split": own_split,
       "lower": own_case, "upper": own_case,
       "vocabulary_file": own_vocabulary, "substr": own_substr}
