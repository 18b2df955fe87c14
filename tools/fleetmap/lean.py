"""A batch of an export's fences as rows of the data set: checked, cut, with cells instead of coordinates."""

import collections
import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fleetmap import checks, places, reading
from fleetmap.manifest import Session

SCHEMA = pa.schema([
    *((f"h{resolution}", pa.int64()) for resolution in reversed(places.RESOLUTIONS)),
    ("square", pa.int64()),  # of 100 m, EPSG:3035
    ("origin", pa.int64()),  # the manifest's session of an export
    ("id", pa.int64()),  # number of the fence in its store
    ("time", pa.int32()),  # of its beginning: ms since the day began, UTC
    ("technology", pa.string()),
    ("operator", pa.string()),
    ("pings", pa.int32()),
    ("answered", pa.int32()),
    ("measured", pa.bool_()),  # docs/algorithm.md, section 1
    ("delay", pa.int64()),  # mean round trip in whole microseconds
    ("distance", pa.int32()),  # from the fence before, in decimetres
    ("signal", pa.int16()),  # dBm
    ("bins", pa.list_(pa.int16())),
    ("counts", pa.list_(pa.int32())),
])
STAGED = SCHEMA.append(pa.field("day", pa.int32()))


@dataclasses.dataclass(frozen=True)
class Settings:
    """What is left out on entry, for the whole data set."""

    cut_m: float
    zones: list[places.Zone]


@dataclasses.dataclass
class Reader:
    """Turns the batches of one export into rows, and counts what is left out."""

    sha256: str
    exported_at: int
    sessions: dict[reading.Key, Session]
    ends: dict[reading.Key, list[tuple[float, float]]]
    settings: Settings
    left_out: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    latest: dict[int, int] = dataclasses.field(default_factory=dict)

    def rows(self, columns: list[tuple[Any, ...]]) -> pa.Table:
        """The rows of a batch; counts the days of the sessions."""
        keys = list(self.sessions)
        index = {key: number for number, key in enumerate(keys)}
        session = np.array([index[key] for key in zip(columns[2], columns[3], strict=True)], np.int64)
        longitude, latitude = reading.places(list(columns[1]))
        entered, exited = (reading.milliseconds(list(columns[place])) for place in (4, 5))
        pings, answered = (_integers(columns[place], -1) for place in (6, 7))
        delay = _floats(columns[8])
        bins, counts, binned = reading.histograms(list(columns[9]), answered)
        quarantined = np.array([bool(value) for value in columns[10]])
        number = np.array(columns[0], np.int64)
        fences = checks.Fences(number, session, latitude, longitude, entered, exited, pings, answered, delay, binned, quarantined)
        good = np.ones(number.shape, np.bool_)
        for name, mask in checks.refusals(fences, self.exported_at, self.latest).items():
            self._leave_out(name, mask, good)
        if self.settings.zones:
            self._leave_out("in a zone", good & places.in_zones(latitude, longitude, self.settings.zones), good)
        if self.settings.cut_m > 0:
            self._leave_out("start or end of a drive", good & self._near_ends(keys, session, latitude, longitude), good)
        chosen = np.flatnonzero(good)
        latitude, longitude, day = latitude[chosen], longitude[chosen], reading.days_of(entered[chosen])
        for place, name, count in _counted(session[chosen], day):
            self.sessions[keys[place]].days[name] += count
        origins = np.array([entry.origin(self.sha256) for entry in self.sessions.values()], np.int64)
        measured = (pings > 0) & ((answered > 0) | np.array([value != 0 for value in columns[11]]))
        lists = pa.table({"bins": bins, "counts": counts}).take(chosen)
        texts = pa.table({"technology": pa.array(columns[12], pa.string()), "operator": pa.array(columns[13], pa.string())}).take(chosen)
        arrays = [
            *(places.cells(latitude, longitude, resolution) for resolution in reversed(places.RESOLUTIONS)),
            places.squares(latitude, longitude), origins[session[chosen]], number[chosen],
            (entered[chosen] - day * checks.DAY_MS).astype(np.int32), texts["technology"], texts["operator"],
            pings[chosen].astype(np.int32), answered[chosen].astype(np.int32), measured[chosen],
            _rounded(np.where(answered > 0, delay * 1000, np.nan)[chosen], pa.int64()),
            _rounded(_floats(columns[14])[chosen] * 10, pa.int32()), _rounded(_floats(columns[15])[chosen], pa.int16()),
            lists["bins"], lists["counts"], day.astype(np.int32),
        ]
        return pa.Table.from_arrays([pa.chunked_array([array]) if not isinstance(array, pa.ChunkedArray) else array for array in arrays],
                                    schema=STAGED)

    def _leave_out(self, name: str, mask: npt.NDArray[np.bool_], good: npt.NDArray[np.bool_]) -> None:
        self.left_out[name] += int(np.count_nonzero(mask))
        good &= ~mask

    def _near_ends(self, keys: list[reading.Key], session: places.Integers, latitude: places.Floats,
                   longitude: places.Floats) -> npt.NDArray[np.bool_]:
        """Whether a fence is near the place where its session begins or ends."""
        near = np.zeros(session.shape, np.bool_)
        for place in (0, -1):
            ends = np.array([self.ends[key][place] for key in keys])[session]
            near |= places.distances(latitude, longitude, ends[:, 0], ends[:, 1]) < self.settings.cut_m
        return near


def _integers(values: tuple[Any, ...], unknown: int) -> npt.NDArray[np.int64]:
    return np.asarray(pa.array(values, pa.int64()).fill_null(unknown).to_numpy(zero_copy_only=False))


def _floats(values: tuple[Any, ...]) -> npt.NDArray[np.float64]:
    return np.array(values, np.float64)


def _rounded(values: npt.NDArray[np.float64], kind: pa.DataType) -> pa.Array:
    """Whole numbers, halves to even; null for NaN and for what the type cannot have."""
    whole = np.rint(values)
    limit = 2.0 ** (kind.bit_width - 1) if kind.bit_width < 64 else 2.0**53
    unknown = ~(np.abs(whole) < limit)
    return pa.array(np.where(unknown, 0, whole).astype(np.int64), mask=unknown).cast(kind)


def _counted(session: places.Integers, day: places.Integers) -> list[tuple[int, str, int]]:
    pairs, counts = np.unique(np.stack([session, day]), axis=1, return_counts=True)
    return [(int(place), reading.day_name(number), int(count)) for place, number, count in zip(*pairs.tolist(), counts.tolist(), strict=True)]
