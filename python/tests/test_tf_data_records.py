"""TensorFlow's recorded answers (tests/golden/tfdata): the program of each record, run with penstock.compat.tf_data.

A record holds the TensorFlow program that made it. It is run here with this package's names for TensorFlow's; dtypes,
shapes, cardinalities, elements, errors and what follows them must agree. tests/golden/differences.txt lists the records in
which Penstock differs on purpose; DIFFERENCES below adds those of this package, each with its reason.
"""
import ast
import base64
import json
import math
import os
import pathlib
import sys
import unittest

import numpy as np

from penstock.compat import tf_data as tf

GOLDEN = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "golden"
sys.path.append(str(GOLDEN))
import check  # noqa: E402

LIMIT, AFTER_LIMIT = 60, 40
DIFFERENCES = {
    "at/shuffle_buffer_1": "the element at an index is the one that an iteration gives there",
    "at/shuffle_consistent_permutation": "the element at an index is the one that an iteration gives there",
    "cache/file_second_pass": "a folder of Penstock's own",
    "cache/file_other_dataset_same_path_reads_it": "an entry is known by the pipeline, not by its path alone",
    "cache/file_two_iterators_at_once": "they do not meet",
    "cache/file_error_in_pass": "a pass with an error leaves no hole in a cache",
    "from_tensor_slices/ragged": "rows of ragged tensors are dense tensors",
    "unbatch/ragged": "rows of ragged tensors are dense tensors",
    "list_files/matched_at_construction": "files are looked up anew when a pass begins",
    "random/in_map_reseeded_each_pass": "random numbers belong to the row and its epoch",
    "shuffle/one_object_zipped_with_itself": "both sides of zip(s, s) have one order",
    "shuffle/take_then_second_pass_split_leak": "take and skip of one shuffle do not overlap",
    "shuffle/error_elements_come_through": "an error comes out in the slot that it was drawn from",
}
AHEAD = {"cache/partial_then_full", "cache/zip_much_shorter_first"}  # count calls: elements may be made ahead of the consumer
INPUTS = {"zero": lambda: tf.data.Dataset.range(0), "known": lambda: tf.data.Dataset.range(10),
          "unknown": lambda: tf.data.Dataset.range(10).filter(lambda x: True),
          "infinite": lambda: tf.data.Dataset.range(10).repeat()}


def scalar(v):
    if isinstance(v, (bytes, str)):
        v = v.encode() if isinstance(v, str) else v
        printable = all(32 <= c < 127 or c in (9, 10, 13) for c in v)
        return v.decode("ascii") if printable else {"b64": base64.b64encode(v).decode()}
    if isinstance(v, (bool, np.bool_)):
        return bool(v)
    if isinstance(v, (int, np.integer)):
        return int(v)
    v = float(v)
    return v if math.isfinite(v) else {"float": "nan" if math.isnan(v) else "inf" if v > 0 else "-inf"}


def nested(v):
    return [nested(x) for x in v] if isinstance(v, (list, np.ndarray)) and np.ndim(v) else scalar(
        v.item() if isinstance(v, np.ndarray) else v)


def encoded(v):
    """A value as tests/golden/README.md writes it."""
    if v is None:
        return None
    if isinstance(v, dict):
        return {str(k): encoded(x) for k, x in v.items()}
    if isinstance(v, tf.data.Dataset):
        return {"dataset": [encoded(x) for _, x in zip(range(LIMIT), v)]}
    if isinstance(v, tf.RaggedTensor):
        return {"ragged": nested_list(v.to_list()), "shape": v.shape.as_list()}
    if isinstance(v, tf.SparseTensor):
        return {"sparse": {"indices": v.indices.numpy().tolist(), "values": encoded(v.values),
                           "dense_shape": v.dense_shape.numpy().tolist()}}
    if isinstance(v, tf.experimental.Optional):
        return {"optional": encoded(v.get_value()) if bool(v.has_value()) else None}
    if isinstance(v, tuple) and hasattr(v, "_fields"):
        return {"namedtuple": {f: encoded(getattr(v, f)) for f in v._fields}}
    if isinstance(v, tuple):
        return {"tuple": [encoded(x) for x in v]}
    if isinstance(v, list):
        return [encoded(x) for x in v]
    array = np.asarray(v)
    if not array.ndim:
        return scalar(array.item() if array.dtype == object else array[()])
    return {"empty": list(array.shape)} if array.size == 0 else nested(array)


def nested_list(v):
    return [nested_list(x) for x in v] if isinstance(v, list) else scalar(v)


def sizes(shape):
    return None if shape.rank is None else shape.as_list()


def encoded_spec(spec, path=""):
    def join(k):
        return str(k) if path == "" else f"{path}/{k}"
    if isinstance(spec, dict):
        return [y for k in sorted(spec) for y in encoded_spec(spec[k], join(k))]
    if isinstance(spec, tuple):
        keys = getattr(spec, "_fields", range(len(spec)))
        return [y for k, s in zip(keys, spec) for y in encoded_spec(s, join(k))]
    if isinstance(spec, tf.data.DatasetSpec):
        return [{"path": path, "kind": "dataset", "element": encoded_spec(spec.element_spec)}]
    if isinstance(spec, tf.NoneTensorSpec):
        return [{"path": path, "kind": "none"}]
    if isinstance(spec, tf.OptionalSpec):
        return [{"path": path, "kind": "optional", "element": encoded_spec(spec._value_spec)}]
    out = {"path": path, "dtype": spec.dtype.name, "shape": sizes(spec.shape)}
    if isinstance(spec, tf.RaggedTensorSpec):
        return [{**out, "kind": "ragged", "ragged_rank": spec.ragged_rank}]
    return [{**out, "kind": "sparse"} if isinstance(spec, tf.SparseTensorSpec) else out]


