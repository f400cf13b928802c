# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""--by: keys by their name, values that are grouped, formats that programs read, the file of the slowest."""

import json
import re

import pytest

from instructions import instructions
from command import csv_rows, messages, run
from nytpwrite import Writer
from recordings import record
from written import begun

PROGRAM = """sub spin { my $t = 0; $t += $_ for 1 .. $_[0]; return $t }
sub request {
    my ($path, $n) = @_;
    DB::label(request => "GET $path");
    DB::label(sql => "select $n");
    spin($n);
    DB::label(request => undef, sql => undef);
}
request("/item/$_", 100) for 1 .. 8;
request("/slow", $ARGV[0]);
package Devel::NYTProf::Requests;
DB::label(ours => 1);
sub begin { my $t = 0; $t += $_ for 1 .. 20000; main::spin(5000) }
begin();
DB::label(ours => undef);
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels")
    for n, slow in ("a", 3000), ("b", 300000):
        (folder / n).mkdir()
        record(folder / n, PROGRAM.replace("$ARGV[0]", str(slow)))
    return folder


def by(folder, *options, inputs=("a/a.pl.out", "b/a.pl.out"), status=0):
    done = run(*options, *inputs, cwd=folder)
    assert done.returncode == status, done.stderr
    return done


def rows(folder, *options, **more):
    return json.loads(by(folder, *options, "--json", **more).stdout)["labels"]


def told(path):
    """Rows of the requests of one recording, and the table."""
    table = by(path.parent, "--by=request", inputs=(path.name,)).stdout.decode()
    return rows(path.parent, "--by=request", inputs=(path.name,)), table


def test_a_key_is_asked_for_by_its_name(folder):
    assert {row["key"] for row in rows(folder, "--by=label")} == {"request", "sql", "ours"}
    for name in "--by=sql", "--by=label=sql":
        assert {row["key"] for row in rows(folder, name)} == {"sql"}


def test_a_wrong_key_is_told_which_there_are(folder):
    done = by(folder, "--by=reqest", status=1)
    assert messages(done) == ["nytp-export: no label reqest in the input; labels are: ours, request, sql; "
                              "did you mean request?"]
    assert done.stdout == b""


def test_a_wrong_key_has_no_rows_and_a_message(folder):
    """Who loads them every night would load nothing and not know."""
    done = by(folder, "--by=reqest", "--rows", status=1)
    assert done.stdout == b"" and messages(done) == ["nytp-export: no label reqest in the input"]
    assert by(folder, "--by=request", "--rows").stdout


@pytest.mark.parametrize("group, values", [
    (r"s{/\d+}{/N}", {"GET /item/N": 16, "GET /slow": 2}),
    (r"s#[a-z]#x#g", {"GET /xxxx/1": 2, "GET /xxxx": 2}),
    (r"s/get \/(\w+).*/$1/i", {"item": 16, "slow": 2}),
])
def test_values_that_become_equal_are_one_label(folder, group, values):
    found = {row["value"]: row["n"] for row in rows(folder, "--by=request", f"--group={group}")}
    assert found.items() >= values.items()
    assert sum(found.values()) == 18


def test_grouped_lengths_add_up(folder):
    single = rows(folder, "--by=request")
    grouped = rows(folder, "--by=request", r"--group=s/.*/all/")
    assert [row["value"] for row in grouped] == ["all"]
    assert abs(grouped[0]["total_ns"] - sum(row["total_ns"] for row in single)) <= 18
    assert grouped[0]["max_ns"] == max(row["max_ns"] for row in single)


def test_csv_and_markdown_tell_the_same(folder):
    of_json = rows(folder, "--by=request")
    of_csv = csv_rows("--by=request", "a/a.pl.out", "b/a.pl.out", cwd=folder)
    assert [{key: str(row.get(key, "")) for key in of_csv[0]} for row in of_json] == of_csv and set(of_json[0]) <= set(of_csv[0])
    by(folder, "--by=request", "-o", "by.csv")
    assert (folder / "by.csv").read_bytes() == by(folder, "--by=request", "--csv").stdout
    lines = by(folder, "--by=request", "--markdown").stdout.decode().splitlines()
    assert lines[0].startswith("| request | n | total |")
    assert [line.split(" | ")[:2] for line in lines[2:]] == [[f"| `{row['value']}`", str(row["n"])] for row in of_json]


def test_what_a_label_adds_to_memory(tmp_path):
    program = """my (%cache, $n); sub iteration { $cache{$n++} = 'x' x 1000 for 1 .. $_[0] }
        iteration(3000);
        for my $i (1 .. 8) { DB::label(request => $i % 2 ? 'GROWS' : 'STAYS'); iteration($i % 2 ? 1600 : 3); DB::label(request => undef) }"""
    record(tmp_path, program, steps=False, out="plain")
    record(tmp_path, program, steps=False, out="svs", options="memory=1")
    plain = {row["value"]: row for row in rows(tmp_path, "--by=request", inputs=("plain",))}
    assert 4e6 < plain["GROWS"]["memory_grown"] < 16e6 and abs(plain["STAYS"]["memory_grown"]) < 2e6
    assert "svs_grown" not in plain["GROWS"]
    svs = {row["value"]: row for row in rows(tmp_path, "--by=request", inputs=("svs",))}
    assert svs["GROWS"]["svs_grown"] == 4 * 1600 and svs["STAYS"]["svs_grown"] == 4 * 3
    subs = {value: json.loads(run("--json", f"--where=request={value}", tmp_path / "svs").stdout)["subs"] for value in svs}
    assert {value: sum(sub.get("svs", 0) for sub in subs[value]) for value in svs} == {"GROWS": 4 * 1600, "STAYS": 4 * 3}
    table = by(tmp_path, "--by=request", inputs=("svs",)).stdout.decode()
    assert re.search(r"own +rss \+ +svs \+  slowest sub +request$", table, re.M)
    assert re.search(r" +[\d.]+ MB +6400  \w+::\w+ .*GROWS$", table, re.M)  # a busy machine may make another sub the slowest, or the main program


def test_memory_is_told_of_what_is_known_only(tmp_path):
    """It is as told last before a label changes, of this process; a label that ends with less has grown by less than nothing."""
    out = begun().comment("nytp-label 0 request=early").comment("nytp-label 5 request").comment("nytp-memory 5000000")
    out.comment("nytp-label 10 request=less").time(100, 1, 1).comment("nytp-memory 3000000")
    out.comment("nytp-label 20 request=more").time(100, 1, 1).comment("nytp-memory 4500000")
    out.comment("nytp-label 30 request").comment("nytp-memory 9000000").pid_end(7, 1001.0)
    out.pid_start(8, 1, 1000.0).comment("nytp-label 0 request=other").time(100, 1, 1).comment("nytp-memory 800000")
    seen, table = told(out.pid_end(8, 1001.0).save(tmp_path / "a.out"))
    assert {row["value"]: row.get("memory_grown") for row in seen} == {"early": None, "less": -2000000, "more": 1500000, "other": None}
    assert re.search(r" -2\.0 MB .* less$", table, re.M) and re.search(r" - .* early$", table, re.M)


@pytest.mark.parametrize("lengths, median", [((1,), 1), ((1, 3), 2), ((5, 1, 3), 3), ((1, 1, 4, 9), 2.5)])
def test_the_median_of_an_even_number_lies_between_the_two_in_the_middle(tmp_path, lengths, median):
    out = begun(ticks_per_sec=10)
    for seconds in lengths:
        out.comment("nytp-label 0 request=r").comment(f"nytp-label {10 * seconds} request")
    (row,), _ = told(out.pid_end(7, 1100.0).save(tmp_path / "a.out"))
    assert (row["n"], row["median_ns"]) == (len(lengths), median * 1e9)


def test_what_a_damaged_file_tells_of_memory_and_time_is_not_summed_beyond_what_numbers_hold(tmp_path):
    out = begun(ticks_per_sec=1)
    for _ in range(3):
        out.comment("nytp-memory 1").comment("nytp-label 0 request=huge").comment("nytp-memory 99999999999999999")
        out.comment("nytp-label 40000000000 request")
    (row,), table = told(out.pid_end(7, 1001.0).save(tmp_path / "a.out"))
    assert row.get("memory_grown") is None
    assert (row["n"], row["total_ns"], row["median_ns"]) == (3, 9000000000000000000, 9000000000000000000)
    assert re.search(r"^ +3 (9000000000 s +){4}- .*huge$", table, re.M), table     # the longest that is shown


def test_which_part_is_the_databases_and_which_is_waiting(tmp_path):
    """Own time of DBI's and its drivers' subs, and of what waits: reading does where a call takes a millisecond in mean."""
    out = begun().comment("nytp-label 0 request=both")
    for sub, ticks in (("DBI::st::execute", 200000), ("DBD::SQLite::st::_prepare", 50000), ("main::CORE:readline", 15000),
                       ("IO::Socket::CORE:sysread", 5000), ("main::CORE:sselect", 100000), ("main::work", 630000)):
        out.entry(1, 1).time(ticks, 1, 1).leave(1, ticks, ticks, sub)
    (row,), table = told(out.comment("nytp-label 1000000 request").pid_end(7, 1001.0).save(tmp_path / "a.out"))
    assert [row[key] for key in ("total_ns", "database_ns", "waiting_ns")] == [100000000, 25000000, 11500000]
    assert re.search(r"max +own +db +wait +slowest sub +request$", table, re.M) and re.search(r" 25\.0% +11\.5%  main::work", table)
    out = begun().comment("nytp-label 0 request=none").time(5, 1, 1).comment("nytp-label 5 request")
    _, table = told(out.pid_end(7, 1001.0).save(tmp_path / "b.out"))
    assert not re.search(" db | wait ", table)


def test_a_stretch_that_is_shorter_than_its_samples_is_no_part_above_one(tmp_path):
    out = begun(is_sampled=True).comment("nytp-label 0 request=short")
    for sub, ticks in ("DBI::st::execute", 10000), ("main::CORE:sselect", 5000), ("main::work", 5000):
        out.entry(1, 1).time(ticks, 1, 1).leave(1, ticks, ticks, sub)
    (row,), table = told(out.comment("nytp-label 1520 request").pid_end(7, 1001.0).save(tmp_path / "a.out"))
    assert [row[key] for key in ("total_ns", "slowest_sub_own_ns", "database_ns", "waiting_ns")] == [152000, 76000, 76000, 38000]
    assert re.search(r" 76\.0 us +50\.0% +25\.0%  DBI::st::execute", table)


def test_a_format_without_a_place_for_labels_is_refused(folder):
    for words in ["--pprof"], ["--top=2"], ["-o", "x.html"], ["-o", "x.pb.gz"]:
        assert "--by has a table of its own" in messages(by(folder, "--by=label", *words, status=2))[0]
    for words in ["--rows", "--unit=s"], ["--json", "--label=a=b"]:
        assert "means nothing" in messages(by(folder, "--by=label", *words, status=2))[0]


def test_the_slowest_is_named_with_its_place_and_its_file(folder):
    slow, = [row for row in rows(folder, "--by=request") if row["value"] == "GET /slow"]
    assert (slow["slowest_sub"], slow["line"], slow["max_file"]) == ("main::spin", 1, "b/a.pl.out")
    assert slow["file"].endswith("/a.pl") and slow["max_ns"] > slow["median_ns"]
    text = by(folder, "--by=request").stdout.decode()
    assert "as recorded" not in text
    text = by(folder, "--by=request", "--as-recorded").stdout.decode()
    assert text.endswith("\n\ntimes as recorded: what recording cost is in them\n")
    assert re.search(r"main::spin a.pl:1 +b/a.pl.out +GET /slow", text)
    assert "b/a.pl.out" not in by(folder, "--by=request", inputs=["b/a.pl.out"]).stdout.decode()


def test_the_profilers_own_subs_are_never_the_slowest(folder):
    ours, = rows(folder, "--by=ours")
    assert ours["slowest_sub"] == "main::spin"


def test_rows_hold_each_length_with_host_and_given_labels(folder):
    lines = by(folder, "--by=request", "--rows", "--label=service=web", "--label=release=7").stdout.splitlines()
    found = [json.loads(line) for line in lines]
    assert {(row["service"], row["release"], row["label_key"]) for row in found} == {("web", "7", "request")}
    for row in rows(folder, "--by=request"):
        mine = [line for line in found if line["label_value"] == row["value"]]
        assert sum(line["n"] for line in mine) == row["n"]
        total = sum(line["n"] * line["ns"] for line in mine)
        assert abs(total - row["total_ns"]) <= 0.002 * row["total_ns"] + 50


def test_where_not_all_subs_could_be_kept_none_is_the_slowest(tmp_path):
    """100 labels of 50,000 subs are as many pairs as are kept; one label begins before them all."""
    stream = Writer().pid_start(7, 1).fid(1, "/x/a.pl").comment("nytp-label 0 early=1")
    stream.leave(1, 5, 5, "A::a").comment("nytp-label 1 early")
    for label in range(100):
        stream.comment(f"nytp-label 1 key{label}=1")
    for sub in range(50_000):
        stream.leave(1, 1, 1, f"A::b{sub}")
    stream.time(60_000, 1, 1).leave(1, 9, 9, "A::late").pid_end(7).save(tmp_path / "a.out")
    found = {row["key"]: row["slowest_sub"] for row in rows(tmp_path, "--by=label", inputs=["a.out"])}
    assert found == {"early": "A::a", **{f"key{label}": "" for label in range(100)}}


def test_a_package_that_a_framework_made_up_has_the_files_name(tmp_path):
    program = """package Plack::Sandbox::_2fx_2fapp_2epsgi;
