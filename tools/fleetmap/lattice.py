"""The H3 cells of places along a road, at less than half the cost of asking H3 for each place.

H3 lays a lattice of hexagons on each face of an icosahedron (gnomonic projection), whose corners are the pentagons' centres. Places on one face
with the same point of the lattice are in the same cell, so H3 is asked only where the point changes. Its answer is the cell; the lattice names none.
"""

import functools
import itertools
import math
from collections.abc import Iterable

import h3.api.basic_int as h3
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

RESOLUTIONS = range(6, 12)  # of a data set
# The lattice of an odd resolution is turned (H3's Class III).
TURN = -math.asin(math.sqrt(3 / 28))


def cells(latitudes: Floats, longitudes: Floats, resolution: int) -> Integers:
    """The cell of each place, found directly: not the parent of a finer cell, which is another one for 6 % of places."""
    found = map(h3.latlng_to_cell, latitudes.tolist(), longitudes.tolist(), itertools.repeat(resolution))
    return np.fromiter(found, np.int64, len(latitudes))


def cells_of_track(latitudes: Floats, longitudes: Floats, resolutions: Iterable[int]) -> list[Integers]:
    """The same for several resolutions; quick where places next to each other are near each other."""
    face, point = _on_faces(latitudes, longitudes)
    found = []
    for resolution in resolutions:
        column, row = _rounded(point * (math.sqrt(7) ** resolution * np.exp(1j * TURN * (resolution % 2))))
        changed = (face[1:] != face[:-1]) | (column[1:] != column[:-1]) | (row[1:] != row[:-1])
        first = np.concatenate([[True], changed])[:len(face)]
        asked = cells(latitudes[first], longitudes[first], resolution)
        found.append(asked[np.cumsum(first) - 1])
    return found


@functools.cache
def _faces() -> tuple[Floats, Floats, Floats]:
    """Of each face: its centre, and two vectors that span its plane, so that a corner is at (2, 0)."""
    corners = _vectors(*np.array([h3.cell_to_latlng(cell) for cell in sorted(h3.get_pentagons(0))]).T)
    nearness = corners @ corners.T
    is_edge = (nearness < 1 - 1e-6) & (nearness > np.sort(nearness[0])[-2] - 1e-6)
    triples = [(a, b, c) for a, b, c in itertools.combinations(range(12), 3) if is_edge[a, b] and is_edge[b, c] and is_edge[a, c]]
    centres = np.array([corners[[*triple]].sum(axis=0) for triple in triples])
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    first = corners[[triple[0] for triple in triples]]
    east = first / np.sum(first * centres, axis=1, keepdims=True) - centres
    east *= 2 / np.sum(east**2, axis=1, keepdims=True)
    return centres, east, np.cross(centres, east)


def _vectors(latitudes: Floats, longitudes: Floats) -> Floats:
    latitudes, longitudes = np.radians(latitudes), np.radians(longitudes)
    flat = np.cos(latitudes)
    return np.stack([flat * np.cos(longitudes), flat * np.sin(longitudes), np.sin(latitudes)], axis=-1)


def _on_faces(latitudes: Floats, longitudes: Floats) -> tuple[Integers, npt.NDArray[np.complex128]]:
    """The nearest face of each place, and the point in its plane."""
    centres, east, north = _faces()
    vectors = _vectors(latitudes, longitudes)
    face = np.argmax(np.einsum("ij,kj->ik", vectors, centres), axis=1)  # `@` would start threads that wait busily
    depth, x, y = (np.einsum("ij,ij->i", vectors, axis[face]) for axis in (centres, east, north))
    return face, (x + 1j * y) / depth


def _rounded(point: npt.NDArray[np.complex128]) -> tuple[Floats, Floats]:
    """The nearest point of a hexagonal lattice of unit 1."""
    b = point.imag * (2 / math.sqrt(3))
    a = point.real - b / 2
    c = -a - b
    column, row, third = np.rint(a), np.rint(b), np.rint(c)
    off_a, off_b, off_c = abs(column - a), abs(row - b), abs(third - c)
    is_a = (off_a > off_b) & (off_a > off_c)
    return np.where(is_a, -row - third, column), np.where(~is_a & (off_b > off_c), -column - third, row)
