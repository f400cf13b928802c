# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Counts the instructions of a run of nytp-export: the same for the same input, whatever else the machine does."""

import pathlib
import re
import subprocess

import pytest

COMMAND = pathlib.Path(__file__).resolve().parents[1] / "bin" / "nytp-export"    # never one with sanitizers


def instructions(*arguments):
    """Instructions in user mode. The run must end with status 0 or 3 (a recording that ends early)."""
    try:
        done = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
                               COMMAND, "-q", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=2400)
    except FileNotFoundError:
        pytest.skip("valgrind is not installed")
    assert done.returncode in (0, 3), done.stderr
    return int(re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)[1].replace(",", ""))
