# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""html: what becomes of a folder in which a report is, or something else: when writing fails or is interrupted,
with --replace, with links and folders where pages belong.
"""

import os
import pathlib
import shutil
import signal
import subprocess

import pytest

import profiles
from command import COMMAND
from reports import peer, run  # noqa: F401


def write(folder, *options, profile="recurse", **how):
    return run("--html", *options, "-o", f"{folder}/", profiles.profile(profile), **how)


@pytest.fixture
def old_report(tmp_path):
    assert write(tmp_path / "r").returncode == 0
    return tmp_path / "r"


def content(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def test_a_full_disk_leaves_the_earlier_report(old_report):
    before = content(old_report)

    def limit():
        import resource
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000))
    done = write(old_report, profile="mixed-blocks", preexec_fn=limit)
    assert done.returncode == 4 and b"File too large" in done.stderr
    assert content(old_report) == before
    assert not [p for p in old_report.iterdir() if p.is_dir()]


def test_an_interrupted_run_leaves_the_earlier_report(old_report, tmp_path):
    before = content(old_report)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    (tmp_path / "tmp").mkdir()
    running = subprocess.Popen([COMMAND, "--html", "-q", "-o", f"{old_report}/", profiles.profile("mixed-calls1"), fifo],
                               env=dict(os.environ, TMPDIR=tmp_path / "tmp"))
    data = pathlib.Path(profiles.profile("mixed-calls2")).read_bytes()
    with open(fifo, "wb") as pipe:
        pipe.write(data[:len(data) // 2])
        pipe.flush()
        running.send_signal(signal.SIGTERM)
    assert running.wait(timeout=600) == -signal.SIGTERM
    assert content(old_report) == before and not list((tmp_path / "tmp").iterdir())
    assert not [p for p in old_report.iterdir() if p.is_dir()]


def test_replace_removes_what_a_report_wrote_and_nothing_else(old_report):
    (old_report / "mine.txt").write_text("mine")
    (old_report / "Mine-pm-1-line.htm").write_text("mine")
    (old_report / "folder").mkdir()
    listed = (old_report / "nytprof-report.txt").read_text().splitlines()[1:]
    assert set(listed) == {p.name for p in old_report.iterdir()} - {"mine.txt", "Mine-pm-1-line.htm", "folder"}
    done = write(old_report, "--replace", profile="mixed-calls2")
    assert done.returncode == 0 and b"left 3" in done.stderr
    new = {p.name for p in old_report.iterdir()}
    assert {"mine.txt", "Mine-pm-1-line.htm", "folder", "index.html"} <= new
    assert not {n for n in new if "recurse" in n}


def test_replace_knows_the_peers_files(peer, tmp_path):
    folder = tmp_path / "r"
    shutil.copytree(peer("mixed-calls1").folder, folder)
    (folder / "mine.dot").write_text("mine")
    assert write(folder, "--replace").returncode == 0
    assert (folder / "mine.dot").exists()
    assert not [p for p in folder.iterdir() if p.name.endswith("-line.html") and "mixed" in p.name]


def test_links_are_replaced_not_followed(old_report, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (old_report / "index.html").unlink()
    (old_report / "index.html").symlink_to(precious)
    assert write(old_report).returncode == 0
    assert precious.read_text() == "mine" and not (old_report / "index.html").is_symlink()


def test_what_cannot_be_a_folder_is_told(tmp_path):
    (tmp_path / "file").write_text("mine")
    done = write(tmp_path / "file")
    assert done.returncode == 4 and done.stderr.count(b"\n") == 1
    assert (tmp_path / "file").read_text() == "mine"
    done = write(tmp_path / "no" / "such")
    assert done.returncode == 4 and b"cannot make the folder" in done.stderr


def test_a_page_that_is_a_folder_is_told_before_anything_is_moved(old_report):
    before = content(old_report)
    (old_report / "flame.js").unlink()
    (old_report / "flame.js").mkdir()
    done = write(old_report, profile="mixed-calls2")
    assert done.returncode == 4 and b"flame.js" in done.stderr
    del before["flame.js"]
    assert content(old_report) == before


def test_what_is_written_over_can_still_be_removed(old_report):
    """A report without the pages of an earlier one lists them on, for a later --replace."""
    earlier = {p.name for p in old_report.iterdir()}
    assert write(old_report, "--no-flame", "--minimal").returncode == 0
    assert {p.name for p in old_report.iterdir()} == earlier
    done = write(old_report, "--no-flame", "--minimal", "--replace")
    assert done.returncode == 0 and done.stderr == b""
    assert not {"flame.js", "all_stacks_by_time.calls"} & {p.name for p in old_report.iterdir()}


def test_a_folder_that_may_not_be_written_to_is_left_alone(open_folder):
    shutil.copy(COMMAND, open_folder / "nytp-export")
    shutil.copy(profiles.profile("mixed-calls2"), open_folder / "p.out")
    os.chmod(open_folder / "p.out", 0o644)
    report = open_folder / "r"
    assert write(report).returncode == 0
    before = content(report)
    os.chmod(report, 0o555)
    who = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}

    def refused(folder, *options):
        done = subprocess.run([open_folder / "nytp-export", "--html", *options, "-o", f"{folder}/", open_folder / "p.out"],
                              check=False, capture_output=True, timeout=600, **who)
        assert done.returncode == 4
        return done
    for options in ([], ["--replace"], ["--no-flame", "--minimal"]):
        done = refused(report, *options)
        assert b"Permission denied" in done.stderr, done.stderr
        assert done.stderr.count(b"\n") == 1 and str(report).encode() in done.stderr
        assert content(report) == before and not [p for p in report.iterdir() if p.is_dir()]
    # a folder that is not there yet, in one that may not be written to
    refused(report / "new")
    assert not (report / "new").exists()
    os.chmod(report, 0o755)
