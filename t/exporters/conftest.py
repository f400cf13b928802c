# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Every test here needs the command."""

import pytest


@pytest.fixture(autouse=True)
def built(export_command):
    return export_command
