# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""flamegraph.pl draws our collapsed stacks: every frame, no line ignored, the right numbers."""

import collections
import html
import pathlib
import re
import subprocess

import pytest

import exports

FLAMEGRAPH = pathlib.Path("/usr/share/perl5/Devel/NYTProf/flamegraph.pl")
pytestmark = pytest.mark.skipif(not FLAMEGRAPH.exists(), reason="not installed: flamegraph.pl of libdevel-nytprof-perl")


def draw(data):
    done = subprocess.run(["perl", str(FLAMEGRAPH), "--minwidth=0", "--countname=ns"],
                          input=data, capture_output=True, check=False, timeout=600)
    errors = done.stderr.decode("utf-8", "replace")
    assert done.returncode == 0 and errors == "", errors[:500]
    svg = done.stdout.decode("utf-8", "replace")    # it cuts labels to their boxes' widths in the middle of characters
    boxes = collections.Counter()
    for name, value in re.findall(r"<title>(.*?) \(([\d,]+) ns", svg):
        boxes[html.unescape(name)] += int(value.replace(",", ""))
    return boxes, svg


@pytest.mark.parametrize("name", ["mixed-calls2", "mixed-calls0", "recurse", "evals", "names",
                                  "forks-merged", "unreturned", "requires", "jumps",
                                  "made-hostile-names", "made-hostile-files", "killed-deflated", "deep-calls1"])
def test_every_frame_is_drawn_with_its_time(name):
    shown = exports.read(name, "collapsed")
    boxes, _ = draw(exports.export(name, "collapsed").read_bytes())
    assert boxes.pop("all") == shown.total
    wanted = collections.Counter()
    for line in exports.export(name, "collapsed").read_text().splitlines():
        stack, _, weight = line.rpartition(" ")
        for frame in stack.split(";"):
            # flamegraph.pl draws angle brackets as parentheses
            wanted[frame.replace("<", "(").replace(">", ")")] += int(weight)
    assert boxes == wanted
