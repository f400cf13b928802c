# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Opens a file in the real speedscope in headless Chromium and returns what it made of it.

    seen = look("/x/app.speedscope.json", view="sandwich")
    seen["title"], seen["alerts"], seen["errors"], seen["exported"], seen["rows"]

speedscope's own command hands a file over as a script that calls loadFileFromBase64(); the script
written here does the same, and when the file is shown Ctrl+S is pressed, so that speedscope writes
its own file format again: "exported" is that, exact numbers, for every format that it imports.
One Chromium serves all files.
"""

import atexit
import base64
import functools
import json
import pathlib
import shutil
import tempfile

import devtools

NODE = pathlib.Path(__file__).resolve().parents[1] / ".cache" / "node" / "node_modules"
PAGE = NODE / "speedscope" / "dist" / "release" / "index.html"
FLAGS = ["--enable-unsafe-swiftshader", "--use-angle=swiftshader"]

# Runs before the page's own scripts.
HOOKS = """
(function () {
  const seen = window.nytpSeen = {alerts: [], errors: [], exported: null};
  const keep = (list, args) => list.push(Array.from(args).map(String).join(" "));
  window.alert = function () { keep(seen.alerts, arguments); };
  console.error = function () { keep(seen.errors, arguments); };
  console.warn = function () { keep(seen.errors, arguments); };
  window.addEventListener("error", event => seen.errors.push(String(event.message)));
  window.addEventListener("unhandledrejection", event => seen.errors.push(String(event.reason)));
  URL.createObjectURL = function (blob) {
    blob.text().then(text => { seen.exported = JSON.parse(text); });
    return "about:blank#";
  };
  HTMLAnchorElement.prototype.click = function () {};
})();
"""
SHOWN = "/ - speedscope$/.test(document.title)"
FAILED = "nytpSeen.alerts.length || nytpSeen.errors.some(text => /rror|Failed/.test(text))"
SAVE = """window.dispatchEvent(new KeyboardEvent("keydown",
    {key: "s", ctrlKey: true, metaKey: true, bubbles: true}))"""
DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
ROWS = """Array.from(document.querySelectorAll("table tr"),
    row => Array.from(row.querySelectorAll("td"), cell => cell.innerText))"""


def missing():
    lacking = devtools.missing() + ([] if shutil.which("node") else ["node"])
    return lacking + ([] if PAGE.exists() else ["npm speedscope"])


@functools.cache
def browser():
    """The Chromium of all tests, ended with them."""
    running = devtools.Browser(*FLAGS)
    atexit.register(running.__exit__)
    return running


def look(path, name=None, view=None, shot=None):
    """What speedscope shows of the file under that name, or with `shot` a picture of it there."""
    path = pathlib.Path(path)
    data = base64.b64encode(path.read_bytes()).decode()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="nytp-speedscope."))
    page = browser().page(width=1400, height=1000)
    try:
        script = scratch / "profile.js"
        script.write_text(f"speedscope.loadFileFromBase64({json.dumps(name or path.name)}, "
                          f"{json.dumps(data)});\n")
        page.call("Page.addScriptToEvaluateOnNewDocument", source=HOOKS)
        page.open(f"file://{PAGE}#localProfilePath={script}" + (f"&view={view}" if view else ""))
        page.until(f"{SHOWN} || {FAILED}")
        page.eval(DRAWN)
        if shot:
            page.screenshot(shot)
            return None
        seen = {"rows": page.eval(ROWS)}
        if page.eval(SHOWN):
            page.eval(SAVE)
            page.until(f"nytpSeen.exported || {FAILED}")
        return {**seen, **page.eval("nytpSeen"), "title": page.eval("document.title")}
    finally:
        page.close()
        shutil.rmtree(scratch, ignore_errors=True)


@functools.cache
def opened(path, **how):
    """What it shows, without a complaint, of a file, which several tests may ask about."""
    seen = look(path, **how)
    assert seen["title"].endswith(" - speedscope") and seen["alerts"] == [], seen
    assert [line for line in seen["errors"] if "Failed" in line or "rror" in line] == []
    return seen
