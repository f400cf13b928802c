/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The subroutine profiler: which calls are open.
 *
 * A perl sub's frame is closed by a destructor on perl's save stack. It is pushed first in the
 * sub's scope, so it runs last, however the scope is left. An xsub or builtin runs inside
 * perl's handler. Its destructor lies below anything the handler saves and is removed when the
 * handler returns, so it runs only if the call dies. A destructor names its frame by serial
 * number and does nothing if that frame is closed.
 *
 * All times are axis points in whole ticks. For every call inclusive = exclusive +
 * sum(inclusive of the calls it made), exactly.
 */
#include "calls.h"

#include "arcs.h"
#include "write_ahead.h"
#include "XS/names/builtins.h"
#include "XS/state/dprof.h"
#include "XS/names/files.h"
#include "site_cache.h"
#include "XS/perl/ops.h"
#include "places.h"
#include "regexes.h"
#include "XS/perl/stash.h"
#include "XS/state/state.h"
#include "svs.h"
#include "XS/names/subs.h"

#include "formats/stream/comments/open_calls.h"

/* A destructor's size on the save stack (scope.c, save_destructor_x; all versions): function,
 * argument, type. */
enum {
    DESTRUCTOR_SIZE = 3,
};

enum {
    LONG_CALL_TICKS = NYTP_TICKS_PER_SEC / 10000, /* 100 us: the next call may block, too */
};

void nytp_calls_free(struct nytp_recorder *rec)
{
    Safefree(rec->frames);
}

/* ---- frames ---- */

/* Returns whether the caller is the program's main code: no context of the stack is a sub's. */
static inline bool is_outside_subs(pTHX_ I32 n_entered)
{
    if (PL_curstackinfo->si_prev != NULL || PL_main_start == NULL)
        return false;
    for (const PERL_CONTEXT *cx = &cxstack[cxstack_ix - n_entered]; cx >= cxstack; cx--)
        if (CxTYPE(cx) == CXt_SUB || CxTYPE(cx) == CXt_FORMAT)
            return false;
    return true;
}

/* Returns the caller; the top `n_entered` perl contexts belong to the callee. */
static NYTP_INLINED struct nytp_rec_sub *caller_now(pTHX_ struct nytp_recorder *rec,
                                                    I32 n_entered)
{
    if (LIKELY(rec->n_frames > 0 && !rec->finds_caller))
        return rec->frames[rec->n_frames - 1].sub;
    if (LIKELY(is_outside_subs(aTHX_ n_entered)))
        return rec->subs->runtime;
    return nytp_running_sub(aTHX_ rec, n_entered);
}

static NYTP_COLD void grow_frames(struct nytp_recorder *rec)
{
    nytp_bytes_hold(rec);
    rec->size_frames = rec->size_frames == 0 ? 256 : rec->size_frames * 2;
    Renew(rec->frames, rec->size_frames, struct nytp_rec_frame);
    nytp_bytes_resume(rec);
}

static NYTP_INLINED struct nytp_rec_frame *push(struct nytp_recorder *rec,
                                                struct nytp_rec_arc *arc, int64_t now)
{
    struct nytp_rec_sub *const sub = arc->callee_sub;
    if (UNLIKELY(rec->n_frames >= rec->size_frames))
        grow_frames(rec);
    struct nytp_rec_frame *const frame = &rec->frames[rec->n_frames++];
    frame->sub = sub;
    frame->caller = arc->caller_sub;
    frame->arc = arc;
    frame->fid = arc->fid;
    frame->line = arc->line;
    frame->serial = ++rec->last_serial;
    frame->depth = ++sub->depth;
    frame->resumed = 0;
    frame->enter_ticks = now;
    frame->callee_ticks = 0;
    return frame;
}

static struct nytp_rec_arc *arc_of_frame(struct nytp_recorder *rec,
                                         const struct nytp_rec_frame *frame)
{
    const struct nytp_call_site site = {
        .caller = frame->caller, .fid = frame->fid, .line = frame->line};
    return nytp_arc_of(rec, frame->sub, &site);
}

static NYTP_COLD void emit_resumed(struct nytp_recorder *rec)
{
    nytp_write_comment(rec->writer, NYTP_RESUMED_CALL);
}

/* The form of a call's record in comments. BESIDE_STATEMENT, the shorter one, needs a statement
 * record that ends at the same time. */
enum call_record {
    BESIDE_STATEMENT,
    ANYWHERE,
};

static __attribute__((noinline)) void write_return_record(struct nytp_recorder *rec,
                                                          const struct nytp_rec_sub *sub,
                                                          uint32_t depth, int64_t incl,
                                                          int64_t excl)
{
    nytp_write_sub_return(rec->writer, depth, incl, excl, sub->encoded, sub->encoded_len);
}

static NYTP_INLINED void write_return(struct nytp_recorder *rec,
                                      const struct nytp_rec_frame *frame, uint32_t depth,
                                      int64_t incl, int64_t excl, enum call_record record)
{
    if (UNLIKELY(rec->memory_on))
        nytp_memory_emit(rec);
    if (UNLIKELY(frame->resumed))
        emit_resumed(rec);
    if (UNLIKELY(!rec->comments_on))
        write_return_record(rec, frame->sub, depth, incl, excl);
    else if (record == BESIDE_STATEMENT)
        nytp_write_call_return(rec->writer, rec->stmt.since_ticks, frame->enter_ticks + incl);
    else
        nytp_write_call_return_at(rec->writer, rec->stmt.since_ticks,
                                  frame->enter_ticks + incl);
}

