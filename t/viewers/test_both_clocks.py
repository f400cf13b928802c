# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Sampled recordings in the real viewers: pprof, speedscope and callgrind_annotate show what each
sub took by the wall clock and of a processor."""

import re
import shutil
import subprocess

import pytest

import exports
import pprof
import sampled
import speedscope

NS = 100                                  # per tick
TOTAL = [NS * sum(values) for values in zip(*sampled.TOTAL.values())]


@pytest.fixture
def path(export_command, tmp_path):
    return sampled.stream().save(tmp_path / "sampled.out")


def export(path, *arguments, suffix):
    out = path.with_suffix(suffix)
    assert exports.nytp_export(*arguments, "-o", out, path) == (0, b"", "")
    return out


def by_clock(clock):
    return {name: NS * value[clock] for name, value in sampled.TOTAL.items() if value[clock]}


@pytest.mark.parametrize("index, clock", [("wall", 0), ("cpu", 1)])
@pytest.mark.parametrize("labels", [[], ["--labels=none"]])
def test_pprof_by_either_clock(path, index, clock, labels):
    if pprof.missing():
        pytest.skip("not installed: go")
    rows, total, errors = pprof.top(export(path, "--pprof", *labels, suffix=".pb.gz"),
                                    f"-sample_index={index}")
    assert errors == "" and total == TOTAL[clock]
    assert {name: flat for name, (flat, _) in rows.items() if flat} == by_clock(clock)


def test_pprof_counts_samples(path):
    if pprof.missing():
        pytest.skip("not installed: go")
    rows, _, _ = pprof.top(export(path, "--pprof", suffix=".pb.gz"), "-sample_index=samples")
    assert sum(flat for flat, _ in rows.values()) == sampled.SAMPLES


def test_speedscope_opens_a_profile_of_each_clock(path):
    if speedscope.missing():
        pytest.skip("not installed: " + ", ".join(speedscope.missing()))
    seen = speedscope.look(export(path, "--speedscope", "--aggregate",
                                  suffix=".speedscope.json"))
    assert seen["alerts"] == []
    profiles = seen["exported"]["profiles"]
    assert [profile["endValue"] - profile["startValue"] for profile in profiles] == TOTAL
    assert "processor time" in profiles[1]["name"]


def test_callgrind_annotate_has_a_column_of_each(path):
    if not shutil.which("callgrind_annotate"):
        pytest.skip("not installed: callgrind_annotate")
    out = export(path, "--callgrind", suffix=".callgrind")
    done = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", out],
                          capture_output=True, text=True, check=True)
    assert done.stderr == ""
    rows = {}
    for line in done.stdout.splitlines():
        match = re.match(r"\s*([\d,]+) (?:\([^)]*\))?\s+([\d,]+) (?:\([^)]*\))?\s+[\d,]+ *"
                         r"(?:\([^)]*\))?\s+(?:\S*?[^:]:(\w+::\S+)|PROGRAM TOTALS)\Z", line)
        if match:
            rows[match[3]] = tuple(int(match[i].replace(",", "")) for i in (1, 2))
    assert rows.pop(None) == tuple(TOTAL)
    assert {name: row for name, row in rows.items() if any(row)} == \
        {name: (NS * wall, NS * cpu) for name, (wall, cpu) in sampled.TOTAL.items()}


def test_callgrind_annotate_adds_up_what_was_called(path):
    if not shutil.which("callgrind_annotate"):
        pytest.skip("not installed: callgrind_annotate")
    out = export(path, "--callgrind", suffix=".callgrind")
    done = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no",
                           "--inclusive=yes", "--show=cpu", "--sort=cpu", out],
                          capture_output=True, text=True, check=True)
    work = re.search(r"^\s*([\d,]+) .*main::work$", done.stdout, re.MULTILINE)
    assert int(work[1].replace(",", "")) == NS * sampled.TOTAL["main::burn"][1]
