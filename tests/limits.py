#!/usr/bin/env python3
"""Checks the limits of the test runners: a hang ends a call, long work does not.

limits.py [FILTER]
Closing line: N passed, N failed.
"""
import sys

from program import TooLong, execute

SPIN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\nprint('done')"


def outcome(*command, **limits):
    try:
        return execute(list(command), **limits)[1].strip()
    except TooLong as e:
        return str(e)


CASES = {
    "a call that waits for ever": lambda: outcome("sleep", "1000", idle_limit=1) == "no end, and no work for 1 s",
    "a child that waits for ever": lambda: "no work" in outcome("bash", "-c", "sleep 1000 & wait", idle_limit=1),
    "a call that computes for ever":
        lambda: outcome(sys.executable, "-c", SPIN.format(1000), cpu_limit=1) == "no end within 1 s of CPU time",
    "work that takes longer than the idle limit":
        lambda: outcome(sys.executable, "-c", SPIN.format(1.5), idle_limit=0.5) == "done",
    "output and input of a call that is asked twice":
        lambda: execute([sys.executable, "-c", SPIN.format(1) + "; print(input())"], "text", idle_limit=0.4)[1] == "done\ntext\n",
}


def main():
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    results = {name: case() for name, case in CASES.items() if wanted in f"limits: {name}"}
    for name, right in results.items():
        if not right:
            print(f"FAIL {name}")
    print(f"{sum(results.values())} passed, {len(results) - sum(results.values())} failed")
    sys.exit(0 if all(results.values()) else 1)


if __name__ == "__main__":
    main()
