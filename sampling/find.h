/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds the stack of one moment in what was read of it: formats/sampling.md has the table of
 * its decisions and a picture.
 *
 * The variables are read first and belong to one moment. The contexts are read after that; by
 * then calls may have returned, and others may have come. Each running sub has a pad of its
 * own, so PL_curpad tells whose call the moment is in.
 */
#ifndef NYTP_SAMPLING_FIND_H
#define NYTP_SAMPLING_FIND_H

#include "call_memory.h"

struct nytp_reading;

/* Questions about the perl that cost more than a comparison. A sampler answers those that it
 * can; NULL: unknown. */
struct nytp_perl_facts {
    /* Returns whether the code of a call from memory still has that call's pad. */
    bool (*has_pad)(const struct nytp_reading *reading, const struct nytp_call *call);
    /* Returns whether a statement is one of this call's code (NULL: of the main program).
     * Returns `otherwise` if it cannot know. */
    bool (*is_in)(const struct nytp_reading *reading, uint64_t statement,
                  const struct nytp_call *call, bool otherwise);
    /* The statement that a context of the stack in use was begun from, also above the top,
     * where the last call of that place left it; or 0. */
    uint64_t (*site_at)(const struct nytp_reading *reading, int32_t place);
    uint32_t (*line_of)(const struct nytp_reading *reading, uint64_t statement);
};

/* One moment. */
struct nytp_reading {
    uint64_t pad, stack; /* PL_curpad, PL_curstackinfo */
    struct nytp_calls calls;
    uint32_t n_lasting; /* calls, from the outermost, that were there all the time */
    uint32_t n_there;   /* n_lasting, and calls at places that were in use all the time */
    uint32_t n_far;     /* calls, from the outermost, whose pads were not read */
    uint32_t n_learned; /* calls, from the outermost, that were learned before */
    int32_t top;        /* of the stack in use when its contexts were read */
    uint64_t main_pad, main_list; /* of the main program; 0: not known */
    bool is_interruption; /* the stack in use may interrupt any code (DESTROY, a signal) */
    const struct nytp_perl_facts *facts;
    void *perl; /* for the facts */
};

enum {
    NYTP_MOST_LEFT = 8, /* calls on top of each other that have returned since the moment */
};

/* The stack of the moment: calls of the reading, then calls from memory that have returned
 * since, then the calls of the reading that stand on these. */
struct nytp_found {
    uint32_t n_open;
    struct nytp_call left[NYTP_MOST_LEFT]; /* innermost first */
    uint32_t n_left;
    uint32_t from, end; /* the calls of the reading on top */
    bool is_sort;       /* a sort's block runs, or perl between two calls of it (sort.h) */
};

static inline uint32_t nytp_found_n(const struct nytp_found *found)
{
    return found->n_open + found->n_left + found->end - found->from;
}

/* Number i of the stack, from the outermost. */
const struct nytp_call *nytp_found_at(const struct nytp_reading *reading,
                                      const struct nytp_found *found, uint32_t i);

/* Finds the stack and learns the calls that are certain. Returns false if it is not known what
 * ran; found->n_open calls were there most likely. */
bool nytp_find_stack(const struct nytp_reading *reading, struct nytp_call_memory *memory,
                     struct nytp_found *found);

/* The latest call with this pad that the code of the innermost of `n` calls made; or NULL. */
const struct nytp_seen_call *nytp_find_call_of(const struct nytp_reading *reading,
                                               const struct nytp_call_memory *memory,
                                               uint32_t n, uint64_t pad);

#endif