/* Adds a call that ended, or counts as ended, to its arc. */
static NYTP_INLINED void add_to_arc(const struct nytp_rec_frame *frame, int64_t incl,
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
static NYTP_INLINED void account(struct nytp_recorder *rec, const struct nytp_rec_frame *frame,
                                 uint32_t depth, int64_t incl, int64_t excl,
                                 enum call_record record)
{
    add_to_arc(frame, incl, excl);
    if (LIKELY(rec->comments_on || rec->returns_on))
        write_return(rec, frame, depth, incl, excl, record);
    else if (rec->marks_on)
        nytp_dprof_leave(rec, frame->sub, frame->enter_ticks + incl);
}

static NYTP_COLD void emit_site(struct nytp_recorder *rec, struct nytp_rec_arc *arc)
{
    const struct nytp_rec_sub *const sub = arc->callee_sub;
    arc->entry = nytp_write_call_site(rec->writer, arc->fid, arc->line, sub->encoded[0],
                                      sub->name, sub->name_len);
}

static inline const struct nytp_encoded_entry *entry_of(struct nytp_recorder *rec,
                                                        const struct nytp_rec_frame *frame)
{
    if (UNLIKELY(frame->arc->entry.len == 0))
        emit_site(rec, frame->arc);
    return &frame->arc->entry;
}

static NYTP_INLINED void pop(struct nytp_recorder *rec, int64_t now, enum call_record record)
{
    struct nytp_rec_frame *const frame = &rec->frames[rec->n_frames - 1];
    const int64_t incl = now - frame->enter_ticks;
    if (LIKELY(rec->counting))
        account(rec, frame, rec->n_frames, incl, incl - frame->callee_ticks, record);
    frame->sub->depth--;
    rec->n_frames--;
    if (rec->n_frames > 0)
        rec->frames[rec->n_frames - 1].callee_ticks += incl;
}

void nytp_frame_leave(struct nytp_recorder *rec, int64_t ticks)
{
    pop(rec, ticks, ANYWHERE);
}

/* Closes the frame with this serial and those above it. Serials grow upwards and may wrap. */
void nytp_frame_close(pTHX_ struct nytp_recorder *rec, uint32_t serial)
{
    uint32_t i = rec->n_frames;
    for (; i > 0 && rec->frames[i - 1].serial != serial; i--)
        if ((int32_t)(rec->frames[i - 1].serial - serial) < 0)
            return;
    if (i == 0)
        return;
    nytp_guard(rec);
    const int64_t now = nytp_now_ticks(aTHX_ rec);
    while (rec->n_frames > i)
        pop(rec, now, ANYWHERE);
    pop(rec, now, BESIDE_STATEMENT);
    rec->left_ticks = now;
    rec->left_fresh = true;
    nytp_unguard(rec);
}

static NYTP_COLD void close_jumping_frame(pTHX_ struct nytp_recorder *rec, uint32_t serial);

/* Closes the innermost frame while rec->is_plain. */
static NYTP_INLINED void close_plain(struct nytp_recorder *rec, struct nytp_rec_frame *frame,
                                     int64_t now, enum call_record record)
{
    const int64_t incl = now - frame->enter_ticks;
    add_to_arc(frame, incl, incl - frame->callee_ticks);
    if (record == BESIDE_STATEMENT)
        nytp_write_call_return(rec->writer, rec->stmt.since_ticks, now);
    else
        nytp_write_call_return_at(rec->writer, rec->stmt.since_ticks, now);
    frame->sub->depth--;
    if (--rec->n_frames > 0)
        frame[-1].callee_ticks += incl;
}

/* Opens a frame while rec->counts_plain. Returns its serial. */
static NYTP_INLINED uint32_t push_counted(struct nytp_recorder *rec, struct nytp_rec_arc *arc)
{
    nytp_guard(rec);
    const uint32_t serial = push(rec, arc, 0)->serial;
    nytp_unguard(rec);
    return serial;
}

/* Closes the innermost frame while rec->counts_plain. Returns false, with nothing done, if it
 * is another one or no further call. */
static NYTP_INLINED bool close_counted(struct nytp_recorder *rec, uint32_t serial)
{
    if (UNLIKELY(!rec->counts_plain || rec->n_frames == 0))
        return false;
    const struct nytp_rec_frame *const frame = &rec->frames[rec->n_frames - 1];
    if (UNLIKELY(frame->serial != serial || frame->resumed))
        return false;
    nytp_guard(rec);
    frame->arc->count++;
    if (UNLIKELY(frame->depth > frame->arc->rec_depth + 1))
        frame->arc->rec_depth = frame->depth - 1;
    frame->sub->depth--;
    rec->n_frames--;
    nytp_unguard(rec);
    return true;
}

__attribute__((noinline)) static void leave_any_scope(pTHX_ struct nytp_recorder *rec,
                                                      uint32_t serial)
{
    if (LIKELY(rec->jump.xsub == NULL) && close_counted(rec, serial))
        return;
    if (rec->jump.xsub != NULL)
        close_jumping_frame(aTHX_ rec, serial);
    else
        nytp_frame_close(aTHX_ rec, serial);
}

void nytp_scope_left(pTHX_ struct nytp_recorder *rec, uint32_t serial)
{
    if (UNLIKELY(!rec->is_plain || rec->jump.xsub != NULL)) {
        leave_any_scope(aTHX_ rec, serial);
        return;
    }
    const int64_t now = nytp_now_ticks(aTHX_ rec);
    if (LIKELY(rec->is_plain && rec->n_frames > 0)) {
        struct nytp_rec_frame *const frame = &rec->frames[rec->n_frames - 1];
        if (LIKELY(frame->serial == serial && !frame->resumed)) {
            close_plain(rec, frame, now, BESIDE_STATEMENT);
            rec->left_ticks = now;
            rec->left_fresh = true;
            return;
        }
    }
    leave_any_scope(aTHX_ rec, serial);
}

static void on_scope_exit(pTHX_ void *serial)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    if (LIKELY(rec != NULL))
        nytp_scope_left(aTHX_ rec, (uint32_t)PTR2UV(serial));
}

