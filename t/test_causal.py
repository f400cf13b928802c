# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The scores and doses of bench/causal: rounds whose answers are known, and a module that is given doses."""
import argparse
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import threading

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import causal_amounts
import causal_cost
import causal_doses
import causal_scores as scores
import causal_uniform
import causal_runs
import causal_tables
from causal_runs import Bench, exported

BY_CALLER = {"a": 0.25, "b": 0.75}


def perl(code, *switches, **environment):
    """What a program prints."""
    return subprocess.run(["perl", *switches, "-e", code], capture_output=True, text=True, check=True,
                          env={**os.environ, **environment}).stdout


def bench_in(folder, jobs=1):
    return Bench(argparse.Namespace(wall=True, jobs=jobs, blib=os.path.join(ROOT, "blib")), str(folder))


def made(slope=1.0, elsewhere=0.0, other_line=0.0, wrong_caller=0.0, above=1.0, more_calls=0, noise=0, slower=1.0):
    """A round with doses of 100 and 1000 in a sub that two others call."""
    def profile(dose):
        told = slope * dose
        return {"own": {"sub": 500 + told + noise * dose, "other": 300 + elsewhere * dose, "rest": 2200},
                "all": {"main": 2000 + above * dose, "a": 700 + dose / 4},
                "line": {("sub", 7): 200 + (1 - other_line) * told, ("sub", 8): 300 + other_line * told},
                "from": {("sub", "a"): 100 + (0.25 + wrong_caller) * told, ("sub", "b"): 400 + (0.75 - wrong_caller) * told},
                "count": {"sub": (40, 80 + (more_calls if dose else 0)), "other": (1, 2)}}
    return {"plain": [50 + dose / slower for dose in (0, 100, 1000)], "doses": [60, 160, 1060],
            "profile": [profile(dose) for dose in (0, 100, 1000)]}


def judged(**lie):
    rounds = [made(**lie) for _ in range(3)]
    return {"slope": scores.slope(rounds, "own", "sub"), "plain": scores.plain(rounds), "spill": scores.spill(rounds, "sub"),
            "line": scores.line(rounds, "sub", 7), "callers": scores.callers(rounds, "sub", BY_CALLER),
            "ancestors": scores.ancestors(rounds, {"main": 1, "a": 0.25}), "counts": scores.counts(rounds)}


def test_an_honest_profile_meets_all_goals():
    assert scores.missed(judged(), False) == []


def test_what_runs_slower_behind_a_dose_may_be_below_its_ancestors_or_not():
    for above in (1.0, 1.08):
        assert scores.missed(judged(elsewhere=0.09, above=above), False) == []
    assert scores.missed(judged(above=1.08), False) == ["ancestors"]


@pytest.mark.parametrize("lie, score, value", [
    ({"slope": 0.9}, "slope", 0.9), ({"slope": 1.2}, "slope", 1.2), ({"elsewhere": -0.2}, "spill", 0.2),
    ({"other_line": 0.1}, "line", 0.1), ({"wrong_caller": 0.1}, "callers", 0.1), ({"above": 2.0}, "ancestors", 1.0),
    ({"more_calls": 1}, "counts", 1), ({"slower": 1.2}, "plain", 1.2)])
def test_each_lie_misses_its_goal_and_no_other(lie, score, value):
    found = judged(**lie)
    assert abs(found[score][0]) == pytest.approx(value, abs=1e-9)
    assert scores.missed(found, False) == [score]


NOISE = -0.05, 0.05, 0.0


@pytest.mark.parametrize("slope, noise, are_samples, missed", [
    (1, NOISE, False, None),            # what varies from round to round cannot be judged
    (1, NOISE, True, []),               # samples vary by chance: within their bar they are right
    (0.4, NOISE, False, ["slope"]),     # surely missed, noise or not
    (1, [0], False, None),              # one round says nothing
])
def test_slopes_are_judged_with_their_bar(slope, noise, are_samples, missed):
    rounds = [made(slope=slope, noise=one) for one in noise]
    found = scores.slope(rounds, "own", "sub")
    assert scores.missed({"slope": found}, are_samples) == missed
    assert len(noise) == 1 or found == (pytest.approx(slope), pytest.approx(4.30 * 0.05 / 3 ** 0.5))


def test_cost_that_is_left_is_told_as_a_part_of_it():
    assert scores.cost([(3400, 3000, 1600)] * 5) == (pytest.approx(0.2), 0)
    assert scores.cost([(2600, 3000, 2400)] * 5) == (pytest.approx(-0.2), 0)
    varying = [(3400 + step, 3000, 1600 - step) for step in (-200, -100, 0, 100, 200)]
    assert scores.cost(varying) == (pytest.approx(0.2), pytest.approx(2.78 * 0.0791 / 5 ** 0.5, rel=0.01))


