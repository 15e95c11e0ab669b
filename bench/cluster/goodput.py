"""Measures the share of a server's shaped link that bulk transfers fill, for any number of flows: the basis of the rig's figures.

Server 0 and several workers send to each other over plain sockets, in both directions at once, for a few seconds.
"""
import subprocess
import sys
import time

from network import PREFIX, Network, Unavailable, server_address

PORT = 5051
WARM_S, COUNTED_S = 1.0, 3.0
PAYLOAD_SHARE = 1448 / 1514
LEAST_FULL = 0.97              # of a link, each way
LEAST_FAIR = 0.97              # of an equal share, on fair links: the slowest flow
TRIES = 4
CHECKED_MBIT, CHECKED_FLOWS = 150, (1, 3, 8)

# A host's end of its flows: sends and receives over each, and prints the bytes received in the counted time.
FLOWS = """
import selectors, socket, sys, time
host, port, flows = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
begin, warm, counted = map(float, sys.argv[4:7])
if host == "listen":
    s = socket.create_server(("0.0.0.0", port), backlog=flows)
    print("ready", flush=True)
    peers = [s.accept()[0] for _ in range(flows)]
else:
    peers = [socket.create_connection((host, port)) for _ in range(flows)]
    print("ready", flush=True)
chosen, chunk, got = selectors.DefaultSelector(), bytes(65536), [0] * flows
for k, p in enumerate(peers):
    p.setblocking(False)
    chosen.register(p, selectors.EVENT_READ | selectors.EVENT_WRITE, k)
while time.monotonic() < begin:
    time.sleep(0.01)
while (now := time.monotonic()) < begin + warm + counted:
    for key, mask in chosen.select(0.05):
        try:
            if mask & selectors.EVENT_READ:
                n = len(key.fileobj.recv(262144))
                got[key.data] += n if now > begin + warm else 0
            if mask & selectors.EVENT_WRITE:
                key.fileobj.send(chunk)
        except OSError:
            pass
print(*got, flush=True)
time.sleep(60)
"""


def start(host, words):
    return subprocess.Popen(["ip", "netns", "exec", PREFIX + host, "chrt", "-r", "1", sys.executable, "-c", FLOWS, *map(str, words)],
                            stdout=subprocess.PIPE, text=True)


def goodput(network, mbit, queue, flows):
    """-> share of the link's payload rate by direction, and the smallest flow as a part of an equal share."""
    network.shape(mbit, queue, flows)
    begin = time.monotonic() + 1.0
    processes = [start("s0", ["listen", PORT, flows, begin, WARM_S, COUNTED_S])]
    try:
        assert processes[0].stdout.readline() == "ready\n"
        processes += [start(f"w{k}", [server_address(0), PORT, 1, begin, WARM_S, COUNTED_S]) for k in range(flows)]
        assert all(p.stdout.readline() == "ready\n" for p in processes[1:])
        got = [[int(x) for x in p.stdout.readline().split()] for p in processes]
    finally:
        for p in processes:
            p.kill()
            p.wait()
    most = mbit * 1e6 / 8 * PAYLOAD_SHARE * COUNTED_S
    up, down = got[0], [g[0] for g in got[1:]]
    return {"flows": flows, "downlink": round(sum(down) / most, 4), "uplink": round(sum(up) / most, 4),
            "least_share": round(min(min(v) * flows / sum(v) for v in (down, up)), 3)}


def check(queue):
    """-> goodput of several numbers of flows, each from the first of TRIES that is good enough (the machine may have been
    halted). Raises Unavailable if none is."""
    found = []
    with Network(1, max(CHECKED_FLOWS)) as network:
        for n in CHECKED_FLOWS:
            for tries in range(1, TRIES + 1):
                f = goodput(network, CHECKED_MBIT, queue, n)
                fair = queue != "fair" or f["least_share"] >= LEAST_FAIR
                if min(f["downlink"], f["uplink"]) >= LEAST_FULL and fair:
                    found.append({**f, "tries": tries})
                    break
            else:
                raise Unavailable(f"{queue} links of {CHECKED_MBIT} Mbit/s do not carry what they should: {f}")
    return found
