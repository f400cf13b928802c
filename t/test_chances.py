# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What tests say of how likely they fail by chance is added up, and has a limit."""

import pathlib
import subprocess

import pytest

CHANCES = pathlib.Path(__file__).resolve().parent / "chances"


def test_these_tests_fail_by_chance_in_less_than_one_of_ten_thousand_runs():
    subprocess.run([CHANCES], check=True)


@pytest.mark.parametrize("text, status", [
    (": 1e-7 (binomial)", 0), (": 2e-6", 1), (": 9e-7\n# Chance" * 112 + ": 0", 1), (" is nothing", 1)],
    ids=["small", "one too large", "together too large", "none"])
def test_what_is_too_likely_is_told(tmp_path, text, status):
    (tmp_path / "some.t").write_text(f"# Chance{text}\n")
    ran = subprocess.run([CHANCES, tmp_path], capture_output=True, text=True, check=False)
    assert ran.returncode == status, ran.stderr
