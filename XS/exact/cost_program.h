/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Little programs of perl's own ops, to measure by (costs.h): one of each kind of event, which
 * run with perl's ops or with recorded ones. What an event costs shows only among such ops:
 * they leave the processor much room, in which recording hides, and how much, differs between
 * processors and moments.
 *
 * Nothing of them is the interpreter's: ops, variables, subs and pads lie in one piece of
 * memory of ours, no perl code is compiled, no stash and no list of the debugger knows them,
 * and nothing that runs warns or dies.
 */
#ifndef NYTP_COST_PROGRAM_H
#define NYTP_COST_PROGRAM_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;
struct nytp_cost_program;

enum nytp_cost_kind {
    NYTP_COST_STATEMENT,
    NYTP_COST_LEAVE, /* of a block */
    NYTP_COST_CALL,  /* of a perl sub, with its return */
    NYTP_COST_XSUB,
    NYTP_COST_BUILTIN,
    NYTP_COST_KINDS
};

enum {
    NYTP_COST_STATEMENTS = 23 /* of all programs */
};

/* `recorder` is what records their events: not the interpreter's own, but its cost_recorder.
 * NULL when memory is out. */
struct nytp_cost_program *nytp_cost_program_new(pTHX_ struct nytp_recorder *recorder);

/* One of the statements. */
const COP *nytp_cost_program_cop(const struct nytp_cost_program *program, unsigned number);

/* How many events of this kind there are in its program. */
unsigned nytp_cost_program_events(const struct nytp_cost_program *program,
                                  enum nytp_cost_kind kind);

/* Whether they can run now: not while the interpreter is taken down, and where perl's stacks
 * have room. */
bool nytp_cost_program_fits(pTHX);

/* Run the program of this kind `times` times, with its events recorded or not (statements in
 * the others' programs always are), in how many raw units of the recorder's clock. The
 * interpreter is left as it was. */
uint64_t nytp_cost_program_time(pTHX_ struct nytp_cost_program *program,
                                enum nytp_cost_kind kind, bool recorded, unsigned times);

#endif
