# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""--rows: each stack once, with all numbers; labels; paths that differ by host."""

import collections
import gzip
import json
import os
import platform
import re
import subprocess
import sys

import pytest

from command import COMMAND, good, pprof, run
from nytpwrite import Writer
from recordings import record
from test_totals import without_zeros

PROFILES = ["mixed-calls2", "mixed-calls1", "mixed-calls0", "recurse", "evals", "names", "forks-merged",
            "unreturned", "made-hostile-names", "cut-plain", "deep-calls1"]


def rows(*arguments):
    done = run("--rows", "-q", *arguments)
    assert done.returncode in (0, 3), done.stderr
    return [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]


def totals(*arguments):
    return json.loads(run("--json", "-q", *arguments).stdout)


@pytest.mark.parametrize("name", PROFILES)
def test_sums_are_the_totals(profile, name):
    found, want = rows(profile(name)), totals("--merge-evals", profile(name))
    assert sum(row["statements"] for row in found) == want["statements"]
    if not any(sub["exclusive"] < 0 for sub in want["subs"]):
        assert sum(row["wall_ns"] for row in found) == want["total"]
    by_sub, wanted = collections.Counter(), collections.Counter()
    for row in found:
        by_sub[row["sub"].partition(" [")[0]] += row["calls"]
    for sub in want["subs"]:
        wanted[sub["name"].partition(" [")[0]] += sub["calls"]
    if name not in ("made-hostile-names", "mixed-calls0", "mixed-calls1", "deep-calls1"):
        assert +by_sub == +wanted


@pytest.mark.parametrize("name", PROFILES)
def test_each_stack_of_a_process_is_one_row(profile, name):
    found = rows(profile(name))
    keys = [(row["profile"], row["pid"], tuple(row["stack"]), row["flags"]) for row in found]
    assert len(set(keys)) == len(keys) > 3
    assert all(row["stack"][-1] == row["sub"] for row in found)
    assert len({row["profile"] for row in found}) == len({row["pid"] for row in found})
    partial = totals(profile(name))["partial"]
    assert all(bool(row["flags"] & 4) == partial for row in found)


VALUES = ("calls", "statements", "wall_ns")


@pytest.mark.parametrize("name", PROFILES)
def test_rows_of_lines_add_up_to_those_of_stacks(profile, name):
    def summed(found):
        sums = collections.defaultdict(lambda: [0, 0, 0])
        for row in found:
            for i, value in enumerate(VALUES):
                sums[row["profile"], row["pid"], tuple(row["stack"]), row["flags"]][i] += row[value]
        return sums
    by_line, by_stack = rows("--lines", profile(name)), summed(rows(profile(name)))
    keys = [(row["profile"], row["pid"], tuple(row["stack"]), tuple(row["files"]), tuple(row["lines"]), row["flags"])
            for row in by_line]
    assert len(set(keys)) == len(keys)
    assert all(len(row["stack"]) == len(row["files"]) == len(row["lines"]) for row in by_line)
    assert all((row["file"], row["line"]) == (row["files"][-1], row["lines"][-1]) for row in by_line)
    sums = summed(by_line)
    assert sums.keys() == by_stack.keys()
    for key, values in sums.items():
        assert values[:2] == by_stack[key][:2]
        if name != "made-hostile-names":                 # it has times below 0
            assert abs(values[2] - by_stack[key][2]) <= 1


@pytest.mark.parametrize("name", ["mixed-calls2", "recurse", "names", "forks-merged"])
def test_lines_are_those_of_the_totals(profile, name):
    want = totals("--merge-evals", profile(name))
    statements, times = collections.Counter(), collections.Counter()
    for row in rows("--lines", profile(name)):
        statements[row["file"], row["line"]] += row["statements"]
        times[row["file"], row["line"]] += row["wall_ns"]
    for found, key in ((statements, "statements"), (times, "exclusive")):
        wanted = collections.Counter()
        for line in want["lines"]:
            wanted[want["files"][line["file"]]["name"], line["line"]] += line[key]
        assert without_zeros(found) == without_zeros(wanted)


def test_frames_tell_the_lines_of_calls(tmp_path):
    file = record(tmp_path, "sub inner { my $x = 1;\n$x + 1 }\nsub outer {\n  inner();\n  inner() }\nouter();\n")
    found = {(tuple(row["stack"]), tuple(row["lines"])): row["calls"] for row in rows("--lines", file)}
    stack = ("main::RUNTIME", "main::outer", "main::inner")
    assert {lines: calls for (names, lines), calls in found.items() if names == stack} == {
        (6, 4, 1): 1, (6, 4, 2): 0, (6, 5, 1): 1, (6, 5, 2): 0}


