/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Waiting apart from work: which contexts of a profile spend their own time waiting. waits.def
 * is the list of builtins and subs that wait; expressions may add to it.
 */
#ifndef NYTP_WAITS_H
#define NYTP_WAITS_H

#include "patterns.h"

enum nytp_wait_kind {
    NYTP_WAIT_NONE = 0,
    NYTP_WAIT_BLOCK, /* for input, a lock, a time */
    NYTP_WAIT_CHILD, /* for a child process */
};

struct nytp_waits {
    uint8_t *kinds; /* by node: what its own time is, an enum nytp_wait_kind */
    int64_t ticks;  /* the own time of all nodes that wait */
};

/* Find out which nodes of the profile wait. `more`: expressions for names of further subs that
 * wait; NULL = none. Returns false if memory is out or an expression fails, with *error set.
 * nytp_waits_free() in either case. */
bool nytp_waits_init(struct nytp_waits *waits, const struct nytp_profile *profile,
                     const struct nytp_patterns *more, struct nytp_error *error);
void nytp_waits_free(struct nytp_waits *waits);

/* Returns "sleep" for the builtin "Pkg::CORE:sleep" or "CORE::sleep", also with a detail behind
 * it (exporters/select/detail.h); "" if the name is no builtin's. */
struct nytp_name nytp_builtin_name(const struct nytp_sub *sub);

/* Returns whether calls of a sub of this name that take so long in mean wait. */
bool nytp_waits_by_name(struct nytp_name sub, double mean_s);

/* Per sub whether it waits: in its contexts that do it spent more than half of its own time.
 * For formats that class subs, not contexts. The caller frees it; NULL: no memory. */
bool *nytp_waits_subs(const struct nytp_waits *waits, const struct nytp_profile *profile);

#endif
