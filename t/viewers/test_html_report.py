# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The HTML report in a real browser: it draws, sorts, filters, finds and zooms with the right numbers,
asks nothing of any network, holds to a strict content policy, and can be read without script, in the
dark, on paper, and by those who do not see it. One Chromium serves all tests."""

import contextlib
import functools
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import threading

import pytest

import devtools
import exports
import hostile
import profiles
import report_pages

SOURCES = profiles.TESTS.parent / "exporters" / "html"
AXE = profiles.TESTS / ".cache" / "node" / "node_modules" / "axe-core" / "axe.min.js"
JENKINS = "sandbox; default-src 'none'; img-src 'self'; style-src 'self';"


@pytest.fixture(scope="module")
def browser(export_command, recorder):
    lacking = devtools.missing()
    if lacking:
        pytest.skip("not installed: " + ", ".join(lacking))
    with devtools.Browser() as running:
        yield running


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The folder of a profile's report, or with one=True its single file; written once."""
    @functools.lru_cache(maxsize=None)
    def write(name, one=False):
        folder = tmp_path_factory.mktemp(name)
        out = folder / "report.html" if one else folder
        code, _, errors = exports.nytp_export("--html", "-o", f"{out}" if one else f"{out}/",
                                              profiles.profile(name))
        assert code in (0, 3), errors
        return out
    return write


@pytest.fixture
def page(browser):
    """Opens pages, each in a context of its own, and in the end looks at what they complained of."""
    opened = []

    def open_page(path, fragment="", **how):
        one = browser.page(**how)
        opened.append(one)
        one.open(f"file://{path}{fragment}")
        return one
    yield open_page
    for one in opened:
        problems, requests = one.problems, one.requests
        one.close()
        assert problems == []
        assert [url for url in requests if not re.match(r"file:|about:|data:", url)] == []


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
                    f".map(r => r.cells[{number}].dataset.n ?? r.cells[{number}].innerText)")


# -------------------------------------------------------------------- every page

@pytest.mark.parametrize("name", ["mixed-blocks", "evals"])
def test_no_page_complains(browser, report, name):
    folder = report(name)
    pages = sorted(folder.glob("*.html"))
    assert len(pages) > 4
    one = browser.page()
    for path in pages:
        one.open(f"file://{path}")
        if path.name == "index.html":
            drawn(one)
    wanted = re.compile("about:blank|file://" + re.escape(str(folder)))
    assert [url for url in one.requests if not wanted.match(url)] == []
    assert one.problems == []
    one.close()


XSS = ["</script><script>window.xss=1</script>", '"><img src=x onerror=window.xss=2>',
       "' autofocus onfocus='window.xss=3", "javascript:window.xss=4", "`${window.xss=5}`",
       "\u2028window.xss=6//", "-->]]><svg onload=window.xss=7>", "constructor", "__proto__"]


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    """Such texts as sub, caller, file, eval, attribute, option and source line: a folder and a file."""
    folder = tmp_path_factory.mktemp("nasty")
    profile = folder / "nytprof.out"
    profile.write_bytes(hostile.names_everywhere([text.encode() for text in XSS]))
    for out in (f"{folder}/report/", f"{folder}/report.html"):
        code, _, errors = exports.nytp_export("--html", "-q", "--title", XSS[0], "-o", out, profile)
        assert code == 0, errors
    return folder


def use_everything(one):
    """Go about as a reader would."""
    if one.eval("!!document.querySelector('.flame')"):
        one.key("f")
        drawn(one)
        for key in ("ArrowDown", "ArrowDown", "ArrowRight", "p", "Escape", "i"):
            one.key(key)
        frames_drawn(one)
    one.eval("""document.querySelectorAll("thead button").forEach(button => button.click());
        document.querySelectorAll(".map canvas").forEach(canvas => { const r = canvas.getBoundingClientRect();
            for (let x = 5; x < r.width; x += 40) canvas.dispatchEvent(new MouseEvent("mousemove",
                {clientX: r.x + x, clientY: r.y + 40})); })""")


def assert_harmless(one):
    assert one.eval("window.xss") is None
    assert one.eval("[...document.querySelectorAll('*')].filter(e => [...e.attributes]"
                    ".some(a => /^on/i.test(a.name) || /^\\s*javascript:/i.test(a.value)))"
                    ".map(e => e.outerHTML.slice(0, 200))") == []


