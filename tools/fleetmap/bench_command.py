"""Measures what entry, map and serving cost, for made-up countries of two sizes and more: CPU seconds of all processes, memory, bytes; exponents.

    tools/fleet bench --work /var/tmp/bench --devices 10,30     # 1 and 3 million fences
    tools/fleet bench --devices 30 --repeat 10 --engines --peer # 30 million for DuckDB; Spark and Sail; geopandas

A device makes 100,000 fences of 20 pings in 7 days. --repeat has the days of the last country again under later dates, for cost, not for statistics.
An exponent of 1 means twice the cost for twice the fences. All processes are counted, those of Java and PostgreSQL too.
"""

import argparse
import contextlib
import ctypes
import dataclasses
import datetime
import math
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from fleetmap import postgres, spark_cluster
from fleetmap.dataset import Dataset
from fleetmap.errors import FleetError
from fleetmap.manifest import Manifest

COUNTRY = ("--days", "7", "--drives", "4", "--fences", "3572", "--towns", "60", "--size", "80")
DAYS = 7
FLEET = [sys.executable, "-m", "fleetmap"]
PROGRAM = [str(pathlib.Path(__file__).resolve().parents[1] / "fleet")]
PEER = "geopandas"
PR_SET_CHILD_SUBREAPER = 36


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
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="also the map of N times the last country's days (default 1: no)")
    parser.add_argument("--engines", action="store_true", help="also Sail, Spark, and Spark with two workers on loopback")
    parser.add_argument("--peer", action="store_true", help="also geopandas over the same GeoPackages")


