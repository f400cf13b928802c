# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""Doses of other things than time, for bench/causal --amounts: waits, values, bytes, matches and queries.

Each is a statement in one sub, which does a known amount of it each time it runs. How much is told, by the
environment; so the truth is known without a clock. It is judged by the difference of two amounts.
"""
import json
import os
import tempfile

import causal_doses
from causal_runs import exported

LEAST_RUNS, MOST_RUNS = 20, 400    # of the statement in a run of the program


def at_line(told, dosed, field):
    """The values of a field of the lines of a profile: the line's with the dose, and by place all others'."""
    here, others = 0, {}
    for line in told["lines"]:
        at = told["subs"][line["sub"]]["name"], line["line"]
        if at == (dosed.name, dosed.line):
            here += line.get(field, 0)
        else:
            others[at] = others.get(at, 0) + line.get(field, 0)
    return here, others


def rows_at_line(told, dosed, rows, field):
    here, others = 0, {}
    for row in rows:
        at = told["files"][row["file"]]["name"], row["line"]
        if at[1] == dosed.line and at[0].endswith(os.path.basename(dosed.path)):
            here += row[field]
        else:
            others[at] = others.get(at, 0) + row[field]
    return here, others


def waits_of_calls(told, dosed):
    """The time of select() by the sub that calls it."""
    here, others = 0, {}
    for call in told["calls"]:
        caller, callee = (told["subs"][call[who]]["name"] for who in ("caller", "callee"))
        if callee.endswith("CORE:sselect"):
            if caller == dosed.name:
                here += call["inclusive"]
            else:
                others[caller] = others.get(caller, 0) + call["inclusive"]
    return here, others


def waits_of_samples(told, dosed):
    return rows_at_line(told, dosed, told["waited"], "total_ns")


def loops(told, dosed):
    sql = told.get("sql", {"loops": [], "statements": 0})
    rows = [{"file": loop["file"], "line": loop["line"], "calls": loop["calls"]} for loop in sql["loops"]]
    here, others = rows_at_line(told, dosed, rows, "calls")
    return here, {**others, "no loop": sql["statements"] - here - sum(others.values())}


# Name; statement; two amounts for a run of the program, of which each run of the statement does its part; what one of it
# is in the unit of the profile; mode; options of ours; how a profile is read.
SLEEP = "select undef, undef, undef, $main::causal_amount / 1000;"
AMOUNTS = [
    ("waits", SLEEP, (400, 1600), 1e6, "exact", "", waits_of_calls),
    ("waits", SLEEP, (400, 1600), 1e6, "sample=1000", "", waits_of_samples),
    ("waits", SLEEP, (400, 1600), 1e6, "spy 1000", "", waits_of_samples),
    ("values", "push @main::causal_kept, [(7) x $main::causal_amount];", (4000, 16000), 1, "exact", ":memory=1",
     lambda told, dosed: at_line(told, dosed, "svs")),
    ("bytes in use", "push @main::causal_kept, 'a' x $main::causal_amount;", (20 << 20, 80 << 20), 1, "exact", ":memory=65536",
     lambda told, dosed: at_line(told, dosed, "inuse_space")),
    ("matches", "'abc' =~ /causal[0-9]+/ for 1 .. $main::causal_amount;", (2000, 6000), 1, "exact", ":regex=1",
     lambda told, dosed: rows_at_line(told, dosed, told["regexes"], "calls")),
    ("queries", "require DBI; $main::causal_dbh ||= DBI->connect('dbi:SQLite::memory:'); "
     "$main::causal_dbh->do('SELECT 7') for 1 .. $main::causal_amount;", (5000, 15000), 1, "exact", ":sql=1", loops),
]
HEAD = ("program", "sub", "what", "mode", "told", "elsewhere", "")


def judge(bench, name, program, cpu):
    """The rows of a program: the rise that is told of the line, over the truth, and all other rises, over the truth."""
    folder = tempfile.mkdtemp(dir=bench.scratch)
    out, incs = os.path.join(folder, "out"), causal_doses.search_path()
    bench.run("exact", program, [], {}, out, os.devnull, cpu)
    dosed = causal_doses.choose_by_calls(json.loads(exported(out, "--json")), LEAST_RUNS, MOST_RUNS, bench.options.seed, incs)
    if dosed is None:
        return [[name, *["-"] * 5, f"not judged: no sub runs {LEAST_RUNS} to {MOST_RUNS} times"]]
    rows, as_it_was = [], dosed.name
    for what, statement, amounts, unit, mode, settings, read in AMOUNTS:
        dosed.name = as_it_was
        causal_doses.write_copies([dosed], incs, folder, statement)
        found, parts = [], [-(-amount // dosed.runs) for amount in amounts]
        for part in parts:
            dose = {"CAUSAL_AMOUNT": str(part), "LD_PRELOAD": bench.malloc if what == "bytes in use" else ""}
            bench.run(mode, program, [f"-I{folder}", "-MCausalDose"], dose, out, os.devnull, cpu, settings)
            found.append(read(json.loads(exported(out, "--json", "--unit=ns")), dosed))
        (before, others_before), (after, others_after) = found
        truth = (parts[1] - parts[0]) * unit * dosed.runs
        told = (after - before) / truth
        elsewhere = sum(abs(others_after.get(at, 0) - others_before.get(at, 0)) for at in {*others_before, *others_after}) / truth
        missed = [word for word, is_off in (("told", abs(told - 1) > 0.05), ("elsewhere", elsewhere > 0.1)) if is_off]
        rows.append([name, f"{dosed.name}:{dosed.line}", what, mode, f"{told:.3f}", f"{100 * elsewhere:.0f} %",
                     ", ".join(missed) + " missed" if missed else "met"])
    return rows
