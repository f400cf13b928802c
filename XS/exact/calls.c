/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The subroutine profiler: handlers of perl's calling ops; see calls.h.
 *
 * All times are axis points in whole ticks. For every call inclusive = exclusive +
 * sum(inclusive of the calls it made), exactly.
 */
#include "calls.h"

#include "call_frames.h"
#include "call_frames_hot.h"
#include "regexes.h"
#include "site_cache.h"
#include "write_ahead.h"
#include "XS/names/builtins.h"
#include "XS/perl/ops.h"
#include "XS/perl/stash.h"

enum {
    LONG_CALL_TICKS = NYTP_TICKS_PER_SEC / 10000, /* 100 us: the next call may block, too */
};

/* ---- known calls ---- */

/* The caller is compared last: finding it may add a sub that the recorder has not seen. */
static NYTP_INLINED bool is_known(pTHX_ struct nytp_recorder *rec,
                                  const struct nytp_cached_site *known,
                                  struct nytp_callee callee, I32 n_entered)
{
    return nytp_cached_site_is(known, rec, PL_curcop, &callee) &&
           known->caller == nytp_caller_now(aTHX_ rec, n_entered);
}

static NYTP_NOINLINE const struct nytp_cached_site *
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
    struct nytp_rec_arc *const arc = nytp_frame_innermost(rec)->arc;
    struct nytp_cached_site *const known = nytp_cached_site(aTHX_ rec);
    *nytp_cached_site_before(rec, known) = *known;
    *known = (struct nytp_cached_site){
        .cop = PL_curcop == &PL_compiling ? NULL : PL_curcop, /* its file and line change */
        .seq = PL_curcop->cop_seq,
        .line = CopLINE(PL_curcop),
        .callee = callee,
        .caller = arc->caller_sub,
        .arc = arc,
        .version = nytp_sites_version(rec, callee.body),
    };
}

/* ---- calls inside perl's handler ---- */

/* Closes the innermost call, which ended. Returns its own time. */
static NYTP_NOINLINE int64_t close_inside(pTHX_ struct nytp_recorder *rec, int64_t begun)
{
    const int64_t now = nytp_now_ticks(aTHX_ rec);
    struct nytp_rec_frame *const frame = nytp_frame_innermost(rec);
    struct nytp_rec_sub *const sub = frame->sub;
    const int64_t own_ticks = now - frame->enter_ticks - frame->callee_ticks;
    sub->may_block = sub->waits || now - begun >= LONG_CALL_TICKS;
    if (LIKELY(rec->on.plain)) {
        nytp_write_call_return_at(rec->writer, rec->stmt.since_ticks, now);
        nytp_frame_close_plain(rec, frame, now);
    } else {
        nytp_frame_pop(rec, now, NYTP_ANYWHERE);
    }
    return own_ticks;
}

static NYTP_NOINLINE int64_t close_timed(pTHX_ struct nytp_recorder *rec, int64_t begun,
                                         enum nytp_handler handler)
{
    nytp_handler_begin(&rec->costs.handlers, &rec->clock, NULL, 0);
    const int64_t own_ticks = close_inside(aTHX_ rec, begun);
    nytp_handler_end(&rec->costs.handlers, handler, &rec->clock);
    return own_ticks;
}

/* Runs perl's handler for op `type`, which is the whole innermost call. */
static NYTP_INLINED OP *run_inside(pTHX_ struct nytp_recorder *rec, int type, int64_t begun)
{
    struct nytp_rec_sub *const sub = nytp_frame_innermost(rec)->sub;
    const uint32_t serial = rec->last.serial;
    if (UNLIKELY(sub->may_block))
        nytp_write_ahead(aTHX_ rec);
    nytp_scope_watch(aTHX_ serial);
    const I32 height = PL_savestack_ix, context = cxstack_ix;
    int64_t own_ticks = 0;
    if (type != OP_ENTERSUB)
        rec->last.begun_builtin = (uint16_t)type;
    OP *const next = nytp_real_op(aTHX_ type);
    nytp_scope_unwatch(aTHX_ height, context);
    sub->returned_normally = true;
    nytp_guard(rec);
    if (LIKELY(rec->calls.n > 0 && nytp_frame_innermost(rec)->serial == serial)) {
        const enum nytp_handler handler =
            type == OP_ENTERSUB ? NYTP_HANDLER_XSUB_END : NYTP_HANDLER_BUILTIN_END;
        own_ticks = nytp_handler_is_due(&rec->costs.handlers, handler)
                        ? close_timed(aTHX_ rec, begun, handler)
                        : close_inside(aTHX_ rec, begun);
    } else {
        nytp_frame_close(aTHX_ rec, serial);
    }
    nytp_unguard(rec);
    if (type != OP_ENTERSUB && UNLIKELY(rec->last.ended_regex))
        nytp_regexes_builtin_ended(aTHX_ rec, own_ticks);
    return next;
}