def test_names_and_source_never_become_script(page, nasty):
    paths = sorted((nasty / "report").glob("*.html"))
    assert len(paths) > 2 * len(XSS)
    one = page(paths[0])
    for path in paths:
        one.open(path.as_uri())
        if path.name.startswith(("index", "subs-")) or path == paths[-1]:
            use_everything(one)
        assert_harmless(one)
        assert one.eval("[...document.scripts].every(s => /\\/(report|flame)\\.js$/.test(s.src))")


def test_nor_in_the_single_file(page, nasty):
    one = page(nasty / "report.html")
    use_everything(one)
    for name in one.eval("[...document.querySelectorAll('section.page')].map(s => s.id)"):
        one.eval(f"location.hash = '#' + encodeURI({json.dumps(name)})")
        one.until(f"!document.getElementById({json.dumps(name)}).hidden")
    assert_harmless(one)
    assert one.eval("document.scripts.length") == 2
    assert one.eval("document.body.innerText.includes('window.xss=1')")


@pytest.mark.parametrize("name", ["names", "made-hostile-names", "made-joined-encodings"])
def test_names_that_no_perl_has_are_shown(page, report, name):
    one = page(report(name) / "index.html")
    use_everything(one)
    shown = one.eval("document.body.innerText")
    assert all(str(row["sub"]) in shown for row in report_pages.table(report(name) / "index.html", "top"))


def test_the_script_makes_no_markup_of_text():
    text = (SOURCES / "report.js").read_text()
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                 "new Function", "fetch(", "XMLHttpRequest", "import(", "http:", "https:"):
        assert word not in text, word


def test_style_and_script_are_small(report):
    folder = report("mixed-blocks")
    assert sum((folder / name).stat().st_size for name in ("report.css", "report.js")) <= 40000


# -------------------------------------------------------------------- tables

@pytest.mark.parametrize("key, number", [("calls", 0), ("places", 1), ("excl", 3), ("incl", 4)])
def test_sorting_a_table(page, report, key, number):
    folder = report("mixed-blocks")
    one = page(folder / "index-subs-excl.html", f"#sort={'calls' if key == 'excl' else 'excl'}")
    one.click_on(f"#subs th[data-key={key}] button")
    shown = [int(cell) for cell in column(one, "subs", number)]
    rows = report_pages.table(folder / "index-subs-excl.html", "subs")
    assert shown == sorted((row[key] for row in rows), reverse=True) and len(shown) > 10
    assert one.eval(f"document.querySelector('#subs th[data-key={key}]').ariaSort") == "descending"
    one.click_on(f"#subs th[data-key={key}] button")
    assert [int(cell) for cell in column(one, "subs", number)] == shown[::-1]
    assert f"sort=-{key}" in one.eval("location.hash")


def test_sort_and_filter_stay_in_the_address_and_in_the_session(page, report):
    folder = report("mixed-blocks")
    one = page(folder / "index-subs-excl.html")
    one.click_on("#subs th[data-key=sub] button")
    one.key("/")
    one.type("main::c")
    names = column(one, "subs", 5)
    assert len(names) > 3 and all("main::c" in name.lower() for name in names)
    assert names == sorted(names)
    assert one.eval("location.hash") == "#sort=sub&q=main%3A%3Ac"
    handed_on = page(folder / "index-subs-excl.html", "#sort=sub&q=main%3A%3Ac")
    assert column(handed_on, "subs", 5) == names
    one.open(f"file://{folder}/index-subs-excl.html")
    assert column(one, "subs", 5) == names, "it is remembered"


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
    assert len(column(one, "subs", 5)) == len(rows)
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
        assert len(column(one, "never", 0)) == len(wanted)


def test_a_malformed_expression_is_said(page, report):
    one = page(report("mixed-blocks") / "index-subs-excl.html")
    one.key("/")
    one.type("re:(")
    assert one.eval("document.activeElement.ariaInvalid") == "true"
    assert "no regular expression" in one.eval("document.querySelector('.bar output').textContent")


# -------------------------------------------------------------------- flame graph

