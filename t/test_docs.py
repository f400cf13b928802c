# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The map names nothing that is gone (t/xs/layers.t: every source file has its place)."""

import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def tracked(*folders):
    names = subprocess.run(["git", "-C", ROOT, "ls-files", *folders], check=True,
                           capture_output=True, text=True).stdout.split()
    assert names
    return names


def mapped():
    """File names of the map, `name.{h,c}` taken apart."""
    with open(os.path.join(ROOT, "CODE-MAP.md"), encoding="utf-8") as file:
        words = re.findall(r"`([^`]+)`", file.read())
    names = set()
    for word in " ".join(words).split():
        stem, braces, rest = word.partition("{")
        ends = rest.rstrip("}").split(",") if braces else [""]
        names.update(os.path.basename(stem + end) for end in ends)
    return names


def test_the_map_names_no_file_that_is_gone():
    there = {os.path.basename(name) for name in tracked()} | {"nytp-export", "nytp-spy"}
    gone = [name for name in mapped() if re.search(r"\.(c|h|def|xs|py|sh|md)$", name)
            and name not in there and name != "NAME.c"]
    assert not gone


def test_what_one_looks_for_is_where_the_map_says():
    """The table of questions: `file`: `name` says that the file has the name."""
    with open(os.path.join(ROOT, "CODE-MAP.md"), encoding="utf-8") as file:
        table = re.search(r"^## Where is …\n(.*?)^## ", file.read(), re.M | re.S)[1]
    answers = re.findall(r"`([^`]+/[^`]+)`: ((?:`[^`]+`(?:, )?)+)", table)
    assert len(answers) >= 12
    for path, names in answers:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        for name in re.findall(r"`([^`]+)`", names):
            assert re.search(rf"\b{re.escape(name)}\b", text), (path, name)
