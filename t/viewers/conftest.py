# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What the tests with real viewers share."""

import functools
import re

import pytest

import devtools
import exports
import profiles


@pytest.fixture(autouse=True)
def installed(request, recorder):
    """A file of tests names the module that drives its viewer as VIEWER."""
    viewer = getattr(request.module, "VIEWER", None)
    lacking = viewer.missing() if viewer else []
    if lacking:
        pytest.skip("not installed: " + ", ".join(lacking))


@pytest.fixture(scope="session")
def browser(recorder):
    lacking = devtools.missing()
    if lacking:
        pytest.skip("not installed: " + ", ".join(lacking))
    with devtools.Browser() as running:
        yield running


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """The folder of a profile's report, or with one=True its single file; written once."""
    @functools.lru_cache(maxsize=None)
    def write(name, one=False):
        folder = tmp_path_factory.mktemp(name)
        out = folder / "report.html" if one else folder
        exports.exported("--html", "-o", f"{out}" if one else f"{out}/", profiles.profile(name))
        return out
    return write


@pytest.fixture
def page(browser):
    """Opens pages, each in a context of its own, and in the end looks at what they complained of."""
    opened = []

    def open_page(path, fragment="", **how):
        one = browser.page(**how)
        opened.append(one)
        one.open(f"file://{path}{fragment}")
        return one
    yield open_page
    for one in opened:
        problems, requests = one.problems, one.requests
        one.close()
        assert problems == []
        assert [url for url in requests if not re.match(r"file:|about:|data:", url)] == []