def test_stretches_are_recorded_in_turn(tmp_path, monkeypatch):
    monkeypatch.setattr(causal_cost, "SECONDS", 0.1)
    bench = bench_in(tmp_path)
    for name in ("json_pp", "Pod::Simple::XHTML", *causal_cost.LOOPS):
        own, plain, taken_off = causal_cost.stretches(bench, name, str(tmp_path / "out"))
        assert own > 0 and plain > 0 and taken_off > 0, name
    assert causal_cost.stretches(bench, "ack", str(tmp_path / "out")) is None


def test_a_change_elsewhere_counts_beyond_its_own_bar():
    assert scores.spill([made(elsewhere=part) for part in (-0.1, 0.1, 0.01)], "sub") == (0, 0)
    assert scores.spill([made(elsewhere=part) for part in (0.2, 0.2, 0.2)], "sub")[0] == pytest.approx(0.2)


MODULE = """package Given;
sub plain { my $x = shift;
    my @y = ($x);
    return scalar @y }
sub empty { }
our $closure = sub { return 5 };
sub walk { my $n = shift; return $n ? walk($n - 1) : 0 }
1;
"""


def test_doses_run_as_often_as_is_told_and_change_nothing_else(tmp_path):
    given = tmp_path / "inc" / "Given.pm"
    given.parent.mkdir()
    given.write_text(MODULE)

    def sub(name, first, last, calls, exclusive, depth=0):
        return {"name": name, "file": 0, "first_line": first, "last_line": last, "kind": "perl", "calls": calls,
                "exclusive": exclusive, "recursion_depth": depth}
    told = {"total": 1000, "files": [{"name": str(given)}], "calls": [],
            "subs": [sub("Given::plain", 2, 4, 20, 500), sub("Given::empty", 5, 5, 20, 1),
                     sub("Given::walk", 7, 7, 20, 15, 2), sub(f"Given::__ANON__[{given}:6]", 6, 6, 20, 484)],
            "lines": [{"sub": 0, "line": 3, "statements": 20}, {"sub": 0, "line": 4, "statements": 20}]}
    options = argparse.Namespace(sub=None, subs=9, seed=1)
    chosen, missing = causal_doses.choose(told, options, [str(given.parent)])
    # The sub of no time is empty: whatever is put into it becomes what it returns.
    assert {dosed.name.split("::")[1][:8] for dosed in chosen} == {"plain", "walk", "__ANON__"}
    assert "cold" in missing and all(dosed.name != "Given::empty" for dosed in chosen)
    program = ("use Given; print join(' ', Given::plain(3), $Given::closure->(), Given::walk(3), scalar Given::empty()),"
               " '|', join ' ', map length, @main::causal_dose")
    took = tmp_path / "took"
    for timed in (False, True):
        folder = tmp_path / str(timed)
        folder.mkdir()
        causal_doses.write_copies(chosen, [str(given.parent)], str(folder), causal_doses.TIME, timed)
        assert (folder / "Given.pm").read_text().count("\n") == MODULE.count("\n")
        said = perl(program, "-w", "-Mstrict", f"-I{folder}", "-MCausalDose", CAUSAL_DOSES="1,20,300",
                    CAUSAL_TOOK=str(took) if timed else "", CAUSAL_CLOCK=causal_doses.CLOCK_MONOTONIC)
        assert said.startswith("1 5 0 |") and said.endswith("|1 20 300")
    assert len(causal_doses.taken(took)) == 3 and not took.exists()


@pytest.mark.parametrize("names, has_place", [(["Given::plain"], True), (["Given::plain", "Given::twin"], False)])
def test_lines_of_which_several_subs_are_made_get_no_dose(tmp_path, names, has_place):
    (tmp_path / "Given.pm").write_text(MODULE)
    told = {"files": [{"name": str(tmp_path / "Given.pm")}], "lines": [],
            "subs": [{"name": name, "file": 0, "first_line": 2, "last_line": 4, "calls": 20} for name in names]}
    assert (causal_doses.place_of(told, 0, False, 10, None) is not None) == has_place


@pytest.mark.parametrize("length", [1, 1000, 90000])
def test_a_dose_looks_at_as_many_characters_as_it_is_long(length):
    code = ("$looked = 0; $looked += " + causal_doses.TIME.format(number=0) + " print \"$looked $main::causal_values[0]\"")
    assert perl(causal_doses.DOSE_MODULE + code, CAUSAL_DOSES=str(length)) == f"{length} {length}"


@pytest.mark.parametrize("name, found", [
    ("A::__ANON__[A.pm:9]", "A::__ANON__[A.pm:8]"), ("A::__ANON__[A.pm:19]", "A::__ANON__[A.pm:8]"),
    ("A::__ANON__[A.pm:4]", "A::__ANON__[A.pm:4]"), ("A::__ANON__[A.pm:3]", "A::__ANON__[A.pm:3]"),
    ("A::__ANON__[B.pm:4]", "A::__ANON__[B.pm:4]"), ("A::named", "A::named")])
