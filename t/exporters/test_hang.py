# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Where a sampled program hangs: a note in the head of its file, which readers believe as long as
nothing was written behind it."""

import collections
import gzip
import json
import re
import subprocess

import pytest

import exports
from command import ROOT
from nytpwrite import Writer

TICKS = 30_000_000                                            # 3 s
CALLS = "builtin main::CORE:sysread\tmain::waiter\tx.p:9\tmain::b\t:2\tmain::a\t:5\t\t:7\t"
ROOM = 4096


def sum_of(body):
    total = 0xCBF29CE484222325
    for byte in body:
        total = (total ^ byte) * 0x100000001B3 % 2**64
    return total


def note(body, how=lambda text: text):
    body = body.encode()
    text = how(b"nytp-hang-note %d %d " % (sum_of(body), len(body)) + body)
    return text + b" " * (ROOM - 2 - len(text))


def stream(text, sites, whole):
    attributes = {"application": "/tmp/x.p", "sampled": 1, "sample_interval_ns": 10000000, "sample_clock": "wall"}
    s = Writer(attributes, {"calls": 2})
    s.comment(text).pid_start(5).fid(1, "/tmp/x.p")
    for site in sites:
        s.entry(1, site)
    s.time(1_000_000, 1, 7)
    s.time(500_000, 1, 9)
    if whole:
        s.pid_end(5)
    return s.data()


def hanging(path, calls=CALLS, depth=3, cpu=0, ticks=TICKS, sites=(7, 5), at=0, how=lambda text: text, whole=False):
    """A file with a note. `at`: how many bytes the note is wrong by on how many the file has."""
    size = 0
    for _ in range(4):
        data = stream(note(f"{size + at} {ticks} {cpu} {depth}\t{calls}", how), sites, whole)
        size = len(data)
    path.write_bytes(data)
    return path


def run(*arguments):
    return exports.exported(*arguments).decode()


def stacks(path):
    rows = collections.Counter()
    for line in run("--collapsed", path).splitlines():
        stack, ticks = line.rsplit(" ", 1)
        rows[stack.replace("_[unreturned]", "")] += int(ticks) * 10
    return rows


HANG = "main::RUNTIME;main::a;main::b;main::waiter;main::CORE:sysread"


def test_what_hangs_is_an_open_call_with_its_time(tmp_path):
    path = hanging(tmp_path / "x.out")
    assert stacks(path)[HANG] == TICKS
    assert sum(stacks(path).values()) == TICKS + 1_500_000
    top = run("--top", path)
    where = "main::RUNTIME x.p:7 > main::a x.p:5 > main::b x.p:2 > main::waiter x.p:9 > main::CORE:sysread"
    assert f"open at its end (killed, or still running): {where}" in top
    assert re.search(r"^ +3\.00 s +\S+ +3\.00 s +\S+ +1 +- +3\.00 s +main::CORE:sysread$", top, re.M)
    assert "3.15 s, 3.00 s of it waiting" in top


@pytest.mark.parametrize("option", ["--callgrind", "--speedscope", "--chrome-trace", "--pprof", "--json", "--tree", "--markdown", "--csv", "--brief"])
def test_it_is_in_every_output(tmp_path, option):
    out = exports.exported(option, hanging(tmp_path / "x.out"))
    if out[:2] == b"\x1f\x8b":
        out = gzip.decompress(out)
    assert b"sysread" in out


def test_calls_that_were_open_before_are_the_same(tmp_path):
    assert stacks(hanging(tmp_path / "x.out"))["main::RUNTIME;main::a;main::b"] == 500_000


def test_other_calls_have_been_left(tmp_path):
    rows = stacks(hanging(tmp_path / "x.out", sites=(7, 6, 3)))
    assert rows[HANG] == TICKS
    assert sum(ticks for stack, ticks in rows.items() if stack != HANG) == 1_500_000
    assert "> main::a x.p:5 > main::b x.p:2" in run("--top", tmp_path / "x.out")


def test_outer_calls_that_had_no_room_are_those_of_the_stream(tmp_path):
    calls = "xsub List::Util::first\tmain::waiter\tx.p:9\tmain::b\t:2\t"
    path = hanging(tmp_path / "x.out", calls=calls, depth=4, sites=(7, 5, 4))
    last = max(stacks(path).items(), key=lambda row: row[1])
    assert last[0].startswith("main::RUNTIME;") and last[0].endswith("main::waiter;List::Util::first")
    assert last[0].count(";") == 5 and last[1] == TICKS


def test_what_runs_and_does_not_wait(tmp_path):
    calls = "-\tmain::waiter\tx.p:9\t\t:7\t"
    path = hanging(tmp_path / "x.out", calls=calls, depth=1, cpu=TICKS, sites=())
    assert stacks(path)["main::RUNTIME;main::waiter"] == TICKS
    assert "waiting" not in run("--top", path)


@pytest.mark.parametrize("reason, peer", [("socket", "127.0.0.1:5432"), ("socket", "/run/my db.sock"), ("lock", ""), ("other", "")])
@pytest.mark.parametrize("calls", [CALLS, CALLS.replace("builtin main::CORE:sysread", "-")])
def test_what_it_waits_for(tmp_path, reason, peer, calls):
    told = "" if reason == "other" else f" {reason} {peer}".rstrip()
    path = hanging(tmp_path / "h.out", calls=calls, depth=f"3{told}", cpu=TICKS // 4)
    waited = json.loads(run("--json", path))["waited"]
    assert [(row["reason"], row["peer"], row["samples"], row["total_ns"]) for row in waited] == [(reason, peer, 1, TICKS * 75)]


def test_longer_than_a_record_holds(tmp_path):
    path = hanging(tmp_path / "x.out", ticks=2**31 * 3)
    assert stacks(path)[HANG] == 2**31 * 3 // 10 * 10
    assert run("--check", path).endswith("adds up, but partial\n")


def broken(text):
    return text.replace(b"sysread", b"syswrit")


@pytest.mark.parametrize("how", [
    {"at": -1}, {"at": 1}, {"whole": True}, {"how": broken}, {"how": lambda text: text[:80]}, {"how": lambda text: b"nytp-hang-note -"},
    {"how": lambda text: text.replace(b"note ", b"note x", 1)}, {"calls": ""}, {"calls": "-"}, {"calls": "sub main::a\tmain::b\tx.p:9\t"},
    {"depth": 1_000_001}, {"depth": ""}, {"ticks": 10**16}, {"cpu": "-1"},
], ids=str)
def test_what_is_not_whole_or_not_the_last_is_left_out(tmp_path, how):
    path = hanging(tmp_path / "x.out", **how)
    assert HANG not in stacks(path)
    assert sum(stacks(path).values()) == 1_500_000


@pytest.mark.parametrize("calls", [
    "-\tmain::a\t", "-\tmain::a\tx.p\t", "-\tmain::a\tx.p:y\t", "-\tmain::a\tx.p:99999999999\t", "-\t\t:1\t", "-\t\t:\t", "-\t\tx.p:1\tmore\tx.p:2\t",
    "xsub \xff\tmain::a\t(eval 3):1\t", "-\t" + "a\t:1\t" * 650,
], ids=range(9))
def test_strangers_calls(tmp_path, calls):
    for depth in (0, 1, 3, 1_000_000):
        path = hanging(tmp_path / "x.out", calls=calls, depth=depth)
        assert run("--check", path).endswith("adds up, but partial\n")
        assert sum(stacks(path).values()) in (1_500_000, 1_500_000 + TICKS)


def test_packed_by_gzip(tmp_path):
    packed = tmp_path / "x.out.gz"
    packed.write_bytes(gzip.compress(hanging(tmp_path / "x.out").read_bytes()))
    assert stacks(packed)[HANG] == TICKS


def test_a_dump_tells_it_at_its_end(tmp_path):
    last = run("--dump", hanging(tmp_path / "x.out")).splitlines()[-1]
    assert "COMMENT" in last and "nytp-hangs" in last and "main::waiter" in last


def test_merged(tmp_path):
    merged = tmp_path / "merged.out"
    subprocess.run(["perl", "-Mblib", "bin/nytprofmerge", f"--out={merged}", hanging(tmp_path / "x.out")], cwd=ROOT,
                   capture_output=True, check=False)
    assert stacks(merged)[HANG] == TICKS
