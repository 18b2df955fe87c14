"""A standalone cluster of Spark on loopback: a master and two workers of one core each, for tests and measurements."""

import contextlib
import os
import pathlib
import socket
import subprocess
import time
from collections.abc import Iterator

SPARK = pathlib.Path(__file__).resolve().parents[2] / "build" / "fleet-spark-venv" / "lib"
PACKAGE = "org.apache.spark.deploy"
WAIT_S = 300


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextlib.contextmanager
def running(folder: pathlib.Path) -> Iterator[str]:
    """The address of the master; `tools/fleet spark --help` has installed Spark before. Logs and work are in `folder`."""
    [program] = SPARK.glob("python*/site-packages/pyspark/bin/spark-class")
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    commands = [[f"{PACKAGE}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(free_port())]]
    for number in range(2):
        commands.append([f"{PACKAGE}.worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1500m", "--webui-port", str(free_port()),
                         "--work-dir", str(folder / f"worker-{number}"), address])
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}
    with contextlib.ExitStack() as stack:
        for index, command in enumerate(commands):
            # spark-class becomes the JVM.
            log = stack.enter_context((folder / f"{command[0]}.log").open("a"))
            daemon = subprocess.Popen([str(program), *command], stdout=log, stderr=log, env=environment)
            stack.callback(daemon.wait)
            stack.callback(daemon.terminate)
            if index == 0:
                _wait_for(port)
        yield address


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + WAIT_S
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing listens on port {port}")
        time.sleep(0.2)
