# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Sampled recordings in the real viewers: pprof, speedscope and callgrind_annotate show what each
sub took by the wall clock and of a processor."""

import re

import pytest

import exports
import pprof
import sampled
import speedscope
from test_callgrind_annotate import annotate, pytestmark as needs_callgrind_annotate

NS = 100                                  # per tick
needs_pprof = pytest.mark.skipif(pprof.missing() != [], reason="not installed: go")
TOTAL = [NS * sum(values) for values in zip(*sampled.TOTAL.values())]


@pytest.fixture
def path(tmp_path):
    return sampled.stream().save(tmp_path / "sampled.out")


def export(path, *arguments, suffix):
    out = path.with_suffix(suffix)
    assert exports.nytp_export(*arguments, "-o", out, path) == (0, b"", "")
    return out


def by_clock(clock):
    return {name: NS * value[clock] for name, value in sampled.TOTAL.items() if value[clock]}


@needs_pprof
@pytest.mark.parametrize("index, clock", [("wall", 0), ("cpu", 1)])
@pytest.mark.parametrize("labels", [[], ["--labels=none"]])
def test_pprof_by_either_clock(path, index, clock, labels):
    rows, total, errors = pprof.top(export(path, "--pprof", *labels, suffix=".pb.gz"), f"-sample_index={index}")
    assert errors == "" and total == TOTAL[clock]
    assert {name: flat for name, (flat, _) in rows.items() if flat} == by_clock(clock)


@needs_pprof
def test_pprof_counts_samples(path):
    rows, _, _ = pprof.top(export(path, "--pprof", suffix=".pb.gz"), "-sample_index=samples")
    assert sum(flat for flat, _ in rows.values()) == sampled.SAMPLES


def test_speedscope_opens_a_profile_of_each_clock(path):
    if speedscope.missing():
        pytest.skip("not installed: " + ", ".join(speedscope.missing()))
    seen = speedscope.opened(export(path, "--speedscope", "--aggregate", suffix=".speedscope.json"))
    profiles = seen["exported"]["profiles"]
    assert [profile["endValue"] - profile["startValue"] for profile in profiles] == TOTAL
    assert "processor time" in profiles[1]["name"]


@needs_callgrind_annotate
def test_callgrind_annotate_has_a_column_of_each(path):
    rows = {}
    for line in annotate(export(path, "--callgrind", suffix=".callgrind"), "--auto=no").splitlines():
        match = re.match(r"\s*([\d,]+) (?:\([^)]*\))?\s+([\d,]+) (?:\([^)]*\))?\s+[\d,]+ *"
                         r"(?:\([^)]*\))?\s+(?:\S*?[^:]:(\w+::\S+)|PROGRAM TOTALS)\Z", line)
        if match:
            rows[match[3]] = tuple(int(match[i].replace(",", "")) for i in (1, 2))
    assert rows.pop(None) == tuple(TOTAL)
    assert {name: row for name, row in rows.items() if any(row)} == \
        {name: (NS * wall, NS * cpu) for name, (wall, cpu) in sampled.TOTAL.items()}


@needs_callgrind_annotate
def test_callgrind_annotate_adds_up_what_was_called(path):
    out = export(path, "--callgrind", suffix=".callgrind")
    text = annotate(out, "--auto=no", "--inclusive=yes", "--show=cpu", "--sort=cpu")
    work = re.search(r"^\s*([\d,]+) .*main::work$", text, re.M)
    assert int(work[1].replace(",", "")) == NS * sampled.TOTAL["main::burn"][1]
