# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The Firefox Profiler's own code reads our firefox, chrome-trace and collapsed files and finds
the sub profiler's numbers in them."""

import collections
import json
import math

import pytest

import exports
import spans
import firefox
import recordings
from nytpwrite import Writer
from test_label_spans import PROGRAM as LABELLED
from test_memory_curve import GROWS

VIEWER = firefox
MARK = " [unreturned]"


@pytest.fixture
def session(profile, tmp_path):
    """session(name, *arguments) -> an open Session of that export."""
    def opened(name, *arguments, suffix=".json"):
        out = tmp_path / f"{name}{suffix}"
        exports.exported(*arguments, "-o", out, profile(name))
        return firefox.Session(out)
    return opened


def own_times(functions, per_unit):
    """Whole ticks by sub, marks taken off."""
    sums = collections.Counter()
    for name, (own, _) in functions.items():
        sums[name.removesuffix(MARK)] += own * per_unit
    return {name: round(ticks) for name, ticks in sums.items() if round(ticks)}


@pytest.mark.parametrize("name", ["mixed-calls2", "mixed-calls0"])
def test_self_times_of_the_totals(session, totals, name):
    """And in the first those by line: main::busy runs on one, where all its time is."""
    want = totals(name)
    with session(name, "--firefox", "--aggregate") as opened:
        (handle, _), = opened.threads()
        shown = own_times(opened.functions(handle), want.ticks_per_sec / 1000)
        lines = opened.lines("t-0", "main::busy") if name == "mixed-calls2" else {}
    assert shown == {sub: value.self for sub, value in want.subs.items() if value.self}
    if lines:
        assert round(lines[7] * want.ticks_per_sec / 1000) == want.subs["main::busy"].self


def test_times_of_the_timeline(session, totals):
    want = totals("mixed-calls2")
    with session("mixed-calls2", "--firefox") as opened:
        threads = opened.threads()
        assert len(threads) == 2 and "totals" in threads[1][1]
        assert str(want.processes[0][0]) in threads[0][1] and "mixed.pl" in threads[0][1]
        functions = opened.functions(threads[0][0])
    shown = own_times(functions, want.ticks_per_sec / 1000)
    assert shown == {sub: value.self for sub, value in want.subs.items() if value.self}
    for sub in ("main::RUNTIME", "main::caller_three", "main::busy", "main::lines"):
        assert round(functions[sub][1] * want.ticks_per_sec / 1000) == want.subs[sub].inclusive


def test_every_process_has_its_threads(session, totals):
    with session("forks-merged", "--firefox") as opened:
        names = [name for _, name in opened.threads()]
    for pid, _, _ in totals("forks-merged").processes:
        assert sum(f"(pid {pid})" in name for name in names) == 2, names


def test_hostile_names_are_read(session):
    with session("made-hostile-names", "--firefox", "--aggregate") as opened:
        functions = opened.functions("t-0")
    assert "main::new\nline" in functions and 'main::quote"d' in functions


@pytest.mark.parametrize("name", ["mixed-calls1", "recurse"])
def test_chrome_trace_has_every_call(session, totals, name):
    want = totals(name)
    with session(name, "--chrome-trace") as opened:
        counts = opened.marker_counts()
    assert {name: n for name, n in counts.items() if name in want.subs and "::" in name} == \
        {name: sub.calls for name, sub in want.subs.items() if sub.calls}


def test_labels_are_markers_around_their_calls(tmp_path):
    out = recordings.record(tmp_path, LABELLED)
    exports.exported("--firefox", "-o", tmp_path / "a.json", out)
    with firefox.Session(tmp_path / "a.json") as opened:
        kinds = json.loads(opened.ask("thread", "markers", "--json"))["byType"]
    found = {kind["markerName"]: kind["topMarkers"] for kind in kinds}
    assert sorted(marker["label"] for marker in found["request"]) == ["GET /1", "GET /2", "GET /3", "GET /4"]
    assert [marker["label"] for marker in found["sql"]] == ["select 1"] * 4
    wanted = sorted((round(start / 1e6, 6), round((end - start) / 1e6, 6)) for _, start, end in
                    spans.markers(out)["request"])
    assert sorted((round(marker["start"], 6), round(marker["duration"], 6)) for marker in found["request"]) == wanted


