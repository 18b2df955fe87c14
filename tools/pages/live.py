"""The live page of a real service in a browser: a drive with speed tests on it, a broken connection, commands, other origins."""

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import basemaps
import ground

TRACK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gps-player", "demo-track.csv")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def box_of_track():
    """West, south, east, north of the demo's track."""
    with open(TRACK, encoding="utf-8") as file:
        # In the tunnel, positions are empty.
        rows = [row for row in (line.split(",") for line in file if line[:1].isdigit()) if row[1]]
    latitudes, longitudes = ([float(row[place]) for row in rows] for place in (1, 2))
    return min(longitudes), min(latitudes), max(longitudes), max(latitudes)


class Field:
    """A receiver, a ping server, a control server, and a service with a live page, all on loopback."""

    def __init__(self, programs, directory):
        self.programs, self.directory, self.running = programs, directory, []
        os.makedirs(directory)
        box = box_of_track()
        self.basemap = ground.write_mbtiles(os.path.join(directory, "base.mbtiles"), "pbf", box, range(8, 16), ground.vector(box))
        ping = self.start("reflector", "--port", "0", "--listen", "127.0.0.1", "--secret", "demo", "--delay", "24", "--drop", "4", "--seed", "1")
        server = self.start("measurement-server", "--http", "--secret", "demo", "--fault", "slow=3000000", prefix="measurement server: ")
        url = self.start("control-server", "--secret", "demo", "--ping-port", ping.rsplit(":", 1)[1], "--measurement-server", server,
                         "--measurement-secret", "demo", "--test-duration", "2")
        gps = self.start("gps-player", "--gpsd", TRACK)
        self.port = free_port()
        self.configuration = os.path.join(directory, "config.yaml")
        with open(self.configuration, "w", encoding="utf-8") as file:
            file.write(f"""
state-directory: {directory}/state
control-server: {{ url: "{url}" }}
gpsd: {{ port: {gps.rsplit(":", 1)[1]} }}
network: {{ source: fixed-cellular }}
radio: {{ source: "fixed:4G/LTE" }}
submission: {{ spread: 0s }}
loop: {{ count: 3, distance: 40, every: null }}
speedtest: {{ coverage-pings: continue }}
agent: {{ record: always, loop: with-drive, page: "127.0.0.1:{self.port}", basemap: "{self.basemap}" }}
""")
        self.service = None

    def start(self, name, *arguments, prefix=None):
        """Starts a tool; returns its address."""
        log = os.path.join(self.directory, name + ".log")
        with open(log, "w", encoding="utf-8") as file:
            self.running.append(subprocess.Popen([os.path.join(self.programs, name), *arguments], stdout=file, stderr=subprocess.STDOUT))
        return self.line(log, prefix or f"{name}: listening on ")

    @staticmethod
    def line(log, prefix):
        for _ in range(300):
            with open(log, encoding="utf-8") as file:
                for line in file:
                    if prefix in line:
                        return line.split(prefix, 1)[1].strip()
            time.sleep(0.1)
        raise SystemExit(f"test-pages: no line with {prefix!r} in {log}")

    def start_service(self):
        log = os.path.join(self.directory, f"agent-{time.monotonic_ns()}.log")
        with open(log, "w", encoding="utf-8") as file:
            self.service = subprocess.Popen(
                [os.path.join(self.programs, "coverage-probe"), "agent", "--config", self.configuration], stdout=file, stderr=subprocess.STDOUT)
        self.line(log, "live page at ")

    def end_service(self):
        self.service.send_signal(signal.SIGTERM)
        return self.service.wait(timeout=30)

    def link(self, *options):
        return subprocess.run([os.path.join(self.programs, "coverage-probe"), "page", "--config", self.configuration, *options],
                              check=True, capture_output=True, text=True).stdout.strip()

    def end(self):
        if self.service and self.service.poll() is None:
            self.end_service()
        for program in self.running:
            program.terminate()
            program.wait(timeout=10)


LOOKS = """
const panel = document.querySelector("#live"), shown = (selector) => getComputedStyle(document.querySelector(selector)).color;
return {text: panel.querySelector(".state").textContent, state: panel.querySelector(".state").dataset.state, colour: shown("#live .now dd"),
  old: document.querySelectorAll(".old").length, disabled: document.querySelectorAll("[data-command]:disabled").length};
"""


