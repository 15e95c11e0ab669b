#!/usr/bin/env python3
"""What a text test cannot stage: full disks, missing rights, Ctrl-C, memory budgets, monstrous files.

bad_input.py [--program P] [FILTER]

Each gives one clear message and the exit status that is promised (1 the work failed, 2 the call or the
pipeline was wrong), leaves old files as they were and no half ones behind, and never dies by a signal.
Closing line: N passed, N failed.
"""
import argparse
import gzip
import json
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

from program import ENV, TooLong, finish

ROOT = pathlib.Path(__file__).resolve().parent.parent
MB = 1_000_000
NOBODY = 65534
BESIDE_BUFFERS = 16  # MB: stacks, plans, what the allocator holds
ENDLESS = "range(10) | repeat() | map(x -> x + 1)"
IMAGES = """files("$DIR/images/train-*") | repeat()
| interleave(f -> tfrecord(f), cycle_length=2)
| map(r -> parse_example(r, {"image/encoded": bytes}))
| map({"image/encoded": jpeg} -> random_resized_crop(decode_jpeg(jpeg, channels=3), 64, 64))
| shuffle(8) | batch(4)
"""


class Wrong(Exception):
    """An expectation that was not met."""


def expect(condition, what):
    if not condition:
        raise Wrong(what)


class Outcome:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def gives(self, status, *words):
        """One message with these words, and this exit status."""
        lines = [x for x in self.err.rstrip("\n").split("\n") if not x.startswith("Try: ")]
        expect(self.status == status, f"exit {self.status}, not {status}: {self.err.strip()}")
        expect(all(w in self.err for w in words), f"{words} is not in: {self.err.strip()}")
        expect(len(lines) == 1, f"more than one line: {self.err.strip()}")
        return self


class Stage:
    """A folder with data, and the program in it."""

    def __init__(self, program, folder):
        self.dir = pathlib.Path(folder)
        os.chmod(folder, 0o755)  # for the tests as another user
        self.program = shutil.copy(program, self.dir / "penstock")
        self.run(["synth", "imagenet", "$DIR/images", "--elements", "8", "--shards", "2"])
        self.write("slow.pipe", "range(100) | map(x -> x + 1) | batch(7)\n")

    def fill(self, text):
        return text.replace("$DIR", str(self.dir))

    def write(self, name, text):
        path = self.dir / name
        path.write_bytes(text if isinstance(text, bytes) else self.fill(text).encode())
        return str(path)

    def start(self, args, pipe=None, before=None, env=None, stdout=subprocess.PIPE):
        p = subprocess.Popen([self.program, *map(self.fill, args)], cwd=self.dir, stdin=subprocess.PIPE, stdout=stdout,
                             stderr=subprocess.PIPE, preexec_fn=before, start_new_session=True,
                             env={**os.environ, **ENV, **(env or {})})
        if pipe is not None:
            p.stdin.write(self.fill(pipe).encode())
        p.stdin.close()
        p.stdin = None
        return p

    def end(self, p):
        try:
            out, err = finish(p)
        except TooLong as e:
            raise Wrong(str(e)) from None
        return Outcome(p.returncode, (out or b"").decode("utf-8", "replace"), err.decode("utf-8", "replace"))

    def run(self, args, pipe=None, **how):
        return self.end(self.start(args, pipe, **how))

    def temporary_files(self):
        return [str(p) for p in self.dir.rglob("*.tmp-*")]


# --- Where files are written

WRITERS = {  # command that writes $OUT
    "trace": ["trace", "$DIR/slow.pipe", "-o", "$OUT"],
    "run --checkpoint": ["run", "$DIR/slow.pipe", "--checkpoint", "$OUT"],
    "explain": ["explain", "$DIR/slow.pipe", "--seconds", "0.1", "--html", "$OUT"],
    "optimize": ["optimize", "$DIR/slow.pipe", "--trace-seconds", "0.1", "--no-measure", "-o", "$OUT"],
    "optimize --html": ["optimize", "$DIR/slow.pipe", "--trace-seconds", "0.1", "--seconds", "0.1", "--html", "$OUT"],
    "synth": ["synth", "text", "$OUT", "--elements", "2000", "--shards", "1"],
    "fmt": ["fmt", "$OUT"],
}


def write_to(stage, name, out, **how):
    return stage.run([a.replace("$OUT", str(out)) for a in WRITERS[name]], **how)


def old_file(name, out):
    """What stands at `out` before: a file, a folder for synth."""
    if name == "synth":
        out.mkdir()
        return {}
    text = "range( 3 )" + " | take( 3 )" * 200 + "\n"
    out.write_text(text, encoding="utf-8")
    return text


def unchanged(name, out, old):
    now = {p.name: p.read_text() for p in out.iterdir()} if name == "synth" else out.read_text(encoding="utf-8")
    expect(now == old, f"{out} has changed")
    left = list(out.parent.rglob("*.tmp-*"))
    expect(not left, f"left behind: {left}")


def full_disk(stage, name):
    disk = stage.dir / "disk"
    disk.mkdir(exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "penstock", disk], stderr=subprocess.DEVNULL).returncode:
        print(f"  full disk, {name}: left out, no right to mount a small one")
        return
    try:
        out = disk / "out"
        old = old_file(name, out)
        with open(disk / "rest", "wb", buffering=0) as rest:
            try:
                while rest.write(bytes(4096)):
                    pass
            except OSError:
                pass
        write_to(stage, name, out).gives(1, "RESOURCE_EXHAUSTED: write: ", str(out), "No space left")
        unchanged(name, out, old)
    finally:
        subprocess.run(["umount", disk], check=True)


