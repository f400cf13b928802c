# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The profiles that the other tests stand on hold what their names promise, and the tests' own
reader agrees with itself: what the stream's summary says is what its events add up to."""

import pytest

import nytpread
import profiles

ENDS_EARLY = {"cut-plain", "cut-deflated", "cut-calls1", "killed-deflated", "killed-plain"}
COMPLETE = [name for name in profiles.RECORDED if name not in ENDS_EARLY]


@pytest.mark.parametrize("name", COMPLETE + list(profiles.MADE))
def test_a_complete_profile_is_read_to_its_end(totals, name):
    shown = totals(name)
    assert shown.damage is None and shown.complete
    assert shown.ticks_per_sec > 0
    assert shown.files


@pytest.mark.parametrize("name", sorted(ENDS_EARLY))
def test_what_ends_early_is_seen_to_and_keeps_its_events(totals, name):
    shown = totals(name)
    assert not shown.complete
    assert shown.n_statements > 100
    assert not shown.arcs


@pytest.mark.parametrize("name", COMPLETE)
def test_the_summary_counts_the_calls_that_were_seen(totals, name):
    shown = totals(name)
    if not shown.n_returns:
        assert b"calls=0" in options_of(name) or b"subs=0" in options_of(name)
        return
    assert shown.disagreeing == set()
    for sub, (calls, excl) in shown.returned.items():
        assert shown.subs[sub].calls == calls
        assert abs(shown.subs[sub].self - excl) < 1, sub
        assert abs(shown.subs[sub].inclusive - shown.returned_inclusive[sub]) < 1, sub


def options_of(name):
    return [key + b"=" + value for tag, key, value in
            (record for record in nytpread.read_all(profiles.profile(name))[0]
             if record[0] == "!")]


@pytest.mark.parametrize("name, option", [
    ("mixed-calls0", b"calls=0"), ("mixed-calls1", b"calls=1"), ("mixed-calls2", b"calls=2"),
    ("mixed-blocks", b"blocks=1"), ("mixed-slowops0", b"slowops=0"),
    ("mixed-slowops1", b"slowops=1"), ("mixed-plain", b"compress=0"), ("mixed-subs0", b"subs=0"),
    ("mixed-stmts0", b"stmts=0"), ("mixed-leave0", b"leave=0"), ("mixed-dbsub", b"use_db_sub=1"),
])
def test_options_are_what_the_name_says(recorder, name, option):
    assert option in options_of(name)


def test_forks_are_several_processes(recorder, totals):
    files = profiles.processes("forks")
    assert len(files) == 5
    pids = {nytpread.read_all(file)[0] and next(
        record[1] for record in nytpread.Reader(file) if record[0] == "P") for file in files}
    assert len(pids) == 5
    assert len(totals("forks-merged").processes) == 5


def test_names_hold_both_encodings(recorder):
    names = [record[4] for record in nytpread.Reader(profiles.profile("names"))
             if record[0] == "<"]
    assert "main::日本語".encode() in names
    assert "main::été".encode("latin-1") in names
    assert b"\xdcn\xef::" + "ключ".encode() in names
    assert nytpread.decode_name(b"\xdcn\xef::" + "ключ".encode()) == "Ünï::ключ"
