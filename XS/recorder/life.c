/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The recorder's life: start, pause, finish, fork, exec, the program's end.
 *
 * Nothing here may stop or change the program: what goes wrong is said once, in one line, and
 * the program runs on. What has to happen from time to time (flush, calibration, noticing a
 * fork) hangs on the clock reading that every event makes anyway; see nytp_now().
 */
#include "life.h"

#include "arcs.h"
#include "calls.h"
#include "compile.h"
#include "dprof.h"
#include "exits.h"
#include "files.h"
#include "infos.h"
#include "ops.h"
#include "profile.h"
#include "say.h"
#include "stmts.h"
#include "stream.h"
#include "subs.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- start ---- */

static void go_on_recording(struct nytp_recorder *rec)
{
    nytp_state_set(rec, NYTP_RECORDING);
    nytp_stream_restart(rec);
}

/* Recording begins, in a new file or after a pause. */
void nytp_begin_recording(struct nytp_recorder *rec)
{
    nytp_stmt_drop(rec);
    go_on_recording(rec);
}

/* The first records of a new file, after its header. */
static void begin_file(pTHX_ struct nytp_recorder *rec)
{
    rec->profile.overhead_base = rec->clock.overhead_ticks;
    rec->told_serial = 0;
    rec->discount_pending = false;
    nytp_frames_place(aTHX_ rec);
    nytp_frames_restart(rec, nytp_axis_now(rec));
    nytp_begin_recording(rec);
}

