#!/usr/bin/env python3
"""Runs the examples in README.md and docs/: what stands there must work.

docs.py [--program P] [FILTER]

A block marked `pipe` must parse (`penstock fmt -`); with a name, `pipe NAME`, it is that file, too. A block marked `console` holds commands after `$ `
and what they print; those of penstock and `echo` are run, in a fresh folder for each page, and what is shown
must come, line by line; a line `...` stands for any lines. A command of which no lines are shown has to
succeed. In a block marked `console runs` commands measure: they may print anything but an error, and may end with 1, as
`optimize` does where no gain is certain.
`$CHECKOUT` is the checkout. Mark a block `pipe no-test` or `console no-test` to leave it out.
Closing line: N passed, N failed.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from program import ENV, TooLong, execute

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```([^\n`]*)\n(.*?)^```\s*$", re.M | re.S)


def commands(block):
    """-> (command, lines shown) of a console block."""
    out = []
    for line in block.split("\n"):
        if line.startswith("$ "):
            out.append([line[2:], []])
        elif out:
            out[-1][1].append(line)
    for _, shown in out:
        while shown and not shown[-1].strip():
            shown.pop()
    return out


def matches(shown, got):
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + r"[ \t]*\n"
                      for line in shown)
    return re.fullmatch(pattern, "\n".join(line.rstrip() for line in got.rstrip("\n").split("\n")) + "\n")


def examples(page, program, folder):
    """-> (name, what is wrong or None) of each example."""
    text = page.read_text(encoding="utf-8")
    env = {**os.environ, **ENV, "CHECKOUT": str(ROOT), "PATH": f"{os.path.dirname(program)}:{os.environ['PATH']}"}
    for m in BLOCK.finditer(text):
        words, where = m[1].split(), f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, m.start()) + 1}"
        if not words or "no-test" in words:
            continue
        try:
            if words[0] == "pipe":
                if words[1:]:
                    pathlib.Path(folder, words[1]).write_text(m[2], encoding="utf-8")
                status, _, err = execute([program, "fmt", "-"], m[2], folder, env)
                yield where, f"exit {status}\n{err}" if status else None
            elif words[0] == "console":
                for command, shown in commands(m[2]):
                    measures = words[1:] == ["runs"]
                    shown = [] if measures else shown
                    if not command.startswith(("penstock ", "echo ")):
                        continue
                    status, out, err = execute(["bash", "-c", command], "", folder, env)
                    if measures and status == 1 and not re.search(r"^penstock \w+: ", err, re.M):
                        status = 0
                    if status < 0 or status > 2 or (status and all(line.strip() == "..." for line in shown)):
                        yield f"{where}: {command}", f"exit {status}\n{err}"
                    elif shown and not matches(shown, out + err):
                        yield f"{where}: {command}", f"prints\n{out}{err}"
                    else:
                        yield f"{where}: {command}", None
        except (TooLong, subprocess.SubprocessError) as e:
            yield where, str(e)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("filter", nargs="?", default="")
    ap.add_argument("--program", default=str(ROOT / "build/dev/penstock"))
    a = ap.parse_args()
    passed = failed = 0
    pages = [p for p in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if p.exists()]
    for page in pages:
        if a.filter not in str(page.relative_to(ROOT)):
            continue
        with tempfile.TemporaryDirectory(prefix="penstock-docs-") as folder:
            for where, bad in examples(page, os.path.abspath(a.program), folder):
                passed, failed = passed + (not bad), failed + bool(bad)
                if bad:
                    print(f"FAIL {where}\n" + "".join(f"    {x}\n" for x in bad.split("\n")), flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
