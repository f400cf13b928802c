# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""A headless Chromium, driven through the DevTools pipe: no package of Python is needed for it.

    with devtools.Browser() as browser:
        page = browser.page()
        page.open("file:///x/index.html")
        page.eval("document.title")             # a value that JSON can hold; promises are awaited
        page.key("/"); page.type("text"); page.click(10, 20)
        page.problems                           # console errors and warnings, uncaught errors
        page.requests                           # every address that was asked for
        page.screenshot("x.png"); page.pdf()

One browser serves many pages; each page has a context of its own, as a private window has, so that
nothing which one of them stores is seen by the next.
"""

import base64
import collections
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

COMMAND = "chromium-headless-shell"     # a quarter of the processor time of chromium --headless=new
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--hide-scrollbars",
         "--force-color-profile=srgb", "--window-size=1280,900", "--remote-debugging-pipe"]
PATIENCE_S = 600


class BrowserError(Exception):
    pass


def missing():
    return [] if shutil.which(COMMAND) else [COMMAND]


class Browser:
    """Chromium reads commands from its descriptor 3 and writes to 4, JSON ended by a NUL byte."""

    def __init__(self, *flags):
        self.home = tempfile.mkdtemp(prefix="nytp-chromium.")
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for pair in (os.pipe(), os.pipe()) for end in pair]
        theirs_in, self.write_end, self.read_end, theirs_out = ends
        start = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out} {theirs_in}<&- {theirs_out}>&-'
        self.process = subprocess.Popen(
            ["bash", "-c", start, "bash", COMMAND, *FLAGS, *flags,
             f"--user-data-dir={self.home}/profile", "about:blank"],
            pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(theirs_in)
        os.close(theirs_out)
        self.unread = b""
        self.last_id = 0
        self.answers = {}
        self.listeners = collections.defaultdict(list)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(timeout=10)
        except (BrowserError, OSError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, signal.SIGKILL)    # it is many processes
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.home, ignore_errors=True)

    def read_messages(self, timeout_s):
        """Take in what has arrived; False when nothing came in that time."""
        if not select.select([self.read_end], [], [], max(timeout_s, 0))[0]:
            return False
        more = os.read(self.read_end, 1 << 20)
        if not more:
            raise BrowserError("Chromium has gone away")
        *whole, self.unread = (self.unread + more).split(b"\0")
        for text in whole:
            message = json.loads(text)
            if "id" in message:
                self.answers[message["id"]] = message
            else:
                for listener in self.listeners[message.get("sessionId")]:
                    listener(message["method"], message["params"])
        return True

    def wait_for(self, ready, what):
        deadline = time.monotonic() + PATIENCE_S
        while not ready():
            if not self.read_messages(deadline - time.monotonic()) and time.monotonic() > deadline:
                raise BrowserError(f"waited {PATIENCE_S} s in vain for {what}")

    def call(self, method, session=None, **parameters):
        self.last_id += 1
        mine = self.last_id
        message = {"id": mine, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        self.wait_for(lambda: mine in self.answers, method)
        answer = self.answers.pop(mine)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']}")
        return answer["result"]

    def page(self, **how):
        return Page(self, **how)


class Page:
    def __init__(self, browser, width=1280, height=900, dark=False, scripts=True):
        self.browser = browser
        self.problems, self.requests, self.loaded = [], [], []
        context = browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call("Target.createTarget", url="about:blank", browserContextId=context)
        self.context = context
        self.session = browser.call("Target.attachToTarget", targetId=target["targetId"],
                                    flatten=True)["sessionId"]
        browser.listeners[self.session].append(self.heard)
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"}])
        if not scripts:
            self.call("Emulation.setScriptExecutionDisabled", value=True)

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def heard(self, method, event):
        if method == "Page.lifecycleEvent" and event["name"] == "load":
            self.loaded.append(event["loaderId"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.problems.append(details.get("exception", details).get("description", str(details)))
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning", "assert"):
            self.problems.append(str(event["args"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.problems.append(event["entry"]["text"])

    def open(self, url):
        """Load a page and wait until all of it is there. By way of an empty page, because an address
        that differs in its fragment only loads nothing."""
        self.call("Page.navigate", url="about:blank")
        answer = self.call("Page.navigate", url=str(url))
        if "errorText" in answer:
            raise BrowserError(f"{url}: {answer['errorText']}")
        self.browser.wait_for(lambda: answer["loaderId"] in self.loaded, f"{url} to load")

    def eval(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in result:
            raise BrowserError(f"{expression}: {result['exceptionDetails']['exception']}")
        return result["result"].get("value")

    def until(self, expression):
        """Look again after every frame that is drawn until the expression is true."""
        return self.eval(f"""new Promise((done, fail) => {{
            const end = performance.now() + {PATIENCE_S} * 1000;
            const look = () => {{
                const value = {expression};
                if (value) done(value);
                else if (performance.now() > end) fail(new Error("never true"));
                else setTimeout(look, 5);
            }};
            look();
        }})""")

    def follow(self, act, expression="true"):
        """Do what leads to another page, and wait until that is there and the expression true."""
        self.eval("window.isLeft = true")
        act()
        while True:
            try:
                return self.until(f"!window.isLeft && document.readyState == 'complete' && ({expression})")
            except BrowserError as error:
                if "navigated" not in str(error):     # it was left while it was looked at
                    raise

    def key(self, key, **modifiers):
        codes = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                 "ArrowDown": 40, "Tab": 9, "Backspace": 8, "Home": 36, "End": 35, " ": 32}
        flags = 8 if modifiers.get("shift") else 0
        event = {"key": key, "modifiers": flags, "windowsVirtualKeyCode": codes.get(key, 0)}
        text = key if len(key) == 1 else {"Enter": "\r"}.get(key)
        self.call("Input.dispatchKeyEvent", type="keyDown", **event, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def keys(self, *keys):
        for key in keys:
            self.key(key)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def click_on(self, selector):
        x, y = self.eval(f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: "center"}}); const r = e.getBoundingClientRect();
            return [r.x + r.width / 2, r.y + r.height / 2]; }})()""")
        self.click(x, y)

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def close(self):
        self.browser.call("Target.disposeBrowserContext", browserContextId=self.context)
        del self.browser.listeners[self.session]
