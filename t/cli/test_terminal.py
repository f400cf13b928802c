# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""--top and --tree: the numbers are right and the lines fit."""

import json
import os
import pathlib
import re
import resource
import unicodedata

import pytest

from command import PROGRAM, good, run, run_on_terminal
from nytpwrite import Writer
from recordings import record
from test_wait_reasons import sampled
from written import begun, write_run

TICKS_PER_SEC = 10_000_000
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
PROFILES = ["mixed-calls2", "mixed-calls1", "evals", "recurse", "names"]

ROW = re.compile(r"^ *(?P<self>-?[\d.]+) +(?P<self_percent>-?[\d.]+)% +(?P<incl>-?[\d.]+) +"
                 r"(?P<incl_percent>-?[\d.]+)% +(?P<calls>\d+) +(?P<percall>[-\d.]+) +"
                 r"(?:(?:-|\d+) +)?(?P<name>[^\s\d-]\S*)")  # the wait stands there where there is much


def top_rows(*arguments):
    """Rows of a --top in ticks, by name, in order."""
    text = good("-q", "--top=0", "--unit=ticks", *arguments).decode()
    rows = [ROW.match(line).groupdict() for line in text.splitlines()[3:]]
    assert rows
    return rows


@pytest.mark.parametrize("name", PROFILES)
def test_top_shows_the_recorded_numbers(profile, totals, name):
    subs = totals(name).subs
    rows = top_rows(profile(name))
    compared = 0
    for row in rows:
        sub = subs.get(row["name"])
        if sub is None or row["name"] == PROGRAM or sub.from_statements:
            continue
        assert int(row["calls"]) == sub.calls, row
        assert int(row["self"]) == sub.self, row
        assert int(row["incl"]) == sub.inclusive, row
        compared += 1
    assert compared >= 5


@pytest.mark.parametrize("name", PROFILES)
def test_top_adds_up(profile, name):
    rows = top_rows(profile(name))
    root = next(row for row in rows if row["name"] == PROGRAM)
    assert sum(int(row["self"]) for row in rows) == int(root["incl"])
    assert root["incl_percent"] == "100.0"


@pytest.mark.parametrize("key, of", [
    ("self", lambda row: -int(row["self"])),
    ("incl", lambda row: -int(row["incl"])),
    ("calls", lambda row: -int(row["calls"])),
    ("percall", lambda row: -float(row["percall"]) if row["percall"] != "-" else 0),
    ("name", lambda row: row["name"]),
])
def test_top_is_sorted(profile, key, of):
    rows = top_rows(f"--sort={key}", profile("mixed-calls2"))
    if key == "name":       # the program itself comes first
        assert rows[0]["name"] == PROGRAM
        rows = rows[1:]
    assert [of(row) for row in rows] == sorted(of(row) for row in rows)


def test_top_sums_up_what_it_leaves_out(profile):
    file = profile("mixed-calls2")
    text = good("--top=5", "--unit=ticks", file).decode().splitlines()[3:]
    assert len(text) == 6
    rest = re.match(r" *(\d+) +([\d.]+)% +(\d+) +\((\d+) more subs\)$", text[5])
    rows = top_rows(file)
    assert int(rest[1]) == sum(int(row["self"]) for row in rows[5:])
    assert int(rest[3]) == sum(int(row["calls"]) for row in rows[5:])
    assert int(rest[4]) == len(rows) - 5


def test_times_are_in_units_that_fit(profile):
    file = profile("mixed-calls2")
    exact = {row["name"]: int(row["self"]) for row in top_rows(file)}
    text = good("--top=0", file).decode().splitlines()[3:]
    assert len(text) == len(exact)
    for line in text:
        number, unit = re.match(r" *([\d.]+) (s|ms|us|ns) ", line).groups()
        name = re.search(r"(?:[\d.]+ (?:s |ms|us|ns)|-) (\S*::\S+)", line[40:])[1]
        seconds = exact[name] / TICKS_PER_SEC
        assert abs(float(number) * UNITS[unit] - seconds) <= 0.0051 * seconds
        assert float(number) < 1000


def test_columns_are_aligned(profile):
    lines = good("--top=0", profile("mixed-calls2")).decode().splitlines()[2:]
    header = lines[0]
    for title in ("self%", "incl%"):
        end = header.index(title) + len(title)
        assert all(line[end - 1] in "%-" and line[end] == " " for line in lines)


