#!/usr/bin/env python3
"""Plants causes of slow pipelines and asks `penstock explain` for them.

verdicts.py [--program P] [--tiny] [--seconds S] [NAME ...]

Each case is a pipeline with one cause that is known: a slow disk (--throttle), a delay for each open, a serial stage,
too few cores, one slow element in 100, a slow consumer, other programs on the cores (busy loops that this program
starts and ends), small files, gzip. "wrong" counts answers that name another cause; "unclear" is an answer that names
none. A case is disturbed, neither right nor wrong, if programs that nobody planted took more than a tenth of the cores;
--wait S waits up to S seconds for a quiet machine before each case. NAME: cases whose name begins with it. --tiny runs
three cases.
"""
import argparse
import contextlib
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

# CPU of some 20 us to 2 ms an element, by its factor.
def work(n, x="x"):
    return f"sum(exp(fill([{n}], float32({x} % 7))))"


IMAGES = 'files("DATA/imagenet/train-*") | interleave(f -> tfrecord(f), cycle_length=2)'
PARSED = IMAGES + ' | map(r -> parse_example(r, {"image/encoded": bytes}))'
DECODED = PARSED + ' | map({"image/encoded": j} -> resize(decode_jpeg(j, channels=3), [64, 64]))'
ENDLESS = "range(1000000000)"
LINES = 'text_line("DATA/lines.txt") | repeat()'
SMALL = 'files("DATA/small/*") | repeat() | interleave(f -> text_line(f), cycle_length=4)'
CPU, STAGE, STORAGE, CONSUMER, OTHERS = ["cpu"], ["stage"], ["storage"], ["consumer"], ["other programs"]

# name: (holders that are right, a part of the stage's label or "", pipeline, flags, busy loops beside it)
CASES = {
    "cores: a map": (CPU, "map", f"{ENDLESS} | map(x -> {work(100000)})", [], 0),
    "cores: two maps": (CPU, "map 2", f"{ENDLESS} | map(x -> {work(20000)}) | shuffle(10) | map(x -> {work(60000)})", [], 0),
    "cores: batches": (CPU, "map", f"{ENDLESS} | map(x -> {work(100000)}) | batch(8)", [], 0),
    "cores: images": (CPU, "decode_jpeg", f"{DECODED} | repeat()", [], 0),
    "serial: a map": (STAGE, "map", f"{ENDLESS} | map(x -> {work(100000)}, num_parallel_calls=1)", [], 0),
    "serial: a scan": (STAGE, "scan", f"{ENDLESS} | scan(0.0, (s, x) -> (s + {work(100000)}, s))", [], 0),
    "serial: the second map": (STAGE, "map 2", f"{ENDLESS} | map(x -> {work(10000)}, num_parallel_calls=2) | shuffle(10) "
                               f"| map(y -> y + {work(100000, 'int64(y)')}, num_parallel_calls=1)", [], 0),
    "serial: batches": (STAGE, "map", f"{ENDLESS} | batch(4) | map(b -> {work(200000, 'b[0]')}, num_parallel_calls=1)", [], 0),
    "slow disk: images": (STORAGE, "tfrecord", f"{PARSED} | repeat()", ["--throttle", "bandwidth=4MB/s"], 0),
    "slow disk: decoded": (STORAGE, "tfrecord", f"{DECODED} | repeat()", ["--throttle", "bandwidth=5MB/s"], 0),
    "slow disk: text": (STORAGE, "text_line", LINES, ["--throttle", "bandwidth=3MB/s"], 0),
    "slow disk: no rate given": (STORAGE, "text_line", f'{LINES} | with_options(throttle="bandwidth=3MB/s")', [], 0),
    "delay: opens of small files": (STORAGE, "text_line", SMALL, ["--throttle", "open=20ms"], 0),
    "delay: opens, batched": (STORAGE, "text_line", f"{SMALL} | batch(8)", ["--throttle", "open=40ms"], 0),
    "delay: files in a function": (STORAGE, "", 'files("DATA/small/*") | repeat() | map(f -> read_file(f))',
                                   ["--throttle", "open=40ms"], 0),
    "delay: reads": (STORAGE, "text_line", LINES, ["--throttle", "read=200ms"], 0),
    "gzip: one file": (STAGE, "tfrecord", 'tfrecord("DATA/one.gz", compression="GZIP") | repeat()', [], 0),
    "gzip: several files": (STAGE + CPU, "tfrecord", 'files("DATA/*.gz") | repeat() | '
                            'interleave(f -> tfrecord(f, compression="GZIP"), cycle_length=2)', [], 0),
    "small files: cached": (STAGE + CPU, "", SMALL, [], 0),
    "consumer: fast input": (CONSUMER, "", f"{ENDLESS} | map(x -> {work(1000)})", ["--consumer", "5ms"], 0),
    "consumer: images": (CONSUMER, "", f"{DECODED} | repeat()", ["--consumer", "200ms"], 0),
    "consumer: batches": (CONSUMER, "", f"{LINES} | batch(32)", ["--consumer", "20ms"], 0),
    "others: a map": (OTHERS, "", f"{ENDLESS} | map(x -> {work(100000)})", [], 4),
    "others: images": (OTHERS, "", f"{DECODED} | repeat()", [], 4),
    "others: batches": (OTHERS, "", f"{ENDLESS} | map(x -> {work(50000)}) | batch(8)", [], 6),
    "others: text": (OTHERS, "", f"{LINES} | map(l -> string_length(l)) | batch(64)", [], 8),
    "slow elements: on all cores": (CPU + STAGE, "map", f"{ENDLESS} | map(x -> if x % 100 == 0 then {work(2000000)} "
                                    f"else {work(20000)})", [], 0),
    "slow elements: serial": (STAGE, "map", f"{ENDLESS} | map(x -> if x % 100 == 0 then {work(2000000)} "
                              f"else {work(20000)}, num_parallel_calls=1)", [], 0),
    "filling: shuffle": (CPU, "map", f"{ENDLESS} | map(x -> {work(100000)}) | shuffle(6000)", [], 0),
    "filling: shuffle of images": (CPU, "decode_jpeg", f"{DECODED} | repeat() | shuffle(1000)", [], 0),
}
DISTURBED = 0.1  # of the cores
TINY = ["serial: a map", "slow disk: text", "consumer: fast input"]


