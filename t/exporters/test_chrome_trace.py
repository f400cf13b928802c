# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""chrome-trace: the order of calls and what tracks say; that times and calls are right is for t/viewers."""

import json

import pytest

import exports


@pytest.fixture
def events(profile):
    return lambda name, *arguments: json.loads(exports.exported("--chrome-trace", *arguments, profile(name)))["traceEvents"]


def test_order_of_time(events):
    calls = [event for event in events("mixed-calls2") if event["ph"] == "X"]
    names, starts = [event["name"] for event in calls], [event["ts"] for event in calls]
    positions = [names.index(name) for name in ("main::RUNTIME", "main::BEGIN@4", "main::BEGIN@5", "main::caller_one",
                                                "main::caller_three", "List::Util::first", "main::CORE:sort")]
    assert positions == sorted(positions) and starts == sorted(starts)


def test_without_call_events_the_tree_is_laid_out_and_says_so(events, totals):
    shown = events("mixed-calls0")
    want = totals("mixed-calls0")
    whole, = [event["dur"] for event in shown if event["name"] == "main::RUNTIME"]
    assert round(whole * want.ticks_per_sec / 1000000) == want.stmt_ticks
    track, = [event["args"]["name"] for event in shown if event["ph"] == "M"]
    assert "positions are not times" in track


def test_tracks_carry_pid_and_script(events, totals):
    tracks = {event["pid"]: event["args"]["name"] for event in events("forks-merged")
              if event["ph"] == "M"}
    pids = [pid for pid, *_ in totals("forks-merged").processes]
    assert sorted(tracks) == sorted(pids)
    assert all("forks.pl" in name and str(pid) in name for pid, name in tracks.items())


def test_a_child_starts_when_it_was_forked(events, totals):
    want = totals("forks-merged")
    first = min(start for _, _, start in want.processes)
    begin = {event["pid"]: event["ts"] for event in reversed(events("forks-merged"))
             if event["ph"] == "X"}
    for pid, _, start in want.processes:
        assert abs(float(begin[pid]) / 1e6 - (start - first)) < 2e-6, pid


def test_a_timeline_that_leaves_calls_out_says_so(events):
    shown = events("mixed-calls2", "--max-calls=20")
    track, = [event["args"]["name"] for event in shown if event["ph"] == "M"]
    assert "short calls (up to " in track and "are in their callers" in track
    assert sum(event["ph"] == "X" for event in shown) == 21
