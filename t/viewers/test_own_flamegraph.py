# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""--flamegraph: boxes as wide as the collapsed stacks say, read without script; zoom, search and
the base's widths in Chromium."""

import collections
import re
import xml.etree.ElementTree as tree

import pytest

import exports
import profiles
from command import good
from recordings import record
from test_differences import sides  # noqa: F401

SVG = "{http://www.w3.org/2000/svg}"
ROW = 17


def draw(*arguments):
    return exports.exported("-q", "--flamegraph", "--unit=ns", *arguments)


def boxes_of(text, width=1200):
    """[(stack, x, width, title, rect)]: which box stands on which, geometry says."""
    root = tree.fromstring(text)
    assert root.tag == SVG + "svg" and root.get("width") == str(width)
    found = []
    for group in root.find(f"{SVG}g[@class='boxes']"):
        rect = group.find(SVG + "rect")
        title = group.find(SVG + "title").text
        found.append((float(rect.get("y")), float(rect.get("x")), float(rect.get("width")), title, rect))
    found.sort(key=lambda box: (-box[0], box[1]))
    stacks, result = {}, []
    for y, x, wide, title, rect in found:
        below = [key for key in stacks if key[0] == y + ROW and key[1] - 1e-4 <= x + wide / 2 <= key[1] + key[2] + 1e-4]
        stack = (stacks[below[0]] if below else ()) + (title[:title.rindex(" (")],)
        assert below or len(stack) == 1
        if wide > 0:
            stacks[y, x, wide] = stack
        result.append((stack, x, wide, title, rect))
    return result


def escaped(stack):
    """Frames as collapsed stacks have them."""
    return tuple(re.sub(r"\[[^\]]*/", "[", re.sub(r"[\s\0-\x1f]", "_", frame.replace(";", ":")))
                 for frame in stack)


def widths_of(folded, column=-1):
    """Stack -> its value with all that go on from it, from collapsed stacks."""
    sums = collections.Counter()
    for line in folded.decode().splitlines():
        stack, *values = re.match(r"(\S+) (\d+)(?: (\d+))?$", line).groups()
        values = [int(value) for value in values if value is not None]
        frames = tuple(stack.split(";"))
        for depth in range(1, len(frames) + 1):
            sums[frames[:depth]] += values[column]
    return sums


@pytest.mark.parametrize("name, options", [
    *[(name, ()) for name in ("mixed-calls2", "mixed-calls0", "recurse", "evals", "names", "forks-merged",
                              "unreturned", "deep-calls1", "requires", "jumps")],
    *[(name, options) for name in ("mixed-calls2", "unreturned")
      for options in (("--weight=calls",), ("--weight=statements", "--lines"))]])
def test_boxes_are_as_wide_as_the_stacks(profile, name, options):
    unit = [] if options else ["--unit=ns"]
    wanted = widths_of(exports.exported("-q", "--collapsed", *unit, *options, profile(name)))
    total = sum(value for stack, value in wanted.items() if len(stack) == 1)
    shown = collections.Counter()
    for stack, _, wide, _, _ in boxes_of(draw(*options, profile(name))):
        shown[escaped(stack)] += wide
    assert len(shown) > 3 or name == "deep-calls1"
    missing = {stack: value for stack, value in wanted.items() if stack not in shown}
    assert all(value * 1200 / total < 0.11 for value in missing.values()), missing
    for stack, wide in shown.items():
        assert wide == pytest.approx(wanted[stack] * 1200 / total, abs=0.02), stack


def test_boxes_of_a_row_do_not_overlap_and_titles_tell_values(profile):
    rows = collections.defaultdict(list)
    total = None
    for stack, x, wide, title, _ in boxes_of(draw(profile("mixed-calls2"))):
        rows[len(stack)].append((x, wide))
        value, share = re.search(r" \((\d+), ([\d.]+)%(?:, own \d+)?\)$", title).groups()
        total = total or int(value)
        assert float(share) == pytest.approx(100 * int(value) / total, abs=0.051)
    for row in rows.values():
        row.sort()
        assert all(a + wide <= b + 1e-4 for (a, wide), (b, _) in zip(row, row[1:]))


def test_many_stacks_are_bounded_and_told(tmp_path):
    calls = "".join(f"sub f{i} {{ g{i}() for 1 .. 2 }} sub g{i} {{ my $x = {i} }}\n" for i in range(15000))
    wide = record(tmp_path / "wide", calls + "".join(f"f{i}();\n" for i in range(15000)))
    text = draw("--flame-width=200000", "--weight=calls", wide)
    boxes = text.count(b"<g><title>")
    assert 15000 <= boxes <= 20000 and len(text) < 8_000_000
    left_out = re.search(rb"; (\d+) too narrow to be seen", text)
    assert boxes + int(left_out.group(1)) >= 30001
    assert text == draw("--flame-width=200000", "--weight=calls", wide)


# ---- a difference ----

def test_a_difference_has_both_widths_and_colours(sides):
    options = ("--weight=statements", "--diff", sides[0], sides[1])
    folded = good("--collapsed", *options)
    base, now = widths_of(folded, 0), widths_of(folded, 1)
    own = {tuple(line.split(" ")[0].split(";")): [int(n) for n in line.split(" ")[1:]]
           for line in folded.decode().splitlines()}
    seen = 0
    for stack, _, wide, title, rect in boxes_of(draw(*options)):
        stack = escaped(stack)
        base_wide = float(rect.get("data-base").split(" ")[1])
        if wide == 0:           # gone: geometry does not tell what it stood on
            assert base_wide > 0
            continue
        assert wide == pytest.approx(now[stack] * 1200 / now[stack[:1]], abs=0.01)
        assert base_wide == pytest.approx(base[stack] * 1200 / base[stack[:1]], abs=0.01)
        before, after = own.get(stack, (0, 0))
        fill = rect.get("fill")
        assert {1: fill.startswith("#ff"), -1: fill.endswith("ff"), 0: fill == "#dddddd"}[
            (after > before) - (after < before)], title
        assert f"own {'+' if after > before else ''}{after - before} statements" in title
        seen += after != before
    assert seen >= 3


