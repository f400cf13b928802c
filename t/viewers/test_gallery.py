# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""bench/gallery: one of its reports is made and has no fault; each kind of fault is seen in planted pages."""

import importlib.machinery
import importlib.util
import re
import shutil
import subprocess

import pytest

import devtools
import profiles

SCRIPT = profiles.TESTS.parent / "bench" / "gallery"
GOOD = '<!DOCTYPE html>\n<html lang="en">\n<title>x</title>\n<p>{}</p>\n</html>\n'
PLANTED = {
    "is no valid HTML": ({"a.html": GOOD.format("<nosuch>x</nosuch>")}, r"x/a.html:4:4: Error: <nosuch> is not recognized!"),
    "has a picture of a host": ({"a.html": GOOD.format('<img alt="" src="//example.org/x.png">')}, "x/a.html: names a host to load from"),
    "has a style of a host": ({"a.html": GOOD.format("x"), "a.css": "@import 'https://example.org/x.css';"}, "x/a.css: names a host to load from"),
    "has a background of a host": ({"a.html": GOOD.format('<b style="background: url(http://example.org/x)">x</b>')},
                                   "x/a.html: names a host to load from"),
    "is too large": ({"a.html": GOOD.format("x"), "large": bytes(range(256)) + b"x" * 9}, "x: 0.0 MB packed, at most 0.0003"),
}


@pytest.fixture(scope="module")
def gallery():
    lacking = [command for command in ("tidy", "exiftool") if not shutil.which(command)] + devtools.missing()
    if lacking:
        pytest.skip("not installed: " + ", ".join(lacking))
    loader = importlib.machinery.SourceFileLoader("gallery", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gallery", loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("fault", PLANTED)
def test_a_fault_is_seen(gallery, tmp_path, fault):
    files, wanted = PLANTED[fault]
    (tmp_path / "x").mkdir()
    for name, text in files.items():
        (tmp_path / "x" / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    found = gallery.faults(tmp_path / "x", 0.0003)
    assert len(found) == 1 and wanted in found[0], found


def test_links_and_texts_name_hosts_freely(gallery, tmp_path):
    (tmp_path / "a.html").write_text(GOOD.format('<a href="https://example.org/">x</a> url(//x) src="//x" &lt;img src="//x">'))
    assert gallery.faults(tmp_path, 1) == []


def test_a_page_that_asks_for_more_than_files_is_seen_in_the_browser(gallery, browser, tmp_path):
    (tmp_path / "a.html").write_text(GOOD.format("<script>fetch('http://127.0.0.1:9/x').catch(() => 0)</script>"))
    assert any("asks for http://127.0.0.1:9/x" in text for text in gallery.seen_in_browser(browser, tmp_path / "a.html"))


def test_a_report_is_made_with_index_and_picture_and_one_too_large_is_an_error(gallery, tmp_path):
    """The one of exiftool, the smallest, has 500 kB packed."""
    command = [SCRIPT, "--only=exiftool", f"--picture={tmp_path}/report.png", "--limit=0.1", tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, check=False, text=True, timeout=600)
    assert done.returncode == 1 and re.fullmatch(r"exiftool: 0\.\d MB packed, at most 0\.1\n", done.stdout), done
    assert '<a href="exiftool/index.html">exiftool</a>' in (tmp_path / "out" / "index.html").read_text()
    assert (tmp_path / "report.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert subprocess.run([SCRIPT, "--only=nothing", tmp_path], capture_output=True, check=False).returncode == 1
