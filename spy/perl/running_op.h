/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The op that runs in a target: its type, and the sub that it calls.
 */
#ifndef NYTP_SPY_RUNNING_OP_H
#define NYTP_SPY_RUNNING_OP_H

#include "walker.h"

/* Has the words of an op read with what else is asked of this look. */
void nytp_op_type_ask(struct nytp_walker *walker, const struct nytp_spied_moment *moment);

/* The type of the op of a moment; 0: it is none any more. Ops of string evals are freed while
 * we look, and their memory is of something else; their function tells. */
unsigned nytp_op_type_at(struct nytp_walker *walker, const struct nytp_spied_moment *moment);

/* The sub that entersub calls, which is above the arguments: a sub, a glob or a reference; 0:
 * none. */
uint64_t nytp_callee_of(struct nytp_walker *walker, uint64_t stack_sp);

/* The number of an xsub, whose name was expected; UINT32_MAX: it is none. */
uint32_t nytp_xsub_at(const struct nytp_names *names, uint32_t expected);

#endif
