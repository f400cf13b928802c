# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""share/editors: vim, Neovim, emacs and VS Code's extension (under node) show the same marks at the same lines, follow changed files,
and say what is not the profile's file. Each reads --quickfix by its own rules, too."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import exports
import profiles
from nytpwrite import Writer

HERE = pathlib.Path(__file__).resolve().parent
PLUGINS = HERE.parents[1] / "share" / "editors"
EDITORS = {
    "vim": ["vim", "--not-a-term", "-T", "ansi", "-i", "NONE", "-u", "NONE", "-S", HERE / "editors/steps.vim"],
    "vim-es": ["vim", "-es", "-i", "NONE", "-u", "NONE", "-S", HERE / "editors/steps.vim"],
    "nvim": ["nvim", "--headless", "-i", "NONE", "-u", "NONE", "-S", HERE / "editors/steps.vim"],
    "emacs": ["emacs", "--batch", "-Q", "-l", HERE / "editors/steps.el"],
    "vscode": ["node", HERE / "editors/steps.mjs"],
}
FILE = """use strict;
my $sum = 0;
sub add {
    $sum += $_[0];
    return  1;
}
sub less {
    $sum -= $_[0];
    return 1;
}
add(3) for 1 .. 9;
""".splitlines()
TICKS = {4: 500, 8: 300, 9: 50, 11: 149, 1: 1}
LABELS = {4: "50.0%, 50.0 us, 1 stmts", 8: "30.0%, 30.0 us, 1 stmts", 9: "5.0%, 5.00 us, 1 stmts",
          11: "14.9%, 14.9 us, 1 stmts", 1: "0.1%, 100 ns, 1 stmts"}


@pytest.fixture(params=list(EDITORS))
def editor(request, tmp_path):
    """Does steps in a folder with the profile p.out of a.pl; returns what was seen at each of "marks", "live" and "read", and messages."""
    if not shutil.which(EDITORS[request.param][0]):
        pytest.skip(f"not installed: {EDITORS[request.param][0]}")

    def follow(*steps):
        (tmp_path / "steps.json").write_text(json.dumps([(*step, None)[:2] for step in steps]))
        environment = dict(os.environ, PLUGINS=str(PLUGINS), NYTP_EXPORT=str(exports.COMMAND), STEPS=str(tmp_path / "steps.json"),
                           SEEN=str(tmp_path / "seen.json"), HOME=str(tmp_path))
        done = subprocess.run(EDITORS[request.param], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False, timeout=300)
        assert (tmp_path / "seen.json").exists(), done.stderr.decode()[-2000:]
        result = json.loads((tmp_path / "seen.json").read_text())
        return result["seen"], [text.replace(f"{tmp_path}/", "") for text in result["said"]]
    follow.name = request.param
    follow.folder = tmp_path
    record(tmp_path)
    return follow


def record(folder, lines=FILE, source=True):
    stream = Writer().pid_start(7, 1).fid(1, f"{folder}/a.pl")
    for line, ticks in TICKS.items():
        stream.time(ticks, 1, line)
        if source:
            stream.source(1, line, lines[line - 1] + "\n")
    stream.pid_end(7).save(folder / "p.out")


def write(folder, lines):
    (folder / "a.pl").write_text("".join(line + "\n" for line in lines))
    return lines


def expected(lines_of):
    """Marks at the lines that the profile's lines are at now."""
    return sorted([at, LABELS[line]] for line, at in lines_of.items())


def check(editor, marks, lines_of):
    """`vim -es` has no screen that the texts could be read from."""
    if editor.name == "vim-es":
        marks, wanted = [mark[0] for mark in marks], [mark[0] for mark in expected(lines_of)]
    else:
        wanted = expected(lines_of)
    assert marks == wanted


SAME = {line: line for line in TICKS}


