/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The recorder's life: options, start, pause, finish, fork, exec.
 *
 * Nothing here may stop or change the program: what goes wrong is said once, in one line, and
 * the program runs on. What has to happen from time to time (flush, calibration, noticing a
 * fork) hangs on the clock reading that every event makes anyway; see nytp_now().
 */
#include "recorder.h"
#include "costs.h"

#include "file_name.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

struct nytp_recorder *nytp_recorder;

enum {
    NS_PER_MS = 1000000,
    FIRST_CALIBRATION_NS = NS_PER_MS,
    SHARE_AT_RISK = 128, /* of a profile, that is not on disk: one in so many bytes */
    LAST_CALIBRATION_NS = 1000 * NS_PER_MS,
    WAIT_SHARE = 50,
    MOST_CREDIT_NS = 10 * NS_PER_MS,
};

static const char default_path[] = "nytprof.out";

/* ---- state ---- */

static void set_state(struct nytp_recorder *rec, enum nytp_state state)
{
    const bool on = state == NYTP_RECORDING;
    rec->state = state;
    rec->stmts_on = on && rec->options.stmts;
    rec->subs_on = on && rec->options.subs;
    rec->counting = nytp_file_is_open(rec) && rec->options.subs;
    rec->entries_on = rec->options.calls > 1;
    rec->returns_on = rec->options.calls > 0;
    rec->marks_on = rec->dprof != NULL;
    rec->blocks_on = rec->options.blocks;
    rec->finds_caller = rec->options.findcaller;
    rec->leave_on = rec->options.leave && !rec->options.use_db_sub;
    if (!on)
        rec->wake_raw = UINT64_MAX;
    if (state == NYTP_OFF)
        nytp_hooks_remove();
}

/* The profile cannot be written any more. Bytes that are still put are dropped. */
static void give_up(struct nytp_recorder *rec)
{
    if (!rec->said_failure)
        nytp_say(&rec->options, "%s; profiling stops here, the program goes on",
                 rec->file.error.status != NYTP_OK ? rec->file.error.message
                                                   : "cannot compress the profile");
    rec->said_failure = true;
    set_state(rec, NYTP_OFF);
}

/* ---- flushing ---- */

static void flush(struct nytp_recorder *rec, enum nytp_flush how)
{
    dSAVE_ERRNO;
    nytp_clock_pause(&rec->clock);
    const bool ok =
        nytp_writer_flush(rec->writer, how) && (rec->dprof == NULL || nytp_dprof_flush(rec));
    if (how != NYTP_FLUSH_NONE)
        rec->synced_raw = rec->writer->n_raw;
    nytp_clock_resume(&rec->clock);
    if (!ok && rec->state != NYTP_OFF)
        give_up(rec);
    RESTORE_ERRNO;
}

/* What is not on disk is lost if we are killed: never more than the shortest block or a small
 * share. */
static void on_full(struct nytp_writer *writer)
{
    struct nytp_recorder *const rec = nytp_recorder;
    const uint64_t total = writer->n_raw + (uint64_t)(writer->at - writer->block);
    const uint64_t share = total / SHARE_AT_RISK;
    const size_t next = share < NYTP_WRITER_BLOCK  ? NYTP_WRITER_BLOCK
                        : share > NYTP_WRITER_MOST ? NYTP_WRITER_MOST
                                                   : (size_t)share;
    const bool is_due = total - rec->synced_raw + next > share;
    flush(rec, is_due ? NYTP_FLUSH_SYNC : NYTP_FLUSH_NONE);
    nytp_writer_set_block(writer, next);
    if (rec->n_unwritten != rec->n_waiting)
        rec->wake_raw = 0; /* new subs' lines come soon after */
}

static void plan_wake_up(struct nytp_recorder *rec, uint64_t raw)
{
    const uint64_t flush_ns = (uint64_t)(rec->options.flush_s * 1e9);
    uint64_t ns = rec->calibrate_ns;
    if (flush_ns > 0 && flush_ns < ns)
        ns = flush_ns;
    rec->wake_raw = raw + nytp_clock_raw_of_ns(&rec->clock, ns);
}

static void flush_if_due(struct nytp_recorder *rec, uint64_t raw)
{
    const uint64_t flush_ns = (uint64_t)(rec->options.flush_s * 1e9);
    if (flush_ns == 0 || raw - rec->flush_raw < nytp_clock_raw_of_ns(&rec->clock, flush_ns))
        return;
    rec->flush_raw = raw;
    nytp_trace(&rec->options, 4, "flush after %llu bytes", (unsigned long long)rec->file.size);
    flush(rec, NYTP_FLUSH_SYNC);
}

/* Flushes that calls ask for may take one part in WAIT_SHARE of the time, and MOST_CREDIT_NS at
 * once: a program that blocks now and then flushes each time, one that reads a socket byte by
 * byte only now and then. */
static bool can_pay_flush(struct nytp_recorder *rec, uint64_t raw)
{
    const int64_t most = (int64_t)nytp_clock_raw_of_ns(&rec->clock, MOST_CREDIT_NS);
    const uint64_t since = raw - rec->credited_raw;
    rec->credited_raw = raw;
    rec->credit_raw += since / WAIT_SHARE > (uint64_t)most ? most : (int64_t)(since / WAIT_SHARE);
    if (rec->credit_raw > most)
        rec->credit_raw = most;
    return rec->credit_raw > 0;
}

