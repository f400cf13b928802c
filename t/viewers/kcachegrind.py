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

NEEDS = ["kcachegrind", "Xvfb", "xdotool", "import", "dbus-run-session"]
CONFIG = "[TipOfDay]\nRunOnStart=false\n\n[GeneralSettings]\nShowPercentage=false\n" \
         "MaxListCount=100000\n"


class ViewerError(Exception):
    pass


def missing():
    """What is not installed, or an empty list."""
    lacking = [name for name in NEEDS if not shutil.which(name)]
    probe = "import gi; gi.require_version('Atspi', '2.0'); from gi.repository import Atspi"
    if subprocess.run(["/usr/bin/python3", "-c", probe], capture_output=True,
                      check=False).returncode:
        lacking.append("gir1.2-atspi-2.0")
    return lacking


def look(argument, **how):
    """look_once(), a second time if the window's messages got lost on a busy machine."""
    try:
        return look_once(argument, **how)
    except (ViewerError, subprocess.TimeoutExpired):
        return look_once(argument, **how)


def look_once(argument, subs=(), shot=None, command=None, source_tab=True, timeout=60):
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
        ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "1400x1000x24", "-nolisten", "tcp"],
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
            QT_QPA_PLATFORM="xcb", QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1", DISPLAY=":" + number)
        job = {"argument": str(argument), "subs": list(subs), "shot": str(shot) if shot else None,
               "command": command, "source_tab": source_tab, "out": str(home / "out.json"),
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
        import gi
        gi.require_version("Atspi", "2.0")
        from gi.repository import Atspi, GLib
        self.atspi, self.glib = Atspi, GLib
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

    def pump(self, seconds):
        """Let messages from the bus arrive for a while."""
        end = time.monotonic() + seconds
        while True:
            while self.glib.MainContext.default().iteration(False):
                pass
            if time.monotonic() >= end:
                return
            time.sleep(0.02)

    def until(self, ready, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.pump(0.1)
            try:
                got = ready()
            except self.glib.GError:
                got = None
            if got:
                return got
        return None

    def children(self, node):
        for index in range(node.get_child_count()):
            child = node.get_child_at_index(index)
            if child is not None:
                yield child

    def find(self, role, name=None, node=None, deep=True):
        for child in self.children(node or self.app):
            if child.get_role_name() == role and (name is None or child.get_name() == name):
                yield child
            if deep and child.get_role_name() not in ("tree", "menu bar"):
                yield from self.find(role, name, child)

    def connect(self):
        def running():
            desktop = self.atspi.get_desktop(0)
            for child in self.children(desktop):
                if child.get_name() == "kcachegrind" and child.get_child_count():
                    self.app = child
                    return True
            return False
        if not self.until(running, self.job["wait"]):
            raise ViewerError("the viewer did not come up")

    def total_text(self):
        for label in self.find("label"):
            if " Total " in label.get_name() or label.get_name().startswith("No profile"):
                return label.get_name()
        return None

    def dialogs(self):
        return [child.get_name() for child in self.children(self.app)
                if child.get_role_name() in ("dialog", "alert")]

    def dialog_text(self):
        return [label.get_name() for child in self.children(self.app)
                if child.get_role_name() in ("dialog", "alert")
                for label in self.find("label", node=child)]

    def tree(self, *headers):
        """The table whose column titles hold these, in this order at the end."""
        for tree in self.find("tree"):
            titles = [child.get_name() for child in self.children(tree)
                      if child.get_role_name() == "table column header"]
            if titles[-len(headers):] == list(headers):
                return tree, titles
        raise ViewerError(f"no table with {headers}")

    def rows(self, *headers):
        tree, titles = self.tree(*headers)
        cells = [child.get_name() for child in self.children(tree)
                 if child.get_role_name() != "table column header"]
        width = len(titles)
        return [cells[start:start + width] for start in range(0, len(cells), width)]

    def functions(self):
        table = []
        for incl, own, called, name, location in self.rows("Called", "Function", "Location"):
            table.append({"incl": number_of(incl), "self": number_of(own),
                          "called": number_of(called), "name": name, "location": location})
        return table

    def click(self, node):
        box = self.atspi.Component.get_extents(node, self.atspi.CoordType.SCREEN)
        subprocess.run(["xdotool", "mousemove", str(box.x + min(box.width // 2, 20)),
                        str(box.y + box.height // 2), "click", "1"], check=True)

    def select(self, name):
        search = next(self.find("text", "Search:"))
        # The list is filtered by the text; a long name is found by its head.
        self.atspi.EditableText.set_text_contents(search, name[:60])

        def row():
            tree, _ = self.tree("Called", "Function", "Location")
            for cell in self.children(tree):
                shown = re.sub(r" <cycle \d+>\Z", "", cell.get_name())
                if cell.get_role_name() == "table cell" and shown == name:
                    return cell
            return None
        self.pump(1.0)
        cell = self.until(row, 5)
        if cell is None:
            raise ViewerError(f"no function {name!r} in the list")
        self.click(cell)

        def shown():
            return any(re.sub(r" <cycle \d+>\Z", "", label.get_name()) == name
                       for label in self.find("label"))
        if not self.until(shown, 5):
            raise ViewerError(f"{name!r} was not selected")
        self.pump(0.3)

    def tab(self, name):
        for page in self.find("page tab", name):
            self.click(page)
            self.pump(0.7)
            return

    def describe(self, name):
        self.select(name)
        seen = {}
        for what, title in (("callers", "Caller"), ("callees", "Callee")):
            self.tab(title + "s")
            seen[what] = [{"cost": number_of(row[0]), "second": number_of(row[2]),
                           "count": number_of(row[4]), "name": row[5]}
                          for row in self.rows("Count", title)]
        if self.job["source_tab"]:
            self.tab("Source Code")
            seen["source"] = [{"line": number_of(row[0]), "cost": number_of(row[1]),
                               "second": number_of(row[2]), "text": row[4]}
                              for row in self.rows("Source")]
            self.tab("Types")
            seen["types"] = [row[:4] for row in self.rows("Short", "", "Formula")]
        return seen

    def read(self):
        job = self.job
        seen = {"total": None, "functions": [], "subs": {}, "dialogs": [], "title": None}
        self.connect()
        # Without a window manager the window keeps the size it asks for.
        subprocess.run("xdotool search --onlyvisible --class kcachegrind"
                       " windowmove 0 0 windowsize 1400 1000", shell=True, check=False,
                       capture_output=True)

        def loaded():
            return self.dialogs() or (self.total_text() or "").count("Total")
        self.until(loaded, job["wait"])
        self.pump(0.5)
        seen["dialogs"] = self.dialogs()
        seen["dialog_text"] = self.dialog_text()
        seen["title"] = next(self.children(self.app)).get_name()
        match = re.search(r"Total (.*) Cost: ([\d\s]+)", self.total_text() or "")
        if match:
            seen["event"], seen["total"] = match[1], number_of(match[2])
        seen["selected"] = [label.get_name() for label in self.find("label")]
        seen["functions"] = self.functions()
        for name in job["subs"]:
            seen["subs"][name] = self.describe(name)
        if job["shot"]:
            if job["subs"]:
                self.tab("Source Code")
                self.tab("Callees")
            subprocess.run(["import", "-window", "root", job["shot"]], check=True)
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
