#!/usr/bin/env python3
"""Runs every kind of test over programs that are built, and sums them in one closing line.

run_all.py [--all] [--slice K/N] [FILTER]

Over build/dev (sanitizers, assertions): include direction, setup, limits of tests, optional packages, unit tests, examples in the docs, pipelines of
examples/, schemas of --json, help, what a terminal shows, bad input, runs that are killed and taken up, the Python package, the programs outside the checkout that
link the library, each on one thread and two at a time; then text tests, tf.data's answers, the cluster rig, benches in
tiny mode, alone.
--slice adds the K-th of N parts of the text tests under every other configuration.
--all adds the text tests under every configuration, unit and text tests under the thread sanitizer
(build/tsan), and text tests, tf.data's answers, bad input and the programs outside with the release build.
FILTER keeps the tests whose names contain it. Closing line: N passed, N failed.
"""
import argparse
import concurrent.futures
import dataclasses
import itertools
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


def run(part):
    """-> passed, failed, seconds, and what to show of a part."""
    began = time.monotonic()
    done = subprocess.run(["timeout", "--kill-after=10", str(part.limit), *map(str, part.command)], cwd=ROOT, text=True,
                          errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **ENV})
    passed, failed = counts(done.stdout, done.returncode)
    shown = [f"{part.name}:"] + ["  " + line for line in done.stdout.splitlines() if not LAST.fullmatch(line.strip())]
    if done.returncode == 124:
        shown.append(f"  no end within {part.limit} s")
    seconds = time.monotonic() - began
    shown.append(f"  {passed} passed, {failed} failed in {seconds:.0f} s")
    return passed, failed, seconds, "\n".join(shown)


def run_all(parts):
    """Runs them in their order, neighbours of one thread two at a time; -> passed, failed, names of what failed."""
    passed = failed = 0
    broken, times = [], []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for threads, group in itertools.groupby(parts, key=lambda part: part.threads):
            group = list(group)
            results = pool.map(run, group) if threads == 1 else map(run, group)
            for part, (p, f, seconds, shown) in zip(group, results):
                print(shown, flush=True)
                passed, failed = passed + p, failed + f
                broken += [part.name] if f else []
                times.append((seconds, part.name))
    print("seconds of each part: " + ", ".join(f"{name} {seconds:.0f}" for seconds, name in sorted(times, reverse=True)))
    return passed, failed, broken


def unit(build, wanted):
    """Unit tests; -s would show each, so only failures are shown."""
    filters = [f"--test-case=*{wanted}*"] if wanted else []
    return [ROOT / build / "penstock_tests", "--no-colors", "--no-intro", *filters]


@dataclasses.dataclass
class Part:
    name: str
    command: list
    limit: int  # seconds, against hangs: some ten times what it takes beside nothing else
    threads: int = 1  # 2: it keeps both cores busy, or must be alone


def parts(a):
    """A filter leaves out what has no single tests."""
    tests, python = ROOT / "tests", sys.executable
    program = ROOT / "build/dev/penstock"
    filters = [a.filter] if a.filter else []
    text = [python, tests / "run.py", *filters, "--program"]
    golden = [python, tests / "golden/run.py"]

    def script(name, *rest):
        return [python, tests / name, *filters, *rest]

    if not a.filter:
        yield Part("includes", [python, ROOT / "tools/check_includes.py"], 600)
    yield Part("setup", script("setup_script.py"), 600)
    yield Part("limits of tests", script("limits.py"), 600)
    yield Part("optional packages", script("optional_packages.py"), 600)
    yield Part("unit tests", unit("build/dev", a.filter), 3000)
    yield Part("examples in the docs", script("docs.py", "--program", program), 3000)
    if not a.filter:
        yield Part("reference pages", [python, ROOT / "tools/reference.py", "--check", "--program", program], 3000)
    yield Part("pipelines of examples/", script("examples.py", "--program", program), 3600)
    yield Part("schemas of --json", script("schemas.py", "--program", program), 3000)
    yield Part("help", script("help.py", "--program", program), 3000)
    yield Part("terminal", script("terminal.py", "--program", program), 600)
    yield Part("running jobs", script("attach.py", "--program", program), 600)
    yield Part("bad input", script("bad_input.py", "--program", program), 3600)
    yield Part("monstrous sizes", script("monstrous_sizes.py", "--program", program), 3000, 2)
    if not a.filter:
        yield Part("kills and checkpoints", [python, tests / "checkpoint.py", program], 3000)
        yield Part("other numbers of ranks", [python, tests / "ranks.py", program], 3000)
        if (tests / "outside/run.sh").exists():
            yield Part("programs outside", [tests / "outside/run.sh"], 1800)
    yield Part("Python package", script("python.py"), 1800, 2)
    yield Part("text tests", [*text, program], 3600, 2)
    yield Part("tf.data's answers", [*golden, program, *filters], 3600, 2)
    yield Part("cluster rig", [python, tests / "rig.py", ROOT / "build/dev", *filters], 1200, 2)
    if not a.filter:
        yield Part("benches, tiny", [python, ROOT / "bench/run.py", "--tiny", "--build", ROOT / "build/dev"], 3000, 2)
    if a.slice:
        yield Part(f"configurations, part {a.slice}", [*text, program, "--config", "slice:" + a.slice], 3600, 2)
    if a.all:
        yield Part("configurations", [*text, program, "--config", "all"], 28800, 2)
        # The cluster room runs on one thread, and Debian's libprotobuf, built without the sanitizer, fails in it.
        yield Part("unit tests, thread sanitizer", [*unit("build/tsan", a.filter), "--source-file-exclude=*src/cluster*"], 7200)
        yield Part("text tests, thread sanitizer", [*text, ROOT / "build/tsan/penstock"], 14400, 2)
        release = ROOT / "build/release/penstock"
        yield Part("text tests, release", [*text, release], 3600, 2)
        yield Part("programs outside, release", [tests / "outside/run.sh", "release"], 1800)
        yield Part("tf.data's answers, release", [*golden, release, *filters], 3600, 2)
        yield Part("bad input, release", script("bad_input.py", "--program", release), 3000)
        yield Part("monstrous sizes, release", script("monstrous_sizes.py", "--program", release), 3000, 2)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("filter", nargs="?", default="")
    ap.add_argument("--all", action="store_true")
    ap.add_argument("--slice", metavar="K/N")
    a = ap.parse_args()
    passed, failed, broken = run_all(parts(a))
    if broken:
        print("failed: " + ", ".join(broken))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
