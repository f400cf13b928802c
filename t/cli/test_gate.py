# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Limits: what passes, what fails, with which status and which words."""

import json
import os
import shutil
import subprocess

import pytest

from command import asking_for, formats, good, messages, run
from nytpwrite import Writer
from recordings import record

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
            "olds": [record(folder / "old", PROGRAM, out=f"{i}.out") for i in range(4)],
            "news": [record(folder / "new", more, out=f"{i}.out") for i in range(4)]}


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


def test_what_grows_by_little_passes(files):
    limits = ["--diff", files["old"], "--fail-over=1%:calls:Foo"]
    assert gate(*limits, "--fail-least=49", files["new"])[0] == 10
    assert gate(*limits, "--fail-least=50", files["new"])[0] == 0
    assert gate(*limits, "--fail-least=90%", files["new"])[0] == 0


def test_a_new_sub_comes_from_nothing(files, tmp_path):
    new = record(tmp_path, PROGRAM + "sub added { 1 } added() for 1 .. 9;\n")
    status, lines = gate("--diff", files["old"], "--fail-over=1000%:calls:added", new)
    assert status == 10
    assert "main::added: 9 calls, were 0 (new)" in lines[0]


def test_times_need_runs(files):
    status, lines = gate("--diff", files["old"], "--fail-over=1%:time", files["new"])
    assert status == 2 and "needs 4 runs on each side, here are 1 and 1" in lines[0]
    bases = [word for file in files["olds"] for word in ("--diff", file)]
    assert gate(*bases, "--fail-over=100000%:time", *files["news"])[0] == 0
    assert gate(*bases, "--fail-over=0%:time:sub", *files["olds"])[0] == 0
    counts = files["old"].parent / "base.nytp.json"
    good("--save-base", "-o", counts, files["old"])
    status, lines = gate("--diff", counts, "--fail-over=1%:time", files["new"])
    assert status == 2 and "counts only" in lines[0]


def test_a_time_that_surely_grew_fails(tmp_path):
    program = "sub work { my $x = 0; $x += $_ for 1 .. %d; $x } work();\n"
    old = [record(tmp_path / "old", program % 1000, out=f"{i}.out") for i in range(4)]
    new = [record(tmp_path / "new", program % 300000, out=f"{i}.out") for i in range(4)]
    bases = [word for file in old for word in ("--diff", file)]
    status, lines = gate(*bases, "--fail-over=50%:time", *new)
    assert status == 10 and "total: " in lines[0] and "was" in lines[0]
    rules = tmp_path / "rules"
    rules.write_text("time main:: <= base +50%\n")
    assert gate(*bases, "--gate", rules, *new)[0] == 10
    assert gate(*bases, "--gate", rules, *old)[0] == 0


# ---- rules in files ----

