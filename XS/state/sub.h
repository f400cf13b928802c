/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A sub of the profile. subs.c makes it; every call reads it.
 */
#ifndef NYTP_SUB_H
#define NYTP_SUB_H

#include "XS/options/specials.h"
#include "states.h"

struct nytp_rec_arc;
struct nytp_rec_file;

enum nytp_rec_sub_kind {
    NYTP_REC_SUB_PERL,
    NYTP_REC_SUB_XSUB,
    NYTP_REC_SUB_OPCODE, /* a builtin (builtins.h) */
    NYTP_REC_SUB_PSEUDO, /* main::RUNTIME, main::NULL */
};

/* A sub by its full name. release.c frees unique ones; the others stay. */
struct nytp_rec_sub {
    /* Fields that every call reads. */
    struct nytp_rec_arc *last_arc; /* arc of its last call, or NULL */
    uint8_t *encoded;              /* the name as a string of the stream */
    uint32_t encoded_len;
    uint32_t depth; /* calls in progress */
    enum nytp_sub_special special;
    bool returned_normally; /* at least once */
    bool called;
    bool waits;     /* a builtin that may wait indefinitely (slowops.def) */
    bool may_block; /* the next call may block: write to disk before it */

    uint32_t id;
    enum nytp_rec_sub_kind kind;
    uint32_t name_len;
    char *name;                 /* UTF-8, inside `encoded` */
    uint32_t package_len;       /* of `name`, before the last "::" */
    uint32_t package_hash;      /* of that part */
    struct nytp_rec_file *file; /* where it was compiled, or NULL */
    uint32_t first_line, last_line;
    uint32_t mark_id;                     /* in the tmon.out being written; 0: none yet */
    uint32_t info_generation[NYTP_KINDS]; /* file of each kind that has its SUB_INFO; 0: none */
    bool is_queued;                       /* in the info queue, */
    bool is_scanned;                      /* which was scanned since */
    bool is_unique;                       /* no other body gets this name */
    bool is_begin; /* a package's entry for BEGIN blocks (begin_blocks.h) */
    bool in_use;   /* release.c: it can still be called */
};

/* Returns whether readers are to show it as no Perl sub: a builtin, or an xsub that has
 * returned at least once (only then it certainly ran). */
static inline bool nytp_sub_is_foreign(const struct nytp_rec_sub *sub)
{
    return sub->kind == NYTP_REC_SUB_OPCODE ||
           (sub->kind != NYTP_REC_SUB_PERL && sub->returned_normally);
}

#endif