# ---- tree ----

def tree_rows(*arguments):
    """(depth, inclusive, self, calls, name) of each row."""
    text = good("-q", "--tree", "--unit=ticks", *arguments).decode()
    rows = []
    for line in text.splitlines()[3:]:
        match = re.match(r" *(-?\d+) +(?:[-\d.]+%|-) +(-?\d+) +(\d+) ((?:\| |\+-)*)(.*)$", line)
        rows.append((len(match[4]) // 2, int(match[1]), int(match[2]), int(match[3]), match[5]))
    return rows


@pytest.mark.parametrize("name", PROFILES + ["deep-calls1"])
def test_rows_add_up_to_the_one_above(profile, name):
    rows = tree_rows(profile(name))
    for i, (depth, incl, own, _, text) in enumerate(rows):
        below = 0
        for other in rows[i + 1:]:
            if other[0] <= depth:
                break
            if other[0] == depth + 1:
                below += other[1]
        if not text.startswith("("):
            assert own + below == incl, text
    assert rows[0][4].startswith(PROGRAM)


def test_a_tree_prunes_small_branches(profile):
    file = profile("mixed-calls2")
    total = tree_rows(file)[0][1]
    for depth, incl, _, _, text in tree_rows(file):
        assert incl >= total * 0.005 or text.startswith("(")
    assert any("more)" in row[4] for row in tree_rows(file))
    assert not any("more)" in row[4] for row in tree_rows("--min-percent=0", file))
    assert len(tree_rows("--min-percent=20", file)) < len(tree_rows(file))


def test_a_deep_tree_ends(profile):
    rows = tree_rows("--min-percent=0", profile("deep-calls1"))
    assert max(row[0] for row in rows) <= 101
    assert any("and what is below" in row[4] for row in rows)


# ---- the terminal itself ----

def on_terminal(columns, *arguments, **environment):
    status, text, _ = run_on_terminal(*arguments, columns=columns, env=dict(os.environ, TERM="xterm", **environment))
    assert status in (0, 3)
    return text.decode()


def without_styles(text):
    return re.sub(r"\033\[[\d;]*m", "", text)


def columns_of(text):
    """What Unicode says that a terminal needs; a mark over a letter may have one of its own."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


@pytest.mark.parametrize("columns", [60, 200])
@pytest.mark.parametrize("format_", ["--top=0", "--tree", "--list=.", "--peek=.", "--processes", "--top=0 --lines"])
@pytest.mark.parametrize("name", ["names", "evals", "forks-merged", "made-hostile-names"])
def test_lines_fit_the_terminal(profile, columns, format_, name):
    coloured = on_terminal(columns, "-q", *format_.split(), profile(name))
    plain = on_terminal(columns, "-q", *format_.split(), profile(name), NO_COLOR="1")
    assert "\033" in coloured and without_styles(coloured) == plain
    limit = max(columns, 79)      # the numbers and a bit of the name are never cut
    assert [line for line in plain.splitlines() if columns_of(line) > limit] == []


@pytest.mark.parametrize("format_", ["--top", "--list=."])
def test_lines_with_memory_and_waits_fit_the_terminal(tmp_path, format_):
    name, out = "My::Package::a_name_that_needs_room", begun()
    out.entry(1, 1).time(3, 1, 3).entry(1, 3).time(9000, 1, 3).leave(2, 9000, 9000, "My::Package::CORE:sselect")
    out.comment("nytp-svs 1234567 1 3").time(10, 1, 3).leave(1, 9013, 13, name).sub(1, name, 3, 4)
    out.pid_end(7, 2000.0).save(tmp_path / "a.out")
    for columns in *range(79, 120, 3), 80, 101:
        lines = on_terminal(columns, "-q", format_, tmp_path / "a.out", NO_COLOR="1").splitlines()
        assert re.search("sselect|1234567", "".join(lines)) and [line for line in lines if columns_of(line) > columns] == []
        assert any(re.search("needs_room(?:  |$)|1x .*[a-z.]{6}$", line) for line in lines), lines


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    """Long names in deep folders."""
    stream = Writer().pid_start(7).comment("nytp-costs stmt=10000000")
    stream.fid(1, "/usr/share/perl5/Perl/Tidy/Tokenizer.pm").source(1, 4566, "sub tokenizer_main_loop { return 1 }\n")
    for _ in range(9):
        stream.time(900, 1, 4566)
    stream.sub(1, "Perl::Tidy::Tokenizer::tokenizer_main_loop", 4566, 4570)
    stream.callers(1, 4566, "main::RUNTIME", "Perl::Tidy::Tokenizer::tokenizer_main_loop", 9, 0.0007, 0.0007)
    return stream.pid_end(7).save(tmp_path_factory.mktemp("deep") / "deep.out")


@pytest.mark.parametrize("columns, sub, line", [
    (80, r" +\S+ \w+ +\S+% +\S+% +9 Tokenizer::tokenizer_main_loop +Tokenizer.pm:4566$", r"Tokenizer.pm:4566 +sub tokenizer_main_loop \{"),
    (200, r".* Perl::Tidy::Tokenizer::tokenizer_main_loop +/usr/share/perl5/Perl/Tidy/Tokenizer.pm:4566$", r"/usr.*:4566 +sub .*\}$")])
def test_a_terminal_shows_sub_and_place(deep, columns, sub, line):
    text = on_terminal(columns, "-q", deep, NO_COLOR="1")
    assert re.search("^" + sub, text, re.M)
    assert re.search(line, on_terminal(columns, "-q", "--lines", deep, NO_COLOR="1"), re.M)
    if columns == 80:           # the head breaks between clauses
        assert re.search(r"calls;\nless \S+ \w+ that recording cost \(of up to \S+ \w+\)$", text, re.M)


def test_a_name_without_end_is_cut_in_no_time(tmp_path):
    """The processor's: each byte was looked at once for each byte before it."""
    stream = Writer().pid_start(7).fid(1, "/x/a.pl").time(90, 1, 1)
    name = "main::" + "p" * 300_000
    stream.sub(1, name, 1, 1).callers(1, 1, "main::RUNTIME", name, 1, 90, 90)
    file = stream.pid_end(7).save(tmp_path / "long.out")
    status, text, _ = run_on_terminal("-q", file, columns=80,
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 10)))
    assert status == 0 and b"ppp" in text


