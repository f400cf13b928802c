/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The recorder's lifecycle: start, pause, finish, fork, exec, the program's end.
 *
 * Nothing here may stop or change the program: an error is reported once, in one line, and the
 * program runs on. Periodic work (flush, calibration, noticing a fork) is driven by the clock
 * reading that every event makes; see nytp_now().
 */
#include "life.h"
#include "lifecycle.h"

#include "XS/exact/call_frames.h"
#include "XS/exact/site_cache.h"
#include "XS/exact/compile.h"
#include "XS/exact/costs.h"
#include "XS/state/dprof.h"
#include "exits.h"
#include "XS/names/sub_infos.h"
#include "XS/exact/labels.h"
#include "XS/exact/regexes.h"
#include "XS/exact/switch_ops.h"
#include "XS/perl/ops.h"
#include "XS/exact/places.h"
#include "profile.h"
#include "XS/perl/safe_point.h"
#include "XS/sampling/sample.h"
#include "XS/output/say.h"
#include "XS/exact/open_at_start.h"
#include "XS/state/state.h"
#include "XS/exact/stmts.h"
#include "XS/exact/blocks.h"
#include "XS/exact/bytes.h"
#include "XS/exact/svs.h"
#include "XS/state/stream.h"
#include "XS/names/subs.h"
#include "XS/platform/ticks.h"
#include "XS/sampling/last_stack.h"

#include <pthread.h>
#include <unistd.h>

enum {
    MAX_THREAD_ENDS = 32, /* times that the end of a thread's file is taken back */
};

/* ---- start ---- */

static void go_on_recording(pTHX_ struct nytp_recorder *rec)
{
    nytp_state_set(rec, NYTP_RECORDING);
    nytp_svs_restart(rec);
    nytp_stream_restart(rec);
    if (!nytp_sample_begin(aTHX_ rec))
        nytp_state_set(rec, NYTP_OFF);
    nytp_bytes_start(rec);
}

/* A large program has many ops: this time is charged to no open call. */
static void switch_ops_on(pTHX_ struct nytp_recorder *rec)
{
    nytp_clock_pause(&rec->clock);
    nytp_switch_ops(aTHX_ rec, true);
    nytp_clock_resume(&rec->clock);
}

void nytp_begin_recording(pTHX_ struct nytp_recorder *rec)
{
    nytp_open_at_start_check(aTHX_ rec);
    nytp_stmt_drop(rec);
    go_on_recording(aTHX_ rec);
    switch_ops_on(aTHX_ rec);
}

static void begin_file(pTHX_ struct nytp_recorder *rec)
{
    const int64_t now = nytp_axis_now(rec);
    nytp_stream_begin(rec);
    nytp_frames_introduce_files(aTHX_ rec);
    nytp_stmt_begin_file(rec, now);
    nytp_frames_restart(rec, now);
}

bool nytp_has_tables(struct nytp_recorder *rec)
{
    if (nytp_places_begin(rec) && nytp_called_begin(rec) && nytp_site_cache_begin(rec))
        return true;
    nytp_say(&rec->options, "out of memory; the program runs unprofiled");
    nytp_state_set(rec, NYTP_OFF);
    return false;
}

static bool open_profile(pTHX_ struct nytp_recorder *rec)
{
    if (nytp_profile_open(aTHX_ rec))
        return true;
    nytp_switch_ops(aTHX_ rec, false);
    return false;
}

/* Returns whether a profile whose end is taken back is written again. */
static bool may_go_on(const struct nytp_recorder *rec)
{
    return rec->state != NYTP_OFF && !rec->stream->is_abandoned;
}

void nytp_finish_without_perl(struct nytp_recorder *rec)
{
    if (!nytp_file_is_open(rec) || rec->run.is_ended || getpid() != rec->run.pid)
        return;
    rec->run.without_perl = true;
    nytp_sample_put_blocked(rec);
    nytp_sample_put_last(rec);
    nytp_profile_write_closing(rec);
    nytp_stream_flush(rec, NYTP_FLUSH_FINISH);
    nytp_state_set(rec, NYTP_OFF);
}

void nytp_settle_options(struct nytp_recorder *rec)
{
    struct nytp_error error = {0};
    if (rec->state == NYTP_OFF || rec->options.has_bad_file || rec->options.is_refused)
        return;
    for (; nytp_options_find_unfit(&rec->options, &error); error = (struct nytp_error){0})
        nytp_say(&rec->options, "%s", error.message);
    nytp_state_set(rec, rec->state);
    if (rec->on.counts)
        rec->options.calls = rec->options.leave = 0;
    nytp_bytes_prepare(rec);
}

