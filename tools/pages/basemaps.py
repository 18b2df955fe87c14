"""The ground under the fences in a browser: vector and raster tiles in the page, hostile tiles, the track, and links beside each other."""

import gzip
import os
import random
import re
import time

import drives
import ground

SIZES = ((1440, False), (1440, True), (1024, False), (1024, True), (390, False), (390, True))

# The share of the pixels of the tiles in view that are drawn, and the number of their colours.
TILES = """
const colours = new Map(); let drawn = 0, all = 0;
for (const {el} of Object.values(coverageMap.state.basemap._tiles)) {
  const data = el.getContext("2d").getImageData(0, 0, el.width, el.height).data;
  for (let i = 0; i < data.length; i += 64) {
    all++;
    if (data[i + 3] < 200) continue;
    drawn++;
    const key = `${data[i] >> 3} ${data[i + 1] >> 3} ${data[i + 2] >> 3}`;
    colours.set(key, (colours.get(key) || 0) + 1);
  }
}
return {drawn: all ? drawn / all : 0, colours: colours.size, tiles: Object.keys(coverageMap.state.basemap._tiles).length};
"""
IS_PAINTED = """
const {basemap} = coverageMap.state, tiles = Object.values(basemap._tiles);
return tiles.length > 0 && !basemap.waiting.length && !basemap.isWorking && tiles.every(({el}) => el.found !== undefined);
"""
# The colour of the fences' canvas at a place of the map's container, as red, green and blue; null where nothing is drawn.
PIXEL = """
const canvas = document.querySelector("canvas.fences"), ratio = canvas.width / (coverageMap.map.getSize().x + 2 * coverageMap.layer.drawnAt.pad);
const data = canvas.getContext("2d").getImageData(Math.floor((arguments[0] + coverageMap.layer.drawnAt.pad) * ratio), Math.floor((arguments[1] + coverageMap.layer.drawnAt.pad) * ratio), 1, 1).data;
return data[3] < 128 ? null : [data[0], data[1], data[2]];
"""


def test(options, tools, program, directory, findings, driver):
    """`tools` has the helpers of test-pages for all pages."""
    store = tools.store(program, directory, "ground", 1600)
    box = ground.box_of(os.path.join(store, "coverage.sqlite"))
    vector = ground.write_mbtiles(os.path.join(directory, "vector.mbtiles"), "pbf", box, range(6, 15), ground.vector(box))
    test_vector(options, tools, program, store, vector, findings, driver)
    test_archives(options, tools, program, directory, store, box, findings, driver)
    test_hostile(tools, program, directory, store, box, findings, driver)
    test_links(options, tools, program, directory, findings, driver)


def painted(tools, browser):
    return tools.wait_until(browser, IS_PAINTED, 30)


def test_vector(options, tools, program, store, path, findings, driver):
    page = tools.write_page(program, store, "--basemap", path)
    with open(page[len("file://"):], encoding="utf-8") as file:
        size = len(re.search(r'id="basemap">(.*?)</script>', file.read(), re.S)[1])
    for width, is_dark in SIZES:
        findings.where = f"base map, {width} px, {'dark' if is_dark else 'light'}: "
        browser = tools.Browser(driver, width, 844 if width < 500 else 900, is_dark=is_dark, touch=width < 500)
        try:
            browser.open(page)
            findings.check(painted(tools, browser), "paints all tiles in view")
            tools.look(browser, findings, 1600)
            seen = browser.run(TILES)
            findings.check(seen["drawn"] > 0.02 and seen["colours"] >= 5, f"draws land, water and ways: {seen}")
            findings.check("© Example & Co" in tools.text_of(browser, ".leaflet-control-attribution"), "has the file's attribution as text")
            tools.picture(browser, options, f"basemap-{width}-{'dark' if is_dark else 'light'}")
            tools.accessible(browser, findings)
            if width == 1440 and not is_dark:
                findings.check(0 < size <= 10_000_000, f"the tiles are {size / 1e6:.1f} MB of the page")
                look_around(options, tools, browser, findings)
            tools.quiet(browser, findings)
        finally:
            browser.end()


