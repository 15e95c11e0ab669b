#!/usr/bin/env python3
"""Runs the bench programs and shows their measurements.

run.py [--build DIR] [--tiny] [--repeat N] [--json F] [--peers] [NAME ...]

A bench program is bench/NAME.cc, built as DIR/bench_NAME, or bench/NAME.py, which runs DIR/penstock. It makes its own data, prints one JSON
object, and with --tiny takes at most a second (a smoke test, not a measurement). Its "text" is shown unchanged.
The table shows the median and the spread of each number over the repetitions. --peers runs peers.py and python.py, or
the one that is named, with the peers, which it installs. Closing line: N passed, N failed.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WITH_PEERS = ["peers", "python"]
ENV = {**os.environ, "ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "print_stacktrace=1"}


def command_of(name, build):
    script = ROOT / "bench" / f"{name}.py"
    return [sys.executable, script, "--program", f"{build}/penstock"] if script.exists() else [f"{build}/bench_{name}"]


def run(command, tiny, peers=False):
    command = [*command, *(["--tiny"] if tiny else []), *(["--peers"] if peers else [])]
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=3000 if tiny else 36000, env=ENV)
    if p.returncode:
        raise ValueError(f"exit {p.returncode}: {p.stderr[-2000:]}")
    result = json.loads(p.stdout)
    if not isinstance(result, dict):
        raise ValueError("prints no JSON object")
    return result


def flat(result, prefix=""):
    """Numbers and words by dotted name; only the JSON has lists."""
    out = {}
    for key, value in result.items():
        if isinstance(value, list):
            continue
        if isinstance(value, dict):
            out.update(flat(value, f"{prefix}{key}."))
        else:
            out[prefix + key] = value
    return out


def show(value):
    return f"{value:,.4g}" if isinstance(value, float) and abs(value) < 1e4 else \
        f"{value:,.0f}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("names", nargs="*")
    ap.add_argument("--build", default=str(ROOT / "build/release"))
    ap.add_argument("--tiny", action="store_true")
    ap.add_argument("--repeat", type=int, default=1)
    ap.add_argument("--json", metavar="F")
    ap.add_argument("--peers", action="store_true")
    a = ap.parse_args()
    there = sorted(f.stem for f in (ROOT / "bench").iterdir() if f.suffix in (".cc", ".py") and f.stem != "run")
    if a.peers:
        a.names = a.names or WITH_PEERS
    names = [n for n in there if (n in a.names if a.names else n != "peers")]
    unknown = set(a.names) - set(there)
    if unknown:
        raise SystemExit(f"no bench {', '.join(sorted(unknown))}; there are: {', '.join(there)}")

    results, failed = {}, 0
    for name in names:
        try:
            runs = [run(command_of(name, a.build), a.tiny, a.peers and name == "python") for _ in range(a.repeat)]
        except (OSError, ValueError, subprocess.TimeoutExpired) as e:
            failed += 1
            print(f"FAIL {name}: {e}", flush=True)
            continue
        results[name] = runs[0] if a.repeat == 1 else runs
        print(name)
        text = [r.pop("text") for r in runs if "text" in r]
        for key, value in flat(runs[0]).items():
            values = [flat(r).get(key) for r in runs]
            if a.repeat > 1 and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values):
                print(f"  {key:40} {show(statistics.median(values)):>14}   "
                      f"{show(min(values))} .. {show(max(values))}")
            else:
                print(f"  {key:40} {show(value):>14}")
        if text:
            print("\n" + text[0] + "\n")
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"{len(results)} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
