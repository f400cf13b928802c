# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Every export of every profile shows the numbers that t/totals.py works out from the raw stream:
calls, self and inclusive time of each sub, statements of each line, the program's total.

All comparisons are exact where a tick is a whole number of nanoseconds, which it is in every
recorded profile. Where it is not (made-odd-ticks: 3 MHz), each value may be off by less than one
nanosecond per value that was added up, and the total must be the rounded total.
"""

import collections
import json

import pytest

import exports
import hostile
import profiles
import readers
from nytpwrite import Writer
from totals import ROOT, UNKNOWN, Totals

FORMATS = ["callgrind", "pprof", "collapsed", "speedscope", "speedscope-aggregate"]
EXACT = [name for name in profiles.RECORDED] + [
    "made-callers-on-one-line", "made-basenames", "made-long-double", "made-quad-double",
    "made-big-endian", "made-version-4", "made-no-options", "made-no-processes",
    "made-microseconds", "made-gzipped", "made-trailer", "made-utf8-strings",
    "made-joined-encodings", "made-deep",
]
# One process each and all frames returned: the tree is then exact, inclusive times too.
STACKS_CUT = {"deep-calls1", "made-deep"}       # deeper than a stack may be in some formats
pytestmark = pytest.mark.usefixtures("recorder")


def shown_name(form, name):
    """How a sub's name looks in a format, for names without hostile characters."""
    if form.startswith("collapsed"):
        return name.replace(" ", "_").replace(";", ":")
    return name


def expected(form, subs, what):
    out = collections.Counter()
    for name, sub in subs.items():
        value = getattr(sub, what)
        if value:
            out[shown_name(form, name)] += value
    return out


def read(name, form):
    """Of a timeline that leaves out short calls, which its title says, the exact part is the
    aggregated profile that goes with it."""
    shown = exports.read(name, form)
    if form == "speedscope" and any("short calls" in profile["name"]
                                    for profile in shown.document["profiles"]):
        assert shown.total == shown.kinds["sampled"].total
        return shown.kinds["sampled"]
    return shown


def without_zeros(counter):
    return {name: value for name, value in counter.items() if value}


def ns_per_tick(totals):
    assert 1000000000 % totals.ticks_per_sec == 0
    return 1000000000 // totals.ticks_per_sec


def unmarked(counter):
    """Frames that never returned carry a mark behind their name in some formats. Of those that
    nothing names the place is told: they are one here."""
    out = collections.Counter()
    for name, value in counter.items():
        for mark in (" [unreturned]", "_[unreturned]", " (unreturned)", "_(unreturned)"):
            if name.endswith(mark) and name != UNKNOWN:
                name = name[:-len(mark)]
        is_unknown = name.replace("_", " ").startswith("(call at ")
        out[UNKNOWN if is_unknown else name] += value
    return out


def differences(shown, wanted):
    """{name: (shown, wanted)} where they differ; empty when all agree."""
    return {name: (shown.get(name, 0), wanted.get(name, 0))
            for name in set(shown) | set(wanted) if shown.get(name, 0) != wanted.get(name, 0)}


def check_self_time_of_every_sub(want, name, form):
    shown = unmarked(read(name, form).self)
    scale = ns_per_tick(want)
    wanted = {sub: ticks * scale for sub, ticks in expected(form, want.subs, "self").items()}
    wrong = differences(without_zeros(shown), wanted)
    if not want.arcs:
        drop_swapped_twins(wrong, want)
        bound_by_statements(wrong, want, scale)
    if form == "speedscope" and not want.n_entries:
        leave_out_of_the_timeline(wrong, want, shown)
    if want.overclaimed and ROOT in wrong:
        # The sub profiler claims more than all statements took: the root's own time is then
        # only known to lie between these.
        low, high = want.root_bounds
        assert low * scale <= wrong.pop(ROOT)[0] <= high * scale
    assert wrong == {}


