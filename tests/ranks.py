#!/usr/bin/env python3
"""Sharded runs that go on with another number of ranks, as processes and files.

ranks.py PROGRAM [--seed S]

N processes each run a while and leave a checkpoint; M processes go on from all of them (run --resume-from),
stop halfway, and go on from their own. Elements and order-free digests of all together must be those of one
undisturbed process. Then what is refused, and files that change between. Closing line: N passed, N failed.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parent))
from program import ENV  # noqa: E402

HEAD = "param ranks = 1\nparam rank = 0\n"
PIPELINES = {
    "shuffle before": 'range(3000) | shuffle(100, seed=1) | shard(ranks, rank) | map(x -> x * 3) | prefetch(4)',
    "shuffle behind": 'range(3000) | shard(ranks, rank) | filter(x -> x % 3 != 0) | shuffle(50, seed=2)',
    "files": 'files("{d}/part-*") | interleave(f -> text_line(f), cycle_length=3) | shard(ranks, rank)'
             ' | shuffle(40, seed=3) | map(l -> string_length(l))',
    "shared files": 'files("{d}/part-*") | shard(ranks, rank) | interleave(f -> text_line(f), cycle_length=2,'
                    ' num_parallel_calls=4) | shuffle(40, seed=3) | map(l -> string_length(l)) | repeat(2)',
    "shared files in turn": 'files("{d}/part-*") | shard(ranks, rank) | flat_map(f -> text_line(f) | skip(3))'
                            ' | map(l -> string_length(l)) | filter(n -> n % 7 != 0) | prefetch(2)',
    "passes": 'range(300) | shard(ranks, rank) | shuffle(20, seed=2)'
              ' | map(x -> x + random_uniform(high=9, dtype=int64, seed=1)) | repeat(5)',
}
CHANGES = [(2, 3), (3, 1), (1, 4), (4, 4)]


class Runs:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def call(self, pipe, ranks, rank, *args):
        return subprocess.run([self.program, "run", pipe, "--json", "--digest", "--set", f"ranks={ranks}", "--set",
                               f"rank={rank}", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              cwd=self.folder)

    def __call__(self, *args):
        """-> elements and order-free digest"""
        p = self.call(*args)
        if p.returncode:
            raise AssertionError(f"{args}: exit {p.returncode}: {p.stderr.strip()}")
        out = json.loads(p.stdout)
        return out["elements"], int(out["digest_unordered"], 16)

    def refused(self, *args):
        p = self.call(*args)
        if p.returncode not in (1, 2) or (p.stdout and set(json.loads(p.stdout)) != {"error"}):
            raise AssertionError(f"{args}: not refused, exit {p.returncode}: {p.stderr.strip()}")
        return p.stderr.strip()


def expect(text, part):
    if part not in text:
        raise AssertionError(f"expected {part!r} in {text!r}")


def change(runs, pipe, old, new, rng):
    whole = runs(pipe, 1, 0)
    total = []
    before = [f"old.{r}" for r in range(old)]
    for r, file in enumerate(before):
        total.append(runs(pipe, old, r, "--checkpoint", file, "--steps", str(rng.randrange(700)),
                          "--threads", str(rng.choice([1, 2, 8]))))
    rng.shuffle(before)
    given = [word for file in before for word in ("--resume-from", file)]
    for r in range(new):
        own = f"new.{r}"
        runs.call(pipe, new, r, *given, "--checkpoint", own, "--resume", "--steps", str(rng.randrange(400)))
        # The files of the old ranks are named again; the own one goes first.
        total.append(runs(pipe, new, r, *given, "--checkpoint", own, "--resume"))
        os.remove(os.path.join(runs.folder, own))
    together = sum(e for e, _ in total), sum(d for _, d in total) % (1 << 128)
    if together != whole:
        raise AssertionError(f"{old} to {new} ranks: {together}, undisturbed: {whole}")


def refusals(runs, pipe):
    for r in range(2):
        runs(pipe, 2, r, "--checkpoint", f"old.{r}", "--steps", "40")
    zero, one = ("--resume-from", "old.0"), ("--resume-from", "old.1")
    expect(runs.refused(pipe, 3, 0, *zero), "the checkpoint of rank 1 is missing")
    expect(runs.refused(pipe, 3, 0, *zero, *zero), "of rank 0, as is old.0")
    expect(runs.refused(pipe, 3, 0, *zero, "--resume-from", "none"), "there is no file none")
    expect(runs.refused(pipe, 3, 0, *zero, *one, "--checkpoint", "old.1"), "must not overwrite")
    expect(runs.refused(pipe, 3, 0, "--checkpoint", "old.0", "--resume"), "of rank 0 of 2, this is rank 0 of 3")
    expect(runs.refused("windows.pipe", 3, 0, *zero, *one), "window: what this stage holds")
    expect(runs.refused("other.pipe", 3, 0, *zero, *one), "old.0: the pipeline has changed")


def changed_files(runs, pipe):
    """One process, and files that are not what they were."""
    part = pathlib.Path(runs.folder, "part-1")
    text, status = part.read_text(encoding="utf-8"), part.stat()
    resume = ("--checkpoint", "own", "--resume")
    runs(pipe, 1, 0, "--checkpoint", "own", "--steps", "40")
    os.utime(part, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    expect(runs.refused(pipe, 1, 0, *resume), "part-1, which `files` reads, has another time")
    part.write_text(text + "more\n", encoding="utf-8")
    os.utime(part, ns=(status.st_atime_ns, status.st_mtime_ns))
    expect(runs.refused(pipe, 1, 0, *resume), f"had {len(text)} bytes and has {len(text) + 5} now")
    part.write_text(text, encoding="utf-8")
    os.utime(part, ns=(status.st_atime_ns, status.st_mtime_ns))
    other = pathlib.Path(runs.folder, "part-9")
    other.write_text("x\n", encoding="utf-8")
    expect(runs.refused(pipe, 1, 0, *resume), "there is a new file since the checkpoint was taken")
    other.unlink()
    runs(pipe, 1, 0, *resume)
    part.unlink()
    expect(runs.refused(pipe, 1, 0, *resume), "part-1, which `files` read")
    part.write_text(text, encoding="utf-8")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("program")
    ap.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    a = ap.parse_args()
    os.environ.update(ENV)
    rng = random.Random(a.seed)
    print(f"seed {a.seed}")
    passed = failed = 0

    def judge(name, f, *args):
        nonlocal passed, failed
        try:
            f(*args)
            passed += 1
        except AssertionError as e:
            failed += 1
            print(f"FAIL {name}: {e}")

    with tempfile.TemporaryDirectory() as d:
        runs = Runs(os.path.abspath(a.program), d)
        for i in range(5):
            lines = "".join("x" * rng.randrange(60) + "\n" for _ in range(200 + 30 * i))
            pathlib.Path(d, f"part-{i}").write_text(lines, encoding="utf-8")
        others = {"windows": "range(9) | shard(ranks, rank) | window(3) | map(w -> 1)",
                  "other": "range(9) | shard(ranks, rank)"}
        for name, text in {**PIPELINES, **others}.items():
            pathlib.Path(d, name + ".pipe").write_text(HEAD + text.format(d=d) + "\n", encoding="utf-8")
        for name in PIPELINES:
            for old, new in CHANGES:
                judge(f"{name}, {old} to {new}", change, runs, name + ".pipe", old, new, rng)
        judge("refusals", refusals, runs, "shuffle before.pipe")
        judge("changed files", changed_files, runs, "files.pipe")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
