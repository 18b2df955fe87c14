"""The outlines of cells in degrees, cut at 180 degrees (RFC 7946, 3.1.9), and their names. No I/O."""

import itertools
import struct

import h3.api.basic_int as h3
import numpy as np

from fleetmap import places

Ring = list[tuple[float, float]]  # longitude, latitude; closed, counter-clockwise


def name(cell: int, grid: str) -> str:
    """A cell as others write it: H3's index, or the square's name in INSPIRE's grid (ETRS89-LAEA, 100 m)."""
    if grid == "square":
        return f"100mN{cell % 100_000:05d}E{cell // 100_000:05d}"
    return f"{cell:x}"


def outlines(cells: list[int], grid: str) -> list[list[Ring]]:
    """The outline of each cell: one ring or, across 180 degrees, two."""
    if grid != "square":
        return [cut([(longitude, latitude) for latitude, longitude in h3.cell_to_boundary(cell)]) for cell in cells]
    corners = np.array([(cell // 100_000 * 100 + east, cell % 100_000 * 100 + north) for cell in cells
                        for east, north in ((0, 0), (100, 0), (100, 100), (0, 100))], np.float64).reshape(-1, 2)
    longitudes, latitudes = degrees(corners[:, 0], corners[:, 1])
    points = list(zip(longitudes.tolist(), latitudes.tolist(), strict=True))
    return [cut(points[first:first + 4]) for first in range(0, len(points), 4)]


def degrees(east: places.Floats, north: places.Floats) -> tuple[places.Floats, places.Floats]:
    """Longitudes and latitudes of metres in EPSG:3035, by Newton's method on `places.laea`."""
    longitude, latitude = 10.0 + (east - 4_321_000) / 70_000, 52.0 + (north - 3_210_000) / 111_000
    step = 1e-6
    for _ in range(8):
        x, y = places.laea(latitude, longitude)
        (ax, ay), (bx, by) = places.laea(latitude, longitude + step), places.laea(latitude + step, longitude)
        a, b, c, d = (ax - x) / step, (bx - x) / step, (ay - y) / step, (by - y) / step
        longitude = longitude + (d * (east - x) - b * (north - y)) / (a * d - b * c)
        latitude = latitude + (a * (north - y) - c * (east - x)) / (a * d - b * c)
    return longitude, latitude


def cut(corners: Ring) -> list[Ring]:
    """The rings of a convex outline whose longitudes may jump from 180 to -180, and which may have a pole in it."""
    unrolled = [corners[0]]
    for longitude, latitude in [*corners[1:], corners[0]]:
        before = unrolled[-1][0]
        unrolled.append((longitude + 360 * round((before - longitude) / 360), latitude))
    turn = round((unrolled[-1][0] - unrolled[0][0]) / 360)
    if turn:
        return [_around_pole(unrolled, turn)]
    if min(x for x, _ in unrolled) < -180:
        unrolled = [(x + 360, y) for x, y in unrolled]
    if max(x for x, _ in unrolled) <= 180:
        return [_oriented(unrolled)]
    parts = [_side(unrolled, 180.0, True), _side(unrolled, 180.0, False)]
    parts[1] = [(x - 360, y) for x, y in parts[1]]
    return [_oriented(part) for part in parts if len(part) > 3]


def _side(ring: Ring, edge: float, is_west: bool) -> Ring:
    """The part of a closed ring on one side of a meridian."""
    kept: Ring = []
    for (x0, y0), (x1, y1) in itertools.pairwise(ring):
        inside = (x0 <= edge) if is_west else (x0 >= edge)
        if inside:
            kept.append((x0, y0))
        if (x0 < edge) != (x1 < edge) and x0 != edge:
            kept.append((edge, y0 + (y1 - y0) * (edge - x0) / (x1 - x0)))
    return [*kept, kept[0]] if kept else []


def _around_pole(unrolled: Ring, turn: int) -> Ring:
    """A ring from -180 to 180 degrees whose other edge is the pole."""
    pole = 90.0 if sum(y for _, y in unrolled) > 0 else -90.0
    corners = sorted((((x + 180) % 360) - 180, y) for x, y in unrolled[:-1])
    first, last = corners[0], corners[-1]
    gap = first[0] + 360 - last[0]
    at_edge = last[1] + (first[1] - last[1]) * ((180 - last[0]) / gap if gap else 0.5)
    return _oriented([(-180.0, at_edge), *corners, (180.0, at_edge), (180.0, pole), (-180.0, pole), (-180.0, at_edge)])


def _oriented(ring: Ring) -> Ring:
    closed = ring if ring[0] == ring[-1] else [*ring, ring[0]]
    area = sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in itertools.pairwise(closed))
    return closed if area > 0 else closed[::-1]


def wkb(parts: list[Ring]) -> bytes:
    """A multipolygon as WKB, little-endian (OGC 06-103r4)."""
    pieces = [struct.pack("<BII", 1, 6, len(parts))]
    for ring in parts:
        pieces.append(struct.pack(f"<BIII{2 * len(ring)}d", 1, 3, 1, len(ring), *(value for corner in ring for value in corner)))
    return b"".join(pieces)
