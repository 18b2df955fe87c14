"""The faults that a fleet meets, injected into exports that are already written. Each one says what `add` has to report."""

import pathlib
import shutil
import sqlite3

from fleetmap.errors import FleetError
from fleetmap.export_writing import point

Report = dict[str, int]

OUTLIERS = (
    ("latitude", "UPDATE fence_centres SET geom = ? WHERE fid IN (SELECT fid FROM fence_centres ORDER BY fid LIMIT 3 OFFSET 10)", (16.0, 95.0)),
    ("longitude", "UPDATE fence_centres SET geom = ? WHERE fid IN (SELECT fid FROM fence_centres ORDER BY fid LIMIT 2 OFFSET 20)", (540.0, 48.0)),
    ("delay", "UPDATE fence_centres SET avg_ping_ms = -1, pings_ok = MAX(pings_ok, 1) WHERE fid IN (SELECT fid FROM fence_centres ORDER BY fid"
     " LIMIT 4 OFFSET 30)", None),
)
DAYS, FENCES = 3, 34  # of a device and of a drive: a gap has fences on both sides, and the outliers are of one drive


def chosen(text: str, devices: int, days: int, fences: int) -> list[str]:
    """The faults of a list, for a country that is large enough for all of them."""
    names = list(NAMES) if text == "all" else [name for name in text.split(",") if name]
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise FleetError(f"there is no fault {', '.join(unknown)}; there are {', '.join(NAMES)}")
    needed = max((list(NAMES).index(name) + 1 for name in names), default=0)
    if names and (devices < needed or days < DAYS or fences < FENCES):
        raise FleetError(f"--faults {text} needs a larger country: --devices {needed}, --days {DAYS} and --fences {FENCES}, or more of each")
    return names


def inject(names: list[str], exports: pathlib.Path) -> Report:
    """Applies the faults, each to another device, in the order of `NAMES`; the counts add up by name."""
    report: Report = {}
    for index, name in enumerate(NAMES):
        if name in names:
            files = sorted(sorted(exports.iterdir())[index].glob("*.gpkg"))
            for key, count in NAMES[name](files).items():
                report[key] = report.get(key, 0) + count
    return report


def _edit(path: pathlib.Path, *statements: str) -> int:
    """Runs the statements; returns how many rows the last one changed."""
    database = sqlite3.connect(path)
    changed = 0
    for statement in statements:
        changed = database.execute(statement).rowcount
    database.commit()
    database.close()
    return changed


def _later(path: pathlib.Path, name: str) -> pathlib.Path:
    """A copy of an export that was made again two days later."""
    copy = path.with_name(name)
    shutil.copy(path, copy)
    _edit(copy, "UPDATE export SET exported_at = strftime('%Y-%m-%dT%H:%M:%fZ', exported_at, '+2 days'), last_fence = last_fence + 1")
    return copy


def wrong_clock(files: list[pathlib.Path]) -> Report:
    """A drive that an unset clock dated, and times that run backwards in another one."""
    unset = _edit(files[0], "UPDATE fence_centres SET entered_at = '1970' || substr(entered_at, 5), exited_at = '1970' || substr(exited_at, 5)"
                  " WHERE session = (SELECT MIN(session) FROM fence_centres)")
    back = _edit(files[1], "UPDATE fence_centres SET entered_at = strftime('%Y-%m-%dT%H:%M:%fZ', entered_at, '-5 hours'),"
                 " exited_at = strftime('%Y-%m-%dT%H:%M:%fZ', exited_at, '-5 hours')"
                 " WHERE fid IN (SELECT fid FROM fence_centres ORDER BY fid LIMIT 7 OFFSET 1)")
    return {"refused: time": unset, "refused: backwards": back}


def duplicates(files: list[pathlib.Path]) -> Report:
    """The same file under another name, and the same day exported again."""
    shutil.copy(files[0], files[0].with_name("copy.gpkg"))
    again = _later(files[1], "again.gpkg")
    return {"duplicate files": 1, "replaced": _count(again)}


def gap(files: list[pathlib.Path]) -> Report:
    """A day whose export never arrives."""
    missing = _count(files[1])
    files[1].unlink()
    return {"gap": missing}


def outliers(files: list[pathlib.Path]) -> Report:
    """Places that are not on Earth, and delays that cannot be."""
    report: Report = {}
    database = sqlite3.connect(files[0])
    for name, statement, place in OUTLIERS:
        report[f"refused: {name}"] = database.execute(statement, () if place is None else (point(*place),)).rowcount
    database.commit()
    database.close()
    return report


def withdrawn(files: list[pathlib.Path]) -> Report:
    """A later export lacks a session; another one says that a session is quarantined."""
    lacking = _later(files[0], "forgotten.gpkg")
    gone = _edit(lacking, "DELETE FROM fence_centres WHERE session = (SELECT MIN(session) FROM fence_centres)")
    replaced = _count(lacking)
    marked = _edit(_later(files[1], "quarantine.gpkg"),
                   "UPDATE fence_centres SET quarantined = 1 WHERE session = (SELECT MIN(session) FROM fence_centres)")
    return {"withdrawn": gone + marked, "refused: quarantined": marked, "replaced": replaced + _count(files[1]) - marked}


def same_card(files: list[pathlib.Path]) -> Report:
    """The card was copied into a second car, which went on with the same numbers elsewhere."""
    folder = files[0].parent.with_name("other-car")
    folder.mkdir()
    copy = shutil.copy(files[-1], folder / files[-1].name)
    database = sqlite3.connect(copy)
    database.execute("UPDATE fence_centres SET geom = ?", (point(13.5, 47.5),))
    sessions: int = database.execute("SELECT COUNT(DISTINCT session) FROM fence_centres").fetchone()[0]
    database.commit()
    database.close()
    return {"card in two cars": sessions, "replaced": _count(files[-1])}


def _count(path: pathlib.Path) -> int:
    database = sqlite3.connect(path)
    count: int = database.execute("SELECT COUNT(*) FROM fence_centres").fetchone()[0]
    database.close()
    return count


NAMES = {"clock": wrong_clock, "duplicate": duplicates, "gap": gap, "outlier": outliers, "withdrawn": withdrawn, "card": same_card}
