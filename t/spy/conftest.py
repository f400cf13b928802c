# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Programs and copies of nytp-spy for one test."""

import pytest

import spied


@pytest.fixture
def script(tmp_path):
    """Writes a program, which goes with the test."""
    def write(text, name="app.pl"):
        path = tmp_path / name
        path.write_text(text)
        return path
    return write


@pytest.fixture
def open_spy(open_folder):
    """A copy of nytp-spy where every user may run it."""
    command = open_folder / "nytp-spy"
    command.write_bytes(spied.SPY.read_bytes())
    command.chmod(0o755)
    return command
