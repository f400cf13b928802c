/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The statement profiler: charges time to the running statement.
 *
 * A time record is written when a statement is left: for another statement or, seen by the ops
 * that end scopes, back into an outer one. In the second case a DISCOUNT follows. It says that
 * the outer statement's next time record is the rest of an execution already counted.
 */
#include "stmts.h"

#include "XS/names/files.h"
#include "XS/perl/nextstate.h"
#include "XS/perl/optree.h"
#include "open_at_start.h"
#include "places.h"
#include "XS/state/state.h"
#include "blocks.h"
#include "svs.h"

enum {
    MOST_UNTOLD = 16, /* scopes left within a statement before it is recorded */
};

/* Most ticks in the 32 bits of a time record. */
static const int64_t longest = INT32_MAX;

static void write_time(struct nytp_recorder *rec, int32_t ticks)
{
    const struct nytp_place *const place = rec->stmt.place;
    if (UNLIKELY(rec->on.blocks))
        nytp_write_time_block(rec->writer, ticks, place->fid, nytp_line_of_stmt(place->line),
                              rec->stmt.block_line, rec->stmt.sub_line);
    else
        nytp_write_time_at(rec->writer, ticks, &place->encoded);
}

/* Splits a longer time into several records of one execution. */
static void write_long_time(struct nytp_recorder *rec, int64_t ticks)
{
    const int64_t step = ticks < 0 ? -longest : longest;
    while (ticks > longest || ticks < -longest) {
        write_time(rec, (int32_t)step);
        nytp_write_discount(rec->writer);
        ticks -= step;
    }
    write_time(rec, (int32_t)ticks);
}

/* Calls in comments are timed by statements and get the gap. */
void nytp_stmt_restart(struct nytp_recorder *rec, int64_t ticks)
{
    if (rec->on.comments && ticks != rec->stmt.since_ticks)
        nytp_write_call_change(rec->writer, NYTP_CALL_SHIFT, ticks - rec->stmt.since_ticks);
    rec->stmt.since_ticks = ticks;
}

/* charge() when no statement was in progress. */
static void charge_none(struct nytp_recorder *rec, int64_t now, bool discount)
{
    nytp_stmt_restart(rec, now);
    if (discount && !rec->stmt.discount_pending)
        nytp_write_discount(rec->writer);
    rec->stmt.discount_pending |= discount;
}

/* charge() with counts=1. Callers have looked at the clock. */
static void count_running(struct nytp_recorder *rec)
{
    if (rec->stmt.place != NULL)
        nytp_place_count(rec, rec->stmt.place);
}

/* Charges the statement in progress up to axis point `now`. `discount`: the next record is the
 * rest of an execution, so a DISCOUNT follows unless one is pending. */
static NYTP_COLD void charge(struct nytp_recorder *rec, int64_t now, bool discount)
{
    const int64_t ticks = now - rec->stmt.since_ticks;
    if (rec->on.counts) {
        count_running(rec);
        return;
    }
    if (rec->stmt.place == NULL) {
        charge_none(rec, now, discount);
        return;
    }
    nytp_writer_meet(rec->writer, now, ticks);
    if (ticks >= 0 && ticks <= longest)
        write_time(rec, (int32_t)ticks);
    else
        write_long_time(rec, ticks);
    if (discount)
        nytp_write_discount(rec->writer);
    rec->stmt.discount_pending = discount;
    rec->stmt.since_ticks = now;
}

/* charge() in its usual case, which calls nothing. Else returns false, with nothing done. */
static NYTP_INLINED bool charge_at_once(struct nytp_recorder *rec, int64_t now, bool discount)
{
    const struct nytp_place *const place = rec->stmt.place;
    const uint64_t ticks = (uint64_t)(now - rec->stmt.since_ticks);
    if (UNLIKELY(place == NULL ||
                 !nytp_write_short_time(rec->writer, now, ticks, &place->encoded, discount)))
        return false;
    rec->stmt.discount_pending = discount;
    rec->stmt.since_ticks = now;
    return true;
}

