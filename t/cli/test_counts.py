# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Recordings of counts only (counts=1): counts as in an exact recording, and no time anywhere, not even one of 0."""

import json
import re
import subprocess

import pytest

from command import ROOT, asking_for, csv_rows, formats, good, judged, messages, run
from recordings import merge, record

PROGRAM = """package Foo;
sub get {
    my $x = shift;
    return $x;
}
sub all {
    get($_) for 1 .. $_[0];
    return 1;
}
package main;
Foo::all(100);
my @sorted = sort { $a <=> $b } 3, 1, 2;
Foo::get(7) for 1 .. 5;
"""
SHOWN = {"callgrind", "collapsed", "csv", "flamegraph", "json", "markdown", "pprof", "pprof-text", "processes", "rows",
         "save-base", "top"}
A_TIME = re.compile(r"\b[0-9.]+ ?(?:ns|us|ms|s)\b|\bnan\b|\binf\b|nanosec|wall", re.IGNORECASE)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("counts")
    more = PROGRAM.replace("all(100)", "all(150)")
    return {"exact": record(folder, PROGRAM, out="exact.out"),
            "counts": record(folder, PROGRAM, out="counts.out", options="counts=1", steps=False),
            "more": record(folder / "more", more, out="more.out", options="counts=1", steps=False)}


def test_every_format_shows_counts_or_says_what_does(files, tmp_path):
    assert SHOWN < set(formats())
    for name in formats():
        done = run("-q", asking_for(name), "-o", tmp_path / f"out.{name}", files["counts"])
        if name in SHOWN:
            assert (done.returncode, done.stderr) == (0, b""), name
        else:
            assert done.returncode == 2, name
            (line,) = messages(done)
            assert line.startswith(f"nytp-export: --{name} is about times, and {files['counts']} has counts only (NYTPROF=counts=1): use --top")


@pytest.mark.parametrize("name", sorted(SHOWN - {"pprof"}))
def test_no_time_is_written(name, files):
    text = good("-q", asking_for(name), files["counts"]).decode()
    text = re.sub(r"nytp-counts\d*|/\S*counts\S*", "", text)
    found = [found.group() for found in A_TIME.finditer(text)]
    if name == "json":
        assert found == ["nanosec"]  # the unit of times, of which there is none
    elif name == "pprof-text":
        assert found == ["wall", "nanosec"]  # strings of its table that nothing refers to
    elif name == "flamegraph":
        assert not [one for one in found if not one.startswith(("0s", "1s", "2s"))]
    else:
        assert found == []


def test_the_numbers_are_those_of_an_exact_recording(files):
    def rows(file):
        return {row["sub"]: (row["calls"], row["statements"]) for row in csv_rows("-q", file)}
    counted = rows(files["counts"])
    assert counted == rows(files["exact"])
    assert counted["Foo::get"] == ("105", "210")
    totals = json.loads(good("-q", "--json", files["counts"]))
    assert totals["counts_only"] is True
    assert not [key for one in totals["subs"] + totals["lines"] + totals["calls"] + [totals] for key in one
                if key in {"total", "inclusive", "exclusive", "recursive", "recording_cost"}]
    first = json.loads(good("-q", "--rows", files["counts"]).splitlines()[0])
    assert first["flags"] & 16 and not {"wall_ns", "duration_ns"} & set(first)


def test_stacks_go_by_calls(files):
    stacks = dict(line.rsplit(" ", 1) for line in
                  good("-q", "--collapsed", "--weight=calls", files["counts"]).decode().splitlines())
    assert stacks["main::RUNTIME;Foo::all;Foo::get"] == "100"
    assert stacks["main::RUNTIME;Foo::get"] == "5"
    done = run("--collapsed", files["counts"])
    assert f"nytp-export: {files['counts']} has counts only (NYTPROF=counts=1): weights are statements" in messages(done)
    assert f"nytp-export: {files['counts']}: recorded with NYTPROF option counts=1, so stacks are estimated from call sites" in messages(done)
    assert b"main::RUNTIME;Foo::all;Foo::get 200\n" in done.stdout


def test_pprof_and_callgrind_have_statements_first(files):
    text = good("-q", "--pprof-text", files["counts"]).decode()
    assert text.count("sample_type {") == 2
    assert "duration_nanos" not in text and "period" not in text
    assert re.findall(r"^events: (.*)$", good("-q", "--callgrind", files["counts"]).decode(), re.MULTILINE) == ["stmts"]


@pytest.mark.parametrize("options", [["--top", "--sort=self"], ["--top", "--sort=incl"], ["--top", "--sort=percall"],
                                     ["--top", "--min-percent=1"], ["--top", "--spread"], ["--collapsed", "--weight=time"]])
def test_an_option_of_times_is_refused(options, files):
    done = run("-q", *options, files["counts"])
    assert done.returncode == 2
    (line,) = messages(done)
    assert "is about times, and" in line and line.endswith("--sort=calls, ops or name, --weight=statements, calls or ops")


