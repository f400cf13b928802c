# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""One ClickHouse server with schema.sql alone: stacks, and labels over several hosts."""

import json

import pytest

import cluster as clickhouse
from command import run
from nytpwrite import Writer
from recordings import record

PROGRAM = """sub price { my $t = 0; $t += $_ for 1 .. $_[0]; $t }
for my $n (1 .. 20) { DB::label(request => "GET /cart/$n"); price(%d * $n); DB::label(request => undef) }
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory, export_command):
    folder = tmp_path_factory.mktemp("one")
    return {f"h{n}": record(folder / f"h{n}", PROGRAM % (100 * (n + 1)), "shop.pl") for n in range(3)}


@pytest.fixture(scope="module")
def server(files, tmp_path_factory):
    if clickhouse.missing():
        pytest.skip("not installed: " + ", ".join(clickhouse.missing()))
    with clickhouse.OneServer(tmp_path_factory.mktemp("server")) as server:
        for host, file in files.items():
            for table, words in ("stacks", []), ("labels", ["--by=label", "--group=s{/\\d+}{/N}"]):
                rows = run("--rows", "-q", f"--label=host={host}", *words, file).stdout
                server.ask(f"INSERT INTO nytp.{table} FORMAT JSONEachRow", data=rows)
        yield server


def test_its_sums_are_those_of_the_files(server, files):
    exported = json.loads(run("--json", "-q", *files.values()).stdout)
    found, = server.ask(clickhouse.queries()["total"])
    assert found == [str(exported["total"]), str(exported["calls_made"] + len(files)), str(exported["statements"]), "3", "3"]


def test_every_query_is_answered(server):
    for name, statement in clickhouse.queries().items():
        assert server.try_asking(statement).returncode == 0, name


def test_labels_of_the_fleet_are_those_of_by_label(server, files):
    row, = json.loads(run("--by=request", "--group=s{/\\d+}{/N}", "--json", *files.values()).stdout)["labels"]
    found, = server.ask(clickhouse.queries()["labels"])
    key, value, times, p50, p95, _, slowest = found
    assert (key, value, int(times), slowest) == ("request", "GET /cart/N", 60, "main::price")
    for shown, exact in (p50, row["median_ns"]), (p95, row["p95_ns"]):
        assert int(float(shown)) == pytest.approx(exact, rel=0.1)


def test_what_keeps_perls_values_is_named_with_its_host(server, tmp_path):
    """After the others, whose sums are of all rows."""
    assert server.ask(clickhouse.queries()["svs"]) == []
    for n in range(1, 4):
        stream = Writer({"application": "/x/app.pl"}, {"calls": "2"}).pid_start(70 + n, 1, 1000.0).fid(1, "/x/app.pl")
        stream.time(100, 1, 1).comment(f"nytp-svs {40 - 10 * n} 1 1").entry(1, 2).time(10, 1, 12).comment(f"nytp-svs {n * n} 1 12")
        stream.leave(1, 40, 35, "main::f").time(10, 1, 13).discount().sub(1, "main::f", 10, 14)
        stream.callers(1, 2, "main::RUNTIME", "main::f", 1, 40e-7, 35e-7)
        (tmp_path / "s.out").write_bytes(stream.pid_end(70 + n, 2000.0).data())
        rows = run("--rows", "-q", f"--label=host=m{n}", tmp_path / "s.out").stdout
        server.ask("INSERT INTO nytp.stacks FORMAT JSONEachRow", data=rows)
    assert server.ask(clickhouse.queries()["svs"]) == [["main::RUNTIME", "60", "20", "30", "m1"], ["main::f", "14", "4", "9", "m3"]]


def test_what_has_bytes_in_use_is_named_with_its_host(server, tmp_path):
    assert server.ask(clickhouse.queries()["bytes"]) == []
    for n in range(1, 4):
        stream = Writer({"application": "/x/app.pl"}, {"calls": "2"}).pid_start(80 + n, 1, 1000.0).fid(1, "/x/app.pl")
        stream.time(100, 1, 1).comment("nytp-alloc 1 500 1 1 1").entry(1, 2).time(10, 1, 12).comment(f"nytp-alloc 2 {1000 * n} 1 1 12")
        stream.comment("nytp-free 1").leave(1, 40, 35, "main::f").time(10, 1, 13).discount().sub(1, "main::f", 10, 14)
        stream.callers(1, 2, "main::RUNTIME", "main::f", 1, 40e-7, 35e-7)
        (tmp_path / "b.out").write_bytes(stream.pid_end(80 + n, 2000.0).data())
        rows = run("--rows", "-q", f"--label=host=b{n}", tmp_path / "b.out").stdout
        server.ask("INSERT INTO nytp.stacks FORMAT JSONEachRow", data=rows)
    assert server.ask(clickhouse.queries()["bytes"]) == [["main::f", "6000", "2000", "3000", "b3", "6000"]]
