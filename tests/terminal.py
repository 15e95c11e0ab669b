#!/usr/bin/env python3
"""What penstock shows on a terminal and nowhere else: colour, and the line that says how far it is.

terminal.py [--program P] [FILTER]

Standard error (or both streams) is a pseudo-terminal of 80 columns. Closing line: N passed, N failed.
"""
import argparse
import contextlib
import fcntl
import os
import pathlib
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import tempfile

from program import ENV

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHAIN = str(ROOT / "tests/cluster/chain.json")
LIMIT = 600  # seconds without a byte: a hang
ESCAPE = "\033"
ENDLESS = "range(1000000000000) | filter(x -> x < 0)"
WRONG = "range(3) | mpa(x -> x)"


class Call:
    """A program whose standard error is a terminal; with `both`, its standard output is the same one."""

    def __init__(self, program, args, text="", both=False, **env):
        self.master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        full = {**os.environ, **ENV, "TERM": "xterm", **env}
        full = {k: v for k, v in full.items() if v is not None}
        self.process = subprocess.Popen([program, *args], stdin=subprocess.PIPE, stderr=slave,
                                        stdout=slave if both else subprocess.PIPE, env=full, start_new_session=True)
        os.close(slave)
        self.process.stdin.write(text.encode())
        self.process.stdin.close()
        self.seen = ""

    def read(self, until=None):
        """Reads the terminal until the pattern has come or the program has closed it."""
        while until is None or not re.search(until, self.seen):
            if not select.select([self.master], [], [], LIMIT)[0]:
                os.killpg(self.process.pid, signal.SIGKILL)
                raise AssertionError(f"no end; the terminal got {self.seen[-300:]!r}")
            part = b""
            with contextlib.suppress(OSError):  # EIO: closed
                part = os.read(self.master, 1 << 16)
            if not part:
                break
            self.seen += part.decode("utf-8", "replace")
        return self.seen

    def end(self):
        seen = self.read()
        out = self.process.stdout.read().decode() if self.process.stdout else ""
        os.close(self.master)
        return self.process.wait(), out, seen


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def lines_of(seen):
    """The lines that are left on the screen once carriage returns and erasures are done."""
    out = []
    for line in seen.replace("\r\n", "\n").split("\n"):
        out.append(re.sub(r"^.*\r(?:\033\[K)?", "", line))
    return out


def case_carets(program):
    status, _, seen = Call(program, ["show", "-"], WRONG).end()
    expect(status == 2 and f"{ESCAPE}[1;31m" in seen and "^^^" in seen, f"{status} {seen!r}")
    expect(f"{ESCAPE}[1m-:1:12: {ESCAPE}[0m" in seen, f"the place is not bold: {seen!r}")


def case_no_colour(program):
    for args, env in (([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"}), ([], {"TERM": None}), (["--color", "never"], {})):
        status, _, seen = Call(program, ["show", "-", *args], WRONG, **env).end()
        expect(status == 2 and ESCAPE not in seen, f"{args} {env}: {status} {seen!r}")


def case_empty_no_color_is_none(program):
    expect(ESCAPE in Call(program, ["show", "-"], WRONG, NO_COLOR="").end()[2], "NO_COLOR= counts as set")


def case_colour_of_a_pipe(program):
    for when, coloured in (("always", True), ("auto", False)):
        done = subprocess.run([program, "show", "-", f"--color={when}"], input=WRONG.encode(), capture_output=True,
                              env={**os.environ, **ENV, "TERM": "xterm"})
        expect((ESCAPE.encode() in done.stderr) == coloured, f"{when}: {done.stderr}")


def case_failed_code(program):
    status, _, seen = Call(program, ["run", "-"], "range(3) | map(x -> 4 // x)").end()
    expect(status == 1 and f"{ESCAPE}[1;31mINVALID_ARGUMENT{ESCAPE}[0m" in seen, f"{status} {seen!r}")


def case_help_is_bold(program):
    _, _, seen = Call(program, ["run", "-h"], both=True).end()
    expect(f"{ESCAPE}[1mFlags{ESCAPE}[0m" in seen, seen[:200])


def case_headings_of_explain(program):
    status, _, seen = Call(program, ["explain", "-", "--seconds", "0.2", "--full"], "range(100000000) | batch(128)", both=True).end()
    for heading in ("Ceilings, elements of the pipeline per second", "Plan", "Trust"):
        expect(status == 0 and f"{ESCAPE}[1m{heading}{ESCAPE}[0m" in seen, f"{heading}: {status} {seen!r}")
    expect(re.search(r"\033\[1mstage +rate/s", seen), f"the stages: {seen!r}")


def case_run_shows_time(program):
    call = Call(program, ["run", "-"], ENDLESS)
    call.read(r"\r\d[\d.]* s, elements")
    os.killpg(call.process.pid, signal.SIGINT)
    status, out, seen = call.end()
    expect(status == 1 and "0 elements in" in out, f"{status} {out!r}")
    expect(lines_of(seen)[-2:] == ["\033[1mpenstock run:\033[0m cancelled after 0 elements", ""] or
           "cancelled after 0 elements" in lines_of(seen)[-2], f"{seen[-200:]!r}")
    expect(all(len(re.sub(r"\033\[K", "", x)) < 80 for x in seen.split("\r")), "the line is wider than the terminal")


def case_run_shows_a_bar(program):
    call = Call(program, ["run", "-", "--seconds", "1000"], ENDLESS)
    call.read(r"\r\[#*\.+\] \d")
    os.killpg(call.process.pid, signal.SIGINT)
    expect(call.end()[0] == 1, "exit")


def case_predict_prints_points_as_they_come(program):
    call = Call(program, ["predict", CHAIN, "--bandwidth", "1Gbit", "--workers", "1,3000", "--replications", "40"], both=True)
    call.read(r"of 80 simulations")
    os.killpg(call.process.pid, signal.SIGINT)
    status, _, seen = call.end()
    expect(status == 1, f"exit {status}")
    rows = [x for x in lines_of(seen) if re.match(r" +1 +1 ", x)]
    expect(len(rows) == 1, f"the first point is not there: {seen!r}")


def case_optimize_says_what_it_does(program):
    call = Call(program, ["optimize", "-", "--no-measure", "--trace-seconds", "1000"], "range(100000000) | map(x -> x + 1) | repeat()")
    call.read(r"plan 1 is traced")
    os.killpg(call.process.pid, signal.SIGINT)
    expect(call.end()[0] == 1, "exit")


def case_nothing_in_a_pipe(program):
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([program, "run", "-", "--seconds", "3"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=errors, env={**os.environ, **ENV, "TERM": "xterm"})
        process.communicate(b"range(1000000000000) | repeat()")
        errors.seek(0)
        got = errors.read()
        expect(got == b"", f"{got!r}")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("filter", nargs="?", default="")
    ap.add_argument("--program", default=str(ROOT / "build/dev/penstock"))
    a = ap.parse_args()
    passed = failed = 0
    for name, case in list(globals().items()):
        if not name.startswith("case_") or a.filter not in f"terminal: {name[5:]}":
            continue
        try:
            case(os.path.abspath(a.program))
            passed += 1
        except AssertionError as e:
            failed += 1
            print(f"FAIL terminal: {name[5:]}\n    {e}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
