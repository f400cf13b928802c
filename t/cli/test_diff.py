# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""--diff: two sides compared, by counts and by times."""

import decimal
import itertools
import json
import random
import re
import statistics

import pytest

from command import csv_rows, good, messages, run
from nytpwrite import Writer
from recordings import record
from written import write_run

PROGRAM = """use strict; use warnings;
package Foo;
sub parse { my $sum = 0; $sum += $_ for 1 .. $_[0]; return $sum }
package main;
my $twice = sub { Foo::parse(3) };
my $once = sub { return 7 };
sub add { my ($x, $y) = @_; my $z = $x + $y; return $z }
for my $i (1 .. 200) { add($i, 1); $twice->() if $i % 2; $once->() unless $i % 10 }
my %seen; $seen{$_ % 17}++ for 1 .. 100;
my @order = sort { $seen{$a} <=> $seen{$b} || $a <=> $b } keys %seen;
eval "sub evaluated { return $_ } evaluated()" for 1 .. 3;
"""
MORE = PROGRAM.replace("1 .. 200", "1 .. 300").replace("my %seen;", "sub retry { 1 } retry(); my %seen;")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Five runs of the program, five of one that does more."""
    folder = tmp_path_factory.mktemp("runs")
    return ([record(folder / "old", PROGRAM, out=f"{i}.out") for i in range(5)],
            [record(folder / "new", MORE, out=f"{i}.out") for i in range(5)])


def bases(files):
    return list(itertools.chain.from_iterable(("--diff", file) for file in files))


def diff(base, new, *options):
    base, new = ([side] if not isinstance(side, list) else side for side in (base, new))
    return json.loads(good("--json", *bases(base), *options, *new))


def totals(file, *options):
    return json.loads(good("--json", *options, file))


def rows(document):
    return {row["sub"]: row for row in document["diff"]}


def test_times_in_any_unit_are_exact(runs):
    def times(node, found):
        for key, value in (node.items() if isinstance(node, dict) else enumerate(node)):
            if key in ("exclusive", "inclusive") and value is not None:
                found.append(value)
            elif isinstance(value, (dict, list)):
                times(value, found)
        return found
    of = {unit: times(json.loads(good("--json", "--lines", f"--unit={unit}", "--diff", runs[0][0], runs[1][0]),
                                 parse_float=decimal.Decimal), []) for unit in ("s", "ms", "us", "ns")}
    assert len(of["ns"]) > 20
    for unit, factor in ("s", 10 ** 9), ("ms", 10 ** 6), ("us", 1000):
        assert [value * factor for value in of[unit]] == of["ns"]


@pytest.mark.parametrize("names", [("mixed-calls2", "mixed-calls1"), ("mixed-calls1", "mixed-calls0"),
                                   ("forks-merged", "recurse"), ("evals", "names")], ids="-".join)
def test_totals_hold_for_any_recordings(profile, names):
    files = [profile(name) for name in names]
    document = json.loads(run("--json", "--diff", files[0], files[1]).stdout)
    read = [totals(file) for file in files]
    for one in read:                            # what processes wait for each other counts once
        one["total"] -= one.get("child_wait", 0)
    for value, key in (("statements", "statements"), ("calls", "calls_made"),
                       ("exclusive", "total")):
        assert [document["total"][side][value] for side in ("base", "new")] == \
            [one[key] for one in read]
        assert sum(row["new"][value] - row["base"][value] for row in document["diff"]) == \
            read[1][key] - read[0][key]


@pytest.mark.parametrize("name", ["mixed-calls2", "forks-merged", "evals", "recurse-calls0", "names"])
def test_nothing_differs_from_itself(profile, name):
    file = profile(name)
    assert diff(file, file)["diff"] == []
    text = good("--diff", file, file).decode()
    assert re.search(r"\n0 subs changed, 0 new, 0 gone; \d+ subs equal in every count\n$", text)


def test_the_other_way_round_is_the_opposite(runs):
    there = rows(diff(runs[0][0], runs[1][0]))
    back = rows(diff(runs[1][0], runs[0][0]))
    opposite = {"new": "gone", "gone": "new", "changed": "changed", "equal": "equal"}
    assert there.keys() == back.keys() and len(there) > 5
    for sub, row in there.items():
        assert (row["base"], row["new"]) == (back[sub]["new"], back[sub]["base"])
        assert back[sub]["status"] == opposite[row["status"]]


def test_what_changed_is_named(runs):
    changed = {sub: row for sub, row in rows(diff(runs[0][0], runs[1][0])).items()
               if row["status"] != "equal"}
    assert {sub: row["status"] for sub, row in changed.items()} == {
        "main::add": "changed", "main::RUNTIME": "changed", "Foo::parse": "changed",
        "main::__ANON__#1": "changed", "main::__ANON__#2": "changed", "main::retry": "new"}
    assert changed["main::add"]["base"]["calls"] == 200
    assert changed["main::add"]["new"]["calls"] == 300
    assert changed["main::add"]["new"]["statements"] == 900


def test_twenty_pairs_with_a_fixed_hash_seed_are_equal(tmp_path):
    """Counts gate builds: not one false alarm may come."""
    files = [record(tmp_path, PROGRAM, out=f"{i}.out") for i in range(21)]
    rules = tmp_path / "rules"
    rules.write_text("statements total <= base\ncalls /./ <= base\nstatements /./ <= base\n")
    for old, new in zip(files, files[1:]):
        done = run("-q", "--json", "--diff", old, "--gate", rules, new)
        assert (done.returncode, done.stderr) == (0, b"")


# ---- lines ----

def lines_of(document):
    return {sub: {line["line"]: (line["base"]["statements"], line["new"]["statements"])
                  for line in row["lines"]} for sub, row in rows(document).items()}


LINES = """use strict;
sub loop {
    my $sum = 0;
    for my $i (1 .. $_[0]) {
        $sum += $i;
    }
    return $sum;
}
loop(10);
loop(10);
"""


def test_lines_within_subs(tmp_path):
    """Matched by their place in the sub: what moved as a whole is equal, and the rest adds up."""
    old = record(tmp_path / "old", LINES, "a.pl")
    new = record(tmp_path / "new", "# moved\n\n" + LINES.replace("loop(10);\n", "loop(30);\n", 1), "a.pl")
    document = diff(old, new, "--lines")
    assert lines_of(document) == {"main::loop": {5: (2, 2), 6: (2, 2), 7: (20, 40), 9: (2, 2)}}
    row, = document["diff"]
    for side in ("base", "new"):
        assert 0 < sum(line[side]["exclusive"] for line in row["lines"]) <= row[side]["exclusive"]
    text = good("--diff", old, "--lines", new).decode()
    assert re.search(r"^ +\+20 .* main::loop .*\n +\+20 .* 20 +40 +line 7\n(?! .*line)", text, re.M)
    assert "line" not in good("--diff", old, new).decode().replace("lines", "")
    assert "lines" not in diff(old, new)["diff"][0]


def test_lines_of_runs_are_means(runs):
    one, many = (lines_of(diff(*sides, "--lines")) for sides in ((runs[0][0], runs[1][0]), runs))
    assert one["main::add"] == many["main::add"] != {}


@pytest.mark.parametrize("names", [("mixed-calls1", "mixed-calls2"), ("evals", "made-hostile-names"),
                                   ("forks-merged", "names")])
def test_lines_of_any_recordings_add_up_to_no_more_than_their_subs(profile, names):
    done = run("-q", "--json", "--lines", *[f"--diff={profile(names[0])}"], profile(names[1]))
    assert done.returncode in (0, 3) and done.stderr == b""
    for row in json.loads(done.stdout)["diff"]:
        for side in ("base", "new"):
            assert sum(line[side]["statements"] for line in row["lines"]) <= row[side]["statements"]


# ---- matching ----

def statuses(tmp_path, old, new, names):
    return {sub: row["status"] for sub, row in rows(diff(
        record(tmp_path / "old", old, names[0], out="p.out"),
        record(tmp_path / "new", new, names[1], out="p.out"))).items() if row["status"] != "equal"}


@pytest.mark.parametrize("changed, names, expected", [
    (PROGRAM.replace("package main;\n", "package main;\n# a comment\n\n\n"), ("a.pl", "a.pl"), {}),
    (PROGRAM, ("a.pl", "b.pl"), {}),
    ("\n\n" + PROGRAM.replace("return 7", "my $x = 7; return $x"), ("a.pl", "a.pl"), {"main::__ANON__#2": "changed"}),
    (PROGRAM.replace('evaluated()" for 1 .. 3', 'evaluated()" for 1 .. 5'), ("a.pl", "a.pl"),
     {"main::evaluated": "changed", "main::RUNTIME": "changed"}),
], ids=["code that moves", "a renamed file", "an anonymous sub by its order", "string evals that are merged"])
def test_what_is_the_same_is_known(tmp_path, changed, names, expected):
    assert statuses(tmp_path, PROGRAM, changed, names) == expected


def test_a_base_that_the_shell_expanded_is_noted(tmp_path):
    for name in "v1.1.out", "v1.2.out", "v1.13.out", "v2.1.out", "v2.2.out":
        record(tmp_path, "1;\n", out=name)
    note = "note: 1 base against 4 inputs, 2 of which are named as the base is: give --diff a folder, or --diff for each\n"
    inputs = ["v1.2.out", "v1.13.out", "v2.1.out", "v2.2.out"]
    assert note in good("--diff", "v1.1.out", *inputs, cwd=tmp_path).decode()
    assert "named as" not in good("--diff", "v1.1.out", *inputs[2:], cwd=tmp_path).decode()
    assert "named as" not in good("--diff", "v1.1.out", *inputs[:2], cwd=tmp_path).decode()


def test_a_renamed_sub_is_renamed_and_breaks_no_limit(tmp_path):
    lines = "sub len { my $s = shift; length $s }\nsub other { 1 }\nlen('x') for 1 .. 9; other();\n"
    old = record(tmp_path / "old", lines, out="p.out")
    renamed = lines.replace("len(", "wordlen(").replace("sub len", "sub wordlen")
    new = record(tmp_path / "new", renamed, out="p.out")
    found = {sub: row for sub, row in rows(diff(old, new)).items() if row["status"] != "equal"}
    assert list(found) == ["main::wordlen"]
    row = found["main::wordlen"]
    assert (row["status"], row["was"]) == ("renamed", "main::len")
    text = good("--diff", old, "--fail-over=0%:calls:sub", "--top", new).decode()
    assert re.search(r" main::wordlen  renamed \S*a\.pl:1\n    was main::len; equal in every count\n", text)
    assert re.search(r"0 subs changed, 0 new, 0 gone, 1 renamed; ", text)
    # another count, or another line, is another sub
    for changed in renamed.replace("1 .. 9", "1 .. 8"), "\n" + renamed:
        new = record(tmp_path / "other", changed, out="p.out")
        assert {row["status"] for row in rows(diff(old, new)).values()} >= {"gone", "new"}


def test_what_is_gone_is_where_the_base_has_it(tmp_path):
    old = record(tmp_path / "old", "sub gone { 1 } gone(); 1;\n", out="p.out")
    new = record(tmp_path / "new", "# nothing\n1; 1;\n", out="p.out")
    row = rows(diff(old, new))["main::gone"]
    assert (row["status"], row["file"], row["line"]) == ("gone", str(tmp_path / "old" / "a.pl"), 1)
    assert f"gone {tmp_path}/old/a.pl:1\n" in good("--diff", old, "--top", new).decode()
    assert f"{tmp_path}/old/a.pl:1" in good("--diff", old, "--markdown", new).decode()


def base_rows(program, folder, **how):
    """What --save-base says of the program: sub -> (file, calls)."""
    text = good("--save-base", record(folder, program, **how))
    return {row["sub"]: (row["file"], row["calls"]) for row in json.loads(text)["subs"]}


def test_an_anonymous_sub_of_a_string_eval_is_none_of_the_file(tmp_path):
    program = """my $f = sub { 2 }; $f->() for 1 .. 4;
