# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""A sampled recording written by hand, as the recorder writes them, with what each place took by
both clocks. Its program:

    2  sub burn { ... }
    3  sub nap { sleep ... }              # Time::HiRes'
    4  sub doze { select ... }
    5  sub work { burn(); doze() }
    8  nap();
    9  work();
    10 ...                                # one sample of minutes, longer than a time record holds
"""

from nytpwrite import Writer

LONGEST = 2**31 - 1                       # ticks of a time record
SCRIPT = "/x/sampled.pl"

# sub -> (wall, processor) ticks of its own. What ran before the sleep was seen took the 100 of its
# sample: the others have them, in proportion to the 650 and 7 that theirs tell.
FIRST = {"Time::HiRes::sleep": (1000, 0), "main::burn": (1100, 749),
         "main::CORE:sselect": (2000, 0), "main::RUNTIME": (LONGEST + 100, 8)}
SECOND = {"main::burn": (700, 340)}
TOTAL = {name: tuple(map(sum, zip(FIRST.get(name, (0, 0)), SECOND.get(name, (0, 0)))))
         for name in {*FIRST, *SECOND}}
SAMPLES = 7
FOLDED_CPU = {"main::RUNTIME;main::work;main::burn": 1089, "main::RUNTIME": 8}


def stream():
    out = Writer(options={"calls": 2})
    out.pid_start(7).attribute("sampled", 1).attribute("sample_interval_ns", 1000000)
    out.fid(1, SCRIPT)
    # the first sample, in the xsub: what it was called from has returned before its time record
    out.entry(1, 8).entry(1, 3).leave(2, 1000, 1000, "Time::HiRes::sleep")
    out.leave(1, 1000, 0, "main::nap").entry(1, 9).entry(1, 5)
    out.comment("cpu 100").time(1000, 1, 3)
    out.time(500, 1, 2)                   # no comment: all of it was processor time
    out.leave(2, 1100, 1100, "main::burn").entry(1, 5)
    out.comment("cpu 150").time(600, 1, 2)
    out.entry(1, 4).leave(3, 2000, 2000, "main::CORE:sselect")
    out.leave(2, 2000, 0, "main::doze").leave(1, 3100, 0, "main::work")
    out.comment("cpu 0").time(2000, 1, 4)
    out.comment("cpu 7").time(LONGEST, 1, 10).discount().time(100, 1, 10)
    out.pid_end(7).pid_start(8, 7)
    out.entry(1, 9).entry(1, 5).time(300, 1, 9)
    out.comment("cpu 40").time(400, 1, 2)
    out.leave(2, 700, 700, "main::burn").leave(1, 700, 0, "main::work").pid_end(8)
    for name, line in (("burn", 2), ("nap", 3), ("doze", 4), ("work", 5)):
        out.sub(1, f"main::{name}", line, line)
    return out


def exact():
    """The same place in a recording that is not sampled."""
    out = Writer(options={"calls": 2}).pid_start(9).fid(1, SCRIPT)
    out.entry(1, 9).entry(1, 5).time(50, 1, 9).time(60, 1, 2)
    return out.leave(2, 60, 60, "main::burn").leave(1, 60, 0, "main::work").pid_end(9)
