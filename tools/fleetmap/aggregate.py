"""Runs the definition (map.sql) by DuckDB over files of a data set."""

import pathlib

import duckdb
import pyarrow as pa

from fleetmap import definition
from fleetmap.definition import Grid
from fleetmap.manifest import Manifest

VIEWS = ("labelled",)  # the rest are tables: several statements read them


def connect(manifest: Manifest, memory: str, spill: pathlib.Path) -> duckdb.DuckDBPyConnection:
    engine = duckdb.connect(config={"memory_limit": memory, "temp_directory": str(spill), "threads": 2})
    engine.execute("SET preserve_insertion_order = false")
    engine.execute("CREATE MACRO element_at(list, place) AS list_extract(list, place)")
    engine.execute("CREATE MACRO array_size(list) AS len(list)")
    engine.execute("CREATE MACRO sort_array(list) AS list_sort(list)")
    engine.execute("SET lambda_syntax = 'ENABLE_SINGLE_ARROW'")  # as Spark has it
    engine.execute("CREATE MACRO reduce(list, start, step) AS list_reduce(list, step, start)")
    engine.execute("CREATE MACRO explode(list) AS unnest(list)")
    rows = definition.origins(manifest)
    table = pa.table({name: pa.array([row[place] for row in rows], pa.int64() if kind is int else pa.string())
                      for place, (name, kind) in enumerate(definition.ORIGIN.items())})
    engine.register("given", table)
    engine.execute("CREATE TABLE origins AS SELECT * FROM given")
    engine.unregister("given")
    return engine


def run(engine: duckdb.DuckDBPyConnection, files: list[str], grid: Grid) -> None:
    """Makes the table `cells`."""
    listed = ", ".join(map(definition.quoted, files))
    engine.execute(f"CREATE OR REPLACE TEMP VIEW fences AS SELECT * FROM read_parquet([{listed}], hive_partitioning = true)"
                   f" WHERE {grid.condition}")
    made = []
    for name, statement in definition.statements(grid).items():
        if name not in VIEWS:
            statement = statement.replace("CREATE OR REPLACE TEMP VIEW", "CREATE OR REPLACE TEMP TABLE", 1)
            made.append(name)
        engine.execute(statement)
    for name in made[:-1]:
        engine.execute(f"DROP TABLE {name}")
