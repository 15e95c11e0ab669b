"""Text: recorded op -> an expression over the inputs' names."""
import base64
import json

from functions_case import Plan, literal, raw_bytes
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
    return "ngrams(x0" + options(case, "ngram_width", "separator", "pad_values", "preserve_short_sequences") + ")"


def bucket(case):
    bounds = literal(case.attrs["bucket_boundaries"])
    return Plan(f"range(1) | map(_ -> sum(int64({bounds} <= {case.inputs['length']})))", whole=True, judge=same_number)


def same_number(case, results):
    got = results[0].get("element")
    return None if got and int(got[""]) == case.record["out"] else f"expected {case.record['out']}, got {results}"


def fingerprint(case):
    if "uint64" not in case.record["out"]:
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
    return on_ragged(f"{op}(x0, axis=1)")


MAP = {
    "split": maybe_ragged(lambda c: "split_text(x0" + options(c, "sep", "maxsplit") + ")"),
    "string_split_v1": lambda c: "to_sparse(split_any(x0" + options(c, "skip_empty", delimiters="delimiter") + "))",
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
    "format": lambda c: "format(" + literal(c.attrs["template"]) + "".join(f", {n}" for n in c.inputs) +
              options(c, "summarize", "placeholder") + ")",
    "string_equal": "x0 == x1",
    "sort_strings": "sort(x0)",
    "as_string_bool": "as_string(x0)",
    "static_hash_table": table,
    "static_vocabulary_table": table,
    "vocabulary_file": vocabulary_file,
    "ragged_to_tensor": on_ragged(lambda c: "to_tensor(x0" + options(c, "shape", default="default_value") + ")"),
    "ragged_from_tensor": lambda c: "from_tensor(x0" + options(c, "lengths", "padding") + ")",
    "ragged_row_lengths": on_ragged("row_lengths(x0)"),
    "ragged_concat": on_ragged("concat(x0, x1, axis=1)"),
    "ragged_slice": on_ragged("x0[:, -1:]"),
    "ragged_reduce_sum": ragged_reduce("sum"),
    "ragged_reduce_max": ragged_reduce("max"),
    "ragged_map": on_ragged("int32(x0 * 2)"),
    "ragged_boolean_mask": on_ragged("boolean_mask(x0, x0 > 2)"),
    "ragged_gather": on_ragged("gather(x0, [2, 0])"),
    "ragged_stack": "ragged_stack(x0, x1)",
    "chain_gnmt": gnmt,
    "bucket_by_length": bucket,
}
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


OWN = {"join": own_join, "reduce_join": own_reduce_join}
