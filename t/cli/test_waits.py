# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Waiting apart from work, and processes: --no-wait, --wait, --processes."""

import json
import re

import pytest

from command import ROOT, good, pprof_top, run
from nytpwrite import Writer
from recordings import merge, record
from test_totals import EXACT
from written import MS


def waiting(path, pid=77, ppid=1, start=1000.0, end=True, calls=(), **attributes):
    """A process that works 30 ms and calls each of the builtins or subs for `ticks` altogether:
    (name, calls, ticks)."""
    stream = Writer(attributes).pid_start(pid, ppid, start).fid(1, "/x/app.pl")
    for name, count, ticks in calls:
        for _ in range(count):
            stream.entry(1, 5).time(1, 1, 5).leave(1, ticks // count, ticks // count, name)
            stream.time(ticks // count, 1, 5).discount()
    stream.time(30 * MS, 1, 6)
    for name, count, ticks in calls:
        stream.callers(1, 5, "main::RUNTIME", name, count, ticks, ticks)
        stream.callers(0, 0, "", name, 0, 0, 0)
    return (stream.pid_end(pid, start + 1) if end else stream).save(path)


def rows_of(word):
    table = (ROOT / "exporters" / "base" / "waits.def").read_text()
    rows = re.findall(rf'^{word}\("([^"]+)", (BLOCK|CHILD), (\d+)\)$', table, re.M)
    assert len(rows) >= 10
    return rows


def headline(*arguments):
    return run("-q", "--top=0", *arguments).stdout.decode().splitlines()[0]


@pytest.mark.parametrize("word, spelled", [("NYTP_WAIT_BUILTIN", "Pkg::CORE:{}"),
                                           ("NYTP_WAIT_SUB", "{}")])
def test_each_row_of_the_table_waits(tmp_path, word, spelled):
    for name, _, least in rows_of(word):
        long = max(int(least) * 10, 5 * MS)
        file = waiting(tmp_path / "wait.out", calls=[(spelled.format(name), 1, long),
                                                     ("main::CORE:match", 1, 5 * MS)])
        assert ", " + f"{long / MS:.2f} ms of it waiting" in headline(file), name
        if int(least):
            quick = waiting(tmp_path / "quick.out", calls=[(spelled.format(name), 100, 5 * MS)])
            assert "waiting" not in headline(quick), name


def test_time_of_waiting_is_left_out_and_what_is_below_stays(profile, tmp_path):
    calls = [("Time::HiRes::sleep", 2, 40 * MS), ("main::CORE:match", 3, 6 * MS),
             ("main::query", 1, 20 * MS)]
    file = waiting(tmp_path / "wait.out", calls=calls)
    assert "96.0 ms, 40.0 ms of it waiting" in headline(file)
    assert ": 56.0 ms of 96.0 ms (58.3 %) by --no-wait, " in headline("--no-wait", file)
    assert "96.0 ms, 60.0 ms of it waiting" in headline("--wait=^main::query$", file)
    assert ": 36.0 ms of 96.0 ms" in headline("--wait=^main::query$", "--no-wait", file)
    assert "Time::HiRes::sleep" not in run("-q", "--no-wait", "--top=0", file).stdout.decode()
    for name in ("mixed-calls2", "perltidy", "forks-merged"):
        for option in ("--no-wait", "--wait=."):
            assert run("--check", option, profile(name)).returncode == 0


def test_the_column_is_what_was_waited_below(tmp_path):
    file = waiting(tmp_path / "wait.out", calls=[("Time::HiRes::sleep", 2, 40 * MS)])
    lines = run("-q", "--top=0", "--unit=ticks", file).stdout.decode().splitlines()
    assert lines[2].split()[7] == "wait"
    rows = {line.split()[7]: line.split()[6] for line in lines[3:]}
    assert rows == {"Time::HiRes::sleep": "400000", "main::RUNTIME": "400000"}
    quick = waiting(tmp_path / "quick.out", calls=[("main::CORE:match", 1, MS)])
    assert "wait" not in run("-q", "--top=0", quick).stdout.decode().splitlines()[2]


def test_pprof_knows_them_by_a_label(tmp_path):
    file = waiting(tmp_path / "wait.out", calls=[("Time::HiRes::sleep", 2, 40 * MS),
                                                 ("main::CORE:match", 3, 6 * MS)])
    good("-q", "--pprof", "-o", tmp_path / "w.pb.gz", file)
    rows = pprof_top(tmp_path / "w.pb.gz", "-tagfocus=state=waiting")
    assert set(rows) == {"Time::HiRes::sleep"}
    rows = pprof_top(tmp_path / "w.pb.gz", "-tagignore=state=waiting")
    assert "main::CORE:match" in rows and "Time::HiRes::sleep" not in rows


def test_the_firefox_profiler_and_traces_know_them_by_a_category(tmp_path):
    """A builtin that reads is waiting in one package and work in another."""
    calls = [("Time::HiRes::sleep", 2, 40 * MS), ("main::CORE:match", 3, 6 * MS), ("Pipe::CORE:readline", 2, 30 * MS),
             ("File::CORE:readline", 100, 5 * MS), ("main::query", 1, 20 * MS)]
    file = waiting(tmp_path / "wait.out", calls=calls)
    for arguments, wanted in (((), {"Time::HiRes::sleep", "Pipe::CORE:readline"}),
                              (("--wait=^main::query$",), {"Time::HiRes::sleep", "Pipe::CORE:readline", "main::query"})):
        trace = json.loads(good("-q", "--chrome-trace", *arguments, file))["traceEvents"]
        assert {e["name"] for e in trace if "waiting" in e.get("cat", "").split(",")} == wanted
        assert {e["cat"] for e in trace if e["name"] == "Pipe::CORE:readline"} == {"builtin,waiting"}
        document = json.loads(good("-q", "--firefox", *arguments, file))
        names = [category["name"] for category in document["meta"]["categories"]]
        assert len(document["threads"]) == 2
        for thread in document["threads"]:
            funcs, frames, stacks = thread["funcTable"], thread["frameTable"], thread["stackTable"]
            of_frame = {thread["stringArray"][funcs["name"][func]]: names[category]
                        for func, category in zip(frames["func"], frames["category"])}
            assert {name for name, category in of_frame.items() if category == "Waiting"} == wanted
            assert of_frame["main::CORE:match"] == of_frame["File::CORE:readline"] == "Builtin"
            assert stacks["category"] == [frames["category"][frame] for frame in stacks["frame"]]
            waited = sum(weight for weight, stack in zip(thread["samples"]["weight"], thread["samples"]["stack"])
                         if names[stacks["category"][stack]] == "Waiting")
            assert waited == 90 if "main::query" in wanted else 70


# ---- processes ----

ROW = re.compile(r" *(\d+) +(\d+|-) +(\d+) +(\d+|-) +(-?\d+|-) +(\d+|-) +(\d+|-) +(\d+)  (complete |partial  )"
                 r"(.*)$")


def processes(*arguments):
    text = run("-q", "--processes", "--unit=ticks", *arguments).stdout.decode().splitlines()
    while text[2].startswith(("open at its end", "pid ")):
        del text[2:4]
    assert text[2].split() == ["pid", "parent", "start", "wall", "own", "child-wait",
                               "other-wait", "stmts", "state", "command"]
    rows = []
    for line in text[3:]:
        match = ROW.match(line)
        assert match, line
        rows.append([None if value == "-" else int(value) for value in match.groups()[:8]]
                    + [match[9].strip(), match[10]])
    return rows


def crowded(path, *processor_ms):
    """Processes that ran for 100 ms each, of which they were so long on a processor."""
    stream = Writer()
    for i, ms in enumerate(processor_ms):
        stream.pid_start(20 + i, time=1.0).fid(1, "/x/a.pl").time(1_000_000, 1, 1)
        stream.comment("nytp-processor 7")                  # the last counts
        stream.comment(f"nytp-processor {ms * 1_000_000}")
        stream.pid_end(20 + i, time=1.25)
    return stream.save(path)


def test_processor_time_stands_beside_wall_time(tmp_path):
    file = crowded(tmp_path / "crowded.out", 20, 50)
    merged = merge(tmp_path / "merged.out", file)
    for profile in file, merged:
        text = run("-q", "--processes", "--unit=ms", profile).stdout.decode()
        assert re.search(r"start +wall +cpu +own", text)
        assert re.findall(r"^ +2\d +- +0\.0+ +250\.0+ +(\d+)\.0+ +100\.0+ ", text, re.M) == ["20", "50"]
        assert re.search(r"^200\.0+ of their own, 70\.0+ of it on a processor: they waited for one$", text, re.M)
        document = json.loads(run("-q", "--json", "--unit=ns", profile).stdout)
        assert [process["processor"] for process in document["processes"]] == [20_000_000, 50_000_000]
    assert "they waited" not in run("-q", "--processes", crowded(tmp_path / "b.out", 60, 50)).stdout.decode()
    plain = run("-q", "--processes", waiting(tmp_path / "c.out", 20, 10, 3.0)).stdout.decode()
    assert not re.search(r"wall +cpu", plain)              # nobody told


def test_a_recording_tells_processor_time(tmp_path):
    """The parent computes, the child sleeps, however long either takes on a busy machine."""
    record(tmp_path, "1 for 1 .. 3e6; if (!fork) { select undef, undef, undef, .4; exit } wait;\n", steps=False)
    document = json.loads(run("-q", "--json", "--unit=ns", *sorted(tmp_path.glob("*.out*"))).stdout)
    parent, child = sorted(document["processes"], key=lambda process: process["start"])
    assert 10_000_000 < parent["processor"] and 0 < child["processor"] < 400_000_000
    for process in parent, child:
        assert process["processor"] < (process["end"] - process["start"]) * 1e9 + 20e6


def test_processes_are_a_tree(tmp_path):
    """Pids return: the second 20 is another process, and its child is its own."""
    given = [(20, 10, 3.0), (10, 1, 1.0), (30, 20, 4.0), (20, 1, 5.0), (30, 20, 6.0), (40, 99, 2.0)]
    files = [waiting(tmp_path / f"{i}.out", pid, ppid, start, end=pid != 40)
             for i, (pid, ppid, start) in enumerate(given)]
    rows = processes(*files)
    depth = {(row[0], row[2]): re.match(" *", row[9])[0] for row in rows}
    assert [(row[0], row[1], row[2] // 10000000) for row in rows] == [
        (10, None, 0), (20, 10, 2), (30, 20, 3), (40, None, 1), (20, None, 4), (30, 20, 5)]
    assert [row[8] for row in rows] == ["complete"] * 3 + ["partial"] + ["complete"] * 2
    assert rows[3][3] is None
    assert sorted(set(depth.values())) == ["", "  ", "    "]
    assert processes(*reversed(files[:3]))[0][0] == 10


@pytest.mark.parametrize("hosts, starts", [(("a", "a", "a"), (10, 20, 30)), (("a", "b", "c"), (10, 10.1, 10.2))],
                         ids=["one after the other", "at once on several hosts"])
def test_a_wait_is_counted_once_where_each_container_counts_pids_from_one(tmp_path, hosts, starts):
    calls = [("main::CORE:wait", 1, 40 * MS)]
    files = [waiting(tmp_path / f"{pid}.{start}.out", pid, pid - 1, start + pid - 1, calls=calls if pid == 1 else (), host=host)
             for host, start in zip(hosts, starts) for pid in (1, 2)]
    assert ", 6 processes, their 90.0 ms of waiting for each other not counted" in headline(*files)
    rows = processes(*files)
    assert [row[:2] for row in rows] == [[1, None], [2, 1]] * 3
    assert [row[2] for row in rows[1::2]] == [row[2] + 1000 * MS for row in rows[::2]]


def test_a_thread_waits_for_what_it_forked_itself(tmp_path):
    calls = [("main::CORE:wait", 1, 40 * MS)]
    files = [waiting(tmp_path / "first.out", calls=calls), waiting(tmp_path / "thread.out", start=1000.1, thread=1, parent_thread=0),
             waiting(tmp_path / "child.out", 78, 77, 1000.2)]
    assert "their 30.0 ms of waiting for each other not counted" in headline(*files)


@pytest.mark.parametrize("name", EXACT)
def test_processes_have_the_recorded_numbers(profile, totals, name):
    want = totals(name)
    rows = processes(profile(name))
    if want.processes:
        assert sorted(row[0] for row in rows) == sorted(pid for pid, _, _ in want.processes)
        first = min(start for _, _, start in want.processes)
        wanted = sorted((pid, round((start - first) * want.ticks_per_sec))
                        for pid, _, start in want.processes)
        for row, (pid, start) in zip(sorted(rows, key=lambda row: (row[0], row[2])), wanted):
            assert row[0] == pid and abs(row[2] - start) <= 1
        pids = {pid for pid, _, _ in want.processes}
        parents = {pid: ppid for pid, ppid, _ in want.processes}
        assert all(row[1] == (parents[row[0]] if parents[row[0]] in pids else None)
                   for row in rows)
    if not want.overclaimed:
        assert sum(value or 0 for row in rows for value in row[4:7]) == want.stmt_ticks
    assert sum(row[7] for row in rows) == sum(line.count for line in want.lines.values())
    child = sum(sub.self for sub_name, sub in want.subs.items()
                if re.search(r"CORE::?(wait|waitpid|system|backtick)$", sub_name))
    shown = sum(row[5] or 0 for row in rows)
    closing = sum(sub.self for sub_name, sub in want.subs.items() if re.search("CORE::?close$", sub_name))
    assert child <= shown <= child + closing
    assert not want.processes or (sum(row[8] == "partial" for row in rows) > 0) == (not want.complete)


def test_many_processes_do_not_take_long(tmp_path):
    stream = Writer().fid(1, "/x/app.pl")
    for pid in range(1, 20001):
        start = 1000.0 + pid / 1e4
        stream.pid_start(pid, max(1, pid - 1), start).time(10, 1, 5).pid_end(pid, start)
    assert len(processes(stream.save(tmp_path / "many.out"))) == 20000
