"""Calling the program under test: shared by the test runners."""
import json
import os
import signal
import subprocess

TIMEOUT = 60  # seconds a call may take: a hang is a failure
# A sanitizer's report has an exit status of its own.
ENV = {"ASAN_OPTIONS": "exitcode=99:detect_stack_use_after_return=0", "TSAN_OPTIONS": "exitcode=99",
       "UBSAN_OPTIONS": "print_stacktrace=1"}


class TooLong(Exception):
    """The program did not end in time."""


def execute(command, text="", cwd=None, env=None, timeout=TIMEOUT):
    """Runs the program -> exit status, stdout, stderr. Ends the whole process group when it takes too long."""
    p = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = p.communicate(text.encode(), timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        p.communicate()
        raise TooLong(f"no end within {timeout} s") from None
    return p.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


def names_in(value):
    """Every "name" in a JSON document, and every string of its lists."""
    if isinstance(value, dict):
        found = {value["name"]} if isinstance(value.get("name"), str) else set()
        return found.union(*map(names_in, value.values()))
    if isinstance(value, list):
        return {v for v in value if isinstance(v, str)}.union(*map(names_in, value))
    return set()


def known_ops(program):
    p = subprocess.run([program, "ops", "--json"], stdout=subprocess.PIPE, text=True, timeout=TIMEOUT,
                       env={**os.environ, **ENV})
    if p.returncode:
        raise SystemExit(f"{program} ops --json: exit {p.returncode}")
    return names_in(json.loads(p.stdout))
