"""Parts for tests: exports of a few fences, a data set in a folder, and commands that print nothing."""

import argparse
import contextlib
import csv
import dataclasses
import hashlib
import io
import json
import pathlib
import sqlite3
import struct
import uuid

from fleetmap import add_command, aggregate, definition, simulate_command
from fleetmap.__main__ import COMMANDS
from fleetmap.dataset import Dataset
from fleetmap.export_table import Statement
from fleetmap.export_writing import Value, point, write

BINS = "1086=20"  # 20 pings of 30 ms


def store(name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


@dataclasses.dataclass(frozen=True)
class Fence:
    """A fence; what is not said is like every other one's."""

    number: int
    latitude: float = 48.2
    longitude: float = 16.3
    entered_at: str = "2026-11-02T10:00:00.000Z"
    exited_at: str = "2026-11-30T10:00:02.000Z"
    session: int = 1
    answered: int = 20
    operator: str | None = "23201"
    technology: str | None = "4G/LTE"
    delay_ms: float = 30.0
    bins: str | None = BINS
    quarantined: int = 0
    link: str | None = None

    def row(self, owner: str) -> tuple[Value, ...]:
        ok = self.answered > 0
        delay = self.delay_ms if ok else None
        return (self.number, point(self.longitude, self.latitude), self.session, self.entered_at, self.exited_at, 25.0, 40.0, 20, self.answered,
                delay, self.technology, 13, 2000, 1, 3.0, 20.0, 20 - self.answered, 0, delay, delay, delay, delay,
                -90.0, self.operator, None, owner, self.session, "gnss", self.quarantined, self.bins if ok else None, self.link)


def export(path: pathlib.Path, fences: list[Fence], owner: str = "car", exported_at: str = "2026-11-05T00:00:00.000Z", last: int | None = None,
           begins: str | None = None, ends: str | None = None) -> pathlib.Path:
    greatest = max((fence.number for fence in fences), default=0) if last is None else last
    write(path, Statement(store(owner), exported_at, greatest, begins, ends), [fence.row(store(owner)) for fence in fences])
    return path


def quietly(name: str, *arguments: str | pathlib.Path) -> tuple[int, str]:
    """Runs a command in this process; returns its status and what it printed."""
    module = {"add": add_command, "simulate": simulate_command}.get(name)
    if module is None:
        from fleetmap import map_command
        module = map_command
    assert name in COMMANDS
    parser = argparse.ArgumentParser()
    module.add_options(parser)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        status = module.run(parser.parse_args([str(argument) for argument in arguments]))
    return status, output.getvalue()


def checksum(dataset: pathlib.Path) -> dict[str, str]:
    """The bytes of a data set, by file."""
    return {str(path.relative_to(dataset)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(dataset.rglob("*")) if path.is_file()}


def counts(printed: str) -> dict[str, int]:
    """The table that `add` prints."""
    found = {}
    for line in printed.splitlines():
        name, _, number = line.strip().rpartition(" ")
        if line.startswith("  ") and number.replace(",", "").isdigit():
            found[name.strip()] = int(number.replace(",", ""))
    return found


def as_text(package: pathlib.Path, path: pathlib.Path, **added: str) -> pathlib.Path:
    """The fences of a GeoPackage as `coverage-probe export` writes them into a CSV, or with `.jsonl` into JSON Lines; `added` are more columns."""
    database = sqlite3.connect(package)
    database.row_factory = sqlite3.Row
    rows = []
    for stored in database.execute("SELECT * FROM fence_centres ORDER BY fid"):
        row = {"id": stored["fid"], **{name: stored[name] for name in stored.keys() if name not in ("fid", "geom")}, **added}  # noqa: SIM118
        longitude, latitude = struct.unpack("<dd", stored["geom"][13:])
        rows.append(row | {"latitude": round(latitude, 7), "longitude": round(longitude, 7),
                           "quarantined": bool(row["quarantined"]), "submittable": bool(row["submittable"])})
    database.close()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        if path.suffix == ".jsonl":
            file.writelines(json.dumps({name: value for name, value in row.items() if value is not None}) + "\n" for row in rows)
            return path
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({name: _in_csv(value) for name, value in row.items()} for row in rows)
    return path


def _in_csv(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return "'" + value if isinstance(value, str) and value.lstrip("'")[:1] in tuple("=+-@") else value


def differing(folder: pathlib.Path, cells: pathlib.Path, period: str = "week") -> dict[str, tuple[int, int, int]]:
    """Of each period of a data set: the groups by DuckDB, those that another engine wrote into `cells`, and how many differ in anything."""
    dataset = Dataset.read(folder)
    found = {}
    with aggregate.connect(dataset.manifest, "2GB", cells / "spill") as engine:
        for days in definition.parts(dataset.manifest, period, 1):
            name = definition.period_of(days[0], period)
            aggregate.run(engine, [dataset.files()[day] for day in days], definition.Grid("h9", 30, 2, period=period))
            listed = f"'{cells}/period={name}/*.parquet'"
            engine.execute(f"CREATE OR REPLACE VIEW other AS SELECT * FROM read_parquet({listed}, hive_partitioning = false)")
            columns = ", ".join(row[0] for row in engine.execute("DESCRIBE cells").fetchall() if row[0] != "period")
            [found[name]] = engine.execute(
                f"SELECT (SELECT COUNT(*) FROM cells), (SELECT COUNT(*) FROM other), COUNT(*) FROM ("
                f"(SELECT {columns} FROM cells EXCEPT SELECT {columns} FROM other) UNION ALL"
                f" (SELECT {columns} FROM other EXCEPT SELECT {columns} FROM cells)) AS differing").fetchall()
    return found