for (1 .. 3) { eval "sub { 1 }->(); 1" or die }
for (1 .. 2) { eval "sub { 1 }->() for 1, 2; eval 'sub { 5 }->()'" or die }
"""
    wanted = {"main::__ANON__#1": ("a.pl", 4), "main::__ANON__(eval#1)#1": ("a.pl", 3),
              "main::__ANON__(eval#2)#1": ("a.pl", 4), "main::__ANON__(eval#3)#1": ("a.pl", 2)}
    for moved in ("", "# moved\n"):
        rows_ = base_rows(moved + program, tmp_path / f"dir{len(moved)}")
        assert {sub: row for sub, row in rows_.items() if "__ANON__" in sub} == wanted


def test_a_nested_string_eval_is_of_the_file_that_it_is_in(tmp_path):
    program = "eval q{eval q{sub inner { 1 } inner()}};\n"
    assert base_rows(program, tmp_path)["main::inner"] == ("a.pl", 1)
    assert base_rows(program, tmp_path / "long", name=tmp_path / "long" / "a.pl")["main::inner"] == ("a.pl", 1)


def test_equal_names_in_several_files_are_matched_by_file(tmp_path):
    def side(folder, **calls):
        return [record(folder, f"sub same {{ my $x = 1; $x }}\nsame() for 1 .. {n};", f"{name}.pl")
                for name, n in calls.items()]
    old = side(tmp_path / "old", one=3, two=5)
    new = side(tmp_path / "new", one=3, two=9)
    found = [(row["file"].rsplit("/", 1)[-1], row["base"]["calls"], row["new"]["calls"])
             for row in diff(old, new, "--merge-runs")["diff"] if row["sub"] == "main::same"]
    assert ("two.pl", 5, 9) in found
    assert not [row for row in found if row[0] == "one.pl" and row[1:] != (3, 3)]


# ---- times ----

def exact_p(xs, ys):
    """Mann and Whitney's p by going through each choice of which values are the first side's."""
    values = xs + ys
    order = sorted(values)
    rank = {value: (2 * order.index(value) + order.count(value) + 1) / 2 for value in order}
    ranks = [rank[value] for value in values]
    middle = len(xs) * (len(values) + 1) / 2
    sums = [abs(sum(choice) - middle) for choice in itertools.combinations(ranks, len(xs))]
    seen = abs(sum(ranks[:len(xs)]) - middle)
    return sum(one >= seen - 1e-9 for one in sums) / len(sums)


def rates(ps):
    """Benjamini and Hochberg's corrected p."""
    n = len(ps)
    order = sorted(range(n), key=ps.__getitem__)
    result = [1.0] * n
    least = 1.0
    for place in range(n - 1, -1, -1):
        least = min(least, ps[order[place]] * n / (place + 1))
        result[order[place]] = least
    return result


