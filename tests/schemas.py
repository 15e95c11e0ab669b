#!/usr/bin/env python3
"""Compares what the commands print with --json with the schemas in docs/format/ (its README.md).

schemas.py [--program P] [FILTER]

Every field that is printed must be documented, every documented one that is not optional must be there,
with a value of its type; every documented field must have been seen in the end. Units are measured from
outside: times against the clock around the call, sizes against the files.
Closing line: N passed, N failed.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

from format_tables import LINK
from program import ENV
from schema_checker import Checker, parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
UNITS = {"seconds": {"seconds"}, "bytes": {"bytes", "mean bytes"}, "rate": {"rate"}}

IMAGES = """files("$DATA/imagenet/train-*")
| interleave(f -> tfrecord(f), cycle_length=2)
| map(r -> parse_example(r, {"image/encoded": bytes, "image/class/label": int64}))
| map({"image/encoded": jpeg, "image/class/label": label} ->
  {image: random_resized_crop(decode_jpeg(jpeg, channels=3), 32, 32), label})
| shuffle(8) | batch(4) | repeat(2)
"""


def close(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b))


def peak_of_children():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def synth_cases(c):
    for kind, pattern, elements in (("imagenet", "train-*", 12), ("text", "*.txt", 50), ("numbers", "numbers*", 50),
                                    ("coco", "train-*", 4), ("clicks", "day_*", 50), ("translation", "*", 50)):
        c.case(f"synth {kind}", "synth.md",
               ["synth", kind, f"$DATA/{kind}", "--elements", str(elements), "--shards", "2", "--json"],
               more=lambda o, s, kind=kind, pattern=pattern, elements=elements: {
                   "kind": o["kind"] == kind,
                   "elements as asked for": o["elements"] == elements,
                   "files are counted": o["files"] == len(list((c.data / kind).glob(pattern))),
                   "bytes are those of the files": o["bytes"] == c.file_bytes(f"{kind}/{pattern}"),
                   "seconds are within the call": o["seconds"] <= s})


def run_units(c):
    def check(o, s):
        source = next(x for x in o["stages"] if x["op"] == "tfrecord")
        size = c.file_bytes("imagenet/train-*")
        return {
            "elements: 2 epochs of 3 batches": o["elements"] == 6 and o["ended"],
            "seconds are within the call": o["seconds"] <= s,
            "first_element_seconds and waited_seconds within seconds":
                max(o["first_element_seconds"], o["waited_seconds"]) <= o["seconds"],
            "CPU seconds of at most all cores": o["cpu_seconds"] <= s * os.cpu_count() + 0.1,
            "rate is elements by seconds": close(o["rate"], o["elements"] / o["seconds"]),
            "peak memory in bytes": 1e6 < o["peak_memory_bytes"] <= peak_of_children(),
            "bytes_read: two passes over the files": source["bytes_read"] == 2 * size,
            "source_bytes, source_files": (source["source_bytes"], source["source_files"]) == (size, 2),
            "uint8 images of 32x32x3 and a label": o["stages"][0]["bytes"] == 24 * (32 * 32 * 3 + 8),
        }
    return check


def run_cases(c):
    c.case("run", "run.md", ["run", "-", "--json", "--digest", "--threads", "2", "--seed", "5"], IMAGES,
           more=lambda o, s: {**run_units(c)(o, s), "as asked for": (o["threads"], o["seed"]) == (2, 5)})
    c.case("run: a checkpoint", "run.md", ["run", "-", "--json", "--checkpoint", "$DATA/c", "--steps", "2"], IMAGES,
           more=lambda o, s: {"elements": (o["elements"], o["resumed_elements"]) == (2, 0)})
    c.case("run: resumed", "run.md", ["run", "-", "--json", "--checkpoint", "$DATA/c", "--resume"], IMAGES,
           more=lambda o, s: {"elements": (o["elements"], o["resumed_elements"]) == (6, 2),
                              "rate": close(o["rate"], 4 / o["seconds"])})
    c.case("run: one step", "run.md", ["run", "-", "--json", "--steps", "1"], "range(5)",
           more=lambda o, s: {"ended": not o["ended"] and o["elements"] == 1, "digest": o["digest"] is None})
    c.case("run: an error", "run.md", ["run", "-", "--json"], "range(5) | map(x -> 4 // (x - 3))", 1,
           more=lambda o, s: {"error": o["error"]["code"] == "INVALID_ARGUMENT", "elements": o["elements"] == 3})
    c.case("run: a value", "run.md", ["run", "-", "--json"], "range(5) | reduce(0, (a, x) -> a + x)",
           more=lambda o, s: {"value": o["value"] == 10})
    c.case("run: no elements", "run.md", ["run", "-", "--json"], "range(0)",
           more=lambda o, s: {"rate": o["rate"] == 0})


def trace_cases(c):
    c.case("trace", "trace.md", ["trace", "-", "-o", "$DATA/a.trace", "--json"], IMAGES, section="penstock-trace---json",
           more=lambda o, s: {"file": o["file"] == str(c.data / "a.trace"), "elements": o["elements"] == 6})
    c.case("trace: an error", "trace.md", ["trace", "-", "-o", "$DATA/e.trace", "--json"],
           "range(9) | map(x -> 4 // (x - 3))", 1, section="penstock-trace---json",
           more=lambda o, s: {"interrupted": o["interrupted"], "elements": o["elements"] == 3})
    c.case("trace: live tuner", "trace.md",
           ["trace", "-", "-o", "$DATA/t.trace", "--tune", "live", "--threads", "2", "--seconds", "2", "--json"],
           "range(1000000000000) | map(x -> x * x + 1) | batch(64)", section="penstock-trace---json",
           more=lambda o, s: {"not interrupted": not o["interrupted"]})
    for name in ("a", "e", "t"):
        value = parse((c.data / f"{name}.trace").read_text(encoding="utf-8"))
        bad = c.schemas.object(value, c.schemas.section("trace.md", ""), "trace.md")
        ids = [s["id"] for s in value["stages"]]
        c.report(f"trace file {name}", bad or ([] if ids == list(range(len(ids))) else [f"ids are {ids}"]))


def top_cases(c):
    """Two jobs that would go on for ever."""
    sockets = {"PENSTOCK_ATTACH": str(c.data / "sockets")}
    os.environ.update(sockets)
    jobs = [subprocess.Popen([c.program, "run", "-", "--seconds", "100000", "--threads", "1", "--tune", "live"],
                             stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             env={**os.environ, **ENV}) for _ in range(2)]
    try:
        for job in jobs:
            job.stdin.write(b"range(1000000000000000) | interleave(i -> range(9) | map(x -> x * i)) | batch(64) | prefetch(4)")
            job.stdin.close()
            while job.poll() is None and not can_be_asked(c, job.pid):
                pass
        c.case("top", "top.md", ["top", str(jobs[0].pid), "--json", "--once", "--interval", "0.2"],
               more=lambda o, s: {"pid": o["pid"] == jobs[0].pid, "live": "decisions" in o, "elements come": o["elements"] > 0,
                                  "the interval": 0.2 <= o["seconds"] <= s})
        c.case("top: several jobs", "top.md", ["top", "--json"], section="several-jobs",
               more=lambda o, s: {"both": {x["pid"] for x in o["jobs"]} == {x.pid for x in jobs}})
        c.case("trace: attached", "trace.md", ["trace", "--attach", str(jobs[0].pid), "-o", "$DATA/r.trace", "--json", "--seconds", "0.2"],
               section="penstock-trace---json", more=lambda o, s: {"seconds": 0.2 <= o["seconds"] <= s, "not interrupted": not o["interrupted"]})
    finally:
        for job in jobs:
            job.kill()
            job.wait()
        del os.environ["PENSTOCK_ATTACH"]


def can_be_asked(c, pid):
    """It has a socket, and an element has come."""
    try:
        return parse(c.call(["top", str(pid), "--json", "--once", "--interval", "0.05"])[0])["elements"] > 0
    except RuntimeError:
        return False


def explain_units(o, _):
    rates = [x["rate"] for x in o["ceilings"] if x["rate"] is not None]
    share = [s["busy"] + s["starved"] + s["blocked"] for s in o["stages"]]
    t = o["trust"]
    return {
        "ceilings ascend": rates == sorted(rates),
        "busy, starved and blocked are 1 together": all(abs(x - 1) < 1e-6 for x in share),
        "cores of the allocation, one for each stage": len(o["allocation"]["cores"]) == len(o["stages"]),
        "groups name stages": all(s["id"] in o["thread_groups"][s["thread_group"]]["stages"] for s in o["stages"]),
        "CPU: the parts make the whole":
            abs(t["attributed_cpu_seconds"] + t["unattributed_cpu_seconds"] - t["process_cpu_seconds"]) < 1e-6,
        "exact sizes are whole numbers":
            all(s["size"]["elements"]["value"] % 1 == 0 for s in o["stages"] if s["size"]["extent"] == "exact"),
        "an estimate lies within its ends":
            not o["predicted_rate"] or o["predicted_rate"]["low"] <= o["predicted_rate"]["value"] <= o["predicted_rate"]["high"],
    }


def explain_cases(c):
    c.case("explain: live tuner", "explain.md", ["explain", "$DATA/t.trace", "--json"],
           more=lambda o, s: {"decisions": len(o["decisions"]) <= 20,
                              "of stages that may move": all(d["value"] in ("calls", "rows_ahead") and d["from"] != d["to"]
                                                             for d in o["decisions"])})
    c.case("explain: a trace", "explain.md", ["explain", "$DATA/a.trace", "--json"], more=explain_units)
    c.case("explain: consumer and disk", "explain.md",
           ["explain", "$DATA/a.trace", "--json", "--consumer", "25ms", "--disk-bandwidth", "1MB/s", "--cores", "1"],
           more=lambda o, s: {**explain_units(o, s), "cores": o["cores"] == 1,
                              "a disk": any(x["kind"] == "disk" for x in o["ceilings"])})
    c.case("explain: without end", "explain.md", ["explain", "-", "--json", "--seconds", "0.2"],
           "range(10) | repeat() | map(x -> x + 1) | batch(2)", more=explain_units)
    c.case("explain: functions", "explain.md", ["explain", "-", "--functions", "--json"],
           "range(100) | map(x -> let y = x * 2; y + 1) | filter(x -> if x > 3 then x % 2 == 1 else 1 // x > 0) | batch(2)",
           section="penstock-explain---functions---json",
           more=lambda o, s: {"stages": [f["stage"] for f in o["functions"]] == ["map", "filter"],
                              "ops": [x["op"] for x in o["functions"][0]["ops"]] == ["multiply", "add"],
                              "names": o["functions"][0]["ops"][0]["name"] == "y",
                              "rows": all(f["rows"] == 100 for f in o["functions"])})
    c.case("explain: functions of nested pipelines", "explain.md", ["explain", "-", "--functions", "--json"],
           "range(4) | interleave(i -> range(i) | map(x -> x * 2) | flat_map(y -> range(3) | filter(z -> z % 2 == 0)), "
           "cycle_length=2) | map(x -> x + 1)",
           section="penstock-explain---functions---json",
           more=lambda o, s: {
               "stages": [f["stage"] for f in o["functions"]] == [
                   "interleave", "interleave > map", "interleave > flat_map", "interleave > flat_map > filter", "map"],
               "rows": [f["rows"] for f in o["functions"]] == [4, 6, 6, 18, 12]})
    c.case("explain: rewrites", "explain.md", ["explain", "-", "--rewrites", "--json"],
           "range(9) | map(x -> x + 1) | map(x -> x * 2) | batch(2) | skip(1)",
           section="penstock-explain---rewrites---json",
           more=lambda o, s: {
               "applied": [(r["rule"], r["place"]) for r in o["applied"]] == [("map_fusion", "-:1:30")],
               "stopped": [r["condition"] for r in o["stopped"]] == ["one_for_one"],
               "the plan is canonical": c.call(["fmt", "-"], o["program"])[0] == o["program"]})
    c.case("explain: one thread", "explain.md", ["explain", "-", "--json", "--no-optimize"], IMAGES, more=explain_units)


def optimize_cases(c):
    def check(o, _):
        p = o["predicted"]
        return {"an estimate lies within its ends": p["low"] is None or p["low"] <= p["value"] <= p["high"],
                "there are changes": o["changes"] and o["rules"] and o["notes"],
                "the new text is a pipeline": c.call(["fmt", "-"], o["plan"])[0]}
    short_runs = ["--trace-seconds", "0.1", "--seconds", "0.3"]
    by_one = "range(100000)  # rows\n| map(x -> [x, x])\n| map(x -> sum(exp(fill([9000], float32(x[0])))), num_parallel_calls=1)\n"
    c.case("optimize", "optimize.md", ["optimize", "-", "--json", "--threads", "2", *short_runs], by_one,
           more=lambda o, s: {"measured": o["measured"]["pairs"] >= 1 and o["measured"]["ratio"]["value"] > 0,
                              "before is the text": o["before"] == by_one,
                              "only knobs are new": o["edited"] and "# rows" in o["plan"] and "num_parallel_calls=2" in o["plan"],
                              "a certain gain is taken": o["keeps"] != (o["measured"]["ratio"]["low"] > 1)})
    c.case("optimize: as it runs", "optimize.md", ["optimize", "-", "--json", *short_runs], IMAGES,
           more=lambda o, s: {**check(o, s), "not measured only if nothing changes": o["keeps"] or o["measured"]})
    c.case("optimize: no measure", "optimize.md", ["optimize", "-", "--json", "--no-measure", *short_runs], IMAGES,
           more=lambda o, s: {**check(o, s), "measured": o["measured"] is None})
    c.case("compare", "compare.md", ["compare", "-", "$DATA/a.trace", "--json", "--seconds", "0.2"], "range(9) | map(x -> x + 1)",
           more=lambda o, s: {"pairs": o["pairs"] >= 3, "other elements": o["same_elements"] is False,
                              "sides": [o["a"]["pipeline"], o["b"]["pipeline"][-7:]] == ["-", "a.trace"],
                              "stages of both": any(x["a"] is None for x in o["stages"]) and any(x["b"] is None for x in o["stages"])})
    (c.data / "lines.txt").write_text("a line of text that is read\n" * 20000, encoding="utf-8")
    c.case("stall", "stall.md", ["stall", "-", "--json", "--consumer", "100us", "--seconds", "2", "--throttle", "bandwidth=20MB/s"],
           'text_line("$DATA/lines.txt") | batch(64)',
           more=lambda o, s: {"parts of the step": close(o["step_seconds"], sum(o[x]["value"] for x in ("waits_for_storage", "waits_for_work", "consumer"))),
                              "rounds": o["rounds"] >= 3, "the source": o["source"] == "text_line" and o["runs"]["source"] > 0,
                              "no step is shorter than the consumer's work": o["runs"]["one_element"] >= 1e-4})
    c.case("stall: nothing is read", "stall.md", ["stall", "-", "--json", "--seconds", "0.3", "--cold"], "range(1000000000) | batch(64)",
           more=lambda o, s: {"no source": o["source"] is None and o["runs"]["source"] is None, "no files": o["page_cache_share"] is None})
    (c.data / "prices.json").write_text('{"currency": "USD", "machines": [{"name": "any", "price": 2}, {"name": "small", "cores": 1, "price": 1}]}', encoding="utf-8")
    c.case("provision", "provision.md", ["provision", "-", "--target", "600/min", "--prices", "$DATA/prices.json", "--json", "--seconds", "0.3"],
           pipe='text_line("$DATA/lines.txt") | map(l -> sum(exp(fill([3000], float32(string_length(l)))))) | batch(64)',
           more=lambda o, s: {"a cache is an option": any(x["cached"] for x in o["options"]), "one is bought": o["cheapest"]["machine"] == "small",
                              "cores are time times rate": close(o["uncached"]["cores"]["value"], 10 * o["per_element"]["cores"])})
    c.case("provision: a small machine", "provision.md", ["provision", "-", "--target", "1M/s", "--cores", "1", "--json", "--seconds", "0.3"],
           pipe="range(1000) | repeat() | map(x -> sum(exp(fill([30000], float32(x % 7)))))", status=1,
           more=lambda o, s: {"not reached": not o["reached"] and o["fits"] is None, "cores bind": o["machine"]["binds"] == "cores",
                              "as the machine has": close(o["machine"]["rate"], 1 / o["per_element"]["cores"])})
    (c.data / "cut.trace").write_text((c.data / "a.trace").read_text(encoding="utf-8")[:300], encoding="utf-8")
    fix = str(ROOT / "tests/fix/train.trace")
    c.case("fleet: a fix", "fleet.md", ["fleet", fix, "--json"],
           more=lambda o, s: {"it is named": [x["file"] for x in o["fixes"]] == [fix] and o["fixes"][0]["saved_seconds"] > 1,
                              "its pipeline holds it": o["software_jobs"] == 1, "its size": [x["jobs"] for x in o["sizes"]] == [1, 0, 0, 0]})
    c.case("fleet", "fleet.md", ["fleet", "$DATA/a.trace", "$DATA/a.trace", "$DATA/cut.trace", "--json"],
           more=lambda o, s: {"one job": o["jobs"] == 1, "it waits in classes": len(o["waits"]) == 3,
                              "a double and a cut trace": [x["why"] for x in o["left_out"]] == ["doubled", "damaged"],
                              "stages work in the process": o["pipeline_cpu_seconds"] <= o["process_cpu_seconds"]})
    c.case("optimize: rules", "optimize.md", ["optimize", "--list-rules", "--json"],
           section="penstock-optimize---list-rules---json",
           more=lambda o, s: {"names are unique": len({r["name"] for r in o["rules"]}) == len(o["rules"]) > 5})


def list_cases(c):
    c.case("ops", "ops.md", ["ops", "--json"], more=lambda o, s: {"all": len(o["ops"]) > 100})
    c.case("ops: one", "ops.md", ["ops", "random_uniform", "--json"],
           more=lambda o, s: {"one": [x["name"] for x in o["ops"]] == ["random_uniform"], "random": o["ops"][0]["effects"] == "random"})
    (c.data / "a.pipe").write_text("range( 3 )\n", encoding="utf-8")
    c.case("fmt", "fmt.md", ["fmt", "$DATA/a.pipe", "--json"],
           more=lambda o, s: {"changed": o["changed"], "text": o["text"] == "range(3)\n" == (c.data / "a.pipe").read_text()})
    c.case("fmt: again", "fmt.md", ["fmt", "$DATA/a.pipe", "--json"], more=lambda o, s: {"changed": not o["changed"]})
    (c.data / "odd\udcff.pipe").write_bytes(b"# \xff\nrange(3)\n")
    c.case("fmt: bytes that are no UTF-8", "fmt.md", ["fmt", "$DATA/odd\udcff.pipe", "--json"],
           more=lambda o, s: {"name": o["file"].endswith("/odd\ufffd.pipe")})


def failure_cases(c):
    """Each command says why it failed, in the text of the pipeline, in its call, and in its work."""
    (c.data / "bad.pipe").write_text("range(5) | mpa(x -> x)\n", encoding="utf-8")
    bad = str(c.data / "bad.pipe")
    for args in (["run", bad], ["trace", bad, "-o", "$DATA/bad.trace"], ["explain", bad], ["explain", bad, "--functions"],
                 ["optimize", bad], ["show", "--plan", bad]):
        c.case(f"failure: {' '.join(args[:1])}, text", "errors.md", [*args, "--json"], status=2,
               more=lambda o, s: {"a place": [(p["line"], p["column"]) for p in o["error"]["places"]] == [(1, 12)],
                                  "construction": o["error"]["at"] == "construction"})
    (c.data / "unclosed.pipe").write_text("range(5", encoding="utf-8")
    c.case("failure: fmt, text", "errors.md", ["fmt", "$DATA/unclosed.pipe", "--json"], status=2,
           more=lambda o, s: {"construction": o["error"]["at"] == "construction"})
    for command in ("run", "show", "trace", "explain", "optimize", "compare", "stall", "provision", "fleet", "top", "fmt", "ops", "synth", "predict", "profile", "calibrate", "replay"):
        c.case(f"failure: {command}, a flag", "errors.md", [command, "--no-such-flag", "--json"], status=2,
               more=lambda o, s: {"call": o["error"]["at"] == "call", "no places": "places" not in o["error"]})
    c.case("failure: no command", "errors.md", ["rnu", "--json"], status=2,
           more=lambda o, s: {"a hint": "run" in o["error"]["message"]})
    c.case("failure: no pipeline", "errors.md", ["run", "$DATA/none.pipe", "--json"], status=2,
           more=lambda o, s: {"call": o["error"]["at"] == "call"})
    c.case("failure: opening", "errors.md", ["run", "-", "--json"], 'files("$DATA/none*")', 2,
           more=lambda o, s: {"opening": (o["error"]["at"], o["error"]["code"]) == ("opening", "NOT_FOUND")})
    for args in (["predict", "$DATA/none", "--bandwidth", "1Gbit"], ["profile", "inspect", "$DATA/none", "--bandwidth", "1Gbit"],
                 ["replay", "$DATA/none", "--bandwidth", "1Gbit"],
                 ["calibrate", "$DATA/none", "--bandwidth", "1Gbit", "-o", "$DATA/none.json"]):
        c.case(f"failure: {args[0]}, a file", "errors.md", [*args, "--json"], status=2,
               more=lambda o, s: {"opening": o["error"]["at"] == "opening"})
    c.case("failure: explain, work", "errors.md", ["explain", "-", "--json"], "range(3) | map(x -> 1 // x)", 1,
           more=lambda o, s: {"work": o["error"]["at"] == "work"})
    c.case("failure: synth, work", "errors.md", ["synth", "text", "$DATA/text", "--json", "--elements", "5", "--shards", "2"], status=1,
           more=lambda o, s: {"work": o["error"]["code"] == "ALREADY_EXISTS"})
    c.case("failure: a value", "errors.md", ["run", "-", "--json"], "range(3) | map(x -> 1 // x) | reduce(0, (a, x) -> a + x)", 1,
           more=lambda o, s: {"work": o["error"]["at"] == "work"})


CHAIN = str(ROOT / "tests/cluster/chain.json")
RECORDED = str(ROOT / "tests/cluster/embmlp")
JOINT = str(ROOT / "tests/cluster/joint")


def profile_cases(c):
    inspect = "penstock-profile-inspect---json"
    c.case("profile inspect", "profile.md", ["profile", "inspect", CHAIN, "--bandwidth", "1MB/s", "--json"], section=inspect,
           more=lambda o, s: {
               "replayed: transfers, computing, updates": close(o["replay_seconds"], 1.5e6 / o["payload_bytes_per_s"] + 0.25),
               "payload is less than the nominal rate": 0.9e6 < o["payload_bytes_per_s"] < 1e6,
               "slices carry the bytes": close(1e6, o["slice_seconds"] * sum(x["downlink_bytes_per_s"] for x in o["slices"]))})
    c.case("profile inspect: recorded", "profile.md", ["profile", "inspect", RECORDED, "--json"], section=inspect,
           more=lambda o, s: {"steps": o["steps"] == 6, "times": o["resources"]["worker"]["last_seconds"] < 1,
                              "no ranks": o["two_ranks_seconds"] is None})
    c.case("profile inspect: collectives", "profile.md", ["profile", "inspect", JOINT, "--bandwidth", "10MB/s", "--json"], section=inspect,
           more=lambda o, s: {
               "it begins after 50 ms": abs(o["two_ranks_seconds"] - 0.05 - 1e6 / o["payload_bytes_per_s"]) < 1e-4,
               "both ways": [x["downlink_bytes_per_s"] for x in o["slices"]] == [x["uplink_bytes_per_s"] for x in o["slices"]],
               "slices carry the bytes": close(1e6, o["slice_seconds"] * sum(x["uplink_bytes_per_s"] for x in o["slices"]))})
    c.case("profile convert", "profile.md", ["profile", "convert", RECORDED, "-o", "$DATA/p.json", "--json"],
           section="penstock-profile-convert---json",
           more=lambda o, s: {"bytes": o["bytes"] == c.file_bytes("p.json"), "steps": o["steps"] == 6})


def predict_cases(c):
    base = ["predict", RECORDED, "--bandwidth", "150Mbit", "--replications", "2", "--json"]
    (c.data / "prices.json").write_text('{"worker": 2, "server": 1, "currency": "EUR"}', encoding="utf-8")
    c.case("predict", "predict.md", [*base, "--workers", "1..3", "--servers", "1,2"],
           more=lambda o, s: {
               "sizes": [(p["workers"], p["servers"]) for p in o["points"]] == [(w, m) for m in (1, 2) for w in (1, 2, 3)],
               "values lie in their intervals": all(p["low"] <= p["steps_per_s"] <= p["high"] for p in o["points"]),
               "no budget": o["best_for_budget"] is None})
    c.case("predict: saturated, with prices", "predict.md",
           [*base, "--workers", "1,4,8,12", "--prices", "$DATA/prices.json", "--budget", "9"],
           more=lambda o, s: {"the price": o["points"][1]["price_per_hour"] == 9, "best": o["best_for_budget"]["workers"] == 4,
                              "saturation": o["saturation"][0]["workers"] in (4, 8)})
    c.case("predict: examples and feed", "predict.md",
           ["predict", CHAIN, "--bandwidth", "1Gbit", "--workers", "2", "--feed", "2/s", "--json"],
           more=lambda o, s: {"the feed binds": (o["points"][0]["binds"], o["points"][0]["steps_per_s"]) == ("feed", 4),
                              "examples": close(o["points"][0]["examples_per_s"], 32 * 4)})
    c.case("predict: an order", "predict.md", [*base, "--workers", "1", "--order", "tac", "-o", "$DATA/order.json"])
    order = parse((c.data / "order.json").read_text(encoding="utf-8"))
    c.report("order file", c.schemas.object(order, c.schemas.section("order.md", ""), "order.md"))
    c.case("predict: a file", "predict.md", [*base, "--workers", "2", "--html", "$DATA/p.html", "--perfetto", "$DATA/p.trace"],
           more=lambda o, s: {"a page": "<svg" in (c.data / "p.html").read_text(encoding="utf-8"),
                              "a timeline": len(parse((c.data / "p.trace").read_text(encoding="utf-8"))["traceEvents"]) > 50})
    c.case("predict: a deadline", "predict.md",
           [*base, "--workers", "1,2", "--examples", "64", "--prices", "$DATA/prices.json", "--train", "4e6", "--within", "155min"],
           more=lambda o, s: {"not for sure": o["deadline"]["cheapest"]["workers"] == 2 and o["deadline"]["sure"] is None,
                              "cost": close(o["deadline"]["fastest"]["cost"]["high"],
                                            5 * 4e6 / 64 / o["points"][1]["low"] / 3600)})
    runs = [{"workers": w, "steps_per_s": r} for w, r in ((1, 3.0), (2, 6.0), (9, 9.0))]
    (c.data / "runs.json").write_text(json.dumps(runs), encoding="utf-8")
    c.case("predict: beside measured runs", "predict.md",
           [*base, "--workers", "2,9", "--mode", "allreduce", "--measured", "$DATA/runs.json"],
           more=lambda o, s: {"runs": [r["workers"] for r in o["measured"]["runs"]] == [2, 9],
                              "other sizes": o["measured"]["of_other_sizes"] == 1,
                              "mean": close(o["measured"]["mean_error"],
                                            sum(abs(p["steps_per_s"] / r - 1) for p, r in zip(o["points"], (6, 9))) / 2)})
    for mode in (["sync"], ["sync", "--backup", "1"], ["allreduce"], ["allreduce", "--all-reduce", "tree"]):
        c.case(f"predict: {' '.join(mode)}", "predict.md", [*base, "--workers", "2,3", "--mode", *mode])


def network_cases(c):
    pattern = str(ROOT / "tests/cluster/pattern.json")
    c.case("calibrate", "calibrate.md", ["calibrate", RECORDED, "--bandwidth", "150Mbit", "-o", "$DATA/net.json", "--json"],
           more=lambda o, s: {"no pattern": o["pattern"] is None, "ends are compared": o["window"]["end_times"]["transfers"] > 10,
                              "only what was measured is written": set(c.json_file("net.json")) ==
                              {"server_rate", "burst_bytes", "receive_s", "receive_s_per_byte", "step_gap_s", "step_gap_transfer_s"}})
    rates = {}
    for policy in ("grpc", "paper", "fifo"):
        c.case(f"predict: calibrated, {policy}", "predict.md",
               ["predict", RECORDED, "--network", "$DATA/net.json", "--policy", policy, "--workers", "4", "--replications", "2", "--json"],
               more=lambda o, s: {"the policy counts": rates.setdefault(o["points"][0]["steps_per_s"], policy) == policy})
    # Two servers whose links meet at worker 0: with a large exponent its flow from the full server gets more.
    (c.data / "flows.json").write_text('{"flows": [{"server": 0, "worker": 0, "rate": "50Mbit"}, '
                                       '{"server": 1, "worker": 0, "rate": "50Mbit"}, {"server": 1, "worker": 1, "rate": "50Mbit"}]}',
                                       encoding="utf-8")
    c.case("calibrate: large exponent", "calibrate.md", ["calibrate", "--pattern", "$DATA/flows.json", "-o", "$DATA/flows_net.json", "--json"],
           more=lambda o, s: {"max-min": o["pattern"]["sharing_exponent"] > 5,
                              "written": set(c.json_file("flows_net.json")) == {"server_rate", "sharing_exponent"}})
    shares = []
    for flags in (["--network", "$DATA/flows_net.json"], ["--bandwidth", "104.558Mbit"]):
        c.case(f"predict: alpha-fair, {flags[0]}", "predict.md",
               ["predict", RECORDED, *flags, "--worker-bandwidth", "100Mbit", "--policy", "alpha-fair", "--servers", "2", "--workers", "3",
                "--replications", "2", "--json"], more=lambda o, s: {"": shares.append(o["points"][0]["steps_per_s"]) or True})
    c.report("predict: --policy alpha-fair takes the exponent of NET.json",
             [] if len(shares) == 2 and abs(shares[0] / shares[1] - 1) > 1e-3 else [f"the same rates: {shares}"])
    c.case("calibrate: one flow", "calibrate.md", ["calibrate", "--pattern", str(ROOT / "tests/cluster/one_flow.json"), "-o", "$DATA/one_net.json", "--json"],
           more=lambda o, s: {"no exponent": o["pattern"]["sharing_exponent"] is None,
                              "none written": c.json_file("one_net.json") == {"server_rate": 1e7}})
    c.case("calibrate: a pattern", "calibrate.md", ["calibrate", "--pattern", pattern, "-o", "$DATA/net.json", "--json"],
           more=lambda o, s: {"the fullest link": close(o["pattern"]["link_bytes_per_s"], 190.7e6 / 8),
                              "between proportional and greedy": 0.2 < o["pattern"]["sharing_exponent"] < 0.5})
    c.case("predict: calibrated", "predict.md",
           ["predict", CHAIN, "--network", "$DATA/net.json", "--workers", "1", "--replications", "1", "--json"],
           more=lambda o, s: {"its rate": close(o["payload_bytes_per_s"], 190.7e6 / 8)})
    c.case("replay", "replay.md", ["replay", CHAIN, "--bandwidth", "1MB/s", "--what-if", "compress=2",
                                   "--what-if", "faster=layer:2", "--json"],
           more=lambda o, s: {"recorded, two changes, both": len(o["replays"]) == 4,
                              "gains": o["replays"][3]["gain"] > o["replays"][1]["gain"] > o["replays"][2]["gain"] > 0})
    replay_pairs(c)


def replay_pairs(c):
    """Replays that say the same in two ways, and do not say what is recorded."""
    pairs = {
        "slices are those of P3": (["--what-if", "slice=200000"], ["--policy", "p3", "--what-if", "order=layer"]),
        "slices outlive a policy": (["--what-if", "slice=50000", "--what-if", "policy=processor-sharing"],
                                    ["--policy", "fifo", "--what-if", "slice=50000"]),
        "another policy keeps what NET.json says": (["--network", "$DATA/slow_use.json", "--what-if", "policy=fifo"],
                                                    ["--network", "$DATA/slow_use.json", "--policy", "fifo", "--what-if", "faster=:1"]),
    }
    (c.data / "slow_use.json").write_text('{"receive_s": 0.02}', encoding="utf-8")
    for name, two in pairs.items():
        rates = []
        for flags in two:
            c.case(f"replay: {name}: {' '.join(flags)}", "replay.md", ["replay", RECORDED, "--bandwidth", "150Mbit", "--workers", "3", *flags, "--json"],
                   more=lambda o, s: {"": rates.append((o["replays"][0]["steps_per_s"], o["replays"][-1]["steps_per_s"])) or True})
        same = len(rates) == 2 and rates[0][1] == rates[1][1] != rates[0][0]
        c.report(f"replay: {name}", [] if same else [f"recorded and changed: {rates}"])


UNEVEN = "from_tensors((ragged([[1], [2, 3]]), sparse(indices=[[0, 1]], values=[5], shape=[1, 2]))) | map((a, b) -> (b, a))"

SHOWN = {  # name -> pipeline, flags, exit status
    "elements": ("range(3) | map(x -> {a: (x, float32(x) / 3.0), b: \"text\"})", [], 0),
    "errors": ("range(5) | map(x -> 4 // (x - 3))", [], 1),
    "limit": ("range(5) | repeat()", ["--limit", "2"], 0),
    "passes": ("range(5)", ["--passes", "2,all"], 0),
    "at": ("range(5) | map(x -> 4 // (x - 3))", ["--at=0,3,9"], 1),
    "value": ("range(5) | reduce(0, (a, x) -> a + x)", [], 0),
    "refused": ("range(5) | mpa(x -> x)", [], 2),
    "nested": ("range(4) | map(x -> (range(x), none))", [], 0),
    "shapes": ("from_tensor_slices([[1, 2], [3, 4]]) | batch(2)", [], 0),
    "images": (IMAGES, ["--limit", "1"], 0),
    "uneven": (UNEVEN, [], 0),
    "batch of datasets": ("range(4) | map(x -> range(x)) | batch(2)", [], 0),
    "optional": ("range(2) | map(x -> {a: optional_of([x]), b: optional_none(bytes)})", [], 0),
}


def show_cases(c):
    for name, (pipe, flags, status) in SHOWN.items():
        c.case(f"show: {name}", "elements.md", ["show", "-", "--jsonl", *flags], pipe, status, "lines", lines=True,
               more=lambda lines, s: {"something is shown": lines})
        c.case(f"show: {name} in one object", "elements.md", ["show", "-", "--json", *flags], pipe, status)
    plans = {
        "many": "range(9)" + " | take(5)" * 120,
        "shared": "let a = range(3) | map(x -> x + 1)\nzip((a, a)) | batch(auto_tuned)".replace("auto_tuned", "2"),
        "conditional": "range(3) | map(x -> if x == 1 then x + 1 else 2 * x)",
        "loop": "range(3) | map(x -> while_loop((x, 0), (i, n) -> i > 0, (i, n) -> (i - 1, n + x), 5))",
        "nested": "range(3) | flat_map(x -> range(x) | map(y -> (x, y, [0.5, 1.5])))",
        "images": IMAGES,
        "uneven": UNEVEN,
        "ragged": "from_tensors(ragged([[1], [2, 3]]))",
        "optional value": "from_tensors(optional_of(1))",
        "optional": "from_list([optional_of(1), optional_none(int64)]) | map(x -> (x, optional_none(bytes)))",
        "sparse": "from_tensors(sparse(indices=[[0, 1]], values=[5], shape=[1, 2]))",
        "batch of datasets": "range(4) | map(x -> range(x)) | batch(2) | map(d -> (d, 1))",
    }
    for name, pipe in plans.items():
        for flags in ([], ["--no-optimize"]):
            c.case(f"plan: {name} {' '.join(flags)}", "plan-json.md", ["show", "-", "--plan", "--json", *flags], pipe)


def coverage(c):
    """Whatever has --json is compared above, and nothing is documented that nobody has seen."""
    overview, _ = c.call(["--help"])
    for command in re.findall(r"^  ([a-z]+)  ", overview, re.M):
        if command in ("help", "completions"):
            continue  # they print text for a person or a shell
        text = " ".join(c.call([command, "--help"])[0].split())
        pages = re.findall(r"\(docs/format/([\w-]+\.md)\)", text.replace("- ", "-"))
        bad = [] if command in c.commands else ["no case runs it"]
        bad += [] if "--json" in text and pages else ["has no --json, or does not say where its schema stands"]
        bad += [f"docs/format/{p} is not there" for p in pages if p not in c.schemas.pages]
        c.report(f"coverage: {command}", bad)
    for table in c.schemas.tables():
        unseen = [f for f, (_, mark) in table.fields.items() if mark != "reserved" and f not in table.seen]
        c.report(f"coverage: {table.name}", [f"{f}: documented, and never printed" for f in unseen])
    for table in c.schemas.tables():
        bad = []
        for name, (kind, _) in table.fields.items():
            unit = next((u for u in UNITS if name == u or name.endswith("_" + u)), None)
            if unit and kind.removeprefix("list of ").split(" or ")[0] not in UNITS[unit] and not LINK.match(kind):
                bad.append(f"{name}: is {kind}, not in {unit}")
        c.report(f"units: {table.name}", bad)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("filter", nargs="?", default="")
    ap.add_argument("--program", default=str(ROOT / "build/dev/penstock"))
    a = ap.parse_args()
    with tempfile.TemporaryDirectory(prefix="penstock-schemas-") as data:
        c = Checker(os.path.abspath(a.program), data, a.filter)
        for cases in (synth_cases, run_cases, trace_cases, top_cases, explain_cases, optimize_cases, list_cases, show_cases, failure_cases,
                      profile_cases, predict_cases, network_cases):
            cases(c)
        coverage(c)
    print(f"{c.passed} passed, {c.failed} failed")
    sys.exit(1 if c.failed else 0)


if __name__ == "__main__":
    main()
