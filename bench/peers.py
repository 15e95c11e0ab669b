#!/usr/bin/env python3
"""Runs the same pipelines in Penstock and in tf.data, in turn on this machine.

peers.py [--program P] [--tiny] [--venv DIR]

Run by `./dev bench --peers`. Text and click logs have pipelines of their own for tf.data, plain and in blocks by hand
(bench/tfdata/text.py); each form is measured once. Makes a virtual environment with tensorflow-cpu (some 600 MB, once) and data in a
folder of its own. Each side drains each row twice; the faster run counts: wall and CPU time per
element, or bytes per second for files. tf.data drains inside its own runtime (`skip` after the last batch), so that the
figures include no Python call. Prints one JSON object; without TensorFlow, the reason.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from random import Random

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = "tensorflow-cpu==2.21.0"
PACKAGES = [PACKAGE, "tokenizers==0.23.3", "sentencepiece==0.2.3"]

# Rows to drain: elements for Penstock and for tf.data (which may take fewer), the unit, both pipelines. N is the number
# of elements, D the folder of data, B the bytes of the row's file.
ROWS = {
    "tiny chain, batch(128)": {
        "elements": (20_000_000, 50_000),
        "pipe": "range(N) | map(x -> x + 1) | filter(x -> x % 2 == 0) | batch(128)",
        "tf": "R(N).map(lambda x: x + 1).filter(lambda x: x % 2 == 0).batch(128)"},
    "the same, vectorised by hand in 1024": {
        "elements": (20_000_000, 1_000_000),
        "pipe": "range(N) | batch(1024) | map(x -> x + 1) | map(x -> boolean_mask(x, x % 2 == 0)) | rebatch(128)",
        "tf": "R(N).batch(1024).map(lambda x: x + 1).map(lambda x: tf.boolean_mask(x, x % 2 == 0)).rebatch(128)"},
    "shuffle(10000), batch(128)": {
        "elements": (10_000_000, 500_000),
        "pipe": "range(N) | shuffle(10000, seed=1) | batch(128)",
        "tf": "R(N).shuffle(10000, seed=1).batch(128)"},
    "rows of 0 to 59, padded_batch(64)": {
        "elements": (2_000_000, 20_000),
        "pipe": "range(N) | map(x -> fill([x % 60], x)) | padded_batch(64)",
        "tf": "R(N).map(lambda x: tf.fill([x % 60], x)).padded_batch(64)"},
    "TFRecord, 100 KB": {
        "file": "large.tfrecord", "pipe": 'tfrecord("D/large.tfrecord") | batch(8)',
        "tf": "tf.data.TFRecordDataset('D/large.tfrecord').batch(8)"},
    "TFRecord, 256 B": {
        "file": "small.tfrecord", "pipe": 'tfrecord("D/small.tfrecord") | batch(128)',
        "tf": "tf.data.TFRecordDataset('D/small.tfrecord').batch(128)"},
    "text lines, 100 B": {
        "file": "lines.txt", "pipe": 'text_line("D/lines.txt") | batch(128)',
        "tf": "tf.data.TextLineDataset('D/lines.txt').batch(128)"},
    "csv, 40 columns": {
        "file": "table.csv", "rows": True,
        "pipe": 'csv("D/table.csv", columns=[' + ", ".join(["int64"] * 14 + ["bytes"] * 26) + "]) | batch(128)",
        "tf": "tf.data.experimental.CsvDataset('D/table.csv', [tf.int64] * 14 + [tf.string] * 26).batch(128)"},
}

# Text: the pipeline (a file of examples/, or its text), its tf.data counterpart, and rows by kind of synth data.
TEXT = {
    "split, to_number, filter, shuffle, padded_batch": {
        "pipe": 'text_line("numbers.txt") | map(s -> to_number(split(s))) | filter(x -> size(x) > 2) '
                "| shuffle(10000, seed=1) | padded_batch(64)",
        "tf": ["numbers_plain", "numbers_blocks"], "rows": "lines"},
    "split, lookup in 32 k words, filter, shuffle, bucket": {
        "pipe": 'let words = vocabulary("words.vocab", default=0)\ntext_line("words.txt") | map(s -> lookup(words, split(s))) '
                "| filter(x -> size(x) > 2) | shuffle(10000, seed=1) "
                "| bucket_by_sequence_length(x -> size(x), [10, 20, 30], [64, 64, 64, 64])",
        "tf": ["words_plain", "words_blocks"], "rows": "lines"},
    "examples/gnmt_text": {"tf": ["gnmt_text_plain", "gnmt_text_blocks"], "rows": "translation"},
    "examples/dlrm": {"tf": ["dlrm_plain", "dlrm_blocks"], "rows": "clicks", "set": ["batch_size=8192"]},
    "examples/dlrm_csv": {"tf": ["dlrm_csv_plain", "dlrm_csv_dataset", "dlrm_csv_blocks"], "rows": "clicks",
                          "set": ["batch_size=8192"]},
    "encode by a BPE model": {
        "pipe": 'let model = bpe("bpe.json")\ntext_line("translation/train.en") | map(s -> encode(model, s)) | prefetch(1)',
        "peer": ["tokens.bpe_library()"], "rows": "translation"},
    "encode by a SentencePiece model": {
        "pipe": 'let model = sentencepiece("translation/pieces.model")\n'
                'text_line("translation/train.en") | map(s -> encode(model, s)) | prefetch(1)',
        "peer": ["tokens.sentencepiece_library()"], "rows": "translation"},
}
TEXT_ROWS = {"lines": 200_000, "translation": 50_000, "clicks": 200_000}

# Runs in the virtual environment: prints a line of JSON for each line of Python on standard input.
DRAIN = r"""
import json, os, resource, sys, time
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
sys.path.insert(0, sys.argv[1])
import tensorflow as tf
import text, tokens
R = tf.data.Dataset.range
def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
for line in sys.stdin:
    ds = eval(line).skip(2**31 - 1)
    wall, used = time.perf_counter(), cpu()
    for _ in ds:
        pass
    print(json.dumps([time.perf_counter() - wall, cpu() - used]), flush=True)
