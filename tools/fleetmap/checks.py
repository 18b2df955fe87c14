"""Which fences are refused, by name. No I/O. Each fence is counted under the first name that applies."""

import dataclasses
import datetime

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# The times that a drive can have (docs/clock.md): the 1024 weeks from the program's build date on.
EARLIEST_MS = int(datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC).timestamp() * 1000)
LATEST_MS = EARLIEST_MS + 1024 * 7 * 86_400_000
DAY_MS = 86_400_000
NO_TIME = np.iinfo(np.int64).min
LONGEST_DELAY_US = 3_600_000_000


@dataclasses.dataclass(frozen=True)
class Fences:
    """Some fences of an export. Unknown times are `NO_TIME`, unknown numbers NaN or -1."""

    number: Integers
    session: Integers
    latitude: Floats
    longitude: Floats
    entered: Integers
    exited: Integers
    pings: Integers
    answered: Integers
    delay_ms: Floats
    binned: Integers  # pings in the histogram; -1: none, or one that cannot be read
    quarantined: Mask


def refusals(fences: Fences, exported_at: int, begins: dict[int, int]) -> dict[str, Mask]:
    """The fences that are refused, by name. An export that an unset clock dated says nothing about the future. `begins` has the beginning of
    each session's first good fence, and is completed.
    """
    with np.errstate(invalid="ignore"):
        found = {
            "quarantined": fences.quarantined,
            "latitude": ~(np.abs(fences.latitude) <= 90),
            "longitude": ~(np.abs(fences.longitude) <= 180),
            "time": (fences.entered < EARLIEST_MS) | (fences.entered >= LATEST_MS) | (fences.exited < fences.entered),
            "future": (fences.entered > exported_at + DAY_MS) & (exported_at >= EARLIEST_MS),
            "pings": (fences.pings < 0) | (fences.answered < 0) | (fences.answered > fences.pings),
            "delay": (fences.answered > 0) & ~((fences.delay_ms >= 0) & (fences.delay_ms * 1000 <= LONGEST_DELAY_US)),
            "histogram": (fences.answered > 0) & (fences.binned != fences.answered),
        }
    refused = np.zeros(fences.number.shape, np.bool_)
    for name, mask in found.items():
        found[name] = mask & ~refused
        refused |= mask
    return found | {"backwards": _backwards(fences, refused, begins)}


def _backwards(fences: Fences, refused: Mask, begins: dict[int, int]) -> Mask:
    """Fences that begin before the first one of their session. Later in it, one recovered from a drive log can have any number."""
    found = np.zeros(refused.shape, np.bool_)
    for session in np.unique(fences.session).tolist():
        rows = np.flatnonzero((fences.session == session) & ~refused)
        if rows.size > 0:
            entered = fences.entered[rows]
            found[rows] = entered < begins.setdefault(session, int(entered[0]))
    return found
