# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The shell lines of examples/ci/ and packaging/ci/ do what the files say."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CI = ROOT / "examples" / "ci"
PIECES = ROOT / "packaging" / "ci"
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
    (tools / "gate").symlink_to(PIECES / "gate")

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


def repository(shell, folder, base_calls, calls):
    """A repository whose branch main does base_calls, and whose checkout does calls."""
    folder.mkdir()
    git = "git -c user.name=t -c user.email=t@example.org"
    (folder / "bench.pl").write_text(BENCH % base_calls)
    assert shell(folder, ["git init -q -b main", "git add bench.pl", f"{git} commit -qm base"]).returncode == 0
    (folder / "bench.pl").write_text(BENCH % calls)


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
    repository(shell, folder, 100, calls)
    assert shell(folder, ["git checkout -q -b topic"]).returncode == 0
    done = shell(folder, run_lines("gitlab.yml"))
    assert done.returncode == status, done.stderr
    assert "main::work" in (folder / "changes.md").read_text() or status == 0


def steps_of(name):
    """The shell of the action's steps, or of the component's script."""
    text = (PIECES / name).read_text()
    blocks = re.findall(r"^ *run: \|\n((?: {8}.*\n)+)", text, re.M) or re.findall(r"^  script:\n((?: +- .*\n)+)", text, re.M)
    return [re.sub(r"^ +(?:- )?", "", block, flags=re.M) for block in blocks]


def values(name, **given):
    """The variables that the file hands to the step, with these inputs."""
    pairs = re.findall(r"^ +(NYTP_\w+): (.*)$", (PIECES / name).read_text(), re.M)
    assert len(pairs) == 5
    return {key: re.sub(r"\$(?:\{\{|\[\[) inputs\.([\w-]+) (?:\}\}|\]\])", lambda found: given.get(found[1], ""), value)
            for key, value in pairs}


@pytest.mark.parametrize("name", ["action.yml", "gitlab.yml"])
@pytest.mark.parametrize("calls, status", [(100, 0), (150, 10)])
def test_the_steps_of_a_piece_compare_with_the_base(shell, tmp_path, name, calls, status):
    folder = tmp_path / "a: 100%"
    repository(shell, folder, 100, calls)
    inputs = {"command": "perl bench.pl && perl bench.pl", "base": "main", "fail-over": "2% 20%:calls:sub"}
    more = {"GITHUB_ACTION_PATH": str(PIECES), "GITHUB_STEP_SUMMARY": str(folder / "changes.md")}
    for step in steps_of(name):
        done = shell(folder, [step], **more, **values(name, **inputs))
    assert done.returncode == status, done.stderr
    assert "main::work" in (folder / "changes.md").read_text() or status == 0
    assert ("::error file=" in done.stdout) == (status == 10 and name == "action.yml")
    limits = (folder / "nytp-gate" / "limits.xml").read_text()
    assert limits.count("<testcase") >= 2 and ("<failure" in limits) == (status == 10)
    assert not (folder / "nytp-gate" / "tree").exists()


@pytest.mark.parametrize("calls, status", [(100, 0), (150, 10)])
def test_the_gate_takes_rules_without_a_base(shell, tmp_path, calls, status):
    repository(shell, tmp_path / "r", 100, calls)
    (tmp_path / "r" / "rules").write_text("calls main::work <= 120\n")
    done = shell(tmp_path / "r", [f"{PIECES}/gate"], NYTP_COMMAND="perl bench.pl", NYTP_RULES="rules")
    assert done.returncode == status, done.stderr


@pytest.mark.parametrize("given, says", [
    ({}, "NYTP_COMMAND is needed"), ({"NYTP_COMMAND": "true"}, "NYTP_RULES or NYTP_FAIL_OVER"),
    ({"NYTP_COMMAND": "perl -e 'exit 7'", "NYTP_FAIL_OVER": "2%", "NYTP_BASE": "main"}, ""),
    ({"NYTP_COMMAND": "perl bench.pl", "NYTP_FAIL_OVER": "2%", "NYTP_BASE": "nosuch"}, "nosuch is neither a file nor a commit")])
def test_a_gate_that_cannot_be_is_a_failure(shell, tmp_path, given, says):
    repository(shell, tmp_path / "r", 100, 100)
    done = shell(tmp_path / "r", [f"{PIECES}/gate"], **given)
    assert done.returncode not in (0, 10) and says in done.stderr


@pytest.mark.parametrize("base, status, says", [("-base", 10, ""), ("-nosuch", 2, "-nosuch is neither")])
def test_a_base_may_begin_with_a_dash(shell, tmp_path, base, status, says):
    folder = tmp_path / "r"
    repository(shell, folder, 100, 100)
    given = {"NYTP_COMMAND": "perl bench.pl", "NYTP_FAIL_OVER": "20%:calls:sub", "NYTP_BASE": "main"}
    assert shell(folder, [f"{PIECES}/gate", "mv nytp-gate/new ./-base"], **given).returncode == 0
    (folder / "bench.pl").write_text(BENCH % 150)
    done = shell(folder, [f"{PIECES}/gate"], **dict(given, NYTP_BASE=base))
    assert done.returncode == status and says in done.stderr, done.stderr
