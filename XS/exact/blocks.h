/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sampled blocks that are in use (option memory=BYTES), each with the calls that allocated it:
 * the next profile file of this process is told them at its beginning, since it knows nothing
 * of what came before; so is the first file of a fork's child. Calls are kept as a tree, in
 * which a path that has been met is one node.
 *
 * NYTP_MOST_BLOCKS and NYTP_MOST_BLOCK_CALLS bound what that takes, some 20 MB; what is more is
 * in the file that was open when it was allocated, and in no later one.
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

/* The part of the state that belongs to blocks.c. Lists are owned. */
struct nytp_rec_blocks {
    struct nytp_rec_block *all; /* by id */
    uint32_t n, n_freed, capacity;
    struct nytp_rec_block_call {
        struct nytp_rec_sub *sub;
        uint32_t caller, fid, line; /* the caller's index is lower */
        bool in_use;                /* while nytp_blocks_sweep() runs */
    } * calls;                      /* [0] is the program itself */
    uint32_t n_calls, calls_capacity;
    struct nytp_table by_path; /* (caller, sub's id, fid, line) -> index in `calls` */
    struct {
        uint32_t serial, call;
    } * open; /* of the frames that were open at the last sample, from the outermost */
    uint32_t n_open, open_capacity;
    uint32_t place_serial; /* of the frame in which the statement in progress began */
    uint64_t n_left_out;   /* blocks beyond the bounds, since the last file began */
    uint64_t last_suspended_id;
    uint64_t *freed_meanwhile; /* ids up to that one, that were freed since */
    uint32_t n_freed_meanwhile, freed_meanwhile_capacity;
    bool is_suspended;
    uint32_t parent_pid; /* whose the inherited blocks are */
};

/* The statement in progress began in the innermost open call. */
void nytp_blocks_place_is_here(struct nytp_recorder *rec);

/* Whether it did is found out; for where nobody said so. */
void nytp_blocks_find_place(struct nytp_recorder *rec);

/* A block was allocated by the innermost open call; one was freed. */
void nytp_blocks_add(struct nytp_recorder *rec, const struct nytp_bytes_record *record);
void nytp_blocks_freed(struct nytp_recorder *rec, uint64_t id);

/* Tell the file that has just begun all that are in use. */
void nytp_blocks_write(pTHX_ struct nytp_recorder *rec);

/* Another file is written for a while, and then this one again, which is told what has been
 * freed and allocated in between. */
void nytp_blocks_suspend(struct nytp_recorder *rec);
void nytp_blocks_resume(pTHX_ struct nytp_recorder *rec);

/* Forget calls that no block needs. The subs of the others have to stay (release.c). */
void nytp_blocks_sweep(struct nytp_recorder *rec);

/* This process is a fork's child: all that is in use is inherited from its parent. */
void nytp_blocks_inherit(struct nytp_rec_blocks *blocks, uint32_t parent_pid);

/* The file that was to be gone on with is not: a child has one of its own. */
void nytp_blocks_forget_suspended(struct nytp_rec_blocks *blocks);

/* Free the lists. */
void nytp_blocks_forget(struct nytp_rec_blocks *blocks);

#endif
