"""Runs one program and measures its cost."""

import atexit
import os
import shutil
import subprocess
import tempfile
import threading
import time

from spaces import inside

SCRATCH = tempfile.mkdtemp(prefix="cp-bench-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)


class Result:
    """output, cpu_s, switches (voluntary), wall_s, started and ended (seconds, CLOCK_REALTIME), status; rss: [(s, bytes)]"""


def read_rss(pid):
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, IndexError):
        return 0


class Running:
    """A program in a namespace, killed after `limit_s` if it still runs."""

    def __init__(self, namespace, argv, limit_s, sample_rss=False, output=True):
        self.file = tempfile.TemporaryFile(dir=SCRATCH) if output else open(os.devnull, "r+b")
        self.result = Result()
        self.result.rss = []
        self.result.started = time.time()
        with inside(namespace):
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=self.file, stderr=self.file, close_fds=False)
        self.watchdog = threading.Timer(limit_s, self.process.kill)
        self.watchdog.daemon = True
        self.watchdog.start()
        if sample_rss:
            threading.Thread(target=self.sample, daemon=True).start()

    def sample(self):
        while rss := read_rss(self.process.pid):
            self.result.rss.append((time.time() - self.result.started, rss))
            time.sleep(0.01)

    def stop(self, how):
        self.process.send_signal(how)

    def wait(self):
        _, status, usage = os.wait4(self.process.pid, 0)
        result = self.result
        result.ended = time.time()
        result.wall_s = result.ended - result.started
        self.process.returncode = result.status = os.waitstatus_to_exitcode(status)
        self.watchdog.cancel()
        result.cpu_s = usage.ru_utime + usage.ru_stime
        result.switches = usage.ru_nvcsw
        result.output = ""
        if self.file.name != os.devnull:
            self.file.seek(0)
            result.output = self.file.read().decode(errors="replace")
        self.file.close()
        return result


def run(namespace, argv, limit_s, **options):
    return Running(namespace, argv, limit_s, **options).wait()
