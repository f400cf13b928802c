# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""html: the pages' numbers beside the raw stream and beside the installed nytprofhtml's own pages; links and
anchors; one file; options; the same bytes again.

What the pages look like and do in a browser is for t/viewers.
"""

import collections
import json
import os
import re
import shutil
import urllib.parse

import pytest

import exports
import htmlpages
import nytpwrite
import peerpages
import profiles
import report_pages
from reports import LIBS, made, peer, report, run  # noqa: F401
from totals import Totals


# ---- numbers, beside the stream and beside the other formats ----

def totals_of(name, *arguments):
    return json.loads(exports.exported("--json", "-q", *arguments, profiles.profile(name)))


def lines_of(totals):
    """{(fid, line): [statements, ns]}: what builtins and xsubs took is on the line that called them."""
    lines = collections.defaultdict(lambda: [0, 0])
    first = {}                                  # line of each sub
    for cost in totals["lines"]:
        place = totals["files"][cost["file"]]["fid"], cost["line"]
        lines[place][0] += cost["statements"]
        lines[place][1] += cost["exclusive"]
        first.setdefault(cost["sub"], place)
    for call in totals["calls"]:
        if totals["subs"][call["callee"]]["kind"] in ("xsub", "opcode") and call["callee"] in first:
            lines[totals["files"][call["file"]]["fid"], call["line"]][1] += call["exclusive"]
            lines[first[call["callee"]]][1] -= call["exclusive"]
    return {place: values for place, values in lines.items() if place[1] > 0 or any(values)}


def shown_lines(pages):
    shown = {}
    for page_name, page in pages.items():
        match = re.search(r"-(\d+)-line\.html$", page_name)
        for line, cells in page.lines().items() if match else ():
            if len(cells) == 6 and cells[2].text():
                shown[int(match[1]), line] = [cells[1].number() or 0, cells[2].number()]
    return shown


def shown_subs(pages):
    return sorted((cells[6].sub_name(), cells[0].number(), cells[3].number(), cells[5].number())
                  for cells in pages["index-subs-excl.html"].table("subs"))


def same_numbers(pages, totals):
    """Every line, sub and sum of the pages, exact to the nanosecond."""
    index = pages["index.html"]
    main = index.root.elements("main")[0]
    assert int(main.get("data-total")) == totals["total"]
    assert index.root.elements("p", "sentence")[0].elements("b")[0].text() == \
        time_text(totals["total"]), "the headline"
    total = foot(index, "files")["Total"]
    assert (int(total[0]), total[1].number()) == (totals["statements"], totals["total"])
    assert shown_subs(pages) == sorted(
        (shown_name(s["name"]), s["calls"], s["exclusive"], s["inclusive"]) for s in totals["subs"]
        if s["calls"] or s["exclusive"] or s["inclusive"])
    want = lines_of(totals)
    nowhere = want.pop((0, 0), [0, 0])          # (no file): a row of the table of files
    files = {int(row.get("id")[1:]): [c.number() for c in row.elements("td")[:2]]
             for row in index.root.elements("tr") if re.match(r"f\d+$", row.get("id", ""))}
    assert files.get(0, [0, 0]) == nowhere
    assert shown_lines(pages) == want


def time_text(ns):
    """As Devel::NYTProf::Util prints it: three digits and a unit, from seconds (6.5 µs are 6 or 7 by how they are scaled)."""
    seconds = ns * 1e-9
    if ns < 1000000:
        return "0s" if ns == 0 else f"{ns}ns" if ns < 1000 else f"{seconds * 1e6:.0f}µs"
    value, unit = (seconds * 1e3, "ms") if ns < 1e9 else (seconds, "s")
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}{unit}"


# A page's text does not tell the bytes of made-hostile-names.
NUMBERS = ["mixed-calls1", "mixed-calls2", "mixed-blocks", "mixed-stmts0", "mixed-subs0", "mixed-leave0", "mixed-slowops0", "evals", "evals-calls0",
           "recurse", "deep-calls1", "accepting", "names", "unreturned-calls1", "jumps", "requires", "switching", "killed-plain", "cut-deflated",
           *(n for n in profiles.MADE if not n.startswith("made-big-v") and n not in ("made-hostile-names", "made-deep"))]


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_those_of_every_other_format(report, name):
    pages, totals = report(name, "--no-merge-evals").pages, totals_of(name)
    same_numbers(pages, totals)
    want = Totals(profiles.profile(name))
    if name != "made-odd-ticks" and not want.overclaimed:   # ticks there are no whole nanoseconds
        assert totals["total"] * want.ticks_per_sec == want.total * 10 ** 9


def test_what_processes_wait_for_each_other_counts_once_as_in_top(report):
    index, totals = report("forks-merged").pages["index.html"], totals_of("forks-merged")
    want = totals["total"] - totals["child_wait"]
    assert totals["child_wait"] > 0 and int(index.root.elements("main")[0].get("data-total")) == want
    assert foot(index, "files")["Total"][1].number() == want
    top = exports.exported("--top", "--unit=ns", "-q", profiles.profile("forks-merged"))
    assert f": {want} ns," in top.decode().splitlines()[0]


@pytest.mark.parametrize("name", ["evals", "names", "mixed-blocks"])
def test_evals_that_are_merged_leave_the_sums_alone(report, name):
    index, totals = report(name).pages["index.html"], totals_of(name)
    total = foot(index, "files")["Total"]
    assert (int(total[0]), total[1].number()) == (totals["statements"], totals["total"])
    assert sum(excl for _, _, excl, _ in shown_subs(report(name).pages)) == sum(s["exclusive"] for s in totals["subs"])


@pytest.mark.parametrize("level", ["block", "sub"])
def test_pages_by_block_and_by_sub_add_up_to_those_by_line(report, level):
    pages = report("mixed-blocks").pages
    sums = collections.defaultdict(lambda: [0, 0])
    for page_name, page in pages.items():
        match = re.search(r"-(\d+)-(line|block|sub)\.html$", page_name)
        for cells in page.lines().values() if match and not page_name.startswith("(eval") else ():
            if len(cells) == 6 and cells[2].text():
                sums[match[1], match[2]][0] += cells[1].number()
                sums[match[1], match[2]][1] += cells[2].number()
    files = {fid for fid, _ in sums}
    assert len(files) > 3
    assert {f: sums[f, level] for f in files} == {f: sums[f, "line"] for f in files}


def shown_name(name):
    for lib in sorted(LIBS, key=len, reverse=True):
        name = name.replace(f"[{lib}/", "[")
    return name


@pytest.mark.parametrize("name", ["mixed-calls2", "recurse", "unreturned", "mixed-calls0"])
def test_flame_graph_adds_up_to_the_program(report, name):
    """Widths of the script's data, and the folded stacks, against the totals of the stream."""
    folder = report(name).folder
    want = Totals(profiles.profile(name))
    flame = report_pages.Flame(folder / "flame.js")
    assert min(flame.own) >= 0, "children are wider than their parent"
    assert flame.total == want.total == sum(flame.own)
    assert len({len(flame.data[key]) for key in ("names", "hrefs", "fids", "kinds")}) == 1
    folded = [line.rsplit(" ", 1) for line in (folder / "all_stacks_by_time.calls").read_text().splitlines()]
    assert sum(int(ticks) for _, ticks in folded) == want.total