@pytest.mark.parametrize("columns", [60, 80, 139, 140, 300])
def test_patterns_fit_the_terminal(tmp_path, columns):
    stream = Writer().pid_start(7).fid(1, "/usr/share/perl5/Perl/Tidy/Tokenizer.pm").time(900, 1, 4566)
    for n in range(3):
        stream.comment("nytp-regex compile 1 4566 20 0 20 20000 99 9 - \N{WHITE SMILING FACE}" + "x" * 150 + str(n))
        stream.comment(f"nytp-regex match 1 {n} 20 0 0 900 99 9 - " + "\\w+" * 40)
    lines = on_terminal(columns, "-q", "--patterns", stream.pid_end(7).save(tmp_path / "p.out"), NO_COLOR="1").splitlines()
    assert [line for line in lines if columns_of(line) > max(columns, 79)] == []
    assert any(line.endswith(" and 2 more") for line in lines)
    assert sum(":4566 " in line for line in lines) == 1


@pytest.mark.parametrize("columns", [80, 99, 100, 200])
def test_a_comparison_fits_the_terminal(profile, columns):
    arguments = ("-q", "--weight=time", "--lines", *[f"--diff={profile('mixed-calls1')}"] * 4, *[profile("mixed-calls2")] * 4)
    text = on_terminal(columns, *arguments, NO_COLOR="1")
    rows = [line for line in text.splitlines() if not re.match(r"note: |\d+ subs? changed", line)]
    assert [line for line in rows if columns_of(line) > columns] == []
    assert any(re.search(r"p=\S+, noise ±\S+ %$", line) for line in rows)
    assert any(re.search(r"Δ self time +base +new +sub$", line) for line in rows) == (columns >= 100)
    text = on_terminal(columns, "-q", f"--diff={profile('recurse')}", profile("mixed-calls2"), NO_COLOR="1")
    assert columns in (80, 100) or re.search(r" gone \S+\.pl:\d+$", text, re.M)        # names take the room there


def test_long_numbers_of_a_comparison_stand_apart(tmp_path):
    old, new = (write_run(tmp_path / name, {"main::f": (1, ticks)}, attributes={"ticks_per_sec": 1})
                for name, ticks in (("a.out", 123456789), ("b.out", 1999999999)))
    text = good(f"--diff={old}", "--top", "--weight=time", new).decode()
    assert re.search(r"^time +123456799 s 2000000009 s +\+1520.0 %", text, re.M), text
    assert re.search(r" 0 +0 +\+1876543210 s \S.* 123456789 s 1999999999 s  main::f ", text), text