def small_file_limit(stage, name):
    """As full as a disk, and possible for everyone: no file longer than 10 bytes."""
    out = stage.dir / "limited"
    old = old_file(name, out)
    try:
        write_to(stage, name, out, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))).gives(
            1, "RESOURCE_EXHAUSTED: write: ", str(out), "File too large")
        unchanged(name, out, old)
    finally:
        shutil.rmtree(out) if out.is_dir() else out.unlink()


def no_file_of_its_own(stage, name):
    """A pipe stays a pipe: writing would rename a file over it, over /dev/null as well."""
    out = stage.dir / "fifo"
    os.mkfifo(out)
    try:
        write_to(stage, name, out).gives(1, "INVALID_ARGUMENT: write: ", str(out), "not a regular file")
        expect(out.is_fifo(), "the pipe is gone")
    finally:
        out.unlink()


def through_a_link(stage):
    (stage.dir / "target").write_text("old")
    (stage.dir / "link").symlink_to("target")
    result = write_to(stage, "optimize", stage.dir / "link")
    expect(result.status == 0, result.err)
    expect((stage.dir / "link").is_symlink(), "the link is gone")
    expect("range(100)" in (stage.dir / "target").read_text(), "the file behind the link is not written")


def closed_output(stage):
    with open("/dev/full", "wb") as full:
        stage.run(["show", "-"], "range(3)", stdout=full).gives(1, "standard output", "No space left")


def closed_pipe(stage):
    """Who reads standard output has gone, as `head` does: the command ends, and says nothing."""
    for args, pipe in ((["ops"], None), (["ops", "lookup"], None), (["--help"], None), (["fmt", "-"], "range(3)"),
                       (["show", "-"], "range(3)"), (["run", "-", "--json"], "range(3)"),
                       (["show", "-", "--limit", "1000000000000"], "range(1000000000000)"),
                       (["show", "-", "--jsonl", "--limit", "1000000000000"], "range(1000000000000)")):
        read, write = os.pipe()
        os.close(read)
        with open(write, "wb") as pipe_end:
            result = stage.run(args, pipe, stdout=pipe_end)
        expect((result.status, result.err) == (128 + signal.SIGPIPE, ""), f"{args}: exit {result.status}: {result.err}")


def no_regular_files(stage):
    """A pipe that nobody writes to stands where a file is expected: an error at once, and no waiting."""
    fifo = stage.dir / "never"
    os.mkfifo(fifo)
    try:
        refused = "not a regular file, but a pipe"
        for pipe in (f'text_line("{fifo}")', f'tfrecord("{fifo}")', f'npz("{fifo}", fields={{x: int64}})',
                     f'from_list(["{fifo}"]) | map(f -> read_file(f))'):
            stage.run(["run", "-"], pipe).gives(1, refused)
        for pipe in (f'load("{fifo}")', f'npy("{fifo}")', f'import "{fifo}"\nrange(3)', f'csv("{fifo}", header=true)',
                     f'range(1) | map(i -> load_array("{fifo}"))',
                     f'range(1) | map(i -> lookup(vocabulary("{fifo}"), "a"))'):
            result = stage.run(["run", "-"], pipe)
            expect(result.status == 2 and refused in result.err, f"{pipe}: exit {result.status}: {result.err}")
        stage.run(["run", "-", "--checkpoint", str(fifo), "--resume"], "range(3)").gives(2, refused)
        stage.run(["predict", str(fifo), "--bandwidth", "1Gbit"]).gives(2, refused)
    finally:
        fifo.unlink()
    cached = 'range(3) | cache("$DIR/piped")'
    expect(stage.run(["run", "-"], cached).status == 0, "the cache is not filled")
    entry, = (stage.dir / "piped").glob("*.snapshot")
    entry.unlink()
    os.mkfifo(entry)
    result = stage.run(["run", "-", "--json"], cached)
    expect(json.loads(result.out)["elements"] == 3 and refused in result.err, result.err)


def synth_keeps_files(stage):
    """Nothing is replaced, and a set that cannot be whole is not there."""
    args = ["synth", "translation", "$DIR/pairs", "--elements", "50", "--shards", "2"]
    out = stage.dir / "pairs"
    stage.run(args, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))).gives(
        1, "RESOURCE_EXHAUSTED: write: ", "File too large")
    expect(not out.exists(), f"left: {list(out.rglob('*')) if out.exists() else ''}")
    expect(stage.run(args).status == 0, "not made")
    whole = {p.name: p.read_bytes() for p in out.iterdir()}
    stage.run(args + ["--seed", "7"]).gives(1, "ALREADY_EXISTS: write: ", str(out), "the file exists")
    expect({p.name: p.read_bytes() for p in out.iterdir()} == whole, "files have changed")
    expect(stage.run(args + ["--seed", "7", "--overwrite"]).status == 0, "not replaced")
    now = {p.name: p.read_bytes() for p in out.iterdir()}
    expect(now.keys() == whole.keys() and now != whole, "the same files, other bytes")


