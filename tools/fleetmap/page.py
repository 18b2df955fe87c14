"""The map page: one file with MapLibre GL JS, the cells as PMTiles and their figures; it needs no network."""

import base64
import collections
import dataclasses
import gzip
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from fleetmap import geometry, outputs
from fleetmap.errors import FleetError

PARTS = pathlib.Path(__file__).with_name("page")
FIGURES = ("share", "low", "high", "loss", "ping_p50_us", "ping_p95_us", "ping_p99_us", "fence_p50_us", "fence_p95_us", "signal_dbm",
           "fences", "effective", "devices", "drives", "metres")
DIGITS = {"share": 4, "low": 4, "high": 4, "loss": 5, "effective": 1, "metres": 0}
MOST_DETAIL = 11
SEPARATOR = "\x1f"  # between the parts of a slice's key; map.js has it too


@dataclasses.dataclass(frozen=True)
class Notes:
    """What the page says about the map."""

    grid: str
    least_fences: int
    least_devices: int
    hidden: list[tuple[str, int, int]]  # operator, cells that are hidden in one period or more, their fences in these periods
    damaged: list[str]  # periods that are left out

    def print(self) -> None:
        for operator, count, fences in self.hidden:
            print(f"hidden in one period or more, below {self.least_fences} fences or {self.least_devices} devices:"
                  f" {operator}: {count:,} cells with {fences:,} fences")


def slices(batches: Iterator[pa.RecordBatch], index: dict[str, int]) -> dict[str, dict[str, list[Any]]]:
    """The figures by operator, technology and period: columns, with the cells' numbers as `n`."""
    found: dict[str, dict[str, list[Any]]] = {}
    for batch in batches:
        columns: dict[str, list[Any]] = {"n": [index[cell] for cell in batch["cell"].to_pylist()]}
        for name in FIGURES:
            values = batch[name].to_pylist()
            columns[name] = [None if value is None else round(value, DIGITS[name]) for value in values] if name in DIGITS else values
        places: dict[str, list[int]] = collections.defaultdict(list)
        for place, key in enumerate(zip(*(batch[name].to_pylist() for name in ("operator", "technology", "period")), strict=True)):
            places[SEPARATOR.join(key)].append(place)
        for name, chosen in places.items():
            part = found.setdefault(name, {column: [] for column in columns})
            for column, values in columns.items():
                part[column] += [values[place] for place in chosen]
    return found


def tiles(outlines: dict[str, list[geometry.Ring]], folder: pathlib.Path) -> bytes:
    """PMTiles of the cells, each with its number `n`: by tippecanoe, which leaves out nothing."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        with pathlib.Path(scratch, "cells.geojsonl").open("w") as file:
            for number, rings in enumerate(outlines.values()):
                shape = {"type": "MultiPolygon", "coordinates": [[ring] for ring in rings]}
                file.write(json.dumps({"type": "Feature", "properties": {"n": number}, "geometry": shape}) + "\n")
        program = pathlib.Path(sys.executable).with_name("tippecanoe")
        # It writes its arguments into the tiles: a path would make each run's page another one.
        command = [str(program), "--quiet", "--output", "cells.pmtiles", "--layer", "cells", "--minimum-zoom", "4", "--maximum-zoom",
                   str(MOST_DETAIL), "--no-feature-limit", "--no-tile-size-limit", "--no-tiny-polygon-reduction",
                   "--no-tile-stats", "cells.geojsonl"]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, cwd=scratch)
        if done.returncode != 0:
            raise FleetError(f"tippecanoe failed: {done.stderr.strip()}")
        return pathlib.Path(scratch, "cells.pmtiles").read_bytes()


def write(folder: pathlib.Path, batches: Iterator[pa.RecordBatch], outlines: dict[str, list[geometry.Ring]], notes: Notes) -> None:
    index = {name: number for number, name in enumerate(outlines)}
    corners = [corner for rings in outlines.values() for ring in rings for corner in ring] or [(0.0, 0.0)]
    data = {
        "cells": list(outlines), "slices": slices(batches, index), "notes": dataclasses.asdict(notes),
        "box": [*map(min, zip(*corners, strict=True)), *map(max, zip(*corners, strict=True))], "detail": MOST_DETAIL,
    }
    scripts = library()
    content = (PARTS / "map.html").read_text()
    for mark, text in {
        "/*maplibre.css*/": (scripts / "maplibre-gl.css").read_text(), "/*maplibre.js*/": (scripts / "maplibre-gl.js").read_text(),
        "/*map.css*/": (PARTS / "map.css").read_text(), "/*pmtiles.js*/": (PARTS / "pmtiles.js").read_text(),
        "/*figures.js*/": (PARTS / "figures.js").read_text(), "/*map.js*/": (PARTS / "map.js").read_text(),
        "<!--data-->": _packed(json.dumps(data, separators=(",", ":")).encode()), "<!--tiles-->": _packed(tiles(outlines, folder)),
    }.items():
        content = content.replace(mark, text.replace("</script", "<\\/script") if mark.endswith("js*/") else text, 1)
    with outputs.replacing(folder / "map.html") as partial:
        partial.write_text(content)


def library() -> pathlib.Path:
    """The folder of MapLibre GL JS in the wheel `maplibre`, whose Python part is not run."""
    found = importlib.util.find_spec("maplibre")
    if found is None or found.origin is None:
        raise FleetError("the package maplibre is not installed")
    return pathlib.Path(found.origin).with_name("srcjs")


def _packed(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()
