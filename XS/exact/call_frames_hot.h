/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The parts of opening and closing a call that are in line in its handlers (calls.c) and
 * destructors (call_frames.c).
 */
#ifndef NYTP_CALL_FRAMES_HOT_H
#define NYTP_CALL_FRAMES_HOT_H

#include "arcs.h"
#include "places.h"
#include "svs.h"
#include "XS/names/subs.h"
#include "XS/state/dprof.h"
#include "XS/state/frames.h"
#include "XS/state/state.h"

/* A destructor's size on the save stack (scope.c, save_destructor_x; all versions): function,
 * argument, type. */
enum {
    NYTP_DESTRUCTOR_SIZE = 3,
};

/* ---- rare parts, not in line ---- */

void nytp_frames_grow(struct nytp_recorder *rec) NYTP_COLD;
void nytp_frame_emit_resumed(struct nytp_recorder *rec) NYTP_COLD;
void nytp_arc_emit_site(struct nytp_recorder *rec, struct nytp_rec_arc *arc) NYTP_COLD;
void nytp_frame_write_return(struct nytp_recorder *rec, const struct nytp_rec_sub *sub,
                             uint32_t depth, int64_t incl, int64_t excl);
void nytp_frame_open_other(struct nytp_recorder *rec, struct nytp_rec_sub *sub,
                           const struct nytp_call_site *site);

/* Returns the arc of an open call in the open file. */
struct nytp_rec_arc *nytp_frame_arc(struct nytp_recorder *rec,
                                    const struct nytp_rec_frame *frame);

/* The destructors of a call's scope. The second is for a call that began while
 * rec->on.counts_plain. */
void nytp_on_scope_exit(pTHX_ void *serial);
void nytp_on_counted_exit(pTHX_ void *serial);

/* ---- frames ---- */

/* Returns whether the caller is the program's main code: no context of the stack is a sub's. */
static inline bool nytp_is_outside_subs(pTHX_ I32 n_entered)
{
    if (PL_curstackinfo->si_prev != NULL || PL_main_start == NULL)
        return false;
    for (const PERL_CONTEXT *cx = &cxstack[cxstack_ix - n_entered]; cx >= cxstack; cx--)
        if (CxTYPE(cx) == CXt_SUB || CxTYPE(cx) == CXt_FORMAT)
            return false;
    return true;
}

/* Returns the caller; the top `n_entered` perl contexts belong to the callee. */
static NYTP_INLINED struct nytp_rec_sub *nytp_caller_now(pTHX_ struct nytp_recorder *rec,
                                                         I32 n_entered)
{
    if (LIKELY(rec->calls.n > 0 && !rec->on.findcaller))
        return rec->calls.frames[rec->calls.n - 1].sub;
    if (LIKELY(nytp_is_outside_subs(aTHX_ n_entered)))
        return rec->subs->runtime;
    return nytp_running_sub(aTHX_ rec, n_entered);
}

static NYTP_INLINED struct nytp_rec_frame *
nytp_frame_push(struct nytp_recorder *rec, struct nytp_rec_arc *arc, int64_t now)
{
    struct nytp_rec_sub *const sub = arc->callee_sub;
    if (UNLIKELY(rec->calls.n >= rec->calls.size))
        nytp_frames_grow(rec);
    struct nytp_rec_frame *const frame = &rec->calls.frames[rec->calls.n++];
    frame->sub = sub;
    frame->caller = arc->caller_sub;
    frame->arc = arc;
    frame->fid = arc->fid;
    frame->line = arc->line;
    frame->serial = ++rec->last.serial;
    frame->depth = ++sub->depth;
    frame->resumed = 0;
    frame->enter_ticks = now;
    frame->callee_ticks = 0;
    return frame;
}

static inline struct nytp_rec_frame *nytp_frame_innermost(const struct nytp_recorder *rec)
{
    return &rec->calls.frames[rec->calls.n - 1];
}

/* Gives a frame a new serial number: its former destructor will not find it. */
static inline void nytp_frame_renumber(struct nytp_recorder *rec, struct nytp_rec_frame *frame)
{
    frame->serial = ++rec->last.serial;
}

/* The form of a call's record in comments. NYTP_BESIDE_STATEMENT, the shorter one, needs a
 * statement record that ends at the same time. */