static void init_clock(struct nytp_recorder *rec)
{
    const int64_t wanted = rec->options.clock;
    nytp_clock_init(&rec->clock, (int)wanted);
    if (wanted >= 0 && rec->clock.id != wanted)
        nytp_say(&rec->options, "option clock: this system has no clock %d; clock %d is taken",
                 (int)wanted, (int)rec->clock.id);
}

void nytp_start_recording(pTHX_ struct nytp_recorder *rec)
{
    if (!nytp_has_tables(rec))
        return;
    dSAVE_ERRNO;
    nytp_settle_options(rec);
    if (rec->run.generation == 0)
        rec->on.guards = nytp_guards_choose(aTHX_ & rec->guards, rec->options.sigexit != NULL);
    nytp_guard(rec);
    rec->run.pid = getpid();
    nytp_open_at_start_check(aTHX_ rec);
    nytp_program_text_copy(aTHX_ rec);
    if (rec->clock.rate == 0)
        init_clock(rec);
    else if (rec->run.generation == 0)
        nytp_clock_restart(&rec->clock);
    if (open_profile(aTHX_ rec)) {
        begin_file(aTHX_ rec);
        go_on_recording(aTHX_ rec);
        switch_ops_on(aTHX_ rec);
        nytp_stream_flush(rec, NYTP_FLUSH_SYNC);
        if (rec->run.generation == 1 && !rec->profile->is_thread)
            nytp_exits_watch(rec, nytp_finish_without_perl);
        if (PL_phase == PERL_PHASE_DESTRUCT)
            nytp_exits_watch_libc(); /* our END block has run */
    }
    nytp_unguard(rec);
    RESTORE_ERRNO;
}

void nytp_close(pTHX_ struct nytp_recorder *rec)
{
    if (!nytp_file_is_open(rec))
        return;
    nytp_guard(rec);
    nytp_sample_pause(aTHX_ rec);
    nytp_bytes_pause(rec);
    if (rec->on.stmts)
        nytp_stmt_end(aTHX_ rec);
    nytp_profile_write_closing(rec);
    nytp_stream_flush(rec, NYTP_FLUSH_FINISH);
    nytp_writer_put_trailer(rec->writer);
    nytp_profile_say_end(rec);
    nytp_outfile_close(&rec->file);
    nytp_arcs_begin_file(rec);
    nytp_stmt_drop(rec);
    nytp_profile_finished(rec);
    if (rec->state != NYTP_OFF)
        nytp_state_set(rec, NYTP_CLOSED);
    nytp_unguard(rec);
}

/* Writes the profile's end; life.before_end keeps the state for removing it again. */
static void end_for_now(pTHX_ struct nytp_recorder *rec)
{
    nytp_sample_catch_up(aTHX_ rec);
    if (rec->on.memory)
        nytp_memory_emit(rec);
    nytp_sub_infos_end_file(rec);
    nytp_places_put_counts(rec);
    nytp_regexes_write(rec); /* only once, so it has to stay */
    nytp_stream_flush(rec, NYTP_FLUSH_SYNC);
    rec->life->before_end = (struct nytp_before_end){
        .state = rec->state,
        .pid = rec->run.pid,
        .wake_raw = rec->wake_raw,
        .size = rec->file.size,
        .call_point = rec->writer->calls.point,
    };
    if (rec->writer->deflate != NULL)
        rec->life->before_end.deflate = nytp_deflate_point(rec->writer->deflate);
    if (rec->dprof != NULL)
        nytp_dprof_keep_place(rec);
    nytp_profile_write_closing(rec);
    nytp_stream_flush(rec, NYTP_FLUSH_FINISH);
    rec->run.is_ended = true;
}

/* Cuts off the end and goes on compressing from before it. Returns false on failure. */
static bool take_back_end(struct nytp_recorder *rec)
{
    const struct nytp_deflate_point *const point = &rec->life->before_end.deflate;
    struct nytp_deflate *const before = point->is_set ? nytp_deflate_new_at(point) : NULL;
    const bool is_whole = before != NULL || rec->options.compress == 0;
    nytp_writer_set_deflate(rec->writer, before);
    rec->writer->calls.point = rec->life->before_end.call_point;
    if (rec->dprof != NULL)
        nytp_dprof_take_back(rec);
    return is_whole && nytp_outfile_truncate(&rec->file, rec->life->before_end.size);
}