def error(e, **where):
    return {**where, "code": e.code if isinstance(e, tf.errors.OpError) else type(e).__name__, "message": str(e)}


def drain(ds_or_iter, limit=LIMIT, start=None):
    """Calls next() until the end, as tests/golden's recorder does."""
    out, it, after, n = {"elements": [], "complete": False}, ds_or_iter, None, 0
    if isinstance(it, tf.data.Dataset):
        try:
            it = iter(it)
        except tf.errors.OpError as e:
            return {**out, "error": error(e, at="iterator")}
    while not (after is None and n >= limit or after is not None and len(after) >= AFTER_LIMIT):
        try:
            v = encoded(next(it))
        except StopIteration:
            out["complete"] = True
            if after is not None:
                after.append({"end": True})
            break
        except tf.errors.OpError as e:
            if after is None:
                out["error"] = error(e, position=n)
                after = out["after_error"] = []
            else:
                after.append({"error": error(e)})
                if len(after) >= 12 and all("error" in a for a in after[-6:]):
                    after.append({"more": "errors"})
                    break
            continue
        if after is None:
            out["elements"].append(v)
            n += 1
        else:
            after.append({"element": v})
    out.setdefault("error", None)
    return out


def plain(ds):
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    return ds.with_options(options)


def evaluated(source, want):
    names = {"tf": tf, "np": np, "Dataset": tf.data.Dataset, "exp": tf.data.experimental, "os": os, "drain": drain,
             "plain": plain,
             "run_passes": lambda ds, passes: [drain(ds, LIMIT if k is None else k) for k in passes]}
    tree = ast.parse(source.strip())
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
        return eval(compile(ast.Expression(tree.body[0].value), "<record>", "eval"), names)  # noqa: S307
    exec(compile(tree, "<record>", "exec"), names)  # noqa: S102
    return names[want]


def judged(record):
    """None if this package does what TensorFlow did, else what differs."""
    kind = record.get("kind", "elements")
    if kind == "facts" and "facts" not in record:
        kind = "value" if "value" in record else "elements"
    record = {**record, **record.get("without_rewrites", {})}
    wanted = record.get("error") or {}
    if kind == "cardinality":
        make = evaluated(record["tf"], None)
        for name, want in record["cardinality"].items():
            try:
                got = int(make(INPUTS[name]()).cardinality().numpy())
            except (tf.errors.OpError, ValueError, TypeError) as e:
                got = {"error": str(e)}
            if got != want and not (isinstance(want, dict) and isinstance(got, dict)):
                return f"{name}: expected cardinality {want}, got {got}"
        return None
    try:
        made = evaluated(record["tf"], {"value": "value", "facts": "facts"}.get(kind, "ds"))
    except (tf.errors.OpError, ValueError, TypeError, AttributeError) as e:
        return None if wanted.get("at") in ("construction", "evaluation") else f"{type(e).__name__}: {e}"
    if wanted.get("at") in ("construction", "evaluation"):
        return f"expected a refusal: {wanted['message']}"
    if kind == "value":
        return None if check.same(record["value"], encoded(made)) else f"expected {record['value']}, got {encoded(made)}"
    if kind == "facts":
        got = json.loads(json.dumps(made, default=lambda v: encoded(v)))
        return None if check.same(record["facts"], got) else f"expected {record['facts']}, got {got}"
    if wanted.get("at") != "iterator":
        if encoded_spec(made.element_spec) != record["spec"]:
            return f"spec: expected {record['spec']}, got {encoded_spec(made.element_spec)}"
        if isinstance(record.get("cardinality"), int) and int(made.cardinality()) != record["cardinality"]:
            return f"cardinality: expected {record['cardinality']}, got {int(made.cardinality())}"
    if kind == "at":
        return judged_at(record, made)
    if kind == "passes":
        for k, (n, want) in enumerate(zip(record["passes"], record["results"])):
            bad = check.compare_drain(want, drain(made, LIMIT if n is None else n), record.get("unordered"))
            if bad:
                return f"pass {k}: {bad}"
        return None
    got = drain(made, record.get("limit", LIMIT))
    if wanted.get("at") == "iterator":
        return None if got["error"] else "expected an error at once"
    return check.compare_drain(record, got, record.get("unordered"))


def judged_at(record, made):
    for want in record["at_results"]:
        try:
            got = {"element": encoded(tf.data.experimental.at(made, want["index"]))}
        except tf.errors.OpError as e:
            got = {"error": {"code": e.code}}
        if ("error" in want) != ("error" in got) or not check.same(want.get("element"), got.get("element")) or \
                "error" in want and want["error"]["code"] != got["error"]["code"]:
            return f"at {want['index']}: expected {want}, got {got}"
    return None


class Records(unittest.TestCase):
    def setUp(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(GOLDEN / "tfdata")

    def judge(self, file):
        meant = {line.partition(":")[0] for line in (GOLDEN / "differences.txt").read_text().splitlines()
                 if line.strip() and line[0] != "#"} | DIFFERENCES.keys()
        for line in file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if record["id"] in AHEAD or record.get("kind") == "checkpoint" or (record.get("error") or {}).get("at") == "process":
                continue
            with self.subTest(record["id"]):
                bad = judged(record)
                if record["id"] in DIFFERENCES:
                    self.assertIsNotNone(bad, "listed as a difference, but agrees")
                elif record["id"] not in meant:
                    self.assertIsNone(bad, record["tf"])


def _test(file):
    return lambda self: self.judge(file)


for _file in sorted((GOLDEN / "tfdata").glob("*.jsonl")):
    setattr(Records, f"test_{_file.stem}", _test(_file))


if __name__ == "__main__":
    unittest.main()
