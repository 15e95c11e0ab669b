"""The rig's network: a namespace for each host, one bridge, shaped links of the servers.

Every host owns the namespace penrig-HOST with the interface e0; the bridge's end of its link is
called penrig-HOST, too. Both directions of a server's link are shaped to a rate:
  plain  a token bucket with one FIFO, like a switch port: TCP (cubic) shares the link
  fair   an HTB class for each worker that borrows its whole rate, which gives equal shares. (A class with its own rate has
         its own burst, which goes ahead of traffic in flight and so keeps workers in step.) The link has one burst of
         64 KB, like plain ones. Short packets (acknowledgements and requests) go ahead of all data. Senders have less in
         flight than a class queues, so nothing is lost (goodput.py checks both)
Workers' links do not limit. Only one network of a name exists at a time: a lock tells whether it is still in use. A
separate process (this file, run by itself) cleans up if the rig is killed. PENSTOCK_RIG sets another name than penrig,
of at most 10 letters.
"""
import fcntl
import os
import subprocess
import sys
import time

PREFIX = os.environ.get("PENSTOCK_RIG", "penrig") + "-"
BRIDGE = PREFIX + "br"
LOCK = f"/run/lock/{PREFIX}lock"
ALLOWED = "/proc/sys/net/ipv4/tcp_allowed_congestion_control"
BURST_BYTES, QUEUE_BYTES, CLASS_QUEUE_BYTES = 65536, 300_000, 1_000_000
SEND_BYTES, FAIR_SEND_BYTES = 4 << 20, 1 << 18
OWN_KBIT, OWN_BURST_BYTES = 64, 1600  # fair: minimal own rate, so that a class borrows almost everything
SMALL_PACKET = 256      # fair: acknowledgements and requests, which are shorter, go ahead
LOCK_WAIT_S = 2         # a process that cleans up after a killed rig holds it for less
LARGEST_PACKET = 16384  # a whole one of 64 KiB does not fit the bucket


class Unavailable(Exception):
    """Reason why there is no rig on this machine."""