def silence(field, options, tools, browser, findings):
    """A service that is frozen closes no connection."""
    before = browser.run(LOOKS)
    field.service.send_signal(signal.SIGSTOP)
    is_said = tools.wait_until(browser, "return livePanel.stateText.textContent.startsWith('nothing for ')", 20)
    frozen = browser.run(LOOKS)
    findings.check(is_said and frozen["state"] == "silent" and frozen["old"] > 2 and frozen["disabled"] == 5 and frozen["colour"] != before["colour"],
                   f"says that a frozen service is silent, and greys its figures: {frozen}")
    tools.picture(browser, options, "live-silent")
    # Long enough that the page connects again.
    tools.wait_until(browser, "return parseInt(livePanel.stateText.textContent.slice(12)) > 20", 40)
    findings.check(browser.run("return parseInt(livePanel.stateText.textContent.slice(12))") > 20, "for how long")
    count = browser.run(FENCES)
    field.service.send_signal(signal.SIGCONT)
    findings.check(tools.wait_until(browser, f"return livePanel.stateText.dataset.state === 'recording' && {FENCES[7:]} > {count}", 30)
                   and browser.run(LOOKS)["old"] == 0, f"and goes on with it: {browser.run(LOOKS)}")


def stop(options, tools, browser, findings):
    """Stop asks first."""
    browser.run("document.querySelector('[data-command=stop]').click()")
    findings.check(browser.run("return document.querySelector('dialog').open && document.activeElement.textContent") == "Go on recording", "Stop asks first")
    tools.accessible(browser, findings)
    tools.picture(browser, options, "live-stop")
    browser.run("document.activeElement.click()")
    time.sleep(1.5)
    findings.check(browser.run("return !document.querySelector('dialog').open && livePanel.stateText.dataset.state") == "recording", "and can be taken back")
    browser.run("document.querySelector('[data-command=stop]').click(); document.querySelectorAll('dialog button')[1].click()")
    findings.check(tools.wait_until(browser, "return livePanel.stateText.dataset.state !== 'recording'", 20), "then it stops")
    browser.run("document.querySelector('[data-command=start]').click()")
    findings.check(tools.wait_until(browser, "return livePanel.stateText.dataset.state === 'recording'", 20), "and starts")
    tools.wait_until(browser, "return document.querySelectorAll('#live .now dd').length >= 4 && !document.querySelector('#live .now').textContent.includes('no pings')", 20)


def narrow(browser, tools, findings):
    """The order on a telephone."""
    found = browser.run("""
      scrollTo(0, 0);
      const box = (selector) => document.querySelector(selector).getBoundingClientRect(), size = (e) => e.getBoundingClientRect();
      const small = [...document.querySelectorAll("button, select, a.leaflet-control-zoom-in")].filter((e) => e.getClientRects().length)
        .filter((e) => size(e).height < 44 || size(e).width < 44).map((e) => `${e.textContent} ${size(e).width}x${size(e).height}`);
      return {figures: box("#live .now").bottom, map: box("#map").top, end: box("#map").bottom, commands: box("#commands").top,
        large: parseFloat(getComputedStyle(document.querySelector("#live .now dd")).fontSize), small, high: innerHeight};""")
    findings.check(found["figures"] <= found["map"] < found["high"] / 2 and found["map"] < found["end"] <= found["commands"],
                   f"figures first, then the map, then the rest: {found}")
    findings.check(found["large"] >= 30 and not found["small"], f"large figures ({found['large']} px), buttons of 44 px {found['small'][:4] or ''}")


def status_of(address, **headers):
    request = urllib.request.Request(address, headers=headers, method=headers.pop("method", "GET"))
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


FENCES = "return coverageMap.state.table.count"
STATES = "return coverageMap.state.tests.all.map((test) => test.values.state)"


def test(options, tools, directory, findings, driver):
    """`tools` has the helpers of test-pages for all pages."""
    field = Field(options.bin, os.path.join(directory, "live"))
    try:
        field.start_service()
        follow(field, options, tools, findings, driver)
        export(field, options, tools, findings, driver)
    finally:
        field.end()


def export(field, options, tools, findings, driver):
    """The map of the same drives: their logs have the tracks."""
    findings.where = "map of real drives: "
    page = os.path.join(field.directory, "drives.html")
    subprocess.run([os.path.join(field.programs, "coverage-probe"), "export", "--config", field.configuration, "--state", "all", "--format", "html",
                    "--basemap", field.basemap, "-o", page], check=True)
    browser = tools.Browser(driver, 1280, 900)
    try:
        browser.open("file://" + page)
        findings.check(tools.wait_until(browser, basemaps.IS_PAINTED, 30), "has its ground")
        tracks = browser.run("return coverageMap.state.tracks.segments.map(({x, box}) => [x.length, box.east - box.west])")
        findings.check(tracks and sum(count for count, _ in tracks) > 30 and all(0 <= wide < 1e-4 for _, wide in tracks), f"has the tracks of the logs: {tracks}")
        tools.picture(browser, options, "basemap-track")
        tools.quiet(browser, findings)
    finally:
        browser.end()


