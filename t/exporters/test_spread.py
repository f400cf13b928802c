# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""--spread: what the calls of a sub tell, against the returns in the stream."""

import json
import re

import exports
from nytpread import Reader
from recordings import merge, record

PROGRAM = """sub grows { my $n = shift; for my $i (1 .. $n) { 1 } }
sub same { 1 }
sub few { 1 }
grows(($_ * 7) % 100 + 5 * $_) for 1 .. 97; same() for 1 .. 40; few() for 1 .. 9;
"""


def export(*arguments, code=0):
    status, out, errors = exports.nytp_export("-q", *arguments)
    assert status == code, errors
    return out.decode() if code == 0 else errors


def lengths_of(file, name):
    return [fields[1] for tag, *fields in Reader(str(file)) if tag == "<" and fields[3] == name]


def subs_of(text):
    return {sub["name"]: sub for sub in json.loads(text)["subs"]}


def rank(lengths, per_cent):
    return sorted(lengths)[-(-len(lengths) * per_cent // 100) - 1]


def test_ranks_are_those_of_the_returns(tmp_path):
    file = record(tmp_path, PROGRAM, options="calls=2")
    subs = subs_of(export("--json", "--spread", "--as-recorded", "--unit=ticks", file))
    for name in "grows", "same":
        lengths, sub = lengths_of(file, b"main::" + name.encode()), subs["main::" + name]
        assert len(lengths) == sub["calls"] >= 40
        assert [sub[key] for key in ("median", "p95", "max")] == [rank(lengths, 50), rank(lengths, 95), max(lengths)]
        tenth = len(lengths) // 10
        assert [sub["first_tenth"], sub["last_tenth"]] == [rank(lengths[:tenth], 50), rank(lengths[-tenth:], 50)]
    assert subs["main::grows"]["last_tenth"] > 3 * subs["main::grows"]["first_tenth"]
    assert "first_tenth" not in subs["main::few"] and "median" in subs["main::few"]     # too few for tenths
    assert "median" not in subs_of(export("--json", file))["main::grows"]
    trend = rf"x{subs['main::grows']['last_tenth'] / subs['main::grows']['first_tenth']:.1f}"
    table = export("--top", "--spread", "--as-recorded", file)
    assert re.search(rf" 97 .*{trend} main::grows  \S+a\.pl:1$", table, re.M) and re.search(r" 40 .* x1\.0 main::same  \S+a\.pl:\d$", table, re.M)
    assert re.search(r" 9 .* - main::few  \S+a\.pl:\d$", table, re.M)


def test_what_the_shortest_calls_would_decide_is_not_known(tmp_path):
    file = record(tmp_path, PROGRAM, options="calls=2")
    lengths = lengths_of(file, b"main::grows")
    sub = subs_of(export("--json", "--spread", "--max-calls=20", "--as-recorded", "--unit=ticks", file))["main::grows"]
    assert (sub["p95"], sub["max"]) == (rank(lengths, 95), max(lengths))
    assert not {"median", "first_tenth", "last_tenth"} & set(sub)
    without = record(tmp_path, PROGRAM, out="none.out", options="calls=0")
    assert not {"median", "max"} & set(subs_of(export("--json", "--spread", without))["main::grows"])


def test_it_is_of_subs(tmp_path):
    assert "--spread is of subs" in export("--top", "--lines", "--spread", record(tmp_path, PROGRAM), code=2)


MEMORY = """my ($few, $many) = (30_000_000, 60_000_000);
my $parent = "x" x $few;
if (my $pid = fork) { waitpid $pid, 0 } else { my $child = "y" x $many }
"""


def test_memory_of_each_process(tmp_path):
    """At the start and at most; also in a merged file, and of a process whose parent had more."""
    record(tmp_path, MEMORY)
    files = sorted(tmp_path.glob("a.pl.out*"))
    merged = merge(tmp_path / "merged", *files)
    for inputs in files, [merged]:
        parent, child = sorted(json.loads(export("--json", *inputs))["processes"], key=lambda process: process["start"])
        assert 1e6 < parent["memory_start"] < 29e6 and 30e6 < parent["memory_peak"] < 89e6
        assert 30e6 < child["memory_start"] < 89e6 and 90e6 < child["memory_peak"] < 250e6
        table = export("--processes", *inputs)
        assert re.search(r"^ +pid .* memory +own", table, re.M) and len(re.findall(r" [\d.]+ MB ", table)) == 2
        assert re.search(rf"^memory: [\d.]+ MB at most, [\d.]+ MB at the start \(pid {child['pid']}\)$",
                         export("--top", "--spread", *inputs), re.M)
