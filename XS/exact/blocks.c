/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sampled blocks that are in use; see blocks.h.
 *
 * Freed blocks stay in the list until they are half of it; in a suspended file, until that is
 * recorded. A full list is cleaned only when enough blocks are freed to be worth a pass. Until
 * then new blocks are left out.
 */
#include "blocks.h"

#include "XS/names/files.h"
#include "XS/names/subs.h"
#include "XS/output/say.h"
#include "XS/state/state.h"

#include "formats/base/bisect.h"
#include "formats/base/arena.h"
#include "formats/stream/comments/bytes_records.h"

#include <stdlib.h>
#include <string.h>

#define NO_CALL UINT32_MAX

enum {
    WORTH_A_PASS = 8, /* clean a full list if one block in 8 is freed */
};

static uint32_t innermost_serial(const struct nytp_recorder *rec)
{
    return rec->calls.n > 0 ? rec->calls.frames[rec->calls.n - 1].serial : 0;
}

void nytp_blocks_place_is_here(struct nytp_recorder *rec)
{
    rec->blocks->place_serial = innermost_serial(rec);
}

/* Calls of xsubs and builtins have no statements; a sub just entered has none yet. */
void nytp_blocks_find_place(struct nytp_recorder *rec)
{
    const bool is_here = rec->calls.n == 0 ||
                         (rec->calls.frames[rec->calls.n - 1].sub->kind == NYTP_REC_SUB_PERL &&
                          rec->last.entered_op == NULL);
    rec->blocks->place_serial = is_here ? innermost_serial(rec) : 0;
}

/* ---- calls ---- */

static bool add_call(struct nytp_rec_blocks *blocks, const struct nytp_rec_block_call *call,
                     uint32_t *index)
{
    const struct nytp_key key = {call->caller, call->sub->id, call->fid, call->line};
    if (blocks->n_calls == 0)
        blocks->n_calls = 1;
    if (blocks->n_calls >= NYTP_MOST_BLOCK_CALLS ||
        !nytp_grow(&blocks->calls, &blocks->calls_capacity, blocks->n_calls,
                   sizeof *blocks->calls) ||
        !nytp_table_put(&blocks->by_path, key, blocks->n_calls))
        return false;
    *index = blocks->n_calls++;
    blocks->calls[*index] = *call;
    return true;
}

/* Returns whether a comment can hold the sub's name; else its caller gets its blocks. */
static bool can_be_recorded(const struct nytp_rec_sub *sub)
{
    return sub->name_len > 0 && sub->name_len <= NYTP_IN_USE_NAME_MOST &&
           memchr(sub->name, '\n', sub->name_len) == NULL &&
           memchr(sub->name, '\0', sub->name_len) == NULL;
}

static uint32_t call_of_frame(struct nytp_rec_blocks *blocks, uint32_t caller,
                              const struct nytp_rec_frame *frame)
{
    const struct nytp_rec_block_call call = {
        .sub = frame->sub, .caller = caller, .fid = frame->fid, .line = frame->line};
    const struct nytp_key key = {caller, frame->sub->id, frame->fid, frame->line};
    if (caller == NO_CALL || !can_be_recorded(frame->sub))
        return caller;
    uint32_t index = nytp_table_get(&blocks->by_path, key);
    if (index == NYTP_TABLE_NONE && !add_call(blocks, &call, &index))
        return NO_CALL;
    return index;
}

/* Returns the innermost open call, or NO_CALL if there is no room for it. Frames up to one
 * whose serial is unchanged are the same as last time. */
static uint32_t call_now(struct nytp_recorder *rec)
{
    struct nytp_rec_blocks *const blocks = rec->blocks;
    uint32_t i = rec->calls.n < blocks->n_open ? rec->calls.n : blocks->n_open;
    if (rec->calls.n == 0)
        return 0;
    if (!nytp_reserve(&blocks->open, &blocks->open_capacity, rec->calls.n,
                      sizeof *blocks->open))
        return NO_CALL;
    while (i > 0 && blocks->open[i - 1].serial != rec->calls.frames[i - 1].serial)
        i--;
    for (; i < rec->calls.n; i++) {
        const uint32_t caller = i == 0 ? 0 : blocks->open[i - 1].call;
        blocks->open[i].call = call_of_frame(blocks, caller, &rec->calls.frames[i]);
        blocks->open[i].serial = rec->calls.frames[i].serial;
    }
    blocks->n_open = rec->calls.n;
    return blocks->open[rec->calls.n - 1].call;
}

/* ---- blocks ---- */