def scattered(folder, n, grown=1.0):
    """n runs of twelve subs whose times are drawn by lot; some meet. The first half of the subs may have grown."""
    folder.mkdir()
    draw = random.Random(folder.name).randrange
    return [write_run(folder / f"{i}.out", {f"main::s{sub}": (1, int((grown if sub < 6 else 1) * draw(100, 130)) * 1000)
                                            for sub in range(12)}) for i in range(n)]


def self_times(file):
    """By sub name as --diff matches them: anonymous subs and BEGIN blocks left out."""
    found = {}
    for sub in totals(file, "--merge-evals")["subs"]:
        found[sub["name"]] = found.get(sub["name"], 0) + sub["exclusive"]
    return found


@pytest.mark.parametrize("n_old, n_new", [(4, 4), (5, 5), (4, 5)])
def test_verdicts_are_those_of_the_rank_test(tmp_path, n_old, n_new):
    old, new = scattered(tmp_path / "base", n_old), scattered(tmp_path / "new", n_new, grown=1.2)
    document = diff(old, new)
    total = [[totals(file)["total"] for file in side] for side in (old, new)]
    assert document["total"]["p"] == pytest.approx(exact_p(*total))
    times = [[self_times(file) for file in side] for side in (old, new)]
    tested = {sub: row for sub, row in rows(document).items() if row["p"] is not None}
    assert len(tested) > 7
    # also of rows that are not shown, since their medians are equal
    n_tested = document["total"]["tested"]
    assert len(tested) <= n_tested <= document["total"]["subs"]
    known = [sub for sub in tested if "#" not in sub]
    raw = {sub: exact_p(*[[run_.get(sub, 0) for run_ in side] for side in times]) for sub in known}
    for sub in known:
        assert tested[sub]["p"] >= raw[sub] - 1e-12
        assert tested[sub]["p"] <= min(1, raw[sub] * n_tested) + 1e-12
    order = sorted(known, key=raw.get)
    assert [tested[sub]["p"] for sub in order] == sorted(tested[sub]["p"] for sub in known)
    if len(known) == n_tested:
        assert [tested[sub]["p"] for sub in known] == \
            pytest.approx(rates([raw[sub] for sub in known]))