def compared(folder):
    """Two pairs of recordings: one of subs that are new, gone, renamed and slower, one that waits longer."""
    same, long = {"main::same": (2, 30)}, "socket of a host whose name needs much room, and more than there is"
    before = {"main::work": (20, 9000), "Foo::\N{LATIN SMALL LETTER A WITH DIAERESIS}lter": (3, 50), "Foo::parse": (4, 400), **same}
    after = {"main::work": (31, 12345), "Foo::newer": (3, 50), "Foo::parse": (4, 100), **same, "main::added_with_a_long_name": (5, 70)}
    slower = write_run(folder / "a.out", {**before, "main::gone": (1, 7)}), write_run(folder / "b.out", after)
    waits = [(7, 300, 0, "sleep")]
    longer = sampled(folder / "c.out", (6, 200, 0, long), *waits, (8, 9, 0, "lock")), sampled(folder / "d.out", (6, 500, 0, long), *waits)
    return slower, longer


@pytest.mark.parametrize("columns", [72, 140])
def test_columns_of_a_comparison_stay_where_they_are(tmp_path, columns):
    subs, waits = compared(tmp_path)
    text = "".join(on_terminal(columns, "-q", *arguments, NO_COLOR="1") for arguments in (
        ("--lines", "--weight=time", "--top=5", f"--diff={subs[0]}", subs[1]), (f"--diff={waits[0]}", waits[1])))
    expected = pathlib.Path(__file__).parent / "expected" / f"diff-{columns}.txt"
    lines = [line.rstrip() for line in text.splitlines()]
    assert "".join(line + "\n" for line in lines) == expected.read_text()
    assert [line for line in lines if line.startswith(" ") and columns_of(line) > columns] == []


def test_wide_characters_take_two_columns(tmp_path):
    """Of each range that Unicode calls wide the first and the last, and the neighbours of both."""
    wide = [c for c in map(chr, range(0x80, 0x32000)) if unicodedata.category(c) not in ("Cn", "Co", "Cs")]
    edges = [c for before, c, after in zip(wide, wide[1:], wide[2:])
             if len({columns_of(before), columns_of(c), columns_of(after)}) > 1]
    assert len(edges) > 150
    text = "".join(edges)
    line = f"print '{text}';"
    stream = Writer().pid_start(7).fid(1, "/x/a.pl").source(1, 1, "print 1;\n").time(90, 1, 1)
    stream.source(1, 2, line + "\n").time(90, 1, 2)
    file = stream.pid_end(7).save(tmp_path / "wide.out")
    whole = on_terminal(2000, "-q", "--lines", file, NO_COLOR="1")
    (before,) = [row.index("print '") for row in whole.splitlines() if text in row]
    need = before + columns_of(line) + 1          # the last column stays free
    assert line in on_terminal(need, "-q", "--lines", file, NO_COLOR="1")
    assert line not in on_terminal(need - 1, "-q", "--lines", file, NO_COLOR="1")
    for columns in range(need - 40, need):
        rows = on_terminal(columns, "-q", "--lines", file, NO_COLOR="1").splitlines()
        (row,) = [row for row in rows if text[:10] in row]
        assert row.endswith("...") and columns - 2 <= columns_of(row) < columns


def test_a_wide_terminal_shows_everything(profile):
    file = profile("mixed-calls2")
    wide = without_styles(on_terminal(1000, "--top=0", file))
    assert wide == good("--top=0", file).decode()


def test_colours_only_where_they_are_wanted(profile):
    file = profile("mixed-calls2")
    assert "\033[1m" in on_terminal(100, "--top", file)
    assert "\033" not in on_terminal(100, "--top", file, NO_COLOR="1")
    assert "\033[1m" in on_terminal(100, "--top", file, NO_COLOR="")
    assert b"\033" not in good("--top", file)
    assert b"\033" not in good("--tree", file)
    for format_ in ("--list", "--peek=.", "--processes", "--lines"):
        assert "\033[1m" in on_terminal(100, format_, file)
        assert b"\033" not in good("-q", format_, file)