def test_an_anonymous_sub_is_found_by_the_line_that_it_begins_on(name, found):
    known = {"A::__ANON__[A.pm:4]": 1, "A::__ANON__[A.pm:8]": 1, "A::__ANON__[A.pm:20]": 1}
    assert scores.name_in(name, [{"profile": [{"own": known}]}]) == found


def test_lines_behind_the_end_of_a_file_are_none():
    sub = {"first_line": 1, "last_line": 99}    # as #line has it
    assert list(causal_doses.statements_of(["sub f {\n", "    ;\n", "    my $x;\n", "}\n"], sub)) == [(3, 4)]


@pytest.mark.parametrize("path, found", [("/perl/Given.pm", [0]), ("/perl/strict.pm", []), ("/perl/Time/HiRes.pm", [])])
def test_what_runs_before_doses_are_timed_gets_none(path, found):
    told = {"total": 100, "files": [{"name": path}], "calls": [],
            "subs": [{"name": "A::f", "file": 0, "kind": "perl", "calls": 20, "exclusive": 50, "recursion_depth": 0}]}
    assert causal_doses.kinds(told)["hot"] == found


def test_a_process_that_forked_does_not_tell_the_doses_of_its_parent(tmp_path):
    code = causal_doses.DOSE_MODULE + "; exit 0 if !(my $child = fork); waitpid $child, 0; print -e $ENV{CAUSAL_TOOK} ? 'told' : 'silent'"
    took = tmp_path / "took"
    assert perl(code, CAUSAL_DOSES="1", CAUSAL_TOOK=str(took), CAUSAL_CLOCK=causal_doses.CLOCK_MONOTONIC) == "silent"
    assert causal_doses.taken(took) == [0]


def test_doses_that_are_not_timed_took_the_median_of_the_others():
    assert perl(causal_doses.DOSE_MODULE + "; print seconds(100, 1, 5, 2)", CAUSAL_DOSES="1") == str(1 + 5 + 2 + 97 * 2)


def test_callers_that_are_not_known_do_not_count():
    assert scores.callers([made()] * 2, "sub", {"a": 0.25}) == (0, 0)
    assert scores.callers([made(slope=0)] * 2, "sub", BY_CALLER)[0] == -0.75


STACKS = [(["main", "a", "A::xsub", "f"], 3), (["main", "b", "f"], 1), (["main", "b", "f", "A::xsub"], 9)]


def test_weights_are_those_of_the_calls_of_the_sub_alone():
    assert causal_runs.weights_of(STACKS, "f", ()) == (
        {"A::xsub": 0.75, "b": 0.25}, {"main": 1, "f": 1, "a": 0.75, "A::xsub": 0.75, "b": 0.25})
    assert causal_runs.weights_of(STACKS, "f", {"A::xsub"}) == ({"a": 0.75, "b": 0.25}, {"main": 1, "f": 1, "a": 0.75, "b": 0.25})
    assert causal_runs.without_unknown({"a": 1, "A::BEGIN@3": 1, "A::__ANON__[a.pm:3]": 1}) == {"a": 1}


@pytest.mark.parametrize("name, plain", [
    ("A::__ANON__[/x/y/a.pm:3]", "A::__ANON__[a.pm:3]"), ("A::__ANON__[a b:3]", "A::__ANON__[a_b:3]"),
    ("A::" + 16 * "0a" + "::f", "A::*::f"), ("A::0a::f", "A::0a::f")])
def test_names_are_the_same_in_each_run(name, plain):
    assert causal_runs.plain_name(name) == plain


def test_rows_of_a_run_in_parts_come_together(tmp_path):
    path = tmp_path / "rows"
    assert causal_tables.added(path, [["a", "1"]]) == [["a", "1"]]
    assert causal_tables.added(path, [["b", ""]]) == [["a", "1"], ["b", ""]]


def test_a_run_that_needs_all_processors_waits_for_them():
    bench = bench_in("", jobs=2)
    began = threading.Event()

    def needs_both():
        with bench.processors(2):
            began.set()
    with bench.processors(1):
        waiting = threading.Thread(target=needs_both)
        waiting.start()
        while not began.is_set() and bench.free_processors.acquire(blocking=False):    # until it has taken the other one
            bench.free_processors.release()
        assert not began.is_set()
    waiting.join()
    assert began.is_set()


OPS = {("a", 1): 600, ("a", 2): 300, ("b", 1): 100}


def uniform_round(noise=0, **rises):
    """A round in which line 1 of a tells 600, line 2 300 and b 100 more, or what `rises` has, of 1000 that it took."""
    rise = {("a", 1): rises.get("first", 600) + noise, ("a", 2): rises.get("second", 300) - noise, ("b", 1): rises.get("other", 100)}
    return [5000, 6000], [{at: 50 for at in OPS}, {at: 50 + rise[at] for at in OPS}]


