#!/usr/bin/env python3
"""Compares `penstock predict` with measured training: the tables of bench/README.md.

cluster.py [--program P] [--tiny]

Prints one JSON object whose "text" holds two tables: errors by kind of measurement, and the contribution of each part of
the model. Measurements are in
  PENSTOCK_RECORDINGS  cluster/ (TensorFlow) and cluster-ddp/ (PyTorch DDP); without it ../shared/golden beside the checkout
  PENSTOCK_RIG_OUT     output of bench/cluster/rig.py; without it build/rig, or else the runs in bench/cluster/rig_runs.tar.xz
A row without its recordings says so. The rig's settings are predicted with the constants that penstock calibrate finds in
their profiles of one worker, and the measured properties of its links (rig_plain). The recordings' constants are
those of bench/cluster/constants.json, fitted by accuracy.py --fit with the judged configuration left out; a
configuration that no fit has seen is judged with the constants of all. --tiny runs two profiles of tests/ without measurements, as a smoke test.
"""
import argparse
import copy
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/cluster"))
from accuracy import MANY, Configuration, errors  # noqa: E402

CONSTANTS = json.loads((ROOT / "bench/cluster/constants.json").read_text())
QUICK = ["--replications", "12", "--steps", "60"]
LITTLE_GAIN = 0.05
# Parts that the default model adds to equal shares, in the order of the ablation: settings with and without each.
PARTS = {
    "one queue of segments a link": ({"sharing": "queue"}, {"sharing": "equal"}),
    "requests and answers wait in it": ({"queue_filled": 1}, {"queue_filled": 0}),
    "and longer than that": ({"message_wait_s": 0.0097}, {"message_wait_s": 0}),
    "links carry less when both ways are busy": ({"duplex_loss": 0.036}, {"duplex_loss": 0}),
    "servers of one core": ({"server_cores": 1}, {"server_cores": 0}),
    "gap between steps for each transfer": ({"step_gap_transfer_s": 6.5e-5}, {"step_gap_transfer_s": 0}),
}


DRAWN_SHARES = {"sharing": "tcp", "share_spread": 0.97, "newcomer": 0.57, "duplex_loss": 0.07, "message_wait_s": 0}  # docs/design/006


def recordings(name):
    given = os.environ.get("PENSTOCK_RECORDINGS")
    for top in [pathlib.Path(given)] if given else [p / "shared/golden" for p in (ROOT.parent, ROOT.parent.parent)]:
        if (top / name).is_dir():
            return configurations(top / name)
    return []


def configurations(folder):
    return [Configuration(f) for f in sorted(folder.iterdir()) if (f / "measured.json").exists()]


def rig_folder():
    own, kept = pathlib.Path(os.environ.get("PENSTOCK_RIG_OUT", ROOT / "build/rig")), ROOT / "build/rig_runs"
    if own.is_dir() or "PENSTOCK_RIG_OUT" in os.environ:
        return own
    if not kept.is_dir():
        with tarfile.open(ROOT / "bench/cluster/rig_runs.tar.xz") as runs:
            runs.extractall(kept)
    return kept


def rig(queue):
    """Settings of the rig whose links are fair or plain, of several sizes."""
    folder, out = rig_folder(), []
    for c in configurations(folder) if folder.is_dir() else []:
        if json.loads((c.folder / "config.json").read_text())["queue"] == queue and len(c.measured) > 1:
            out.append(c)
    return out


def constants_for(fit, name):
    known = CONSTANTS.get(fit, {})
    return known.get("left_out", {}).get(name, known.get("all"))


def judge(program, all_of, flags=(), fit=None, network=None):
    """-> [(configuration, errors)]"""
    return [(c, errors(c, c.predict(program, list(flags), network or (constants_for(fit, c.name) if fit else None)))) for c in all_of]


def calibrated(program, c, policy):
    """Returns the NET.json that penstock calibrate makes of the configuration's profile of one worker."""
    with tempfile.TemporaryDirectory() as temporary:
        net = pathlib.Path(temporary) / "net.json"
        subprocess.run([program, "calibrate", c.profile, "--bandwidth", f"{c.mbit}Mbit", "--policy", policy, "-o", net],
                       stdout=subprocess.DEVNULL, check=True)
        return json.loads(net.read_text())


