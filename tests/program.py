"""Calling the program under test: shared by the test runners."""
import json
import os
import pathlib
import resource
import signal
import subprocess

# Limits against hangs. They count work, not time, so that a slow or busy machine does not fail a test: the longest
# call takes 30 s of CPU with sanitizers, and a call that waits for ever does no work at all.
CPU_LIMIT_S = 300  # of one process
IDLE_LIMIT_S = 60  # without work of any process of the call
# A sanitizer's report has an exit status of its own.
ENV = {"ASAN_OPTIONS": "exitcode=99:detect_stack_use_after_return=0", "TSAN_OPTIONS": "exitcode=99",
       "UBSAN_OPTIONS": "print_stacktrace=1"}


class TooLong(Exception):
    """The program hangs."""


def cpu_ticks(group):
    """CPU time of the living processes of a process group, in clock ticks."""
    ticks = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        if int(fields[2]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks


def finish(p, text=None, cpu_limit=CPU_LIMIT_S, idle_limit=IDLE_LIMIT_S):
    """Waits for a process that leads its own group -> its stdout and stderr. Kills the group when it hangs."""
    try:
        resource.prlimit(p.pid, resource.RLIMIT_CPU, (cpu_limit, cpu_limit + 5))
    except (ProcessLookupError, PermissionError):
        pass  # it has ended, or runs as another user: the idle limit alone holds
    before = 0
    while True:
        try:
            out, err = p.communicate(text, timeout=idle_limit)
            break
        except subprocess.TimeoutExpired:
            ticks = cpu_ticks(p.pid)
            if ticks - before < 0.01 * idle_limit * os.sysconf("SC_CLK_TCK"):
                os.killpg(p.pid, signal.SIGKILL)
                p.communicate()
                raise TooLong(f"no end, and no work for {idle_limit} s") from None
            text, before = None, ticks
    if p.returncode == -signal.SIGXCPU:
        raise TooLong(f"no end within {cpu_limit} s of CPU time")
    return out, err


def execute(command, text="", cwd=None, env=None, cpu_limit=CPU_LIMIT_S, idle_limit=IDLE_LIMIT_S):
    """Runs the program -> exit status, stdout, stderr. Ends the whole process group when it hangs."""
    p = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, start_new_session=True)
    out, err = finish(p, text.encode(), cpu_limit, idle_limit)
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
    status, out, err = execute([program, "ops", "--json"], env={**os.environ, **ENV})
    if status:
        raise SystemExit(f"{program} ops --json: exit {status}\n{err}")
    return names_in(json.loads(out))