void nytp_frames_restart(struct nytp_recorder *rec, int64_t ticks)
{
    nytp_recorded_serial_set(rec, 0);
    for (uint32_t i = 0; i < rec->n_frames; i++) {
        rec->frames[i].enter_ticks = ticks;
        rec->frames[i].callee_ticks = 0;
        rec->frames[i].arc = arc_of_frame(rec, &rec->frames[i]);
        if (rec->comments_on)
            nytp_write_call_site_change(rec->writer, NYTP_CALL_OPEN,
                                        entry_of(rec, &rec->frames[i]));
        if (rec->dprof != NULL)
            nytp_dprof_enter(rec, rec->frames[i].sub, ticks);
    }
}

static void count_depths(struct nytp_rec_frame *frames, uint32_t n, uint32_t change)
{
    for (uint32_t i = 0; i < n; i++)
        frames[i].sub->depth += change;
}

void nytp_frames_save(struct nytp_recorder *rec)
{
    struct nytp_rec_frames *const frames = &rec->suspended_frames;
    *frames = (struct nytp_rec_frames){rec->frames, rec->n_frames, rec->size_frames,
                                       rec->recorded_serial};
    count_depths(frames->all, frames->n, -1u);
    rec->frames = NULL;
    rec->n_frames = rec->size_frames = 0;
}

void nytp_frames_restore(struct nytp_recorder *rec)
{
    struct nytp_rec_frames *const frames = &rec->suspended_frames;
    count_depths(rec->frames, rec->n_frames, -1u);
    Safefree(rec->frames);
    rec->frames = frames->all;
    rec->n_frames = frames->n;
    rec->size_frames = frames->size;
    nytp_recorded_serial_set(rec, frames->recorded_serial);
    *frames = (struct nytp_rec_frames){0};
    count_depths(rec->frames, rec->n_frames, 1);
}

/* The calling places may be from an earlier profile file: record their files again. */
void nytp_frames_introduce_files(pTHX_ struct nytp_recorder *rec)
{
    for (uint32_t i = 0; i < rec->n_frames; i++)
        if (rec->frames[i].fid != 0)
            nytp_file_fid(aTHX_ rec, rec->files->all[rec->frames[i].fid], NYTP_FID_VIA_SUB);
}

/* Counts all open calls as if they returned now. */
void nytp_calls_end_file(struct nytp_recorder *rec)
{
    const int64_t ticks = nytp_axis_now(rec);
    int64_t above = 0;
    for (uint32_t i = rec->options.subs ? rec->n_frames : 0; i > 0; i--) {
        struct nytp_rec_frame *const frame = &rec->frames[i - 1];
        const int64_t incl = ticks - frame->enter_ticks;
        frame->reported_incl = incl;
        frame->reported_excl = incl - frame->callee_ticks - above;
        account(rec, frame, i, incl, frame->reported_excl, ANYWHERE);
        above = incl;
    }
}

void nytp_frames_retract(struct nytp_recorder *rec)
{
    for (uint32_t i = 0; i < rec->n_frames; i++) {
        const struct nytp_rec_frame *const frame = &rec->frames[i];
        struct nytp_rec_arc *const arc = frame->arc;
        arc->count -= !frame->resumed;
        arc->excl_ticks -= frame->reported_excl;
        if (frame->depth <= 1)
            arc->incl_ticks -= frame->reported_incl;
        else
            arc->reci_ticks -= frame->reported_incl;
    }
}

/* ---- calls ---- */

static NYTP_INLINED struct nytp_call_site call_site_at(pTHX_ struct nytp_recorder *rec,
                                                       int64_t now, I32 n_entered)
{
    const struct nytp_place *const place =
        nytp_place_of(aTHX_ rec, PL_curcop, NYTP_FID_VIA_SUB);
    return (struct nytp_call_site){.fid = place->fid,
                                   .line = place->line,
                                   .caller = caller_now(aTHX_ rec, n_entered),
                                   .now = now};
}

static NYTP_INLINED struct nytp_call_site call_site(pTHX_ struct nytp_recorder *rec)
{
    nytp_guard(rec);
    const int64_t now = nytp_now_ticks(aTHX_ rec);
    const struct nytp_call_site site = call_site_at(aTHX_ rec, now, 0);
    nytp_unguard(rec);
    return site;
}

struct nytp_call_site nytp_call_site_now(pTHX_ struct nytp_recorder *rec)
{
    return call_site(aTHX_ rec);
}

static __attribute__((noinline)) void enter_untold(struct nytp_recorder *rec,
                                                   struct nytp_rec_sub *sub,
                                                   const struct nytp_call_site *site)
{
    struct nytp_rec_arc *const arc = nytp_arc_of(rec, sub, site);
    push(rec, arc, site->now);
    if (rec->entries_on)
        nytp_write_sub_entry(rec->writer, site->fid, site->line);
    else if (rec->marks_on)
        nytp_dprof_enter(rec, sub, site->now);
}