def test_finding_in_the_flame_graph(page, report):
    flame = report_pages.Flame(report("mixed-calls2") / "flame.js")
    one = page(report("mixed-calls2") / "index.html")
    drawn(one)
    one.eval("document.querySelector('.flame input').focus()")
    for text in ("caller", "busy"):
        one.eval("document.activeElement.select()")
        one.type(text)
        frames, time = flame.found(text)
        assert frames
        shown = one.eval("document.querySelector('.flame output').textContent")
        assert shown.startswith(f"{frames} frames, {report_pages.time_text(time)}, "), shown


def test_zooming_by_click_and_by_key(page, report):
    folder = report("mixed-calls2")
    flame = report_pages.Flame(folder / "flame.js")
    one = page(folder / "index.html")
    x, y, width, _ = drawn(one)
    widest = max((f for f in flame.frames if len(f.path) == 1), key=lambda f: f.width)
    one.click(x + 4, y + 2 * 19 + 9)                       # the row below "all" and the main program
    shown = detail(one)
    assert shown[0] == flame.names[widest.name]
    assert shown[1].startswith(report_pages.time_text(widest.width * flame.unit))
    assert one.eval("location.hash").startswith("#zoom=2.")
    one.click(x + width - 4, y + 9)                        # zoomed in, "all" reaches to both edges
    assert detail(one)[0] == "all"
    assert "zoom" not in one.eval("location.hash")
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        one.key(key)
    assert detail(one)[0] == flame.names[widest.name]
    again = page(folder / "index.html", one.eval("location.hash"))
    drawn(again)
    assert detail(again)[:2] == shown[:2]
    one.key("Escape")
    frames_drawn(one)
    assert one.eval("location.hash") == ""


def test_a_frame_leads_to_its_source_line(page, report):
    one = page(report("mixed-calls2") / "index.html", "#pivot=main%3A%3Abusy")
    drawn(one)
    one.key("f")
    one.key("ArrowDown")
    assert detail(one)[0] == "main::busy"
    before = len(one.loaded)
    one.click_on(".detail a")
    one.browser.wait_for(lambda: len(one.loaded) > before, "the source page")
    assert "sub busy" in one.eval("document.querySelector('.here').innerText")
    box = one.eval("(r => [r.top, r.bottom])(document.querySelector('.here').getBoundingClientRect())")
    assert 0 < box[0] < box[1] < 900


def test_inverted_it_shows_own_times(page, report):
    flame = report_pages.Flame(report("mixed-calls2") / "flame.js")
    one = page(report("mixed-calls2") / "index.html")
    drawn(one)
    one.key("f")
    one.key("i")
    seen = {}
    one.key("ArrowDown")
    one.key("ArrowDown")
    for _ in range(5):
        name, time = detail(one)[:2]
        seen[name] = time.partition(",")[0]
        one.key("ArrowRight")
    own = flame.own_by_sub()
    # what lies on the edge between two roundings may be shown as either
    near = {name: {report_pages.time_text(time * edge) for edge in (1 - 1e-6, 1, 1 + 1e-6)}
            for name, time in own.most_common(5)}
    assert seen.keys() == near.keys() and all(seen[name] in near[name] for name in seen)


def test_callers_and_callees_of_one_sub(page, report):
    flame = report_pages.Flame(report("mixed-calls2") / "flame.js")
    sub = max((name for name in flame.names if len(flame.callers(name)) > 1), key=flame.inclusive)
    one = page(report("mixed-calls2") / "index.html", f"#pivot={sub.replace(':', '%3A')}")
    drawn(one)
    one.key("f")
    one.key("ArrowDown")
    assert detail(one)[0] == sub
    assert detail(one)[1].startswith(report_pages.time_text(flame.inclusive(sub)))
    callers = flame.callers(sub).most_common()
    one.key("ArrowUp")
    assert detail(one)[:2][0] == callers[0][0]
    assert detail(one)[1].startswith(report_pages.time_text(callers[0][1]))


def graph_height(one):
    drawn(one)
    frames_drawn(one)
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
    frames_drawn(one)
    assert one.eval("document.querySelector('.graph').scrollTop") > tall - 900
    colours = """(c => { const d = c.getContext('2d').getImageData(9, 0, 1, c.height).data;
        return new Set(d).size; })(document.querySelector('.flame canvas'))"""
    assert one.eval(colours) > 3, "the lower end is drawn, too"


def test_the_graph_of_one_file(page, report):
    folder = report("mixed-calls2")
    flame = report_pages.Flame(folder / "flame.js")
    path = main_source(folder)
    one = page(path)
    assert not any("flame.js" in url for url in one.requests), "it is loaded when asked for"
    one.key("f")
    drawn(one)
    one.key("ArrowDown")
    assert detail(one)[1].startswith(report_pages.time_text(flame.through_file(1)))


