# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Rows in a real ClickHouse cluster of three shards: nothing is lost, added or changed."""

import collections
import json

import pytest

import cluster as clickhouse
from command import run
from nytpwrite import Writer
from recordings import record

PROGRAM = """package Shop; sub price { my $x = $_[0] * 2; $x } sub cart { price($_) for 1 .. $_[0] }
package main; sub request { Shop::cart($_[0]) } request(%d) for 1 .. 20;
"""
LABELLED = """sub price { my $t = 0; $t += $_ for 1 .. $_[0]; $t }
for my $n (1 .. 20) { DB::label(request => "GET /cart/$n"); price(%d * $n); DB::label(request => undef) }
"""
INSERT = "INSERT INTO nytp.stacks FORMAT JSONEachRow"
HOSTS = 12


def rows_of(file, *options):
    done = run("--rows", "-q", *options, file)
    assert done.returncode in (0, 3), done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """Twelve hosts, half of them with the new release: (host, release, rows as bytes, totals)."""
    folder = tmp_path_factory.mktemp("hosts")
    hosts = []
    for number in range(HOSTS):
        release = "new" if number % 2 else "old"
        file = record(folder / f"h{number}" / "app", PROGRAM % (30 if release == "new" else 20), "shop.pl", steps=False)
        cut = f"--trim-path={folder}/h{number}/app/"
        rows = rows_of(file, f"--label=host=h{number}", f"--label=release={release}",
                       "--label=service=shop", cut)
        hosts.append((f"h{number}", release, rows,
                      json.loads(run("--json", "-q", "--merge-evals", cut, file).stdout)))
    return hosts


@pytest.fixture(scope="module")
def cluster(fleet, tmp_path_factory):
    if clickhouse.missing():
        pytest.skip("not installed: " + ", ".join(clickhouse.missing()))
    with clickhouse.Cluster(tmp_path_factory.mktemp("cluster")) as servers:
        servers.ask(INSERT, data=b"".join(rows for _, _, rows, _ in fleet))
        yield servers


@pytest.fixture(scope="module")
def queries():
    return clickhouse.queries()


def exported(fleet, key):
    """By sub, summed over hosts as --json has it."""
    sums = collections.Counter()
    for _, _, _, totals in fleet:
        for sub in totals["subs"]:
            sums[sub["name"]] += sub[key]
    return sums


def test_the_total_is_nytp_exports(cluster, fleet, queries):
    (wall, calls, statements, hosts, processes), = cluster.ask(queries["total"])
    assert int(wall) == sum(totals["total"] for *_, totals in fleet)
    assert int(statements) == sum(totals["statements"] for *_, totals in fleet)
    assert int(calls) == sum(totals["calls_made"] for *_, totals in fleet) + HOSTS
    assert (int(hosts), int(processes)) == (HOSTS, HOSTS)


def test_each_sub_is_nytp_exports(cluster, fleet):
    found = cluster.ask("SELECT sub, sum(wall_ns), sum(calls), sum(statements) FROM nytp.stacks GROUP BY sub")
    own, calls, statements = (exported(fleet, key) for key in ("exclusive", "calls", "statements"))
    assert len(found) == 4
    for sub, wall, n_calls, n_statements in found:
        assert (int(wall), int(n_calls), int(n_statements)) == (own[sub], calls[sub], statements[sub]), sub


def test_inclusive_is_nytp_exports(cluster, fleet, queries):
    found = {name: int(ns) for name, ns in cluster.ask(queries["inclusive"])}
    want = exported(fleet, "inclusive")
    for name in ("main::RUNTIME", "main::request", "Shop::cart", "Shop::price"):
        assert found[name] == want[name], name


def test_the_shards_share_the_rows(cluster):
    whole = cluster.ask("SELECT count(), sum(wall_ns) FROM nytp.stacks")[0]
    parts = [cluster.ask("SELECT count(), sum(wall_ns) FROM nytp.stacks_local", shard=i)[0] for i in range(3)]
    assert [sum(int(part[i]) for part in parts) for i in range(2)] == [int(x) for x in whole]
    assert all(int(part[0]) > 0 for part in parts)


def test_each_question_has_an_answer(cluster, queries):
    assert set(queries) == {"total", "self", "inclusive", "releases", "hosts", "flame", "lately", "labels", "svs", "bytes"}
    answers = {name: cluster.ask(statement) for name, statement in queries.items()}
    assert all(answers.pop(name) == [] for name in ("labels", "svs", "bytes"))     # each has its test below
    assert all(answers.values())
    releases = {row[0]: float(row[3]) for row in answers["releases"]}
    assert releases["Shop::price"] == 2 * 200 and releases["main::request"] == 0
    assert len(answers["lately"]) == HOSTS
    assert sum(int(row[1]) for row in answers["flame"]) == int(answers["total"][0][0])
    assert all(int(float(row[1])) <= int(float(row[2])) <= int(row[3]) for row in answers["hosts"])


