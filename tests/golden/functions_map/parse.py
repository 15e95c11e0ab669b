"""Parsing: recorded op -> an expression over the inputs' names."""
import json
import zlib

from functions_case import Plan, literal, raw_bytes
from functions_map.call import call, dtype_name
from functions_map.example_oracle import conforming

KINDS = {"FixedLen": "fixed", "FixedLenSequence": "sequence", "VarLen": "var", "Ragged": "ragged", "Sparse": "sparse"}
PARTITIONS = {"RowSplits": "row_splits", "RowLengths": "row_lengths", "RowStarts": "row_starts",
              "RowLimits": "row_limits", "ValueRowIds": "value_rowids", "UniformRowLength": "uniform_row_length"}


def feature(f):
    """One recorded feature as feature(...)."""
    out = f"feature({dtype_name(f['dtype'])}"
    if f.get("shape"):
        out += f", {f['shape']}"
    if f.get("default") is not None:
        out += f", default={default(f['default'])}"
    out += f', kind="{KINDS[f["kind"]]}"'
    for ours in ("value_key", "index_key"):
        if f.get(ours) is not None:
            out += f", {ours}={literal(f[ours])}"
    if "partitions" in f:
        out += ", partitions=[" + ", ".join(f'("{PARTITIONS[k]}", {literal(v)})' for k, v in f["partitions"]) + "]"
    if "size" in f:
        out += f", size={f['size']}"
    return out


def default(value):
    return literal(value)


def features(table, sequence=False):
    missing = ", allow_missing={}" if sequence else ""
    return "{" + ", ".join(
        f"{json.dumps(k, ensure_ascii=False)}: {feature(f)}" +
        (missing.format("true" if f.get("allow_missing") else "false")
         if sequence and f["kind"] == "FixedLenSequence" else "") + ")"
        for k, f in table.items()) + "}"


def serialized(case):
    return next(iter(case.inputs))


def parse_example(case):
    table = features(case.attrs["features"])
    text = f"parse_example({serialized(case)}, {table})"
    if case.op == "parse_single_example" and case.shape(serialized(case)) != []:
        return f"parse_example(reshape({serialized(case)}, [2, 0]), {table})"  # refused: no record, no vector of them
    return text


def parse_sequence(case):
    return (f"parse_sequence_example({serialized(case)}, {features(case.attrs['context'])}, "
            f"{features(case.attrs['sequence'], True)})")


def csv_columns(case):
    return "(" + "".join(f"{csv_default(d)}, " for d in case.attrs["defaults"]) + ")"


def csv_default(column):
    dtype = dtype_name(column[0])
    if len(column) == 1:
        return dtype
    value = literal(column[1][0])
    return value if dtype == "bytes" else f"{dtype}({value})"


def decode_csv(case):
    more = "".join(f", {k}={literal(case.attrs[k])}" for k in ("field_delim", "use_quote_delim", "na_value", "select_cols")
                   if k in case.attrs)
    return f"decode_csv({serialized(case)}, {csv_columns(case)}{more})"


def decode_raw(case):
    more = "".join(f", {k}={literal(case.attrs[k])}" for k in ("little_endian", "fixed_length") if k in case.attrs)
    dtype = case.attrs["out_type"]
    if dtype.startswith("complex"):  # we have no such dtype: [..., 2] holds the parts
        part = {"complex64": "float32", "complex128": "float64"}[dtype]
        return f"let x = decode_raw(bytes_, {part}{more}); reshape(x, concat(shape(x)[:-1], [shape(x)[-1] // 2, 2]))"
    return f"decode_raw(bytes_, {dtype_name(dtype)}{more})"


def serialize_tensor(case):
    dtype = {"complex64": "float32", "complex128": "float64"}.get(case.dtype("tensor"), dtype_name(case.dtype("tensor")))
    return Plan(f"parse_tensor(serialize_tensor(tensor), {dtype})", judge=same_tensor)


def same_tensor(case, results):
    """Encoders differ: what is written must read back."""
    from functions_result import compare
    return compare({"out": case.inputs["tensor"]}, results[0], case.root)


def decode_json_example(case):
    name = serialized(case)
    return f"parse_example(decode_json_example({name}), {features(case.attrs['features'])})"


def crc(case):
    return Plan("{crc32c: crc32c(bytes_), masked: crc32c(bytes_, masked=true)}", judge=same_crc)


def same_crc(case, results):
    got = {k: int(v) for k, v in results[0]["element"].items()}
    want = {k: case.record["out"][k] for k in ("crc32c", "masked")}
    return None if got == want else f"expected {want}, got {got}"


