/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * One look at a target's stacks as a reading of sampling/find.h, and the questions that the
 * search may ask of it. And the op that runs.
 */
#ifndef NYTP_SPY_MOMENT_H
#define NYTP_SPY_MOMENT_H

#include "contexts.h"
#include "walker.h"

extern const struct nytp_perl_facts nytp_spied_facts;

/* Contexts of stack `info` as the look has them, up to its top. */
struct nytp_contexts nytp_contexts_of(const struct nytp_walker *walker, uint32_t info);

/* Up to which context of the stack in use both readings show the same calls. Ask before
 * anything else, which goes on with one of the two. */
int32_t nytp_end_of_both(const struct nytp_walker *walker);

/* Returns whether the stacks below that in use rested. */
bool nytp_are_same_below(const struct nytp_walker *walker);

/* Puts the calls of all stacks into walker->reading; of the stack in use those below context
 * `end`. Calls below `lasting` were there all the time. Returns false if memory is out. */
bool nytp_moment_calls(struct nytp_walker *walker, int32_t end, int32_t lasting);

/* The nearer one of the two readings of the stack in use, with its pads. */
bool nytp_moment_nearest(struct nytp_walker *walker, int32_t lasting,
                         const struct nytp_spied_moment *wanted);

/* Returns whether a statement may be one of this call's code (NULL: of the main program). What
 * is not known, as before perl 5.26 in a loop without end, is `otherwise`. */
bool nytp_may_be_in(struct nytp_walker *walker, uint64_t statement,
                    const struct nytp_call *call, bool otherwise);

/* Returns whether a statement is known to be one of a sub. */
bool nytp_is_in_some_sub(struct nytp_walker *walker, uint64_t statement);

/* Returns whether a call is to be held against the code below it, as it may be over: that below
 * is another's, if it has come since. perl 5.24 and after it clears the code of subs there, but
 * not that of evals. The bottom of a stack is checked as well. */
static inline bool nytp_is_checked(const struct nytp_walker *walker, uint32_t i)
{
    const struct nytp_call *const call = &walker->calls[i];
    return i == 0 || call->kind >= NYTP_FRAME_EVAL || call[-1].stack != call->stack ||
           !nytp_contexts_are_cleared(walker->names->perl->layout);
}

/* Adds the words of an op to this look's reads. */
void nytp_op_type_ask(struct nytp_walker *walker, const struct nytp_spied_moment *moment);

/* The type of the op of a moment; 0: it is none any more. Ops of string evals are freed while
 * we look, and their memory is of something else; their function tells. */
unsigned nytp_op_type_at(struct nytp_walker *walker, const struct nytp_spied_moment *moment);

/* The sub that the entersub of this moment calls: the one that it names, if its code `lasts`, or
 * the sub, glob or reference above the arguments; 0: none. */
uint64_t nytp_callee_of(struct nytp_walker *walker, const struct nytp_spied_moment *moment,
                        bool lasts);

#endif
