"""Reads GeoPackages of `coverage-probe export`, in batches."""

import collections
import hashlib
import io
import pathlib
import sqlite3
import urllib.parse
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from fleetmap.checks import DAY_MS, NO_TIME
from fleetmap.errors import FleetError
from fleetmap.export_writing import Statement
from fleetmap.manifest import Session

BATCH = 50_000
POINT_BYTES = 29
NOWHERE = b"\0" * 13 + np.full(2, np.nan, "<f8").tobytes()
# The signal of LTE (in 5G non-standalone of the anchor), else of 5G, UMTS and GSM.
QUERY = """
SELECT fid, geom, session, link, entered_at, exited_at, pings, pings_ok, avg_ping_ms, delay_bins, quarantined, submittable, technology,
  operator, distance_m, COALESCE(rsrp_median_dbm, nr_rsrp_median_dbm, rscp_median_dbm, rssi_median_dbm)
FROM fence_centres ORDER BY fid
"""
SESSIONS = """
SELECT session, link, MIN(drive), MIN(clock), MIN(fid), MAX(fid), MAX(quarantined), COUNT(DISTINCT store_id), MIN(store_id)
FROM fence_centres GROUP BY session, link ORDER BY session, link
"""
OPERATORS = "SELECT session, link, operator, COUNT(*) FROM fence_centres WHERE operator IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 4 DESC, 3"
Key = tuple[int, str | None]


