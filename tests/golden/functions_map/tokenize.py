"""Tokenisers: recorded op -> an expression over the inputs' names."""
import json

from functions_case import Plan


def model(case):
    form = "bpe" if case.op.startswith("bytelevel") else "sentencepiece"
    return f"{form}({json.dumps(case.path(case.attrs['model']))})"


def same_ids(case, results):
    if "error" in results[0]:
        return f"got {results[0]['error']}"
    (got,) = results[0]["element"].values()
    want = case.record["out"]["ids"]
    return None if got.dtype == "int32" and [int(x) for x in got] == want else f"expected {want}, got {got}"


def encode(case):
    options = "".join(f", {ours}=true" for ours, theirs in (("bos", "add_bos"), ("eos", "add_eos"), ("reverse",) * 2)
                      if case.attrs.get(theirs))
    return Plan(f"encode({model(case)}, text{options})", judge=same_ids)


def decode(case):
    ids = f"int32({case.inputs['ids']})" if case.inputs["ids"] else "zeros([0], dtype=int32)"
    return Plan(f"range(1) | map(_ -> decode({model(case)}, {ids}))", whole=True)


def info(case):
    names = ", ".join(f'{k}: special_id({model(case)}, "{k}")' for k in ("unk", "bos", "eos", "pad"))
    return Plan(f"range(1) | map(_ -> {{vocab_size: model_size({model(case)}), {names}}})", whole=True, judge=same_info)


def same_info(case, results):
    got = {k: int(v) for k, v in results[0]["element"].items()}
    return None if got == case.record["out"] else f"expected {case.record['out']}, got {got}"


MAP = {"sentencepiece_encode": encode, "sentencepiece_decode": decode, "sentencepiece_info": info,
       "bytelevel_bpe_encode": encode, "bytelevel_bpe_decode": decode}
OWN = {}
