"""A recorded case of an op, and how its inputs get into a pipeline."""
import base64
import dataclasses
import json
import os
import pathlib
import struct
import threading
import typing

# Names of inputs that the language reads as dtypes.
DTYPE_WORDS = {"bytes", "string", "bool"}
# Tensors with longer texts travel as a record of a TFRecord file.
LONGEST_LITERAL = 4000


@dataclasses.dataclass
class Plan:
    """What a map may give instead of an expression over the inputs' names."""
    text: str
    whole: bool = False  # a pipeline of its own; case.source() may stand in it
    # (case, results) -> None or what differs; results as functions_result.show gives them.
    judge: typing.Optional[typing.Callable] = None


def raw_bytes(value):
    return value.encode("utf-8") if isinstance(value, str) else base64.b64decode(value["b64"])


def bytes_text(raw):
    """A literal of dtype bytes."""
    return 'b"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\x{b:02x}" for b in raw) + '"'


def number_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):  # "nan", "-inf", "-0"
        return {"-0": "-0.0"}.get(value, value)
    return repr(value)


def literal(value):
    """A number, bool, string, none, or lists and dicts of them, as text of the language. Strings must be
    those of attributes: a tensor's numbers go through tensor_text."""
    if value is None:
        return "none"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, dict) and set(value) == {"b64"}:
        return bytes_text(raw_bytes(value))
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {literal(v)}" for k, v in value.items()) + "}"
    return bytes_text(value.encode()) if isinstance(value, str) else number_text(value)


def nested(entries, shape):
    """Texts in row-major order -> a nested list of this shape, which has entries."""
    if not shape:
        return entries[0]
    step = len(entries) // shape[0]
    return "[" + ", ".join(nested(entries[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])) + "]"


def tensor_text(tensor):
    """A recorded tensor (dense and inline, ragged or sparse) as an expression."""
    if tensor.get("ragged"):
        return ragged_text(tensor)
    if tensor.get("sparse"):
        parts = {k: tensor_text(tensor[k]) for k in ("indices", "values", "dense_shape")}
        return f"sparse(indices={parts['indices']}, values={parts['values']}, shape={parts['dense_shape']})"
    dtype, data, shape = tensor["dtype"], tensor["data"], list(tensor["shape"])
    if dtype.startswith("complex"):  # we have no such dtype: [..., 2] holds the parts
        dtype = {"complex64": "float32", "complex128": "float64"}[dtype]
        data, shape = [part for pair in data for part in pair], shape + [2]
    if not data:
        return f"zeros({shape}, dtype={dtype})"
    if dtype == "string":
        return nested([bytes_text(raw_bytes(v)) for v in data], shape)
    if dtype == "uint64" and max(data) >= 2**63:  # beyond the literals without dtype in a list
        return nested([f"uint64({v})" for v in data], shape)
    return f"{dtype}({nested([number_text(v) for v in data], shape)})"


def ragged_text(tensor):
    return f"ragged({ragged_rows(tensor)}, dtype={ragged_dtype(tensor)})"


def ragged_dtype(tensor):
    while tensor.get("ragged"):
        tensor = tensor["values"]
    return tensor["dtype"].replace("string", "bytes")


def ragged_rows(tensor):
    splits, values = tensor["row_splits"], tensor["values"]
    splits = splits["data"] if isinstance(splits, dict) else splits
    if values.get("ragged"):
        items = split_list(ragged_rows(values))
    else:
        string = values["dtype"] == "string"
        texts = [bytes_text(raw_bytes(v)) if string else number_text(v) for v in values["data"]]
        step = len(texts) // max(1, values["shape"][0])
        items = [nested(texts[i * step:(i + 1) * step], values["shape"][1:]) for i in range(values["shape"][0])]
    return "[" + ", ".join("[" + ", ".join(items[a:b]) + "]" for a, b in zip(splits, splits[1:])) + "]"