def sha256(path: pathlib.Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Export:
    """An export that is open, with what it states and its sessions. Raises FleetError when it cannot enter a data set."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self.database = sqlite3.connect(f"file:{urllib.parse.quote(str(path))}?mode=ro", uri=True)
        try:
            names = {row[1] for row in self.database.execute("PRAGMA table_info(fence_centres)")}
            if not names:
                raise FleetError(f"{path} is no GeoPackage of coverage-probe export")
            self.statement = self._statement()
            self.sessions, self.ends = self._sessions()
        except sqlite3.DatabaseError as error:
            raise FleetError(f"{path} cannot be read: {error}") from None
        if self.statement.filtered:
            raise FleetError(f"{path} lacks fences on purpose: export without --session, --bbox, --technology and --link")
        if self.statement.state == "pending":
            raise FleetError(f"{path} has only fences that wait: export with --state all")

    def close(self) -> None:
        self.database.close()

    def _sessions(self) -> tuple[dict[Key, Session], dict[Key, list[tuple[float, float]]]]:
        """The sessions, without days; and the places where each begins and ends."""
        operators: dict[Key, str] = {}
        for session, link, operator, _ in self.database.execute(OPERATORS):
            operators.setdefault((session, link), operator)
        found: dict[Key, Session] = {}
        ends: dict[Key, list[tuple[float, float]]] = {}
        for session, link, drive, clock, first, last, quarantined, stores, store in self.database.execute(SESSIONS).fetchall():
            if stores != 1 or store != self.statement.store:
                raise FleetError(f"{self.path}: session {session} is of {store}, the export of {self.statement.store}: expected one store")
            key = (session, link)
            blobs = [row[0] for row in self.database.execute("SELECT geom FROM fence_centres WHERE fid IN (?, ?) ORDER BY fid", (first, last))]
            longitudes, latitudes = places(blobs)
            ends[key] = list(zip(latitudes.tolist(), longitudes.tolist(), strict=True))
            place = hashlib.sha256(blobs[0] or b"").hexdigest()[:4]
            found[key] = Session(session, link, drive, clock, operators.get(key), first, last, bool(quarantined), place, collections.Counter())
        return found, ends

    def _statement(self) -> Statement:
        if not self.database.execute("SELECT 1 FROM sqlite_master WHERE name = 'export'").fetchone():
            raise FleetError(f"{self.path} does not state its store: export with 0.1.0 or later")
        row = self.database.execute("SELECT store_id, exported_at, last_fence, from_time, to_time, state, filtered FROM export").fetchone()
        return Statement(*row)

    def batches(self) -> Iterator[list[tuple[Any, ...]]]:
        """The columns of `QUERY`, for some fences at a time."""
        cursor = self.database.execute(QUERY)
        while rows := cursor.fetchmany(BATCH):
            yield list(zip(*rows, strict=True))


def places(blobs: list[bytes | None]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Longitudes and latitudes of points as GeoPackage has them; NaN for what is no such point."""
    good = [blob if blob is not None and len(blob) == POINT_BYTES and blob[3] & 1 else NOWHERE for blob in blobs]
    points = np.frombuffer(b"".join(good), np.dtype([("header", "V13"), ("x", "<f8"), ("y", "<f8")]))
    return points["x"].astype(np.float64), points["y"].astype(np.float64)


def milliseconds(texts: list[str | None]) -> npt.NDArray[np.int64]:
    """Times in ms since the epoch; `NO_TIME` for what is none."""
    kind = pa.timestamp("ms", "UTC")
    try:
        times = pa.array(texts, pa.string()).cast(kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        times = pa.array([_time(text) for text in texts], kind)
    return np.asarray(times.cast(pa.int64()).fill_null(NO_TIME).to_numpy(zero_copy_only=False))


def _time(text: Any) -> Any:
    try:
        return pa.scalar(text, pa.string()).cast(pa.timestamp("ms", "UTC")).as_py()
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None


def histograms(texts: list[str | None], answered: npt.NDArray[np.int64]) -> tuple[pa.Array, pa.Array, npt.NDArray[np.int64]]:
    """Lists of bins and of counts, null without a histogram, and the pings of each: -1 where it cannot be read."""
    try:
        return _histograms(texts, answered)
    except (pa.ArrowInvalid, ValueError):
        bad = [not _is_readable(text) for text in texts]
        cleaned = [None if is_bad else text for text, is_bad in zip(texts, bad, strict=True)]
        bins, counts, binned = _histograms(cleaned, answered)
        return bins, counts, np.where(bad, -1, binned)


def _histograms(texts: list[str | None], answered: npt.NDArray[np.int64]) -> tuple[pa.Array, pa.Array, npt.NDArray[np.int64]]:
    sizes = np.array([text.count("=") if text else 0 for text in texts], np.int64)
    offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int32(), mask=np.append(sizes == 0, False))
    joined = " ".join(text for text in texts if text).replace(" ", "\n").encode("ascii")
    if joined:
        table = pa.csv.read_csv(
            io.BytesIO(joined), pa.csv.ReadOptions(column_names=["bin", "count"], use_threads=False), pa.csv.ParseOptions(delimiter="="),
            pa.csv.ConvertOptions(column_types={"bin": pa.int16(), "count": pa.int32()}))
    else:
        table = pa.table({"bin": pa.array([], pa.int16()), "count": pa.array([], pa.int32())})
    if table.num_rows != sizes.sum() or table["count"].null_count or table["bin"].null_count:
        raise ValueError("not pairs of whole numbers")
    bins, counts = (table[name].combine_chunks() for name in ("bin", "count"))
    totals = np.concatenate([[0], np.cumsum(counts.to_numpy())])
    ends = np.concatenate([[0], np.cumsum(sizes)])
    binned = np.where(sizes > 0, totals[ends[1:]] - totals[ends[:-1]], answered)
    return pa.ListArray.from_arrays(offsets, bins), pa.ListArray.from_arrays(offsets, counts), binned


def _is_readable(text: str | None) -> bool:
    try:
        pairs = [tuple(map(int, pair.split("="))) for pair in (text or "").split()]
        return all(len(pair) == 2 and 0 <= pair[0] < 2**15 and 0 < pair[1] < 2**31 for pair in pairs)
    except (ValueError, AttributeError):
        return False


def day_name(number: int) -> str:
    """The date of a day since the epoch."""
    return str(np.datetime64(number, "D"))


def day_begins(name: str) -> int:
    """When a day begins, in ms since the epoch."""
    return int(np.datetime64(name, "ms").astype(np.int64))


def days_of(times: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return times // DAY_MS
