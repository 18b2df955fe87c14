"""Runs the definition (map.sql) by DuckDB over a data set, a period at a time."""

import collections
import dataclasses
import datetime
import pathlib
import re
import string

import duckdb
import pyarrow as pa

from fleetmap.manifest import Manifest

DEFINITION = pathlib.Path(__file__).with_name("map.sql")
PERIODS = ("day", "week", "month", "all")


@dataclasses.dataclass(frozen=True)
class Grid:
    """A column of the data set: `h6` to `h11`, or `square`; and which cells are shown."""

    cell: str
    least_fences: int
    least_devices: int


def statements(grid: Grid) -> list[str]:
    """The definition for a grid, statement by statement."""
    text = re.sub(r"--.*", "", DEFINITION.read_text())
    # A bin's least delay: (b - 64 e) 2^e with e = b div 64 - 1, and e = 0 for the first 128 bins.
    power = r"GREATEST((\1 - MOD(\1, 64)) / 64 - 1, 0)"
    text = re.sub(r"\$lower\(([a-z0-9.]+)\)", rf"CAST((\1 - 64 * {power}) * POWER(2, {power}) AS BIGINT)", text)
    filled = string.Template(text).substitute(cell=grid.cell, least_fences=grid.least_fences, least_devices=grid.least_devices)
    return [part.strip() for part in filled.split(";") if part.strip()]


def period_of(day: str, period: str) -> str:
    """The period that a day is in, by its first day; weeks begin on Monday."""
    date = datetime.date.fromisoformat(day)
    return {"day": day, "week": str(date - datetime.timedelta(days=date.weekday())), "month": str(date.replace(day=1)), "all": "all"}[period]


def periods(days: dict[str, str], period: str) -> dict[str, list[str]]:
    """The files of each period."""
    found: dict[str, list[str]] = collections.defaultdict(list)
    for day, file in days.items():
        found[period_of(day, period)].append(file)
    return dict(found)


def origins(manifest: Manifest) -> pa.Table:
    """The sessions of the manifest, as the definition reads them. A drive is its store and number."""
    rows = [(session.origin(source.sha256), source.device, f"{source.store}/{session.drive}", session.operator)
            for source in manifest.sources.values() for session in source.sessions]
    kinds = (pa.int64(), pa.string(), pa.string(), pa.string())
    names = ("origin", "device", "drive", "operator")
    return pa.table({name: pa.array([row[place] for row in rows], kind) for place, (name, kind) in enumerate(zip(names, kinds, strict=True))})


def connect(manifest: Manifest, memory: str, spill: pathlib.Path) -> duckdb.DuckDBPyConnection:
    engine = duckdb.connect(config={"memory_limit": memory, "temp_directory": str(spill), "threads": 2})
    engine.execute("SET preserve_insertion_order = false")
    engine.execute("CREATE MACRO element_at(list, place) AS list_extract(list, place)")
    table = origins(manifest)
    engine.register("given", table)
    engine.execute("CREATE TABLE origins AS SELECT * FROM given")
    engine.unregister("given")
    return engine


def run(engine: duckdb.DuckDBPyConnection, files: list[str], grid: Grid) -> None:
    """Makes the table `cells` of some files of the data set."""
    engine.execute(f"CREATE OR REPLACE TEMP VIEW fences AS SELECT * FROM read_parquet({files!r}, hive_partitioning = true)")
    engine.execute("CREATE OR REPLACE TEMP VIEW pings AS SELECT *, unnest(bins) AS bin, unnest(counts) AS count FROM fences")
    for statement in statements(grid):
        engine.execute(statement.replace("CREATE OR REPLACE TEMP VIEW", "CREATE OR REPLACE TEMP TABLE", 1))
    for name in ("passes", "device_days", "clusters", "totals", "bins", "ping_ranks"):
        engine.execute(f"DROP TABLE {name}")
