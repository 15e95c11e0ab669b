#!/usr/bin/env python3
"""Makes the tables and figures of Li et al., ICPE 2020, from recordings: one page that needs no network.

paper.py RECORDINGS [--program P] [--html F] [--dot F] [--quick] [CONFIGURATION ...]

RECORDINGS is as for accuracy.py: a folder for each configuration with profile/ (of one worker), config.json and measured.json.
Prints the tables as text; --html writes tables and figures, --dot the graph of one step for Graphviz. Everything comes from
penstock profile, predict and calibrate --json: a figure without data is left out with a word. --quick simulates less.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench/cluster"))
from accuracy import Configuration  # noqa: E402
from drawing import COLORS, STYLE, Chart, bars, legend, table  # noqa: E402

MODELS = {"ideal": ["--model", "ideal"], "Cynthia": ["--model", "cynthia"], "Lin": ["--model", "lin"],
          "the paper's rule": ["--policy", "paper"], "default": []}
ORDERS = ("traced", "reverse", "random", "sequential", "layer", "tic", "tac")
WAYS = ("downlink", "uplink")
STEPS_REPLAYED, LEAST_BYTES = 6, 4096
PAYLOAD = 1448 / 1514


class Paper:
    def __init__(self, program, configurations, quick):
        self.program, self.configurations = program, configurations
        self.few = ["--replications", "2", "--steps", "40"] if quick else []
        self.sections, self.said = [], []
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.asked = {}

    def json_of(self, *args):
        return json.loads(subprocess.run([self.program, *map(str, args)], stdout=subprocess.PIPE, check=True).stdout)

    def section(self, title, caption, *parts):
        self.sections.append(f"<section><h2>{title}</h2>{''.join(parts)}<p class=caption>{caption}</p></section>")

    def say(self, title, head, rows):
        widths = [max(len(str(r[i])) for r in [head, *rows]) for i in range(len(head))]
        lines = ["  ".join(str(v).ljust(w) if i == 0 else str(v).rjust(w) for i, (v, w) in enumerate(zip(r, widths))) for r in [head, *rows]]
        self.said.append("\n".join([title, *lines, ""]))

    def points(self, c, flags, sizes=None):
        """-> {workers: point}, asked once."""
        sizes = sorted(sizes or c.measured)
        key = (c.name, *flags, *sizes)
        if key not in self.asked:
            out = self.json_of("predict", c.profile, "--bandwidth", f"{c.mbit}Mbit", "--workers", ",".join(map(str, sizes)), "--json",
                               *flags, *self.few)
            self.asked[key] = {p["workers"]: p for p in out["points"]}
        return self.asked[key]

    def profile(self, c):
        if c.name not in self.asked:
            to = self.folder / f"{c.name}.json"
            subprocess.run([self.program, "profile", "convert", c.profile, "-o", to], check=True)
            self.asked[c.name] = json.loads(to.read_text())
        return self.asked[c.name]

    def timeline(self, profile, mbit, workers, flags=()):
        """-> spans of a simulation in seconds: [(worker, thread, step, name, start, end, bytes)]"""
        with tempfile.NamedTemporaryFile("w", suffix=".json", dir=self.folder) as f:
            json.dump(profile, f)
            f.flush()
            to = self.folder / "timeline.json"
            subprocess.run([self.program, "predict", f.name, "--bandwidth", f"{mbit}Mbit", "--workers", str(workers), "--replications", "1",
                            "--steps", "6", "--perfetto", to, *flags], stdout=subprocess.DEVNULL, check=True)
        return [(e["pid"], e["tid"], e["args"]["step"], e["name"], e["ts"] / 1e6, (e["ts"] + e["dur"]) / 1e6, e["args"].get("bytes"))
                for e in json.loads(to.read_text())["traceEvents"] if e["ph"] == "X"]

    def formulas(self):
        """Fig. 3c: what each model misses by."""
        head, rows = ["mean error", *MODELS], []
        missed = {m: [] for m in MODELS}
        for c in self.configurations:
            row = [c.name]
            for m, flags in MODELS.items():
                es = [abs(p["steps_per_s"] / c.measured[w] - 1) for w, p in self.points(c, flags).items()]
                missed[m] += es
                row.append(f"{100 * statistics.mean(es):.1f} %")
            rows.append(row)
        rows.append(["all sizes", *(f"{100 * statistics.mean(v):.1f} %" for v in missed.values())])
        rows.append(["the worst", *(f"{100 * max(v):.1f} %" for v in missed.values())])
        self.say("Models beside measured runs (Fig. 3c)", head, rows)
        self.section("Models beside measured runs (Fig. 3c)", "Mean of |predicted / measured − 1| over the sizes of each configuration; "
                     "repeated runs count by their mean. The formulas know the bytes and the step of one worker alone.", table(head, rows))

    def profiles(self):
        """Fig. 4 and 6: what a step is made of, and when."""
        head = ["a step", "steps", "transfers", "MB down", "MB up", "ms computing", "ms of the server", "ms alone", "hidden"]
        rows, charts = [], []
        for c in self.configurations:
            found = self.json_of("profile", "inspect", c.profile, "--bandwidth", f"{c.mbit}Mbit", "--json")
            r = found["resources"]
            rows.append([c.name, found["steps"], f"{r['downlink']['ops'] + r['uplink']['ops']:.0f}", f"{r['downlink']['mean_bytes'] / 1e6:.2f}",
                         f"{r['uplink']['mean_bytes'] / 1e6:.2f}", f"{1e3 * r['worker']['seconds']:.0f}", f"{1e3 * r['server']['seconds']:.1f}",
                         f"{1e3 * found['replay_seconds']:.0f}", f"{100 * found['hidden_share']:.0f} %"])
            s, width = found["slices"], 1e3 * found["slice_seconds"]
            chart = Chart(width * len(s), 1.02 * max([1, *(x["worker"] for x in s)]), "ms of the step", "share of the links; ops")
            links = found["payload_bytes_per_s"] * found["servers"]
            for (key, scale), color in zip((("downlink_bytes_per_s", links), ("uplink_bytes_per_s", links), ("worker", 1)), COLORS):
                chart.area([(k * width, x[key] / scale) for k, x in enumerate(s)], color)
            charts.append(f"<div><h3>{c.name}</h3>{chart.svg('phases of a step')}</div>")
        self.say("Profiles (Fig. 4)", head, rows)
        self.section("Profiles (Fig. 4)", "Means of the recorded steps; ms alone: the step of one worker, replayed; hidden: share of the time "
                     "with a transfer under way in which a worker computes.", table(head, rows))
        self.section("The phases of a step (Fig. 6)", "Replayed steps of one worker, mean of all recorded: what arrives, what computes, "
                     "what leaves. Of several servers the links count together.",
                     legend(list(zip(("down", "up", "computing"), COLORS))), f"<div class=grid2>{''.join(charts)}</div>")

    def graph(self, dot):
        """Fig. 5: the graph of one step."""
        c = min(self.configurations, key=lambda c: len(self.profile(c)["steps"][0]["ops"]))
        ops = self.profile(c)["steps"][0]["ops"]
        lanes = ("downlink", "worker", "uplink", "server", "none")
        level = {}

        def depth(i):
            todo = [i]
            while todo:
                k = todo[-1]
                missing = [d for d in ops[k].get("deps", []) if d not in level]
                if missing:
                    todo += missing
                else:
                    level[todo.pop()] = 1 + max((level[d] for d in ops[k].get("deps", [])), default=-1)
            return level[i]

        most = max(depth(i) for i in range(len(ops)))
        used, place = {}, {}
        for i, op in enumerate(ops):
            key = (level[i], op["resource"])
            used[key] = used.get(key, 0) + 1
            place[i] = (40 + 880 * level[i] / max(1, most), used[key])
        rows = {lane: max([n for (_, r), n in used.items() if r == lane], default=0) for lane in lanes}
        top, y = 20, {}
        for lane in lanes:
            y[lane], top = top, top + 13 * rows[lane] + (18 if rows[lane] else 0)
        at = {i: (x, y[ops[i]["resource"]] + 13 * row) for i, (x, row) in place.items()}
        parts = [f'<path d="M{at[d][0]:.0f} {at[d][1]:.0f}L{at[i][0]:.0f} {at[i][1]:.0f}" stroke="#8a8a80" stroke-opacity="0.35"/>'
                 for i, op in enumerate(ops) for d in op.get("deps", [])]
        for i, op in enumerate(ops):
            color = COLORS[lanes.index(op["resource"])]
            size = f", {op['bytes']} bytes" if "bytes" in op else f", {op.get('us', 0):.0f} us"
            parts.append(f'<circle cx="{at[i][0]:.0f}" cy="{at[i][1]:.0f}" r="4.5" fill="{color}"><title>{op["name"]}: {op["resource"]}{size}'
                         "</title></circle>")
        svg = f'<svg viewBox="0 0 960 {top + 6}" width="960" role="img">{"".join(parts)}</svg>'
        self.section("The graph of a step (Fig. 5)", f"{c.name}: {len(ops)} operations of the first step, from left to right in order of "
                     "dependence; names and sizes are behind the dots.", legend(list(zip(lanes, COLORS))), svg)
        if dot:
            edges = "\n".join(f"  n{d} -> n{i};" for i, op in enumerate(ops) for d in op.get("deps", []))
            nodes = "\n".join(f'  n{i} [label="{op["name"]}", color="{COLORS[lanes.index(op["resource"])]}"];' for i, op in enumerate(ops))
            pathlib.Path(dot).write_text(f"digraph step {{\n  rankdir=LR;\n  node [shape=box, fontsize=9];\n{nodes}\n{edges}\n}}\n")

    def replays(self, c, flags):
        """-> [(way, name, bytes, recorded start, recorded end, simulated start, simulated end)] of each replayed step, in seconds"""
        whole, out = self.profile(c), []
        for step in whole["steps"][:STEPS_REPLAYED]:
            spans = self.timeline({**whole, "steps": [step]}, c.mbit, 1, flags)
            first = [s for s in spans if s[2] == 0]
            began = min(s[4] for s in first)
            recorded_began = min(op["start_us"] for op in step["ops"] if "start_us" in op) / 1e6
            ends = {}
            for _, tid, _, name, start, end, size in first:
                if size is not None:
                    ends.setdefault((name, (tid - 1) % 2), []).append((start - began, end - began))
            found = []
            for op in step["ops"]:
                way = WAYS.index(op["resource"]) if op["resource"] in WAYS else -1
                spots = ends.get((op["name"], way))
                if way >= 0 and spots and "end_us" in op and op.get("bytes", 0) > 0:
                    start, end = spots.pop(0)
                    found.append((way, op["name"], op["bytes"], op["start_us"] / 1e6 - recorded_began, op["end_us"] / 1e6 - recorded_began,
                                  start, end))
            out.append(found)
        return out

    def streams(self):
        """Fig. 8, 11, 12 and Table 1: recorded transfers beside reconstructed ones."""
        few = min([c for c in self.configurations if c.servers == 1] or self.configurations, key=lambda c: (abs(len(self.profile(c)["steps"][0]["ops"]) - 150), c.name))
        step = self.replays(few, ["--policy", "paper"])[0]
        charts = []
        for way in range(2):
            rows, most = [], 0
            for _, name, size, r0, r1, s0, s1 in sorted((s for s in step if s[0] == way), key=lambda s: s[5]):
                name = re.sub(r"^edge_\d+_", "", name)
                rows.append((f"{name} {size / 1e3:.{0 if size >= 10_000 else 1}f} kB", [(r0 * 1e3, r1 * 1e3, COLORS[0], False), (s0 * 1e3, s1 * 1e3, COLORS[1], True)]))
                most = max(most, r1 * 1e3, s1 * 1e3)
            charts.append(f"<h3>{WAYS[way]}</h3>" + bars(rows, most, "ms from the start of the step"))
        self.section("Recorded and reconstructed streams (Fig. 8, 11, 12)", f"{few.name}, the first recorded step under the paper's rule. A "
                     "record begins when a tensor is asked for and ends when it is parsed: records overlap, transmissions do not.",
                     legend([("recorded", COLORS[0]), ("reconstructed", COLORS[1])]), *charts)
        head = ["error of end times", "downlink", "median", "95 %", "most", "uplink", "median", "95 %", "most"]
        rows = []
        for c in self.configurations:
            row = [c.name]
            steps = self.replays(c, [])
            for way in range(2):
                es = sorted(abs(s[6] / s[4] - 1) for step in steps for s in step if s[0] == way and s[2] >= LEAST_BYTES)
                row += [f"{100 * v:.1f} %" for v in (statistics.mean(es), statistics.median(es), es[int(0.95 * (len(es) - 1))], es[-1])] if es else ["-"] * 4
            rows.append(row)
        self.say("Table 1: error of the predicted end of a transfer", head, rows)
        self.section("Table 1: error of the predicted end of a transfer", f"|predicted / recorded − 1| over {STEPS_REPLAYED} steps, each replayed "
                     f"alone by the default policy, in seconds from the start of the step, for tensors of {LEAST_BYTES} bytes and more; the paper "
                     "has the downlink only. Nothing is fitted here: penstock calibrate fits overhead, windows and bursts first.", table(head, rows))

    def overhead(self):
        """Fig. 9: what a transfer takes beyond its bytes."""
        dots = []
        for c in self.configurations:
            rate = c.mbit * 1e6 / 8 * PAYLOAD
            for step in self.profile(c)["steps"]:
                for way in WAYS:
                    spans = sorted((op["start_us"], op["end_us"], op["bytes"]) for op in step["ops"]
                                   if op["resource"] == way and op.get("start_us", -1) >= 0 and op.get("bytes", 0) > 0)
                    for i, (start, end, size) in enumerate(spans):
                        if all(e <= start or s >= end for k, (s, e, _) in enumerate(spans) if k != i):
                            dots.append((size / 1e3, (end - start) / 1e3 - 1e3 * size / rate))
        if len(dots) < 3:
            return
        xs, ys = zip(*dots)
        mean_x, mean_y, spread = statistics.mean(xs), statistics.mean(ys), statistics.pvariance(xs)
        slope = sum((a - mean_x) * (b - mean_y) for a, b in dots) / len(dots) / spread if spread > 0 else 0
        at0 = mean_y - slope * mean_x
        chart = Chart(1.05 * max(xs), 1.1 * max(0.1, *ys), "kB", "ms beyond bytes / rate", width=940)
        for a, b in dots:
            chart.parts.append(f'<circle cx="{chart.x(a):.1f}" cy="{chart.y(max(0, b)):.1f}" r="2.2" fill="{COLORS[0]}" opacity="0.5"/>')
        chart.line([(x, max(0, at0 + slope * x)) for x in (0, max(xs))], COLORS[1], dots=False)
        self.section("Overhead of a transfer by its size (Fig. 9)", f"The {len(dots)} transfers of all steps that were alone on their link, with "
                     f"the line of least squares (the paper's β and α): {at0:.2f} ms + {1e3 * slope:.1f} us/kB, median {statistics.median(ys):.2f} ms. Points "
                     "below 0, which a burst of the shaper can make, lie on the axis. Large tensors are hardly ever alone in a recorded "
                     "step, so a slope over small ones says little; the paper measured it apart.",
                     legend([("transfers", COLORS[0]), ("fit", COLORS[1])]), chart.svg("overhead by size"))

    def curves(self):
        """Fig. 13, 14, 20, 21, 24, 25: throughput by workers."""
        charts, rows = [], []
        for c in self.configurations:
            sizes = range(1, max(c.measured) + 1)
            default, paper = self.points(c, [], sizes), self.points(c, ["--policy", "paper"], sizes)
            top = 1.05 * max([p["high"] for p in default.values()] + [v for r in c.repeats.values() for v in r] +
                             [p["steps_per_s"] for p in paper.values()])
            chart = Chart(max(sizes), top, "workers", "steps/s", whole_x=True)
            chart.band([(w, p["low"]) for w, p in default.items()], [(w, p["high"]) for w, p in default.items()], COLORS[0])
            chart.line([(w, p["steps_per_s"]) for w, p in default.items()], COLORS[0])
            chart.line([(w, p["steps_per_s"]) for w, p in paper.items()], COLORS[1], dashed=True, dots=False)
            for w, repeats in c.repeats.items():
                for v in repeats:
                    chart.cross(w, v, COLORS[4], f"measured with {w} workers: {v:.3f} steps/s")
            title = f"{c.name}: {c.servers} server{'s' if c.servers > 1 else ''}, {c.mbit} Mbit/s"
            charts.append(f"<div><h3>{title}</h3>{chart.svg('steps/s by workers')}</div>")
            for w, v in c.measured.items():
                rows.append([c.name, w, c.servers, f"{v:.2f}", f"{default[w]['steps_per_s']:.2f}", f"{100 * (default[w]['steps_per_s'] / v - 1):+.1f} %",
                             f"{paper[w]['steps_per_s']:.2f}", f"{100 * (paper[w]['steps_per_s'] / v - 1):+.1f} %"])
        head = ["configuration", "workers", "servers", "measured", "default", "error", "paper", "error"]
        self.say("Throughput (Fig. 13, 14, 20, 21, 25)", head, rows)
        self.section("Throughput by workers (Fig. 13, 14, 20, 21; two servers: 24, 25)", "Crosses are measured runs; the band is the 90 % interval. "
                     "With two servers the paper's rule gives a worker that uses both links 1 − 1/n of the second (max-min), the preset "
                     "--policy paper.", legend([("default", COLORS[0]), ("the paper's rule", COLORS[1]), ("measured", COLORS[4])]),
                     f"<div class=grid2>{''.join(charts)}</div>", table(head, rows))

    def over_time(self):
        """Fig. 15, 16: all workers start together, then drift apart."""
        c = next((c for c in self.configurations if c.servers == 1), self.configurations[0])
        workers, charts = min(4, max(c.measured)), []
        for name, flags in (("default", []), ("the paper's rule", ["--policy", "paper"])):
            spans = self.timeline(self.profile(c), c.mbit, workers, flags)
            end = max(s[5] for s in spans)
            chart = Chart(end, 1.05 * c.mbit * PAYLOAD, "s", "Mbit/s", width=940)
            for way in range(2):
                rates = [0.0] * 200
                for _, tid, _, _, start, stop, size in spans:
                    if size is None or (tid - 1) % 2 != way or stop <= start:
                        continue
                    for k in range(max(0, int(200 * start / end)), min(199, int(200 * stop / end)) + 1):
                        inside = min(stop, (k + 1) * end / 200) - max(start, k * end / 200)
                        rates[k] += max(0.0, inside) / (stop - start) * size * 8e-6 / (end / 200)
                chart.line([((k + 0.5) * end / 200, min(r, 1.04 * c.mbit * PAYLOAD)) for k, r in enumerate(rates)], COLORS[way], dots=False)
            charts.append(f"<h3>{name}</h3>{chart.svg('rates over time')}")
        self.section("Rates over time (Fig. 15, 16)", f"{c.name}, {workers} workers, their first steps; bytes of a transfer are spread evenly over "
                     "its time on the link.", legend(list(zip(("down", "up"), COLORS))), *charts)

    def orders(self):
        """Fig. 17, 18, 19: orders of transfers without flow control."""
        charts, rows = [], []
        for c in [c for c in self.configurations if c.servers == 1][:4]:
            found = {o: self.points(c, ["--order", o]) for o in ORDERS}
            chart = Chart(max(c.measured), 1.05 * max(p["steps_per_s"] for f in found.values() for p in f.values()), "workers", "steps/s", whole_x=True)
            for o, color in zip(ORDERS, COLORS):
                chart.line([(w, p["steps_per_s"]) for w, p in found[o].items()], color)
            charts.append(f"<div><h3>{c.name}</h3>{chart.svg('steps/s by order')}</div>")
            last = max(c.measured)
            rows.append([c.name, last, *(f"{100 * (found[o][last]['steps_per_s'] / found['traced'][last]['steps_per_s'] - 1):+.1f} %" for o in ORDERS[1:]),
                         *(f"{100 * (found['layer'][1]['steps_per_s'] / found['traced'][1]['steps_per_s'] - 1):+.1f} %",)])
        if not rows:
            return
        head = ["change by the order", "workers", *ORDERS[1:], "layer, 1 worker"]
        self.say("Orders of transfers (Fig. 17 to 19)", head, rows)
        self.section("Orders of transfers (Fig. 17, 18, 19)", "Predictions: steps/s with transfers in another order than recorded.",
                     legend(list(zip(ORDERS, COLORS))), f"<div class=grid2>{''.join(charts)}</div>", table(head, rows))

    def cost(self):
        """Fig. 22: time of a prediction beside that of training."""
        rows = []
        for c in self.configurations:
            sizes = ",".join(map(str, c.measured))
            began = time.perf_counter()
            subprocess.run([self.program, "predict", c.profile, "--bandwidth", f"{c.mbit}Mbit", "--workers", sizes, "--json"],
                           stdout=subprocess.DEVNULL, check=True)
            spent = time.perf_counter() - began
            trained = [r["window"][1] - r["window"][0] for r in json.loads((c.folder / "measured.json").read_text()) if "window" in r]
            if trained:
                rows.append([c.name, len(c.measured), f"{sum(trained):.0f} s", f"{spent:.1f} s"])
        if rows:
            head = ["configuration", "sizes", "measured for", "predicted in"]
            self.say("Time (Fig. 22)", head, rows)
            self.section("Time of a prediction beside that of training (Fig. 22)", "All measured windows of a configuration, beside the prediction of "
                         "all its sizes on this machine, reading the profile included.", table(head, rows))

    def placement(self):
        """Fig. 23: which server holds which variable."""
        for c in self.configurations:
            if c.servers < 2:
                continue
            held = {}
            for op in self.profile(c)["steps"][0]["ops"]:
                if op["resource"] == "downlink":
                    held.setdefault(op.get("server", 0), []).append((op.get("bytes", 0), op["name"]))
            rows = [[f"server {s}", len(v), f"{sum(b for b, _ in v) / 1e6:.2f} MB", ", ".join(f"{n} {b / 1e3:.1f} kB" for b, n in sorted(v, reverse=True)[:4])]
                    for s, v in sorted(held.items())]
            head = [c.name, "tensors", "down a step", "the largest"]
            self.say("Placement (Fig. 23)", head, rows)
            self.section(f"Placement of variables (Fig. 23): {c.name}", "As recorded; predict --placement greedy, round-robin or optimised gives others.",
                         table(head, rows))

    def page(self):
        return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
                f"<title>Throughput prediction, ICPE 2020</title><style>{STYLE}</style></head><body><main><h1>Throughput prediction of asynchronous "
                f"SGD: the paper's tables and figures, from recordings</h1><p class=caption>After Li, Yan, Paolieri and Golubchik, ICPE 2020. "
                f"{len(self.configurations)} configurations. Made by bench/cluster/paper.py.</p>" + "".join(self.sections) + "</main></body></html>\n")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("recordings", type=pathlib.Path)
    ap.add_argument("names", nargs="*")
    ap.add_argument("--program", default=str(ROOT / "build/release/penstock"))
    ap.add_argument("--html", metavar="F")
    ap.add_argument("--dot", metavar="F")
    ap.add_argument("--quick", action="store_true", help="few replications")
    a = ap.parse_args()
    folders = sorted(f for f in a.recordings.iterdir() if (f / "measured.json").exists() and (not a.names or f.name in a.names))
    configurations = [c for c in map(Configuration, folders) if not c.synchronous]
    if not configurations:
        sys.exit(f"paper.py: {a.recordings} holds no recordings of asynchronous training")
    paper = Paper(a.program, configurations, a.quick)
    for part in (paper.formulas, paper.profiles, lambda: paper.graph(a.dot), paper.overhead, paper.streams, paper.curves, paper.over_time,
                 paper.orders, paper.cost, paper.placement):
        part()
    print("\n".join(paper.said))
    if a.html:
        pathlib.Path(a.html).write_text(paper.page())


if __name__ == "__main__":
    main()
