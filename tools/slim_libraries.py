"""Two libraries of Debian that the wheel carries, cut down to what Penstock uses: together 3 MB of it, not 17."""
import pathlib
import re
import subprocess

# Encodings and compatibility normal forms; the rest of the 30 MB is about languages and dates. Letter case, categories and
# scripts are in the code of ICU.
ICU_ITEMS = re.compile(r".*\.cnv|cnvalias\.icu|nfkc\.nrm")
# Reports a wrong argument. That of the library is Fortran, which would need libgfortran and libquadmath.
XERBLA = """#include <stdio.h>
void xerbla_(const char* routine, const int* argument, long size) {
  fprintf(stderr, "%.*s: argument %d is wrong\\n", (int)size, routine, *argument);
}
"""
DATA = """.section .rodata
.globl {name}
.type {name}, @object
.balign 16
{name}: .incbin "{file}"
.size {name}, .-{name}
.section .note.GNU-stack,"",@progbits
"""


def run(*command, **more):
    return subprocess.run([*map(str, command)], check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def library(name):
    """The path of a shared library by its name in the linker's cache, or by the start of it: libicudata.so."""
    for line in run("/sbin/ldconfig", "-p").splitlines():
        if line.strip().startswith(name) and "x86-64" in line or line.strip().startswith(name) and "AArch64" in line:
            return pathlib.Path(line.rpartition("=> ")[2])
    raise SystemExit(f"wheel: there is no {name}")


def slim_icu_data(folder):
    """Writes libicudata.so.N with ICU_ITEMS only."""
    original = library("libicudata.so.")
    version = original.name.rpartition(".")[2]
    work = folder / "icu"
    (work / "slim").mkdir(parents=True)
    package, slim = work / f"icudt{version}l.dat", work / "slim" / f"icudt{version}l.dat"  # its name is in the package
    run("objcopy", "-O", "binary", "-j", ".rodata", original, package)
    items = run("/usr/sbin/icupkg", "-l", package).split()
    left_out = work / "left_out.txt"
    left_out.write_text("".join(f"{item}\n" for item in items if not ICU_ITEMS.fullmatch(item)), encoding="utf-8")
    run("/usr/sbin/icupkg", "-r", left_out, package, slim)
    source = work / "data.S"
    source.write_text(DATA.format(name=f"icudt{version}_dat", file=slim), encoding="utf-8")
    run("gcc", "-shared", "-nostdlib", f"-Wl,-soname,{original.name}", source, "-o", folder / original.name)


def slim_lapack(folder):
    """Writes liblapack.so.3 with the routines that the solver of linear programs calls, and those of BLAS in it."""
    called = set()
    for user in ("libClp.so.", "libCoinUtils.so."):
        called |= {line.split()[-1] for line in run("nm", "-D", "--undefined-only", library(user)).splitlines()}
    there = {line.split()[-1] for line in run("nm", "-D", "--defined-only", library("liblapack.so.3")).splitlines()}
    source = folder / "xerbla.c"
    source.write_text(XERBLA, encoding="utf-8")
    static = [next(pathlib.Path("/usr/lib").glob(f"*/*/lib{name}.a")) for name in ("lapack", "blas")]
    run("gcc", "-O2", "-fPIC", "-shared", "-s", "-fuse-ld=bfd", "-Wl,-soname,liblapack.so.3,-z,defs,--as-needed",
        *(f"-Wl,-u,{name}" for name in sorted(called & there)), source, *static, "-lm", "-o", folder / "liblapack.so.3")


def make(folder):
    folder.mkdir(parents=True)
    slim_icu_data(folder)
    slim_lapack(folder)
