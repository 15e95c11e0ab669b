#!/usr/bin/env python3
"""Runs every kind of test over programs that are built, and sums them in one closing line.

run_all.py [--all] [--slice K/N] [FILTER]

Over build/dev (sanitizers, assertions): include direction, setup, unit tests, text tests, tf.data's answers,
examples in the docs, pipelines of examples/, schemas of --json, help, the cluster rig, bad input, runs that are killed and taken up, benches
in tiny mode, the program outside the checkout that links the library.
--slice adds the K-th of N parts of the text tests under every other configuration.
--all adds the text tests under every configuration, unit and text tests under the thread sanitizer
(build/tsan), and text tests, tf.data's answers and bad input with the release build.
FILTER keeps the tests whose names contain it. Closing line: N passed, N failed.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

from program import ENV

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAST = re.compile(r"(\d+) passed, (\d+) failed")


def counts(output, status):
    """What a part's output says: doctest's summary, a closing line, or else one test by its exit status."""
    m = re.search(r"test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed", output)
    if not m:
        lines = output.rstrip().split("\n")
        m = LAST.fullmatch(lines[-1].strip())
    passed, failed = (int(m[1]), int(m[2])) if m else (int(status == 0), 0)
    return passed, max(failed, int(status != 0))


def run(name, command, limit=1200, env=None):
    """Runs a part, shows what it prints; -> passed, failed."""
    print(f"{name}:", flush=True)
    began = time.monotonic()
    output = []
    p = subprocess.Popen(["timeout", "--kill-after=10", str(limit), *map(str, command)], cwd=ROOT, text=True,
                         errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         env={**os.environ, **ENV, **(env or {})})
    for line in p.stdout:
        output.append(line)
        if not LAST.fullmatch(line.strip()):
            print("  " + line, end="", flush=True)
    status = p.wait()
    if status == 124:
        print(f"  no end within {limit} s")
    passed, failed = counts("".join(output), status)
    print(f"  {passed} passed, {failed} failed in {time.monotonic() - began:.0f} s", flush=True)
    return passed, failed


def unit(build, wanted):
    """Unit tests; -s would show each, so only failures are shown."""
    filters = [f"--test-case=*{wanted}*"] if wanted else []
    return [ROOT / build / "penstock_tests", "--no-colors", "--no-intro", *filters]


def parts(a):
    """-> (name, command, seconds) of each part; a filter leaves out what has no single tests."""
    tests, python = ROOT / "tests", sys.executable
    program = ROOT / "build/dev/penstock"
    filters = [a.filter] if a.filter else []
    text = [python, tests / "run.py", *filters, "--program"]
    golden = [python, tests / "golden/run.py"]
    if not a.filter:
        yield "includes", [python, ROOT / "tools/check_includes.py"], 60
    yield "setup", [python, tests / "setup_script.py", *filters], 60
    yield "unit tests", unit("build/dev", a.filter), 900
    yield "text tests", [*text, program], 1200
    yield "tf.data's answers", [*golden, program, *filters], 900
    yield "examples in the docs", [python, tests / "docs.py", *filters, "--program", program], 300
    if not a.filter:
        yield "reference pages", [python, ROOT / "tools/reference.py", "--check", "--program", program], 60
    yield "schemas of --json", [python, tests / "schemas.py", *filters, "--program", program], 300
    yield "help", [python, tests / "help.py", *filters, "--program", program], 300
    yield "pipelines of examples/", [python, tests / "examples.py", *filters, "--program", program], 900
    yield "cluster rig", [python, tests / "rig.py", ROOT / "build/dev", *filters], 300
    yield "bad input", [python, tests / "bad_input.py", *filters, "--program", program], 900
    if not a.filter:
        yield "kills and checkpoints", [python, tests / "checkpoint.py", program], 600
        yield "other numbers of ranks", [python, tests / "ranks.py", program], 600
        yield "benches, tiny", [python, ROOT / "bench/run.py", "--tiny", "--build", ROOT / "build/dev"], 600
        if (tests / "outside/run.sh").exists():
            yield "program outside", [tests / "outside/run.sh"], 900
    if a.slice:
        yield f"configurations, part {a.slice}", [*text, program, "--config", "slice:" + a.slice], 900
    if a.all:
        yield "configurations", [*text, program, "--config", "all"], 7200
        # The cluster room runs on one thread, and Debian's libprotobuf, built without the sanitizer, fails in it.
        yield "unit tests, thread sanitizer", [*unit("build/tsan", a.filter), "--source-file-exclude=*src/cluster*"], 1800
        yield "text tests, thread sanitizer", [*text, ROOT / "build/tsan/penstock"], 3600
        yield "text tests, release", [*text, ROOT / "build/release/penstock"], 1200
        release = ROOT / "build/release/penstock"
        yield "tf.data's answers, release", [*golden, release, *filters], 900
        yield "bad input, release", [python, tests / "bad_input.py", *filters, "--program", release], 300


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("filter", nargs="?", default="")
    ap.add_argument("--all", action="store_true")
    ap.add_argument("--slice", metavar="K/N")
    a = ap.parse_args()
    passed = failed = 0
    broken = []
    for name, command, limit in parts(a):
        p, f = run(name, command, limit)
        passed, failed = passed + p, failed + f
        broken += [name] if f else []
    if broken:
        print("failed: " + ", ".join(broken))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
