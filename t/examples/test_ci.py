# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The shell lines of examples/ci/ do what the files say."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CI = ROOT / "examples" / "ci"
BENCH = "sub work { my $x = 0; $x += $_ for 1 .. 50; $x } work() for 1 .. %d;\n"


def run_lines(name):
    """The commands of a YAML file's `run:` and `script:`."""
    text = (CI / name).read_text()
    found = re.findall(r"^ *run: (.*)$", text, re.MULTILINE)
    for block in re.findall(r"^ *script:\n((?: +- .*\n)+)", text, re.MULTILINE):
        found += re.findall(r"^ +- (.*)$", block, re.MULTILINE)
    assert len(found) >= 3
    return found


@pytest.fixture
def shell(export_command, tmp_path):
    """Runs lines in a folder as one script that stops at the first failure."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "nytp-export").symlink_to(export_command)

    def go(folder, lines, **more):
        environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", HOME=str(tmp_path),
                           PERL5LIB=f"{ROOT}/blib/lib:{ROOT}/blib/arch", **more)
        return subprocess.run(["bash", "-ec", "\n".join(lines)], cwd=folder, env=environment,
                              capture_output=True, text=True, check=False, timeout=600)
    return go


def save_base(shell, folder):
    text = (CI / "README.md").read_text()
    lines = re.findall(r"^    (\S.*)$", text, re.MULTILINE)
    done = shell(folder, lines)
    assert done.returncode == 0, done.stderr
    assert (folder / "base.nytp.json").exists()


@pytest.mark.parametrize("calls, status", [(100, 0), (101, 0), (150, 10)])
def test_github_job(shell, tmp_path, calls, status):
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "bench.pl").write_text(BENCH % 100)
    save_base(shell, folder)
    (folder / "bench.pl").write_text(BENCH % calls)
    summary = tmp_path / "summary.md"
    done = shell(folder, run_lines("github.yml"), GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == status, done.stderr
    assert summary.read_text().startswith("### `bench.pl: 1 run against 1`")
    assert ("::error file=" in done.stdout) == (status == 10)
    if status:
        assert "bench.pl,line=1::" in done.stdout and "main::work" in done.stdout


@pytest.mark.parametrize("calls, status", [(100, 0), (150, 10)])
def test_gitlab_job(shell, tmp_path, calls, status):
    folder = tmp_path / "repository"
    folder.mkdir()
    git = "git -c user.name=t -c user.email=t@example.org"
    (folder / "bench.pl").write_text(BENCH % 100)
    done = shell(folder, ["git init -q -b main", "git add bench.pl", f"{git} commit -qm base",
                          "git checkout -q -b topic"])
    assert done.returncode == 0, done.stderr
    (folder / "bench.pl").write_text(BENCH % calls)
    done = shell(folder, run_lines("gitlab.yml"))
    assert done.returncode == status, done.stderr
    assert "main::work" in (folder / "changes.md").read_text() or status == 0
