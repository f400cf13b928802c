# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Instructions that the processor counted (NYTPROF=instructions=1): the total of a program, in what is shown, compared and limited."""

import json
import re
import subprocess

import pytest

from command import ROOT, good, run
from nytpwrite import Writer
from test_brief import SCHEMA, matches


def recording(path, *processes, **attributes):
    """One process for each number: instructions, or None for one that does not tell."""
    stream = Writer(attributes)
    for i, instructions in enumerate(processes):
        stream.pid_start(70 + i, 70 if i else 1, 1000.0 + i).fid(1, "/x/app.pl")
        stream.time(1000, 1, 5)
        if instructions is not None:
            stream.comment(f"nytp-instructions {instructions}")
        stream.pid_end(70 + i, 1010.0 + i)
    path.write_bytes(stream.data())
    return path


def headline(*arguments):
    return good("-q", "--top=0", *arguments).decode().splitlines()[0]


def gate(folder, rule, *arguments):
    (folder / "rules").write_text(rule + "\n")
    done = run("-q", "--gate", folder / "rules", "--gate-tap", *arguments)
    return done.returncode, done.stdout.decode()


def test_the_total_stands_where_the_program_is_told_of(tmp_path):
    file = recording(tmp_path / "a.out", 1000, 2345)
    assert ", 3345 instructions" in headline(file)
    assert ", 3345 instructions, " in good("-q", "--brief", file).decode()
    assert [process["instructions"] for process in json.loads(good("--json", file))["processes"]] == [1000, 2345]
    brief = json.loads(good("-q", "--brief=json", file))
    assert brief["instructions"] == 3345
    assert matches(brief, SCHEMA)


def test_the_last_number_of_a_process_counts_and_merges_keep_it(tmp_path):
    stream = Writer().pid_start(70).fid(1, "/x/app.pl").time(1000, 1, 5)
    stream.comment("nytp-instructions 7").comment("nytp-instructions 8").pid_end(70)
    (tmp_path / "a.out").write_bytes(stream.data())
    other = recording(tmp_path / "b.out", 100)
    merged = tmp_path / "merged"
    subprocess.run(["perl", f"-I{ROOT}/blib/lib", f"-I{ROOT}/blib/arch", ROOT / "bin/nytprofmerge", "--out", merged, tmp_path / "a.out", other],
                   check=True, capture_output=True)
    assert ", 108 instructions" in headline(merged)


@pytest.mark.parametrize("processes", [(None,), (1000, None), (0, 5)])
def test_a_process_that_does_not_tell_leaves_no_total(tmp_path, processes):
    file = recording(tmp_path / "a.out", *processes)
    assert "instructions" not in headline(file)
    assert json.loads(good("-q", "--brief=json", file))["instructions"] == 0


def test_a_part_of_the_program_has_none(tmp_path):
    stream = Writer().pid_start(70).fid(1, "/x/app.pl").entry(1, 5).time(10, 1, 5).time(1000, 1, 1).leave(1, 1000, 1000, "main::f")
    stream.time(500, 1, 6).callers(1, 5, "main::RUNTIME", "main::f", 1, 1000, 1000).comment("nytp-instructions 1000").pid_end(70)
    (tmp_path / "a.out").write_bytes(stream.data())
    assert ", 1000 instructions" in headline(tmp_path / "a.out")
    assert "instructions" not in headline("--focus=^main::f", tmp_path / "a.out")
    brief = "--brief", "--focus=^main::f", tmp_path / "a.out"
    assert "instructions" not in good("-q", *brief).decode() and json.loads(good("-q", "--brief=json", *brief[1:]))["instructions"] == 0


def test_numbers_of_a_damaged_file_stay_in_their_bounds(tmp_path):
    most = 10**17 - 1
    file = recording(tmp_path / "a.out", *[most] * 30)
    assert f", {(2**63 - 1) // 4} instructions" in headline(file)
    assert gate(tmp_path, "instructions total <= 5", file)[0] == 10
    assert "instructions" not in headline(recording(tmp_path / "b.out", "1x")) + headline(recording(tmp_path / "c.out", -5))


def test_limits(tmp_path):
    base, more, less, without = (recording(tmp_path / f"{name}.out", n) for name, n in
                                 [("base", 100000), ("more", 101001), ("less", 101000), ("without", None)])
    limit = "instructions total <= base +1%"
    assert gate(tmp_path, limit, "--diff", base, less)[0] == 0
    status, text = gate(tmp_path, limit, "--diff", base, more)
    assert status == 10 and re.search(r"total: 101001 instructions, were 100000 \(\+1", text)
    for sides in [(base, without), (without, more)]:
        status, text = gate(tmp_path, limit, "--diff", *sides)
        assert status == 2 and "recordings with NYTPROF=instructions=1 have where the processor counts them" in text
    assert gate(tmp_path, "instructions total <= 101000", less)[0] == 0
    assert gate(tmp_path, "instructions total <= 101000", more)[0] == 10
    assert run("-q", "--top", "--fail-over=1%:instructions", "--diff", base, less).returncode == 0
    assert run("-q", "--top", "--fail-over=1%:instructions", "--diff", base, more).returncode == 10
    saved = tmp_path / "saved.json"
    good("-q", "--save-base", "-o", saved, base)
    assert gate(tmp_path, limit, "--diff", saved, less)[0] == 2
    done = run("-q", "--gate", tmp_path / "rules", less) if (tmp_path / "rules").write_text("instructions main::f <= 5\n") else None
    assert done.returncode == 2 and b"instructions are of total, not of \"main::f\"" in done.stderr


def test_the_median_of_several_runs_is_judged(tmp_path):
    runs = [recording(tmp_path / f"{n}.out", n) for n in (100, 200, 900)]
    assert gate(tmp_path, "instructions total <= 200", *runs)[0] == 0
    assert gate(tmp_path, "instructions total <= 199", *runs)[0] == 10


def test_a_sampled_program_may_be_limited(tmp_path):
    file = recording(tmp_path / "a.out", 1000, sampled=1)
    assert gate(tmp_path, "instructions total <= 1000", file)[0] == 0
    assert gate(tmp_path, "instructions total <= 999", file)[0] == 10
    assert gate(tmp_path, "statements total <= 999", file)[0] == 2


def test_a_comparison_tells_both_sides(tmp_path):
    base, new = recording(tmp_path / "base.out", 100000), recording(tmp_path / "new.out", 110000)
    assert re.search(r"^ +100000 +110000 +\+10\.0 %  instructions$", good("-q", "--top", "--diff", base, new).decode(), re.M)
    besides = json.loads(good("-q", "--json", "--diff", base, new))["besides"]
    without = recording(tmp_path / "without.out", None)
    assert "instructions" not in good("-q", "--top", "--diff", base, without).decode() + good("-q", "--top", "--diff", without, new).decode()
    assert besides == [{"kind": "instructions", "name": "", "base": 100000, "new": 110000}]
