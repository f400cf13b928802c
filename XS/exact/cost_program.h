/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Small programs of perl's own ops for measuring (costs.h), one for each kind of event. They
 * run with perl's ops or with recorded ones. The cost of an event shows only among such ops:
 * they leave the processor room in which recording hides. How much differs between processors
 * and moments, and a loop leaves more than a program, which waits for memory and mispredicted
 * branches. So the processor has to finish all ops before and behind every third event.
 *
 * Nothing in them is the interpreter's. Ops, variables, subs and pads lie in one piece of our
 * memory, no perl code is compiled, and no stash or debugger list knows them. No op in them
 * warns or dies.
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
    NYTP_COST_STATEMENTS = 26 /* in all programs */
};

/* `recorder` records their events: the interpreter's cost_recorder, not its own recorder.
 * Returns NULL if memory is out. */
struct nytp_cost_program *nytp_cost_program_new(pTHX_ struct nytp_recorder *recorder);

const COP *nytp_cost_program_cop(const struct nytp_cost_program *program, unsigned number);

unsigned nytp_cost_program_events(const struct nytp_cost_program *program,
                                  enum nytp_cost_kind kind);

/* Returns whether they can run: the interpreter is alive, and perl's stacks have room. */
bool nytp_cost_program_fits(pTHX);

/* Runs the program of this kind `times` times, with its events recorded or not; statements in
 * the other programs always are. Returns the time in raw units of the recorder's clock and
 * leaves the interpreter unchanged. */
uint64_t nytp_cost_program_time(pTHX_ struct nytp_cost_program *program,
                                enum nytp_cost_kind kind, bool recorded, unsigned times);

#endif