void nytp_flush_before_wait(pTHX_ struct nytp_recorder *rec)
{
    const uint64_t raw = nytp_clock_raw(&rec->clock);
    if (rec->options.flush_s <= 0 || rec->forked || !can_pay_flush(rec, raw))
        return;
    dSAVE_ERRNO;
    nytp_guard(rec);
    nytp_clock_pause(&rec->clock);
    nytp_frames_tell(rec);
    nytp_infos_write(aTHX_ rec, false);
    flush(rec, NYTP_FLUSH_SYNC);
    nytp_clock_resume(&rec->clock);
    rec->flush_raw = nytp_clock_raw(&rec->clock);
    rec->credit_raw -= (int64_t)(rec->flush_raw - raw);
    nytp_unguard(rec);
    RESTORE_ERRNO;
}

static void recalibrate_if_due(struct nytp_recorder *rec, uint64_t raw)
{
    if (raw - rec->calibrated_raw < nytp_clock_raw_of_ns(&rec->clock, rec->calibrate_ns))
        return;
    rec->calibrated_raw = raw;
    nytp_clock_recalibrate(&rec->clock, raw);
    if (rec->calibrate_ns < LAST_CALIBRATION_NS)
        rec->calibrate_ns *= 4; /* the longer the base, the less there is to correct */
}

static void become_child(pTHX_ struct nytp_recorder *rec);

void nytp_wake_up(pTHX_ struct nytp_recorder *rec, uint64_t *raw)
{
    if (rec->forked)
        become_child(aTHX_ rec);
    if (rec->state != NYTP_RECORDING) {
        rec->wake_raw = UINT64_MAX;
        return;
    }
    dSAVE_ERRNO;
    nytp_clock_pause(&rec->clock);
    nytp_infos_write(aTHX_ rec, false);
    flush_if_due(rec, *raw);
    nytp_clock_resume(&rec->clock);
    *raw = nytp_clock_raw(&rec->clock);
    recalibrate_if_due(rec, *raw);
    if (rec->state == NYTP_RECORDING)
        plan_wake_up(rec, *raw);
    RESTORE_ERRNO;
}

/* ---- a profile file ---- */

static double time_of_day(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (double)now.tv_sec + (double)now.tv_usec / 1e6;
}

static void write_number(struct nytp_recorder *rec, const char *key, long value)
{
    char text[24];
    const int len = snprintf(text, sizeof text, "%ld", value);
    nytp_write_attribute(rec->writer, key, text, (size_t)len);
}

static void write_text(struct nytp_recorder *rec, const char *key, const char *value)
{
    nytp_write_attribute(rec->writer, key, value, strlen(value));
}

static void write_application(pTHX_ struct nytp_recorder *rec)
{
    SV *const name = get_sv("0", 0);
    STRLEN len;
    const char *const text = name != NULL && SvPOK(name) ? SvPV_nomg(name, len) : NULL;
    if (text != NULL)
        nytp_write_attribute(rec->writer, "application", text, len);
    else
        write_text(rec, "application", PL_origfilename == NULL ? "" : PL_origfilename);
}

static long shown_clock_id(const struct nytp_recorder *rec)
{
    return (long)rec->clock.id;
}

static void write_header(pTHX_ struct nytp_recorder *rec)
{
    char text[120];
    const time_t now = time(NULL);
    struct tm parts;
    nytp_write_version(rec->writer, 5, 0);
    strftime(text, sizeof text,
             "Perl profile database. Generated by Devel::NYTProf on %a %b %e %H:%M:%S %Y",
             localtime_r(&now, &parts));
    nytp_write_comment(rec->writer, text);
    write_number(rec, "basetime", (long)PL_basetime);
    write_application(aTHX_ rec);
    snprintf(text, sizeof text, "%d.%d.%d", PERL_REVISION, PERL_VERSION, PERL_SUBVERSION);
    write_text(rec, "perl_version", text);
    write_number(rec, "nv_size", (long)sizeof(double));
    write_text(rec, "xs_version", XS_VERSION);
    write_text(rec, "hash_seed", rec->hash_seed);
    nytp_host_name(text, sizeof text);
    write_text(rec, "host", text);
    write_number(rec, "PL_perldb", (long)PL_perldb);
    write_number(rec, "clock_id", shown_clock_id(rec));
    write_number(rec, "ticks_per_sec", NYTP_TICKS_PER_SEC);
    nytp_options_write(&rec->options, shown_clock_id(rec), rec->writer);
    if (rec->options.compress > 0)
        nytp_write_start_deflate(rec->writer, (int)rec->options.compress);
    nytp_write_pid_start(rec->writer, (uint32_t)rec->pid, (uint32_t)getppid(), time_of_day());
    if (rec->dprof == NULL)
        nytp_costs_write(aTHX_ rec);
}

