#!/usr/bin/env python3
"""Checks the direction of includes: a folder of src/ includes itself and earlier ones, include/penstock nothing of src/,
src/cli the job layer and what CLI_ALSO lists.

check_includes.py [FOLDER]   (default: the checkout)
"""
import fnmatch
import pathlib
import re
import sys

ROOMS = ["base", "data", "io", "functions", "plan", "runtime", "datasets", "trace", "model",
         "fleet", "optimizer", "cluster", "report", "job", "api", "cli"]
# Additional rules: model and optimizer read plans and traces, never the running engine.
NEVER = {("model", "runtime"), ("fleet", "runtime"), ("optimizer", "runtime"), ("cluster", "datasets")}
# The commands are written on the job layer (src/job), the reports and the cluster model. Each header of another
# room that they include, with the commands that may, and why. A room stands for all of its headers.
CLI_ROOMS = {"base", "job", "report"}
CLI_ALSO = [
    ("io/file.h", "*", "files that a command reads and writes"),
    ("plan/throttle_text.h", "pipeline", "the value of --throttle"),
    ("io/staging_folder.h", "synth", "a data set is whole or absent"),
    ("plan/diagnostic.h", "*", "mistakes in a text, shown with carets"),
    ("plan/format.h", "fmt", "prints a text that need not be a pipeline that runs"),
    ("plan/parser.h", "fmt", "formats a text that need not be a pipeline that runs"),
    ("plan/json_form.h", "show", "--plan --json prints the plan's own form"),
    ("functions/op.h", "args help main", "did_you_mean"),
    ("optimizer/optimize.h", "optimize", "--list-rules prints the rules; its JSON the log of rules"),
    ("trace/trace.h", "pipeline", "a trace may stand in place of a text"),
    ("io/file_system.h", "fleet", "lists folders of traces"),
    ("fleet/fleet.h", "fleet", "the sums over many traces"),
    ("runtime/counters.h", "synth", "the clock"),
    ("io/record_writer.h", "synth_*", "writes data sets"),
    ("functions/kernels", "synth_*", "encodes the pictures and records of data sets"),
    ("cluster", "predict predict_feed prediction replay calibrate corrections profile", "the commands about clusters, on their model"),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<(penstock/[^>]+)>)', re.M)


def wrong_in_cli(command, target):
    parts = pathlib.PurePath(target).parts
    if parts[0] in CLI_ROOMS | {"cli"}:
        return None
    for header, commands, _ in CLI_ALSO:
        if pathlib.PurePath(target).is_relative_to(header) and any(fnmatch.fnmatch(command, c) for c in commands.split()):
            return None
    return "the commands are written on src/job; add what is missing there"


def wrong(path, target):
    """Reason why the file `path` may not include `target` (both relative to src/ or include/), or None."""
    room, other = path.parts[0], pathlib.PurePath(target).parts[0]
    if other == "penstock":
        return None
    if room == "penstock":
        return "the public headers include nothing of src/"
    if target.endswith(".pb.h"):  # generated for tests
        return None
    if room not in ROOMS:
        return f"src/{room} is no room of the architecture"
    if other not in ROOMS:
        return "includes are written from src/: \"room/file.h\""
    if room == "cli":
        return wrong_in_cli(path.stem, target)
    if ROOMS.index(other) > ROOMS.index(room):
        return f"{room} stands before {other}"
    if (room, other) in NEVER:
        return f"{room} never includes {other}"
    return None


def check(top):
    files = problems = 0
    for base in (top / "src", top / "include"):
        for file in sorted(base.rglob("*")):
            if file.suffix not in (".h", ".cc"):
                continue
            files += 1
            text = file.read_text(encoding="utf-8")
            for m in INCLUDE.finditer(text):
                target = m[1] or m[2]
                why = wrong(file.relative_to(base), target)
                if why:
                    problems += 1
                    line = text.count("\n", 0, m.start(m.lastindex)) + 1
                    print(f"{file.relative_to(top)}:{line}: includes {target}: {why}")
    return files, problems


def main():
    top = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    files, problems = check(top.resolve())
    print(f"{files} files, {problems} includes against the order")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