def split_list(text):
    """The items of a list's text, whose strings hold no brackets unescaped that matter here."""
    items, depth, start, quoted = [], 0, 1, False
    for i, c in enumerate(text):
        if c == '"' and text[i - 1] != "\\":
            quoted = not quoted
        elif not quoted and c == "[":
            depth += 1
        elif not quoted and c == "]":
            depth -= 1
        if not quoted and ((c == "," and depth == 1) or (c == "]" and depth == 0)):
            if text[start:i].strip():
                items.append(text[start:i].strip())
            start = i + 1
    return items


def crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = (n >> 1) ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


CRC_TABLE = crc_table()


def masked_crc(raw):
    """The checksum of the TFRecord format."""
    crc, table = 0xFFFFFFFF, CRC_TABLE
    for byte in raw:
        crc = table[(crc ^ byte) & 255] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


class Case:
    """A record: id, op, attrs, inputs (as recorded), and texts that bring the inputs in."""
    lock = threading.Lock()
    files = {}  # content -> a TFRecord file with that one record

    def __init__(self, record, path, folder):
        self.record, self.id, self.op = record, record["id"], record["op"]
        self.attrs = record.get("attrs") or {}
        self.inputs = record.get("in") or {}
        self.file = path.stem
        self.root = str(path.parent)  # where the files lie that it names
        self.folder = folder  # a temporary one

    @classmethod
    def read(cls, path, folder):
        with open(path, encoding="utf-8") as lines:
            return [cls(json.loads(line), path, folder) for line in lines if line.strip()]

    def dtype(self, name):
        return self.inputs[name]["dtype"]

    def shape(self, name):
        return self.inputs[name]["shape"]

    def array(self, name):
        """An input as a numpy array."""
        import check
        return check.decode(self.inputs[name], self.root)

    def text(self, name):
        """An input as a constant of the language."""
        return self.value_text(self.inputs[name])

    def path(self, name):
        """The absolute path of a file that the case names."""
        return os.path.join(self.root, name)

    def value_text(self, value):
        if isinstance(value, dict) and ("dtype" in value or value.get("ragged") or value.get("sparse")):
            return tensor_text(value)
        return literal(value)

    def record_of(self, content):
        """A TFRecord file that holds `content` as its one record."""
        with Case.lock:
            name = Case.files.get(content)
            if name is None:
                name = os.path.join(self.folder, f"{len(Case.files)}.tfrecord")
                head = struct.pack("<Q", len(content))
                pathlib.Path(name).write_bytes(head + struct.pack("<I", masked_crc(head)) + content
                                               + struct.pack("<I", masked_crc(content)))
                Case.files[content] = name
            return name

    def from_record(self, content, after=""):
        return f"tfrecord({json.dumps(self.record_of(content))}){after}"

    def dataset_of(self, name):
        """A dataset of one element, the input: small ones as literals, large ones and files from a file."""
        value = self.inputs[name]
        if isinstance(value, dict) and "file" in value:
            return self.from_record(pathlib.Path(self.root, value["file"]).read_bytes())
        if isinstance(value, dict) and set(value) == {"b64"}:
            return self.from_record(raw_bytes(value))
        if isinstance(value, dict) and ("npy" in value or len(value.get("data", "")) > LONGEST_LITERAL):
            array = self.array(name)
            if array.dtype != object:
                if value["dtype"] == "bfloat16":
                    array = (array.view("uint32") >> 16).astype("uint16")
                dims = [int(n) for n in array.shape]
                return self.from_record(array.tobytes(),
                                        f" | map(raw -> reshape(decode_raw(raw, {value['dtype']}), {dims}))")
        return f"from_tensors({self.value_text(value)})"

    def source(self):
        """A dataset of one element: a dict of the inputs."""
        if not self.inputs:
            return "range(1)"
        return "zip({" + ", ".join(f"{k}: {self.dataset_of(k)}" for k in self.inputs) + "})"

    def pattern(self):
        if not self.inputs:
            return "_"
        names = [f"{k}: {k}_" if k in DTYPE_WORDS else k for k in self.inputs]
        return "{" + ", ".join(names) + "}"

    def pipeline(self, expression):
        """The expression over the inputs' names (bytes_ for one called bytes) as a pipeline."""
        return f"{self.source()}\n| map({self.pattern()} -> {expression})"
