/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Stacks of any depth in a bounded number of lines: recursion, also of several subs in a
 * circle, is told once.
 */
#ifndef NYTP_SPY_FOLDED_H
#define NYTP_SPY_FOLDED_H

#include "spy/perl/stack.h"

/* Some frames that are shown, and how many calls behind them repeat these; where none is shown,
 * how many are left out. */
struct nytp_fold {
    uint32_t first, n_shown, n_more;
};

/* A stack in folds, innermost first, as an array for free(); NULL when memory is out. At most
 * NYTP_MOST_SHOWN of them, or a few more: else those in the middle are left out. */
#define NYTP_MOST_SHOWN 1000
struct nytp_fold *nytp_fold_stack(const struct nytp_stack *stack, uint32_t *n);

#endif
