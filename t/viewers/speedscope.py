# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Opens a file in the real speedscope in headless Chromium and returns what it made of it.

    seen = look("/x/app.speedscope.json", view="sandwich")
    seen["title"], seen["alerts"], seen["errors"], seen["exported"], seen["rows"]

speedscope's own command hands a file over as a script that calls loadFileFromBase64(); the script
written here does the same and then presses Ctrl+S, so that speedscope writes its own file format
again: "exported" is that, exact numbers, for every format that it imports.
"""

import base64
import html
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

NODE = pathlib.Path(__file__).resolve().parents[1] / ".cache" / "node" / "node_modules"
PAGE = NODE / "speedscope" / "dist" / "release" / "index.html"
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--enable-unsafe-swiftshader", "--use-angle=swiftshader", "--window-size=1400,1000"]

HOOKS = """
(function () {
  const seen = {title: "", alerts: [], errors: [], exported: null, rows: []};
  const keep = (list, args) => list.push(Array.from(args).map(String).join(" "));
  window.alert = function () { keep(seen.alerts, arguments); };
  console.error = function () { keep(seen.errors, arguments); };
  console.warn = function () { keep(seen.errors, arguments); };
  window.addEventListener("error", event => seen.errors.push(String(event.message)));
  window.addEventListener("unhandledrejection", event => seen.errors.push(String(event.reason)));
  const show = () => {
    seen.title = document.title;
    seen.rows = Array.from(document.querySelectorAll("table tbody tr, table tr"),
      row => Array.from(row.querySelectorAll("td"), cell => cell.innerText));
    let out = document.getElementById("nytp-seen");
    if (!out) {
      out = document.createElement("pre");
      out.id = "nytp-seen";
      out.style.display = "none";
      document.body.appendChild(out);
    }
    out.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(seen))));
  };
  URL.createObjectURL = function (blob) {
    blob.text().then(text => { seen.exported = JSON.parse(text); show(); });
    return "about:blank#";
  };
  HTMLAnchorElement.prototype.click = function () {};
  let tries = 0;
  const wait = () => {
    show();
    if (/ - speedscope$/.test(document.title)) {
      if (EXPORT) {
        window.dispatchEvent(new KeyboardEvent("keydown",
          {key: "s", ctrlKey: true, metaKey: true, bubbles: true}));
      }
      setTimeout(show, 200);
    } else if (++tries < 600) {
      setTimeout(wait, 100);
    }
  };
  setTimeout(wait, 100);
})();
"""


class ViewerError(Exception):
    pass


def missing():
    lacking = [name for name in ("chromium", "node") if not shutil.which(name)]
    return lacking + ([] if PAGE.exists() else ["npm speedscope"])


def chromium(arguments, timeout=180):
    home = tempfile.mkdtemp(prefix="nytp-chromium.")
    try:
        browser = subprocess.Popen(
            ["chromium", *FLAGS, f"--user-data-dir={home}/profile", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
            start_new_session=True)
        try:
            return browser.communicate(timeout=timeout)[0].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            os.killpg(browser.pid, signal.SIGKILL)         # it is many processes
            browser.communicate()
            raise
    finally:
        shutil.rmtree(home, ignore_errors=True)


def look(path, name=None, view=None, shot=None, export=True, budget_ms=30000):
    path = pathlib.Path(path)
    data = base64.b64encode(path.read_bytes()).decode()
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="nytp-speedscope."))
    try:
        script = scratch / "profile.js"
        script.write_text(HOOKS.replace("EXPORT", json.dumps(bool(export and not shot)))
                          + f"speedscope.loadFileFromBase64({json.dumps(name or path.name)}, "
                          f"{json.dumps(data)});\n")
        url = f"file://{PAGE}#localProfilePath={script}"
        if view:
            url += f"&view={view}"
        if shot:
            chromium([f"--screenshot={shot}", f"--virtual-time-budget={budget_ms}", url])
            return None
        page = chromium(["--dump-dom", f"--virtual-time-budget={budget_ms}", url])
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    match = re.search(r'<pre id="nytp-seen"[^>]*>([^<]*)</pre>', page)
    if not match:
        raise ViewerError(f"the page says nothing: {page[:500]!r}")
    return json.loads(base64.b64decode(html.unescape(match[1])))
