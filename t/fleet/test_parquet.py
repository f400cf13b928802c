# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""--parquet: the table of --rows, as DuckDB, hyparquet and parquet-wasm read it."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from command import good, run
from recordings import record

HERE = pathlib.Path(__file__).resolve().parent
NODE = HERE.parent / ".cache" / "node"
NAMES = ["mixed-calls2", "mixed-calls0", "recurse", "evals", "names", "forks-merged", "made-hostile-names",
         "unreturned", "cut-plain", "deep-calls1"]


def missing():
    return ([] if shutil.which("node") else ["nodejs"]) + [
        package for package in ("hyparquet", "@duckdb/node-api", "parquet-wasm", "apache-arrow") if not (NODE / "node_modules" / package).exists()]


def read(reader, *questions):
    """Lists of rows, one for each file (hyparquet, wasm) or query (duckdb)."""
    if missing():
        pytest.skip("not installed: " + ", ".join(missing()))
    done = subprocess.run(["node", HERE / "read_parquet.mjs", NODE, reader, *map(str, questions)],
                          capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def by_all(files):
    seen = read("hyparquet", *files)
    assert seen == read("wasm", *files)
    assert seen == read("duckdb", *[f"SELECT * FROM read_parquet('{file}')" for file in files])
    return seen


def wanted(*arguments):
    """The rows, their start as the other form has it."""
    done = run("--rows", "-q", *arguments)
    assert done.returncode in (0, 3)
    rows = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
    for row in rows:
        row["start"] *= 1000
    return rows


def written(file, *arguments):
    done = run("--parquet", "-q", "-o", file, *arguments)
    assert done.returncode in (0, 3), done.stderr
    return file


@pytest.mark.parametrize("options", [[], ["--lines", "--label=host=h1", "--label=env=prod", "--label=odd=\u00e9;\"\n"]])
def test_three_readers_see_the_rows(profile, tmp_path, options):
    files = [written(tmp_path / f"{name}.parquet", *options, profile(name)) for name in NAMES]
    for name, seen in zip(NAMES, by_all(files)):
        assert seen == wanted(*options, profile(name)) and len(seen) > 3, name


def test_names_that_are_no_utf_8_are_those_of_the_rows(profile, tmp_path):
    label = b"--label=x\xff=\xc3(\xe9"
    option = os.fsdecode(label)
    file = written(tmp_path / "a.parquet", option, profile("evals"))
    seen, = by_all([file])
    assert seen == wanted(option, profile("evals"))


DEEP = "sub deep { my $n = shift; deep($n - 1) if $n } deep(254);"


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    return record(tmp_path_factory.mktemp("deep"), DEEP)


def test_many_rows_are_written_in_groups(deep, tmp_path):
    """Groups end after a million frames; each has its own dictionaries and ranges."""
    n = 45
    file = written(tmp_path / "a.parquet", *[deep] * n)
    one = wanted(deep)
    total = sum(row["wall_ns"] for row in one)
    sums, groups, ranges = read(
        "duckdb",
        f"SELECT count(*) AS n, sum(wall_ns) AS t, sum(calls) AS c, sum(len(stack)) AS f FROM '{file}'",
        f"SELECT DISTINCT row_group_id, row_group_num_rows AS n FROM parquet_metadata('{file}') ORDER BY 1",
        f"SELECT stats_min_value AS low, stats_max_value AS high FROM parquet_metadata('{file}')"
        " WHERE path_in_schema = 'statements'")
    assert len(groups) == 2 and sum(group["n"] for group in groups) == n * len(one)
    assert sums == [{"n": n * len(one), "t": n * total, "c": n * sum(row["calls"] for row in one),
                     "f": n * sum(len(row["stack"]) for row in one)}]
    least, most = (f(row["statements"] for row in one) for f in (min, max))
    assert [(int(one["low"]), int(one["high"])) for one in ranges] == [(least, most)] * 2
    rows, = read("hyparquet", file)
    assert rows[-1]["stack"] == one[-1]["stack"] and len(rows) == n * len(one)


def test_it_is_small_and_the_same_each_time(deep, tmp_path):
    first = written(tmp_path / "a.parquet", *[deep] * 20).read_bytes()
    assert first == written(tmp_path / "b.parquet", *[deep] * 20).read_bytes() == good(
        "--parquet", *[deep] * 20)
    assert len(first) < len(good("--rows", *[deep] * 20)) / 200


def test_no_rows_are_a_file_too(profile, tmp_path):
    file = written(tmp_path / "a.parquet", "--focus=^no such sub$", profile("mixed-calls2"))
    assert by_all([file]) == [wanted("--focus=^no such sub$", profile("mixed-calls2"))]


def test_engines_ask_it(profile, tmp_path):
    """Inclusive times: each sub of a stack once."""
    file = written(tmp_path / "a.parquet", profile("recurse"))
    seen, = read("duckdb", f"""SELECT sub, sum(wall_ns) AS t FROM (SELECT unnest(list_distinct(stack)) AS sub, wall_ns
        FROM '{file}') GROUP BY sub""")
    totals = json.loads(good("--json", "--merge-evals", profile("recurse")))
    want = {sub["name"]: sub["inclusive"] for sub in totals["subs"] if sub["calls"] or sub["inclusive"]}
    assert {row["sub"]: row["t"] for row in seen if row["t"]} == {sub: t for sub, t in want.items() if t}
    assert re.fullmatch(r"[0-9a-f]{16}", read("hyparquet", file)[0][0]["profile"])


def test_many_names_take_more_bits(tmp_path):
    """Numbers in the dictionary are packed into as few bits as they need, here 12."""
    subs = record(tmp_path, "".join(f"sub f{i} {{ my $x = {i} }}\nf{i}();\n" for i in range(3000)))
    file = written(tmp_path / "a.parquet", "--lines", subs)
    seen, = by_all([file])
    assert seen == wanted("--lines", subs) and len({row["sub"] for row in seen}) > 3000