/* ---- blocks=1 ---- */

/* Returns the first statement in a tree of ops, in order of execution. */
static const COP *first_cop_in(const OP *op)
{
    struct nytp_optree walk;
    nytp_optree_begin(&walk, op);
    do
        op = nytp_optree_next(&walk);
    while (op != NULL && op->op_type != OP_NEXTSTATE && op->op_type != OP_DBSTATE);
    nytp_optree_end(&walk);
    return (const COP *)op;
}

/* Returns the COP whose line stands for a context: the first statement of a sub or loop; for
 * other blocks the statement they are part of. */
static const COP *cop_of_context(const PERL_CONTEXT *cx)
{
    switch (CxTYPE(cx)) {
    case CXt_SUB:
    case CXt_FORMAT:
        return CvROOT(cx->blk_sub.cv) == NULL ? NULL : first_cop_in(CvROOT(cx->blk_sub.cv));
    case CXt_EVAL:
    case CXt_BLOCK:
        return cx->blk_oldcop;
    default:
        return CxTYPE_is_LOOP(cx) ? first_cop_in(cx->blk_loop.my_op->op_redoop) : NULL;
    }
}

/* Without threads a COP has its file's GV, which may be NULL. */
static bool is_in_same_file(const COP *left, const COP *right)
{
    const char *const one = CopFILE(left), *const other = CopFILE(right);
    return one == other || (one != NULL && other != NULL && strEQ(one, other));
}

static NYTP_NOINLINE void find_block(pTHX_ struct nytp_recorder *rec, const COP *cop)
{
    bool block_found = false;
    /* The lowest context of the main stack is the program. Stacks of tie, overload, sort and
     * DESTROY begin with a sub. */
    const I32 lowest = PL_curstackinfo->si_type == PERLSI_MAIN ? 1 : 0;
    rec->stmt.block_line = rec->stmt.sub_line = nytp_line_of_stmt(rec->stmt.place->line);
    for (I32 i = cxstack_ix; i >= lowest; i--) {
        const PERL_CONTEXT *const cx = &cxstack[i];
        const bool is_sub = CxTYPE(cx) == CXt_SUB || CxTYPE(cx) == CXt_FORMAT;
        const bool is_string_eval = CxTYPE(cx) == CXt_EVAL && CxREALEVAL(cx);
        if (is_string_eval)
            return;
        const COP *const first = cop_of_context(cx);
        if (first == NULL || first == &PL_compiling || !is_in_same_file(first, cop))
            continue;
        if (!is_sub && cx->blk_oldcop == cop)
            continue; /* a loop's condition is not in the loop */
        if (!block_found)
            rec->stmt.block_line = CopLINE(first);
        block_found = true;
        if (is_sub) {
            rec->stmt.sub_line = CopLINE(first);
            return;
        }
    }
}

/* ---- hooks ---- */

static void set_stmt(pTHX_ struct nytp_recorder *rec, const COP *cop)
{
    nytp_place_run(rec, nytp_place_of(aTHX_ rec, cop, NYTP_FID_VIA_STMT));
    if (rec->on.blocks)
        find_block(aTHX_ rec, cop);
}

/* A sub's first statement begins with the call. That saves a reading of the clock, a third of a
 * statement's cost. Not if a destructor or signal ran statements since. */
static inline int64_t time_of_begin(pTHX_ struct nytp_recorder *rec, const COP *cop)
{
    if ((const OP *)cop == rec->last.entered_op) {
        rec->last.entered_op = NULL;
        if (LIKELY(rec->last.entered_ticks >= rec->stmt.since_ticks))
            return rec->last.entered_ticks;
    }
    return nytp_now_ticks(aTHX_ rec);
}

void nytp_stmt_begin(pTHX_ struct nytp_recorder *rec, const COP *cop)
{
    nytp_guard(rec);
    if (rec->on.memory) {
        nytp_memory_emit(rec);
        nytp_blocks_place_is_here(rec);
    }
    charge(rec, time_of_begin(aTHX_ rec, cop), false);
    set_stmt(aTHX_ rec, cop);
    rec->last.left_fresh = false;
    nytp_unguard(rec);
}

