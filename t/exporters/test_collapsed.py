# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""collapsed: options and names. That the numbers are right is in test_totals.py."""

import collections
import itertools
import json

import pytest

import exports
from instructions import instructions
from nytpwrite import Writer


def stacks_in(file, *arguments):
    """[(frames, weight)], in order."""
    lines = exports.exported("--collapsed", "-q", *arguments, file).decode().splitlines()
    return [(stack.split(";"), int(weight)) for stack, _, weight in (line.rpartition(" ") for line in lines)]


@pytest.fixture
def stacks(profile):
    return lambda name, *arguments: stacks_in(profile(name), *arguments)


def total(stacks):
    return sum(weight for _, weight in stacks)


def own(stacks):
    sums = collections.Counter()
    for frames, weight in stacks:
        sums[frames[-1]] += weight
    return sums


@pytest.mark.parametrize("unit, per_sec", [("ns", 10**9), ("us", 10**6), ("ms", 10**3)])
def test_every_unit_keeps_the_total(stacks, totals, unit, per_sec):
    want = totals("perltidy")
    exact = want.stmt_ticks * per_sec / want.ticks_per_sec
    assert want.overclaimed or abs(total(stacks("perltidy", f"--unit={unit}")) - exact) <= 0.5
    if unit == "us":
        assert stacks("perltidy") == stacks("perltidy", "--unit=us")


def deep(path, names, levels=3000, pid=7):
    """main -> names[0] -> names[1] -> names[0] ..., with a builtin called at every level."""
    w = Writer().pid_start(pid).fid(1, "/x/a.pl").time(10, 1, 1)
    for level in range(levels):
        w.entry(1, 9).time(10, 1, 3).entry(1, 9).leave(level + 2, 5, 5, "main::CORE:print")
    for level in range(levels, 0, -1):
        w.leave(level, 10 + 15 * (levels - level), 10, names[level % len(names)])
    for line, name in enumerate(names):
        w.sub(1, name, 3, 3)
    return w.pid_end(pid).save(path)