# ---- numbers, beside the peer's pages: what differs, and its reason ----

def half(ours, theirs):
    """A time that lies just between two printed ones: they add up seconds, we add up ticks."""
    a, b = htmlpages.seconds(ours), htmlpages.seconds(theirs)
    if a is None or b is None or ours == theirs:
        return ours == theirs
    return abs(a - b) <= step_of(theirs) * 1.01


def step_of(text):
    """What the last digit of a printed time stands for, in seconds."""
    return 10 ** -(len(text.partition(".")[2].rstrip("mµns"))) * htmlpages.seconds("1" + re.sub(r"[-\d.]", "", text))


def same_line(ours, theirs):
    """Statements, calls, time in subs. The time on the line is that of the other formats: a sub's lines add up to
    the sub, so what it takes to call a Perl sub, which is in the statement, goes where the sub's own time is.
    """
    # 0 statements: a line of which only discounted records are known; they print 1
    counts = ours[0] == theirs[0] or (ours[0] in ("", "0") and theirs[0] in ("", "1"))
    return counts and ours[2] == theirs[2] and half(ours[3], theirs[3])


def same_sub(ours, theirs):
    times = all(half(a, b) for a, b in zip(ours[3:5], theirs[3:5]))
    recursion = (ours[5] is None) == (theirs[5] is None) and \
        (ours[5] is None or (ours[5][0] == theirs[5][0] and half(ours[5][1], theirs[5][1])))
    return ours[:3] == theirs[:3] and times and recursion