def damaged_cache(stage):
    """Bits flipped anywhere in an entry: the same elements, and a new entry."""
    pipe = 'range(3000) | shuffle(700) | map(x -> (x, fill([40], x), as_string(x))) | cache("$DIR/flipped")'
    run = ["run", "-", "--digest", "--json"]
    digest = digest_of(stage.run(run, pipe))
    entry, = (stage.dir / "flipped").glob("*.snapshot")
    whole = entry.read_bytes()
    for at in range(20, len(whole), len(whole) // 12):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << at % 8
        entry.write_bytes(damaged)
        result = stage.run(run, pipe)
        expect(digest_of(result) == digest, f"byte {at}: other elements")
        again = stage.run(run, pipe)
        expect(digest_of(again) == digest and not again.err, f"byte {at}: the entry is not written again: {again.err}")


def messages_of_libraries(stage):
    """What a library thinks of a damaged file stands in our message alone."""
    recorded = gzip.decompress((ROOT / "tests/cluster/embmlp/step_006.pb.gz").read_bytes())
    for at in range(1000, len(recorded), len(recorded) // 20):
        path = stage.write("damaged.pb", recorded[:at] + b"\xff\xfe" + recorded[at + 2:])
        result = stage.run(["predict", path, "--bandwidth", "1Gbit", "--replications", "1"])
        expect("libprotobuf" not in result.err, result.err)


# --- Caches on disk

FILLS = 'range(60000) | map(x -> fill([4], x)) | cache("$DIR/cache") | batch(7)'


def digest_of(result):
    expect(result.status == 0, result.err)
    return json.loads(result.out)["digest"]


def cache_folder(stage):
    folder = stage.dir / "cache"
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def in_cache(folder):
    return sorted(p.suffix for p in folder.iterdir())


def run_fill(stage, pipe=FILLS, **how):
    return stage.run(["run", "-", "--json", "--digest"], pipe, **how)


def two_fill_one_cache(stage):
    """Several processes at once: each gives all elements, one entry is there in the end."""
    folder = cache_folder(stage)
    right = digest_of(run_fill(stage, FILLS.replace(' | cache("$DIR/cache")', "")))
    started = [stage.start(["run", "-", "--json", "--digest"], FILLS) for _ in range(4)]
    results = [stage.end(p) for p in started]
    expect({digest_of(r) for r in results} == {right}, "the elements differ")
    expect(all(not r.err for r in results), f"{[r.err for r in results]}")
    expect(in_cache(folder) == [".snapshot"], f"in the cache: {in_cache(folder)}")
    expect(digest_of(run_fill(stage)) == right, "the entry holds something else")


def killed_while_it_fills(stage):
    """What a killed process leaves is no entry, and is cleared away by the next one."""
    folder = cache_folder(stage)
    p = stage.start(["run", "-"], FILLS.replace("60000", "1000000000"))
    in_the_middle(p)
    p.kill()
    stage.end(p)
    expect(in_cache(folder) and ".snapshot" not in in_cache(folder), f"in the cache: {in_cache(folder)}")
    p = stage.start(["run", "-"], FILLS.replace("60000", "1000000000"))
    in_the_middle(p)
    p.send_signal(signal.SIGINT)
    stage.end(p)
    expect(not in_cache(folder), f"in the cache: {in_cache(folder)}")


def cache_on_a_full_disk(stage):
    """The run goes on without the cache, says so once, and leaves nothing."""
    folder = cache_folder(stage)
    right = digest_of(run_fill(stage, FILLS.replace(' | cache("$DIR/cache")', "")))
    limited = run_fill(stage, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)))
    expect(digest_of(limited) == right, "the elements differ")
    limited.gives(0, "penstock: cache: ", str(folder), "File too large", "going on without it")
    expect(not in_cache(folder), f"in the cache: {in_cache(folder)}")
    folder.rmdir()
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "penstock", folder], stderr=subprocess.DEVNULL).returncode:
        print("  cache on a full disk: a small one is left out, no right to mount it")
        return
    try:
        full = run_fill(stage)
        expect(digest_of(full) == right, "the elements differ")
        full.gives(0, "penstock: cache: ", str(folder), "No space left", "going on without it")
        expect(not in_cache(folder), f"in the cache: {in_cache(folder)}")
    finally:
        subprocess.run(["umount", folder], check=True)


def cache_of_another_plan(stage):
    """An entry with the right name and another plan's elements of another type is made anew."""
    folder = cache_folder(stage)
    right = digest_of(run_fill(stage))
    entry = next(folder.glob("*.snapshot"))
    stage.run(["run", "-"], 'range(5) | save("$DIR/other")').gives(0)
    shutil.copy(stage.dir / "other", entry)
    expect(digest_of(run_fill(stage)) == right, "another plan's entry was taken")
    expect(in_cache(folder) == [".snapshot"] and entry.stat().st_size > 60000, "the entry was not made anew")


# --- Rights

def as_nobody():
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def without_rights(stage):
    """A file and folders that another user cannot read, list or write."""
    shutil.copytree(stage.dir / "images", stage.dir / "secret")
    first = sorted((stage.dir / "secret").iterdir())[0]
    pipe = stage.write("secret.pipe", "range(3)")
    folders = stage.dir / "locked", stage.dir / "readable"
    for folder in folders:
        folder.mkdir()
    os.chmod(first, 0)
    os.chmod(pipe, 0)
    os.chmod(folders[0], 0)
    os.chmod(folders[1], 0o555)
    return first


