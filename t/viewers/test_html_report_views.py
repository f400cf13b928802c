# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The views of the HTML report in a real browser: tables, the flame graph and source pages
draw, sort, filter, find and zoom with the right numbers, by mouse and by keys."""

import itertools
import json
import re

import pytest

import exports
import hostile
import profiles
import report_pages
import reports
from nytpwrite import Writer
from recordings import record


# -------------------------------------------------------------------- tables

@pytest.mark.parametrize("key, number", [("calls", 0), ("places", 1), ("excl", 3), ("incl", 5)])
def test_sorting_a_table(page, report, key, number):
    folder = report("mixed-blocks")
    one = page(folder / "index-subs-excl.html", f"#sort={'calls' if key == 'excl' else 'excl'}")
    one.click_on(f"#subs th[data-key={key}] button")
    shown = [int(cell) for cell in report_pages.column(one, "subs", number)]
    rows = report_pages.table(folder / "index-subs-excl.html", "subs")
    assert shown == sorted((row[key] for row in rows), reverse=True) and len(shown) > 10
    assert one.eval(f"document.querySelector('#subs th[data-key={key}]').ariaSort") == "descending"
    one.click_on(f"#subs th[data-key={key}] button")
    assert [int(cell) for cell in report_pages.column(one, "subs", number)] == shown[::-1]
    assert f"sort=-{key}" in one.eval("location.hash")


def test_sort_and_filter_stay_in_the_address_and_in_the_session(page, report):
    folder = report("mixed-blocks")
    one = page(folder / "index-subs-excl.html")
    one.click_on("#subs th[data-key=sub] button")
    one.key("/")
    one.type("main::c")
    names = report_pages.column(one, "subs", 6)
    assert len(names) > 3 and all("main::c" in name.lower() for name in names)
    assert names == sorted(names)
    assert one.eval("location.hash") == "#sort=sub&q=main%3A%3Ac"
    handed_on = page(folder / "index-subs-excl.html", "#sort=sub&q=main%3A%3Ac")
    assert report_pages.column(handed_on, "subs", 6) == names
    one.open(f"file://{folder}/index-subs-excl.html")
    assert report_pages.column(one, "subs", 6) == names, "it is remembered"


@pytest.mark.parametrize("query, expression", [("core:", r"(?i)core:"), ("CORE", "CORE"),
                                               ("re:::(a|b)", "(?i)::(a|b)")])
def test_the_filter_tells_how_many_and_their_time(page, report, query, expression):
    folder = report("mixed-blocks")
    one = page(folder / "index-subs-excl.html")
    one.key("/")
    one.type(query)
    rows = [row for row in report_pages.table(folder / "index-subs-excl.html", "subs")
            if re.search(expression, row["sub"])]
    count = len(report_pages.table(folder / "index-subs-excl.html", "subs"))
    assert len(rows) > 1
    assert len(report_pages.column(one, "subs", 6)) == len(rows)
    time = report_pages.time_text(sum(row["excl"] for row in rows))
    assert one.eval("document.querySelector('.bar output').textContent") == \
        f"{len(rows)} of {count}, {time}"


def test_what_was_never_called_can_be_filtered_by_sub_and_by_file(page, report):
    path = report("mixed-calls2") / "index-subs-excl.html"
    one, rows = page(path), report_pages.table(path, "never")
    one.eval("document.querySelector('details.never').open = true")
    one.eval("document.querySelectorAll('.bar input')[1].focus()")
    for text in ("warnings::", "Exporter.pm"):
        one.eval("document.activeElement.select()")
        one.type(text)
        wanted = [row for row in rows if text in row["sub"] or text in row["file"]]
        assert 0 < len(wanted) < len(rows)
        assert len(report_pages.column(one, "never", 0)) == len(wanted)


def test_a_malformed_expression_is_said(page, report):
    one = page(report("mixed-blocks") / "index-subs-excl.html")
    one.key("/")
    one.type("re:(")
    assert one.eval("document.activeElement.ariaInvalid") == "true"
    assert "no regular expression" in one.eval("document.querySelector('.bar output').textContent")


# -------------------------------------------------------------------- flame graph

def found(one, text):
    """What the flame graph says of the frames that hold the text."""
    report_pages.drawn(one)
    one.eval("document.querySelector('.flame input').focus(); document.activeElement.select()")
    one.type(text)
    return one.eval("document.querySelector('.flame output').textContent")


def test_finding_in_the_flame_graph(page, report):
    flame = report_pages.Flame(report("mixed-calls2") / "flame.js")
    one = page(report("mixed-calls2") / "index.html")
    for text in ("caller", "busy"):
        frames, time = flame.found(text)
        assert frames
        shown = found(one, text)
        assert shown.startswith(f"{frames} frames, {report_pages.time_text(time)}, "), shown


def test_a_time_half_way_between_two_roundings(page, tmp_path):
    out = tmp_path / "report.html"
    exports.exported("--html", "-q", "-o", out, hostile.simple(["main::half"], ticks=6605).save(tmp_path / "nytprof.out"))
    assert report_pages.time_text(660500) == "661µs"
    assert found(page(out), "half").startswith("1 frames, 661µs, ")


def test_zooming_by_click_and_by_key(page, report):
    folder = report("mixed-calls2")
    flame = report_pages.Flame(folder / "flame.js")
    one = page(folder / "index.html")
    x, y, width, _ = report_pages.drawn(one)
    widest = max((f for f in flame.frames if len(f.path) == 1), key=lambda f: f.width)
    one.click(x + 4, y + 2 * 19 + 9)                       # the row below "all" and the main program
    shown = report_pages.detail(one)
    assert shown[0] == flame.names[widest.name]
    assert shown[1].startswith(report_pages.time_text(widest.width * flame.unit))
    assert one.eval("location.hash").startswith("#zoom=2.")
    one.click(x + width - 4, y + 9)                        # zoomed in, "all" reaches to both edges
    assert report_pages.detail(one)[0] == "all"
    assert "zoom" not in one.eval("location.hash")
    one.keys("ArrowDown", "ArrowDown", "Enter")
    assert report_pages.detail(one)[0] == flame.names[widest.name]
    again = page(folder / "index.html", one.eval("location.hash"))
    report_pages.drawn(again)
    assert report_pages.detail(again)[:2] == shown[:2]
    one.key("Escape")
    report_pages.frames_drawn(one)
    assert one.eval("location.hash") == ""


def in_all(one):
    report_pages.frames_drawn(one)
    return one.eval("document.querySelector('.flame .detail').textContent").partition(" in all")[0]


def test_rows_of_processes_and_packages_are_filters(page, report):
    folder = report("forks-merged")
    flame = report_pages.Flame(folder / "flame.js")
    parts = flame.data["parts"]
    assert len(parts) > 1 and sum(part[1] for part in parts.values()) == flame.total
    one = page(folder / "index.html", "#work=0")
    report_pages.drawn(one)
    assert in_all(one) == report_pages.time_text(flame.total * flame.unit)
    for row in one.eval("[...document.querySelectorAll('.processes [data-part]')].map(row => row.dataset.part)"):
        one.click_on(f"[data-part='{row}'] button")
        assert in_all(one) == report_pages.time_text(parts[row][1] * flame.unit)
        assert one.eval("[...document.querySelectorAll('[data-part] [aria-pressed=true]')].map(b => b.closest('tr').dataset.part)") == [row]
        assert f"only={row}" in one.eval("location.hash")
        width = dict(zip(itertools.accumulate(parts[row][0::3]), parts[row][1::3]))
        top = max((f for f in range(len(flame.frames)) if len(flame.frames[f].path) == 1), key=lambda f: width.get(f + 1, 0))
        one.eval("document.querySelector('.flame canvas').focus()")
        one.keys("ArrowDown", "ArrowDown", "ArrowDown")
        shown = report_pages.detail(one)
        assert shown[0] == flame.names[flame.frames[top].name]
        assert shown[1].startswith(report_pages.time_text(width[top + 1] * flame.unit))
    again = page(folder / "index.html", "#work=0&only=" + row)
    report_pages.drawn(again)
    assert in_all(again) == report_pages.time_text(parts[row][1] * flame.unit)
    one.key("Escape")
    assert in_all(one) == report_pages.time_text(flame.total * flame.unit)
    one.click_on("[data-part=main] button")
    own = sum(f.width for f in flame.frames if f.name >= 0 and is_of_main(flame, f.name) and not any(is_of_main(flame, n) for n in f.path))
    assert in_all(one) == report_pages.time_text(own * flame.unit)
    one.click_on("[data-part=main] button")
    assert in_all(one) == report_pages.time_text(flame.total * flame.unit)


def captions(one):
    return one.eval("""[...document.querySelectorAll('caption')].filter(c => c.checkVisibility())
        .map(c => c.textContent + getComputedStyle(c, '::after').content.replace(/^none$|"/g, ''))""")


def shown_tops(one):
    return one.eval("[...document.querySelectorAll('table.top')].filter(t => t.checkVisibility()).map(t => t.id)")


ASKS = """package DBI::db;
sub ask { my $t = 0; $t += $_ for 1 .. 50 }
sub do { DB::label(sql => $_[1]); ask(); DB::label(sql => undef) }
package main;
sub fill { DBI::db->do('insert into t values (?)') for 1 .. 12 }
sub idle { my $t = 0; $t += $_ for 1 .. 9999 }
for my $n (1, 2) { DB::label(request => "GET /$n"); fill(); DB::label(request => undef) }
idle();
"""


def test_a_part_has_its_table_of_subs_and_the_others_say_that_they_are_of_all(page, tmp_path):
    """By mouse and by keys; rows of requests and of statements, too; the address keeps it."""
    file = record(tmp_path, ASKS, steps=False)
    folder = tmp_path / "report"
    exports.exported("--html", "-o", f"{folder}/", file)
    one = page(folder / "index.html", "#work=0")
    report_pages.drawn(one)
    every = captions(one)
    assert shown_tops(one) == ["top"] and not [c for c in every if "whole program" in c]
    statement = one.eval("document.querySelector('.loops [data-part]').dataset.part")
    one.click_on(".loops [data-part] button")
    report_pages.frames_drawn(one)
    assert shown_tops(one) == [f"top{statement}"] and f"only={statement}" in one.eval("location.hash")
    subs = [row["sub"] for row in report_pages.table(folder / "index.html", f"top{statement}")]
    assert "DBI::db::ask" in subs and "main::idle" not in subs, "the statement's own stacks"
    one.click_on(f"#top{statement} th[data-key=sub] button")
    assert one.eval(f"document.querySelector('#top{statement} th[data-key=sub]').ariaSort") == "ascending"
    shown = one.eval(f"""[...document.querySelectorAll('#top{statement} tbody tr')].map(row => row.lastElementChild).map(
        cell => cell.querySelector('a')?.textContent || cell.textContent.trim())""")
    assert shown == sorted(subs), "set up when it is first shown"
    assert "Source files of the whole program" in captions(one) and "Labels" in captions(one)
    again = page(folder / "index.html", one.eval("location.hash"))
    report_pages.drawn(again)
    assert shown_tops(again) == [f"top{statement}"]
    one.eval("document.querySelector('.requests [data-part] button').focus()")
    one.key("Enter")
    request = one.eval("document.activeElement.closest('tr').dataset.part")
    assert shown_tops(one) == [f"top{request}"] and request != statement
    one.key("Enter")
    assert shown_tops(one) == ["top"] and captions(one) == every
    one.click_on("[data-part='DBI::db'] button")
    assert one.eval("[...document.querySelectorAll('table.top')].find(t => t.checkVisibility()).innerText").count("DBI::db::do") == 1
    assert "Top subroutines of this package" in captions(one)


def is_of_main(flame, name):
    return name >= 0 and flame.names[name].rpartition("::")[0] == "main"


def test_a_frame_leads_to_its_source_line(page, report):
    one = page(report("mixed-calls2") / "index.html", "#pivot=main%3A%3Abusy")
    report_pages.drawn(one)
    one.keys("f", "ArrowDown")
    assert report_pages.detail(one)[0] == "main::busy"
    one.follow(lambda: one.click_on(".detail a"))
    assert "sub busy" in one.eval("document.querySelector('.here').innerText")
    box = one.eval("(r => [r.top, r.bottom])(document.querySelector('.here').getBoundingClientRect())")
    assert 0 < box[0] < box[1] < 900


def test_inverted_it_shows_own_times(page, report):
    flame = report_pages.Flame(report("mixed-calls2") / "flame.js")
    one = page(report("mixed-calls2") / "index.html")
    report_pages.drawn(one)
    one.keys("f", "i", "ArrowDown", "ArrowDown")
    seen = {}
    for _ in range(5):
        name, time = report_pages.detail(one)[:2]
        seen[name] = time.partition(",")[0]
        one.key("ArrowRight")
    assert seen == {name: report_pages.time_text(time) for name, time in flame.own_by_sub().most_common(5)}


def test_callers_and_callees_of_one_sub(page, report):
    flame = report_pages.Flame(report("mixed-calls2") / "flame.js")
    sub = max((name for name in flame.names if len(flame.callers(name)) > 1), key=flame.inclusive)
    one = page(report("mixed-calls2") / "index.html", f"#pivot={sub.replace(':', '%3A')}")
    report_pages.drawn(one)
    one.keys("f", "ArrowDown")
    assert report_pages.detail(one)[0] == sub
    assert report_pages.detail(one)[1].startswith(report_pages.time_text(flame.inclusive(sub)))
    (caller, time), *_ = flame.callers(sub).most_common()
    one.key("ArrowUp")
    assert report_pages.detail(one)[0] == caller
    assert report_pages.detail(one)[1].startswith(report_pages.time_text(time))


def graph_height(one):
    report_pages.drawn(one)
    report_pages.frames_drawn(one)
    return one.eval("(c => c.clientHeight + c.nextSibling.clientHeight)(document.querySelector('.flame canvas'))")


def test_recursion_as_one_frame(page, report):
    flame = report_pages.Flame(report("made-deep") / "flame.js")
    one = page(report("made-deep") / "index.html")
    assert graph_height(one) == 19 * max(len(f.path) + 2 for f in flame.frames) > 19 * 100
    one.click_on(".flame .bar button:nth-of-type(2)")
    merged = max(len([n for i, n in enumerate(path) if i == 0 or path[i - 1] != n])
                 for path in ([*f.path, f.name] for f in flame.frames))
    assert graph_height(one) == 19 * (merged + 1) < 19 * 10


def test_a_deep_graph_is_drawn_in_part(page, report):
    one = page(report("made-deep") / "index.html")
    tall = graph_height(one)
    assert one.eval("document.querySelector('.flame canvas').height") < 900 < tall
    one.eval("document.querySelector('.graph').scrollTop = 1e6")
    report_pages.frames_drawn(one)
    assert one.eval("document.querySelector('.graph').scrollTop") > tall - 900
    colours = """(c => { const d = c.getContext('2d').getImageData(9, 0, 1, c.height).data;
        return new Set(d).size; })(document.querySelector('.flame canvas'))"""
    assert one.eval(colours) > 3, "the lower end is drawn, too"


def test_the_graph_of_one_file(page, report):
    folder = report("mixed-calls2")
    flame = report_pages.Flame(folder / "flame.js")
    path = report_pages.main_source(folder)
    one = page(path)
    assert not any("flame.js" in url for url in one.requests), "it is loaded when asked for"
    one.key("f")
    report_pages.drawn(one)
    one.key("ArrowDown")
    assert report_pages.detail(one)[1].startswith(report_pages.time_text(flame.through_file(1)))


def test_folding_is_remembered(page, report):
    folder = report("mixed-calls2")
    one = page(folder / "index.html")
    report_pages.drawn(one)
    one.eval("document.querySelector('.flame input:last-of-type').focus()")
    one.type("caller_|busy")
    one.key("Enter")
    one.open(f"file://{folder}/index.html")
    report_pages.drawn(one)
    assert one.eval("document.querySelector('.flame input:last-of-type').value") == "caller_|busy"
    one.eval("document.querySelector('.flame input').focus()")
    one.type("re:caller_|busy")
    assert one.eval("document.querySelector('.flame output').textContent").startswith("0 frames")


def test_the_library_folds_by_a_button(page, tmp_path):
    out = tmp_path / "r"
    libs = [f"--lib={lib}" for lib in reports.LIBS]
    exports.exported("--html", "-q", *libs, "-o", f"{out}/", profiles.profile("requires"))
    data = report_pages.Flame(out / "flame.js").data
    inside = [name for name, fid in zip(data["names"], data["fids"]) if fid in data["library"]]
    assert inside
    one = page(out / "index.html")
    report_pages.drawn(one)

    def shown():
        one.eval("document.querySelector('.flame input').value = ''; document.querySelector('.flame input').focus()")
        one.type("re:^(" + "|".join(map(re.escape, inside[:5])) + ")$")
        report_pages.frames_drawn(one)
        said = one.eval("document.querySelector('.flame output').textContent")
        return int(said.split()[0].replace(",", ""))
    assert shown() > 0
    one.eval("[...document.querySelectorAll('.flame button')].find(b => b.textContent == 'Fold library').click()")
    assert shown() == 0
    one.open(f"file://{out}/index.html")                     # is remembered
    report_pages.drawn(one)
    assert one.eval("[...document.querySelectorAll('.flame button')].find(b => b.textContent == 'Fold library').getAttribute('aria-pressed')") == "true"
    assert shown() == 0


# -------------------------------------------------------------------- source pages

def test_a_deep_link_is_in_view(page, report):
    path = max(report("mixed-calls2").glob("*-line.html"), key=lambda p: p.stat().st_size)
    lines = re.findall(r"<tr id=\"?(\d+)", path.read_text())
    one = page(path, "#" + lines[-3])
    top, bottom = one.eval("(r => [r.top, r.bottom])(document.getElementById("
                           f"'{lines[-3]}').getBoundingClientRect())")
    assert 0 < top < bottom < 900
    assert one.eval("document.querySelector('.here').id") == lines[-3]


def test_find_in_page_finds_in_what_is_not_drawn_yet(page, report):
    """Sections out of view are left alone by the browser, but not by its search."""
    path = max(report("mixed-calls2").glob("*-line.html"), key=lambda p: p.stat().st_size)
    one = page(path)
    assert one.eval("document.querySelectorAll('.src tbody').length") > 4
    last = one.eval("[...document.querySelectorAll('.src tbody tr')].filter(r => !r.querySelector('details, ul')).map(r => r.lastChild.textContent.trim())"
                    ".filter((t, i, all) => t.length > 30 && all.indexOf(t) == all.lastIndexOf(t)).pop()")
    assert one.eval(f"window.find({json.dumps(last)}, true)")
    top = one.eval("getSelection().getRangeAt(0).getBoundingClientRect().top")
    assert 0 < top < 900


def test_hot_lines_and_lines_that_ran(page, report):
    path = report_pages.main_source(report("mixed-calls2"))
    one, text = page(path), path.read_text()
    heats = dict(re.findall(r"<tr id=\"?(\d+)\"? class=\"?h(\d)", text))
    one.key("j")
    first = one.eval("location.hash")[1:]
    assert int(heats[first]) >= max(map(int, heats.values())) - 2
    one.key("j")
    assert one.eval("location.hash")[1:] != first
    one.key("k")
    assert one.eval("location.hash")[1:] == first
    one.key("c")
    shown = one.eval("[...document.querySelectorAll('.src tbody tr')]"
                     ".filter(r => getComputedStyle(r).display != 'none').map(r => r.id)")
    assert set(shown) == set(re.findall(r"<tr id=\"?([^ >\"]+)\"? class", text))
    assert len(shown) < len(re.findall("<tr id=", text))


def test_a_line_that_was_once_gone_to_did_not_run_because_of_that(page, report):
    path = report_pages.main_source(report("mixed-calls2"))
    idle = re.search(r"<tr id=\"?(\d+)\"?><th>\d+<td colspan", path.read_text())[1]
    one = page(path, f"#{idle}")
    shown = f"getComputedStyle(document.getElementById('{idle}')).display != 'none'"
    one.key("c")
    assert one.eval(shown), "it is the one that was asked for"
    one.key("j")
    assert not one.eval(shown)


def test_below_notes_no_line_is_empty(page, report):
    one = page(report_pages.main_source(report("mixed-calls2")))
    below = one.eval("""[...document.querySelectorAll(".src td:last-child > :last-child")].map(note =>
        note.closest("tr").getBoundingClientRect().bottom - note.getBoundingClientRect().bottom)""")
    assert len(below) > 5 and max(below) < 10, below


def test_a_click_on_a_line_number_is_a_permalink(page, report):
    one = page(report_pages.main_source(report("mixed-calls2")))
    one.click_on("tr[id='9'] th")
    assert one.eval("location.hash") == "#9"
    assert one.eval("document.querySelector('.here').id") == "9"


def bar_widths(one, selector):
    """By row, how much of its cell the bar of a time takes."""
    return one.eval(f"""[...document.querySelectorAll({selector!r})].map(cell =>
        parseFloat(getComputedStyle(cell).backgroundSize) / 100)""")


def test_bars_are_as_long_as_their_share(page, report):
    folder = report("mixed-calls2")
    one = page(folder / "index-subs-excl.html")
    rows = report_pages.table(folder / "index-subs-excl.html", "subs")
    total = one.eval("+document.querySelector('main').dataset.total")
    for key, column in ("excl", 4), ("incl", 6):
        widths = bar_widths(one, f"#subs tbody td:nth-child({column})")
        shares = sorted((row[key] / total for row in rows), reverse=True)
        assert len(widths) == len(shares) > 10 and shares[0] > 0.1
        assert all(abs(a - b) <= 0.005 for a, b in zip(sorted(widths, reverse=True), shares))


def test_bars_of_a_source_page_are_as_long_as_their_share_of_its_hottest_line(page, report):
    one = page(report_pages.main_source(report("mixed-calls2")))
    cells = ".src tbody tr[id]:not([id*=_]) td:nth-child({})"
    times = [one.eval(f"[...document.querySelectorAll('{cells.format(n)}')].map(c => +(c.dataset.n || 0))")
             for n in (3, 5)]
    most = max(map(max, times))
    for n, column in zip((3, 5), times):
        widths = bar_widths(one, cells.format(n))
        assert any(widths) and all(abs(w - min(1, t / most)) <= 0.005 for w, t in zip(widths, column) if t > most / 100)


# -------------------------------------------------------------------- keys, the minimap

def opened_by_key(one, key):
    """The page that a key leads to."""
    one.follow(lambda: one.key(key), "document.querySelector('#tools').children.length")
    return one.eval("decodeURIComponent(location.pathname.split('/').pop())")


def test_keys_lead_from_page_to_page(page, report):
    folder = report("mixed-calls2")
    order = list(dict.fromkeys(a.rsplit("/", 1)[-1] for a in page(folder / "index.html").eval(
        "[...document.querySelectorAll('#files td > a')].map(a => decodeURIComponent(a.href))")))
    assert len(order) > 2
    one = page(folder / order[1])
    assert opened_by_key(one, "]") == order[2]
    assert opened_by_key(one, "[") == order[1]
    assert opened_by_key(one, "[") == order[0]
    one.key("[")                                            # the first has none before it
    assert one.eval("decodeURIComponent(location.pathname)").endswith("/" + order[0])
    assert opened_by_key(one, "u") == "index.html"


def test_keys_show_help_and_change_the_theme(page, report):
    one = page(report_pages.main_source(report("mixed-calls2")))
    one.key("?")
    said = one.eval("document.querySelector('dialog[open]').innerText")
    assert "next, previous hot line" in said and "theme" in said
    one.key("j")                                            # is not for the page below
    assert one.eval("location.hash") == ""
    one.key("Escape")
    one.until("!document.querySelector('dialog')")
    themes = []
    for _ in range(3):
        one.key("t")
        themes.append(one.eval("document.documentElement.className"))
    assert themes == ["light", "dark", ""]
    one.eval("document.querySelector('input[type=search]')?.focus()")
    if one.eval("document.activeElement.tagName") == "INPUT":
        one.key("t")
        assert one.eval("document.documentElement.className") == ""


def test_the_minimap_shows_hot_lines_and_leads_to_them(page, crowded):
    one = page(crowded)
    one.until("document.querySelector('.minimap')?.height > 100")
    report_pages.frames_drawn(one)
    # where the strip has the colours of heat, from top to bottom
    inked = """(() => { const c = document.querySelector('.minimap'), w = c.width, h = c.height,
        d = c.getContext('2d').getImageData(0, 0, w, h).data, found = [];
        for (let y = 0; y < h; y++) { let n = 0;
            for (let x = 0; x < w; x++) n += d[4 * (y * w + x) + 3] > 0 && d[4 * (y * w + x)] - d[4 * (y * w + x) + 2] > 20;
            if (n) found.push([y / h, n / w]); }
        return found; })()"""
    strokes = one.eval(inked)
    ran = one.eval("(rows => rows.map((r, i) => [i / rows.length, +(/h(\\d)/.exec(r.className) || [0, 0])[1]]).filter(r => r[1] > 0))"
                   "([...document.querySelectorAll('.src tbody tr')])")
    assert len(ran) > 3
    for place, heat in ran:
        longest = max((long for y, long in strokes if abs(y - place) < 0.01), default=0)
        assert longest >= (heat + 1) / 8 - 0.15, (place, heat, longest)
    hottest = max(ran, key=lambda r: r[1])[0]
    x, y, width, height = one.eval("(r => [r.x, r.y, r.width, r.height])(document.querySelector('.minimap').getBoundingClientRect())")
    one.click(x + width / 2, y + height * (hottest + 0.0005))
    report_pages.frames_drawn(one)
    seen = one.eval("(rows => { const r = rows[%d].getBoundingClientRect(); return [r.top, innerHeight]; })"
                    "([...document.querySelectorAll('.src tbody tr')])" % round(hottest * one.eval("document.querySelectorAll('.src tbody tr').length")))
    assert 0 <= seen[0] <= seen[1]


@pytest.fixture(scope="module")
def crowded(tmp_path_factory, recorder):
    """A source page of 3,000 lines, few of which are hot."""
    folder = tmp_path_factory.mktemp("crowded")
    text = "".join(f"sub s{i} {{\n" + "    # nothing\n" * 297 + f"    my $x = 0; $x += $_ for 1 .. {10 ** (1 + i % 5)};\n}}\n" for i in range(10))
    (folder / "p.pl").write_text(text + "".join(f"s{i}();\n" for i in range(10)))
    profiles.run_recorder([str(folder / "p.pl")], "", folder / "p.out")
    exports.exported("--html", "-q", "-o", f"{folder}/r/", str(folder / "p.out"))
    return report_pages.main_source(folder / "r")


# -------------------------------------------------------------------- colours of the source

# <k:…> is what the page colours as a keyword, v a variable, s a string, c a comment.
COLOURED = r'''
<k:my> (<v:$self>, <v:%args>) = <v:@_>; <c:# it is>
print <s:'a'> . <s:"b $x\" c"> <k:if> <v:$h>{s} || <v:$h>{y}{<s:'q'>};
<k:my> <v:$n> = <v:$a> / <v:$b> / 2; <c:# no pattern>
<k:return> <v:$x> =~ <s:m{^\w+/(.*)$}x> ? 1 : 0;
<s:s/a\/b/c/g> <k:for> <v:@list>; <s:tr/a-z/A-Z/>;
<v:$#array> + <v:$x> // <s:"d">; <v:$'> . <v:$"> . <v:$/>
y => 1, s => 2, <v:$o>->s(<v:$x>)->y; foo / 2; "unknown / "
<k:my> <v:$s> = "open, my $x
print <s:<<"EOT">, <s:<<~END>; <k:my> <v:$z> = 1 << EOT;
my $in = "a text";
EOT
if (1) { return }
   END
<k:if> (<v:$y> % <v:$z>) { <k:next> }
__END__
my $done = 1;
'''.strip().splitlines()


def test_perl_is_coloured_as_far_as_it_is_certain(page, tmp_path):
    stream = Writer().pid_start(7).fid(1, "/x/a.pl").time(10, 1, 1)
    plain = [re.sub(r"<[kvsc]:((?:<<)?[^>]*)>", r"\1", line) for line in COLOURED]
    for number, line in enumerate(plain, 1):
        stream.source(1, number, line + "\n")
    exports.exported("--html", "-q", "-o", f"{tmp_path}/r/", stream.pid_end(7).save(tmp_path / "p.out"))
    one = page(tmp_path / "r" / "x-a-pl-1-line.html")
    one.until("document.querySelector('.src .k')")
    shown = one.eval("""[...document.querySelectorAll('.src tbody td:last-child')].map(cell => [...cell.childNodes].map(part =>
        part.nodeType === 3 ? part.data : `<${part.className}:${part.textContent}>`).join('').replace(/\\n$/, ''))""")
    assert shown == COLOURED
    assert one.eval("[...document.querySelectorAll('.src tbody td:last-child')].map(cell => cell.textContent.replace(/\\n$/, ''))") == plain


def test_only_lines_in_view_are_coloured_and_long_ones_hang(page, tmp_path):
    stream = Writer().pid_start(7).fid(1, "/x/a.pl").time(10, 1, 1)
    for number in range(1, 3001):
        stream.source(1, number, "        my $long = join ' ', " + "'and so on', " * 30 + "1;\n")
    exports.exported("--html", "-q", "-o", f"{tmp_path}/r/", stream.pid_end(7).save(tmp_path / "p.out"))
    one = page(tmp_path / "r" / "x-a-pl-1-line.html", "#2000")
    coloured = "[...document.querySelectorAll('.src tbody')].filter(body => body.querySelector('.k')).length"
    one.until(coloured)
    assert one.eval("document.querySelectorAll('.src tbody').length") >= 20 > 5 >= one.eval(coloured)
    code, below = one.eval("""(() => {
        const cell = document.getElementById('2000').lastElementChild, range = document.createRange();
        range.selectNodeContents(cell);
        const boxes = [...range.getClientRects()];
        return [cell.querySelector('.k').getBoundingClientRect().left,
            Math.min(...boxes.filter(box => box.top > boxes[0].top + 10).map(box => box.left))] })()""")
    assert below > code, "what is wrapped does not begin left of the code"


# -------------------------------------------------------------------- waiting, one picture, the pointer

def serving(folder):
    """Most of its time it waits; what it does otherwise is a quarter of that, in two subs."""
    out = Writer(options={"calls": 2}).pid_start(7).fid(1, "/x/serve.pl")
    out.entry(1, 9).entry(1, 3).time(800, 1, 3).leave(2, 800, 800, "main::CORE:sselect").leave(1, 800, 0, "main::idle")
    out.entry(1, 9).time(150, 1, 5).leave(1, 150, 150, "main::work").entry(1, 9).time(50, 1, 7)
    out.leave(1, 50, 50, "main::rest").pid_end(7)
    for name, line in (("idle", 3), ("work", 5), ("rest", 7)):
        out.sub(1, f"main::{name}", line, line)
    return out.save(folder / "serve.out")


@pytest.fixture
def one_file(tmp_path):
    target = tmp_path / "report.html"
    exports.exported("-q", "--html", "-o", target, serving(tmp_path))
    return target


SHOWN = """[...document.querySelectorAll("[data-page=index] .top tbody tr")]
    .filter(row => row.getClientRects().length).map(row => row.cells[6].innerText.split(" ")[0])"""


def test_what_waits_is_hidden_where_it_is_most_of_the_time(page, one_file):
    one = page(one_file)
    report_pages.drawn(one)
    button = "[...document.querySelectorAll('.flame button')].find(b => b.textContent == 'Hide waiting')"
    assert one.eval(f"{button}.getAttribute('aria-pressed')") == "true"
    assert "20.0µs in all. Hidden: 80.0µs" in report_pages.detail(one)[0]
    assert "main::CORE:sselect" not in one.eval(SHOWN) and "main::work" in one.eval(SHOWN)
    one.eval(f"{button}.click()")
    assert "100µs in all" in report_pages.detail(one)[0] and "main::CORE:sselect" in one.eval(SHOWN)
    assert "80.0µs of it waiting" in one.eval("document.querySelector('.sentence').innerText").replace("80µs", "80.0µs")


def test_the_index_keeps_to_what_most_people_look_for(page, report):
    """Places and files that call a sub are in the table of all subs."""
    heads = "[...document.querySelectorAll('table:is(.top, .subs) thead th')].filter(cell => cell.offsetWidth).map(cell => cell.innerText)"
    folder = report("mixed-calls2")
    assert page(folder / "index.html").eval(heads) == ["Calls", "Exclusive time", "%", "Inclusive time", "Subroutine"]
    assert page(folder / "index-subs-excl.html").eval(heads)[:4] == ["Calls", "P", "F", "Exclusive time"]


def working(folder):
    """It never waits."""
    out = Writer(options={"calls": 2}).pid_start(8).fid(1, "/x/work.pl").entry(1, 9).time(50, 1, 7)
    return out.leave(1, 50, 50, "main::work").pid_end(8).save(folder / "work.out")


def test_nothing_is_called_hidden_in_a_part_that_does_not_wait(page, tmp_path):
    exports.exported("-q", "--html", "-o", f"{tmp_path}/r/", serving(tmp_path), working(tmp_path))
    one = page(tmp_path / "r" / "index.html")
    report_pages.drawn(one)
    assert "Hidden: 80.0µs" in report_pages.detail(one)[0]
    row, = one.eval("[...document.querySelectorAll('.processes [data-part]')].map(row => row.dataset.part).slice(1)")
    one.click_on(f"[data-part='{row}'] button")
    assert "5.00µs in all." in report_pages.detail(one)[0] and "Hidden" not in report_pages.detail(one)[0]