def test_flags_tell_what_is_uncertain(profile):
    assert any(row["flags"] & 1 for row in rows(profile("unreturned")))
    assert all(row["flags"] & 2 for row in rows(profile("mixed-calls0")))
    assert not any(row["flags"] for row in rows(profile("mixed-calls2")))


def test_labels_and_header(profile, totals):
    row = rows("--label=host=h1", "--label=service=shop", "--label=x=a=b\"c", profile("mixed-calls2"))[0]
    assert (row["host"], row["service"]) == ("h1", "shop")
    assert dict(zip(row["label_keys"], row["label_values"])) == \
        {"host": "h1", "service": "shop", "x": 'a=b"c'}
    (_, _, start), = totals("mixed-calls2").processes
    assert row["script"] == "mixed.pl" and abs(row["start"] - start) < 2e-6 and row["stack"] == ["main::RUNTIME"]
    again = rows("--label=host=h1", profile("mixed-calls2"))[0]
    other = rows("--label=host=h2", profile("mixed-calls2"))[0]
    assert again["profile"] == row["profile"] != other["profile"]
    assert run("--rows", "--label=nothing", profile("mixed-calls2")).returncode == 2


def test_a_process_is_the_same_alone_and_in_company(tmp_path):
    """Its host, perl and id are its own, whoever is beside it."""
    files = [tmp_path / name for name in ("alpha", "beta", "none")]
    for version, file in enumerate(files):
        stream = Writer({"perl_version": f"5.3{version}.0"})
        if file.name == "alpha":
            stream.attribute("host", "alpha")  # as older recordings have it
        if file.name == "beta":
            stream.comment("nytp-attribute host=beta")
        stream.pid_start(7).fid(1, "/x/a.pl").time(10, 1, 5).pid_end(7).save(file)

    def processes(*given):
        return {(row["host"], row["perl"], row["profile"]) for row in rows(*given)}
    alone = [processes(file) for file in files]
    assert [next(iter(one))[0] for one in alone] == ["alpha", "beta", ""]
    assert processes(*files) == processes(*reversed(files)) == set.union(*alone)
    assert len({profile for one in alone for _, _, profile in one}) == 3


def test_gzip_by_suffix(profile, tmp_path):
    plain = good("--rows", profile("mixed-calls2"))
    out = tmp_path / "rows.jsonl.gz"
    assert good("-o", out, profile("mixed-calls2")) == b""
    assert gzip.decompress(out.read_bytes()) == plain
    good("-o", tmp_path / "rows.jsonl", profile("mixed-calls2"))
    assert (tmp_path / "rows.jsonl").read_bytes() == plain


# ---- paths ----

def test_paths_are_cut(tmp_path):
    program = "my $f = sub { 1 }; $f->() for 1..3; eval 'sub e { 2 } e()'; sub g { 1 } g();"
    one, two = (record(tmp_path / host / "app", program, out="p.out") for host in ("h1", "h2"))
    cut = [f"--trim-path={tmp_path}/{host}/app/" for host in ("h1", "h2")]

    def shape(file, *options):
        return [(row["stack"], row["file"], row["calls"]) for row in rows(*options, file)]
    assert shape(one) != shape(two)
    assert shape(one, *cut) == shape(two, *cut)
    assert {"a.pl"} <= {file for _, file, _ in shape(one, *cut)}
    text = good("--csv", *cut, one).decode() + good("--collapsed", "--lines", *cut, one).decode() + \
        good("--top", "--top=0", *cut, two).decode()
    assert str(tmp_path) not in text
    assert totals(one)["total"] == totals(*cut, one)["total"]
    assert run("--check", *cut, one).returncode == 0


# ---- pprof's labels ----

def sample_count(file):
    text = subprocess.run(["go", "tool", "pprof", "-raw", str(file)], capture_output=True, check=True,
                          env=dict(os.environ, HOME=str(file.parent))).stdout.decode()
    return len(re.findall(r"^ +-?\d+ +-?\d+ +-?\d+: ", text, re.MULTILINE))