/* Begins a call inside perl's handler if it is known. Returns its time, or -1 if not. */
static NYTP_NOINLINE int64_t enter_known(pTHX_ struct nytp_recorder *rec,
                                         struct nytp_callee callee)
{
    const struct nytp_cached_site *const known = find_known(aTHX_ rec, callee, 0);
    int64_t now;
    if (UNLIKELY(known == NULL || !nytp_now_at_once(rec, &now)))
        return -1; /* other work may be due first */
    const struct nytp_rec_frame *const frame = nytp_frame_push(rec, known->arc, now);
    nytp_write_call_entry_at(rec->writer, nytp_frame_entry(rec, frame), rec->stmt.since_ticks,
                             now);
    return now;
}

static NYTP_NOINLINE int64_t enter_known_timed(pTHX_ struct nytp_recorder *rec,
                                               struct nytp_callee callee,
                                               enum nytp_handler handler)
{
    nytp_handler_begin(&rec->costs.handlers, &rec->clock, NULL, 0);
    const int64_t now = enter_known(aTHX_ rec, callee);
    if (now >= 0)
        nytp_handler_end(&rec->costs.handlers, handler, &rec->clock);
    return now;
}

/* Runs a known call and sets *next, or returns false. */
static NYTP_INLINED bool run_known(pTHX_ struct nytp_recorder *rec, int type,
                                   struct nytp_callee callee, OP **next)
{
    const enum nytp_handler handler =
        type == OP_ENTERSUB ? NYTP_HANDLER_XSUB : NYTP_HANDLER_BUILTIN;
    const int64_t now = nytp_handler_is_due(&rec->costs.handlers, handler)
                            ? enter_known_timed(aTHX_ rec, callee, handler)
                            : enter_known(aTHX_ rec, callee);
    if (UNLIKELY(now < 0))
        return false;
    *next = run_inside(aTHX_ rec, type, now);
    return true;
}

/* run_known() while rec->on.counts_plain. */
static NYTP_NOINLINE bool count_known(pTHX_ struct nytp_recorder *rec, int type,
                                      struct nytp_callee callee, OP **next)
{
    const struct nytp_cached_site *const known = find_known(aTHX_ rec, callee, 0);
    if (UNLIKELY(known == NULL))
        return false;
    struct nytp_rec_sub *const sub = known->arc->callee_sub;
    const uint32_t serial = nytp_frame_push_counted(rec, known->arc);
    if (UNLIKELY(sub->waits))
        nytp_write_ahead(aTHX_ rec);
    nytp_scope_watch(aTHX_ serial);
    const I32 height = PL_savestack_ix, context = cxstack_ix;
    if (type != OP_ENTERSUB)
        rec->last.begun_builtin = (uint16_t)type;
    *next = nytp_real_op(aTHX_ type);
    nytp_scope_unwatch(aTHX_ height, context);
    sub->returned_normally = true;
    if (UNLIKELY(!nytp_frame_close_counted(rec, serial)))
        nytp_frame_close(aTHX_ rec, serial);
    return true;
}

static NYTP_NOINLINE OP *run_any(pTHX_ struct nytp_recorder *rec, struct nytp_rec_sub *sub,
                                 int type, const struct nytp_call_site *site,
                                 const struct nytp_callee *callee)
{
    nytp_frame_open_as(rec, sub, site, NYTP_ANYWHERE);
    if ((rec->on.plain || rec->on.counts_plain) && sub->special == NYTP_SUB_ORDINARY)
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
    nytp_frame_innermost(rec)->resumed = strEQ(OP_NAME(start), "await");
}

