#!/usr/bin/env python3
"""Kills a run again and again, and checks that it ends as if nothing had happened.

checkpoint.py PROGRAM [--kills N] [--seed S]

A `penstock run --checkpoint F --checkpoint-every N --resume` over real files gets SIGKILL at a random
moment and is started anew, on another number of threads, until N kills have hit it; then it may end. The
digest and the number of elements must be those of an undisturbed run. Closing line: N passed, N failed.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent))
from program import ENV  # noqa: E402

# Each stage holds something: slots of a shuffle, open files, a batch being filled, what was seen, sums by key.
PIPELINES = {
    "records": 'files("{d}/train-*") | interleave(f -> tfrecord(f), cycle_length=3, block_length=2,'
               ' num_parallel_calls=2) | shuffle(300, seed=5) | map(r -> parse_example(r, {{"image/encoded": bytes,'
               ' "image/class/label": int64}}), num_parallel_calls=2) | map({{"image/encoded": e,'
               ' "image/class/label": l}} -> {{n: string_length(e), l, u: random_uniform(seed=3)}})'
               ' | batch(4) | repeat(40) | prefetch(2)',
    "numbers": 'range(3000) | flat_map(x -> range(x % 7) | map(y -> x * 10 + y)) | filter(x -> x % 3 != 1)'
               ' | shuffle(500, seed=1) | batch(16) | repeat(60)',
    "states": 'range(9000) | map(x -> x * 7 % 3000) | unique() | batch(3) | map(b -> sum(b))'
              ' | concatenate(range(4000) | group_by_reducer(x -> x % 400, init=k -> k, reduce=(s, x) -> s + x,'
              ' finalize=s -> s)) | repeat(40)',
}


def run(program, args, **more):
    return subprocess.run([program, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def result(p):
    if p.returncode != 0:
        raise AssertionError(f"exit {p.returncode}: {p.stderr.strip()}")
    out = json.loads(p.stdout)
    return out["elements"], out["digest"]


def judge(program, pipe, folder, kills, rng):
    whole = result(run(program, ["run", "--digest", "--json", pipe]))
    seconds = time.monotonic()
    result(run(program, ["run", "--json", pipe]))
    seconds = time.monotonic() - seconds
    file = os.path.join(folder, "checkpoint")
    hit = sizes = 0
    while True:
        args = ["run", "--json", "--digest", "--checkpoint", file, "--checkpoint-every", str(rng.choice([5, 40, 300])),
                "--resume", "--threads", str(rng.choice([1, 2, 8])), pipe]
        if hit == kills:
            ended = result(run(program, args))
            break
        p = subprocess.Popen([program, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            out, err = p.communicate(timeout=rng.uniform(0.01, 0.7 * seconds + 0.05))
            if p.returncode != 0:
                raise AssertionError(f"exit {p.returncode}: {err.strip()}")
            ended = json.loads(out)
            os.remove(file)  # it reached its end: start over, kills are what is wanted
        except subprocess.TimeoutExpired:
            p.send_signal(signal.SIGKILL)
            p.communicate()
            hit += 1
            if os.path.exists(file):
                sizes = max(sizes, os.path.getsize(file))
    if ended != whole:
        raise AssertionError(f"after {kills} kills: {ended}, undisturbed: {whole}")
    return sizes


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("program")
    ap.add_argument("--kills", type=int, default=50)
    ap.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    a = ap.parse_args()
    program = os.path.abspath(a.program)
    os.environ.update(ENV)
    rng = random.Random(a.seed)
    print(f"seed {a.seed}")
    passed = failed = 0
    with tempfile.TemporaryDirectory() as d:
        subprocess.run([program, "synth", "imagenet", d, "--elements", "24", "--shards", "4"], check=True,
                       stdout=subprocess.DEVNULL)
        for name, text in PIPELINES.items():
            pipe = os.path.join(d, name + ".pipe")
            pathlib.Path(pipe).write_text(text.format(d=d), encoding="utf-8")
            try:
                size = judge(program, pipe, tempfile.mkdtemp(dir=d), a.kills // len(PIPELINES), rng)
                print(f"{name}: {a.kills // len(PIPELINES)} kills, checkpoints up to {size} bytes")
                passed += 1
            except AssertionError as e:
                print(f"FAIL {name}: {e}")
                failed += 1
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
