"""The speed tests of the map page in a browser: squares, card, time line, table, switch, hostile texts, a page without fences."""

import sqlite3

import drives

RIGHT, HOME = "\ue014", "\ue011"

# A test in the middle of the view that no other test covers: its place in the window, and the colour in the middle of its square.
SQUARE = """
const {map, state, layer} = coverageMap, box = document.getElementById("map").getBoundingClientRect(), frame = layer.frame();
const at = (test) => { const [x, y] = frame.at(test.x, test.y); return {x, y}; };
const isFree = (one) => at(one).x > 80 && at(one).y > 40 && at(one).x < box.width - Math.min(330, box.width / 8) && at(one).y < box.height - 60 && state.tests.near(at(one), 0, frame) === one;
const test = state.tests.shown.find((one) => one.look === arguments[0] && one.hasPlace && isFree(one));
if (!test) return null;
const point = at(test), canvas = document.querySelector("canvas.fences"), ratio = canvas.width / box.width;
const data = canvas.getContext("2d").getImageData((point.x + 4) * ratio, (point.y + 1) * ratio, 1, 1).data;
return {key: test.key, x: box.left + point.x, y: box.top + point.y, pixel: [...data].slice(0, 3), colour: test.colour, shown: test.values.download_kbps};
"""

# The place of the n-th test's mark in the window.
MARK = """
const {timeline, state} = coverageMap, test = state.tests.shown[arguments[0]], element = document.getElementById("timeline");
element.scrollIntoView({block: "nearest"});
const box = element.getBoundingClientRect();
return {key: test.key, x: box.left + timeline.mark(test).x + 4, y: box.top + 7};
"""

SHOWN = "return coverageMap.shown?.key ?? null"


def hexadecimal(pixel):
    return "#" + "".join(f"{part:02x}" for part in pixel)


def use(browser, tools, findings, count):
    """With the mouse and the keys, on a wide page."""
    findings.check(browser.run("return coverageMap.state.tests.all.length") == count, f"has {count} speed tests")
    browser.run("coverageMap.pick(null); coverageMap.fit(); coverageMap.map.setView(coverageMap.state.tests.all[2].place, 16, {animate: false})")
    found = browser.run(SQUARE, "completed")
    findings.check(found and hexadecimal(found["pixel"]) == found["colour"].lower(), f"a square has the colour of its technology {found}")
    tools.choose(browser, "download_kbps")
    rated = browser.run(SQUARE, "completed")
    legend = tools.text_of(browser, "#legend")
    findings.check(hexadecimal(rated["pixel"]) == rated["colour"] != found["colour"] and "Mbit/s or more" in legend, f"or of its download: {legend}")
    tools.choose(browser, "upload_kbps")
    findings.check("Mbit/s or more" in tools.text_of(browser, "#legend"), "or of its upload")
    tools.choose(browser, "loss")
    findings.check(hexadecimal(browser.run(SQUARE, "completed")["pixel"]) == "#ffffff", "and is neutral where it has no figure")
    tools.choose(browser, "technology")
    hover_and_click(browser, tools, findings, found)
    use_time_line(browser, tools, findings)
    use_table(browser, tools, findings, count)
    use_switch(browser, tools, findings)


def hover_and_click(browser, tools, findings, found):
    browser.pointer("mouse", (found["x"], found["y"]), 100)
    card = tools.text_of(browser, "#card")
    findings.check(browser.run(SHOWN) == found["key"] and all(text in card for text in ("Mbit/s down", "Mbit/s up", "ms ping", "delay, idle", "delay, down", "delay, up",
                   "outcome", "state", "Example Mobil", "of its loop")), f"hovering a square shows its figures: {card[:160]}")
    browser.pointer("mouse", "down", "up", 50, (found["x"] + 200, 20), 80)
    findings.check(browser.run("return coverageMap.pinned?.key") == found["key"], "a click keeps them")
    browser.run("document.querySelector('#card summary').click()")
    findings.check("download_connections" in tools.text_of(browser, "#card details"), "all figures of a test, under the names of the exports")
    findings.check(browser.run("return !coverageMap.ring.hidden && coverageMap.timeline.cursor.key") == found["key"], "and its time")
    browser.run("document.querySelector('#card .close').click()")
    failed = browser.run("""const test = coverageMap.state.tests.all.find((one) => one.look === 'failed');
      coverageMap.pick(test, true); return document.querySelector('#card').textContent""")
    findings.check("failed" in failed and "closed the connection" in failed, "a failed test says why")
    on_wifi, interrupted = browser.run("""const cardOf = (test) => { coverageMap.pick(test, true); return document.querySelector('#card').innerText; };
      return [(one) => one.values.link === 'wifi', (one) => one.values.interrupted].map((is) => cardOf(coverageMap.state.tests.all.find(is)))""")
    findings.check(on_wifi.startswith("Wi-Fi") and "wlan0" in on_wifi and "G/" not in on_wifi.split("All figures")[0], f"a test on Wi-Fi is named so: {on_wifi[:80]}")
    findings.check("completed, interrupted" in interrupted and "100 % measured, 3.2 s silent" in interrupted, f"an interrupted test says so: {interrupted[:200]}")
    browser.run("coverageMap.pick(null)")


