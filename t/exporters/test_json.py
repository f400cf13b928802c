# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""json: the totals of a profile, as Python reads them."""

import collections
import json
import subprocess

import pytest

PROFILES = ["mixed-calls2", "mixed-calls1", "mixed-calls0", "recurse", "evals", "names",
            "forks-merged", "requires", "jumps"]


@pytest.fixture
def document(export_command, profile):
    def read(name, *arguments):
        done = subprocess.run([export_command, "--json", *arguments, profile(name)], check=False,
                              capture_output=True)
        assert done.returncode in (0, 3), done.stderr
        return json.loads(done.stdout.decode("utf-8"))
    return read


def ns(want):
    return 1000000000 // want.ticks_per_sec


@pytest.mark.parametrize("name", PROFILES)
def test_subs_are_those_of_the_sub_profiler(document, totals, name):
    want = totals(name)
    shown = {}
    for sub in document(name)["subs"]:
        calls, own = shown.get(sub["name"], (0, 0))
        shown[sub["name"]] = (calls + sub["calls"], own + sub["exclusive"])
    for sub, value in want.subs.items():
        if sub == "main::RUNTIME" or value.from_statements:
            continue
        assert shown[sub] == (value.calls, value.self * ns(want)), sub


@pytest.mark.parametrize("name", PROFILES)
def test_lines_add_up_to_their_subs_and_subs_to_the_total(document, name):
    read = document(name)
    sums = collections.Counter()
    for line in read["lines"]:
        sums[line["sub"]] += line["exclusive"]
    assert [sums[i] for i in range(len(read["subs"]))] == \
        [sub["exclusive"] for sub in read["subs"]]
    assert sum(sub["exclusive"] for sub in read["subs"]) == read["total"]


@pytest.mark.parametrize("name", ["mixed-calls2", "requires", "evals"])
def test_statements_of_every_line(document, totals, name):
    want = totals(name)
    read = document(name)
    shown = collections.Counter()
    for line in read["lines"]:
        if line["statements"]:
            shown[read["files"][line["file"]]["name"], line["line"]] += line["statements"]
    assert shown == {place: cell.count for place, cell in want.lines.items() if cell.count}


def test_calls_name_caller_callee_and_place(document, totals):
    read = document("mixed-calls2")
    shown = {(read["subs"][call["caller"]]["name"], read["subs"][call["callee"]]["name"],
              call["line"]): call["count"] for call in read["calls"]}
    want = totals("mixed-calls2")
    wanted = {(caller, callee, line): arc[0]
              for (caller, callee, _, line), arc in want.arcs.items() if arc[0]}
    assert shown == wanted


def test_the_unit_is_the_users(document):
    in_ns, in_us = document("mixed-calls2"), document("mixed-calls2", "--unit=us")
    assert (in_ns["unit"], in_us["unit"]) == ("nanoseconds", "microseconds")
    assert abs(in_us["total"] - in_ns["total"] / 1000) <= 1


def test_what_the_recording_says_of_itself(document, totals):
    read, want = document("forks-merged"), totals("forks-merged")
    assert [process["pid"] for process in read["processes"]] == [pid for pid, *_ in want.processes]
    assert dict(map(tuple, read["attributes"]))["ticks_per_sec"] == str(want.ticks_per_sec)
    assert read["partial"] is False


def test_a_cut_recording_says_where(document):
    read = document("cut-deflated")
    assert read["partial"] is True
    assert read["inputs"][0]["error"] and read["inputs"][0]["error_offset"] > 0


def test_hostile_names_come_back_whole(document):
    names = {sub["name"] for sub in document("made-hostile-names")["subs"]}
    assert {"main::nul\0byte", "main::new\nline", "main::semi;colon", 'main::quote"d'} <= names
