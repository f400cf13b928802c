# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Words of other tools that nytp-spy takes or answers, and what a recording is written to."""

import gzip
import shutil

import pytest

import spied
from spied import EXPORT, PERL, WAITS, exported

RECORDED = [PERL, "-e", "sub f { 1 for 1 .. 2e7 } f()"]

# Options of py-spy and rbspy that mean nothing here, and a word of the way that does it.
ANSWERED = {("-n", "--native"): "perf record -g", ("-l", "--locals"): "nytp spy heap", ("-j", "--json"): "-o FILE.json",
            ("-g", "--gil"): "--no-idle", ("-t", "--threads"): "dump tells each thread", ("-F", "--function"): "nytp export --csv",
            ("--nolineno",): "nytp export --collapsed"}


@pytest.mark.parametrize("words", ANSWERED, ids=" ".join)
def test_a_word_of_another_tool_is_answered_with_the_way(words):
    """None of them is looked for in vain: the process need not be there."""
    for word in words:
        assert spied.spy("dump", word, 1, status=2) == spied.spy("dump", words[-1], 1, status=2)
    message = spied.spy("dump", words[-1], 1, status=2)
    assert message.startswith(f"nytp-spy: {words[-1]}: ") and ANSWERED[words] in message and message.count("\n") == 1


def test_words_of_another_tool_are_taken(script, tmp_path):
    """-p and --pid name the process; what they ask for by --nonblocking, --full-filenames and --idle is so in any case."""
    with spied.waiting(PERL, script(WAITS)) as process:
        for words in ["-p", process.pid], ["--pid", process.pid], ["--nonblocking", "--full-filenames", process.pid]:
            assert "main::inner" in spied.spy("dump", *words)
        spied.record(f"--pid={process.pid}", tmp_path / "out", "--no-idle", "--idle")
    assert "main::inner" in exported(tmp_path / "out", "--top")
    assert spied.spy("dump", "--pid", "me", status=2).startswith("nytp-spy: --pid must be a process id, not me")


@pytest.mark.parametrize("words, begins", [
    ("-o x.svg", "<svg"), ("-o x.json", "{"), ("-o x.json.gz", '{"nytp'), ("-o x.firefox.json.gz", '{"meta'), ("-o x.folded.gz", "main::"),
    ("-o x.folded", "main::"), ("-f raw -o x", "main::"), ("--format chrometrace -o x", "{"), ("-f speedscope -o x.svg", "{"),
    ("-o x", "NYTProf 5")])
def test_a_recording_has_the_format_of_its_name_or_the_one_that_is_asked_for(words, begins, tmp_path):
    spied.spy("record", *words.split(), "--", *RECORDED, cwd=tmp_path)
    data = (tmp_path / words.split()[-1]).read_bytes()
    text = gzip.decompress(data) if words.endswith(".gz") else data
    assert text.removeprefix(b'<?xml version="1.0" encoding="UTF-8"?>\n').startswith(begins.encode())


def test_a_format_that_there_is_not_is_refused_before_anything_is_started(tmp_path):
    start = ["--", PERL, "-e", "open my $file, '>', 'started'"]
    assert "--format flame: there is none of this name" in spied.spy("record", "-f", "flame", "-o", "x", *start, status=2, cwd=tmp_path)
    assert "x.out.gz: no format is compressed under this name" in spied.spy("record", "-o", "x.out.gz", *start, status=2, cwd=tmp_path)
    assert "--format is for record, with -o FILE" in spied.spy("record", "-f", "json", *start, status=2, cwd=tmp_path)
    assert "--format is for record, with -o FILE" in spied.spy("dump", "-f", "json", 1, status=2)
    assert list(tmp_path.iterdir()) == []


def alone(folder):
    """nytp-spy where there is no nytp-export, neither beside it nor in PATH."""
    shutil.copy(spied.SPY, folder / "nytp-spy")
    return lambda *words: spied.run("record", *words, "--", *RECORDED, spy=folder / "nytp-spy", cwd=folder, env={"PATH": str(folder / "path")})


def test_where_no_exporter_is_only_a_recording_can_be_written(tmp_path):
    record = alone(tmp_path)
    for words, name in (["-o", "x.svg"], "x.svg"), (["-f", "svg", "-o", "x.out"], "x.out"):
        ran = record(*words)
        assert ran.returncode == 2 and not (tmp_path / name).exists()
        assert ran.stderr == f"nytp-spy: {name}: nytp-export, which writes other formats, is not there; -o FILE.out records\n"
    for name in "x", "x.out":
        assert record("-o", name).returncode == 0 and "main::f" in exported(tmp_path / name, "--top")
    (tmp_path / "path").mkdir()
    shutil.copy(EXPORT, tmp_path / "path")
    assert record("-o", "x.svg").returncode == 0 and (tmp_path / "x.svg").exists()


def test_what_cannot_be_exported_is_kept_as_a_recording(tmp_path):
    """An exporter that knows the name, and fails in the end."""
    (tmp_path / "nytp-export").write_text('#!/bin/sh\ncase "$*" in *-q*) exit 7 ;; esac\nexit 1\n')
    (tmp_path / "nytp-export").chmod(0o755)
    ran = alone(tmp_path)("-o", "x.svg")
    assert ran.returncode == 4 and "x.svg: nytp-export ended with status 7\n" in ran.stderr and "x.svg.out: the recording is there\n" in ran.stderr
    assert "main::f" in exported(tmp_path / "x.svg.out", "--top") and not (tmp_path / "x.svg").exists()


def test_nytprof_out_is_replaced_only_if_it_is_asked_for(tmp_path):
    """perl's recorder writes under that name, too."""
    (tmp_path / "nytprof.out").write_text("mine")
    start = ["--", *RECORDED[:2], "open my $file, '>', 'started'; " + RECORDED[2]]
    assert spied.spy("record", *start, status=2, cwd=tmp_path) == "nytp-spy: nytprof.out is there already: -o FILE\n"
    assert (tmp_path / "nytprof.out").read_text() == "mine" and not (tmp_path / "started").exists()
    spied.spy("record", "-o", "nytprof.out", *start, cwd=tmp_path)
    assert "main::f" in exported(tmp_path / "nytprof.out", "--top")
    (tmp_path / "nytprof.out").unlink()
    spied.spy("record", *start, cwd=tmp_path)
    assert "main::f" in exported(tmp_path / "nytprof.out", "--top")
