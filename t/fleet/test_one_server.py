# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""One ClickHouse server with schema.sql alone: stacks, and labels over several hosts."""

import json

import pytest

import cluster as clickhouse
from command import run
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
