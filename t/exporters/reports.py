# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Reports to look at, each made once for a file of tests: ours (`report`) and the installed nytprofhtml's (`peer`).
A file of tests imports the fixtures that it uses.
"""

import os
import pathlib
import shutil
import subprocess

import pytest

import htmlpages
import profiles

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBS = subprocess.run(["perl", "-e", 'print join "\\n", grep { $_ ne "." } @INC'], check=True,
                      env=profiles.stock_environment(), capture_output=True,
                      text=True).stdout.split("\n")


@pytest.fixture(scope="module")
def command():
    return os.environ.get("NYTP_EXPORT", str(ROOT / "bin" / "nytp-export"))


def run(command, *arguments, **options):
    return subprocess.run([command, *map(str, arguments)], capture_output=True, timeout=600,
                          check=False, **options)


def made(command, folder, *arguments, code=0, **options):
    """The report that the command writes into the folder."""
    done = run(command, "--html", "-q", "-o", f"{folder}/", *arguments, **options)
    assert done.returncode == code, done.stderr
    return htmlpages.Report(folder)


@pytest.fixture(scope="module")
def report(command, tmp_path_factory):
    reports = {}

    def make(name, *arguments):
        if (name, arguments) not in reports:
            folder = tmp_path_factory.mktemp("report") / "r"
            done = run(command, "--html", "-q", "-o", f"{folder}/", *(f"--lib={x}" for x in LIBS),
                       *arguments, profiles.profile(name))
            assert done.returncode in (0, 3), done.stderr
            reports[name, arguments] = htmlpages.Report(folder)
        return reports[name, arguments]
    return make


@pytest.fixture(scope="module")
def peer(tmp_path_factory):
    made = {}

    def make(name):
        if not shutil.which("nytprofhtml"):
            pytest.skip("nytprofhtml is not installed")
        if name not in made:
            folder = tmp_path_factory.mktemp("peer") / "r"
            subprocess.run(["nytprofhtml", "-f", profiles.profile(name), "-o", folder],
                           check=True, capture_output=True, env=profiles.stock_environment())
            made[name] = htmlpages.Report(folder, errors="replace")
        return made[name]
    return make