@pytest.mark.parametrize("n", [4, 5])
def test_medians_are_shown(tmp_path, n):
    old, new = scattered(tmp_path / "base", n), scattered(tmp_path / "new", n, grown=1.2)
    document = diff(old, new)
    assert document["total"]["base"]["exclusive"] == \
        pytest.approx(statistics.median(totals(file)["total"] for file in old), abs=100)
    assert rows(document)["main::s0"]["new"]["exclusive"] == \
        pytest.approx(statistics.median(self_times(file)["main::s0"] for file in new), abs=100)


@pytest.mark.parametrize("n", [1, 3])
def test_too_few_runs_make_no_claim(runs, n):
    old, new = runs[0][:n], runs[1][:n]
    document = diff(old, new)
    assert document["total"]["p"] is None
    assert not any(row["significant"] or row["p"] is not None for row in document["diff"])
    text = good(*bases(old), *new).decode()
    assert "too few runs to tell (4 each needed)" in text
    assert "±" not in text
    times = re.findall(r"^ +[+-]?\d+ +[+-]?\d+ +([+-][\d.]+ [mun]?s)( \?)? ", text, re.MULTILINE)
    assert times and all(mark for _, mark in times)


def test_runs_of_one_program_are_noise(tmp_path):
    files = scattered(tmp_path / "runs", 4)
    text = good(*bases(files[:2] + files[:2]), *files[2:4], *files[2:4]).decode()
    assert re.search(r"time \(median\) .* ~ +p=", text) or "±" in text
    document = diff(files, files)
    assert not any(row["significant"] for row in document["diff"])
    assert document["total"]["p"] == 1


