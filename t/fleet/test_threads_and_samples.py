# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Threads and samples in tables and labels: which thread a row is of, and its processor time."""

import collections
import json

import pytest

import pprof
import sampled
from command import good
from recordings import merge


def rows(*arguments):
    return [json.loads(line) for line in good("--rows", *arguments).decode().splitlines()]


@pytest.fixture
def threads(tmp_path):
    """The first thread of a process and two more, which began at the same time."""
    def of(thread):
        told = {"thread": thread, "parent_thread": 0} if thread else {}
        out = sampled.Writer(attributes=told, options={"calls": 2}).pid_start(7)
        out.fid(1, sampled.SCRIPT).time(10 + thread, 1, 2).pid_end(7)
        return out.save(tmp_path / f"nytprof.out.t{thread}")
    return [of(thread) for thread in range(3)]


@pytest.fixture
def samples(tmp_path):
    return sampled.stream().save(tmp_path / "sampled.out")


def test_rows_say_which_thread(threads):
    found = rows(*threads)
    assert [(row.get("thread", 0), row["wall_ns"]) for row in found] == [(0, 1000), (1, 1100), (2, 1200)]
    assert len({row["profile"] for row in found}) == 3
    assert "thread" not in rows(threads[0])[0]


def test_the_first_threads_profile_is_called_as_ever(threads, tmp_path):
    plain = sampled.Writer(options={"calls": 2}).pid_start(7).fid(1, sampled.SCRIPT)
    plain.time(10, 1, 2).pid_end(7).save(tmp_path / "plain.out")
    assert rows(threads[0])[0]["profile"] == rows(tmp_path / "plain.out")[0]["profile"]


@pytest.mark.parametrize("focus, ticks", [("^1$", 11), ("^2$", 12), (".", 23)])
def test_pprof_has_a_label_for_threads(threads, tmp_path, focus, ticks):
    if pprof.missing():
        pytest.skip("not installed: go")
    good("--pprof", "-o", tmp_path / "threads.pb.gz", *threads)
    rows, _, errors = pprof.top(tmp_path / "threads.pb.gz", f"-tagfocus=thread={focus}")
    assert errors == ""
    assert rows == {"main::RUNTIME": (100 * ticks, 100 * ticks)}


@pytest.mark.parametrize("options", [[], ["--lines"]])
def test_rows_have_processor_time_where_there_is_some(samples, options):
    found = rows(*options, samples)
    assert all(row["flags"] & 8 for row in found)
    by_sub = collections.Counter()
    for row in found:
        by_sub[row["sub"]] += row["cpu_ns"]
    assert {sub: cpu for sub, cpu in by_sub.items() if cpu} == \
        {sub: cpu * 100 for sub, (_, cpu) in sampled.TOTAL.items() if cpu}


def test_rows_of_an_exact_recording_are_as_ever(tmp_path):
    row, *_ = rows(sampled.exact().save(tmp_path / "exact.out"))
    assert row["flags"] == 0 and not {"thread", "cpu_ns"} & set(row)


def test_a_merge_counts_recordings_whether_runs_children_or_threads(threads, samples, tmp_path):
    def application(*inputs):
        return json.loads(good("--json", merge(tmp_path / "merged.out", *inputs)))["inputs"][0]["application"]
    assert application(*threads) == "hand.pl (3 recordings)"
    assert application(threads[0], samples) == "hand.pl (2 recordings)"
    assert application(*threads, samples) == "hand.pl (4 recordings)"
    assert application(threads[0]) == "hand.pl"