/* So that no entry of a table lies across two lines of the processor's cache. */
static void *zero_pages(size_t len)
{
    void *const pages =
        mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

/* The largest of what is needed, asked for before anything is recorded. */
bool nytp_has_tables(struct nytp_recorder *rec)
{
    if (rec->places == NULL)
        rec->places = zero_pages(NYTP_PLACES * sizeof *rec->places);
    if (rec->subs.called == NULL)
        rec->subs.called = calloc(NYTP_CALLED, sizeof *rec->subs.called);
    if (rec->places != NULL && rec->subs.called != NULL)
        return true;
    nytp_say(&rec->options, "out of memory; the program runs unprofiled");
    nytp_state_set(rec, NYTP_OFF);
    return false;
}

void nytp_start_recording(pTHX_ struct nytp_recorder *rec)
{
    if (!nytp_has_tables(rec))
        return;
    dSAVE_ERRNO;
    if (rec->profile.generation == 0)
        rec->guarded = nytp_guards_choose(aTHX_ & rec->guards, rec->options.sigexit != NULL);
    nytp_guard(rec);
    rec->life.pid = getpid();
    nytp_program_text_keep(aTHX_ rec);
    if (rec->clock.rate == 0)
        nytp_clock_init(&rec->clock, (int)rec->options.clock);
    if (nytp_profile_open(aTHX_ rec)) {
        nytp_stream_begin(rec);
        begin_file(aTHX_ rec);
        nytp_stream_flush(rec, NYTP_FLUSH_SYNC);
        if (rec->profile.generation == 1)
            nytp_exits_watch(rec, nytp_finish_without_perl);
    }
    nytp_unguard(rec);
    RESTORE_ERRNO;
}

void nytp_close(pTHX_ struct nytp_recorder *rec)
{
    if (!nytp_file_is_open(rec))
        return;
    nytp_guard(rec);
    if (rec->stmts_on)
        nytp_stmt_end(aTHX_ rec);
    nytp_profile_write_closing(aTHX_ rec);
    nytp_stream_flush(rec, NYTP_FLUSH_FINISH);
    nytp_writer_put_trailer(rec->writer);
    nytp_profile_say_end(rec);
    nytp_outfile_close(&rec->file);
    rec->profile.n_threads = 0;
    nytp_arcs_clear(rec);
    rec->profile.overhead_base = rec->clock.overhead_ticks;
    nytp_stmt_drop(rec);
    rec->profile.n_finished++;
    rec->profile.said_end = false;
    if (rec->state != NYTP_OFF)
        nytp_state_set(rec, NYTP_CLOSED);
    nytp_unguard(rec);
}

/* The profile gets its end, but that can be taken back. */
static void end_for_now(pTHX_ struct nytp_recorder *rec)
{
    nytp_infos_write(aTHX_ rec, true);
    nytp_stream_flush(rec, NYTP_FLUSH_SYNC);
    rec->life.before_end = (struct nytp_before_end){
        .state = rec->state,
        .pid = rec->life.pid,
        .wake_raw = rec->wake_raw,
        .size = rec->file.size,
        .deflate =
            rec->writer->deflate == NULL ? NULL : nytp_deflate_copy(rec->writer->deflate),
    };
    if (rec->dprof != NULL)
        nytp_dprof_keep(rec);
    nytp_profile_write_closing(aTHX_ rec);
    nytp_stream_flush(rec, NYTP_FLUSH_FINISH);
    rec->life.is_ended = true;
}

/* What the end added is cut off again, and compression goes on from before. */
static bool take_back_end(struct nytp_recorder *rec)
{
    struct nytp_deflate *const before = rec->life.before_end.deflate;
    const bool is_whole = before != NULL || rec->options.compress == 0;
    nytp_writer_set_deflate(rec->writer, before);
    if (rec->dprof != NULL)
        nytp_dprof_take_back(rec);
    return is_whole && nytp_outfile_truncate(&rec->file, rec->life.before_end.size);
}

/* ---- fork and exec ---- */

static void on_fork_in_child(void)
{
    struct nytp_recorder *const rec = nytp_recorder_of_process();
    rec->life.forked = true;
    rec->wake_raw = 0;
}

/* Once for the process: there is no way to take the handler back. */
void nytp_watch_forks(void)
{
    static bool is_watching;
    if (!is_watching)
        pthread_atfork(NULL, NULL, on_fork_in_child);
    is_watching = true;
}

/* What is buffered belongs to the parent. The child's profile begins now: calls that are open
 * begin anew, counts and overhead are its own. */
static void begin_child(pTHX_ struct nytp_recorder *rec)
{
    rec->life.forked = false;
    const bool was_open = nytp_file_is_open(rec), was_recording = rec->state == NYTP_RECORDING;
    rec->life.pid = getpid();
    if (!was_open)
        return;
    nytp_outfile_close(&rec->file);
    nytp_writer_reset(rec->writer);
    rec->life.n_forks++;
    if (rec->options.forkdepth >= 0 && (int64_t)rec->life.n_forks > rec->options.forkdepth) {
        nytp_state_set(rec, NYTP_OFF);
        return;
    }
    rec->profile.is_child = true;
    rec->profile.n_finished = 0;
    rec->stmts.paused.fid = 0; /* it is the parent's */
    rec->profile.started = 0;
    if (!nytp_profile_open(aTHX_ rec))
        return;
    begin_file(aTHX_ rec);
    if (!was_recording)
        nytp_state_set(rec, NYTP_PAUSED);
    nytp_stream_flush(rec, NYTP_FLUSH_SYNC);
}

static void become_child(pTHX_ struct nytp_recorder *rec)
{
    dSAVE_ERRNO;
    begin_child(aTHX_ rec);
    RESTORE_ERRNO;
}

void nytp_become_child_if_forked(pTHX_ struct nytp_recorder *rec)
{
    if (!rec->life.forked)
        return;
    nytp_guard(rec);
    become_child(aTHX_ rec);
    nytp_unguard(rec);
}

static void end_for_exec(pTHX_ struct nytp_recorder *rec)
{
    dSAVE_ERRNO;
    nytp_guard(rec);
    if (rec->stmts_on)
        nytp_stmt_return(aTHX_ rec);
    nytp_clock_pause(&rec->clock);
    end_for_now(aTHX_ rec);
    if (rec->state != NYTP_OFF)
        nytp_state_set(rec, NYTP_CLOSED); /* perl code may run before: a warning's handler */
    nytp_unguard(rec);
    RESTORE_ERRNO;
}

/* The program lives on, in the next statement or in a handler of its exception, and so does the
 * profile. */
static void on_exec_failed(pTHX_ void *unused)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    PERL_UNUSED_ARG(unused);
    dSAVE_ERRNO;
    nytp_guard(rec);
    rec->life.is_ended = false;
    nytp_clock_resume(&rec->clock);
    if (rec->state != NYTP_OFF)
        nytp_state_set(rec, rec->life.before_end.state);
    nytp_frames_retract(rec);
    if (getpid() != rec->life.before_end.pid) {
        rec->life.forked = true; /* the handler of a warning did: the file is the parent's */
        nytp_deflate_free(rec->life.before_end.deflate);
    } else if (!take_back_end(rec) && rec->state != NYTP_OFF) {
        nytp_stream_give_up(rec);
    }
    if (rec->state == NYTP_RECORDING)
        rec->wake_raw = rec->life.forked ? 0 : rec->life.before_end.wake_raw;
    nytp_unguard(rec);
    RESTORE_ERRNO;
}

/* Finish before perl's exec handler, which may return, or die of a warning that is fatal. */
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

