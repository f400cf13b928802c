# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""chrome-trace: complete events that nest, whose lengths are the sub profiler's times."""

import collections
import json

import pytest

import exports


@pytest.fixture
def events(export_command, profile):
    return lambda name, *arguments: json.loads(exports.exported("--chrome-trace", *arguments, profile(name)))["traceEvents"]


def nested(events):
    """Own nanoseconds and calls by name; every event must lie within the one around it."""
    own, calls = collections.Counter(), collections.Counter()
    threads = collections.defaultdict(list)
    for event in events:
        if event["ph"] != "X":
            assert event["ph"] == "M"
            continue
        # as binary fractions, which is how viewers add
        end = float(event["ts"]) + float(event["dur"])
        start, end = float(event["ts"]) * 1000, end * 1000
        assert abs(start - round(start)) < 0.01 > abs(end - round(end)) and end >= start
        stack = threads[event["pid"], event["tid"]]
        while stack and stack[-1][1] <= start and not (start == end == stack[-1][1]):
            stack.pop()
        if stack:
            assert stack[-1][0] <= start and end <= stack[-1][1], event
            own[stack[-1][2]] -= round(end) - round(start)
        stack.append((start, end, event["name"]))
        own[event["name"]] += round(end) - round(start)
        calls[event["name"]] += 1
    return own, calls


@pytest.mark.parametrize("name", ["mixed-calls2", "mixed-calls1", "recurse", "evals", "requires",
                                  "forks-merged"])
def test_calls_and_total_time(events, totals, name):
    want = totals(name)
    own, calls = nested(events(name))
    if name != "forks-merged":      # a child's calls began before it did: subs claim more time
        assert sum(own.values()) == want.stmt_ticks * 1000000000 // want.ticks_per_sec
    for sub, value in want.subs.items():
        if sub != "main::RUNTIME" and not value.from_statements:
            assert calls[sub] == value.calls, sub


def test_order_of_time(events):
    names = [event["name"] for event in events("mixed-calls2") if event["ph"] == "X"]
    order = ["main::RUNTIME", "main::BEGIN@4", "main::BEGIN@5", "main::caller_one",
             "main::caller_three", "List::Util::first", "main::CORE:sort"]
    positions = [names.index(name) for name in order]
    assert positions == sorted(positions)
    starts = [event["ts"] for event in events("mixed-calls2") if event["ph"] == "X"]
    assert starts == sorted(starts)


def test_without_call_events_the_tree_is_laid_out_and_says_so(events, totals):
    shown = events("mixed-calls0")
    want = totals("mixed-calls0")
    own, _ = nested(shown)
    assert sum(own.values()) == want.stmt_ticks * 1000000000 // want.ticks_per_sec
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
