/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The perl in a target: which one it is, how its memory is laid out, and its interpreters.
 */
#ifndef NYTP_SPY_RUNNING_H
#define NYTP_SPY_RUNNING_H

#include "layout.h"

#include "spy/target/symbols.h"
#include "spy/target/target.h"

enum {
    NYTP_OP_TYPES = 512, /* op_type has nine bits */
    NYTP_OP_NAME = 32,   /* bytes of a name that is kept */
};

/* A thread of Perl, or the whole program. */
struct nytp_interpreter {
    uint64_t at[NYTP_VARIABLES]; /* where its variables are */
    uint64_t address;            /* of struct interpreter; 0: there is only one, without it */
    uint64_t tid;                /* as threads->tid tells */
    pid_t task;                  /* the thread of the system that runs it; 0: not known */
};

struct nytp_perl {
    struct nytp_memory *memory;
    const struct nytp_target *target;
    const struct nytp_layout *layout;
    struct nytp_image image;
    const char
        *path; /* of the program or library that has perl in it; borrowed of the target */
    uint32_t version, subversion;
    uint64_t curinterp;                              /* PL_curinterp; 0: without threads */
    uint64_t op_names;                               /* PL_op_name */
    uint64_t op_functions;                           /* PL_ppaddr; 0: not known */
    char op_names_read[NYTP_OP_TYPES][NYTP_OP_NAME]; /* names read so far */
    struct nytp_interpreter *interpreters;
    uint32_t n_interpreters, capacity;
    bool has_endless_ring; /* to look for threads took too long once, and is not done again */
};

#endif