static void drop_freed(struct nytp_rec_blocks *blocks)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < blocks->n; i++)
        if (!blocks->all[i].is_freed)
            blocks->all[kept++] = blocks->all[i];
    blocks->n = kept;
    blocks->n_freed = 0;
}

void nytp_blocks_add(struct nytp_recorder *rec, const struct nytp_bytes_record *record)
{
    struct nytp_rec_blocks *const blocks = rec->blocks;
    if (blocks->n > 0 && blocks->all[blocks->n - 1].id >= record->id)
        return;
    if (blocks->n >= NYTP_MOST_BLOCKS && blocks->n_freed > blocks->n / WORTH_A_PASS)
        drop_freed(blocks);
    const uint32_t call = blocks->n < NYTP_MOST_BLOCKS ? call_now(rec) : NO_CALL;
    if (call == NO_CALL ||
        !nytp_grow(&blocks->all, &blocks->capacity, blocks->n, sizeof *blocks->all)) {
        blocks->n_left_out++;
        return;
    }
    const bool has_line = blocks->place_serial == innermost_serial(rec);
    blocks->all[blocks->n++] = (struct nytp_rec_block){
        .id = record->id,
        .space = record->space,
        .objects = record->objects,
        .call = call,
        .fid = has_line ? record->fid : 0,
        .line = has_line ? record->line : 0,
    };
}

static struct nytp_rec_block *block_of(const struct nytp_rec_blocks *blocks, uint64_t id)
{
    uint32_t low = 0;
    NYTP_BISECT(low, blocks->n, middle, blocks->all[middle].id < id);
    return low < blocks->n && blocks->all[low].id == id ? &blocks->all[low] : NULL;
}

static void note_freed_meanwhile(struct nytp_rec_blocks *blocks, uint64_t id)
{
    if (nytp_grow(&blocks->freed_meanwhile, &blocks->freed_meanwhile_capacity,
                  blocks->n_freed_meanwhile, sizeof *blocks->freed_meanwhile))
        blocks->freed_meanwhile[blocks->n_freed_meanwhile++] = id;
}

void nytp_blocks_freed(struct nytp_recorder *rec, uint64_t id)
{
    struct nytp_rec_blocks *const blocks = rec->blocks;
    struct nytp_rec_block *const block = block_of(blocks, id);
    if (block == NULL || block->is_freed)
        return;
    block->is_freed = true;
    if (blocks->is_suspended && id <= blocks->last_suspended_id)
        note_freed_meanwhile(blocks, id);
    if (++blocks->n_freed > blocks->n / 2)
        drop_freed(blocks);
}

/* ---- blocks in use ---- */

/* A caller has a lower index than its callees, so it is visited after them. */
static void mark_calls(struct nytp_rec_blocks *blocks)
{
    for (uint32_t i = 1; i < blocks->n_calls; i++)
        blocks->calls[i].in_use = false;
    for (uint32_t i = 0; i < blocks->n; i++)
        if (blocks->all[i].call != 0)
            blocks->calls[blocks->all[i].call].in_use = true;
    for (uint32_t i = blocks->n_calls; i-- > 1;)
        if (blocks->calls[i].in_use && blocks->calls[i].caller != 0)
            blocks->calls[blocks->calls[i].caller].in_use = true;
}

/* Drops blocks whose calls do not fit any more because memory is out. */
static void keep_marked(struct nytp_rec_blocks *blocks, uint32_t *index_now)
{
    const uint32_t n = blocks->n_calls;
    nytp_table_free(&blocks->by_path);
    blocks->n_calls = 0;
    index_now[0] = 0;
    for (uint32_t i = 1; i < n; i++) {
        struct nytp_rec_block_call call = blocks->calls[i];
        index_now[i] = NO_CALL;
        if (!call.in_use || index_now[call.caller] == NO_CALL)
            continue;
        call.caller = index_now[call.caller];
        add_call(blocks, &call, &index_now[i]);
    }
    for (uint32_t i = 0; i < blocks->n; i++) {
        struct nytp_rec_block *const block = &blocks->all[i];
        block->call = index_now[block->call];
        block->is_freed = block->call == NO_CALL;
    }
    drop_freed(blocks);
}

void nytp_blocks_sweep(struct nytp_recorder *rec)
{
    struct nytp_rec_blocks *const blocks = rec->blocks;
    drop_freed(blocks);
    blocks->n_open = 0;
    if (blocks->n_calls <= 1)
        return;
    uint32_t *const index_now = malloc(blocks->n_calls * sizeof *index_now);
    if (index_now == NULL)
        return;
    mark_calls(blocks);
    keep_marked(blocks, index_now);
    free(index_now);
}

/* ---- the stream ---- */

