# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""--source-dir on real recordings: every line that the recording kept is in a file below the folder,
on its own number, and the exports name that file."""

import collections
import re
import subprocess

import pytest

from nytpread import Reader


def recorded_sources(path):
    """{file's name: {line: bytes}} as the stream holds them."""
    names, sources = {}, collections.defaultdict(dict)
    for record in Reader(path):
        if record[0] == "@":
            names[record[1]] = record[7].decode()
        elif record[0] == "S":
            sources[names[record[1]]][record[2]] = record[3]
    return sources


def export(command, *arguments):
    done = subprocess.run([command, *map(str, arguments)], capture_output=True, check=False,
                          cwd="/", timeout=600)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def named_files(callgrind):
    return set(re.findall(rb"^(?:fl|fi|fe|cfi|cfl)=(?:\(\d+\) )?([^(\n][^\n]*)$", callgrind, re.M))


def lines_of(recorded):
    """What the file must hold, from line 1 on."""
    return [recorded.get(line, b"").rstrip(b"\n") for line in range(1, max(recorded) + 1)]


@pytest.fixture(params=["evals", "dash-e"])
def unpacked(request, export_command, profile, tmp_path):
    path = profile(request.param)
    folder = tmp_path / "sources"
    out = export(export_command, "--callgrind", "--source-dir", folder, path)
    return path, folder, out


def test_every_recorded_source_is_there(unpacked):
    path, folder, _ = unpacked
    want = sorted(lines_of(lines) for lines in recorded_sources(path).values())
    got = sorted(file.read_bytes().split(b"\n")[:-1]
                 for file in folder.rglob("*") if file.is_file())
    assert want and got == want


def test_the_export_names_the_files(unpacked):
    _, folder, out = unpacked
    below = {name for name in named_files(out) if name.startswith(bytes(folder))}
    files = {bytes(file) for file in folder.rglob("*") if file.is_file()}
    assert below and below <= files


def test_no_eval_with_source_keeps_its_name(unpacked):
    path, _, out = unpacked
    kept = {name.encode() for name in recorded_sources(path)}
    assert not kept & named_files(out)


def test_a_second_run_changes_nothing(unpacked, export_command):
    path, folder, out = unpacked
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*")}
    assert export(export_command, "--callgrind", "--source-dir", folder, path) == out
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*")} == before


def test_without_the_option_names_are_as_recorded(export_command, profile, tmp_path):
    out = export(export_command, "--callgrind", profile("evals"))
    assert any(name.startswith(b"(eval ") or b"/evals.pl" in name for name in named_files(out))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_an_output_error(export_command, profile, tmp_path):
    out = tmp_path / "out.callgrind"
    done = subprocess.run([export_command, "--callgrind", "-o", out, "--source-dir",
                           tmp_path / "no" / "such", profile("evals")],
                          capture_output=True, check=False)
    assert done.returncode == 4
    assert re.fullmatch(rb"nytp-export: .*cannot make folder .*: No such file or directory\n",
                        done.stderr), done.stderr
    assert not out.exists()