def test_a_dose_for_every_op_is_told_in_proportion_to_the_ops():
    assert scores.uniform(OPS, [uniform_round()] * 3) == (0, 1, 0)
    points, slope, _ = scores.uniform(OPS, [uniform_round(first=500, other=200)] * 3)
    assert points == pytest.approx(10) and slope == 1
    assert scores.uniform(OPS, [uniform_round(first=300, second=150, other=50)] * 3)[:2] == (0, 0.5)
    # as far as the differences may be noise, they do not count
    assert scores.uniform(OPS, [uniform_round(noise) for noise in (-90, 0, 90)])[0] == 0


def test_points_of_honest_samples_are_those_of_chance():
    rng = scores.random.Random(7)

    def sampled(part_of_first):
        before, after = ({at: 1e6 * scores.poisson(rng, mean) for at, mean in means.items()}
                         for means in ({at: 5 for at in OPS}, {("a", 1): 5 + 60 * part_of_first, ("a", 2): 5 + 30, ("b", 1): 5 + 10}))
        return [5000, 6000], [before, after]
    honest = [sampled(1) for _ in range(5)]
    assert scores.uniform(OPS, honest)[0] < 3 + scores.uniform_by_chance(OPS, honest, 1e6)
    lying = [sampled(0.3) for _ in range(5)]
    assert scores.uniform(OPS, lying)[0] > 3 + scores.uniform_by_chance(OPS, lying, 1e6)


def test_ops_are_counted_and_doses_for_them_change_nothing(tmp_path):
    causal_uniform.build(str(tmp_path))
    program = tmp_path / "counted.pl"
    program.write_text("sub few { $_[0] + 1 }\n$n = few($n) for 1 .. 100;\n"
                       "$n = few($n) for 1 .. 1000;\neval '$n++;' x 3;\nprint $n;\n$0 = 'counted';\n")
    for dose in ({"CAUSAL_OPS": str(tmp_path / "ops")}, causal_uniform.environment(0), causal_uniform.environment(20)):
        done = subprocess.run(["perl", f"-I{tmp_path}", "-MCausalSpin", str(program)], capture_output=True, text=True, check=True,
                              env={**os.environ, **dose})
        assert done.stdout == "1103"
    ops = causal_uniform.ops_of(tmp_path / "ops")
    # 9 or so in each round of the loops, a few to begin and end them
    assert ops["counted.pl", 3] == pytest.approx(10 * ops["counted.pl", 2], rel=0.05)
    assert ops["counted.pl", 1] % 1100 == 0 and ops["(eval)", 0] > 6


@pytest.mark.parametrize("row", [row for row in causal_amounts.AMOUNTS if row[0] in ("values", "matches")], ids=lambda row: row[0])
def test_amounts_are_told_of_the_line_that_does_them(tmp_path, row):
    _, statement, _, unit, mode, settings, read = row
    given, out = tmp_path / "inc" / "Given.pm", str(tmp_path / "out")
    given.parent.mkdir()
    given.write_text("package Given;\nsub often { my $n = shift;\n    return $n + 1 }\n1;\n")
    bench = bench_in(tmp_path)
    program = ([f"-I{given.parent}", "-MGiven", "-e", "Given::often($_) for 1 .. 30"], None)
    bench.run(mode, program, [], {}, out, os.devnull, min(os.sched_getaffinity(0)))
    dosed = causal_doses.choose_by_calls(json.loads(exported(out, "--json")), 20, 400, 1, [str(given.parent)])
    assert dosed.name == "Given::often" and (dosed.line, dosed.runs) == (2, 30)
    causal_doses.write_copies([dosed], [str(given.parent)], str(tmp_path), statement)
    found = []
    for amount in (3, 10):
        bench.run(mode, program, [f"-I{tmp_path}", "-MCausalDose"], {"CAUSAL_AMOUNT": str(amount)}, out, os.devnull,
                  min(os.sched_getaffinity(0)), settings)
        found.append(read(json.loads(exported(out, "--json", "--unit=ns")), dosed))
    (before, others_before), (after, others_after) = found
    assert after - before == 7 * unit * 30
    assert others_before == others_after


def test_lies_can_still_be_planted():
    loader = importlib.machinery.SourceFileLoader("causal_lies", os.path.join(ROOT, "bench", "causal-lies"))
    lies = importlib.util.module_from_spec(importlib.util.spec_from_loader("causal_lies", loader))
    loader.exec_module(lies)
    for _, _, _, path, text, _ in lies.LIES:
        if path:
            assert pathlib.Path(ROOT, path).read_text(encoding="utf-8").count(text) == 1, path