def leave_out_of_the_timeline(wrong, want, shown):
    """A sub without a call on record has no place in time: on the timeline its time is the
    root's. The aggregated profile beside it has it."""
    moved = 0
    for name in [name for name in wrong if name != ROOT and want.subs[name].from_statements]:
        if not shown.get(name):
            moved += wrong.pop(name)[1]
    if ROOT in wrong and wrong[ROOT][0] == wrong[ROOT][1] + moved:
        del wrong[ROOT]


def drop_swapped_twins(wrong, want):
    """Two subs on one line: which of them ran, nothing tells. What all of them have must agree."""
    for name in list(wrong):
        twins = want.twins(name)
        if len(twins) > 1 and sum(wrong.get(twin, (0, 0))[0] for twin in twins) == \
                sum(wrong.get(twin, (0, 0))[1] for twin in twins):
            for twin in twins:
                wrong.pop(twin, None)


def bound_by_statements(wrong, want, scale):
    """Without a summary nothing tells an xsub from a sub of perl, so how much of an unreturned
    frame's statements was spent in its calls is known to the whole tree only. It lies between
    nothing and all of it, and the root has the rest."""
    spread = 0
    for name, (shown, wanted) in list(wrong.items()):
        sub = want.subs.get(name)
        if sub and name != ROOT and (sub.from_statements or name == UNKNOWN):
            ticks = sum(ticks for ticks, _ in want.frame_lines[name].values())
            assert 0 <= shown <= ticks * scale, name
            spread += shown - wanted
            del wrong[name]
    if ROOT in wrong and wrong[ROOT][0] + spread == wrong[ROOT][1]:
        del wrong[ROOT]


def check_the_total_is_the_sum_of_all_statements(want, name, form):
    shown = exports.read(name, form)
    assert shown.total == sum(shown.self.values())
    if not want.overclaimed:
        assert shown.total == want.stmt_ticks * ns_per_tick(want)


def check_calls_of_every_sub(want, name, form):
    if form == "speedscope" and not read(name, form).calls:
        return                                  # no timeline, and samples have no calls
    if form == "speedscope" and name in STACKS_CUT:
        return                                  # deep calls are drawn in pieces there
    shown = unmarked(read(name, form).calls)
    wanted = expected(form, want.subs, "calls")
    for counter in (shown, wanted):
        counter.pop(ROOT, None)                 # nobody calls the root
        counter.pop(UNKNOWN, None)              # stands for any number of calls
    wrong = differences(without_zeros(shown), wanted)
    for sub in list(wrong):
        if is_uncounted(want, sub, form):
            assert wrong.pop(sub)[0] in (0, 1), sub
    assert wrong == {}


def is_uncounted(want, name, form="callgrind"):
    """Nothing counted the calls of this sub: it is only known as a caller, or by its lines.
    Formats in which a sub must be called to be shown have one call."""
    name = next((sub for sub in want.subs if shown_name(form, sub) == name), name)
    known_by_lines = any(want.subs[twin].from_statements for twin in want.twins(name)
                         if twin in want.subs)
    return known_by_lines or not want.subs[name].calls and \
        name in want.callers


def check_inclusive_time_of_every_sub(want, name, form):
    if not want.n_returns and form != "callgrind":
        return                                  # stacks are estimates without call events
    shown = unmarked(read(name, form).inclusive)
    shown.pop("main", None)                     # the program as a whole, in callgrind
    scale = ns_per_tick(want)
    # Edges carry the sub profiler's inclusive time; on stacks it is what lies on them. These
    # differ only for frames that were open when the process was forked.
    what = "inclusive" if form == "callgrind" else "tree_inclusive"
    wanted = {sub: ticks * scale for sub, ticks in expected(form, want.subs, what).items()}
    wrong = differences(without_zeros(shown), wanted)
    if want.overclaimed:
        wrong.pop(ROOT, None)
    for sub in list(wrong):
        if is_uncounted(want, sub, form) or sub == UNKNOWN:
            wrong.pop(sub)                      # nothing measured it
    assert wrong == {}


