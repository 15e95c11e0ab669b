#!/usr/bin/env python3
"""Penstock in Python beside what it is compared with: small elements, handing over, images, start.

python.py [--program P] [--tiny] [--peers] [--rounds N] [--venvs DIR]

Each row of each library runs in a process of its own (bench/python/measure.py, with NAME_rows.py beside it), libraries
in turn, N rounds; the median counts. --peers makes virtual environments with mlx-data, Grain, PyTorch, SPDL, DALI and tf.data
(some 9 GB, once); without it there are Penstock, its command line and bare nanobind. SPDL needs FFmpeg's libraries. A row
that a library cannot run says why. Prints one JSON object.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS = ROOT / "bench/python"
BATCH = 128  # images
# Library: its packages, the module that its users import, and how many epochs of images a round takes.
PEERS = {"mlx": (["mlx-data==0.1.0", "numpy"], "mlx.data", 4),
         "grain": (["grain==0.2.18", "pillow", "numpy"], "grain", 2),
         "torch": (["torch==2.15.0", "torchvision", "pillow", "numpy"], "torch", 2),
         "spdl": (["spdl==0.8.0", "numpy"], "spdl.pipeline, spdl.io", 2),
         "dali": (["nvidia-dali-cuda120==2.4.0", "numpy"], "nvidia.dali", 4),
         "tfdata": (["tensorflow-cpu==2.21.0"], "tensorflow", 2)}
SLOW = {"torch": 10, "spdl": 500, "tfdata": 20, "grain": 20}  # so many times fewer small elements
LIBRARIES = {"penstock": "penstock", **{name: peer[1] for name, peer in PEERS.items()}}


def tests_python():
    """tests/python.py, which builds the package."""
    sys.path.append(str(ROOT / "tests"))
    spec = importlib.util.spec_from_file_location("tests_python", ROOT / "tests/python.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Side:
    """A library and the interpreter that has it."""

    def __init__(self, name, python, env=None):
        self.name, self.python, self.env = name, python, {**(env or os.environ), "PYTHONDONTWRITEBYTECODE": ""}

    def run(self, *command):
        """-> the last line that it prints, as JSON, or {"left_out": why}."""
        done = subprocess.run([self.python, *map(str, command)], capture_output=True, text=True, env=self.env,
                              cwd=ROWS)
        if done.returncode:
            return {"left_out": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1][:300]}
        return json.loads(done.stdout.splitlines()[-1])

    def row(self, row, folder, count):
        return self.run("measure.py", f"{self.name}_rows", row, folder, count)


def peer_sides(folder):
    """-> sides, and the reasons why others are absent."""
    sides, absent = [], {}
    for name, (packages, _, _) in PEERS.items():
        python = folder / name / "bin/python"
        try:
            if not (folder / name / "whole").exists():
                for command in ([sys.executable, "-m", "venv", "--clear", folder / name],
                                [python, "-m", "pip", "install", "--quiet", *packages]):
                    subprocess.run(command, check=True, capture_output=True, text=True, timeout=1800)
                (folder / name / "whole").touch()
            sides.append(Side(name, python))
        except (OSError, subprocess.SubprocessError) as e:
            said = (getattr(e, "stderr", "") or str(e)).strip()[-200:]
            absent[name] = {"left_out": f"{packages[0]} cannot be installed: {said}"}
    return sides, absent


def has(side, row):
    return f"\ndef {row}(" in (ROWS / f"{side.name}_rows.py").read_text(encoding="utf-8")


def in_turn(sides, rounds, measure):
    """-> {name: results of the rounds, or why there are none}."""
    out = {side.name: [] for side in sides}
    for _ in range(rounds):
        for side in sides:
            if isinstance(out[side.name], list):
                result = measure(side)
                out[side.name] = result if "left_out" in result else [*out[side.name], result]
    return out


def summed_up(results, figures):
    """Medians of figures of the rounds."""
    return {name: runs if isinstance(runs, dict) else {figure: statistics.median(map(f, runs)) for figure, f in figures.items()}
            for name, runs in results.items()}


def small_elements(sides, a, folder):
    out = {}
    for row, count in (("one_by_one", 2_000_000), ("batches", 20_000_000)):
        def measure(side, row=row, count=count):
            n = count // (SLOW.get(side.name, 1) if side.name != "mlx" else count // 1_000_000)
            return side.row(row, folder, n // (1000 if a.tiny else 1))
        results = in_turn([s for s in sides if has(s, row)], a.rounds, measure)
        out[row] = summed_up(results, {"millions_per_s": lambda r: r["count"] / r["seconds"] / 1e6})
    return out


def handing_over(ours, a, folder):
    """Microseconds for an element of one array, and of a dict of 39: ours with the work of the engine, and bare ones."""
    count = 1024 * (1 if a.tiny else 200)
    out = {}
    for row, count, bare in (("one_array", count, "array"), ("many_arrays", count // 10, "arrays")):
        results = in_turn([ours], a.rounds, lambda side, row=row, count=count: side.row(row, folder, count))
        out[row] = {"penstock_us": statistics.median(r["seconds"] / count * 1e6 for r in results["penstock"])}
        loop = f"import bare, json, timeit; print(json.dumps(min(timeit.repeat(bare.{bare}, number={count}, repeat=3))))"
        out[row]["bare_us"] = ours.run("-c", loop) / count * 1e6
        out[row]["over_bare"] = out[row]["penstock_us"] / out[row]["bare_us"]
    return out


def command_line(program, text):
    done = subprocess.run([program, "run", "--json", "-"], input=text, capture_output=True, text=True, check=True)
    r = json.loads(done.stdout)
    return {"seconds": r["seconds"] - r["first_element_seconds"], "cpu_seconds": r["cpu_seconds"] * (1 - 1 / r["elements"]),
            "count": (r["elements"] - 1) * BATCH, "peak_bytes": r["peak_memory_bytes"]}


def images(sides, program, a, folder):
    figures = {"per_s": lambda r: r["count"] / r["seconds"], "cpu_ms": lambda r: r["cpu_seconds"] / r["count"] * 1e3,
               "peak_mb": lambda r: r["peak_bytes"] / 1e6}
    out = {}
    for row, pipeline in (("images_u8", "u8"), ("images_float", "floats")):
        epochs = {name: 12 if name == "penstock" else 2 * PEERS[name][2] for name in LIBRARIES}
        ours = f"penstock_rows.{pipeline}({str(folder)!r}, {1 if a.tiny else 12})"
        text = sides[0].run("-c", f"import json, penstock_rows; print(json.dumps(str({ours})))")
        shell = Side("command_line", None)

        def measure(side, row=row, epochs=epochs, text=text, shell=shell):
            return command_line(program, text) if side is shell else side.row(row, folder, 1 if a.tiny else epochs[side.name])
        results = in_turn([sides[0], shell, *(s for s in sides[1:] if has(s, row))], a.rounds, measure)
        out[row] = summed_up(results, figures)
    return out


def start(sides, a, folder):
    """Milliseconds of the import, in an interpreter that runs, and from a new process to the first batch of 1024 files."""
    out = {"import": {}, "first": {}}
    for side in sides:
        modules = LIBRARIES[side.name]
        code = (f"import json, time; began = time.perf_counter(); import {modules}; "
                "print(json.dumps({'ms': (time.perf_counter() - began) * 1e3}))")
        runs = [side.run("-c", code) for _ in range(2 if a.tiny else 4)]
        out["import"][side.name] = runs[-1] if "left_out" in runs[-1] else {"ms": min(r["ms"] for r in runs)}

        def first(side=side):
            began = time.perf_counter()
            result = side.row("first", folder, 0)
            ms = (time.perf_counter() - began) * 1e3
            return result if "left_out" in result else {"ms": ms, "peak_mb": result["peak_bytes"] / 1e6}
        runs = [first() for _ in range(2 if a.tiny else 3)]
        out["first"][side.name] = runs[-1] if "left_out" in runs[-1] else min(runs, key=lambda r: r["ms"])
    return out


def ratios(out):
    """Penstock's figures over those of the others in the same run."""
    def figure(row, name, key):
        return out[row].get(name, {}).get(key)

    def best(row, key):
        return max((v[key] for name, v in out[row].items() if name not in ("penstock", "command_line") and key in v), default=None)

    wanted = {"batches_over_mlx": ("batches", "millions_per_s", figure("batches", "mlx", "millions_per_s")),
              "images_u8_over_command_line": ("images_u8", "per_s", figure("images_u8", "command_line", "per_s")),
              "images_float_over_command_line": ("images_float", "per_s", figure("images_float", "command_line", "per_s")),
              "images_u8_over_best_peer": ("images_u8", "per_s", best("images_u8", "per_s")),
              "images_float_over_best_peer": ("images_float", "per_s", best("images_float", "per_s")),
              "images_float_over_tfdata": ("images_float", "per_s", figure("images_float", "tfdata", "per_s"))}
    return {name: figure(row, "penstock", key) / other for name, (row, key, other) in wanted.items() if other}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/penstock")
    ap.add_argument("--tiny", action="store_true")
    ap.add_argument("--peers", action="store_true")
    ap.add_argument("--rounds", type=int, default=0)
    ap.add_argument("--venvs", type=pathlib.Path, default=ROOT / "build/peers-python")
    a = ap.parse_args()
    a.rounds = a.rounds or (1 if a.tiny else 3)
    package = tests_python()
    if reason := package.python_venv.make():
        print(json.dumps({"left_out": f"the package cannot be built: {reason}"}))
        return
    site, sanitize = package.build(a.program.absolute().parent.name)
    ours = Side("penstock", package.PYTHON, {**package.environment(site, sanitize), "PYTHONPATH": f"{site}:{site.parent}"})
    peers, absent = peer_sides(a.venvs) if a.peers else ([], {})
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([a.program, "synth", "imagenet", f"{folder}/records", "--elements", str(300 if a.tiny else 1536)], check=True,
                       stdout=subprocess.DEVNULL)
        made = subprocess.run([ours.python, ROWS / "data.py", folder, str(64 if a.tiny else 1024)], env=ours.env, check=False)
        if made.returncode:
            sys.exit("bench/python/data.py failed")
        sides = [ours, *peers]
        out = {**small_elements(sides, a, folder), **handing_over(ours, a, folder), **images(sides, a.program, a, folder),
               **start(sides, a, folder)}
    out["ratios"] = ratios(out)
    if absent:
        out["absent"] = absent
    print(json.dumps(out))


if __name__ == "__main__":
    main()
