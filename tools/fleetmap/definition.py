"""The definition of the map (map.sql) for a grid, and what it needs from a manifest. No engine, no I/O but the text."""

import collections
import dataclasses
import datetime
import pathlib
import re
import string

from fleetmap.manifest import Manifest

TEXT = pathlib.Path(__file__).with_name("map.sql")
PERIODS = ("day", "week", "month", "all")
ORIGIN = ("origin", "device", "drive", "operator")


@dataclasses.dataclass(frozen=True)
class Grid:
    """A column of the data set: `h6` to `h11`, or `square`; and which cells are shown."""

    cell: str
    least_fences: int
    least_devices: int


def statements(grid: Grid) -> list[str]:
    """The definition for a grid, statement by statement."""
    text = re.sub(r"--.*", "", TEXT.read_text())
    # A bin's least delay: (b - 64 e) 2^e with e = b div 64 - 1, and e = 0 for the first 128 bins.
    power = r"GREATEST((\1 - MOD(\1, 64)) / 64 - 1, 0)"
    text = re.sub(r"\$lower\(([a-z0-9.]+)\)", rf"CAST((\1 - 64 * {power}) * POWER(2, {power}) AS BIGINT)", text)
    # Number ceil(p n / 100) of n sorted values; none of none.
    rank = r"CAST((\2 * \3 + 99 - MOD(\2 * \3 + 99, 100)) / 100 AS INT)"
    text = re.sub(r"\$nearest_rank\(([a-z.]+), ([a-z_.]+), (\d+)\)", rf"CASE WHEN \2 > 0 THEN element_at(\1, {rank}) END", text)
    filled = string.Template(text).substitute(cell=grid.cell, least_fences=grid.least_fences, least_devices=grid.least_devices)
    return [part.strip() for part in filled.split(";") if part.strip()]


def quoted(text: str) -> str:
    """A text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"


def period_of(day: str, period: str) -> str:
    """The period that a day is in, by its first day; weeks begin on Monday."""
    date = datetime.date.fromisoformat(day)
    return {"day": day, "week": str(date - datetime.timedelta(days=date.weekday())), "month": str(date.replace(day=1)), "all": "all"}[period]


def periods(days: dict[str, str], period: str) -> dict[str, list[str]]:
    """The files of each period, in order."""
    found: dict[str, list[str]] = collections.defaultdict(list)
    for day, file in sorted(days.items()):
        found[period_of(day, period)].append(file)
    return dict(sorted(found.items()))


def origins(manifest: Manifest) -> list[tuple[int, str, str, str | None]]:
    """The manifest's sessions, with the columns `ORIGIN`. A drive is its store and number."""
    return [(session.origin(source.sha256), source.device, f"{source.store}/{session.drive}", session.operator)
            for source in manifest.sources.values() for session in source.sessions]
