"""Runs the definition (map.sql) by DuckDB over files of a data set."""

import pathlib

import duckdb
import pyarrow as pa

from fleetmap import definition
from fleetmap.definition import Grid
from fleetmap.manifest import Manifest


def connect(manifest: Manifest, memory: str, spill: pathlib.Path) -> duckdb.DuckDBPyConnection:
    engine = duckdb.connect(config={"memory_limit": memory, "temp_directory": str(spill), "threads": 2})
    engine.execute("SET preserve_insertion_order = false")
    engine.execute("CREATE MACRO element_at(list, place) AS list_extract(list, place)")
    engine.execute("CREATE MACRO array_size(list) AS len(list)")
    rows, kinds = definition.origins(manifest), (pa.int64(), *(4 * (pa.string(),)))
    columns = zip(definition.ORIGIN, kinds, strict=True)
    table = pa.table({name: pa.array([row[place] for row in rows], kind) for place, (name, kind) in enumerate(columns)})
    engine.register("given", table)
    engine.execute("CREATE TABLE origins AS SELECT * FROM given")
    engine.unregister("given")
    return engine


def run(engine: duckdb.DuckDBPyConnection, files: list[str], grid: Grid) -> None:
    """Makes the table `cells`."""
    listed = ", ".join(map(definition.quoted, files))
    engine.execute(f"CREATE OR REPLACE TEMP VIEW fences AS SELECT * FROM read_parquet([{listed}], hive_partitioning = true)"
                   f" WHERE {grid.condition}")
    engine.execute("CREATE OR REPLACE TEMP VIEW pings AS SELECT *, unnest(bins) AS bin, unnest(counts) AS count FROM fences")
    for statement in definition.statements(grid):
        engine.execute(statement.replace("CREATE OR REPLACE TEMP VIEW", "CREATE OR REPLACE TEMP TABLE", 1))
    for name in ("passes", "device_days", "clusters", "totals", "bins", "ping_ranks"):
        engine.execute(f"DROP TABLE {name}")
