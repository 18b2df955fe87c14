"""Serves the map of a data set on loopback: PostgreSQL with PostGIS has the aggregate, the page draws its vector tiles.

    tools/fleet serve                        # a made-up country
    tools/fleet serve fleet --data database  # a data set; the database stays in the folder `database`

Needs Debian's postgresql-15-postgis-3. It ends with Ctrl-C or SIGTERM.
"""

import argparse
import contextlib
import dataclasses
import http.server
import json
import pathlib
import signal
import tempfile
import threading
import urllib.parse
from collections.abc import Iterator

import psycopg

from fleetmap import add_command, aggregate, definition, map_command, page, postgres, simulate_command
from fleetmap.dataset import Dataset
from fleetmap.errors import FleetError

MOST_BYTES = 100_000
MOST_CELLS = 100_000
# The resolution of each zoom; coarser cells at low zooms.
RESOLUTIONS = {7: 6, 9: 7, 10: 8}
FINEST = 9
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".json": "application/json"}
POLICY = ("default-src 'none'; script-src 'self'; worker-src blob:; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", type=pathlib.Path, nargs="?", metavar="DATASET", help="default: a made-up country")
    parser.add_argument("--data", type=pathlib.Path, metavar="DIR", help="keep the database there (default: a temporary folder)")
    parser.add_argument("--port", type=int, default=8080, help="on 127.0.0.1 (default 8080; 0: any)")
    parser.add_argument("--load-only", action="store_true", help="load the database and end")
    parser.add_argument("--period", choices=("day", "week", "month"), default="week")
    parser.add_argument("--least-fences", type=int, default=30, metavar="N")
    parser.add_argument("--least-devices", type=int, default=2, metavar="N")


def resolution_of(zoom: int) -> int:
    return next((resolution for most, resolution in RESOLUTIONS.items() if zoom <= most), FINEST)


class Tiles:
    """Reads tiles as the role that can only read."""

    def __init__(self, address: str, notes: page.Notes):
        self.notes = notes
        self.connection = psycopg.connect(address + " user=reader", autocommit=True)
        self.lock = threading.Lock()

    def close(self) -> None:
        self.connection.close()

    def choices(self) -> bytes:
        with self.lock:
            values = [[str(row[0]) for row in self.connection.execute(f"SELECT DISTINCT {name} FROM figures ORDER BY 1").fetchall()]
                      for name in ("period", "operator", "technology")]
            box = self.connection.execute("""
                SELECT ST_XMin(b), ST_YMin(b), ST_XMax(b), ST_YMax(b)
                FROM (SELECT ST_Transform(ST_SetSRID(ST_Extent(shape)::geometry, 3857), 4326) AS b FROM shapes) AS whole""").fetchall()[0]
        return json.dumps({"periods": values[0][::-1], "operators": values[1], "technologies": values[2], "box": box,
                           "notes": dataclasses.asdict(self.notes)}).encode()

    def figures(self, period: str, technology: str, cell: str, operators: list[str]) -> bytes:
        """All figures of a cell, by operator."""
        with self.lock:
            rows = self.connection.execute(f"SELECT operator, {', '.join(page.FIGURES)} FROM figures"
                                           " WHERE period = %s AND technology = %s AND cell = %s AND operator = ANY(%s)",
                                           (period, technology, cell, operators)).fetchall()
        return json.dumps({row[0]: dict(zip(page.FIGURES, row[1:], strict=True)) for row in rows}).encode()

    def tile(self, zoom: int, x: int, y: int, period: str, operator: str, technology: str, figure: str, other: str = "") -> bytes:
        """A figure, or its difference from another operator's. At most `MOST_BYTES`: of coarser cells where there are too many, at last only of those
        with the most fences.
        """
        resolution, most = resolution_of(zoom), MOST_CELLS
        while True:
            with self.lock:
                rows = self.connection.execute("SELECT tile(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
                                               (zoom, x, y, resolution, period, operator, technology, figure, other, most)).fetchall()
            content = bytes(rows[0][0])
            if len(content) <= MOST_BYTES:
                return content
            if resolution > min(RESOLUTIONS.values()):
                resolution -= 1
            else:
                most = 2000 if most == MOST_CELLS else most // 2


