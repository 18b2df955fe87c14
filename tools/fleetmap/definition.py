"""The definition of the map (map.sql) for a grid, and what it needs from a manifest. No engine, no I/O but the text."""

import dataclasses
import datetime
import importlib.resources
import itertools
import re
import string

from fleetmap.manifest import Manifest

TEXT = importlib.resources.files("fleetmap") / "map.sql"  # also out of a zip file, as Spark has it
PERIODS = ("day", "week", "month", "all")
TECHNOLOGIES = 1 << 20  # more than there are in a fleet
ORIGIN = {"origin": int, "device": int, "drive": int, "operator": str, "link": str}  # columns of `origins`


@dataclasses.dataclass(frozen=True)
class Grid:
    """A column of the data set: `h6` to `h11`, or `square`; which cells are shown; and which fences count."""

    cell: str
    least_fences: int
    least_devices: int
    by_link: bool = False  # operators are divided by the links of their cars
    hours: tuple[int, int] = (0, 24)  # of the day, UTC: from the first to before the second
    period: str = "week"

    @property
    def condition(self) -> str:
        """The fences that count, as a condition on their `time`."""
        first, last = (hour * 3_600_000 for hour in self.hours)
        return f"time >= {first} AND time < {last}"


def statements(grid: Grid) -> dict[str, str]:
    """The definition for a grid: the statement of each view, in order."""
    text = re.sub(r"--.*", "", TEXT.read_text())
    # A fence without an operator has the one that its session saw most.
    operator = "COALESCE(f.operator, o.operator, 'unknown')"
    text = text.replace("$operator", f"CONCAT({operator}, '/', COALESCE(o.link, '-'))" if grid.by_link else operator)
    text = text.replace("$period", "'all'" if grid.period == "all" else f"CAST(CAST(DATE_TRUNC('{grid.period}', f.day) AS DATE) AS STRING)")
    # A bin's least delay: (b - 64 e) 2^e with e = b div 64 - 1, and e = 0 for the first 128 bins.
    power = r"GREATEST((\1 - MOD(\1, 64)) / 64 - 1, 0)"
    text = re.sub(r"\$lower\(([a-z0-9.]+)\)", rf"CAST((\1 - 64 * {power}) * POWER(2, {power}) AS BIGINT)", text)
    # Number ceil(p n / 100) of n sorted values; none of none.
    rank = r"(\2 * \3 + 99 - MOD(\2 * \3 + 99, 100)) / 100"
    text = re.sub(r"\$nearest_rank\(([a-z.]+), ([a-z_.]+), (\d+)\)", rf"CASE WHEN \2 > 0 THEN element_at(\1, CAST({rank} AS INT)) END", text)
    # The bin of that ping: the number less the pings of each bin, while it is greater; then minus the bin.
    pings = "(bin & $most_pings)"
    step = f"CASE WHEN rest <= 0 THEN rest WHEN rest <= {pings} THEN -(bin >> 48) ELSE rest - {pings} END"
    text = re.sub(r"\$nearest_bin\(([a-z]+), ([a-z]+), (\d+)\)", rf"-reduce(\1, CAST({rank} AS BIGINT), (rest, bin) -> {step})", text)
    minimums = {"least_fences": grid.least_fences, "least_devices": grid.least_devices}
    filled = string.Template(text).substitute(minimums, cell=grid.cell, technologies=TECHNOLOGIES, most_pings=2**48 - 1)
    parts = [part.strip() for part in filled.split(";") if part.strip()]
    return {part.split()[5]: part for part in parts}


def quoted(text: str) -> str:
    """A text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


def hours_of(text: str) -> tuple[int, int]:
    """`6-9`: from 06:00 to before 09:00."""
    first, last = (int(part) for part in text.split("-"))
    if not 0 <= first < last <= 24:
        raise ValueError(text)
    return first, last


def period_of(day: str, period: str) -> str:
    """The period that a day is in, by its first day; weeks begin on Monday. `labels` in map.sql has the same."""
    date = datetime.date.fromisoformat(day)
    return {"day": day, "week": str(date - datetime.timedelta(days=date.weekday())), "month": str(date.replace(day=1)), "all": "all"}[period]


def parts(manifest: Manifest, period: str, most_fences: int) -> list[list[str]]:
    """The days of a data set in parts of whole periods, as many as have that many fences together, but at least one."""
    found: list[list[str]] = []
    fences = most_fences
    for _, group in itertools.groupby(sorted(manifest.days), lambda day: period_of(day, period)):
        days = list(group)
        added = sum(manifest.days[day].fences for day in days)
        if fences + added > most_fences:
            found.append([])
            fences = 0
        found[-1] += days
        fences += added
    return found


def origins(manifest: Manifest) -> list[tuple[int, int, int, str | None, str | None]]:
    """The manifest's sessions, with the columns `ORIGIN`. Devices and drives are numbered: a drive is its store and number. A source without
    a device's name is of the device that other exports of its store name."""
    sources = manifest.sources.values()
    named = sorted((source for source in sources if source.device != source.store), key=lambda source: source.device, reverse=True)
    names = {source.store: source.device for source in named}
    devices: dict[str, int] = {}
    drives: dict[tuple[str, int | None], int] = {}
    return [(session.origin(source.sha256), devices.setdefault(device, len(devices)),
             drives.setdefault((source.store, session.drive), len(drives)), session.operator, session.link)
            for source in sources for device in [names.get(source.store, source.device) if source.device == source.store else source.device]
            for session in source.sessions]