def spread_runs(folder, n, grown=1.0):
    """n runs of twelve subs, each run by half a per cent longer than the one before."""
    folder.mkdir()
    return [write_run(folder / f"{i}.out", {f"main::s{sub}": (1, int((grown if sub == 7 else 1) * 100000 * (1 + i / 200)))
                                            for sub in range(12)}) for i in range(n)]


def test_what_the_total_grew_by_is_shown_though_no_sub_is_sure(tmp_path):
    """Four runs against four can tell of one question, and not of twelve."""
    base, new = spread_runs(tmp_path / "base", 6), spread_runs(tmp_path / "new", 6, grown=3)
    text = good(*bases(base[:4]), *new[:4]).decode()
    shown = [line for line in text.splitlines() if "main::s" in line]
    assert len(shown) == 1 and re.search(r" 0 +0 +\+20\.\d ms p=0\.\d+ .* main::s7 ", shown[0])
    assert "note: 4 runs against 4 tell of the total, and not of each of 12 subs: that takes 6 on each side" in text
    more = good(*bases(base), *new).decode()
    assert re.search(r"\+20\.\d ms ±\d.* main::s7 ", more) and "that takes" not in more


@pytest.mark.parametrize("n, grown, answer", [
    (5, 3, r"slower: 121 ms -> 141 ms, \+16\.\d % \(95 %: \+14\.\d to \+18\.\d\), 5 runs against 5"),
    (5, 0.1, r"faster: 121 ms -> 112 ms, -7\.\d % \(95 %: -8\.\d to -6\.\d\), 5 runs against 5"),
    (5, 1, r"no difference that 5 runs against 5 could show \(95 %: -1\.\d to \+1\.\d\)"),
    (2, 3, r"too few runs to tell: 120 ms -> 140 ms in 2 runs against 2, 4 on each side are needed")])