def test_memory_is_a_track(tmp_path):
    out = recordings.record(tmp_path, GROWS)
    exports.exported("--firefox", "-o", tmp_path / "a.json", out)
    with firefox.Session(tmp_path / "a.json") as opened:
        (counter,) = json.loads(opened.ask("counter", "list", "--json"))["counters"]
    assert (counter["unit"], counter["category"], counter["mainThreadHandle"]) == ("bytes", "Memory", "t-0")
    assert counter["graph"][-1] - counter["graph"][0] > 35e6 or max(counter["graph"]) > 35e6


def allocates(path):
    """The program 60 bytes; f 50,000 that stay and 800; g, which f calls, 9,000 and 700 that stay."""
    stream = Writer({"application": "/x/app.pl"}, {"calls": "2"}).pid_start(7, 1, 1000.0).fid(1, "/x/app.pl")
    stream.time(10, 1, 1).alloc(1, 60, 1)
    stream.entry(1, 1).alloc(2, 50000, 5, blocks=3).time(10, 1, 5).alloc(3, 800, 6).free(3)
    stream.entry(1, 6).time(5, 1, 8).alloc(4, 9000, 9).alloc(5, 700, 9).leave(2, 5, 5, "main::g")
    stream.free(4).time(10, 1, 9).leave(1, 20, 15, "main::f").time(10, 1, 1)
    return stream.sub(1, "main::f", 5, 7).sub(1, "main::g", 8, 9).pid_end(7, 2000.0).save(path)


@pytest.mark.parametrize("mode", [[], ["--aggregate"]])
def test_allocations_have_their_call_trees(tmp_path, mode):
    allocates(tmp_path / "a.out")
    exports.exported("-q", "--firefox", *mode, "-o", tmp_path / "a.json", tmp_path / "a.out")
    subs = json.loads(exports.exported("-q", "--json", tmp_path / "a.out"))["subs"]
    with firefox.Session(tmp_path / "a.json") as opened:
        thread = opened.threads()[-1][0]
        allocated, retained, freed, freed_at = (opened.functions(thread, "native-" + strategy) for strategy in (
            "allocations", "retained-allocations", "deallocations-memory", "deallocations-sites"))

    def of(measure):
        return {sub["name"]: (sub[measure], sub["inclusive_" + measure]) for sub in subs if sub["inclusive_" + measure]}
    assert allocated == of("alloc_space") == {"main::RUNTIME": (60, 60560), "main::f": (50800, 60500), "main::g": (9700, 9700)}
    assert retained == of("inuse_space") == {"main::RUNTIME": (60, 50760), "main::f": (50000, 50700), "main::g": (700, 700)}
    assert {name: tuple(map(abs, pair)) for name, pair in freed.items() if any(pair)} == {
        "main::RUNTIME": (0, 9800), "main::f": (800, 9800), "main::g": (9000, 9000)}
    assert not any(map(any, freed_at.values())), "where it is freed is not recorded"


def test_collapsed_stacks_are_read(session, totals):
    """It makes a sample of every unit, so the unit is a microsecond."""
    want = totals("mixed-calls2")
    with session("mixed-calls2", "--collapsed", suffix=".folded") as opened:
        functions = opened.functions("t-0")
    total = functions["main::RUNTIME"][1]
    assert total == math.floor(want.total * 1e6 / want.ticks_per_sec + 0.5)
    busy = want.subs["main::busy"].self * 1e6 / want.ticks_per_sec
    assert abs(functions["main::busy"][0] - busy) <= 2 + len(functions)
