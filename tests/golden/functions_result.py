"""What the program gave for a case, and whether it is what was recorded."""
import base64
import json

import numpy as np
from program import execute

# Refusals that say that the map is wrong, or the op missing, whatever was expected.
NOT_UNDERSTOOD = ("there is no op", "there is no argument", "positional argument", "is not defined")

# What other libraries give for a wrong call.
WRONG_CALL = ("INVALID_ARGUMENT", "FAILED_PRECONDITION", "NOT_FOUND", "UNIMPLEMENTED", "OUT_OF_RANGE")


class Refused(Exception):
    """The pipeline was refused; error: {"code", "message"}."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.error = error


def show(program, text, folder):
    """Runs a pipeline -> its outcomes: {"element": [(path, array)]} with the leaves in the spec's order, ragged and sparse
    leaves as they are printed, or {"error": {"code", "message"}}. Raises Refused."""
    status, out, err = execute([program, "show", "--jsonl", "--limit", "100000", "-"], text, cwd=folder)
    lines = [json.loads(line, object_hook=revive) for line in out.split("\n") if line.strip()]
    refusals = [line["error"] for line in lines if status == 2 and "error" in line]
    if refusals:
        raise Refused(refusals[0])
    if status not in (0, 1) or not lines:
        raise ValueError(f"exit {status}: {err[-300:]}")
    spec = {leaf["path"]: leaf for leaf in lines[0]["spec"]}
    results = []
    for line in lines[1:]:
        if "error" in line:
            results.append({"error": line["error"]})
        elif "element" in line:
            results.append({"element": {path: to_array(v, spec[path]) for path, v in leaves(line["element"], "")}})
    return results


class Structure(dict):
    """A tuple or dict of the element, not a leaf."""


def revive(entry):
    keys = set(entry)
    if keys == {"float"}:
        return float(entry["float"])
    if keys == {"b64"}:
        return base64.b64decode(entry["b64"])
    if keys == {"tuple"}:
        return Structure((str(i), v) for i, v in enumerate(entry["tuple"]))
    return entry


def leaves(value, path):
    if isinstance(value, dict) and set(value) not in ({"empty"}, {"ragged", "shape"}, {"sparse"}, {"dataset"}):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}/{key}" if path else key)
    else:
        yield path, value


def to_array(value, leaf):
    dtype = leaf["dtype"]
    if isinstance(value, dict) and "empty" in value:
        return np.empty(value["empty"], numpy_dtype(dtype))
    if isinstance(value, dict):
        return {**value, "dtype": dtype}
    if dtype in ("bytes", "string"):
        return strings(value)
    if "float" in dtype:
        return np.array(value, np.float64).astype(numpy_dtype(dtype))
    return np.array(value, numpy_dtype(dtype))


def numpy_dtype(dtype):
    return {"bytes": object, "string": object, "bfloat16": np.float32}.get(dtype, dtype)


def strings(value):
    shape, probe = [], value
    while isinstance(probe, list):
        shape.append(len(probe))
        probe = probe[0] if probe else None
    flat = [value]
    for _ in shape:
        flat = [x for xs in flat for x in xs]
    array = np.empty(len(flat), object)
    array[:] = [x if isinstance(x, bytes) else x.encode() for x in flat]
    return array.reshape(shape)


def wrong_error(want, refusal):
    """None when a refusal is what was to come. A wrong call is refused before it runs, whatever code the
    other library gives it."""
    message = refusal.error["message"]
    if "error" not in want or any(words in message for words in NOT_UNDERSTOOD):
        return f"refused: {message[:300]}"
    wanted = want["error"]
    if wanted.get("raised_before_run") or wanted["code"] in (*WRONG_CALL, refusal.error["code"]):
        return None
    return f"expected {wanted['code']}, refused with {refusal.error['code']}: {message[:300]}"


def compare(want, result, root):
    """None when the outcome is the expected one, else what differs."""
    if "error" in want or "error" in result:
        wanted, got = want.get("error"), result.get("error")
        if not got:
            return f"expected {wanted['code']}, got {brief(result['element'])}"
        if not wanted:
            return f"got {got['code']}: {got['message'][:300]}"
        return None if wanted["code"] == got["code"] else f"expected {wanted['code']}, got {got['code']}: {got['message'][:200]}"
    wanted, got = dict(recorded_leaves(want["out"], "")), result["element"]
    if set(wanted) != set(got):
        return f"expected the fields {sorted(wanted)}, got {sorted(got)}"
    for path, tensor in wanted.items():
        bad = compare_tensor(tensor, got[path], want.get("tol"), root)
        if bad:
            return f"{path}: {bad}" if path else bad
    return None


def composite(out):
    """Ragged or sparse; a field of such a name is none."""
    return out.get("ragged") is True or out.get("sparse") is True


def recorded_leaves(out, path):
    """The tensors of a recorded `out`: one, a list, or a dict of them."""
    if isinstance(out, list):
        for i, value in enumerate(out):
            yield from recorded_leaves(value, f"{path}/{i}" if path else str(i))
    elif isinstance(out, dict) and not ("dtype" in out or composite(out)):
        for key, value in out.items():
            yield from recorded_leaves(value, f"{path}/{key}" if path else key)
    else:
        yield path, out


def compare_tensor(want, got, tol, root):
    import check
    if not isinstance(want, dict):
        return f"a plain {type(want).__name__} is recorded: the map needs a judge of its own"
    if composite(want):
        return compare_composite(want, got, tol, root)
    if isinstance(got, dict):
        return f"expected a dense tensor, got {brief(got)}"
    wanted = check.decode(want, root)
    if wanted.dtype.kind == "c" and got.dtype.kind == "f" and got.shape == wanted.shape + (2,):
        got = np.ascontiguousarray(got).view(wanted.dtype)[..., 0]
    if wanted.dtype != got.dtype or wanted.shape != got.shape:
        return f"expected {wanted.dtype}{list(wanted.shape)}, got {got.dtype}{list(got.shape)} {brief(got)}"
    return None if check.same(wanted, got, tol) else difference(wanted, got)


def difference(want, got):
    where = np.flatnonzero((want != got) & ~((want != want) & (got != got)))
    at = "".join(f"\n     [{i}] expected {want.flat[i]!r}, got {got.flat[i]!r}" for i in where[:4])
    return f"{len(where)} of {want.size} entries differ{at}"


def compare_composite(want, got, tol, root):
    if not isinstance(got, dict):
        return f"expected a {'ragged' if want.get('ragged') else 'sparse'} tensor, got {brief(got)}"
    if want.get("sparse"):
        sparse = got.get("sparse", {})
        for key, name in (("indices", "int64"), ("values", got["dtype"]), ("dense_shape", "int64")):
            part = with_dtype(want[key], want)
            bad = compare_tensor(part, sparse_part(part, sparse.get(key), name), tol, root)
            if bad:
                return f"{key}: {bad}"
        return None
    want_rows, dtype = ragged_rows(want, root)
    if np.dtype(numpy_dtype(got["dtype"])) != dtype:
        return f"expected ragged {dtype}, got {got['dtype']}"
    return same_rows(want_rows, got.get("ragged"), tol)


def with_dtype(part, sparse):
    """Indices and shapes stand as plain lists: as int64 tensors."""
    if isinstance(part, dict):
        return part
    rank = len(sparse["dense_shape"])
    flat = [x for row in part for x in row] if part and isinstance(part[0], list) else part
    is_shape = part is sparse["dense_shape"]
    return {"dtype": "int64", "shape": [rank] if is_shape else [len(part), rank], "data": flat}


def sparse_part(want, value, dtype):
    array = to_array(value, {"dtype": dtype})
    return array.reshape(want["shape"]) if array.size == 0 else array


def ragged_rows(want, root):
    import check
    splits = want["row_splits"]["data"] if isinstance(want["row_splits"], dict) else want["row_splits"]
    if want["values"].get("ragged"):
        items, dtype = ragged_rows(want["values"], root)
    else:
        items = check.decode(want["values"], root)
        dtype = items.dtype
    return [items[a:b] for a, b in zip(splits, splits[1:])], dtype


def same_rows(want, got, tol):
    import check
    if isinstance(want, list):
        if not isinstance(got, list) or len(want) != len(got):
            return f"expected {len(want)} rows, got {brief(got)}"
        return next((bad for bad in map(same_rows, want, got, [tol] * len(want)) if bad), None)
    array = strings(got) if want.dtype == object else np.array(got).astype(want.dtype)
    if array.size == 0 and want.size == 0:
        return None
    return None if check.same(want, array, tol) else f"expected {brief(want)}, got {brief(array)}"


def brief(value):
    return str(value).replace("\n", " ")[:200]
