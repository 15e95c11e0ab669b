#!/usr/bin/env python3
"""Jobs that run are asked by other processes: penstock top, trace --attach and explain --attach.

attach.py [--program P] [FILTER]

Each job is a process of its own; its socket lies in a directory of the test. Closing line: N passed, N failed.
"""
import argparse
import contextlib
import fcntl
import json
import os
import pathlib
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios

from program import ENV, execute

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENDLESS = "range(1000000000000000) | map(x -> x * x + 1) | batch(64) | prefetch(4)"
LIMIT = 600  # seconds without a byte: a hang
OTHER_USER = 54321


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


class Jobs:
    """Processes that run a pipeline, and a directory for their sockets."""

    def __init__(self, program):
        self.program, self.running = program, []
        self.folder = tempfile.TemporaryDirectory(prefix="penstock-attach-")
        self.path = pathlib.Path(self.folder.name)
        self.sockets = self.path / "sockets"
        self.env = {**os.environ, **ENV, "PENSTOCK_ATTACH": str(self.sockets), "TERM": "xterm"}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for job in self.running:
            self.kill(job)
        self.folder.cleanup()

    def start(self, pipe=ENDLESS):
        """Starts a job and returns when it answers."""
        job = subprocess.Popen([self.program, "run", "-", "--seconds", "100000", "--threads", "1", "--tune", "live"],
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=self.env)
        self.running.append(job)
        job.stdin.write(pipe.encode())
        job.stdin.close()
        while self.call("top", str(job.pid), "--json", "--once", "--interval", "50ms")[0] != 0:
            expect(job.poll() is None, f"the job has ended: {job.stderr.read()}" if job.poll() is not None else "")
        return job

    def kill(self, job):
        with contextlib.suppress(ProcessLookupError):
            job.kill()
        job.wait()
        job.stderr.close()

    def call(self, *args, **env):
        return execute([self.program, *args], cwd=self.path, env={**self.env, **env})


class Terminal:
    """A program whose three standard files are one terminal of 80x24."""

    def __init__(self, command, env):
        self.master, self.slave = os.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(command, stdin=self.slave, stdout=self.slave, stderr=self.slave, env=env,
                                        start_new_session=True)
        self.seen = ""

    def read(self, until):
        while not re.search(until, self.seen):
            expect(select.select([self.master], [], [], LIMIT)[0], f"nothing more after {self.seen[-300:]!r}")
            self.seen += os.read(self.master, 1 << 16).decode("utf-8", "replace")

    def write(self, keys):
        os.write(self.master, keys.encode())

    def end(self):
        """-> exit status, and whether the terminal is as it was."""
        while self.process.poll() is None:  # it may wait for room to write
            if select.select([self.master], [], [], 0.05)[0]:
                self.seen += os.read(self.master, 1 << 16).decode("utf-8", "replace")
        while select.select([self.master], [], [], 0)[0]:
            self.seen += os.read(self.master, 1 << 16).decode("utf-8", "replace")
        same = termios.tcgetattr(self.slave) == self.before
        os.close(self.master)
        os.close(self.slave)
        return self.process.returncode, same


def case_one_frame(jobs):
    job = jobs.start()
    for args in (["--once"], []):  # standard output is a pipe: the same
        status, out, err = jobs.call("top", str(job.pid), "--interval", "50ms", *args)
        lines = out.splitlines()
        expect(status == 0 and not err, f"{status} {err}")
        expect(len(lines) <= 24 and all(len(x) <= 80 for x in lines) and "\033" not in out, out)
        expect(lines[0].startswith(f"{job.pid} ") and re.search(r"^map: multiply +1 ", out, re.M) and "Live tuner" in out, out)


def case_the_only_job(jobs):
    status, out, err = jobs.call("top", "--once")
    expect(status == 1 and not out and "NOT_FOUND: no process of yours" in err, f"{status} {err}")
    first = jobs.start()
    status, out, err = jobs.call("top", "--once", "--interval", "50ms")
    expect(status == 0 and out.startswith(f"{first.pid} "), out + err)
    second = jobs.start()
    status, out, err = jobs.call("top", "--once")
    expect(status == 0 and re.search(rf"^ *{first.pid} ", out, re.M) and re.search(rf"^ *{second.pid} ", out, re.M), out + err)
    status, out, err = jobs.call("top", "--json")
    expect({j["pid"] for j in json.loads(out)["jobs"]} == {first.pid, second.pid}, out + err)


def case_trace(jobs):
    job = jobs.start()
    status, out, err = jobs.call("trace", "--attach", str(job.pid), "-o", "a.trace", "--seconds", "0.3", "--json")
    expect(status == 0, err)
    answer, trace = json.loads(out), json.loads((jobs.path / "a.trace").read_text(encoding="utf-8"))
    expect(answer["elements"] == trace["interval"]["elements"], out)
    expect(trace["interval"]["seconds"] >= 0.3 and "prefetch" in trace["program"], trace["interval"])
    status, out, err = jobs.call("explain", "a.trace", "--json")
    expect(status == 0 and json.loads(out)["program"] == trace["program"], err)
    expect(job.poll() is None, "the job did not go on")
    status, out, err = jobs.call("explain", "--attach", str(job.pid), "--seconds", "0.2", "--json")
    expect(status == 0 and json.loads(out)["verdict"]["text"], err)


def case_trace_until_interrupted(jobs):
    job = jobs.start()
    call = Terminal([jobs.program, "trace", "--attach", str(job.pid), "-o", str(jobs.path / "b.trace")], jobs.env)
    call.read("tracing process")
    os.kill(call.process.pid, signal.SIGINT)
    status, _ = call.end()
    expect(status == 0 and "traced to" in call.seen, f"{status} {call.seen!r}")
    expect(json.loads((jobs.path / "b.trace").read_text(encoding="utf-8"))["interval"]["seconds"] > 1, "the interval")


