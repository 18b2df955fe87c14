"""Spark, on a standalone cluster of two workers on loopback, against DuckDB: every figure of every group. Only by `tools/fleet test --spark`."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from fleetmap import spark_cluster
from fleetmap.tests.made import differing, quietly

PROGRAM = str(pathlib.Path(__file__).resolve().parents[2] / "fleet")


@unittest.skipUnless(os.environ.get("FLEET_SPARK"), "only by tools/fleet test --spark")
@unittest.skipUnless(shutil.which("java"), "Spark needs Java 17: openjdk-17-jre-headless")
class Spark(unittest.TestCase):
    def test_when_spark_runs_the_definition_on_two_workers_then_every_figure_equals_duckdbs(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            quietly("simulate", "-o", folder / "country", "--devices", "9", "--days", "8", "--drives", "1", "--fences", "400", "--faults", "all")
            quietly("add", folder / "fleet", folder / "country" / "exports")
            program = [PROGRAM, "spark"]
            subprocess.run([*program, "--help"], check=True, stdout=subprocess.DEVNULL)
            with spark_cluster.running(folder) as address:
                for _ in range(2):
                    subprocess.run([*program, str(folder / "fleet"), "-o", str(folder / "cells"), "--master", address], check=True,
                                   env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"})
            found = differing(folder / "fleet", folder / "cells")
            self.assertEqual(len(found), 2)
            for own, others, apart in found.values():
                self.assertGreater(own, 100)
                self.assertEqual((others, apart), (own, 0))