/* Returns the file's number in this profile, after recording the file. */
static uint32_t recorded_fid(pTHX_ struct nytp_recorder *rec, uint32_t fid, uint32_t via)
{
    struct nytp_rec_file *const file = fid == 0 ? NULL : nytp_file_numbered(aTHX_ rec, fid);
    return file == NULL ? 0 : nytp_file_fid(aTHX_ rec, file, via);
}

static void write_calls(pTHX_ struct nytp_recorder *rec)
{
    char text[NYTP_IN_USE_CALL_ROOM];
    for (uint32_t i = 1; i < rec->blocks->n_calls; i++) {
        const struct nytp_rec_block_call *const call = &rec->blocks->calls[i];
        const struct nytp_in_use_call record = {
            .number = i,
            .caller = call->caller,
            .fid = recorded_fid(aTHX_ rec, call->fid, NYTP_FID_VIA_SUB),
            .line = call->line,
            .name = {.ptr = call->sub->name, .len = call->sub->name_len},
        };
        nytp_in_use_call_format(&record, text);
        nytp_write_comment(rec->writer, text);
    }
}

static void write_blocks(pTHX_ struct nytp_recorder *rec, uint64_t after)
{
    char text[NYTP_BYTES_LONGEST];
    for (uint32_t i = 0; i < rec->blocks->n; i++) {
        const struct nytp_rec_block *const block = &rec->blocks->all[i];
        if (block->id <= after || block->is_freed)
            continue;
        const struct nytp_bytes_record record = {
            .id = block->id,
            .is_from_before = true,
            .space = block->space,
            .objects = block->objects,
            .call = block->call,
            .fid = recorded_fid(aTHX_ rec, block->fid, NYTP_FID_VIA_STMT),
            .line = block->line,
            .parent_pid = block->is_inherited ? rec->blocks->parent_pid : 0,
        };
        nytp_bytes_record_format(&record, text);
        nytp_write_comment(rec->writer, text);
    }
}

static void write_after(pTHX_ struct nytp_recorder *rec, uint64_t id)
{
    struct nytp_rec_blocks *const blocks = rec->blocks;
    nytp_blocks_sweep(rec);
    if (blocks->n == 0 || blocks->all[blocks->n - 1].id <= id)
        return;
    write_calls(aTHX_ rec);
    write_blocks(aTHX_ rec, id);
}

void nytp_blocks_begin_file(struct nytp_recorder *rec)
{
    dTHX;
    write_after(aTHX_ rec, 0);
    if (rec->blocks->n_left_out > 0)
        nytp_say(&rec->options,
                 "memory=: %s does not know all that was in use before: more than %u blocks, "
                 "or %u ways of calls to them",
                 rec->file.path, NYTP_MOST_BLOCKS, NYTP_MOST_BLOCK_CALLS);
    rec->blocks->n_left_out = 0;
}

void nytp_blocks_suspend(struct nytp_recorder *rec)
{
    struct nytp_rec_blocks *const blocks = rec->blocks;
    blocks->last_suspended_id = blocks->n > 0 ? blocks->all[blocks->n - 1].id : 0;
    blocks->is_suspended = true;
}

static void forget_suspended(struct nytp_rec_blocks *blocks)
{
    blocks->n_freed_meanwhile = 0;
    blocks->is_suspended = false;
}

void nytp_blocks_resume(pTHX_ struct nytp_recorder *rec)
{
    struct nytp_rec_blocks *const blocks = rec->blocks;
    for (uint32_t i = 0; i < blocks->n_freed_meanwhile; i++) {
        const struct nytp_bytes_record record = {.id = blocks->freed_meanwhile[i],
                                                 .is_free = true};
        char text[NYTP_BYTES_LONGEST];
        nytp_bytes_record_format(&record, text);
        nytp_write_comment(rec->writer, text);
    }
    write_after(aTHX_ rec, blocks->last_suspended_id);
    forget_suspended(blocks);
}

/* All blocks in use are inherited; the suspended file is the parent's. */
void nytp_blocks_fork(struct nytp_recorder *rec)
{
    struct nytp_rec_blocks *const blocks = rec->blocks;
    forget_suspended(blocks);
    if (rec->run.pid == getpid())
        return;
    for (uint32_t i = 0; i < blocks->n; i++)
        blocks->all[i].is_inherited = true;
    blocks->parent_pid = (uint32_t)rec->run.pid;
}

void nytp_blocks_free(struct nytp_recorder *rec)
{
    struct nytp_rec_blocks *const blocks = rec->blocks;
    free(blocks->all);
    free(blocks->calls);
    free(blocks->open);
    free(blocks->freed_meanwhile);
    nytp_table_free(&blocks->by_path);
}
