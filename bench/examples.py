#!/usr/bin/env python3
"""Measures each pipeline of examples/: rows per second of CPU time, next to tf.data where it was measured.

examples.py [--program P] [--tiny] [--seconds S] [--data DIR] [NAME ...]

Data comes from `penstock synth`, in DIR (kept, and reused if it exists) or in a temporary folder.
A row is an input of the last stage that makes batches. tf.data's figures are for one core of the same
kind of machine, for the same work on images of the same sizes. `./dev bench --peers` compares text and click logs
with tf.data on the same data.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import example_data  # noqa: E402

BATCHING = ("batch", "padded_batch", "bucket_by_sequence_length", "group_by_window")
# Rows per second of CPU time, tuned by an expert.
TF_DATA = {"resnet_train": {"tf_data": 1e3 / 2.02}, "resnet_unfused": {"tf_data": 1e3 / 2.02}}
ELEMENTS = {"imagenet": 1000, "images": 200, "coco": 150, "clicks": 200_000, "translation": 50_000,
            "documents": 2000, "speech": 200}
# Stages that would read all data before the first batch, or never fill a batch from this little data.
PARAMS = {"dlrm": ["batch_size=8192"], "dlrm_csv": ["batch_size=8192"], "asr": ["batch_divisor=4"],
          "simclr": ["batch_size=32"], "lm_memmap": ["steps=1000000"], "maskrcnn_train": ["replicas=1"],
          "resnet_eval": ["batch_size=128", "images=1000"]}


def rows_of(stages):
    by_id = {s["id"]: s for s in stages}
    for stage in sorted(stages, key=lambda s: s["id"]):
        if stage["op"] in BATCHING and stage["parent"] == -1 and stage["inputs"]:
            return by_id[stage["inputs"][0]]["elements"]
    return stages[0]["elements"]


def measure(program, folder, name, words, seconds, steps):
    command = [program, "run", example_data.FOLDER / f"{name}.pipe", *example_data.params(words), "--json",
               "--seconds", str(seconds), *(["--steps", str(steps)] if steps else [])]
    p = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600,
                       check=False)
    if p.returncode:
        raise SystemExit(f"{name}: exit {p.returncode}: {p.stderr[-1000:]}")
    result = json.loads(p.stdout)
    rows, cpu = rows_of(result["stages"]), max(result["cpu_seconds"], 1e-9)
    out = {"rows_per_core_second": rows / cpu, "us_per_row": cpu / max(rows, 1) * 1e6,
           "rows_per_second": rows / result["seconds"]}
    for peer, rate in TF_DATA.get(name, {}).items():
        out[peer] = rate
        out[f"times_{peer}"] = out["rows_per_core_second"] / rate
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("names", nargs="*")
    ap.add_argument("--program", default=str(ROOT / "build/release/penstock"))
    ap.add_argument("--tiny", action="store_true")
    ap.add_argument("--seconds", type=float, default=8)
    ap.add_argument("--data", metavar="DIR")
    a = ap.parse_args()
    program = os.path.abspath(a.program)
    names = a.names or example_data.pipelines()
    with tempfile.TemporaryDirectory(prefix="penstock-bench-examples-") as temporary:
        folder = pathlib.Path(a.data or temporary)
        if folder == pathlib.Path(temporary) or not folder.exists():
            folder.mkdir(exist_ok=True)
            example_data.make_data(program, names, folder, example_data.SMALL if a.tiny else ELEMENTS)
        for file in folder.rglob("*"):  # into the page cache: new files may have left it
            if file.is_file():
                file.read_bytes()
        params = example_data.SMALL_PARAMS if a.tiny else PARAMS
        results = {n: measure(program, folder, n, params.get(n, []), a.seconds, 1 if a.tiny else 0) for n in names}
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