def test_a_line_is_hot_from_a_tenth_and_warm_from_a_hundredth(tmp_path):
    """Of the program's time."""
    stream = Writer().pid_start(77).fid(1, "/x/app.pl")
    for line, ticks in ((1, 9_400), (2, 550), (3, 50)):
        stream.source(1, line, "work();\n").time(ticks, 1, line)
    text = on_terminal(100, "--list", stream.pid_end(77).save(tmp_path / "app.out"))
    lines = [line for line in text.splitlines() if "work();" in line]
    styles = [re.findall(r"\033\[(1;31|33)m", line) for line in lines]
    assert styles == [["1;31"], ["33"], []], "red, yellow, plain"


def test_builtins_of_several_programs_are_on_the_lines_of_each(tmp_path):
    """One sub in a comparison or a sum, but each program's own time of it is that program's."""
    files = [record(tmp_path / name, f"my $n = 0;\n/1/ && $n++ for 1 .. {n};\n", name=f"{name}.pl")
             for name, n in (("one", 10), ("two", 500), ("three", 40))]
    text = good("-q", "--top=0", "--lines", "--as-recorded", *files).decode()
    shown = {match[2]: float(match[1]) for match in re.finditer(r"^ *(-?[\d.]+) \ws .*/(\w+\.pl(?::\d+)?)(?: |$)", text, re.M)}
    assert {f"{name}.pl:2" for name in ("one", "two", "three")} <= set(shown)
    assert all(":" in place for place in shown) and min(shown.values()) > 0, text


def deep_web_application(tmp_path, n_layers=40):
    """So many subs of a framework call one another, then two handlers of one's own are called."""
    stream = Writer().pid_start(77).fid(1, "/x/app.pl")
    names = [f"Framework::Layer{n}::call" for n in range(n_layers)]
    for _ in names:
        stream.entry(1, 5).time(1, 1, 5)
    for name in ("main::fast", "main::slow"):
        ticks = 3000 if name == "main::slow" else 1000
        stream.entry(1, 5).time(1, 1, 5).leave(n_layers + 1, ticks, ticks, name).time(ticks, 1, 6).discount()
    for depth, name in reversed(list(enumerate(names, 1))):
        stream.leave(depth, 4000 + n_layers + 1 - depth, 1, name).time(1, 1, 5).discount()
    return stream.pid_end(77).save(tmp_path / "deep.out")


def test_chains_of_single_calls_are_one_row(tmp_path):
    file = deep_web_application(tmp_path)
    rows = tree_rows("--min-percent=2", file)
    assert [row[0] for row in rows] == [0, 1, 1]
    assert re.match(r"main::RUNTIME > \(39 more\) > Framework::Layer39::call", rows[0][4])
    assert [row[4].split()[0] for row in rows[1:]] == ["main::slow", "main::fast"]
    assert rows[0][1] == rows[0][2] + rows[1][1] + rows[2][1]
    assert len(tree_rows("--min-percent=0", file)) == 43
    lines = without_styles(on_terminal(80, "-q", "--tree", "--min-percent=0", file)).splitlines()
    assert any("main::slow" in line for line in lines), "deep rows keep room for names"


def test_a_chain_of_three_has_the_names_of_all(tmp_path):
    file = deep_web_application(tmp_path, 2)
    row = tree_rows("--min-percent=2", file)[0]
    assert row[4].split("  ")[0] == "main::RUNTIME > Framework::Layer0::call > Framework::Layer1::call"
    lines = without_styles(on_terminal(80, "-q", "--tree", file)).splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert any(re.search(r"IME > .+call > .*Layer1::call", line) for line in lines)


def test_what_is_pruned_comes_last(profile):
    rows = tree_rows("--min-percent=8", profile("mixed-calls2"))
    rest = re.compile(r"\((?:pruned|\d+ more)\)")
    assert any(rest.fullmatch(row[4]) for row in rows)
    for row, below in zip(rows, rows[1:]):
        if rest.fullmatch(row[4]):
            assert below[0] < row[0] or below[4].startswith("("), below


@pytest.mark.parametrize("format_", ["--top=0", "--tree", "--stats", "--list=.", "--peek=.", "--lines",
                                     "--processes"])
@pytest.mark.parametrize("name", ["made-hostile-names", "made-hostile-files"])
def test_names_cannot_reach_the_terminal(profile, format_, name):
    done = run("-q", format_, *([] if format_ == "--stats" else ["--min-percent=0"]), profile(name))
    assert done.returncode == 0
    text = done.stdout.decode()
    assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f]", text)


