"""The map as files: CSV, GeoParquet 1.1 and GeoPackage. Each is written under another name and renamed when it is complete."""

import contextlib
import json
import pathlib
import sqlite3
import struct
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from fleetmap import export_writing, geometry
from fleetmap.errors import FleetError

# What each published column is; docs/fleet.md has the formulas.
COLUMNS = {
    "period": "TEXT", "cell": "TEXT", "operator": "TEXT", "technology": "TEXT", "fences": "INTEGER", "measured": "INTEGER", "without": "INTEGER",
    "pings": "INTEGER", "answered": "INTEGER", "devices": "INTEGER", "drives": "INTEGER", "device_days": "INTEGER", "metres": "REAL",
    "share": "REAL", "low": "REAL", "high": "REAL", "effective": "REAL", "share_by_way": "REAL", "share_by_device_day": "REAL", "loss": "REAL",
    "fence_p5_us": "INTEGER", "fence_p50_us": "INTEGER", "fence_p95_us": "INTEGER", "fence_p99_us": "INTEGER", "binned": "INTEGER",
    "ping_p5_us": "INTEGER", "ping_p50_us": "INTEGER", "ping_p95_us": "INTEGER", "ping_p99_us": "INTEGER", "signal_dbm": "INTEGER",
}
KINDS = {"TEXT": pa.string(), "INTEGER": pa.int64(), "REAL": pa.float64()}
ROW_GROUP = 10_000


@contextlib.contextmanager
def replacing(path: pathlib.Path) -> Iterator[pathlib.Path]:
    if path.is_dir():
        raise FleetError(f"{path} is a folder, where the map's file is needed: remove it, or name another folder for the map")
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)
    yield partial
    partial.replace(path)


def schema() -> pa.Schema:
    return pa.schema([(name, KINDS[kind]) for name, kind in COLUMNS.items()])


def write_csv(path: pathlib.Path, batches: Iterator[pa.RecordBatch]) -> None:
    with replacing(path) as partial, arrow_csv.CSVWriter(partial, schema()) as writer:
        for batch in batches:
            for name in ("operator", "technology"):
                texts = pa.array([_cell(text) for text in batch[name].to_pylist()], pa.string())
                batch = batch.set_column(batch.schema.get_field_index(name), name, texts)
            writer.write_batch(batch.cast(schema()))


def _cell(text: str) -> str:
    """A text that a spreadsheet does not run as a formula, as in exports (docs/export.md)."""
    return "'" + text if text.lstrip("'")[:1] in tuple("=+-@\t\r\n") else text


def write_parquet(path: pathlib.Path, batches: Iterator[pa.RecordBatch], outlines: dict[str, list[geometry.Ring]]) -> None:
    corners = [corner for rings in outlines.values() for ring in rings for corner in ring]
    box = [*map(min, zip(*corners, strict=True)), *map(max, zip(*corners, strict=True))] if corners else []
    column: dict[str, Any] = {"encoding": "WKB", "geometry_types": ["MultiPolygon"]} | ({"bbox": box} if box else {})
    geo = json.dumps({"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}})
    kind = schema().append(pa.field("geometry", pa.binary())).with_metadata({"geo": geo})
    shapes = {name: geometry.wkb(rings) for name, rings in outlines.items()}
    with replacing(path) as partial, parquet.ParquetWriter(partial, kind, compression="zstd") as writer:
        for batch in batches:
            arrays = [batch[name] for name in COLUMNS]
            arrays.append(pa.array([shapes[cell] for cell in batch["cell"].to_pylist()], pa.binary()))
            writer.write_table(pa.Table.from_arrays(arrays, schema=kind), row_group_size=ROW_GROUP)


def write_geopackage(path: pathlib.Path, batches: Iterator[pa.RecordBatch], outlines: dict[str, list[geometry.Ring]], made_at: str) -> None:
    header = struct.pack("<2sBBI", b"GP", 0, 1, 4326)
    shapes = {name: header + geometry.wkb(rings) for name, rings in outlines.items()}
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    marks = ", ".join("?" * (len(COLUMNS) + 1))
    place = list(COLUMNS).index("cell")
    with replacing(path) as partial:
        database = sqlite3.connect(partial)
        database.executescript(export_writing.TABLES)
        database.execute(export_writing.layer("cells", "MULTIPOLYGON", COLUMNS.items()))
        export_writing.describe(database, "cells", "MULTIPOLYGON", made_at)
        for batch in batches:
            rows = zip(*(batch[name].to_pylist() for name in COLUMNS), strict=True)
            database.executemany(f"INSERT INTO cells (geom, {names}) VALUES ({marks})", ((shapes[row[place]], *row) for row in rows))
        database.commit()
        database.close()
