# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""callgrind_annotate, valgrind's own reader: a clean stderr and the same totals."""

import re
import shutil
import subprocess

import pytest

import exports
import profiles
from totals import ROOT

pytestmark = pytest.mark.skipif(not shutil.which("callgrind_annotate"), reason="not installed: callgrind_annotate")


def annotate(path, *options, pipe=None, cwd="/"):
    done = subprocess.run(["callgrind_annotate", "--threshold=100", *options, str(path)],
                          capture_output=True, check=True, cwd=cwd, input=pipe)
    errors = done.stderr.decode("utf-8", "replace")
    assert errors == "", errors[:1000]
    return done.stdout.decode("utf-8", "replace")


def costs(text):
    """file:function -> first event's cost, from the rows of the function table; the total."""
    rows, total = {}, None
    for line in text.splitlines():
        match = re.match(r"\s*([\d,]+) \([^)]*\)\s+(?:[\d,.]+ (?:\([^)]*\))?\s+)?(.*)\Z", line)
        if not match:
            continue
        value = int(match[1].replace(",", ""))
        if match[2].startswith("PROGRAM TOTALS"):
            total = value
        else:
            rows[match[2]] = rows.get(match[2], 0) + value
    return rows, total


@pytest.mark.parametrize("name", list(profiles.RECORDED) + list(profiles.MADE))
def test_totals_and_a_clean_stderr(totals, name):
    shown = exports.read(name, "callgrind")
    rows, total = costs(annotate(exports.export(name, "callgrind"), "--auto=no"))
    assert total == shown.total
    assert sum(rows.values()) == total


def test_inclusive_has_the_program_as_its_total(totals):
    want = totals("mixed-calls2")
    text = annotate(exports.export("mixed-calls2", "callgrind"), "--auto=no", "--inclusive=yes",
                    "--tree=both")
    _, total = costs(text)
    assert total == want.total * 100
    seen = {}
    for line in text.splitlines():
        match = re.match(r"\s*([\d,]+) .*  \*  .*mixed\.pl:(\S+)\Z", line)
        if match:
            seen[match[2]] = int(match[1].replace(",", ""))
    for name in ("main::busy", "main::lines", "main::caller_one", "main::BEGIN@4"):
        assert seen[name] == want.subs[name].inclusive * 100, name
    assert seen[ROOT] == seen["main"] == total


def test_through_a_pipe(totals):
    data = exports.export("evals", "callgrind").read_bytes()
    rows, total = costs(annotate("/dev/stdin", "--auto=no", pipe=data))
    assert total == totals("evals").total * 100


def test_annotated_source_lines(totals):
    text = annotate(exports.export("mixed-calls2", "callgrind"), "--auto=yes")
    shown = exports.read("mixed-calls2", "callgrind")
    file = str(profiles.PROGRAMS / "mixed.pl")
    line = max(((cost, line) for (name, line), cost in shown.line_self.items() if name == file))
    source = (profiles.PROGRAMS / "mixed.pl").read_text().split("\n")[line[1] - 1]
    rows = [row for row in text.splitlines() if source.strip() and source in row]
    assert any(f"{line[0]:,}" in row for row in rows), (line, rows)
