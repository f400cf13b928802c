# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Time lines show what was under a label (DB::label): a track of slices for each key in a trace,
markers in the Firefox Profiler. They lie on the axis of the calls, what recording cost taken off."""

import json

import pytest

from spans import markers, slices, trace
from command import good, run
from nytpwrite import Writer
from recordings import record

PROGRAM = """sub leaf { my $x = 0; $x += $_ for 1 .. $_[0]; return $x }
sub query { DB::label(sql => 'select 1'); leaf(200); DB::label(sql => undef) }
sub handle { my ($n) = @_; leaf($n); query(); leaf($n) }
leaf(30);
for my $i (1 .. 4) {
    DB::label(request => "GET /$i");
    handle(10 * $i);
    DB::label(request => undef) if $i % 2;
    leaf(5);
}
"""


def named(calls, name):
    return [(start, end) for of, start, end in calls if of == name]


@pytest.mark.parametrize("options", ["", "calls=1", "blocks=1"])
@pytest.mark.parametrize("how", [(), ("--as-recorded",)])
def test_a_band_lies_around_its_calls_and_no_others(tmp_path, options, how):
    out = record(tmp_path, PROGRAM, options=options)
    calls, spans = trace(*how, out)
    assert [value for value, *_ in spans["request"]] == ["GET /1", "GET /2", "GET /3", "GET /4"]
    handles, leaves = named(calls, "main::handle"), named(calls, "main::leaf")
    assert len(handles) == 4
    top = [leaf for leaf in leaves if not any(start <= leaf[0] and leaf[1] <= end for start, end in handles)]
    if how:                                 # less what recording cost the leaves have no time, and are left out
        assert len(top) == 5
    for i, (_, start, end) in enumerate(spans["request"]):
        assert start <= handles[i][0] <= handles[i][1] <= end
        if not how:
            continue
        assert top[i][1] <= start
        if i % 2:                           # the value goes on until the next one, or the end
            assert end >= top[i + 1][1]
        else:
            assert end <= top[i + 1][0]
    assert spans["request"][3][2] == named(calls, "main::RUNTIME")[0][1]
    for query, (_, from_, to) in zip(named(calls, "main::query"), spans["sql"], strict=True):
        assert query[0] <= from_ <= to <= query[1]
    # of the four leaves of each round the second is the query's
    for (_, from_, to), inner in zip(spans["sql"], leaves[2::4], strict=True) if how else ():
        assert from_ <= inner[0] <= inner[1] <= to


def test_taking_off_the_cost_moves_bands_and_calls_alike(tmp_path):
    out = record(tmp_path, PROGRAM)
    (calls, spans), (raw_calls, raw_spans) = trace(out), trace("--as-recorded", out)
    for i, (_, start, end) in enumerate(spans["request"]):
        of_calls = (named(calls, "main::handle")[i][0] - start, end - named(calls, "main::handle")[i][1])
        raw_start, raw_end = raw_spans["request"][i][1:]
        raw = (named(raw_calls, "main::handle")[i][0] - raw_start, raw_end - named(raw_calls, "main::handle")[i][1])
        assert end - start < raw_end - raw_start
        assert all(0 <= now <= was for now, was in zip(of_calls, raw))


def test_markers_of_firefox_are_the_same(tmp_path):
    out = record(tmp_path, PROGRAM)
    assert markers(out) == trace(out)[1]


def test_a_mark_stays_between_calls_that_are_moved(tmp_path):
    """late() took longer than its statements: it is placed earlier than the clock of statements says,
    and what came before it too."""
    w = Writer(options={"calls": 2}).pid_start(7, 1).fid(1, "/x/a.pl").time(300, 1, 9)
    w.entry(1, 9).time(0, 1, 9).time(50, 1, 3).leave(1, 50, 50, "main::work")
    w.label(0, "phase=late").entry(1, 9).time(0, 1, 9).time(20, 1, 5).leave(1, 100, 100, "main::late")
    file = w.time(10, 1, 9).pid_end(7).sub(1, "main::work", 3, 3).sub(1, "main::late", 5, 5).save(tmp_path / "a.out")
    calls, spans = trace(file)
    assert named(calls, "main::work") == [(23000, 28000)] and named(calls, "main::late") == [(28000, 38000)]
    assert spans == {"phase": [("late", 28000, 38000)]}


def test_a_band_stays_where_the_calls_in_it_are_too_many(tmp_path):
    out = record(tmp_path, PROGRAM)
    whole, cut = trace(out)[1], trace("--max-calls=3", out)[1]
    assert len(cut["request"]) == 4
    for (_, start, end), (_, cut_start, cut_end) in zip(whole["request"], cut["request"]):
        length = whole["request"][-1][2]
        assert abs(start - cut_start) < length / 5 and abs(end - cut_end) < length / 5


def test_of_a_sampled_program_the_labels_clock_tells(tmp_path):
    """Three labels within one sample; a fourth after a pause ends no later than the next sample."""
    w = Writer({"sampled": 1, "ticks_per_sec": 1000000}, {"calls": 2}).pid_start(7, 1).fid(1, "/x/a.pl").time(1000, 1, 9)
    for at in (5000, 5300, 5700):
        w.label(at, f"request=r{at}").label(at + 100, "request")
    w.time(1000, 1, 9).label(900000, "request=late").time(1000, 1, 9).label(901200, "request").time(1000, 1, 9)
    spans = trace(w.call("main::f", 1000, 3).time(1, 1, 9).pid_end(7).save(tmp_path / "a.out"))[1]["request"]
    micro = 1000
    assert spans[:3] == [(f"r{5000 + at}", (1000 + at) * micro, (1100 + at) * micro) for at in (0, 300, 700)]
    assert spans[3:] == [("late", 3000 * micro, 4000 * micro)]


def two_processes(tmp_path):
    files = []
    for pid, per_second in ((7, 1000000), (8, 10000000)):
        w = Writer(attributes={"ticks_per_sec": per_second}, options={"calls": 2}).pid_start(pid, 1)
        w.fid(1, "/x/a.pl").time(50, 1, 9).label(0, f"worker={pid}").entry(1, 9).time(0, 1, 9).time(50, 1, 3)
        w.leave(1, 50, 50, "main::work").time(10, 1, 9).label(0, "worker")
        files.append(w.time(200, 1, 9).pid_end(pid).sub(1, "main::work", 3, 3).save(tmp_path / f"{pid}.out"))
    return files


def test_each_process_has_its_own(tmp_path):
    tracks = slices(json.loads(good("--chrome-trace", *two_processes(tmp_path)))["traceEvents"])
    found = {pid: spans for (pid, _), (name, spans) in tracks.items() if name == "worker"}
    assert found == {7: [("7", 50000, 110000)], 8: [("8", 5000, 11000)]}
    assert len(tracks) == 4
    good("--chrome-trace", "--per-process", "-o", tmp_path / "%p.json", *two_processes(tmp_path))
    for pid in 7, 8:
        tracks = slices(json.loads((tmp_path / f"{pid}.json").read_text())["traceEvents"])
        assert [spans for name, spans in tracks.values() if name] == [found[pid]]


def test_a_selection_by_label_keeps_the_labels_of_its_stretches(tmp_path):
    out = record(tmp_path, PROGRAM)
    calls, spans = trace("--where=request=GET /3", out)
    end = named(calls, "main::RUNTIME")[0][1]
    assert spans["request"] == [("GET /3", 0, end)]
    assert len(spans["sql"]) == 1 and 0 < spans["sql"][0][1] < spans["sql"][0][2] < end


def test_a_selection_of_subs_has_no_time_line_and_no_spans(tmp_path):
    out = record(tmp_path, PROGRAM)
    for options in (["--focus=query"], ["--aggregate"]):
        assert b"GET /" not in good("--chrome-trace", *options, out)
        assert b"GET /" not in good("--firefox", *options, out)


def test_names_that_need_care_are_whole(tmp_path):
    program = 'sub f { 1 } DB::label("k\\"<é" => "a \\\\ \\"b\\" \\n\\x{263a} <i>"); f();'
    out = record(tmp_path, program)
    (key, ((value, *_),)), = trace(out)[1].items()
    assert key == 'k"<é' and value == 'a \\x5c "b" \\x0a\u263a <i>'
    assert list(markers(out)) == [key]


def test_more_stretches_than_are_kept_are_told(tmp_path):
    w = Writer(options={"calls": 2}).pid_start(7, 1).fid(1, "/x/a.pl")
    for i in range(100003):
        w.label(0, f"n={i % 7}").time(1, 1, 9)
    file = w.call("main::f", 1, 3).time(1, 1, 9).pid_end(7).save(tmp_path / "a.out", compress=True)
    events = json.loads(good("--chrome-trace", file))["traceEvents"]
    track, = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert track.endswith(", 3 stretches of labels are left out")
    assert sum(event.get("cat") == "label" for event in events) == 100000


def test_damage_in_labels_is_survived(tmp_path):
    w = Writer(options={"calls": 2}).fid(1, "/x/a.pl")
    w.label(1, "before=any").pid_start(7, 1).call("main::f", 1, 9)
    for text in ("request", "request=a", "request=b", "=", "x=", "request=" + "v" * 9000):
        w.time(5, 1, 9).label(-10**16, text).time(2, 1, 9)
    w.comment("nytp-own 2000000000 5 main::f").entry(1, 9).time(1, 1, 3)
    done = run("--chrome-trace", w.save(tmp_path / "a.out"))
    assert done.returncode == 3
    spans = [event["name"] for event in json.loads(done.stdout)["traceEvents"] if event.get("cat") == "label"]
    assert spans[:2] == ["a", "b"]
