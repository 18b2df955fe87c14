"""Progress of long work on standard error: how many of all are done, and a line when it is over."""

import sys
import time
from collections.abc import Callable, Collection, Iterator
from typing import TextIO, TypeVar

Item = TypeVar("Item")
# Seconds between reports: on a terminal, where a line is written over, and elsewhere, where each is a line of its own.
ON_TERMINAL, ELSEWHERE = 0.2, 10.0


def of(items: Collection[Item], what: str, clock: Callable[[], float] = time.monotonic, stream: TextIO | None = None) -> Iterator[Item]:
    """The items, one by one; each counts as done when the next one is asked for. Work below 10 s is silent, except on a terminal."""
    out = sys.stderr if stream is None else stream
    is_terminal = out.isatty()
    start, end = ("\r", "\x1b[K") if is_terminal else ("", "\n")
    begun = reported = clock()
    is_over = False
    try:
        for done, item in enumerate(items):
            now = clock()
            if now - reported >= (ON_TERMINAL if is_terminal else ELSEWHERE):
                left = f", {(now - begun) / done * (len(items) - done):.0f} s left" if done else ""
                print(f"{start}{what}: {done:,} of {len(items):,}{left}", end=end, file=out, flush=True)
                reported = now
            yield item
        is_over = True
    finally:
        # A terminal's line is not left half written when the work fails.
        if is_over and (is_terminal or clock() - begun >= ELSEWHERE):
            print(f"{start}{what}: {len(items):,} of {len(items):,}, {clock() - begun:.0f} s", end=end, file=out)
        if is_terminal:
            print(file=out, flush=True)