@contextlib.contextmanager
def busy_loops(n):
    """Other programs: n that take all the CPU they get."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for p in loops:
            p.kill()
            p.wait()


def make_data(program, folder, tiny):
    lines = "".join(f"line {i} of a text that is read again and again\n" for i in range(20_000))
    (folder / "lines.txt").write_text(lines, encoding="utf-8")
    if tiny:
        return
    subprocess.run([program, "synth", "imagenet", folder / "imagenet", "--elements", "400", "--shards", "4"], check=True,
                   stdout=subprocess.DEVNULL)
    (folder / "small").mkdir()
    for i in range(500):
        (folder / "small" / f"{i:04}.txt").write_text(f"file {i}\nends\n", encoding="utf-8")
    shards = sorted((folder / "imagenet").iterdir())
    for name in ("one.gz", "two.gz"):
        with gzip.open(folder / name, "wb", compresslevel=1) as out:
            for shard in shards:
                out.write(shard.read_bytes())


def cores_busy():
    """CPU seconds that all programs have taken so far."""
    fields = pathlib.Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()[1:]
    return sum(int(n) for i, n in enumerate(fields[:8]) if i not in (3, 4)) / os.sysconf("SC_CLK_TCK")


def wait_for_quiet(seconds):
    step, end = 0.5, time.monotonic() + seconds
    while time.monotonic() < end:
        before = cores_busy()
        time.sleep(step)
        if cores_busy() - before < DISTURBED * step * os.cpu_count():
            return


def ask(program, case, folder, seconds):
    right, stage, text, flags, loops = case
    with busy_loops(loops):
        p = subprocess.run([program, "explain", "-", "--json", "--seconds", str(seconds), *flags],
                           input=text.replace("DATA", str(folder)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           timeout=600, check=False)
    if p.returncode:
        raise SystemExit(f"{text}: exit {p.returncode}: {p.stderr[-1000:]}")
    out = json.loads(p.stdout)
    verdict = out["verdict"]
    said = verdict["holder"]
    label = "" if verdict["stage"] is None else out["stages"][verdict["stage"]]["label"]
    others = out["waits"]["other_cores"]
    is_right = said in right and stage in label
    disturbed = not is_right and not loops and others is not None and others >= DISTURBED * os.cpu_count()
    return {"planted": " or ".join(right), "said": said, "stage": label, "right": is_right, "disturbed": disturbed,
            "wrong": not is_right and not disturbed and said != "unclear", "verdict": verdict["text"]}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("names", nargs="*")
    ap.add_argument("--program", default=str(pathlib.Path(__file__).resolve().parent.parent / "build/release/penstock"))
    ap.add_argument("--tiny", action="store_true")
    ap.add_argument("--seconds", type=float)
    ap.add_argument("--wait", type=float, default=0)
    args = ap.parse_args()
    program = os.path.abspath(args.program)
    seconds = args.seconds or (0.2 if args.tiny else 2)
    names = TINY if args.tiny else [n for n in CASES if not args.names or any(n.startswith(a) for a in args.names)]
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        make_data(program, pathlib.Path(folder), args.tiny)
        for name in names:
            wait_for_quiet(args.wait)
            results[name] = ask(program, CASES[name], folder, seconds)
    width = max(map(len, names), default=0)
    lines = []
    for name, r in results.items():
        mark = next((k for k in ("right", "disturbed", "wrong") if r[k]), "unclear")
        lines.append(f"{name:{width}}  {r['planted']:14}  {r['said']:14}  {mark}")
        if not r["right"]:
            lines.append(f"{'':{width}}  {r['verdict']}")
    totals = {k: sum(r[k] for r in results.values()) for k in ("right", "wrong", "disturbed")}
    lines.append(f"{totals['right']} of {len(results)} right, {totals['wrong']} name another cause, "
                 f"{totals['disturbed']} disturbed by other programs")
    print(json.dumps({**totals, "of": len(results), "cases": [{"name": n, **r} for n, r in results.items()],
                      "text": "\n".join(lines)}, indent=1))


if __name__ == "__main__":
    main()
