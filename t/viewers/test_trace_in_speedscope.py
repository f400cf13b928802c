# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""speedscope itself reads our chrome-trace files and finds every sub's time."""

import collections
import json

import pytest

import exports
import spans
import readers
import recordings
import speedscope
from nytpwrite import Writer

VIEWER = speedscope


@pytest.mark.parametrize("name", ["mixed-calls2", "mixed-calls1", "recurse", "evals", "requires", "made-hostile-names"])
def test_speedscope_finds_the_times(profile, totals, tmp_path, name):
    out = tmp_path / "profile.trace.json"
    exports.exported("--chrome-trace", "-o", out, profile(name))
    seen = speedscope.opened(out)
    shown = readers.read_speedscope(json.dumps(seen["exported"]).encode())
    want = totals(name)
    per_tick = 1e6 / want.ticks_per_sec            # speedscope keeps the file's microseconds
    own = collections.Counter({sub: round(time / per_tick) for sub, time in shown.self.items()})
    subs = {sub: value for sub, value in want.subs.items()
            if not sub.startswith("_Z")}          # which it takes for C++ and renames
    assert {sub: own[sub] for sub in subs if own[sub]} == {sub: value.self for sub, value in subs.items() if value.self}
    for sub, value in subs.items():
        if sub != "main::RUNTIME":
            # calls that touch each other become one there
            assert bool(value.inclusive) <= shown.calls[sub] <= value.calls, sub


def test_labels_are_a_track_of_their_own(tmp_path):
    program = "sub f { my $x = 0; $x += $_ for 1 .. 200 } DB::label(request => 'GET /'); f(); DB::label(request => undef); f()"
    recording = recordings.record(tmp_path, program)
    out = tmp_path / "profile.trace.json"
    exports.exported("--chrome-trace", "-o", out, recording)
    seen = speedscope.opened(out)
    frames = [frame["name"] for frame in seen["exported"]["shared"]["frames"]]
    tracks = {profile["name"]: profile for profile in seen["exported"]["profiles"]}
    of_labels, = [profile for name, profile in tracks.items() if "request" in name]
    (_, start, end), = spans.trace(recording)[1]["request"]
    events = [(event["type"], frames[event["frame"]], round(event["at"], 3)) for event in of_labels["events"]]
    assert events == [("O", "GET /", start / 1000), ("C", "GET /", end / 1000)], tracks.keys()


def deep(path, depth=8000, short=500):
    """Two subs that call each other, and calls of no time at the end of their callers."""
    stream = Writer().pid_start(7, 1).fid(1, "/x/a.pl").time(10, 1, 3)
    for call in range(depth):
        stream.entry(1, 5 + call % 2).time(20, 1, 5 + call % 2)
    for call in range(depth)[::-1]:
        stream.leave(call + 1, 20 * (depth - call), 20, f"main::{'ab'[call % 2]}")
    stream.time(0, 1, 6).discount()
    for _ in range(short):
        stream.entry(1, 8).time(30, 1, 8).entry(1, 9).leave(2, 0, 0, "main::none").leave(1, 40, 40, "main::some")
        stream.time(40, 1, 9).discount()
    return stream.time(7, 1, 4).pid_end(7).save(path)


@pytest.mark.parametrize("format_", ["chrome-trace", "speedscope"])
def test_deep_calls_and_calls_of_no_time_load(tmp_path, format_):
    out = tmp_path / ("profile.trace.json" if format_ == "chrome-trace" else "profile.speedscope.json")
    exports.exported("-q", f"--{format_}", "--as-recorded", "-o", out, deep(tmp_path / "n.out"))
    seen = speedscope.opened(out)
    assert seen["errors"] == []
    line = seen["exported"]["profiles"][0]
    assert "deep calls are in one row" in line["name"]
    assert ("500 calls of no time left out" in line["name"]) == (format_ == "chrome-trace")
    shown = readers.read_speedscope(json.dumps({**seen["exported"], "profiles": [line]}).encode(), ours=False)
    own = {name: round(time * (1000 if format_ == "chrome-trace" else 1)) for name, time in shown.self.items() if time > 1e-3}
    assert own["main::a"] == own["main::b"] == 4000 * 2000
    assert own["main::some"] == 500 * 4000


@pytest.mark.parametrize("options", [[], ["--aggregate"]])
def test_a_call_that_begins_where_several_end_is_not_taken_for_one_of_them(tmp_path, options):
    """main::a { main::b { main::c } } ends, and with it all of its callees, where the next main::b begins."""
    stream = Writer().pid_start(7, 1).fid(1, "/x/a.pl")
    for _ in range(2):
        stream.entry(1, 1).entry(1, 2).entry(1, 3).time(40, 1, 4).leave(3, 40, 40, "main::c").leave(2, 40, 0, "main::b")
        stream.leave(1, 40, 0, "main::a").entry(1, 5).entry(1, 6).leave(2, 0, 0, "main::none").entry(1, 7).time(20, 1, 8)
        stream.leave(2, 20, 20, "main::d").leave(1, 20, 0, "main::b")
    out = tmp_path / "profile.trace.json"
    file = stream.time(5, 1, 9).pid_end(7).save(tmp_path / "n.out")
    exports.exported("-q", "--chrome-trace", "--as-recorded", *options, "-o", out, file)
    seen = speedscope.opened(out)
    assert seen["errors"] == []
    stacks = collections.Counter()
    line, = seen["exported"]["profiles"]
    open_, at = [], 0
    for event in line["events"]:
        stacks["/".join(open_)] += event["at"] - at
        at = event["at"]
        if event["type"] == "O":
            open_.append(seen["exported"]["shared"]["frames"][event["frame"]]["name"].replace("main::", ""))
        else:
            open_.pop()
    assert {stack: round(us, 3) for stack, us in stacks.items() if us > 1e-3} == \
        {"RUNTIME/a/b/c": 8, "RUNTIME/b/d": 4, "RUNTIME": 0.5}
