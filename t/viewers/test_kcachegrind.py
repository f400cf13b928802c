# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""KCachegrind itself, on a virtual display: what its window shows, as exact numbers."""

import collections
import gzip
import re
import shlex

import pytest

import exports
import hostile
import kcachegrind
import profiles
import readers
from nytpwrite import Writer
from totals import ROOT

VIEWER = kcachegrind
PROFILES = ["recurse", "evals", "names", "forks-merged", "made-callers-on-one-line"]


@pytest.fixture
def fresh(tmp_path):
    """A profile's export alone in a folder: KCachegrind loads everything that begins alike."""
    def copy(name):
        target = tmp_path / f"callgrind.out.{name}"
        target.write_bytes(exports.export(name, "callgrind").read_bytes())
        return target
    return copy


def in_cycle(name):
    return re.search(r" <cycle \d+>\Z", name)


def look(*arguments, **how):
    """What it shows, without a complaint."""
    seen = kcachegrind.look(*arguments, **how)
    assert seen["errors"] == [] and seen["dialogs"] == []
    return seen


def check_window(seen, totals):
    """The whole function table and the total against the totals of the stream."""
    scale = 1000000000 // totals.ticks_per_sec
    table = collections.defaultdict(lambda: [0, 0, 0, 0])
    for row in seen["functions"]:
        if re.fullmatch(r"<cycle \d+>", row["name"]):
            continue
        cell = table[re.sub(r" <cycle \d+>\Z", "", row["name"])]
        cell[0] += row["self"] or 0
        cell[1] += row["called"] or 0
        cell[2] = None if in_cycle(row["name"]) else row["incl"]
        cell[3] += 1
    assert {name: cell[3] for name, cell in table.items() if cell[3] > 1} == {}, "shown twice"
    if totals.overclaimed:
        low, high = totals.root_bounds
        others = sum(sub.self for name, sub in totals.subs.items() if name != ROOT)
        assert low * scale <= seen["total"] - others * scale <= high * scale
    else:
        assert seen["total"] == totals.stmt_ticks * scale
    for name, sub in totals.subs.items():
        if not sub.calls and not sub.self and not sub.statements:
            continue
        shown = table[name]
        if name == ROOT:
            assert shown[2] == seen["total"]
            continue
        assert shown[0] == sub.self * scale, name
        assert shown[1] == sub.calls, name
        if shown[2] is not None and not sub.from_statements:
            assert shown[2] == sub.inclusive * scale, name


@pytest.mark.parametrize("name", PROFILES)
def test_every_number_of_the_function_table(totals, fresh, name):
    check_window(look(fresh(name)), totals(name))


