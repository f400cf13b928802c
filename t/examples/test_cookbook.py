# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""doc/cookbook.md: every command on it runs, in the order of its story, and shows what is said."""

import contextlib
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "doc" / "cookbook.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(perl|sh)(?: (\S+))?\n(.*?)^```\n((?:<!-- shows: [^\n]* -->\n)*)",
                   re.M | re.S)
STORIES = {title: text for title, text in
           re.findall(r"^## (\d+\. [^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)}


def environment():
    unwanted = {"PERL5OPT", "NYTPROF", "NYTP_EXPORT", "PERL5DB"}
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return kept | {"PATH": f"{ROOT / 'bin'}:{os.environ['PATH']}",
                   "PERL5LIB": f"{ROOT / 'blib' / 'lib'}:{ROOT / 'blib' / 'arch'}"}


def test_there_are_twelve_stories_and_all_their_code_is_seen():
    assert len(STORIES) == 12
    assert len(BLOCK.findall(PAGE)) == PAGE.count("```") // 2 > 25
    assert PAGE.count("<!-- shows: ") == sum(block[3].count("shows") for block in BLOCK.findall(PAGE))
    linked = re.findall(r"\(#(\d+)-", PAGE)
    assert linked == [str(n) for n in range(1, 13)]


@pytest.fixture
def folder(tmp_path):
    """Where a story runs; the process of a `pid` file ends with it."""
    yield tmp_path
    if (tmp_path / "pid").exists():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), 9)


@pytest.mark.parametrize("title", STORIES)
def test_each_story(export_command, folder, title):
    if "use DBI" in STORIES[title] and subprocess.run(
            ["perl", "-MDBD::SQLite", "-e", "1"], capture_output=True, check=False).returncode:
        pytest.skip("DBD::SQLite is not installed")
    if re.search("use Plack|plackup", STORIES[title]) and subprocess.run(
            ["perl", "-MPlack", "-e", "1"], capture_output=True, check=False).returncode:
        pytest.skip("Plack is not installed")
    checked = 0
    for kind, name, text, shows in BLOCK.findall(STORIES[title]):
        if kind == "perl":
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
            continue
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder,
                              env=environment(), stdin=subprocess.DEVNULL, text=True, timeout=600,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert done.returncode == 0, f"{text}{done.stdout}"
        for pattern in re.findall(r"<!-- shows: (.*) -->", shows):
            assert re.search(pattern, done.stdout), f"{pattern}\n{text}{done.stdout}"
            checked += 1
    assert checked


def test_the_options_that_are_named_exist():
    listed = subprocess.run([ROOT / "bin" / "nytp-export", "--help"], check=True, capture_output=True, text=True).stdout
    known = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", listed, re.M)) | {"nytp-quiet"}
    spy = subprocess.run([ROOT / "bin" / "nytp-spy", "--help"], check=True, capture_output=True, text=True).stdout
    known |= set(re.findall(r"--([a-z-]+)", spy))
    for command in "nytp-startup", "nytp-run":
        known |= set(re.findall(r"^    --([a-z-]+)", (ROOT / "bin" / command).read_text(), re.M))
    assert set(re.findall(r"(?<![\w-])--([a-z-]+)", PAGE)) - {"-"} <= known