static void enter_perl_sub(pTHX_ struct nytp_recorder *rec, CV *cv,
                           const struct nytp_call_site *site)
{
    nytp_frame_open_as(rec, nytp_sub_of_cv(aTHX_ rec, cv), site, NYTP_BESIDE_STATEMENT);
    rec->last.entered_op = CvSTART(cv);
    rec->last.entered_ticks = site->now;
    if (UNLIKELY(CvSTART(cv)->op_type == OP_CUSTOM))
        note_if_resumed(aTHX_ rec, CvSTART(cv));
    nytp_scope_watch(aTHX_ rec->last.serial);
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
    frame->arc = nytp_frame_arc(rec, frame);
    if (rec->on.comments)
        nytp_write_call_site_change(rec->writer, NYTP_CALL_RENAME,
                                    nytp_frame_entry(rec, frame));
}

/* A call that perl has to look up first: AUTOLOAD, overloaded or symbolic code references,
 * undefined subs. If it dies or turns out to be an xsub, it counts as a call of the sub we
 * guessed, together with the calls that the look-up made.
 *
 * A perl sub gets two destructors. The one in the caller's scope, for calls that die early,
 * stays until that scope ends and then finds its frame closed. If that scope runs on (a block
 * of List::Util that calls by AUTOLOAD), each call leaves 24 bytes there. */
static NYTP_NOINLINE OP *call_unclear(pTHX_ struct nytp_recorder *rec, CV *cv,
                                      const struct nytp_call_site *site)
{
    SV *const sv = *PL_stack_sp;
    if (cv == NULL && is_hopeless(sv))
        return nytp_real_op(aTHX_ OP_ENTERSUB);
    nytp_guard(rec);
    struct nytp_rec_sub *const sub = unclear_sub(aTHX_ rec, sv, cv);
    nytp_unguard(rec);
    nytp_frame_open_as(rec, sub, site, NYTP_ANYWHERE);
    const uint32_t serial = rec->last.serial;
    nytp_scope_watch(aTHX_ serial);
    const I32 height = PL_savestack_ix, context = cxstack_ix;
    OP *const next = nytp_real_op(aTHX_ OP_ENTERSUB);
    CV *const entered = cxstack_ix > context ? entered_cv(aTHX_ next) : NULL;
    if (rec->calls.n == 0 || nytp_frame_innermost(rec)->serial != serial)
        return next;
    if (entered == NULL) {
        nytp_scope_unwatch(aTHX_ height, context);
        nytp_frame_close(aTHX_ rec, serial);
        if (sub->kind == NYTP_REC_SUB_PERL)
            note_xsub(aTHX_ sub);
        return next;
    }
    struct nytp_rec_frame *const frame = nytp_frame_innermost(rec);
    nytp_guard(rec);
    frame->sub->depth--;
    struct nytp_rec_sub *const was = frame->sub;
    frame->sub = nytp_sub_of_cv(aTHX_ rec, entered);
    if (rec->on.marks && frame->sub != was)
        nytp_dprof_correct(rec, was, frame->sub, frame->enter_ticks);
    frame->depth = ++frame->sub->depth;
    nytp_frame_renumber(rec, frame); /* now watch the sub's own scope */
    if (frame->sub != was)
        rename_frame(rec, frame);
    nytp_unguard(rec);
    nytp_scope_watch(aTHX_ rec->last.serial);
    return next;
}

/* Records that perl has entered a sub by a call not known yet. */
static NYTP_NOINLINE void enter_new(pTHX_ struct nytp_recorder *rec, OP *next, int64_t now)
{
    if (!rec->on.subs)
        return; /* recording was stopped meanwhile */
    const struct nytp_call_site site = nytp_call_site_at(aTHX_ rec, now, 1);
    nytp_call_entered(aTHX_ rec, next, &site);
}

/* The same, and makes the call a known one. */
static NYTP_NOINLINE void enter_to_know(pTHX_ struct nytp_recorder *rec, CV *cv, OP *next,
                                        int64_t now)
{
    const uint32_t serial = rec->last.serial;
    enter_new(aTHX_ rec, next, now);
    if (rec->last.serial == serial)
        return;
    know_call(aTHX_ rec, nytp_callee_of_sub(cv));
}

