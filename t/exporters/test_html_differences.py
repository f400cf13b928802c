# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""html: --diff BASE --html NEW has the numbers of --diff BASE --json NEW, and the report of NEW around them."""

import json
import re

import pytest

import htmlpages
import nytpwrite
import profiles
from instructions import instructions
from recordings import record
from reports import made, run
from written import write_run

SUBS = "index-subs-excl.html"


@pytest.fixture
def compared(tmp_path):
    def make(bases, new, *options, code=0):
        sides = [word for base in bases for word in ("--diff", base)]
        report = made(tmp_path / "r", *sides, *options, *new, codes=[code])
        document = run(*sides, "--json", "--unit=ns", "-q", *new)
        return report, json.loads(document.stdout)
    return make


def number(cell):
    return int(cell.get("data-n") or re.sub(r"[^\d-]", "", cell.own_text()) or 0)


def assert_same(report, document):
    rows, want = report.pages[SUBS].table("diff") or [], list(document["diff"])
    assert len(rows) == len(want)
    left = {}
    for row in want:
        left.setdefault(row["sub"], []).append(row)
    sizes = []
    for cells in rows:
        got = [number(cell) for cell in cells[:7]]
        name = cells[7].sub_name()
        (one,) = [row for row in left[name] if row["new"]["calls"] == got[1] and row["base"]["calls"] == got[0]
                  and row["new"]["exclusive"] == got[4]][:1]
        left[name].remove(one)
        base, new = one["base"], one["new"]
        has_times = base["exclusive"] is not None
        assert got == [base["calls"], new["calls"], new["calls"] - base["calls"], base["exclusive"] or 0, new["exclusive"],
                       new["exclusive"] - base["exclusive"] if has_times else 0, new["statements"] - base["statements"]], name
        marks = [small.text() for small in cells[7].elements("small")]
        assert ("new" in marks, "gone" in marks) == (one["status"] == "new", one["status"] == "gone"), one["status"]
        sizes.append(abs(got[5] if has_times else got[6]))
    assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("names", ["mixed-calls2 mixed-calls1", "mixed-calls1 recurse", "evals evals", "names mixed-calls2",
                                   "unreturned recurse", "requires evals"])
def test_the_table_has_the_numbers_of_json(compared, names):
    base, new = (profiles.profile(name) for name in names.split())
    report, document = compared([base], [new])
    assert_same(report, document)
    index = report.pages["index.html"]
    top = index.table("diff") or []
    rows = [c for c in report.pages[SUBS].table("diff") or [] if number(c[2]) or number(c[5]) or number(c[6])]
    assert [c[7].sub_name() for c in top] == [c[7].sub_name() for c in rows[:15]]    # not those that only what they call differs in
    facts = [dd.text().strip() for dd in report.main("index.html").elements("dd")]
    assert str(base) in facts and str(new) in facts
    assert list(htmlpages.problems(report)) == []
    if base == new:
        assert "No sub differs." in report.main("index.html").text()


def side(folder, name, *times):
    """Runs of a program whose two subs take so many ticks."""
    files = []
    for run, ticks_of in enumerate(times):
        stream = nytpwrite.Writer().pid_start(7).fid(1, "/x/a.pl")
        for line, sub, ticks in zip((3, 5), ("main::noisy", "main::slow"), ticks_of):
            stream.entry(1, 9).time(10, 1, 9).leave(1, ticks, ticks, sub).time(ticks, 1, line)
            stream.sub(1, sub, line, line).callers(1, 9, "main::RUNTIME", sub, 1, ticks / 1e7, ticks / 1e7)
        files.append(str(stream.pid_end(7).save(folder / f"{name}{run}.out")))
    return files


def test_several_runs_a_side_get_a_verdict(compared, tmp_path):
    report, document = compared(side(tmp_path, "before", *[(5000 + n, 40000 + n) for n in range(8)]),
                                side(tmp_path, "after", *[(5000 + n, 80000 + n) for n in range(8)]))
    assert_same(report, document)
    (row,) = [row for row in report.pages[SUBS].table("diff") if row[7].sub_name() == "main::slow"]
    assert row[5].own_text().startswith("+") and re.match(r"p=0\.0", row[5].get("title"))
    index = report.main("index.html")
    assert "8 runs against 8" in index.elements("p", "answer")[0].text()
    assert "medians" in index.text() and re.search(r"Calls(\d+) → \1: 0 \(exact\)", index.text())
    assert report.pages["index.html"].table("diff")[0][7].sub_name() == "main::slow"
    subs = {c[6].sub_name(): number(c[0]) for c in report.pages[SUBS].table("subs")}
    assert subs["main::slow"] == 8                          # the report itself adds its runs up