static char *path_for(pTHX_ struct nytp_recorder *rec)
{
    const struct nytp_file_name_values values = {
        .pid = (long)rec->pid,
        .started = (long long)rec->started,
        .program = PL_origfilename == NULL ? "" : PL_origfilename,
    };
    const bool has_pid = rec->is_template && nytp_file_name_has_pid(rec->base_path);
    char *const expanded =
        rec->is_template ? nytp_file_name_expand(rec->base_path, &values) : NULL;
    nytp_text_clear(&rec->scratch);
    nytp_text_puts(&rec->scratch, expanded == NULL ? rec->base_path : expanded);
    free(expanded);
    if (!has_pid && (rec->options.addpid || rec->is_child))
        nytp_text_printf(&rec->scratch, ".%ld", (long)rec->pid);
    if (rec->n_finished > 0)
        nytp_text_printf(&rec->scratch, ".%u", rec->n_finished + 1);
    if (rec->options.addtimestamp)
        nytp_text_printf(&rec->scratch, ".%ld", (long)time(NULL));
    return nytp_copy(rec->scratch.ptr, rec->scratch.len);
}

/* The name as given, absolute, so that a child finds the place after a chdir. */
static void set_base_path(struct nytp_recorder *rec, const char *path)
{
    char *const cwd = path[0] == '/' ? NULL : getcwd(NULL, 0);
    rec->is_child = rec->is_template = rec->is_default_path = false;
    rec->n_finished = 0;
    Safefree(rec->base_path);
    if (cwd == NULL) {
        rec->base_path = nytp_copy(path, strlen(path));
        return;
    }
    nytp_text_clear(&rec->scratch);
    nytp_text_printf(&rec->scratch, "%s/%s", strEQ(cwd, "/") ? "" : cwd,
                     strnEQ(path, "./", 2) ? path + 2 : path);
    rec->base_path = nytp_copy(rec->scratch.ptr, rec->scratch.len);
    free(cwd);
}

/* By option file=, which may hold placeholders. */
static void set_path_by_options(struct nytp_recorder *rec)
{
    const char *const name = rec->options.file;
    set_base_path(rec, name == NULL ? default_path : name);
    rec->is_template = name != NULL && strchr(name, '%') != NULL;
    rec->is_default_path = name == NULL;
}

/* Everything that the old profile file knew has to be said again in a new one. */
static void forget_written(struct nytp_recorder *rec)
{
    if (rec->generation++ > 0) /* they begin as zero pages, few of which most programs need */
        Zero(rec->places, NYTP_PLACES, struct nytp_place);
    nytp_arcs_clear(rec);
    for (uint32_t i = 1; i <= rec->n_subs; i++)
        nytp_sub_needs_info(rec, rec->subs[i]);
}

static int64_t axis_now(const struct nytp_recorder *rec)
{
    const uint64_t raw =
        rec->clock.pauses > 0 ? rec->clock.paused_raw : nytp_clock_raw(&rec->clock);
    return nytp_clock_ticks(&rec->clock, raw);
}

static bool open_profile(pTHX_ struct nytp_recorder *rec)
{
    if (rec->started == 0)
        rec->started = time(NULL);
    /* `perl -MDevel::NYTProf -e 1` looks whether the module is there */
    const bool is_glance = rec->is_default_path && rec->e_text != NULL && !rec->is_debugger;
    char *const path = path_for(aTHX_ rec);
    const bool ok = nytp_outfile_open(&rec->file, path, is_glance);
    Safefree(path);
    if (!ok) {
        nytp_say(&rec->options, "%s; the program runs unprofiled", rec->file.error.message);
        rec->said_failure = true;
        set_state(rec, NYTP_OFF);
        return false;
    }
    if (rec->file.note[0] != '\0' &&
        (!rec->file.is_beside_ancestor || rec->options.log != NULL))
        nytp_say(&rec->options, "%s", rec->file.note);
    if (rec->writer == NULL)
        rec->writer = nytp_writer_new(
            rec->dprof != NULL ? nytp_dprof_discard : nytp_outfile_write, &rec->file);
    if (rec->writer == NULL || (rec->dprof != NULL && !nytp_dprof_begin(rec, axis_now(rec)))) {
        nytp_say(&rec->options, "out of memory; the program runs unprofiled");
        set_state(rec, NYTP_OFF);
        return false;
    }
    nytp_writer_reset(rec->writer);
    rec->writer->on_full = on_full;
    forget_written(rec);
    write_header(aTHX_ rec);
    nytp_trace(&rec->options, 1, "process %ld writes %s", (long)rec->pid, rec->file.path);
    return true;
}

static void go_on_recording(struct nytp_recorder *rec)
{
    set_state(rec, NYTP_RECORDING);
    rec->flush_raw = rec->calibrated_raw = nytp_clock_raw(&rec->clock);
    plan_wake_up(rec, rec->flush_raw);
}

/* Recording begins, in a new file or after a pause. */
static void begin_recording(struct nytp_recorder *rec)
{
    nytp_stmt_drop(rec);
    go_on_recording(rec);
}

/* The first records of a new file, after its header. */
static void begin_file(pTHX_ struct nytp_recorder *rec)
{
    rec->overhead_base = rec->clock.overhead_ticks;
    rec->told_serial = 0;
    rec->discount_pending = false;
    nytp_frames_place(aTHX_ rec);
    nytp_frames_restart(rec, axis_now(rec));
    begin_recording(rec);
}