def test_without_pids_equal_stacks_of_processes_are_one(tmp_path):
    program = "sub a { 1 } sub b { a() for 1..5 } b() for 1..3;"
    files = [record(tmp_path, program, out=f"{i}.out") for i in range(6)]
    tables, counts = {}, {}
    for labels in ("pid,script", "script", "none"):
        out = tmp_path / f"{labels}.pb.gz"
        good("--pprof", "--labels", labels, "--label", "env=prod", "-o", out, *files)
        tables[labels] = sorted(pprof(out, "-top", "-nodefraction=0", "-nodecount=100000", "-sample_index=calls",
                                      scratch=tmp_path).split("flat  flat%")[1].split("\n", 1)[1].split("\n"))
        counts[labels] = sample_count(out)
        tags = pprof(out, "-tags", scratch=tmp_path)
        assert "env: Total" in tags and "prod" in tags
        assert ("pid: Total" in tags) == (labels == "pid,script")
        assert ("script: Total" in tags) == (labels != "none")
    assert tables["none"] == tables["script"]
    assert sorted(row.split()[-1] for row in tables["none"] if row) == \
        sorted(row.split()[-1] for row in tables["pid,script"] if row)
    assert counts["pid,script"] == 6 * counts["none"] >= 18
    assert run("--pprof", "--labels", "gold", files[0]).returncode == 2


# ---- many inputs ----

@pytest.mark.parametrize("n", [24, 25, 47, 60])
def test_many_inputs_are_merged_in_groups_without_a_trace(profile, n):
    """Copies of one recording: each stack has n times its calls, the parts keep their order."""
    file = profile("evals")

    def stacks(*files):
        lines = good("--collapsed", "--weight=calls", "--merge-evals", *files).decode().splitlines()
        return {stack: int(calls) for stack, _, calls in (line.rpartition(" ") for line in lines)}
    one = stacks(file)
    assert stacks(*[file] * n) == {stack: calls * n for stack, calls in one.items()}
    many, single = totals(*[file] * n), totals("--merge-evals", file)
    assert many["total"] == n * single["total"] and len(many["inputs"]) == n
    assert [process["input"] for process in many["processes"]] == list(range(n))
    assert {sub["name"] for sub in many["subs"]} == {sub["name"] for sub in single["subs"]}
    if n > 24:      # of several groups: an eval that many inputs have is one file, not one for each
        assert sorted(file["name"] for file in many["files"]) == sorted({file["name"] for file in single["files"]})


# Each of nine subs calls all of them: some 1,300 stacks.
CALLS = " ".join(f"a{i}($d - 1);" for i in range(9))
SUBS = "".join(f"sub a{i} {{ my $d = shift; my $x = $d * 2; if ($d) {{ {CALLS} }} $x }}\n" for i in range(9))
FAN = f"use JSON::PP; use Data::Dumper;\n{SUBS}a0(3); a1(2); a2(2);"
MEASURE = """import os, sys
child = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
print(status, usage.ru_maxrss)
"""


def peak_mb(*arguments):
    """The memory that a run took at most. It is started by a small process: until it is another
    program, a child has its parent's memory, and this one's may be large."""
    done = subprocess.run([sys.executable, "-c", MEASURE, COMMAND, *map(str, arguments), "-o", os.devnull],
                          capture_output=True, check=True)
    status, peak_kb = map(int, done.stdout.split())
    assert status == 0, done.stderr
    return peak_kb / 1024


def test_memory_of_many_inputs_is_that_of_their_sum(tmp_path):
    """What was merged is given back: 500 recordings of 1,300 stacks take 270 MB."""
    one = record(tmp_path / "one", FAN)
    assert len(rows(one)) > 1000
    files = [tmp_path / f"{i}.out" for i in range(120)]
    for file in files:
        file.symlink_to(one)
    few, many = peak_mb("--collapsed", "-q", *files[:60]), peak_mb("--collapsed", "-q", *files)
    assert many < 70 and (many - few) / 60 < 0.5, (few, many)


# A page behind the heap, which brk() cannot pass. The program itself has as much memory as there is.
WALL = """
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((constructor)) static void put_wall(void)
{
    char *const at = (char *)(((size_t)sbrk(0) + ((size_t)atoi(getenv("ROOM_KB")) << 10) + 4095) & ~(size_t)4095);
    if (mmap(at, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
        _exit(99);
}
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's malloc()")
def test_no_memory_is_missing_where_the_heap_has_little_room(tmp_path):
    """As in valgrind, or where something is mapped behind the heap: glibc's malloc() refused what it had got a moment before."""
    one = record(tmp_path / "one", FAN)
    (tmp_path / "wall.c").write_text(WALL)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "wall.so", tmp_path / "wall.c"], check=True)
    for room_kb in range(256, 4097, 640):
        done = run("-q", "--processes", *[one] * 22, env={"LD_PRELOAD": str(tmp_path / "wall.so"), "ROOM_KB": str(room_kb)})
        assert (done.returncode, done.stderr) == (0, b""), room_kb
