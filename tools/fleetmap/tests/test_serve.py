"""The served map: PostGIS, tiles, the page; skipped where there is no PostGIS (apt-get install postgresql-15-postgis-3)."""

import argparse
import contextlib
import http.client
import io
import json
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import time
import unittest

import psycopg

from fleetmap import page, postgres, serve_command
from fleetmap.dataset import Dataset
from fleetmap.errors import FleetError
from fleetmap.tests.made import quietly

PAGES = pathlib.Path(__file__).resolve().parents[2] / "pages"
WAIT_S = 180


@unittest.skipUnless(postgres.programs(), "there is no PostgreSQL with PostGIS")
class Served(unittest.TestCase):
    folder: pathlib.Path
    tiles: serve_command.Tiles
    port: int

    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.folder.chmod(0o755)
        quietly("simulate", "-o", cls.folder / "country", "--devices", "6", "--days", "2", "--fences", "300", "--pings", "4")
        quietly("add", cls.folder / "fleet", cls.folder / "country" / "exports")
        parser = argparse.ArgumentParser()
        serve_command.add_options(parser)
        cls.options = parser.parse_args([str(cls.folder / "fleet"), "--port", "0", "--data", str(cls.folder / "database"), "--least-fences", "10"])
        with contextlib.redirect_stdout(io.StringIO()):
            served, cls.tiles = cls.enterClassContext(serve_command.server(cls.options))
        cls.port = served.server_address[1]
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        cls.addClassCleanup(thread.join)
        cls.addClassCleanup(served.shutdown)

    options: argparse.Namespace

    def get(self, path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        self.addCleanup(connection.close)
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def address(self, user: str) -> str:
        return f"host={self.folder / 'database'} dbname=postgres user={user}"

    def test_when_tiles_are_asked_for_then_none_is_above_100_kb_and_low_zooms_have_coarser_cells(self) -> None:
        sizes = {}
        for zoom in range(4, 13):
            x, y = self.place(zoom)
            status, content = self.get(f"/tiles/2026-11-02/23201/all/share/{zoom}/{x}/{y}")
            self.assertEqual(status, 200)
            sizes[zoom] = len(content)
        self.assertTrue(all(0 < size <= serve_command.MOST_BYTES for size in sizes.values()), sizes)
        self.assertLess(sizes[4], sizes[10])

    def place(self, zoom: int) -> tuple[int, int]:
        """The tile of the place with the most fences."""
        with psycopg.connect(self.address("fleet")) as connection:
            [[x, y]] = connection.execute("""
                SELECT ST_X(centre), ST_Y(centre) FROM (
                  SELECT ST_Centroid(shape) AS centre FROM shapes JOIN figures USING (resolution, cell)
                  WHERE resolution = 9 AND operator = '23201' ORDER BY fences DESC LIMIT 1) AS best""").fetchall()
        half = 20_037_508.342789244
        return int((x + half) / (2 * half) * (1 << zoom)), int((half - y) / (2 * half) * (1 << zoom))

    def test_when_too_many_cells_are_in_a_tile_then_it_is_made_smaller(self) -> None:
        before = serve_command.MOST_BYTES
        serve_command.MOST_BYTES = 1_000
        self.addCleanup(setattr, serve_command, "MOST_BYTES", before)
        content = self.tiles.tile(10, *self.place(10), "2026-11-02", "23201", "all", "share")
        self.assertTrue(0 < len(content) <= 1_000)

    def test_when_a_request_makes_no_sense_then_it_is_not_found(self) -> None:
        for path in ("/tiles/2026-11-02/23201/all/share/3/9/0", "/tiles/someday/23201/all/share/3/1/1", "/tiles/2026-11-02/23201/all/share/x/1/1",
                     "/tiles/2026-11-02/23201/all/password/3/1/1", "/cells/someday/all/x", "/etc/passwd", "/tiles", "/x"):
            self.assertEqual(self.get(path)[0], 404, path)

    def test_when_operators_are_compared_then_tiles_have_the_difference_of_cells_where_both_have_enough(self) -> None:
        x, y = self.place(6)
        one, both, nobody = (len(self.get(f"/tiles/2026-11-02/23201/all/share/6/{x}/{y}{query}")[1]) for query in ("", "?minus=23203", "?minus=x"))
        self.assertTrue(nobody == 0 < both <= one)
        with psycopg.connect(self.address("fleet")) as connection:
            [[cell, apart]] = connection.execute("""
                SELECT f.cell, f.share - o.share FROM figures f JOIN figures o USING (period, resolution, cell, technology)
                WHERE f.operator = '23201' AND o.operator = '23203' AND technology = 'all' ORDER BY f.fences DESC, f.cell LIMIT 1""").fetchall()
        found = json.loads(self.get(f"/cells/2026-11-02/all/{cell}?operator=23201&operator=23203")[1])
        self.assertEqual(found["23201"]["share"] - found["23203"]["share"], apart)
        self.assertEqual(set(found["23201"]), set(page.FIGURES))

    def test_when_the_reader_writes_then_it_is_refused(self) -> None:
        with psycopg.connect(self.address("reader")) as connection, self.assertRaises(psycopg.Error):
            connection.execute("SET default_transaction_read_only = off")
            connection.commit()
            connection.execute("DELETE FROM figures")

    def test_when_the_aggregate_is_loaded_again_then_it_is_the_same_and_withdrawn_groups_go(self) -> None:
        query = "SELECT COUNT(*), SUM(fences), MIN(tableoid::regclass::text) FROM figures"
        with psycopg.connect(self.address("fleet"), autocommit=True) as connection:
            before = connection.execute(query).fetchall()
            # The second one of a period that no fence has any more.
            connection.execute("INSERT INTO figures (period, resolution, cell, operator, technology, fences, devices)"
                               " VALUES ('2026-11-02', 9, 'gone', '23201', 'all', 1, 1), ('2026-11-09', 9, 'gone', '23201', 'all', 1, 1)")
            self.fill()
            self.assertEqual(connection.execute(query).fetchall(), before)
        self.assertEqual(before[0][2], "figures_2026_11")

    def fill(self, **changes: int) -> None:
        address = self.address("fleet").removesuffix(" user=fleet")
        serve_command.fill(address, Dataset.read(self.folder / "fleet"), argparse.Namespace(**vars(self.options) | changes), self.folder)

    def test_when_fine_cells_are_below_the_minimums_then_the_large_ones_are_served(self) -> None:
        self.addCleanup(self.fill)
        query = "SELECT MAX(fences) FILTER (WHERE resolution = 9), MAX(fences) FILTER (WHERE resolution = 6) FROM figures"
        with psycopg.connect(self.address("fleet"), autocommit=True) as connection:
            [(fine, large)] = connection.execute(query).fetchall()
            self.fill(least_fences=fine + 1)
            self.assertEqual(connection.execute(query).fetchall(), [(None, large)])
        with self.assertRaisesRegex(FleetError, "every cell is below the minimums"):
            self.fill(least_fences=large + 1)

    @unittest.skipUnless(shutil.which("chromedriver"), "there is no chromedriver: tools/setup pages")
    def test_when_the_page_is_opened_then_it_draws_the_cells(self) -> None:
        sys.path.insert(0, str(PAGES))
        from webdriver import Browser, Driver  # type: ignore[import-not-found]
        driver = Driver()
        try:
            browser = Browser(driver, 1200, 800, origin=f"127.0.0.1:{self.port}")
            browser.open(f"http://127.0.0.1:{self.port}/")
            deadline = time.monotonic() + WAIT_S
            drawn = "window.served && served.loaded() && served.queryRenderedFeatures({layers: ['cells']}).length > 20"
            while not browser.run(f"return Boolean({drawn})"):
                self.assertLess(time.monotonic(), deadline, browser.console())
                time.sleep(0.2)
            browser.run("""
                const other = document.getElementById("other");
                other.value = "23203";
                document.getElementById("choices").dispatchEvent(new Event("change", {bubbles: true}))""")
            compared = "served.loaded() && served.areTilesLoaded() && served.getSource('cells').tiles[0].endsWith('minus=23203')"
            while not browser.run(f"return Boolean({compared} && served.queryRenderedFeatures({{layers: ['cells']}}).length > 5)"):
                self.assertLess(time.monotonic(), deadline, browser.console())
                time.sleep(0.2)
            self.assertIn("where both have enough", browser.run("return document.getElementById('summary').textContent"))
            self.assertRegex(browser.run("return document.getElementById('notes').textContent"), "fewer than 10 fences or 2 devices.*23201: [1-9]")
            browser.run("show(served, served.queryRenderedFeatures({layers: ['cells']})[0].properties.cell, served.getCenter())")
            while not browser.run("return Boolean(document.querySelector('.maplibregl-popup-content'))"):
                self.assertLess(time.monotonic(), deadline, browser.console())
                time.sleep(0.2)
            self.assertIn("23203", browser.run("return document.querySelector('.maplibregl-popup-content').textContent"))
            self.assertEqual([line for line in browser.console() if "WebGL" not in line and "favicon" not in line], [])
            self.assertTrue(all(f"127.0.0.1:{self.port}" in line for line in browser.requests()))
            if pictures := os.environ.get("FLEET_PICTURES"):
                browser.picture(os.path.join(pictures, "fleet-served.png"))  # noqa: PTH118
        finally:
            driver.end()
            driver.process.stdout.close()
