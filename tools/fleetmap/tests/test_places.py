"""Cells, squares and outlines."""

import unittest

import h3.api.basic_int as h3
import numpy as np

from fleetmap import geometry, lattice, places


class Places(unittest.TestCase):
    def test_when_a_place_is_projected_then_the_metres_are_those_of_epsg(self) -> None:
        # The example of EPSG guidance note 7-2 for EPSG:3035.
        east, north = places.laea(np.array([50.0]), np.array([5.0]))
        self.assertAlmostEqual(east[0], 3_962_799.45, places=2)
        self.assertAlmostEqual(north[0], 2_999_718.85, places=2)

    def test_when_a_square_is_outlined_then_its_corners_are_100_m_apart(self) -> None:
        square = int(places.squares(np.array([48.2]), np.array([16.37]))[0])
        self.assertEqual(geometry.name(square, "square"), "100mN28078E47940")
        [[ring]] = geometry.outlines([square], "square")
        east, north = places.laea(np.array([y for _, y in ring]), np.array([x for x, _ in ring]))
        np.testing.assert_allclose(np.hypot(np.diff(east), np.diff(north)), 100, atol=1e-5)

    def test_when_a_place_is_outside_europe_then_it_has_no_square(self) -> None:
        self.assertEqual(places.squares(np.array([48.2, -33.0]), np.array([-80.0, 18.0])).tolist(), [places.NO_SQUARE] * 2)

    def test_when_cells_are_found_then_they_are_direct_ones_and_not_parents(self) -> None:
        random = np.random.default_rng(1)
        latitudes, longitudes = random.uniform(46, 49, 3000), random.uniform(10, 17, 3000)
        direct, finer = lattice.cells(latitudes, longitudes, 9), lattice.cells(latitudes, longitudes, 11)
        differing = sum(h3.cell_to_parent(fine, 9) != cell for fine, cell in zip(finer.tolist(), direct.tolist(), strict=True))
        self.assertTrue(0.04 < differing / 3000 < 0.08)

    def test_when_the_lattice_finds_cells_then_they_are_those_of_h3_everywhere_on_earth(self) -> None:
        random = np.random.default_rng(4)
        places_in_space = random.normal(size=(20_000, 3))
        places_in_space /= np.linalg.norm(places_in_space, axis=1, keepdims=True)
        around = [(latitude + random.normal(0, 0.02, 500), longitude + random.normal(0, 0.02, 500))
                  for latitude, longitude in map(h3.cell_to_latlng, sorted(h3.get_pentagons(5)))]
        latitudes = np.concatenate([np.degrees(np.arcsin(places_in_space[:, 2])), *(part for part, _ in around), [90, -90, 0, 0]])
        longitudes = np.concatenate([np.degrees(np.arctan2(*places_in_space[:, :2].T)), *(part for _, part in around), [0, 77, 180, -180]])
        for resolution in range(12):
            wanted = lattice.cells(latitudes, longitudes, resolution)
            # In this order, places of a cell are next to each other, as on a drive.
            order = np.argsort(wanted, kind="stable")
            [found] = lattice.cells_of_track(latitudes[order], longitudes[order], [resolution])
            self.assertEqual(found.tolist(), wanted[order].tolist(), resolution)

    def test_when_there_is_no_place_then_there_is_no_cell(self) -> None:
        self.assertEqual([part.tolist() for part in lattice.cells_of_track(np.array([]), np.array([]), [6, 11])], [[], []])

    def test_when_a_cell_lies_on_180_degrees_then_it_is_two_polygons(self) -> None:
        cells = {h3.latlng_to_cell(0.0, 180.0, 9), h3.latlng_to_cell(0.0, -180.0, 9)}
        self.assertEqual(len(cells), 1)
        [rings] = geometry.outlines(list(cells), "h9")
        self.assertEqual(len(rings), 2)
        self.assertEqual([max(abs(x) for x, _ in ring) for ring in rings], [180, 180])
        self.assertLess(max(max(x for x, _ in ring) - min(x for x, _ in ring) for ring in rings), 0.01)

    def test_when_a_cell_has_a_pole_in_it_then_its_other_edge_is_the_pole(self) -> None:
        for pole in (90.0, -90.0):
            [[ring]] = geometry.outlines([h3.latlng_to_cell(pole, 0.0, 9)], "h9")
            self.assertEqual({x for x, y in ring if y == pole}, {-180.0, 180.0})

    def test_when_places_are_far_from_zones_then_they_are_in_none(self) -> None:
        inside = places.in_zones(np.array([48.2, 48.2027, 48.21]), np.array([16.3, 16.3, 16.3]), [(48.2, 16.3, 301)])
        self.assertEqual(inside.tolist(), [True, True, False])
