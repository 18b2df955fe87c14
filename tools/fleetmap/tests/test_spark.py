"""Spark, on a standalone cluster of two workers on loopback, against DuckDB: every figure of every group. Only by `tools/fleet test --spark`."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from fleetmap import spark_cluster
from fleetmap.tests.made import differing, quietly

PROGRAM = str(pathlib.Path(__file__).resolve().parents[2] / "fleet")


@unittest.skipUnless(os.environ.get("FLEET_SPARK"), "only by tools/fleet test --spark")
@unittest.skipUnless(shutil.which("java"), "Spark needs Java 17: openjdk-17-jre-headless")
class Spark(unittest.TestCase):
    def test_when_spark_runs_on_two_workers_is_killed_and_runs_again_then_every_figure_equals_duckdbs(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            quietly("simulate", "-o", folder / "country", "--devices", "9", "--days", "8", "--drives", "1", "--fences", "400", "--faults", "all")
            quietly("add", folder / "fleet", folder / "country" / "exports")
            subprocess.run([PROGRAM, "spark", "--help"], check=True, stdout=subprocess.DEVNULL)
            command = [PROGRAM, "spark", str(folder / "fleet"), "-o", str(folder / "cells"), "--master"]
            environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
            with spark_cluster.running(folder) as address:
                subprocess.run([*command, address], check=True, env=environment)
                killed = subprocess.Popen([*command, address], env=environment, start_new_session=True)
                while not any((folder / "cells").glob(".spark-staging-*")):
                    self.assertIsNone(killed.poll(), "it ended before it was killed")
                    time.sleep(0.01)
                os.killpg(killed.pid, signal.SIGKILL)
                killed.wait()
                self.check(folder)
                subprocess.run([*command, address], check=True, env=environment)
                self.check(folder)
                self.assertEqual(list((folder / "cells").glob(".spark-staging-*")), [])

    def check(self, folder: pathlib.Path) -> None:
        """Every figure of every group is that of DuckDB."""
        found = differing(folder / "fleet", folder / "cells")
        self.assertEqual(len(found), 2)
        for own, others, apart in found.values():
            self.assertGreater(own, 100)
            self.assertEqual((others, apart), (own, 0))
