#!/usr/bin/env python3
"""Judges the program by tf.data's recorded answers, as far as it has the operators.

run.py PROGRAM [FILTER]

Judged are the records of the operators in operators.txt. One that calls a dataset operator or op that
`PROGRAM ops --json` does not list is left out and counted, unless the name is in operators.txt itself:
those must be there. How a record is judged: check.py. Closing line: N passed, N failed.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import check  # noqa: E402
from program import ENV, execute, known_ops  # noqa: E402

# Called in pipelines, but no operators: casts and the spellings of dtypes.
DTYPES = set("""bool u8 u16 u32 u64 i8 i16 i32 i64 f16 bf16 f32 f64 bytes uint8 uint16 uint32 uint64 int8
int16 int32 int64 float16 bfloat16 float32 float64 string feature INPUT
if then else and or not let in param""".split())


def called(text):
    """The names that a pipeline calls."""
    text = re.sub(r'b?"(\\.|[^"\\])*"', '""', text)
    text = re.sub(r"#[^\n]*", "", text)
    bound = set(re.findall(r"\blet\s+(\w+)", text)) | set(re.findall(r"\b(\w+)\s*->", text))
    return set(re.findall(r"(?<![.\w])([A-Za-z_]\w*)\s*\(", text)) - bound - DTYPES


def lines_of(path):
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.strip() and not line.startswith("#"):
            yield line.strip()


def judge_checkpoint(program, record):
    """Saved and taken up after every so many elements, a stream is what it is undisturbed."""
    if "from_generator" in record["pipe"]:
        return "skip"  # a callable of Python; src/api tests ours

    def shown(*flags):
        return execute([program, "show", "-", *flags], record["pipe"], HERE / "tfdata", os.environ)

    whole = shown()
    if whole[0] != 0:
        return whole[2]
    for every in sorted({1, *record["breaks"]} - {0}):
        if (taken_up := shown("--checkpoint-every", str(every))) != whole:
            return f"taken up after every {every}: {taken_up[1]}{taken_up[2]}"
    return None


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    program, wanted = os.path.abspath(sys.argv[1]), (sys.argv[2:] or [""])[0]
    os.environ.update(ENV)
    operators = list(lines_of(HERE / "operators.txt"))
    known = known_ops(program) | set(operators)
    meant = dict(line.partition(":")[::2] for line in lines_of(HERE / "differences.txt"))
    records, missing = [], {}
    every_id = set()
    for operator in operators:
        for line in (HERE / "tfdata" / f"{operator}.jsonl").read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            every_id.add(record["id"])
            if wanted not in f"golden {record['id']}":
                continue
            unknown = called(record["pipe"]) - known if record.get("kind") != "facts" else set()
            if unknown:
                missing[record["id"]] = unknown
            else:
                records.append(record)

    def judge(record):
        try:
            if record.get("kind") == "checkpoint":
                return judge_checkpoint(program, record)
            bad = check.judge(program, record, str(HERE / "tfdata"))
        except Exception as e:  # whatever the program printed, the judge goes on
            bad = f"{type(e).__name__}: {e}"
        if record["id"] not in meant or bad == "skip":
            return bad
        if not meant[record["id"]].strip():
            return "listed as a difference without a reason"
        return "on purpose" if bad else "listed as a difference, but agrees"

    count = {"passed": 0, "failed": 0, "skip": 0, "on purpose": 0}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for record, bad in zip(records, pool.map(judge, records)):
            result = bad if bad in ("skip", "on purpose") else "failed" if bad else "passed"
            count[result] += 1
            if result == "failed":
                print(f"FAIL {record['id']}\n     {record['pipe']}\n     {bad}", flush=True)
    for ident in sorted(set(meant) - every_id):
        if not wanted:
            count["failed"] += 1
            print(f"FAIL {ident}: listed as a difference, but there is no such record")
    print(f"{count['on purpose']} differ on purpose, {count['skip']} not judged, "
          f"{len(missing)} left out because the program has not: "
          f"{', '.join(sorted(set().union(*missing.values()))) or 'nothing'}")
    print(f"{count['passed']} passed, {count['failed']} failed")
    sys.exit(1 if count["failed"] else 0)


if __name__ == "__main__":
    main()