/* So that no entry of a table lies across two lines of the processor's cache. */
static void *zero_pages(size_t len)
{
    void *const pages =
        mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

/* The largest of what is needed, asked for before anything is recorded. */
static bool has_tables(struct nytp_recorder *rec)
{
    if (rec->places == NULL)
        rec->places = zero_pages(NYTP_PLACES * sizeof *rec->places);
    if (rec->called == NULL)
        rec->called = calloc(NYTP_CALLED, sizeof *rec->called);
    if (rec->places != NULL && rec->called != NULL)
        return true;
    nytp_say(&rec->options, "out of memory; the program runs unprofiled");
    set_state(rec, NYTP_OFF);
    return false;
}

static void start(pTHX_ struct nytp_recorder *rec)
{
    if (!has_tables(rec))
        return;
    dSAVE_ERRNO;
    if (rec->generation == 0)
        rec->guarded = nytp_guards_choose(aTHX_ & rec->guards, rec->options.sigexit != NULL);
    nytp_guard(rec);
    rec->pid = getpid();
    nytp_program_text_keep(aTHX_ rec);
    if (rec->clock.rate == 0)
        nytp_clock_init(&rec->clock, (int)rec->options.clock);
    if (open_profile(aTHX_ rec)) {
        rec->calibrate_ns = FIRST_CALIBRATION_NS;
        begin_file(aTHX_ rec);
        flush(rec, NYTP_FLUSH_SYNC);
        if (rec->generation == 1)
            nytp_exits_watch(rec);
    }
    nytp_unguard(rec);
    RESTORE_ERRNO;
}

static void write_overhead(struct nytp_recorder *rec)
{
    char text[32];
    const int len = snprintf(text, sizeof text, "%.15g",
                             (double)(rec->clock.overhead_ticks - rec->overhead_base));
    nytp_write_attribute(rec->writer, "cumulative_overhead_ticks", text, (size_t)len);
}

/* Said in the profile, not to the program's user: threads are nothing out of the ordinary. */
static void write_thread_count(struct nytp_recorder *rec)
{
    char text[60];
    if (rec->n_threads == 0)
        return;
    snprintf(text, sizeof text, "%u threads were not profiled", rec->n_threads);
    nytp_write_comment(rec->writer, text);
    nytp_trace(&rec->options, 1, "%s", text);
}

/* The part of the stream that only the end can tell. */
static void write_closing(pTHX_ struct nytp_recorder *rec)
{
    write_overhead(rec);
    if (rec->options.subs)
        nytp_frames_report(rec, axis_now(rec));
    nytp_program_lines_write(aTHX_ rec);
    nytp_infos_write(aTHX_ rec, true);
    nytp_begins_write(rec);
    if (rec->options.subs)
        nytp_arcs_write(rec);
    if (rec->dprof != NULL)
        nytp_dprof_end(rec, axis_now(rec));
    write_thread_count(rec);
    if (rec->dprof == NULL &&
        !rec->options.blocks) /* blocks look at a stack that may be gone */
        nytp_costs_write(aTHX_ rec);
    nytp_write_pid_end(rec->writer, (uint32_t)rec->pid, time_of_day());
}

void nytp_finish_without_perl(struct nytp_recorder *rec)
{
    if (!nytp_file_is_open(rec) || rec->is_ended || getpid() != rec->pid)
        return;
    write_overhead(rec);
    if (rec->options.subs)
        nytp_frames_report(rec, axis_now(rec));
    nytp_infos_write_known(rec);
    nytp_begins_write(rec);
    if (rec->options.subs)
        nytp_arcs_write_unsorted(rec);
    if (rec->dprof != NULL)
        nytp_dprof_end(rec, axis_now(rec));
    nytp_write_pid_end(rec->writer, (uint32_t)rec->pid, time_of_day());
    flush(rec, NYTP_FLUSH_FINISH);
    set_state(rec, NYTP_OFF);
}

static void check_is_kept(struct nytp_recorder *rec)
{
    if (rec->file.error.status == NYTP_OK && nytp_outfile_is_lost(&rec->file))
        nytp_say(&rec->options,
                 "%s was removed or replaced while the program ran; the profile is lost",
                 rec->file.path);
}

/* A child says nothing itself: what it writes to its standard error may be looked at by the
 * program. The first process says it at its end, where no program is reading. */
static void say_others(struct nytp_recorder *rec)
{
    char names[300];
    const bool is_first = !rec->is_child && !rec->file.is_beside_ancestor;
    if (!is_first || !rec->file.is_regular || !nytp_say_has_reader(&rec->options))
        return;
    const unsigned n = nytp_outfile_list_numbered(&rec->file, names, sizeof names);
    if (n > 0)
        nytp_say(&rec->options, "also of this run, beside %s: %u (%s)", rec->file.path, n,
                 names);
}

/* Who loads the profiler into a running server, say, reads the empty profile as "no time". */
static void say_blindness(struct nytp_recorder *rec)
{
    if (!rec->comes_late || rec->sees_code || rec->said_blindness)
        return;
    rec->said_blindness = true;
    nytp_say(&rec->options,
             "nothing of the program was seen: it had been compiled before the profiler was "
             "loaded; start it with perl -d:NYTProf (NYTPROF=start=no, to begin at "
             "DB::enable_profile())");
}

static void say_end(struct nytp_recorder *rec)
{
    if (rec->said_end)
        return;
    dSAVE_ERRNO;
    check_is_kept(rec);
    say_others(rec);
    say_blindness(rec);
    nytp_trace(&rec->options, 1,
               "process %ld finished %s, %llu bytes: %u files, %u subs, %zu call sites",
               (long)rec->pid, rec->file.path, (unsigned long long)rec->file.size, rec->n_fids,
               rec->last_sub_id, rec->arcs.used);
    RESTORE_ERRNO;
}

/* start=no is set where something else is to enable the profiler, which it may not do. */
static void say_if_never_enabled(struct nytp_recorder *rec)
{
    const bool waits = rec->options.start != NULL && strEQ(rec->options.start, "no");
    if (waits && rec->state == NYTP_LOADED && getpid() == rec->loader &&
        nytp_say_has_reader(&rec->options))
        nytp_say(&rec->options,
                 "nothing was recorded: start=no, and DB::enable_profile() was not called");
}

static void close_profile(pTHX_ struct nytp_recorder *rec)
{
    if (!nytp_file_is_open(rec))
        return;
    nytp_guard(rec);
    if (rec->stmts_on)
        nytp_stmt_end(aTHX_ rec);
    write_closing(aTHX_ rec);
    flush(rec, NYTP_FLUSH_FINISH);
    nytp_writer_put_trailer(rec->writer);
    say_end(rec);
    nytp_outfile_close(&rec->file);
    rec->n_threads = 0;
    nytp_arcs_clear(rec);
    rec->overhead_base = rec->clock.overhead_ticks;
    nytp_stmt_drop(rec);
    rec->n_finished++;
    rec->said_end = false;
    if (rec->state != NYTP_OFF)
        set_state(rec, NYTP_CLOSED);
    nytp_unguard(rec);
}

/* The profile gets its end, but that can be taken back. */
static void end_for_now(pTHX_ struct nytp_recorder *rec)
{
    nytp_infos_write(aTHX_ rec, true);
    flush(rec, NYTP_FLUSH_SYNC);
    rec->before_end = (struct nytp_before_end){
        .state = rec->state,
        .pid = rec->pid,
        .wake_raw = rec->wake_raw,
        .size = rec->file.size,
        .deflate =
            rec->writer->deflate == NULL ? NULL : nytp_deflate_copy(rec->writer->deflate),
    };
    if (rec->dprof != NULL)
        nytp_dprof_keep(rec);
    write_closing(aTHX_ rec);
    flush(rec, NYTP_FLUSH_FINISH);
    rec->is_ended = true;
}

/* What the end added is cut off again, and compression goes on from before. */
static bool take_back_end(struct nytp_recorder *rec)
{
    struct nytp_deflate *const before = rec->before_end.deflate;
    const bool is_whole = before != NULL || rec->options.compress == 0;
    nytp_writer_set_deflate(rec->writer, before);
    if (rec->dprof != NULL)
        nytp_dprof_take_back(rec);
    return is_whole && nytp_outfile_truncate(&rec->file, rec->before_end.size);
}

/* ---- fork and exec ---- */

static void on_fork_in_child(void)
{
    if (nytp_recorder == NULL)
        return;
    nytp_recorder->forked = true;
    nytp_recorder->wake_raw = 0;
}

/* What is buffered belongs to the parent. The child's profile begins now: calls that are open
 * begin anew, counts and overhead are its own. */
/* Once for the process: there is no way to take the handler back. */
static void watch_forks(void)
{
    static bool is_watching;
    if (!is_watching)
        pthread_atfork(NULL, NULL, on_fork_in_child);
    is_watching = true;
}

static void begin_child(pTHX_ struct nytp_recorder *rec)
{
    rec->forked = false;
    const bool was_open = nytp_file_is_open(rec), was_recording = rec->state == NYTP_RECORDING;
    rec->pid = getpid();
    if (!was_open)
        return;
    nytp_outfile_close(&rec->file);
    nytp_writer_reset(rec->writer);
    rec->generations++;
    if (rec->options.forkdepth >= 0 && (int64_t)rec->generations > rec->options.forkdepth) {
        set_state(rec, NYTP_OFF);
        return;
    }
    rec->is_child = true;
    rec->n_finished = 0;
    rec->paused_stmt.fid = 0; /* it is the parent's */
    rec->started = 0;
    if (!open_profile(aTHX_ rec))
        return;
    begin_file(aTHX_ rec);
    if (!was_recording)
        set_state(rec, NYTP_PAUSED);
    flush(rec, NYTP_FLUSH_SYNC);
}

static void become_child(pTHX_ struct nytp_recorder *rec)
{
    dSAVE_ERRNO;
    begin_child(aTHX_ rec);
    RESTORE_ERRNO;
}

static void become_child_if_forked(pTHX_ struct nytp_recorder *rec)
{
    if (!rec->forked)
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
        set_state(rec, NYTP_CLOSED); /* perl code may run before: a warning's handler */
    nytp_unguard(rec);
    RESTORE_ERRNO;
}

/* The program lives on, in the next statement or in a handler of its exception, and so does the
 * profile. */
static void on_exec_failed(pTHX_ void *unused)
{
    struct nytp_recorder *const rec = nytp_recorder;
    PERL_UNUSED_ARG(unused);
    dSAVE_ERRNO;
    nytp_guard(rec);
    rec->is_ended = false;
    nytp_clock_resume(&rec->clock);
    if (rec->state != NYTP_OFF)
        set_state(rec, rec->before_end.state);
    nytp_frames_retract(rec);
    if (getpid() != rec->before_end.pid) {
        rec->forked = true; /* the handler of a warning did: the file is the parent's */
        nytp_deflate_free(rec->before_end.deflate);
    } else if (!take_back_end(rec) && rec->state != NYTP_OFF) {
        give_up(rec);
    }
    if (rec->state == NYTP_RECORDING)
        rec->wake_raw = rec->forked ? 0 : rec->before_end.wake_raw;
    nytp_unguard(rec);
    RESTORE_ERRNO;
}

/* Finish before perl's exec handler, which may return, or die of a warning that is fatal. */
OP *nytp_exec(pTHX_ struct nytp_recorder *rec)
{
    become_child_if_forked(aTHX_ rec);
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
static void end_program(pTHX_ struct nytp_recorder *rec)
{
    if (rec->state != NYTP_RECORDING || !rec->file.is_regular) {
        close_profile(aTHX_ rec);
        return;
    }
    nytp_guard(rec);
    if (rec->stmts_on && !rec->discount_pending)
        nytp_stmt_end(aTHX_ rec);
    end_for_now(aTHX_ rec);
    nytp_writer_put_trailer(rec->writer);
    say_end(rec);
    rec->said_end = true;
    if (rec->state != NYTP_OFF)
        set_state(rec, NYTP_ARMED);
    nytp_unguard(rec);
}

static void drop_end(struct nytp_recorder *rec)
{
    rec->is_ended = false;
    nytp_deflate_free(rec->before_end.deflate);
    rec->before_end.deflate = NULL;
}

static void go_on(pTHX_ struct nytp_recorder *rec)
{
    dSAVE_ERRNO;
    nytp_guard(rec);
    set_state(rec, NYTP_RECORDING);
    if (rec->forked) {
        drop_end(rec); /* it is the parent's */
        become_child(aTHX_ rec);
    } else {
        rec->is_ended = false;
        nytp_frames_retract(rec);
        if (!take_back_end(rec))
            give_up(rec);
        rec->stmt.since_ticks = axis_now(rec);
        if (rec->state == NYTP_RECORDING)
            go_on_recording(rec);
    }
    nytp_unguard(rec);
    RESTORE_ERRNO;
}

void nytp_start_armed(pTHX_ struct nytp_recorder *rec)
{
    if (rec->is_ended) {
        go_on(aTHX_ rec);
        return;
    }
    set_state(rec, NYTP_CLOSED);
    start(aTHX_ rec);
}

/* Where perl is embedded (mod_perl), the process may make another interpreter, and the object
 * stays loaded: perl code that is still to run comes to our op handlers. What is left is a
 * recorder of no interpreter, which the next one takes over. */
static void let_go(pTHX_ struct nytp_recorder *rec)
{
    nytp_hooks_forget(aTHX);
    nytp_writer_free(rec->writer);
    nytp_dprof_free(rec);
    if (rec->places != NULL)
        munmap(rec->places, NYTP_PLACES * sizeof *rec->places);
    free(rec->called);
    nytp_calls_free(rec);
    nytp_subs_free(aTHX_ rec);
    nytp_files_free(aTHX_ rec);
    nytp_options_free(&rec->options);
    Safefree(rec->base_path);
    Safefree(rec->scratch.ptr);
    Zero(rec, 1, struct nytp_recorder);
    rec->wake_raw = UINT64_MAX;
}

/* perl_destruct() calls it when it has destroyed all objects. */
static void on_destruction(pTHX_ void *unused)
{
    struct nytp_recorder *const rec = nytp_recorder;
    PERL_UNUSED_VAR(unused);
    if (rec == NULL || !nytp_is_ours(aTHX_ rec))
        return;
    struct nytp_timers timers;
    nytp_timers_stop(&timers);
    if (rec->is_ended) {
        drop_end(rec);
        nytp_outfile_close(&rec->file);
        set_state(rec, NYTP_CLOSED);
    }
    nytp_finish(aTHX);
    let_go(aTHX_ rec);
    nytp_timers_go_on(&timers);
}

/* ---- loading ---- */

struct nytp_recorder *nytp_recorder_get(pTHX)
{
    if (nytp_recorder == NULL ||
        (nytp_recorder->interpreter == NULL && PL_phase != PERL_PHASE_DESTRUCT)) {
        struct nytp_recorder *rec = nytp_recorder;
        if (rec == NULL)
            Newxz(rec, 1, struct nytp_recorder);
        rec->interpreter = NYTP_THX;
        rec->wake_raw = UINT64_MAX;
        nytp_options_init(&rec->options);
        nytp_names_init(aTHX_ rec);
        nytp_recorder = rec;
    }
    return nytp_is_ours(aTHX_ nytp_recorder) ? nytp_recorder : NULL;
}

void nytp_set_option(pTHX_ const char *name, const char *value)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    struct nytp_error error = {0};
    if (rec != NULL && !nytp_options_set(&rec->options, name, value, &error))
        nytp_say(&rec->options, "%s", error.message);
}

static void xs_finish(pTHX_ CV *cv)
{
    dXSARGS;
    PERL_UNUSED_VAR(cv);
    PERL_UNUSED_VAR(items);
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    dSAVE_ERRNO;
    if (rec != NULL) {
        struct nytp_timers timers;
        nytp_timers_stop(&timers);
        become_child_if_forked(aTHX_ rec);
        if (rec->state == NYTP_ARMED && !rec->is_ended)
            nytp_start_armed(aTHX_ rec);
        end_program(aTHX_ rec);
        say_if_never_enabled(rec);
        nytp_timers_go_on(&timers);
    }
    RESTORE_ERRNO;
    XSRETURN_EMPTY;
}

static void xs_enable(pTHX_ CV *cv)
{
    dXSARGS;
    PERL_UNUSED_VAR(cv);
    PERL_UNUSED_VAR(items);
    nytp_enable(aTHX_ NULL);
    XSRETURN_EMPTY;
}

static void xs_enable_at_end(pTHX_ CV *cv)
{
    dXSARGS;
    PERL_UNUSED_VAR(cv);
    PERL_UNUSED_VAR(items);
    Perl_av_create_and_unshift_one(aTHX_ & PL_endav, (SV *)newXS(NULL, xs_enable, __FILE__));
    XSRETURN_EMPTY;
}

/* What perl -d prepared is undone, as far as C code looks whether it is there: DBI, for one,
 * takes eval frames for calls of DB::sub then. perl prepares again when $^P gets a bit. Subs
 * that were compiled before us call others through PL_DBsub unasked. */
static void hide_debugger(pTHX_ struct nytp_recorder *rec)
{
    SV *const comes_late = get_sv("Devel::NYTProf::comes_late", 0);
    if (PL_perldb != 0 || PL_DBsub == NULL || GvCV(PL_DBsub) != NULL ||
        (comes_late != NULL && SvTRUE(comes_late)))
        return;
    rec->debugger_subs = GvHV(PL_DBsub);
    GvHV(PL_DBsub) = NULL;
    PL_DBsub = NULL;
    PL_DBsingle = NULL;
    nytp_debugger_lines_hide(aTHX_ rec);
}

/* Standard input has been read: no reason any more for perl to keep what it compiles. */
static void xs_compiled(pTHX_ CV *cv)
{
    dXSARGS;
    PERL_UNUSED_VAR(cv);
    PERL_UNUSED_VAR(items);
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    PL_perldb &= ~(U32)PERLDBf_SAVESRC;
    if (rec != NULL)
        hide_debugger(aTHX_ rec);
    XSRETURN_EMPTY;
}

bool nytp_is_own_xsub(const CV *cv)
{
    const XSUBADDR_t code = CvXSUB(cv);
    return code == xs_finish || code == xs_enable || code == xs_enable_at_end ||
           code == xs_compiled;
}

static bool reads_standard_input(pTHX)
{
    return PL_origfilename != NULL && strEQ(PL_origfilename, "-");
}

static void push_block(pTHX_ AV **blocks, XSUBADDR_t code)
{
    if (*blocks == NULL)
        *blocks = newAV();
    av_push(*blocks, (SV *)newXS(NULL, code, __FILE__));
}

/* Blocks without names, so that the program can neither see nor undefine them. The last END
 * block is ours: they run in the order of the array. */
static void plan_phases(pTHX_ struct nytp_recorder *rec)
{
    const char *const phase = rec->options.start == NULL ? "begin" : rec->options.start;
    const bool running = PL_main_start != NULL;
    push_block(aTHX_ & PL_endav, xs_finish);
    call_atexit(on_destruction, NULL);
    if (PL_minus_c)
        push_block(aTHX_ & PL_checkav, xs_finish);
    if (reads_standard_input(aTHX) && !running && !(rec->options.perldb & PERLDBf_SAVESRC))
        push_block(aTHX_ & PL_initav, xs_compiled);
    if (rec->options.endatexit)
        PL_exit_flags |= PERL_EXIT_DESTRUCT_END;
    if (strEQ(phase, "begin") || (strEQ(phase, "init") && running))
        set_state(rec, NYTP_ARMED);
    else if (strEQ(phase, "init"))
        Perl_av_create_and_unshift_one(aTHX_ & PL_initav,
                                       (SV *)newXS(NULL, xs_enable, __FILE__));
    else if (strEQ(phase, "end") && running)
        Perl_av_create_and_unshift_one(aTHX_ & PL_endav,
                                       (SV *)newXS(NULL, xs_enable, __FILE__));
    else if (strEQ(phase, "end"))
        push_block(aTHX_ & PL_initav, xs_enable_at_end);
}

/* As few bits as the options need: others change what the program can see. */
static void set_debug_bits(pTHX_ struct nytp_recorder *rec)
{
    U32 bits = (U32)rec->options.perldb;
    if (!rec->options.optimize)
        bits |= PERLDBf_NOOPT;
    if (rec->options.use_db_sub)
        bits |= PERLDBf_LINE | PERLDBf_SINGLE;
    if (reads_standard_input(aTHX) && PL_main_start == NULL)
        bits |= PERLDBf_SAVESRC; /* a script that comes through a pipe is seen only once */
    SV *const variable = get_sv("\x10", GV_ADD);
    if (bits != 0 && PL_DBsub == NULL)
        sv_setiv_mg(variable, (IV)bits); /* prepares the DB package */
    PL_perldb = rec->perldb = bits;
    if (rec->options.use_db_sub && PL_DBsingle != NULL)
        sv_setiv_mg(PL_DBsingle, 1);
}

static bool may_profile(struct nytp_recorder *rec)
{
    if (rec->options.has_bad_file) {
        set_state(rec, NYTP_OFF); /* which was said */
        return false;
    }
    if (!rec->options.usecputime)
        return true;
    nytp_say(&rec->options,
             "option usecputime has been removed, use clock=2 for CPU time; the program "
             "runs unprofiled");
    set_state(rec, NYTP_OFF);
    return false;
}

/* As perl read it when it began; the program may change its environment. */
static void note_hash_seed(struct nytp_recorder *rec)
{
    const char *const seed = getenv("PERL_HASH_SEED");
    const bool is_number =
        seed != NULL && isXDIGIT(*seed) && strlen(seed) < sizeof rec->hash_seed;
    my_strlcpy(rec->hash_seed, is_number ? seed : "random", sizeof rec->hash_seed);
}

void nytp_load(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    if (rec == NULL || rec->state == NYTP_OFF)
        return;
    if (rec->state != NYTP_LOADED && rec->state != NYTP_ARMED)
        return;
    if (rec->loader == 0) {
        rec->loader = getpid();
        rec->is_debugger = PL_perldb != 0;
        rec->comes_late = PL_main_start != NULL;
        note_hash_seed(rec);
    }
    set_debug_bits(aTHX_ rec);
    if (!may_profile(rec) || !has_tables(rec))
        return;
    if (!rec->is_planned) {
        watch_forks();
        nytp_program_text_keep(aTHX_ rec);
        plan_phases(aTHX_ rec);
    }
    set_path_by_options(rec);
    rec->is_planned = true;
    set_state(rec, rec->state);
    nytp_hooks_install(aTHX_ rec);
}

/* ---- DB:: ---- */

bool nytp_enable(pTHX_ const char *path)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    if (rec != NULL && !rec->is_planned)
        nytp_load(aTHX); /* with Devel::NYTProf::Core alone */
    if (rec == NULL || rec->state == NYTP_OFF || rec->is_ended)
        return false;
    become_child_if_forked(aTHX_ rec);
    const bool was_on = rec->state == NYTP_RECORDING;
    if (path != NULL) {
        close_profile(aTHX_ rec);
        set_base_path(rec, path);
    } else if (rec->state == NYTP_CLOSED && rec->n_finished > 0) {
        nytp_say(&rec->options, "%s is finished, the profile goes on in %s.%u", rec->base_path,
                 rec->base_path, rec->n_finished + 1);
    }
    if (rec->state == NYTP_PAUSED)
        begin_recording(rec);
    else if (rec->state != NYTP_RECORDING && rec->state != NYTP_OFF)
        start(aTHX_ rec);
    const bool sees_code = rec->sees_code; /* not by the statement that calls us */
    if (!was_on && rec->stmts_on)
        nytp_stmt_resume(aTHX_ rec);
    if (!was_on && rec->stmts_on && PL_curcop != &PL_compiling)
        nytp_stmt_begin(aTHX_ rec, PL_curcop);
    rec->sees_code = sees_code;
    return was_on;
}

