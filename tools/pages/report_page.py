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

MANY_COMPARED = ("--to", "2026-11-24T12:00:00Z", "--with-from", "2026-11-24T12:00:00Z", "--with-to", "2027-12-31")
# Bands 1, 2, 3, 4, 5, 7, 8, 12, 13, 14, 17, 18, 19, 20, 26, 28.
MANY_CHANNELS = (50, 700, 1300, 2000, 2500, 3000, 3500, 5050, 5200, 5300, 5750, 5900, 6100, 6300, 8700, 9300)


def write(program, directory, name, fences, *arguments, tests=0, kind=None, **how):
    """The address of a report on a store of these fences, and of speed tests along them, over a ground of that kind."""
    folder = os.path.join(directory, name)
    os.mkdir(folder)
    configuration = stores.make_empty(program, folder)
    drives.fill(os.path.join(folder, "coverage.sqlite"), fences, **how)
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
    """Prints to a PDF; returns how far down each page the last word is, 0 to 1, how far to the right the last one of all, and the words at the foot of each."""
    with open(path, "wb") as file:
        file.write(base64.b64decode(browser.cdp("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"]))
    boxes = subprocess.run(["pdftotext", "-bbox", path, "-"], check=True, capture_output=True, text=True).stdout
    pages = re.split(r"<page ", boxes)[1:]

    # The number of the page, and what else stands in the margin of 13 of 297 mm, is no content.
    foots = [[word for end, word in re.findall(r'yMax="([\d.]+)">([^<]*)', page) if float(end) > 842 * (1 - 13 / 297)] for page in pages]
    pages = [re.sub(r"<word .*</word>", lambda word: word[0] if float(re.search(r'yMax="([\d.]+)"', word[0])[1]) <= 842 * (1 - 13 / 297) else "", page) for page in pages]

    def reach(page, axis, size):
        return max((float(end) for end in re.findall(rf'{axis}Max="([\d.]+)"', page)), default=0) / float(re.search(rf'{size}="([\d.]+)"', page)[1])

    return [reach(page, "y", "height") for page in pages], max(reach(page, "x", "width") for page in pages), foots


def test(options, tools, program, directory, findings, driver):
    """`tools` has the helpers of test-pages for all pages."""
    half = time_of(drives.START_US + 60 * 40_000_000)
    areas = write_areas(directory, "areas", (("city", 16.36, 16.38), ("road", 10, 16.36)))
    compared = ("--to", half, "--with-from", half, "--with-to", "2027-12-31")
    for name, tests, tables, charts, notes, fill, kind, arguments in (
            ("report", 0, 8, 5, 12, (0.9, 0.5), None, ()),
            ("report with speed tests", 120, 11, 5, 13, (0.9, 0.5), "png", ("--areas", areas, "--author", "A. Measurer, Office for Radio")),
            ("comparison", 0, 11, 10, 13, (0.8, 0.5), "pbf", compared), ("comparison of speed tests", 120, 13, 10, 15, (0.85, 0.5), None, compared)):
        page = write(program, directory, name.replace(" ", "-"), 1600, *arguments, tests=tests, kind=kind)
        for width, is_dark in ((1440, False), (1440, True), (1024, False), (1024, True), (390, False), (390, True)):
            findings.where = f"{name}, {width} px, {'dark' if is_dark else 'light'}: "
            browser = tools.Browser(driver, width, 1000, is_dark=is_dark, touch=width < 500)
            try:
                look(browser, options, tools, findings, page, (tables, charts, notes), kind)
                if width == 1440 and not is_dark:
                    look_at_paper(browser, options, findings, page, *fill)
            finally:
                browser.end()
    test_long_tables(options, tools, program, directory, findings, driver)


