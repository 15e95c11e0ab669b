#!/usr/bin/env python3
"""Judges the function ops by what other libraries answered.

functions.py PROGRAM [DIR] [--only SUBSTRING] [--family NAME] [-v]

DIR holds records as functions/README.md describes them (default: functions/ beside this script). Each becomes
a pipeline of one element: functions_map/FAMILY.py says which expression of our language an op is, a record's
inputs are the element, and what the program gives is compared within the record's tolerance.

A record counts as skipped when its op is not covered, or when functions_differences.txt gives the reason why
we differ. Where a map's OWN says what we answer instead, that is what is compared, and it counts as passed;
it needs a reason in the differences as well. Printed: the failures, a line per op, and
N passed, N failed, N skipped. Needs numpy.
"""
import argparse
import collections
import concurrent.futures
import importlib
import os
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from functions_case import Case, Plan  # noqa: E402
from functions_result import Refused, compare, show, wrong_error  # noqa: E402
from program import ENV  # noqa: E402

# Which map knows the ops of FILE.jsonl.
FAMILIES = {"math": "math", "parse": "parse", "image": "image", "text": "text", "tokenize": "tokenize",
            "audio": "audio", "audio_librosa": "audio", "random": "random", "chains": "chains"}
NOT_COVERED, ON_PURPOSE = "not covered", "on purpose"
# Errors that say what the other library lacks, not what is wrong: `lacking` in the differences.
LACKING = re.compile("not in the list of allowed values|Could not find device|No WhereOp available|not supported yet|"
                     "must be 0, 3 or 4 for BMP|can run on JPEG only|WebP only supports uint8|"
                     "channels requested does not match input|Cannot convert . to EagerTensor|"
                     "Invalid `key_dtype`, expected one of|data type is not supported|Can only read 16-bit WAV|"
                     r"inner 3 dims of 'image.shape' must be > 0|Expected 16 or 18, but got40|Expected 1 \(PCM\), but got3")


def expected(case, family, reasons):
    """What is to come: the record, or our own answer where the family's OWN gives one."""
    own = getattr(family, "OWN", {}).get(case.op)
    answer = own(case) if own else None
    if answer is None:
        return case.record
    if not reasons:
        raise ValueError("OWN differs from the record, but functions_differences.txt gives no reason")
    return {"tol": case.record.get("tol"), **answer}


def judge(program, case, family, reasons):
    """-> None when it agrees, NOT_COVERED, ON_PURPOSE, or what differs."""
    make = family.MAP.get(f"{case.file}.{case.op}") or family.MAP.get(case.op)
    plan = make(case) if make else None
    if plan is None:
        return NOT_COVERED
    plan = plan if isinstance(plan, Plan) else Plan(plan)
    text = plan.text if plan.whole else case.pipeline(plan.text)
    want = expected(case, family, reasons)
    try:
        results = show(program, text, case.folder)
    except Refused as refusal:
        bad = wrong_error(want, refusal)
    else:
        if plan.judge:
            bad = plan.judge(case, results)
        elif len(results) != 1:
            bad = f"expected one result, got {len(results)}"
        else:
            bad = compare(want, results[0], case.root)
    if bad and "error" in case.record and LACKING.search(case.record["error"]["message"]):
        return ON_PURPOSE
    if case.id in reasons:
        return ON_PURPOSE if bad else "listed as a difference, but agrees"
    return bad and f"{bad}\n     {text[:600]}"


def reasons_for(case, differences):
    return {name for name in (case.id, f"{case.file}.{case.op}") if differences.get(name)}


def read_differences(path):
    lines = [x.strip() for x in path.read_text(encoding="utf-8").splitlines()]
    pairs = [x.partition(":")[::2] for x in lines if x and not x.startswith("#")]
    return {name.strip(): why.strip() for name, why in pairs}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("program")
    ap.add_argument("folder", nargs="?", default=str(HERE / "functions"))
    ap.add_argument("--only", default="", help="records whose id has this in it")
    ap.add_argument("--family", default="", help="records of this file or family")
    ap.add_argument("-v", action="store_true", help="also name what is not covered")
    a = ap.parse_args()
    os.environ.update(ENV)
    program, root = os.path.abspath(a.program), pathlib.Path(a.folder).resolve()
    sys.path.insert(0, str(root if (root / "check.py").exists() else HERE / "functions"))
    differences = read_differences(HERE / "functions_differences.txt")
    count = collections.defaultdict(collections.Counter)

    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        cases = []
        for path in sorted(root.glob("*.jsonl")):
            name = FAMILIES.get(path.stem, path.stem)
            if a.family in ("", path.stem, name):
                cases += [(c, name) for c in Case.read(path, folder) if a.only in c.id]
        if not cases:
            raise SystemExit(f"functions.py: no records in {root}")
        maps = {name: importlib.import_module(f"functions_map.{name}") for _, name in cases}

        def result(item):
            case, name = item
            try:
                return judge(program, case, maps[name], reasons_for(case, differences))
            except Exception as e:  # whatever the program printed, the judge goes on
                return f"{type(e).__name__}: {e}"

        for (case, _), bad in zip(cases, pool.map(result, cases)):
            kind = bad if bad in (NOT_COVERED, ON_PURPOSE) else "failed" if bad else "passed"
            count[f"{case.file}.{case.op}"][kind] += 1
            if kind == "failed" or (a.v and kind == NOT_COVERED):
                print(f"{'FAIL' if kind == 'failed' else 'none'} {case.id}\n     {bad}", flush=True)

    total = sum(count.values(), collections.Counter())
    for op, c in count.items():
        purpose = f" {c[ON_PURPOSE]:4} on purpose" if c[ON_PURPOSE] else ""
        print(f"{op:44} {c['passed']:4} passed {c['failed']:4} failed {c[NOT_COVERED]:4} not covered{purpose}")
    print(f"{total['passed']} passed, {total['failed']} failed, {total[NOT_COVERED] + total[ON_PURPOSE]} skipped")
    sys.exit(1 if total["failed"] else 0)


if __name__ == "__main__":
    main()
