"""Writes the exports of a made-up country, one GeoPackage a device and day, and the truth for each cell beside them.

OUTPUT/exports/DEVICE/DAY.gpkg   the exports, as `coverage-probe export --state all --from DAY --to NEXT` writes them
OUTPUT/truth.csv                 cell, operator, chance that a fence there has no coverage
OUTPUT/faults.json               the faults that were injected, and the counts that `add` has to report

The same options give the same fences.
"""

import argparse
import csv
import datetime
import json
import pathlib
import uuid
from collections.abc import Callable

import h3.api.basic_int as h3
import numpy as np

from fleetmap import country, faults, progress
from fleetmap.bins import texts_of
from fleetmap.country import Country
from fleetmap.errors import make_folder
from fleetmap.export_table import Statement
from fleetmap.export_writing import Value, point, write

FIRST_DAY = datetime.datetime(2026, 11, 2, tzinfo=datetime.UTC)
TRUTH_STEP_M = 5.0
Row = tuple[Value, ...]


def at_least(least: int) -> Callable[[str], int]:
    """Reads a count."""
    def count(text: str) -> int:
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"{text} is too few: {least} or more")
        return int(text)
    return count


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--devices", type=at_least(1), default=9, help="default 9; device i has the modem of operator i mod 3")
    parser.add_argument("--days", type=at_least(1), default=5, help="default 5, from 2026-11-02 on")
    parser.add_argument("--drives", type=at_least(1), default=2, help="of a device and day (default 2)")
    parser.add_argument("--fences", type=at_least(1), default=600, help="of a drive (default 600)")
    parser.add_argument("--pings", type=at_least(1), default=20, help="of a fence (default 20)")
    parser.add_argument("--towns", type=at_least(country.STOPS), default=12, help="of the country (default 12)")
    parser.add_argument("--size", type=float, default=16, metavar="KM", help="of the country's sides (default 16)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--resolution", type=int, default=9, help="of the truth's cells (default 9)")
    parser.add_argument("--faults", default="", metavar="LIST", help=f"all, or some of {','.join(faults.NAMES)}")


def iso(time: datetime.datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03d}Z"


def store_of(seed: int, device: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"fleet/{seed}/{device}"))


def rows_of(drive: country.Drive, start: datetime.datetime, first: int, session: int, store: str, operator: country.Operator) -> list[Row]:
    """The rows of a drive's fences, numbered from `first`."""
    latitudes, longitudes = country.degrees(drive.x, drive.y)
    pings = drive.delays.shape[1]
    answered = np.count_nonzero(drive.delays, axis=1)
    ordered = np.sort(drive.delays, axis=1)
    lost = pings - answered
    every = np.arange(len(answered))
    means = drive.delays.sum(axis=1) / np.maximum(answered, 1) / 1000
    least, most = (ordered[every, np.minimum(place, pings - 1)] / 1000 for place in (lost, np.full_like(lost, pings - 1)))
    p50, p95 = (ordered[every, np.minimum(lost + -(-share * answered // 100) - 1, pings - 1)] / 1000 for share in (50, 95))
    bins = texts_of(drive.delays)
    milliseconds = int(country.FENCE_SECONDS * 1000)
    times = [iso(start + datetime.timedelta(milliseconds=milliseconds * index)) for index in range(len(answered) + 1)]
    rows: list[Row] = []
    for index, (covered, power, ok) in enumerate(zip(drive.covered.tolist(), drive.power.tolist(), answered.tolist(), strict=True)):
        strong = power > -85
        delays = (float(least[index]), float(p50[index]), float(p95[index]) if ok >= 20 else None, float(most[index]))
        rows.append((
            first + index, point(float(longitudes[index]), float(latitudes[index])), session, times[index], times[index + 1], 25.0,
            drive.distance_m if index else None, pings, ok, float(means[index]) if ok else None,
            ("5G NSA" if strong else "4G/LTE") if covered else None, (41 if strong else 13) if covered else None, milliseconds, 1, 3.0,
            drive.distance_m / country.FENCE_SECONDS, pings - ok, 0, *(delays if ok else (None,) * 4),
            round(power, 1) if covered else None, operator.code if covered else None, operator.name if covered else None, store, session,
            "gnss", 0, bins[index], None))
    return rows


def truth(made: Country, resolution: int) -> list[tuple[str, str, float, float]]:
    """Cell, operator, chance of no coverage, and metres of the routes in it, for each cell that the timetable passes."""
    sums: dict[tuple[int, str], list[float]] = {}
    for device, route in enumerate(made.routes):
        operator = made.operators[device % len(made.operators)]
        x, y = route.at(np.arange(0, route.metres[-1], TRUTH_STEP_M))
        chances = operator.chance_without(x, y).tolist()
        latitudes, longitudes = country.degrees(x, y)
        for latitude, longitude, chance in zip(latitudes.tolist(), longitudes.tolist(), chances, strict=True):
            entry = sums.setdefault((h3.latlng_to_cell(latitude, longitude, resolution), operator.code), [0.0, 0.0])
            # A short route is driven more often: each device drives the same number of metres.
            entry[0] += chance / float(route.metres[-1])
            entry[1] += 1 / float(route.metres[-1])
    return [(f"{cell:x}", code, total / weight, weight) for (cell, code), (total, weight) in sorted(sums.items())]


def run(options: argparse.Namespace) -> int:
    chosen = faults.chosen(options.faults, options.devices, options.days, options.fences)
    made = country.make(options.seed, options.devices, options.size * 1000, options.towns)
    exports = options.output / "exports"
    make_folder(exports)
    for device in progress.of(range(options.devices), "devices simulated"):
        store, number, session = store_of(options.seed, device), 1, 1
        operator = made.operators[device % len(made.operators)]
        for day in range(options.days):
            begin = FIRST_DAY + datetime.timedelta(days=day)
            rows: list[Row] = []
            for drive in range(options.drives):
                start = begin + datetime.timedelta(hours=6 + 16 * drive / options.drives, milliseconds=37 * device)
                fences = country.drive(made, device, day * options.drives + drive, options.fences, options.pings, options.seed)
                rows += rows_of(fences, start, number, session, store, operator)
                number += len(fences.covered)
                session += 1
            end = begin + datetime.timedelta(days=1)
            statement = Statement(store, iso(end + datetime.timedelta(minutes=5)), number - 1, iso(begin), iso(end))
            write(exports / f"car-{device:03d}" / f"{begin:%Y-%m-%d}.gpkg", statement, rows)
    injected = faults.inject(chosen, exports)
    (options.output / "faults.json").write_text(json.dumps(injected, indent=2) + "\n")
    with (options.output / "truth.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("cell", "operator", "without", "weight"))
        writer.writerows(truth(made, options.resolution))
    print(f"{options.devices * options.days * options.drives * options.fences} fences of {options.devices} devices in {exports}")
    return 0