def handler(tiles: Tiles) -> type[http.server.BaseHTTPRequestHandler]:
    library = page.library()
    files = {"/": page.PARTS / "served.html"}
    files |= {f"/{name}": page.PARTS / name for name in ("served.js", "figures.js", "map.css")}
    files |= {f"/{name}": library / name for name in ("maplibre-gl.js", "maplibre-gl.css")}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urllib.parse.urlsplit(self.path)
            path, query = address.path, urllib.parse.parse_qs(address.query)
            parts = [urllib.parse.unquote(part) for part in path.split("/")]
            if path in files:
                self.answer(files[path].read_bytes(), TYPES[files[path].suffix])
            elif path == "/choices.json":
                self.answer(tiles.choices(), TYPES[".json"])
            else:
                try:
                    self.answer(*self.found(parts[1], parts[2:], query))
                except (ValueError, psycopg.DataError):
                    self.send_error(404)

        def found(self, kind: str, parts: list[str], query: dict[str, list[str]]) -> tuple[bytes, str]:
            """What the database has; ValueError for what it cannot have."""
            if kind == "cells" and len(parts) == 3:
                return tiles.figures(parts[0], parts[1], parts[2], query.get("operator", [])), TYPES[".json"]
            if kind != "tiles" or len(parts) != 7 or parts[3] not in page.FIGURES:
                raise ValueError("no such thing")
            (period, operator, technology, figure), (zoom, x, y) = parts[:4], map(int, parts[4:])
            if not (0 <= zoom <= 22 and 0 <= x < 1 << zoom and 0 <= y < 1 << zoom):
                raise ValueError("no such tile")
            return tiles.tile(zoom, x, y, period, operator, technology, figure, query.get("minus", [""])[0]), "application/vnd.mapbox-vector-tile"

        def answer(self, content: bytes, kind: str) -> None:
            self.send_response(200)
            for name, value in (("Content-Type", kind), ("Content-Length", str(len(content))), ("Content-Security-Policy", POLICY),
                                ("Cache-Control", "no-cache")):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *values: object) -> None:
            pass

    return Handler


def fill(address: str, dataset: Dataset, options: argparse.Namespace, scratch: pathlib.Path) -> tuple[int, page.Notes]:
    """Loads the aggregate at each resolution; returns its rows, and what is hidden at the finest one."""
    count = 0
    dataset, damaged = map_command.whole_periods(dataset, options.period)
    with psycopg.connect(address + " user=fleet") as connection:
        postgres.prepare(connection)
        for resolution in [*RESOLUTIONS.values(), FINEST]:
            grid = definition.Grid(f"h{resolution}", options.least_fences, options.least_devices, period=options.period)
            with aggregate.connect(dataset.manifest, "2GB", scratch / "spill") as engine:
                map_command.fill(engine, dataset, grid)
                outlines = map_command.name_cells(engine, grid.cell)
                notes = map_command.notes(engine, grid, damaged)
                # Fine cells can all be below the minimums where large ones are not.
                count += postgres.load(connection, resolution, map_command.batches(engine), outlines)
        connection.commit()
        connection.autocommit = True
        connection.execute("ANALYZE")
    if count == 0:
        raise FleetError(map_command.NOTHING_SHOWN)
    return count, notes


@contextlib.contextmanager
def server(options: argparse.Namespace) -> Iterator[tuple[http.server.HTTPServer, Tiles]]:
    """The HTTP server, with all that it needs."""
    with contextlib.ExitStack() as stack:
        scratch = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fleet-")))
        scratch.chmod(0o755)
        folder = options.dataset
        if folder is None:
            folder = scratch / "fleet"
            made_up(scratch)
        dataset = Dataset.read(folder)
        address = stack.enter_context(postgres.running((options.data or scratch / "database").resolve()))
        count, notes = fill(address, dataset, options, scratch)
        print(f"{count:,} rows")
        notes.print()
        tiles = Tiles(address, notes)
        stack.callback(tiles.close)
        served = stack.enter_context(http.server.ThreadingHTTPServer(("127.0.0.1", options.port), handler(tiles)))
        yield served, tiles


def made_up(folder: pathlib.Path) -> None:
    """The data set of a made-up country, in `folder`/fleet."""
    country = folder / "country"
    for module, arguments in ((simulate_command, ["-o", str(country)]), (add_command, [str(folder / "fleet"), str(country / "exports")])):
        parser = argparse.ArgumentParser()
        module.add_options(parser)
        module.run(parser.parse_args(arguments))


def run(options: argparse.Namespace) -> int:
    # Also a terminated server stops its database.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt), server(options) as (served, tiles):
        print(f"http://127.0.0.1:{served.server_address[1]}/", flush=True)
        if options.load_only:
            return 1 if tiles.notes.damaged else 0
        served.serve_forever()
    return 0
