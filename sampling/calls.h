/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls of a perl that is sampled, as the samplers in the process and outside read them.
 * Addresses are those of that perl; nothing here follows them.
 */
#ifndef NYTP_SAMPLING_CALLS_H
#define NYTP_SAMPLING_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nytp_frame_kind {
    NYTP_FRAME_SUB,
    NYTP_FRAME_FORMAT,
    NYTP_FRAME_EVAL,    /* of a string */
    NYTP_FRAME_REQUIRE, /* or use, or do FILE */
    NYTP_FRAME_MAIN,
};

/* Code that runs, in one context of one of perl's stacks (PERL_SI). */
struct nytp_call {
    uint64_t code;   /* its CV */
    uint64_t site;   /* the statement that called it; 0: not known */
    uint64_t pad;    /* the elements of its pad, as in PL_curpad; 0: not known */
    uint64_t list;   /* its pad, as in PL_comppad; 0: not known */
    uint64_t caller; /* PL_comppad of its caller, as its context says; 0: the context does not */
    uint64_t stack;
    uint64_t root;         /* CvROOT, for those who compare calls of two moments; or 0 */
    int32_t place, depth;  /* in the stack; of recursion, from 1 */
    uint32_t kind;         /* enum nytp_frame_kind */
    bool is_hidden;        /* the code block of a regular expression: not shown */
    bool is_doubtful;      /* nytp_is_doubtful() */
};

static inline bool nytp_is_eval(const struct nytp_call *call)
{
    return call->kind == NYTP_FRAME_EVAL || call->kind == NYTP_FRAME_REQUIRE;
}

/* Returns whether a call may be half of the one before in its place and half of the one in a
 * second reading: perl writes its parts one by one, while the reader copies them. */
static inline bool nytp_is_doubtful(const struct nytp_call *first,
                                    const struct nytp_call *second)
{
    const int n_same = (first->code == second->code) + (first->site == second->site) +
                       (first->caller == second->caller);
    return n_same > 0 && n_same < 3;
}

/* Calls, outermost first: the lower ones, then the upper ones. Borrowed. */
struct nytp_calls {
    const struct nytp_call *lower, *upper;
    uint32_t n_lower, n_upper;
};

static inline uint32_t nytp_calls_n(const struct nytp_calls *calls)
{
    return calls->n_lower + calls->n_upper;
}

static inline const struct nytp_call *nytp_calls_at(const struct nytp_calls *calls, uint32_t i)
{
    return i < calls->n_lower ? &calls->lower[i] : &calls->upper[i - calls->n_lower];
}

#endif