def test_folding_is_remembered(page, report):
    folder = report("mixed-calls2")
    one = page(folder / "index.html")
    drawn(one)
    one.eval("document.querySelector('.flame input:last-of-type').focus()")
    one.type("caller_|busy")
    one.key("Enter")
    one.open(f"file://{folder}/index.html")
    drawn(one)
    assert one.eval("document.querySelector('.flame input:last-of-type').value") == "caller_|busy"
    one.eval("document.querySelector('.flame input').focus()")
    one.type("re:caller_|busy")
    assert one.eval("document.querySelector('.flame output').textContent").startswith("0 frames")


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
    last = one.eval("[...document.querySelectorAll('.src tbody tr')].map(r => r.lastChild.textContent.trim())"
                    ".filter((t, i, all) => t.length > 30 && all.indexOf(t) == all.lastIndexOf(t)).pop()")
    assert one.eval(f"window.find({json.dumps(last)}, true)")
    top = one.eval("getSelection().getRangeAt(0).getBoundingClientRect().top")
    assert 0 < top < 900


def test_hot_lines_and_lines_that_ran(page, report):
    path = main_source(report("mixed-calls2"))
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


def test_a_click_on_a_line_number_is_a_permalink(page, report):
    one = page(main_source(report("mixed-calls2")))
    one.click_on("tr[id='9'] th")
    assert one.eval("location.hash") == "#9"
    assert one.eval("document.querySelector('.here').id") == "9"


def test_heat_of_the_page_makes_its_hottest_line_the_hottest(page, report):
    heats = re.compile(r"<tr id=\d+ class=h(\d)")
    path = next(p for p in sorted(report("mixed-calls2").glob("*-line.html"))
                if 0 < int(max(heats.findall(p.read_text()), default=0)) < 7)
    one = page(path)
    hottest = """Math.max(...[...document.querySelectorAll(".src tbody tr")]
        .map(row => +(/h(\\d)/.exec(row.className) || [0, 0])[1]))"""
    before = one.eval(hottest)
    one.click_on("#tools button:nth-of-type(2)")
    assert one.eval(hottest) == 7 > before
    one.click_on("#tools button:nth-of-type(2)")
    assert one.eval(hottest) == before


# -------------------------------------------------------------------- treemap

def test_areas_of_the_treemap_are_exclusive_times(page, report):
    folder = report("mixed-calls2")
    one = page(folder / "subs-treemap-excl.html")
    one.until("document.querySelector('section.map canvas')?.height > 100")
    frames_drawn(one)
    seen = one.eval("""(c => { const seen = {}, r = c.getBoundingClientRect(), n = 40;
        for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
            c.dispatchEvent(new MouseEvent("mousemove", {clientX: r.x + (i + 0.5) * r.width / n,
                clientY: r.y + (j + 0.5) * r.height / n}));
            const name = document.querySelector("section.map .detail b")?.textContent || "";
            seen[name] = (seen[name] || 0) + 1 / n / n;
        } return seen; })(document.querySelector('section.map canvas'))""")
    rows = report_pages.table(folder / "index-subs-excl.html", "subs")
    total = sum(row["excl"] for row in rows)
    for row in rows[:6]:
        assert abs(seen[row["sub"]] - row["excl"] / total) < 0.06, row


# -------------------------------------------------------------------- themes, paper, no script

def test_theme_by_the_system_and_by_hand(page, report):
    background = "getComputedStyle(document.documentElement).backgroundColor"
    index = report("mixed-calls2") / "index.html"
    light, dark = page(index).eval(background), page(index, dark=True)
    assert light == "rgb(255, 255, 255)" and dark.eval(background) != light
    dark.key("t")                                          # auto, light, dark
    assert dark.eval(background) == light
    dark.open(f"file://{index}")
    assert dark.eval(background) == light, "it is remembered"


def test_everything_is_there_without_script(page, report):
    folder = report("mixed-calls2")
    one = page(folder / "index.html", scripts=False)
    text = one.eval("document.body.innerText")
    for row in report_pages.table(folder / "index.html", "top"):
        assert row["sub"] in text
    assert one.eval("document.querySelector('.still img').naturalWidth") > 0
    source = page(main_source(folder), "#30", scripts=False)
    assert 0 < source.eval("document.getElementById('30').getBoundingClientRect().top") < 900


