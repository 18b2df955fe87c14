"""Reads CSV and JSON Lines of `coverage-probe export` as Arrow."""

import pathlib
import re
from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa

from fleetmap.definition import quoted
from fleetmap.errors import FleetError
from fleetmap.export_table import Statement

BATCH = 50_000
KINDS = {
    "session": "BIGINT", "link": "TEXT", "entered_at": "TEXT", "exited_at": "TEXT", "pings": "BIGINT", "pings_ok": "BIGINT", "avg_ping_ms": "DOUBLE",
    "delay_bins": "TEXT", "quarantined": "BOOLEAN", "submittable": "BOOLEAN", "technology": "TEXT", "operator": "TEXT", "distance_m": "DOUBLE",
    "target": "TEXT", "drive": "BIGINT", "clock": "TEXT", "store_id": "TEXT", "latitude": "DOUBLE", "longitude": "DOUBLE",
}
# As of a GeoPackage; see there.
SIGNALS = ("rsrp_median_dbm", "nr_rsrp_median_dbm", "rscp_median_dbm", "rssi_median_dbm")
TIMES = "epoch_ms(TRY_CAST({} AS TIMESTAMP))"
# What the program writes before a text that a spreadsheet would run (docs/export.md).
GUARD = "'''+[=+\\-@\\t\\r\\n＝＋－＠]'"  # noqa: RUF001


class TextExport:
    """A file that is open. Its fences are the view `entered`.

    It does not state what it has. So it counts as all of its store's fences from the beginning of its first one to that of its last one, made when
    its last one ended.
    """

    place = ("latitude", "longitude")

    def __init__(self, path: pathlib.Path, memory: str):
        self.path = path
        names = ("id", *KINDS, *SIGNALS)
        # DuckDB takes a name for a pattern, of which another file may be the first match.
        file = quoted(re.sub(r"([\[*?])", r"[\1]", str(path)))
        self.engine = duckdb.connect(config={"memory_limit": memory, "threads": 2})
        self.engine.execute("CREATE MACRO iso(ms) AS strftime(make_timestamp(ms * 1000), '%Y-%m-%dT%H:%M:%S.%gZ')")
        if path.suffix == ".csv":
            source = f"read_csv({file}, header = true, delim = ',', quote = '\"', escape = '\"', all_varchar = true, hive_partitioning = false)"
            present = {row[0] for row in self.engine.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
        else:
            source = f"read_ndjson({file}, columns = {{{', '.join(f'{name}: VARCHAR' for name in names)}}}, hive_partitioning = false)"
            present = set(names)
        if not {"session", "store_id", "latitude"} <= present:
            raise FleetError(f"{path} is no export of fences by coverage-probe 0.1.0 or later")
        self.engine.execute("CREATE VIEW given AS SELECT " + ", ".join(f'"{name}"' if name in present else f"NULL AS {name}" for name in names)
                            + f" FROM {source}")
        columns = ", ".join(f"{self._value(name, kind)} AS {name}" for name, kind in KINDS.items())
        signal = ", ".join(f"TRY_CAST({name} AS DOUBLE)" for name in SIGNALS)
        self.engine.execute(f"CREATE VIEW entered AS SELECT TRY_CAST(id AS BIGINT) AS fid, {columns}, COALESCE({signal}) AS signal FROM given")

    def _value(self, name: str, kind: str) -> str:
        if kind != "TEXT":
            return f"TRY_CAST({name} AS {kind})" + ("::BIGINT" if kind == "BOOLEAN" else "")
        return f"CASE WHEN regexp_matches({name}, '^' || {GUARD}) THEN {name}[2:] ELSE {name} END" if self.path.suffix == ".csv" else name

    def close(self) -> None:
        self.engine.close()

    def statement(self) -> Statement:
        begins, ends = TIMES.format("entered_at"), TIMES.format("exited_at")
        [row] = self.rows(f"""
            SELECT MIN(store_id) AS store, iso(MAX({ends})) AS exported_at, MAX(TRY_CAST(id AS BIGINT)) AS last_fence,
              iso(MIN({begins})) AS from_time, iso(MAX({begins}) + 1) AS to_time FROM given""")
        if row["store"] is None or row["from_time"] is None or row["exported_at"] is None:
            raise FleetError(f"{self.path} has no fences of a store")
        if self.rows("SELECT 1 FROM entered WHERE fid IS NULL LIMIT 1"):
            raise FleetError(f"{self.path} has fences without a number: export with 0.1.0 or later")
        return Statement(**row, state="all", filtered=False)

    def rows(self, query: str) -> list[dict[str, Any]]:
        """A small result."""
        found: list[dict[str, Any]] = self.engine.sql(query).to_arrow_table().to_pylist()
        return found

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The fences, in order of their numbers."""
        yield from self.engine.sql("SELECT * FROM entered ORDER BY fid").to_arrow_reader(BATCH)
