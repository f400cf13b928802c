# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""json and csv: the rows of a profile, as Python reads them."""

import collections
import csv
import io
import json
from decimal import Decimal

import pytest

import exports
import profiles

PROFILES = ["mixed-calls2", "mixed-calls1", "mixed-calls0", "recurse", "evals", "names",
            "forks-merged", "requires", "jumps"]
pytestmark = pytest.mark.usefixtures("recorder")


def document(name, *arguments):
    return json.loads(exports.exported("--json", *arguments, profiles.profile(name)), parse_float=Decimal)


def rows(name, *arguments):
    text = exports.exported("--csv", *arguments, profiles.profile(name)).decode("utf-8")
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def subs(form, name):
    """(name, calls, own and inclusive nanoseconds) of each row."""
    if form == "json":
        return [(sub["name"], sub["calls"], sub["exclusive"], sub["inclusive"]) for sub in document(name)["subs"]]
    return [(row["sub"], *(int(row[key]) for key in ("calls", "exclusive_ns", "inclusive_ns"))) for row in rows(name)]


@pytest.mark.parametrize("form", ["json", "csv"])
@pytest.mark.parametrize("name", PROFILES)
def test_subs_are_those_of_the_sub_profiler(totals, form, name):
    want = totals(name)
    ns = 1000000000 // want.ticks_per_sec
    shown = collections.defaultdict(lambda: [0, 0, 0])
    for sub, *numbers in subs(form, name):
        shown[sub] = [sum(pair) for pair in zip(shown[sub], numbers)]
    for sub, value in want.subs.items():
        if sub != "main::RUNTIME" and not value.from_statements:
            assert shown[sub] == [value.calls, value.self * ns, value.inclusive * ns], sub


@pytest.mark.parametrize("name", PROFILES)
def test_lines_add_up_to_their_subs_and_subs_to_the_total(name):
    read = document(name)
    sums = collections.Counter()
    for line in read["lines"]:
        sums[line["sub"]] += line["exclusive"]
    assert [sums[i] for i in range(len(read["subs"]))] == [sub["exclusive"] for sub in read["subs"]]
    assert sum(own for _, _, own, _ in subs("csv", name)) == sum(sums.values()) == read["total"]


@pytest.mark.parametrize("name", ["mixed-calls2", "requires", "evals"])
def test_statements_of_every_line(totals, name):
    read, shown = document(name), collections.Counter()
    for line in read["lines"]:
        if line["statements"]:
            shown[read["files"][line["file"]]["name"], line["line"]] += line["statements"]
    assert shown == {place: cell.count for place, cell in totals(name).lines.items() if cell.count}


def test_calls_name_caller_callee_and_place(totals):
    read = document("mixed-calls2")
    names = [sub["name"] for sub in read["subs"]]
    assert {(names[call["caller"]], names[call["callee"]], call["line"]): call["count"] for call in read["calls"]} == {
        (caller, callee, line): arc[0] for (caller, callee, _, line), arc in totals("mixed-calls2").arcs.items() if arc[0]}


@pytest.mark.parametrize("unit, word, in_ns", [("us", "microseconds", 1000), ("ms", "milliseconds", 1000000), ("s", "seconds", 1000000000)])
def test_times_are_exact_in_any_unit(unit, word, in_ns):
    for one, other in zip(rows("recurse", f"--unit={unit}"), rows("recurse"), strict=True):
        for key in "exclusive", "inclusive":
            assert Decimal(one[f"{key}_{unit}"]) * in_ns == int(other[f"{key}_ns"])
    told, other = document("recurse", f"--unit={unit}"), document("recurse")
    assert (told["unit"], other["unit"]) == (word, "nanoseconds") and told["total"] * in_ns == other["total"] > 0
    assert [sub["inclusive"] * in_ns for sub in told["subs"]] == [sub["inclusive"] for sub in other["subs"]]


def test_what_the_recording_says_of_itself(totals):
    read, want = document("forks-merged"), totals("forks-merged")
    assert [process["pid"] for process in read["processes"]] == [pid for pid, *_ in want.processes]
    assert dict(map(tuple, read["attributes"]))["ticks_per_sec"] == str(want.ticks_per_sec)
    assert read["partial"] is False
    cut = document("cut-deflated")
    assert cut["partial"] is True and cut["inputs"][0]["error"] and cut["inputs"][0]["error_offset"] > 0


@pytest.mark.parametrize("form", ["json", "csv"])
def test_hostile_names_come_back_whole(form):
    names = {name for name, *_ in subs(form, "made-hostile-names")}
    assert {"main::new\nline", "main::semi;colon", 'main::quote"d'} <= names
    assert form == "csv" or "main::nul\0byte" in names
    assert form == "json" or all(None not in row for row in rows("made-hostile-names"))
