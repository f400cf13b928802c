# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Time lines of recordings with frames that never returned, of several inputs of different kinds,
and of more calls than a time line holds: read back as the viewers do, and compared with the
totals of the same profile."""

import collections
import json
import random

import pytest

import readers
from command import good, run
from nytpwrite import Writer


def time_lines(data):
    """(title, self ticks by name, calls by name) of each time line of a speedscope file."""
    document = json.loads(data)
    for profile in document["profiles"]:
        if profile["type"] == "evented":
            shown = readers.Export()
            readers.add_evented(shown, profile, document["shared"]["frames"])
            yield profile["name"], +shown.self, shown.calls


def self_ticks(data):
    """name -> exclusive ticks, by collapsed stacks, with unreturned frames as speedscope names
    them."""
    out = collections.Counter()
    for line in data.decode().splitlines():
        stack, value = line.rsplit(" ", 1)
        out[stack.split(";")[-1].replace("_[unreturned]", " [unreturned]")] += int(value)
    return out


def open_at_the_end():
    """calls=1: top() returned after three calls of work(); then a frame that never did called work()
    once more."""
    w = Writer(options={"calls": 1}).pid_start(7, 1).fid(1, "/x/a.pl")
    for _ in range(3):
        w.time(10, 1, 3).leave(2, 10, 10, "main::work").time(5, 1, 5)
    w.leave(1, 45, 15, "main::top").time(10, 1, 9)
    return w.time(10, 1, 3).leave(2, 10, 10, "main::work").time(5, 1, 5)


def two_open_levels():
    """calls=1: calls of work() below two frames that never returned, of which the outer one also
    called middle()."""
    w = Writer(options={"calls": 1}).pid_start(7, 1).fid(1, "/x/a.pl")
    w.time(10, 1, 3).leave(3, 10, 10, "main::work").time(5, 1, 5).leave(2, 20, 10, "main::middle")
    w.time(10, 1, 3).leave(3, 10, 10, "main::work")
    for name, first, last in (("top", 20, 26), ("middle", 5, 6), ("work", 3, 3)):
        w.sub(1, "main::" + name, first, last)
    w.callers(1, 22, "main::top", "main::middle", 1, 20, 10)
    w.callers(1, 5, "main::middle", "main::work", 2, 20, 20)
    return w.time(7, 1, 22)


def entered_late():
    """calls=2: work() took longer than its statements, so that stays(), which never returned, seems
    to begin only 5 ticks before the end."""
    w = Writer(options={"calls": 2}).pid_start(7, 1).fid(1, "/x/a.pl").time(50, 1, 9)
    w.entry(1, 9).time(50, 1, 3).leave(1, 100, 100, "main::work").time(20, 1, 3)
    return w.entry(1, 10).time(5, 1, 10).time(30, 1, 7).sub(1, "main::work", 3, 3).sub(1, "main::stays", 7, 8)


@pytest.mark.parametrize("stream, n_calls", [(open_at_the_end, 4), (two_open_levels, 2), (entered_late, 1)])
def test_calls_of_frames_that_never_returned_are_theirs(tmp_path, stream, n_calls):
    file = stream().save(tmp_path / "open.out")
    done = run("--speedscope", "--unit=ticks", "-q", file)
    assert done.returncode == 3  # it ends early, by intention
    (name, own, calls), = time_lines(done.stdout)
    assert "short calls" not in name
    assert own == self_ticks(run("--collapsed", "--unit=ticks", "-q", file).stdout)
    assert calls["main::work"] == n_calls


def calls_of(lengths, calls=2, pid=7, **more):
    """One call each of main::f, of that many ticks."""
    w = Writer(options={"calls": calls}, **more).pid_start(pid, 1).fid(1, "/x/a.pl").time(1, 1, 9)
    for ticks in lengths:
        if calls == 2:
            w.entry(1, 9)
        w.time(ticks, 1, 9)
        if calls:
            w.leave(1, ticks, ticks, "main::f")
        w.time(0, 1, 1).time(2, 1, 9)
    w.callers(1, 9, "main::NULL", "main::f", len(lengths), sum(lengths), sum(lengths))
    return w.time(3, 1, 9).pid_end(pid).sub(1, "main::f", 1, 1)


@pytest.mark.parametrize("lengths, most, remark", [
    ([100] * 250, 249, "short calls (up to 10 \u00b5s)"),
    ([100] * 250, 250, None),
    (list(range(1, 251)), 10, "short calls (up to 24 \u00b5s)"),
    (list(range(250, 0, -1)), 249, "short calls (up to 0.1 \u00b5s)"),
    ([0] * 200 + [7] + [0] * 200, 3, "short calls (up to 0 \u00b5s)"),
])
def test_a_time_line_is_filled_with_the_longest_calls(tmp_path, lengths, most, remark):
    file = calls_of(lengths).save(tmp_path / "many.out")
    (name, own, calls), = time_lines(good("--speedscope", "--unit=ticks", f"--max-calls={most}",
                                          file))
    assert calls["main::f"] == min(most, len(lengths))
    assert own["main::f"] == sum(sorted(lengths)[-most:])
    assert (remark in name) if remark else ("short" not in name)


def test_the_budget_is_that_of_all_inputs(tmp_path):
    files = [calls_of(range(1 + n, 200, 5), pid=7 + n).save(tmp_path / f"{n}.out")
             for n in range(5)]
    lines = list(time_lines(good("--speedscope", "--unit=ticks", "--max-calls=100", *files)))
    assert len(lines) == 5
    assert sum(calls["main::f"] for _, _, calls in lines) == 100
    assert sum(own["main::f"] for _, own, _ in lines) == sum(range(100, 200))


def test_speedscope_opens_on_what_ranks_right(tmp_path):
    """The totals, where a time line leaves calls out; else the first time line."""
    file = calls_of([5, 6, 7]).save(tmp_path / "a.out")
    whole = json.loads(good("--speedscope", file))
    assert whole["profiles"][whole["activeProfileIndex"]]["type"] == "evented"
    cut = json.loads(good("--speedscope", "--max-calls=2", file))
    assert cut["profiles"][cut["activeProfileIndex"]]["type"] == "sampled"
    two = json.loads(good("--speedscope", "--max-calls=2", file, file))
    assert len(two["profiles"]) == 3
    assert two["profiles"][two["activeProfileIndex"]]["type"] == "sampled"


def test_each_input_is_shown_as_what_it_is(tmp_path):
    """One recording without call events beside one that has them."""
    without = calls_of([5, 6], calls=0, pid=6).save(tmp_path / "a0.out")
    entries = calls_of([5, 6], calls=2, pid=7).save(tmp_path / "a2.out")
    done = run("--chrome-trace", without, entries)
    events = json.loads(done.stdout)["traceEvents"]
    tracks = {event["pid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    assert "positions are not times" in tracks[6] and "positions" not in tracks[7]
    assert {event["pid"] for event in events if event["name"] == "main::f"} == {6, 7}
    message, = done.stderr.decode().splitlines()
    assert "a0.out: recorded with NYTPROF option calls=0" in message
    document = json.loads(run("--speedscope", without, entries).stdout)
    assert [p["type"] for p in document["profiles"]] == ["evented", "sampled"]
    assert "(pid 7)" in document["profiles"][0]["name"]
    threads = json.loads(run("--firefox", without, entries).stdout)["threads"]
    assert [(t["pid"], "totals" in t["name"]) for t in threads] == [
        ("6", True), ("7", False), ("7", True)]
    parts = run("--callgrind", without, entries).stdout.decode().split("version: 1\n")[1:]
    assert ["desc: Estimated" in part for part in parts] == [True, False]


def test_a_lack_of_several_inputs_is_said_once(tmp_path):
    files = [calls_of([5], calls=0, pid=n).save(tmp_path / f"{n}.out") for n in (4, 5, 6)]
    message, = run("--collapsed", *files).stderr.decode().splitlines()
    assert "4.out and 2 more: recorded with NYTPROF option calls=0" in message


def calls_of_a_trace(*arguments):
    return [event for event in json.loads(good("--chrome-trace", *arguments))["traceEvents"] if event["ph"] == "X"]


def test_no_call_of_a_trace_outlasts_its_caller(tmp_path):
    """Readers add start and length as doubles; calls that end together are where it goes wrong. For
    the first there is no double that makes the outer one's end."""
    rng = random.Random(1)
    w = Writer().pid_start(7, 1).fid(1, "/x/a.pl").time(1803, 1, 3).entry(1, 4).time(5109, 1, 4)
    w.entry(1, 5).time(144, 1, 5).leave(2, 144, 144, "main::f2").leave(1, 5253, 5109, "main::f1")
    for _ in range(300):
        w.time(rng.randint(0, 5000), 1, 1)
        depth, own = rng.randint(1, 6), []
        for _ in range(depth):
            w.entry(1, 2)
            own.append(rng.randint(0, 3000))
            w.time(own[-1], 1, 2)
        for level in range(depth, 0, -1):
            w.leave(level, sum(own[level - 1:]), own[level - 1], f"main::f{level}")
    file = w.time(3, 1, 1).pid_end(7).save(tmp_path / "t.out")
    for options in ([], ["--aggregate"]):
        calls = calls_of_a_trace(*options, file)
        open_ends, exact = [], 0
        for event in calls:
            level = 0 if "RUNTIME" in event["name"] else int(event["name"][7:])
            del open_ends[level:]
            end = event["ts"] + event["dur"]
            assert all(end <= outer for outer in open_ends), event
            assert event["dur"] >= 0 and (not open_ends or event["ts"] <= open_ends[-1])
            exact += abs(end * 10 - round(end * 10)) < 1e-6
            open_ends.append(end)
        assert len(calls) > 6 and exact == len(calls)


