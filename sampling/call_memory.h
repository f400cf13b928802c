/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Memory of calls that were seen whole. A sampler that reads a moment piece by piece finds there
 * who had called a sub that has returned meanwhile. A fixed number of calls is kept; a newer
 * one takes the place of an older one.
 */
#ifndef NYTP_SAMPLING_CALL_MEMORY_H
#define NYTP_SAMPLING_CALL_MEMORY_H

#include "calls.h"

/* A caller is known by its pad. String evals and files are compiled anew each time, so they are
 * known by the statement that runs them, made odd; the main program by a number of its own. */
#define NYTP_CALLER_MAIN UINT64_C(2)

struct nytp_seen_call {
    struct nytp_call call; /* `site` is 0 if an eval called: its statements do not stay */
    uint64_t caller;       /* as above; 0: this slot is free */
    uint64_t caller_stack;
    int32_t caller_place; /* -1: the main program */
    uint32_t line;        /* of the site, if an eval called */
};

enum {
    NYTP_CALLS_KEPT = 4096,
    NYTP_CALL_SLOTS = 16384, /* a power of two; a call takes five */
};

/* All zero at first. Pages are touched only as calls come. */
struct nytp_call_memory {
    uint16_t slots[NYTP_CALL_SLOTS]; /* index into `calls` */
    uint16_t next;                   /* the next call is put here */
    struct nytp_seen_call calls[NYTP_CALLS_KEPT];
};

void nytp_remember_call(struct nytp_call_memory *memory, const struct nytp_seen_call *seen);

/* Each returns the latest such call, or NULL: with this pad in this stack; from this caller
 * besides (0: none is); from this caller and so many contexts above it; at this place; and the
 * very call. */
const struct nytp_seen_call *nytp_seen_with(const struct nytp_call_memory *memory, uint64_t pad,
                                            uint64_t stack);
const struct nytp_seen_call *nytp_seen_from(const struct nytp_call_memory *memory, uint64_t pad,
                                            uint64_t stack, uint64_t caller);
const struct nytp_seen_call *nytp_seen_above(const struct nytp_call_memory *memory,
                                             uint64_t pad, uint64_t stack, uint64_t caller,
                                             int32_t distance);
const struct nytp_seen_call *nytp_seen_at(const struct nytp_call_memory *memory, uint64_t pad,
                                          uint64_t stack, int32_t place);
const struct nytp_seen_call *nytp_seen_same(const struct nytp_call_memory *memory,
                                            const struct nytp_seen_call *wanted);

#endif
