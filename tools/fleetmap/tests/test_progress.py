"""Progress on standard error."""

import io
import unittest

from fleetmap import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(stream: io.StringIO, seconds_an_item: float, count: int) -> str:
    now = [0.0]
    for _ in progress.of(range(count), "files", lambda: now[0], stream):
        now[0] += seconds_an_item
    return stream.getvalue()


class Progress(unittest.TestCase):
    def test_when_there_is_no_terminal_then_there_is_at_most_a_line_in_10_s_and_one_when_it_is_over(self) -> None:
        self.assertEqual(run(io.StringIO(), 4, 6).splitlines(), ["files: 3 of 6, 12 s left", "files: 6 of 6, 24 s"])

    def test_when_work_is_short_then_nothing_is_said_except_on_a_terminal(self) -> None:
        self.assertEqual(run(io.StringIO(), 1, 9), "")
        self.assertEqual(run(Terminal(), 0, 9), "\rfiles: 9 of 9, 0 s\x1b[K\n")

    def test_when_a_terminal_is_there_then_one_line_is_written_over(self) -> None:
        self.assertEqual(run(Terminal(), 1, 3).split("\r"), ["", "files: 1 of 3, 2 s left\x1b[K", "files: 2 of 3, 1 s left\x1b[K",
                                                             "files: 3 of 3, 3 s\x1b[K\n"])

    def test_when_work_fails_then_the_line_of_a_terminal_ends(self) -> None:
        stream = Terminal()
        items = progress.of(range(3), "files", lambda: 0.0, stream)
        next(items)
        items.close()  # type: ignore[attr-defined]
        self.assertEqual(stream.getvalue(), "\n")

    def test_when_there_is_nothing_to_do_then_nothing_fails(self) -> None:
        self.assertEqual(run(io.StringIO(), 1, 0), "")