# Settings of the rig in addition to its profiles. The interval is narrower than on the recordings' busy machine.
RIG_FAIR = {"model_error": 0.025}


def rig_plain():
    """Its processes run at real-time priority: messages wait only in the queue. The loss of links that are busy in both
    directions was measured with bulk transfers (rig.py --links)."""
    known, links = {**RIG_FAIR, "message_wait_s": 0}, rig_folder() / "links.json"
    if links.exists():
        checks = json.loads(links.read_text())["plain"]
        known["duplex_loss"] = 1 - sum(c["downlink"] + c["uplink"] for c in checks) / (2 * len(checks))
    return known


def judge_calibrated(program, all_of, policy, known):
    """Predicts each setting from its own profile and the links, without measured throughput."""
    return [(c, errors(c, c.predict(program, ["--policy", policy, *MANY], {**calibrated(program, c, policy), **known})))
            for c in all_of]


def figures(found, keep=lambda w, m: True):
    v = sorted(abs(e[2]) for _, es in found for e in es if keep(e[0], e[1]))
    if not v:
        return None
    return {"points": len(v), "mean": sum(v) / len(v), "p90": v[min(len(v) - 1, int(0.9 * len(v)))],
            "p95": v[min(len(v) - 1, int(0.95 * len(v)))], "max": v[-1]}


def coverage(found):
    inside, runs = (sum(e[k] for _, es in found for e in es) for k in (3, 4))
    return inside / runs if runs else None


def first_little_gain(rates):
    """Index of the first size that brings less than LITTLE_GAIN per added worker; their number if none does."""
    sizes = sorted(rates)
    for k in range(1, len(sizes)):
        gain = (rates[sizes[k]] / rates[sizes[k - 1]]) ** (1 / (sizes[k] - sizes[k - 1])) - 1
        if gain < LITTLE_GAIN:
            return k
    return len(sizes)


def saturation(found):
    off = []
    for c, es in found:
        predicted = {w: c.measured[w] * (1 + e) for w, _, e, _, _ in es}
        off.append(abs(first_little_gain(predicted) - first_little_gain(c.measured)))
    return {"settings": len(off), "exact": off.count(0) / len(off), "off_by_more_than_one": sum(o > 1 for o in off)} if off else None


def end_times(program, profiles):
    """Error of the transfers' ends inside a step: penstock calibrate --json."""
    out = []
    with tempfile.TemporaryDirectory() as temporary:
        for folder, mbit, policy in profiles:
            p = subprocess.run([program, "calibrate", folder, "--bandwidth", f"{mbit}Mbit", "--policy", policy, "-o",
                                f"{temporary}/net.json", "--json"], stdout=subprocess.PIPE, check=True)
            out.append((folder.parent.name, json.loads(p.stdout)["window"]["end_times"]))
    return out


STUDENT_90 = (0, 6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83)  # two-sided, by degrees of freedom


def families_left_out(found):
    """Judges each configuration by the others: the interval that their mean errors give for one more, and whether it holds its own.
    -> (widest half interval, configurations inside, configurations); None: too few"""
    missed = {c.name: sum(e[2] for e in es) / len(es) for c, es in found}
    if len(missed) < 3:
        return None
    halves, inside = [], 0
    for name, own in missed.items():
        others = [e for n, e in missed.items() if n != name]
        squares = sum(e * e for e in others) / len(others)  # around 0: the model claims no bias
        halves.append(STUDENT_90[min(len(others), len(STUDENT_90) - 1)] * (squares * (1 + 1 / len(others))) ** 0.5)
        inside += abs(own) <= halves[-1]
    return max(halves), inside, len(missed)


def family_rows(judged):
    """The held-out rows: how far a configuration may lie off that no fit has seen."""
    out = []
    for label, found in judged:
        f = families_left_out(found)
        out.append(f"| a configuration left out, {label} | {f[2]} | mean within {percent(f[0])} | {f[1]} of {f[2]} inside | | 85 to 97 % |" if f
                   else row(f"a configuration left out, {label}", None, "85 to 97 %"))
    return out