def test_the_index_leaves_out_what_may_be_noise(compared, tmp_path):
    """Of two subs with the same counts one takes longer in one of five runs, the other twice as long in each."""
    before = side(tmp_path, "before", *[(5000 + n, 40000 + n) for n in (1, 2, 3, 4, 5)])
    after = side(tmp_path, "after", *[(5000 + n, 80000 + n) for n in (2, 3, 4, 5, 2000)])
    report, document = compared(before, after)
    assert_same(report, document)
    names = [{row[7].sub_name() for row in report.pages[page].table("diff")} for page in ("index.html", SUBS)]
    assert [("main::slow" in found, "main::noisy" in found) for found in names] == [(True, False), (True, True)]


def test_a_table_of_counts_as_the_base(compared, tmp_path):
    counts = tmp_path / "base.nytp.json"
    assert run("--save-base", "-o", counts, profiles.profile("mixed-calls1")).returncode == 0
    report, document = compared([counts], [profiles.profile("recurse")])
    assert_same(report, document)
    assert "a table of counts" in report.main("index.html").text()


def test_limits_decide_when_the_report_is_written(compared, tmp_path):
    files = [[record(tmp_path, f"sub f {{ 1 }} f() for 1 .. {n};\n", out=f"{n}.out")] for n in (3, 9)]
    report, _ = compared(*files, "--fail-over=1%:calls:sub", code=10)
    assert report.pages[SUBS].table("diff")
    compared(files[1], files[1], "--fail-over=1%:calls:sub")


def test_a_partial_side_is_told(compared):
    report, _ = compared([profiles.profile("mixed-calls2")], [profiles.profile("cut-deflated")], code=3)
    assert report.main("index.html").elements("p", "partial")


def test_without_a_base_there_is_no_difference(tmp_path):
    report = made(tmp_path / "r", profiles.profile("recurse"))
    assert report.pages[SUBS].table("diff") is None
    assert {len(cells) for page in report.pages.values() for cells in page.lines().values()} <= {1, 2, 6}, "no such column"


def test_one_file_has_it_too(tmp_path):
    done = run("--diff", profiles.profile("evals"), "--html", "-o", tmp_path / "r.html", profiles.profile("mixed-calls1"))
    assert done.returncode == 0
    page = htmlpages.Page((tmp_path / "r.html").read_text())
    assert len(page.ids()) == len(set(page.ids())) and len(page.root.elements("table", "diff")) == 2
    assert list(htmlpages.markup_problems(page)) == []


def changed_lines(report):
    """{(page, line): (Δ, title)} of the margins."""
    found = {}
    for name, page in report.pages.items():
        for line, cells in page.lines().items() if name.endswith("-line.html") else ():
            if len(cells) > 2:
                assert len(cells) == 7, (name, line)
                if cells[5].text():
                    assert cells[5].classes == (["grew"] if cells[5].text()[0] == "+" else ["shrank"])
                    found[name, line] = int(cells[5].text()), cells[5].get("title")
    return found


BEFORE = """sub work {
    my $n = shift;
    if ($n % 2) {
        my $x = $n;
        $n += 2 * $x;
    }
    for my $i (1 .. 3) {
        $n += $i;
    }
    return $n;
}
my $anonymous = sub { return work($_[0]) };
work($_), $anonymous->($_) for 1 .. 10;
"""
AFTER = "# a line more\n" + BEFORE
for before, after in ("1 .. 3", "1 .. 5"), ("$n % 2", "$n > 100"), ("1 .. 10", "1 .. 12"):
    AFTER = AFTER.replace(before, after)


def test_lines_have_their_change_in_the_margin(compared, tmp_path):
    """The program moved down by a line; one of its lines ran only before."""
    files = [str(record(tmp_path / side, text, name="p.pl")) for side, text in (("base", BEFORE), ("new", AFTER))]
    report, _ = compared(files[:1], files[1:])
    found = {line: more for (name, line), (more, _) in changed_lines(report).items() if name.startswith("p-pl-")}
    assert (found[5], found[6], found[9]) == (-10, -10, 12 * 2 * 5 - 10 * 2 * 3)
    page, = [page for name, page in report.pages.items() if name.startswith("p-pl-") and name.endswith("-line.html")]
    gone = page.lines()[5]
    assert gone[6].own_text().strip() == "my $x = $n;" and not gone[1].text() and not gone[0].parent.classes
    assert re.match(r"10 before, 0 now; time ", gone[5].get("title"))
    heads = [th.text() for th in page.root.elements("table", "src")[0].elements("th") if th.get("scope")]
    assert heads.index("Δ") == 5 and len(heads) == 7
    assert list(htmlpages.problems(report)) == []
    (anonymous,) = [row[7].elements("a") for row in report.pages[SUBS].table("diff") if "__ANON__#1" in row[7].text()]
    assert anonymous[0].get("href").endswith("-line.html#13")


