/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sampled blocks that are in use (option memory=BYTES), each with the calls that allocated it.
 * They are written at the begin of the next profile file of this process or of a fork's child,
 * which knows nothing of earlier files. Calls form a tree in which equal paths share nodes.
 *
 * NYTP_MOST_BLOCKS and NYTP_MOST_BLOCK_CALLS limit this to some 20 MB. Blocks beyond are
 * recorded in the file that was open when they were allocated, and in no later one.
 */
#ifndef NYTP_BLOCKS_H
#define NYTP_BLOCKS_H

#include "XS/perl/perl_compat.h"
#include "formats/base/table.h"

#define NYTP_MOST_BLOCKS      262144u
#define NYTP_MOST_BLOCK_CALLS 65536u

struct nytp_bytes_record;
struct nytp_rec_sub;
struct nytp_recorder;

struct nytp_rec_block {
    uint64_t id, space, objects;
    uint32_t call;      /* index in `calls`; 0: the program itself */
    uint32_t fid, line; /* of the call's statement; line 0: it had begun none */
    bool is_freed, is_inherited;
};

struct nytp_rec_blocks {
    struct nytp_rec_block *all; /* sorted by id */
    uint32_t n, n_freed, capacity;
    struct nytp_rec_block_call {
        struct nytp_rec_sub *sub;
        uint32_t caller, fid, line; /* the caller's index is lower */
        bool in_use;                /* used by nytp_blocks_sweep() */
    } * calls;                      /* [0] is the program itself */
    uint32_t n_calls, calls_capacity;
    struct nytp_table by_path; /* (caller, sub's id, fid, line) -> index in `calls` */
    struct {
        uint32_t serial, call;
    } * open; /* the frames open at the last sample, outermost first */
    uint32_t n_open, open_capacity;
    uint32_t place_serial; /* the frame in which the statement in progress began */
    uint64_t n_left_out;   /* blocks beyond the limits since the last file began */
    uint64_t last_suspended_id;
    uint64_t *freed_meanwhile; /* ids up to last_suspended_id that were freed since */
    uint32_t n_freed_meanwhile, freed_meanwhile_capacity;
    bool is_suspended;
    uint32_t parent_pid; /* the process the inherited blocks come from */
};

/* Notes that the statement in progress began in the innermost open call. */
void nytp_blocks_place_is_here(struct nytp_recorder *rec);

/* Finds out whether it did. */
void nytp_blocks_find_place(struct nytp_recorder *rec);

/* A block was allocated by the innermost open call, or freed. */
void nytp_blocks_add(struct nytp_recorder *rec, const struct nytp_bytes_record *record);
void nytp_blocks_freed(struct nytp_recorder *rec, uint64_t id);

/* Another file is written between these two. The second records the changes since the first. */
void nytp_blocks_suspend(struct nytp_recorder *rec);
void nytp_blocks_resume(pTHX_ struct nytp_recorder *rec);

/* Forgets calls that no block needs. The subs of the others have to stay (release.c). */
void nytp_blocks_sweep(struct nytp_recorder *rec);

#endif