def percent(v):
    return "-" if v is None else f"{100 * v:.1f} %"


def row(label, f, goal, extra=""):
    if not f:
        return f"| {label} | not recorded here | | | | {goal} |"
    return (f"| {label} | {f['points']} | {percent(f['mean'])} | {percent(f['p90'])} | {percent(f['max'])}{extra} | {goal} |")


def table(program):
    tf, ddp = recordings("cluster"), recordings("cluster-ddp")
    fair, plain = rig("fair"), rig("plain")
    left_out = judge(program, tf, MANY, fit="recordings")
    fair_found = judge_calibrated(program, fair, "fifo", RIG_FAIR)
    plain_found = judge_calibrated(program, plain, "grpc", rig_plain())
    given = [(c, errors(c, c.predict(program, ["--step-time", f"{1 / c.measured[1]}s"]))) for c in ddp]
    alone, converted = judge(program, ddp), judge(program, chakra(ddp))
    lines = ["| what | points | mean | 9 of 10 | most | goal |", "|---|---|---|---|---|---|",
             *family_rows((("TensorFlow", left_out), ("DDP, step given", given), ("DDP, the trace alone", alone))),
             row("TensorFlow recordings, all points", figures(left_out), "5 %, 11 %"),
             row("the same, W >= 2", figures(left_out, lambda w, m: w >= 2), "5.5 %"),
             row("the same, two servers", figures(left_out, lambda w, m: m == 2), "5 %"),
             row("DDP recordings, one worker's step given", figures(given), "0.8 %, most 3 %"),
             row("DDP recordings, the trace alone", figures(alone), "2.5 %, most 8 %"),
             row("the same, Chakra traces alone", figures(converted), "2.5 %, most 8 %"),
             row("own rig, fair links", figures(fair_found), "3 %, p95 8 %", p95(fair_found)),
             row("own rig, plain TCP", figures(plain_found), "6 %, p95 15 %", p95(plain_found))]
    s = saturation(fair_found + plain_found)
    lines.append(f"| saturation point, own rig | {s['settings']} | exact in {percent(s['exact'])} | | {s['off_by_more_than_one']} off by "
                 "more than one size | 80 %, none |" if s else row("saturation point, own rig", None, "80 %, none"))
    big = [(c.folder / "profile", c.mbit, "fifo") for c in configurations_of_one_size()]
    times = end_times(program, big)
    for name, e in times:
        lines.append(f"| transfer end times, own rig, `{name}` | {e['transfers']} | {percent(e['mean'])} | p95 {percent(e['p95'])} | "
                     f"{percent(e['most'])} | 2 %, p95 5 % |")
    if not times:
        lines.append(row("transfer end times, own rig", None, "2 %, p95 5 %"))
    for name, e in end_times(program, [(c.profile, c.mbit, "grpc") for c in tf[:3]]):
        lines.append(f"| transfer end times, `{name}` | {e['transfers']} | {percent(e['mean'])} | p95 {percent(e['p95'])} | "
                     f"{percent(e['most'])} | (reported) |")
    for label, found in (("TensorFlow", left_out), ("DDP, step given", given), ("DDP, the trace alone", alone),
                         ("DDP, Chakra traces", converted), ("own rig", fair_found + plain_found)):
        if found:
            lines.append(f"| 90 % interval covers the run, {label} | {sum(e[4] for _, es in found for e in es)} | "
                         f"{percent(coverage(found))} | | | 80 to 97 % |")
    speed = pathlib.Path(program).parent / "bench_cluster_speed"
    if speed.exists():
        s = json.loads(subprocess.run([speed], stdout=subprocess.PIPE, check=True).stdout)
        lines.append(f"| 1000 steps x 10 workers x 1000 ops, one core | | {s['workers_10_steps_1000']['cpu_seconds']:.2f} s | | | 1 s |")
        lines.append(f"| 20 steps x 1024 workers on 64 servers | | {s['workers_1024_servers_64_steps_20']['cpu_seconds']:.1f} s | | | 60 s |")
    return lines, {"recordings": figures(left_out), "ddp": figures(given), "rig_fair": figures(fair_found),
                   "rig_plain": figures(plain_found)}