@pytest.mark.parametrize("ticks_per_sec, ticks, calls, options, percall", [
    (10_000_000, 156_000, 201_000, [], "77.6 ns"),
    (10_000_000, 156_000, 201_000, ["--unit=ns"], "77.6"),
    (10_000_000, 156_000, 201_000, ["--unit=ticks"], "0.8"),
    (100, 50, 100, [], "5.00 ms"),
    (10_000_000, 30_000_000, 1, [], "3.00 s"),
])
def test_the_time_per_call_is_not_cut_to_ticks(tmp_path, ticks_per_sec, ticks, calls, options,
                                               percall):
    w = Writer(attributes={"ticks_per_sec": ticks_per_sec}, options={"calls": 0})
    w.pid_start(7, 1).fid(1, "/x/a.pl").time(ticks, 1, 2).time(ticks, 1, 9).pid_end(7)
    w.sub(1, "main::add", 2, 2).callers(1, 9, "main::RUNTIME", "main::add", calls, ticks, ticks)
    text = good("--top", "-q", *options, w.save(tmp_path / "add.out")).decode()
    row, = [line for line in text.splitlines() if "main::add" in line]
    assert re.search(rf" {calls} +{re.escape(percall)} +main::add", row), row


def family(tmp_path, calls, child_ticks, more=()):
    """A parent that waits 243 ticks for a child in system(), and 20 elsewhere."""
    parent = Writer(options={"calls": calls}).pid_start(70, 1).fid(1, "/x/job.pl").time(3, 1, 9)
    for line, ticks in ((4, 200), (5, 43)):
        if calls == 2:
            parent.entry(1, 9).time(1, 1, 9).entry(1, line)
        parent.leave(2, ticks, ticks, "main::CORE:system").time(ticks, 1, line)
        parent.leave(1, ticks + 2, 2, "main::run")
    parent.time(20, 1, 9).pid_end(70).sub(1, "main::run", 3, 5)
    parent.sub(1, "main::CORE:system", 0, 0)
    for line, ticks in ((4, 200), (5, 43)):
        parent.callers(1, line, "main::run", "main::CORE:system", 1, ticks, ticks)
    parent.callers(1, 9, "main::NULL", "main::run", 1, 202, 2)
    parent.callers(1, 11, "main::NULL", "main::run", 1, 45, 2)
    child = Writer().pid_start(71, 70).fid(1, "/x/child.pl").time(child_ticks, 1, 2).pid_end(71)
    return [parent.save(tmp_path / "parent.out"), child.save(tmp_path / "child.out"), *more]


@pytest.mark.parametrize("calls", [1, 2])
@pytest.mark.parametrize("child_ticks, left", [(1000, 0), (243, 0), (100, 143)])
def test_a_wait_for_a_child_that_is_here_is_not_counted_twice(tmp_path, calls, child_ticks, left):
    files = family(tmp_path, calls, child_ticks)

    def times(*arguments):
        """name -> (self, incl); there may be a column for waiting"""
        text = good("-q", "--top=0", "--unit=ticks", *arguments).decode()
        rows = [line.split() for line in text.splitlines()[3:]]
        return {next(word for word in row if "::" in word): (int(row[0]), int(row[2]))
                for row in rows}
    rows, alone = times(*files), times(files[0])
    assert alone["main::CORE:system"] == (243, 243)
    assert rows["main::CORE:system"] == (left, left)
    total = alone[PROGRAM][1] + child_ticks - (243 - left)
    assert rows[PROGRAM][1] == total
    assert rows["main::run"] == (4, 4 + left)
    assert sum(own for own, _ in rows.values()) == total
    for form in ("--top", "--tree", "--list", "--peek=."):
        headline = good(form, "-q", "--unit=ticks", *files).decode().splitlines()[0]
        assert headline.startswith(f"hand.pl and 1 more: {total} ticks, ")
        assert f"their {243 - left} ticks of waiting for each other not counted" in headline
        assert left == 0 or f", {left} ticks of it waiting" in headline
        assert "not counted" not in good(form, "-q", files[0]).decode()
    assert f"{total} ticks" in good("--markdown", "-q", "--unit=ticks", *files).decode()
    processes = good("--processes", "-q", "--unit=ticks", *files).decode().splitlines()[0]
    assert f": {total + 243 - left} ticks, " in processes and "not counted" not in processes
    # formats that keep each process's time say how much of it is in another's, too
    told = json.loads(good("--json", "-q", "--unit=ticks", *files))
    assert told["child_wait"] == 243 - left
    assert "child_wait" not in json.loads(good("--json", "-q", files[0]))
    page = good("--html", "-q", "-o", "-", *files).decode()
    assert re.search(r"processes waited <b>[^<]*</b> for one another", page)