/* Notes that perl has entered a sub, whose frame is open. */
static NYTP_INLINED OP *note_entered(struct nytp_recorder *rec, OP *next, int64_t now)
{
    rec->last.entered_op = next;
    rec->last.entered_ticks = now;
    return next;
}

static NYTP_NOINLINE OP *enter_slowly(pTHX_ struct nytp_recorder *rec, CV *cv, OP *next,
                                      int64_t now)
{
    const struct nytp_cached_site *const known =
        find_known(aTHX_ rec, nytp_callee_of_sub(cv), 1);
    if (UNLIKELY(known == NULL || next->op_type == OP_CUSTOM)) {
        enter_to_know(aTHX_ rec, cv, next, now);
        return next;
    }
    const struct nytp_rec_frame *const frame = nytp_frame_push(rec, known->arc, now);
    nytp_write_call_entry(rec->writer, nytp_frame_entry(rec, frame), rec->stmt.since_ticks,
                          now);
    nytp_scope_watch(aTHX_ frame->serial);
    return note_entered(rec, next, now);
}

/* Records that perl has entered `cv`, while rec->on.plain. The usual case calls nothing, so it
 * saves few registers. */
static NYTP_NOINLINE OP *enter_plain(pTHX_ struct nytp_recorder *rec, CV *cv, OP *next,
                                     int64_t now)
{
    const struct nytp_cached_site *const known = nytp_cached_site(aTHX_ rec);
    const struct nytp_callee callee = nytp_callee_of_sub(cv);
    if (UNLIKELY(!nytp_cached_site_is(known, rec, PL_curcop, &callee) || rec->calls.n == 0 ||
                 rec->calls.n >= rec->calls.size || rec->on.findcaller ||
                 known->caller != nytp_frame_innermost(rec)->sub ||
                 known->arc->entry.len == 0 || next->op_type == OP_CUSTOM ||
                 !nytp_writer_is_ready(rec->writer) || !nytp_scope_has_room(aTHX)))
        return enter_slowly(aTHX_ rec, cv, next, now);
    const struct nytp_rec_frame *const frame = nytp_frame_push(rec, known->arc, now);
    nytp_put_call_entry(rec->writer, &known->arc->entry, rec->stmt.since_ticks, now);
    nytp_scope_put(aTHX_ frame->serial, nytp_on_scope_exit);
    return note_entered(rec, next, now);
}

static NYTP_NOINLINE OP *enter_timed(pTHX_ struct nytp_recorder *rec, CV *cv, OP *next,
                                     int64_t now)
{
    struct nytp_handler_times *const times = &rec->costs.handlers;
    nytp_handler_begin(times, &rec->clock, next, sizeof *next);
    enter_plain(aTHX_ rec, cv, next, now);
    nytp_handler_end(times, NYTP_HANDLER_ENTRY, &rec->clock);
    return next;
}

/* nytp_call_sub() while rec->on.counts_plain. */
static NYTP_INLINED OP *count_sub(pTHX_ struct nytp_recorder *rec, CV *cv)
{
    OP *const next = nytp_real_op(aTHX_ OP_ENTERSUB);
    if (UNLIKELY(!rec->on.counts_plain || next != CvSTART(cv))) {
        enter_new(aTHX_ rec, next, rec->clock.latest_ticks);
        return next;
    }
    const struct nytp_cached_site *const known =
        find_known(aTHX_ rec, nytp_callee_of_sub(cv), 1);
    if (UNLIKELY(known == NULL || next->op_type == OP_CUSTOM))
        enter_to_know(aTHX_ rec, cv, next, rec->clock.latest_ticks);
    else
        nytp_scope_watch_with(aTHX_ nytp_frame_push_counted(rec, known->arc),
                              nytp_on_counted_exit);
    return next;
}

