"""Reads GeoPackages of `coverage-probe export` as Arrow."""

import contextlib
import pathlib
import urllib.parse
from collections.abc import Iterator
from typing import Any

import adbc_driver_sqlite.dbapi as sqlite
import pyarrow as pa

from fleetmap.errors import FleetError
from fleetmap.export_table import Statement

BATCH = 50_000
# The columns of the view `entered`, with a value of each one's type. The driver takes a column's type from the first rows, where all may be NULL.
TYPES = {
    "fid": str(-2**63 + 1), "geom": "x''", "session": "0", "link": "''", "entered_at": "''", "exited_at": "''", "pings": "0", "pings_ok": "0",
    "avg_ping_ms": "0.5", "delay_bins": "''", "quarantined": "0", "submittable": "0", "technology": "''", "operator": "''", "distance_m": "0.5",
    "signal": "0.5", "target": "''",
}
# The signal of LTE (in 5G non-standalone of the anchor), else of 5G, UMTS and GSM.
SIGNAL = "COALESCE(rsrp_median_dbm, nr_rsrp_median_dbm, rscp_median_dbm, rssi_median_dbm)"


class GeoPackage:
    """A GeoPackage that is open. Its fences are the view `entered`."""

    place = ("geom",)

    def __init__(self, path: pathlib.Path):
        self.path = path
        self.stack = contextlib.ExitStack()
        self.database = self.stack.enter_context(sqlite.connect(f"file:{urllib.parse.quote(str(path))}?mode=ro"))
        names = {row["name"] for row in self.rows("SELECT name FROM pragma_table_info('fence_centres')")}
        if not names:
            raise FleetError(f"{path} is no GeoPackage of coverage-probe export")
        listed = (SIGNAL + " AS signal" if name == "signal" else name if name in names else f"NULL AS {name}" for name in TYPES)
        self.rows(f"CREATE TEMP VIEW entered AS SELECT {', '.join(listed)}, drive, clock, store_id FROM fence_centres")

    def close(self) -> None:
        self.stack.close()

    def statement(self) -> Statement:
        if not self.rows("SELECT 1 FROM sqlite_master WHERE name = 'export'"):
            raise FleetError(f"{self.path} does not state its store: export with 0.1.0 or later")
        [row] = self.rows("SELECT store_id AS store, exported_at, last_fence, from_time, to_time, state, filtered FROM export")
        return Statement(**row)

    def rows(self, query: str) -> list[dict[str, Any]]:
        """A small result."""
        with self.database.cursor() as cursor:
            cursor.execute(query)
            found: list[dict[str, Any]] = cursor.fetch_arrow_table().to_pylist()
        return found

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The fences, in order of their numbers."""
        typed = ", ".join(f"{value} AS {name}" for name, value in TYPES.items())
        with self.database.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(BATCH)})
            cursor.execute(f"SELECT {typed} UNION ALL SELECT {', '.join(TYPES)} FROM entered ORDER BY fid")
            skipped = 1
            for batch in cursor.fetch_record_batch():
                yield batch.slice(skipped)
                skipped = 0