def test_labels_of_the_fleet_are_those_of_by_label(cluster, queries, tmp_path):
    files = [record(tmp_path / f"l{n}", LABELLED % (100 * (n + 1)), "shop.pl") for n in range(3)]
    for host, file in enumerate(files):
        rows = rows_of(file, f"--label=host=l{host}", "--by=label", "--group=s{/\\d+}{/N}")
        cluster.ask("INSERT INTO nytp.labels FORMAT JSONEachRow", data=rows)
    row, = json.loads(run("--by=request", "--group=s{/\\d+}{/N}", "--json", *files).stdout)["labels"]
    found, = cluster.ask(queries["labels"])
    key, value, times, p50, p95, _, slowest = found
    assert (key, value, int(times), slowest) == ("request", "GET /cart/N", 60, "main::price")
    for shown, exact in (p50, row["median_ns"]), (p95, row["p95_ns"]):
        assert int(float(shown)) == pytest.approx(exact, rel=0.1)


@pytest.mark.parametrize("query, before, inside, wanted", [
    ("svs", lambda w, n: w.comment(f"nytp-svs {40 - 10 * n} 1 1"), lambda w, n: w.comment(f"nytp-svs {n * n} 1 12"),
     [["main::RUNTIME", "60", "20", "30", "svs1"], ["main::f", "14", "4", "9", "svs3"]]),
    ("bytes", lambda w, n: w.alloc(1, 500, 1), lambda w, n: w.alloc(2, 1000 * n, 12).free(1),
     [["main::f", "6000", "2000", "3000", "bytes3", "6000"]]),
], ids=["values", "bytes"])
def test_what_keeps_memory_is_named_with_its_host(cluster, queries, tmp_path, query, before, inside, wanted):
    assert cluster.ask(queries[query]) == []
    for n in range(1, 4):
        stream = Writer({"application": "/x/app.pl"}, {"calls": "2"}).pid_start(70 + n, 1, 1000.0)
        stream.fid(1, "/x/app.pl").time(100, 1, 1)
        before(stream, n).entry(1, 2).time(10, 1, 12)
        inside(stream, n).leave(1, 40, 35, "main::f").time(10, 1, 13).discount().sub(1, "main::f", 10, 14)
        stream.callers(1, 2, "main::RUNTIME", "main::f", 1, 40e-7, 35e-7)
        file = stream.pid_end(70 + n, 2000.0).save(tmp_path / "s.out")
        cluster.ask(INSERT, data=rows_of(file, f"--label=host={query}{n}"))
    assert cluster.ask(queries[query]) == wanted


def test_loading_twice_counts_once(cluster, fleet, queries):
    before = cluster.ask(queries["total"])
    cluster.ask(INSERT, data=b"".join(rows for _, _, rows, _ in fleet))
    for shard in range(3):
        cluster.ask("OPTIMIZE TABLE nytp.stacks_local FINAL", shard=shard)
    assert cluster.ask(queries["total"]) == before


@pytest.mark.parametrize("name", ["made-hostile-names", "names", "evals", "made-hostile-files"])
def test_any_name_comes_back_equal(cluster, profile, name):
    data = rows_of(profile(name), f"--label=host=hostile {name}", "--label=quote='\"\\\t;")
    sent = [json.loads(line) for line in data.decode().splitlines()]
    cluster.ask(INSERT, data=data)
    done = cluster.try_asking(f"SELECT stack, sub, file, label_values, calls, statements, wall_ns, flags "
                              f"FROM nytp.stacks WHERE host = 'hostile {name}' FORMAT JSONEachRow")
    assert done.returncode == 0, done.stderr

    def fields(row):
        return (row["stack"], row["sub"], row["file"], row["label_values"], row["flags"],
                *(int(row[key]) for key in ("calls", "statements", "wall_ns")))
    got = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert sorted(map(fields, got)) == sorted(map(fields, sent))


def test_a_recording_that_ends_early_is_marked(cluster, profile):
    cluster.ask(INSERT, data=rows_of(profile("cut-plain"), "--label=host=cut"))
    assert cluster.ask("SELECT DISTINCT bitAnd(flags, 4) FROM nytp.stacks WHERE host = 'cut'") == [["4"]]


def test_a_shard_that_is_gone_is_an_error(cluster, queries):
    """The last test: it takes a server away. The command-line client prints rows as they come,
    perhaps a sum of the other shards, too, before the error: its status says that there is no
    answer. The HTTP interface holds the answer back until it is whole."""
    (whole, *_), = cluster.ask(queries["total"])
    assert cluster.ask_by_http(queries["total"]) == (200, whole)
    cluster.stop(2, kill=True)
    done = cluster.try_asking(queries["total"])
    assert done.returncode != 0 and b"Connection refused" in done.stderr
    status, text = cluster.ask_by_http(queries["total"])
    assert status == 500 and "Connection refused" in text
    (less, *_), = cluster.ask(queries["total"], settings=["skip_unavailable_shards=1"])
    assert 0 < int(less) < int(whole)
