"""Measures what entry and map cost, for made-up countries of two sizes and more: CPU seconds of all processes, memory, bytes; and exponents.

    tools/fleet bench --work /var/tmp/bench --devices 10,30     # 1 and 3 million fences

A device makes 100,000 fences of 20 pings in 7 days. An exponent of 1 means twice the cost for twice the fences.
"""

import argparse
import dataclasses
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from fleetmap import postgres
from fleetmap.dataset import Dataset
from fleetmap.errors import FleetError

COUNTRY = ("--days", "7", "--drives", "4", "--fences", "3572", "--towns", "60", "--size", "80")


@dataclasses.dataclass(frozen=True)
class Cost:
    step: str
    fences: int
    cpu_s: float
    memory_mb: float
    size: int | None = None


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--work", type=pathlib.Path, metavar="DIR", help="keep the countries there, for a further run (default: a temporary folder)")
    parser.add_argument("--devices", default="3,10", metavar="LIST", help="of each country (default 3,10)")


def measured(step: str, fences: int, *arguments: str) -> Cost:
    """Runs a command of `tools/fleet` and waits for it and its children."""
    process = subprocess.Popen([sys.executable, "-m", "fleetmap", *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise FleetError(f"{' '.join(arguments)} failed")
    return Cost(step, fences, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def costs(folder: pathlib.Path, devices: int) -> list[Cost]:
    country, dataset, output = (folder / f"{name}-{devices}" for name in ("country", "fleet", "map"))
    if not (country / "truth.csv").exists():
        measured("simulate", 0, "simulate", "-o", str(country), "--devices", str(devices), *COUNTRY)
    for path in (dataset, output):
        shutil.rmtree(path, ignore_errors=True)
    entry = measured("add", 0, "add", str(dataset), str(country / "exports"))
    live = Dataset.read(dataset)
    fences = sum(day.fences for day in live.manifest.days.values())
    size = sum(pathlib.Path(path).stat().st_size for path in live.files().values())
    found = [dataclasses.replace(entry, fences=fences, size=size)]
    for period in ("week", "day"):
        found.append(measured(f"map, by {period}", fences, "map", str(dataset), "-o", str(output), "--period", period, "--least-devices", "1"))
    found[-1] = dataclasses.replace(found[-1], size=sum(path.stat().st_size for path in output.iterdir()))
    if postgres.programs():
        found.append(measured("serve: load, without PostgreSQL", fences, "serve", str(dataset), "--port", "0", "--load-only", "--least-devices", "1"))
    return found


def run(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="fleet-") as scratch:
        folder = options.work or pathlib.Path(scratch)
        every = [cost for devices in options.devices.split(",") for cost in costs(folder, int(devices))]
    print("| step | fences | CPU s | CPU s a million | memory | bytes a fence | exponent |\n|---|---|---|---|---|---|---|")
    first: dict[str, Cost] = {}
    for cost in every:
        base = first.setdefault(cost.step, cost)
        exponent = "" if base is cost else f"{math.log(cost.cpu_s / base.cpu_s) / math.log(cost.fences / base.fences):.2f}"
        size = "" if cost.size is None else f"{cost.size / cost.fences:.1f}"
        rate = cost.cpu_s / cost.fences * 1e6
        print(f"| {cost.step} | {cost.fences:,} | {cost.cpu_s:.1f} | {rate:.2f} | {cost.memory_mb:.0f} MB | {size} | {exponent} |")
    return 0