def check_statements_of_every_line(want, name, form):
    shown = exports.read(name, form).line_statements
    wanted = {place: line.count for place, line in want.lines.items() if line.count}
    assert differences(without_zeros(shown), wanted) == {}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", EXACT)
def test_every_number(totals, name, form):
    want = totals(name)
    check_self_time_of_every_sub(want, name, form)
    check_the_total_is_the_sum_of_all_statements(want, name, form)
    check_inclusive_time_of_every_sub(want, name, form)
    if form in ("callgrind", "pprof", "speedscope"):
        check_calls_of_every_sub(want, name, form)
    if form in ("callgrind", "pprof"):
        check_statements_of_every_line(want, name, form)


@pytest.mark.parametrize("name", EXACT)
def test_line_costs_add_up_and_agree_between_formats(totals, name):
    callgrind = exports.read(name, "callgrind")
    pprof = exports.read(name, "pprof")
    assert without_zeros(callgrind.line_self) == without_zeros(pprof.line_self)
    assert without_zeros(callgrind.sub_lines) == without_zeros(pprof.sub_lines)
    assert sum(callgrind.line_self.values()) == callgrind.total
    assert without_zeros(callgrind.statements) == without_zeros(pprof.statements)


@pytest.mark.parametrize("name", EXACT)
def test_calls_stand_on_their_call_site_lines(totals, name):
    """Every arc of the recording: caller, callee, file and line of the call, count and time."""
    want = totals(name)
    if not want.arcs:
        return
    scale = ns_per_tick(want)
    wanted = collections.defaultdict(lambda: [0, 0])
    for (caller, callee, fid, line), (count, incl, _, _) in want.arcs.items():
        cell = wanted[shown_name("callgrind", caller), shown_name("callgrind", callee),
                      want.files.get(fid, ""), line]
        cell[0] += count
        cell[1] += max(0, round(incl * want.ticks_per_sec)) * scale
    shown = {key: list(value) for key, value in exports.read(name, "callgrind").arcs.items()
             if key[0] != "main"}                # the program itself, which calls main::RUNTIME
    give_back_hidden(shown, wanted)
    wrong = {key: (shown.get(key), value) for key, value in wanted.items()
             if shown.get(key) != value}
    for name in want.accepting:                 # no call of the recording has these waits
        mine = [key for key in wanted if key[1] == name]
        assert [shown[key][0] for key in mine] == [wanted[key][0] for key in mine]
        assert sum(shown[key][1] for key in mine) == want.subs[name].inclusive * scale
        assert all(shown[key][1] >= wanted[key][1] for key in mine)
        wrong = {key: value for key, value in wrong.items() if key not in mine}
    assert wrong == {}
    extra = {key for key in shown if key not in wanted and key[1] != UNKNOWN
             and not is_uncounted(want, key[1]) and key[1] not in want.open_calls}
    assert extra == set()


def give_back_hidden(shown, wanted):
    """KCachegrind hides an edge of no time, so such an edge is shown with 1 ns, which the most
    costly edge to the same sub gives. Undo that, and nothing else."""
    for callee in {key[1] for key in wanted}:
        arcs = [key for key in wanted if key[1] == callee and key in shown]
        lent = 0
        for key in arcs:
            if wanted[key][1] == 0 and shown[key][1] == 1:
                shown[key][1] = 0
                lent += key[0] != callee        # a sub's edge to itself counts nowhere
        costly = [key for key in arcs if wanted[key][1] - shown[key][1] == lent]
        if lent and costly:
            shown[max(costly, key=lambda key: wanted[key][1])][1] += lent


