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
    """The names of the outermost objects that have one; lists of plain strings are names, too."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        return {value["name"]}
    if isinstance(value, dict):
        value = [v for v in value.values() if isinstance(v, (dict, list))]
    return set().union(*map(names_in, value)) if isinstance(value, list) else set()


def known_ops(program):
    p = subprocess.run([program, "ops", "--json"], stdout=subprocess.PIPE, text=True, timeout=TIMEOUT,
                       env={**os.environ, **ENV})
    if p.returncode:
        raise SystemExit(f"{program} ops --json: exit {p.returncode}")
    return names_in(json.loads(p.stdout))
