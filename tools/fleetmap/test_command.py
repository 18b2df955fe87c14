"""Runs ruff, mypy and the tests; with --spark also those of Spark, on a standalone cluster of two workers.

PostgreSQL with PostGIS, Chromium and Java are installed when they are missing (`tools/setup fleet`, which needs root or sudo).
"""

import argparse
import os
import pathlib
import subprocess
import sys

from fleetmap.errors import FleetError

PACKAGE = pathlib.Path(__file__).resolve().parent


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--spark", action="store_true", help="Spark too: it needs Java 17 and some minutes")
    parser.add_argument("only", nargs="*", help="names of tests, as unittest has them")


def run(options: argparse.Namespace) -> int:
    if subprocess.run([PACKAGE.parent / "setup", "fleet"]).returncode != 0:
        raise FleetError("tools/setup fleet failed; it installs Debian packages")
    configuration = str(PACKAGE / "pyproject.toml")
    names = options.only or ["discover", "--start-directory", str(PACKAGE / "tests"), "--top-level-directory", str(PACKAGE.parent)]
    commands = [
        ["ruff", "check", "--quiet", "--no-cache", "--config", configuration, str(PACKAGE), str(PACKAGE.parent / "fleet")],
        ["mypy", "--config-file", configuration, "--no-error-summary", str(PACKAGE)],
        ["unittest", *names],
    ]
    environment = os.environ | ({"FLEET_SPARK": "1"} if options.spark else {})
    return max(subprocess.run([sys.executable, "-m", *command], env=environment).returncode for command in commands)
