"""Places: squares of 100 m, distances, the fleet's exclusion list; lattice.py has the H3 cells. No coordinate enters a data set."""

import math
import pathlib

import numpy as np
import numpy.typing as npt

from fleetmap.errors import FleetError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Zone = tuple[float, float, float]

NO_SQUARE = -1
EARTH_RADIUS_M = 6_371_008.8

# EPSG:3035, ETRS89-extended / LAEA Europe: Lambert's azimuthal equal-area projection on GRS 80 (EPSG guidance note 7-2, 3.2).
_A, _E2 = 6_378_137.0, 0.006694380022903416
_E = math.sqrt(_E2)
_AREA = (24.6, 84.73, -35.58, 44.83)


def squares(latitudes: Floats, longitudes: Floats) -> Integers:
    """The square of 100 m in EPSG:3035, as east * 100000 + north in units of 100 m; `NO_SQUARE` outside the projection's area of use."""
    east, north = laea(latitudes, longitudes)
    south_edge, north_edge, west_edge, east_edge = _AREA
    inside = (latitudes >= south_edge) & (latitudes <= north_edge) & (longitudes >= west_edge) & (longitudes <= east_edge)
    numbers = np.floor(np.where(inside, east, 0) / 100) * 100_000 + np.floor(np.where(inside, north, 0) / 100)
    return np.where(inside, numbers.astype(np.int64), NO_SQUARE)


def laea(latitudes: Floats, longitudes: Floats) -> tuple[Floats, Floats]:
    """Metres east and north in EPSG:3035."""
    pole, origin = _authalic(np.array([90.0, 52.0]))
    radius = _A * np.sqrt(pole / 2)
    beta0 = np.arcsin(origin / pole)
    beta = np.arcsin(np.clip(_authalic(latitudes) / pole, -1, 1))
    away = np.radians(longitudes - 10.0)
    phi0 = math.radians(52.0)
    stretch = _A * math.cos(phi0) / math.sqrt(1 - _E2 * math.sin(phi0) ** 2) / (radius * np.cos(beta0))
    scale = radius * np.sqrt(2 / (1 + np.sin(beta0) * np.sin(beta) + np.cos(beta0) * np.cos(beta) * np.cos(away)))
    east = 4_321_000.0 + scale * stretch * np.cos(beta) * np.sin(away)
    north = 3_210_000.0 + scale / stretch * (np.cos(beta0) * np.sin(beta) - np.sin(beta0) * np.cos(beta) * np.cos(away))
    return east, north


def _authalic(latitudes: Floats) -> Floats:
    sine = np.sin(np.radians(latitudes))
    return np.asarray((1 - _E2) * (sine / (1 - _E2 * sine**2) - np.log((1 - _E * sine) / (1 + _E * sine)) / (2 * _E)))


def distances(latitudes: Floats, longitudes: Floats, latitude: float | Floats, longitude: float | Floats) -> Floats:
    """Metres on a sphere from each place to one place, or to its own."""
    first, second = np.radians(latitudes), np.radians(latitude)
    half = np.sin((second - first) / 2) ** 2 + np.cos(first) * np.cos(second) * np.sin(np.radians(longitudes - longitude) / 2) ** 2
    return np.asarray(2 * EARTH_RADIUS_M * np.arcsin(np.sqrt(np.clip(half, 0, 1))))


def in_zones(latitudes: Floats, longitudes: Floats, zones: list[Zone]) -> npt.NDArray[np.bool_]:
    inside = np.zeros(latitudes.shape, np.bool_)
    for latitude, longitude, radius in zones:
        inside |= distances(latitudes, longitudes, latitude, longitude) <= radius
    return inside


def read_zones(path: pathlib.Path) -> list[Zone]:
    """Lines of `latitude,longitude,radius in metres`; `#` begins a comment."""
    zones = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.split("#")[0].strip()
        if not text:
            continue
        try:
            latitude, longitude, radius = map(float, text.split(","))
        except ValueError:
            raise FleetError(f"{path}, line {number}: expected latitude,longitude,radius") from None
        if not (abs(latitude) <= 90 and abs(longitude) <= 180 and 0 < radius <= 100_000):
            raise FleetError(f"{path}, line {number}: a place on Earth and a radius up to 100 km are expected")
        zones.append((latitude, longitude, radius))
    return zones