static NYTP_NOINLINE OP *call_any(pTHX_ struct nytp_recorder *rec, CV *cv)
{
    if (LIKELY(rec->on.counts_plain && cv != NULL && CvROOT(cv) != NULL))
        return count_sub(aTHX_ rec, cv);
    const struct nytp_call_site site = nytp_call_site_here(aTHX_ rec);
    if (cv == NULL || CvROOT(cv) == NULL)
        return call_unclear(aTHX_ rec, cv, &site);
    OP *const next = nytp_real_op(aTHX_ OP_ENTERSUB);
    nytp_call_entered(aTHX_ rec, next, &site);
    return next;
}

OP *nytp_call_sub(pTHX_ struct nytp_recorder *rec, CV *cv)
{
    if (UNLIKELY(!rec->on.plain || cv == NULL || CvROOT(cv) == NULL))
        return call_any(aTHX_ rec, cv);
    nytp_cached_site_expect(aTHX_ rec);
    const int64_t now = nytp_now_ticks(aTHX_ rec);
    OP *const next = nytp_real_op(aTHX_ OP_ENTERSUB);
    if (UNLIKELY(!rec->on.plain || next != CvSTART(cv))) {
        enter_new(aTHX_ rec, next, now);
        return next;
    }
    return nytp_handler_is_due(&rec->costs.handlers, NYTP_HANDLER_ENTRY)
               ? enter_timed(aTHX_ rec, cv, next, now)
               : enter_plain(aTHX_ rec, cv, next, now);
}

OP *nytp_call_xsub(pTHX_ struct nytp_recorder *rec, CV *cv, nytp_xsub_fn *call_new)
{
    OP *next;
    if (LIKELY(rec->on.plain) &&
        run_known(aTHX_ rec, OP_ENTERSUB, nytp_callee_of_xsub(cv), &next))
        return next;
    if (rec->on.counts_plain &&
        count_known(aTHX_ rec, OP_ENTERSUB, nytp_callee_of_xsub(cv), &next))
        return next;
    return call_new(aTHX_ rec, cv);
}

OP *nytp_call_new_xsub(pTHX_ struct nytp_recorder *rec, CV *cv, struct nytp_rec_sub *sub)
{
    const struct nytp_call_site site = nytp_call_site_here(aTHX_ rec);
    const struct nytp_callee callee = nytp_callee_of_xsub(cv);
    return run_any(aTHX_ rec, sub, OP_ENTERSUB, &site, &callee);
}

/* ---- goto &sub ---- */

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

void nytp_call_entered(pTHX_ struct nytp_recorder *rec, const OP *next,
                       const struct nytp_call_site *site)
{
    CV *const entered = entered_cv(aTHX_ next);
    if (entered != NULL && rec->on.subs)
        enter_perl_sub(aTHX_ rec, entered, site);
}

OP *nytp_call_goto(pTHX_ struct nytp_recorder *rec, CV *cv)
{
    if (!nytp_goto_leaves_sub(aTHX))
        return nytp_real_op(aTHX_ OP_GOTO);
    struct nytp_call_site site = nytp_call_site_here(aTHX_ rec);
    if (rec->calls.n > 0)
        site.caller = nytp_frame_innermost(rec)->caller; /* the caller of the jumping sub */
    if (CvISXSUB(cv))
        return nytp_jump_to_xsub(aTHX_ rec, cv, &site, rec->calls.n - 1);
    OP *const next = nytp_real_op(aTHX_ OP_GOTO);
    site.now = rec->last.left_ticks;
    nytp_call_entered(aTHX_ rec, next, &site);
    return next;
}

/* ---- builtins ---- */

OP *nytp_call_slowop(pTHX_ struct nytp_recorder *rec, int type)
{
    const struct nytp_callee callee = nytp_callee_of_builtin(aTHX_ PL_curcop, type);
    OP *next;
    if (LIKELY(rec->on.plain) && run_known(aTHX_ rec, type, callee, &next))
        return next;
    if (rec->on.counts_plain && count_known(aTHX_ rec, type, callee, &next))
        return next;
    const struct nytp_call_site site = nytp_call_site_here(aTHX_ rec);
    nytp_guard(rec);
    struct nytp_rec_sub *const sub = nytp_sub_of_op(aTHX_ rec, PL_curcop, type);
    nytp_unguard(rec);
    return run_any(aTHX_ rec, sub, type, &site, &callee);
}
