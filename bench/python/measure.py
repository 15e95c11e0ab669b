"""Runs one row of one library in a process of its own: measure.py LIBRARY ROW FOLDER COUNT. Prints a line of JSON.

LIBRARY is a file beside this one. It has a function for each row that it can do, which returns an iterable: `one_by_one(count)`
and `batches(count)` of small integers, `images_u8(folder, epochs)` and `images_float(folder, epochs)` in batches,
`first(folder)` in batches of decoded images. WORKERS is the number of its processes, if it has some.
"""
import importlib
import json
import os
import pathlib
import resource
import sys
import time


def cpu_seconds():
    """CPU time of this process, its threads, and its children, ended or not."""
    ended = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    out = sum(u.ru_utime + u.ru_stime for u in ended)
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        if int(fields[1]) == os.getpid():
            out += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return out


def peak_bytes(workers):
    """Most memory of this process, and as much for each worker as the largest had (what they share counts for each)."""
    own, largest = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return 1024 * (own + workers * largest)


def drain(iterable):
    """-> seconds, CPU seconds; an element costs nothing here but Python's loop."""
    began, cpu = time.perf_counter(), cpu_seconds()
    for _ in iterable:
        pass
    return time.perf_counter() - began, cpu_seconds() - cpu


def images(iterable, left_out):
    """-> seconds, CPU seconds, images after the first `left_out` batches: others were begun with them."""
    iterator = iter(iterable)
    for _ in range(left_out):
        next(iterator)
    began, cpu, count = time.perf_counter(), cpu_seconds(), 0
    for batch in iterator:
        count += len(batch)
    return time.perf_counter() - began, cpu_seconds() - cpu, count


def main():
    library, row, folder, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    module = importlib.import_module(library)
    if row == "first":
        batch = next(iter(module.first(folder)))
        print(json.dumps({"images": len(batch), "peak_bytes": peak_bytes(0)}), flush=True)
        os._exit(0)  # the time until here is what counts, not how it ends
    if row.startswith("images"):
        left_out = 4 if count > 1 else 1  # one epoch: a smoke test
        seconds, cpu, count = images(getattr(module, row)(folder, count), left_out)
    else:
        seconds, cpu = min(drain(getattr(module, row)(count)) for _ in range(3))
    peak = peak_bytes(getattr(module, "WORKERS", 0))
    print(json.dumps({"seconds": seconds, "cpu_seconds": cpu, "count": count, "peak_bytes": peak}))


if __name__ == "__main__":
    main()
