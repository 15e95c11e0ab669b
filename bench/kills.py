#!/usr/bin/env python3
"""A thousand random SIGKILLs of `penstock run --checkpoint --resume`.

kills.py --program PROGRAM [--tiny] [--kills N] [--seed S]

The pipelines of tests/killed_runs.py in turn. Prints one JSON object: kills, starts that found a checkpoint,
elements lost and delivered twice (0), and whether every final digest is that of an undisturbed run. Exit status 1
if not.
"""
import argparse
import json
import os
import pathlib
import random
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
import killed_runs  # noqa: E402


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--program", required=True)
    ap.add_argument("--tiny", action="store_true")
    ap.add_argument("--kills", type=int)
    ap.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    a = ap.parse_args()
    program = os.path.abspath(a.program)
    left = a.kills or (5 if a.tiny else 1000)
    rng = random.Random(a.seed)
    print(f"seed {a.seed}", file=sys.stderr, flush=True)
    names = list(killed_runs.PIPELINES)[:left]
    start = time.monotonic()
    each, failed = {}, []
    with tempfile.TemporaryDirectory() as d:
        killed_runs.make_data(program, d)
        for i, name in enumerate(names):
            n = left // (len(names) - i)
            left -= n
            try:
                each[name] = killed_runs.kill_again_and_again(program, name, d, n, rng)
            except AssertionError as e:
                failed.append(f"{name}: {e}")
                continue
            print(f"{name} {each[name]}", file=sys.stderr, flush=True)
    total = {key: sum(e[key] for e in each.values())
             for key in ("kills", "starts", "resumes", "elements", "elements_lost", "elements_twice")}
    wrong = failed + [f"{name}: another digest" for name, e in each.items() if not e["same_digest"]]
    print(json.dumps({"seed": a.seed, "pipelines": len(each), **total, "digests_the_same": not wrong,
                      "largest_checkpoint_bytes": max((e["checkpoint_bytes"] for e in each.values()), default=0),
                      "seconds": time.monotonic() - start, "wrong": wrong}))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
