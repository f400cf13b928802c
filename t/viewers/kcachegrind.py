# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Drives KCachegrind without a person and reads its window as exact numbers.

    seen = look("/x/callgrind.out", subs=["main::work"])
    seen["total"], seen["functions"], seen["subs"]["main::work"]["callers"], seen["errors"]

KCachegrind runs on a display of its own under Xvfb; what its widgets say is read over the
accessibility bus. This file is both the outer half (look) and, when run as a program inside the
session that the outer half makes, the inner half that talks to the bus.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

NEEDS = ["kcachegrind", "Xvfb", "xdotool", "dbus-run-session",
         "/usr/libexec/at-spi-bus-launcher"]
CONFIG = "[TipOfDay]\nRunOnStart=false\n\n[GeneralSettings]\nShowPercentage=false\n" \
         "MaxListCount=100000\n"


class ViewerError(Exception):
    pass


def missing():
    """What is not installed, or an empty list."""
    lacking = [name for name in NEEDS if not shutil.which(name)]
    if subprocess.run(["/usr/bin/python3", "-c", "from gi.repository import Gio"],
                      capture_output=True, check=False).returncode:
        lacking.append("python3-gi")
    return lacking


def look(argument, subs=(), command=None, timeout=600):
    """Open `argument` and return what the window shows. `command` is a shell command whose
    output is piped into KCachegrind's standard input, for an argument of /dev/stdin, or run by
    bash with `$VIEW` as the viewer when it holds that. `subs` are shown one after the other."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="nytp-kcachegrind."))
    run = home / "run"
    run.mkdir(mode=0o700)
    (home / ".config").mkdir()
    (home / ".config" / "kcachegrindrc").write_text(CONFIG)
    read_end, write_end = os.pipe()
    # The server picks a free display and writes its number; it dies if the pipe closes before
    # the whole line is read.
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "1400x1000x24", "-nolisten", "tcp",
         "-noreset"],
        pass_fds=[write_end], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    os.close(write_end)
    try:
        with os.fdopen(read_end) as pipe:
            number = pipe.readline().strip()
        if not number:
            raise ViewerError("Xvfb did not start")
        environment = dict(
            os.environ, HOME=str(home), XDG_CONFIG_HOME=str(home / ".config"),
            XDG_RUNTIME_DIR=str(run), XDG_CACHE_HOME=str(home / ".cache"), LC_ALL="C.UTF-8",
            QT_QPA_PLATFORM="xcb", DISPLAY=":" + number)
        job = {"argument": str(argument), "subs": list(subs),
               "command": command, "out": str(home / "out.json"),
               "errors": str(home / "errors"), "wait": timeout / 2}
        done = subprocess.run(
            ["dbus-run-session", "--", "/usr/bin/python3", __file__, json.dumps(job)],
            env=environment, capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL,
            text=True, errors="replace", check=False, cwd=home)
        if not (home / "out.json").exists():
            raise ViewerError(f"nothing was read from the window: {done.stderr[-1500:]}")
        return json.loads((home / "out.json").read_text())
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(home, ignore_errors=True)


def number_of(text):
    """"1 234" as 1234, whatever separates the groups; None when it is no number."""
    digits = re.sub(r"[\s\u00a0\u202f,.]", "", text).strip("()")
    return int(digits) if re.fullmatch(r"-?\d+", digits) else None


# The inner half

class Window:
    def __init__(self, job):
        import accessibility
        self.bus = accessibility.Bus()          # before the viewer, as its head says
        self.job = job
        self.app = None
        with open(job["errors"], "wb") as errors:
            self.viewer = self._start(errors)

    def _start(self, errors):
        argument, command = self.job["argument"], self.job["command"]
        if not command:
            return subprocess.Popen(["kcachegrind", argument], stderr=errors,
                                    stdout=subprocess.DEVNULL)
        if "$VIEW" not in command:
            command = f"{command} | $VIEW"
        return subprocess.Popen(
            ["bash", "-c", command], stderr=errors, stdout=subprocess.DEVNULL,
            env=dict(os.environ, VIEW=f"kcachegrind {argument}".strip()), start_new_session=True)

    def until(self, ready, what):
        """Ask again until that is true, or the viewer has ended, or the patience has."""
        end = time.monotonic() + self.job["wait"]
        while True:
            got = ready()
            if got:
                return got
            if self.viewer.poll() is not None:
                raise ViewerError(f"{what}: the viewer ended with {self.viewer.returncode}; "
                                  f"{self.seen()}")
            if time.monotonic() > end:
                raise ViewerError(f"{what}: not within {self.job['wait']} s; {self.seen()}")
            time.sleep(0.02)                    # a window says nowhere that it has been drawn

    def seen(self):
        """For messages: which programs and widgets there are, and what the viewer wrote."""
        import accessibility
        running = self.bus.names(self.bus.children(accessibility.ROOT))
        widgets = [(role, name) for _, role, name in self.bus.widgets(self.app)] if self.app else []
        errors = pathlib.Path(self.job["errors"]).read_text(errors="replace")
        return f"running: {running}; shown: {widgets[:40]}; stderr: {errors[-1000:]}"

    def settled(self, read):
        """What is read, once it is the same twice: the viewer fills its tables in several steps,
        and answers in between."""
        before = read()

        def is_same():
            nonlocal before
            now = read()
            same, before = now == before, now
            return same
        self.until(is_same, "a table that stays as it is")
        return before

    def find(self, role, name=None, below=None):
        return [node for node, is_role, is_name in self.bus.widgets(below or self.app)
                if is_role == role and name in (None, is_name)]

    def labels(self, below=None):
        return self.bus.names(self.find("label", below=below))

    def connect(self):
        def running():
            self.app = self.bus.application("kcachegrind")
            return self.app and self.bus.children(self.app)
        self.until(running, "the viewer's window")

    def total_text(self):
        return next((text for text in self.labels()
                     if text and (" Total " in text or text.startswith("No profile"))), None)

    def dialogs(self):
        windows = self.bus.children(self.app)
        return [node for node, role in zip(windows, self.bus.roles(windows))
                if role in ("dialog", "alert message")]

    def tree(self, *headers):
        """The table whose column titles hold these, in this order at the end: its node, its cells row
        by row, and how many there are in a row. Its first children are the titles."""
        trees = self.find("tree")
        for node, cells in zip(trees, self.bus.children_of(trees)):
            head = cells[:20]
            titles = [name for name, role in zip(self.bus.names(head), self.bus.roles(head))
                      if role == "column header"]
            if titles[-len(headers):] == list(headers):
                return node, cells[len(titles):], len(titles)
        raise ViewerError(f"no table with {headers}; {self.seen()}")

    def rows(self, *headers):
        _, cells, width = self.tree(*headers)
        texts = self.bus.names(cells)
        return [texts[start:start + width] for start in range(0, len(texts), width)]

    def functions(self):
        self.settled(lambda: len(self.tree("Called", "Function", "Location")[1]))
        table = []
        for incl, own, called, name, location in self.rows("Called", "Function", "Location"):
            table.append({"incl": number_of(incl), "self": number_of(own),
                          "called": number_of(called), "name": name, "location": location})
        return table

    def click(self, node):
        x, y, width, height = self.bus.place(node)
        subprocess.run(["xdotool", "mousemove", str(x + min(width // 2, 20)),
                        str(y + height // 2), "click", "1"], check=True)

    def select(self, name):
        # The list is filtered by the text; a long name is found by its head.
        head = name[:60]
        self.bus.set_text(self.find("text", "Search:")[0], head)

        def is_it(text):
            return text and re.sub(r" <cycle \d+>\Z", "", text) == name

        def cell():
            _, cells, width = self.tree("Called", "Function", "Location")
            cells = cells[width - 2::width]
            names = self.bus.names(cells)
            if not all(text and head in text for text in names):
                return None                     # is not filtered yet
            return next((node for node, text in zip(cells, names) if is_it(text)), None)
        self.click(self.until(cell, f"a function {name!r} in the list"))
        self.until(lambda: any(map(is_it, self.labels())), f"{name!r} selected")

    def shown_rows(self, page, *headers):
        """The rows of the table that is on that page, after a click has brought it to the front."""
        self.click(self.find("page tab", page)[0])
        self.until(lambda: self.bus.is_showing(self.tree(*headers)[0]), f"the page {page!r}")
        return self.settled(lambda: self.rows(*headers))

    def describe(self, name):
        self.select(name)
        seen = {}
        for what, title in (("callers", "Caller"), ("callees", "Callee")):
            seen[what] = [{"cost": number_of(row[0]), "count": number_of(row[4]), "name": row[5]}
                          for row in self.shown_rows(title + "s", "Count", title)]
        seen["source"] = [{"line": number_of(row[0]), "cost": number_of(row[1]), "text": row[4]}
                          for row in self.shown_rows("Source Code", "Source")]
        seen["types"] = [row[:4] for row in self.shown_rows("Types", "Short", "", "Formula")]
        return seen

    def read(self):
        job = self.job
        seen = {"total": None, "subs": {}}
        self.connect()
        # Without a window manager the window keeps the size it asks for.
        subprocess.run("xdotool search --onlyvisible --class kcachegrind"
                       " windowmove 0 0 windowsize 1400 1000", shell=True, check=False,
                       capture_output=True)
        self.until(lambda: self.dialogs() or " Total " in (self.total_text() or ""), "a profile")
        seen["dialogs"] = self.bus.names(self.dialogs())
        match = re.search(r"Total .* Cost: ([\d\s]+)", self.total_text() or "")
        if match:
            seen["total"] = number_of(match[1])
        seen["functions"] = self.functions()
        for name in job["subs"]:
            seen["subs"][name] = self.describe(name)
        return seen

    def close(self):
        if self.job["command"]:
            os.killpg(self.viewer.pid, 15)
        else:
            self.viewer.terminate()
        self.viewer.wait()


def inner(job):
    window = Window(job)
    try:
        seen = window.read()
    finally:
        window.close()
    seen["errors"] = [line for line in
                      pathlib.Path(job["errors"]).read_text(errors="replace").splitlines()
                      if re.search(r"Loading|Invalid|Garbage|[Ee]rror", line)
                      and "AtSpi" not in line]
    pathlib.Path(job["out"]).write_text(json.dumps(seen))


if __name__ == "__main__":
    inner(json.loads(sys.argv[1]))