def match_up(ours, theirs, where):
    """Two lists of notes, in order of all else and then of their times, which may differ by a rounded half."""
    def order(note):
        times = [htmlpages.seconds(field) if isinstance(field, str) else None for field in note]
        return str([f for f, time in zip(note, times) if time is None]), [time for time in times if time is not None]
    ours, theirs = sorted(map(normal, ours), key=order), sorted(map(normal, theirs), key=order)
    assert len(ours) == len(theirs), where
    for a, b in zip(ours, theirs):
        assert all(x == y or (isinstance(x, str) and isinstance(y, str) and half(x, y)) for x, y in zip(a, b)), (where, a, b)


def normal(note):
    """Callers of one place come in the order of a hash there."""
    # what the main program compiles is called by main::NULL there, by the program here
    note = [f.replace("main::NULL", "main::RUNTIME") if isinstance(f, str) else f for f in note]
    return tuple(tuple(sorted(f.split(" or "))) if isinstance(f, str) and " or " in f else f
                 for f in note)


def own_name(names, name):
    """On a file's own page they leave the file out of the name of an anonymous sub."""
    return name if name in names else re.sub(r"\[.*:(\d+)\]$", r"[:\1]", name)


@pytest.mark.parametrize("name", ["mixed-blocks", "evals", "recurse", "requires"])
def test_pages_print_what_the_peers_pages_print(report, peer, name):
    ours, theirs = report(name, "--source-files"), peer(name)
    compared = collections.Counter()
    for page_name, page in theirs.pages.items():
        if page_name == "subs-treemap-excl.html":       # we have none
            continue
        mine = ours.pages[page_name]
        want, got = peerpages.their_subs(page), peerpages.our_subs(mine)
        if "-line" in page_name or "-block" in page_name or "-sub." in page_name:
            got = {own_name(want, k): v for k, v in got.items()}
        # the program itself was not called there, and is not among the first subs
        got.pop("main::RUNTIME", None), want.pop("main::RUNTIME", None)
        if page_name == "index.html" and len(got) == 14:
            want = {sub: values for sub, values in want.items() if sub in got}
        assert got.keys() == want.keys(), page_name
        for sub, values in want.items():
            assert same_sub(got[sub], values), (page_name, sub, got[sub], values)
        compared["subs"] += len(want)
        if page_name.startswith("index"):
            continue
        want, got = peerpages.their_lines(page), peerpages.our_lines(mine)
        want.pop("- -", None)               # a gap of blank lines is marked by a row there
        assert not want.keys() - got.keys(), page_name
        for line, (values, _) in want.items():
            assert same_line(got[line][0], values), (page_name, line, got[line][0], values)
        for line in got.keys() - want.keys():       # blank lines that they leave out
            assert got[line][0] == ("", "", "", ""), (page_name, line)
        compared["lines"] += len(want)
        for kind, pattern in peerpages.NOTES.items():
            a = peerpages.notes(want, peerpages.their_notes, pattern)
            match_up(peerpages.notes(got, peerpages.our_notes, pattern), a, (page_name, kind))
            compared[kind] += len(a)
    assert compared["subs"] > 30 and compared["lines"] > 100
    assert compared["callers"] > 15 and compared["callees"] > 15
    assert name != "evals" or compared["evals"] > 5


@pytest.mark.parametrize("name", ["evals", "evals-calls1"])
def test_an_eval_has_the_time_of_its_page_and_of_those_it_ran(report, name):
    pages, compared = report(name).pages, 0

    def notes(page):
        for item in page.root.elements("li"):
            match = re.match(r"(\S+) executing statements in", item.text())
            if match:
                yield match[1], urllib.parse.unquote(item.elements("a")[0].get("href").partition("#")[0])

    def all_ns(page):
        own = sum(cells[2].number() or 0 for cells in page.lines().values() if len(cells) == 6)
        return own + sum(all_ns(pages[name]) for _, name in notes(page))
    for page in pages.values():
        for printed, name in notes(page):
            exact = all_ns(pages[name])
            assert abs(htmlpages.seconds(printed) - exact * 1e-9) <= step_of(printed) * 0.501, (page.name, name, exact)
            compared += 1
    assert compared > 5


