/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * One look at the stacks of a perl that runs on: its variables and contexts, in one system
 * call.
 *
 * PL_op, PL_curpad, PL_curcop and PL_curstackinfo lie side by side and are read as one: a
 * moment. The contexts near the top are read twice right after them, and so are those of the
 * stacks below, which rest; those far below the top once: it was never seen down there. So it
 * has to be known where all lies: that is where it was the last time, or is looked for first.
 * What was read is in `infos` and `bytes`.
 */
#ifndef NYTP_LOOK_H
#define NYTP_LOOK_H

#include "running.h"

/* One of perl's stacks (PERL_SI): a tie, an overloaded operator, a sort block, a destructor or
 * a signal handler begins one on top of what it interrupts. */
struct nytp_stack_info {
    uint64_t address, contexts;    /* of it, and of its array of contexts */
    uint32_t n_deep;               /* contexts so far below the top that they are read once */
    uint32_t n_first;              /* up to there they are read first */
    uint32_t n_contexts;           /* how many to read */
    uint32_t at, first_at;         /* where they are in `bytes`; the first reading */
    int32_t top, most;             /* si_cxix at the first reading, si_cxmax */
    int32_t low_first, low_second; /* the lower top of those around each reading */
    bool is_sort;                  /* of that in use: it was a sort's at both readings */
};

struct nytp_look {
    struct nytp_perl *perl;
    struct nytp_interpreter of;
    /* Where the stacks were last, innermost first, so as to read all in one go. Owned. */
    struct nytp_stack_info *infos;
    uint32_t n_infos, infos_capacity;
    uint8_t *bytes; /* the contexts of all, then once more those that are read twice; owned */
    uint32_t n_bytes, capacity;
    uint64_t main_cv;       /* PL_main_cv when the stacks were last found */
    int64_t began_ns;       /* when this sample began */
    uint32_t n_looks;       /* looks at this sample so far */
    int32_t last_top;       /* of the stack in use at the last look: a deep one may rest */
    int32_t high_top;       /* the highest of late: one less at each look */
    uint32_t n_first_found; /* samples to come for which stacks are not guessed but found */
    int64_t fastest_ns;     /* of all looks; 0: none yet */
};

/* Read at one moment. */
struct nytp_spied_moment {
    uint64_t op, curpad, curcop, info, stack_sp;
    unsigned op_type;
    bool is_late;    /* we were not run while we looked */
    bool is_one_cop; /* the statement did not change while we looked */
    bool has_moved;  /* something did: the program runs */
    bool is_in_code; /* but its stack, pad and statement were the same all the while */
};

bool nytp_is_same_spied_moment(const struct nytp_spied_moment *a,
                               const struct nytp_spied_moment *b);

static inline int32_t nytp_lower(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

void nytp_look_free(struct nytp_look *look);

/* A sample begins. */
void nytp_look_begin(struct nytp_look *look);

/* Returns whether this sample is given up: a program that changes its stack all the time, or
 * one whose memory is slow to read, may not keep us from others. */
bool nytp_look_is_long(const struct nytp_look *look);

/* Look, until the stacks are where they were guessed to be. `wanted` is the first moment that
 * was seen: while it is none, and with `is_any_wanted`, it becomes that of this look. False:
 * they were not seen. */
bool nytp_look_at_once(struct nytp_look *look, struct nytp_spied_moment *moment,
                       struct nytp_spied_moment *wanted, bool is_any_wanted);

/* Returns whether the stack in use had more contexts than are read twice. */
bool nytp_look_is_deep(const struct nytp_look *look);

/* Contexts of a stack, from number `from` on, as they were read first or the second time. */
uint8_t *nytp_look_reading(const struct nytp_look *look, uint32_t i, bool is_first,
                           uint32_t from);

#endif
