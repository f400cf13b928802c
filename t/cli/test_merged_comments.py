# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What comments of our own tell, in what nytprofmerge makes of several recordings: all of it, in the ticks of the first."""

import json
import re

import pytest

from command import ROOT, good
from nytpwrite import Writer
from recordings import merge
from written import begun

# head of a comment -> one that a recorder could write; `None`: it is told by another when it is read
EXAMPLES = {
    "cpu": "cpu 8 ready", "nytp-wait": "nytp-wait socket 127.0.0.1:5432", "nytp-costs": "nytp-costs stmt=10641 leave=11705",
    "nytp-resumed": "nytp-resumed", "nytp-open": "nytp-open 1 perl main::f", "nytp-processor": "nytp-processor 1000",
    "nytp-memory": "nytp-memory 4096", "nytp-memory-start": "nytp-memory-start 4096", "nytp-memory-peak": "nytp-memory-peak 8192",
    "nytp-label": "nytp-label 20 request=GET /", "nytp-label-profile": "nytp-label-profile a=b",
    "nytp-own": "nytp-own 1 5 main::f", "nytp-regex": "nytp-regex match 1 5 3 2 0 900 400 12 - ^a b$", "nytp-svs": "nytp-svs -3 1 5",
    "nytp-alloc": "nytp-alloc 7 4096 2 1 5", "nytp-free": "nytp-free 7", "nytp-in-use-call": "nytp-in-use-call 1 0 1 5 main::f",
    "nytp-in-use": "nytp-in-use 8 4096 2 1 1 5", "nytp-inherited": "nytp-inherited 9 4096 2 1 1 5 70", "nytp-attribute": "nytp-attribute host=here",
    "nytp-hangs": "nytp-hangs 500 30 20 1 socket 10.0.0.1:80\tbuiltin main::CORE:sleep\tmain::f\t/x/a.pl:5\t\t/x/a.pl:9",
    "nytp-hang-note": None, "nytp-source": "nytp-source 1 " + 32 * "0f",
}


def recording(path, *comments, pid=70, ticks=10**7):
    stream = Writer({"ticks_per_sec": ticks}).pid_start(pid).fid(1, "/x/a.pl")
    for comment in comments:
        stream.comment(comment)
    return stream.time(ticks // 100, 1, 5).pid_end(pid).save(path)


def comments_of(file):
    dump = good("--dump", file).decode()
    return [json.loads(text).rstrip("\n") for text in re.findall(r' COMMENT text=("(?:[^"\\]|\\.)*")$', dump, re.M)]


def test_there_is_an_example_of_each_comment_and_the_format_tells_it():
    folder = ROOT / "formats" / "stream" / "comments"
    heads = {head for file in folder.glob("*.[ch]") for head in re.findall(r'"(nytp-[a-z-]*[a-z]|cpu) ?"', file.read_text())}
    assert heads == set(EXAMPLES)
    assert {head for head in heads if not re.search(rf"`{head}[ `]", (ROOT / "formats" / "nytprof-v5.md").read_text())} == set()


@pytest.mark.parametrize("comment", filter(None, EXAMPLES.values()))
def test_a_merged_recording_has_each_comment(tmp_path, comment):
    first = recording(tmp_path / "a.out", pid=69)
    merged = merge(tmp_path / "m.out", first, recording(tmp_path / "b.out", EXAMPLES["nytp-in-use-call"], comment))
    assert comment in comments_of(merged)


@pytest.mark.parametrize("comment, converted", [
    ("cpu 800", "cpu 8"), ("cpu 851 ready", "cpu 9 ready"),
    ("nytp-label 2000 a=1000 b", "nytp-label 20 a=1000 b"), ("nytp-label 2000 a", "nytp-label 20 a"),
    ("nytp-label -2000 a=b", "nytp-label -20 a=b"), ("nytp-label-profile a=700 800", "nytp-label-profile a=700 800"),
    ("nytp-own 100 500 main::f 900", "nytp-own 100 5 main::f 900"), ("nytp-processor 1000", "nytp-processor 1000"),
    ("nytp-hangs 500 3000 2000 100 socket 800 900\t-\tmain::f\t/x/a 1.pl:500\t\t:900",
     "nytp-hangs 500 30 20 100 socket 800 900\t-\tmain::f\t/x/a 1.pl:500\t\t:900"),
])
def test_ticks_in_comments_become_those_of_the_first_recording(tmp_path, comment, converted):
    files = [recording(tmp_path / "a.out", pid=69), recording(tmp_path / "b.out", comment, ticks=10**9)]
    assert comments_of(merge(tmp_path / "m.out", *files))[-1] == converted
    assert comments_of(merge(tmp_path / "n.out", files[1]))[-1] == comment


def test_labels_and_waits_are_those_of_the_recordings(tmp_path):
    def sampled(path, ticks, pid):
        stream = begun(pid, is_sampled=True, ticks_per_sec=ticks).comment(f"nytp-label {ticks} request=GET /")
        stream.comment("nytp-wait socket 127.0.0.1:5432").comment(f"cpu {ticks // 4}").time(ticks, 1, 5)
        return stream.comment(f"nytp-label {3 * ticks} request").pid_end(pid).save(path)
    files = [sampled(tmp_path / "a.out", 10**7, 69), sampled(tmp_path / "b.out", 10**9, 70)]
    merged = merge(tmp_path / "m.out", *files)
    for inputs in files, [merged]:
        row, = json.loads(good("-q", "--by=label", "--json", *inputs))["labels"]
        assert (row["n"], row["total_ns"], row["max_ns"]) == (2, 4 * 10**9, 2 * 10**9)
        row, = json.loads(good("-q", "--json", *inputs))["waited"]
        assert (row["reason"], row["peer"], row["samples"], row["total_ns"]) == ("socket", "127.0.0.1:5432", 2, 1500000000)
