/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Suspends a sampled profile while an exact one is recorded; see pause_for_exact.h.
 *
 * Both profiles share the known subs and source files, with their numbers. Which of them a file
 * contains is noted for each kind separately (enum nytp_kind). Data of one file only is moved
 * away as it is: the file and its buffers, open calls, arcs.
 */
#include "pause_for_exact.h"

#include "XS/exact/arcs.h"
#include "XS/exact/call_frames.h"
#include "XS/exact/labels.h"
#include "life.h"
#include "lifecycle.h"
#include "XS/exact/switch_ops.h"
#include "profile.h"
#include "XS/sampling/sample.h"
#include "XS/exact/open_at_start.h"
#include "XS/state/state.h"
#include "XS/exact/stmts.h"
#include "XS/state/stream.h"

#include <unistd.h>

/* ---- data of one file ---- */

static void save_sampled(struct nytp_recorder *rec)
{
    struct nytp_rec_pause_for_exact *const sampled = rec->pause_for_exact;
    nytp_profile_suspend(rec, &sampled->profile);
    sampled->pid = rec->run.pid;
    sampled->file = rec->file;
    sampled->writer = rec->writer;
    sampled->stream = *rec->stream;
    sampled->generation = rec->run.generation;
    sampled->overhead_ticks = rec->clock.overhead_ticks;
    nytp_calls_suspend(rec);
    rec->file = (struct nytp_outfile){.fd = -1};
    rec->writer = NULL;
    sampled->is_there = true;
}

/* Replaces the data of the exact profile, whose file is closed. */
static void restore_sampled(struct nytp_recorder *rec)
{
    struct nytp_rec_pause_for_exact *const sampled = rec->pause_for_exact;
    nytp_costs_free(rec);
    nytp_writer_free(rec->writer);
    nytp_open_at_start_forget(rec);
    nytp_stmt_begin_file(rec, nytp_axis_now(rec));
    nytp_places_begin_file(rec);
    nytp_profile_resume(rec, &sampled->profile,
                        rec->clock.overhead_ticks - sampled->overhead_ticks);
    rec->file = sampled->file;
    rec->writer = sampled->writer;
    rec->run.generation = sampled->generation;
    nytp_stream_restore(rec, &sampled->stream);
    nytp_calls_resume(rec);
    *sampled = (struct nytp_rec_pause_for_exact){0};
    nytp_subs_begin_file(rec);
}

/* ---- suspend and resume ---- */

void nytp_pause_for_exact(pTHX_ struct nytp_recorder *rec)
{
    dSAVE_ERRNO;
    nytp_become_child_if_forked(aTHX_ rec);
    nytp_guard(rec);
    nytp_sample_pause(aTHX_ rec);
    nytp_labels_end(rec);
    nytp_life_suspend(aTHX_ rec, &rec->pause_for_exact->before_end);
    nytp_state_set(rec, NYTP_CLOSED);
    save_sampled(rec);
    nytp_kind_set(rec, NYTP_EXACT);
    nytp_unguard(rec);
    RESTORE_ERRNO;
}

/* A child's own records of its parent's exact profile are useless. */
static void drop_of_child(pTHX_ struct nytp_recorder *rec)
{
    char *const path = nytp_copy_string(rec->file.path);
    const struct nytp_file_id id = rec->file.id;
    nytp_close(aTHX_ rec);
    nytp_path_remove(path, &id);
    Safefree(path);
}

static void end_exact(pTHX_ struct nytp_recorder *rec)
{
    nytp_profile_drop_abandoned(rec);
    if (rec->run.is_ended)
        nytp_keep_end(rec);
    else if (rec->run.forked)
        nytp_outfile_close(&rec->file); /* the parent's */
    else if (nytp_file_is_open(rec) && rec->pause_for_exact->pid != getpid())
        drop_of_child(aTHX_ rec);
    else
        nytp_close(aTHX_ rec);
    if (rec->state != NYTP_OFF)
        nytp_state_set(rec, NYTP_CLOSED);
}

void nytp_go_on_sampling(pTHX_ struct nytp_recorder *rec)
{
    dSAVE_ERRNO;
    nytp_guard(rec);
    const enum nytp_state state = rec->state == NYTP_PAUSED ? NYTP_PAUSED : NYTP_RECORDING;
    const bool is_child = rec->pause_for_exact->pid != getpid();
    const struct nytp_before_end before_end = rec->pause_for_exact->before_end;
    end_exact(aTHX_ rec);
    restore_sampled(rec);
    nytp_kind_set(rec, NYTP_SAMPLED);
    nytp_switch_ops(aTHX_ rec, false);
    nytp_state_set(rec, state);
    if (is_child)
        nytp_life_resume_in_child(aTHX_ rec);
    else
        nytp_life_resume(aTHX_ rec, &before_end);
    nytp_unguard(rec);
    RESTORE_ERRNO;
}

/* Leaves the sampled profile as it is on disk. */
void nytp_pause_for_exact_free(struct nytp_recorder *rec)
{
    struct nytp_rec_pause_for_exact *const sampled = rec->pause_for_exact;
    if (!sampled->is_there)
        return;
    nytp_outfile_close(&rec->file);
    restore_sampled(rec);
    nytp_outfile_close(&rec->file);
}
