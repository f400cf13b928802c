# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""What recording costs, and how much of it is still in the times of the profile, for bench/causal --cost.

Plain runs measure themselves: the processor time from the first module to the last END block, as a recording has it.
"""
import os
import statistics
import tempfile

import causal_doses
import causal_scores as scores
import causal_tables as tables
from causal_runs import profile_of

CLOCK_MODULE = """package CausalClock;
use Time::HiRes ();
my $from = Time::HiRes::clock_gettime(2);
END {
    open my $out, '>', $ENV{CAUSAL_TOOK};
    print $out Time::HiRes::clock_gettime(2) - $from;
}
1;
"""
HEAD = ("program", "mode", "recording", "left %", "")


def judge(bench, name, program, cpu):
    """The row of a program."""
    folder = tempfile.mkdtemp(dir=bench.scratch)
    out, took = os.path.join(folder, "out"), os.path.join(folder, "took")
    with open(os.path.join(folder, "CausalClock.pm"), "w", encoding="ascii") as module:
        module.write(CLOCK_MODULE)
    rounds, recording = [], []
    for _ in range(bench.options.rounds):
        plain = bench.run("plain", program, [f"-I{folder}", "-MCausalClock"], {"CAUSAL_TOOK": took}, out, os.devnull, cpu)
        recording.append(bench.run("exact", program, [], {}, out, os.devnull, cpu) / plain)
        profile = profile_of(out)
        rounds.append((sum(profile["own"].values()), causal_doses.taken(took)[0], profile["cost"]))
    left = scores.cost(rounds)
    return [[name, "exact", f"{statistics.median(recording):.2f}", "{:.0f} ± {:.0f}".format(*(100 * part for part in left)),
             "left missed" if abs(left[0]) - left[1] > scores.COST else "too noisy" if left[1] > scores.COST else "met"]]


def shown(rows):
    """The table for doc/accuracy.md."""
    def cell(row):
        return f"**{row[3]}**" if row[-1] == "left missed" else f"({row[3]})" if row[-1] == "too noisy" else row[3]
    return tables.markdown([[HEAD[0], *HEAD[2:4]], *([row[0], row[2], cell(row)] for row in rows)])
