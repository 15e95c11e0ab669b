#!/usr/bin/env python3
"""Measures each rewrite rule by itself: the pipeline that it is for, with the rule and without any.

rewrites.py [--program P] [--tiny] [--rounds N] [NAME ...]

Knobs that are left open stay off (--tune off), so that nothing but the rule differs. Both runs take turns; `gain` is the
median of the ratios of their CPU seconds, `least` and `most` are the extremes, `rate_gain` is that of the rates. Digests
must be equal. A rule without a pipeline here is an error.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
IMAGE = "float32(uint8(fill([128, 128, 3], x % 200)))"
# N: elements, so that a run takes about a second.
PIPELINES = {
    "noop_removal": (3_000_000, "range(N) | take(-1) | skip(0) | map(x -> x) | repeat(1) | map(x -> x + 1)"),
    "position_first": (40_000, "range(N) | map(x -> sum(exp(fill([2000], float32(x))))) | shard(4, 1)"),
    "map_fusion": (3_000_000, "range(N) | map(x -> x + 1) | map(x -> x * 3) | map(x -> x - 7)"),
    "filter_first": (60_000, "range(N) | map(x -> {a: x % 10, b: sum(exp(fill([2000], float32(x))))}) | filter({a, **_} -> a < 2)"),
    "branch_free": (400_000, "range(N) | map(x -> if x % 3 == 1 then x * 2 else x - 1) | filter(x -> x % 5 != 1 and x % 7 != 2)"),
    "dead_components": (100_000, "range(N) | map(x -> {a: x, b: sum(exp(fill([500], float32(x))))}) "
                                 "| shuffle(100, seed=1) | map({a, **_} -> a)"),
    "cast_crop_order": (6_000, "range(N) | map(x -> uint8(fill([256, 256, 3], x % 200))) "
                               "| map(i -> crop_to_bounding_box(float32(i), 20, 20, 64, 64))"),
    "decode_crop_fusion": (1_500, "from_tensors(encode_jpeg(uint8(reshape(arange(196608) * 7 % 251, [256, 256, 3])))) "
                                  "| repeat(N) | map(b -> crop_to_bounding_box(decode_jpeg(b, channels=3), 64, 64, 96, 96))"),
    "normalize_fusion": (6_000, f"range(N) | map(x -> ({IMAGE} - [1.0, 2.0, 3.0]) / [4.0, 5.0, 6.0])"),
    "depth_transpose_fusion": (4_096, "range(N) | map(x -> fill([32, 32, 3], float32(x))) | batch(64, drop_remainder=true) "
                                      "| map(x -> transpose(space_to_depth(x, 2), [1, 2, 3, 0]))"),
    "invariant_hoisting": (10_000, "range(N) | map(x -> map_fn(arange(64), y -> float32(y) + sin(exp(float32(x % 9)))))"),
    "map_batch": (60_000, "range(N) | map(x -> fill([4096], float32(x))) | prefetch(4) | batch(32)"),
}


def run(program, text, *flags):
    p = subprocess.run([program, "run", "-", "--json", "--tune", "off", *flags], input=text,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600, check=False)
    if p.returncode:
        raise SystemExit(f"{text}: exit {p.returncode}: {p.stderr[-1000:]}")
    return json.loads(p.stdout)


def measure(program, rule, elements, text, rounds):
    text = text.replace("N", str(elements))
    cpu, rate = [], []
    variants = {"with": ["--only-rule", rule], "without": ["--no-optimize"]}
    digests = {run(program, text, "--digest", *flags)["digest"] for flags in variants.values()}
    if len(digests) > 1:
        raise SystemExit(f"{rule}: the digests differ: {text}")
    for i in range(rounds):
        got = {name: run(program, text, *variants[name]) for name in sorted(variants, reverse=i % 2 == 1)}
        cpu.append(got["without"]["cpu_seconds"] / max(got["with"]["cpu_seconds"], 1e-9))
        rate.append(got["without"]["seconds"] / max(got["with"]["seconds"], 1e-9))
    return {"gain": statistics.median(cpu), "least": min(cpu), "most": max(cpu), "rate_gain": statistics.median(rate)}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("names", nargs="*")
    ap.add_argument("--program", default=str(ROOT / "build/release/penstock"))
    ap.add_argument("--tiny", action="store_true")
    ap.add_argument("--rounds", type=int, default=5)
    a = ap.parse_args()
    program = os.path.abspath(a.program)
    listed = subprocess.run([program, "optimize", "--list-rules", "--json"], stdout=subprocess.PIPE, check=True).stdout
    rules = [r["name"] for r in json.loads(listed)["rules"]]
    if set(rules) != set(PIPELINES):
        raise SystemExit(f"rules and pipelines differ: {', '.join(sorted(set(rules) ^ set(PIPELINES)))}")
    results = {}
    for rule in a.names or rules:
        elements, text = PIPELINES[rule]
        results[rule] = measure(program, rule, 64 if a.tiny else elements, text, 1 if a.tiny else a.rounds)
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    sys.exit(main())