enum nytp_call_record {
    NYTP_BESIDE_STATEMENT,
    NYTP_ANYWHERE,
};

static NYTP_INLINED void nytp_frame_emit_return(struct nytp_recorder *rec,
                                                const struct nytp_rec_frame *frame,
                                                uint32_t depth, int64_t incl, int64_t excl,
                                                enum nytp_call_record record)
{
    if (UNLIKELY(rec->on.memory))
        nytp_memory_emit(rec);
    if (UNLIKELY(frame->resumed))
        nytp_frame_emit_resumed(rec);
    if (UNLIKELY(!rec->on.comments))
        nytp_frame_write_return(rec, frame->sub, depth, incl, excl);
    else if (record == NYTP_BESIDE_STATEMENT)
        nytp_write_call_return(rec->writer, rec->stmt.since_ticks, frame->enter_ticks + incl);
    else
        nytp_write_call_return_at(rec->writer, rec->stmt.since_ticks,
                                  frame->enter_ticks + incl);
}

/* Adds a call that ended, or counts as ended, to its arc. */
static NYTP_INLINED void nytp_frame_add(const struct nytp_rec_frame *frame, int64_t incl,
                                        int64_t excl)
{
    struct nytp_rec_arc *const arc = frame->arc;
    arc->count += !frame->resumed;
    arc->excl_ticks += excl;
    if (LIKELY(frame->depth <= 1)) {
        arc->incl_ticks += incl;
    } else {
        arc->reci_ticks += incl;
        if (frame->depth > arc->rec_depth + 1)
            arc->rec_depth = frame->depth - 1;
    }
}

/* The same, and writes its return. `depth` is the number of open calls, this one included. */
static NYTP_INLINED void nytp_frame_account(struct nytp_recorder *rec,
                                            const struct nytp_rec_frame *frame, uint32_t depth,
                                            int64_t incl, int64_t excl,
                                            enum nytp_call_record record)
{
    nytp_frame_add(frame, incl, excl);
    if (LIKELY(rec->on.comments || rec->on.returns))
        nytp_frame_emit_return(rec, frame, depth, incl, excl, record);
    else if (rec->on.marks)
        nytp_dprof_leave(rec, frame->sub, frame->enter_ticks + incl);
}

static inline const struct nytp_encoded_entry *
nytp_frame_entry(struct nytp_recorder *rec, const struct nytp_rec_frame *frame)
{
    if (UNLIKELY(frame->arc->entry.len == 0))
        nytp_arc_emit_site(rec, frame->arc);
    return &frame->arc->entry;
}

static NYTP_INLINED void nytp_frame_pop(struct nytp_recorder *rec, int64_t now,
                                        enum nytp_call_record record)
{
    struct nytp_rec_frame *const frame = nytp_frame_innermost(rec);
    const int64_t incl = now - frame->enter_ticks;
    if (LIKELY(rec->on.arcs))
        nytp_frame_account(rec, frame, rec->calls.n, incl, incl - frame->callee_ticks, record);
    frame->sub->depth--;
    rec->calls.n--;
    if (rec->calls.n > 0)
        rec->calls.frames[rec->calls.n - 1].callee_ticks += incl;
}

/* Closes the innermost frame while rec->on.plain. Its return is written by the caller. */
static NYTP_INLINED void nytp_frame_close_plain(struct nytp_recorder *rec,
                                                struct nytp_rec_frame *frame, int64_t now)
{
    const int64_t incl = now - frame->enter_ticks;
    nytp_frame_add(frame, incl, incl - frame->callee_ticks);
    frame->sub->depth--;
    if (--rec->calls.n > 0)
        frame[-1].callee_ticks += incl;
}

/* Opens a frame while rec->on.counts_plain. Returns its serial. */
static NYTP_INLINED uint32_t nytp_frame_push_counted(struct nytp_recorder *rec,
                                                     struct nytp_rec_arc *arc)
{
    nytp_guard(rec);
    const uint32_t serial = nytp_frame_push(rec, arc, 0)->serial;
    nytp_unguard(rec);
    return serial;
}

/* Closes the innermost frame while rec->on.counts_plain. Returns false, with nothing done, if
 * it is another one or no further call. */