def use_time_line(browser, tools, findings):
    mark = browser.run(MARK, 3)
    browser.pointer("mouse", (mark["x"], mark["y"]), 100)
    findings.check(browser.run(SHOWN) == mark["key"] and browser.run("return !coverageMap.ring.hidden"), "hovering a mark of the time line shows the place")
    browser.pointer("mouse", "down", "up", 50, (20, 20), 50)
    findings.check(browser.run("return coverageMap.pinned?.key") == mark["key"], "a click on it keeps the figures")
    browser.run("coverageMap.pick(null); document.querySelector('#timeline').focus()")
    browser.keys(HOME)
    spoken = set()
    for _ in range(24):
        browser.keys(RIGHT)
        spoken.add(browser.run("return document.querySelector('#timeline').getAttribute('aria-valuetext')"))
    words = [text for text in spoken if "speed test" in text]
    findings.check(len(words) == 1 and "Mbit/s" in words[0], f"arrows reach a test: {words}")
    # From the fence before a test on.
    browser.run("""const {axis, tests} = coverageMap.state, place = axis.placeOf(tests.all[1]);
      coverageMap.pick(axis.item(place - 1)); document.querySelector('#speed').value = '10'; document.querySelector('#play').click()""")
    findings.check(tools.wait_until(browser, "return coverageMap.shown === coverageMap.state.tests.all[1]"), "play shows a test while it runs")
    browser.run("document.querySelector('#play').click(); coverageMap.pick(null)")
    box = [tools.centre(browser, "#timeline", share, 0.6) for share in (0.2, 0.3, 0.45)]
    browser.pointer("mouse", box[0], "down", box[1], box[2], "up", 100)
    selected = browser.run("return [coverageMap.state.tests.selected.length, coverageMap.state.tests.all.length]")
    totals = tools.text_of(browser, "#totals")
    findings.check(0 < selected[0] < selected[1] and f"speed tests{selected[0]}" in totals, f"a brush selects tests: {selected}, {totals}")
    browser.run("document.querySelector('#clear').click()")


def use_table(browser, tools, findings, count):
    rows = browser.run("return document.querySelectorAll('.tests tbody tr').length")
    text = tools.text_of(browser, ".tests tbody")
    findings.check(rows == count and all(word in text for word in ("Mbit/s", " ms", "completed", "failed", "aborted")), f"a table of {rows} speed tests")
    browser.run("document.querySelectorAll('.tests tbody button')[1].click()")
    shown = browser.run("return coverageMap.pinned === coverageMap.state.tests.all[1] && coverageMap.map.getBounds().contains(coverageMap.pinned.place)")
    marked = browser.run("return document.querySelectorAll('.tests tbody tr')[1].getAttribute('aria-selected')")
    findings.check(shown and marked == "true", "a row leads to the place of its test")
    nowhere = browser.run("return coverageMap.state.tests.all.findIndex((test) => !test.hasPlace)")
    browser.run("document.querySelectorAll('.tests tbody button')[arguments[0]].click()", nowhere)
    findings.check("without a place" in tools.text_of(browser, "#card") and browser.run("return coverageMap.ring.hidden"), "or says that there is none")
    browser.run("coverageMap.pick(null)")


