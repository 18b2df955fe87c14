"""Makes the map of a data set.

    tools/fleet map fleet -o map

map/map.parquet (GeoParquet 1.1), map/map.gpkg (layer `cells`), map/map.csv, and map/map.html: a page that needs no network. They have the same
rows: a cell, operator, technology (`all` for all together) and period each. Cells below the minimums are counted, not shown.
docs/fleet.md says what each column means.
"""

import argparse
import dataclasses
import pathlib
import tempfile
from collections.abc import Iterator

import duckdb
import pyarrow as pa

from fleetmap import aggregate, definition, geometry, outputs, page, progress
from fleetmap.dataset import Dataset, damage, memory
from fleetmap.errors import FleetError, make_folder

GRIDS = [*(f"h{resolution}" for resolution in range(6, 12)), "square"]
NOTHING_SHOWN = "every cell is below the minimums: see --least-fences and --least-devices"
FENCES_A_PART = 1_000_000


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", type=pathlib.Path, metavar="DATASET")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, metavar="DIR")
    parser.add_argument("--grid", choices=GRIDS, default="h9", help="H3 resolution, or squares of 100 m in EPSG:3035 (default h9)")
    parser.add_argument("--period", choices=definition.PERIODS, default="week", help="default week, from Monday on")
    parser.add_argument("--least-fences", type=int, default=30, metavar="N", help="of a cell that is shown (default 30)")
    parser.add_argument("--least-devices", type=int, default=2, metavar="N", help="of a cell that is shown (default 2)")
    parser.add_argument("--by-link", action="store_true", help="divide operators by the links of their cars: for cars with several modems")
    parser.add_argument("--hours", type=definition.hours_of, default=(0, 24), metavar="FIRST-LAST",
                        help="only fences that begin in these hours of the day, UTC: 6-9 is from 06:00 to before 09:00 (default 0-24)")
    parser.add_argument("--memory", type=memory, default="2GB", help="memory of DuckDB (default 2GB)")


def whole_periods(dataset: Dataset, period: str) -> tuple[Dataset, list[str]]:
    """The data set without the periods that have a damaged day: their figures would lack its fences. And these periods."""
    damaged = dataset.damaged(dataset.manifest.days)
    lost = {definition.period_of(day, period) for day in damaged}
    days = {day: entry for day, entry in dataset.manifest.days.items() if definition.period_of(day, period) not in lost}
    for day, file in damaged.items():
        print(f"left out: period {definition.period_of(day, period)}: {damage(file)}")
    if not days:
        raise FleetError(f"{dataset.folder} has no fences" + (" in a period without damaged files" if lost else ""))
    return Dataset(dataset.folder, dataclasses.replace(dataset.manifest, days=days)), sorted(lost)


def fill(engine: duckdb.DuckDBPyConnection, dataset: Dataset, grid: definition.Grid) -> None:
    """Makes the tables `map`, of all cells that are shown, and `hidden`, of the others."""
    figures = ", ".join(f"{name}::{'DOUBLE' if kind == 'REAL' else 'BIGINT'} AS {name}" for name, kind in outputs.COLUMNS.items() if kind != "TEXT")
    files = dataset.files()
    parts = definition.parts(dataset.manifest, grid.period, FENCES_A_PART)
    for index, days in enumerate(progress.of(parts, f"parts of {grid.cell} computed")):
        aggregate.run(engine, [files[day] for day in days], grid)
        verbs = ("CREATE TABLE map AS", "CREATE TABLE hidden AS") if index == 0 else ("INSERT INTO map", "INSERT INTO hidden")
        engine.execute(f"{verbs[0]} SELECT period, cells.cell AS number, operator, technology, {figures} FROM cells WHERE is_shown")
        engine.execute(f"{verbs[1]} SELECT operator, cells.cell AS number, fences FROM cells WHERE technology = 'all' AND NOT is_shown")


def name_cells(engine: duckdb.DuckDBPyConnection, grid: str) -> dict[str, list[geometry.Ring]]:
    """Makes the table `names` of the cells that are shown; returns their outlines by name."""
    cells = [row[0] for row in engine.execute("SELECT DISTINCT number FROM map ORDER BY number").fetchall()]
    names = [geometry.name(cell, grid) for cell in cells]
    engine.register("given", pa.table({"number": pa.array(cells, pa.int64()), "name": pa.array(names, pa.string())}))
    engine.execute("CREATE TABLE names AS SELECT * FROM given")
    return dict(zip(names, geometry.outlines(cells, grid), strict=True))


def notes(engine: duckdb.DuckDBPyConnection, grid: definition.Grid, damaged: list[str]) -> page.Notes:
    """What is hidden, of tables that `fill` has made."""
    hidden = engine.execute("SELECT operator, COUNT(DISTINCT number), SUM(fences)::BIGINT FROM hidden GROUP BY operator ORDER BY operator").fetchall()
    return page.Notes(grid.cell, grid.least_fences, grid.least_devices, hidden, damaged)


def batches(engine: duckdb.DuckDBPyConnection) -> Iterator[pa.RecordBatch]:
    """The rows as they are published."""
    names = ", ".join("name AS cell" if name == "cell" else f"map.{name}" for name in outputs.COLUMNS)
    relation = engine.sql(f"SELECT {names} FROM map JOIN names USING (number) ORDER BY map.period, map.number, map.operator, map.technology")
    yield from relation.to_arrow_reader(outputs.ROW_GROUP)


def run(options: argparse.Namespace) -> int:
    dataset, damaged = whole_periods(Dataset.read(options.dataset), options.period)
    make_folder(options.output)
    grid = definition.Grid(options.grid, options.least_fences, options.least_devices, options.by_link, options.hours, options.period)
    with tempfile.TemporaryDirectory(dir=options.output) as spill, aggregate.connect(dataset.manifest, options.memory, pathlib.Path(spill)) as engine:
        fill(engine, dataset, grid)
        outlines = name_cells(engine, options.grid)
        found = notes(engine, grid, damaged)
        if not outlines:
            where = " in the area of --grid square" if options.grid == "square" else ""
            no_fence = f"no fence{where} begins in these hours: --hours {options.hours[0]}-{options.hours[1]}, UTC"
            raise FleetError(NOTHING_SHOWN if found.hidden else no_fence)
        outputs.write_csv(options.output / "map.csv", batches(engine))
        outputs.write_parquet(options.output / "map.parquet", batches(engine), outlines)
        outputs.write_geopackage(options.output / "map.gpkg", batches(engine), outlines, max(dataset.manifest.days) + "T00:00:00.000Z")
        page.write(options.output, batches(engine), outlines, found)
        rows = engine.execute("SELECT COUNT(*) FROM map").fetchall()[0][0]
    print(f"{options.output}: {rows:,} rows of {len(outlines):,} cells")
    found.print()
    return 1 if damaged else 0
