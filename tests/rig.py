#!/usr/bin/env python3
"""The cluster rig (bench/cluster/rig.py): that it measures, and that nothing of it stays behind.

rig.py BUILD [FILTER]

Without root, namespaces or gRPC (BUILD/rig_node) most of it is left out, and said so. The rig has a name of its own
here, so that one that measures meanwhile is left alone. Closing line: N passed, N failed.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RIG = ROOT / "bench/cluster/rig.py"
ENV = {**os.environ, "PENSTOCK_RIG": "pentest"}
NOBODY = 65534
SKIPPED = 3
LIMIT_S = 1200


def command(build, out):
    return [sys.executable, RIG, out, "--node", build / "rig_node", "--setting", "tiny", "--steps", "20", "--repeats", "1",
            "--profile", "3", "--busiest", "2"]


def namespaces():
    found = subprocess.run(["ip", "netns", "list"], stdout=subprocess.PIPE, text=True, check=False).stdout
    devices = [d for d in os.listdir("/sys/class/net") if d.startswith("pentest")]
    return devices + [line.split()[0] for line in found.splitlines() if line.startswith("pentest")]


def processes(out):
    """Of the rig that was told to write to `out`, or in the test's namespaces."""
    found = []
    for name in os.listdir("/run/netns") if os.path.isdir("/run/netns") else []:
        if name.startswith("pentest"):
            pids = subprocess.run(["ip", "netns", "pids", name], stdout=subprocess.PIPE, text=True, check=False).stdout
            found += pids.split()
    return found


def until(condition):
    end = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def measures(build, out):
    """It leaves a profile that predict reads, and steps/s for each number of workers."""
    p = subprocess.run(command(build, out), env=ENV, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S,
                       check=False)
    if p.returncode == SKIPPED:
        return p.stdout.strip().split("\n")[-1]
    assert p.returncode == 0, p.stdout
    runs = json.loads((out / "tiny/measured.json").read_text())
    assert [r["workers"] for r in runs] == [1, 2], runs
    assert all(r["steps_per_s"] > 0 and r["steps"] >= 10 for r in runs), runs
    predicted = subprocess.run([build / "penstock", "predict", out / "tiny/profile", "--bandwidth", "100Mbit", "--workers", "1,2",
                                "--json"], stdout=subprocess.PIPE, check=True)
    assert [q["workers"] for q in json.loads(predicted.stdout)["points"]] == [1, 2]
    profile = subprocess.run([build / "penstock", "profile", "inspect", out / "tiny/profile", "--json"], stdout=subprocess.PIPE,
                             check=True)
    held = json.loads(profile.stdout)
    carried = [round(held["resources"][way]["mean_bytes"]) for way in ("downlink", "uplink")]
    assert (held["steps"], held["lanes"], carried) == (3, 1, [60000, 60000]), (held["steps"], held["lanes"], carried)
    assert namespaces() == [], namespaces()
    return None


def adds(build, out):
    """--more keeps the profile and the runs that are there, and counts on."""
    why = measures(build, out)
    if why:
        return why
    profile = {f.name: f.read_bytes() for f in (out / "tiny/profile").iterdir()}
    subprocess.run([*command(build, out), "--more", "--workers", "2"], env=ENV, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True, timeout=LIMIT_S)
    runs = json.loads((out / "tiny/measured.json").read_text())
    assert [(r["workers"], r["repeat"]) for r in runs] == [(1, 1), (2, 1), (2, 2)], runs
    assert profile == {f.name: f.read_bytes() for f in (out / "tiny/profile").iterdir()}
    return None


def ended(build, out, how):
    """Ends a rig in the middle of a run."""
    p = subprocess.Popen([*command(build, out), "--workers", "1", "--profile", "1000000"], env=ENV, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT)
    assert until(lambda: processes(out) or p.poll() is not None), "it does not start"
    assert p.poll() is None, p.stdout.read()
    getattr(p, how)()
    p.communicate(timeout=LIMIT_S)


def stopped(build, out):
    """A SIGTERM: it cleans up itself."""
    ended(build, out, "terminate")
    assert namespaces() == [] and processes(out) == [], namespaces()


def killed(build, out):
    """A SIGKILL: what it leaves is cleaned up behind it, and the next one starts at once."""
    ended(build, out, "kill")
    measures(build, out)
    ended(build, out, "kill")
    assert until(lambda: processes(out) == []), "its processes live on"
    assert until(lambda: namespaces() == []), namespaces()


def no_root(build, out):
    """Another user is told why there is no rig."""
    def drop():
        if os.getuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)

    os.chmod(out, 0o777)
    with tempfile.TemporaryDirectory() as copies:
        os.chmod(copies, 0o755)
        for f in ("rig.py", "network.py", "goodput.py"):
            (pathlib.Path(copies) / f).write_text((RIG.parent / f).read_text())
        words = ["/usr/bin/python3", f"{copies}/rig.py", str(out), "--node", "/bin/true", "--setting", "tiny"]
        p = subprocess.run(words, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=drop, cwd="/",
                           timeout=LIMIT_S, check=False)
    assert p.returncode == SKIPPED and "run it as root" in p.stdout, p.stdout


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    passed = failed = 0
    missing = None
    for test in (no_root, measures, adds, stopped, killed):
        if wanted not in f"rig {test.__name__}":
            continue
        if missing:
            print(f"left out: {test.__name__}: {missing}")
            continue
        with tempfile.TemporaryDirectory() as out:
            try:
                missing = test(build, pathlib.Path(out))
            except (AssertionError, OSError, subprocess.SubprocessError) as e:
                failed += 1
                print(f"FAIL rig {test.__name__}: {e}")
                continue
        if missing:
            print(f"left out: {test.__name__}: {missing}")
        else:
            passed += 1
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