static NYTP_COLD void look_at_clock(pTHX_ struct nytp_recorder *rec)
{
    nytp_guard(rec);
    nytp_now(aTHX_ rec);
    nytp_unguard(rec);
}

/* Here perl's handler may run last. */
static NYTP_INLINED void begin_counted(pTHX_ struct nytp_recorder *rec, const COP *cop)
{
    struct nytp_place *const last = rec->stmt.place;
    if (LIKELY(last != NULL) && UNLIKELY(nytp_place_count(rec, last)))
        look_at_clock(aTHX_ rec);
    nytp_place_run(rec, nytp_place_of(aTHX_ rec, cop, NYTP_FID_VIA_STMT));
}

static NYTP_NOINLINE OP *count_rare(pTHX_ struct nytp_recorder *rec, Perl_ppaddr_t real_op)
{
    begin_counted(aTHX_ rec, cCOPx(PL_op));
    return real_op(aTHX);
}

/* The usual case of begin_counted() calls nothing, so it saves no registers. */
OP *nytp_stmt_count(pTHX_ struct nytp_recorder *rec, Perl_ppaddr_t real_op)
{
    const COP *const cop = cCOPx(PL_op);
    struct nytp_place *const last = rec->stmt.place, *const slot = nytp_place_slot(rec, cop);
    if (UNLIKELY(last == NULL || last->count.left == 0 || !nytp_place_is_of(slot, cop)))
        return count_rare(aTHX_ rec, real_op);
    last->count.left--;
    nytp_place_run(rec, slot);
    OP *const next = nytp_nextstate_in_line(aTHX_ real_op);
    return LIKELY(next != NULL) ? next : real_op(aTHX);
}

static NYTP_NOINLINE OP *begin_any(pTHX_ struct nytp_recorder *rec, const COP *cop, OP *next)
{
    if (rec->on.counts_plain && rec->on.stmts)
        begin_counted(aTHX_ rec, cop);
    else if (rec->on.stmts)
        nytp_stmt_begin(aTHX_ rec, cop);
    return next;
}

/* The part behind perl's handler while rec->on.plain. The usual case calls nothing, so it saves
 * no registers; any other one is left to another function before it has changed anything. These
 * functions return `next`, so that their callers, too, end with a jump. */

static NYTP_NOINLINE OP *run_new(pTHX_ struct nytp_recorder *rec, const COP *cop, OP *next)
{
    nytp_place_run(rec, nytp_place_of(aTHX_ rec, cop, NYTP_FID_VIA_STMT));
    return next;
}

static NYTP_NOINLINE OP *begin_plain(pTHX_ struct nytp_recorder *rec, const COP *cop, OP *next)
{
    int64_t now;
    if ((const OP *)cop == rec->last.entered_op) {
        now = rec->last.entered_ticks;
        if (UNLIKELY(!charge_at_once(rec, now, false)))
            return begin_any(aTHX_ rec, cop, next);
        rec->last.entered_op = NULL;
    } else if (UNLIKELY(!nytp_now_at_once(rec, &now) || !charge_at_once(rec, now, false))) {
        return begin_any(aTHX_ rec, cop, next);
    }
    rec->last.left_fresh = false;
    return LIKELY(nytp_place_run_known(rec, cop)) ? next : run_new(aTHX_ rec, cop, next);
}

static NYTP_NOINLINE OP *begin_timed(pTHX_ struct nytp_recorder *rec, const COP *cop, OP *next,
                                     enum nytp_handler handler)
{
    nytp_handler_begin(&rec->costs.handlers, &rec->clock, cop, 1);
    begin_plain(aTHX_ rec, cop, next);
    nytp_handler_end(&rec->costs.handlers, handler, &rec->clock);
    return next;
}