def test_long_tables(options, tools, program, directory, findings, driver):
    """Ten links, fifty areas, many bands and drives, of one selection and of two."""
    areas = write_areas(directory, "many-areas", [(f"area number {n}", 16.25 + n / 400, 16.25 + (n + 1) / 400) for n in range(49)])
    for name, arguments in (("long tables", ()), ("comparison of long tables", MANY_COMPARED)):
        page = write(program, directory, name.replace(" ", "-"), 6000, "--areas", areas, *arguments, tests=120,
                     links="ABCDEFGHIJ", channels=MANY_CHANNELS, session=20)
        findings.where = f"{name}: "
        browser = tools.Browser(driver, 1440, 1000)
        try:
            browser.open(page)
            look_at_paper(browser, options, findings, page, 0.75, 0)
        finally:
            browser.end()


def write_areas(directory, name, areas):
    path = os.path.join(directory, f"{name}.geojson")
    with open(path, "w") as file:
        json.dump({"type": "FeatureCollection", "features": [
            {"type": "Feature", "properties": {"category": name}, "geometry": {"type": "Polygon", "coordinates": [
                [[west, 40], [east, 40], [east, 50], [west, 50], [west, 40]]]}} for name, west, east in areas]}, file)
    return path


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
    findings.check("2027" not in browser.run("return document.body.innerText"), "has no bound in the future")
    findings.check(shown["wide"] <= 0, "is not wider than the window")
    broken = browser.run("return [...document.querySelectorAll('a')].filter((a) => !document.querySelector(a.getAttribute('href'))).length")
    findings.check(broken == 0, "each footnote leads to its text")
    tools.accessible(browser, findings)
    tools.quiet(browser, findings)
    edges = browser.run("return [...document.querySelectorAll('.scroll')].every((e) => getComputedStyle(e).backgroundAttachment === 'local, local, scroll, scroll')")
    findings.check(edges, "tables that scroll have a shadow at the edge")
    if options.pictures:
        name = re.sub(r"\W+", "-", findings.where).strip("-")
        whole = browser.cdp("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(os.path.join(options.pictures, f"{name}.png"), "wb") as file:
            file.write(base64.b64decode(whole))


# The gaps between the texts of neighbouring cells in the page as it is printed, in pixels; the least one, with its texts.
CLOSEST = """
const box = (cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return range.getBoundingClientRect();
};
let closest = [Infinity];
for (const cell of document.querySelectorAll("tr > * + *")) {
  const gap = box(cell).left - box(cell.previousElementSibling).right;
  if (cell.textContent && cell.previousElementSibling.textContent && gap < closest[0]) closest = [gap, cell.previousElementSibling.textContent, cell.textContent];
}
return closest;
"""


def look_at_paper(browser, options, findings, page, least, least_last):
    """Prints two to six pages, each filled to `least` at least, the last one to `least_last`."""
    name = re.sub(r"\W+", "-", findings.where).strip("-")
    folder = options.pictures or os.path.dirname(page[len("file://"):])
    filled, right, foots = print_page(browser, os.path.join(folder, f"{name}.pdf"))
    findings.check(2 <= len(filled) <= 6 and min(filled[:-1]) >= least and filled[-1] >= least_last,
                   f"is {len(filled)} pages on paper, filled to {', '.join(f'{share:.0%}' for share in filled)}")
    numbers = [foot[-3:] == [str(number), "/", str(len(foots))] and "coverage-probe" in foot for number, foot in enumerate(foots, 1)]
    findings.check(all(numbers), f"and each has the program and its number at the foot ({' '.join(foots[0])})")
    # The margin is 13 of 210 mm.
    findings.check(right <= 198 / 210, f"and no text is beyond their margin ({right:.1%})")
    browser.cdp("Emulation.setEmulatedMedia", media="print")
    browser.cdp("Emulation.setDeviceMetricsOverride", width=695, height=1000, deviceScaleFactor=1, mobile=False)
    gap, *texts = browser.run(CLOSEST)
    findings.check(gap >= 6, f"and the columns of its tables are apart ({gap:.1f} px: {texts})")
