"""Spark, on a standalone cluster of two workers on loopback, against DuckDB: every figure of every group. Only by `tools/fleet test --spark`."""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
from collections.abc import Iterator

from fleetmap.tests.made import differing, quietly

TOOLS = pathlib.Path(__file__).resolve().parents[2]
SPARK = TOOLS.parent / "build" / "fleet-spark-venv" / "lib"
WAIT_S = 120


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextlib.contextmanager
def cluster(folder: pathlib.Path) -> Iterator[str]:
    """The address of a master with two workers of one core each."""
    [program] = SPARK.glob("python*/site-packages/pyspark/bin/spark-class")
    port, web = free_port(), free_port()
    address = f"spark://127.0.0.1:{port}"
    package = "org.apache.spark.deploy"
    commands = [[f"{package}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(web)]]
    for number in range(2):
        commands.append([f"{package}.worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1500m", "--webui-port", str(free_port()),
                         "--work-dir", str(folder / f"worker-{number}"), address])
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}
    with contextlib.ExitStack() as stack:
        for command in commands:
            # spark-class becomes the JVM.
            log = stack.enter_context((folder / f"{command[0]}.log").open("a"))
            daemon = subprocess.Popen([str(program), *command], stdout=log, stderr=log, env=environment)
            stack.callback(daemon.wait)
            stack.callback(daemon.terminate)
            wait_for(port if "master" in command[0] else None)
        yield address


def wait_for(port: int | None) -> None:
    deadline = time.monotonic() + WAIT_S
    while port is not None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing listens on port {port}")
        time.sleep(0.2)


@unittest.skipUnless(os.environ.get("FLEET_SPARK"), "only by tools/fleet test --spark")
@unittest.skipUnless(shutil.which("java"), "Spark needs Java 17: openjdk-17-jre-headless")
class Spark(unittest.TestCase):
    def test_when_spark_runs_the_definition_on_two_workers_then_every_figure_equals_duckdbs(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            quietly("simulate", "-o", folder / "country", "--devices", "9", "--days", "8", "--drives", "1", "--fences", "400", "--faults", "all")
            quietly("add", folder / "fleet", folder / "country" / "exports")
            program = [str(TOOLS / "fleet"), "spark"]
            subprocess.run([*program, "--help"], check=True, stdout=subprocess.DEVNULL)
            with cluster(folder) as address:
                for _ in range(2):
                    subprocess.run([*program, str(folder / "fleet"), "-o", str(folder / "cells"), "--master", address], check=True,
                                   env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"})
            found = differing(folder / "fleet", folder / "cells")
            self.assertEqual(len(found), 2)
            for own, others, apart in found.values():
                self.assertGreater(own, 100)
                self.assertEqual((others, apart), (own, 0))