def unreadable_data(stage, first):
    names = sorted(str(p) for p in (stage.dir / "secret").iterdir())
    pipe = f"tfrecord({json.dumps(names)}) | map(r -> 1)"
    stage.run(["run", "-"], pipe, before=as_nobody).gives(
        1, "penstock run: element 0: PERMISSION_DENIED: tfrecord: open: ", str(first), "Permission denied")
    lines = stage.run(["show", "-", "--jsonl"], pipe, before=as_nobody).out.splitlines()
    kinds = [next(iter(json.loads(line))) for line in lines]
    expect(kinds == ["spec", "error"] + ["element"] * 4 + ["end"], f"the other file's records do not follow: {kinds}")


def rights(stage):
    first = without_rights(stage)
    unreadable_data(stage, first)
    stage.run(["run", "$DIR/secret.pipe"], before=as_nobody).gives(2, "penstock run: open: ", "secret.pipe: Permission denied")
    for folder in ("locked", "locked/deeper"):
        stage.run(["run", "-"], f'files("$DIR/{folder}/*") | flat_map(f -> tfrecord(f))', before=as_nobody).gives(
            2, "refused: PERMISSION_DENIED: files: list: ", "locked", "Permission denied")
    for name in WRITERS:
        if name != "fmt":
            write_to(stage, name, stage.dir / "readable/out", before=as_nobody).gives(
                1, "PERMISSION_DENIED", "readable/out", "Permission denied")


# --- Ctrl-C

INTERRUPTED = {  # arguments, pipeline, exit status, words on standard error
    "run": (["run", "-"], ENDLESS, 1, "cancelled after"),
    "run: decoding": (["run", "-", "--threads", "4"], IMAGES, 1, "cancelled after"),
    "run: as written": (["run", "-", "--no-optimize"], IMAGES, 1, "cancelled after"),
    "run: nothing comes": (["run", "-"], ENDLESS + " | filter(x -> x > 100)", 1, "cancelled after 0 elements"),
    "run: a global shuffle": (["run", "-"], "range(4611686018427387904) | map(x -> x + 1) | global_shuffle(seed=1) | filter(x -> x < 0)", 1,
                              "cancelled after 0 elements"),
    "run: filling a window": (["run", "-", "--memory", "1GB"], ENDLESS + " | shuffle(100000000)", 1, "cancelled after"),
    "run: a value": (["run", "-"], ENDLESS + " | reduce(0, (a, x) -> a + x)", 1, "penstock run: cancelled"),
    "show": (["show", "-"], ENDLESS + " | filter(x -> x > 100)", 1, "penstock show: cancelled"),
    "show: an index": (["show", "-", "--at", "4999999999"], "range(5000000000) | shuffle(2)", 1, "penstock show: cancelled"),
    "trace": (["trace", "-", "-o", "$DIR/cut.trace"], ENDLESS, 0, ""),
    "explain": (["explain", "-", "--seconds", "100"], ENDLESS, 0, ""),
    "optimize: tracing": (["optimize", "-", "--trace-seconds", "100", "-o", "$DIR/cut.pipe"], ENDLESS, 1, "cancelled"),
    "optimize: measuring": (["optimize", "-", "--trace-seconds", "0.01", "--seconds", "100"], ENDLESS, 1, "cancelled"),
    "synth": (["synth", "imagenet", "$DIR/cut", "--elements", "100000", "--shards", "2"], None, 1, "penstock synth: cancelled"),
}