def look_around(options, tools, browser, findings):
    labels = browser.run("const {basemap} = coverageMap.state; return [...new Set(Object.values(basemap._tiles).flatMap(({el}) => el.found ? basemap.labels(el.found) : []))].map((label) => label.name)")
    findings.check("Example Mitte" in labels and "<b>Ort</b>" in labels and not browser.run("return document.querySelectorAll('b').length > 40"), f"names places, as text: {labels}")
    light = browser.run("return coverageMap.state.basemap._container.querySelector('canvas').toDataURL()")
    browser.run("document.querySelector('#theme').click()")
    findings.check(browser.run("return coverageMap.state.basemap._container.querySelector('canvas').toDataURL()") != light, "changes with the theme at once")
    browser.run("document.querySelector('#theme').click()")
    # Beyond the greatest zoom of the file, and above the least one of the clip.
    for zoom, name in ((17, "streets"), (8, "overview")):
        browser.run("const t = coverageMap.state.table; coverageMap.map.setView([t.latitude[40], t.longitude[40]], arguments[0], {animate: false})", zoom)
        findings.check(painted(tools, browser) and browser.run(TILES)["drawn"] > 0.001, f"has ground at zoom {zoom}: {browser.run(TILES)}")
        tools.picture(browser, options, f"basemap-{name}")
    # Away from the fences.
    browser.run("coverageMap.map.setView([-40, 170], 15, {animate: false})")
    findings.check(painted(tools, browser) and browser.run(TILES)["drawn"] == 0, "is empty where the file has nothing")
    browser.run("coverageMap.fit()")
    painted(tools, browser)


def test_archives(options, tools, program, directory, store, box, findings, driver):
    """PMTiles with leaf directories, and raster tiles: the same tiles by another way."""
    archives = (("PMTiles", ground.write_pmtiles(os.path.join(directory, "vector.pmtiles"), box, range(6, 15), ground.vector(box)), 5, "© Example"),
                ("raster", ground.write_mbtiles(os.path.join(directory, "raster.mbtiles"), "png", box, range(6, 14), ground.picture), 3, "© Example & Co"))
    for name, path, colours, attribution in archives:
        findings.where = f"base map, {name}: "
        browser = tools.Browser(driver, 1280, 900)
        try:
            browser.open(tools.write_page(program, store, "--basemap", path))
            findings.check(painted(tools, browser), "paints all tiles in view")
            seen = browser.run(TILES)
            findings.check(seen["drawn"] > 0.02 and seen["colours"] >= colours, f"draws: {seen}")
            findings.check(attribution in tools.text_of(browser, ".leaflet-control-attribution"), "is attributed")
            tools.picture(browser, options, f"basemap-{name.lower()}")
            tools.quiet(browser, findings)
        finally:
            browser.end()


def hostile_tile(zoom, column, row):
    """A tile of another kind of malice for each place."""
    chance = random.Random(zoom * 1_000_003 + column * 1009 + row)

    def layer(content):
        return ground.field(3, ground.varint(15 << 3) + ground.varint(2) + ground.field(1, b"transportation") + content + ground.varint(5 << 3) + ground.varint(4096))

    def feature(geometry, kind=2, tags=b""):
        return ground.field(2, ground.field(2, tags) + ground.varint(3 << 3) + ground.varint(kind) + ground.field(4, geometry))

    moves = ground.varint(9) + ground.varint(4096) * 2
    kinds = (
        lambda: chance.randbytes(4000),
        # A length beyond the end, and a number without an end.
        lambda: b"\x1a\xff\xff\xff\xff\x0f" + bytes(20), lambda: b"\xff" * 3000,
        # 2^29 points in a few bytes; and as many as the limit of a tile's size allows.
        lambda: layer(feature(moves + ground.varint((1 << 29 << 3) | 2) + bytes(20))),
        lambda: layer(feature(moves + ground.varint((1_500_000 << 3) | 2) + bytes([2, 3]) * 1_500_000)),
        lambda: layer(b"".join(feature(moves + ground.varint(10) + bytes([4, 4])) for _ in range(60_000))),
        # Far places, no extent, tags that are not there, a command that is none.
        lambda: layer(feature(ground.varint(9) + ground.varint(2**63) * 2 + ground.varint(10) + ground.varint(2**62) * 2, 3)),
        lambda: layer(feature(moves, tags=ground.varint(2**40) * 2) + ground.varint(5 << 3) + ground.varint(0)),
        # Two million layers, keys and names; and a class that is long for each of many features.
        lambda: ground.field(3, b"") * 2_000_000, lambda: layer(ground.field(3, b"") * 2_000_000), lambda: layer(ground.field(1, b"") * 2_000_000),
        lambda: layer(ground.field(3, b"class") + ground.field(4, ground.field(1, b"w" * 2_000_000)) + feature(moves, tags=bytes(2)) * 19_000),
        lambda: layer(feature(ground.varint(13) + bytes(9))), lambda: layer(b"") * 30_000,
        lambda: ground.field(3, ground.field(1, b"place") + ground.field(3, b"name") + ground.field(4, ground.field(1, ("\u202e" + "W" * 100_000).encode()))
                             + ground.field(2, ground.field(2, bytes(2)) + b"\x18\x01" + ground.field(4, moves)) * 3000),
    )
    return gzip.compress(kinds[(column * 5 + row * 3 + zoom) % len(kinds)](), mtime=0)


