"""Adds exports to a data set, and applies what later exports have replaced or withdrawn.

    tools/fleet add fleet exports            # exports/DEVICE/*.gpkg; a file in exports itself is a device by its store
    tools/fleet add fleet car-7=monday.gpkg  # with the device's name

The exports are GeoPackages of `coverage-probe export --state all`, or CSV or JSON Lines of it, which do not state their range. The same exports
give the same bytes, in any order and any number of runs. A fence that is refused, cut or in a zone is counted by name. docs/fleet.md has the rules.
"""

import argparse
import collections
import contextlib
import dataclasses
import math
import pathlib
from collections.abc import Iterator

import adbc_driver_manager
import duckdb
import pyarrow as pa
import pyarrow.parquet as parquet

from fleetmap import dataset as datasets
from fleetmap import lean, manifest, places, progress, reading
from fleetmap.checks import DAY_MS, NO_TIME
from fleetmap.dataset import Dataset
from fleetmap.errors import FleetError
from fleetmap.manifest import Manifest, Source


def metres(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(f"{text} is no distance in metres: 0 or more")
    return value


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", type=pathlib.Path, metavar="DATASET")
    parser.add_argument("exports", nargs="+", metavar="[DEVICE=]PATH", help="GeoPackages, CSV or JSON Lines, or folders of them")
    parser.add_argument("--cut", type=metres, default=200.0, metavar="METRES",
                        help="leave out fences this near to where their session begins or ends (default 200)")
    parser.add_argument("--exclude", type=pathlib.Path, metavar="FILE", help="zones that are left out: lines of latitude,longitude,radius")
    parser.add_argument("--target", metavar="TARGET",
                        help="only fences measured against this host, as the column target names it (default: those of a control server)")
    parser.add_argument("--memory", type=datasets.memory, default="1GB", help="memory of DuckDB (default 1GB)")


def exports(arguments: list[str]) -> list[tuple[str | None, pathlib.Path]]:
    """Devices and files, in order of the files' names."""
    found: list[tuple[str | None, pathlib.Path]] = []
    for argument in arguments:
        device, path = None, pathlib.Path(argument)
        # A path can have `=`, too.
        if "=" in argument and not path.exists():
            device, _, text = argument.partition("=")
            path = pathlib.Path(text)
        if path.is_dir():
            found += [(device or (file.parent.name if file.parent != path else None), file) for file in sorted(path.rglob("*"))
                      if file.suffix in reading.FORMATS]
        elif path.exists():
            found.append((device, path))
        else:
            raise FleetError(f"there is no {argument}" + (f", and no {path} of a device {device}" if device else ""))
    return found


@contextlib.contextmanager
def readable(path: pathlib.Path) -> Iterator[None]:
    """Turns what a broken file raises into one line."""
    try:
        yield
    except (OSError, adbc_driver_manager.Error, duckdb.Error, pa.ArrowException, ValueError, TypeError) as error:
        raise FleetError(f"{path} cannot be read: {' '.join(str(error).split())}") from None


def stage(dataset: Dataset, settings: lean.Settings, path: pathlib.Path, sha256: str, device: str | None, memory: str) -> Source:
    """Reads an export into a file of the staging folder."""
    with readable(path), contextlib.closing(reading.Export(path, memory)) as export:
        statement = export.statement
        begins, ends, exported_at = (None if text is None else int(reading.milliseconds(pa.array([text]))[0])
                                     for text in (statement.from_time, statement.to_time, statement.exported_at))
        # They rank the exports of a store: a wrong one would hold up all others.
        if NO_TIME in (begins, ends, exported_at) or exported_at is None or not isinstance(statement.last_fence, int):
            raise FleetError(f"{path} does not state when it was made, and of what: {statement}")
        reader = lean.Reader(sha256, exported_at or 0, export.sessions, export.ends, settings)
        with parquet.ParquetWriter(dataset.staging / f"{sha256}.parquet", lean.STAGED, compression="lz4", use_dictionary=False,
                                   write_statistics=["day"]) as writer:
            for batch in export.batches():
                writer.write_table(reader.rows(batch))
    left_out = {name: count for name, count in sorted(reader.left_out.items()) if count}
    sessions = [dataclasses.replace(session, days=dict(sorted(session.days.items()))) for session in export.sessions.values()]
    return Source(sha256, statement.store, device or statement.store, statement.exported_at, statement.last_fence,
                  -manifest.FOREVER if begins is None else begins, manifest.FOREVER if ends is None else ends, left_out, sessions)


def touched(sources: dict[str, Source], new: dict[str, Source]) -> dict[str, list[str]]:
    """The days to write anew, each with the new exports that have fences of it."""
    days: dict[str, list[str]] = collections.defaultdict(list)
    stores = manifest.by_store(new)
    for source in sources.values():
        if source.sha256 in new:
            for day in {day for session in source.sessions for day in session.days}:
                days[day].append(source.sha256)
            continue
        later = [other for other in stores.get(source.store, []) if other.rank > source.rank]
        for session in source.sessions:
            for day in session.days:
                if any(_may_kill(other, session, day) for other in later):
                    days.setdefault(day, [])
    return {day: sorted(days[day]) for day in sorted(days)}


def _may_kill(later: Source, session: manifest.Session, day: str) -> bool:
    """Whether an export can replace or withdraw fences of an earlier export's session and day."""
    begins = reading.day_begins(day)
    return (later.begins < begins + DAY_MS and begins < later.ends) or any(other.session == session.session for other in later.sessions)


def add(dataset: Dataset, settings: lean.Settings, given: list[tuple[str | None, pathlib.Path]], memory: str) -> collections.Counter[str]:
    """Enters exports; returns what happened, by name."""
    report: collections.Counter[str] = collections.Counter()
    sources = dict(dataset.manifest.sources)
    new: dict[str, Source] = {}
    paths: dict[str, pathlib.Path] = {}
    for device, path in progress.of(given, "exports read"):
        try:
            with readable(path):
                sha256 = reading.sha256(path)
            if sha256 in sources:
                report["duplicate files"] += 1
                known = sources[sha256]
                names = {known.device, device or known.store} - {known.store}
                sources[sha256] = dataclasses.replace(known, device=min(names, default=known.store))
                continue
            source = stage(dataset, settings, path, sha256, device, memory)
        except FleetError as error:
            print(f"refused: {error}")
            report["refused files"] += 1
            continue
        sources[sha256] = new[sha256] = source
        paths[sha256] = path
    for sha256, file in _unwritable(dataset, sources, new).items():
        print(f"refused: {paths[sha256]} would change a day that cannot be read: {datasets.damage(file)}")
        report["refused files"] += 1
        del sources[sha256], new[sha256]
    for source in new.values():
        report["files"] += 1
        report["fences"] += sum(count for session in source.sessions for count in session.days.values()) + sum(source.refused.values())
        report.update({f"refused: {name}": count for name, count in source.refused.items()})
    report.update(_write_days(dataset, sources, new, memory))
    return report


def _unwritable(dataset: Dataset, sources: dict[str, Source], new: dict[str, Source]) -> dict[str, str]:
    """The new exports that would change a damaged file, each with such a file. The days of the others are written as without them."""
    damaged = dataset.damaged(touched(sources, new))
    days = {sha256: touched(sources, {sha256: source}) for sha256, source in new.items()} if damaged else {}
    return {sha256: damaged[min(found)] for sha256, changed in days.items() if (found := damaged.keys() & changed.keys())}


def _write_days(dataset: Dataset, sources: dict[str, Source], new: dict[str, Source], memory: str) -> collections.Counter[str]:
    report: collections.Counter[str] = collections.Counter()
    days = dict(dataset.manifest.days)
    stores = manifest.by_store({key: source for key, source in sources.items() if source.store in {other.store for other in new.values()}})
    with datasets.connect(memory, dataset.staging / "spill") as engine:
        datasets.load_deaths(engine, (death for ordered in stores.values() for death in manifest.deaths(ordered)))
        for day, staged in progress.of(touched(sources, new).items(), "days written"):
            files = [str(dataset.staging / f"{sha256}.parquet") for sha256 in staged]
            if not files and day not in days:
                continue
            entry, replaced, withdrawn = datasets.rewrite(dataset, engine, day, files)
            report.update({"replaced": replaced, "withdrawn": withdrawn})
            if entry is None:
                days.pop(day, None)
            else:
                days[day] = entry
    dataset.commit(Manifest(dataset.manifest.settings, sources, days))
    return report


def findings(sources: dict[str, Source]) -> collections.Counter[str]:
    """What is wrong with the data set as a whole: fences that no export has, and cards that are in two cars."""
    report: collections.Counter[str] = collections.Counter()
    for ordered in manifest.by_store(sources).values():
        name = ordered[-1].device
        for low, high in manifest.gaps(ordered):
            print(f"gap: {name} has fences {low} to {high} in no export")
            report["gap"] += high - low + 1
        if sessions := manifest.conflicts(ordered):
            devices = ", ".join(sorted({source.device for source in ordered}))
            print(f"card in two cars: {devices}: sessions {sessions} are not the same in all exports; the latest one counts")
            report["card in two cars"] += len(sessions)
    return report


def run(options: argparse.Namespace) -> int:
    zones = places.read_zones(options.exclude) if options.exclude else []
    settings = lean.Settings(options.cut, zones, options.target)
    with datasets.writing(options.dataset, {"cut_m": settings.cut_m, "zones": [list(zone) for zone in zones], "target": settings.target}) as dataset:
        report = add(dataset, settings, exports(options.exports), options.memory)
        report.update(findings(dataset.manifest.sources))
        live = sum(day.fences for day in dataset.manifest.days.values())
        size = sum(path.stat().st_size for path in map(pathlib.Path, dataset.files().values()) if path.exists())
    for name, count in sorted((+report).items()):
        print(f"{name:>40} {count:>12,}")
    if report["refused: another target"]:
        print(f"this data set is of {settings.target or 'control servers'}; other fences need one of their own: --target")
    print(f"{options.dataset}: {live:,} fences in {len(dataset.manifest.days)} days, {size:,} bytes")
    return 1 if report["refused files"] else 0
