# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Calls and call sites under selections: a recording with calls=1 or calls=0 knows more of them
than its calling-context tree does, and a selection must not lose that."""

import json

import pytest

from command import good, run
from nytpwrite import Writer

LEAF_LINES = {("main::mid", "main::leaf", 2): 50, ("main::mid", "main::leaf", 3): 50}


def two_call_lines(calls, pid=7, name="/x/m.pl"):
    """mid() calls leaf() from two lines, 50 times each; then a sort, and a recursion."""
    w = Writer(options={"calls": calls}, attributes={"application": name}).pid_start(pid, 1)
    w.fid(1, name).time(10, 1, 5)
    for _ in range(50):
        for line in (2, 3):
            if calls:
                w.time(1, 1, line).leave(2, 3, 3, "main::leaf")
            w.time(3, 1, 1)
        if calls:
            w.leave(1, 8, 2, "main::mid")
        w.time(2, 1, 5)
    if calls:
        w.leave(1, 4, 4, "main::CORE:sort").leave(2, 2, 2, "main::again")
        w.leave(1, 5, 3, "main::again")
    w.time(9, 1, 5).pid_end(pid)
    w.sub(1, "main::leaf", 1, 1).sub(1, "main::mid", 2, 4).sub(1, "main::again", 6, 6)
    w.callers(1, 2, "main::mid", "main::leaf", 50, 150, 150)
    w.callers(1, 3, "main::mid", "main::leaf", 50, 150, 150)
    w.callers(1, 5, "main::NULL", "main::mid", 50, 400, 100)
    w.callers(1, 5, "main::NULL", "main::CORE:sort", 1, 4, 4)
    w.callers(1, 5, "main::NULL", "main::again", 1, 5, 3)
    return w.callers(1, 6, "main::again", "main::again", 1, 2, 2, 2, 1)


def calls(data):
    """(caller, callee, line) -> calls, of a JSON export."""
    profile = json.loads(data)
    name = [sub["name"] for sub in profile["subs"]]
    return {(name[arc["caller"]], name[arc["callee"]], arc["line"]): arc["count"]
            for arc in profile["calls"]}


@pytest.mark.parametrize("recorded", [0, 1, 2])
@pytest.mark.parametrize("option", ["--merge-evals", "--no-builtins", "--hide=CORE:sort",
                                    "--collapse-recursion", "--hide=again", "--max-depth=40"])
def test_call_lines_that_a_selection_does_not_touch_stay(tmp_path, recorded, option):
    file = two_call_lines(recorded).save(tmp_path / "m.out")
    before = calls(good("--json", "-q", file))
    after = calls(good("--json", "-q", option, file))
    if recorded < 2:
        assert before.items() >= LEAF_LINES.items()
    assert {key: n for key, n in after.items() if key[1] == "main::leaf"} == \
           {key: n for key, n in before.items() if key[1] == "main::leaf"}


@pytest.mark.parametrize("recorded", [0, 1])
def test_a_selection_that_changes_nothing_changes_nothing(tmp_path, recorded):
    file = two_call_lines(recorded).save(tmp_path / "m.out")
    assert good("--json", "-q", "--merge-evals", file) == good("--json", "-q", file)


@pytest.mark.parametrize("recorded", [0, 1])
def test_each_process_keeps_its_recorded_call_lines(tmp_path, recorded):
    """One process, and two of which each has its own input."""
    one = two_call_lines(recorded).save(tmp_path / "one.out")
    two = two_call_lines(recorded, 8).save(tmp_path / "two.out")
    whole = good("--json", "-q", one)
    run("--json", "-q", "--per-process", "-o", tmp_path / "alone.json", one)
    assert (tmp_path / "alone.7.json").read_bytes() == whole
    run("--json", "-q", "--per-process", "-o", tmp_path / "both.json", one, two)
    for pid in (7, 8):
        assert calls((tmp_path / f"both.{pid}.json").read_bytes()) == calls(whole)


def test_merged_evals_keep_their_call_lines(tmp_path):
    """Two evals of one line, each calling leaf() from two of its lines."""
    w = Writer(options={"calls": 1}).pid_start(7, 1).fid(1, "/x/m.pl")
    for fid in (2, 3):
        w.fid(fid, f"(eval {fid})[/x/m.pl:5]", eval_fid=1, eval_line=5).time(5, fid, 1)
        for line in (1, 2):
            w.leave(2, 3, 3, "main::leaf").time(3, fid, line)
        w.leave(1, 8, 2, f"main::__ANON__[(eval {fid})[/x/m.pl:5]:1]")
    w.time(9, 1, 5).pid_end(7).sub(1, "main::leaf", 1, 1)
    for fid in (2, 3):
        name = f"main::__ANON__[(eval {fid})[/x/m.pl:5]:1]"
        w.sub(fid, name, 1, 2).callers(1, 5, "main::NULL", name, 1, 8, 2)
        for line in (1, 2):
            w.callers(fid, line, name, "main::leaf", 1, 3, 3)
    got = calls(good("--json", "-q", "--merge-evals", w.save(tmp_path / "e.out")))
    name = "main::__ANON__[(eval 0)[/x/m.pl:5]:1]"
    assert got == {("main::RUNTIME", name, 5): 2, (name, "main::leaf", 1): 2,
                   (name, "main::leaf", 2): 2}


def test_calls_of_dropped_stacks_go_with_them(tmp_path):
    """pprof counts a call as the sample whose stack ends with it: --focus=leaf leaves only those of
    leaf() and what it calls."""
    w = Writer(options={"calls": 2}).pid_start(7, 1).fid(1, "/x/m.pl").time(1, 1, 9)
    for line in (2, 3, 3):
        w.entry(1, 9).time(1, 1, 9).entry(1, line).time(2, 1, line).leave(2, 4, 4, "main::leaf")
        w.time(4, 1, 1).leave(1, 9, 5, "main::mid")
    w.time(3, 1, 9).pid_end(7).sub(1, "main::leaf", 1, 1).sub(1, "main::mid", 2, 4)
    w.callers(1, 2, "main::mid", "main::leaf", 1, 4, 4)
    w.callers(1, 3, "main::mid", "main::leaf", 2, 8, 8)
    file = w.callers(1, 9, "main::NULL", "main::mid", 3, 27, 15).save(tmp_path / "f.out")
    lines = good("--collapsed", "--weight=calls", "--focus=^main::leaf$", "-q", file)
    assert lines == b"main::RUNTIME;main::mid;main::leaf 3\n"
    profile = json.loads(good("--json", "--focus=^main::leaf$", "-q", file))
    assert {sub["name"]: sub["calls"] for sub in profile["subs"]
            if sub["inclusive"]} == {"main::RUNTIME": 0, "main::mid": 0, "main::leaf": 3}
    assert b", 3 calls" in good("--top", "--focus=^main::leaf$", file)