/* Goes on as if the end had not been written. */
static void go_back(struct nytp_recorder *rec)
{
    rec->run.is_ended = false;
    nytp_frames_retract(rec);
    if (!take_back_end(rec))
        nytp_stream_abandon_profile(rec);
}

bool nytp_checkpoint(pTHX_ struct nytp_recorder *rec, char *text, size_t size)
{
    nytp_become_child_if_forked(aTHX_ rec);
    if (!nytp_file_is_open(rec) || rec->run.is_ended || !rec->file.is_regular) {
        snprintf(text, size, "nothing is being recorded into a file");
        return false;
    }
    dSAVE_ERRNO;
    nytp_guard(rec);
    nytp_clock_pause(&rec->clock);
    end_for_now(aTHX_ rec);
    const bool ok = nytp_outfile_checkpoint(&rec->file, text, size);
    go_back(rec);
    nytp_clock_resume(&rec->clock);
    nytp_unguard(rec);
    RESTORE_ERRNO;
    return ok;
}

void nytp_life_suspend(pTHX_ struct nytp_recorder *rec, struct nytp_before_end *before_end)
{
    end_for_now(aTHX_ rec);
    nytp_writer_put_trailer(rec->writer);
    nytp_blocks_suspend(rec);
    rec->run.is_ended = false;
    *before_end = rec->life->before_end;
}

void nytp_life_resume(pTHX_ struct nytp_recorder *rec, const struct nytp_before_end *before_end)
{
    rec->life->before_end = *before_end;
    go_back(rec);
    nytp_labels_resume(rec);
    nytp_blocks_resume(aTHX_ rec);
    if (rec->state == NYTP_RECORDING)
        go_on_recording(aTHX_ rec);
}

/* ---- fork and exec ---- */

/* Only the forking thread lives in the child. The others' files are closed: their locks would
 * last as long as the child. */
static void note_fork(struct nytp_recorder *rec, void *forking)
{
    rec->run.forked = true;
    rec->wake_raw = 0;
    rec->on.counts_plain = false;
    nytp_last_stack_forget(rec);
    if (forking != NULL && rec != forking && nytp_file_is_open(rec))
        nytp_outfile_close(&rec->file);
    if (rec->on.samples) /* no other event comes */
        nytp_safe_point_ask((void *)rec->interpreter);
}

static void on_fork_in_child(void)
{
    nytp_recorders_unlock();
    nytp_ticks_forked();
    nytp_recorders_each(note_fork, nytp_recorder_after_fork());
}

static void watch_forks(void)
{
    pthread_atfork(nytp_recorders_lock, nytp_recorders_unlock, on_fork_in_child);
}

/* Once for the process: handlers cannot be removed. */
void nytp_watch_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
}

static bool is_beyond_forkdepth(const struct nytp_recorder *rec)
{
    return rec->options.forkdepth >= 0 && (int64_t)rec->life->n_forks > rec->options.forkdepth;
}

/* Records when `from` does, or on request. */
void nytp_life_thread(struct nytp_recorder *rec, const struct nytp_recorder *from)
{
    const bool records = from->state == NYTP_RECORDING || from->state == NYTP_ARMED;
    rec->wake_up = nytp_wake_up;
    rec->life->n_forks = from->life->n_forks + (from->run.forked && nytp_file_is_open(from));
    nytp_kind_set(rec, rec->options.sample > 0 ? NYTP_SAMPLED : NYTP_EXACT);
    nytp_state_set(rec, is_beyond_forkdepth(rec) ? NYTP_OFF
                        : records                ? NYTP_ARMED
                                                 : NYTP_LOADED);
}

/* Returns false if forkdepth= excludes a profile of this child. */
static bool be_child(pTHX_ struct nytp_recorder *rec)
{
    rec->life->n_forks++;
    nytp_profile_be_child(rec);
    if (!is_beyond_forkdepth(rec))
        return true;
    nytp_state_set(rec, NYTP_OFF);
    nytp_switch_ops(aTHX_ rec, false);
    return false;
}

/* An interpreter cloned for later use by a server that forks first (mod_perl). */
static bool is_thread_in_wait(const struct nytp_recorder *rec)
{
    return rec->profile->is_thread && rec->state == NYTP_ARMED && !rec->run.is_ended;
}

/* The buffer belongs to the parent. The child's profile begins now: open calls begin anew, with
 * new counts and overhead. */
