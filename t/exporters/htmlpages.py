# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The pages of the HTML report, read with Python's own parser.

    folder = Report(path)            every page of the folder, parsed
    folder.pages[name].tables        rows of cells; see Cell
    problems(folder)                 links that lead nowhere, ids given twice, what the policy refuses
"""

import html.parser
import pathlib
import re
import urllib.parse

VOID = {"meta", "link", "img", "br", "col", "hr", "input"}
CLOSED_BY = {"tr": {"tr", "tbody", "tfoot", "thead"}, "td": {"td", "th", "tr", "tbody", "tfoot", "thead"},
             "th": {"td", "th", "tr", "tbody", "tfoot", "thead"}, "li": {"li"},
             "tbody": {"tbody", "tfoot", "thead"}, "thead": {"tbody", "tfoot"},
             "tfoot": {"tbody", "thead"}, "dt": {"dt", "dd"}, "dd": {"dt", "dd"}}
# A start tag closes open elements only up to these.
FENCES = {"table", "ul", "dl"}


class Node:
    def __init__(self, tag, attributes=(), parent=None):
        self.tag, self.parent = tag, parent
        self.attributes = {name: "" if value is None else value for name, value in attributes}
        self.children = []

    def get(self, name, default=None):
        return self.attributes.get(name, default)

    @property
    def classes(self):
        return self.get("class", "").split()

    def walk(self):
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            if isinstance(node, Node):
                waiting.extend(reversed(node.children))

    def elements(self, tag=None, cls=None):
        return [n for n in self.walk() if isinstance(n, Node) and (tag is None or n.tag == tag)
                and (cls is None or cls in n.classes)]

    def text(self):
        return "".join(n for n in self.walk() if isinstance(n, str))

    def own_text(self):
        """Text before the first block element: a line of code without its notes."""
        out = []
        for child in self.children:
            if isinstance(child, Node) and child.tag in ("details", "ul"):
                break
            out.append(child if isinstance(child, str) else child.text())
        return "".join(out)

    def sub_name(self):
        """Of a cell that names a sub, without the small print behind it."""
        return "".join(c if isinstance(c, str) else c.text() for c in self.children
                       if isinstance(c, str) or c.tag != "small").strip()

    def number(self):
        """The exact value: data-n, else the text as a whole number, of nanoseconds too; None when empty."""
        if "data-n" in self.attributes:
            return int(self.attributes["data-n"])
        text = self.own_text().strip()
        return 0 if text == "0s" else int(text.removesuffix("ns")) if text else None


class Page(html.parser.HTMLParser):
    def __init__(self, text, name=""):
        super().__init__(convert_charrefs=True)
        self.name, self.source = name, text
        self.root = self.at = Node("document")
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        closers = {inner for inner, by in CLOSED_BY.items() if tag in by}
        node = self.at
        while node.parent is not None and node.tag not in FENCES:
            if node.tag in closers:
                self.at = node.parent
            node = node.parent
        node = Node(tag, attributes, self.at)
        self.at.children.append(node)
        if tag not in VOID:
            self.at = node

    def handle_endtag(self, tag):
        node = self.at
        while node.parent is not None and node.tag != tag:
            node = node.parent
        if node.parent is not None:
            self.at = node.parent

    def handle_data(self, data):
        self.at.children.append(data)

    def ids(self):
        return [n.get("id") for n in self.root.elements() if n.get("id") is not None]

    def table(self, cls):
        """Rows of the body of the first table of that class: lists of cells."""
        for table in self.root.elements("table", cls):
            return [[c for c in row.children if isinstance(c, Node) and c.tag in ("td", "th")]
                    for body in table.elements("tbody") for row in body.elements("tr")]
        return None

    def lines(self):
        """{line: row of its cells}, of a source page."""
        rows = {}
        for row in self.root.elements("tr"):
            cells = [c for c in row.children if isinstance(c, Node) and c.tag in ("td", "th")]
            if cells and cells[0].tag == "th" and cells[0].text().strip().isdigit():
                rows[int(cells[0].text())] = cells
        return rows


class Report:
    def __init__(self, folder, errors="strict"):
        self.folder = pathlib.Path(folder)
        self.names = sorted(p.name for p in self.folder.iterdir())
        self.pages = {n: Page((self.folder / n).read_text("utf-8", errors), n)
                      for n in self.names if n.endswith(".html")}

    def main(self, name):
        return next(n for n in self.pages[name].root.elements("main"))


REFUSED = re.compile(r"^on|^style$|^srcdoc$|^background$")
ELEMENTS = {"document", "html", "head", "meta", "title", "link", "script", "body", "a", "header", "nav",
            "div", "main", "h1", "h2", "p", "b", "i", "code", "section", "img", "table", "caption",
            "thead", "tbody", "tfoot", "tr", "th", "td", "span", "small", "details", "summary",
            "ul", "li", "dl", "dt", "dd", "footer", "style", "svg", "g", "rect", "text", "polyline"}


def markup_problems(page):
    """What no page may hold, whatever the profile's names are."""
    for node in page.root.elements():
        if node.tag not in ELEMENTS:
            yield f"element {node.tag}"
        for name, value in node.attributes.items():
            if REFUSED.search(name):
                yield f"{node.tag} has {name}={value!r}"
            if name in ("href", "src") and re.match(r"(?!file:)[A-Za-z][A-Za-z0-9+.-]*:", value):
                yield f"{node.tag} leads to {value!r}"
    for character in page.source:
        code = ord(character)
        if (code < 32 and character not in "\t\n") or 0x7f <= code < 0xa0 or \
                0x202a <= code <= 0x202e or 0x2066 <= code <= 0x2069 or code in (0xfeff, 0xfffe):
            yield f"character U+{code:04X}"
            break


def problems(report):
    """Every link must lead to a file and an id of it, every id must be the only one."""
    ids = {name: set(page.ids()) for name, page in report.pages.items()}
    for name, page in report.pages.items():
        for text in markup_problems(page):
            yield f"{name}: {text}"
        if len(page.ids()) != len(ids[name]):
            seen = sorted(page.ids())
            yield f"{name}: id twice: {[a for a, b in zip(seen, seen[1:]) if a == b][:3]}"
        for node in page.root.elements():
            link = node.get("href", node.get("src"))
            if link is None or link.startswith("file:///"):
                continue
            target, _, fragment = link.partition("#")
            target = urllib.parse.unquote(target) or name
            if target not in report.names:
                yield f"{name}: {link} leads to no file"
            elif fragment and target in ids and fragment not in ids[target] and \
                    urllib.parse.unquote(fragment) not in ids[target]:
                yield f"{name}: {link} leads to no anchor"


def seconds(text):
    """What a printed time says: "1.23ms"; None if it is no time."""
    match = re.fullmatch(r"(-?[\d.]+)(s|ms|µs|ns)", text.strip())
    return match and float(match[1]) * {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}[match[2]]