def use_switch(browser, tools, findings):
    before = browser.run(tools.PIXELS)["sum"]
    browser.run("document.querySelector('#tests input').click()")
    hidden = browser.run("return document.querySelector('.tests').hidden && coverageMap.timeline.lane === 0 && document.querySelector('.hint .test').hidden")
    findings.check(hidden and browser.run(tools.PIXELS)["sum"] != before and not browser.run("return coverageMap.state.axis.tests.length"), "a switch hides them")
    browser.run("document.querySelector('#tests input').click()")
    findings.check(browser.run(tools.PIXELS)["sum"] == before and not browser.run("return document.querySelector('.tests').hidden"), "and shows them again")


def tap(browser, options, tools, findings, is_dark):
    """With a finger, on a narrow page."""
    browser.run("coverageMap.pick(null); coverageMap.map.setView(coverageMap.state.tests.all[2].place, 16, {animate: false})")
    found = browser.run(SQUARE, "completed")
    browser.pointer("touch", (found["x"] + 8, found["y"] - 6), "down", 40, "up", 400)
    findings.check(browser.run("return coverageMap.pinned?.key") == found["key"] and "Mbit/s" in tools.text_of(browser, "#card"), "a tap on a square shows its figures")
    gap = browser.run("return document.querySelector('#card').getBoundingClientRect().top - document.querySelector('.ring').getBoundingClientRect().bottom")
    findings.check(gap >= 0, f"the square is above them ({gap:.0f} px)")
    wide = browser.run("""coverageMap.pick(coverageMap.state.tests.all.find((one) => one.look === 'failed'), true);
      const card = document.querySelector('#card'); return card.scrollWidth - card.clientWidth""")
    findings.check(wide <= 0, f"a long error has its room ({wide} px too wide)")
    tools.picture(browser, options, f"map-390-failed-{'dark' if is_dark else 'light'}")
    browser.run("coverageMap.pick(coverageMap.state.tests.all[2], true)")


def test_hostile(browser, tools, findings):
    browser.run("const test = coverageMap.state.tests.all.find((one) => one.look === 'completed'); coverageMap.pick(test); document.querySelector('#card details').open = true")
    completed = tools.text_of(browser, "#card")
    browser.run("coverageMap.pick(coverageMap.state.tests.all.find((one) => one.look === 'failed'))")
    shown = completed.count(drives.HOSTILE), tools.text_of(browser, "#card").count(drives.HOSTILE)
    findings.check(shown[0] >= 4 and shown[1] >= 1, f"of speed tests are shown as they are {shown}")
    findings.check(not browser.run("return document.images.length") and browser.run("return document.title").startswith("Coverage map"), "and are text")


def test_alone(options, tools, program, directory, findings, driver):
    """A loop without a drive has speed tests only; a drive without a loop has none."""
    findings.where = "speed tests alone: "
    page = tools.export(program, directory, "alone", 900, prepare=forget_fences)
    browser = tools.Browser(driver, 1280, 900)
    try:
        browser.open(page)
        findings.check(browser.run("return coverageMap.state.table.count === 0 && coverageMap.state.tests.all.length > 3"), "has no fence")
        findings.check(browser.run("return coverageMap.map.getBounds().contains(coverageMap.state.tests.all[2].place)"), "shows all of them")
        findings.check("4G" in tools.text_of(browser, "#legend"), "explains their colours")
        mark = browser.run(MARK, 2)
        browser.pointer("mouse", (mark["x"], mark["y"] + 50), 100)
        findings.check(browser.run(SHOWN) == mark["key"], "has a time line")
        browser.run("document.querySelector('#timeline').focus()")
        browser.keys(HOME, RIGHT)
        findings.check("speed test" in browser.run("return document.querySelector('#timeline').getAttribute('aria-valuetext')"), "with keys")
        tools.accessible(browser, findings)
        tools.quiet(browser, findings)
        tools.picture(browser, options, "map-tests-alone")
    finally:
        browser.end()
    findings.where = "no speed tests: "
    browser = tools.Browser(driver, 1280, 900)
    try:
        browser.open(tools.export(program, directory, "none", 400, tests=False))
        tools.look(browser, findings, 400)
        findings.check(browser.run("return document.querySelector('.tests').hidden && document.querySelector('#tests').hidden && coverageMap.timeline.lane === 0"),
                       "no table, no switch, no mark")
        tools.quiet(browser, findings)
    finally:
        browser.end()


def forget_fences(database):
    db = sqlite3.connect(database)
    with db:
        db.execute("DELETE FROM fence")
    db.close()
