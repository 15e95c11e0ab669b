#!/usr/bin/env python3
"""Checks the direction of includes: a folder of src/ includes itself and earlier ones, include/penstock nothing of src/.

check_includes.py [FOLDER]   (default: the checkout)
"""
import pathlib
import re
import sys

ROOMS = ["base", "data", "io", "functions", "plan", "runtime", "datasets", "trace", "model",
         "optimizer", "cluster", "report", "job", "api", "cli"]
# Additional rules: model and optimizer read plans and traces, never the running engine.
NEVER = {("model", "runtime"), ("optimizer", "runtime"), ("cluster", "datasets")}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<(penstock/[^>]+)>)', re.M)


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
        return None
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
