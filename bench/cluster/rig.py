#!/usr/bin/env python3
"""Measures training throughput of a real parameter server and its workers, on shaped links between network namespaces.

rig.py OUT [--node PROGRAM] [--setting NAME ...] [--steps N] [--repeats N] [--workers LIST] [--profile N] [--seconds S]
       [--tries N] [--busiest SHARE] [--links] [--more]

Servers and workers are processes that talk gRPC (rig_node); computing is sleeping. For each setting of
SETTINGS it writes to OUT/NAME the input of `penstock predict` and accuracy.py: profile/ (RunMetadata of one worker's
steps), config.json and measured.json (steps/s by number of workers). It counts N steps of all workers
together after each has done its first WARM_STEPS. The processes run at real-time priority, so all
others yield to them. A run is dropped, counted in config.json and tried again (--tries) when its processes and the kernel's
network work keep the machine more than --busiest busy, when they waited for a processor for more than MOST_WAITED of the
time (waited_share), or when all stood still for STILL_S and two steps (the machine was halted). machine_busy also counts
other processes, except niced ones. Without --setting, or with --links, OUT/links.json has the share of the links that
bulk transfers fill. One worker alone is measured once. --more adds repeats to those of OUT/NAME; its profile stays.
Needs root; without a rig it
prints the reason and ends with status 3. A killed rig is cleaned up afterwards.
"""
import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import goodput  # noqa: E402
from network import PREFIX, BusyClock, Network, Unavailable, server_address  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PORT = 5050
WARM_STEPS = 5
BUSIEST = 0.7
STALLED_S = 60
STILL_S = 1
MOST_WAITED = 0.1
STAGGER_S = (0.013, 0.037, 0.029, 0.021)  # worker k of repeat r begins k times STAGGER_S[r] later
TOTAL_MBIT = 400               # most that all servers' links carry together, in both directions


