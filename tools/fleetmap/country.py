"""A made-up country: roads, masts, path loss, fading that has a place, and fading of each drive. No I/O.

The chance that a fence has no coverage at a place is known in closed form: the received power there is a mean that belongs to the place plus
a normal variable, and coverage begins at a threshold. The truth of a cell is the mean of that chance over the metres that the
timetable drives in it. A drive's fading is correlated along the road, so that fences of one drive agree with each other.
"""

import dataclasses
import heapq
import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

SOUTH, WEST = 47.6, 14.0
METRES_A_DEGREE = 111_320.0
EAST_SCALE = METRES_A_DEGREE * math.cos(math.radians(SOUTH))
THRESHOLD_DBM = -112.0
DRIVE_FADING_DB, NOISE_DB, FADING_LENGTH_M = 4.0, 3.0, 250.0
PLACE_FADING_DB, PLACE_FADING_LENGTH_M, WAVES = 6.0, 600.0, 48
FENCE_SECONDS = 2.0
STOPS = 4  # towns of a route
OPERATORS = (("23201", "Alpha"), ("23203", "Beta"), ("23205", "Gamma"))


def degrees(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Latitude and longitude of metres east and north of the country's corner."""
    return SOUTH + y / METRES_A_DEGREE, WEST + x / EAST_SCALE


@dataclasses.dataclass(frozen=True)
class Route:
    """A closed way over the roads; `at` walks it in metres."""

    x: Floats
    y: Floats
    metres: Floats

    def at(self, way: Floats) -> tuple[Floats, Floats]:
        along = np.mod(way, self.metres[-1])
        return np.interp(along, self.metres, self.x), np.interp(along, self.metres, self.y)


@dataclasses.dataclass(frozen=True)
class Operator:
    """Masts, and the fading that belongs to places: a sum of plane waves, so that it is known everywhere."""

    code: str
    name: str
    masts: Floats
    waves: Floats
    phases: Floats

    def power(self, x: Floats, y: Floats) -> Floats:
        """The mean power in dBm of the strongest mast."""
        best = np.full(x.shape, np.inf)
        for mast_x, mast_y in self.masts:
            best = np.minimum(best, (x - mast_x) ** 2 + (y - mast_y) ** 2)
        loss = -65.0 - 17.5 * np.log10(np.maximum(best, 2500.0) / 10_000.0)
        fading = np.zeros(x.shape)
        for (wave_x, wave_y), phase in zip(self.waves, self.phases, strict=True):
            fading += np.cos(wave_x * x + wave_y * y + phase)
        return np.asarray(loss + PLACE_FADING_DB * math.sqrt(2 / WAVES) * fading)

    def chance_without(self, x: Floats, y: Floats) -> Floats:
        """The chance that a fence has no coverage."""
        scale = math.sqrt(2 * (DRIVE_FADING_DB**2 + NOISE_DB**2))
        margin = (self.power(x, y) - THRESHOLD_DBM) / scale
        return np.array([0.5 * math.erfc(value) for value in margin.tolist()])


@dataclasses.dataclass(frozen=True)
class Country:
    operators: list[Operator]
    routes: list[Route]


def make(seed: int, devices: int, size_m: float, towns: int) -> Country:
    """A country with a route for each device; device `i` has the modem of operator `i % 3`."""
    random = np.random.default_rng([seed, 1])
    places = random.uniform(0, size_m, (towns, 2))
    operators = []
    for code, name in OPERATORS:
        near = places[random.random(towns) < 0.6] + random.normal(0, 300, 2)
        waves = random.normal(0, 1 / PLACE_FADING_LENGTH_M, (WAVES, 2))
        operators.append(Operator(code, name, np.vstack([near, random.uniform(0, size_m, (3, 2))]), waves,
                                  random.uniform(0, 2 * math.pi, WAVES)))
    roads = _roads(places)
    # Devices of different operators share routes, so that the operators can be compared.
    ways = [_route(places, roads, np.random.default_rng([seed, 2, number])) for number in range((devices + 2) // 3)]
    return Country(operators, [ways[number // 3] for number in range(devices)])


def _roads(places: Floats) -> dict[int, dict[int, float]]:
    """Each town is joined with its two nearest ones, and all of them into one network."""
    lengths = np.hypot(*(places[:, None, :] - places[None, :, :]).transpose(2, 0, 1))
    joined = {(int(a), int(b)) for a in range(len(places)) for b in np.argsort(lengths[a])[1:3]}
    reached = {0}
    while len(reached) < len(places):
        _, a, b = min((lengths[a, b], a, b) for a in reached for b in range(len(places)) if b not in reached)
        joined.add((a, b))
        reached.add(b)
    roads: dict[int, dict[int, float]] = {town: {} for town in range(len(places))}
    for a, b in joined:
        roads[a][b] = roads[b][a] = float(lengths[a, b])
    return roads


def _route(places: Floats, roads: dict[int, dict[int, float]], random: np.random.Generator) -> Route:
    """A round trip through some towns."""
    stops = [int(town) for town in random.choice(len(places), STOPS, replace=False)]
    towns = [stops[0]]
    for stop in [*stops[1:], stops[0]]:
        towns += _shortest(roads, towns[-1], stop)[1:]
    x, y = places[towns].T
    return Route(x, y, np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))]))


def _shortest(roads: dict[int, dict[int, float]], start: int, end: int) -> list[int]:
    queue: list[tuple[float, list[int]]] = [(0.0, [start])]
    seen: set[int] = set()
    while queue:
        length, towns = heapq.heappop(queue)
        if towns[-1] == end:
            return towns
        if towns[-1] not in seen:
            seen.add(towns[-1])
            for town, metres in roads[towns[-1]].items():
                heapq.heappush(queue, (length + metres, [*towns, town]))
    raise AssertionError("the network is connected")


@dataclasses.dataclass(frozen=True)
class Drive:
    """The fences of one drive: where, how strong, covered or not, and the delays of their pings in microseconds (0: lost)."""

    x: Floats
    y: Floats
    distance_m: float
    power: Floats
    covered: npt.NDArray[np.bool_]
    delays: npt.NDArray[np.int64]


def drive(country: Country, device: int, number: int, fences: int, pings: int, seed: int) -> Drive:
    """Drive `number` of a device: it begins anywhere on the route, at a speed of its own."""
    random = np.random.default_rng([seed, 3, device, number])
    operator = country.operators[device % len(country.operators)]
    route = country.routes[device]
    spacing = random.uniform(12, 28) * FENCE_SECONDS
    x, y = route.at(random.uniform(0, route.metres[-1]) + spacing * np.arange(fences))
    keep = math.exp(-spacing / FADING_LENGTH_M)
    steps = random.normal(0, DRIVE_FADING_DB, fences)
    fading = np.empty(fences)
    fading[0] = steps[0]
    for index in range(1, fences):
        fading[index] = keep * fading[index - 1] + math.sqrt(1 - keep * keep) * steps[index]
    power = operator.power(x, y) + fading + random.normal(0, NOISE_DB, fences)
    covered = power > THRESHOLD_DBM
    weakness = np.clip((-85 - power) / 30, 0, 1)[:, None]
    base = 18_000 + 4_000 * (device % len(country.operators)) + 30_000 * weakness
    delays = (base * np.exp(random.normal(0, 0.08 + 0.25 * weakness, (fences, pings)))).astype(np.int64)
    lost = (random.random((fences, pings)) < 0.02 * weakness) | ~covered[:, None]
    # A fence with coverage has at least one answer.
    lost[covered, 0] = False
    return Drive(x, y, spacing, power, covered, np.where(lost, 0, delays))
