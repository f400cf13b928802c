# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Pages of commands: every command runs, in the order of its section, and shows what is said.

A section (##) begins in an empty folder. ```perl NAME writes a file, ```sh is run, and `<!-- shows: REGEX -->` lines behind it
say what it prints. ```sh untried is not run: the line before it says that it is untried.
"""

import contextlib
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in ["FAQ.md", "doc/cookbook.md", "doc/kubernetes.md", "doc/migration.md",
                               "doc/recipes.md"]}
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```\n((?:<!-- shows: [^\n]* -->\n)*)", re.M | re.S)
SECTIONS = {f"{page}: {title}": text for page, whole in PAGES.items()
            for title, text in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", whole, re.M | re.S)
            if re.search("^```sh\n", text, re.M)}
# A section whose text is like this needs something: the command fails where it is missing.
NEEDS = [
    ("use DBI", "perl -MDBD::SQLite -e 1"),
    ("use Plack|plackup", "perl -MPlack -e 1"),
    ("use threads", "perl -Mthreads -e 1"),
    ("go tool", "command -v go"),
    ("spamassassin ", "command -v spamassassin"),
    ("latexml ", "command -v latexml"),
    ("setpriv", "setpriv --bounding-set=-all --inh-caps=-all true"),
    ("unshare", "unshare --pid --fork --mount-proc true"),
]


def environment():
    unwanted = {"PERL5OPT", "NYTPROF", "NYTP_EXPORT", "PERL5DB"}
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return kept | {"PATH": f"{ROOT / 'bin'}:{os.environ['PATH']}",
                   "PERL5LIB": f"{ROOT / 'blib' / 'lib'}:{ROOT / 'blib' / 'arch'}"}


def test_the_cookbook_has_twelve_stories():
    stories = [title for title in SECTIONS if title.startswith("doc/cookbook.md: ")]
    assert len(stories) == 12
    linked = re.findall(r"\(#(\d+)-", PAGES["doc/cookbook.md"])
    assert linked == [str(n) for n in range(1, 13)]


@pytest.mark.parametrize("page", PAGES)
def test_all_code_of_a_page_is_seen(page):
    blocks = BLOCK.findall(PAGES[page])
    assert len(blocks) == PAGES[page].count("```") // 2 >= 2
    assert not re.search(r"^(?: {4}|\t)", BLOCK.sub("", PAGES[page]), re.M), "code without a fence is not run"
    assert PAGES[page].count("<!-- shows: ") == sum(block[3].count("shows") for block in blocks)
    untried = re.findall(r"^(.*)\n+```\w+ untried$", PAGES[page], re.M)
    assert len(untried) == PAGES[page].count(" untried\n")
    assert all("ntried" in line for line in untried), untried
    assert {name for kind, name, _, _ in blocks if kind == "sh"} <= {"", "untried"}


def test_the_refusals_that_are_explained_are_those_of_nytp_spy():
    said = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', (ROOT / "spy" / "target" / "target.c").read_text()))
    table = re.search(r"\| it says \|.*?\n\n", PAGES["FAQ.md"], re.S)[0]
    shown = re.findall(r"^\| `([^`]+)` \|", table, re.M)
    assert len(shown) >= 5 and [text for text in shown if text not in said] == []


@pytest.fixture
def folder(tmp_path):
    """Where a section runs; the process of a `pid` file ends with it."""
    yield tmp_path
    if (tmp_path / "pid").exists():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), 9)


def all_rows(commands):
    """Beside busy programs now this row is the first, now that: all are asked for."""
    return re.sub(r"(--top=|head -)\d+\b", r"\g<1>99", commands)


@pytest.mark.parametrize("title", SECTIONS)
def test_each_section(export_command, folder, title):
    for pattern, command in NEEDS:
        if re.search(pattern, SECTIONS[title]) and subprocess.run(command, shell=True, capture_output=True, check=False).returncode:
            pytest.skip(f"{command}: fails")
    checked = 0
    for kind, name, text, shows in BLOCK.findall(SECTIONS[title]):
        if name == "untried":
            continue
        if kind != "sh":
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
            continue
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", all_rows(text)], cwd=folder,
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
    assert set(re.findall(r"(?<![\w-])--([a-z-]+)", PAGES["doc/cookbook.md"])) - {"-"} <= known