@pytest.mark.parametrize("before, own, below", [(1803, 5109, 144), (2427, 5869, 173), (879, 3352, 512)])
def test_a_call_without_a_fitting_length_ends_no_later_than_its_caller(tmp_path, before, own, below):
    w = Writer().pid_start(7, 1).fid(1, "/x/a.pl").time(before, 1, 3).entry(1, 4)
    w.time(own, 1, 4).entry(1, 5).time(below, 1, 5).leave(2, below, below, "main::inner")
    w.leave(1, own + below, own, "main::outer").time(10, 1, 6).pid_end(7)
    ends = {event["name"]: event["ts"] + event["dur"] for event in calls_of_a_trace(w.save(tmp_path / "t.out"))}
    assert ends["main::inner"] <= ends["main::outer"] <= ends["main::RUNTIME"]


def test_a_thread_of_firefox_names_its_own_files_only(tmp_path):
    """A thousand workers of a web application would repeat the names of all its modules."""
    files = []
    for pid in (1, 2, 3):
        stream = Writer().pid_start(pid).fid(1, "/x/a.pl").fid(1 + pid, f"/x/worker{pid}.pm")
        stream.time(10, 1, 1).entry(1, 1).time(5, 1 + pid, 2).leave(1, 5, 5, f"main::work{pid}")
        stream.time(1, 1, 1).sub(1 + pid, f"main::work{pid}", 1, 3)
        stream.callers(1, 1, "main::RUNTIME", f"main::work{pid}", 1, 5, 5)
        files.append(stream.pid_end(pid).save(tmp_path / f"{pid}"))
    threads = json.loads(run("--firefox", *files).stdout)["threads"]
    assert len(threads) == 6
    for thread in threads:
        strings, functions = thread["stringArray"], thread["funcTable"]
        own = f"worker{thread['pid']}"
        files = [strings[i] for i in functions["fileName"] if i is not None]
        assert f"/x/{own}.pm" in files
        assert set(strings) == {strings[i] for i in functions["name"]} | set(files)
        assert not [text for text in strings if "worker" in text and own not in text]
        assert not [text for text in strings if "work" in text and thread["pid"] not in text]


