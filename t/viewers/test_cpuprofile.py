# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""cpuprofile: the tree and its times, as the format's rules give them, and in speedscope."""

import collections
import json
import pathlib
import shutil
import subprocess

import pytest

import exports
import readers
import speedscope
from command import good
from nytpwrite import Writer

PROFILES = ["mixed-calls2", "mixed-calls0", "recurse", "evals", "names", "forks-merged", "unreturned",
            "made-hostile-names", "deep-calls1"]
HERE = pathlib.Path(__file__).resolve().parent
NODE = HERE.parent / ".cache" / "node"


@pytest.fixture
def document(profile):
    def read(name, *options):
        text = exports.exported("--cpuprofile", "-q", *options, profile(name))
        return text, json.loads(text)
    return read


def line_ticks(read):
    """(file, line) -> microseconds by positionTicks."""
    ticks = collections.Counter()
    for node in read["nodes"]:
        for tick in node.get("positionTicks", []):
            ticks[node["callFrame"]["url"], tick["line"]] += tick["ticks"]
    return ticks


def self_times(read):
    """Function name -> microseconds: a sample lasts until the next one."""
    nodes = {node["id"]: node for node in read["nodes"]}
    assert len(read["samples"]) == len(read["timeDeltas"])
    times = collections.Counter()
    for sample, until in zip(read["samples"], read["timeDeltas"][1:]):
        times[nodes[sample]["callFrame"]["functionName"]] += until
    return times


@pytest.mark.parametrize("name", PROFILES)
def test_times_are_those_of_the_subs(document, profile, name):
    _, read = document(name)
    want = json.loads(exports.exported("--json", "--merge-evals", "-q", profile(name)))
    times = self_times(read)
    wanted = collections.Counter()
    for sub in want["subs"]:
        wanted[sub["name"]] += sub["exclusive"] / 1000
    slack = len(read["nodes"])                       # each stack is rounded
    assert abs(sum(times.values()) - want["total"] / 1000) <= 1 or name == "made-hostile-names"
    assert read["endTime"] - read["startTime"] == sum(times.values())
    if name in ("mixed-calls2", "recurse", "forks-merged"):
        for sub, time in wanted.items():
            assert abs(times[sub] - time) <= slack, sub


@pytest.mark.parametrize("name", PROFILES)
def test_nodes_make_one_tree(document, name):
    _, read = document(name)
    ids = [node["id"] for node in read["nodes"]]
    children = [child for node in read["nodes"] for child in node.get("children", [])]
    assert read["nodes"][0]["callFrame"]["functionName"] == "(root)"
    assert len(set(ids)) == len(ids) and sorted(children) == sorted(ids[1:])
    parents = {child: node["id"] for node in read["nodes"] for child in node.get("children", [])}
    assert all(parents[node] < node for node in parents)
    assert set(read["samples"]) <= set(ids)


def test_ticks_at_lines_are_those_of_the_lines(document, totals):
    _, read = document("mixed-calls2")
    shown = line_ticks(read)
    busiest = max((place for place in shown if place[0].endswith("/mixed.pl")), key=shown.get)
    assert sum(shown.values()) <= sum(self_times(read).values()) + 1
    assert totals("mixed-calls2").lines[busiest].count > 0


def test_lines_add_up_to_their_node(tmp_path):
    stream = Writer().pid_start(7).fid(1, "/x/a.pl")
    for n in range(9):
        stream.entry(1, 1).time(3, 1, 1).entry(1, 10).leave(2, 7, 7, f"main::CORE:{n}")
        stream.leave(1, 20, 13, f"main::f{n}").time(11, 1, 10).time(9, 1, 11).discount()
        stream.sub(1, f"main::f{n}", 9, 12).sub(1, f"main::CORE:{n}", 0, 0)
        stream.callers(1, 1, "main::RUNTIME", f"main::f{n}", 1, 20, 13).callers(1, 10, f"main::f{n}", f"main::CORE:{n}", 1, 7, 7)
    nodes = json.loads(good("-q", "--cpuprofile", stream.pid_end(7).save(tmp_path / "f.out")))["nodes"]
    with_lines = [node for node in nodes if "positionTicks" in node]
    assert len(with_lines) == 10
    assert [sum(tick["ticks"] for tick in node["positionTicks"]) for node in with_lines] == [node["hitCount"] for node in with_lines]


