#!/usr/bin/env python3
"""Compares `penstock predict` with measured training throughput.

accuracy.py RECORDINGS [--program P] [--policy NAME ...] [--fit] [--draws N] [--save F] [--json F] [CONFIGURATION ...]

RECORDINGS has one folder per configuration: profile/ (of one worker), config.json (only its nominal
link rate is used: ps_mbit of servers, or link_mbit of all-reduce ranks) and measured.json (steps/s by number of workers; repeats are averaged).
Without --policy the rows are: ideal, the paper's rule, and the default model. --fit fits the constants of the
default model with each configuration left out in turn, evaluates each configuration with the constants of the others, and
prints the constants over all (6 minutes of two processors).
"""
import argparse
import collections
import concurrent.futures
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Fitted constants and their ranges; the other constants are those of `--policy grpc`.
RANGES = {
    "duplex_loss": (0.01, 0.06),
    "step_gap_transfer_s": (2e-5, 1.1e-4),
    "message_wait_s": (0.003, 0.016),
}
MANY = ["--replications", "64"]  # with the usual 16 a row of few points varies by 0.3 points between seeds
USUAL_MISS = 0.05  # mean error of a configuration: a set that is worse by this has weight 1/e


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
    """Fits the constants: the mean of random sets, weighted by the likelihood of their errors.

    Apart from the noise of the simulated starts an error changes smoothly with the constants, so a quadratic surface through
    the drawn sets is more accurate than the sets themselves. Many sets are about equally good, and the best one fits the noise
    of its data: therefore the mean over many more sets on the surface. A configuration counts as one, because its sizes share a
    profile."""

    def __init__(self, program, configurations, flags, draws):
        import numpy  # only a fit needs it: Debian's python3-numpy
        self.numpy, self.program, self.configurations, self.flags = numpy, program, configurations, flags
        self.pool = concurrent.futures.ThreadPoolExecutor(2)
        random = numpy.random.default_rng(1)
        self.low, self.high = (numpy.array([r[i] for r in RANGES.values()]) for i in (0, 1))
        drawn = random.uniform(self.low, self.high, (draws, len(RANGES)))
        missed = [self.judged(self.named(constants)) for constants in drawn]
        self.owner = numpy.array([name for name, es in missed[0].items() for _ in es])
        logs = numpy.array([[math.log(1 + e[2]) for es in found.values() for e in es] for found in missed])
        surface = numpy.linalg.lstsq(self.terms(drawn), logs, rcond=None)[0]
        self.tried = random.uniform(self.low, self.high, (20000, len(RANGES)))
        self.missed = numpy.abs(numpy.exp(self.terms(self.tried) @ surface) - 1)

    def terms(self, constants):
        x = (constants - self.low) / (self.high - self.low)
        pairs = [x[:, i] * x[:, k] for i in range(x.shape[1]) for k in range(i + 1)]
        return self.numpy.stack([self.numpy.ones(len(x)), *x.T, *pairs], axis=1)

    def named(self, constants):
        return dict(zip(RANGES, map(float, constants)))

    def judged(self, constants):
        """-> errors by the configuration's name"""
        points = self.pool.map(lambda c: errors(c, c.predict(self.program, self.flags, constants)), self.configurations)
        return dict(zip([c.name for c in self.configurations], points))

    def constants(self, left_out=None):
        loss = sum(self.missed[:, self.owner == c.name].mean(axis=1) for c in self.configurations if c.name != left_out)
        weights = self.numpy.exp((loss.min() - loss) / USUAL_MISS)
        return self.named(weights @ self.tried / weights.sum())


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("recordings", type=pathlib.Path)
    ap.add_argument("names", nargs="*")
    ap.add_argument("--program", default=str(ROOT / "build/release/penstock"))
    ap.add_argument("--policy", action="append")
    ap.add_argument("--fit", action="store_true")
    ap.add_argument("--draws", type=int, default=60, help="of --fit: sets of constants that are tried")
    ap.add_argument("--quick", action="store_true", help="few replications")
    ap.add_argument("--save", metavar="F", help="of --fit: the constants, by the configuration left out (bench/cluster/constants)")
    ap.add_argument("--json", metavar="F")
    a = ap.parse_args()
    folders = sorted(f for f in a.recordings.iterdir() if (f / "measured.json").exists() and (not a.names or f.name in a.names))
    if not folders:
        sys.exit(f"accuracy.py: {a.recordings} holds no recordings")
    configurations = [Configuration(f) for f in folders]
    quick = ["--replications", "3", "--steps", "70"] if a.quick else []
    many = quick or MANY
    rows = {"ideal": ["--model", "ideal"], "paper": ["--policy", "paper"], "default": [] if quick else many}
    if a.policy:
        rows = {p: ["--policy", p] for p in a.policy}
    if all(c.synchronous for c in configurations):
        rows = {"trace alone": [], "step time given": ["--step-time"]}
    report = {}
    for name, flags in rows.items():
        found = []
        for c in configurations:
            own = [f"{1 / c.measured[1]}s"] if flags == ["--step-time"] else []
            e = errors(c, c.predict(a.program, flags + own + quick))
            report.setdefault(name, {})[c.name] = [[x[0], x[2]] for x in e]
            found += e
        print(line(name, found), flush=True)
    if a.fit:
        fit = Fit(a.program, configurations, (quick or ["--replications", "8"]) + ["--threads", "1"], a.draws)
        overall = fit.constants()
        print("fitted on all:", json.dumps(overall), line("", [e for found in fit.judged(overall).values() for e in found]), flush=True)
        found, left_out = [], {}
        for c in configurations:
            left_out[c.name] = fit.constants(c.name)
            e = errors(c, c.predict(a.program, many, left_out[c.name]))
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


if __name__ == "__main__":
    main()