def test_a_process_too_far_away_for_the_axis_is_drawn_at_its_start_and_says_so(tmp_path):
    files = []
    for pid, start in ((1, 1.7e9), (2, 1.7e9 + 100 * 86400), (3, 1.7e9 + 86.4), (4, 0)):     # 0: nobody knows
        stream = Writer().pid_start(pid, time=start).fid(1, "/x/a.pl").time(10, 1, 1)
        files.append(stream.call("main::work", 5, 2).time(1, 1, 1).pid_end(pid).save(tmp_path / f"{pid}"))
    remark = ", drawn at 0: it began more than 92 days after the first"
    events = json.loads(good("-q", "--chrome-trace", *files))["traceEvents"]
    starts, said = {}, {}
    for event in events:
        if event["ph"] == "M" and event["name"] == "process_name":
            said[event["pid"]] = event["args"]["name"]
        elif "ts" in event:
            starts[event["pid"]] = min(event["ts"], starts.get(event["pid"], event["ts"]))
    assert starts == {1: 0, 2: 0, 3: 86400000, 4: 0}
    assert [pid for pid, text in said.items() if text.endswith(remark)] == [2]
    for thread in json.loads(good("-q", "--firefox", *files))["threads"]:
        assert thread["name"].endswith(remark) == (thread["pid"] == "2")


def test_the_axis_of_firefox_reaches_to_the_end_of_what_ran_last(tmp_path):
    """Its viewer ends the axis where the last sample begins."""
    stream = Writer().pid_start(7).fid(1, "/x/a.pl").time(10, 1, 1).call("main::sleep_long", 900, 2).pid_end(7)
    timeline, totals = json.loads(good("-q", "--firefox", stream.save(tmp_path / "out")))["threads"]
    times, weights = timeline["samples"]["time"], timeline["samples"]["weight"]
    assert weights[-1] == 0 and weights[-2] > 0 and times[-1] == times[-2] + weights[-2] == sum(weights)
    assert timeline["samples"]["stack"][-1] == timeline["samples"]["stack"][-2]
    assert timeline["samples"]["length"] == len(times) and 0 not in totals["samples"]["weight"]