def test_hostile(tools, program, directory, store, box, findings, driver):
    findings.where = "hostile tiles: "
    path = ground.write_mbtiles(os.path.join(directory, "hostile.mbtiles"), "pbf", box, range(8, 13), hostile_tile, "</script><img src=x onerror=alert(1)>&lt;b>")
    browser = tools.Browser(driver, 1280, 900)
    try:
        began = time.monotonic()
        browser.open(tools.write_page(program, store, "--basemap", path))
        done = painted(tools, browser)
        for zoom in (9, 10, 12, 15):
            browser.run("coverageMap.map.setZoom(arguments[0], {animate: false})", zoom)
            done = tools.wait_until(browser, IS_PAINTED, 60) and done
        seconds = time.monotonic() - began
        findings.check(done and browser.run("return coverageMap.state.table.count") == 1600, f"do not hold the page ({seconds:.1f} s for five zooms)")
        findings.check(tools.text_of(browser, ".leaflet-control-attribution").endswith("<b>") and not browser.run("return document.images.length"), "name no element")
        longest = browser.run("""
          let longest = 0;
          for (const {el, coords} of Object.values(coverageMap.state.basemap._tiles)) {
            const began = performance.now();
            coverageMap.state.basemap.paint(el, coords);
            longest = Math.max(longest, performance.now() - began);
          }
          return longest;""")
        findings.check(longest < 3000, f"none takes long: {longest:.0f} ms at most")
        tools.quiet(browser, findings)
    finally:
        browser.end()


def test_links(options, tools, program, directory, findings, driver):
    """Two links on one way: each fence of one has its place beside that of the other; and the track below them."""
    findings.where = "two links: "

    def prepare(path):
        drives.fill_line(path, 48, 16, fences=80, step=60, link="A", technology="5G/NRNSA")
        drives.fill_line(path, 48, 16, fences=80, step=60, link="B", technology="2G/EDGE")

    store = tools.store(program, directory, "beside", 0, tests=False, prepare=prepare)
    browser = tools.Browser(driver, 900, 800)
    try:
        browser.open(tools.write_page(program, store))
        for zoom, is_line in ((None, True), (18, False), (16, False)):
            if zoom:
                browser.run("const t = coverageMap.state.table; coverageMap.map.setView([t.latitude[30], t.longitude[30]], arguments[0], {animate: false})", zoom)
            found = browser.run("""
              const {layer, state} = coverageMap, frame = layer.frame(), places = [30, 110].map((i) => {
                const [right, down] = layer.shiftOf(i), [x, y] = frame.at(state.table.x[i], state.table.y[i]);
                return {x: x + right, y: y + down, i: layer.fenceAt({x: x + right, y: y + down}, 6)};
              });
              return {places, isLine: layer.isLine};""")
            first, second = found["places"]
            colours = [browser.run(PIXEL, place["x"], place["y"]) for place in found["places"]]
            apart = ((first["x"] - second["x"]) ** 2 + (first["y"] - second["y"]) ** 2) ** 0.5
            findings.check(found["isLine"] == is_line and apart >= 6 and [first["i"], second["i"]] == [30, 110],
                           f"are {apart:.1f} px apart {'as lines' if is_line else f'at zoom {zoom}'}, and each is found where it is: {found}")
            findings.check(all(colours) and colours[0][2] > 150 > colours[0][0] and colours[1][0] > 150 > colours[1][2], f"and each has its colour: {colours}")
            tools.picture(browser, options, f"links-{'line' if is_line else zoom}")
        browser.run("const t = coverageMap.state.table; coverageMap.map.setView([t.latitude[30], t.longitude[30]], 18, {animate: false})")
        between = browser.run("const t = coverageMap.state.table; return coverageMap.layer.frame().at((t.x[30] + t.x[31]) / 2, (t.y[30] + t.y[31]) / 2)")
        findings.check(browser.run(PIXEL, *between) is not None, "between two fences is the line of the way")
        browser.run("coverageMap.setLink(0)")
        findings.check(browser.run("return Math.max(...coverageMap.layer.shiftOf(30).map(Math.abs))") == 0, "one link alone is where it was measured")
        # A track 40 m north of the fences.
        browser.run("""
          const t = coverageMap.state.table;
          coverageMap.state.tracks.add({session: 1, link: "A", points: [Math.round((t.latitude[0] + 0.00036) * 1e6), Math.round(t.longitude[0] * 1e6), 0, 60000]});
          coverageMap.layer.redraw();""")
        north = browser.run("const t = coverageMap.state.table, p = coverageMap.state.projection.project(t.latitude[30] + 0.00036, t.longitude[30]); return coverageMap.layer.frame().at(...p)")
        colours = browser.run(PIXEL, *north), browser.run(PIXEL, *between)
        findings.check(colours[0] is not None and colours[1] is None, f"a track of the log is drawn where it was {colours}")
        tools.quiet(browser, findings)
    finally:
        browser.end()