@pytest.mark.parametrize("names, depth", [(["m::ping", "m::pong"], 300), (["m::self"], 3)], ids=["mutual", "of one sub"])
def test_a_bounded_recursion_counts_each_context_on_a_frame_of_its_own_sub(tmp_path, names, depth):
    file = deep(tmp_path / "d", names)
    calls = {"main::CORE:print": 3000, **{name: 3000 // len(names) for name in names}}
    for arguments, most in ([], 300), (["--collapse-recursion"], depth):
        shown = stacks_in(file, "--weight=calls", *arguments)
        assert {name: n for name, n in own(shown).items() if name != "main::RUNTIME"} == calls
        assert most * 0.8 < max(len(frames) for frames, _ in shown) <= most


def test_a_process_is_bounded_by_itself_as_among_others(tmp_path):
    def totals(*files):
        text = exports.exported("-q", "--firefox", *files)
        return [(thread["stackTable"], thread["samples"]["weight"]) for thread in json.loads(text)["threads"] if "totals" in thread["name"]]
    files = [deep(tmp_path / "shallow", ["m::s"], 250, 7), deep(tmp_path / "deep", ["m::d"], 3000, 8)]
    assert [len(weights) for _, weights in totals(*files)] == [502, 511]
    assert totals(*files) == totals(files[0]) + totals(files[1])


def test_frames_with_lines(stacks, totals):
    """Every frame but the last has the line of the call, the last that of its statements."""
    plain, shown = stacks("mixed-calls2", "--unit=ns"), stacks("mixed-calls2", "--lines", "--unit=ns")
    assert total(plain) == total(shown)
    assert ["main::RUNTIME:36", "main::caller_three:10", "main::busy:7"] in [frames for frames, _ in shown]


@pytest.mark.parametrize("name", ["exec", "unreturned"])
def test_frames_that_never_returned_are_kept_and_marked(stacks, name):
    assert any(frame.endswith("_[unreturned]") for frames, _ in stacks(name, "--unit=ns") for frame in frames)


def killed_in_a_callback(tmp_path, *comments):
    """Killed while an event loop, an xsub called on line 36 of a sub, calls back a second time."""
    w = Writer(options={"calls": 2}).pid_start(1).fid(1, "/x/EV.pm")
    w.sub(1, "EV::start", 30, 40).sub(1, "main::back", 1, 5)
    w.entry(1, 10).time(10, 1, 10).entry(1, 36)
    w.entry(1, 36).time(20, 1, 36).time(30, 1, 2).leave(3, 40, 40, "main::back").time(5, 1, 3)
    w.entry(1, 36).discount().time(7, 1, 36).time(50, 1, 2)
    for comment in comments:
        w.comment(comment)
    w.time(60, 1, 3)
    return w.save(tmp_path / "killed")


def stacks_of(path):
    return {";".join(frames) for frames, _ in stacks_in(path, "--unit=ns")}


def test_an_open_xsub_is_not_named_after_its_caller(tmp_path):
    shown = stacks_of(killed_in_a_callback(tmp_path))
    assert "main::RUNTIME;EV::start_[unreturned];(call_at_EV.pm:36)_[unreturned];main::back_[unreturned]" in shown
    assert not any(stack.count("EV::start") > 1 for stack in shown)


def test_names_that_the_recorder_told_before_it_was_killed(tmp_path):
    shown = stacks_of(killed_in_a_callback(tmp_path, "nytp-open 3 perl main::other", "nytp-open 2 xsub EV::run"))
    assert "main::RUNTIME;EV::start_[unreturned];EV::run_[unreturned];main::other_[unreturned]" in shown


@pytest.mark.parametrize("entries, depths", [(1, range(2, 10000)), (6000, [1] * 6000)], ids=["deeper", "outermost"])
def test_names_of_open_calls_do_not_walk_over_all_open_calls(tmp_path, entries, depths):
    """At ever larger depths a frame was made for each, below all others; at the outermost one all others were looked at."""
    def work(name, depths):
        w = Writer(options={"calls": 2}).pid_start(1).fid(1, "/x/a.pl").time(10, 1, 1)
        for _ in range(entries):
            w.entry(1, 1)
        w.time(5, 1, 2)
        for depth in depths:
            w.comment(f"nytp-open {depth} perl main::f")
        file = w.time(7, 1, 3).save(tmp_path / name)
        return instructions("--collapsed", "-o", tmp_path / "out", file), stacks_of(file)
    (told, shown), (one, of_one) = work("many", depths), work("one", [depths[-1]])
    assert shown == of_one and any("f_[unreturned]" in stack for stack in shown)
    assert told < one + 40_000_000, (one, told)    # three instructions for each name and call are 108 million


@pytest.mark.parametrize("comment", [
    "nytp-open", "nytp-open ", "nytp-open 0 xsub a::b", "nytp-open x xsub a::b",
    "nytp-open 99999999999 xsub a::b", "nytp-open 999999999 xsub a::b", "nytp-open 2 xsub",
    "nytp-open 2 xsub ", "nytp-opened 2 xsub a::b"])
def test_comments_that_tell_no_open_call_change_nothing(tmp_path, comment):
    plain = stacks_of(killed_in_a_callback(tmp_path))
    assert stacks_of(killed_in_a_callback(tmp_path, comment)) == plain


def hand_written_lines(tmp_path, stream):
    return exports.exported("--collapsed", "--lines", "--unit=ticks", "-q", stream.save(tmp_path / "hand.out")).decode().splitlines()


def test_lines_of_string_evals_keep_the_eval_and_lose_the_folders(tmp_path):
    w = Writer().pid_start(7, 1).fid(1, "/d/a.pl").time(1, 1, 1)
    w.fid(2, "(eval 1)[/d/a.pl:17]", 1, 17).fid(3, "(eval 2)[/d/a.pl:17]", 1, 17)
    w.fid(4, "(eval 3)[(eval 2)[/d/a.pl:17]:1]", 3, 1)
    for fid in (2, 3, 4):
        w.time(fid, fid, 1)
    assert hand_written_lines(tmp_path, w.time(1, 1, 18).pid_end(7)) == [
        "main::RUNTIME:(eval_1)[a.pl:17]:1 2", "main::RUNTIME:(eval_2)[a.pl:17]:1 3",
        "main::RUNTIME:(eval_3)[(eval_2)[a.pl:17]:1]:1 4", "main::RUNTIME:1 1",
        "main::RUNTIME:18 1"]


def test_lines_that_read_the_same_are_one(tmp_path):
    """Two files of one name in different folders."""
    w = Writer({"application": "/d/a.pl"}).pid_start(7, 1).fid(1, "/d/a.pl")
    w.fid(2, "/d1/X.pm").fid(3, "/d2/X.pm").time(5, 1, 1)
    for fid in (2, 3):
        w.time(fid, fid, 1).time(10 * fid, fid, 2).entry(fid, 2).time(1, fid, 2).time(7, 1, 5)
        w.leave(1, 7, 7, "main::f").time(1, 1, 3)
    lines = hand_written_lines(tmp_path, w.pid_end(7).sub(1, "main::f", 5, 5))
    stacks = [line.rpartition(" ")[0] for line in lines]
    assert len(set(stacks)) == len(stacks)
    assert "main::RUNTIME:X.pm:2;main::f:5" in stacks
    assert sum(stack == "main::RUNTIME:X.pm:1" for stack in stacks) == 1


def test_many_names_that_become_one_text_do_not_take_longer(tmp_path):
    """Each looked for the next free number from the first one on: a hundred times as long."""
    def recorded(name, blanks):
        stream = Writer().pid_start(7).fid(1, "/x/a.pl")
        for letters in itertools.product(blanks, repeat=13):
            stream.entry(1, 1).time(100, 1, 2).leave(1, 100, 100, "main::" + "".join(letters))
        return stream.pid_end(7).save(tmp_path / name)
    many, one = (instructions("--collapsed", "-o", tmp_path / "o", recorded("app.out", blanks)) for blanks in ("ab", " \t"))
    assert one < 2 * many, (many, one)
    frames = [line.split(" ")[0].split(";")[1] for line in (tmp_path / "o").read_text().splitlines() if ";" in line]
    assert sorted(frames) == sorted(["main::_____________"] + [f"main::_____________~{n}" for n in range(2, 2**13 + 1)])
