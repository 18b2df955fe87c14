"""An arena for rounds: its own state directory and control server, reset to a template before each round."""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections import namedtuple

from servers import Server
from store import Store

SECRET = "torture"
LIMIT_S = 120
# The exit status of a drive that sent no ping, as one without a test.
NO_PINGS = 69
# The service gets SIGTERM this long after it accepts commands.
SERVICE_S = 2


class Hang(Exception):
    """A program that did not end in time."""


class Kill:
    """When a run is killed: just before its `call`-th call, or in the middle of it (`torn`), or after `seconds`."""

    def __init__(self, call=None, torn=False, seconds=None):
        self.call, self.torn, self.seconds = call, torn, seconds

    def __str__(self):
        return f"after {self.seconds:.3f} s" if self.seconds is not None else f"{'in' if self.torn else 'before'} call {self.call}"


Surroundings = namedtuple("Surroundings", "programs reflector receiver measurement")
# Commands that measure: they are killed at their calls on files, and at random times.
MEASURING = ("speedtest", "loop")
# The rate of a link to the measurement server, bytes a second: it leaves processors to parallel rounds.
RATE = 400_000


@contextlib.contextmanager
def surroundings(programs, folder, hours):
    """Shared by all arenas: the ping server, the measurement server, and a receiver that makes a new fence with each of its five
    positions a second, for `hours`."""
    track = os.path.join(folder, "track.csv")
    with open(track, "w") as file:
        print("seconds,latitude,longitude,accuracy_m", file=file)
        for step in range(hours * 3600 * 5):
            # To and fro, 13 m apart: without a speed the radius is 10 m and twice the accuracy.
            place = abs(step % 20_000 - 10_000)
            print(f"{step / 5:.1f},{48 + place * 13 / 111_200:.8f},16.4,0.3", file=file)
    with (Server(programs, "reflector", "--port", "0", "--listen", "127.0.0.1", "--secret", SECRET, "--delay", "24",
                 log=os.path.join(folder, "reflector.log")) as reflector,
          Server(programs, "gps-player", "--gpsd", "--live", track, log=os.path.join(folder, "gps-player.log")) as receiver,
          MeasurementServer(programs, os.path.join(folder, "measurement-server.log")) as measurement):
        yield Surroundings(programs, reflector, receiver, measurement)


class MeasurementServer(Server):
    """A measurement server on a slow link, with its QoS part."""

    def __init__(self, programs, log):
        super().__init__(programs, "measurement-server", "--http", "--secret", SECRET, "--fault", f"slow={RATE}", "--qos-port", "0",
                         "--qos-dns-port", "0", log=log, announced="measurement server: ")
        with open(log) as file:
            text = file.read()
        self.qos, self.resolver = (re.search(rf"^{name}: (\S+)\n", text, re.M)[1] for name in ("QoS server", "QoS resolver"))
        self.call_port = re.search(r"^QoS UDP ports: (\d+)", text, re.M)[1]