"""

MAKE = r"""
import os, random, sys
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
import tensorflow as tf
folder, megabytes = sys.argv[1], int(sys.argv[2])
def records(name, size):
    record = bytes(random.Random(1).randrange(256) for _ in range(size))
    with tf.io.TFRecordWriter(f"{folder}/{name}") as out:
        for _ in range(megabytes * 1_000_000 // size):
            out.write(record)
records("large.tfrecord", 100_000)
records("small.tfrecord", 256)
with open(f"{folder}/lines.txt", "w") as out:
    for i in range(megabytes * 10_000):
        out.write(f"{i:099d}\n")
with open(f"{folder}/table.csv", "w") as out:
    for i in range(megabytes * 1000):
        out.write(",".join([str(i * k % 100_003) for k in range(14)] + [f"{i * k % 65_521:08x}" for k in range(26)]) + "\n")
"""


def peer_python(folder):
    """-> (its python, None), or (None, reason why there is none)."""
    python = pathlib.Path(folder) / "bin/python"
    try:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True, text=True)
        if subprocess.run([python, "-c", "import tensorflow, tokenizers, sentencepiece"], capture_output=True).returncode:
            subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True, capture_output=True,
                           text=True, timeout=900)
    except subprocess.CalledProcessError as e:
        return None, f"{PACKAGE} cannot be installed: {(e.stderr or e.stdout or str(e)).strip()[-300:]}"
    except (OSError, subprocess.TimeoutExpired) as e:
        return None, f"{PACKAGE} cannot be installed: {e}"
    return str(python), None


def ours(program, text, folder=None, words=()):
    out = subprocess.run([program, "run", "--json", "-", *words], input=text, capture_output=True, text=True, cwd=folder)
    if out.returncode:
        raise SystemExit(f"{text}\n{out.stderr}{out.stdout}")
    result = json.loads(out.stdout)
    return result["seconds"], result["cpu_seconds"]


def theirs(peer, text):
    peer.stdin.write(text + "\n")
    peer.stdin.flush()
    line = peer.stdout.readline()
    if not line:
        raise SystemExit(f"tf.data died of {text}")
    return tuple(json.loads(line))


def figures(best, row, count, folder):
    """Converts the fastest of several runs: (wall, CPU) for `count` elements, or for the row's file."""
    wall, cpu = best
    if "file" not in row:
        return {"ns_per_element": wall / count * 1e9, "cpu_ns_per_element": cpu / count * 1e9}
    path = folder / row["file"]
    if row.get("rows"):
        with open(path, "rb") as f:
            rows = sum(1 for _ in f)
        return {"us_per_row": wall / rows * 1e6, "cpu_us_per_row": cpu / rows * 1e6}
    size = path.stat().st_size
    return {"gb_per_s": size / wall / 1e9, "gb_per_cpu_s": size / cpu / 1e9}


def make_text(program, folder, rows):
    random = Random(1)
    with open(folder / "numbers.txt", "w") as numbers, open(folder / "words.txt", "w") as words:
        for _ in range(rows["lines"]):
            numbers.write(" ".join(str(random.randrange(100_000)) for _ in range(random.randrange(1, 40))) + "\n")
            words.write(" ".join(f"word{random.randrange(36_000)}" for _ in range(random.randrange(1, 40))) + "\n")
    (folder / "words.vocab").write_text("".join(f"word{i}\n" for i in range(32_768)))
    for kind in ("translation", "clicks"):
        subprocess.run([program, "synth", kind, kind, "--elements", str(rows[kind])], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)


def compare_text(program, peer, folder, tiny):
    rows = {kind: n // (10 if tiny else 1) for kind, n in TEXT_ROWS.items()}
    make_text(program, folder, rows)
    theirs(peer, "tokens.Work(tokens.train_bpe)")
    out = {}
    for name, row in TEXT.items():
        words = [word for setting in row.get("set", []) for word in ("--set", setting)]
        pipe = row.get("pipe") or (ROOT / f"{name}.pipe").read_text(encoding="utf-8")
        n = rows[row["rows"]]
        mine = min(ours(program, pipe, folder, words)[1] for _ in range(1 if tiny else 3)) / n * 1e6
        out[name] = {"penstock": {"cpu_us_per_row": mine}}
        for form in row.get("peer") or [f"text.{name}()" for name in row["tf"]]:
            us = min(theirs(peer, form)[1] for _ in range(1 if tiny else 2)) / n * 1e6
            out[name][form.partition(".")[2].removesuffix("()")] = {"cpu_us_per_row": us, "times": us / mine}
    return out


def compare(program, python, folder, tiny):
    subprocess.run([python, "-c", MAKE, str(folder), "2" if tiny else "50"], check=True)
    out = {}
    with subprocess.Popen([python, "-c", DRAIN, ROOT / "bench/tfdata"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, cwd=folder) as peer:
        theirs(peer, "R(10).batch(2)")  # warm-up: work that is done once
        for name, row in ROWS.items():
            counts = [n // (100 if tiny else 1) for n in row.get("elements", (0, 0))]

            def filled(text, count):
                return text.replace("(N)", f"({count})").replace("D/", f"{folder}/")

            runs = [(ours(program, filled(row["pipe"], counts[0])), theirs(peer, filled(row["tf"], counts[1])))
                    for _ in range(1 if tiny else 2)]
            mine, other = (figures(min(r[i] for r in runs), row, counts[i], folder) for i in range(2))
            unit = next(iter(mine))
            ratio = other[unit] / mine[unit] if "per_s" not in unit else mine[unit] / other[unit]
            out[name] = {"penstock": mine, "tf.data": other, "times_as_fast": ratio}
        out.update(compare_text(program, peer, folder, tiny))
        peer.stdin.close()
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--program", default=str(ROOT / "build/release/penstock"))
    ap.add_argument("--tiny", action="store_true")
    ap.add_argument("--venv", default=str(ROOT / "build/peers"))
    a = ap.parse_args()
    python, missing = peer_python(a.venv)
    if missing:
        print(json.dumps({"skipped": missing}))
        return
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="penstock-peers-") as folder:
        rows = compare(os.path.abspath(a.program), python, pathlib.Path(folder), a.tiny)
    print(json.dumps({"peer": PACKAGE, "cores": len(os.sched_getaffinity(0)), "load_before": load,
                      "load_after": os.getloadavg()[0], **rows}, indent=1))


if __name__ == "__main__":
    main()