def call(words, text=None, check=True):
    p = subprocess.run(words, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if check and p.returncode:
        raise Unavailable(f"{' '.join(words)}: {p.stderr.strip()}")
    return p.stdout


def server_address(k):
    return f"10.78.0.{k + 1}"


def worker_address(k):
    return f"10.78.0.{k + 101}"


def namespaces():
    return [line.split()[0] for line in call(["ip", "netns", "list"], check=False).splitlines() if line.startswith(PREFIX)]


def remove_leftovers():
    """Kills all processes in the rig's namespaces and removes everything named like a part of it."""
    for name in namespaces():
        for pid in call(["ip", "netns", "pids", name], check=False).split():
            try:
                os.kill(int(pid), 9)
            except ProcessLookupError:
                pass
        call(["ip", "netns", "del", name], check=False)
    for device in os.listdir("/sys/class/net"):
        if device.startswith(PREFIX):
            call(["ip", "link", "del", device], check=False)


def take_lock(wait_s):
    """-> the locked file. Raises BlockingIOError if another process still has it after that time."""
    lock = open(LOCK, "w", encoding="utf-8")
    end = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except BlockingIOError:
            if time.monotonic() > end:
                lock.close()
                raise
            time.sleep(0.05)


class Network:
    """with Network(servers, workers) as n: ... ; owns the lock and all interfaces until the end."""

    def __init__(self, servers, workers):
        self.servers, self.workers = servers, workers

    def __enter__(self):
        if os.geteuid() != 0:
            raise Unavailable("the rig makes network namespaces: run it as root")
        try:
            self.lock = take_lock(LOCK_WAIT_S)
        except BlockingIOError:
            raise Unavailable(f"another rig runs here: {LOCK}") from None
        except OSError as e:
            raise Unavailable(str(e)) from None
        try:
            self.cleaner = subprocess.Popen([sys.executable, os.path.abspath(__file__)], stdin=subprocess.PIPE, start_new_session=True,
                                            stdout=subprocess.DEVNULL)
            self.build()
        except OSError as e:
            self.__exit__()
            raise Unavailable(f"no network namespaces here: {e}") from None
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        remove_leftovers()
        self.cleaner.communicate(b"done")
        self.lock.close()

    def build(self):
        remove_leftovers()
        with open(ALLOWED, encoding="utf-8") as f:
            allowed = f.read().split()
        if "cubic" not in allowed:
            with open(ALLOWED, "w", encoding="utf-8") as f:
                f.write(" ".join(allowed + ["cubic"]))
        call(["ip", "link", "add", BRIDGE, "type", "bridge"])
        call(["ip", "link", "set", BRIDGE, "up"])
        hosts = [(f"s{k}", server_address(k)) for k in range(self.servers)] + \
                [(f"w{k}", worker_address(k)) for k in range(self.workers)]
        for host, address in hosts:
            name = PREFIX + host
            call(["ip", "netns", "add", name])
            call(["ip", "link", "add", name, "type", "veth", "peer", "name", "e0", "netns", name])
            for own, device in (([], name), (["-n", name], "e0")):
                call(["ip", *own, "link", "set", device, "gso_max_size", str(LARGEST_PACKET)])
            call(["ip", "link", "set", name, "master", BRIDGE, "up"])
            call(["ip", "-n", name, "addr", "add", address + "/24", "dev", "e0"])
            call(["ip", "-n", name, "link", "set", "e0", "up"])
            call(["ip", "-n", name, "link", "set", "lo", "up"])
            call(["ip", "netns", "exec", name, "sysctl", "-qw", "net.ipv4.tcp_congestion_control=cubic"])

    def shape(self, mbit, queue, workers):
        """Shapes the servers' links again, `fair` for that many workers."""
        for k in range(self.servers):
            name = f"{PREFIX}s{k}"
            for own, device, field in ((["-n", name], "e0", "dst"), ([], name, "src")):
                call(["tc", *own, "qdisc", "del", "dev", device, "root"], check=False)
                call(["tc", *own, "-batch", "-"], self.rules(device, mbit, queue, workers, field))
        most = FAIR_SEND_BYTES if queue == "fair" else SEND_BYTES
        for host in [f"s{k}" for k in range(self.servers)] + [f"w{k}" for k in range(self.workers)]:
            call(["ip", "netns", "exec", PREFIX + host, "sysctl", "-qw", f"net.ipv4.tcp_wmem=4096 16384 {most}"])

    def rules(self, device, mbit, queue, workers, field):
        if queue == "plain":
            return f"qdisc add dev {device} root tbf rate {mbit}mbit burst {BURST_BYTES} limit {QUEUE_BYTES}\n"
        parent = f"class add dev {device} parent 1:"
        lines = [f"qdisc add dev {device} root handle 1: htb default 99",
                 f"{parent} classid 1:1 htb rate {mbit}mbit ceil {mbit}mbit burst 64kb cburst 64kb",
                 f"{parent}1 classid 1:99 htb rate {mbit / 10}mbit ceil {mbit}mbit prio 0",
                 f"filter add dev {device} parent 1: protocol ip prio 1 u32 match u16 0 0x{65535 - SMALL_PACKET + 1:x} at 2 flowid 1:99"]
        for k in range(workers):
            lines += [f"{parent}1 classid 1:{10 + k} htb rate {OWN_KBIT}kbit burst {OWN_BURST_BYTES} ceil {mbit}mbit cburst 64kb quantum {LARGEST_PACKET} prio 1",
                      f"qdisc add dev {device} parent 1:{10 + k} bfifo limit {CLASS_QUEUE_BYTES}",
                      f"filter add dev {device} parent 1: protocol ip prio 2 u32 match ip {field} {worker_address(k)}/32 flowid 1:{10 + k}"]
        return "\n".join(lines) + "\n"


class BusyClock:
    """Measures the load of the machine since its creation."""

    def __init__(self):
        self.began = self.read()

    @staticmethod
    def read():
        with open("/proc/stat", encoding="utf-8") as f:
            return [int(x) for x in f.readline().split()[1:9]]  # user nice system idle iowait irq softirq steal

    def passed(self):
        return [now - then for now, then in zip(self.read(), self.began)]

    def seconds(self):
        """Of all processors together."""
        return sum(self.passed()) / os.sysconf("SC_CLK_TCK")

    def share(self):
        """0..1, without niced processes, which yield at once."""
        v = self.passed()
        return 1 - (v[1] + v[3] + v[4]) / sum(v) if sum(v) else 0.0

    def network_share(self):
        """Interrupts only: work of the links that is not charged to a process."""
        v = self.passed()
        return (v[5] + v[6]) / sum(v) if sum(v) else 0.0


def clean_up_behind(rig):
    """Waits for the rig to close its end of the pipe; if it closes without a message, the rig was killed."""
    if not rig.read():
        with take_lock(LOCK_WAIT_S):
            remove_leftovers()


if __name__ == "__main__":
    clean_up_behind(sys.stdin.buffer)
