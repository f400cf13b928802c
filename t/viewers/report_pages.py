# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The HTML report as a reader without our script sees it: tables and flame graph data, read with
Python's own parsers, so that what a browser shows can be held against them; and what tests ask of
a browser that shows such a page (a page of devtools.Browser).

    table(path, "subs")      -> [{"calls": 3, "excl": 1200, "sub": "main::f", ...}, ...]
    Flame(path)              -> frames, own times, and what each view of them must show
    drawn(one)               -> where its flame graph is, once that is drawn
    detail(one)              -> the lines that it says of the frame that is chosen
"""

import collections
import decimal
import itertools
import json
import re

import htmlpages


def value_of(cell):
    """Its data-n, the number of its text or that of its nanoseconds, or its text before the small print."""
    parts = itertools.takewhile(lambda part: isinstance(part, str) or part.tag not in ("small", "details"), cell.children)
    text = "".join(part if isinstance(part, str) else part.text() for part in parts).strip()
    number = cell.get("data-n") or re.sub(r"^(\d+)ns$|^0s$", lambda m: m[1] or "0", text)
    return int(number) if re.fullmatch(r"-?\d+", number) else text


def table(path, wanted):
    found = next(table for table in htmlpages.Page(path.read_text()).root.elements("table") if table.get("id") == wanted)
    keys = [cell.get("data-key") for cell in found.elements("th") if cell.parent.parent.tag == "thead"]
    return [dict(zip(keys, map(value_of, (cell for cell in row.children if isinstance(cell, htmlpages.Node)))))
            for body in found.elements("tbody") for row in body.elements("tr")]


Frame = collections.namedtuple("Frame", "name width calls path")


class Flame:
    def __init__(self, path):
        text = path.read_text()
        self.data = json.loads(text[text.index("(") + 1:text.rindex(")")])
        self.names, self.unit, self.total = (self.data[key] for key in ("names", "unit_ns", "total"))
        self.frames, self.own, path = [], [], []
        numbers = self.data["frames"]
        for up, name, width, calls in zip(*(numbers[i::4] for i in range(4))):
            if self.frames:
                del path[len(path) - up:]
            if path:
                self.own[path[-1]] -= width
            self.frames.append(Frame(name, width, calls, tuple(self.frames[i].name for i in path)))
            self.own.append(width)
            path.append(len(self.frames) - 1)

    def found(self, text):
        """Frames whose name holds the text, and the time of the stacks with such a frame."""
        hit = [name >= 0 and text in self.names[name].lower() for name in range(len(self.names))]
        shown = [f for f in self.frames if f.name >= 0 and hit[f.name]]
        return len(shown), sum(f.width for f in shown if not any(hit[n] for n in f.path)) * self.unit

    def own_by_sub(self):
        sums = collections.Counter()
        for frame, own in zip(self.frames, self.own):
            if frame.name >= 0:
                sums[self.names[frame.name]] += own * self.unit
        return sums

    def inclusive(self, name):
        """The time of all stacks through a sub."""
        wanted = self.names.index(name)
        return sum(f.width for f in self.frames if f.name == wanted and wanted not in f.path) * self.unit

    def callers(self, name):
        wanted = self.names.index(name)
        sums = collections.Counter()
        for f in self.frames:
            if f.name == wanted and wanted not in f.path and f.path:
                sums[self.names[f.path[-1]]] += f.width * self.unit
        return sums

    def through_file(self, fid):
        """The time of the stacks through a file."""
        mine = [f == fid for f in self.data["fids"]]
        return sum(f.width for f in self.frames if f.name >= 0 and mine[f.name]
                   and not any(mine[n] for n in f.path if n >= 0)) * self.unit


def time_text(nanoseconds):
    """As the script of the pages prints it: three digits and a unit. JavaScript rounds a half up,
    where Python's format() rounds it to the even digit: 660.5 is "661"."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1, "ns")):
        if abs(nanoseconds) >= size * 0.9995:
            break
    value = nanoseconds / size
    digits = 0 if unit == "ns" or abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2
    last = decimal.Decimal(1).scaleb(-digits)
    return f"{decimal.Decimal(value).quantize(last, decimal.ROUND_HALF_UP)}{unit}"


def main_source(folder):
    """The page of the program itself."""
    return next(path for path in folder.glob("*-1-line.html"))


def drawn(one):
    """Wait until the flame graph has been drawn; its place and the height of a row."""
    one.until("document.querySelector('.flame canvas')?.style.height")
    return one.eval("(() => { const r = document.querySelector('.flame canvas').getBoundingClientRect();"
                    " return [r.x, r.y, r.width, r.height]; })()")


def frames_drawn(one):
    """Let the picture catch up with what was pressed."""
    one.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def detail(one):
    frames_drawn(one)
    return one.eval("document.querySelector('.detail').innerText").split("\n")


def column(one, box, number):
    return one.eval(f"[...document.querySelectorAll('#{box} tbody tr')].filter(r => !r.hidden)"
                    f".map(r => r.cells[{number}].dataset.n ?? r.cells[{number}].innerText.replace(/^(\\d+)ns$|^0s$/, (all, ns) => ns || '0'))")