def case_live(jobs):
    job = jobs.start()
    call = Terminal([jobs.program, "top", str(job.pid), "--interval", "100ms"], jobs.env)
    call.read(r"rate/s(.|\n)*rate/s")
    call.write("q")
    status, same = call.end()
    expect(status == 0 and same, f"{status}, the terminal is {'' if same else 'not '}as before")
    expect(call.seen.startswith("\033[?1049h") and call.seen.rstrip().endswith("\033[?1049l"), repr(call.seen[-80:]))
    expect("q leaves" in call.seen and job.poll() is None, "the job did not go on")


def case_live_interrupted(jobs):
    job = jobs.start()
    call = Terminal([jobs.program, "top", str(job.pid), "--interval", "100ms"], jobs.env)
    call.read("rate/s")
    os.kill(call.process.pid, signal.SIGINT)
    status, same = call.end()
    expect(status == 0 and same and call.seen.rstrip().endswith("\033[?1049l"), f"{status} {call.seen[-80:]!r}")


def case_live_until_the_end(jobs):
    job = jobs.start()
    call = Terminal([jobs.program, "top", str(job.pid), "--interval", "100ms"], jobs.env)
    call.read("rate/s")
    jobs.kill(job)
    status, same = call.end()
    expect(status == 0 and same and f"\033[?1049lprocess {job.pid} has ended" in call.seen, f"{status} {call.seen[-80:]!r}")


def case_stopped(jobs):
    job = jobs.start()
    os.kill(job.pid, signal.SIGSTOP)
    os.waitpid(job.pid, os.WUNTRACED)
    for args in (["top", str(job.pid), "--once"], ["trace", "--attach", str(job.pid), "-o", "c.trace"]):
        status, out, err = jobs.call(*args)
        expect(status == 1 and not out and f"is stopped; let it go on with kill -CONT {job.pid}" in err, f"{status} {err}")
    os.kill(job.pid, signal.SIGCONT)
    expect(jobs.call("top", str(job.pid), "--once", "--interval", "50ms")[0] == 0, "it does not answer again")


def case_killed(jobs):
    job = jobs.start()
    expect([x.name for x in jobs.sockets.iterdir()] == [f"{job.pid}.sock"], "its socket")
    jobs.kill(job)
    status, _, err = jobs.call("top", str(job.pid))
    expect(status == 2 and f"there is no process {job.pid}" in err, f"{status} {err}")
    expect(not any(jobs.sockets.iterdir()), "its socket is left")


def case_ended(jobs):
    status, _, err = execute([jobs.program, "run", "-"], "range(10)", jobs.path, jobs.env)
    expect(status == 0 and not any(jobs.sockets.iterdir()), f"{status} {err}")
    (jobs.path / "none").mkdir(mode=0o700)
    env = {**jobs.env, "PENSTOCK_ATTACH": "0", "XDG_RUNTIME_DIR": str(jobs.path / "none")}
    status, _, err = execute([jobs.program, "run", "-"], "range(10)", jobs.path, env)
    expect(status == 0 and not any((jobs.path / "none").iterdir()), "a job that is not to be asked has a socket")


def case_refused(jobs):
    me = str(os.getpid())
    for args, words in ((["top", me], "runs no pipeline of Penstock"), (["top", "x1"], "a process is a number"),
                        (["top", "1", "2"], "one process at a time"), (["top", me, "--interval", "0"], "at least 50ms"),
                        (["trace", "--attach", me], "where to"), (["trace", "a.pipe", "--attach", me, "-o", "x"], "not both"),
                        (["trace", "--attach", me, "-o", "x", "--threads", "2"], "--threads says nothing about --attach"),
                        (["explain", "--attach", me, "--functions"], "says nothing about --functions")):
        status, out, err = jobs.call(*args)
        expect(status == 2 and not out and words in err, f"{args}: {status} {err}")
    job = jobs.start()
    status, _, err = jobs.call("trace", "--attach", str(job.pid), "--run", "99", "-o", "x")
    expect(status == 2 and "has no run 99; choose one with --run: 1 (" in err, f"{status} {err}")
    jobs.sockets.chmod(0o755)
    for args in (["top"], ["top", str(job.pid)]):
        status, _, err = jobs.call(*args)
        expect(status == 2 and "PERMISSION_DENIED: other users can enter" in err, f"{args}: {status} {err}")


def case_other_users(jobs):
    """Nobody attaches to a process of another user."""
    if os.getuid() != 0:
        print("  other users: left out, only root can become one")
        return
    job = jobs.start()

    def become():
        os.setgroups([])
        os.setgid(OTHER_USER)
        os.setuid(OTHER_USER)
    jobs.path.chmod(0o755)
    for env in (jobs.env, {**jobs.env, "PENSTOCK_ATTACH": ""}):
        done = subprocess.run([jobs.program, "top", str(job.pid)], env=env, preexec_fn=become, capture_output=True, text=True)
        expect(done.returncode == 2 and "belongs to another user" in done.stderr, f"{done.returncode} {done.stderr}")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("filter", nargs="?", default="")
    ap.add_argument("--program", default=str(ROOT / "build/dev/penstock"))
    a = ap.parse_args()
    passed = failed = 0
    for name, case in list(globals().items()):
        if not name.startswith("case_") or a.filter not in name:
            continue
        try:
            with Jobs(os.path.abspath(a.program)) as jobs:
                case(jobs)
            passed += 1
        except (AssertionError, OSError, ValueError, KeyError) as e:
            failed += 1
            print(f"FAIL {name}\n    {e}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
