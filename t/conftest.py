# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What the Python tests share: where things are, and recorded profiles by name."""

import functools
import os
import pathlib
import pickle
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), *(str(HERE / folder) for folder in ("exporters", "cli", "viewers", "fleet"))]

import profiles  # noqa: E402
import totals as totals_module  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def export_command():
    """bin/nytp-export, which must have been built: without it there is nothing to test."""
    command = pathlib.Path(os.environ.get("NYTP_EXPORT", profiles.TESTS.parent / "bin" / "nytp-export"))
    if not os.access(command, os.X_OK):
        pytest.fail(f"{command} is not built")
    return command


@pytest.fixture
def open_folder():
    """A folder that other users may enter. pytest's own are below one that each pytest which starts beside this one closes to others."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield pathlib.Path(name)


@pytest.fixture(scope="session")
def recorder():
    if not profiles.have_recorder():
        pytest.skip("no profiles to read: libdevel-nytprof-perl is not installed")


@pytest.fixture(scope="session")
def profile(recorder):
    return profiles.profile


@functools.cache
def totals_of(name):
    """Large ones take ten seconds and more, and are wanted by several sessions: they are kept beside the profile."""
    path = profiles.profile(name)
    kept = path.with_suffix(".totals")
    if kept.exists() and kept.stat().st_mtime > max(file.stat().st_mtime for file in (path, HERE / "totals.py", HERE / "nytpread.py")):
        return pickle.loads(kept.read_bytes())
    found = totals_module.Totals(path)
    whole = path.with_suffix(f".{os.getpid()}.totals")
    whole.write_bytes(pickle.dumps(found))
    whole.rename(kept)
    return found


@pytest.fixture(scope="session")
def totals(recorder):
    """The totals of a profile by name, worked out once."""
    return totals_of