static void begin_child(pTHX_ struct nytp_recorder *rec)
{
    rec->run.forked = false;
    const bool was_open = nytp_file_is_open(rec), was_recording = rec->state == NYTP_RECORDING;
    nytp_parts_do(rec, NYTP_FORK);
    rec->run.pid = getpid();
    if (!was_open && !is_thread_in_wait(rec))
        return;
    const bool is_wanted = be_child(aTHX_ rec);
    if (!was_open)
        return;
    nytp_outfile_close(&rec->file);
    nytp_writer_reset(rec->writer);
    if (!is_wanted || !open_profile(aTHX_ rec))
        return;
    begin_file(aTHX_ rec);
    if (was_recording)
        go_on_recording(aTHX_ rec);
    else
        nytp_state_set(rec, NYTP_PAUSED);
    nytp_stream_flush(rec, NYTP_FLUSH_SYNC);
}

static void become_child(pTHX_ struct nytp_recorder *rec)
{
    dSAVE_ERRNO;
    begin_child(aTHX_ rec);
    RESTORE_ERRNO;
}

void nytp_life_resume_in_child(pTHX_ struct nytp_recorder *rec)
{
    if (!rec->run.forked)
        rec->life->n_forks--; /* the fork was counted */
    become_child(aTHX_ rec);
}

void nytp_become_child_if_forked(pTHX_ struct nytp_recorder *rec)
{
    if (!rec->run.forked)
        return;
    nytp_guard(rec);
    become_child(aTHX_ rec);
    nytp_unguard(rec);
}

static void end_for_exec(pTHX_ struct nytp_recorder *rec)
{
    dSAVE_ERRNO;
    nytp_guard(rec);
    if (rec->on.stmts)
        nytp_stmt_return(aTHX_ rec);
    nytp_clock_pause(&rec->clock);
    end_for_now(aTHX_ rec);
    if (rec->state != NYTP_OFF)
        nytp_state_set(rec, NYTP_CLOSED); /* a warning's handler may run */
    nytp_unguard(rec);
    RESTORE_ERRNO;
}

/* The program goes on, in the next statement or an exception's handler: so does the profile. */
static void on_exec_failed(pTHX_ void *unused)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    PERL_UNUSED_ARG(unused);
    dSAVE_ERRNO;
    nytp_guard(rec);
    rec->run.is_ended = false;
    nytp_clock_resume(&rec->clock);
    if (may_go_on(rec))
        nytp_state_set(rec, rec->life->before_end.state);
    nytp_frames_retract(rec);
    if (getpid() != rec->life->before_end.pid) {
        rec->run.forked = true; /* a warning's handler forked: the file is the parent's */
    } else if (!take_back_end(rec) && may_go_on(rec)) {
        nytp_stream_abandon_profile(rec);
    }
    if (rec->state == NYTP_RECORDING) {
        rec->wake_raw = rec->run.forked ? 0 : rec->life->before_end.wake_raw;
        nytp_switch_ops(aTHX_ rec, true); /* a handler may have switched them off */
    }
    nytp_unguard(rec);
    RESTORE_ERRNO;
}

/* Finishes before perl's exec handler, which may return or die of a fatal warning. */
OP *nytp_exec(pTHX_ struct nytp_recorder *rec)
{
    nytp_become_child_if_forked(aTHX_ rec);
    if (!nytp_file_is_open(rec))
        return nytp_real_op(aTHX_ OP_EXEC);
    end_for_exec(aTHX_ rec);
    ENTER;
    SAVEDESTRUCTOR_X(on_exec_failed, NULL);
    OP *const next = nytp_real_op(aTHX_ OP_EXEC);
    LEAVE;
    return next;
}

/* ---- the program's end ---- */

/* perl code runs after our END block: destructors of globals. It is recorded, but the file is
 * completed before: destruction may end in any way, or never. */
void nytp_end_program(pTHX_ struct nytp_recorder *rec)
{
    if (rec->state != NYTP_RECORDING || !rec->file.is_regular) {
        nytp_close(aTHX_ rec);
        return;
    }
    nytp_guard(rec);
    if (rec->on.stmts && !rec->stmt.discount_pending)
        nytp_stmt_end(aTHX_ rec);
    end_for_now(aTHX_ rec);
    nytp_writer_put_trailer(rec->writer);
    nytp_profile_say_end(rec);
    if (may_go_on(rec))
        nytp_state_set(rec, NYTP_ARMED);
    nytp_unguard(rec);
}

