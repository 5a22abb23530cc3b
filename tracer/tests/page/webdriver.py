"""Drives a browser through WebDriver, with nothing but Python's own library."""

import base64
import json
import os
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
        "ArrowRight": "\ue014", "ArrowDown": "\ue015"}


class Browser:
    """A headless Chromium."""

    def __init__(self, width=1400, height=1000):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       text=True)
        self.session = ""
        self.opened = set()
        self.root = f"http://127.0.0.1:{self._port()}"
        arguments = ["--headless=new", "--disable-gpu", "--hide-scrollbars", f"--window-size={width},{height}"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        wanted = {"goog:chromeOptions": {"args": arguments},
                  "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        started = self.post("/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/session/{started['sessionId']}"

    def _port(self):
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                return int(line.rstrip().rstrip(".").rsplit(" ", 1)[1])
        raise SystemExit("chromedriver has not started")

    def close(self):
        try:
            self._request("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()

    def _request(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.root + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {error.read().decode()}") from error

    def post(self, path, body):
        return self._request("POST", self.session + path, body)

    def visit(self, path):
        """Opens a file, and remembers that it was asked for."""
        url = path.resolve().as_uri()
        self.opened.add(url)
        self.post("/url", {"url": url})

    def open(self, path):
        self.visit(path)
        self.settle()

    def settle(self):
        """Waits until what was asked for is drawn."""
        self.post("/execute/async", {"script": "const done = arguments[0]; requestAnimationFrame(() => "
                                     "requestAnimationFrame(() => setTimeout(done, 0)));", "args": []})

    def run(self, script, *arguments):
        return self.post("/execute/sync", {"script": script, "args": list(arguments)})

    def devtools(self, command, **parameters):
        return self.post("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def log(self, kind):
        return self.post("/se/log", {"type": kind})

    def find(self, selector):
        return self.post("/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.post(f"/element/{self.find(selector)}/click", {})
        self.settle()

    def type(self, selector, text):
        element = self.find(selector)
        self.post(f"/element/{element}/clear", {})
        self.post(f"/element/{element}/value", {"text": text})
        self.settle()

    def press(self, *keys):
        """Real keys, to whatever has the focus."""
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.post("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})
        self.settle()

    def point(self, x, y):
        """The real pointer, to a place of the window."""
        move = {"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y), "origin": "viewport"}
        self.post("/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [move]}]})
        self.settle()

    def resize(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        time.sleep(0.1)
        self.settle()

    def screenshot(self, path):
        shot = self.devtools("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))