def cpu_ticks(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def in_the_middle(p):
    """Waits until the program has worked for a while."""
    while p.poll() is None and cpu_ticks(p.pid) < 30:
        time.sleep(0.01)  # between two looks
    expect(p.poll() is None, "it has ended by itself")


def interrupted(stage, name, number=signal.SIGINT):
    args, pipe, status, words = INTERRUPTED[name]
    p = stage.start(args, pipe)
    try:
        in_the_middle(p)
        p.send_signal(number)
    except Wrong as e:
        raise Wrong(f"{e}: {stage.end(p).err}") from None
    began = time.monotonic()
    result = stage.end(p)
    if words:
        result.gives(status, words)
    expect(result.status == status, f"exit {result.status}: {result.err}")
    expect(not stage.temporary_files(), f"left behind: {stage.temporary_files()}")
    expect(not (stage.dir / "cut.pipe").exists(), "a file that was not finished")
    return time.monotonic() - began


def interrupted_trace(stage):
    interrupted(stage, "trace")
    trace = json.loads((stage.dir / "cut.trace").read_text())
    expect(trace["interval"]["interrupted"] and not trace["interval"]["ended"], "the trace does not say so")
    expect(trace["interval"]["elements"] > 0, "the trace is empty")
    result = stage.run(["explain", "$DIR/cut.trace"])
    expect(result.status == 0, result.err)


def interrupted_checkpoint(stage):
    """What Ctrl-C leaves of a run that is saved can be taken up."""
    pipe = "range(1000000000) | map(x -> x + 1) | batch(4)"
    save = ["run", "-", "--checkpoint", "$DIR/saved", "--json"]
    p = stage.start(save, pipe)
    in_the_middle(p)
    p.send_signal(signal.SIGINT)
    first = json.loads(stage.end(p).out)
    again = json.loads(stage.run([*save, "--resume", "--steps", str(first["elements"] + 5)], pipe).out)
    expect(first["cancelled"] and 0 < first["elements"] == again["resumed_elements"], f"{first['elements']}, then {again}")


def interrupted_json(stage):
    p = stage.start(["run", "-", "--json"], ENDLESS)
    in_the_middle(p)
    p.send_signal(signal.SIGINT)
    said = json.loads(stage.end(p).out)
    expect(said["cancelled"] and not said["ended"] and said["elements"] > 0, f"{said['cancelled']}, {said['ended']}")


# --- Memory

ROWS = "range({n}) | map(x -> fill([1000], x))"  # 8000 bytes each
TIGHT = [ROWS.format(n=n) + rest for n, rest in (
    (400, " | batch(100)"),
    (400, " | shuffle(200) | batch(20) | prefetch(3)"),
    (3000, " | cache() | shuffle(100) | batch(32) | repeat(2) | prefetch()"),
    (400, " | padded_batch(100)"),
    (400, " | map(x -> (x, x)) | batch(50) | map((a, b) -> a + b)"),
    (400, " | flat_map(r -> from_tensor_slices(r) | batch(10))"),
    (400, " | interleave(r -> from_tensors(r) | repeat(3), cycle_length=16) | batch(8)"),
)]


def one_batch_too_large(stage):
    pipe = "range(4) | map(x -> fill([1000000], x)) | batch(4)"
    stage.run(["run", "-", "--memory", "8MiB"], pipe).gives(
        2, "refused: RESOURCE_EXHAUSTED: ", "bytes, the memory budget is 8388608", "--memory")


def one_row_too_large(stage):
    pipe = "range(6) | map(x -> fill([if x == 2 then 5000000 else x], x))"
    result = stage.run(["show", "-", "--jsonl", "--memory", "8MB"], pipe)
    lines = [json.loads(line) for line in result.out.splitlines()]
    kinds = [next(iter(line)) for line in lines]
    expect(kinds == ["spec", "element", "element", "error", "element", "element", "element", "end"], f"{kinds}")
    message = lines[3]["error"]["message"]
    expect(message.startswith("map: ") and "--memory" in message, message)


def one_line_too_large(stage):
    """A line beyond the budget is one error that says where it stands; the next line follows."""
    path = stage.dir / "long_line"
    path.write_bytes(b"1\n" + b"7" * 20_000_000 + b"\n3\n")
    for pipe in (f'text_line("{path}")', f'csv("{path}", [""])'):
        result = stage.run(["show", "-", "--jsonl", "--memory", "8MB"], pipe)
        lines = [json.loads(line) for line in result.out.splitlines()]
        kinds = [next(iter(line)) for line in lines]
        expect(kinds == ["spec", "element", "error", "element", "end"], f"{pipe}: {kinds}")
        message = lines[2]["error"]["message"]
        expect(f"{path}: offset 2" in message, message)


def no_crash_in_any_budget(stage):
    for pipe in TIGHT:
        for budget in ("1kB", "20kB", "100kB", "1MB", "2MB", "3MB", "5MB", "8MB", "20MB", "27MB", "30MB"):
            for threads in ("1", "4"):
                result = stage.run(["run", "-", "--memory", budget, "--threads", threads], pipe)
                expect(result.status in (0, 1, 2) and (result.status == 0 or "memory budget" in result.err
                                                       and (result.status == 2 or "RESOURCE_EXHAUSTED" in result.err)),
                       f"{pipe} in {budget}: exit {result.status}: {result.err.strip()}")


# Pipelines that pass on one thread in a budget that is small for what 8 threads would like to hold.
WAITS = {  # budget, pipeline
    "images": ("10MB", 'files("$DIR/pictures/*") | map(f -> read_file(f)) | map(b -> resize(decode_jpeg(b, channels=3), [32, 32])) '
                       '| ignore_errors()'),
    "large values in a row": ("120MB", "range(12) | map(x -> reduce_sum(sort(random_uniform([3000000])))) | ignore_errors()"),
    "large files": ("12MB", 'files("$DIR/large/*") | map(f -> read_file(f)) | map(b -> size(b)) | batch(4) | ignore_errors()'),
    "large rows": ("30MB", "range(40) | map(x -> fill([400000 + 100000 * (x % 7)], x)) | map(a -> reduce_sum(a)) | ignore_errors()"),
    "rows that grow": ("40MB", "range(30) | map(x -> fill([if x == 20 then 2000000 else 200000], x)) | map(a -> a + 1) | ignore_errors()"),
    "batches": ("40MB", "range(64) | map(x -> fill([100000], x)) | batch(8) | map(b -> reduce_sum(b, axis=1)) | ignore_errors()"),
    "two stages": ("50MB", "range(40) | map(x -> sort(fill([300000], x))) | shuffle(4) | map(a -> reduce_sum(sort(a))) | ignore_errors()"),
    "flat_map": ("80MB", "range(12) | flat_map(x -> range(3) | map(y -> reduce_sum(sort(fill([1000000], x + y))))) | ignore_errors()"),
    "interleave": ("80MB", "range(12) | interleave(x -> range(3) | map(y -> reduce_sum(sort(fill([1000000], x + y)))), "
                           "cycle_length=4) | ignore_errors()"),
    "zip": ("60MB", "zip(range(20) | map(x -> fill([700000], x)), range(20) | map(x -> reduce_sum(sort(fill([700000], x))))) | ignore_errors()"),
    "a value": ("150MB", "range(12) | map(x -> reduce_sum(sort(fill([2000000], x)))) | reduce(0, (s, x) -> s + x)"),
    "a cache in each row": ("4MB", "range(2000) | flat_map(x -> range(1000) | cache() | repeat(2)) | ignore_errors()"),
    "caches that are not finished": ("2MB", "range(20000) | cache() | take(15000) | repeat(30) | ignore_errors()"),
    "a cache that is too large": ("12MB", 'files("$DIR/large/*") | map(f -> read_file(f)) | cache() | repeat(2) | map(b -> size(b)) | ignore_errors()'),
}


def png(width, height, grey):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (bytes([0]) + bytes([grey]) * width * 3) * height
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def waits_for_room(stage, name):
    """Work ahead waits for memory: the elements are those of one thread."""
    budget, pipe = WAITS[name]
    for folder, content in (("large", lambda i: bytes([i]) * (2_000_000 + i)), ("pictures", lambda i: png(1700, 1200, i))):
        if not (stage.dir / folder).exists():
            (stage.dir / folder).mkdir()
            for i in range(12):
                (stage.dir / f"{folder}/{i:02}").write_bytes(content(i))
    results = []
    for threads in ("1", "2", "8"):
        value = name == "a value"
        args = ["run", "-", "--json", "--memory", budget, "--threads", threads, *(() if value else ("--digest",))]
        r = stage.run(args, pipe)
        expect(r.status == 0, f"{threads} threads: exit {r.status}: {r.err.strip()}")
        said = json.loads(r.out)
        results.append(said if value else (said["elements"], said["digest"], [i["count"] for i in said["ignored_errors"]]))
        if name == "a cache that is too large":
            expect(any("cache: given up" in n for n in said.get("notes", [])), f"{threads} threads: {r.out}")
    expect(results[0] == results[1] == results[2], f"1, 2 and 8 threads: {results}")
    expect(name == "a value" or results[0][2] == [], f"it does not fit on one thread: {results[0]}")


# Operators that remember something of each element, and would do so for ever.
HOARDERS = {  # pipeline, what the message counts
    "group_by_reducer": ("range(4000000) | group_by_reducer(x -> x, init=k -> 0, reduce=(s, x) -> s, finalize=s -> s)", "keys"),
    "group_by_window": ("range(4000000) | group_by_window(x -> x, (k, w) -> w, 10)", "keys"),
    "bucket_by_sequence_length": ("range(4000000) | map(x -> [x]) | bucket_by_sequence_length(a -> 1, [10], [100000000, 1])", "elements"),
    "unique": ("range(4000000) | unique()", "elements"),
}


def hoarders(stage, name):
    pipe, counted = HOARDERS[name]
    result = stage.run(["run", "-", "--memory", "16MB"], pipe)
    result.gives(1, f"RESOURCE_EXHAUSTED: {name}: the memory budget of 15 MiB is used up with ", counted, "--memory")
    # The same in a budget that is large enough, and all of it is given back.
    stage.run(["run", "-", "--memory", "2GB", "--steps", "1000"],
              pipe.replace("4000000", "20000").replace("100000000", "100"))


def shuffled_objects(stage):
    """Sparse and nested elements count, not only the numbers in them."""
    for each in ("map(x -> sparse(indices=[[0]], values=[x], shape=[4]))", "window(1)"):
        pipe = "range({0}) | " + each + " | shuffle({0})"
        stage.run(["run", "-", "--memory", "16MB"], pipe.format(400000)).gives(
            1, "RESOURCE_EXHAUSTED: shuffle: the memory budget of 15 MiB is used up", "--memory")
        expect(stage.run(["run", "-", "--memory", "16MB"], pipe.format(4000)).status == 0, "a few do not fit")


def peak_memory(stage, pipe, budget="64MB", threads="2"):
    result = stage.run(["run", "-", "--json", "--memory", budget, "--threads", threads], pipe)
    expect(result.status == 0, result.err)
    return json.loads(result.out)["peak_memory_bytes"]


def budget_is_kept(stage):
    """Resident memory beyond that of an empty run, against the budget of buffers."""
    if b"__asan_init" in pathlib.Path(stage.program).read_bytes():
        print("  memory: the budget is kept: left out, sanitizers have memory of their own")
        return
    base = peak_memory(stage, "range(0)")
    most = 0
    for pipe in (ROWS.format(n=4000) + " | cache() | shuffle(1000) | batch(32) | repeat(3) | prefetch()",
                 ROWS.format(n=4000) + " | cache() | shuffle(1000) | batch(32) | repeat(3) | prefetch(100)",
                 ROWS.format(n=40000) + " | shuffle(4000) | batch(32) | prefetch()"):
        for threads in ("1", "2", "8"):
            most = max(most, peak_memory(stage, pipe, threads=threads) - base)
    print(f"  peak memory under --memory 64MB: {most / MB:.0f} MB beyond the {base / MB:.0f} MB of an empty run")
    expect(most > 20 * MB, "that little cannot be the whole pipeline")
    expect(most <= (64 + BESIDE_BUFFERS) * MB, f"{most} bytes, the budget is 64 MB")


# --- Threads that the system refuses

LONELY = 54321  # a user that runs nothing else: the limit counts all threads of a user
THREADED = {
    "chain": "range(1000) | map(x -> x + 1)",
    "parallel map": "range(1000) | map(x -> x + 1, num_parallel_calls=4) | batch(10)",
    "prefetch": "range(1000) | batch(10) | prefetch(2)",
    "read ahead": 'files("$DIR/images/train-*") | interleave(f -> tfrecord(f), cycle_length=2) | map(r -> size(r))',
    "files of a map": 'files("$DIR/images/train-*") | map(f -> size(read_file(f))) | prefetch()',
}


# The leak checker starts a thread of its own.
NO_LEAK_CHECK = {"ASAN_OPTIONS": ENV.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


def with_threads(most):
    def before():
        os.setgroups([])
        os.setgid(LONELY)
        os.setuid(LONELY)
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    return before


def few_threads(stage, name):
    """Fewer threads do the same; where one is needed and there is none, the message says so."""
    if os.getuid() != 0:
        print(f"  threads: {name}: left out, only root can become a user without other threads")
        return
    args = ["run", "-", "--json", "--threads", "4", "--digest"]
    right = stage.run(args, THREADED[name])
    expect(right.status == 0, right.err)
    results = [stage.run(args, THREADED[name], before=with_threads(most), env=NO_LEAK_CHECK) for most in range(1, 8)]
    for most, r in enumerate(results, 1):
        if r.status != 0:
            opened_by_a_row = name == "read ahead"
            r.gives(1 if opened_by_a_row else 2, "RESOURCE_EXHAUSTED: ", "starts no thread", "ulimit -u")
            expect(name != "chain" and most < 6, f"refused with {most} threads")
        else:
            expect(digest_of(r) == digest_of(right), f"other elements with {most} threads")


def few_threads_elsewhere(stage):
    if os.getuid() != 0:
        return
    before = with_threads(1)
    os.chmod(stage.dir, 0o777)
    result = stage.run(["synth", "text", "$DIR/few", "--elements", "2000", "--shards", "4"], before=before, env=NO_LEAK_CHECK)
    expect(result.status == 0, result.err)
    result = stage.run(["run", "-", "--steps", "3", "--seconds", "60"], "range(10)", before=before, env=NO_LEAK_CHECK)
    expect(result.status == 0, result.err)


# --- Runs that give no element in their time

NOTHING_COMES = "range(4611686018427387904) | filter(x -> x < 0)"
LATE = "range(100000000) | map(x -> reduce_sum(sort(fill([1000], x)))) | shuffle(100000000)"
IN_TIME = {  # arguments, words on standard output
    "run": (["run", "-", "--seconds", "0.2"], "no element came in that time"),
    "trace": (["trace", "-", "-o", "$DIR/late.trace", "--seconds", "0.2"], "no element came in that time"),
    "explain": (["explain", "-", "--seconds", "0.2"], "no element came out"),
    "explain functions": (["explain", "-", "--functions"], "of 0 rows"),
    "optimize": (["optimize", "-", "--trace-seconds", "0.2", "--seconds", "0.2"], "no element came in the time of a trace"),
}


def ends_in_time(stage, name):
    args, words = IN_TIME[name]
    for pipe in (NOTHING_COMES, LATE):
        if name == "explain functions" and pipe != NOTHING_COMES:
            continue  # functions in front of the shuffle have their rows
        result = stage.run([*args, "--memory", "1GB"], pipe + " | map(x -> x + 1)" * (name == "explain functions"))
        expect(result.status == 0, f"exit {result.status}: {result.err}")
        expect(words in " ".join(result.out.split()), result.out)


# --- Monstrous files

DEEP = {
    "brackets": "range(3) | map(x -> " + "(" * 10000 + "x" + ")" * 10000 + ")",
    "lists": "range(3) | map(x -> " + "[" * 10000 + "x" + "]" * 10000 + ")",
    "never closed": "range(3) | map(x -> " + "{a: (" * 10000,
    "minus": "range(3) | map(x -> " + "-" * 10000 + "x)",
    "if": "range(3) | map(x -> " + "if x == 0 then 1 else " * 10000 + "x)",
    "pipelines": "range(3) | " + "flat_map(x -> range(2) | " * 10000 + "take(1)" + ")" * 10000,
    "lambdas": "range(3) | map(" + "x -> " * 10000 + "x)",
    "stages": "range(3)" + " | take(2)" * 10001,
    "sums": "range(3) | map(x -> x" + " + 1" * 10001 + ")",
    "fields": "range(3) | map(x -> x" + ".a" * 10001 + ")",
    "functions in functions": "let f0 = x -> x + 1\n" + "".join(
        f"let f{i} = x -> f{i - 1}(f{i - 1}(x))\n" for i in range(1, 60)) + "range(3) | map(x -> f59(x))",
}
TOO_MUCH = ("nesting is deeper than 200", "more than 10000", "too large once its functions are expanded")


def refused_with_a_caret(result, name, words):
    lines = result.err.rstrip("\n").split("\n")
    expect(result.status == 2, f"exit {result.status}: {result.err[:300]}")
    expect(lines[0].startswith(name) and any(w in lines[0] for w in words), lines[0])
    expect(len(lines) == 3 and set(lines[2]) <= {" ", "^"} and max(map(len, lines)) < 400, result.err[:1000])


def too_deep(stage, name):
    path = stage.write("deep.pipe", DEEP[name])
    for command in (["run"], ["show", "--plan"], ["explain"]):
        refused_with_a_caret(stage.run([command[0], path, *command[1:]]), path, TOO_MUCH)
    result = stage.run(["fmt", "--check", path])
    expect(result.status in (1, 2), f"fmt: exit {result.status}")


def too_long(stage):
    for text in ("# " + "x" * (2 << 20) + "\nrange(3)\n", "range(3)" + " | take(3)\n" * 220_000, "\n" * (2 << 20)):
        path = stage.write("long.pipe", text)
        for command in ("run", "fmt"):
            refused_with_a_caret(stage.run([command, path]), path, ["larger than 1 MiB", "more than 10000"])


def no_pipeline_at_all(stage):
    """Files that hold something else, or nothing."""
    for name, text, word in (("empty.pipe", b"", "no pipeline"), ("zeros.pipe", bytes(1000), "byte 0"),
                             ("jpeg.pipe", b"\xff\xd8\xff\xe0" * 100, ""), ("cut.trace", b'{"schema": "penstock.trace", "program": "range(3', "is not JSON"),
                             ("other.trace", b'{"schema": "penstock.trace"}', "version: is missing"), ("other.json", b'{"program": 3}', "not a dataset")):
        result = stage.run(["run", stage.write(name, text)])
        expect(result.status == 2 and word in result.err and name in result.err, f"{name}: {result.status}: {result.err}")
        expect(len(result.err.rstrip("\n").split("\n")) <= 3, result.err)
    stage.run(["run", "$DIR"]).gives(2, "penstock run: ", str(stage.dir), "Is a directory")
    stage.run(["run", "$DIR/none.pipe"]).gives(2, "none.pipe: No such file or directory")
    stage.run(["fmt", "$DIR/none.pipe"]).gives(2, "none.pipe: No such file or directory")
    stage.run(["run", "/dev/zero"]).gives(2, "/dev/zero", "more than")


def odd_arguments(stage):
    for args in (["show", "-", "--passes", "abc"], ["show", "-", "--at", "1x"], ["show", "-", "--at", "9" * 30],
                 ["run", "-", "--steps", "-1"], ["run", "-", "--seconds", "soon"], ["run", "-", "--memory", "64 apples"],
                 ["run", "-", "--set", "x"], ["run", "-", "--tune", "loud"], ["trace", "-"], ["synth", "imagenet"],
                 ["synth", "clouds", "x"]):
        stage.run(args, "range(3)").gives(2, f"penstock {args[0]}: ")


def cases(stage):
    """-> (name, function)"""
    for name in WRITERS:
        yield f"full disk: {name}", lambda name=name: full_disk(stage, name)
        yield f"file size limit: {name}", lambda name=name: small_file_limit(stage, name)
        if name not in ("synth", "fmt"):
            yield f"no regular file: {name}", lambda name=name: no_file_of_its_own(stage, name)
    yield "through a link", lambda: through_a_link(stage)
    yield "full standard output", lambda: closed_output(stage)
    yield "closed standard output", lambda: closed_pipe(stage)
    yield "pipes for files", lambda: no_regular_files(stage)
    yield "synth: whole or not there", lambda: synth_keeps_files(stage)
    yield "messages of libraries", lambda: messages_of_libraries(stage)
    yield "cache: damaged", lambda: damaged_cache(stage)
    yield "cache: several processes", lambda: two_fill_one_cache(stage)
    yield "cache: killed", lambda: killed_while_it_fills(stage)
    yield "cache: full disk", lambda: cache_on_a_full_disk(stage)
    yield "cache: another plan", lambda: cache_of_another_plan(stage)
    yield "no permission", lambda: rights(stage)
    for name in INTERRUPTED:
        yield f"Ctrl-C: {name}", lambda name=name: interrupted(stage, name)
    yield "Ctrl-C: a valid trace", lambda: interrupted_trace(stage)
    yield "Ctrl-C: a checkpoint", lambda: interrupted_checkpoint(stage)
    yield "Ctrl-C: --json", lambda: interrupted_json(stage)
    yield "SIGTERM: run", lambda: interrupted(stage, "run: decoding", signal.SIGTERM)
    for name in THREADED:
        yield f"threads: {name}", lambda name=name: few_threads(stage, name)
    yield "threads: elsewhere", lambda: few_threads_elsewhere(stage)
    for name in IN_TIME:
        yield f"in time: {name}", lambda name=name: ends_in_time(stage, name)
    yield "memory: one batch", lambda: one_batch_too_large(stage)
    yield "memory: one row", lambda: one_row_too_large(stage)
    yield "memory: one line", lambda: one_line_too_large(stage)
    for name in HOARDERS:
        yield f"memory: held by {name}", lambda name=name: hoarders(stage, name)
    yield "memory: shuffled objects", lambda: shuffled_objects(stage)
    for name in WAITS:
        yield f"memory: {name}", lambda name=name: waits_for_room(stage, name)
    yield "memory: any budget", lambda: no_crash_in_any_budget(stage)
    yield "memory: the budget is kept", lambda: budget_is_kept(stage)
    for name in DEEP:
        yield f"10000 deep: {name}", lambda name=name: too_deep(stage, name)
    yield "2 MiB", lambda: too_long(stage)
    yield "no pipeline", lambda: no_pipeline_at_all(stage)
    yield "odd arguments", lambda: odd_arguments(stage)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("filter", nargs="?", default="")
    ap.add_argument("--program", default=str(ROOT / "build/dev/penstock"))
    a = ap.parse_args()
    passed = failed = 0
    slowest = 0.0
    with tempfile.TemporaryDirectory(prefix="penstock-bad-") as folder:
        stage = Stage(os.path.abspath(a.program), folder)
        for name, check in cases(stage):
            if a.filter not in name:
                continue
            began = time.monotonic()
            try:
                slowest = max(slowest, check() or 0)
                passed += 1
            except (Wrong, OSError, ValueError) as e:
                failed += 1
                print(f"FAIL {name}\n    {e}", flush=True)
            if time.monotonic() - began > 15:
                print(f"  {name}: {time.monotonic() - began:.0f} s", flush=True)
    if slowest:
        print(f"  from Ctrl-C to the end: {1000 * slowest:.0f} ms at most")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
