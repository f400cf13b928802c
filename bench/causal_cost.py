# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What recording costs, and how much of it is still in the times of the profile, for bench/causal --cost.

The speed of a machine changes from run to run by more than recording costs. So what is left is asked of stretches of one
run, recorded and not recorded in turn: stretches.pl has a piece of work for each program.
"""
import os
import statistics
import subprocess
import tempfile

import causal_scores as scores
import causal_tables as tables
from causal_runs import ROOT, profile_of

PIECES = os.path.join(ROOT, "bench", "stretches.pl")
LOOPS = ("statements", "calls", "subs in turn")  # pieces of no program
NO_SUCH_PIECE = 2
SECONDS = 1.5   # of a run of stretches
HEAD = ("program", "mode", "recording", "left %", "")


def stretches(bench, name, out):
    """The own times of the recorded stretches, the times of the others, and what was taken off; None for a program
    without a piece."""
    done = subprocess.run(["perl", "-d:NYTProf", PIECES, name, str(SECONDS)], stdout=subprocess.PIPE, check=False,
                          cwd=bench.scratch, env=bench.environment(True, out, ":start=no", {}))
    if done.returncode == NO_SUCH_PIECE:
        return None
    done.check_returncode()
    profile = profile_of(out)
    return sum(profile["own"].values()), int(done.stdout), profile["cost"]


def judge(bench, name, program, cpu):
    """The row of a program."""
    out = os.path.join(tempfile.mkdtemp(dir=bench.scratch), "out")
    recording, rounds = [], []
    for _ in range(bench.options.rounds):
        if program is not None:
            plain = bench.run("plain", program, [], {}, out, os.devnull, cpu)
            recording.append(bench.run("exact", program, [], {}, out, os.devnull, cpu) / plain)
        rounds.append(stretches(bench, name, out))
    left = None if None in rounds else scores.cost(rounds)
    return [[name, "exact", f"{statistics.median(recording):.2f}" if recording else "-",
             "-" if left is None else "{:.0f} ± {:.0f}".format(*(100 * part for part in left)),
             "no piece" if left is None else "left missed" if abs(left[0]) - left[1] > scores.COST
             else "too noisy" if left[1] > scores.COST else "met"]]


def shown(rows):
    """The table for doc/accuracy.md."""
    def cell(row):
        return f"**{row[3]}**" if row[-1] == "left missed" else f"({row[3]})" if row[-1] == "too noisy" else row[3]
    return tables.markdown([[HEAD[0], *HEAD[2:4]], *([row[0], row[2], cell(row)] for row in rows)])
