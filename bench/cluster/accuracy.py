#!/usr/bin/env python3
"""How far `penstock predict` is from measured training throughput.

accuracy.py RECORDINGS [--program P] [--policy NAME ...] [--fit] [--save F] [--json F] [CONFIGURATION ...]

RECORDINGS holds a folder a configuration: profile/ (of one worker), config.json (of it only the nominal
link rate is used: ps_mbit of servers, or link_mbit of all-reduce ranks) and measured.json (steps/s by number of workers; repeats are averaged).
Without --policy the rows are: ideal, the paper's rule, and the default model. --fit fits the constants of the
default model with each configuration left out in turn (coordinate search over GRID) and judges each
configuration with the constants of the others; it prints the constants over all, too.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GRID = {
    "burst_bytes": [0.0, 65536.0],
    "step_gap_transfer_s": [5e-5, 1e-4],
    "duplex_loss": [0.09, 0.12, 0.15],
    "share_spread": [0.3, 0.6, 0.9],
    "newcomer": [0.7, 0.5, 0.3],
    "message_wait_s": [0.0, 0.003, 0.006, 0.012],
    "server_transfer_s": [0.0, 2e-5, 5e-5],
    "step_gap_s": [0.0, 0.004],
}
START = {"duplex_loss": 0.15, "share_spread": 0.6, "newcomer": 0.5, "message_wait_s": 0.006, "server_transfer_s": 2e-5,
         "step_gap_s": 0.0, "step_gap_transfer_s": 1e-4, "server_cores": 1, "burst_bytes": 65536.0}


class Configuration:
    def __init__(self, folder):
        self.name = folder.name
        self.folder = folder
        facts = json.loads((folder / "config.json").read_text())
        self.synchronous = "link_mbit" in facts
        self.mbit, self.servers = facts["link_mbit" if self.synchronous else "ps_mbit"], facts.get("servers", 0)
        repeats = collections.defaultdict(list)
        for run in json.loads((folder / "measured.json").read_text()):
            repeats[run["workers"]].append(run["steps_per_s"])
        self.repeats = dict(sorted(repeats.items()))
        self.measured = {w: statistics.mean(v) for w, v in self.repeats.items()}
        self.profile = folder / "profile"

    def predict(self, program, flags, network=None):
        command = [program, "predict", str(self.profile), "--json", "--bandwidth", f"{self.mbit}Mbit",
                   "--workers", ",".join(map(str, self.measured)), *flags]
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            if network:
                json.dump(network, f)
                f.flush()
                command += ["--network", f.name]
            out = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        return {p["workers"]: p for p in json.loads(out.stdout)["points"]}


def errors(configuration, points):
    """-> [(workers, servers, relative error, single runs inside the interval, single runs)]"""
    out = []
    for w, measured in configuration.measured.items():
        p = points[w]
        inside = sum(p["low"] <= v <= p["high"] for v in configuration.repeats[w])
        out.append((w, configuration.servers, p["steps_per_s"] / measured - 1, inside, len(configuration.repeats[w])))
    return out


def line(name, found):
    rows = [("all", lambda e: True), ("one server", lambda e: e[1] == 1), ("two servers", lambda e: e[1] == 2),
            ("W >= 2", lambda e: e[0] >= 2)]
    cells = []
    for label, keep in rows:
        v = sorted(abs(e[2]) for e in found if keep(e))
        if v:
            cells.append(f"{label} {100 * statistics.mean(v):.1f} % (p90 {100 * v[min(len(v) - 1, int(0.9 * len(v)))]:.1f}, "
                         f"max {100 * v[-1]:.1f}, n {len(v)})")
    covered = sum(e[3] for e in found) / sum(e[4] for e in found)
    return f"{name:22s} " + "; ".join(cells) + f"; covered {100 * covered:.0f} %"


class Fit:
    """Coordinate search; what a set of constants gives for a configuration is kept, so that leaving one out is cheap."""

    def __init__(self, program, configurations, flags):
        self.program, self.configurations, self.flags, self.known = program, configurations, flags, {}
        self.pool = concurrent.futures.ThreadPoolExecutor(2)

    def judged(self, constants):
        key = json.dumps(constants, sort_keys=True)
        if key not in self.known:
            points = self.pool.map(lambda c: errors(c, c.predict(self.program, self.flags, constants)), self.configurations)
            self.known[key] = dict(zip([c.name for c in self.configurations], points))
        return self.known[key]

    def loss(self, constants, left_out):
        v = [abs(e[2]) for name, found in self.judged(constants).items() if name != left_out for e in found]
        return statistics.mean(v) + 0.2 * statistics.mean(x * x for x in v) ** 0.5

    def search(self, left_out, start, rounds=2):
        best, low = dict(start), self.loss(start, left_out)
        for _ in range(rounds):
            before = low
            for key, values in GRID.items():
                for value in values:
                    trial = {**best, key: value}
                    found = self.loss(trial, left_out)
                    if found < low - 1e-6:
                        best, low = trial, found
            if low > before - 1e-4:
                break
        return best


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("recordings", type=pathlib.Path)
    ap.add_argument("names", nargs="*")
    ap.add_argument("--program", default=str(ROOT / "build/release/penstock"))
    ap.add_argument("--policy", action="append")
    ap.add_argument("--fit", action="store_true")
    ap.add_argument("--quick", action="store_true", help="few replications")
    ap.add_argument("--save", metavar="F", help="of --fit: the constants, by the configuration left out (bench/cluster/constants)")
    ap.add_argument("--json", metavar="F")
    a = ap.parse_args()
    folders = sorted(f for f in a.recordings.iterdir() if (f / "measured.json").exists() and (not a.names or f.name in a.names))
    if not folders:
        sys.exit(f"accuracy.py: {a.recordings} holds no recordings")
    configurations = [Configuration(f) for f in folders]
    quick = ["--replications", "3", "--steps", "70"] if a.quick else []
    rows = {"ideal": ["--model", "ideal"], "paper": ["--policy", "paper"], "default": []}
    if a.policy:
        rows = {p: ["--policy", p] for p in a.policy}
    if all(c.synchronous for c in configurations):
        rows = {"trace alone": [], "step time given": ["--step-time"]}
    report = {}
    for name, flags in rows.items():
        found = []
        for c in configurations:
            own = [str(1 / c.measured[1])] if flags == ["--step-time"] else []
            e = errors(c, c.predict(a.program, flags + own + quick))
            report.setdefault(name, {})[c.name] = [[x[0], x[2]] for x in e]
            found += e
        print(line(name, found), flush=True)
    if a.fit:
        fit = Fit(a.program, configurations, quick + ["--threads", "1"])
        overall = fit.search(None, START)
        print("fitted on all:", json.dumps(overall), line("", fit_points(fit, overall)), flush=True)
        found, left_out = [], {}
        for c in configurations:
            constants = left_out[c.name] = fit.search(c.name, overall, rounds=1)
            e = fit.judged(constants)[c.name]
            report.setdefault("left out", {})[c.name] = [[x[0], x[2]] for x in e]
            found += e
        print(line("each left out", found))
        if a.save:
            pathlib.Path(a.save).write_text(json.dumps({"all": overall, "left_out": left_out}, indent=1) + "\n")
    for name, by_configuration in report.items():
        for configuration, found in by_configuration.items():
            print(f"  {name:10s} {configuration:24s} " + "  ".join(f"W={w} {100 * e:+.1f}" for w, e in found))
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps(report, indent=1))


def fit_points(fit, constants):
    return [e for found in fit.judged(constants).values() for e in found]


if __name__ == "__main__":
    main()
