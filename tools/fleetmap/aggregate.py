"""Runs the definition (map.sql) by DuckDB over files of a data set."""

import contextlib
import pathlib
from collections.abc import Iterator

import duckdb
import pyarrow as pa

from fleetmap import dataset, definition
from fleetmap.definition import Grid
from fleetmap.manifest import Manifest

VIEWS = ("labelled",)  # the rest are tables: several statements read them


@contextlib.contextmanager
def connect(manifest: Manifest, memory: str, spill: pathlib.Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with dataset.connect(memory, spill) as engine:
        _prepare(engine, manifest)
        yield engine


def _prepare(engine: duckdb.DuckDBPyConnection, manifest: Manifest) -> None:
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


def run(engine: duckdb.DuckDBPyConnection, files: list[str], grid: Grid) -> None:
    """Makes the table `cells`."""
    listed = ", ".join(map(definition.quoted, files))
    # The day is in the name of the file's folder. Hive partitioning would also take columns from the names of the folders above.
    end = len(pathlib.Path(files[0]).name) + 2
    engine.execute(f"CREATE OR REPLACE TEMP VIEW fences AS SELECT * EXCLUDE (filename), CAST(filename[-{end + 9}:-{end}] AS DATE) AS day"
                   f" FROM read_parquet([{listed}], hive_partitioning = false, filename = true) WHERE {grid.condition}")
    made = []
    for name, statement in definition.statements(grid).items():
        if name not in VIEWS:
            statement = statement.replace("CREATE OR REPLACE TEMP VIEW", "CREATE OR REPLACE TEMP TABLE", 1)
            made.append(name)
        engine.execute(statement)
    for name in made[:-1]:
        engine.execute(f"DROP TABLE {name}")
