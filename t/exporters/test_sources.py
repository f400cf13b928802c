# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""--source-dir: every line that the recording kept is in a file below the folder, on its own number, and the exports
name that file. Names are safe, nothing is outside the folder, and nothing is written over."""

import collections
import re

import pytest

import exports
from nytpread import Reader
from nytpwrite import Writer


def recorded_sources(path):
    """{file's name: {line: bytes}} as the stream holds them."""
    names, sources = {}, collections.defaultdict(dict)
    for record in Reader(path):
        if record[0] == "@":
            names[record[1]] = record[7].decode()
        elif record[0] == "S":
            sources[names[record[1]]][record[2]] = record[3]
    return sources


def named_files(callgrind):
    return set(re.findall(rb"^(?:fl|fi|fe|cfi|cfl)=(?:\(\d+\) )?([^(\n][^\n]*)$", callgrind, re.M))


def lines_of(recorded):
    """What the file must hold, from line 1 on."""
    return [recorded.get(line, b"").rstrip(b"\n") for line in range(1, max(recorded) + 1)]


@pytest.fixture(params=["evals", "dash-e"])
def unpacked(request, profile, tmp_path):
    path = profile(request.param)
    folder = tmp_path / "sources"
    out = exports.exported("--callgrind", "--source-dir", folder, path)
    return path, folder, out


def test_every_recorded_source_is_there(unpacked):
    path, folder, _ = unpacked
    want = sorted(lines_of(lines) for lines in recorded_sources(path).values())
    got = sorted(file.read_bytes().split(b"\n")[:-1]
                 for file in folder.rglob("*") if file.is_file())
    assert want and got == want


def test_the_export_names_the_files_and_no_eval_with_source(unpacked):
    path, folder, out = unpacked
    below = {name for name in named_files(out) if name.startswith(bytes(folder))}
    files = {bytes(file) for file in folder.rglob("*") if file.is_file()}
    assert below and below <= files
    assert not {name.encode() for name in recorded_sources(path)} & named_files(out)


def test_a_second_run_changes_nothing(unpacked):
    path, folder, out = unpacked
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*")}
    assert exports.exported("--callgrind", "--source-dir", folder, path) == out
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*")} == before


def test_without_the_option_names_are_as_recorded(profile, tmp_path):
    out = exports.exported("--callgrind", profile("evals"))
    assert any(name.startswith(b"(eval ") or b"/evals.pl" in name for name in named_files(out))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder, message", [("no/such", "No such file or directory"), ("file", "Not a directory")])
def test_a_folder_that_cannot_be_made_is_an_output_error(profile, tmp_path, folder, message):
    out = tmp_path / "out.callgrind"
    (tmp_path / "file").touch()
    code, _, errors = exports.nytp_export("--callgrind", "-o", out, "--source-dir", tmp_path / folder, profile("evals"))
    assert code == 4 and re.fullmatch(f"nytp-export: .*{message}\n", errors), errors
    assert not out.exists()


def unpack(tmp_path, *names, folder="s"):
    """Unpacks a recording of files of these names, each of one line, its number. Where each is now, by the export."""
    stream = Writer().pid_start(7)
    for number, name in enumerate(names, 1):
        stream.fid(number, name, *((1, 24) if "eval" in name else ())).time(number, number, 1).source(number, 1, f"{number}\n")
    text = exports.exported("-q", "--callgrind", "--plain-names", "--unit=ticks", "--source-dir", tmp_path / folder,
                            stream.pid_end(7).save(tmp_path / "r.out")).decode()
    at = {int(ticks): file for file, ticks in re.findall(r"^f[il]=(\S+)\n(?:fn=main::RUNTIME\n)?1 (\d+) 1$", text, re.M)}
    where = [at[number].removeprefix(f"{tmp_path}/{folder}/") for number in range(1, len(names) + 1)]
    for number, file in enumerate(where, 1):
        assert (tmp_path / folder / file).read_text() == f"{number}\n"
    return where


UNPACKED = {
    "/usr/lib/Foo.pm": "usr/lib/Foo.pm", "-e": "dash-e.pl", "-": "stdin.pl", "/": "unnamed", "//a/./b.pl": "a/b.pl",
    "(eval 5)[/home/me/a.pl:24]": "eval-5-a.pl-24.pl", "(eval 7)[(eval 6)[/x/a.pl:5]:3]": "eval-7-eval-6-a.pl-5-3.pl",
    "/x/../../../etc/passwd": "x/__/__/__/etc/passwd", "../up.pl": "__/up.pl", "with\nnewline:1": "with_newline_1",
}


def test_names_are_safe(tmp_path):
    assert unpack(tmp_path, *UNPACKED) == list(UNPACKED.values())


def test_what_is_there_stays_and_files_of_one_name_are_two(tmp_path):
    (tmp_path / "s/x").mkdir(parents=True)
    (tmp_path / "s/x/a.pl").write_text("of somebody else\n")
    names = "(eval 1)[/x/a.pl:3]", "(eval 1)[/y/a.pl:3]", "/x/a.pl"
    for _ in range(2):      # a second run finds everything there
        assert unpack(tmp_path, *names) == ["eval-1-a.pl-3.pl", "eval-1-a.pl-3-2.pl", "x/a-2.pl"]
        assert {file.name for file in (tmp_path / "s").rglob("*.pl")} == {"eval-1-a.pl-3.pl", "eval-1-a.pl-3-2.pl", "a-2.pl", "a.pl"}
    assert (tmp_path / "s/x/a.pl").read_text() == "of somebody else\n"


def test_no_link_is_followed(tmp_path):
    for folder in "outside", "s":
        (tmp_path / folder).mkdir()
    (tmp_path / "outside/target").write_text("untouched\n")
    (tmp_path / "s/file").write_text("where a folder should be\n")
    (tmp_path / "s/link").symlink_to("../outside")
    (tmp_path / "s/leaf.pl").symlink_to("../outside/target")
    assert unpack(tmp_path, "/link/a.pl", "/leaf.pl", "/file/b.pl") == ["link_a.pl", "leaf-2.pl", "file_b.pl"]
    assert [file.name for file in (tmp_path / "outside").iterdir()] == ["target"]
    assert (tmp_path / "outside/target").read_text() == "untouched\n"


def test_long_names_are_cut_and_deep_paths_that_end_alike_are_two(tmp_path):
    deep = [f"/root{n}" + "/folder" * 180 + "/a.pl" for n in (0, 1)]
    assert len(set(unpack(tmp_path, *deep, folder="deep"))) == 2
    assert len(unpack(tmp_path, "x" * 9999)[0]) < 300


def test_lines_are_on_their_numbers_and_one_far_off_makes_no_huge_file(tmp_path):
    w = Writer().pid_start(7).fid(1, "/a.pl").fid(2, "/b.pl").time(1, 1, 1).source(2, 4000000000, "far\n")
    for line, text in (3, "third\n"), (4, ""), (5, "fi\nfth"), (6, "\n"):
        w.source(1, line, text)
    exports.exported("-q", "--callgrind", "--source-dir", tmp_path / "s", w.pid_end(7).save(tmp_path / "r.out"))
    assert (tmp_path / "s/a.pl").read_text() == "\n\nthird\n\nfi fth\n\n"
    assert (tmp_path / "s/b.pl").read_text() == ""