@pytest.mark.parametrize("weight", ["calls", "statements"])
@pytest.mark.parametrize("name", EXACT)
def test_collapsed_weights(totals, name, weight):
    want = totals(name)
    shown = unmarked(exports.read(name, "collapsed-" + weight).self)
    wanted = expected("collapsed", want.subs, weight)
    if weight == "calls":
        shown.pop(ROOT, None)
        wanted.pop(ROOT, None)
        wrong = differences(shown, wanted)
        for sub in list(wrong):
            if sub == UNKNOWN or is_uncounted(want, sub, "collapsed"):
                shown[sub] = wanted[sub] = wrong.pop(sub)[1]
        assert wrong == {}
    elif want.n_entries:
        assert differences(shown, wanted) == {}
    assert sum(shown.values()) == sum(wanted.values())


@pytest.mark.parametrize("form", FORMATS)
def test_ticks_that_are_no_whole_nanoseconds(totals, form):
    want = totals("made-odd-ticks")
    shown = exports.read("made-odd-ticks", form)
    exact = {sub: value.self * 1e9 / want.ticks_per_sec for sub, value in want.subs.items()}
    for sub, value in exact.items():
        assert abs(shown.self[sub] - value) < 1 + 1e-6, sub
    assert abs(shown.total - want.total * 1e9 / want.ticks_per_sec) < 1


@pytest.mark.parametrize("name", list(profiles.MADE))
def test_streams_that_no_recorder_writes_are_exported_whole(name):
    """Whatever is in the stream, what is written is well formed (the readers are strict) and its
    parts add up."""
    for form in FORMATS + ["collapsed-calls", "collapsed-statements"]:
        shown = exports.read(name, form)
        assert shown.total == sum(shown.self.values()) and min(shown.self.values()) >= 0, form


@pytest.mark.parametrize("form", FORMATS)
def test_hostile_names_stay_apart(form):
    """36 subs of 1,000 ns each, whose names hold what formats use themselves."""
    shown = exports.read("made-hostile-names", form)
    subs = {name: value for name, value in shown.self.items() if name != ROOT and value}
    assert len(subs) == len(hostile.NAMES) == len(set(hostile.NAMES))
    assert set(subs.values()) == {1000}


@pytest.mark.parametrize("form", ["callgrind", "pprof"])
def test_hostile_file_names_stay_apart(form):
    shown = exports.read("made-hostile-files", form)
    files = {file for (name, file, _), value in shown.sub_lines.items() if name != ROOT and value}
    assert len(files) == 14


@pytest.mark.parametrize("form", ["callgrind", "pprof", "speedscope"])
def test_waits_longer_than_32_bits_of_ticks(form):
    """Statements of 300 s and 500 s wrap; the sub profiler's 800 s do not."""
    shown = exports.read("made-wrapped", form)
    assert shown.self["main::wait"] == 800 * 10 ** 9
    assert shown.calls["main::wait"] == 2


@pytest.mark.parametrize("form", FORMATS)
def test_ticks_below_zero_do_not_spread(form):
    """A clock that stepped back: the sub has no time, the others what they had."""
    shown = exports.read("made-negative-ticks", form)
    assert shown.self["main::back"] == 0
    assert 0 <= shown.total <= (500 + 9 + 6) * 100


@pytest.mark.parametrize("form", FORMATS)
def test_several_files_are_merged(form, tmp_path):
    """A parent and its four children, each with its own file, in one export: the sums."""
    files = profiles.processes("forks")
    each = [Totals(file) for file in files]
    out = tmp_path / ("all." + exports.SUFFIX[form.partition("-")[0]])
    exports.exported(*exports.ARGUMENTS[form], "-o", out, *files)
    shown = readers.READERS[form.partition("-")[0]](out.read_bytes())
    wanted, wanted_calls = collections.Counter(), collections.Counter()
    for totals in each:
        for name, sub in totals.subs.items():
            wanted[name] += sub.self * 100
            wanted_calls[name] += sub.calls
    found = unmarked(shown.self)
    root = found.pop(ROOT, 0)
    wanted.pop(ROOT), wanted_calls.pop(ROOT)
    assert differences(without_zeros(found), without_zeros(wanted)) == {}
    bounds = [totals.root_bounds if totals.overclaimed else [totals.subs[ROOT].self] * 2 for totals in each]
    low, high = map(sum, zip(*bounds))
    assert low * 100 <= root <= high * 100
    if form == "callgrind":
        assert shown.reader.parts == len(files)
    if form in ("callgrind", "pprof", "speedscope"):
        calls = unmarked(shown.calls)
        assert {name: calls[name] for name in wanted_calls} == wanted_calls
    if form == "pprof":
        pids = {str(labels.get("pid")) for _, _, labels in shown.reader.samples}
        assert pids == {str(totals.processes[0][0]) for totals in each}