static NYTP_INLINED bool nytp_frame_close_counted(struct nytp_recorder *rec, uint32_t serial)
{
    if (UNLIKELY(!rec->on.counts_plain || rec->calls.n == 0))
        return false;
    const struct nytp_rec_frame *const frame = nytp_frame_innermost(rec);
    if (UNLIKELY(frame->serial != serial || frame->resumed))
        return false;
    nytp_guard(rec);
    frame->arc->count++;
    if (UNLIKELY(frame->depth > frame->arc->rec_depth + 1))
        frame->arc->rec_depth = frame->depth - 1;
    frame->sub->depth--;
    rec->calls.n--;
    nytp_unguard(rec);
    return true;
}

static NYTP_INLINED struct nytp_call_site nytp_call_site_at(pTHX_ struct nytp_recorder *rec,
                                                            int64_t now, I32 n_entered)
{
    const struct nytp_place *const place =
        nytp_place_of(aTHX_ rec, PL_curcop, NYTP_FID_VIA_SUB);
    return (struct nytp_call_site){.fid = place->fid,
                                   .line = place->line,
                                   .caller = nytp_caller_now(aTHX_ rec, n_entered),
                                   .now = now};
}

static NYTP_INLINED struct nytp_call_site nytp_call_site_here(pTHX_ struct nytp_recorder *rec)
{
    nytp_guard(rec);
    const int64_t now = nytp_now_ticks(aTHX_ rec);
    const struct nytp_call_site site = nytp_call_site_at(aTHX_ rec, now, 0);
    nytp_unguard(rec);
    return site;
}

static NYTP_INLINED void nytp_frame_open_as(struct nytp_recorder *rec, struct nytp_rec_sub *sub,
                                            const struct nytp_call_site *site,
                                            enum nytp_call_record record)
{
    nytp_guard(rec);
    if (UNLIKELY(rec->on.memory)) /* earlier allocations are not this call's */
        nytp_memory_emit(rec);
    if (LIKELY(rec->on.comments)) {
        const struct nytp_rec_frame *const frame =
            nytp_frame_push(rec, nytp_arc_of(rec, sub, site), site->now);
        const struct nytp_encoded_entry *const entry = nytp_frame_entry(rec, frame);
        if (record == NYTP_BESIDE_STATEMENT)
            nytp_write_call_entry(rec->writer, entry, rec->stmt.since_ticks, site->now);
        else
            nytp_write_call_entry_at(rec->writer, entry, rec->stmt.since_ticks, site->now);
    } else {
        nytp_frame_open_other(rec, sub, site);
    }
    nytp_unguard(rec);
}

/* Returns whether perl's save stack has room for a destructor. */
static inline bool nytp_scope_has_room(pTHX)
{
    return PL_savestack_ix + NYTP_DESTRUCTOR_SIZE <= PL_savestack_max;
}

/* SAVEDESTRUCTOR_X where there is room, without a function call. */
static NYTP_INLINED void nytp_scope_put(pTHX_ uint32_t serial, DESTRUCTORFUNC_t on_exit)
{
    ANY *const top = PL_savestack + PL_savestack_ix;
    top[0].any_dxptr = on_exit;
    top[1].any_ptr = INT2PTR(void *, (UV)serial);
    top[2].any_uv = SAVEt_DESTRUCTOR_X;
    PL_savestack_ix += NYTP_DESTRUCTOR_SIZE;
}

static NYTP_INLINED void nytp_scope_watch_with(pTHX_ uint32_t serial, DESTRUCTORFUNC_t on_exit)
{
    SSCHECK(NYTP_DESTRUCTOR_SIZE);
    nytp_scope_put(aTHX_ serial, on_exit);
}

static inline void nytp_scope_watch(pTHX_ uint32_t serial)
{
    nytp_scope_watch_with(aTHX_ serial, nytp_on_scope_exit);
}

/* Removes the destructor, unless the handler left entries above it or a context that remembers
 * the height of the save stack. */
static inline void nytp_scope_unwatch(pTHX_ I32 height, I32 context)
{
    if (PL_savestack_ix == height && cxstack_ix == context)
        PL_savestack_ix -= NYTP_DESTRUCTOR_SIZE;
}

#endif