/* perl code runs after our END block: destructors of what is global. What it adds is recorded,
 * but the file is whole before, for destruction may end in any way, or never come. */
void nytp_end_program(pTHX_ struct nytp_recorder *rec)
{
    if (rec->state != NYTP_RECORDING || !rec->file.is_regular) {
        nytp_close(aTHX_ rec);
        return;
    }
    nytp_guard(rec);
    if (rec->stmts_on && !rec->discount_pending)
        nytp_stmt_end(aTHX_ rec);
    end_for_now(aTHX_ rec);
    nytp_writer_put_trailer(rec->writer);
    nytp_profile_say_end(rec);
    rec->profile.said_end = true;
    if (rec->state != NYTP_OFF)
        nytp_state_set(rec, NYTP_ARMED);
    nytp_unguard(rec);
}

static void drop_end(struct nytp_recorder *rec)
{
    rec->life.is_ended = false;
    nytp_deflate_free(rec->life.before_end.deflate);
    rec->life.before_end.deflate = NULL;
}

static void go_on(pTHX_ struct nytp_recorder *rec)
{
    dSAVE_ERRNO;
    nytp_guard(rec);
    nytp_state_set(rec, NYTP_RECORDING);
    if (rec->life.forked) {
        drop_end(rec); /* it is the parent's */
        become_child(aTHX_ rec);
    } else {
        rec->life.is_ended = false;
        nytp_frames_retract(rec);
        if (!take_back_end(rec))
            nytp_stream_give_up(rec);
        rec->stmt.since_ticks = nytp_axis_now(rec);
        if (rec->state == NYTP_RECORDING)
            go_on_recording(rec);
    }
    nytp_unguard(rec);
    RESTORE_ERRNO;
}

void nytp_start_armed(pTHX_ struct nytp_recorder *rec)
{
    if (rec->life.is_ended) {
        go_on(aTHX_ rec);
        return;
    }
    nytp_state_set(rec, NYTP_CLOSED);
    nytp_start_recording(aTHX_ rec);
}

/* What the end of the program added stays. */
void nytp_keep_end(struct nytp_recorder *rec)
{
    drop_end(rec);
    nytp_outfile_close(&rec->file);
    nytp_state_set(rec, NYTP_CLOSED);
}

void nytp_finish(pTHX_ struct nytp_recorder *rec)
{
    dSAVE_ERRNO;
    nytp_become_child_if_forked(aTHX_ rec);
    if (rec->state == NYTP_ARMED)
        nytp_start_armed(aTHX_ rec);
    nytp_close(aTHX_ rec);
    RESTORE_ERRNO;
}

void nytp_finish_without_perl(struct nytp_recorder *rec)
{
    if (!nytp_file_is_open(rec) || rec->life.is_ended || getpid() != rec->life.pid)
        return;
    nytp_profile_write_closing_without_perl(rec);
    nytp_stream_flush(rec, NYTP_FLUSH_FINISH);
    nytp_state_set(rec, NYTP_OFF);
}

/* ---- what hangs on the clock ---- */

void nytp_wake_up(pTHX_ struct nytp_recorder *rec, uint64_t *raw)
{
    if (rec->life.forked)
        become_child(aTHX_ rec);
    if (rec->state != NYTP_RECORDING) {
        rec->wake_raw = UINT64_MAX;
        return;
    }
    dSAVE_ERRNO;
    nytp_clock_pause(&rec->clock);
    nytp_infos_write(aTHX_ rec, false);
    nytp_stream_flush_if_due(rec, *raw);
    nytp_clock_resume(&rec->clock);
    *raw = nytp_clock_raw(&rec->clock);
    nytp_stream_recalibrate_if_due(rec, *raw);
    if (rec->state == NYTP_RECORDING)
        nytp_stream_plan_wake_up(rec, *raw);
    RESTORE_ERRNO;
}

void nytp_recorder_free(pTHX_ struct nytp_recorder *rec)
{
    nytp_writer_free(rec->writer);
    nytp_dprof_free(rec);
    if (rec->places != NULL)
        munmap(rec->places, NYTP_PLACES * sizeof *rec->places);
    free(rec->subs.called);
    nytp_calls_free(rec);
    nytp_subs_free(aTHX_ rec);
    nytp_files_free(aTHX_ rec);
    nytp_options_free(&rec->options);
    Safefree(rec->profile.base_path);
    Safefree(rec->scratch.ptr);
    Zero(rec, 1, struct nytp_recorder);
    rec->wake_raw = UINT64_MAX;
}
