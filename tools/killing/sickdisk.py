"""A disk that refuses writes for a while under a running `record`: full, or with errors. Then it works again."""

import contextlib
import ctypes
import os
import subprocess
import time
from collections import Counter

from arena import Arena

SICK_S = 8
CLONE_NEWNS = 0x20000
# The calls on a descriptor of the store or the drive log.
CALLS = "write,pwrite64,fsync,fdatasync,ftruncate,fallocate"
READING = "pread64," + CALLS


class Illness:
    """`resumed_s`: from the disk's recovery until the store had each ended fence. `log_s`: the same until the drive log grew. `lost`,
    `twice`: fences of the log that the server lacks, or has more than once."""

    def __init__(self, name):
        self.name = name
        self.fences = self.lost = self.twice = self.resumed_s = self.log_s = self.complaint = None


def take_own_mounts():
    """Makes later mounts visible to this process and its children only; they end with them."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        raise RuntimeError(f"mounting a small disk needs CAP_SYS_ADMIN: {os.strerror(ctypes.get_errno())}")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


@contextlib.contextmanager
def small_disk(path, size):
    os.makedirs(path)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)


@contextlib.contextmanager
def full(arena, _):
    """Another file uses all space."""
    filler = os.path.join(os.path.dirname(arena.state), "filler")
    with open(filler, "wb", buffering=0) as file:
        for size in (65_536, 4096, 512, 64, 1):
            with contextlib.suppress(OSError):
                while file.write(bytes(size)):
                    pass
    yield
    os.unlink(filler)


def erring(calls):
    @contextlib.contextmanager
    def sick(arena, process):
        """Each call on the store or the log fails with EIO."""
        names = [os.path.join(arena.state, "coverage.sqlite"), os.path.join(arena.state, "coverage.sqlite-wal")]
        logs = os.path.join(arena.state, "drives")
        names += [os.path.join(logs, name) for name in os.listdir(logs)]
        command = ["strace", "-f", "-q", "-o", os.path.join(arena.folder, "strace"), "-p", str(process.pid),
                   "-e", f"trace={calls}", "-e", f"inject={calls}:error=EIO", *(word for name in names for word in ("-P", name))]
        tracer = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            tracer.terminate()
            tracer.wait(30)
        with open(os.path.join(arena.folder, "strace")) as file:
            if "(INJECTED)" not in file.read():
                raise RuntimeError("strace injected nothing")
    return sick


# Each with the size of its disk, and the program's message about it.
REFUSED = "cannot write to the store"
ILLNESSES = [
    ("full, no space reserved", full, "2m", REFUSED),
    ("full, with reserved space", full, "24m", "fences use the space reserved for them"),
    ("EIO on writing and syncing", erring(CALLS), "64m", REFUSED),
    ("EIO on reading too", erring(READING), "64m", REFUSED),
]


def run(around, folder, number):
    name, sick, size, complaint = ILLNESSES[number]
    illness = Illness(name)
    disk = os.path.join(folder, f"disk-{number}")
    with small_disk(disk, size):
        arena = Arena(around, os.path.join(folder, f"sick-{number}"), state=os.path.join(disk, "state"))
        with arena.server():
            process = arena.start("record")
            try:
                observe(arena, process, sick, illness)
                if complaint not in (errors := arena.all_errors()):
                    raise RuntimeError(f"{name}: the program noticed nothing: {errors}")
            finally:
                if process.poll() is None:
                    process.kill()
                process.wait()
    return illness


def observe(arena, process, sick, illness):
    arena.wait_for(lambda: ended(arena) and len(arena.read_store().fences) >= 10)
    with sick(arena, process):
        time.sleep(SICK_S)
    healed, healed_us = time.monotonic(), time.time() * 1e6
    log = log_of(arena)
    size = os.path.getsize(log)
    limit = healed + 60
    while (illness.resumed_s is None or illness.log_s is None) and time.monotonic() < limit:
        time.sleep(0.05)
        now = time.monotonic() - healed
        # All waiting fences are written at once: a fence from after the recovery shows that all earlier ones are stored.
        if illness.resumed_s is None and ended(arena) > healed_us:
            illness.resumed_s = now
        if illness.log_s is None and os.path.getsize(log) > size:
            illness.log_s = now
    time.sleep(2)
    process.terminate()
    if (status := process.wait(120)) != 0:
        illness.complaint = f"record ended with {status}: {arena.last_errors()}"
    start = arena.read_store().drives[-1].started
    logged = [start + entered for entered, _ in arena.replayed(log)]
    counts = Counter(entered for fences in arena.arrived().values() for entered, _ in fences)
    illness.fences = len(logged)
    illness.lost = sum(1 for entered in logged if counts[entered] == 0)
    illness.twice = sum(1 for count in counts.values() if count > 1)
    if counts.keys() - set(logged):
        illness.complaint = f"{len(counts.keys() - set(logged))} fences of the server are not in the log"


def log_of(arena):
    logs = os.path.join(arena.state, "drives")
    return os.path.join(logs, max(os.listdir(logs)))


def ended(arena):
    """The end of the last ended fence in the store, in microseconds since the epoch; 0 without one."""
    return max((fence.exited for fence in arena.read_store().fences if fence.exited is not None), default=0)
