/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Opens and closes calls; see call_frames.h.
 *
 * A perl sub's frame is closed by a destructor on perl's save stack. It is pushed first in the
 * sub's scope, so it runs last, however the scope is left. An xsub or builtin runs inside
 * perl's handler. Its destructor lies below anything the handler saves and is removed when the
 * handler returns, so it runs only if the call dies. A destructor names its frame by serial
 * number and does nothing if that frame is closed.
 */
#include "call_frames.h"

#include "call_frames_hot.h"

#include "write_ahead.h"
#include "XS/names/files.h"
#include "XS/perl/ops.h"

#include "formats/stream/comments/open_calls.h"

void nytp_calls_free(struct nytp_recorder *rec)
{
    Safefree(rec->calls.frames);
}

void nytp_frames_grow(struct nytp_recorder *rec)
{
    nytp_bytes_hold(rec);
    rec->calls.size = rec->calls.size == 0 ? 256 : rec->calls.size * 2;
    Renew(rec->calls.frames, rec->calls.size, struct nytp_rec_frame);
    nytp_bytes_resume(rec);
}

struct nytp_rec_arc *nytp_frame_arc(struct nytp_recorder *rec,
                                    const struct nytp_rec_frame *frame)
{
    const struct nytp_call_site site = {
        .caller = frame->caller, .fid = frame->fid, .line = frame->line};
    return nytp_arc_of(rec, frame->sub, &site);
}

void nytp_frame_emit_resumed(struct nytp_recorder *rec)
{
    nytp_write_comment(rec->writer, NYTP_RESUMED_CALL);
}

void nytp_frame_write_return(struct nytp_recorder *rec, const struct nytp_rec_sub *sub,
                             uint32_t depth, int64_t incl, int64_t excl)
{
    nytp_write_sub_return(rec->writer, depth, incl, excl, sub->encoded, sub->encoded_len);
}

void nytp_arc_emit_site(struct nytp_recorder *rec, struct nytp_rec_arc *arc)
{
    const struct nytp_rec_sub *const sub = arc->callee_sub;
    arc->entry = nytp_write_call_site(rec->writer, arc->fid, arc->line, sub->encoded[0],
                                      sub->name, sub->name_len);
}

void nytp_frame_leave(struct nytp_recorder *rec, int64_t ticks)
{
    nytp_frame_pop(rec, ticks, NYTP_ANYWHERE);
}

/* Closes the frame with this serial and those above it. Serials grow upwards and may wrap. */
void nytp_frame_close(pTHX_ struct nytp_recorder *rec, uint32_t serial)
{
    uint32_t i = rec->calls.n;
    for (; i > 0 && rec->calls.frames[i - 1].serial != serial; i--)
        if ((int32_t)(rec->calls.frames[i - 1].serial - serial) < 0)
            return;
    if (i == 0)
        return;
    nytp_guard(rec);
    const int64_t now = nytp_now_ticks(aTHX_ rec);
    while (rec->calls.n > i)
        nytp_frame_pop(rec, now, NYTP_ANYWHERE);
    nytp_frame_pop(rec, now, NYTP_BESIDE_STATEMENT);
    rec->last.left_ticks = now;
    rec->last.left_fresh = true;
    nytp_unguard(rec);
}

/* A `goto &xsub` that perl is executing. */
struct jump {
    CV *target;
    const COP *cop;
    struct nytp_call_site site;
    uint32_t n_left; /* number of open calls when the jumping sub has been left */
};

/* A jump's xsub has ended. perl frees on_jump()'s `own` next, which is no SV of the program. */
static void on_jump_ended(pTHX_ void *target)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    if (rec != NULL)
        rec->memory.svs--;
    SvREFCNT_dec((CV *)target);
}

/* As pp_goto does: the destructors of the scope that it left may have changed the target. */
static void run_target(pTHX_ const struct jump *jump)
{
    CV *const target = jump->target;
    if (CvXSUB(target) != NULL && CvISXSUB(target)) {
        CvXSUB(target)(aTHX_ target);
        return;
    }
    if (CvROOT(target) != NULL) {
        call_sv((SV *)target, GIMME_V);
        return;
    }
    SV *const name = sv_newmortal();
    gv_efullname3(name, CvGV(target), NULL);
    PL_curcop = (COP *)jump->cop;
    Perl_croak(aTHX_ "Goto undefined subroutine &%" SVf, SVfARG(name));
}