def follow(field, options, tools, findings, driver):
    findings.where = "live page: "
    page = f"http://127.0.0.1:{field.port}/"
    findings.check(status_of(page) == 403, "is closed without the token")
    findings.check(status_of(page + "?token=" + "a" * 32) == 403, "is closed with another token")
    browser = tools.Browser(driver, 1280, 1000, origin=f"127.0.0.1:{field.port}")
    try:
        browser.open(field.link())
        findings.check(tools.wait_until(browser, "return typeof livePanel === 'object'"), "opens with the link")
        findings.check(browser.run("return location.search + document.cookie") == "", "leaves no token in the address, nor for scripts")
        findings.check(tools.wait_until(browser, f"{FENCES} >= 3", 30), "follows the drive")
        count = browser.run(FENCES)
        findings.check(tools.wait_until(browser, f"{FENCES} > {count}", 30), "grows")
        text = tools.text_of(browser, "#live") + tools.text_of(browser, "#commands")
        findings.check(all(part in text for part in ("recording", "always recording", "4G/LTE", " ms", "±", "waiting to be sent")),
                       "says state, technology, delay, accuracy and queue in words")
        findings.check(browser.run("return !livePanel.here.hidden"), "shows where the device is")
        tools.accessible(browser, findings)
        findings.check(tools.wait_until(browser, basemaps.IS_PAINTED, 30) and browser.run(basemaps.TILES)["colours"] >= 3, f"has its ground: {browser.run(basemaps.TILES)}")
        findings.check("© Example & Co" in tools.text_of(browser, ".leaflet-control-attribution"), "which is attributed")
        findings.check(status_of(page + "tiles/8/139/88") == 403, "and is closed without the token")
        findings.check(tools.wait_until(browser, f"{STATES}.length >= 1", 60), f"has a speed test: {browser.run(STATES)}")
        findings.check("speed tests: " in tools.text_of(browser, "#commands ul"), "says what the loop does")
        findings.check(tools.wait_until(browser, f"{STATES}.some((state) => state === 'waiting' || state === 'submitted')", 60), f"follows it to its end: {browser.run(STATES)}")
        browser.run("document.querySelector('[data-command=submit]').click()")
        findings.check(tools.wait_until(browser, f"{STATES}.includes('submitted')", 60), f"and to the server: {browser.run(STATES)}")

        silence(field, options, tools, browser, findings)
        status = field.end_service()
        findings.check(status == 0, f"the service ends while a page follows (status {status})")
        findings.check(tools.wait_until(browser, "return livePanel.stateText.dataset.state === 'lost'", 20), "says that the connection is lost")
        browser.console()
        before = browser.run(FENCES)
        field.start_service()
        findings.check(tools.wait_until(browser, f"return livePanel.stateText.dataset.state === 'recording' && {FENCES[7:]} > {before}", 60),
                       "continues after a broken connection")
        ids = browser.run("return Array.from({length: coverageMap.state.table.count}, (_, i) => coverageMap.state.table.value('id', i))")
        findings.check(len(set(ids)) == len(ids) >= before, f"has each fence once ({len(ids)})")

        ids = browser.run("return coverageMap.state.tests.all.map((test) => test.id)")
        rows = browser.run("return document.querySelectorAll('.tests tbody tr').length")
        findings.check(ids and len(set(ids)) == len(ids) == rows, f"has each speed test once ({len(ids)}): {browser.run(STATES)}")

        browser.run("document.querySelector('[data-command=pause]').click()")
        findings.check(tools.wait_until(browser, "return document.querySelector('#commands > p').textContent === 'pause: not recording (paused)'"), "pauses")
        findings.check(tools.wait_until(browser, "return livePanel.stateText.dataset.state === 'idle'", 20), "shows that it is idle")
        browser.run("document.querySelector('[data-command=resume]').click()")
        findings.check(tools.wait_until(browser, "return livePanel.stateText.dataset.state === 'recording'", 20), "goes on")
        stop(options, tools, browser, findings)
        for width, is_dark in ((1440, False), (1440, True), (1024, False), (1024, True), (390, False), (390, True)):
            browser.cdp("Emulation.setDeviceMetricsOverride", width=width, height=844 if width < 500 else 900, deviceScaleFactor=1, mobile=width < 500)
            browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])
            time.sleep(1.2)
            findings.where = f"live page, {width} px, {'dark' if is_dark else 'light'}: "
            tools.accessible(browser, findings)
            if width == 390:
                narrow(browser, tools, findings)
            if options.pictures:
                browser.run("scrollTo(0, 0)")
                browser.picture(os.path.join(options.pictures, f"live-{width}-{'dark' if is_dark else 'light'}.png"))
        findings.where = "live page: "
        messages = [line for line in browser.console() if "ERR_" not in line]
        foreign = [address for address in browser.requests() if not address.startswith(page)]
        findings.check(not messages, f"no error in the console {messages[:3] or ''}")
        findings.check(not foreign, f"no request to another host {foreign[:3] or ''}")

        field.link("--renew")
        field.end_service()
        field.start_service()
        findings.check(tools.wait_until(browser, "return livePanel.reason.textContent.includes('open the link that')", 30),
                       f"says why a renewed token refuses it: {browser.run('return livePanel.reason.textContent')}")
    finally:
        browser.end()