def test_library_folders_are_left_out_of_names_that_hold_a_file(compared, tmp_path):
    """An anonymous sub has a number in place of its file and line; a name that the program made keeps its file."""
    made_up = "P::around[/x/lib/P.pm]"

    def side(n):
        subs = {"P::__ANON__[/x/lib/P.pm:3]": (n, 10), made_up: (n, 10), f"P::only_{n}[/x/lib/P.pm]": (9 * n, 10)}
        return [write_run(tmp_path / f"{n}.out", subs)]
    report, _ = compared(side(2), side(3), "--lib", "/x/lib")
    rows = {row[7].sub_name(): [small.text() for small in row[7].elements("small")] for row in report.pages[SUBS].table("diff")}
    assert rows == {"P::__ANON__#1": [], "P::around[P.pm]": [], "P::only_2[P.pm]": ["gone"], "P::only_3[P.pm]": ["new"]}
    assert made_up not in report.main("index.html").text()


@pytest.mark.parametrize("names", ["mixed-calls2 mixed-calls1", "mixed-calls1 recurse", "evals mixed-calls2", "names mixed-calls2"])
def test_margins_have_the_numbers_of_json(compared, names):
    """What lines of subs that are on both sides gained is what --diff --lines --json says of them."""
    base, new = (profiles.profile(name) for name in names.split())
    report, _ = compared([base], [new])
    document = json.loads(run("--diff", base, "--json", "--lines", "--unit=ns", "-q", new).stdout)
    shown = sum(abs(more) for more, _ in changed_lines(report).values())
    ran_now = [row for row in document["diff"] if any(line["new"]["statements"] for line in row["lines"])]
    wanted = sum(abs(line["new"]["statements"] - line["base"]["statements"]) for row in ran_now for line in row["lines"])
    assert 0 < shown <= wanted
    places = {(row["file"], line["line"]) for row in ran_now for line in row["lines"]
              if line["new"]["statements"] != line["base"]["statements"]}
    assert len(changed_lines(report)) <= len(places)


# -------------------------------------------------------------------- inputs

def test_pipes_can_be_compared(compared, tmp_path):
    """Each input is read once."""
    base, new = profiles.profile("mixed-calls1"), profiles.profile("recurse")
    want, _ = compared([base], [new])
    for name, arguments, feed in (("stdin", ["--diff", base, "-"], new), ("base", ["--diff", "-", new], base)):
        with open(feed, "rb") as pipe:
            got = made(tmp_path / name, *arguments, stdin=pipe)
        for table in "diff", "subs":
            assert [[c.text() for c in row] for row in got.pages[SUBS].table(table)] == \
                [[c.text() for c in row] for row in want.pages[SUBS].table(table)], (name, table)


def test_subs_that_only_the_base_has_are_not_called_uncalled(compared):
    report, document = compared([profiles.profile("mixed-calls1")], [profiles.profile("recurse")])
    gone = {row["sub"] for row in document["diff"] if row["status"] == "gone"}
    uncalled = {row[0].text().strip() for row in report.pages[SUBS].table("never")}
    assert gone and uncalled and not gone & uncalled
    assert not [name for name in report.names if name.startswith("mixed-pl")]


def test_many_files_are_looked_up_by_name(tmp_path):
    """The comparison as JSON looks up none of them: a walk over all files for each sub made it six times as much in place of three."""
    stream = nytpwrite.Writer().pid_start(7)
    for fid in range(1, 1501):
        stream.fid(fid, b"/x/y/f%d.pl" % fid).time(10, fid, 1).sub(fid, b"main::g%d" % fid, 1, 1)
        stream.callers(fid, 1, b"main::RUNTIME", b"main::g%d" % fid, 1, 10, 10)
    file = stream.pid_end(7).save(tmp_path / "p.out")

    of_json, of_html = (instructions("--diff", file, *how, file) for how in (("--json", "-o", tmp_path / "x.json"),
                                                                            ("--html", "--no-flame", "-o", tmp_path / "x.html")))
    assert of_html < 4.2 * of_json, (of_json, of_html)
