/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Stacks of any depth in a bounded number of lines: recursion, also of several subs in a
 * circle, is shown once.
 */
#ifndef NYTP_SPY_FOLDED_H
#define NYTP_SPY_FOLDED_H

#include "spy/perl/stack.h"

/* Some shown frames, and the number of calls after them that repeat these; if none is shown,
 * the number of omitted calls. */
struct nytp_fold {
    uint32_t first, n_shown, n_more;
};

/* Returns a stack in folds, innermost first, as an array for free(), or NULL if memory is out.
 * Folds in the middle are omitted beyond about NYTP_MOST_SHOWN. */
#define NYTP_MOST_SHOWN 1000
struct nytp_fold *nytp_fold_stack(const struct nytp_stack *stack, uint32_t *n);

#endif
