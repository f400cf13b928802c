/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A little program of perl's own ops, to measure by (costs.h): statements on integers, which
 * run with perl's ops or with recorded statements. What an event costs shows only among such
 * ops: they leave the processor much room, in which recording hides, and how much, differs
 * between machines and moments.
 *
 * Nothing of it is the interpreter's: ops, variables and their list lie in one piece of memory
 * of ours, no perl code is compiled, and nothing that runs allocates, warns, dies or calls.
 */
#ifndef NYTP_COST_PROGRAM_H
#define NYTP_COST_PROGRAM_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;
struct nytp_cost_program;

enum {
    NYTP_COST_STATEMENTS = 9
};

/* `recorder` is what its statements are recorded by. NULL when memory is out. */
struct nytp_cost_program *nytp_cost_program_new(struct nytp_recorder *recorder);

/* One of its statements. */
const COP *nytp_cost_program_cop(const struct nytp_cost_program *program, unsigned number);

/* Whether it can run now: not while the interpreter is taken down, and where perl's stack has
 * room. */
bool nytp_cost_program_fits(pTHX);

/* Run it `times` times, recorded or not, in how many raw units of the recorder's clock. The
 * interpreter is left as it was. */
uint64_t nytp_cost_program_time(pTHX_ struct nytp_cost_program *program, bool recorded,
                                unsigned times);

#endif
