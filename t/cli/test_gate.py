# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Limits: what passes, what fails, with which status and which words."""

import json
import os
import shutil
import subprocess
from xml.etree import ElementTree

import pytest

from command import asking_for, formats, good, messages, run
from nytpwrite import Writer
from recordings import record
from written import MS, write_run

PROGRAM = """package Foo;
sub get { my $x = shift; return $x }
sub all { get($_) for 1 .. $_[0] }
package main;
Foo::all(100);
sub other { 1 }
other() for 1 .. 50;
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gate")
    more = PROGRAM.replace("all(100)", "all(150)")
    return {"old": record(folder / "old", PROGRAM), "new": record(folder / "new", more),
            "again": record(folder / "old", PROGRAM, out="again.out")}


def gate(*arguments):
    """(status, lines on standard error)"""
    done = run("-q", *arguments)
    return done.returncode, messages(done)


@pytest.mark.parametrize("limit, status", [
    ("900%", 0), ("1%", 10), ("1%:calls", 10), ("900%:calls", 0), ("1%:calls:sub", 10),
    ("49%:calls:^Foo::get$", 10), ("50%:calls:^Foo::get$", 0), ("0%:calls:other", 0),
    ("1%:statements:total", 10), ("60%:statements:sub", 0)])
def test_a_limit_on_growth(files, limit, status):
    assert gate("--diff", files["old"], f"--fail-over={limit}", files["new"])[0] == status
    assert gate("--diff", files["new"], f"--fail-over={limit}", files["old"])[0] == 0


def test_an_offender_is_named_with_its_place(files):
    status, lines = gate("--diff", files["old"], "--fail-over=10%:calls:sub", files["new"])
    assert status == 10
    assert lines == [f"{files['new'].parent}/a.pl:2: Foo::get: 150 calls, were 100 (+50.0 %) "
                     "[10%:calls:sub]"]
    _, lines = gate("--diff", files["old"], "--fail-over=1%:calls", files["new"])
    assert lines[0].startswith("a.pl: total: ")


def test_what_grows_by_a_thousandth_of_the_total_passes_a_limit_and_no_rule(tmp_path):
    for calls, status in ((2000, 0), (1999, 10)):
        base = side(tmp_path / f"base{calls}", 1, {"Foo::get": (10, 10), "main::rest": (calls - 10, 10)})
        new = side(tmp_path / f"new{calls}", 1, {"Foo::get": (12, 10), "main::rest": (calls - 10, 10)})
        assert gate("--diff", *base, "--fail-over=1%:calls:Foo", *new)[0] == status
        assert judge(tmp_path, ["calls Foo:: <= base +1%"], base, new)[0] == 10


def test_a_new_sub_comes_from_nothing(files, tmp_path):
    new = record(tmp_path, PROGRAM + "sub added { 1 } added() for 1 .. 9;\n")
    status, lines = gate("--diff", files["old"], "--fail-over=1000%:calls:added", new)
    assert status == 10
    assert "main::added: 9 calls, were 0 (new)" in lines[0]


def test_a_base_of_counts_judges_no_time(files, tmp_path):
    counts = tmp_path / "base.nytp.json"
    good("--save-base", "-o", counts, files["old"])
    status, lines = gate("--diff", counts, "--fail-over=1%:time", files["new"])
    assert status == 2 and "counts only" in lines[0]


OPS = """sub x { my $sum = 0; for my $i (1 .. %d) { $sum += $i } return z($sum) }
sub z { my %%of = map { ($_ => 1) } 1 .. 50; my $n = 0; $n += $of{$_} for keys %%of; return $n }
x() for 1 .. 20;
"""


def ops_of(path):
    data = json.loads(good("-q", "--json", path))
    assert data["ops"] == data["statements"] + data["calls_made"]
    assert all(sub["ops"] == sub["statements"] + sub["calls"] for sub in data["subs"])
    return {sub["name"]: sub["ops"] for sub in data["subs"]}


def test_ops_are_the_same_in_each_run(tmp_path):
    runs = [ops_of(record(tmp_path, OPS % 100, out=f"{i}.out", steps=False)) for i in range(5)]
    assert runs[0]["main::x"] == 20 * (3 + 100) + 20
    assert all(run == runs[0] for run in runs)


def test_ops_in_the_outputs(files, tmp_path):
    subs = ops_of(files["new"])
    top = good("-q", "--top=0", "--sort=ops", files["new"]).decode().splitlines()
    assert " ops " in top[1] or " ops " in top[2]
    order = [name for line in top for name in subs if f" {name} " in line + " "]
    assert [subs[name] for name in order] == sorted((subs[name] for name in order), reverse=True)
    csv = [line.split(",") for line in good("--csv", files["new"]).decode().splitlines()]
    assert csv[0][-1] == "ops" and {row[0]: int(row[-1]) for row in csv[1:]} == subs
    stacks = good("--collapsed", "--weight=ops", files["new"]).decode().splitlines()
    assert sum(int(line.rsplit(" ", 1)[1]) for line in stacks) == sum(subs.values())
    diff = good("-q", "--diff", files["old"], "--weight=ops", files["new"]).decode()
    base = json.loads(good("-q", "--json", files["old"]))["ops"]
    assert any(line.split()[:2] == ["ops", str(base)] for line in diff.splitlines())
    assert b"ops, base" in good("--flamegraph", "--diff", files["old"], "--weight=ops", files["new"])


def test_samples_have_no_ops(tmp_path):
    sampled = write_run(tmp_path / "s.out", {"main::x": (3, 9)}, attributes={"sampled": 1})
    for option in (["--top", "--sort=ops"], ["--collapsed", "--weight=ops"]):
        done = run("-q", *option, sampled)
        assert done.returncode == 2 and "it was sampled" in messages(done)[0]
    assert '"ops"' not in good("-q", "--json", sampled).decode()
    assert run("--tree", "--sort=ops", sampled).returncode == 2


# ---- rules in files ----

@pytest.mark.parametrize("rule, status", [
    ("calls Foo::get <= 150", 0), ("calls Foo::get <= 149", 10), ("calls total <= 1000000", 0),
    ("stmts Foo:: <= 2", 10), ("statements Foo:: <= 1000", 0), ("calls /^Foo::g/ <= 10", 10),
    ("calls main:: <= 10", 10), ("time total <= 100 s", 0),
    ("time Foo:: <= 0.001 us", 10), ("time total <= 1 min # a comment", 0),
    ("calls total <= 1_000_000", 0), ("calls total <= 1e1", 10)])
def test_a_rule_without_base(files, tmp_path, rule, status):
    rules = tmp_path / "rules"
    rules.write_text(f"# a comment\n\n{rule}\n")
    done = run("--gate", rules, files["new"])
    assert done.returncode == status
    assert done.stdout == good("--top", files["new"])
    assert (b"allowed" in done.stderr) == (status == 10)


@pytest.mark.parametrize("rule, status", [
    ("calls Foo::get <= base", 10), ("calls Foo::get <= base +50%", 0), ("calls Foo::get <= base + 49", 10),
    ("calls Foo::get <= base + 50", 0), ("calls Foo:: <= base +10%", 10), ("stmts total <= base", 10),
    ("calls main::other <= base", 0)])
def test_a_rule_about_the_base(files, tmp_path, rule, status):
    assert judge(tmp_path, [rule], [files["old"]], [files["new"]])[0] == status
    assert judge(tmp_path, [rule], [], [files["new"]])[0] == 2


@pytest.mark.parametrize("text, message", [
    ("gold Foo <= 1", 'rules:1: unknown value "gold"'), ("calls Foo", '"<=" expected'), ("calls Foo <= inf", "no limit"),
    ("calls Foo <= 0x10", "no limit"), ("calls Foo <= 1e400", "no limit"),
    ("\ncalls Foo <= many", 'rules:2: "many" is no limit'), ("time Foo <= 3", "is no limit"),
    ("calls /(/ <= 3", "bad regular expression"), ("", "there is no rule in it"), ("calls", "expected")])
def test_a_bad_rule_is_refused(files, tmp_path, text, message):
    status, lines = judge(tmp_path, [text], [], [files["new"]])
    assert status == 2 and message in lines[0]


def test_a_file_of_an_editor_with_a_byte_order_mark_is_read(files, tmp_path):
    assert judge(tmp_path, ["\ufeffcalls Foo::get <= 200"], [], [files["new"]]) == (0, [])


@pytest.mark.parametrize("limit, message", [
    ("2", "takes P%"), ("2%:gold", "unknown value"), ("-1%", "takes P%"), ("2%:calls:(", "bad regular expression"),
    ("2%x", "takes P%"), ("0x10%", "takes P%"), ("inf%", "takes P%"), ("1e400%", "takes P%"), ("nan%", "takes P%")])
def test_bad_limits_are_refused(files, limit, message):
    status, lines = gate("--diff", files["old"], f"--fail-over={limit}", files["new"])
    assert status == 2 and message in lines[0]


def test_limits_without_what_they_need_are_refused(files):
    assert "needs a base" in gate("--fail-over=2%", files["new"])[1][0]
    assert "there is no limit" in gate("--gate-tap", files["new"])[1][0]
    assert gate("--gate", "/nowhere/rules", files["new"])[0] == 1


def named(path, name, file="/x/a.pl"):
    """A recording of a sub that was called nine times, and of another one whose name is longer by a letter at its start."""
    stream = Writer().pid_start(7, 1).fid(1, file, utf8=True).time(10, 1, 3)
    for one in name, "W::a" + name:
        stream.sub(1, one, 1, 1, utf8=True).callers(1, 1, "main::RUNTIME", one, 9, 10, 10, utf8=True)
    return stream.pid_end(7).save(path)


def test_names_cannot_steer_the_terminal(tmp_path):
    new = named(tmp_path / "new.out", "W::\u009b31m\u202ered\x7f")
    _, lines = judge(tmp_path, ["calls /W::/ <= 1"], [], [new])
    assert "W::?31m?red?: 9 calls" in lines[0]


@pytest.mark.parametrize("more", ["", "a", "ab"])
@pytest.mark.parametrize("form", ["--gate-tap", "--annotations=github"])
def test_long_names_are_cut_between_characters(tmp_path, more, form):
    """A parser of TAP or of annotations would refuse the rest of one."""
    name = "W::" + "\u00e9" * 90
    new = named(tmp_path / "new.out", name + more, "/" + "\u20ac" * 120 + more + ".pl")
    (tmp_path / "rules").write_text(f"calls /W::/ <= 1\ncalls {name[:40]} <= 2\n")
    done = run("-q", "--gate", tmp_path / "rules", form, new)
    assert done.returncode == 10 and b"\xc3\xa9" in done.stdout and b"?" not in done.stdout, done
    done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("more", ["", "a", "ab"])
def test_a_program_with_a_long_name_is_cut_between_characters(tmp_path, more):
    name = "\u65e5" * 40 + more
    stream = Writer(attributes={"application": "/" + name}).pid_start(7, 1).fid(1, "/x/a.pl").time(10, 1, 3)
    new = stream.pid_end(7).save(tmp_path / "new.out")
    assert "\u65e5: 1 run against 1" in good("--diff", new, "--markdown", new).decode()
    assert "unknown option --\u65e5" in run("--" + name, new).stderr.decode()
    done = run("--unit", more + "\u65e5" * 100, new)
    assert done.returncode == 2 and "\u65e5" in done.stderr.decode()


# ---- each kind of rule: one that it fails, one that passes, one that it cannot judge ----

BASE = {"Foo::get": (100, 200000), "Foo::put": (10, 100000), "Bar::run": (5, 300000)}
MORE = {**BASE, "Foo::get": (150, 400000)}


def side(folder, n, subs, spread=0.005, **how):
    """n runs: each takes a little more than the one before."""
    folder.mkdir(exist_ok=True)
    return [write_run(folder / f"{run}.out", {sub: (calls, int(ticks * (1 + spread * run)))
                                              for sub, (calls, ticks) in subs.items()}, **how)
            for run in range(n)]


def judge(tmp_path, rules, base, new, *options):
    limits = [rule for rule in rules if rule.startswith("--")]
    lines = [rule for rule in rules if not rule.startswith("--")]
    if lines:
        (tmp_path / "rules").write_text("\n".join(lines))
        limits += ["--gate", tmp_path / "rules"]
    return gate(*[word for file in base for word in ("--diff", file)], *limits, *options, *new)


@pytest.mark.parametrize("value", ["time", "calls", "statements", "ops"])
@pytest.mark.parametrize("rule", [
    "{} Foo::get <= base +10%", "{} /^Foo::/ <= base +10%", "{} Foo:: <= base +10%", "{} total <= base +10%",
    "--fail-over=10%:{}", "--fail-over=10%:{}:sub", "--fail-over=10%:{}:^Foo::"])
def test_a_rule_about_growth_fails_passes_and_refuses(tmp_path, value, rule):
    rule = rule.format(value)
    base = side(tmp_path / "base", 6, BASE)
    assert judge(tmp_path, [rule], base, side(tmp_path / "more", 6, MORE))[0] == 10
    assert judge(tmp_path, [rule], base, side(tmp_path / "same", 6, BASE, spread=0.006)) == (0, [])
    if value == "time":
        status, lines = judge(tmp_path, [rule], base, side(tmp_path / "few", 3, MORE))
        assert status == 2 and "runs on each side" in lines[0] and "here are 6 and 3" in lines[0]
    else:
        sampled = side(tmp_path / "sampled", 6, MORE, attributes={"sampled": 1})
        for old, new in ((base, sampled), (sampled, base)):
            status, lines = judge(tmp_path, [rule], old, new)
            assert status == 2 and "it was sampled" in lines[0]


def test_one_sub_among_many_is_one_question(tmp_path):
    """Four runs are enough for a rule about one sub, however many there are; not for each of them."""
    subs = {f"main::s{i}": (1, 100000) for i in range(12)}
    base, new = (side(tmp_path / "base", 6, subs), side(tmp_path / "new", 6, {**subs, "main::s7": (1, 4000000)}))
    for rule in ("time main::s7 <= base +10%", "--fail-over=10%:time:^main::s7$", "time /s7/ <= base +10%"):
        assert judge(tmp_path, [rule], base[:4], new[:4])[0] == 10, rule
        assert judge(tmp_path, [rule.replace("s7", "s6")], base[:4], new[:4])[0] == 0, rule
    status, lines = judge(tmp_path, ["--fail-over=10%:time:sub"], base[:4], new[:4])
    assert status == 2
    assert "needs 6 runs on each side when so many are asked about, here are 4 and 4 [10%:time:sub]" in lines[0]
    status, lines = judge(tmp_path, ["--fail-over=10%:time:sub"], base, new)
    assert status == 10 and len(lines) == 1 and "main::s7: 405 ms (median of 6 runs), was 10.1 ms" in lines[0]
    assert judge(tmp_path, ["--fail-over=10%:time:sub"], base, side(tmp_path / "same", 6, subs))[0] == 0


def test_all_rules_are_one_family_of_questions(tmp_path):
    base, new = side(tmp_path / "base", 5, BASE), side(tmp_path / "new", 5, MORE)
    rules = ["time Foo:: <= base +10%", "time Bar:: <= base +10%"]
    status, lines = judge(tmp_path, rules, base[:4], new[:4])
    assert status == 2 and len(lines) == 2 and "needs 5 runs" in lines[0] and "rules:2" in lines[1]
    status, lines = judge(tmp_path, rules, base, new)
    assert status == 10 and len(lines) == 1 and "package Foo: " in lines[0]
    # what does not ask for chance goes on to be judged
    status, lines = judge(tmp_path, rules + ["calls Foo::get <= base"], base[:4], new[:4])
    assert status == 10 and "Foo::get: 150 calls" in lines[0] and len(lines) == 3


@pytest.mark.parametrize("rule", ["time Foo:: <= base", "time total <= base", "time Foo::get <= base"])
def test_growth_within_the_noise_breaks_no_rule(tmp_path, rule):
    """Twenty runs spread evenly over a width, and all of them a quarter of it later: p is below 0.05."""
    def spread(name, more):
        (tmp_path / name).mkdir()
        return [write_run(tmp_path / name / f"{run}.out", {"Foo::get": (1, 1000000 + 50000 * run + more)})
                for run in range(20)]
    base = spread("base", 0)
    assert judge(tmp_path, [rule], base, spread("within", 220000))[0] == 0
    assert judge(tmp_path, [rule], base, spread("beyond", 400000))[0] == 10


@pytest.mark.parametrize("what", ["Foo::get", "/^Foo::/", "Foo::"])
def test_a_sub_that_is_not_there_keeps_no_rule(tmp_path, what):
    """Renamed or removed, never called, never heard of."""
    old = side(tmp_path / "old", 1, {"Foo::get": (4, 4000), "main::other": (1, 9000)})
    rest = {"main::other": (1, 9000)}
    gone, uncalled = side(tmp_path / "gone", 1, rest), side(tmp_path / "uncalled", 1, rest, uncalled=["Foo::get"])
    rule = f"calls {what} <= 12"
    for base, words in ((old, "gone: in the base alone"), ([], "no sub matches")):
        status, lines = judge(tmp_path, [rule], base, gone)
        assert status == 2 and lines == [f"nytp-export: {tmp_path}/rules:1: {words} [{rule}]"]
        assert judge(tmp_path, [rule + " or absent"], base, gone) == (0, [])
        assert judge(tmp_path, [rule], base, uncalled) == (0, [])
        done = run("-q", *[f"--diff={file}" for file in base], "--gate", tmp_path / "rules", "--gate-tap", *uncalled)
        assert b": 0 calls, at most 12 calls allowed" in done.stdout
    table = json.loads(good("--json", "--diff", old[0], uncalled[0]))["diff"]
    assert [row["status"] for row in table if row["sub"] == "Foo::get"] == ["not called"]
    assert ", 1 not called; " in good("--diff", old[0], uncalled[0]).decode()


def test_a_name_that_is_near_is_told(tmp_path):
    _, lines = judge(tmp_path, ["calls Foo::gett <= 12"], [], side(tmp_path / "new", 1, BASE))
    assert "no sub matches; near it: Foo::get" in lines[0]
    _, lines = judge(tmp_path, ["--fail-over=1%:calls:Foo::gett"], side(tmp_path / "old", 1, BASE),
                     side(tmp_path / "new", 1, BASE))
    assert "no sub matches; near it: Foo::get" in lines[0] and "--fail-over" in lines[0]


def test_inputs_are_runs_with_and_without_a_base(tmp_path):
    new = [write_run(tmp_path / f"{calls}.out", {"Foo::get": (calls, 1000)}) for calls in (2, 3, 9)]
    for base in ([], new):
        assert judge(tmp_path, ["calls Foo::get <= 3"], base, new)[0] == 0
        status, lines = judge(tmp_path, ["calls Foo::get <= 2"], base, new)
        assert status == 10 and "Foo::get: 3 calls (median of 3 runs)" in lines[0]
        assert judge(tmp_path, ["calls Foo::get <= 13"], base, new, "--merge-runs")[0] == 10
        assert judge(tmp_path, ["calls Foo::get <= 14"], base, new, "--merge-runs")[0] == 0


def test_processes_of_a_program_are_one_run(forked, tmp_path):
    assert len(forked) == 3
    assert judge(tmp_path, ["calls main::work <= 2"], [], forked)[0] == 0
    assert judge(tmp_path, ["calls main::work <= 1"], [], forked)[0] == 10
    document = json.loads(good("--json", *[f"--diff={file}" for file in forked], *forked))
    assert (document["base_runs"], document["new_runs"], document["diff"]) == (1, 1, [])


def test_another_program_is_no_base(tmp_path):
    base, = side(tmp_path / "base", 1, BASE)
    new, = side(tmp_path / "new", 1, BASE, attributes={"application": "/y/other.pl"})
    counts = tmp_path / "base.json"
    good("--save-base", "-o", counts, base)
    for old in (base, counts):
        status, lines = gate("--diff", old, "--fail-over=900%", new)
        assert status == 2 and "the base is of another program" in lines[0]
        assert "note: the base is of another program" in good("--diff", old, new).decode()
        assert judge(tmp_path, ["calls Foo::get <= 100"], [old], [new])[0] == 0


# ---- accepted growth ----

def test_known_growth_is_accepted(files, tmp_path):
    accept = tmp_path / "accept"
    limits = ["--diff", files["old"], "--fail-over=1%:calls:sub", "--gate", accept]
    for text, status in (("^Foo::get 50%:calls", 0), ("^Foo::get 49%:calls", 10), ("^Foo:: any", 0),
                         ("^Foo::get 50%", 10)):
        accept.write_text(f"# known\naccept  {text}\n")
        assert gate(*limits, files["new"])[0] == status, text
    accept.write_text("accept ^Gone::  any\n")
    done = run(*limits, files["new"])
    assert done.returncode == 10
    assert "no sub beyond a limit matches ^Gone::" in done.stderr.decode()
    accept.write_text("accept ^Foo::get\n")
    assert gate(*limits, files["new"])[0] == 2


# ---- the base in a repository ----

def test_a_saved_base_is_as_good_as_the_recording(files, tmp_path):
    base = tmp_path / "base.nytp.json"
    assert good("-o", base, files["old"]) == b""
    for new in ("old", "new"):
        with_counts = json.loads(good("--json", "--diff", base, files[new]))
        whole = json.loads(good("--json", "--diff", files["old"], files[new]))

        def counts(document):
            return {(row["sub"], row["status"]) + tuple(
                row[side][value] for side in ("base", "new") for value in ("statements", "calls"))
                for row in document["diff"] if row["status"] != "equal"}
        assert counts(with_counts) == counts(whole)
        assert bool(counts(whole)) == (new == "new")
    text = base.read_text()
    assert str(files["old"].parent) not in text
    names = [json.loads(line.rstrip(","))["sub"] for line in text.splitlines()[1:-1]]
    assert names == sorted(names)
    assert base.read_bytes() == good("--save-base", files["again"])


def test_a_saved_base_tells_what_it_is_of(tmp_path):
    base, sampled, other = tmp_path / "base.json", tmp_path / "sampled.json", tmp_path / "other.json"
    exact, = side(tmp_path / "exact", 1, BASE)
    samples, = side(tmp_path / "samples", 1, BASE, attributes={"sampled": 1})
    old, = side(tmp_path / "old", 1, BASE, attributes={"perl_version": "5.8.8", "hash_seed": "random"})
    for out, file in ((base, exact), (sampled, samples), (other, old)):
        good("--save-base", "-o", out, file)
    head = json.loads(base.read_text())
    assert head["facts"] == {"perl": "5.36.0", "recorder": "6.12", "calls": "2", "stmts": "1", "slowops": "2",
                             "hash_seed": "0"}
    assert "sampled" not in head and json.loads(sampled.read_text())["sampled"] == 1
    status, lines = gate("--diff", sampled, "--fail-over=900%", exact)
    assert status == 2 and "it was sampled" in lines[0]
    notes = json.loads(good("--json", "--diff", other, exact))["notes"]
    assert notes[0] == "perl differs: 5.8.8 in the base, now 5.36.0" and "hash seed is not fixed" in notes[1]
    assert json.loads(good("--json", "--diff", base, exact))["notes"] == []
    assert "some of it was sampled" in json.loads(good("--json", "--diff", sampled, exact))["notes"][0]


def test_a_saved_base_of_any_names(profile, tmp_path):
    base = tmp_path / "base.nytp.json"
    for name in ("names", "made-hostile-names", "evals"):
        run("-q", "--save-base", "-o", base, profile(name))
        done = run("-q", "--json", "--diff", base, profile(name))
        assert done.returncode in (0, 3)
        assert [row for row in json.loads(done.stdout)["diff"] if row["status"] != "equal"] == []


# ---- statuses ----

def test_exceeded_beats_partial(files, tmp_path):
    whole = record(tmp_path, PROGRAM.replace("all(100)", "all(900)"), options="compress=0").read_bytes()
    cut = tmp_path / "cut.out"
    cut.write_bytes(whole[:len(whole) * 2 // 3])
    assert run("--diff", cut, "--fail-over=0%", files["old"]).returncode == 3
    assert run("--diff", files["old"], "--fail-over=0%", cut).returncode == 10
    assert run("--strict", "--diff", files["old"], "--fail-over=0%", cut).returncode == 1


def test_a_failed_output_is_said_instead(files):
    done = run("--diff", files["old"], "--fail-over=1%", "--json", "-o", "/nowhere/x", files["new"])
    assert done.returncode == 4


# ---- for machines ----

def test_tap_is_what_prove_reads(files, tmp_path):
    arguments = ["--diff", files["old"], "--fail-over=1%:calls:sub", "--fail-over=900%", "--gate-tap",
                 files["new"]]
    done = run(*arguments)
    assert done.returncode == 10
    lines = done.stdout.decode().splitlines()
    assert lines[:2] == ["1..2", "not ok 1 - 1%:calls:sub"]
    assert lines[2].startswith("# ") and "Foo::get: 150 calls" in lines[2]
    assert lines[-2] == "ok 2 - 900%" and lines[-1].startswith("# total: 353 statements, were 253")
    tap = tmp_path / "gate.t"
    tap.write_bytes(b"print <<'END';\n" + done.stdout + b"END\n")
    proved = subprocess.run(["prove", str(tap)], capture_output=True, text=True, check=False)
    assert proved.returncode == 1 and "Failed test:  1" in proved.stdout


def test_annotations_are_commands_of_github(files):
    done = run("--diff", files["old"], "--fail-over=1%:calls:Foo", "--annotations=github", files["new"])
    place = str(files["new"].parent / "a.pl")
    assert done.stdout.decode() == (
        f"::error file={place},line=2::{place}:2: Foo::get: 150 calls, were 100 (+50.0 %25) [1%25:calls:Foo]\n")


def test_what_became_of_the_rules_is_told_in_each_form(tmp_path):
    new, = side(tmp_path / "new", 1, BASE)
    (tmp_path / "rules").write_text("calls Foo::get <= 100\ncalls /^Foo::/ <= 9\ncalls Foo::gone <= 1\n")
    arguments = ["-q", "--gate", tmp_path / "rules", f"--gate-junit={tmp_path / 'junit.xml'}"]
    done = run(*arguments, "--gate-tap", new)
    kept, *broken = "Foo::get: 100 calls, at most 100 calls", "Foo::get: 100 calls, at most 9", "Foo::put: 10 calls, at most 9"
    tap = done.stdout.decode()
    assert done.returncode == 10 and [line[:8] for line in tap.splitlines() if line[0] != "#"] == \
        ["1..3", "ok 1 - c", "not ok 2", "not ok 3"]
    assert all(text in tap for text in (kept, *broken, "# cannot be judged: no sub matches"))
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {"tests": "3", "failures": "1", "errors": "1"}
    cases = suite.findall("testcase")
    assert [case.get("classname") for case in cases] == [f"{tmp_path}/rules:{line}" for line in (1, 2, 3)]
    assert kept in cases[0].find("system-out").text and cases[1].get("name") == "calls /^Foo::/ <= 9"
    assert all(text in cases[1].find("failure").text for text in broken)
    assert "no sub matches" in cases[2].find("error").get("message")
    markdown = run("-q", *arguments, "--markdown", "-o", tmp_path / "x.md", new)
    text = (tmp_path / "x.md").read_text()
    assert markdown.returncode == 10 and text.startswith("### 1 of 3 limits kept\n") and "### `hand.pl`" in text
    assert [line[2] for line in text.splitlines() if line.startswith("| ") and "<=" in line] == ["✅", "❌", "❔"]
    done = run("-q", *arguments, "--annotations=github", new)
    assert f"::error file={tmp_path}/rules,line=3::cannot be judged: no sub matches".encode() in done.stdout


def test_answers_and_a_document_do_not_share_standard_output(files, tmp_path):
    arguments = ["--diff", files["old"], "--fail-over=1%", "--gate-tap", "--markdown"]
    assert run(*arguments, files["new"]).returncode == 2
    out = tmp_path / "summary.md"
    done = run(*arguments, "-o", out, files["new"])
    assert done.returncode == 10 and done.stdout.startswith(b"1..1\nnot ok 1")
    assert out.read_text().startswith("### ")


def test_a_suite_on_standard_output_takes_the_place_of_the_table(files, tmp_path):
    arguments = ["-q", "--diff", files["old"], "--fail-over=1%", "--gate-junit", "-"]
    done = run(*arguments, files["new"])
    assert done.returncode == 10 and ElementTree.fromstring(done.stdout).get("failures") == "1"
    done = run(*arguments, "--markdown", "-o", tmp_path / "x.md", files["new"])
    assert done.returncode == 10 and ElementTree.fromstring(done.stdout).tag.startswith("testsuite")
    assert (tmp_path / "x.md").read_text().startswith("### ")
    for more in ["--markdown"], ["-o", "-"], ["--gate-tap"], ["--annotations=github"]:
        done = run(*arguments, *more, files["new"])
        assert (done.returncode, done.stdout, len(messages(done))) == (2, b"", 1) and "--gate-junit=-" in messages(done)[0]


@pytest.mark.parametrize("name", ["x", "./x", "linked"])
def test_a_suite_does_not_replace_the_output(files, tmp_path, name):
    (tmp_path / "linked").symlink_to("x")
    done = run("-q", "--diff", files["old"], "--fail-over=90%", f"--gate-junit={name}", "--json", "-o", "x", files["new"], cwd=tmp_path)
    assert (done.returncode, messages(done)[-1]) == (2, f"nytp-export: {name} was written by this run: it is not replaced")
    assert json.loads((tmp_path / "x").read_text())["nytp_diff"] == 1


FORKING = """my $anon = sub { my $x = shift; $x + 1 };
sub work { $anon->($_) for 1 .. 1000 }
for (1, 2) { my $pid = fork // die; if (!$pid) { work(); exit } waitpid $pid, 0 }
"""


@pytest.fixture(scope="module")
def forked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forked")
    record(folder, FORKING, name="f.pl", options="savesrc=1")
    return sorted(folder.glob("f.pl.out*"))


def all_written(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*")
            if path.is_file()}


@pytest.mark.parametrize("arguments", [
    [asking_for(name), "-o", "out"] for name in formats() if name not in ("html", "markdown")
] + [["--rows", "-o", "out.gz"], ["--csv", "--per-process", "-o", "out-%p"],
     ["--callgrind", "--source-dir", "sources", "-o", "out"], ["--callgrind", "--open"],
     ["--flamegraph", "--open", "-o", "out"], ["--list=nosuch", "-o", "out"]], ids=" ".join)
def test_a_limit_that_is_kept_changes_nothing_that_is_written(forked, tmp_path, arguments):
    viewers = tmp_path / "viewers"
    viewers.mkdir()
    for name in "kcachegrind", "xdg-open":
        (viewers / name).write_text('#!/bin/sh\ncp "$1" opened\n')
        (viewers / name).chmod(0o755)
    (tmp_path / "ok").write_text("calls total <= 100000000\n")
    seen = []
    folder = tmp_path / "written"
    for limits in [], ["--gate", tmp_path / "ok"]:
        folder.mkdir()
        done = run(*arguments, *limits, *forked, cwd=folder,
                   env={**os.environ, "PATH": f"{viewers}:{os.environ['PATH']}"})
        assert done.returncode == (1 if "--list=nosuch" in arguments else 0), done.stderr
        seen.append((done.stdout, done.stderr, all_written(folder)))
        shutil.rmtree(folder)
    assert seen[0] == seen[1]
    assert seen[0][2]


def test_a_limit_on_inputs_of_which_one_is_unusable_is_not_kept(files, tmp_path):
    (tmp_path / "ok").write_text("calls total <= 100000000\n")
    (tmp_path / "broken").write_text("no profile\n")
    assert gate("--gate", tmp_path / "ok", files["old"], tmp_path / "broken")[0] == 1


# ---- one answer, whatever is written beside it; none where there is nothing to judge ----


def test_growth_that_is_accepted_of_subs_is_not_of_the_total(files, tmp_path):
    for rule, status in (("calls total <= 5", 10), ("calls /all/ <= 0", 0), ("calls Foo:: <= 0", 0)):
        assert judge(tmp_path, ["accept [tol] any", "accept . any", rule], [], [files["new"]])[0] == status, rule
    assert judge(tmp_path, ["accept total any", "calls total <= 5"], [], [files["new"]])[0] == 0


@pytest.mark.parametrize("words, junit", [
    (["--html", "-o", "h/"], "h/index.html"), (["--per-process", "--json", "-o", "o.json"], "o.7.json"),
    (["--json", "-o", "o.json"], "o.json"), (["--json", "-o", "o.json"], "./o.json"),
    (["--json", "-o", "o.json", "--source-dir=s"], "s/x/a.pl")])
def test_no_second_output_replaces_what_was_written(tmp_path, words, junit):
    stream = Writer().pid_start(7).fid(1, "/x/a.pl").time(9, 1, 1).source(1, 1, "print 1;\n").pid_end(7)
    stream.save(tmp_path / "a.out")
    (tmp_path / "rules").write_text("calls total <= 99\n")
    done = run("-q", *words, "--gate=rules", f"--gate-junit={junit}", "a.out", cwd=tmp_path)
    assert done.returncode == 2 and "not replaced" in messages(done)[0], done
    assert not (tmp_path / junit).read_text().startswith("<?xml")
    done = run("-q", "--json", "-o", "s/x/a.pl", "--source-dir=s", "a.out", cwd=tmp_path)
    assert done.returncode == 2 and (tmp_path / "s/x/a.pl").read_text() == "print 1;\n"


def test_time_with_what_is_called(tmp_path):
    stream = Writer().pid_start(7).fid(1, "/x/a.pl").time(9, 1, 1).entry(1, 1).time(20 * MS, 1, 10).entry(1, 10)
    stream.time(30 * MS, 1, 20).leave(2, 30 * MS, 30 * MS, "Foo::in").leave(1, 50 * MS, 20 * MS, "Foo::out")
    stream.sub(1, "Foo::out", 10, 11).sub(1, "Foo::in", 20, 21).callers(1, 1, "main::RUNTIME", "Foo::out", 1, 5, 2)
    file = stream.callers(1, 10, "Foo::out", "Foo::in", 1, 3, 3).pid_end(7).save(tmp_path / "a.out")
    for rule, status in (("incl Foo::out <= 50 ms", 0), ("incl Foo::out <= 49 ms", 10), ("time Foo::out <= 20 ms", 0),
                         ("incl /^Foo/ <= 49 ms", 10), ("incl Foo::nosuch <= 1 s", 2), ("incl Foo:: <= 1 s", 2), ("incl total <= 1 s", 2)):
        assert judge(tmp_path, [rule], [], [file])[0] == status, rule
    assert "Foo::out: 50.0 ms with what it calls, at most 49.0 ms allowed" in judge(tmp_path, ["incl Foo::out <= 49 ms"], [], [file])[1][0]
    status, lines = judge(tmp_path, ["incl Foo::out <= base +10%"], [file], [file])
    assert status == 2 and "needs 4 runs" in lines[0]
    base = side(tmp_path / "base", 4, BASE)
    more = side(tmp_path / "more", 4, MORE)
    for limit in "--fail-over=10%:incl:^Foo::get$", "incl Foo::get <= base +10%":
        assert judge(tmp_path, [limit], base, more)[0] == 10
        assert judge(tmp_path, [limit], base, base)[0] == 0
    assert "of total say time" in judge(tmp_path, ["--fail-over=1%:incl"], base, more)[1][0]


def test_a_rule_on_the_new_side_alone_does_not_ask_the_base(tmp_path):
    new = write_run(tmp_path / "new.out", {"DBI::db::do": (3, 300)})
    base = Writer(options={"calls": 0}).pid_start(7, 1).fid(1, "/x/hand.pl").time(10, 1, 1).pid_end(7).save(tmp_path / "base.out")
    assert judge(tmp_path, ["queries total <= 3"], [base], [new])[0] == 0
    assert judge(tmp_path, ["queries total <= 2"], [base], [new])[0] == 10
    assert judge(tmp_path, ["queries total <= base +9%"], [base], [new])[0] == 2


def test_a_selection_that_takes_queries_away_is_the_reason(tmp_path):
    new = write_run(tmp_path / "new.out", {"DBI::db::do": (3, 300)})
    status, lines = judge(tmp_path, ["queries total <= 3"], [], [new], "--ignore=do")
    assert status == 2 and "the selection leaves out what it speaks of" in "".join(lines), lines


def test_reasons_are_not_of_parts_of_a_process(tmp_path):
    """--where of stretches: a process of which all is under the label keeps them."""
    out = Writer().pid_start(70).attribute("sampled", 1).fid(1, "/x/a.pl").comment("nytp-label 0 request=a").comment("nytp-wait sleep")
    out.comment("cpu 0").time(9 * MS, 1, 3).comment("nytp-label 9 request").comment("nytp-label-profile run=nightly").comment("cpu 9").time(9, 1, 4)
    file = out.pid_end(70).save(tmp_path / "s.out")
    for words in ["--waits"], ["--patterns"]:
        done = run("-q", *words, "--where=request=a", file)
        assert done.returncode == 2 and b"of the whole recording only" in done.stderr, done
    assert judge(tmp_path, ["waits total <= 1 s"], [], [file], "--where=request=a")[0] == 2
    assert judge(tmp_path, ["waits total <= 1 s"], [], [file])[0] == 0
    assert judge(tmp_path, ["waits total <= 1 s"], [], [file], "--where=run=nightly")[0] == 0


def test_names_that_are_near_are_looked_for_a_hundred_times(files, tmp_path):
    status, lines = judge(tmp_path, [f"calls Foo::gett <= {n}" for n in range(300)], [], [files["new"]])
    near = [line for line in lines if "near it: Foo::get" in line]
    assert status == 2 and len(lines) == 300 and len(near) == 100


def test_the_text_of_a_rule_is_harmless_and_utf8(tmp_path):
    file = write_run(tmp_path / "f.out", {"main::f": (3, 300)})
    (tmp_path / "rules").write_bytes(b"calls\t/main|\x01\x1b[3]/ <= 1\nstatements main::caf\xe9 <= 2 or absent\n")
    for words in ["--gate-tap"], ["--markdown"], ["--json"], ["--top"]:
        done = run("-q", "--gate", tmp_path / "rules", *words, file)
        text = (done.stdout + done.stderr).decode()
        assert done.returncode == 10 and "calls /main|??[3]/ <= 1" in text and not set(text) & {"\x01", "\x1b"}, words
