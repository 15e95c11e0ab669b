"""Runs that are killed again and again: shared by tests/checkpoint.py and bench/kills.py.

Each pipeline is run with --checkpoint and --resume, killed at random moments and started anew, on other
numbers of threads, until enough kills have hit it; then it may end. The checkpoint carries the digest of the
elements in their order, so that an element lost, given twice or out of place shows in the last one.
"""
import json
import os
import pathlib
import random
import signal
import subprocess
import time

# Each holds something: slots of a shuffle, open files, a batch being filled, rates of a mixture.
PIPELINES = {
    "records": 'files("{d}/train-*") | interleave(f -> tfrecord(f), cycle_length=3, block_length=2,'
               ' num_parallel_calls=2) | shuffle(300, seed=5) | map(r -> parse_example(r, {{"image/encoded": bytes,'
               ' "image/class/label": int64}}), num_parallel_calls=2) | map({{"image/encoded": e,'
               ' "image/class/label": l}} -> {{n: string_length(e), l, u: random_uniform(seed=3)}})'
               ' | batch(4) | repeat(40) | prefetch(2)',
    "flat_map": 'range(3000) | flat_map(x -> range(x % 7) | map(y -> x * 10 + y)) | filter(x -> x % 3 != 1)'
                ' | shuffle(500, seed=1) | batch(16) | repeat(60)',
    "lines": 'files("{d}/lines-*") | interleave(f -> text_line(f), cycle_length=4, block_length=3)'
             ' | enumerate() | map((i, l) -> {{i, n: string_length(l)}}) | shuffle(200, seed=2)'
             ' | batch(8, drop_remainder=true) | repeat(40)',
    "pack_sequences": 'range(60000) | shuffle(1000, seed=7) | map(x -> fill([x % 30 + 1], x))'
                      ' | pack_sequences(64, window=8) | batch(4) | repeat(2)',
    "mixture": 'sample_from_datasets([range(200000) | shuffle(100, seed=1), counter(7, 3), range(90)'
               ' | repeat()], weights=[5.0, 3.0, 1.0], seed=4) | take(400000) | batch(32)',
    "bucket": 'range(60000) | map(x -> fill([x * 7919 % 40 + 1], x)) | bucket_by_sequence_length(v -> size(v),'
              ' boundaries=[10, 20, 30], batch_sizes=[16, 8, 6, 4]) | repeat(2) | prefetch(4)',
    "window": 'range(150000) | window(5, shift=3) | flat_map(w -> w | batch(5)) | map(b -> sum(b))'
              ' | batch(32) | repeat(2)',
    "group_by_window": 'range(80000) | map(x -> x * 7919 % 65536) | group_by_window(x -> x % 17,'
                       ' (k, w) -> w | batch(10), window_size=10) | map(b -> sum(b)) | batch(16)',
    "scan": 'range(200000) | scan(1, (s, x) -> ((s * 48271 + x) % 2147483647, s)) | rejection_resample('
            'x -> x % 3, target_dist=[0.5, 0.3, 0.2], seed=1) | map((c, x) -> x) | batch(16) | rebatch([3, 5])',
    "sharded": 'range(90000) | shuffle(2000, seed=3) | shard(3, 1) | shuffle(300, seed=9)'
               ' | padded_batch(8) | repeat(2)',
    "states": 'range(9000) | map(x -> x * 7 % 3000) | unique() | batch(3) | map(b -> sum(b))'
              ' | concatenate(range(4000) | group_by_reducer(x -> x % 400, init=k -> k, reduce=(s, x) -> s + x,'
              ' finalize=s -> s)) | repeat(40)',
}


def make_data(program, folder):
    subprocess.run([program, "synth", "imagenet", folder, "--elements", "24", "--shards", "4"], check=True,
                   stdout=subprocess.DEVNULL)
    rng = random.Random(1)
    for i in range(6):
        lines = "".join("x" * rng.randrange(60) + "\n" for _ in range(300 + 50 * i))
        pathlib.Path(folder, f"lines-{i}").write_text(lines, encoding="utf-8")


def result(returncode, out, err):
    if returncode != 0:
        raise AssertionError(f"exit {returncode}: {err.strip()}")
    answer = json.loads(out)
    return answer["elements"], answer["digest"]


def run(program, args):
    p = subprocess.run([program, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return result(p.returncode, p.stdout, p.stderr)


def kill_again_and_again(program, name, folder, kills, rng):
    """-> what happened; raises AssertionError for a run that fails by itself."""
    pipe, file = os.path.join(folder, name + ".pipe"), os.path.join(folder, name + ".checkpoint")
    pathlib.Path(pipe).write_text(PIPELINES[name].format(d=folder), encoding="utf-8")
    whole = run(program, ["run", "--digest", "--json", pipe])
    # So many checkpoints in a run: each is synced to disk, which takes as long as the disk likes.
    every = [str(max(1, whole[0] // n)) for n in (5, 15, 40)]
    seconds = time.monotonic()
    run(program, ["run", "--json", "--checkpoint", file, "--checkpoint-every", every[1], pipe])
    seconds = time.monotonic() - seconds
    os.remove(file)
    out = {"kills": 0, "starts": 0, "resumes": 0, "checkpoint_bytes": 0}
    while True:
        args = ["run", "--json", "--digest", "--checkpoint", file, "--checkpoint-every", rng.choice(every),
                "--resume", "--threads", str(rng.choice([1, 2, 8])), *rng.choice([[], ["--no-optimize"]]), pipe]
        out["starts"] += 1
        out["resumes"] += os.path.exists(file)
        if out["kills"] == kills:
            ended = run(program, args)
            break
        p = subprocess.Popen([program, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            result(*(lambda o: (p.returncode, *o))(p.communicate(timeout=rng.uniform(0.01, 0.6 * seconds))))
            os.remove(file)  # it reached its end: start over, kills are what is wanted
        except subprocess.TimeoutExpired:
            p.send_signal(signal.SIGKILL)
            p.communicate()
            out["kills"] += 1
            if os.path.exists(file):
                out["checkpoint_bytes"] = max(out["checkpoint_bytes"], os.path.getsize(file))
    missing = whole[0] - ended[0]
    return {**out, "elements": whole[0], "elements_lost": max(0, missing), "elements_twice": max(0, -missing),
            "same_digest": ended[1] == whole[1]}
