"""Sail, a second witness without Java, against DuckDB: every figure of every group. Skipped where Sail cannot be installed or does not run."""

import pathlib
import subprocess
import tempfile
import unittest

from fleetmap.tests.made import differing, quietly

PROGRAM = str(pathlib.Path(__file__).resolve().parents[2] / "fleet")
INSTALL_S = 900


def obstacle() -> str | None:
    """Why Sail cannot be installed or does not run here, in one line."""
    try:
        done = subprocess.run([PROGRAM, "sail", "--check"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=INSTALL_S)
    except subprocess.TimeoutExpired:
        return f"it took more than {INSTALL_S} s"
    return None if done.returncode == 0 else " ".join(done.stderr.split())[-300:]


class Sail(unittest.TestCase):
    def test_when_sail_runs_the_definition_then_every_figure_equals_duckdbs(self) -> None:
        if why := obstacle():
            print(f"not tested: Sail does not run here: {why}")
            self.skipTest("Sail does not run here")
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            quietly("simulate", "-o", folder / "country", "--devices", "9", "--days", "8", "--drives", "1", "--fences", "400", "--faults", "all")
            quietly("add", folder / "fleet", folder / "country" / "exports")
            done = subprocess.run([PROGRAM, "sail", str(folder / "fleet"), "-o", str(folder / "cells")], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, timeout=INSTALL_S)
            self.assertEqual(done.returncode, 0, done.stderr[-3000:])
            found = differing(folder / "fleet", folder / "cells")
            self.assertEqual(len(found), 2)
            for own, others, apart in found.values():
                self.assertGreater(own, 100)
                self.assertEqual((others, apart), (own, 0))
