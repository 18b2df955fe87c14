"""Runs ruff, mypy and the tests."""

import argparse
import pathlib
import subprocess
import sys

PACKAGE = pathlib.Path(__file__).resolve().parent


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("only", nargs="*", help="names of tests, as unittest has them")


def run(options: argparse.Namespace) -> int:
    configuration = str(PACKAGE / "pyproject.toml")
    names = options.only or ["discover", "--start-directory", str(PACKAGE / "tests"), "--top-level-directory", str(PACKAGE.parent)]
    commands = [
        ["ruff", "check", "--quiet", "--no-cache", "--config", configuration, str(PACKAGE), str(PACKAGE.parent / "fleet")],
        ["mypy", "--config-file", configuration, "--no-error-summary", str(PACKAGE)],
        ["unittest", *names],
    ]
    return max(subprocess.run([sys.executable, "-m", *command]).returncode for command in commands)
