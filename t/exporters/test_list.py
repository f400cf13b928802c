# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""--list, --peek and --top --lines: on every profile the numbers that t/totals.py works out from the
raw stream, and text of the recording beside them."""

import collections
import functools
import re

import pytest

import exports
import profiles
from test_totals import (EXACT as ALL, ROOT, UNKNOWN, bound_by_statements, differences, drop_swapped_twins,
                         is_uncounted, unmarked, without_zeros)

# Waits of processes for each other are not in these answers (t/cli/test_terminal.py).
EXACT = [name for name in ALL if name != "forks-merged"]
SELF = re.compile(r"   self (-?\d+)(?: \(\S+\))?  incl (-?\d+)(?: \(\S+\))?  (\d+) calls?$")
ROW = re.compile(r" *(\d+) +(-?\d+) +(-?\d+) +(\d+)  (.*)$")
CALL = re.compile(r" +(<-|->) (\d+)x (-?\d+)  (.*)$")
MORE = re.compile(r"\((\d+) more\)$")
pytestmark = pytest.mark.usefixtures("recorder")


class Listed:
    """One sub of a --list."""

    def __init__(self, title):
        self.name, _, place = title.partition("  ")     # blanks at a name's end are lost
        match = re.match(r"(.*?)(?::(\d+)(?:-(\d+))?)?$", place.strip())
        self.file = match[1]
        self.first = int(match[2] or 0)
        self.last = int(match[3] or self.first)
        self.rows = []                  # file, line, statements, self, incl, text
        self.context = []               # line, text
        self.calls = {"<-": [], "->": []}
        self.where = None               # of the calls to come


def text_of(profile, *arguments):
    lines = exports.exported("-q", "--unit=ticks", *arguments, profile).decode().splitlines()
    return lines[:2] + lines[4:] if lines[2].startswith("open at its end") else lines


def listed(profile, *arguments):
    subs = []
    for line in text_of(profile, *arguments)[2:]:
        match = SELF.match(line)
        if match:
            subs[-1].self, subs[-1].incl, subs[-1].n_calls = map(int, match.groups())
        elif match := CALL.match(line):
            sub = subs[-1]
            sub.calls[match[1]].append((sub.where, match[4].partition("  ")[0].strip(),
                                        int(match[2]), int(match[3])))
        elif match := ROW.match(line):
            sub = subs[-1]
            sub.where = (file, int(match[4]))
            sub.rows.append((file, int(match[4]), int(match[1]), int(match[2]), int(match[3]),
                             match[5]))
        elif match := re.match(r" {28} +(\d+)  (.*)$", line):
            subs[-1].context.append((int(match[1]), match[2]))
        elif match := re.match(r" {37}in (.*)$", line):
            file = match[1]
        elif line and not line.startswith(" "):
            subs.append(Listed(line))
            file = subs[-1].file
        else:
            assert line in ("", " " * 37 + "...", "    stmts      self     incl   line  source"), line
    return subs


@functools.cache
def uncounted(want, sub):
    """No call of the recording has waits of accept() that its statement tells."""
    return sub in want.accepting or is_uncounted(want, sub)


@functools.cache
def all_listed(name):
    return listed(profiles.profile(name), "--list=.")


@pytest.mark.parametrize("name", EXACT)
def test_subs_have_the_recorded_numbers(totals, name):
    want = totals(name)
    shown = {what: collections.Counter() for what in ("self", "inclusive", "calls")}
    for sub in all_listed(name):
        shown["self"][sub.name] += sub.self
        shown["inclusive"][sub.name] += sub.incl
        shown["calls"][sub.name] += sub.n_calls
        assert sum(row[3] for row in sub.rows) == sub.self, sub.name
    for what, values in shown.items():
        wanted = {sub.strip(): getattr(value, what) for sub, value in want.subs.items() if getattr(value, what)}
        wrong = differences(without_zeros(unmarked(values)), wanted)
        if what == "self":
            if not want.arcs:
                drop_swapped_twins(wrong, want)
                bound_by_statements(wrong, want, 1)
            if want.overclaimed:
                wrong.pop(ROOT, None)
        else:
            for sub in list(wrong):
                if sub in (UNKNOWN, ROOT) or uncounted(want, sub):
                    wrong.pop(sub)
        assert wrong == {}, what


@pytest.mark.parametrize("name", EXACT)
def test_lines_have_the_recorded_statements(totals, name):
    want = totals(name)
    shown = collections.Counter()
    for sub in all_listed(name):
        for file, line, statements, _, _, _ in sub.rows:
            shown[file, line] += statements
    wanted = {place: line.count for place, line in want.lines.items() if line.count}
    assert differences(without_zeros(shown), wanted) == {}


@pytest.mark.parametrize("name", EXACT)
def test_calls_stand_under_their_lines(totals, name):
    want = totals(name)
    if not want.arcs:
        return
    wanted = collections.defaultdict(lambda: [0, 0])
    for (caller, callee, fid, line), (count, incl, _, _) in want.arcs.items():
        cell = wanted[caller.strip(), (want.files.get(fid, ""), line), callee.strip()]
        cell[0] += count
        cell[1] += round(incl * want.ticks_per_sec)
    shown = collections.defaultdict(lambda: [0, 0])
    rests = collections.defaultdict(lambda: [0, 0, 0])
    for sub in all_listed(name):
        for where, callee, count, ticks in sub.calls["->"]:
            if more := MORE.match(callee):      # a row that sums up the others
                cell, values = rests[sub.name, where], (int(more[1]), count, ticks)
            else:
                cell, values = shown[sub.name, where, callee], (count, ticks)
            for i, value in enumerate(values):
                cell[i] += value
    compared = 0
    for (caller, where, callee), cell in wanted.items():
        if (caller, where, callee) in shown:
            if not uncounted(want, callee):
                assert shown[caller, where, callee] == cell, (caller, where, callee)
                compared += 1
        else:
            rest = rests[caller, where]
            for i, value in enumerate((1, *cell)):
                rest[i] -= value
    assert {key: rest for key, rest in rests.items() if rest != [0, 0, 0]} == {}
    assert compared


@pytest.mark.parametrize("name", EXACT)
def test_callers_stand_above(totals, name):
    for sub in all_listed(name):
        callers = sub.calls["<-"]
        if callers and sub.name != ROOT:
            assert sum(row[2] for row in callers) == sub.n_calls, sub.name
            assert len(callers) <= 6


@pytest.mark.parametrize("name", ["mixed-calls2", "evals", "requires", "names"])
def test_the_text_is_the_recordings(totals, name):
    want = totals(name)
    fids = {file: fid for fid, file in want.files.items()}
    compared = context = 0
    for sub in all_listed(name):
        source = [(row[0], row[1], row[5]) for row in sub.rows]
        source += [(sub.file, line, text) for line, text in sub.context]
        context += len(sub.context)
        for file, line, text in source:
            raw = want.source_lines.get((fids.get(file), line))
            if raw is None:
                assert not text
                continue
            try:
                raw = raw.decode()
            except UnicodeDecodeError:
                raw = raw.decode("latin-1")
            raw = re.sub(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f]", "?", raw)
            assert re.sub(r"\s+", " ", text).strip() == re.sub(r"\s+", " ", raw).strip()
            compared += 1
        assert all(sub.first <= line <= sub.last for line, _ in sub.context)
    assert compared > 10 and context


def test_without_an_expression_the_hottest_are_listed(profile):
    subs = listed(profile("perltidy"), "--list")
    assert 3 <= len(subs) <= 20
    assert [sub.self for sub in subs] == sorted((sub.self for sub in subs), reverse=True)
    assert all(any(row[2] for row in sub.rows) for sub in subs)
    assert len(listed(profile("perltidy"), "--list", "--min-percent=10")) < len(subs)


# ---- --top --lines ----

LINE = re.compile(r" *(-?\d+) +(?:[-\d.]+%|-) +(\d+) (.*)$")


def hot_lines(profile, *arguments):
    rows = []
    for line in text_of(profile, "--lines", *arguments)[3:]:
        match = LINE.match(line)
        place, _, text = match[3].partition("  ")
        rows.append((int(match[1]), int(match[2]), place, text))
    return rows


@pytest.mark.parametrize("name", EXACT)
def test_hot_lines_add_up(profile, totals, name):
    want = totals(name)
    rows = hot_lines(profile(name), "--top=0")
    if not want.overclaimed:
        assert sum(row[0] for row in rows) == want.stmt_ticks
    shown = {row[2]: row[1] for row in rows if row[1]}
    assert len({row[2] for row in rows}) == len(rows)
    wanted = collections.Counter()
    for (file, line), value in want.lines.items():
        if value.count:
            wanted[f"{file}:{line}" if line else file] += value.count
    assert differences(shown, {place or "(no line)": n for place, n in wanted.items()}) == {}
    assert [row[0] for row in rows] == sorted((row[0] for row in rows), reverse=True)


@pytest.mark.parametrize("name", ["mixed-calls2", "mixed-calls1", "evals", "recurse", "perltidy"])
def test_a_hot_line_has_its_builtins_time(profile, totals, name):
    """Own time of the lines in --list, and of builtins and xsubs where they are called."""
    want = totals(name)
    wanted = collections.Counter()
    builtins = {sub.strip() for sub, value in want.subs.items() if value.is_builtin}
    for sub in all_listed(name):
        if sub.name not in builtins:
            for file, line, _, ticks, _, _ in sub.rows:
                wanted[f"{file}:{line}"] += ticks
    for (_, callee, fid, line), (_, _, excl, _) in want.arcs.items():
        if want.subs[callee].is_builtin:
            wanted[f"{want.files.get(fid, '')}:{line}"] += round(excl * want.ticks_per_sec)
    shown = {row[2]: row[0] for row in hot_lines(profile(name), "--top=0")}
    assert differences(without_zeros(shown), without_zeros(wanted)) == {}


def test_hot_lines_sum_up_what_they_leave_out(profile):
    every = hot_lines(profile("mixed-calls2"), "--top=0")
    some = hot_lines(profile("mixed-calls2"), "--top=4")
    assert [row[:3] for row in some[:4]] == [row[:3] for row in every[:4]]
    # XSLoader was compiled before the recorder, which has no source of it, and on a machine
    # that loads a library for the first time it is among the hottest.
    program = [row for row in every if "/mixed.pl:" in row[2]]
    assert len(program) > 10 and all(row[3] for row in program)
    assert some[4][:2] == (sum(row[0] for row in every[4:]), sum(row[1] for row in every[4:]))
    assert some[4][2] == f"({len(every) - 4} more lines)"


# ---- --peek ----

PEEK = re.compile(r" *(-?\d+) +([-\d.]+%|-) +(\d*) *(<-  |->  |    (?=\()|)(.*)$")


def peeked(profile, *arguments):
    """Per sub: its own row, callers, callees: [ticks, calls, name]."""
    found = []
    block = None
    for line in text_of(profile, *arguments)[3:]:
        if not line:
            block = None
            continue
        if block is None:
            block = {"<-": [], "": [], "->": [], "own": []}
            found.append(block)
        match = PEEK.match(line)
        where = "own" if match[5] == "(its own time)" else match[4].strip()
        block[where].append((int(match[1]), int(match[3] or 0), match[5].partition("  ")[0].strip()))
    return found


@pytest.mark.parametrize("name", EXACT)
def test_peek_shows_callers_and_callees(profile, totals, name):
    want = totals(name)
    wanted = collections.defaultdict(lambda: [0, 0])
    for (caller, callee, _, _), (count, incl, _, _) in want.arcs.items():
        cell = wanted[caller.strip(), callee.strip()]
        cell[0] += round(incl * want.ticks_per_sec)
        cell[1] += count
    shown = {arrow: collections.defaultdict(lambda: [0, 0]) for arrow in ("<-", "->")}
    whole = {"<-": set(), "->": set()}
    own_ticks = collections.Counter()
    for block in peeked(profile(name), "--peek=."):
        (_, _, sub), = block[""]
        (own, _, _), = block["own"]
        own_ticks[sub] += own
        for arrow in ("<-", "->"):
            rows = block[arrow]
            if not any(MORE.match(row[2]) for row in rows):
                whole[arrow].add(sub)
            for ticks, calls, other in rows:
                key = (other, sub) if arrow == "<-" else (sub, other)
                shown[arrow][key][0] += ticks
                shown[arrow][key][1] += calls
    for (caller, callee), cell in wanted.items():
        if uncounted(want, callee):
            continue
        if callee in whole["<-"]:
            assert shown["<-"][caller, callee] == cell, (caller, callee)
        if caller in whole["->"]:
            assert shown["->"][caller, callee] == cell, (caller, callee)
    assert not want.arcs or whole["<-"] and whole["->"]
    assert sum(own_ticks.values()) == want.stmt_ticks or want.overclaimed


def test_what_is_not_there_is_told(profile):
    for option in ("list", "peek"):
        code, text, errors = exports.nytp_export(f"--{option}=main::bsuy", profile("mixed-calls2"))
        assert code == 1 and len(text.splitlines()) <= 4
        assert f'--{option}: no sub and no file matches "main::bsuy"; near it: main::busy' in errors
