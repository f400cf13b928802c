# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Differences in the viewers that know them."""

import collections
import json
import re
import subprocess

import pytest

import pprof
from command import good
from recordings import record
from test_flamegraph import FLAMEGRAPH

OLD = """use strict;
sub add { my ($x, $y) = @_; my $z = $x + $y; return $z }
sub gone { 1 }
sub both { add(1, $_) for 1 .. $_[0] }
both(200); gone();
"""
NEW = OLD.replace("both(200); gone();", "sub more { add(3, 4) } both(300); more();").replace(
    "sub gone { 1 }", "")


@pytest.fixture(scope="module")
def sides(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sides")
    return record(folder / "old", OLD), record(folder / "new", NEW)


def test_pprof_shows_what_its_own_difference_shows(sides, tmp_path):
    if pprof.missing():
        pytest.skip("go is not installed")
    old, new, ours = (tmp_path / f"{name}.pb.gz" for name in ("old", "new", "diff"))
    good("--pprof", "-o", old, sides[0])
    good("--pprof", "-o", new, sides[1])
    good("--pprof", "--diff", sides[0], "-o", ours, sides[1])

    def rows(text):
        """Without the running sum%, which depends on the order of equal rows."""
        table = re.sub(r"BEGIN(@\d+|#\d+)", "BEGIN", text).split("flat  flat%")[1].splitlines()[1:]
        table = [re.sub(r"\s\S+%\s+(-?[\d.]+\S*\s+\S+%)", r" \1", line) for line in table]
        return sorted(" ".join(line.split()) for line in table)
    for value in ("wall", "statements", "calls"):
        options = ["-top", *pprof.ALL, "-unit=ns", f"-sample_index={value}"]
        (shown, _), (wanted, _) = pprof.run(*options, ours), pprof.run(*options, f"-diff_base={old}", new)
        assert rows(shown) == rows(wanted) and len(rows(shown)) > 4
        assert re.findall(r"of .* total", shown) == re.findall(r"of .* total", wanted)


def folded(*arguments):
    lines = {}
    for line in good("--collapsed", "--unit=ns", *arguments).decode().splitlines():
        stack, _, values = line.partition(" ")
        assert stack not in lines
        lines[stack] = tuple(map(int, values.split()))
    return lines


def test_collapsed_has_both_sides_of_each_stack(sides):
    both = folded("--diff", sides[0], sides[1])
    old, new = folded(sides[0]), folded(sides[1])
    assert both.keys() - old.keys() and both.keys() - new.keys()

    def plain(name):
        """Names as --diff has them; BEGIN blocks and anonymous subs are numbered there."""
        return re.sub(r"BEGIN(@\d+(\.\d+)?|#\d+)", "BEGIN", re.sub(r"__ANON__(\[[^;]*\]|#\d+)", "__ANON__", name))

    def summed(lines, which):
        sums = collections.Counter()
        for stack, values in lines.items():
            sums[plain(stack)] += values[which]
        return {stack: value for stack, value in sums.items() if value}
    assert summed(both, 0) == summed(old, 0)
    assert summed(both, 1) == summed(new, 0)


def test_flamegraph_takes_both_columns(sides):
    if not FLAMEGRAPH.exists():
        pytest.skip("not installed: flamegraph.pl of libdevel-nytprof-perl")
    text = good("--collapsed", "--weight=statements", "--diff", sides[0], sides[1])
    done = subprocess.run(["perl", FLAMEGRAPH, "--minwidth=0"], input=text, capture_output=True, check=True)
    assert b"Ignored" not in done.stderr
    assert b"main::more" in done.stdout


def test_normalized_sides_have_one_sum(sides):
    """Three runs of the base and one now, as if each side had run equally long."""
    three = [f"--diff={sides[0]}"] * 3
    plain, scaled = folded("-q", *three, sides[1]), folded("--normalize", *three, sides[1])
    before, after = (sum(values[which] for values in plain.values()) for which in (0, 1))
    assert [sum(values[which] for values in scaled.values()) for which in (0, 1)] == [after, after]
    for stack, (base, now) in plain.items():
        shown = scaled.get(stack, (0, 0))
        assert shown[1] == now and abs(shown[0] - base * after / before) <= len(plain) * 100   # ticks of 100 ns
    text = good("--flamegraph", "--normalize", *three, sides[1]).decode()
    assert "the base is scaled to the same sum" in text
    widths = [float(wide) for wide in re.findall(r'data-base="[\d.]+ ([\d.]+)"', text)]
    assert max(widths) == 1200
    document = json.loads(good("--speedscope", "--normalize", *three, sides[1]))
    new, base, more, less = (one["endValue"] for one in document["profiles"])
    assert new == base and more == less


def test_speedscope_has_four_profiles(sides):
    document = json.loads(good("--speedscope", "--unit=ns", "--diff", sides[0], sides[1]))
    names = [frame["name"] for frame in document["shared"]["frames"]]
    profiles = {one["name"]: one for one in document["profiles"]}
    assert list(profiles) == ["new", "base", "more", "less"]

    def stacks(name):
        one = profiles[name]
        assert one["endValue"] == sum(one["weights"])
        return {tuple(names[i] for i in stack): weight
                for stack, weight in zip(one["samples"], one["weights"])}
    new, base, more, less = map(stacks, profiles)
    for stack in new.keys() | base.keys():
        assert new.get(stack, 0) - base.get(stack, 0) == more.get(stack, 0) - less.get(stack, 0)
        assert not (stack in more and stack in less)
    assert ("main::RUNTIME", "main::more") in more
    assert ("main::RUNTIME", "main::gone") in less
    totals = [json.loads(good("--json", side))["total"] for side in sides]
    assert [sum(base.values()), sum(new.values())] == totals
