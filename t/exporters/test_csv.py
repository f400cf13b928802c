# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""csv: one row per sub, as Python's csv module reads them."""

import csv
import io
import json
import subprocess
from decimal import Decimal

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


def test_times_are_exact_in_any_unit(rows, export_command, profile):
    for unit, in_ns in ("us", 1000), ("ms", 1000000), ("s", 1000000000):
        for one, in_ns_too in zip(rows("recurse", f"--unit={unit}"), rows("recurse"), strict=True):
            for key in "exclusive", "inclusive":
                assert Decimal(one[f"{key}_{unit}"]) * in_ns == int(in_ns_too[f"{key}_ns"])
        told, in_ns_too = (json.loads(subprocess.run([export_command, "--json", f"--unit={u}", profile("recurse")],
                                                     check=True, capture_output=True).stdout, parse_float=Decimal)
                           for u in (unit, "ns"))
        assert told["total"] * in_ns == in_ns_too["total"] > 0
        assert [sub["inclusive"] * in_ns for sub in told["subs"]] == [sub["inclusive"] for sub in in_ns_too["subs"]]
