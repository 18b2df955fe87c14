"""A batch of an export's fences as rows of the data set: checked, cut, with cells instead of coordinates."""

import collections
import dataclasses

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as compute

from fleetmap import checks, lattice, places, reading
from fleetmap.manifest import Session

SCHEMA = pa.schema([
    *((f"h{resolution}", pa.int64()) for resolution in reversed(lattice.RESOLUTIONS)),
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
    ("bins", pa.list_(pa.int32())),  # bins.packed: of its pings' delays
])
STAGED = SCHEMA.append(pa.field("day", pa.int32()))


@dataclasses.dataclass(frozen=True)
class Settings:
    """What is left out on entry, for the whole data set."""

    cut_m: float
    zones: list[places.Zone]
    target: str | None = None  # only fences that were measured against this host; None: those of a control server


@dataclasses.dataclass
class Reader:
    """Turns the batches of one export into rows, and counts what is left out."""

    sha256: str
    exported_at: int
    sessions: dict[reading.Key, Session]
    ends: dict[reading.Key, list[tuple[float, float]]]
    settings: Settings
    left_out: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    begins: dict[int, int] = dataclasses.field(default_factory=dict)  # when the first good fence of each session began
    latest: dict[int, int] = dataclasses.field(default_factory=dict)  # and the last one

    def rows(self, batch: pa.RecordBatch) -> pa.Table:
        """The rows of a batch; counts the days of the sessions."""
        keys = list(self.sessions)
        session = self._places(batch)
        latitude, longitude = reading.places_of(batch)
        entered, exited = reading.milliseconds(batch["entered_at"]), reading.milliseconds(batch["exited_at"])
        pings, answered, number = (reading.integers(batch[name], -1) for name in ("pings", "pings_ok", "fid"))
        delay = reading.floats(batch["avg_ping_ms"])
        bins, binned = reading.histograms(reading.texts(batch["delay_bins"]), answered)
        quarantined = reading.integers(batch["quarantined"], 0) != 0
        self._add_numbers(keys, session, number, entered)
        fences = checks.Fences(number, session, latitude, longitude, entered, exited, pings, answered, delay, binned, quarantined)
        good = np.ones(number.shape, np.bool_)
        for name, mask in checks.refusals(fences, self.exported_at, self.begins).items():
            self._leave_out(name, mask, good)
        target = reading.texts(batch["target"]).fill_null("")
        self._leave_out("another target", good & ~np.asarray(compute.equal(target, self.settings.target or "")), good)
        if self.settings.zones:
            self._leave_out("in a zone", good & places.in_zones(latitude, longitude, self.settings.zones), good)
        if self.settings.cut_m > 0:
            self._leave_out("start or end of a drive", good & self._near_ends(keys, session, latitude, longitude), good)
        chosen = np.flatnonzero(good)
        latitude, longitude, day = latitude[chosen], longitude[chosen], reading.days_of(entered[chosen])
        for place, name, count in _counted(session[chosen], day):
            self.sessions[keys[place]].days[name] += count
        origins = np.array([self.sessions[key].origin(self.sha256) for key in keys], np.int64)
        measured = (pings > 0) & ((answered > 0) | (reading.integers(batch["submittable"], 1) != 0))
        taken = pa.table({"technology": reading.texts(batch["technology"]), "operator": reading.texts(batch["operator"]), "bins": bins}).take(chosen)
        columns = [
            *lattice.cells_of_track(latitude, longitude, reversed(lattice.RESOLUTIONS)),
            places.squares(latitude, longitude), origins[session[chosen]], number[chosen],
            (entered[chosen] - day * checks.DAY_MS).astype(np.int32), taken["technology"], taken["operator"],
            pings[chosen].astype(np.int32), answered[chosen].astype(np.int32), measured[chosen],
            _rounded(np.where(answered > 0, delay * 1000, np.nan)[chosen], pa.int64()),
            _rounded(reading.floats(batch["distance_m"])[chosen] * 10, pa.int32()),
            _rounded(reading.floats(batch["signal"])[chosen], pa.int16()), taken["bins"], day.astype(np.int32),
        ]
        return pa.Table.from_arrays(columns, schema=STAGED)

    def _places(self, batch: pa.RecordBatch) -> places.Integers:
        """Each row's session, as its place in the export's sessions: the same one in every batch."""
        links = reading.texts(batch["link"]).dictionary_encode()
        names = [*links.dictionary.to_pylist(), None]
        pairs = reading.integers(batch["session"], 0) * len(names) + reading.integers(links.indices, len(names) - 1)
        found, rows = np.unique(pairs, return_inverse=True)
        index = {key: place for place, key in enumerate(self.sessions)}
        return np.array([index[pair // len(names), names[pair % len(names)]] for pair in found.tolist()], np.int64)[rows]

    def _add_numbers(self, keys: list[reading.Key], session: places.Integers, number: places.Integers, entered: places.Integers) -> None:
        """Adds fences, in order of their numbers, to their sessions' ranges: where time goes back, another one begins."""
        for place in np.unique(session).tolist():
            rows = np.flatnonzero(session == place)
            times, ranges = entered[rows], self.sessions[keys[place]].numbers
            back = np.flatnonzero(times < np.concatenate([[self.latest.get(place, checks.NO_TIME)], times[:-1]]))
            pieces = [[int(piece[0]), int(piece[-1])] for piece in np.split(number[rows], back) if piece.size]
            if ranges and (back.size == 0 or back[0] > 0):
                ranges[-1][1] = pieces.pop(0)[1]
            ranges += pieces
            self.latest[place] = int(times[-1])

    def _leave_out(self, name: str, mask: npt.NDArray[np.bool_], good: npt.NDArray[np.bool_]) -> None:
        self.left_out[name] += int(np.count_nonzero(mask))
        good &= ~mask

    def _near_ends(self, keys: list[reading.Key], session: places.Integers, latitude: places.Floats,
                   longitude: places.Floats) -> npt.NDArray[np.bool_]:
        """Whether a fence is near the place where its session begins or ends."""
        near = np.zeros(session.shape, np.bool_)
        for place in range(4):
            ends = np.array([self.ends[key][place] for key in keys])[session]
            near |= places.distances(latitude, longitude, ends[:, 0], ends[:, 1]) < self.settings.cut_m
        return near


def _rounded(values: npt.NDArray[np.float64], kind: pa.DataType) -> pa.Array:
    """Whole numbers, halves to even; null for NaN and for what the type cannot have."""
    whole = np.rint(values)
    limit = 2.0 ** (kind.bit_width - 1) if kind.bit_width < 64 else 2.0**53
    unknown = ~(np.abs(whole) < limit)
    return pa.array(np.where(unknown, 0, whole).astype(np.int64), mask=unknown).cast(kind)


def _counted(session: places.Integers, day: places.Integers) -> list[tuple[int, str, int]]:
    """The fences of each session and day."""
    first = int(day.min(initial=0))
    span = int(day.max(initial=0)) - first + 1
    pairs, counts = np.unique(session * span + day - first, return_counts=True)
    return [(pair // span, reading.day_name(pair % span + first), count) for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True)]
