"""The map page in a headless Chromium; skipped where there is none (tools/setup pages)."""

import os
import pathlib
import shutil
import sys
import tempfile
import time
import unittest

from fleetmap.tests.made import quietly

PAGES = pathlib.Path(__file__).resolve().parents[2] / "pages"
WAIT_S = 180


@unittest.skipUnless(shutil.which("chromedriver"), "there is no chromedriver: tools/setup pages")
class MapPage(unittest.TestCase):
    def test_when_the_page_is_opened_then_it_draws_the_cells_without_a_network(self) -> None:
        sys.path.insert(0, str(PAGES))
        from webdriver import Browser, Driver  # type: ignore[import-not-found]
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            quietly("simulate", "-o", folder / "country", "--devices", "6", "--days", "2", "--fences", "300", "--pings", "4")
            quietly("add", folder / "fleet", folder / "country" / "exports")
            quietly("map", folder / "fleet", "-o", folder / "map", "--least-fences", "10")
            driver = Driver()
            try:
                browser = Browser(driver, 1200, 800)
                browser.open((folder / "map" / "map.html").as_uri())
                deadline = time.monotonic() + WAIT_S
                while not browser.run("return Boolean(window.page && page.drawn && page.map.loaded())"):
                    self.assertLess(time.monotonic(), deadline, browser.console())
                    time.sleep(0.2)
                drawn = browser.run("return page.drawn.size")
                seen = browser.run("""
                    const features = page.map.queryRenderedFeatures({layers: ["cells"]});
                    return new Set(features.filter(feature => feature.state.color).map(feature => feature.id)).size""")
                self.assertGreater(drawn, 20)
                self.assertEqual(seen, drawn)
                both = browser.run("""
                    const other = document.getElementById("other");
                    other.value = other.options[2].value;
                    document.getElementById("choices").dispatchEvent(new Event("change"));
                    return [page.drawn.size, document.getElementById("summary").textContent]""")
                self.assertIn("where both have enough", both[1])
                self.assertLessEqual(both[0], drawn)
                browser.run("page.show([...page.drawn.keys()][0], page.map.getCenter())")
                self.assertIn("without coverage", browser.run("return document.querySelector('.maplibregl-popup-content').textContent"))
                self.assertEqual(browser.requests(), [])
                # Without a graphics card, Chromium warns about its own drawing.
                self.assertEqual([line for line in browser.console() if "WebGL" not in line], [])
                if pictures := os.environ.get("FLEET_PICTURES"):
                    browser.picture(os.path.join(pictures, "fleet-map.png"))  # noqa: PTH118
            finally:
                driver.end()
                driver.process.stdout.close()