static NYTP_INLINED OP *begin(pTHX_ struct nytp_recorder *rec, const COP *cop, OP *next)
{
    const enum nytp_handler handler =
        (const OP *)cop == rec->last.entered_op ? NYTP_HANDLER_FIRST : NYTP_HANDLER_STATEMENT;
    if (nytp_handler_is_due(&rec->costs.handlers, handler))
        return begin_timed(aTHX_ rec, cop, next, handler);
    return begin_plain(aTHX_ rec, cop, next);
}

static NYTP_NOINLINE OP *run_slowly(pTHX_ struct nytp_recorder *rec, Perl_ppaddr_t real_op)
{
    const COP *const cop = cCOPx(PL_op);
    OP *const next = real_op(aTHX);
    return LIKELY(rec->on.plain) ? begin(aTHX_ rec, cop, next)
                                 : begin_any(aTHX_ rec, cop, next);
}

/* perl's handler runs first: it frees the last statement's temporaries, which may take long and
 * is charged to that statement. */
OP *nytp_stmt_run(pTHX_ struct nytp_recorder *rec, Perl_ppaddr_t real_op)
{
    const COP *const cop = cCOPx(PL_op);
    nytp_place_expect(rec, cop);
    OP *const next = rec->on.plain ? nytp_nextstate_in_line(aTHX_ real_op) : NULL;
    return LIKELY(next != NULL) ? begin(aTHX_ rec, cop, next) : run_slowly(aTHX_ rec, real_op);
}

/* A sub that has just returned through this op has read the clock. */
static inline int64_t time_of_return(pTHX_ struct nytp_recorder *rec)
{
    if (!rec->last.left_fresh)
        return nytp_now_ticks(aTHX_ rec);
    rec->last.left_fresh = false;
    return rec->last.left_ticks;
}

/* Memory freed at scope exit is charged to the scope's last statement. Memory freed after a
 * call has returned is charged to the caller's statement. */
void nytp_stmt_return(pTHX_ struct nytp_recorder *rec)
{
    nytp_guard(rec);
    rec->stmt.n_untold = 0;
    if (rec->on.memory && !rec->last.left_fresh)
        nytp_memory_emit(rec);
    charge(rec, time_of_return(aTHX_ rec), true);
    if (rec->on.counts)
        nytp_stmt_drop(rec); /* PL_curcop was counted before */
    else
        set_stmt(aTHX_ rec, PL_curcop);
    if (rec->on.memory) {
        nytp_blocks_place_is_here(rec);
        nytp_memory_emit(rec);
    }
    nytp_unguard(rec);
}

static NYTP_NOINLINE OP *return_slowly(pTHX_ struct nytp_recorder *rec, OP *next)
{
    nytp_stmt_return(aTHX_ rec);
    return next;
}

static NYTP_NOINLINE OP *return_plain(pTHX_ struct nytp_recorder *rec, OP *next)
{
    rec->stmt.n_untold = 0;
    nytp_place_expect(rec, PL_curcop);
    int64_t now = rec->last.left_ticks;
    if (UNLIKELY(!(rec->last.left_fresh || nytp_now_at_once(rec, &now)) ||
                 !charge_at_once(rec, now, true)))
        return return_slowly(aTHX_ rec, next);
    rec->last.left_fresh = false;
    return LIKELY(nytp_place_run_known(rec, PL_curcop)) ? next
                                                        : run_new(aTHX_ rec, PL_curcop, next);
}

static NYTP_NOINLINE OP *return_timed(pTHX_ struct nytp_recorder *rec, OP *next,
                                      enum nytp_handler handler)
{
    nytp_handler_begin(&rec->costs.handlers, &rec->clock, NULL, 0);
    return_plain(aTHX_ rec, next);
    nytp_handler_end(&rec->costs.handlers, handler, &rec->clock);
    return next;
}

/* Returns whether the statement in progress goes on, as after most rounds of a loop: then one
 * record replaces two. Limited, so that a long loop is recorded if the program is killed, and
 * so that the clock is read. */
static NYTP_INLINED bool goes_on(pTHX_ struct nytp_recorder *rec)
{
    return !rec->last.left_fresh && nytp_place_runs(rec, PL_curcop) &&
           rec->stmt.n_untold++ < MOST_UNTOLD;
}