static NYTP_INLINED void enter(struct nytp_recorder *rec, struct nytp_rec_sub *sub,
                               const struct nytp_call_site *site, enum call_record record)
{
    nytp_guard(rec);
    if (UNLIKELY(rec->memory_on)) /* earlier allocations are not this call's */
        nytp_memory_emit(rec);
    if (LIKELY(rec->comments_on)) {
        const struct nytp_rec_frame *const frame =
            push(rec, nytp_arc_of(rec, sub, site), site->now);
        const struct nytp_encoded_entry *const entry = entry_of(rec, frame);
        if (record == BESIDE_STATEMENT)
            nytp_write_call_entry(rec->writer, entry, rec->stmt.since_ticks, site->now);
        else
            nytp_write_call_entry_at(rec->writer, entry, rec->stmt.since_ticks, site->now);
    } else {
        enter_untold(rec, sub, site);
    }
    nytp_unguard(rec);
}

void nytp_frame_called(struct nytp_recorder *rec, int64_t ticks)
{
    if (rec->n_frames > 0)
        rec->frames[rec->n_frames - 1].callee_ticks += ticks;
}

void nytp_frame_open(struct nytp_recorder *rec, struct nytp_rec_sub *sub,
                     const struct nytp_call_site *site)
{
    enter(rec, sub, site, ANYWHERE);
}

/* on_scope_exit() of a call that began while rec->counts_plain. */
static void on_counted_exit(pTHX_ void *serial)
{
    struct nytp_recorder *const rec = nytp_counting_recorder_of(aTHX);
    if (UNLIKELY(rec == NULL || rec->jump.xsub != NULL ||
                 !close_counted(rec, (uint32_t)PTR2UV(serial))))
        on_scope_exit(aTHX_ serial);
}

static NYTP_INLINED void watch_scope_with(pTHX_ uint32_t serial, DESTRUCTORFUNC_t on_exit)
{
    SSCHECK(DESTRUCTOR_SIZE); /* SAVEDESTRUCTOR_X without a function call */
    ANY *const top = PL_savestack + PL_savestack_ix;
    top[0].any_dxptr = on_exit;
    top[1].any_ptr = INT2PTR(void *, (UV)serial);
    top[2].any_uv = SAVEt_DESTRUCTOR_X;
    PL_savestack_ix += DESTRUCTOR_SIZE;
}

static inline void watch_scope(pTHX_ uint32_t serial)
{
    watch_scope_with(aTHX_ serial, on_scope_exit);
}

/* Removes the destructor, unless the handler left entries above it or a context that remembers
 * the height of the save stack. */
static void unwatch(pTHX_ I32 height, I32 context)
{
    if (PL_savestack_ix == height && cxstack_ix == context)
        PL_savestack_ix -= DESTRUCTOR_SIZE;
}

/* ---- known calls ---- */

/* The caller is compared last: finding it may add a sub that the recorder has not seen. */
static NYTP_INLINED bool is_known(pTHX_ struct nytp_recorder *rec,
                                  const struct nytp_cached_site *known,
                                  struct nytp_callee callee, I32 n_entered)
{
    return nytp_cached_site_is(known, rec, PL_curcop, &callee) &&
           known->caller == caller_now(aTHX_ rec, n_entered);
}

static __attribute__((noinline)) const struct nytp_cached_site *
known_before(pTHX_ struct nytp_recorder *rec, const struct nytp_cached_site *known,
             struct nytp_callee callee, I32 n_entered)
{
    const struct nytp_cached_site *const before = nytp_cached_site_before(rec, known);
    return is_known(aTHX_ rec, before, callee, n_entered) ? before : NULL;
}

/* Returns the known call, or NULL. */
static NYTP_INLINED const struct nytp_cached_site *
find_known(pTHX_ struct nytp_recorder *rec, struct nytp_callee callee, I32 n_entered)
{
    const struct nytp_cached_site *const known = nytp_cached_site(aTHX_ rec);
    return LIKELY(is_known(aTHX_ rec, known, callee, n_entered))
               ? known
               : known_before(aTHX_ rec, known, callee, n_entered);
}

/* Makes the innermost call a known one. */
static void know_call(pTHX_ struct nytp_recorder *rec, struct nytp_callee callee)
{
    struct nytp_rec_arc *const arc = rec->frames[rec->n_frames - 1].arc;
    struct nytp_cached_site *const known = nytp_cached_site(aTHX_ rec);
    *nytp_cached_site_before(rec, known) = *known;
    *known = (struct nytp_cached_site){
        .cop = PL_curcop == &PL_compiling ? NULL : PL_curcop, /* its file and line change */
        .seq = PL_curcop->cop_seq,
        .line = CopLINE(PL_curcop),
        .callee = callee,
        .caller = arc->caller_sub,
        .arc = arc,
        .version = rec->site_cache_version,
    };
}

/* ---- calls inside perl's handler ---- */

