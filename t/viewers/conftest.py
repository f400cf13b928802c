# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What the tests with real viewers share."""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
for folder in (HERE, HERE.parent / "exporters", HERE.parent):
    sys.path.insert(0, str(folder))


def need(missing):
    """Skip, saying what is not installed."""
    if missing:
        pytest.skip("not installed: " + ", ".join(missing))