def test_they_are_not_mixed_with_recordings_of_times(files, tmp_path):
    done = run("-q", "--top", files["counts"], files["exact"])
    assert done.returncode == 2
    assert messages(done) == [f"nytp-export: {files['counts']} has counts only (NYTPROF=counts=1), other recordings have times: export them apart"]
    both = merge(tmp_path / "both.out", files["counts"], files["more"])
    assert b"counts only" in good("-q", "--top", both)
    with pytest.raises(subprocess.CalledProcessError) as failed:
        merge(tmp_path / "mixed.out", files["exact"], files["counts"])
    assert b"counts only (counts=1), but recordings before it have times" in failed.value.stderr


def test_comparisons_tell_counts_and_no_times(files):
    text = good("-q", "--diff", files["counts"], files["more"]).decode()
    assert text.startswith("counts only: no times were recorded (counts=1)\n")
    assert re.search(r"\+100 +\+50 +- +210 +310  Foo::get", text)
    assert not A_TIME.search(text.split("sub\n")[1])
    lines = json.loads(good("-q", "--diff", files["counts"], "--json", "--lines", files["more"]))
    (get,) = [row for row in lines["diff"] if row["sub"] == "Foo::get"]
    assert (get["base"]["exclusive"], get["new"]["exclusive"]) == (None, None)
    assert [line["new"]["statements"] for line in get["lines"]] == [155, 155]
    text = good("-q", "--diff", files["counts"], files["exact"]).decode()
    assert "the base holds counts only" in text
    assert b"main::RUNTIME;Foo::all;Foo::get 200 300\n" in good("-q", "--collapsed", "--diff", files["counts"], files["more"])


def test_rules_of_counts_are_judged_and_those_of_times_are_not(files, tmp_path):
    assert judged(tmp_path, "calls Foo::get <= 105\nstatements Foo::get <= 210", files["counts"])[0] == 0
    assert judged(tmp_path, "calls Foo::get <= 104", files["counts"])[0] == 10
    for rule in "time Foo::get <= 5s", "incl Foo::get <= 5s":
        status, said = judged(tmp_path, f"calls Foo::get <= 105\n{rule}", files["counts"])
        assert status == 2
        assert "# cannot be judged: a limit on time, and the recording has counts only (counts=1)" in said
    base = tmp_path / "base.json"
    base.write_bytes(good("-q", "--save-base", files["counts"]))
    assert run("-q", "--diff", base, "--fail-over", "2%:statements", files["counts"]).returncode == 0
    assert run("-q", "--diff", base, "--fail-over", "2%:statements", files["more"]).returncode == 10


def test_times_behind_the_attribute_are_no_times(tmp_path):
    timed = record(tmp_path, PROGRAM, options="compress=0").read_bytes()
    claims = tmp_path / "claims.out"
    claims.write_bytes(timed.replace(b"\n:basetime=", b"\n#nytp-attribute counts=1\n:basetime=", 1))
    assert good("--check", claims).endswith(b"ok\n")
    assert b"counts only, " in good("-q", "--top", claims)
    assert not A_TIME.search(good("-q", "--csv", claims).decode())
    behind = tmp_path / "behind.out"
    behind.write_bytes(timed + b"#nytp-attribute counts=1\n")
    assert good("-q", "--csv", behind) == good("-q", "--csv", tmp_path / "a.pl.out")


def test_all_adds_up(files):
    assert good("--check", files["counts"]).endswith(b"ok\n")
    stats = good("--stats", files["counts"]).decode()
    assert "time          counts only\n" in stats and not re.search(r" 0 s\b", stats)


def test_the_classic_commands(files, tmp_path):
    def ran(name, *arguments):
        return subprocess.run(["perl", f"-I{ROOT}/blib/lib", f"-I{ROOT}/blib/arch", ROOT / "bin" / name, *arguments],
                              cwd=tmp_path, capture_output=True, check=False, timeout=600)
    for name in ("nytprofhtml", "nytprofcsv", "nytprofpf"):
        done = ran(name, "-f", files["counts"], "-o", "out")
        assert done.returncode != 0 and b"has counts only (NYTPROF=counts=1)" in done.stderr, name
    assert b"events: stmts\n" in (ran("nytprofcg", "-f", files["counts"], "--out=cg"), (tmp_path / "cg").read_bytes())[1]
    assert b"Foo::all;Foo::get 200\n" in ran("nytprofcalls", files["counts"]).stdout
    code = """my $p = Devel::NYTProf::Data->new({filename => shift, quiet => 1}); my $s = $p->subname_subinfo_map->{'Foo::get'};
              print join ' ', map { $_ // 'undef' } $p->attributes->{counts}, $s->calls, $s->incl_time, $s->excl_time,
              map { @{ $_ // [] } } @{ $p->{fid_line_time}[1] }[3, 4]"""
    done = subprocess.run(["perl", f"-I{ROOT}/blib/lib", f"-I{ROOT}/blib/arch", "-MDevel::NYTProf::Data", "-we", code, files["counts"]],
                          capture_output=True, check=False, timeout=600)
    assert done.stdout == b"1 105 undef undef undef 105 undef 105", done.stderr


@pytest.mark.parametrize("option", ["--ignore=RUNTIME", "--focus=nobody", "--hide=."])
def test_a_selection_that_leaves_no_counts_has_the_status_of_one_that_leaves_no_time(files, option):
    for name in sorted(SHOWN):
        assert run("-q", asking_for(name), option, files["exact"]).returncode == 1, name
        assert run("-q", asking_for(name), option, files["counts"]).returncode == 1, name