def net(kilobytes, forward_ms, backward_ms):
    """Layers of [tensor bytes], with the computing spread as given."""
    return [([int(k * 1000) // 4 * 4 for k in tensors], f, b) for tensors, f, b in zip(kilobytes, forward_ms, backward_ms)]


# Shares of bytes and computing after the papers' models, scaled to a step of about 0.1 s at 100 Mbit/s.
ALEX = net([[5], [45], [60], [45], [30], [500], [220], [54]], [6, 6, 3, 4, 3, 2, 1, 1], [9, 12, 7, 8, 6, 4, 2, 1])
VGG = net([[1], [8], [30], [60], [120], [240], [240], [240], [800], [130], [32]], [5, 6, 5, 8, 5, 7, 3, 3, 2, 1, 1],
          [8, 11, 10, 15, 9, 13, 6, 6, 4, 2, 1])
RES = net([[10 + 4 * i, 1] for i in range(16)] + [[120]], [3] * 16 + [1], [6] * 16 + [2])
EVEN = net([[100]] * 8, [4] * 8, [8] * 8)
BIG = net([[40], [400], [2000], [10000], [40000], [4000], [400]], [20] * 7, [40] * 7)


def setting(layers, mbit, queue, servers=1, workers=(1, 2, 3, 4, 6, 8), scale=1.0, placement="bytes", order="random"):
    return {"layers": layers, "mbit": mbit, "queue": queue, "servers": servers, "workers": list(workers), "scale": scale,
            "placement": placement, "order": order}


SETTINGS = {
    "alex_fair": setting(ALEX, 150, "fair"),
    "vgg_fair": setting(VGG, 200, "fair"),
    "res_fair": setting(RES, 100, "fair", scale=0.8),
    "even_fair": setting(EVEN, 150, "fair", scale=2.0),
    "alex_fair_m2": setting(ALEX, 80, "fair", servers=2),
    "alex_plain": setting(ALEX, 150, "plain"),
    "vgg_plain": setting(VGG, 200, "plain"),
    "res_plain": setting(RES, 100, "plain", scale=0.8),
    "even_plain": setting(EVEN, 150, "plain", scale=2.0),
    "res_plain_m2": setting(RES, 60, "plain", servers=2),
    "vgg_plain_m3": setting(VGG, 65, "plain", servers=3),
    "even_plain_m4": setting(EVEN, 50, "plain", servers=4),
    "big_fair": setting(BIG, 200, "fair", workers=[1]),
    "big": setting(BIG, 200, "plain", workers=[1]),
    "short_fair": setting(EVEN, 150, "fair", workers=[1, 2, 4]),
    "short_plain": setting(EVEN, 150, "plain", workers=[1, 2, 4]),
    "tiny": setting(net([[20], [40]], [2, 2], [3, 3]), 100, "fair", workers=[1, 2]),
}


def place(layers, servers, how):
    """Server of each tensor: the largest first on the emptiest, or one after the other."""
    sizes = [b for tensors, _, _ in layers for b in tensors]
    out, load = [0] * len(sizes), [0] * servers
    for rank, i in enumerate(sorted(range(len(sizes)), key=lambda i: -sizes[i])):
        out[i] = i % servers if how == "round_robin" else load.index(min(load))
        load[out[i]] += sizes[i]
    return out


def layers_text(s):
    where = iter(place(s["layers"], s["servers"], s["placement"]))
    lines = []
    for k, (tensors, forward, backward) in enumerate(s["layers"]):
        lines.append(f"layer layer{k} {forward * s['scale']:.4f} {backward * s['scale']:.4f}")
        lines += [f"tensor layer{k}/tensor{j} {b} {next(where)}" for j, b in enumerate(tensors)]
    return "\n".join(lines) + "\n"


class Process:
    """A rig_node in its namespace; its steps as they come."""

    def __init__(self, host, node, words):
        self.host, self.steps, self.ended = host, [], False
        self.p = subprocess.Popen(["ip", "netns", "exec", PREFIX + host, str(node), *map(str, words)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.p.stdout.readline() != "ready\n":
            raise RuntimeError(f"rig_node {host} did not start: exit {self.p.wait()}")

    def go(self, at_ns):
        self.p.stdin.write(f"{at_ns}\n")
        self.p.stdin.flush()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.p.stdout:
            if line.startswith("step "):
                self.steps.append(tuple(int(x) for x in line.split()[1:]))
        self.ended = True

    def waited_s(self):
        """Time for which its threads were ready but not running, so far."""
        total = 0
        for f in pathlib.Path(f"/proc/{self.p.pid}/task").glob("*/schedstat"):
            try:
                total += int(f.read_text().split()[1])
            except (OSError, IndexError):
                pass
        return total * 1e-9

    def computed_s(self):
        """Processor time of its threads so far."""
        try:
            words = pathlib.Path(f"/proc/{self.p.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            return 0.0

    def stop(self):
        self.p.stdin.close()
        try:
            self.p.wait(5)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.wait()


def rate(workers):
    """-> steps/s of all workers between the last one's WARM_STEPS and the last step, steps counted, window."""
    begin = max(w.steps[WARM_STEPS - 1][1] for w in workers)
    end = max(s[1] for w in workers for s in w.steps)
    total = counted = 0
    for w in workers:
        ends = [s[1] for s in w.steps if begin <= s[1] <= end]
        if len(ends) > 1:
            total += (len(ends) - 1) / (ends[-1] - ends[0]) * 1e9
            counted += len(ends)
    return total, counted, (end - begin) * 1e-9


def run(s, node, layers, servers, workers, repeat, steps, seconds, profile=None):
    """One run with that many workers -> the record for measured.json."""
    addresses = ",".join(f"{server_address(k)}:{PORT}" for k in range(s["servers"]))
    processes = []
    try:
        for k in range(workers):
            words = ["worker", layers, 1000 * repeat + k + 1, addresses]
            words += ["in-order"] if s["order"] == "layer" else []
            if profile:
                words += ["profile", profile[0], WARM_STEPS, profile[1]]
            processes.append(Process(f"w{k}", node, words))
        stagger = STAGGER_S[repeat % len(STAGGER_S)]
        clock, began_s = BusyClock(), sum(p.computed_s() for p in processes + servers)
        begin = time.monotonic_ns() + 100_000_000
        for k, p in enumerate(processes):
            p.go(begin + int(k * stagger * 1e9))
        until, last, moved = time.monotonic() + seconds, 0, time.monotonic()
        while not all(p.ended for p in processes):
            time.sleep(0.05)
            now = time.monotonic()
            warm = min(len(p.steps) for p in processes) > WARM_STEPS + 1
            done = sum(len(p.steps) for p in processes) - WARM_STEPS * workers
            if any(p.p.poll() not in (None, 0) for p in processes):
                raise RuntimeError("a worker failed")
            if warm and not profile and (done >= steps or now > until):
                break
            last, moved = (done, now) if done != last else (last, moved)
            if now > moved + STALLED_S:
                raise RuntimeError("the workers do not come forward")
        busy, own_s = clock.share(), sum(p.computed_s() for p in processes + servers) - began_s
        own = own_s / clock.seconds() + clock.network_share()
        waited = sum(p.waited_s() for p in processes) / workers
        steps_per_s, counted, window = rate(processes)
        still = still_s(processes)
    finally:
        for p in processes:
            p.stop()
    return {"workers": workers, "servers": s["servers"], "repeat": repeat, "steps_per_s": round(steps_per_s, 4),
            "steps": counted, "seconds": round(window, 2), "start_stagger_s": stagger, "own_busy": round(own, 3),
            "machine_busy": round(busy, 3),
            "longest_still_s": round(still, 3), "waited_share": round(waited / window, 4),
            "step_s": [round(statistics.mean((e - b) * 1e-9 for b, e in p.steps[WARM_STEPS:]), 5) for p in processes]}


def still_s(workers):
    """Longest time without the end of a step."""
    ends = sorted(s[1] for w in workers for s in w.steps)
    return max((b - a for a, b in zip(ends, ends[1:])), default=0) * 1e-9


def undisturbed(got, busiest):
    moving = got["longest_still_s"] < STILL_S + 2 * statistics.mean(got["step_s"])
    return got["own_busy"] <= busiest and got["waited_share"] <= MOST_WAITED and moving


def found_before(folder):
    """-> config.json and measured.json, empty if missing."""
    files = [folder / "config.json", folder / "measured.json"]
    return [json.loads(f.read_text(encoding="utf-8")) for f in files] if all(f.exists() for f in files) else ({}, [])


def measure(name, s, a, out):
    folder = out / name
    (folder / "profile").mkdir(parents=True, exist_ok=True)
    facts, runs = found_before(folder) if a.more else ({}, [])
    dropped, tried = facts.get("runs_dropped", 0), facts.get("runs_tried", 0)
    first = max((r["repeat"] for r in runs), default=0) + 1

    def attempt(*args, **more):
        nonlocal dropped, tried
        for _ in range(a.tries):
            tried += 1
            got = run(s, a.node, layers, servers, *args, **more)
            if a.busiest > 1 or undisturbed(got, a.busiest):
                return got
            dropped += 1
        return None

    sizes = [w for w in s["workers"] if not a.workers or w in a.workers]
    with tempfile.TemporaryDirectory() as temporary, Network(s["servers"], max(sizes)) as network:
        layers = pathlib.Path(temporary) / "layers"
        layers.write_text(layers_text(s), encoding="utf-8")
        network.shape(s["mbit"], s["queue"], 1)
        servers = [Process(f"s{k}", a.node, ["server", layers, k, f"0.0.0.0:{PORT}"]) for k in range(s["servers"])]
        try:
            profile = facts.get("profile_kept") or attempt(1, 0, a.profile, a.seconds, profile=(folder / "profile", a.profile))
            for w in sizes:
                network.shape(s["mbit"], s["queue"], w)
                for r in range(a.repeats if w > 1 else 1):
                    got = attempt(w, first + r, a.steps, a.seconds)
                    runs += [got] if got else []
                    print(f"{name}: {got and got['steps_per_s']} steps/s with {w} workers" if got else
                          f"{name}: the machine is too busy for {w} workers", file=sys.stderr, flush=True)
        finally:
            for p in servers:
                p.stop()
    sizes_of = [b for tensors, _, _ in s["layers"] for b in tensors]
    facts = {"name": name, "ps_mbit": s["mbit"], "servers": s["servers"], "queue": s["queue"], "order": s["order"],
             "placement": s["placement"], "parameter_bytes": sum(sizes_of), "layers": s["layers"], "scale": s["scale"],
             "runs_tried": tried, "runs_dropped": dropped, "busiest": a.busiest, "profile_kept": bool(profile)}
    (folder / "config.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    runs.sort(key=lambda r: (r["workers"], r["repeat"]))
    (folder / "measured.json").write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")
    return facts, runs


def arguments(words=None):
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out", type=pathlib.Path)
    ap.add_argument("--node", type=pathlib.Path, default=ROOT / "build/release/rig_node")
    ap.add_argument("--setting", action="append", choices=sorted(SETTINGS))
    ap.add_argument("--steps", type=int, default=400, help="counted of each run, all workers together")
    ap.add_argument("--repeats", type=int, default=2)
    ap.add_argument("--workers", type=lambda t: [int(x) for x in t.split(",")])
    ap.add_argument("--profile", type=int, default=120, help="steps of the profile")
    ap.add_argument("--seconds", type=float, default=90, help="longest run")
    ap.add_argument("--tries", type=int, default=4, help="of each run")
    ap.add_argument("--busiest", type=float, default=BUSIEST, help="own share of the machine's time beyond which a run is dropped; above 1: none is")
    ap.add_argument("--links", action="store_true", help="only check the links")
    ap.add_argument("--more", action="store_true", help="keep the runs and the profile that OUT has")
    return ap.parse_args(words)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that `with` cleans up
    a = arguments()
    try:
        if not a.node.exists():
            raise Unavailable(f"no {a.node}: it is built where gRPC is (tools/packages.txt, group rig)")
        if a.links or not a.setting:
            a.out.mkdir(parents=True, exist_ok=True)
            links = {queue: goodput.check(queue) for queue in ("fair", "plain")}
            (a.out / "links.json").write_text(json.dumps(links, indent=1) + "\n", encoding="utf-8")
            print(json.dumps(links), flush=True)
        for name in [] if a.links else a.setting or [n for n in SETTINGS if not n.startswith(("short", "tiny"))]:
            s = SETTINGS[name]
            assert 2 * s["mbit"] * s["servers"] <= TOTAL_MBIT, name
            facts, runs = measure(name, s, a, a.out)
            print(json.dumps({"setting": name, "runs": len(runs), "dropped": facts["runs_dropped"]}), flush=True)
    except Unavailable as e:
        print(f"rig.py: skipped: {e}")
        sys.exit(3)


if __name__ == "__main__":
    main()