WAYS = {  # name: what KCachegrind opens, the profile, the command
    "a slow pipe": ("/dev/stdin", "evals", "(sleep 1; {} {}) | (sleep 0.5; cat)"),
    "process substitution": ("", "recurse", "$VIEW <({} {})"),
    "--open, in one step": ("", "recurse", "{} --open {}    # instead of $VIEW"),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_in_which_it_gets_an_export(totals, way):
    path, name, command = WAYS[way]
    command = command.format(f"{exports.COMMAND} --callgrind", shlex.quote(str(profiles.profile(name))))
    check_window(look(path, command=command), totals(name))


def test_a_gzipped_export(totals, tmp_path):
    packed = tmp_path / "callgrind.out.mixed.gz"
    packed.write_bytes(gzip.compress(exports.export("mixed-calls2", "callgrind").read_bytes()))
    check_window(look(packed), totals("mixed-calls2"))


def test_plain_names_show_the_same(totals, tmp_path):
    out = tmp_path / "callgrind.out.plain"
    exports.exported("--callgrind", "--plain-names", "-o", out, profiles.profile("evals"))
    assert b"fn=(" not in out.read_bytes()
    check_window(look(out), totals("evals"))


def test_lines_callers_callees_and_events_of_a_sub(totals, fresh):
    name = "mixed-calls2"
    seen = look(fresh(name), subs=["main::busy", "main::lines"])
    want = totals(name)
    check_window(seen, want)
    busy, lines = seen["subs"]["main::busy"], seen["subs"]["main::lines"]
    types = {row[0]: row[2] for row in busy["types"]}
    assert len(types) == 2 and all(re.search(r"[a-z]{4}", long_name) for long_name in types), types

    def counts(rows):
        return {re.sub(r" \(.*", "", row["name"]): row["count"] for row in rows}
    callers, callees = collections.Counter(), collections.Counter()
    for (caller, callee, _, _), (count, *_) in want.arcs.items():
        callers[caller] += count if callee == "main::busy" else 0
        callees[callee] += count if caller == "main::lines" else 0
    assert (counts(busy["callers"]), counts(lines["callees"])) == (dict(+callers), dict(+callees))
    assert sum(row["cost"] for row in busy["callers"]) == want.subs["main::busy"].inclusive * 100
    text = (profiles.PROGRAMS / "mixed.pl").read_text().split("\n")
    costs = {line: cost for (sub, _, line), cost in exports.read(name, "callgrind").sub_lines.items()
             if sub == "main::lines" and cost}
    assert costs
    for line, cost in costs.items():
        own = [row["cost"] for row in lines["source"] if row["line"] == line and row["text"] == text[line - 1]]
        assert own == [cost], line


def test_bytes_are_events_of_their_own(tmp_path):
    stream = Writer({"application": "/x/app.pl"}, {"calls": "2"}).pid_start(7, 1, 1000.0).fid(1, "/x/app.pl")
    stream.time(10, 1, 1).entry(1, 1)
    stream.alloc(1, 50000, 5, blocks=3).time(10, 1, 5).alloc(2, 800, 6).free(2).time(10, 1, 6)
    stream.leave(1, 20, 20, "main::f").time(10, 1, 1).sub(1, "main::f", 5, 6)
    stream.callers(1, 1, "main::RUNTIME", "main::f", 1, 2e-6, 2e-6)
    file = stream.pid_end(7, 2000.0).save(tmp_path / "b.out")
    exports.exported("--callgrind", "-q", "-o", tmp_path / "callgrind.out.b", file)
    seen = look(tmp_path / "callgrind.out.b", subs=["main::f"])
    types = {row[3]: (row[0], kcachegrind.number_of(row[1])) for row in seen["subs"]["main::f"]["types"]}
    assert {name: types[name] for name in ("AllocN", "AllocB", "InUseN", "InUseB")} == {
        "AllocN": ("blocks allocated", 4), "AllocB": ("bytes allocated", 50800), "InUseN": ("blocks in use", 3), "InUseB": ("bytes in use", 50000)}


def test_names_that_break_line_formats_stay_apart(fresh):
    seen = look(fresh("made-hostile-names"))
    called = [row for row in seen["functions"] if row["called"] == 1 and row["name"] != ROOT]
    assert len({row["name"] for row in called}) == len(hostile.NAMES)
    assert all(row["self"] == row["incl"] == 1000 for row in called)


def test_files_whose_names_break_line_formats(fresh):
    seen = look(fresh("made-hostile-files"))
    names = [row["name"] for row in seen["functions"]
             if row["called"] == 1 and row["name"] != ROOT]
    assert sorted(names) == sorted(f"F{number}::sub" for number in range(1, 15))


def test_source_of_an_eval_is_shown_from_the_source_folder(totals, tmp_path):
    out, sources = tmp_path / "callgrind.out.src", tmp_path / "src"
    exports.exported("--callgrind", "--source-dir", sources, "-o", out, profiles.profile("evals"))
    seen = look(out, subs=["main::named_in_eval"])
    check_window(seen, totals("evals"))
    shown = {row["line"]: row for row in seen["subs"]["main::named_in_eval"]["source"]
             if row["cost"]}
    assert "$t += $i" in shown[6]["text"], shown


def test_deep_recursion_and_cut_recordings_open(fresh, totals):
    for name in ("made-deep", "cut-deflated"):
        seen = look(fresh(name))
        assert seen["total"] == totals(name).stmt_ticks * 100


def test_several_files_are_parts_of_one_profile(tmp_path):
    out = tmp_path / "callgrind.out.forks"
    files = profiles.processes("forks")
    exports.exported("--callgrind", "-o", out, *files)
    ours = readers.read_callgrind(out.read_bytes())
    seen = look(out)
    assert seen["total"] == ours.total
    table = {row["name"]: row for row in seen["functions"]}
    assert table["main::work"]["self"] == ours.self["main::work"]
    assert table["main::work"]["called"] == ours.calls["main::work"]
    assert table["main"]["called"] in (0, None) and table["main"]["incl"] == ours.total