def test_times_within_the_noise_are_grey(sides):
    runs = [sides[0]] * 4
    text = draw(*[f"--diff={run}" for run in runs], *runs)
    assert {box[4].get("fill") for box in boxes_of(text)} == {"#dddddd"}
    head = [element.text for element in tree.fromstring(text).findall(SVG + "text")]
    assert "no difference that 4 runs against 4 could show" in head[0]      # as the terminal says it


def test_a_difference_has_the_mean_of_each_sides_runs_and_a_legend(sides):
    def shown(text):
        return [(box[3], box[4].get("fill")) for box in boxes_of(text)]
    once = draw("--weight=statements", "--diff", sides[0], sides[1])
    assert shown(draw("--weight=statements", *[f"--diff={sides[0]}"] * 3, sides[1])) == shown(once)
    legend = "".join(tree.fromstring(once).find(f"{SVG}text[@class='legend']").itertext())
    assert re.search(r"more .* less .* equal.*; 1 sub \(-\d.*s\) only in the base", legend)


def test_a_name_without_room_loses_its_package_first(opened, tmp_path):
    program = """package Some::Very::Long::Package::Name;
        sub quick { 1 }
        sub slow { quick(); quick() }
        sub main::other { 1 }
        slow() for 1 .. 10;
        main::other() for 1 .. 99;"""
    text = draw("--flame-width=300", "--weight=calls", record(tmp_path, program))
    assert b">slow<" in text and b">main::other<" in text
    labels = "[...document.querySelectorAll('g.boxes > g')].map(g => g.querySelector('text')?.textContent)"
    page = opened(text)
    page.eval("(%s).dispatchEvent(new Event('click'))" % BOX % "Some::Very::Long::Package::Name::slow")
    assert "Some::Very::Long::Package::Name::slow" in page.eval(labels)     # widened
    page.key("Escape")
    assert "slow" in page.eval(labels) and page.problems == []


# ---- in a browser ----

@pytest.fixture
def opened(browser, tmp_path):
    def start(text, **how):
        file = tmp_path / "flame.svg"
        file.write_bytes(text)
        page = browser.page(**how)
        page.open(file.as_uri())
        return page
    return start


BOX = """[...document.querySelectorAll("g.boxes > g")].find(
    g => g.querySelector("title").textContent.startsWith("%s ("))"""
SEEN = """[...document.querySelectorAll("g.boxes > g")].filter(g => g.style.display !== "none").map(
    g => [g.querySelector("title").textContent.replace(/ \\(.*/, ""),
          Number(g.querySelector("rect").getAttribute("width"))])"""


def test_it_can_be_zoomed_and_searched(opened):
    page = opened(draw("--weight=statements", profiles.profile("mixed-calls2")))
    before = dict(page.eval(SEEN))
    assert 40 < before["List::Util::first"] < 1100
    page.eval("(%s).dispatchEvent(new Event('click'))" % BOX % "List::Util::first")
    zoomed = page.eval(SEEN)
    assert dict(zoomed)["List::Util::first"] == pytest.approx(1200)
    assert dict(zoomed)["main::RUNTIME"] == pytest.approx(1200)
    assert 2 <= len(zoomed) < len(before) and "main::BEGIN@4" not in dict(zoomed)
    assert page.eval("(%s).querySelector('text').textContent" % BOX % "List::Util::first") == "List::Util::first"
    page.key("Escape")
    assert dict(page.eval(SEEN)) == pytest.approx(before)
    page.key("/")
    page.type("list::util::first")
    assert page.eval("document.querySelectorAll('.hit').length") >= 1
    text = page.eval("document.querySelector('.found').textContent")
    assert float(re.search(r"([\d.]+)%", text).group(1)) == pytest.approx(
        before["List::Util::first"] / 12, abs=0.06)
    assert page.problems == [] and [url for url in page.requests if not url.startswith(("file:", "about:"))] == []


def test_it_is_read_without_script(opened):
    page = opened(draw(profiles.profile("mixed-calls2")), scripts=False)
    shown = page.eval("document.documentElement.getBoundingClientRect().width")
    assert shown == 1200
    assert page.eval("[...document.querySelectorAll('text')].filter(t => t.getBBox().width > 0).length") > 3


def test_names_are_text_whatever_they_are(opened):
    page = opened(draw(profiles.profile("made-hostile-names")))
    assert page.eval("document.querySelectorAll('script').length") == 1
    assert page.eval("document.querySelectorAll('img, a, [onload], [onerror]').length") == 0
    assert page.eval("document.querySelectorAll('g.boxes > g').length") > 10
    page.eval("document.querySelectorAll('g.boxes > g').forEach(g => g.dispatchEvent(new Event('click')))")
    assert page.problems == []


def test_the_base_is_shown_on_a_key(opened, sides):
    page = opened(draw("--weight=statements", "--diff", sides[0], sides[1]))
    assert "main::gone" not in dict(page.eval(SEEN)) or dict(page.eval(SEEN))["main::gone"] == 0
    assert page.eval("document.querySelector('.side').textContent").startswith("b: ")
    page.key("b")
    assert dict(page.eval(SEEN))["main::gone"] > 0 and "main::more" not in dict(page.eval(SEEN))
    assert page.eval("document.querySelector('.side').textContent") == "widths of the base"
    page.key("b")
    assert dict(page.eval(SEEN))["main::more"] > 0 and page.problems == []
