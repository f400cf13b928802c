# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""csv: one row per sub, as Python's csv module reads them."""

import csv
import io
import subprocess

import pytest


@pytest.fixture
def rows(export_command, profile):
    def read(name, *arguments):
        done = subprocess.run([export_command, "--csv", *arguments, profile(name)], check=True,
                              capture_output=True)
        text = done.stdout.decode("utf-8")
        return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    return read


@pytest.mark.parametrize("name", ["mixed-calls2", "evals", "recurse", "names"])
def test_rows_are_the_sub_profilers(rows, totals, name):
    want = totals(name)
    per_tick = 1000000000 // want.ticks_per_sec
    shown = {}
    for row in rows(name):
        calls, own, inclusive = shown.get(row["sub"], (0, 0, 0))
        shown[row["sub"]] = (calls + int(row["calls"]), own + int(row["exclusive_ns"]),
                             inclusive + int(row["inclusive_ns"]))
    for sub, value in want.subs.items():
        if sub != "main::RUNTIME" and not value.from_statements:
            assert shown[sub] == (value.calls, value.self * per_tick,
                                  value.inclusive * per_tick), sub


def test_own_times_add_up_to_the_program(rows, totals):
    want = totals("mixed-calls2")
    assert sum(int(row["exclusive_ns"]) for row in rows("mixed-calls2")) == \
        want.stmt_ticks * 1000000000 // want.ticks_per_sec


def test_hostile_names_stay_in_their_fields(rows):
    shown = rows("made-hostile-names")
    names = {row["sub"] for row in shown}
    assert {"main::new\nline", 'main::quote"d', "main::semi;colon"} <= names
    assert all(None not in row and row["inclusive_ns"].isdigit() for row in shown)


def test_the_unit_is_in_the_header(rows):
    assert {"exclusive_us", "inclusive_us"} <= set(rows("recurse", "--unit=us")[0])