static void go_on_from_end(pTHX_ struct nytp_recorder *rec)
{
    dSAVE_ERRNO;
    nytp_guard(rec);
    nytp_exits_watch_libc(); /* a destructor's `exit` skips the rest of the destruction */
    nytp_state_set(rec, NYTP_RECORDING);
    if (rec->run.forked) {
        rec->run.is_ended = false; /* the parent's */
        become_child(aTHX_ rec);
    } else {
        go_back(rec);
        nytp_stmt_restart(rec, nytp_axis_now(rec));
        if (rec->state == NYTP_RECORDING)
            go_on_recording(aTHX_ rec);
    }
    nytp_unguard(rec);
    RESTORE_ERRNO;
}

/* perl calls this when it leaves the scope in which the thread began to record. */
static void on_thread_pause(pTHX_ void *unused)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    PERL_UNUSED_ARG(unused);
    if (rec == NULL)
        return;
    dSAVE_ERRNO;
    nytp_become_child_if_forked(aTHX_ rec);
    if (nytp_file_is_open(rec))
        nytp_end_program(aTHX_ rec);
    RESTORE_ERRNO;
}

/* A thread's work is done when its first call has returned. Its file is completed then, since
 * its interpreter may never be destroyed. Later events (freed objects) are recorded, too, and
 * the file is ended again, a limited number of times. */
static void plan_thread_end(pTHX_ struct nytp_recorder *rec)
{
    if (!rec->profile->is_thread || PL_phase == PERL_PHASE_DESTRUCT ||
        rec->life->n_thread_ends >= MAX_THREAD_ENDS)
        return;
    rec->life->n_thread_ends++;
    SAVEDESTRUCTOR_X(on_thread_pause, NULL);
}

void nytp_start_armed(pTHX_ struct nytp_recorder *rec)
{
    if (NYTP_IS_BEING_CLONED)
        return;
    plan_thread_end(aTHX_ rec);
    if (rec->run.is_ended) {
        go_on_from_end(aTHX_ rec);
        return;
    }
    nytp_become_child_if_forked(aTHX_ rec);
    if (rec->state == NYTP_OFF)
        return;
    nytp_state_set(rec, NYTP_CLOSED);
    nytp_start_recording(aTHX_ rec);
    if (PL_main_start != NULL)
        nytp_open_at_start_add(aTHX_ rec);
}

/* Makes the end final. */
void nytp_keep_end(struct nytp_recorder *rec)
{
    rec->run.is_ended = false;
    nytp_outfile_close(&rec->file);
    nytp_state_set(rec, NYTP_CLOSED);
}

void nytp_finish(pTHX_ struct nytp_recorder *rec)
{
    dSAVE_ERRNO;
    nytp_become_child_if_forked(aTHX_ rec);
    if (rec->state == NYTP_ARMED && !rec->profile->is_thread)
        nytp_start_armed(aTHX_ rec); /* a program without events has a profile, too */
    nytp_close(aTHX_ rec);
    RESTORE_ERRNO;
}

/* ---- work driven by the clock ---- */

void nytp_wake_up(pTHX_ struct nytp_recorder *rec, uint64_t *raw)
{
    if (rec->run.forked)
        become_child(aTHX_ rec);
    if (rec->state != NYTP_RECORDING) {
        rec->wake_raw = UINT64_MAX;
        return;
    }
    dSAVE_ERRNO;
    nytp_stream_watch_clock(rec, raw);
    nytp_clock_pause(&rec->clock);
    nytp_places_put_counts(rec);
    nytp_sub_infos_write(aTHX_ rec);
    nytp_regexes_write_if_due(rec, *raw);
    if (!rec->on.counts) /* a point in time */
        nytp_stream_emit_memory_if_due(rec, *raw);
    nytp_bytes_look_for_freed(rec);
    nytp_stream_flush_if_due(rec, *raw);
    nytp_clock_resume(&rec->clock);
    *raw = nytp_clock_raw(&rec->clock);
    nytp_stream_recalibrate_if_due(rec, *raw);
    const uint64_t costs_raw = nytp_costs_wake_up(aTHX_ rec, *raw);
    *raw = nytp_clock_raw(&rec->clock);
    if (rec->state == NYTP_RECORDING)
        nytp_stream_plan_wake_up(rec, *raw);
    if (costs_raw < rec->wake_raw)
        rec->wake_raw = costs_raw;
    RESTORE_ERRNO;
}

void nytp_recorder_free(struct nytp_recorder *rec)
{
    nytp_parts_do(rec, NYTP_FREE);
    nytp_writer_free(rec->writer);
    nytp_options_free(&rec->options);
    Safefree(rec->scratch.ptr);
    nytp_recorder_remove(rec);
}