bool nytp_disable(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    if (rec == NULL)
        return false;
    become_child_if_forked(aTHX_ rec);
    if (rec->state != NYTP_RECORDING)
        return false;
    nytp_guard(rec);
    if (rec->stmts_on)
        nytp_stmt_pause(aTHX_ rec);
    set_state(rec, NYTP_PAUSED);
    flush(rec, NYTP_FLUSH_SYNC);
    nytp_unguard(rec);
    return true;
}

void nytp_finish(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    if (rec == NULL)
        return;
    dSAVE_ERRNO;
    become_child_if_forked(aTHX_ rec);
    if (rec->state == NYTP_ARMED)
        nytp_start_armed(aTHX_ rec);
    close_profile(aTHX_ rec);
    RESTORE_ERRNO;
}

/* In the new interpreter, while the one that made it waits. */
void nytp_thread_seen(pTHX)
{
    PERL_UNUSED_CONTEXT;
    if (nytp_recorder != NULL && nytp_file_is_open(nytp_recorder))
        nytp_recorder->n_threads++;
}

/* Two in a row: perl's optimizer drops the first (op.c, OP_NEXTSTATE) unless it is for the
 * debugger or has a label; every `use` has one. */
static bool is_empty_statement(pTHX_ const OP *op)
{
    const bool may_go = op->op_type == OP_DBSTATE && CopLABEL(cCOPx(op)) == NULL;
    const OP *const next = may_go ? op->op_next : NULL;
    PERL_UNUSED_CONTEXT;
    return next != NULL && (next->op_type == OP_DBSTATE || next->op_type == OP_NEXTSTATE);
}

void nytp_statement_by_db(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder;
    if (rec == NULL || !nytp_is_ours(aTHX_ rec))
        return;
    if (rec->state == NYTP_ARMED)
        nytp_start_armed(aTHX_ rec);
    if (rec->stmts_on && !is_empty_statement(aTHX_ PL_op))
        nytp_stmt_begin(aTHX_ rec, PL_curcop);
}

/* All options have been given. */
void nytp_start(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    nytp_load(aTHX);
    if (rec == NULL)
        return;
    hide_debugger(aTHX_ rec); /* not before: import() itself is called through PL_DBsub */
    if (rec->state == NYTP_ARMED)
        nytp_start_armed(aTHX_ rec);
}