def test_the_answer_is_a_sentence(tmp_path, n, grown, answer):
    base, new = spread_runs(tmp_path / "base", n), spread_runs(tmp_path / "new", n, grown)
    assert re.fullmatch(answer, good(*bases(base), *new).decode().split("\n")[0])
    assert re.fullmatch(answer, diff(base, new)["answer"])
    assert re.search(rf"^\*\*{answer}\*\*$", good("--markdown", *bases(base), *new).decode(), re.M)


def test_a_folder_stands_for_its_recordings_on_either_side(tmp_path):
    base, new = spread_runs(tmp_path / "base", 4), spread_runs(tmp_path / "new", 5, grown=3)
    by_folder, by_name = diff(tmp_path / "base", tmp_path / "new"), diff(base, new)
    assert (by_folder["base_runs"], by_folder["new_runs"]) == (4, 5) and by_folder == by_name
    (tmp_path / "empty").mkdir()
    done = run("--diff", tmp_path / "empty", *new)
    assert done.returncode == 1 and messages(done) == [f"nytp-export: {tmp_path}/empty: no profile is in this folder"]


def test_merged_runs_are_added_up(runs):
    document = diff(runs[0][:2], runs[1][:3], "--merge-runs")
    assert (document["base_runs"], document["new_runs"]) == (1, 1)
    assert document["total"]["base"]["calls"] == sum(totals(file)["calls_made"]
                                                     for file in runs[0][:2])
    assert rows(document)["main::add"]["new"]["calls"] == 900


# ---- forms ----

def test_the_table_is_sorted_by_the_chosen_value(runs):
    old, new = runs[0][0], runs[1][0]
    for weight, column in (("statements", 0), ("calls", 1)):
        text = good("--diff", old, f"--weight={weight}", new).decode()
        shown = [line.split()[column] for line in text.splitlines() if re.match(r" +[+-]\d+ +\S+ +(?:[+-]|0 s)", line)]
        sizes = [abs(int(one)) for one in shown]
        assert len(sizes) >= 5 and sizes == sorted(sizes, reverse=True)
    assert "(5 more subs)" in good("--diff", old, "--top=1", new).decode()


def test_csv_has_a_row_for_each_sub(runs):
    table = csv_rows("--diff", runs[0][0], runs[1][0])
    document = diff(runs[0][0], runs[1][0])
    assert len(table) == document["total"]["subs"]
    change = {row["sub"]: int(row["new_calls"]) - int(row["base_calls"]) for row in table}
    assert change["main::add"] == 100
    assert sum(change.values()) == document["total"]["new"]["calls"] - \
        document["total"]["base"]["calls"]


def markdown_tables(text):
    """Rows of cells of each table, checked to be rectangular."""
    found, current = [], []
    for line in text.splitlines() + [""]:
        if line.startswith("|"):
            current.append(re.split(r"(?<!\\)\|", line)[1:-1])
        elif current:
            assert len({len(row) for row in current}) == 1, current
            found.append(current)
            current = []
    return found


def test_markdown_of_a_difference(runs):
    text = good("--markdown", "--diff", runs[0][0], runs[1][0]).decode()
    sums, changes = markdown_tables(text)
    assert [row[0].strip() for row in sums[2:]] == ["statements", "calls", "time"]
    assert "`main::add`" in [row[5].split()[0] for row in changes[2:4]]
    assert "(new)" in text


