# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""t/profiles-check over the test profiles: no format contradicts another; and a lie is found."""

import os
import shutil
import subprocess

import pytest

import exports
import profiles

CHECK = profiles.TESTS / "profiles-check"
NAMES = ["accepting-calls1", "evals", "mixed-calls0", "mixed-calls2", "mixed-subs0", "mixed-stmts0", "mixed-findcaller", "jumps", "unreturned",
         "forks-merged", "cut-plain", "made-negative-ticks", "made-odd-ticks", "made-version-4"]


@pytest.fixture
def folder(recorder, tmp_path):
    (tmp_path / "in").mkdir()

    def filled(*names):
        for name in names:
            shutil.copy(profiles.profile(name), tmp_path / "in" / f"{name}.out")
        return tmp_path / "in"
    return filled


def checked(folder, command=exports.COMMAND):
    done = subprocess.run([CHECK, folder], env={**os.environ, "NYTP_EXPORT": str(command)}, capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_no_format_contradicts_another(folder):
    status, lines = checked(folder(*NAMES))
    assert [line for line in lines if not line.endswith(": ok")] == []
    assert (status, len(lines)) == (0, len(NAMES))


@pytest.mark.parametrize("form, edit, said", [
    ("--csv", "s/^(main::RUNTIME,.*,)(\\d+)(,\\d+,\\d+)$/$1.($2+100).$3/e", "time: "),
    ("--json", 's/"statements":(\\d+)/"\\"statements\\":".($1+1)/e', "statements: "),
    ("--callgrind", 's/^calls=(\\d+)/"calls=".($1+1)/e', "calls: "),
])
def test_a_lie_is_found(folder, tmp_path, form, edit, said):
    """A command that changes a number of one format."""
    liar = tmp_path / "liar"
    liar.write_text(f"""#!/bin/sh
for argument; do test "$argument" = "{form}" && {{ {exports.COMMAND} "$@" | perl -pe '{edit}'; exit; }}; done
exec {exports.COMMAND} "$@"
""")
    liar.chmod(0o755)
    status, (line,) = checked(folder("mixed-calls2"), liar)
    assert status == 1 and said in line, line


def test_what_is_no_profile_is_passed_over(folder):
    inside = folder("recurse")
    (inside / "notes.txt").write_text("nothing")
    status, lines = checked(inside)
    assert (status, [line.rpartition(": ")[2] for line in lines]) == (0, ["no profile", "ok"])
