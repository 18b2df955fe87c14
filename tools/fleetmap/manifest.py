"""What is in a data set: its sources, their sessions, its days; and which stored fences a later export has replaced or withdrawn. No I/O.

Exports of a store have an order: by the greatest number of a fence that the store had given, then by the time of the export, then by SHA-256.
A fence of an export is *dead* when a later export of the same store

- lists its session with a range of numbers that has the fence's number (it is *replaced* by the fence there, if there is one); numbers are
  in the order of time, but for fences that were recovered from a drive log: a range ends where they are not; or
- states a range of times (`--from`, `--to`) that has the fence's beginning (it is *withdrawn*).

Dead stays dead, and it is a fact about two exports. So the order in which exports arrive does not matter.
"""

import bisect
import collections
import dataclasses
import hashlib
import itertools
import json
from typing import Any

from fleetmap.errors import FleetError

FOREVER = 2**62
FORMAT = 3  # 2: places of seven digits; a bin is one number. 3: several ranges of numbers


@dataclasses.dataclass(frozen=True)
class Session:
    """A session on a link, as one export has it."""

    session: int
    link: str | None
    drive: int | None
    clock: str | None
    operator: str | None  # the operator seen most; fences without coverage name none
    first: int  # number of the fence that began first
    numbers: list[list[int]]  # the ranges of its fences' numbers, in order; each in the order of time
    quarantined: bool
    place: str  # 16 bits of a hash of the first fence's place: enough to notice another car, too little to find a home
    days: dict[str, int]  # fences entered, by day

    def origin(self, source: str) -> int:
        """A number for this session of this export, the same in every data set."""
        digest = hashlib.sha256(f"{source}/{self.session}/{self.link or ''}".encode()).digest()
        return int.from_bytes(digest[:8], "big") >> 2


@dataclasses.dataclass(frozen=True)
class Source:
    """An export."""

    sha256: str
    store: str
    device: str
    exported_at: str
    last_fence: int
    begins: int  # of the stated range, in ms since the epoch
    ends: int
    refused: dict[str, int]
    sessions: list[Session]

    @property
    def rank(self) -> tuple[int, str, str]:
        return (self.last_fence, self.exported_at, self.sha256)


@dataclasses.dataclass(frozen=True)
class Day:
    file: str
    fences: int


@dataclasses.dataclass(frozen=True)
class Death:
    """An interval in which fences of an origin are dead: of their numbers, or of their beginnings in ms since the epoch; ends included."""

    origin: int
    by_number: bool
    low: int
    high: int
    is_withdrawn: bool  # the later export lacks the fence, or says that its session is quarantined


@dataclasses.dataclass(frozen=True)
class Manifest:
    settings: dict[str, Any]
    sources: dict[str, Source]
    days: dict[str, Day]

    def text(self) -> str:
        """JSON, a source a line, in an order that does not depend on the order of arrival."""
        def line(value: Any) -> str:
            return json.dumps(value, sort_keys=True, separators=(",", ":"))
        ordered = sorted(self.sources.values(), key=lambda source: (source.store, source.rank))
        sources = ",\n".join(line(dataclasses.asdict(source)) for source in ordered)
        days = ",\n".join(f"{line(name)}:{line(dataclasses.asdict(day))}" for name, day in sorted(self.days.items()))
        return f'{{"format":{FORMAT},"settings":{line(self.settings)},\n"days":{{\n{days}}},\n"sources":[\n{sources}]}}\n'

    @staticmethod
    def parse(text: str) -> "Manifest":
        value = json.loads(text)
        if value["format"] != FORMAT:
            raise FleetError(f"this data set has format {value['format']}, not {FORMAT}: make it again from its exports")
        sources = [Source(**{**entry, "sessions": [Session(**session) for session in entry["sessions"]]}) for entry in value["sources"]]
        return Manifest(value["settings"], {source.sha256: source for source in sources},
                        {name: Day(**day) for name, day in value["days"].items()})


def by_store(sources: dict[str, Source]) -> dict[str, list[Source]]:
    """The exports of each store, in their order."""
    stores: dict[str, list[Source]] = collections.defaultdict(list)
    for source in sources.values():
        stores[source.store].append(source)
    return {store: sorted(found, key=lambda source: source.rank) for store, found in stores.items()}


def deaths(ordered: list[Source]) -> list[Death]:
    """All intervals in which fences of a store's exports are dead; `ordered` are its exports, in order."""
    found: list[Death] = []
    ranges: list[tuple[int, int]] = []
    numbers: dict[int, list[tuple[int, int, bool]]] = collections.defaultdict(list)
    for source in reversed(ordered):
        for session in source.sessions:
            origin = session.origin(source.sha256)
            found += [Death(origin, False, low, high, True) for low, high in ranges]
            found += [Death(origin, True, low, high, gone) for low, high, gone in numbers[session.session]]
        for session in source.sessions:
            for low, high in session.numbers:
                entry = (low, high, session.quarantined)
                if entry not in numbers[session.session]:
                    numbers[session.session].append(entry)
        _join(ranges, source.begins, source.ends - 1)
    return found


def _join(ranges: list[tuple[int, int]], low: int, high: int) -> None:
    """Adds an interval to sorted, disjoint ones."""
    bisect.insort(ranges, (low, high))
    joined: list[tuple[int, int]] = []
    for begin, end in ranges:
        if joined and begin <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    ranges[:] = joined


def gaps(ordered: list[Source]) -> list[tuple[int, int]]:
    """The numbers of fences, from the first to the last that is known, that no export of a store has."""
    ranges: list[tuple[int, int]] = []
    for source in ordered:
        for session in source.sessions:
            for low, high in session.numbers:
                _join(ranges, low, high)
    return [(before[1] + 1, after[0] - 1) for before, after in itertools.pairwise(ranges)]


def conflicts(ordered: list[Source]) -> list[int]:
    """Sessions whose first fence is at another place in another export: the card was copied into a second car."""
    places: dict[tuple[int, int], set[str]] = collections.defaultdict(set)
    for source in ordered:
        for session in source.sessions:
            places[(session.session, session.first)].add(session.place)
    return sorted({session for (session, _), found in places.items() if len(found) > 1})