@pytest.mark.parametrize("name", PROFILES)
def test_lines_as_frames_hold_the_same_times(document, name):
    """What VS Code goes by: it shows a time at the place of a frame, not at positionTicks."""
    _, plain = document(name)
    _, read = document(name, "--lines")
    at_lines = line_ticks(plain)
    frames, parents = collections.Counter(), {}
    for node in read["nodes"]:
        parents.update(dict.fromkeys(node.get("children", []), node))
        if node["callFrame"]["functionName"] == f"line {node['callFrame']['lineNumber'] + 1}":
            frames[node["callFrame"]["url"], node["callFrame"]["lineNumber"] + 1] += node["hitCount"]
            assert node["callFrame"]["url"] == parents[node["id"]]["callFrame"]["url"]
            assert [tick["ticks"] for tick in node["positionTicks"]] == [node["hitCount"]]
    assert frames.keys() == at_lines.keys() and (frames or name.startswith("made"))
    n_frames = len(read["nodes"])
    assert all(abs(frames[place] - at_lines[place]) <= n_frames for place in frames)
    assert abs(sum(self_times(read).values()) - sum(self_times(plain).values())) <= 1 or name == "made-hostile-names"
    assert sum(node["hitCount"] for node in read["nodes"]) == sum(self_times(read).values())


def devtools_missing():
    lacking = [] if shutil.which("node") else ["nodejs"]
    return lacking + [package for package in ("chrome-devtools-frontend", "esbuild")
                      if not (NODE / "node_modules" / package).exists()]


def test_devtools_sees_the_times_of_subs_and_lines(document, profile, tmp_path):
    """DevTools' own model, which goes by hitCount and positionTicks and not by samples."""
    lacking = devtools_missing()
    if lacking:
        pytest.skip("not installed: " + ", ".join(lacking))
    wanted, files = [], []
    for name, *options in [*([name] for name in PROFILES), *([name, "--lines"] for name in PROFILES)]:
        text, read = document(name, *options)
        files.append(tmp_path / f"{len(files)}.cpuprofile")
        files[-1].write_bytes(text)
        wanted.append((name, read))
    done = subprocess.run(["node", HERE / "devtools_profile.mjs", NODE, tmp_path, *files], check=False,
                          capture_output=True, timeout=600)
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    shown = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(shown) == len(wanted)
    for (name, read), seen in zip(wanted, shown):
        times = self_times(read)
        assert seen["total"] * 1000 == pytest.approx(sum(times.values()), rel=1e-4, abs=1), name
        for sub, time in times.items():
            assert seen["own"][sub] * 1000 == pytest.approx(time, rel=1e-4, abs=1), (name, sub)
        # it takes the last sample to have lasted as long as they do on average
        more = (seen["samples"]) / (seen["samples"] - 1)
        at_lines = {f"{file}:{line}": ticks for (file, line), ticks in line_ticks(read).items() if file}
        assert seen["lines"].keys() == at_lines.keys()
        for place, time in seen["lines"].items():
            assert time * 1000 == pytest.approx(at_lines[place] * more, rel=1e-3, abs=1), (name, place)


def test_speedscope_opens_it(document, tmp_path):
    lacking = speedscope.missing()
    if lacking:
        pytest.skip("not installed: " + ", ".join(lacking))
    text, read = document("mixed-calls2")
    out = tmp_path / "app.cpuprofile"
    out.write_bytes(text)
    seen = speedscope.opened(out)
    assert seen["errors"] == []
    shown = readers.read_speedscope(json.dumps(seen["exported"]).encode())
    got = {sub: round(time) for sub, time in shown.self.items() if round(time)}
    assert got == {sub: time for sub, time in self_times(read).items() if time}