static NYTP_NOINLINE OP *return_any(pTHX_ struct nytp_recorder *rec, OP *next)
{
    if (UNLIKELY(rec->on.first_look))
        nytp_open_at_start_check(aTHX_ rec);
    const bool has_more = rec->on.blocks || rec->on.memory; /* more to record than places */
    if (rec->on.stmts && rec->on.leave && (has_more || !goes_on(aTHX_ rec)))
        nytp_stmt_return(aTHX_ rec);
    return next;
}

OP *nytp_stmt_leave(pTHX_ struct nytp_recorder *rec, Perl_ppaddr_t real_op)
{
    rec->last.left_fresh = false;
    OP *const next = real_op(aTHX);
    if (UNLIKELY(!rec->on.plain))
        return return_any(aTHX_ rec, next);
    if (goes_on(aTHX_ rec))
        return next;
    const enum nytp_handler handler =
        rec->last.left_fresh ? NYTP_HANDLER_RETURN : NYTP_HANDLER_LEAVE;
    return nytp_handler_is_due(&rec->costs.handlers, handler)
               ? return_timed(aTHX_ rec, next, handler)
               : return_plain(aTHX_ rec, next);
}

void nytp_stmt_end(pTHX_ struct nytp_recorder *rec)
{
    if (rec->on.memory)
        nytp_memory_emit(rec);
    if (!rec->stmt.discount_pending)
        charge(rec, nytp_now_ticks(aTHX_ rec), false);
    nytp_stmt_drop(rec);
}

void nytp_stmt_drop(struct nytp_recorder *rec)
{
    nytp_place_run(rec, NULL);
    rec->last.left_fresh = false;
    rec->last.entered_op = NULL;
}

void nytp_stmt_begin_file(struct nytp_recorder *rec, int64_t ticks)
{
    rec->stmt.discount_pending = false;
    rec->stmt.since_ticks = ticks;
    nytp_stmt_drop(rec);
}

/* A statement that only stops the recording was not meant to be measured. It gets no record
 * unless recording goes on. */
void nytp_stmt_pause(pTHX_ struct nytp_recorder *rec)
{
    if (rec->on.memory)
        nytp_memory_emit(rec);
    if (rec->on.counts && rec->stmt.place != NULL &&
        !nytp_place_is_of(rec->stmt.place, PL_curcop)) {
        count_running(rec); /* the statement ended in a call that PL_curcop made */
        nytp_stmt_drop(rec);
    }
    rec->stmt.paused_block_line = rec->stmt.block_line;
    rec->stmt.paused_sub_line = rec->stmt.sub_line;
    rec->stmt.paused_ticks = nytp_now_ticks(aTHX_ rec) - rec->stmt.since_ticks;
    nytp_place_pause(rec);
    nytp_stmt_drop(rec);
}

/* In the same file a pending DISCOUNT may make this record the rest of an execution. A new file
 * needs the place again. */
void nytp_stmt_resume(pTHX_ struct nytp_recorder *rec)
{
    const int64_t ticks = rec->stmt.paused_ticks;
    struct nytp_place *const place = nytp_place_paused(rec);
    struct nytp_rec_file *const file =
        place == NULL ? NULL : nytp_file_numbered(aTHX_ rec, place->fid);
    if (file == NULL)
        return;
    nytp_guard(rec);
    nytp_file_fid(aTHX_ rec, file, NYTP_FID_VIA_STMT);
    const int64_t now = nytp_now_ticks(aTHX_ rec);
    nytp_stmt_restart(rec, now - ticks);
    rec->stmt.block_line = rec->stmt.paused_block_line;
    rec->stmt.sub_line = rec->stmt.paused_sub_line;
    nytp_place_run(rec, place);
    charge(rec, now, false);
    nytp_stmt_drop(rec);
    nytp_place_forget_paused(rec);
    nytp_unguard(rec);
}

/* The parent records the paused statement. */
void nytp_stmts_fork(struct nytp_recorder *rec)
{
    nytp_place_forget_paused(rec);
}
