/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls that were open when recording began; see open_at_start.h.
 *
 * Frames are a stack like perl's contexts. Frames of recorded perl subs lie below all that was
 * entered while recording was off. So frames and contexts are compared from the outermost on,
 * and the remaining contexts have no frames yet.
 */
#include "open_at_start.h"

#include "call_frames.h"
#include "calls.h"
#include "XS/perl/ops.h"
#include "XS/perl/perl_stack.h"
#include "places.h"
#include "XS/state/state.h"
#include "XS/names/subs.h"
#include "XS/names/tables.h"

/* The open calls, innermost first. */
struct open_calls {
    struct nytp_perl_call *all;
    uint32_t n, size;
};

static void collect(pTHX_ struct open_calls *calls)
{
    struct nytp_perl_stack walk;
    struct nytp_perl_call call;
    nytp_perl_stack_begin(aTHX_ & walk);
    while (nytp_perl_stack_next(&walk, &call)) {
        if (call.is_multicall)
            continue; /* no op called it; not recorded */
        NYTP_MAKE_ROOM(calls->all, calls->n, calls->size, struct nytp_perl_call);
        calls->all[calls->n++] = call;
    }
}

static bool is_ours(const struct nytp_rec_sub *sub)
{
    return strEQ(sub->name, "Devel::NYTProf::import") ||
           strEQ(sub->name, "Devel::DProf::import");
}

/* Returns how many of the innermost calls are ours: `use Devel::NYTProf` in a running program
 * is not the program's call. */
static uint32_t skip_own(pTHX_ struct nytp_recorder *rec, const struct open_calls *calls)
{
    if (calls->n == 0 || !is_ours(nytp_sub_of_cv(aTHX_ rec, calls->all[0].cv)))
        return 0;
    return calls->n > 1 && CvSPECIAL(calls->all[1].cv) ? 2 : 1;
}

/* Returns how many of the calls, from the outermost, have frames. Returns all if the frames
 * belong to another stack (Coro swaps stacks). */
static uint32_t count_known(pTHX_ struct nytp_recorder *rec, const struct open_calls *calls)
{
    uint32_t known = 0, at = 0;
    for (uint32_t i = 0; i < rec->calls.n; i++) {
        const struct nytp_rec_sub *const sub = rec->calls.frames[i].sub;
        if (sub->kind != NYTP_REC_SUB_PERL)
            continue;
        while (at < calls->n &&
               nytp_sub_of_cv(aTHX_ rec, calls->all[calls->n - 1 - at].cv) != sub)
            at++;
        if (at == calls->n)
            return calls->n;
        known = ++at;
    }
    return known;
}

static void plant(pTHX_ struct nytp_recorder *rec, const struct nytp_perl_call *call,
                  int64_t now)
{
    const struct nytp_place *const place =
        nytp_place_of(aTHX_ rec, call->site, NYTP_FID_VIA_STMT); /* its statement is running */
    struct nytp_call_site site = {.fid = place->fid, .line = place->line, .now = now};
    site.caller = rec->calls.n > 0        ? rec->calls.frames[rec->calls.n - 1].sub
                  : PL_main_start != NULL ? rec->subs->runtime
                                          : rec->subs->null_caller;
    nytp_frame_open(rec, nytp_sub_of_cv(aTHX_ rec, call->cv), &site);
    NYTP_MAKE_ROOM(rec->open_at_start.all, rec->open_at_start.n, rec->open_at_start.size,
                   struct nytp_open_at_start);
    rec->open_at_start.all[rec->open_at_start.n++] =
        (struct nytp_open_at_start){*call, rec->last.serial};
}

void nytp_open_at_start_add(pTHX_ struct nytp_recorder *rec)
{
    struct open_calls calls = {0};
    if (!rec->on.subs)
        return;
    nytp_guard(rec);
    collect(aTHX_ & calls);
    const uint32_t own = skip_own(aTHX_ rec, &calls);
    const int64_t now = nytp_axis_now(rec);
    for (uint32_t i = calls.n - count_known(aTHX_ rec, &calls); i > own; i--)
        plant(aTHX_ rec, &calls.all[i - 1], now);
    Safefree(calls.all);
    nytp_state_set(rec, rec->state);
    nytp_unguard(rec);
}

void nytp_open_at_start_check(pTHX_ struct nytp_recorder *rec)
{
    const uint32_t before = rec->open_at_start.n;
    while (
        rec->open_at_start.n > 0 &&
        !nytp_perl_call_is_open(aTHX_ & rec->open_at_start.all[rec->open_at_start.n - 1].call))
        nytp_frame_close(aTHX_ rec, rec->open_at_start.all[--rec->open_at_start.n].serial);
    if (before > 0 && rec->open_at_start.n == 0)
        nytp_state_set(rec, rec->state);
}

void nytp_open_at_start_forget(struct nytp_recorder *rec)
{
    rec->open_at_start.n = 0;
}

/* ---- goto ---- */

/* Returns whether the innermost frame is such a call, and the running sub's. */
static bool seed_is_on_top(pTHX_ const struct nytp_recorder *rec)
{
    const uint32_t n = rec->open_at_start.n;
    return n > 0 && rec->calls.n > 0 &&
           rec->calls.frames[rec->calls.n - 1].serial == rec->open_at_start.all[n - 1].serial &&
           nytp_perl_call_is_open(aTHX_ & rec->open_at_start.all[n - 1].call);
}

/* Closes the innermost such call before the goto, which gives its context to the new sub. */
static void close_top_seed(pTHX_ struct nytp_recorder *rec)
{
    nytp_frame_close(aTHX_ rec, rec->open_at_start.all[--rec->open_at_start.n].serial);
    nytp_state_set(rec, rec->state);
}

OP *nytp_open_at_start_goto(pTHX_ struct nytp_recorder *rec, CV *cv)
{
    if (!seed_is_on_top(aTHX_ rec) || !nytp_goto_leaves_sub(aTHX))
        return nytp_call_goto(aTHX_ rec, cv);
    struct nytp_call_site site = nytp_call_site_now(aTHX_ rec);
    site.caller = rec->calls.frames[rec->calls.n - 1].caller;
    if (CvISXSUB(cv)) {
        close_top_seed(aTHX_ rec);
        site.now = rec->last.left_ticks;
        return nytp_jump_to_xsub(aTHX_ rec, cv, &site, rec->calls.n);
    }
    const struct nytp_open_at_start last = rec->open_at_start.all[rec->open_at_start.n - 1];
    OP *const next = nytp_real_op(aTHX_ OP_GOTO);
    if (rec->open_at_start.n > 0 &&
        rec->open_at_start.all[rec->open_at_start.n - 1].serial == last.serial)
        close_top_seed(aTHX_ rec);
    site.now = rec->last.left_ticks;
    nytp_call_entered(aTHX_ rec, next, &site);
    return next;
}

void nytp_open_at_start_free(struct nytp_recorder *rec)
{
    Safefree(rec->open_at_start.all);
}
