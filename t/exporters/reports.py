# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Reports to look at, each made once for a file of tests: ours (`report`) and the installed nytprofhtml's (`peer`).
A file of tests imports the fixtures that it uses.
"""

import functools
import shutil
import subprocess

import pytest

import htmlpages
import profiles
from command import run

LIBS = subprocess.run(["perl", "-e", 'print join "\\n", grep { $_ ne "." } @INC'], check=True,
                      env=profiles.stock_environment(), capture_output=True,
                      text=True).stdout.split("\n")


def made(folder, *arguments, codes=(0,), **options):
    """The report that the command writes into the folder."""
    done = run("--html", "-q", "-o", f"{folder}/", *arguments, **options)
    assert done.returncode in codes, done.stderr
    return htmlpages.Report(folder)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    @functools.cache
    def make(name, *arguments):
        folder, libs = tmp_path_factory.mktemp("report") / "r", [f"--lib={lib}" for lib in LIBS]
        return made(folder, *libs, *arguments, profiles.profile(name), codes=(0, 3))
    return make


@pytest.fixture(scope="module")
def peer(tmp_path_factory):
    if not shutil.which("nytprofhtml"):
        pytest.skip("nytprofhtml is not installed")

    @functools.cache
    def make(name):
        folder = tmp_path_factory.mktemp("peer") / "r"
        subprocess.run(["nytprofhtml", "-f", profiles.profile(name), "-o", folder],
                       check=True, capture_output=True, env=profiles.stock_environment())
        return htmlpages.Report(folder, errors="replace")
    return make