/* pp_goto calls this xsub in the place of a jump's target, after the jumping sub's destructor
 * has run. Its own destructor closes the target's frame if the target dies. */
static void on_jump(pTHX_ CV *own)
{
    struct jump *const jump = CvXSUBANY(own).any_ptr;
    CV *const target = jump->target;
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    SAVEDESTRUCTOR_X(on_jump_ended, target);
    if (rec == NULL || !rec->on.subs || rec->calls.n != jump->n_left || !CvISXSUB(target)) {
        run_target(aTHX_ jump);
        return;
    }
    jump->site.now = rec->last.left_ticks;
    struct nytp_rec_sub *const sub = nytp_sub_of_cv(aTHX_ rec, target);
    nytp_frame_open_as(rec, sub, &jump->site, NYTP_ANYWHERE);
    const uint32_t serial = rec->last.serial;
    nytp_scope_watch(aTHX_ serial);
    const I32 height = PL_savestack_ix, context = cxstack_ix;
    run_target(aTHX_ jump);
    nytp_scope_unwatch(aTHX_ height, context);
    sub->returned_normally = true;
    nytp_frame_close(aTHX_ rec, serial);
}

OP *nytp_jump_to_xsub(pTHX_ struct nytp_recorder *rec, CV *cv,
                      const struct nytp_call_site *site, uint32_t n_left)
{
    struct jump jump = {.target = cv, .cop = PL_curcop, .site = *site, .n_left = n_left};
    CV *const own = (CV *)newSV_type(SVt_PVCV);
    rec->memory.svs++; /* the reference is freed with the jumping sub's temporaries */
    SvREFCNT_inc_simple_void_NN(cv);
    CvISXSUB_on(own);
    CvXSUB(own) = on_jump;
    CvXSUBANY(own).any_ptr = &jump;
    *PL_stack_sp = sv_2mortal(newRV_noinc((SV *)own));
    return nytp_real_op(aTHX_ OP_GOTO);
}

static NYTP_NOINLINE void leave_any_scope(pTHX_ struct nytp_recorder *rec, uint32_t serial)
{
    if (!nytp_frame_close_counted(rec, serial))
        nytp_frame_close(aTHX_ rec, serial);
}

/* While rec->on.plain. The usual case calls nothing, so it saves no registers. */
static NYTP_NOINLINE void close_scope(pTHX_ struct nytp_recorder *rec, uint32_t serial)
{
    struct nytp_rec_frame *const frame =
        LIKELY(rec->calls.n > 0) ? nytp_frame_innermost(rec) : NULL;
    int64_t now;
    if (UNLIKELY(frame == NULL || frame->serial != serial || frame->resumed ||
                 !nytp_writer_is_ready(rec->writer) || !nytp_now_at_once(rec, &now))) {
        leave_any_scope(aTHX_ rec, serial);
        return;
    }
    nytp_put_call_return(rec->writer, rec->stmt.since_ticks, now);
    nytp_frame_close_plain(rec, frame, now);
    rec->last.left_ticks = now;
    rec->last.left_fresh = true;
}

static NYTP_NOINLINE void close_timed(pTHX_ struct nytp_recorder *rec, uint32_t serial)
{
    nytp_handler_begin(&rec->costs.handlers, &rec->clock, NULL, 0);
    close_scope(aTHX_ rec, serial);
    nytp_handler_end(&rec->costs.handlers, NYTP_HANDLER_EXIT, &rec->clock);
}

void nytp_scope_left(pTHX_ struct nytp_recorder *rec, uint32_t serial)
{
    if (UNLIKELY(!rec->on.plain))
        leave_any_scope(aTHX_ rec, serial);
    else if (nytp_handler_is_due(&rec->costs.handlers, NYTP_HANDLER_EXIT))
        close_timed(aTHX_ rec, serial);
    else
        close_scope(aTHX_ rec, serial);
}

void nytp_on_scope_exit(pTHX_ void *serial)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    if (LIKELY(rec != NULL))
        nytp_scope_left(aTHX_ rec, (uint32_t)PTR2UV(serial));
}

/* nytp_on_scope_exit() of a call that began while rec->on.counts_plain. */
void nytp_on_counted_exit(pTHX_ void *serial)
{
    struct nytp_recorder *const rec = nytp_counting_recorder_of(aTHX);
    if (UNLIKELY(rec == NULL || !nytp_frame_close_counted(rec, (uint32_t)PTR2UV(serial))))
        nytp_on_scope_exit(aTHX_ serial);
}

