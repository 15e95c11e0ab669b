#!/usr/bin/env python3
"""Runs the cluster rig for less than a minute: measures real workers and servers and compares `penstock predict`.

rig.py [--program P] [--tiny]

Prints one JSON object: for fair and for plain links the steps/s measured with 1, 2 and 4 workers, those predicted from
the profile of one worker, and the errors; or the reason why there is no rig here. bench/cluster/rig.py measures longer.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 3
POLICY = {"fair": "fifo", "plain": "grpc"}


def measure(out, node, settings, words):
    chosen = [w for s in settings for w in ("--setting", s)]
    p = subprocess.run([sys.executable, ROOT / "bench/cluster/rig.py", out, "--node", node, "--repeats", "1", *chosen, *words],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if p.returncode == SKIPPED:
        return p.stdout.strip().split("\n")[-1]
    if p.returncode:
        raise SystemExit(p.stderr)
    return None


def judge(folder, program):
    facts = json.loads((folder / "config.json").read_text())
    measured = {r["workers"]: r["steps_per_s"] for r in json.loads((folder / "measured.json").read_text())}
    out = {"dropped": facts["runs_dropped"]}
    if not measured or not facts["profile_kept"]:
        return {**out, "skipped": "the machine is too busy"}
    p = subprocess.run([program, "predict", folder / "profile", "--bandwidth", f"{facts['ps_mbit']}Mbit", "--workers",
                        ",".join(map(str, measured)), "--policy", POLICY[facts["queue"]], "--json"],
                       stdout=subprocess.PIPE, check=True)
    predicted = {q["workers"]: q["steps_per_s"] for q in json.loads(p.stdout)["points"]}
    for w, rate in measured.items():
        out[f"workers_{w}"] = {"measured": rate, "predicted": round(predicted[w], 3)}
    out["mean_error"] = round(statistics.mean(abs(predicted[w] / rate - 1) for w, rate in measured.items()), 4)
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--program", default=str(ROOT / "build/release/penstock"))
    ap.add_argument("--tiny", action="store_true")
    a = ap.parse_args()
    settings = ["tiny"] if a.tiny else ["short_fair", "short_plain"]
    words = ["--steps", "20", "--profile", "3", "--busiest", "2"] if a.tiny else ["--steps", "100", "--profile", "20", "--seconds", "6", "--tries", "1"]
    with tempfile.TemporaryDirectory() as temporary:
        out = pathlib.Path(temporary)
        missing = measure(out, pathlib.Path(a.program).parent / "rig_node", settings, words)
        print(json.dumps({"skipped": missing} if missing else {s: judge(out / s, a.program) for s in settings}))


if __name__ == "__main__":
    main()
