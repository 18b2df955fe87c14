"""A small WebDriver client (https://www.w3.org/TR/webdriver2/) for Debian's chromium-driver, with the standard library alone."""

import base64
import json
import subprocess
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Driver:
    """A running chromedriver; its browsers end with it."""

    def __init__(self):
        try:
            self.process = subprocess.Popen(
                ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except FileNotFoundError:
            raise SystemExit("test-pages: there is no chromedriver: tools/setup pages") from None
        self.address = None
        for _ in range(50):
            line = self.process.stdout.readline()
            if not line:
                break
            if "started successfully on port" in line:
                port = line.rstrip(".\n").split()[-1]
                self.address = f"http://127.0.0.1:{port}"
                break
        if self.address is None:
            raise SystemExit("test-pages: chromedriver does not start")

    def call(self, method, path, body=None):
        data = None if method == "GET" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.address + path, data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"].split("\n")[0]) from None

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=10)


class Browser:
    """A headless Chromium that resolves no name but that of `origin` (host:port); with `touch` a telephone."""

    def __init__(self, driver, width, height, is_dark=False, touch=False, origin=None):
        # Resolve no names, so that even requests that a page makes against its policy cannot leave.
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={width},{height}",
                     f"--host-resolver-rules={f'MAP tiles.example {origin}, ' if origin else ''}MAP * ~NOTFOUND{', EXCLUDE 127.0.0.1' if origin else ''}",
                     "--force-prefers-reduced-motion"]
        options = {"args": arguments, "perfLoggingPrefs": {"enableNetwork": True}}
        if touch:
            options["mobileEmulation"] = {"deviceMetrics": {"width": width, "height": height, "pixelRatio": 2, "touch": True, "mobile": True}}
        self.driver = driver
        self.path = "/session/" + driver.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}, "goog:chromeOptions": options}}})["sessionId"]
        if not touch:
            self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def call(self, method, path, body=None):
        return self.driver.call(method, self.path + path, body)

    def cdp(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, address):
        self.call("POST", "/url", {"url": address})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_later(self, script, *arguments):
        """The script calls its last argument with the result."""
        return self.call("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def pointer(self, kind, *steps):
        """Steps are (x, y) to move to, "down", "up", or a number of milliseconds to wait."""
        actions = []
        for step in steps:
            if isinstance(step, tuple):
                actions.append({"type": "pointerMove", "duration": 60, "x": round(step[0]), "y": round(step[1])})
            elif isinstance(step, str):
                actions.append({"type": f"pointer{step.capitalize()}", "button": 0})
            else:
                actions.append({"type": "pause", "duration": step})
        self.call("POST", "/actions", {"actions": [
            {"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": actions}]})

    def pinch(self, middle, before, after):
        """Two fingers, left and right of `middle`, move from one distance to the other."""
        fingers = []
        for side in (-1, 1):
            where = [round(middle[0] + side * distance / 2) for distance in (before, after)]
            move = {"type": "pointerMove", "y": round(middle[1])}
            fingers.append({"type": "pointer", "id": f"finger{side}", "parameters": {"pointerType": "touch"}, "actions": [
                move | {"duration": 0, "x": where[0]}, {"type": "pointerDown", "button": 0}, {"type": "pause", "duration": 60},
                move | {"duration": 300, "x": where[1]}, {"type": "pause", "duration": 60}, {"type": "pointerUp", "button": 0}]})
        self.call("POST", "/actions", {"actions": fingers})

    def keys(self, *keys):
        """Presses each key; a pair holds its first key down."""
        actions = []
        for key in keys:
            held = key if isinstance(key, tuple) else (key,)
            actions += [{"type": "keyDown", "value": one} for one in held] + [{"type": "keyUp", "value": one} for one in reversed(held)]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def console(self):
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"}) if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """The addresses requested over any network."""
        found = []
        for entry in self.call("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                address = message["params"]["request"]["url"]
                if not address.startswith(("file:", "data:", "blob:", "about:")):
                    found.append(address)
        return found

    def end(self):
        self.call("DELETE", "")