/* Runs perl's handler for op `type`, which is the whole innermost call. */
static NYTP_INLINED OP *run_inside(pTHX_ struct nytp_recorder *rec, int type, int64_t begun)
{
    struct nytp_rec_sub *const sub = rec->frames[rec->n_frames - 1].sub;
    const uint32_t serial = rec->last_serial;
    if (UNLIKELY(sub->may_block))
        nytp_write_ahead(aTHX_ rec);
    watch_scope(aTHX_ serial);
    const I32 height = PL_savestack_ix, context = cxstack_ix;
    int64_t own_ticks = 0;
    if (type != OP_ENTERSUB)
        rec->begun_builtin = (uint16_t)type;
    OP *const next = nytp_real_op(aTHX_ type);
    unwatch(aTHX_ height, context);
    sub->returned_normally = true;
    nytp_guard(rec);
    if (LIKELY(rec->n_frames > 0 && rec->frames[rec->n_frames - 1].serial == serial)) {
        const int64_t now = nytp_now_ticks(aTHX_ rec);
        struct nytp_rec_frame *const frame = &rec->frames[rec->n_frames - 1];
        sub->may_block = sub->waits || now - begun >= LONG_CALL_TICKS;
        own_ticks = now - frame->enter_ticks - frame->callee_ticks;
        if (LIKELY(rec->is_plain))
            close_plain(rec, frame, now, ANYWHERE);
        else
            pop(rec, now, ANYWHERE);
    } else {
        nytp_frame_close(aTHX_ rec, serial);
    }
    nytp_unguard(rec);
    if (type != OP_ENTERSUB && UNLIKELY(rec->ended_regex))
        nytp_regexes_builtin_ended(aTHX_ rec, own_ticks);
    return next;
}

/* Begins a call inside perl's handler if it is known, else returns false. */
static NYTP_INLINED bool enter_known(pTHX_ struct nytp_recorder *rec, struct nytp_callee callee,
                                     int64_t *now)
{
    const struct nytp_cached_site *const known = find_known(aTHX_ rec, callee, 0);
    if (UNLIKELY(known == NULL))
        return false;
    const uint64_t raw = nytp_clock_raw(&rec->clock);
    *now = nytp_clock_ticks(&rec->clock, raw);
    if (UNLIKELY(raw >= rec->wake_raw || *now < rec->clock.latest_ticks))
        return false; /* other work is due first */
    rec->clock.latest_ticks = *now;
    const struct nytp_rec_frame *const frame = push(rec, known->arc, *now);
    nytp_write_call_entry_at(rec->writer, entry_of(rec, frame), rec->stmt.since_ticks, *now);
    return true;
}

static __attribute__((noinline)) bool enter_known_timed(pTHX_ struct nytp_recorder *rec,
                                                        struct nytp_callee callee,
                                                        enum nytp_handler handler, int64_t *now)
{
    const uint64_t begun = nytp_clock_cycles(&rec->clock);
    if (!enter_known(aTHX_ rec, callee, now))
        return false;
    nytp_handler_took(&rec->handler_times[handler], &rec->until_timed[handler],
                      nytp_clock_cycles(&rec->clock) - begun);
    return true;
}

/* Runs a known call and sets *next, or returns false. */
static NYTP_INLINED bool run_known(pTHX_ struct nytp_recorder *rec, int type,
                                   struct nytp_callee callee, OP **next)
{
    int64_t now;
    const enum nytp_handler handler =
        type == OP_ENTERSUB ? NYTP_HANDLER_XSUB : NYTP_HANDLER_BUILTIN;
    const bool has_begun = nytp_handler_is_timed(&rec->until_timed[handler])
                               ? enter_known_timed(aTHX_ rec, callee, handler, &now)
                               : enter_known(aTHX_ rec, callee, &now);
    if (UNLIKELY(!has_begun))
        return false;
    *next = run_inside(aTHX_ rec, type, now);
    return true;
}

/* run_known() while rec->counts_plain. */
__attribute__((noinline)) static bool count_known(pTHX_ struct nytp_recorder *rec, int type,
                                                  struct nytp_callee callee, OP **next)
{
    const struct nytp_cached_site *const known = find_known(aTHX_ rec, callee, 0);
    if (UNLIKELY(known == NULL))
        return false;
    struct nytp_rec_sub *const sub = known->arc->callee_sub;
    const uint32_t serial = push_counted(rec, known->arc);
    if (UNLIKELY(sub->waits))
        nytp_write_ahead(aTHX_ rec);
    watch_scope(aTHX_ serial);
    const I32 height = PL_savestack_ix, context = cxstack_ix;
    if (type != OP_ENTERSUB)
        rec->begun_builtin = (uint16_t)type;
    *next = nytp_real_op(aTHX_ type);
    unwatch(aTHX_ height, context);
    sub->returned_normally = true;
    if (UNLIKELY(!close_counted(rec, serial)))
        nytp_frame_close(aTHX_ rec, serial);
    return true;
}

__attribute__((noinline)) static OP *run_any(pTHX_ struct nytp_recorder *rec,
                                             struct nytp_rec_sub *sub, int type,
                                             const struct nytp_call_site *site,
                                             const struct nytp_callee *callee)
{
    enter(rec, sub, site, ANYWHERE);
    if ((rec->is_plain || rec->counts_plain) && sub->special == NYTP_SUB_ORDINARY)
        know_call(aTHX_ rec, *callee);
    return run_inside(aTHX_ rec, type, site->now);
}

/* Returns whether the value names a sub, as in &{"name"}. */
static bool is_symbol(const SV *sv)
{
    return SvPOK(sv) && !SvROK(sv) && !SvGMAGICAL(sv);
}

