# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Recordings written by hand: their beginning, and those whose subs take the times and calls that they are told."""

from nytpwrite import Writer

MS = 10000                                      # ticks


def begun(pid=7, ppid=1, start=1000.0, is_sampled=False, **attributes):
    """A stream of one process, whose program is file 1."""
    stream = Writer({"application": "/x/app.pl", **attributes}).pid_start(pid, ppid, start)
    if is_sampled:
        stream.attribute("sampled", 1).attribute("sample_interval_ns", 1000000)
    return stream.fid(1, "/x/app.pl")


def write_run(path, subs, uncalled=(), attributes=None):
    """subs: name -> (calls, ticks of 100 ns), each with one statement a call; called from the script's
    line 1. `uncalled` are declared only."""
    stream = Writer(attributes={"hash_seed": 0, **(attributes or {})})
    stream.pid_start(7, 1).fid(1, "/x/hand.pl").time(10, 1, 1)
    for place, (name, (calls, ticks)) in enumerate(subs.items(), 1):
        for call in range(calls):
            share = ticks // calls + (ticks % calls if call == 0 else 0)
            stream.entry(1, 1).time(share, 1, 10 * place).leave(1, share, share, name)
        stream.sub(1, name, 10 * place, 10 * place + 1)
        if calls:
            stream.callers(1, 1, "main::RUNTIME", name, calls, ticks, ticks)
    for place, name in enumerate(uncalled, len(subs) + 1):
        stream.sub(1, name, 10 * place, 10 * place + 1)
    return stream.pid_end(7).save(path)