def test_lines_are_marked_in_files_open_before_and_after(editor):
    write(editor.folder, FILE)
    (editor.folder / "link.pl").symlink_to("a.pl")
    (before, after, cleared), said = editor(["open", "a.pl"], ["load", "p.out"], ["marks"], ["open", "link.pl"], ["marks"], ["clear"], ["marks"])
    check(editor, before, SAME)
    check(editor, after, SAME)
    assert cleared == [] and said == []


ONE_GONE = ["nytp: a.pl has changed: 1 of 5 lines are not in it"]
CHANGED = {
    # The first of the two "return 1;" took no time: the lines above tell which is the other one.
    "lines were inserted and deleted": (
        ["# new"] * 5 + FILE[:6] + ["# more"] + FILE[6:9] + FILE[10:], {1: 6, 4: 9, 8: 14, 9: 15, 11: 16}, []),
    "a line was changed": (
        FILE[:3] + ["    $sum += 2 * $_[0];"] + FILE[4:], {line: line for line in TICKS if line != 4}, ONE_GONE),
    "an equal line far away is not the one that is gone": (
        FILE[:4] + FILE[5:8] + FILE[9:] + ["# far"] * 60 + ["return 1;"] * 2, {1: 1, 4: 4, 8: 7, 11: 9}, ONE_GONE),
    "it is another file": (
        ["print 1;", "return 1;", "exit;"] * 9, {}, ["nytp: a.pl is not the file that was profiled: 4 of 5 lines are not in it"]),
}


@pytest.mark.parametrize("lines, lines_of, messages", CHANGED.values(), ids=CHANGED)
def test_marks_are_at_their_text_in_a_changed_file(editor, lines, lines_of, messages):
    write(editor.folder, lines)
    (marks,), said = editor(["open", "a.pl"], ["load", "p.out"], ["marks"])
    check(editor, marks, lines_of)
    assert said == messages


def test_marks_move_while_the_file_is_edited_and_are_looked_for_when_it_is_saved(editor):
    write(editor.folder, FILE)
    moved = {line: line + 2 for line in TICKS}
    (live, saved, less), said = editor(["open", "a.pl"], ["load", "p.out"], ["insert", "# 1"], ["insert", "# 2"], ["live"], ["save"], ["marks"],
                                       ["delete", 10], ["save"], ["marks"])
    if live is not None:
        check(editor, live, moved)
    check(editor, saved, moved)
    check(editor, less, {1: 3, 4: 6, 9: 10, 11: 12})
    assert said == ONE_GONE


def test_without_source_marks_are_by_number_and_that_is_said(editor):
    write(editor.folder, FILE)
    record(editor.folder, source=False)
    (marks,), said = editor(["open", "a.pl"], ["load", "p.out"], ["marks"])
    check(editor, marks, SAME)
    assert said[-1] == "nytp: a.pl: the profile has no source of it, its marks are by line number"
    assert said[:-1] == ["nytp: nytp-export: p.out: it holds no source text"]


def test_what_cannot_be_loaded_is_said_and_marks_stay(editor):
    write(editor.folder, FILE)
    (marks,), said = editor(["open", "a.pl"], ["load", "p.out"], ["load", "none.out"], ["marks"])
    check(editor, marks, SAME)
    assert said == ["nytp: nytp-export: none.out: cannot open: No such file or directory"]


def test_a_file_read_again_is_marked_anew(editor):
    write(editor.folder, FILE)
    (marks,), said = editor(["open", "a.pl"], ["load", "p.out"], ["insert", "x"], ["reload"], ["marks"])
    check(editor, marks, SAME)
    assert said == []


def test_rows_are_read_by_each_editors_own_rules(editor):
    """vim with its default errorformat, emacs' compilation-mode, the extension's problem matcher."""
    if editor.name == "vim-es":
        return
    text = exports.exported("-q", "--quickfix=0", profiles.profile("mixed-calls2"))
    (editor.folder / "rows.txt").write_bytes(text)
    wanted = [[row[1], int(row[2])] for row in re.finditer(r"^(.+?):(\d+):\d+: ", text.decode(), re.M)]
    (rows,), _ = editor(["read", "rows.txt"])
    assert len(wanted) > 20 and rows == wanted
