# SPDX-License-Identifier: MIT
"""Headless Chromium, driven through its DevTools protocol over pipes (--remote-debugging-pipe)."""

import base64
import json
import os
import pathlib
import shutil
import subprocess

import lib

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")  # the first starts with half the CPU time


class Browser:
    """A page in a browser without network. Use it in a with statement."""

    def __init__(self, folder, width=1400, height=900):
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        if not program:
            lib.skip_without(PROGRAMS[0])
        profile = os.path.join(folder, "profile")
        ours_in, their_out = os.pipe()
        their_in, ours_out = os.pipe()
        # The browser reads descriptor 3, and writes descriptor 4.
        shell = f'exec "$@" 3<&{their_in} 4>&{their_out}'
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
                   "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--force-color-profile=srgb",
                   f"--user-data-dir={profile}", f"--window-size={width},{height}", "--remote-debugging-pipe", "about:blank"]
        env = {**os.environ, "HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_CACHE_HOME": folder}
        with open(os.path.join(folder, "chromium.log"), "wb") as log:
            self.process = subprocess.Popen(["bash", "-c", shell, "chromium", program, *options], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, pass_fds=(their_in, their_out), env=env)
        os.close(their_in)
        os.close(their_out)
        self.input, self.output = os.fdopen(ours_in, "rb", 0), os.fdopen(ours_out, "wb", 0)
        self.log = os.path.join(folder, "chromium.log")
        self.number, self.buffer, self.events = 0, b"", []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.send("Browser.close", {})
        except OSError:
            pass  # it ended by itself
        self.output.close()
        self.process.wait()
        while self.input.read(1 << 16):
            pass  # until the last of its processes ended
        self.input.close()

    def send(self, method, arguments):
        self.number += 1
        message = {"id": self.number, "method": method, "params": arguments}
        if self.session:
            message["sessionId"] = self.session
        self.output.write(json.dumps(message).encode() + b"\0")
        return self.number

    def receive(self):
        while b"\0" not in self.buffer:
            data = self.input.read(1 << 16)
            if not data:
                with open(self.log, encoding="utf-8", errors="replace") as f:
                    raise lib.Failure(f"the browser ended: {f.read()}")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **arguments):
        """Call a method of the protocol, and return its result."""
        number = self.send(method, arguments)
        while True:
            message = self.receive()
            if message.get("id") == number:
                lib.check("error" not in message, f"{method}: {message.get('error')}")
                return message["result"]
            self.events.append(message)

    def wait(self, method):
        """Wait for an event, and return its parameters."""
        while True:
            for i, event in enumerate(self.events):
                if event.get("method") == method:
                    return self.events.pop(i)["params"]
            self.events.append(self.receive())

    def open(self, path, ready="view !== null || !document.getElementById('banner').hidden"):
        """Open a file, and wait until its page is ready."""
        address = path if "://" in path else pathlib.Path(os.path.abspath(path)).as_uri()
        self.events = []
        self.call("Page.navigate", url=address)
        self.wait("Page.loadEventFired")
        self.until(ready)
        self.frame()

    def value(self, expression):
        """Return the value of a JavaScript expression, or of its promise."""
        r = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        lib.check("exceptionDetails" not in r, f"{expression}: {r.get('exceptionDetails')}")
        return r["result"].get("value")

    def until(self, condition):
        self.value(f"new Promise((done) => {{ const look = () => ({condition}) ? done(true) : setTimeout(look, 5); look(); }})")

    def frame(self):
        """Wait until the page has drawn."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def key(self, key, modifiers=0):
        """Press and release a key: a letter, or a name such as "Enter"."""
        codes = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        what = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper())), "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **what)
        self.call("Input.dispatchKeyEvent", type="keyUp", **what)
        self.frame()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.frame()

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, count=1):
        for n in range(1, count + 1):
            self.mouse("mousePressed", x, y, button="left", clickCount=n)
            self.mouse("mouseReleased", x, y, button="left", clickCount=n)
        self.frame()

    def picture(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def complaints(self):
        """Return all exceptions, and all messages of the browser, for example of the content security policy."""
        self.frame()
        bad = [e for e in self.events if e.get("method") == "Runtime.exceptionThrown"]
        bad += [e for e in self.events if e.get("method") == "Log.entryAdded" and e["params"]["entry"]["source"] != "rendering"]
        return bad

    def requests(self):
        """Return the addresses that the page asked for."""
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
