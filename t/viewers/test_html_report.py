# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The HTML report in a real browser: it asks nothing of any network, holds to a strict content policy,
and can be read without script, in the dark, on paper, as one file, and by those who do not see it.
What its views do is in test_html_report_views.py."""

import contextlib
import functools
import http.server
import json
import re
import shutil
import subprocess
import threading

import pytest

import exports
import hostile
import nytpwrite
import profiles
import report_pages

SOURCES = profiles.TESTS.parent / "exporters" / "report"
AXE = profiles.TESTS / ".cache" / "node" / "node_modules" / "axe-core" / "axe.min.js"
JENKINS = "sandbox; default-src 'none'; img-src 'self'; style-src 'self';"


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
            report_pages.drawn(one)
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
        exports.exported("--html", "-q", "--title", XSS[0], "-o", out, profile)
    return folder


def use_everything(one):
    """Go about as a reader would."""
    if one.eval("!!document.querySelector('.flame')"):
        one.key("f")
        report_pages.drawn(one)
        one.keys("ArrowDown", "ArrowDown", "ArrowRight", "p", "Escape", "i")
        report_pages.frames_drawn(one)
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
    text = "".join(file.read_text() for file in (SOURCES / "script").glob("*.js"))
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                 "new Function", "fetch(", "XMLHttpRequest", "import(", "http:", "https:"):
        assert word not in text, word


def test_style_and_script_are_small(report):
    folder = report("mixed-blocks")
    assert sum((folder / name).stat().st_size for name in ("report.css", "report.js")) <= 44000


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
    source = page(report_pages.main_source(folder), "#30", scripts=False)
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
        for name in ("index.html", report_pages.main_source(folder).name):
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

def violations(one):
    """What axe-core finds on a page."""
    if not AXE.exists():
        pytest.skip("not installed: npm axe-core")
    one.eval(AXE.read_text() + "; 0")
    return one.eval("axe.run({preload: false}).then(r => r.violations.map(v => [v.id, v.nodes.length,"
                    " v.nodes[0].html.slice(0, 200), v.nodes[0].failureSummary]))")


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_violation(page, report, dark):
    """Neither on an index, also where one can jump to files, nor on a source page."""
    index = page(report("requires") / "index.html", dark=dark)
    report_pages.drawn(index)
    jump = "document.querySelector('nav[aria-label=\"Source files\"] details')"
    assert index.eval(f"{jump}.querySelectorAll('a').length") >= 10
    index.eval(f"{jump}.open = true")
    assert violations(index) == []
    for path in (report("mixed-blocks") / "index.html", report_pages.main_source(report("mixed-blocks"))):
        one = page(path, dark=dark)
        if path.name == "index.html":
            report_pages.drawn(one)
        assert violations(one) == [], path.name


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
    report_pages.drawn(one)
    source = report_pages.main_source(folder).name
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


# -------------------------------------------------------------------- differences

SOURCE = ["", "f(); g();", "sub f {", "    1 }", "sub g { 1 }"]
# sub, its line, and in its call what comes before so many statements, each at its line
VALUES = [("main::f", 4, [("nytp-svs 30 1 4", 4), ("nytp-svs -10 1 3", 4)]), ("main::g", 5, [("nytp-svs 400 1 5", 5)])]
BYTES = [("main::f", 4, [("nytp-alloc 40 9000 1 1 4", 4), ("nytp-alloc 41 800 1 1 4\nnytp-free 41", 4)]),
         ("main::g", 5, [("nytp-alloc 50 2000000 1 1 5", 5), ("nytp-alloc 51 800 1 1 5\nnytp-free 51", 5)])]


@pytest.mark.parametrize("width", [1200, 420])
@pytest.mark.parametrize("calls, key, subs, wanted", [
    (VALUES, "svs", ["400", "20", "0"], [["20", "made less freed: 30"], ["400", "made less freed: 400"]]),
    (BYTES, "inuse", ["2000000", "9000", "0 B"], [["9.0 kB", "allocated: 9.8 kB"], ["2.0 MB", "allocated: 2.0 MB"]]),
], ids=["values", "bytes"])
def test_what_lines_keep_stands_beside_their_code(page, tmp_path, calls, key, subs, wanted, width):
    stream = nytpwrite.Writer({"application": "/x/app.pl"}, {"calls": "2"}).pid_start(7, 1, 1000.0).fid(1, "/x/app.pl")
    for number, text in enumerate(SOURCE, 1):
        stream.source(1, number, text + "\n")
    for sub, line, statements in calls:
        stream.time(10, 1, 2).entry(1, 2).time(5, 1, 2)
        for comments, at in statements:
            for comment in comments.split("\n"):
                stream.comment(comment)
            stream.time(10, 1, at)
        stream.leave(1, 50, 50, sub).sub(1, sub, line - (sub == "main::f"), line).callers(1, 2, "main::RUNTIME", sub, 1, 5e-6, 5e-6)
    file = stream.time(10, 1, 2).pid_end(7, 2000.0).save(tmp_path / "s.out")
    exports.exported("--html", "-q", "-o", f"{tmp_path}/r/", file)
    one = page(tmp_path / "r" / "index-subs-excl.html", width=width)
    one.click_on(f"#subs th[data-key={key}] button")
    assert report_pages.column(one, "subs", 6) == subs
    one.open(f"file://{next((tmp_path / 'r').glob('*-line.html'))}")
    lines = one.eval("[...document.querySelectorAll('.src tr[class] td:nth-child(6)')].map(cell => { const text = document.createRange();"
                     " text.selectNodeContents(cell.nextElementSibling); return [cell.textContent, cell.title,"
                     " cell.getBoundingClientRect().right <= text.getBoundingClientRect().left]; })")
    assert all(cell + [True] in lines for cell in wanted) and all(beside for _, _, beside in lines)


@pytest.mark.parametrize("dark", [False, True])
def test_differences_can_be_sorted_and_followed(page, tmp_path, dark):
    out = tmp_path / "r"
    exports.exported("--diff", profiles.profile("mixed-calls1"), "--html", "-q", "-o", f"{out}/", profiles.profile("recurse"))
    one = page(out / "index-subs-excl.html", dark=dark)
    changes = [int(re.sub("[^-0-9]", "", text)) for text in report_pages.column(one, "diff", 2)]
    assert len(changes) > 10
    one.click_on("#diff th[data-key=dcalls] button")
    assert [int(re.sub("[^-0-9]", "", text)) for text in report_pages.column(one, "diff", 2)] == sorted(changes, reverse=True)
    assert "diff.sort=dcalls" in one.eval("location.hash")
    assert violations(one) == []
    one.follow(lambda: one.click_on("#diff a"), "document.querySelector('.src .here')")
    margin = one.eval("[...document.querySelectorAll('.wider .grew, .wider .shrank')].map(cell => [cell.textContent, cell.className,"
                      " cell.getBoundingClientRect().right <= cell.nextElementSibling.getBoundingClientRect().left + 1])")
    assert margin and all(cls == ("grew" if text[0] == "+" else "shrank") and beside for text, cls, beside in margin)
    assert violations(one) == []
