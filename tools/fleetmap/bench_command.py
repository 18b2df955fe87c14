"""Measures what entry, map and serving cost, for made-up countries of several sizes: CPU seconds of all processes, memory, bytes; exponents.

    tools/fleet bench --devices 3,30                                # 0.3 and 3 million fences
    tools/fleet bench --devices 3,30 --repeat 10 --engines --peers  # also 30 million; Spark and Sail; geopandas and DuckDB

A device makes 100,000 fences of 20 pings in 7 days. --repeat has the exports of the last country again with later dates: for cost, not for
statistics. An exponent of 1 means twice the cost for twice the fences. All processes are counted, those of Java and PostgreSQL too. The first run of
Spark counts as its start, which its further rows are without.
"""

import argparse
import contextlib
import ctypes
import dataclasses
import datetime
import itertools
import json
import math
import os
import pathlib
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from fleetmap import page, postgres, serve_command, spark_cluster
from fleetmap.dataset import Dataset
from fleetmap.errors import FleetError

DAYS, DRIVES, FENCES = 7, 4, 3572  # of a drive
COUNTRY = ("--days", str(DAYS), "--drives", str(DRIVES), "--fences", str(FENCES), "--towns", "60", "--size", "80")
LATER = """
UPDATE fence_centres SET fid = fid + {fences}, session = session + {drives}, drive = drive + {drives},
  entered_at = '{day}' || substr(entered_at, 11), exited_at = '{day}' || substr(exited_at, 11);
UPDATE export SET last_fence = last_fence + {fences}, exported_at = '{next}' || substr(exported_at, 11), from_time = '{day}' || substr(from_time, 11),
  to_time = '{next}' || substr(to_time, 11);
"""
FLEET = [sys.executable, "-m", "fleetmap"]
PROGRAM = [str(pathlib.Path(__file__).resolve().parents[1] / "fleet")]
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
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="also all of it for N times the last country's days (default 1: no)")
    parser.add_argument("--engines", action="store_true", help="also Sail, Spark, and Spark with two workers on loopback")
    parser.add_argument("--peers", action="store_true", help="also geopandas over the same GeoPackages, and DuckDB over GeoParquet")


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


def of(country: pathlib.Path, kind: str) -> pathlib.Path:
    """The folder of a kind of output for a country."""
    return country.with_name(country.name.replace("country", kind))


def costs(country: pathlib.Path) -> Iterator[Cost]:
    """Entry, maps and serving."""
    dataset, output, database = (of(country, kind) for kind in ("fleet", "map", "database"))
    for path in (dataset, output, database):
        shutil.rmtree(path, ignore_errors=True)
    entry = measured("add", 0, FLEET, "add", dataset, country / "exports")
    fences, size = content(dataset)
    yield dataclasses.replace(entry, fences=fences, size=size)
    for period in ("week", "day", "all"):
        cost = measured(f"map, by {period}", fences, FLEET, "map", dataset, "-o", output, "--period", period, "--least-devices", "1")
        yield dataclasses.replace(cost, size=sum(path.stat().st_size for path in output.iterdir()))
    if postgres.programs():
        yield measured("serve, load", fences, FLEET, "serve", dataset, "--data", database, "--port", "0", "--load-only", "--least-devices", "1")
        yield cost_of_tiles(database, fences)


def cost_of_tiles(database: pathlib.Path, fences: int) -> Cost:
    """A hundred tiles: the mean of all of zooms 4 to 11 of the latest period, with the start of PostgreSQL."""
    notes = page.Notes("", 0, 0, [], [])
    with (counted() as found, postgres.running(database.resolve()) as address,
          contextlib.closing(serve_command.Tiles(address, notes)) as tiles):
        choices = json.loads(tiles.choices())
        west, south, east, north = choices["box"]
        count = 0
        for zoom in range(4, 12):
            [(left, top), (right, bottom)] = (tile_of(zoom, *corner) for corner in ((west, north), (east, south)))
            for x, y in itertools.product(range(left, right + 1), range(top, bottom + 1)):
                tiles.tile(zoom, x, y, choices["periods"][0], choices["operators"][0], "all", "share")
                count += 1
    return Cost("serve, 100 tiles", fences, found[0] * 100 / count, found[1])


def tile_of(zoom: int, longitude: float, latitude: float) -> tuple[int, int]:
    [(x, y)] = postgres.mercator([(longitude, latitude)])
    half = math.pi * postgres.MERCATOR_RADIUS_M
    return int((half + x) / (2 * half) * 2**zoom), int((half - y) / (2 * half) * 2**zoom)


def content(dataset: pathlib.Path) -> tuple[int, int]:
    """Fences and bytes."""
    live = Dataset.read(dataset)
    return sum(day.fences for day in live.manifest.days.values()), sum(pathlib.Path(path).stat().st_size for path in live.files().values())


