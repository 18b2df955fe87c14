"""Network namespaces: pairs joined by veth or by the impairment device. All are named cp-bench-PID-* and are gone at the end."""

import contextlib
import ctypes
import os
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


class Impaired(Pair):
    """A pair whose link is tools/impair."""

    def __init__(self, impair, options, log):
        super().__init__("i")
        self.argv = [impair, "--left", f"{self.a}:link", "--right", f"{self.b}:link", "--log", log, *options]

    def join(self):
        self.device = self.start("a", self.argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if "ready" not in self.device.stdout.readline():
            raise RuntimeError("the impairment device did not start: " + " ".join(self.argv))
        self.add_addresses("link")

    def finish(self):
        """Ends the device, so that its log is complete."""
        self.stop(self.device)


def remove_all():
    """Removes the namespaces that a failed run left."""
    for line in ip("netns", "list", check=False).stdout.splitlines():
        if line.startswith(PREFIX):
            ip("netns", "del", line.split()[0], check=False)
