#!/usr/bin/env python3
"""Runs every pipeline of examples/ on a little data that synth makes.

examples.py [--program P] [FILTER]

Each shows an element, and gives the same digest with one thread, with two and without the optimizer.
examples/README.md must name each. Closing line: N passed, N failed.
"""
import argparse
import json
import os
import sys
import tempfile

import example_data
from program import ENV, TooLong, execute

STEPS = "2"
CPU_LIMIT_S = 1200  # the longest takes 110 with sanitizers
WAYS = [["--threads", "1"], ["--threads", "2"], ["--threads", "2", "--no-optimize"]]


def call(program, folder, *words):
    env = {**os.environ, **ENV}
    try:
        status, out, err = execute([program, *words], "", folder, env, CPU_LIMIT_S)
    except TooLong as e:
        return "", str(e)
    return out, f"exit {status}: {(err.strip() or out)[-600:]}" if status else ""


def digest_of(program, folder, words):
    out, bad = call(program, folder, "run", *words, "--digest", "--steps", STEPS, "--json")
    if bad:
        return None, bad
    result = json.loads(out)
    return (result["digest"], result["elements"]), ""


def check(program, folder, name):
    words = [str(example_data.FOLDER / f"{name}.pipe"), *example_data.params(example_data.SMALL_PARAMS.get(name, []))]
    _, bad = call(program, folder, "show", *words, "--limit", "1", "--jsonl")
    if bad:
        return f"show: {bad}"
    first = None
    for way in WAYS:
        digest, bad = digest_of(program, folder, [*words, *way])
        if bad:
            return f"run {' '.join(way)}: {bad}"
        if digest[1] == 0:
            return f"run {' '.join(way)}: no element"
        if first and digest != first:
            return f"run {' '.join(way)}: {digest} differs from {first}"
        first = first or digest
    readme = (example_data.FOLDER / "README.md").read_text(encoding="utf-8")
    return "" if f"[{name}.pipe]({name}.pipe)" in readme else "examples/README.md does not list it"


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("filter", nargs="?", default="")
    ap.add_argument("--program", default=str(example_data.ROOT / "build/dev/penstock"))
    a = ap.parse_args()
    program = os.path.abspath(a.program)
    names = [n for n in example_data.pipelines() if a.filter in f"examples: {n}"]
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="penstock-examples-") as folder:
        example_data.make_data(program, names, folder, example_data.SMALL, {**os.environ, **ENV})
        for name in names:
            bad = check(program, folder, name)
            passed, failed = passed + (not bad), failed + bool(bad)
            if bad:
                print(f"FAIL {name}: {bad}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
