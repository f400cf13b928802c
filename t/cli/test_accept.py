# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""The wait of accept(), which Devel::NYTProf leaves out of calls: it is told as our recorder tells it."""

import json

import pytest

from command import run
from nytpwrite import Writer
from test_where import subs
from written import MS


def serving(path, calls, waits=(80 * MS,), costs=False):
    """The program calls outer(), which calls serve(), whose last statement is accept(), on line 3. Calls
    have 2 ms of their own in each sub and 1 ms of the builtin `print` on accept's line."""
    stream = Writer(options={"calls": calls}).pid_start(77, 1, 1000.0).fid(1, "/x/app.pl")
    if costs:
        stream.comment("nytp-costs stmt=10000 leave=10000 op_in=1 op_out=1")
    entry = stream.entry if calls == 2 else lambda *_: None
    leave = stream.leave if calls > 0 else lambda *_: None
    for wait in waits:
        entry(1, 9), stream.time(5 * MS, 1, 9)                    # outer() begins
        entry(1, 6), stream.time(2 * MS, 1, 6)                    # serve() begins
        entry(1, 3), leave(3, MS, MS, "main::CORE:print")
        entry(1, 3), leave(3, 0, 0, "main::CORE:accept")
        leave(2, 3 * MS, 2 * MS, "main::serve")
        stream.time(wait + MS, 1, 3).discount()
        leave(1, 5 * MS, 2 * MS, "main::outer")
        stream.time(0, 1, 6).discount()
    stream.time(30 * MS, 1, 10)
    n = len(waits)
    stream.sub(1, "main::serve", 3, 3), stream.sub(1, "main::outer", 6, 6)
    stream.callers(1, 9, "main::RUNTIME", "main::outer", n, 5 * n * MS, 2 * n * MS)
    stream.callers(1, 6, "main::outer", "main::serve", n, 3 * n * MS, 2 * n * MS)
    stream.callers(1, 3, "main::serve", "main::CORE:print", n, n * MS, n * MS)
    stream.callers(1, 3, "main::serve", "main::CORE:accept", n, 0, 0)
    for name in ("main::CORE:print", "main::CORE:accept"):
        stream.callers(0, 0, "", name, 0, 0, 0)
    return stream.pid_end(77, 1001).save(path)


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_accept_has_its_wait_and_all_around_it_as_inclusive_time(tmp_path, calls):
    document, found = subs(serving(tmp_path / "n.out", calls, [80 * MS, 20 * MS]))
    assert found["main::CORE:accept"]["exclusive"] == 100e6
    assert found["main::serve"]["exclusive"] == found["main::outer"]["exclusive"] == 4e6
    assert found["main::serve"]["inclusive"] == 106e6
    assert found["main::outer"]["inclusive"] == 110e6
    assert document["total"] == document["processes"][0]["statement_time"] == 146e6


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_it_is_told_as_waiting(tmp_path, calls):
    head = run("-q", "--top", serving(tmp_path / "n.out", calls)).stdout.decode().splitlines()[0]
    assert head.startswith("hand.pl: 118 ms, 80.0 ms of it waiting"), head


@pytest.mark.parametrize("calls", [1, 2])
def test_it_stands_on_the_time_line(tmp_path, calls):
    trace = json.loads(run("-q", "--chrome-trace", serving(tmp_path / "n.out", calls)).stdout)
    (accept,) = [one for one in trace["traceEvents"] if one["name"] == "main::CORE:accept"]
    (outer,) = [one for one in trace["traceEvents"] if one["name"] == "main::outer"]
    assert accept["dur"] == 80000 and outer["dur"] == 85000
    assert outer["ts"] <= accept["ts"] and accept["ts"] + 80000 <= outer["ts"] + 85000


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_our_own_recordings_say_themselves_what_accept_took(tmp_path, calls):
    """An accept that fails at once takes less than a tick: its statement's time is not its own."""
    _, found = subs(serving(tmp_path / "n.out", calls, costs=True))
    assert found["main::CORE:accept"]["exclusive"] == 0


def test_a_file_that_holds_back_without_an_end_is_read(tmp_path):
    """Damaged: returns behind an accept, and never a statement."""
    stream = Writer().pid_start(77, 1, 1000.0).fid(1, "/x/app.pl")
    stream.leave(1, 0, 0, "main::CORE:accept")
    for _ in range(150000):
        stream.leave(1, 10, 10, "main::f")
    _, found = subs(stream.pid_end(77, 1001).save(tmp_path / "n.out"))
    assert found["main::f"]["calls"] == 150000
    assert found["main::CORE:accept"]["calls"] == 1