sub slow { my $t = 0; $t += $_ for 1 .. 500; $t }
DB::label(request => 'GET /'); slow(); DB::label(request => undef);
"""
    out = record(tmp_path, program, name="app.psgi")
    assert "  app.psgi::slow app.psgi:2  " in run("--by=request", out).stdout.decode()
    row, = json.loads(run("--by=request", "--json", out).stdout)["labels"]
    assert row["slowest_sub"] == "app.psgi::slow"
    run("--html", "-o", tmp_path / "r.html", out)
    assert "most in app.psgi::slow" in re.sub("<[^>]+>", "", (tmp_path / "r.html").read_text())


def labelled(path, *ticks, per_sec=10**7, pid=7):
    """A recording in which the label request=R was in force for so many ticks, and again."""
    out = begun(pid, ticks_per_sec=per_sec)
    for i, length in enumerate(ticks):
        out.comment(f"nytp-label {i * 10**12} request=R").entry(1, 1).time(length, 1, 1).leave(1, length, length, "main::f")
        out.comment(f"nytp-label {i * 10**12 + length} request")
    out.pid_end(pid, 1001.0).save(path)


def test_ticks_are_those_of_the_recording(tmp_path):
    """Of recordings whose clocks differ they are those of the finest."""
    labelled(tmp_path / "a.out", 50, 20)
    labelled(tmp_path / "b.out", 3, per_sec=10**5)
    for inputs, total, most in ((("a.out",), 70, 50), (("a.out", "b.out"), 370, 300)):
        row, = rows(tmp_path, "--by=request", "--unit=ticks", inputs=inputs)
        assert (row["total_ticks"], row["max_ticks"]) == (total, most)
        row, = csv_rows("--by=request", "--unit=ticks", *inputs, cwd=tmp_path)
        assert (row["total_ticks"], row["max_ticks"]) == (str(total), str(most))
        assert f"| {total} | " in by(tmp_path, "--by=request", "--unit=ticks", "--markdown", inputs=inputs).stdout.decode()
        assert re.search(rf"^ +{len(inputs) + 1} +{total} .* {most} +{total} ", by(tmp_path, "--by=request", "--unit=ticks", inputs=inputs).stdout.decode(), re.M)
    row, = rows(tmp_path, "--by=request", "--unit=us", inputs=("a.out",))
    assert row["total_us"] == 7


def test_all_recordings_of_one_file_count(tmp_path):
    labelled(tmp_path / "a.out", 50, 20)
    labelled(tmp_path / "b.out", 3, per_sec=10**5, pid=8)
    (tmp_path / "both.out").write_bytes((tmp_path / "a.out").read_bytes() + (tmp_path / "b.out").read_bytes())
    row, = rows(tmp_path, "--by=request", inputs=("both.out",))
    apart, = rows(tmp_path, "--by=request", inputs=("a.out", "b.out"))
    assert row.pop("max_file") == "both.out" and apart.pop("max_file") == "b.out"
    assert row == apart and (row["n"], row["total_ns"], row["slowest_sub"]) == (3, 37000, "main::f")
    lines = by(tmp_path, "--by=request", "--rows", inputs=("both.out",)).stdout.splitlines()
    assert sorted((row["n"], row["ns"]) for row in map(json.loads, lines)) == [(1, 2000), (1, 5000), (1, 30000)]


def test_rows_of_each_recording_of_one_file_tell_its_own_host(tmp_path):
    """A recording that does not know its host has not that of another one. Times of a label that several have stay apart."""
    lengths = {}
    for host, ticks in ("db1", 50), ("", 20), ("db2", 30):
        out = begun(basetime=ticks, application=f"{host}.pl", **({"host": host} if host else {}))
        out.comment("nytp-label 0 request=R").time(ticks, 1, 1).pid_end(7, 1001.0).save(tmp_path / "a.out")
        lengths[host, f"{host}.pl", ticks] = ticks * 100
        with open(tmp_path / "all.out", "ab") as all_:
            all_.write((tmp_path / "a.out").read_bytes())
    lines = by(tmp_path, "--by=request", "--rows", inputs=("all.out",)).stdout.splitlines()
    assert {(row["host"], row["application"], row["start"]): row["ns"] for row in map(json.loads, lines)} == lengths
    assert len(lines) == 3


def test_a_stretch_that_is_in_force_at_the_end_is_of_its_own_input(tmp_path):
    for name, ticks in ("a.out", 30), ("b.out", 70):
        begun().comment("nytp-label 5 request=R").time(ticks, 1, 1).save(tmp_path / name)
    (tmp_path / "both.out").write_bytes((tmp_path / "b.out").read_bytes() + (tmp_path / "a.out").read_bytes())
    for inputs in ("a.out", "b.out"), ("b.out", "a.out"), ("both.out",):
        row, = rows(tmp_path, "--by=request", inputs=inputs)
        assert (row["n"], row["total_ns"], row["max_ns"], row["max_file"]) == (2, 10000, 7000, "both.out" if len(inputs) == 1 else "b.out")


def with_keys(n, n_returns, text="nytp-label 1 k{}=v{}"):
    stream = Writer().pid_start(7, 1).fid(1, "/x/a.pl").time(10, 1, 1)
    for key in range(n):
        stream.comment(text.format(key, key))
    for number in range(n_returns):
        stream.leave(1, 5, 5, f"main::f{number % 1000}")
    return stream.time(10, 1, 1).pid_end(7)


@pytest.mark.parametrize("text", ["nytp-label 1 k{}=v{}", "nytp-label-profile k{}=v{}"])
def test_more_keys_than_are_looked_at_are_one(tmp_path, text):
    path = with_keys(205, 3, text).save(tmp_path / "keys.out")
    labels = json.loads(run("--by=label", "--json", path).stdout)["labels"]
    assert len(labels) == 201 and {(row["key"], row["value"]) for row in labels} >= {("k0", "v0"), ("k199", "v199"), ("(more)", "(more)")}
    assert [row["n"] for row in labels if row["key"] == "(more)"] == [1 if "profile" in text else 5]
    few = json.loads(run("--by=label", "--json", with_keys(200, 3, text).save(path)).stdout)["labels"]
    assert [row for row in labels if row["key"] != "(more)"] == few


@pytest.mark.parametrize("text", ["nytp-label 1 k{}=v{}", "nytp-label-profile k{}=v{}"])
def test_many_keys_do_not_take_longer(tmp_path, text):
    """Each was looked at with each change of another, and with each call that returned."""
    few, many = (instructions("--by=label", "-o", tmp_path / "out", with_keys(n, 300, text).save(tmp_path / "keys.out"))
                 for n in (300, 2000))
    assert many < 1.2 * few, (few, many)


@pytest.mark.parametrize("form", ["--sql", "--chrome-trace"])
def test_labels_of_many_processes_are_found_without_a_walk_over_all(tmp_path, form):
    def work(n):
        out = Writer().fid(1, "/x/a.pl")
        for pid in range(n):
            out.pid_start(pid)
            for at in range(10):
                out.comment(f"nytp-label {at * 10} request={at}").entry(1, 3).time(10, 1, 4).leave(1, 5, 5, "DBI::db::do")
            out.pid_end(pid)
        return instructions(form, "-o", tmp_path / "out", out.save(tmp_path / "many.out"))
    few, many = work(100), work(400)
    assert many < 4.3 * few, (few, many)


COSTS = "nytp-costs stmt=100000 leave=200000 call_in=300000 call_out=400000 xsub_in=500000 xsub_out=600000 op_in=700000 op_out=800000"


def test_what_recording_cost_is_subtracted_from_each_stretch(tmp_path):
    """In ns: 5 of a statement, 10 of a leave, ... of a clock of 1 GHz. The costs that are told last count."""
    out = begun(ticks_per_sec=1000000000).comment("nytp-costs stmt=1").callers(0, 0, "main", "main::x", 0, 0, 0)
    out.comment("nytp-label 0 request=one").time(1000, 1, 1).discount().time(2000, 1, 2).comment("nytp-label 10000 request")
    out.comment("nytp-label 10000 request=calls")
    for sub, own in ("main::p", 4000), ("main::x", 5000), ("main::CORE:print", 6000):
        out.leave(1, own, own, sub)
    out.time(10000, 1, 3).discount().time(5000, 1, 4).comment("nytp-label 40000 request").comment(COSTS)
    seen, table = told(out.pid_end(7, 1001.0).save(tmp_path / "a.out"))
    assert {row["value"]: row["total_ns"] for row in seen} == {"one": 10000 - 300, "calls": 30000 - 100 - 700 - 1100 - 1500}
    assert "as recorded" not in table
    raw = rows(tmp_path, "--by=request", "--as-recorded", inputs=("a.out",))
    assert {row["value"]: row["total_ns"] for row in raw} == {"one": 10000, "calls": 30000}


def test_a_stretch_shorter_than_its_cost_took_no_time(tmp_path):
    out = begun(ticks_per_sec=1000000000).comment(COSTS).comment("nytp-label 0 request=tiny")
    out.time(10, 1, 1).time(10, 1, 1).comment("nytp-label 20 request")
    (row,), _ = told(out.pid_end(7, 1001.0).save(tmp_path / "a.out"))
    assert (row["n"], row["total_ns"], row["max_ns"]) == (1, 0, 0)


@pytest.mark.parametrize("options, most_ns", [("slowops=0", 1000), ("slowops=0:calls=1", 1000), ("", 20000), ("leave=0", 20000)])
def test_by_and_where_tell_the_same_time(tmp_path, options, most_ns):
    """Both subtract the same costs of the same events. A statement outside of subs in which a label changes has one time, which
    --where counts where the statement ends: here that is a reading of the clock. The clock is moved on by the program only,
    since on a busy machine it could be milliseconds. Where select() is a context of its own the subs take no more than they cost."""
    out = record(tmp_path, """sub work { select undef, undef, undef, 0.05; my $t = 0; $t += $_ for 1 .. $_[0]; return $t }
        sub text { work(1); my @words = map { sprintf '%0300d', $_ } 1 .. 300; return join ',', @words }
        sub both { work(1000); return text() }
        for my $n (1 .. 40) { DB::label(request => $n % 2 ? 'work' : 'both'); $n % 2 ? work(9000) : both(); DB::label(request => undef) }""",
                 options=options)
    for row in rows(tmp_path, "--by=request", inputs=(out.name,)):
        selected = json.loads(run("--json", f"--where=request={row['value']}", out).stdout)
        process, = selected["processes"]
        assert abs(row["total_ns"] - process["total"]) <= most_ns, (row, process)
        assert process["recording_cost"] > 8 * most_ns     # what neither subtracts would not be seen