@pytest.mark.parametrize("name", ["mixed-calls1", "evals", "mixed-blocks"])
def test_files_and_totals_of_the_index_are_the_peers(report, peer, name):
    def rows(page, table):
        found = next(t for t in page.root.elements("table") if t.get("id") == table)
        for row in found.elements("tr"):
            cells = peerpages.cells_of(row)
            if len(cells) == 4 and cells[0].tag == "td":
                yield cells

    def files(page, table):
        return {next(n.get("title") or cells[3].get("title") for n in (cells[3].elements("a") or [cells[3]])):
                (cells[0].text(), cells[1].text()) for cells in rows(page, table)}
    ours, theirs = report(name).pages["index.html"], peer(name).pages["index.html"]
    got = {cells[3].get("title"): (cells[0].text(), cells[1].text()) for cells in rows(ours, "files")}
    want = files(theirs, "filestable")
    assert got.keys() == want.keys() and len(want) >= 3
    for file in want:
        assert got[file][0] == want[file][0], file
    said = re.search(r"for (\S+) \(of (\S+)\), executing (\d+) statements? and (\d+) subroutine calls? "
                     r"in (\d+) source files?(?: and (\d+) string evals?)?", theirs.root.text()).groups()
    sentence = ours.root.elements("p", "sentence")[0].text()
    counts = re.search(r"executing (\d+) statements? and (\d+) subroutine calls? "
                       r"in (\d+) source files?(?: and (\d+) string evals?)?", sentence).groups()
    assert counts[:3] == said[2:5]
    # those that are merged are one there
    assert (counts[3] is None) == (said[5] is None) and int(counts[3] or 0) >= int(said[5] or 0)
    # their headline is our second line: from start to end, with start-up and the writing of the profile;
    # it is left out where it says the same as the first, or where the profiler says it took longer than that
    duration = [p.text() for p in ours.root.elements("p", "duration")]
    if duration:
        assert re.search(r"end (\S+) passed \(of (\S+)\)", duration[0]).groups() == said[:2]
    else:
        total = int(ours.root.elements("main")[0].get("data-total")) * 1e-9
        assert (htmlpages.seconds(said[0]) or 0) <= 0 or htmlpages.seconds(said[0]) == pytest.approx(total, rel=0.006)


def foot(page, table):
    """The rows below the table of files: what each is -> statements, time, text."""
    rows = next(t for t in page.root.elements("table") if t.get("id") == table).elements("tfoot")[0].elements("tr")
    cells = [row.elements("td") for row in rows]
    return {row[2].text().split()[0]: (row[0].text(), row[1], row[2].text()) for row in cells}