def test_markdown_and_csv_have_the_lines_of_json(tmp_path, runs):
    old = record(tmp_path / "old", LINES, "a.pl")
    new = record(tmp_path / "new", "# moved\n\n" + LINES.replace("loop(10);\n", "loop(30);\n", 1), "a.pl")
    for base, now in ((old, new), (runs[0][0], runs[1][0])):
        wanted = lines_of(diff(base, now, "--lines"))
        shown = {}
        for row in csv_rows("--lines", "--diff", base, now):
            shown.setdefault(row["sub"], {})[int(row["line"])] = int(row["base_statements"]), int(row["new_statements"])
            assert row["file"] and (int(row["base_exclusive_ns"]), int(row["new_exclusive_ns"])) >= (0, 0)
        assert {sub: lines for sub, lines in shown.items() if sub in wanted} == {sub: lines for sub, lines in wanted.items() if lines}
        assert all(before == after for sub, lines in shown.items() if sub not in wanted for before, after in lines.values())
        _, changes = markdown_tables(good("--markdown", "--lines", "--diff", base, now).decode())
        shown, sub = {}, None
        for row in changes[2:]:
            cell = row[5].strip()
            if not cell.startswith("line "):
                sub = cell.split("`")[1]
                continue
            shown.setdefault(sub, {})[int(cell[5:])] = int(row[3]), int(row[4])
            assert int(row[0]) == int(row[4]) - int(row[3]) and not row[1].strip()
        changed = {sub: {line: pair for line, pair in lines.items() if pair[0] != pair[1]} for sub, lines in wanted.items()}
        assert shown == {sub: lines for sub, lines in changed.items() if lines} != {}
    assert "line " not in good("--markdown", "--diff", old, new).decode()


def test_markdown_bounds_the_lines_of_a_sub(tmp_path):
    text = "sub long {\n" + "    $x++;\n" * 40 + "}\nlong() for 1 .. 3;\n"
    old, new = (record(tmp_path / name, text.replace("3;", n), "a.pl") for name, n in (("old", "3;"), ("new", "4;")))
    _, changes = markdown_tables(good("--markdown", "--lines", "--diff", old, new).decode())
    cells = [row[5].strip() for row in changes[2:]]
    at = cells.index("30 more lines")
    assert cells[at - 11].startswith("`main::long`") and cells[at - 10:at] == [f"line {2 + i}" for i in range(10)]


def test_markdown_of_one_profile(profile):
    text = good("--markdown", profile("mixed-calls2")).decode()
    table, = markdown_tables(text)
    top = good("--top", profile("mixed-calls2")).decode().splitlines()
    assert table[2][5].split()[0].strip("`") == top[3].split()[-2]
    assert len(table) == 22


def test_markdown_holds_any_name_and_stays_small(tmp_path):
    subs = "".join(f"*{{'main::a|b`{'x' * 200}{i}'}} = sub {{ 1 }}; &{{'main::a|b`{'x' * 200}{i}'}}();\n"
                   f"sub n{i} {{ 1 }} n{i}();\n" for i in range(900))
    new = record(tmp_path, "no strict;\n" + subs)
    old = record(tmp_path, "1;", "b.pl")
    text = good("--markdown", "--diff", old, new)
    assert len(text) < 60000
    assert b"are left out" in text
    assert len(markdown_tables(text.decode())) == 3


def test_formats_without_a_difference_say_why(runs):
    for form, hint in (("callgrind", "use --pprof"), ("tmon", "use --pprof"),
                       ("chrome-trace", "use --"), ("save-base", "what --diff takes")):
        done = run("--" + form, "--diff", runs[0][0], runs[1][0])
        assert done.returncode == 2 and hint.encode() in done.stderr


# ---- comparability ----

def test_other_options_are_noted(tmp_path):
    old = record(tmp_path, PROGRAM, out="old.out", options="slowops=0")
    new = record(tmp_path, PROGRAM, out="new.out")
    note, = diff(old, new)["notes"]
    assert note == "option slowops differs: 0 in the base, now 2"
    assert b"\nnote: option slowops differs" in good("--diff", old, new)
    assert diff(new, new)["notes"] == []