CV *nytp_callee_cv_of_value(pTHX_ SV *sv)
{
    if (SvROK(sv) && !SvGMAGICAL(sv) && SvTYPE(SvRV(sv)) == SVt_PVCV && !SvAMAGIC(sv))
        return (CV *)SvRV(sv);
    if (is_symbol(sv))
        return nytp_cv_of_name(aTHX_ SvPVX(sv), SvCUR(sv), SvUTF8(sv), CopSTASH(PL_curcop));
    return NULL;
}

/* Returns the sub being entered, after perl's handler has made its context, or NULL. */
static CV *entered_cv(pTHX_ const OP *next)
{
    if (cxstack_ix < 0)
        return NULL;
    const PERL_CONTEXT *const cx = NYTP_CX_TOP;
    return CxTYPE(cx) == CXt_SUB && CvSTART(cx->blk_sub.cv) == next ? cx->blk_sub.cv : NULL;
}

/* An `async sub` returns at an await and is called again later to go on. Future::AsyncAwait
 * begins that call at its op `await`. */
static NYTP_COLD void note_if_resumed(pTHX_ struct nytp_recorder *rec, const OP *start)
{
    rec->frames[rec->n_frames - 1].resumed = strEQ(OP_NAME(start), "await");
}

static void enter_perl_sub(pTHX_ struct nytp_recorder *rec, CV *cv,
                           const struct nytp_call_site *site)
{
    enter(rec, nytp_sub_of_cv(aTHX_ rec, cv), site, BESIDE_STATEMENT);
    rec->entered_op = CvSTART(cv);
    rec->entered_ticks = site->now;
    if (UNLIKELY(CvSTART(cv)->op_type == OP_CUSTOM))
        note_if_resumed(aTHX_ rec, CvSTART(cv));
    watch_scope(aTHX_ rec->last_serial);
}

/* Returns whether the value is no sub at all: perl will report that and die. */
static bool is_hopeless(SV *sv)
{
    return SvROK(sv) && !SvGMAGICAL(sv) && !SvAMAGIC(sv) && SvTYPE(SvRV(sv)) != SVt_PVCV;
}

static struct nytp_rec_sub *unclear_sub(pTHX_ struct nytp_recorder *rec, const SV *sv, CV *cv)
{
    if (cv != NULL)
        return nytp_sub_of_cv(aTHX_ rec, cv);
    if (isGV_with_GP(sv))
        return nytp_sub_of_gv(rec, (const GV *)sv);
    if (is_symbol(sv))
        return nytp_sub_of_symbol(aTHX_ rec, sv);
    return nytp_sub_named(rec, "main::", 6, NYTP_REC_SUB_PERL);
}

/* A sub called by name that returned without a frame was an xsub. It may have become one just
 * now: a constant can lie in the symbol table as a mere reference to its value. */
static void note_xsub(pTHX_ struct nytp_rec_sub *sub)
{
    const CV *const cv = nytp_cv_of_name(aTHX_ sub->name, sub->name_len, true, PL_defstash);
    if (cv == NULL || !CvISXSUB(cv))
        return;
    sub->kind = NYTP_REC_SUB_XSUB;
    sub->returned_normally = true;
}

/* Records that the frame's sub is not the one it was entered as. */
static NYTP_COLD void rename_frame(struct nytp_recorder *rec, struct nytp_rec_frame *frame)
{
    frame->arc = arc_of_frame(rec, frame);
    if (rec->comments_on)
        nytp_write_call_site_change(rec->writer, NYTP_CALL_RENAME, entry_of(rec, frame));
}

/* A call that perl has to look up first: AUTOLOAD, overloaded or symbolic code references,
 * undefined subs. If it dies or turns out to be an xsub, it counts as a call of the sub we
 * guessed, together with the calls that the look-up made.
 *
 * A perl sub gets two destructors. The one in the caller's scope, for calls that die early,
 * stays until that scope ends and then finds its frame closed. If that scope runs on (a block
 * of List::Util that calls by AUTOLOAD), each call leaves 24 bytes there. */
static __attribute__((noinline)) OP *call_unclear(pTHX_ struct nytp_recorder *rec, CV *cv,
                                                  const struct nytp_call_site *site)
{
    SV *const sv = *PL_stack_sp;
    if (cv == NULL && is_hopeless(sv))
        return nytp_real_op(aTHX_ OP_ENTERSUB);
    nytp_guard(rec);
    struct nytp_rec_sub *const sub = unclear_sub(aTHX_ rec, sv, cv);
    nytp_unguard(rec);
    enter(rec, sub, site, ANYWHERE);
    const uint32_t serial = rec->last_serial;
    watch_scope(aTHX_ serial);
    const I32 height = PL_savestack_ix, context = cxstack_ix;
    OP *const next = nytp_real_op(aTHX_ OP_ENTERSUB);
    CV *const entered = cxstack_ix > context ? entered_cv(aTHX_ next) : NULL;
    if (rec->n_frames == 0 || rec->frames[rec->n_frames - 1].serial != serial)
        return next;
    if (entered == NULL) {
        unwatch(aTHX_ height, context);
        nytp_frame_close(aTHX_ rec, serial);
        if (sub->kind == NYTP_REC_SUB_PERL)
            note_xsub(aTHX_ sub);
        return next;
    }
    struct nytp_rec_frame *const frame = &rec->frames[rec->n_frames - 1];
    nytp_guard(rec);
    frame->sub->depth--;
    struct nytp_rec_sub *const was = frame->sub;
    frame->sub = nytp_sub_of_cv(aTHX_ rec, entered);
    if (rec->marks_on && frame->sub != was)
        nytp_dprof_correct(rec, was, frame->sub, frame->enter_ticks);
    frame->depth = ++frame->sub->depth;
    frame->serial = ++rec->last_serial; /* now watch the sub's own scope */
    if (frame->sub != was)
        rename_frame(rec, frame);
    nytp_unguard(rec);
    watch_scope(aTHX_ rec->last_serial);
    return next;
}

