# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""DuckDB reads --rows as they are, and makes Parquet files of them: the commands of exporters/README.md."""

import json
import re
import shutil
import subprocess

import pytest

from command import ROOT, good, run

NODE = ROOT / "t" / ".cache" / "node"


def duckdb(*queries, cwd):
    missing = [] if shutil.which("node") else ["nodejs"]
    missing += [] if (NODE / "node_modules" / "@duckdb" / "node-api").exists() else ["@duckdb/node-api"]
    if missing:
        pytest.skip("not installed: " + ", ".join(missing))
    done = subprocess.run(["node", ROOT / "t" / "fleet" / "duckdb.mjs", NODE, *queries],
                          cwd=cwd, capture_output=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_recipe_makes_parquet_files_of_rows(profile, tmp_path):
    recipe, = re.findall(r'^    duckdb -c "(.*)"$', (ROOT / "exporters" / "README.md").read_text(), re.M)
    inputs = [profile(name) for name in ("mixed-calls2", "evals", "forks-merged", "made-hostile-names")]
    assert run("--rows", "--lines", "-q", "-o", tmp_path / "rows.json.gz", *inputs).returncode in (0, 3)
    rows = [json.loads(line) for line in good("--rows", "--lines", "-q", *inputs).splitlines()]
    _, seen = duckdb(recipe, "SELECT stack, files, lines, wall_ns FROM 'rows.parquet'", cwd=tmp_path)
    assert [row["stack"] for row in seen] == [row["stack"] for row in rows]
    for column in ("files", "lines", "wall_ns"):
        assert [json.dumps(row[column]).replace('"', "") for row in seen] == \
            [json.dumps(row[column]).replace('"', "") for row in rows]
