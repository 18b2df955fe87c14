"""Writes GeoPackages as `coverage-probe export --state all` does: the layer `fence_centres` with its columns, and what the export states.

The layers `fences` and `tracks`, R-trees and styles are left out: `add` does not read them.
"""

import dataclasses
import pathlib
import sqlite3
import struct
from collections.abc import Iterable, Sequence

from fleetmap import export_table
from fleetmap.export_table import Statement

Value = str | int | float | bytes | None

WRITTEN = (
    "fid", "geom", "session", "entered_at", "exited_at", "radius_m", "distance_m", "pings", "pings_ok", "avg_ping_ms", "technology",
    "technology_id", "duration_ms", "submittable", "accuracy_m", "speed_mps", "pings_lost", "pings_unsent", "min_ping_ms", "p50_ping_ms",
    "p95_ping_ms", "max_ping_ms", "rsrp_median_dbm", "operator", "operator_name", "store_id", "drive", "clock", "quarantined", "delay_bins",
    "link",
)

TABLES = """
PRAGMA application_id = 1196444487; PRAGMA user_version = 10300; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL,
  organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
INSERT INTO gpkg_spatial_ref_sys VALUES ('Undefined Cartesian', -1, 'NONE', -1, 'undefined', NULL),
  ('Undefined geographic', 0, 'NONE', 0, 'undefined', NULL),
  ('WGS 84 geodetic', 4326, 'EPSG', 4326, 'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],'
    || 'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]', NULL);
CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE, description TEXT,
  last_change DATETIME NOT NULL, min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER);
CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL PRIMARY KEY, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL,
  srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL);
"""


def layer(name: str, geometry: str, fields: Iterable[tuple[str, str]]) -> str:
    listed = "".join(f', "{field}" {kind}' for field, kind in fields)
    return f'CREATE TABLE "{name}" (fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, geom {geometry}{listed})'


def describe(database: sqlite3.Connection, name: str, geometry: str, changed_at: str) -> None:
    """Enters a layer in the package's contents."""
    database.execute("INSERT INTO gpkg_contents VALUES (?, 'features', ?, '', ?, NULL, NULL, NULL, NULL, 4326)", (name, name, changed_at))
    database.execute("INSERT INTO gpkg_geometry_columns VALUES (?, 'geom', ?, 4326, 0, 0)", (name, geometry))


def point(longitude: float, latitude: float) -> bytes:
    """A point as a blob of GeoPackage (OGC 12-128r17, 2.1.3), little-endian and without an envelope."""
    return struct.pack("<2sBBIBIdd", b"GP", 0, 1, 4326, 1, 1, longitude, latitude)


def write(path: pathlib.Path, statement: Statement, rows: Iterable[Sequence[Value]]) -> None:
    """Writes an export; each row has the values of `WRITTEN`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.executescript(TABLES)
    database.execute(layer("fence_centres", "POINT", export_table.columns().items()))
    describe(database, "fence_centres", "POINT", statement.exported_at)
    database.execute(export_table.STATEMENT)
    database.execute("INSERT INTO gpkg_contents VALUES ('export', 'attributes', 'export', '', ?, NULL, NULL, NULL, NULL, NULL)",
                     (statement.exported_at,))
    database.execute("INSERT INTO export VALUES (?, ?, ?, ?, ?, ?, ?)", dataclasses.astuple(statement))
    marks = ", ".join("?" * len(WRITTEN))
    database.executemany(f"INSERT INTO fence_centres ({', '.join(WRITTEN)}) VALUES ({marks})", rows)
    database.commit()
    database.close()