/* Records that perl has entered a sub by a call not known yet. */
__attribute__((noinline)) static void enter_new(pTHX_ struct nytp_recorder *rec, OP *next,
                                                int64_t now)
{
    if (!rec->subs_on)
        return; /* recording was stopped meanwhile */
    const struct nytp_call_site site = call_site_at(aTHX_ rec, now, 1);
    nytp_call_entered(aTHX_ rec, next, &site);
}

/* The same, and makes the call a known one. */
__attribute__((noinline)) static void enter_to_know(pTHX_ struct nytp_recorder *rec, CV *cv,
                                                    OP *next, int64_t now)
{
    const uint32_t serial = rec->last_serial;
    enter_new(aTHX_ rec, next, now);
    if (rec->last_serial == serial)
        return;
    know_call(aTHX_ rec, nytp_callee_of_sub(cv));
}

/* Records that perl has entered `cv`, while rec->is_plain. */
static NYTP_INLINED void enter_plain(pTHX_ struct nytp_recorder *rec, CV *cv, OP *next,
                                     int64_t now)
{
    const struct nytp_cached_site *const known =
        find_known(aTHX_ rec, nytp_callee_of_sub(cv), 1);
    if (UNLIKELY(known == NULL || next->op_type == OP_CUSTOM)) {
        enter_to_know(aTHX_ rec, cv, next, now);
        return;
    }
    const struct nytp_rec_frame *const frame = push(rec, known->arc, now);
    nytp_write_call_entry(rec->writer, entry_of(rec, frame), rec->stmt.since_ticks, now);
    rec->entered_op = next;
    rec->entered_ticks = now;
    watch_scope(aTHX_ frame->serial);
}

static __attribute__((noinline)) void enter_timed(pTHX_ struct nytp_recorder *rec, CV *cv,
                                                  OP *next, int64_t now)
{
    const uint64_t begun = nytp_clock_cycles(&rec->clock);
    enter_plain(aTHX_ rec, cv, next, now);
    nytp_handler_took(&rec->handler_times[NYTP_HANDLER_ENTRY],
                      &rec->until_timed[NYTP_HANDLER_ENTRY],
                      nytp_clock_cycles(&rec->clock) - begun);
}

/* nytp_call_sub() while rec->counts_plain. */
static NYTP_INLINED OP *count_sub(pTHX_ struct nytp_recorder *rec, CV *cv)
{
    OP *const next = nytp_real_op(aTHX_ OP_ENTERSUB);
    if (UNLIKELY(!rec->counts_plain || next != CvSTART(cv))) {
        enter_new(aTHX_ rec, next, rec->clock.latest_ticks);
        return next;
    }
    const struct nytp_cached_site *const known =
        find_known(aTHX_ rec, nytp_callee_of_sub(cv), 1);
    if (UNLIKELY(known == NULL || next->op_type == OP_CUSTOM))
        enter_to_know(aTHX_ rec, cv, next, rec->clock.latest_ticks);
    else
        watch_scope_with(aTHX_ push_counted(rec, known->arc), on_counted_exit);
    return next;
}

__attribute__((noinline)) static OP *call_any(pTHX_ struct nytp_recorder *rec, CV *cv)
{
    if (LIKELY(rec->counts_plain && cv != NULL && CvROOT(cv) != NULL))
        return count_sub(aTHX_ rec, cv);
    const struct nytp_call_site site = call_site(aTHX_ rec);
    if (cv == NULL || CvROOT(cv) == NULL)
        return call_unclear(aTHX_ rec, cv, &site);
    OP *const next = nytp_real_op(aTHX_ OP_ENTERSUB);
    nytp_call_entered(aTHX_ rec, next, &site);
    return next;
}

OP *nytp_call_sub(pTHX_ struct nytp_recorder *rec, CV *cv)
{
    if (UNLIKELY(!rec->is_plain || cv == NULL || CvROOT(cv) == NULL))
        return call_any(aTHX_ rec, cv);
    nytp_cached_site_expect(aTHX_ rec);
    const int64_t now = nytp_now_ticks(aTHX_ rec);
    OP *const next = nytp_real_op(aTHX_ OP_ENTERSUB);
    if (UNLIKELY(!rec->is_plain || next != CvSTART(cv)))
        enter_new(aTHX_ rec, next, now);
    else if (nytp_handler_is_timed(&rec->until_timed[NYTP_HANDLER_ENTRY]))
        enter_timed(aTHX_ rec, cv, next, now);
    else
        enter_plain(aTHX_ rec, cv, next, now);
    return next;
}

OP *nytp_call_xsub(pTHX_ struct nytp_recorder *rec, CV *cv, nytp_xsub_fn *call_new)
{
    OP *next;
    if (LIKELY(rec->is_plain) &&
        run_known(aTHX_ rec, OP_ENTERSUB, nytp_callee_of_xsub(cv), &next))
        return next;
    if (rec->counts_plain &&
        count_known(aTHX_ rec, OP_ENTERSUB, nytp_callee_of_xsub(cv), &next))
        return next;
    return call_new(aTHX_ rec, cv);
}