def test_a_wait_for_a_child_that_is_not_here_counts(tmp_path):
    parent, _ = family(tmp_path, 2, 5)
    other = Writer().pid_start(99, 1).fid(1, "/x/o.pl").time(500, 1, 2).pid_end(99)
    text = good("--top", "-q", "--unit=ticks", parent, other.save(tmp_path / "o.out")).decode()
    assert "not counted" not in text and " 243 " in text


def test_the_default_of_min_percent_is_what_it_says(profile):
    file = profile("mixed-calls2")
    assert good("--tree", "--min-percent=0.5", file) == good("--tree", file)


def test_calls_that_were_open_stand_in_lines_that_fit(tmp_path):
    """With the name of each file, not its folders, as where a signal hit is told."""
    w = Writer(options={"calls": 2}).pid_start(7).fid(1, "/a/long/way/to/the/program.pl").time(5, 1, 9)
    names = [f"main::a_sub_with_a_long_name_{i}" for i in range(4)]
    for i, name in enumerate(names):
        w.entry(1, 9 - i).time(5, 1, 8 - i).sub(1, name, 8 - i, 8 - i)
    for i in 4, 3, 2, 1:
        w.comment(f"nytp-open {i} perl {names[i - 1]}")
    file = w.save(tmp_path / "a.out")
    text = run("--top", "-q", file).stdout.decode()
    whole = "main::RUNTIME program.pl:9" + "".join(f" > {name} program.pl:{8 - i}" for i, name in enumerate(names[:3])) + f" > {names[3]}"
    assert whole in text
    _, narrow, _ = run_on_terminal("--top", "-q", file, columns=80)
    lines = re.sub("\x1b[^m]*m", "", narrow.decode()).split("\n")
    assert max(map(len, lines)) <= 80 and whole in " ".join(lines)


def test_an_anonymous_sub_loses_folders_before_its_name(tmp_path):
    w = Writer(options={"calls": 2}).pid_start(7).fid(1, "/x/a.pl").time(5, 1, 9).entry(1, 9).time(0, 1, 9).time(50, 1, 3)
    name = "My::Application::Controller::__ANON__[/a/long/way/to/the/folder/of/a/Module.pm:3]"
    file = w.leave(1, 50, 50, name).time(1, 1, 9).pid_end(7).sub(1, name, 3, 3).save(tmp_path / "a.out")
    for options, shown in ((["--peek=ANON"], "Controller::__ANON__[Module.pm:3]"), (["--tree"], "Controller::__ANON__[Module.pm:3]"),
                           (["--list=ANON"], "My::Application::Controller::__ANON__[Module.pm:3]")):
        text = run_on_terminal("-q", *options, file, columns=80)[1].decode()
        assert shown in re.sub("\x1b[^m]*m", "", text), text
        assert name in run("-q", *options, file).stdout.decode()


@pytest.mark.parametrize("unit", [*UNITS, "ticks"])
def test_no_column_of_tree_runs_into_the_next(tmp_path, unit):
    file = write_run(tmp_path / "f.out", {"main::wait": (1, 2 ** 50)})
    row = good("-q", "--tree", f"--unit={unit}", file).decode().splitlines()[-1].split()
    assert row[1:] == ["100.0%", row[0], "1", "+-main::wait", "/x/hand.pl:10"]


@pytest.mark.parametrize("columns", [80, 120])
def test_the_place_of_a_wait_fits_the_terminal(tmp_path, columns):
    stream = begun(is_sampled=True).fid(2, f"/usr/{'folder/' * 20}App.pm").comment("nytp-wait sleep")
    file = stream.comment("cpu 0").time(9_000_000, 2, 7).pid_end(7).save(tmp_path / "w.out")
    row = without_styles(on_terminal(columns, "-q", "--waits", file)).splitlines()[-1]
    assert row.endswith("App.pm:7") and len(row) <= columns
    assert b" /usr/folder/" in good("-q", "--waits", file)
