"""tf.train.Example as protobuf reads it: what is expected where TensorFlow's fast parser reads otherwise.

Written from the wire format's rules, independent of the program. Unknown fields are skipped wherever they stand.
"""
import base64
import struct

WANTED = {"string": 1, "float32": 2, "int64": 3}
NONE = (0, [])


class Bad(Exception):
    """The bytes are no Example, or not the one that the features describe."""


def varint(data, at):
    value = 0
    for i in range(10):
        if at >= len(data):
            raise Bad("cut")
        byte = data[at]
        at += 1
        value |= (byte & 127) << (7 * i)
        if byte < 128:
            return value & (2**64 - 1), at
    raise Bad("too long")


def fields(data, group=None):
    """(number, wire type, value) of each field; a group's fields are passed over."""
    at, out = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        number, kind = tag >> 3, tag & 7
        if number == 0 or tag >= 2**32:
            raise Bad("field number")
        if kind == 4:
            if number != group:
                raise Bad("group end")
            return out, at
        if kind == 0:
            value, at = varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = data[at:at + size], at + size
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        elif kind == 3:
            value, used = fields(data[at:], number)
            at += used
        else:
            raise Bad("wire type")
        if at > len(data):
            raise Bad("cut")
        out.append((number, kind, value))
    if group is not None:
        raise Bad("group without an end")
    return out if group is None else (out, at)


def list_values(kind, data):
    out = []
    for number, wire, value in fields(data):
        if number != 1:
            continue
        if kind == 1 and wire == 2:
            out.append(value)
        elif kind == 2 and wire == 5:
            out.append(struct.unpack("<f", value)[0])
        elif kind == 2 and wire == 2:
            if len(value) % 4:
                raise Bad("floats cut")
            out += struct.unpack(f"<{len(value) // 4}f", value)
        elif kind == 3 and wire == 0:
            out.append(signed(value))
        elif kind == 3 and wire == 2:
            at = 0
            while at < len(value):
                entry, at = varint(value, at)
                out.append(signed(entry))
    return out


def signed(value):
    return value - 2**64 if value >= 2**63 else value


def parse(data):
    """A Record: key (bytes) -> (kind, values); kind 0 for none."""
    out = {}
    for number, wire, message in fields(data):
        if (number, wire) != (1, 2):
            continue
        for inner, inner_wire, entry in fields(message):
            if (inner, inner_wire) != (1, 2):
                continue
            key, messages = b"", []
            for part, part_wire, value in fields(entry):
                if part_wire != 2:
                    continue
                if part == 1:
                    key = value
                elif part == 2:
                    messages.append(value)
            out[key] = messages
    return Record(out)


class Record:
    """Keys and the messages of their features, which are read when they are asked for."""

    def __init__(self, messages):
        self.messages = messages

    def get(self, key, otherwise):
        if key not in self.messages:
            return otherwise
        kind, values = NONE
        for message in self.messages[key]:
            for which, wire, content in fields(message):
                if which in (1, 2, 3) and wire == 2:
                    values = (values if which == kind else []) + list_values(which, content)
                    kind = which
        return kind, values


def entry_json(value):
    if isinstance(value, bytes):
        return {"b64": base64.b64encode(value).decode()}
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return {"inf": "inf", "-inf": "-inf"}.get(str(value), "nan")
    return value


def tensor(dtype, shape, values):
    return {"dtype": dtype, "shape": list(shape), "data": [entry_json(v) for v in values]}


def of_dtype(found, dtype):
    kind, values = found
    if kind not in (0, WANTED[dtype]):
        raise Bad("another kind")
    return values


def count_of(shape):
    n = 1
    for size in shape:
        n *= size
    return n


def fixed(records, name, f, batch):
    values = []
    for record in records:
        kind, got = record.get(name, NONE)
        if kind == 0:
            if f.get("default") is None:
                raise Bad("missing")
            got = flat(f["default"])
            if len(got) != count_of(f["shape"]):
                raise Bad("default")
        elif len(of_dtype((kind, got), f["dtype"])) != count_of(f["shape"]):
            raise Bad("count")
        values += got
    return tensor(f["dtype"], ([len(records)] if batch else []) + f["shape"], values)


