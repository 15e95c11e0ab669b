#!/usr/bin/env python3
"""The help of penstock and of each command: complete, and fit for 80 columns, as is what commands print.

help.py [--program P] [FILTER]

The man page and the completions must have each flag. A command's help must list each flag that its source asks for, the parser must take each flag that is
listed, and no other. Closing line: N passed, N failed.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from program import ENV, execute

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH = 80
ASKED = re.compile(r"\b(?:has|get|all|get_int|get_seconds|get_bytes)\(\"(--?[a-z-]+)\"")
# Pipelines by other files of src/cli: what these ask for, every command that reads a PIPE has.
SHARED = "pipeline.cc"
PIPE = """range(1000) | map(x -> {id: x, text: "some words"}) | shuffle(100) | batch(7)
| map({id, text} -> {id: id + 1, text, a_long_name_for_a_column: id * 2, another_long_name: id * 3})
"""


def lines_too_long(text, but=()):
    return [f"{len(x)} columns: {x}" for x in text.split("\n") if len(x) > WIDTH and not x.startswith(but)]


class Program:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def run(self, *args, text=""):
        status, out, err = execute([self.path, *args], text, self.folder, {**os.environ, **ENV})
        return status, out, err


def asked_by(*files):
    return {flag for file in files for path in (ROOT / "src/cli").glob(file) for flag in ASKED.findall(path.read_text(encoding="utf-8"))}


def check_overview(program):
    status, text, err = program.run("--help")
    bad = lines_too_long(text) + ([f"exit {status}"] if status or err else [])
    files = {p.stem for p in (ROOT / "src/cli").glob("*.cc") if f"Command {p.stem}_command()" in p.read_text(encoding="utf-8")}
    listed = set(re.findall(r"^  ([a-z]+)  +\S", text, re.M))
    bad += [f"{name}: not listed" for name in files - listed] + [f"{name}: has no file" for name in listed - files]
    bad += [f"{args}: says something else" for args in (["-h"], ["help"]) if program.run(*args)[1] != text]
    bad += ["without arguments: exit is not 2"] if program.run()[0] != 2 else []
    return sorted(listed), bad


def check_help(program, command):
    status, text, err = program.run(command, "--help")
    bad = lines_too_long(text) + ([f"exit {status}: {err}"] if status or err else [])
    if not text.startswith(f"penstock {command} "):
        bad.append(f"begins with {text[:30]}")
    listed = dict(re.findall(r"^  (--?[a-z-]+)((?: \S+)?)(?=  )", text, re.M))
    asked = asked_by(f"{command}.cc", f"{command}_*.cc") | ({*asked_by(SHARED)} if "PIPE" in text.split("\n")[0] else set())
    bad += [f"{flag}: the program asks for it, the help does not list it" for flag in sorted(asked - listed.keys())]
    spread = asked | asked_by(SHARED) | {"--help", "--color"}
    bad += [f"{flag}: listed, and nothing asks for it" for flag in sorted(listed.keys() - spread)]
    for flag, value in listed.items():
        # With --help behind it nothing is done but to look at the flags.
        words = [flag] + ([value.strip()] if value else [])
        if program.run(command, *words, "--help") != (0, text, ""):
            bad.append(f"{' '.join(words)}: the parser does not take it")
    if program.run(command, "--no-such-flag", "--help")[0] != 2:
        bad.append("takes any flag")
    bad += [f"{args}: says something else" for args in ([command, "-h"], ["help", command]) if program.run(*args)[1] != text]
    return bad, listed


def check_man_page(program, flags):
    """It names each flag of each command, and troff has nothing to say against it."""
    status, page, err = program.run("help", "--man")
    bad = [f"exit {status}: {err}"] if status or err else []
    sections = dict(re.findall(r"^\.SS penstock ([a-z]+)[^\n]*\n(.*?)(?=^\.S[SH] )", page, re.M | re.S))
    for command, listed in flags.items():
        text = sections.get(command, "") + page[page.index(".SH FLAGS"):]
        bad += [f"{command}: {f} is not there" for f in listed if f"\\fB{f}\\fR".replace("-", "\\-") not in text]
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-ww", "-z"], input=page, text=True, capture_output=True)
        bad += done.stderr.splitlines()
    return bad


def completed(script, folder, *words):
    """What bash offers in place of the last of the words."""
    call = f'source {script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _penstock; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-uc", call, "bash", *words], text=True, capture_output=True, cwd=folder)
    return done.stdout.split() if not done.stderr else [done.stderr]


def check_completions(program, commands, flags):
    bad = []
    for shell in ("bash", "zsh", "fish"):
        status, text, err = program.run("completions", shell)
        path = pathlib.Path(program.folder) / f"penstock.{shell}"
        path.write_text(text, encoding="utf-8")
        bad += [f"{shell}: exit {status}: {err}"] if status or err else []
        if shutil.which(shell):
            done = subprocess.run([shell, "-n", path], capture_output=True, text=True)
            bad += [f"{shell}: {line}" for line in done.stderr.splitlines()]
        bad += [f"{shell}: {c} {f} is not there" for c, listed in flags.items() for f in listed
                if f not in text and f"-l {f[2:]} " not in text and f"-s {f[1:]} " not in text]
    bash = str(pathlib.Path(program.folder) / "penstock.bash")
    expected = {("",): sorted([*commands, "--help", "--version"]), ("sy",): ["synth"], ("run", "--dig"): ["--digest"],
                ("run", "--tune", ""): ["live", "off", "start"], ("run", "--threads", ""): [], ("run", "a.pi"): [],
                ("profile", "con"): ["convert"], ("synth", "spee"): ["speech"], ("run", "--color", "n"): ["never"],
                ("run", "-"): sorted(flags["run"])}
    for words, want in expected.items():
        got = sorted(completed(bash, program.folder, "penstock", *words))
        bad += [f"bash: {words}: {got}, expected {want}"] if got != want else []
    if program.run("completions", "tcsh")[0] != 2:
        bad.append("takes any shell")
    return bad


def check_output(program):
    """What commands print for people. Programs are 100 columns wide: lines of a diff are theirs."""
    short = ["--trace-seconds", "0.05", "--seconds", "0.1"]
    calls = [(["run", "-"], ()), (["run", "-", "--digest"], ()), (["trace", "-", "-o", "a.trace"], ()),
             (["explain", "a.trace", "--full"], ()), (["explain", "a.trace", "--full", "--consumer", "25ms"], ()),
             (["explain", "-", "--seconds", "0.1", "--no-optimize", "--html", "a.html"], ()),
             (["optimize", "-", *short, "--html", "a.html"], ("  ", "+ ", "- ")), (["optimize", "--list-rules"], ()),
             (["compare", "-", "a.trace", "--seconds", "0.1"], ()), (["fleet", "a.trace"], ()),
             (["ops"], ()), (["ops", "map"], ()), (["synth", "text", "words", "--elements", "10"], ())]
    for args, but in calls:
        status, out, err = program.run(*args, text=PIPE)
        yield " ".join(args), lines_too_long(out + err, but) + ([f"exit {status}: {err}"] if status else [])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("filter", nargs="?", default="")
    ap.add_argument("--program", default=str(ROOT / "build/dev/penstock"))
    a = ap.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="penstock-help-") as folder:
        program = Program(os.path.abspath(a.program), folder)
        commands, bad = check_overview(program)
        results, flags = [("help", bad)], {}
        for c in commands:
            bad, flags[c] = check_help(program, c)
            results.append((f"help: {c}", bad))
        results += [("man page", check_man_page(program, flags)), ("completions", check_completions(program, commands, flags))]
        for name, bad in results + [(f"80 columns: {n}", b) for n, b in check_output(program)]:
            if a.filter not in name:
                continue
            passed, failed = passed + (not bad), failed + bool(bad)
            if bad:
                print(f"FAIL {name}\n" + "".join(f"    {b}\n" for b in bad), end="", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