def repeated(country: pathlib.Path, times: int) -> pathlib.Path:
    """A country with the same exports again and again, of later days, sessions and fences."""
    folder = country.with_name(f"{country.name}-times-{times}")
    partial = folder.with_name(folder.name + ".partial")
    if folder.exists():
        return folder
    shutil.rmtree(partial, ignore_errors=True)
    for path in sorted((country / "exports").rglob("*.gpkg")):
        for turn in range(times):
            day = datetime.date.fromisoformat(path.stem) + datetime.timedelta(days=DAYS * turn)
            copy = partial / "exports" / path.parent.name / f"{day}.gpkg"
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
            with contextlib.closing(sqlite3.connect(copy)) as database:
                database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;" + LATER.format(
                    day=day, next=day + datetime.timedelta(days=1), fences=turn * DAYS * DRIVES * FENCES, drives=turn * DAYS * DRIVES) + "COMMIT")
    return partial.rename(folder)


def cost_of_workers(folder: pathlib.Path, dataset: pathlib.Path, fences: int) -> Cost:
    with counted() as whole:
        with spark_cluster.running(folder) as address:
            done = subprocess.run([*PROGRAM, "spark", str(dataset), "-o", str(folder / "workers"), "--master", address], stdout=subprocess.DEVNULL,
                                  env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"})
        if done.returncode != 0:
            raise FleetError("Spark with two workers failed")
    return Cost("Spark, two workers", fences, whole[0], whole[1])


def costs_of_peers(folder: pathlib.Path, country: pathlib.Path, fences: int) -> Iterator[Cost]:
    """What a user would do otherwise."""
    measured("installation", 0, PROGRAM, "peer", "--help")
    shutil.rmtree(folder / "raw", ignore_errors=True)
    for step, engine, data, output in (("geopandas", "geopandas", country / "exports", "peer.csv"),
                                       ("geopandas to GeoParquet", "geoparquet", country / "exports", "raw"),
                                       ("DuckDB over GeoParquet", "duckdb", folder / "raw", "peer.csv")):
        yield measured(step, fences, PROGRAM, "peer", engine, data, folder / output)


def every(folder: pathlib.Path, options: argparse.Namespace) -> Iterator[Cost]:
    countries = []
    for devices in options.devices.split(","):
        country = folder / f"country-{devices}"
        if not (country / "truth.csv").exists():
            measured("simulate", 0, FLEET, "simulate", "-o", country, "--devices", devices, *COUNTRY)
        countries.append(country)
    last = countries[-1]
    if options.repeat > 1:
        countries.append(repeated(last, options.repeat))
    for country in countries:
        yield from costs(country)
    fences, _ = content(of(last, "fleet"))
    if options.peers:
        yield from costs_of_peers(folder, last, fences)
    if options.engines:
        for engine in ("sail", "spark"):
            measured("installation", 0, PROGRAM, engine, "--help")
        yield measured("Sail", fences, PROGRAM, "sail", of(last, "fleet"), "-o", folder / "sail")
        for dataset in (of(country, "fleet") for country in countries):
            fences, _ = content(dataset)
            yield measured("Spark, local", fences, PROGRAM, "spark", dataset, "-o", folder / "spark")
            yield cost_of_workers(folder, dataset, fences)


def row(cost: Cost, before: list[Cost]) -> str:
    """A line of the table; `before` are the smaller ones of the same step."""
    start = Cost(cost.step, 0, 0, 0)
    if cost.step.startswith("Spark") and before:
        start, *before = before

    def beyond(other: Cost) -> tuple[float, int]:
        return other.cpu_s - start.cpu_s, other.fences - start.fences

    cpu_s, fences = beyond(cost)
    exponent = ""
    if before:
        less_s, fewer = beyond(before[-1])
        # Beyond the start, runs can differ by more than their fences cost.
        if min(cpu_s, less_s) > 0 and 0 < fewer < fences:
            exponent = f"{math.log(cpu_s / less_s) / math.log(fences / fewer):.2f}"
    rate = f"{cpu_s / fences * 1e6:.2f}" if fences > 0 else ""
    size = "" if cost.size is None else f"{cost.size / cost.fences:.1f}"
    return f"| {cost.step} | {cost.fences:,} | {cost.cpu_s:.1f} | {rate} | {cost.memory_mb:.0f} MB | {size} | {exponent} |"


def run(options: argparse.Namespace) -> int:
    print("| step | fences | CPU s | CPU s a million | memory | bytes a fence | exponent |\n|---|---|---|---|---|---|---|", flush=True)
    found: list[Cost] = []
    with tempfile.TemporaryDirectory(prefix="fleet-") as scratch:
        folder = options.work or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)  # PostgreSQL may run as another user
        for cost in every(folder, options):
            print(row(cost, [other for other in found if other.step == cost.step]), flush=True)
            found.append(cost)
    return 0