OP *nytp_call_new_xsub(pTHX_ struct nytp_recorder *rec, CV *cv, struct nytp_rec_sub *sub)
{
    const struct nytp_call_site site = call_site(aTHX_ rec);
    const struct nytp_callee callee = nytp_callee_of_xsub(cv);
    return run_any(aTHX_ rec, sub, OP_ENTERSUB, &site, &callee);
}

/* ---- goto &sub ---- */

/* pp_goto has left the jumping sub's scope, so its destructor has just run, and now calls the
 * xsub itself. There is no scope to watch: if the xsub dies, its frame is closed with its
 * caller's. */
static void enter_jumped_xsub(pTHX_ struct nytp_recorder *rec)
{
    struct nytp_call_site site = rec->jump.site;
    CV *const cv = rec->jump.xsub;
    rec->jump.xsub = NULL;
    if (!rec->subs_on)
        return;
    site.now = rec->left_ticks;
    enter(rec, nytp_sub_of_cv(aTHX_ rec, cv), &site, ANYWHERE);
}

static void close_jumping_frame(pTHX_ struct nytp_recorder *rec, uint32_t serial)
{
    nytp_frame_close(aTHX_ rec, serial);
    if (rec->jump.xsub != NULL && rec->jump.from == serial)
        enter_jumped_xsub(aTHX_ rec);
}

/* Returns whether `goto &sub` will leave the running sub. In an eval, in the block of a sort
 * and outside all subs it dies before it has left anything (pp_ctl.c, pp_goto). */
bool nytp_goto_leaves_sub(pTHX)
{
    for (I32 i = cxstack_ix; i >= 0; i--) {
        const PERL_CONTEXT *const cx = &cxstack[i];
        if (CxTYPE(cx) == CXt_SUB && !(cx->cx_type & CXp_SUB_RE_FAKE))
            return !CxMULTICALL(cx);
        if (CxTYPE(cx) == CXt_FORMAT || (CxTYPE(cx) == CXt_EVAL && !NYTP_CX_IS_TRY(cx)))
            return false;
    }
    return false;
}

static OP *jump_to_xsub(pTHX_ struct nytp_recorder *rec, CV *cv,
                        const struct nytp_call_site *site)
{
    const struct nytp_jump outer = rec->jump; /* of the sub whose end runs us as a destructor */
    const uint32_t n_frames = rec->n_frames;
    const uint32_t from = n_frames == 0 ? 0 : rec->frames[n_frames - 1].serial;
    rec->jump = (struct nytp_jump){.xsub = cv, .from = from, .site = *site};
    OP *const next = nytp_real_op(aTHX_ OP_GOTO);
    rec->jump = outer;
    if (n_frames == 0 || rec->n_frames < n_frames)
        return next;
    const struct nytp_rec_frame *const frame =
        &rec->frames[n_frames - 1]; /* in the place of `from` */
    if (frame->serial != from) {
        frame->sub->returned_normally = true;
        nytp_frame_close(aTHX_ rec, frame->serial);
    }
    return next;
}

void nytp_call_entered(pTHX_ struct nytp_recorder *rec, const OP *next,
                       const struct nytp_call_site *site)
{
    CV *const entered = entered_cv(aTHX_ next);
    if (entered != NULL && rec->subs_on)
        enter_perl_sub(aTHX_ rec, entered, site);
}

/* No scope to watch, as in enter_jumped_xsub(). */
OP *nytp_call_by_goto(pTHX_ struct nytp_recorder *rec, CV *xsub,
                      const struct nytp_call_site *site)
{
    struct nytp_rec_sub *const sub = nytp_sub_of_cv(aTHX_ rec, xsub);
    enter(rec, sub, site, ANYWHERE);
    const uint32_t serial = rec->last_serial;
    OP *const next = nytp_real_op(aTHX_ OP_GOTO);
    sub->returned_normally = true;
    nytp_frame_close(aTHX_ rec, serial);
    return next;
}

OP *nytp_call_goto(pTHX_ struct nytp_recorder *rec, CV *cv)
{
    if (!nytp_goto_leaves_sub(aTHX))
        return nytp_real_op(aTHX_ OP_GOTO);
    struct nytp_call_site site = call_site(aTHX_ rec);
    if (rec->n_frames > 0)
        site.caller = rec->frames[rec->n_frames - 1].caller; /* the caller of the jumping sub */
    if (CvISXSUB(cv))
        return jump_to_xsub(aTHX_ rec, cv, &site);
    OP *const next = nytp_real_op(aTHX_ OP_GOTO);
    site.now = rec->left_ticks;
    nytp_call_entered(aTHX_ rec, next, &site);
    return next;
}

/* ---- builtins ---- */

OP *nytp_call_slowop(pTHX_ struct nytp_recorder *rec, int type)
{
    const struct nytp_callee callee = nytp_callee_of_builtin(aTHX_ PL_curcop, type);
    OP *next;
    if (LIKELY(rec->is_plain) && run_known(aTHX_ rec, type, callee, &next))
        return next;
    if (rec->counts_plain && count_known(aTHX_ rec, type, callee, &next))
        return next;
    const struct nytp_call_site site = call_site(aTHX_ rec);
    nytp_guard(rec);
    struct nytp_rec_sub *const sub = nytp_sub_of_op(aTHX_ rec, PL_curcop, type);
    nytp_unguard(rec);
    return run_any(aTHX_ rec, sub, type, &site, &callee);
}
