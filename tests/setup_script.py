#!/usr/bin/env python3
"""tools/setup.sh: `./dev demo` and `./dev test` call it each time, so it must need neither root nor
network once everything is there, and otherwise say what it installs, or what root would have to.

setup_script.py [FILTER]

apt-get is a script here that notes how it was called. Closing line: N passed, N failed.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOBODY = 65534
NOTING = '#!/bin/sh\necho "$@" >>"$NOTES"\n'


class Place:
    """A copy of tools/ with a package list of its own, and an apt-get that notes its calls."""

    def __init__(self, folder, packages):
        self.dir = pathlib.Path(folder)
        os.chmod(folder, 0o755)
        shutil.copy(ROOT / "tools/setup.sh", self.dir / "setup.sh")
        (self.dir / "packages.txt").write_text(packages, encoding="utf-8")
        (self.dir / "apt-get").write_text(NOTING, encoding="utf-8")
        (self.dir / "apt-get").chmod(0o755)
        self.notes = self.dir / "notes"
        self.notes.touch()
        self.notes.chmod(0o666)

    def setup(self, *groups, nobody=False, wrap=()):
        def drop():
            if nobody and os.getuid() == 0:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
        p = subprocess.run([*wrap, self.dir / "setup.sh", *groups], capture_output=True, text=True, preexec_fn=drop,
                           env={**os.environ, "NOTES": str(self.notes), "PATH": f"{self.dir}:{os.environ['PATH']}"})
        return p.returncode, p.stdout + p.stderr, self.notes.read_text(encoding="utf-8")


INSTALLED = "[build]\nbash   # a comment\n[test]\ncoreutils\n[lint]\n"
MISSING = INSTALLED + "penstock-no-such-package\n"


def all_there(place):
    for groups in (["build"], ["build", "test"], ["build", "test", "lint"]):
        yield place.setup(*groups) == (0, "", ""), f"{groups}: it did something"
        yield place.setup(*groups, nobody=True) == (0, "", ""), f"{groups}: it needs root"


def other_groups(place):
    yield place.setup("build", "test") == (0, "", ""), "it looks at groups that were not asked for"


def as_root(place):
    status, said, calls = place.setup("build", "test", "lint")
    yield status == 0 and "installing penstock-no-such-package" in said, f"exit {status}: {said}"
    installs = [line for line in calls.splitlines() if " install" in f" {line}"]
    yield calls.startswith("update"), f"apt-get was called: {calls}"
    yield len(installs) == 1 and installs[0].split()[-1] == "penstock-no-such-package", f"apt-get was called: {calls}"
    yield "bash" not in calls, "it installs what is there"


def as_somebody(place):
    status, said, calls = place.setup("build", "lint", nobody=True)
    yield status == 1 and calls == "", f"exit {status}, apt-get was called: {calls}"
    yield "apt-get install" in said and said.strip().endswith("penstock-no-such-package"), said


def without_network(place):
    yield place.setup("build", "test", "lint", wrap=["unshare", "-n"]) == (0, "", ""), "it did something"


def no_downloads():
    """Nothing of the build fetches anything by itself."""
    fetch = re.compile(r"FetchContent|ExternalProject|file\(DOWNLOAD|\b(curl|wget|pip3? install|git clone)\b")
    files = [ROOT / "dev", ROOT / "CMakeLists.txt", ROOT / "CMakePresets.json"]
    for folder in ("cmake", "tools", "bench", "tests/outside"):
        files += [p for p in (ROOT / folder).rglob("*") if p.suffix in ("", ".sh", ".py", ".cmake", ".in", ".txt") and p.is_file()]
    for path in files:
        found = fetch.search(path.read_text(encoding="utf-8"))
        yield not found, f"{path.relative_to(ROOT)}: {found and found[0]}"


def cases():
    root = os.getuid() == 0
    yield "all there", INSTALLED, all_there
    yield "other groups", MISSING, other_groups
    yield "missing, as somebody", MISSING, as_somebody
    if root:
        yield "missing, as root", MISSING, as_root
    if root and subprocess.run(["unshare", "-n", "true"], stderr=subprocess.DEVNULL).returncode == 0:
        yield "without network", INSTALLED, without_network


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("filter", nargs="?", default="")
    a = ap.parse_args()
    passed = failed = 0
    results = []
    for name, packages, check in cases():
        with tempfile.TemporaryDirectory(prefix="penstock-setup-") as folder:
            results.append((name, [what for fine, what in check(Place(folder, packages)) if not fine]))
    results.append(("no downloads", [what for fine, what in no_downloads() if not fine]))
    for name, bad in results:
        if a.filter not in name:
            continue
        passed, failed = passed + (not bad), failed + bool(bad)
        if bad:
            print(f"FAIL {name}\n" + "".join(f"    {b}\n" for b in bad), end="", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
