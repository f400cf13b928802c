# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""speedscope itself reads our chrome-trace files and finds every sub's time."""

import collections
import json
import subprocess

import pytest

import bands
import readers
import recordings
import speedscope


@pytest.fixture(autouse=True)
def installed(export_command, recorder):
    lacking = speedscope.missing()
    if lacking:
        pytest.skip("not installed: " + ", ".join(lacking))


def without_instants(path):
    """Takes away what has no duration, in place. speedscope sorts events that begin together by
    length, the longest first, and would put an instant, drawn second, around what follows it."""
    trace = json.loads(path.read_text())
    trace["traceEvents"] = [event for event in trace["traceEvents"]
                            if event["ph"] != "X" or event["dur"] > 0]
    path.write_text(json.dumps(trace))


@pytest.mark.parametrize("name", ["mixed-calls2", "recurse", "made-hostile-names"])
def test_speedscope_finds_the_times(export_command, profile, totals, tmp_path, name):
    out = tmp_path / "profile.trace.json"
    subprocess.run([export_command, "--chrome-trace", "-o", out, profile(name)], check=True,
                   capture_output=True)
    without_instants(out)
    seen = speedscope.look(out)
    assert seen["title"].endswith(" - speedscope") and seen["alerts"] == [], seen
    shown = readers.read_speedscope(json.dumps(seen["exported"]).encode())
    want = totals(name)
    per_tick = 1e6 / want.ticks_per_sec            # speedscope keeps the file's microseconds
    own = collections.Counter({sub: round(time / per_tick)
                               for sub, time in shown.self.items()})
    subs = {sub: value for sub, value in want.subs.items()
            if not sub.startswith("_Z")}          # which it takes for C++ and renames
    assert {sub: own[sub] for sub in subs if own[sub]} == \
        {sub: value.self for sub, value in subs.items() if value.self}
    for sub, value in subs.items():
        if sub != "main::RUNTIME":
            # calls that touch each other become one there
            assert bool(value.inclusive) <= shown.calls[sub] <= value.calls, sub


def test_labels_are_a_track_of_their_own(export_command, tmp_path):
    program = "sub f { my $x = 0; $x += $_ for 1 .. 200 } DB::label(request => 'GET /'); f(); DB::label(request => undef); f()"
    recording = recordings.record(tmp_path, program)
    out = tmp_path / "profile.trace.json"
    subprocess.run([export_command, "--chrome-trace", "-o", out, recording], check=True, capture_output=True)
    without_instants(out)
    seen = speedscope.look(out)
    assert seen["alerts"] == [], seen
    frames = [frame["name"] for frame in seen["exported"]["shared"]["frames"]]
    tracks = {profile["name"]: profile for profile in seen["exported"]["profiles"]}
    of_labels, = [profile for name, profile in tracks.items() if "request" in name]
    (_, start, end), = bands.trace(recording)[1]["request"]
    events = [(event["type"], frames[event["frame"]], round(event["at"], 3)) for event in of_labels["events"]]
    assert events == [("O", "GET /", start / 1000), ("C", "GET /", end / 1000)], tracks.keys()