def chakra(all_of):
    """The same configurations with the Chakra conversion of one worker's trace for a profile."""
    out = []
    for c in all_of:
        other = copy.copy(c)
        other.profile = c.profile / "w1.et.gz"
        out += [other] if other.profile.exists() else []
    return out


def p95(found):
    f = figures(found)
    return f" (p95 {percent(f['p95'])})" if f else ""


def configurations_of_one_size():
    folder = rig_folder()
    return [c for c in configurations(folder) if len(c.measured) == 1] if folder.is_dir() else []


def variants():
    """Name, flags and network of each row of the ablation."""
    yield "formula: ideal", ["--model", "ideal"], None
    yield "formula: Lin", ["--model", "lin"], None
    yield "formula: Cynthia", ["--model", "cynthia"], None
    yield "the paper's rule (`--policy paper`)", ["--policy", "paper"], None
    yield "lanes as recorded, transfers whole (`fifo`)", ["--policy", "fifo"], None
    added = {k: v for _, without in PARTS.values() for k, v in without.items()}
    for name, (values, _) in PARTS.items():
        added.update(values)
        yield f"+ {name}", [], dict(added)
    for name, (_, without) in PARTS.items():
        yield f"all but: {name}", [], without
    yield "shares drawn for each burst in place of the queue", [], DRAWN_SHARES
    yield "all, transfers in the order of layers", ["--order", "layer"], None
    yield "all, transfers in random order", ["--order", "random"], None


def ablation(program):
    sets = {"recordings": recordings("cluster"), "plain": rig("plain"), "fair": rig("fair")}
    lines = ["| model | recordings, all | W >= 2 | two servers | rig, plain | rig, fair |", "|---|---|---|---|---|---|"]
    for name, flags, network in variants():
        found = {k: judge(program, cs, [*flags, *QUICK], network=network) for k, cs in sets.items()}
        cells = [figures(found["recordings"]), figures(found["recordings"], lambda w, m: w >= 2),
                 figures(found["recordings"], lambda w, m: m == 2), figures(found["plain"]), figures(found["fair"])]
        lines.append(f"| {name} | " + " | ".join(percent(f and f["mean"]) for f in cells) + " |")
    return lines


def tiny_paper(program):
    """Makes the paper's page of one small recording with the runs of docs/tutorial-scale.md. -> its sections"""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "embmlp"
        folder.mkdir()
        (folder / "profile").symlink_to(ROOT / "tests/cluster/embmlp")
        (folder / "config.json").write_text('{"ps_mbit": 150, "servers": 1}')
        runs = [{"workers": w, "steps_per_s": r, "window": [0, 10]} for w, r in ((1, 3.59), (2, 7.16), (3, 6.84), (4, 6.88))]
        (folder / "measured.json").write_text(json.dumps(runs))
        page = pathlib.Path(temporary) / "paper.html"
        subprocess.run([sys.executable, ROOT / "bench/cluster/paper.py", temporary, "--program", program, "--quick", "--html", page],
                       stdout=subprocess.DEVNULL, check=True)
        return page.read_text().count("<section>")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--program", default=str(ROOT / "build/release/penstock"))
    ap.add_argument("--tiny", action="store_true")
    a = ap.parse_args()
    if a.tiny:
        points = subprocess.run([a.program, "predict", ROOT / "tests/cluster/embmlp", "--bandwidth", "150Mbit", "--workers", "1,2",
                                 "--json", *QUICK], stdout=subprocess.PIPE, check=True).stdout
        names = [name for name, _, _ in variants()]
        print(json.dumps({"points": len(json.loads(points)["points"]), "variants": len(names), "paper_sections": tiny_paper(a.program)}))
        return
    lines, result = table(a.program)
    text = "\n".join([*lines, "", "Mean error of each model; constants are the defaults, judged as they are.", "", *ablation(a.program)])
    print(json.dumps({**{k: v for k, v in result.items() if v}, "text": text}))


if __name__ == "__main__":
    main()
