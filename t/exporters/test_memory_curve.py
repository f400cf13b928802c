# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The curve of a process's memory over time: told by comments `nytp-memory N`, shown as counters of
a trace and of the Firefox Profiler, on the axis of the calls."""

import collections
import json
import re

import pytest

from command import good, run
from nytpread import Reader
from nytpwrite import Writer
from recordings import merge, record

RESIDENT, IN_USE, VALUES = "resident memory", "allocated memory in use", "values kept"
MOST = 65536


def trace(*arguments):
    """{(pid, counter): [(microsecond, value)]}, and where the program ends, by pid."""
    curves, ends = collections.defaultdict(list), {}
    for event in json.loads(good("--chrome-trace", "-q", *arguments))["traceEvents"]:
        if event["ph"] == "C":
            (value,) = event["args"].values()
            curves[event["pid"], event["name"]].append((event["ts"], value))
        elif event["name"] == "main::RUNTIME":
            ends[event["pid"]] = event["ts"] + event["dur"]
    return dict(curves), ends


def counters(*arguments):
    """The same of Firefox, in its units: milliseconds, and what is more than before."""
    profile = json.loads(good("--firefox", "-q", *arguments))
    found = {}
    for counter in profile["counters"]:
        assert profile["threads"][counter["mainThreadIndex"]]["pid"] == counter["pid"]
        assert "totals" not in profile["threads"][counter["mainThreadIndex"]]["name"]
        samples = counter["sampleGroups"][0]["samples"]
        assert samples["length"] == len(samples["time"]) == len(samples["count"])
        found[int(counter["pid"]), counter["name"]] = list(zip(samples["time"], samples["count"]))
    return found


def begun(pid=7):
    return Writer(attributes={"ticks_per_sec": 1000000}, options={"calls": 2}).pid_start(pid, 1).fid(1, "/x/a.pl")


def called(stream, pid=7):
    return stream.call("main::work", 50, 3).time(10, 1, 9).pid_end(pid)


def small(pid=7):
    return begun(pid).memory(4096).time(100, 1, 9).memory(5000000).time(40, 1, 9).memory(3000000)


def test_points_lie_where_the_comments_stand(tmp_path):
    file = called(small()).save(tmp_path / "a.out")
    points = [(0, 4096), (100, 5000000), (140, 3000000)]
    assert trace(file) == ({(7, RESIDENT): points}, {7: 200})
    assert counters(file) == {(7, "resident"): [(0, 4096), (0.1, 4995904), (0.14, -2000000)]}
    assert trace("--aggregate", file)[0] == counters("--aggregate", file) == {}
    assert trace("--focus=work", file)[0] == {}         # calls that were taken out have left no time line


def test_of_samples_what_is_in_use_there_and_values(tmp_path):
    stream = begun().entry(1, 9).time(10, 1, 9)
    stream.alloc(1, 700, 3).alloc(2, 90, 3).comment("nytp-svs 3 1 3").memory(1000).time(10, 1, 3)
    stream.free(1).free(1).free(9).comment("nytp-svs -2 1 3").memory(1001)
    stream.leave(1, 10, 10, "main::f").time(5, 1, 9).pid_end(7)
    # another process begins anew
    stream.pid_start(8, 7).memory(2000).call("main::f", 1, 3).time(5, 1, 9).pid_end(8)
    file = stream.save(tmp_path / "a.out")
    curves, _ = trace(file)
    assert curves == {(7, RESIDENT): [(10, 1000), (20, 1001)], (7, IN_USE): [(10, 790), (20, 90)],
                      (7, VALUES): [(10, 3), (20, 1)],
                      (8, RESIDENT): [(0, 2000)], (8, IN_USE): [(0, 0)], (8, VALUES): [(0, 0)]}
    assert {key: [count for _, count in samples] for key, samples in counters(file).items()} == \
        {(7, "resident"): [1000, 1], (7, "in use"): [790, -700], (8, "resident"): [2000], (8, "in use"): [0]}


def test_several_inputs_and_a_merged_stream_keep_them(tmp_path):
    files = [called(small(pid), pid).save(tmp_path / f"{pid}.out") for pid in (7, 8)]
    curves, _ = trace(*files)
    assert curves[7, RESIDENT] == curves[8, RESIDENT] == [(0, 4096), (100, 5000000), (140, 3000000)]
    merge(tmp_path / "m.out", *files)
    assert trace(tmp_path / "m.out")[0] == curves
    good("--chrome-trace", "--per-process", "-o", tmp_path / "%p.json", *files)
    one = json.loads((tmp_path / "8.json").read_text())["traceEvents"]
    assert [event["args"]["bytes"] for event in one if event["ph"] == "C"] == [4096, 5000000, 3000000]


def test_what_recording_cost_moves_them_with_the_calls(tmp_path):
    """The call takes half of what was recorded of it; a point inside it stays inside."""
    stream = begun().time(1000, 1, 9).entry(1, 9).time(0, 1, 9)
    for _ in range(50):
        stream.time(10, 1, 3)
    stream.memory(7000)
    for _ in range(50):
        stream.time(10, 1, 3)
    stream.leave(1, 1000, 1000, "main::work").time(10, 1, 9).memory(8000)
    stream.comment("nytp-costs stmt=5000000 leave=0 call_in=0 call_out=0 xsub_in=0 xsub_out=0 op_in=0 op_out=0")
    file = stream.pid_end(7).save(tmp_path / "a.out")
    (raw, raw_ends), (curves, ends) = trace("--as-recorded", file), trace(file)
    assert raw[7, RESIDENT] == [(1500, 7000), (raw_ends[7], 8000)]
    (inside, _), (last, _) = curves[7, RESIDENT]
    assert last == ends[7] < raw_ends[7] - 400 and 1150 < inside < 1350


def test_of_too_many_few_are_kept_and_the_peak_is_among_them(tmp_path):
    stream = begun()
    for i in range(100000):
        stream.memory(10**9 if i == 31001 else 1000 + i).time(1, 1, 9)
    file = called(stream).save(tmp_path / "a.out", compress=True)
    points = trace(file)[0][7, RESIDENT]
    assert MOST / 2 <= len(points) <= MOST
    assert [at for at, _ in points] == sorted(at for at, _ in points)
    (peak,) = [at for at, value in points if value == 10**9]
    assert abs(peak - 31001) < 4 and points[-1] == (99999, 100999)


def test_damage_is_survived(tmp_path):
    stream = Writer(options={"calls": 2}).comment("nytp-memory 5").fid(1, "/x/a.pl").pid_start(7, 1)
    for text in ("nytp-memory", "nytp-memory ", "nytp-memory x", "nytp-memory -1", "nytp-memory " + "9" * 30, "nytp-memory 99999999999999999"):
        stream.comment(text).time(-5, 1, 9).time(10, 1, 9)
    stream.call("main::f", 1, 3).time(1, 1, 9)
    done = run("--chrome-trace", stream.save(tmp_path / "a.out"))
    assert done.returncode == 3
    assert [event["args"] for event in json.loads(done.stdout)["traceEvents"] if event["ph"] == "C"] == [{"bytes": 99999999999999999}]


def report(tmp_path, file):
    good("--html", "-q", "-o", tmp_path / "r.html", file)
    return re.search(r"<section id=memory>(.*?)</section>", (tmp_path / "r.html").read_text(), re.S)


def test_the_report_draws_it(tmp_path):
    stream = begun()
    for value in (10_000_000, 40_000_000, 30_000_000, 20_000_000):
        stream.memory(value).time(100, 1, 9)
    text = report(tmp_path, called(stream.memory(5_000_000)).save(tmp_path / "a.out"))[1]
    assert re.sub("<.*?>", "", text.splitlines()[1]) == "In core 10.0 MB at first, 40.0 MB at most (after 100µs), 5.0 MB in the end."
    assert re.findall(r'points="(.*?)"', text) == ["0,75 250,0 500,25 750,50 1000,88"]
    assert report(tmp_path, called(small()).save(tmp_path / "b.out")) is None       # three points are no curve


def test_the_report_has_what_was_in_use_beside_it(tmp_path):
    stream = begun().entry(1, 9).time(10, 1, 9).alloc(1, 3000000, 3)
    for value in (1_000_000, 2_000_000, 3_500_000):
        stream.memory(value).time(10, 1, 3)
    stream.free(1).memory(4_000_000).leave(1, 30, 30, "main::f").time(5, 1, 9).pid_end(7)
    stream.pid_start(8, 7).memory(7000).time(1, 1, 9).pid_end(8)
    text = report(tmp_path, stream.save(tmp_path / "a.out"))[1]
    assert "Process 7, the largest. In core" in text and "at most <b>3.0 MB</b>, by samples." in text
    assert re.findall(r'stroke=(\w+)', text) == ["currentColor", "orange"]
    assert [points.split()[-1] for points in re.findall(r'points="(.*?)"', text)] == ["1000,0", "1000,100"]


@pytest.mark.parametrize("grown, told", [
    ([1.5, 30, 50, -20, 9], "<c> (50.0 MB from 200µs on), /b (30.0 MB from 100µs on), /e (9.0 MB from 400µs on)"),
    ([0.4, 30, 0.3], "/b (30.0 MB from 100µs on)"),         # a hundredth of the picture's height, or more
    ([0, -1, 0.1], ""),
])
def test_the_report_says_under_which_labels_it_grew_most(tmp_path, grown, told):
    now, ticks = 10_000_000, 0
    stream = begun().memory(now)
    for request, more in zip(("a", "b", "<c>", "d", "e"), grown):
        now += round(more * 1_000_000)
        stream.label(ticks, f"request=/{request}").time(90, 1, 3).memory(now)
        ticks += 100
        stream.time(10, 1, 3).label(ticks, "request")
    text = report(tmp_path, called(stream).save(tmp_path / "a.out"))[1]
    said = re.sub("</?b>", "", text).replace("request=/&lt;c>", "<c>").replace("request=", "")
    assert told + ".</p>" in said and ("It grew most under" in said) == bool(told)
    starts = re.findall(r"from (\d+)µs", told)
    assert re.findall(r"<rect x=(\d+)", text) == [str(int(int(start) * 1000 / (ticks - 10))) for start in starts]
    assert len(re.findall("<title>request=/", text)) == len(starts)


GROWS = """sub grow { my $keep = "x" x 40_000_000; idle(3000); return length $keep }
sub idle { my $s = 0; for my $i (1 .. $_[0]) { $s += $i } return $s }
idle(3000); grow(); idle(3000);
"""


@pytest.mark.parametrize("options", ["", "calls=2", "stmts=0", "sample=2000"])
def test_a_program_that_grows_has_a_curve(tmp_path, options):
    """Its recorder looks where it looks at the clock anyway: when it begins, now and then, and at the end."""
    out = record(tmp_path, GROWS, options=options, steps=not options.startswith("sample"))
    comments = [fields[0] for tag, *fields in Reader(out) if tag == "#"]
    told = [int(text.split()[1]) for text in comments if text.startswith(b"nytp-memory ")]
    assert len(told) >= 2 and all(10**6 < value < 10**9 for value in told)
    if options.startswith("sample"):
        return                                  # how often depends on the machine
    curves, ends = trace(out)
    ((pid, _),) = curves
    points = curves[pid, RESIDENT]
    assert [value for _, value in points] == told and points[-1][0] <= ends[pid]
    assert max(told) > told[0] + 35e6
