# SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
"""A dose for every op, for bench/causal --uniform: each op that perl runs takes the same time more.

An own loop of ops (perl's PL_runops) turns some rounds before each op. What a line costs more is then its number of
ops times that, and a run that counts them tells the number. So the truth of a whole program is known without a clock,
and without a choice of subs.
"""
import json
import os
import shlex
import subprocess
import tempfile

import causal_scores as scores
from causal_runs import SAMPLED, exported

SPIN_MODULE = """package CausalSpin;
require DynaLoader;
my $library = DynaLoader::dl_load_file(__FILE__ =~ s/pm$/so/r) or die DynaLoader::dl_error();
DynaLoader::dl_install_xsub('CausalSpin::start', DynaLoader::dl_find_symbol($library, 'start'));
start();
1;
"""
# CAUSAL_SPIN: rounds for each op. CAUSAL_OPS: the file to which the ops of each line are written instead.
SPIN_LIBRARY = r"""
#define PERL_NO_GET_CONTEXT
#include "EXTERN.h"
#include "perl.h"
#include "XSUB.h"

enum { PLACES = 1 << 18 };
static struct place { const COP *cop; const char *file; line_t line; char *name; unsigned long ops; } places[PLACES];
static unsigned long rounds;
static char *ops_file; /* the program may set $0, which overwrites its environment */

static int spin(pTHX)
{
    OP *op = PL_op;
    do
        for (volatile unsigned long i = 0; i < rounds; i++)
            ;
    while ((PL_op = op = op->op_ppaddr(aTHX)));
    PERL_ASYNC_CHECK();
    TAINT_NOT;
    return 0;
}

/* A freed statement's memory may be another's. */
static struct place *place_of(const COP *cop)
{
    const char *const file = CopFILE(cop);
    struct place *at = &places[(PTR2UV(cop) >> 3) * 0x9E3779B1u % PLACES];
    for (unsigned n = 0; n < PLACES; n++, at = at + 1 < places + PLACES ? at + 1 : places) {
        if (at->cop == NULL) {
            *at = (struct place){cop, file, CopLINE(cop), strdup(file ? file : ""), 0};
            return at;
        }
        if (at->cop == cop && at->file == file && at->line == CopLINE(cop))
            return at;
    }
    abort();
}

static int count(pTHX)
{
    OP *op = PL_op;
    do
        place_of(PL_curcop)->ops++;
    while ((PL_op = op = op->op_ppaddr(aTHX)));
    PERL_ASYNC_CHECK();
    TAINT_NOT;
    return 0;
}

static void tell(void)
{
    FILE *const out = fopen(ops_file, "w");
    for (unsigned n = 0; n < PLACES; n++)
        if (places[n].cop != NULL)
            fprintf(out, "%lu %lu %s\n", places[n].ops, (unsigned long)places[n].line, places[n].name);
    fclose(out);
}

void start(pTHX_ CV *cv)
{
    const char *const spins = getenv("CAUSAL_SPIN");
    PERL_UNUSED_VAR(cv);
    rounds = spins ? strtoul(spins, NULL, 10) : 0;
    ops_file = getenv("CAUSAL_OPS") ? strdup(getenv("CAUSAL_OPS")) : NULL;
    if (ops_file)
        atexit(tell);
    PL_runops = ops_file ? count : spin;
}
"""


TRIAL = 100    # rounds
HEAD = ("program", "mode", "points", "slope", "")


def environment(rounds):
    return {"CAUSAL_SPIN": str(rounds)}


def build(folder):
    """Puts the module and its library into the folder."""
    with open(os.path.join(folder, "CausalSpin.pm"), "w", encoding="ascii") as out:
        out.write(SPIN_MODULE)
    flags = subprocess.run(["perl", "-MExtUtils::Embed", "-e", "ccopts"], capture_output=True, text=True, check=True).stdout
    source = os.path.join(folder, "CausalSpin.c")
    with open(source, "w", encoding="ascii") as out:
        out.write(SPIN_LIBRARY)
    subprocess.run(["cc", *shlex.split(flags), "-O1", "-shared", "-fPIC", "-o", source[:-1] + "so", source], check=True)


def place(file, line):
    """Where a line's time and ops are added up. String evals, numbered anew in each run, are one place."""
    return ("(eval)", 0) if file.startswith("(eval ") else (os.path.basename(file), line)


def ops_of(path):
    """By place the ops that a run counted."""
    found = {}
    with open(path, encoding="utf-8", errors="replace") as counted:
        for row in counted:
            ops, line, file = row.rstrip("\n").split(" ", 2)
            at = place(file, int(line))
            found[at] = found.get(at, 0) + int(ops)
    return found


def times_of(told):
    """By place the own time of a profile that --json told: of samples their processor time."""
    found = {}
    for line in told["lines"]:
        at = place(told["files"][line["file"]]["name"], line["line"])
        found[at] = found.get(at, 0) + line.get("cpu", line["exclusive"])
    return found


def judge(bench, name, program, cpu):
    """The rows of a program."""
    folder = tempfile.mkdtemp(dir=bench.scratch)
    out, counted = os.path.join(folder, "out"), os.path.join(folder, "ops")
    build(folder)

    def run(mode, dose):    # builtins are in their lines
        return bench.run(mode, program, [f"-I{folder}", "-MCausalSpin"], dose, out, os.devnull, cpu, bench.clock(mode) + ":slowops=0")
    run("plain", {"CAUSAL_OPS": counted})
    ops = ops_of(counted)
    plain_ns = run("plain", environment(0))
    trial_ns = max(1, run("plain", environment(TRIAL)) - plain_ns)
    spins = max(1, round(plain_ns * bench.options.doses[-1] / 100 / trial_ns * TRIAL))
    rows = []
    for mode in bench.options.modes:
        rounds = []
        for _ in range(bench.options.rounds):
            plain, profiles = [], []
            for dose in (0, spins):
                plain.append(run("plain", environment(dose)))
                run(mode, environment(dose))
                profiles.append(times_of(json.loads(exported(out, "--json", "--unit=ns"))))
            rounds.append((plain, profiles))
        off, slope, bar = scores.uniform(ops, rounds)
        chance = scores.uniform_by_chance(ops, rounds, 1e9 / int(mode.split("=")[-1].split()[-1])) if mode in SAMPLED else 0
        rows.append([name, mode, f"{off:.1f}" + (f", by chance {chance:.1f}" if chance else ""), f"{slope:.3f} ± {bar:.3f}",
                     "points missed" if off - chance > scores.UNIFORM_POINTS else "met"])
    return rows