@contextlib.contextmanager
def counted() -> Iterator[list[float]]:
    """Gives the CPU seconds of all processes that the block starts, and MB of the largest one. Orphans become children, so that none is missed."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found: list[float] = []
    yield found
    largest = 0
    with contextlib.suppress(ChildProcessError):
        while True:
            largest = max(largest, os.wait4(-1, 0)[2].ru_maxrss)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found += [after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, largest / 1024]


def measured(step: str, fences: int, command: list[str], *arguments: str | pathlib.Path) -> Cost:
    """Runs a command, and waits for all that it started."""
    with counted() as found:
        process = subprocess.Popen([*command, *map(str, arguments)], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        if status != 0:
            raise FleetError(f"{' '.join(map(str, arguments))} failed")
    return Cost(step, fences, found[0], max(found[1], usage.ru_maxrss / 1024))


def costs(folder: pathlib.Path, devices: int) -> Iterator[Cost]:
    """Entry, maps, and loading the server."""
    country, dataset, output = (folder / f"{name}-{devices}" for name in ("country", "fleet", "map"))
    if not (country / "truth.csv").exists():
        measured("simulate", 0, FLEET, "simulate", "-o", country, "--devices", str(devices), *COUNTRY)
    for path in (dataset, output):
        shutil.rmtree(path, ignore_errors=True)
    entry = measured("add", 0, FLEET, "add", dataset, country / "exports")
    fences, size = content(dataset)
    yield dataclasses.replace(entry, fences=fences, size=size)
    for period in ("week", "day"):
        cost = measured(f"map, by {period}", fences, FLEET, "map", dataset, "-o", output, "--period", period, "--least-devices", "1")
        yield dataclasses.replace(cost, size=sum(path.stat().st_size for path in output.iterdir()))
    if postgres.programs():
        yield measured("serve, load", fences, FLEET, "serve", dataset, "--port", "0", "--load-only", "--least-devices", "1")


def content(dataset: pathlib.Path) -> tuple[int, int]:
    """Fences and bytes."""
    live = Dataset.read(dataset)
    return sum(day.fences for day in live.manifest.days.values()), sum(pathlib.Path(path).stat().st_size for path in live.files().values())


def repeated(dataset: pathlib.Path, times: int) -> pathlib.Path:
    """A data set with the same days again and again, under later dates; its files are the same ones."""
    live, folder = Dataset.read(dataset), dataset.with_name(f"{dataset.name}-times-{times}")
    shutil.rmtree(folder, ignore_errors=True)
    days = {}
    for turn in range(times):
        for day, entry in live.manifest.days.items():
            name = str(datetime.date.fromisoformat(day) + datetime.timedelta(days=DAYS * turn))
            days[name] = entry
            (folder / f"day={name}").mkdir(parents=True)
            os.link(live.files()[day], folder / f"day={name}" / entry.file)
    (folder / "manifest.json").write_text(Manifest(live.manifest.settings, live.manifest.sources, days).text())
    return folder


def costs_repeated(dataset: pathlib.Path, times: int, engines: bool) -> Iterator[Cost]:
    """Maps of many fences. All days together are a harder case than a day at a time."""
    folder = repeated(dataset, times)
    fences, _ = content(folder)
    options = ("-o", folder.with_name("map-repeated"), "--least-devices", "1")
    for name, period in (("by week", "week"), ("by day", "day"), ("all days together", "all")):
        yield measured(f"map, {name}", fences, FLEET, "map", folder, *options, "--period", period)
    if engines:
        yield measured("Spark, local", fences, PROGRAM, "spark", folder, "-o", folder / "cells", "--period", "all")


def costs_of_engines(folder: pathlib.Path, dataset: pathlib.Path) -> Iterator[Cost]:
    fences, _ = content(dataset)
    for engine in ("sail", "spark"):
        measured("installation", 0, PROGRAM, engine, "--help")
        yield measured(f"{engine.title()}, local", fences, PROGRAM, engine, dataset, "-o", folder / engine)
    with counted() as whole:
        with spark_cluster.running(folder) as address:
            done = subprocess.run([*PROGRAM, "spark", str(dataset), "-o", str(folder / "workers"), "--master", address], stdout=subprocess.DEVNULL,
                                  env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"})
        if done.returncode != 0:
            raise FleetError("Spark with two workers failed")
    yield Cost("Spark, two workers", fences, whole[0], whole[1])


def cost_of_peer(folder: pathlib.Path, devices: int, fences: int) -> Cost:
    measured("installation", 0, PROGRAM, "peer", "--help")
    return measured(PEER, fences, PROGRAM, "peer", folder / f"country-{devices}" / "exports", folder / "peer.csv")


def every(folder: pathlib.Path, options: argparse.Namespace) -> Iterator[Cost]:
    numbers = [int(text) for text in options.devices.split(",")]
    for devices in numbers:
        yield from costs(folder, devices)
    last = folder / f"fleet-{numbers[-1]}"
    if options.peer:
        yield cost_of_peer(folder, numbers[-1], content(last)[0])
    if options.engines:
        yield from costs_of_engines(folder, last)
    if options.repeat > 1:
        yield from costs_repeated(last, options.repeat, options.engines)


def run(options: argparse.Namespace) -> int:
    print("| step | fences | CPU s | CPU s a million | memory | bytes a fence | exponent |\n|---|---|---|---|---|---|---|", flush=True)
    found: list[Cost] = []
    with tempfile.TemporaryDirectory(prefix="fleet-") as scratch:
        for cost in every(options.work or pathlib.Path(scratch), options):
            base = next((other for other in found if other.step == cost.step), None)
            exponent = "" if base is None else f"{math.log(cost.cpu_s / base.cpu_s) / math.log(cost.fences / base.fences):.2f}"
            size = "" if cost.size is None else f"{cost.size / cost.fences:.1f}"
            rate = cost.cpu_s / cost.fences * 1e6
            print(f"| {cost.step} | {cost.fences:,} | {cost.cpu_s:.1f} | {rate:.2f} | {cost.memory_mb:.0f} MB | {size} | {exponent} |", flush=True)
            found.append(cost)
    for peer in found:
        if peer.step == PEER:
            own = sum(cost.cpu_s for cost in found if cost.fences == peer.fences and cost.step in ("add", "map, by week"))
            print(f"{PEER} needs {peer.cpu_s / own:.1f} times the CPU of `add` and `map`, by week, together")
    return 0
