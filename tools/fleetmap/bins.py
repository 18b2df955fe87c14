"""The bins of delays: 64 an octave, in whole microseconds, in integers only.

Below 128 us a bin is one microsecond. Above, bin `64 e + (v >> e)` with `e = floor(log2 v) - 6` begins at `(v >> e) << e`. A figure
from bins is the lower bound of its bin: never above the delay, and less than 1/64 of it below.
"""

import itertools

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
MOST = 65_535  # pings that a packed number has; a bin with more has several


def bins_of(delays: Integers) -> Integers:
    """The bins of delays in whole microseconds, each 0 or greater and below 2^53."""
    exponents = np.maximum(np.frexp(delays.astype(np.float64))[1].astype(np.int64) - 7, 0)
    return np.asarray(64 * exponents + (delays >> exponents))


def lower_bounds(bins: Integers) -> Integers:
    """The least delay of each bin."""
    exponents = np.maximum(bins // 64 - 1, 0)
    return np.asarray((bins - 64 * exponents) << exponents)


def packed(bins: Integers, counts: Integers, ends: Integers) -> tuple[Integers, Integers]:
    """Histograms as the data set has them, one number a bin: 65536 times the bin plus its pings; `ends` are the histograms' ends, from 0 on."""
    parts = -(-counts // MOST)
    if parts.max(initial=1) > 1:
        last = np.cumsum(parts) - 1
        ends = np.concatenate([[0], last + 1])[ends]
        rest = counts - MOST * (parts - 1)
        bins, counts = np.repeat(bins, parts), np.full(last[-1] + 1, MOST)
        counts[last] = rest
    return 65_536 * bins + counts, ends


def texts_of(delays: Integers) -> list[str | None]:
    """The histogram of each row as exports have it: `bin=count` in ascending order, or None without an answered ping. 0 is a lost ping."""
    rows, places = np.nonzero(delays)
    keys, counts = np.unique(rows * 65_536 + bins_of(delays[rows, places]), return_counts=True)
    pairs = [f"{key & 65_535}={count}" for key, count in zip(keys.tolist(), counts.tolist(), strict=True)]
    ends = np.searchsorted(keys // 65_536, np.arange(len(delays) + 1)).tolist()
    return [" ".join(pairs[first:last]) or None for first, last in itertools.pairwise(ends)]
