"""Network namespaces: pairs joined by veth or by the impairment device. All are named cp-bench-PID-* and are gone at the end."""

import contextlib
import ctypes
import json
import math
import os
import re
import signal
import subprocess

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
PREFIX = f"cp-bench-{os.getpid()}-"


def ip(*arguments, check=True):
    return subprocess.run(["ip", *arguments], check=check, capture_output=True, text=True)


def _setns(descriptor):
    if LIBC.setns(descriptor, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


@contextlib.contextmanager
def inside(name):
    """Runs this thread, and the programs that it starts, in the namespace."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    there = os.open(f"/run/netns/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _setns(there)
        yield
    finally:
        _setns(home)
        os.close(home)
        os.close(there)


class Pair:
    """Two namespaces, `a` for the pinger and `b` for the far side; a has .1, b has .2."""

    number = 0

    def __init__(self, what="v"):
        Pair.number += 1
        self.a, self.b = (f"{PREFIX}{what}{Pair.number}-{side}" for side in "ab")
        self.near4, self.far4 = "10.77.0.1", "10.77.0.2"
        self.near6, self.far6 = "fd77::1", "fd77::2"
        self.processes = []

    def __enter__(self):
        try:
            for name in (self.a, self.b):
                ip("netns", "add", name)
                ip("-n", name, "link", "set", "lo", "up")
            self.join()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def join(self):
        self.add_veth("v0")
        self.add_addresses("v0")

    def add_veth(self, interface):
        """The far side first, as in add_addresses: if the near side is ready first, its request for the address gets no answer, and the
        kernel repeats it only after a second, for any pinger."""
        ip("-n", self.a, "link", "add", interface, "type", "veth", "peer", "name", interface, "netns", self.b)
        for name in (self.b, self.a):
            ip("-n", name, "link", "set", interface, "up")

    def add_addresses(self, interface):
        for name, v4, v6 in ((self.b, self.far4, self.far6), (self.a, self.near4, self.near6)):
            ip("-n", name, "addr", "add", f"{v4}/16", "dev", interface)
            ip("-n", name, "addr", "add", f"{v6}/64", "dev", interface, "nodad")

    def add_targets(self, count):
        """Adds `count` addresses to the far side's interface."""
        addresses = [f"10.77.{1 + i // 250}.{1 + i % 250}" for i in range(count)]
        batch = "".join(f"addr add {address}/16 dev v0\n" for address in addresses)
        subprocess.run(["ip", "-n", self.b, "-batch", "-"], input=batch, text=True, check=True)
        return addresses

    def start(self, side, argv, **options):
        """A helper (a server, a load) that ends with the pair at the latest."""
        with inside(getattr(self, side)):
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, **options)
        self.processes.append(process)
        return process

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()
        if process in self.processes:
            self.processes.remove(process)

    def close(self):
        for process in list(self.processes):
            self.stop(process)
        for name in (self.a, self.b):
            ip("netns", "del", name, check=False)


class NotImpaired(RuntimeError):
    """The link did not do to the packets what the benchmark asked for: its figures would be those of another link."""


class Impaired(Pair):
    """A pair whose link is tools/impair."""

    def __init__(self, impair, options, log):
        super().__init__("i")
        self.options = options
        self.argv = [impair, "--left", f"{self.a}:link", "--right", f"{self.b}:link", "--log", log, *options]

    def join(self):
        self.device = self.start("a", self.argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if "ready" not in self.device.stdout.readline():
            raise RuntimeError("the impairment device did not start: " + " ".join(self.argv))
        self.add_addresses("link")

    def asked(self, direction, name):
        """The percentage or the milliseconds of an option in a direction; the last option counts."""
        value = 0.0
        for option, text in zip(self.options, self.options[1:]):
            if option in (f"--{name}", f"--{direction}-{name}"):
                value = float(text.partition(":")[0])
        return value

    def finish(self):
        """Ends the device, so that its log is complete. Returns its counters by direction."""
        self.device.send_signal(signal.SIGTERM)
        _, errors = self.device.communicate(timeout=60)
        self.processes.remove(self.device)
        return json.loads(errors.splitlines()[-1])["summary"]

    def prove_counts(self):
        """Ends the device, whose counters must agree with what was asked for. Returns them in words, and the number of lost packets.
        :raises NotImpaired:"""
        summary, words = self.finish(), []
        for direction in ("up", "down"):
            words += prove_counts(summary[direction], direction, lambda name: self.asked(direction, name))
        return words, sum(summary[direction]["lost"] for direction in ("up", "down"))

    def prove(self):
        """Ends a link that carried TCP. Returns in words what shows that its packets met what was asked for: the round trip, the device's
        counters and the kernels' counters of retransmissions.
        :raises NotImpaired:"""
        delay = self.asked("up", "delay") + self.asked("down", "delay")
        words = [f"round trip {self.prove_round_trip(delay):.1f} ms"] if delay else []
        retransmitted = tcp_retransmissions(self.a) + tcp_retransmissions(self.b)
        counts, lost = self.prove_counts()
        # The other half: acknowledgements, and what was under way when a connection ended.
        if retransmitted < lost / 2:
            raise NotImpaired(f"the link lost {lost} packets, and TCP retransmitted only {retransmitted} segments")
        return "; ".join([*words, *counts, f"{retransmitted} segments retransmitted"])

    def prove_round_trip(self, delay):
        with inside(self.a):
            run = subprocess.run(["ping", "-n", "-c", "5", "-i", "0.2", "-W", "5", self.far4], capture_output=True, text=True)
        found = re.search(r"min/avg/max/mdev = ([\d.]+)/", run.stdout)
        jitter = self.asked("up", "jitter") + self.asked("down", "jitter")
        if not found or not delay - 4 * jitter - 1 <= float(found[1]) <= delay + 4 * jitter + 50:
            raise NotImpaired(f"round trip: {found[1] + ' ms' if found else 'none'}, asked for {delay} ms")
        return float(found[1])


def prove_counts(counts, direction, asked):
    """The device's counters of a direction are within five deviations of what was asked for.
    :raises NotImpaired:"""
    words = []
    for name, counter in (("loss", "lost"), ("duplicate", "duplicated"), ("reorder", "reordered"), ("hold", "held")):
        if not (percent := asked(name)):
            continue
        expected = counts["in"] * percent / 100
        if name != "loss":
            expected *= 1 - asked("loss") / 100
        # Among few packets (a peer that gives up early) a small share can be absent.
        if abs(counts[counter] - expected) > 5 * math.sqrt(max(1, expected)):
            raise NotImpaired(f"{direction}: {counts[counter]} of {counts['in']} packets {counter}, asked for {percent} %")
        words.append(f"{direction} {counts[counter]} of {counts['in']} packets {counter}")
    return words


def tcp_retransmissions(name):
    with inside(name), open("/proc/thread-self/net/snmp") as file:
        names, values = (line.split() for line in file if line.startswith("Tcp:"))
    return int(dict(zip(names, values))["RetransSegs"])


def remove_all():
    """Removes the namespaces that a failed run left."""
    for line in ip("netns", "list", check=False).stdout.splitlines():
        if line.startswith(PREFIX):
            ip("netns", "del", line.split()[0], check=False)