def test_a_hash_seed_that_is_not_fixed_is_noted(tmp_path):
    fixed, other, free = (record(tmp_path, PROGRAM, out=f"seed{i}.out", seed=seed)
                          for i, seed in enumerate(("0", "42", "random")))
    assert diff(fixed, fixed)["notes"] == []
    assert diff(other, fixed)["notes"] == ["the hash seed differs: 42 in the base, now 0"]
    for old, new in ((free, fixed), (fixed, free), (free, free)):
        note, = diff(old, new)["notes"]
        assert note.startswith("the hash seed is not fixed (PERL_HASH_SEED=0)")
        assert f"\nnote: {note}" in good("--diff", old, new).decode()
    assert good("--markdown", "--diff", free, fixed).decode().count("hash seed") == 1


@pytest.mark.parametrize("key, value, what", [("perl_version", "5.8.8", "perl"),
                                              ("xs_version", "4.06", "the recorder"),
                                              ("clock_id", "9", "the clock")])
def test_another_perl_recorder_or_clock_is_noted(tmp_path, key, value, what):
    old = record(tmp_path, PROGRAM, out="old.out")
    data = old.read_bytes()
    old_value = re.search(rb"\n:%s=([^\n]*)\n" % key.encode(), data).group(1)
    new = tmp_path / "new.out"
    new.write_bytes(data.replace(b"\n:%s=%s\n" % (key.encode(), old_value),
                                 b"\n:%s=%s\n" % (key.encode(), value.encode()), 1))
    assert diff(old, new)["notes"] == [f"{what} differs: {old_value.decode()} in the base, now {value}"]


def test_an_input_that_ends_early_is_noted(profile, runs):
    done = run("--diff", runs[0][0], profile("cut-plain"))
    assert done.returncode == 3
    assert b"ends early or is damaged" in done.stdout


def test_a_saved_base_is_text_whatever_the_recording_says(tmp_path):
    file = write_run(tmp_path / "p.out", {b"main::\xff\xf0": (3, 3)}, attributes={"application": b"/x/\xe4.pl", "perl_version": b"5\xff"})
    good("-q", "--save-base", "-o", tmp_path / "base.json", file)
    assert "main::\xff\xf0" in (tmp_path / "base.json").read_text("utf-8")
    assert run("-q", "--diff", tmp_path / "base.json", "--fail-over=1%:ops", file).returncode == 0


def test_a_selection_of_nothing_is_one_whatever_the_last_base_holds(tmp_path):
    run_, idle = write_run(tmp_path / "a.out", {"Foo::x": (3, 9)}), Writer().pid_start(7, 1).pid_end(7).save(tmp_path / "b.out")
    for bases in [run_, idle], [idle, run_]:
        assert run("-q", "--focus=nobody", *[f"--diff={base}" for base in bases], run_).returncode == 1


# ---- errors ----

def test_a_base_that_cannot_be_read_is_an_error(runs, tmp_path):
    new = runs[1][0]
    broken = tmp_path / "broken.json"
    for text, message in (("{", "JSON"), ("{}", "no table of counts"), ('{"nytp_counts":2}', "no table"),
                          ('{"nytp_counts":1,"subs":[{"calls":1}]}', 'without "sub"'),
                          ('{"nytp_counts":1,"calls":1e99}', "whole number"), ("{\"a\":[[[", "JSON"),
                          ('{"nytp_counts":1,"subs":[{"sub":"a\udcf0"}]}', "broken.json: byte 33: JSON: a string that is no UTF-8"),
                          ('{"nytp_counts":1,"facts":{"perl":"\udcff"}}', "byte 34: JSON: a string that is no UTF-8"),
                          ('{"nytp_counts":1,"application":"\udce4.pl"}', "byte 32: JSON: a string that is no UTF-8")):
        broken.write_text(text, errors="surrogateescape")
        done = run("--diff", broken, "--fail-over=1%", new)
        assert done.returncode == 1 and message in done.stderr.decode(), text
        assert len(messages(done)) == 1
    assert run("--diff", tmp_path / "none", new).returncode == 1
    assert run("--diff", new, "--diff", tmp_path / "none", new).returncode == 1
    assert run("--diff", new, tmp_path / "none", new).returncode == 1
