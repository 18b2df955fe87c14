"""Bins of delays."""

import unittest

import numpy as np

from fleetmap.bins import bins_of, lower_bounds, packed, texts_of


class Bins(unittest.TestCase):
    def test_when_a_delay_is_below_128_us_then_its_bin_is_the_delay(self) -> None:
        delays = np.arange(128)
        self.assertEqual(bins_of(delays).tolist(), delays.tolist())

    def test_when_bins_are_read_back_then_the_bound_is_at_most_a_64th_below(self) -> None:
        powers = 2 ** np.arange(7, 50)
        delays = np.concatenate([np.arange(5000), powers, powers - 1, np.random.default_rng(1).integers(0, 2**32, 9999)])
        bounds = lower_bounds(bins_of(delays))
        self.assertTrue((bounds <= delays).all())
        self.assertTrue(((delays - bounds) * 64 <= delays).all())

    def test_when_delays_grow_then_bins_never_shrink_and_none_is_skipped(self) -> None:
        bins = bins_of(np.arange(1 << 14))
        self.assertEqual(np.unique(np.diff(bins)).tolist(), [0, 1])

    def test_when_a_ping_is_lost_then_it_is_in_no_bin(self) -> None:
        self.assertEqual(texts_of(np.array([[0, 100, 100], [0, 0, 0], [129, 128, 5]])), ["100=2", None, "5=1 128=2"])

    def test_when_a_bin_has_more_pings_than_a_number_can_have_then_it_has_several_numbers(self) -> None:
        numbers, ends = packed(np.array([7, 8, 9]), np.array([3, 144_000, 65_535]), np.array([0, 1, 3]))
        self.assertEqual([(number >> 16, number & 65_535) for number in numbers.tolist()],
                         [(7, 3), (8, 65_535), (8, 65_535), (8, 12_930), (9, 65_535)])
        self.assertEqual(ends.tolist(), [0, 1, 5])