class Arena:
    """`probe` is the program under test; by default that of `around`."""

    def __init__(self, around, folder, probe=None, state=None, keep=None):
        os.makedirs(folder)
        self.around, self.folder, self.keep = around, folder, keep
        self.probe = probe or os.path.join(around.programs, "coverage-probe")
        self.state = state or os.path.join(folder, "state")
        self.data = os.path.join(folder, "server.sqlite")
        self.template = os.path.join(folder, "template")
        self.trace = os.path.join(folder, "calls")
        self.errors = os.path.join(folder, "errors")
        self.preload = os.path.join(os.path.dirname(folder), "calls.so")
        self.port, self.qos_port = free_port(), 5 * random.SystemRandom().randrange(2000, 4000)
        self.url = f"http://127.0.0.1:{self.port}/RMBTControlServer"
        self.configuration = os.path.join(folder, "config.yaml")
        with open(self.configuration, "w") as file:
            print(f'state-directory: {self.state}\ncontrol-server: {{ url: "{self.url}", request-timeout: 5s }}\n'
                  f"gpsd: {{ port: {around.receiver.port} }}\nlocation: {{ minimum-radius: 1 }}\n"
                  "network: { source: fixed-cellular }\nradio: { source: \"fixed:4G/LTE\" }\nsubmission: { spread: 0s }\n"
                  "loop: { count: 2, distance: 25, every: null }", file=file)

    # ---- The template -------------------------------------------------------------------------------------------------------

    def make_template(self):
        """Records three unsent drives: one that ended normally, one without a test, one that was killed. And three speed tests: one
        with QoS tests, one without, one that was killed."""
        with self.server():
            self.must("record", "--no-submit", "--duration", "2s")
            self.break_server("coverageRequest", "503")
            self.must("record", "--no-submit", "--duration", "2s", status=NO_PINGS)
            self.mend_server()
            drive = self.start("record", "--no-submit")
            self.wait_for(lambda: sum(fence.drive == 3 for fence in self.read_store().fences) >= 4)
            drive.kill()
            drive.wait()
            self.measure({"COVERAGE_PROBE_SPEEDTEST_QOS": "true"})
            self.measure()
            test = self.start("speedtest", "--no-submit")
            self.wait_for(lambda: len(self.read_store().speed_tests) == 3)
            test.kill()
            test.wait()
        os.makedirs(self.template)
        shutil.copytree(self.state, os.path.join(self.template, "state"))
        shutil.copy(self.data, self.template)

    def measure(self, environment=None):
        """Makes a speed test that waits."""
        test = self.start("speedtest", "--no-submit", environment=environment)
        if (status := test.wait(LIMIT_S)) != 0:
            raise RuntimeError(f"speedtest: exit status {status}: {self.last_errors()}")

    def restore(self, fresh=False):
        """`fresh`: no state directory, as on a new device."""
        shutil.rmtree(self.state, ignore_errors=True)
        if not fresh:
            shutil.copytree(os.path.join(self.template, "state"), self.state)
        for suffix in ("-journal", "-wal", "-shm"):
            if os.path.exists(self.data + suffix):
                os.unlink(self.data + suffix)
        shutil.copy(os.path.join(self.template, "server.sqlite"), self.data)
        if os.path.exists(self.trace):
            os.unlink(self.trace)

    # ---- The program --------------------------------------------------------------------------------------------------------

    def start(self, *command, environment=None):
        with open(self.errors, "a") as log:
            return subprocess.Popen([self.probe, command[0], "--config", self.configuration, *command[1:]], stdin=subprocess.DEVNULL,
                                    stdout=log, stderr=log, env=os.environ | (environment or {}))

    def run(self, *command, kill=None, counting=False):
        """The command's exit status, -9 if it was killed, and its seconds. `counting` writes all its calls to `trace`."""
        environment = {}
        if counting or (kill and kill.call):
            environment = {"LD_PRELOAD": self.preload, "KILL_TRACE": self.trace}
        if kill and kill.call:
            environment |= {"KILL_AT": str(kill.call)} | ({"KILL_TORN": "1"} if kill.torn else {})
        if command[0] in MEASURING:
            environment |= {"KILL_ON": "files"}
        moments = [(LIMIT_S, None)]
        if kill and kill.seconds is not None:
            moments.append((kill.seconds, signal.SIGKILL))
        began = time.monotonic()
        already = os.path.getsize(self.errors) if os.path.exists(self.errors) else 0
        process = self.start(*command, environment=environment)
        if command[0] == "agent" and self.is_accepting(process, already, began + min(moment for moment, _ in moments)):
            moments.append((time.monotonic() - began + SERVICE_S, signal.SIGTERM))
        for moment, how in sorted(moments, key=lambda one: one[0]):
            try:
                process.wait(max(0, began + moment - time.monotonic()))
                break
            except subprocess.TimeoutExpired:
                process.send_signal(how or signal.SIGKILL)
                if how != signal.SIGTERM:
                    process.wait()
                if how is None:
                    raise Hang(f"{command[0]} did not end within {LIMIT_S} s") from None
        return process.returncode, time.monotonic() - began

    def is_accepting(self, process, already, deadline):
        """Waits until the service has installed its signal handlers and logs so, after the first `already` bytes."""
        while time.monotonic() < deadline and process.poll() is None:
            with open(self.errors, "rb") as log:
                log.seek(already)
                if b"accepting commands" in log.read():
                    return True
            time.sleep(0.01)
        return False

    def must(self, *command, status=0):
        actual, _ = self.run(*command)
        if actual != status:
            raise RuntimeError(f"{command[0]}: exit status {actual}, not {status}: {self.last_errors()}")

    def all_errors(self):
        with open(self.errors, errors="replace") as file:
            return file.read()

    def last_errors(self):
        return self.all_errors()[-2000:]

    def replayed(self, log):
        """The fences of a drive log that it says have ended: (entered, exited), microseconds since its start."""
        run = subprocess.run([self.probe, "replay", log], capture_output=True, text=True, timeout=LIMIT_S)
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        fences = [tuple(round(line[key] * 1e6) for key in ("entered", "exited")) for line in lines if "entered" in line]
        is_cut_off = lines and lines[-1].get("summary", {}).get("stop_reason") == "end-of-log"
        return fences[:-1] if is_cut_off else fences

    def read_store(self):
        return Store(self.state, self.folder)

    def wait_for(self, condition, seconds=30):
        for _ in range(int(seconds / 0.05)):
            if condition():
                return
            time.sleep(0.05)
        raise RuntimeError(f"it did not come to that: {self.last_errors()}")

    # ---- The control server -------------------------------------------------------------------------------------------------

    def server(self, *faults):
        measurement = self.around.measurement
        return Server(self.around.programs, "control-server", "--port", str(self.port), "--secret", SECRET,
                      "--ping-port", str(self.around.reflector.port), "--database", self.data,
                      "--measurement-server", measurement.address, "--measurement-secret", SECRET, "--test-duration", "1",
                      "--test-threads", "1", "--qos-server", measurement.qos, "--qos-call-port", measurement.call_port,
                      "--qos-resolver", measurement.resolver, "--qos-first-port", str(self.qos_port),
                      *(word for fault in faults for word in ("--fault", fault)), log=os.path.join(self.folder, "server.log"))

    def ask(self, path, method="GET", body=None):
        request = urllib.request.Request(f"{self.url}/-/{path}", method=method, data=json.dumps(body).encode() if body else None)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def break_server(self, path, fault):
        self.ask("faults", "POST", {"path": path, "fault": fault})

    def mend_server(self):
        self.ask("faults", "DELETE")

    def arrived(self):
        """The fences that the server has, by test: [(microseconds since the epoch, milliseconds)] of each fence's entry and duration."""
        return {test["uuid"]: [(fence["received"]["timestamp_microseconds"], fence["received"]["duration_ms"]) for fence in test["fences"]]
                for test in self.ask("tests")["tests"]}

    def held_tests(self):
        """The speed tests of the server."""
        return self.ask("tests")["speed_tests"]


def free_port():
    """A port below the kernel's client ports, so that it is free again in each round."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