def test_print_holds_the_last_line(page, report, tmp_path):
    if not shutil.which("pdftotext"):
        pytest.skip("not installed: pdftotext")
    path = max(report("mixed-calls2").glob("*-line.html"), key=lambda p: p.stat().st_size)
    paper = tmp_path / "page.pdf"
    paper.write_bytes(page(path).pdf())
    text = subprocess.run(["pdftotext", "-layout", str(paper), "-"], capture_output=True,
                          check=True).stdout.decode()
    last = re.findall(r"<tr id=\"?(\d+)", path.read_text())[-1]
    assert re.search(rf"^\s*{last}\b", text, re.M)


# -------------------------------------------------------------------- strict hosts

class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def end_headers(self):
        self.send_header("Content-Security-Policy", JENKINS)
        super().end_headers()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(folder):
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_under_the_policy_of_jenkins_it_can_be_read(browser, report):
    folder = report("mixed-calls2")
    one = browser.page()
    with served(folder) as address:
        for name in ("index.html", main_source(folder).name):
            one.open(address + name)
            assert one.eval("getComputedStyle(document.querySelector('tr')).display") == "grid"
            assert one.eval("document.body.innerText.includes('main::')")
        one.open(address + "index.html")
        assert one.eval("document.querySelector('.still img').naturalWidth") > 0
        assert one.eval("document.querySelector('#tools').children.length") == 0
    assert {url for url in one.requests if not url.startswith((address, "about:"))} == set()
    assert all("script" in problem for problem in one.problems), one.problems
    one.close()


# -------------------------------------------------------------------- for everybody

@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_violation(page, report, dark):
    if not AXE.exists():
        pytest.skip("not installed: npm axe-core")
    folder = report("mixed-blocks")
    for path in (folder / "index.html", folder / "subs-treemap-excl.html", main_source(folder)):
        one = page(path, dark=dark)
        if path.name == "index.html":
            drawn(one)
        one.eval(AXE.read_text() + "; 0")
        found = one.eval("axe.run({preload: false}).then(r => r.violations.map(v => [v.id, v.nodes.length,"
                         " v.nodes[0].html.slice(0, 200), v.nodes[0].failureSummary]))")
        assert found == [], path.name


@pytest.mark.parametrize("name", ["mixed-blocks", "evals", "names", "made-hostile-names"])
def test_the_markup_is_valid(report, name):
    if not shutil.which("tidy"):
        pytest.skip("not installed: tidy")
    pages = sorted(report(name).glob("*.html"))
    done = subprocess.run(["tidy", "-errors", "-quiet", "-utf8", "--show-warnings", "no",
                           *map(str, pages)], capture_output=True, check=False)
    assert done.returncode < 2, done.stderr.decode()[:2000]


# -------------------------------------------------------------------- the single file

def test_one_file_holds_all_pages(page, report):
    path = report("mixed-calls2", one=True)
    folder = report("mixed-calls2")
    one = page(path)
    shown = "[...document.querySelectorAll('section.page')].filter(s => !s.hidden).map(s => s.dataset.file)"
    assert one.eval(shown) == ["index.html"]
    drawn(one)
    source = main_source(folder).name
    one.eval(f"location.hash = '#{source}:12'")
    one.until(f"{shown} == '{source}'")
    assert one.eval("document.querySelector('.here').id") == f"{source}:12"
    one.eval("location.hash = '#index-subs-excl.html'")
    one.until(f"{shown} == 'index-subs-excl.html'")
    one.eval("location.hash = '#%zz'")
    one.until("location.hash == '#%zz'")
    one.key("/")
    one.type("main::c")
    assert "q=main" in one.eval("location.hash")
    assert len(one.requests) - sum(url.startswith("about:") for url in one.requests) == 1
    again = page(path, f"#{source}:12")
    assert again.eval(shown) == [source]
    top = again.eval(f"document.getElementById('{source}:12').getBoundingClientRect().top")
    assert 0 < top < 900


def test_one_file_without_script_shows_everything(page, report):
    one = page(report("mixed-calls2", one=True), scripts=False)
    assert one.eval("[...document.querySelectorAll('section.page')].every(s => s.offsetHeight > 0)")