def flat(value):
    if isinstance(value, list):
        return [x for item in value for x in flat(item)]
    return [value.encode() if isinstance(value, str) and value not in ("nan", "inf", "-inf") else value]


def var(records, name, f, batch):
    rows = [of_dtype(record.get(name, NONE), f["dtype"]) for record in records]
    indices = [([r] if batch else []) + [i] for r, row in enumerate(rows) for i in range(len(row))]
    longest = max((len(row) for row in rows), default=0)
    values = [v for row in rows for v in row]
    return {"sparse": True, "indices": indices, "values": tensor(f["dtype"], [len(values)], values),
            "dense_shape": ([len(records)] if batch else []) + [longest]}


def sequence(records, name, f, batch):
    rows = [of_dtype(record.get(name, NONE), f["dtype"]) for record in records]
    longest = max((len(row) for row in rows), default=0)
    filler = flat(f["default"]) if f.get("default") is not None else [b"" if f["dtype"] == "string" else 0]
    values = [v for row in rows for v in row + filler * (longest - len(row))]
    return tensor(f["dtype"], ([len(records)] if batch else []) + [longest], values)


def ragged(records, name, f, batch):
    rows = [of_dtype(record.get((f.get("value_key") or name.decode()).encode(), NONE), f["dtype"]) for record in records]
    values = [v for row in rows for v in row]
    flat_values = tensor(f["dtype"], [len(values)], values)
    if not batch:
        return flat_values
    return {"ragged": True, "row_splits": [sum(map(len, rows[:i])) for i in range(len(rows) + 1)], "values": flat_values}


def check_beside(records, name, f):
    """Ragged and sparse features: that their partitions and indices fit the values."""
    for record in records:
        n = len(of_dtype(record.get((f.get("value_key") or name.decode()).encode(), NONE), f["dtype"]))
        keys = f.get("index_key", [])
        sizes = f.get("size", [])
        keys, sizes = ([x] if not isinstance(x, list) else x for x in (keys, sizes))
        columns = [of_dtype(record.get(k.encode(), NONE), "int64") for k in keys]
        if any(len(column) != n for column in columns):
            raise Bad("counts")
        if any(not 0 <= i < size for column, size in zip(columns, sizes) for i in column):
            raise Bad("index outside")
        if columns and len(set(zip(*columns))) != n:
            raise Bad("index twice")
        for kind, key in reversed(f.get("partitions", [])):
            n = rows_of(kind, key, record, n)


def rows_of(kind, key, record, n):
    if kind == "UniformRowLength":
        if n % key:
            raise Bad("rows")
        return n // key
    entries = of_dtype(record.get(key.encode(), NONE), "int64")
    splits = {"RowSplits": entries or [0], "RowStarts": entries + [n], "RowLimits": [0] + entries,
              "RowLengths": [sum(entries[:i]) for i in range(len(entries) + 1)]}.get(kind)
    if kind == "ValueRowIds":
        if len(entries) != n or entries != sorted(entries) or min(entries, default=0) < 0:
            raise Bad("rows")
        return max(entries, default=-1) + 1
    if splits[0] != 0 or splits[-1] != n or splits != sorted(splits):
        raise Bad("rows")
    return len(splits) - 1


def conforming(raws, features, batch):
    """What is to come of these records, as a recorded `out` or `error`; None where this oracle cannot say."""
    try:
        records = [parse(raw) for raw in raws]
        out, complete = {}, True
        for name, f in features.items():
            key = name.encode()
            if f["dtype"] not in WANTED:
                return None
            if f["kind"] == "FixedLen":
                out[name] = fixed(records, key, f, batch)
            elif f["kind"] == "VarLen":
                out[name] = var(records, key, f, batch)
            elif f["kind"] == "FixedLenSequence" and f["shape"] == []:
                out[name] = sequence(records, key, f, batch)
            elif f["kind"] == "Ragged" and not f.get("partitions"):
                out[name] = ragged(records, key, f, batch)
            else:
                if f["kind"] in ("Ragged", "Sparse"):
                    check_beside(records, key, f)
                complete = False
        return {"out": out} if complete else None
    except Bad:
        return {"error": {"code": "INVALID_ARGUMENT"}}
