# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""tmon: Devel::DProf's file, read by a few lines here, by the real dprofpp and by nytp-export."""

import collections
import json
import os
import shutil
import subprocess

import pytest

import exports
from nytpwrite import Writer

PROFILES = ["mixed-calls2", "mixed-calls1", "recurse", "evals", "names", "jumps", "forks-merged",
            "unreturned", "deep-calls1"]


def export(form, path):
    return exports.exported("-q", "--" + form, path).decode("utf-8")


def document(path):
    return json.loads(export("json", path))


def read_log(text):
    """Calls and own ticks per sub, from the format's own words."""
    header, log = text.split("PART2\n")
    names, stack, calls, own = {}, ["(main)"], collections.Counter(), collections.Counter()
    marks = 0
    for line in log.splitlines():
        what, *rest = line.split(" ")
        if what == "&":
            names[rest[0]] = "%s::%s" % (rest[1], " ".join(rest[2:]))
        elif what == "@":
            own[stack[-1]] += int(rest[0])
        elif what == "+":
            stack.append(names[rest[0]])
            calls[stack[-1]] += 1
            marks += 1
        else:
            assert what == "-" and stack.pop() == names[rest[0]]
            marks += 1
    assert stack == ["(main)"] and "$total_marks=%d\n" % marks in header
    assert "$rrun_utime=%d;" % sum(own.values()) in header
    return calls, own


@pytest.mark.parametrize("name", PROFILES)
def test_every_call_and_tick_is_there(profile, name):
    calls, own = read_log(export("tmon", profile(name)))
    totals = document(profile(name))
    tick = 1000000000 // totals["ticks_per_sec"]
    for sub in totals["subs"]:
        word = sub["name"].replace(" ", "_")
        if sub["kind"] == "runtime":
            word = "(main)"
            assert own[word] * tick == sub["exclusive"]
        elif "::" in word and sub["kind"] != "unreturned":
            assert (calls[word], own[word] * tick) == (sub["calls"], sub["exclusive"]), word


@pytest.mark.parametrize("name", ["mixed-calls2", "recurse", "jumps"])
def test_dprofpp_counts_the_same_calls(profile, name, tmp_path):
    if shutil.which("dprofpp") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("dprofpp is not installed")
        pytest.skip("dprofpp is not installed")
    text = export("tmon", profile(name))
    (tmp_path / "tmon.out").write_text(text)
    done = subprocess.run(["dprofpp", "-l", "-O", "10000", "tmon.out"], cwd=tmp_path, check=True,
                          capture_output=True, text=True)
    assert done.stderr == ""
    shown = {}
    for line in done.stdout.splitlines():
        columns = line.split()
        if len(columns) == 7 and columns[3].isdigit():
            shown[columns[6]] = int(columns[3])
    calls, _ = read_log(text)
    assert shown and shown == dict(calls)


@pytest.mark.parametrize("name", ["mixed-calls2", "recurse", "forks-merged"])
def test_what_we_write_we_read(profile, name, tmp_path):
    (tmp_path / "tmon.out").write_text(export("tmon", profile(name)))
    before, after = document(profile(name)), document(tmp_path / "tmon.out")
    assert after["total"] == before["total"]

    def called(told):
        return {(sub["name"], sub["calls"], sub["exclusive"]) for sub in told["subs"]
                if sub["calls"] and sub["kind"] != "runtime"}
    assert called(before) <= called(after)


def test_more_calls_than_a_log_can_hold(tmp_path):
    writer = Writer(options={"calls": 0})
    writer.pid_start(1).fid(1, "x.pl").time(70, 1, 1).sub(1, "main::f", 1, 2)
    writer.callers(1, 1, "main::RUNTIME", "main::f", 1000000001, 60, 60).pid_end(1)
    path = writer.save(tmp_path / "many.out")
    code, _, errors = exports.nytp_export("-q", "--tmon", "-o", tmp_path / "tmon.out", path)
    assert code == 4
    assert errors.endswith(": 1000000001 calls: tmon.out lists each, and no more than 1000000000 are written\n")
    assert not (tmp_path / "tmon.out").exists()


def test_contexts_without_a_call_take_none_from_the_sum(tmp_path):
    """Without call events the tree is an estimate, and some of its contexts have no call."""
    w = Writer(options={"calls": 0}).pid_start(7).fid(1, "/x/a.pl").time(1000, 1, 1)
    for name in ("one", "two", "three", "leaf"):
        w.sub(1, f"main::{name}", 1, 2)
    for name, calls in (("one", 1), ("two", 1), ("three", 20)):
        w.callers(1, 1, "main::RUNTIME", f"main::{name}", 20, 100, 50)
        w.callers(1, 1, f"main::{name}", "main::leaf", calls, 50, 50)
    w.callers(1, 1, "main::leaf", "main::leaf", 1, 20, 20, 20, 1)
    w.callers(1, 1, "main::leaf", "main::one", 1, 20, 20, 0, 1)
    path = w.pid_end(7).save(tmp_path / "in.out")
    calls, _ = read_log(export("tmon", path))
    assert calls == {sub["name"]: sub["calls"] for sub in document(path)["subs"] if sub["kind"] == "perl"}


def test_names_longer_than_a_line_are_cut_and_kept_apart(tmp_path):
    w = Writer().pid_start(7).fid(1, "/x/a.pl").time(10, 1, 1)
    for i, name in enumerate(["main::" + "\u00e9" * 35000 + "a", "main::" + "\u00e9" * 35000 + "b",
                              "P" * 70000 + "::f", "main::after"]):
        w.entry(1, 1).time(5 + i, 1, 2).leave(1, 5 + i, 5 + i, name, utf8=True).time(1, 1, 1)
    text = export("tmon", w.pid_end(7).save(tmp_path / "in.out"))
    assert max(len(line.encode()) for line in text.splitlines()) < 61000
    (tmp_path / "tmon.out").write_text(text)
    calls, own = read_log(text)
    assert len(calls) == 4 and set(calls.values()) == {1}
    subs = document(tmp_path / "tmon.out")["subs"]
    assert sum(sub["calls"] for sub in subs if sub["kind"] != "runtime") == 4
    assert "main::after" in [sub["name"] for sub in subs]
