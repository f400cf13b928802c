# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""--quickfix: on every profile the numbers that t/totals.py works out from the raw stream, at places that an editor can open."""

import collections
import re
import subprocess

import pytest

import exports
from nytpwrite import Writer
from test_list import EXACT
from test_totals import differences, without_zeros

ROW = re.compile(r"(.+?):(\d+):(\d+): (-?[\d.]+)%, (-?\d+), (\d+) (stmts|samples|counts)(?:: (.*))?")
REST = re.compile(r"\((-?[\d.]+)%, (-?\d+), (\d+) (?:stmts|samples|counts) in (\d+) more lines\)")
EVAL = re.compile(r"\((?:re_)?eval \d+\)\[(.*):(\d+)\]", re.S)
pytestmark = pytest.mark.usefixtures("recorder")


def quickfix(profile, *arguments, cwd="/"):
    """Rows of (file, line, column, share, ticks, hits, source), and what the last one says of the rest: (ticks, hits, lines)."""
    done = subprocess.run([exports.COMMAND, "-q", "--unit=ticks", *arguments, profile], cwd=cwd, capture_output=True, check=False,
                          timeout=600, text=True)
    assert done.returncode in (0, 3), done.stderr
    lines = done.stdout.splitlines()
    rest = REST.fullmatch(lines[-1]) if lines else None
    rows = [ROW.fullmatch(line) for line in (lines[:-1] if rest else lines)]
    return ([(row[1], int(row[2]), int(row[3]), float(row[4]), int(row[5]), int(row[6]), row[8]) for row in rows],
            tuple(map(int, rest.group(2, 3, 4))) if rest else (0, 0, 0))


def outermost(files, file, line):
    """An eval is named by the path that perl was given."""
    while match := EVAL.fullmatch(file):
        file, line = match[1], int(match[2])
    return next((whole for whole in files if whole.endswith("/" + file)), file), line


@pytest.mark.parametrize("name", EXACT)
def test_hits_and_times_are_those_of_the_recording(profile, totals, name):
    want = totals(name)
    rows, rest = quickfix(profile(name), "--quickfix=0")
    if not want.overclaimed:
        assert sum(row[4] for row in rows) + rest[0] == want.stmt_ticks
    wanted = collections.Counter()
    for (file, line), value in want.lines.items():
        wanted[outermost(want.files.values(), file, line)] += value.count
    nowhere = {place: n for place, n in wanted.items() if place[0][:1] in ("", "-", "(") or not place[1]}
    shown = {row[:2]: row[5] for row in rows}       # below "/", so without it
    assert len(shown) == len(rows) and rest[1] == sum(nowhere.values())
    wanted = {(place[0].removeprefix("/"), place[1]): n for place, n in wanted.items() if place not in nowhere}
    assert differences(without_zeros(shown), without_zeros(wanted)) == {}
    assert [row[4] for row in rows] == sorted((row[4] for row in rows), reverse=True)


def recording(path, *files, chain=0):
    """Each file has a line 7 that takes as many ticks as the file's number and has the source of its name; the last runs evals in evals."""
    stream = Writer().pid_start(7, 1)
    for fid, name in enumerate(files, 1):
        stream.fid(fid, name).time(fid, fid, 7).source(fid, 7, f"\t  at {name};\n")
    for fid in range(len(files) + 1, len(files) + 1 + chain):
        stream.fid(fid, f"(eval {fid})[x:{fid}]", fid - 1, 5).time(100, fid, 3)
    return stream.pid_end(7).save(path)


def test_a_path_is_relative_below_the_current_folder_only(tmp_path):
    here = tmp_path / "x"
    here.mkdir()
    file = recording(tmp_path / "p.out", f"{tmp_path}/y.pl", f"{tmp_path}/x.pl", f"{here}y/a.pl", f"{here}/lib/a.pl")
    rows, rest = quickfix(file, "--quickfix", cwd=here)
    assert [row[0] for row in rows] == ["lib/a.pl", f"{here}y/a.pl", f"{tmp_path}/x.pl", f"{tmp_path}/y.pl"] and rest == (0, 0, 0)
    assert rows[0][1:] == (7, 4, 40.0, 4, 1, f"at {here}/lib/a.pl;")
    assert [row[0] for row in quickfix(file, "--quickfix=1", cwd="/")[0]] == [f"{here}/lib/a.pl"[1:]]


def test_what_no_editor_opens_is_in_the_last_row(tmp_path):
    file = recording(tmp_path / "p.out", "-e", "-", "(unknown)", "/x/a.pl")
    assert quickfix(file, "--quickfix", cwd=tmp_path) == ([("/x/a.pl", 7, 4, 40.0, 4, 1, "at /x/a.pl;")], (6, 3, 3))
    assert quickfix(file, "--quickfix=1", cwd=tmp_path)[1] == (6, 3, 3)


def test_evals_within_evals_count_where_the_first_one_ran(tmp_path):
    """Also a chain that nobody writes, of which each line would cost as many steps as there are evals."""
    rows, rest = quickfix(recording(tmp_path / "p.out", "/x/a.pl", chain=100), "--quickfix", cwd=tmp_path)
    assert [row[:2] + row[4:6] for row in rows] == [("/x/a.pl", 5, 10000, 100), ("/x/a.pl", 7, 1, 1)] and rest == (0, 0, 0)
    rows, rest = quickfix(recording(tmp_path / "p.out", "/x/a.pl", chain=103), "--quickfix", cwd=tmp_path)
    assert rows[0][4:6] == (10000, 100) and rest[:2] == (300, 3)


def test_samples_are_counted_as_such_and_a_selection_leaves_out_lines(profile, tmp_path):
    stream = Writer().attribute("sampled", "100").pid_start(7, 1).fid(1, "/x/a.pl").time(9, 1, 7)
    done = exports.exported("-q", "--quickfix", stream.pid_end(7).save(tmp_path / "s.out"))
    assert done.startswith(b"x/a.pl:7:1: 100.0%, 900 ns, 1 samples"), done
    every, some = (quickfix(profile("mixed-calls2"), "--quickfix=0", *words)[0] for words in ([], ["--focus=caller_one"]))
    assert 0 < len(some) < len(every) and {row[:2] for row in some} <= {row[:2] for row in every}