def tfrecord(case):
    kind = case.attrs["compression_type"]
    return Plan(f"tfrecord({json.dumps(case.path(case.inputs['file']))}, compression={literal(kind)})", whole=True,
                judge=same_records)


def same_records(case, results):
    errors = [r["error"]["code"] for r in results if "error" in r]
    want = case.record.get("error")
    if want:
        return None if want["code"] in errors else f"expected {want['code']}, got {errors or len(results)}"
    if case.record.get("trap"):
        return None if errors else "expected an error"
    return None if not errors and len(results) == case.record["out"]["count"] else f"got {len(results)}, {errors}"


MAP = {
    "parse_single_example": parse_example, "parse_example": parse_example,
    "parse_single_sequence_example": parse_sequence, "parse_sequence_example": parse_sequence,
    "decode_csv": decode_csv, "decode_raw": decode_raw,
    "serialize_tensor": serialize_tensor, "parse_tensor": lambda c: f"parse_tensor(serialized, {dtype_name(c.attrs['out_type'])})",
    "decode_json_example": decode_json_example,
    "encode_base64": call("encode_base64", "pad"), "decode_base64": call("decode_base64"),
    "decode_compressed": lambda c: f"decompress(bytes_, {literal(c.attrs['compression_type'])})",
    "crc32c": crc, "tfrecord_read": tfrecord,
}


def own_example(case):
    """Where TensorFlow's parser and protobuf part, protobuf's answer."""
    given = case.inputs[serialized(case)]
    batch = case.op == "parse_example"
    answer = conforming([raw_bytes(v) for v in given["data"]], case.attrs["features"], batch)
    if answer is None or (not batch and given["shape"] != []) or plain(answer) == plain(case.record):
        return None
    return answer


def plain(answer):
    """An answer in a form that compares: the error, or names and entries."""
    if "error" in answer:
        return "error"
    return {k: [entry(v) for v in t.get("values", t).get("data", [])] for k, t in answer["out"].items()}


def entry(value):
    return raw_bytes(value) if isinstance(value, dict) or (isinstance(value, str) and value not in (
        "nan", "inf", "-inf", "-0")) else float(value)


def own_decompressed(case):
    """Cut data, and bytes behind its end."""
    wanted = {"ZLIB": 15, "GZIP": 31}.get(case.attrs["compression_type"])
    for raw in map(raw_bytes, case.inputs["bytes"]["data"]) if wanted and "out" in case.record else ():
        stream, left = zlib.decompressobj(wanted), raw
        while left:
            stream.decompress(left)
            if not stream.eof:
                return {"error": {"code": "DATA_LOSS"}}
            left = stream.unused_data
            stream = zlib.decompressobj(wanted)
            if left and not (wanted == 31 and left[:2] == b"\x1f\x8b"):
                return {"error": {"code": "DATA_LOSS"}}
    return {"error": {"code": "DATA_LOSS"}} if case.record.get("trap") else None


def own_json(case):
    """Text that is no JSON, or values that are no arrays of numbers or strings, are errors."""
    text = raw_bytes(next(iter(case.inputs.values()))["data"][0])
    try:
        found = [v.get("value") for f in json.loads(text)["features"]["feature"].values() for v in f.values()]
        good = all(isinstance(v, list) and None not in v for v in found if v is not None)
    except ValueError:
        good = False
    except (KeyError, TypeError, AttributeError):
        good = True
    return None if good or "error" in case.record else {"error": {"code": "INVALID_ARGUMENT"}}


def own_raw(case):
    """We have all unsigned dtypes."""
    import numpy
    if case.attrs["out_type"] not in ("uint32", "uint64"):
        return None
    rows = [raw_bytes(v) for v in case.inputs["bytes"]["data"]]
    if "fixed_length" in case.attrs:
        length = case.attrs["fixed_length"]
        rows = [row[:length].ljust(length, b"\0") for row in rows]
    order = "<" if case.attrs.get("little_endian", True) else ">"
    size = 4 if case.attrs["out_type"] == "uint32" else 8
    if any(len(row) != len(rows[0]) or len(row) % size for row in rows):
        return None
    data = [int(x) for row in rows for x in numpy.frombuffer(row, f"{order}u{size}")]
    shape = case.inputs["bytes"]["shape"] + [len(rows[0]) // size]
    return {"out": {"dtype": case.attrs["out_type"], "shape": shape, "data": data}}


OWN = {"parse_single_example": own_example, "parse_example": own_example, "decode_compressed": own_decompressed,
       "decode_raw": own_raw, "decode_json_example": own_json}