@pytest.mark.parametrize("form", ["callgrind", "pprof"])
@pytest.mark.parametrize("name", ["made-line-shares", "made-line-shares-calls1"])
def test_a_subs_time_lies_on_its_lines_in_measured_proportion(name, form):
    """40 ticks over lines of 30 and of 70 less 20: 15 and 25. The root has the other 107 - 60."""
    shown = exports.read(name, form)
    lines = {line: cost for (sub, _, line), cost in shown.sub_lines.items() if sub == "main::work"}
    assert without_zeros(lines) == {11: 1500, 12: 2500}
    assert shown.self[ROOT] == 4700 and shown.self["main::CORE:print"] == 2000
    assert {line: count for (_, line), count in shown.line_statements.items() if count} == \
        {5: 1, 11: 1, 12: 1}


@pytest.mark.parametrize("calls", [1, 2])
def test_statements_of_no_file_and_of_files_never_named_count(tmp_path, calls):
    w = Writer(options={"calls": calls}).pid_start(7, 1).fid(1, "/x/a.pl").time(5, 1, 3)
    for _ in range(30):
        w.time(100, 0, 0).time(200, 0, 0).time(7, 1, 3).time(1000, 2000, 0).time(3, 1, 4)
    file = w.pid_end(7).save(tmp_path / "places.out")
    text = exports.exported("-q", "--callgrind", "--unit=ticks", file).decode()
    costs = text[text.rindex("\nfn="):].split("\n\n")[0].splitlines()[2:]
    assert costs == ["0 9000 60", "3 215 31", "4 90 30", "fi=(2) (unknown file 2000)",
                     "0 30000 30"]


def shown_ticks(file):
    """The total and each sub's exclusive time."""
    shown = json.loads(exports.exported("-q", "--json", "--as-recorded", "--unit=ticks", file))
    return {"total": shown["total"], **{sub["name"]: sub["exclusive"] for sub in shown["subs"]}}


def test_an_estimate_of_several_processes_counts_nothing_twice(tmp_path):
    """Without call events all calls are estimated in the first; each has 90 in the sub, 10 outside."""
    w = Writer(options={"calls": 0}).sub(1, "main::f", 3, 3)
    for pid in 7, 8, 9:
        w.pid_start(pid, 1).fid(1, "/x/a.pl").time(90, 1, 3).time(10, 1, 9)
    for pid in 7, 8, 9:
        w.pid_end(pid)
    w.callers(1, 9, "main::RUNTIME", "main::f", 3, 270, 270)
    shown = shown_ticks(w.save(tmp_path / "merged.out"))
    assert (shown["total"], shown["main::f"]) == (300, 270)


def test_xsubs_of_calls_that_never_returned_are_taken_off_once(tmp_path):
    """Two processes, of which one has no end: 100 ticks of statements each, 60 of all in an xsub."""
    w = Writer(options={"calls": 1}).sub(1, "main::run", 3, 3).sub(1, "main::wait", 0, 0)
    for pid in 7, 8:
        w.pid_start(pid, 1).fid(1, "/x/a.pl").time(100, 1, 3)
    w.callers(1, 3, "main::run", "main::wait", 2, 60, 60).pid_end(7)
    shown = shown_ticks(w.save(tmp_path / "merged.out"))
    assert (shown["total"], shown["main::run"], shown["main::wait"]) == (200, 140, 60)