struct nytp_call_site nytp_call_site_now(pTHX_ struct nytp_recorder *rec)
{
    return nytp_call_site_here(aTHX_ rec);
}

void nytp_frame_open_other(struct nytp_recorder *rec, struct nytp_rec_sub *sub,
                           const struct nytp_call_site *site)
{
    struct nytp_rec_arc *const arc = nytp_arc_of(rec, sub, site);
    nytp_frame_push(rec, arc, site->now);
    if (rec->on.entries)
        nytp_write_sub_entry(rec->writer, site->fid, site->line);
    else if (rec->on.marks)
        nytp_dprof_enter(rec, sub, site->now);
}

void nytp_frame_called(struct nytp_recorder *rec, int64_t ticks)
{
    if (rec->calls.n > 0)
        nytp_frame_innermost(rec)->callee_ticks += ticks;
}

void nytp_frame_open(struct nytp_recorder *rec, struct nytp_rec_sub *sub,
                     const struct nytp_call_site *site)
{
    nytp_frame_open_as(rec, sub, site, NYTP_ANYWHERE);
}

/* ---- all open calls, at the begin or end of a profile file ---- */

void nytp_frames_restart(struct nytp_recorder *rec, int64_t ticks)
{
    nytp_recorded_serial_set(rec, 0);
    for (uint32_t i = 0; i < rec->calls.n; i++) {
        rec->calls.frames[i].enter_ticks = ticks;
        rec->calls.frames[i].callee_ticks = 0;
        rec->calls.frames[i].arc = nytp_frame_arc(rec, &rec->calls.frames[i]);
        if (rec->on.comments)
            nytp_write_call_site_change(rec->writer, NYTP_CALL_OPEN,
                                        nytp_frame_entry(rec, &rec->calls.frames[i]));
        if (rec->dprof != NULL)
            nytp_dprof_enter(rec, rec->calls.frames[i].sub, ticks);
    }
}

static void count_depths(const struct nytp_rec_calls *calls, uint32_t change)
{
    for (uint32_t i = 0; i < calls->n; i++)
        calls->frames[i].sub->depth += change;
}

void nytp_calls_suspend(struct nytp_recorder *rec)
{
    count_depths(&rec->calls, -1u);
    rec->suspended = rec->calls;
    rec->calls = (struct nytp_rec_calls){0};
    rec->cache.sites_version++;
}

void nytp_calls_resume(struct nytp_recorder *rec)
{
    count_depths(&rec->calls, -1u);
    nytp_calls_free(rec);
    nytp_arcs_free(rec);
    rec->calls = rec->suspended;
    rec->suspended = (struct nytp_rec_calls){0};
    count_depths(&rec->calls, 1);
    nytp_arcs_resume(rec);
}

/* The calling places may be from an earlier profile file: record their files again. */
void nytp_frames_introduce_files(pTHX_ struct nytp_recorder *rec)
{
    for (uint32_t i = 0; i < rec->calls.n; i++)
        if (rec->calls.frames[i].fid != 0)
            nytp_file_fid(aTHX_ rec, rec->files->all[rec->calls.frames[i].fid],
                          NYTP_FID_VIA_SUB);
}

/* Counts all open calls as if they returned now. */
void nytp_calls_end_file(struct nytp_recorder *rec)
{
    const int64_t ticks = nytp_axis_now(rec);
    int64_t above = 0;
    for (uint32_t i = rec->options.subs ? rec->calls.n : 0; i > 0; i--) {
        struct nytp_rec_frame *const frame = &rec->calls.frames[i - 1];
        const int64_t incl = ticks - frame->enter_ticks;
        frame->reported_incl = incl;
        frame->reported_excl = incl - frame->callee_ticks - above;
        nytp_frame_account(rec, frame, i, incl, frame->reported_excl, NYTP_ANYWHERE);
        above = incl;
    }
}

void nytp_frames_retract(struct nytp_recorder *rec)
{
    for (uint32_t i = 0; i < rec->calls.n; i++) {
        const struct nytp_rec_frame *const frame = &rec->calls.frames[i];
        struct nytp_rec_arc *const arc = frame->arc;
        arc->count -= !frame->resumed;
        arc->excl_ticks -= frame->reported_excl;
        if (frame->depth <= 1)
            arc->incl_ticks -= frame->reported_incl;
        else
            arc->reci_ticks -= frame->reported_incl;
    }
}