@pytest.mark.parametrize("name", ["mixed-calls1", "evals", "requires", "recurse"])
def test_average_median_and_deviation_are_those_of_the_rows(report, peer, name):
    index = report(name).pages["index.html"]
    got, want = foot(index, "files"), foot(peer(name).pages["index.html"], "filestable")
    assert list(got) == list(want) == ["Total", "Average", "Median", "Deviation"]
    # a line of which only discounted records are known is a statement there, which they then miss
    missed = re.search(r"(-?\d+) statements are unaccounted", want["Total"][2])
    assert int(got["Total"][0]) == int(want["Total"][0]) + int(missed[1] if missed else 0)
    assert [got[row][0] for row in ("Average", "Median")] == [want[row][0] for row in ("Average", "Median")]
    times = [cells[1].number() for cells in index.table("files")]
    assert abs(got["Average"][1].number() - sum(times) / len(times)) <= 100
    taken = sorted(x for x in times if x)       # files without time count for neither
    median = taken[len(taken) // 2]
    assert got["Median"][1].number() == median
    assert got["Deviation"][1].number() == sorted(abs(x - median) for x in taken)[len(taken) // 2]


def siblings(page, tag):
    """What the head of an eval's page says of its siblings: text, and number -> page."""
    term = next((n for n in page.root.elements(tag) if n.text().strip() == "Sibling evals"), None)
    if term is None:
        return None
    said = term.parent.children[term.parent.children.index(term) + 1:]
    said = next(n for n in said if isinstance(n, htmlpages.Node))
    return said.text().strip(), {a.text(): urllib.parse.unquote(a.get("href")) for a in said.elements("a")}


def test_siblings_of_an_eval_are_the_peers(report, peer):
    ours, theirs = report("evals").pages, peer("evals").pages
    found = {name: siblings(page, "td") for name, page in theirs.items() if name.startswith("(eval")}
    assert sum(x is not None for x in found.values()) == 4
    assert {name: siblings(ours[name], "dt") for name in found} == found


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """Twelve files, of which the first ran ninety evals on one line."""
    folder = tmp_path_factory.mktemp("crowd")
    stream = nytpwrite.Writer({"application": "crowd.pl"}, {"calls": "1"})
    stream.pid_start(1)
    for fid in range(1, 13):
        stream.fid(fid, f"/crowd/{'zyxwvutsrqpo'[fid - 1]}.pm")
        stream.time(100 - fid, fid, 1)
    for number in range(1, 91):
        stream.fid(100 + number, f"(eval {number})[/crowd/z.pm:1]", 1, 1)
        stream.time(number, 100 + number, 1)
    stream.pid_end(1)
    stream.save(folder / "crowd.out")
    return made(folder / "r", "--no-merge-evals", folder / "crowd.out")


def test_many_siblings_are_linked_only_around_the_eval(crowd):
    assert list(htmlpages.problems(crowd)) == []
    for number, first, last in ((1, 1, 26), (2, 1, 27), (45, 20, 70), (90, 65, 90)):
        page = next(p for n, p in crowd.pages.items() if n.startswith(f"(eval {number})"))
        text, links = siblings(page, "dt")
        assert re.findall(r"\d+", text) == [*map(str, range(first, last + 1)), "90"], text
        assert text.startswith("…") == (first > 1) and (", … of 90" in text) == (last < 90)
        assert set(links) == {*map(str, range(first, last + 1))} - {str(number)}
        assert all(href.startswith(f"(eval {n})") for n, href in links.items())


def jump_links(pages):
    lists = [n for n in pages.pages["index.html"].root.elements("nav") if n.get("aria-label") == "Source files"]
    return [[(a.text(), a.get("href")) for a in n.elements("a")] for n in lists]


def test_where_files_are_many_one_can_jump_to_each(crowd, report):
    links, = jump_links(crowd)
    assert [text for text, _ in links] == [f"/crowd/{letter}.pm" for letter in "opqrstuvwxyz"]
    assert [href for _, href in links] == [f"crowd-{'zyxwvutsrqpo'[fid - 1]}-pm-{fid}-line.html" for fid in range(12, 0, -1)]
    assert jump_links(report("evals")) == []


# ---- links ----

SOUND = ["mixed-blocks", "mixed-nosource", "mixed-stmts0", "mixed-subs0", "evals", "names", "requires",
         "unreturned", "cut-deflated", "forks-merged", "switching", "exec"] + \
        [n for n in profiles.MADE if not n.startswith("made-big-v")]


@pytest.mark.parametrize("name", SOUND)
def test_every_link_leads_somewhere_and_no_name_becomes_markup(report, name):
    pages = report(name)
    assert list(htmlpages.problems(pages)) == []
    assert sum(len(p.root.elements("a")) for p in pages.pages.values()) > 10


def test_the_checker_sees_what_is_wrong(tmp_path, report):
    for file in report("evals").folder.iterdir():
        shutil.copy(file, tmp_path)
    page = tmp_path / "index.html"
    page.write_text(page.read_text().replace("</main>", "<a href=nosuch.html>x</a><a href=#nosuch>x</a>"
                                             "<p id=main onclick=x><iframe></iframe>\x07<a href='javascript:x'>"))
    found = "\n".join(htmlpages.problems(htmlpages.Report(tmp_path)))
    for text in ("no file", "no anchor", "id twice", "onclick", "iframe", "U+0007", "javascript"):
        assert text in found, text


@pytest.mark.parametrize("name", ["mixed-blocks", "evals", "names"])
def test_the_peers_files_and_anchors_are_there(report, peer, name):
    ours, theirs = report(name, "--source-files"), peer(name)
    left_out = {name for name in theirs.names if name.endswith(".dot")} | {"subs-treemap-excl.html"}
    assert set(theirs.names) - set(ours.names) == {"js", "style.css"} | left_out
    for page_name, page in theirs.pages.items():
        if page_name in left_out:
            continue
        names = {n.get("name") for n in page.root.elements("a")} - {None, "", "- -"}
        ids = set(ours.pages[page_name].ids())
        ascii_names = {n for n in names if n.isascii()}
        # an xsub's or opcode's name in another encoding has other bytes in its anchor there
        assert not ascii_names - ids - {n for n in ascii_names if "___" in n and name == "names"}, page_name
        assert not {n for n in names if n.isdigit()} - ids, page_name


def test_side_files_are_the_peers(report, peer):
    ours, theirs = report("mixed-blocks").folder, peer("mixed-blocks").folder

    def lines(folder, name):
        return set((folder / name).read_text(encoding="utf-8", errors="replace").splitlines())
    # they list a call that took no tick, too
    assert {x for x in lines(ours, "all_stacks_by_time.calls") if not x.startswith("main::RUNTIME ")} == \
        {x for x in lines(theirs, "all_stacks_by_time.calls") if not x.endswith(" 0")}
    idle = {name for name, sub in Totals(profiles.profile("mixed-blocks")).subs.items() if not sub.inclusive}
    assert {x for x in lines(ours, "flamegraph_subattr.txt") if x.split("\t")[0] not in idle} == \
        {x for x in lines(theirs, "flamegraph_subattr.txt") if x.split("\t")[0] not in idle}


# ---- one file ----

@pytest.mark.parametrize("name", ["mixed-blocks", "evals", "names"])
def test_one_file_needs_no_other(report, tmp_path, name):
    path = tmp_path / "report.html"
    arguments = ["--html", *(f"--lib={x}" for x in LIBS), profiles.profile(name)]
    assert run(*arguments, "-o", path).returncode == 0
    piped = run(*arguments)
    assert piped.stdout == path.read_bytes()
    page = htmlpages.Page(path.read_text(encoding="utf-8"))
    ids = page.ids()
    assert len(ids) == len(set(ids))
    for node in page.root.elements():
        link = node.get("href", "")
        assert link == "" or link.startswith("file:///") or (link[0] == "#" and link[1:] in ids), link
        assert node.get("src") is None
    assert {s.get("id") for s in page.root.elements("section", "page")} == \
        {urllib.parse.quote(n, safe="-._~()@!,;") for n in report(name).pages}


# ---- options ----

def test_minimal_and_no_flame_leave_out_what_they_say(report):
    bare = report("mixed-blocks", "--minimal", "--no-flame")
    assert not [n for n in bare.names if n.endswith((".svg", ".calls", "-sub.html", "-block.html")) or n == "flame.js"]
    assert list(htmlpages.problems(bare)) == []


def test_evals_of_one_line_are_merged_unless_not_wanted(report):
    merged = {n for n in report("evals").names if n.startswith("(eval")}
    apart = {n for n in report("evals", "--no-merge-evals").names if n.startswith("(eval")}
    assert merged < apart


@pytest.mark.parametrize("arguments", [["--focus=inner|sum"], ["--hide=busy", "--no-builtins"], ["--no-wait"],
                                       ["--collapse-recursion"]])
def test_a_selection_is_told_and_holds_for_all_pages(report, arguments):
    name = "recurse" if arguments == ["--collapse-recursion"] else "mixed-calls2"
    selected = report(name, "--no-merge-evals", *arguments)
    assert arguments[0] in selected.pages["index.html"].root.elements("p", "selected")[0].text()
    same_numbers(selected.pages, totals_of(name, *arguments))
    assert list(htmlpages.problems(selected)) == []


@pytest.mark.parametrize("name", ["xdg-open", "sensible-browser", "open"])
def test_open_starts_a_browser_on_the_first_page(tmp_path, name):
    """Desktops have xdg-open, Debian sensible-browser, macOS open."""
    browser = tmp_path / "bin" / name
    browser.parent.mkdir()
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    (tmp_path / "r").mkdir()
    environment = dict(os.environ, PATH=str(browser.parent))
    for output, page in ("r", "r/index.html"), ("r/", "r/index.html"), ("x.html", "x.html"):
        done = run("--html", "--open", "-o", f"{tmp_path}/{output}", profiles.profile("recurse"), env=environment)
        assert done.returncode == 0 and (tmp_path / "opened").read_text() == f"{tmp_path}/{page}"
