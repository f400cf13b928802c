/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Perl's contexts (PERL_CONTEXT) as bytes of a target, and the calls in them.
 */
#ifndef NYTP_SPY_CONTEXTS_H
#define NYTP_SPY_CONTEXTS_H

#include "layout.h"

#include "sampling/calls.h"

/* Contexts of one stack. */
struct nytp_contexts {
    const struct nytp_layout *layout;
    const uint8_t *bytes;
    int32_t n;
    uint64_t stack;
};

/* Takes the call that a context is. Returns false if it is a block or a loop. The code block of
 * a regular expression is a block of the sub around it, whose context has its code, too. */
bool nytp_context_call(const struct nytp_contexts *contexts, int32_t i, struct nytp_call *call);

/* The statement that a context was begun from. */
uint64_t nytp_context_site(const struct nytp_contexts *contexts, int32_t i);

bool nytp_context_is_sub(const struct nytp_contexts *contexts, int32_t i);

/* Returns whether calls i of two readings are the same, or both are none. */
bool nytp_context_is_same(const struct nytp_contexts *a, const struct nytp_contexts *b,
                          int32_t i);

/* Returns whether contexts of calls that are over have no code, as since perl 5.24. */
bool nytp_contexts_are_cleared(const struct nytp_layout *layout);

#endif
