#!/usr/bin/env python3
"""Kills runs again and again, and checks that they end as if nothing had happened (killed_runs.py).

checkpoint.py PROGRAM [--kills N] [--seed S]

Closing line: N passed, N failed.
"""
import argparse
import os
import pathlib
import random
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent))
import killed_runs  # noqa: E402
from program import ENV  # noqa: E402

NAMES = ["records", "flat_map", "states"]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("program")
    ap.add_argument("--kills", type=int, default=50)
    ap.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    a = ap.parse_args()
    program = os.path.abspath(a.program)
    os.environ.update(ENV)
    rng = random.Random(a.seed)
    print(f"seed {a.seed}")
    passed = failed = 0
    with tempfile.TemporaryDirectory() as d:
        killed_runs.make_data(program, d)
        for name in NAMES:
            try:
                out = killed_runs.kill_again_and_again(program, name, d, a.kills // len(NAMES), rng)
                ok = out["same_digest"] and not out["elements_lost"] and not out["elements_twice"]
                print(f"{'' if ok else 'FAIL '}{name}: {out}")
            except AssertionError as e:
                ok = False
                print(f"FAIL {name}: {e}")
            passed += ok
            failed += not ok
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
