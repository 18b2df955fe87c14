"""An export of `coverage-probe export`: what it states, its sessions, and its fences in batches; and values of batches as numbers."""

import collections
import hashlib
import io
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.csv

from fleetmap import bins
from fleetmap.checks import DAY_MS, NO_TIME
from fleetmap.errors import FleetError
from fleetmap.geopackage import GeoPackage
from fleetmap.manifest import Session
from fleetmap.text_export import TextExport

FORMATS = (".gpkg", ".csv", ".jsonl", ".ndjson")
DIGITS = 7  # of degrees, as texts have them, so that a fence is at the same place in every format
POINT_BYTES = 29
POINT = np.dtype([("magic", "V3"), ("flags", "u1"), ("rest", "V9"), ("x", "<f8"), ("y", "<f8")])
SESSIONS = """
SELECT session, link, operator, COUNT(*) AS fences, MIN(drive) AS drive, MIN(clock) AS clock,
  MIN(COALESCE(entered_at, '')) AS begins, MAX(COALESCE(entered_at, '')) AS ends,
  MIN(fid) AS lowest, MAX(fid) AS highest, MAX(quarantined) AS quarantined,
  MIN(store_id) AS store, MAX(store_id) AS other_store
FROM entered GROUP BY session, link, operator
"""
Key = tuple[int, str | None]
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def sha256(path: pathlib.Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Export:
    """An export that is open, with what it states and its sessions. Raises FleetError when it cannot enter a data set."""

    def __init__(self, path: pathlib.Path, memory: str):
        self.path = path
        if path.suffix not in FORMATS:
            raise FleetError(f"{path} is none of {', '.join(FORMATS)}")
        self.file = GeoPackage(path) if path.suffix == ".gpkg" else TextExport(path, memory)
        self.statement = self.file.statement()
        if self.statement.filtered:
            raise FleetError(f"{path} lacks fences on purpose: export without --session, --bbox, --technology and --link")
        if self.statement.state == "pending":
            raise FleetError(f"{path} has only fences that wait: export with --state all")
        self.sessions, self.ends = self._sessions()

    def close(self) -> None:
        self.file.close()

    def _sessions(self) -> tuple[dict[Key, Session], dict[Key, list[tuple[float, float]]]]:
        """The sessions, without days and numbers; and the places of their first and last fences, by time, then by number: a fence recovered
        from a drive log can have a number behind later ones, and one of a wrong clock a time before earlier ones.
        """
        groups: dict[Key, list[dict[str, Any]]] = collections.defaultdict(list)
        for row in self.file.rows(SESSIONS):
            if not row["store"] == row["other_store"] == self.statement.store:
                raise FleetError(f"{self.path}: session {row['session']} is of {row['store']}, not of {self.statement.store}: expected one store")
            groups[row["session"], row["link"]].append(row)
        pairs = (("begins", "ends"), ("lowest", "highest"))
        bounds = {key: [(min(row[least] for row in rows), max(row[most] for row in rows)) for least, most in pairs]
                  for key, rows in groups.items()}
        places = self._places(bounds)
        found: dict[Key, Session] = {}
        for key, rows in sorted(groups.items(), key=lambda item: (item[0][0], item[0][1] or "")):
            first, place = places[key][0]
            named = sorted((-row["fences"], row["operator"]) for row in rows if row["operator"] is not None)
            drive, clock = (min((row[name] for row in rows if row[name] is not None), default=None) for name in ("drive", "clock"))
            digest = hashlib.sha256("{:.7f} {:.7f}".format(*place).encode()).hexdigest()[:4]
            found[key] = Session(*key, drive, clock, named[0][1] if named else None, first, [], any(row["quarantined"] for row in rows), digest,
                                 collections.Counter())
        return found, {key: [place for _, place in (ends[0], ends[-1], min(ends), max(ends))] for key, ends in places.items()}

    def _places(self, bounds: dict[Key, list[tuple[Any, Any]]]) -> dict[Key, list[tuple[int, tuple[float, float]]]]:
        """Numbers, latitudes and longitudes of the fences at the bounds of each session, in the order of time."""
        found: dict[Key, list[tuple[int, tuple[float, float]]]] = collections.defaultdict(list)
        if not bounds:
            return found
        times = ", ".join("'" + time.replace("'", "''") + "'" for time in sorted({time for times, _ in bounds.values() for time in times}))
        numbers = ", ".join(str(number) for number in sorted({number for _, numbers in bounds.values() for number in numbers}))
        rows = self.file.rows(f"SELECT fid, session, link, COALESCE(entered_at, '') AS time, {', '.join(self.file.place)} FROM entered"
                              f" WHERE COALESCE(entered_at, '') IN ({times}) OR fid IN ({numbers}) ORDER BY time, fid")
        latitudes, longitudes = places_of(pa.Table.from_pylist(rows))
        for row, latitude, longitude in zip(rows, latitudes.tolist(), longitudes.tolist(), strict=True):
            key = row["session"], row["link"]
            if row["time"] in bounds[key][0] or row["fid"] in bounds[key][1]:
                found[key].append((row["fid"], (latitude, longitude)))
        return found

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The fences, some at a time."""
        for batch in self.file.batches():
            batch.validate(full=True)
            if batch.num_rows:
                yield batch


def integers(column: pa.Array, unknown: int) -> Integers:
    return np.asarray(column.cast(pa.int64()).fill_null(unknown).to_numpy(zero_copy_only=False))


def floats(column: pa.Array) -> Floats:
    """Unknown values are NaN."""
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))


def texts(column: pa.Array) -> pa.Array:
    return column.cast(pa.string())


def places_of(batch: pa.RecordBatch | pa.Table) -> tuple[Floats, Floats]:
    """Latitudes and longitudes, of points as GeoPackage has them or of columns; NaN for what is no place."""
    if "geom" not in batch.schema.names:
        return np.round(floats(batch["latitude"]), DIGITS), np.round(floats(batch["longitude"]), DIGITS)
    blobs = batch["geom"].combine_chunks() if isinstance(batch, pa.Table) else batch["geom"]
    is_good = compute.equal(compute.binary_length(blobs), POINT_BYTES).fill_null(False)
    filled = compute.if_else(is_good, blobs, b"\0" * POINT_BYTES)
    points = np.frombuffer(filled.buffers()[2], POINT, len(filled), filled.offset * POINT_BYTES)
    is_point = (points["flags"] & 1) == 1
    latitudes, longitudes = (np.where(is_point, points[name], np.nan).astype(np.float64) for name in ("y", "x"))
    return np.round(latitudes, DIGITS), np.round(longitudes, DIGITS)


def milliseconds(column: pa.Array) -> Integers:
    """Times in ms since the epoch; `NO_TIME` for what is none."""
    kind = pa.timestamp("ms", "UTC")
    try:
        times = texts(column).cast(kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        times = pa.array([_time(text) for text in texts(column).to_pylist()], kind)
    return integers(times, NO_TIME)


def _time(text: str | None) -> Any:
    try:
        return pa.scalar(text, pa.string()).cast(pa.timestamp("ms", "UTC")).as_py()
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None


def histograms(column: pa.Array, answered: Integers) -> tuple[pa.Array, Integers]:
    """Lists of packed bins, null without a histogram, and the pings of each: -1 where it cannot be read."""
    try:
        return _histograms(column, answered)
    except (pa.ArrowInvalid, ValueError):
        bad = [not _is_readable(text) for text in column.to_pylist()]
        lists, binned = _histograms(compute.if_else(pa.array(bad), None, column), answered)
        return lists, np.where(bad, -1, binned)


def _histograms(column: pa.Array, answered: Integers) -> tuple[pa.Array, Integers]:
    sizes = integers(compute.count_substring(column, "="), 0)
    if not sizes.any():
        return pa.nulls(len(column), pa.list_(pa.int32())), answered
    known = column.drop_null()
    joined = compute.binary_join(pa.ListArray.from_arrays(pa.array([0, len(known)], pa.int32()), known), " ")[0].as_buffer()
    table = pa.csv.read_csv(
        io.BytesIO(joined.to_pybytes().replace(b" ", b"\n")), pa.csv.ReadOptions(column_names=["bin", "count"], use_threads=False),
        pa.csv.ParseOptions(delimiter="="), pa.csv.ConvertOptions(column_types={"bin": pa.int16(), "count": pa.int32()}))
    numbers, counts = (integers(table[name].combine_chunks(), -1) for name in ("bin", "count"))
    if len(numbers) != sizes.sum() or numbers.min() < 0 or counts.min() < 1:
        raise ValueError("not pairs of whole numbers")
    ends = np.concatenate([[0], np.cumsum(sizes)])
    totals = np.concatenate([[0], np.cumsum(counts)])
    binned = np.where(sizes > 0, totals[ends[1:]] - totals[ends[:-1]], answered)
    numbers, ends = bins.packed(numbers, counts, ends)
    offsets = pa.array(ends, pa.int32(), mask=np.append(sizes == 0, False))
    return pa.ListArray.from_arrays(offsets, pa.array(numbers, pa.int32())), binned


def _is_readable(text: str | None) -> bool:
    try:
        pairs = [tuple(map(int, pair.split("="))) for pair in (text or "").split()]
        return all(len(pair) == 2 and 0 <= pair[0] < 2**15 and 0 < pair[1] < 2**31 for pair in pairs)
    except ValueError:
        return False


def day_name(number: int) -> str:
    """The date of a day since the epoch."""
    return str(np.datetime64(number, "D"))


def day_begins(name: str) -> int:
    """When a day begins, in ms since the epoch."""
    return int(np.datetime64(name, "ms").astype(np.int64))


def days_of(times: Integers) -> Integers:
    return times // DAY_MS
