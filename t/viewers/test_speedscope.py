# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""speedscope itself in headless Chromium: it opens every format that we write and that it knows,
and what it writes again is what we wrote."""

import json
import re
import subprocess

import pytest

import exports
import profiles
import readers
import speedscope
from speedscope import opened

VIEWER = speedscope
PROFILES = ["mixed-calls2", "mixed-calls1", "mixed-calls0", "recurse", "evals", "names",
            "forks-merged", "unreturned", "cut-deflated", "made-hostile-names",
            "made-hostile-files", "made-odd-ticks", "made-depth-gaps"]


def exported(seen):
    return readers.read_speedscope(json.dumps(seen["exported"]).encode(), ours=False)


def numbers(export):
    """self and total of every frame. speedscope takes a name that begins with _Z for C++."""
    return {{"evil::sub()": "_ZN4evil3subEv"}.get(name, name): (export.self[name], export.inclusive[name])
            for name in set(export.self) | set(export.inclusive)
            if export.self[name] or export.inclusive[name]}


@pytest.mark.parametrize("name, form", [*((name, "speedscope") for name in PROFILES), *(
    (name, "speedscope-aggregate") for name in ("mixed-calls2", "recurse", "made-hostile-names", "made-odd-ticks"))])
def test_it_writes_again_what_we_wrote(name, form):
    ours = exports.read(name, form)
    theirs = exported(opened(exports.export(name, form)))
    assert len(theirs.document["profiles"]) == len(ours.document["profiles"])
    # It turns every kind into the evented one, so each of our profiles is compared with its own.
    for mine, again in zip(ours.document["profiles"], theirs.document["profiles"]):
        one, two = readers.Export(), readers.Export()
        add = {"evented": readers.add_evented, "sampled": readers.add_sampled}
        add[mine["type"]](one, mine, ours.frames)
        add[again["type"]](two, again, theirs.frames)
        assert numbers(one) == numbers(two)
        assert mine["unit"] == again["unit"] and mine["name"] == again["name"]


def test_frames_have_files_and_lines():
    seen = opened(exports.export("mixed-calls2", "speedscope"))
    frames = {frame["name"]: frame for frame in seen["exported"]["shared"]["frames"]}
    assert frames["main::busy"]["file"] == str(profiles.PROGRAMS / "mixed.pl")
    text = (profiles.PROGRAMS / "mixed.pl").read_text().split("\n")
    assert text[frames["main::busy"]["line"] - 1].startswith("sub busy")


def test_the_sandwich_view_shows_our_numbers(totals):
    seen = opened(exports.export("mixed-calls2", "speedscope"), view="sandwich")
    want = totals("mixed-calls2")
    rows = {row[2]: row for row in seen["rows"] if len(row) == 3 and "%" in row[0]}
    assert len(rows) > 5
    for sub, row in rows.items():
        total, own = (re.match(r"([\d.,]+)(ns|µs|ms|s)", cell) for cell in row[:2])
        for cell, ticks in ((total, want.subs[sub].inclusive), (own, want.subs[sub].self)):
            unit = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[cell[2]]
            # two digits behind the point are shown
            assert abs(float(cell[1].replace(",", "")) * unit - ticks * 100) <= 0.0051 * unit, sub


@pytest.mark.parametrize("view", ["time-ordered", "left-heavy", "sandwich"])
def test_every_view_draws(tmp_path, view):
    shot = tmp_path / "shot.png"
    speedscope.look(exports.export("mixed-calls2", "speedscope"), view=view, shot=shot)
    colours = subprocess.run(["identify", "-format", "%k", str(shot)], capture_output=True,
                             check=True, text=True).stdout
    assert int(colours) > 20, "the page is blank"


def test_the_timeline_is_in_true_order(totals):
    """First come the compile phase's calls, then the main program's, in the order of the lines."""
    seen = opened(exports.export("mixed-calls2", "speedscope"))
    frames = seen["exported"]["shared"]["frames"]
    profile = next(p for p in seen["exported"]["profiles"] if p["type"] == "evented")
    first = {}
    for position, event in enumerate(profile["events"]):
        first.setdefault(frames[event["frame"]]["name"], position)
    order = ["main::BEGIN@4", "main::BEGIN@5", "main::caller_one", "main::caller_two",
             "main::caller_three", "main::__ANON__[mixed.pl:32]", "List::Util::first",
             "main::lines", "main::CORE:open", "main::CORE:print", "main::CORE:close",
             "main::CORE:sort"]
    positions = [first[name] for name in order]
    assert positions == sorted(positions)


def test_processes_are_named_by_pid_and_script(totals):
    seen = opened(exports.export("forks-merged", "speedscope"))
    names = [profile["name"] for profile in seen["exported"]["profiles"] if profile["type"] == "evented"]
    for pid, _, _ in totals("forks-merged").processes:
        assert any(str(pid) in name and "forks.pl" in name for name in names), names


@pytest.mark.parametrize("form", ["pprof", "collapsed"])
@pytest.mark.parametrize("name", ["mixed-calls2", "recurse", "made-hostile-names"])
def test_it_reads_our_other_formats_too(name, form):
    ours = exports.read(name, form)
    theirs = exported(opened(exports.export(name, form)))
    assert numbers(theirs) == numbers(ours)


@pytest.mark.parametrize("name", ["mixed-calls2", "recurse", "made-hostile-names"])
def test_it_reads_our_callgrind_files(name):
    """Its importer rebuilds a tree by proportion, so only that it loads and what has no caller
    in common is exact: the names of all subs with a share worth showing."""
    ours = exports.read(name, "callgrind")
    theirs = exported(opened(exports.export(name, "callgrind")))
    big = {sub for sub, cost in ours.self.items() if cost > ours.total / 500}
    assert big <= set(numbers(theirs))


def test_the_format_is_known_without_a_name():
    """`nytp-export --speedscope | speedscope -` gives it the name "-"."""
    ours = exports.export("recurse", "speedscope")
    timeline, theirs = readers.Export(), opened(ours, name="-")["exported"]
    readers.add_evented(timeline, theirs["profiles"][0], theirs["shared"]["frames"])
    assert numbers(timeline) == numbers(exports.read("recurse", "speedscope"))


def test_schema(totals):
    """Against the JSON schema that speedscope ships."""
    jsonschema = pytest.importorskip("jsonschema", reason="not installed: python3-jsonschema")
    schema = json.loads((speedscope.PAGE.parent / "file-format-schema.json").read_text())
    for name in PROFILES:
        jsonschema.validate(json.loads(exports.export(name, "speedscope").read_text()), schema)
