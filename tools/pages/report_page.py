"""The report in a browser. It is static: checks that it is complete and readable, and that it fills two to six pages of paper."""

import base64
import datetime
import json
import os
import re
import subprocess

import drives
import ground
import stored_tests
import stores


def write(program, directory, name, fences, *arguments, tests=0, kind=None):
    """The address of a report on a store of these fences, and of speed tests along them, over a ground of that kind."""
    folder = os.path.join(directory, name)
    os.mkdir(folder)
    configuration = stores.make_empty(program, folder)
    drives.fill(os.path.join(folder, "coverage.sqlite"), fences)
    # Every test has a place, because a report of a box leaves out tests without one.
    starts = [drives.START_US + number * 40_000_000 for number in range(tests)]
    stored_tests.fill(os.path.join(folder, "coverage.sqlite"), name, starts, place=(48.21, 16.37))
    if kind:
        box = ground.box_of(os.path.join(folder, "coverage.sqlite"))
        make = ground.picture if kind == "png" else ground.vector(box)
        arguments += ("--basemap", ground.write_mbtiles(os.path.join(folder, "ground.mbtiles"), kind, box, range(6, 15), make))
    page = os.path.join(directory, f"{name}.html")
    subprocess.run([program, "report", "--config", configuration, "-o", page, *arguments], check=True)
    return "file://" + page


def print_page(browser, path):
    """Prints to a PDF; returns how far down each page the last word is, 0 to 1."""
    with open(path, "wb") as file:
        file.write(base64.b64decode(browser.cdp("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"]))
    boxes = subprocess.run(["pdftotext", "-bbox", path, "-"], check=True, capture_output=True, text=True).stdout
    pages = re.split(r"<page ", boxes)[1:]
    return [max((float(end) for end in re.findall(r'yMax="([\d.]+)">', page)), default=0) / float(re.search(r'height="([\d.]+)"', page)[1]) for page in pages]


def test(options, tools, program, directory, findings, driver):
    """`tools` has the helpers of test-pages for all pages."""
    half = time_of(drives.START_US + 60 * 40_000_000)
    areas = os.path.join(directory, "areas.geojson")
    with open(areas, "w") as file:
        json.dump({"type": "FeatureCollection", "features": [
            {"type": "Feature", "properties": {"category": name}, "geometry": {"type": "Polygon", "coordinates": [
                [[west, 40], [east, 40], [east, 50], [west, 50], [west, 40]]]}} for name, west, east in (("city", 16.36, 16.38), ("road", 10, 16.36))]}, file)
    compared = ("--to", half, "--with-from", half, "--with-to", "2027-12-31")
    for name, tests, tables, charts, notes, kind, arguments in (
            ("report", 0, 8, 5, 13, None, ()),
            ("report with speed tests", 120, 11, 5, 14, "png", ("--areas", areas, "--author", "A. Measurer, Office for Radio")),
            ("comparison", 0, 15, 10, 14, "pbf", compared), ("comparison of speed tests", 120, 17, 10, 16, None, compared)):
        page = write(program, directory, name.replace(" ", "-"), 1600, *arguments, tests=tests, kind=kind)
        for width, is_dark in ((1440, False), (1440, True), (1024, False), (1024, True), (390, False), (390, True)):
            findings.where = f"{name}, {width} px, {'dark' if is_dark else 'light'}: "
            browser = tools.Browser(driver, width, 1000, is_dark=is_dark, touch=width < 500)
            try:
                look(browser, options, tools, findings, page, (tables, charts, notes), kind)
            finally:
                browser.end()


def time_of(microseconds):
    return datetime.datetime.fromtimestamp(microseconds // 1_000_000, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def look(browser, options, tools, findings, page, counts, kind):
    browser.open(page)
    shown = browser.run("return {counts: ['table', '.charts > figure', 'ol li'].map((what) => document.querySelectorAll(what).length), "
                        "circles: document.querySelectorAll('svg circle').length, title: document.title, "
                        "wide: document.documentElement.scrollWidth - document.documentElement.clientWidth, "
                        "silent: [...document.querySelectorAll('svg[role=img]')].filter((e) => !e.getAttribute('aria-label')).length}")
    findings.check(tuple(shown["counts"]) == counts and shown["circles"] > 3 and shown["title"] and not shown["silent"], f"is whole: {shown}")
    drawn = browser.run("return [...document.querySelectorAll('.ground > *')].filter((e) => e.getBoundingClientRect().width > 0).map((e) => e.tagName)")
    findings.check(set(drawn) == ({"png": {"image"}, "pbf": {"path"}}.get(kind, set())), f"has its ground: {len(drawn)} parts")
    findings.check(shown["wide"] <= 0, "is not wider than the window")
    broken = browser.run("return [...document.querySelectorAll('a')].filter((a) => !document.querySelector(a.getAttribute('href'))).length")
    findings.check(broken == 0, "each footnote leads to its text")
    tools.accessible(browser, findings)
    tools.quiet(browser, findings)
    name = re.sub(r"\W+", "-", findings.where).strip("-")
    if options.pictures:
        whole = browser.cdp("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(os.path.join(options.pictures, f"{name}.png"), "wb") as file:
            file.write(base64.b64decode(whole))
    if "1440-px-light" in name:
        folder = options.pictures or os.path.dirname(page[len("file://"):])
        filled = print_page(browser, os.path.join(folder, f"{name}.pdf"))
        findings.check(2 <= len(filled) <= 6 and all(share >= 1 / 3 for share in filled[:-1]),
                       f"is {len(filled)} pages on paper, filled to {', '.join(f'{share:.0%}' for share in filled)}")
