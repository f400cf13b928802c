# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Where the helpers are."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "cli"))
