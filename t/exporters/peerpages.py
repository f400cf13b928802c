# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The pages of the installed Devel::NYTProf's nytprofhtml, read as a person reads them, and ours in the
same shape: tuples of what is printed.

    their_subs(page), our_subs(page)    {name: (calls, places, files, exclusive, inclusive, recursion)}
    their_lines(page), our_lines(page)  {line or anchor: ((statements, time, calls, time in subs), cell of the code)}
    notes(lines, …_notes, NOTES[kind])  what is printed beside the code, field by field
"""

import re

from htmlpages import Node

TIME = r"-?[\d.]+(?:s|ms|µs|ns)"


def cells_of(row):
    return [c for c in row.children if isinstance(c, Node) and c.tag in ("td", "th")]


def count(text):
    return 1 if text.strip().startswith("once") else int(re.match(r"\s*(\d+)", text)[1])


RECURSES = re.compile(rf"recurses: max depth (\d+), inclusive time ({TIME})")


def sub_row(cells, name):
    recursion = RECURSES.search(cells[5].text())
    return name, (*(c.own_text().strip() for c in cells[:5]), recursion and recursion.groups())


def their_subs(page):
    rows = {}
    for table in page.root.elements("table"):
        if table.get("id") != "subs_table":
            continue
        for row in table.elements("tr"):
            cells = cells_of(row)
            if len(cells) == 6 and "sub_name" in cells[5].classes:
                text = "".join(c if isinstance(c, str) else c.text() for c in cells[5].children[1:])
                name, values = sub_row(cells, re.sub(r"\s*\((?:recurses|xsub|opcode).*|\xa0.*", "",
                                                     text.strip()))
                rows[name] = values
    return rows


def our_subs(page):
    rows = {}
    for cells in (page.table("subs") or []) + (page.table("top") or []):
        cells = cells[:4] + cells[5:]           # without the share, which they have not
        name = cells[5].sub_name()
        rows[name] = sub_row(cells, name)[1]
    return rows


def their_lines(page):
    rows = {}
    for row in page.root.elements("tr"):
        cells = cells_of(row)
        if len(cells) == 6 and cells[0].text().strip().isdigit() and "s" in cells[5].classes:
            rows[int(cells[0].text())] = (tuple(c.text().strip() for c in cells[1:5]), cells[5])
        elif len(cells) == 6 and "s" in cells[5].classes and cells[0].elements("a"):
            if cells[0].elements("a")[0].get("name"):
                rows[cells[0].elements("a")[0].get("name")] = (("", "", "", ""), cells[5])
    return rows


def our_lines(page):
    rows = {}
    for row in page.root.elements("tr"):
        cells = cells_of(row)
        if cells and "list" not in row.parent.parent.classes and row.get("id"):
            key = int(row.get("id")) if row.get("id").isdigit() else row.get("id")
            four = [c.text().strip() for c in cells[1:5]] if len(cells) == 6 else [""] * 4
            rows[key] = (tuple(four), cells[-1])
    return rows


CALLER = re.compile(rf"\s*(once|\d+ times) \(({TIME}|[\d.]+)(?:\+| \+ | in nested calls).*?\)(?: by (.*?))? at line (\d+)"
                    r"(?: of (.*?))?(?:, avg .*)?$")
CALLEE = re.compile(rf"({TIME})\s+making (\d+) calls? to (.*?)(?:, avg {TIME}(?:/call)?)?"
                    rf"(?:, recursion: max depth (\d+), sum of overlapping time ({TIME}))?$")
# Not the time of the statements: what it takes to call a sub that the eval defines is in the statement there.
EVAL = re.compile(rf"{TIME}\s+executing statements in (?:(?:1|(\d+)) )?string evals?(?: \(merged\))?"
                  rf"(?:, {TIME} here plus {TIME} in (\d+) nested evals?)?"
                  rf"(?:;|\.)?(?:\s*(?:# )?includes\s+({TIME}) (?:spent executing|in) (\d+) calls? to (\d+) subs? defined therein\.?)?$")


NOTES = {"callers": CALLER, "callees": CALLEE, "evals": EVAL}


def their_notes(cell):
    """Lines of the annotations, without the "# spent"."""
    for div in cell.elements("div"):
        if "calls_in" in div.classes or "calls_out" in div.classes:
            text = "".join("\n" if isinstance(c, Node) and c.tag == "br" else
                           c if isinstance(c, str) else "" for c in div.walk())
            text = re.sub(r"\n\s*# includes", " includes", text)
            for line in text.split("\n"):
                yield re.sub(r"\s+", " ", re.sub(r"^\s*#\s*(?:spent\s+)?", "", line))


def our_notes(cell):
    for item in cell.elements("li"):
        yield item.text().strip()


def notes(rows, of, pattern):
    found = []
    for line, (_, cell) in rows.items():
        for text in of(cell):
            match = pattern.match(text)
            if match:
                found.append((line, *match.groups()))
    return found