@pytest.mark.parametrize("rule, status", [
    ("calls Foo::get <= 150", 0), ("calls Foo::get <= 149", 10), ("calls total <= 1000000", 0),
    ("stmts Foo:: <= 2", 10), ("statements Foo:: <= 1000", 0), ("calls /^Foo::g/ <= 10", 10),
    ("calls main:: <= 10", 10), ("calls Nowhere::get <= 0", 0), ("time total <= 100 s", 0),
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
    rules = tmp_path / "rules"
    rules.write_text(rule + "\n")
    assert gate("--diff", files["old"], "--gate", rules, files["new"])[0] == status
    assert gate("--gate", rules, files["new"])[0] == 2


@pytest.mark.parametrize("text, message", [
    ("gold Foo <= 1", 'rules:1: unknown value "gold"'), ("calls Foo", '"<=" expected'), ("calls Foo <= inf", "no limit"),
    ("calls Foo <= 0x10", "no limit"), ("calls Foo <= 1e400", "no limit"),
    ("\ncalls Foo <= many", 'rules:2: "many" is no limit'), ("time Foo <= 3", "is no limit"),
    ("calls /(/ <= 3", "bad regular expression"), ("", "there is no rule in it"), ("calls", "expected")])
def test_a_bad_rule_is_refused(files, tmp_path, text, message):
    rules = tmp_path / "rules"
    rules.write_text(text)
    status, lines = gate("--gate", rules, files["new"])
    assert status == 2 and message in lines[0]


def test_bad_limits_are_refused(files):
    for limit, message in (("2", "takes P%"), ("2%:gold", "unknown value"), ("-1%", "takes P%"),
                           ("2%:calls:(", "bad regular expression"), ("2%x", "takes P%"),
                           ("0x10%", "takes P%"), ("inf%", "takes P%"), ("1e400%", "takes P%"), ("nan%", "takes P%")):
        status, lines = gate("--diff", files["old"], f"--fail-over={limit}", files["new"])
        assert status == 2 and message in lines[0], limit
    assert "needs a base" in gate("--fail-over=2%", files["new"])[1][0]
    assert "there is no limit" in gate("--gate-tap", files["new"])[1][0]
    for least in ("x", "inf", "1e400", "0x10", "nan", "1 2"):
        assert "takes a number" in gate("--diff", files["old"], "--fail-over=2%", f"--fail-least={least}",
                                        files["new"])[1][0]
    assert gate("--gate", "/nowhere/rules", files["new"])[0] == 1


def test_names_cannot_steer_the_terminal(tmp_path):
    stream = Writer().pid_start(7, 1).fid(1, "/x/a.pl").time(10, 1, 3)
    name = "W::\u009b31m\u202ered\x7f"
    stream.sub(1, name, 1, 1, utf8=True).callers(1, 1, "main::RUNTIME", name, 9, 10, 10, utf8=True).pid_end(7)
    new, rules = tmp_path / "new.out", tmp_path / "rules"
    new.write_bytes(stream.data())
    rules.write_text("calls /W::/ <= 1\n")
    _, lines = gate("--gate", rules, new)
    assert "W::?31m?red?: 9 calls" in lines[0]


# ---- accepted growth ----

def test_known_growth_is_accepted(files, tmp_path):
    accept = tmp_path / "accept"
    limits = ["--diff", files["old"], "--fail-over=1%:calls:sub", "--accept", accept]
    for text, status in (("^Foo::get 50%:calls", 0), ("^Foo::get 49%:calls", 10), ("^Foo:: any", 0),
                         ("^Foo::get 50%", 10)):
        accept.write_text(f"# known\n{text}\n")
        assert gate(*limits, files["new"])[0] == status, text
    accept.write_text("^Gone::  any\n")
    done = run(*limits, files["new"])
    assert done.returncode == 10
    assert "no sub beyond a limit matches ^Gone::" in done.stderr.decode()
    accept.write_text("^Foo::get\n")
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
    assert base.read_bytes() == good("--save-base", files["olds"][2])


def test_a_saved_base_of_any_names(profile, tmp_path):
    base = tmp_path / "base.nytp.json"
    for name in ("names", "made-hostile-names", "evals"):
        run("-q", "--save-base", "-o", base, profile(name))
        done = run("-q", "--json", "--diff", base, profile(name))
        assert done.returncode in (0, 3)
        assert [row for row in json.loads(done.stdout)["diff"] if row["status"] != "equal"] == []


# ---- statuses ----

def test_exceeded_beats_partial(profile, files):
    cut = profile("cut-plain")
    assert run("--diff", cut, "--fail-over=0%", files["new"]).returncode == 3
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
    assert lines[-1] == "ok 2 - 900%"
    tap = tmp_path / "gate.t"
    tap.write_bytes(b"print <<'END';\n" + done.stdout + b"END\n")
    proved = subprocess.run(["prove", str(tap)], capture_output=True, text=True, check=False)
    assert proved.returncode == 1 and "Failed test:  1" in proved.stdout


def test_annotations_are_commands_of_github(files):
    done = run("--diff", files["old"], "--fail-over=1%:calls:Foo", "--annotations=github", files["new"])
    place = str(files["new"].parent / "a.pl")
    assert done.stdout.decode() == (
        f"::error file={place},line=2::{place}:2: Foo::get: 150 calls, were 100 (+50.0 %25)\n")


def test_answers_and_a_document_do_not_share_standard_output(files, tmp_path):
    arguments = ["--diff", files["old"], "--fail-over=1%", "--gate-tap", "--markdown"]
    assert run(*arguments, files["new"]).returncode == 2
    out = tmp_path / "summary.md"
    done = run(*arguments, "-o", out, files["new"])
    assert done.returncode == 10 and done.stdout.startswith(b"1..1\nnot ok 1")
    assert out.read_text().startswith("### ")


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
    [asking_for(name), "-o", "out"] for name in formats() if name != "html"
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
        assert done.returncode == 0, done.stderr
        seen.append((done.stdout, done.stderr, all_written(folder)))
        shutil.rmtree(folder)
    assert seen[0] == seen[1]
    assert seen[0][2]


def test_a_limit_on_inputs_of_which_one_is_unusable_is_not_kept(files, tmp_path):
    (tmp_path / "ok").write_text("calls total <= 100000000\n")
    (tmp_path / "broken").write_text("no profile\n")
    assert gate("--gate", tmp_path / "ok", files["old"], tmp_path / "broken")[0] == 1
