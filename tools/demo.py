#!/usr/bin/env python3
"""The main job, end to end: ./dev demo

Makes data, writes a slow pipeline, explains it, optimizes it, measures both in turn, and prints
the result. Nothing here is tuned for it: the optimizer sees only the files and the
pipeline, like any other.
"""
import glob
import json
import os
import statistics
import subprocess
import sys

PROGRAM = "build/release/penstock"
DIR = "build/demo"
DATA = DIR + "/imagenet"
ELEMENTS = 1500
EPOCHS = 3
BATCH = 128
ROUNDS = 3

SLOW = f'''# ImageNet training, written the way one begins: one thing after the other
param epochs = {EPOCHS}
let mean = [123.675, 116.28, 103.53]
let deviation = [58.395, 57.12, 57.375]

files("{DATA}/train-*")
| interleave(f -> tfrecord(f), cycle_length=4, num_parallel_calls=1)
| map(r -> parse_example(r, {{"image/encoded": bytes, "image/class/label": int64}}), num_parallel_calls=1)
| map({{"image/encoded": jpeg, "image/class/label": label}} -> {{image: decode_jpeg(jpeg, channels=3), label}}, num_parallel_calls=1)
| map({{image, label}} -> {{image: float32(image), label}}, num_parallel_calls=1)
| map({{image, label}} -> {{image: random_resized_crop(image, 224, 224), label}}, num_parallel_calls=1)
| map({{image, label}} -> {{image: random_flip_left_right(image), label}}, num_parallel_calls=1)
| map({{image, label}} -> {{image: (image - mean) / deviation, label}}, num_parallel_calls=1)
| batch({BATCH}, drop_remainder=true)
| repeat(epochs)
'''


def say(text):
    print("\n" + text, flush=True)


def penstock(*args):
    print("$ penstock " + " ".join(args), flush=True)
    subprocess.run([PROGRAM, *args], check=True)


def run(pipe, *args):
    done = subprocess.run([PROGRAM, "run", pipe, "--json", *args], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def forget_files():
    """Drops the data from the page cache, so that the next run reads it from the disk."""
    for path in glob.glob(DATA + "/*"):
        fd = os.open(path, os.O_RDONLY)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


def make_data():
    stamp = DATA + "/made"
    if os.path.exists(stamp) and open(stamp).read() == str(ELEMENTS):
        print(f"{DATA}: there already")
        return
    penstock("synth", "imagenet", DATA, "--elements", str(ELEMENTS))
    with open(stamp, "w") as f:
        f.write(str(ELEMENTS))


def middle(runs, key):
    return statistics.median(r[key] for r in runs)


def images_per_second(r):
    return r["elements"] * BATCH / r["seconds"]


def table(rows):
    width = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    for i, (name, *cells) in enumerate(rows):
        print(f"  {name:{width[0]}}" + "".join(f"  {c:>{w}}" for c, w in zip(cells, width[1:])))
        if i == 0:
            print("  " + "-" * (sum(width) + 2 * len(width) - 2))


def main():
    os.makedirs(DIR, exist_ok=True)
    slow, fast = DIR + "/slow.pipe", DIR + "/fast.pipe"
    html, result = DIR + "/report.html", DIR + "/result.json"
    say("1. Data: photo-like JPEGs in TFRecord files, as ImageNet has them")
    make_data()
    say(f"2. A slow pipeline: {slow}")
    with open(slow, "w") as f:
        f.write(SLOW)
    print(SLOW, end="")
    as_written = ("--no-optimize", "--tune", "off")
    say("3. What holds it back")
    penstock("explain", slow, *as_written, "--full")
    say("4. The same data, faster")
    print("$ penstock optimize " + slow + " -o " + fast, flush=True)
    subprocess.run([PROGRAM, "optimize", slow, "-o", fast, "--html", html, "--seconds", "4"], check=True)
    plan = json.loads(subprocess.run([PROGRAM, "optimize", slow, "--no-measure", "--json"], check=True,
                                     stdout=subprocess.PIPE).stdout)
    say(f"5. All measured: {EPOCHS} epochs each, in turn, {ROUNDS} times; slow.pipe exactly as written, slow.pipe as\n"
        "   `penstock run` runs it by default, and fast.pipe")
    ways = {"slow": (slow, *as_written), "default": (slow,), "fast": (fast,)}
    digests = {name: run(*way, "--digest") for name, way in ways.items()}
    runs = {name: [] for name in ways}
    for k in range(ROUNDS):
        for name in sorted(ways, reverse=k % 2 == 1):
            runs[name].append(run(*ways[name]))
            print(f"  round {k + 1}: {name} {images_per_second(runs[name][-1]):.0f} images/s", flush=True)
    one_epoch = digests["slow"]["elements"] // EPOCHS
    cold = {}
    for name, way in ways.items():
        forget_files()
        cold[name] = images_per_second(run(*way, "--steps", str(one_epoch)))
    rate = {name: statistics.median(map(images_per_second, r)) for name, r in runs.items()}
    cpu = {name: 1000 * middle(r, "cpu_seconds") / (r[0]["elements"] * BATCH) for name, r in runs.items()}
    peak = {name: middle(r, "peak_memory_bytes") for name, r in runs.items()}
    first = {name: middle(r, "first_element_seconds") for name, r in runs.items()}
    predicted = plan["predicted"]["value"] * BATCH
    same = len({d["digest"] for d in digests.values()}) == 1
    say("6. What came of it")

    def row(what, show):
        return (what, *(show(name) for name in ways))
    table([
        ("", "slow, as written", "slow, by default", "fast"),
        row(f"images/s, {EPOCHS} epochs, warm files", lambda n: f"{rate[n]:.0f}"),
        row("  least and most of the rounds",
            lambda n: f"{min(map(images_per_second, runs[n])):.0f} to {max(map(images_per_second, runs[n])):.0f}"),
        row("images/s, one epoch, cold files", lambda n: f"{cold[n]:.0f}"),
        row("CPU-ms per image", lambda n: f"{cpu[n]:.2f}"),
        row("peak memory, MB", lambda n: f"{peak[n] / 1e6:.0f}"),
        row("time to first batch, ms", lambda n: f"{1000 * first[n]:.0f}"),
        ("predicted images/s", "", "", f"{predicted:.0f}"),
        ("predicted / measured", "", "", f"{predicted / rate['fast']:.2f}"),
        row("speedup", lambda n: f"{rate[n] / rate['slow']:.2f}x"),
    ])
    print(f"\n  same data: {'yes' if same else 'NO'}, digest "
          + " and ".join(sorted({d["digest"] for d in digests.values()})))
    print(f"  report: {html}")
    with open(result, "w") as f:
        json.dump({"slow_rate": rate["slow"], "fast_rate": rate["fast"], "predicted_rate": predicted,
                   "default_rate": rate["default"], "speedup": rate["fast"] / rate["slow"], "same_data": same,
                   "slow_digest": digests["slow"]["digest"], "fast_digest": digests["fast"]["digest"],
                   "slow_cpu_ms_per_image": cpu["slow"], "fast_cpu_ms_per_image": cpu["fast"],
                   "slow_peak_memory_bytes": peak["slow"], "fast_peak_memory_bytes": peak["fast"],
                   "slow_first_batch_seconds": first["slow"], "fast_first_batch_seconds": first["fast"],
                   "cold_slow_rate": cold["slow"], "cold_fast_rate": cold["fast"],
                   "epochs": EPOCHS, "rounds": ROUNDS}, f, indent=2)
        f.write("\n")
    return 0 if same else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as e:
        sys.exit(f"demo: {' '.join(e.cmd)} failed with status {e.returncode}")
