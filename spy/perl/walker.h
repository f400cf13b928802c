/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The state of those who look at one interpreter again and again, and the stack that they find.
 */
#ifndef NYTP_SPY_WALKER_H
#define NYTP_SPY_WALKER_H

#include "look.h"
#include "names.h"

#include "sampling/find.h"

struct nytp_frame {
    enum nytp_frame_kind kind;
    uint32_t sub;        /* in names->subs; UINT32_MAX: it is none */
    uint32_t file, line; /* where it is now; the file's name is a string of names */
    uint64_t cv, cop;    /* the same for calls that are the same */
};

struct nytp_stack {
    struct nytp_frame *frames; /* innermost first, the last is that of the main program */
    uint32_t n, capacity;
    uint32_t n_left_out; /* behind the innermost NYTP_INNERMOST_SHOWN */
    uint32_t xsub;       /* the xsub called by the innermost frame; UINT32_MAX: none */
    unsigned builtin;    /* the type of the op that runs */
};

enum {
    NYTP_KNOWN_PADS = 1024,
    NYTP_KNOWN_OPS = 1024,
    NYTP_KNOWN_SORTS = 256,
};

struct nytp_walker {
    struct nytp_names *names;
    struct nytp_look look;
    struct nytp_call_memory *memory; /* owned */
    struct nytp_call *calls;         /* of the reading; owned */
    uint32_t calls_capacity;
    uint64_t doubtful; /* contexts of the stack in use, by bits, from number doubtful_from on */
    int32_t doubtful_from;
    struct nytp_reading reading;
    /* Pads of subs believed unchanged (names.h), by hash. */
    struct nytp_known_pad {
        uint64_t code, root, list, pad; /* root: CvROOT */
        int64_t depth;
    } pads[NYTP_KNOWN_PADS];
    /* Types of ops, and the statements that they were seen with, by address. */
    struct nytp_known_op {
        uint64_t op, cop;
        int64_t found_ns, read_ns;
        unsigned type;
        uint64_t named; /* the glob that a call names, or its place in the pad; 0: none */
        bool has_named; /* `named` was looked for */
    } ops[NYTP_KNOWN_OPS];
    uint64_t sorts[NYTP_KNOWN_SORTS]; /* statements that were seen to sort, by address */
    struct nytp_stack stack;          /* the last sample's */
    bool keeps_all;                   /* also frames beyond NYTP_MOST_SHOWN */
    bool has_moved;          /* the program ran while we looked, on another processor */
    uint64_t n_retried;      /* samples that were not whole at the first look */
    uint64_t n_retried_more; /* nor at the second */
};

#endif
