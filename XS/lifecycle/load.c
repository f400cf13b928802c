/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Loading and control of the recorder by the program: options, perl's phases, the functions of
 * package DB. See load.h.
 */
#include "load.h"

#include "XS/exact/bytes.h"
#include "XS/exact/compile.h"
#include "hooks.h"
#include "finished_profiles.h"
#include "XS/exact/labels.h"
#include "life.h"
#include "XS/exact/switch_ops.h"
#include "profile.h"
#include "XS/platform/run.h"
#include "XS/perl/safe_point.h"
#include "XS/sampling/sample.h"
#include "XS/output/say.h"
#include "XS/exact/open_at_start.h"
#include "XS/state/state.h"
#include "XS/exact/stmts.h"
#include "XS/state/stream.h"
#include "XS/names/subs.h"
#include "pause_for_exact.h"
#include "threads.h"
#include "XS/names/files.h"

#include <sys/time.h>
#include <unistd.h>

enum {
    STATEMENTS_TO_IMPORT = 16, /* ours and the program's before import() may come */
    N_TIMERS = 3,
};

/* ---- begin and end of an interpreter ---- */

static const int timer_kinds[N_TIMERS] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

/* The program's timers stand still while the profile gets its end: perl has given up its signal
 * handlers by then, so a timer's signal would kill, and the time is ours. */
static void stop_timers(struct itimerval left[N_TIMERS])
{
    const struct itimerval never = {.it_value = {0}};
    for (size_t i = 0; i < N_TIMERS; i++)
        if (setitimer(timer_kinds[i], &never, &left[i]) != 0)
            left[i] = never;
}

static void restart_timers(const struct itimerval left[N_TIMERS])
{
    for (size_t i = 0; i < N_TIMERS; i++)
        if (timerisset(&left[i].it_value))
            setitimer(timer_kinds[i], &left[i], NULL);
}

/* perl_destruct() calls this after destroying all objects: no perl code can run any more. */
static void on_destruction(pTHX_ void *unused)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    PERL_UNUSED_VAR(unused);
    if (rec == NULL)
        return;
    struct itimerval timers[N_TIMERS];
    stop_timers(timers);
    if (rec->run.is_ended)
        nytp_keep_end(rec);
    nytp_finish(aTHX_ rec);
    nytp_hooks_forget(aTHX);
    nytp_recorder_free(rec);
    restart_timers(timers);
}

/* Returns NULL if memory is out, or the interpreter is being destroyed, without recorder. */
struct nytp_recorder *nytp_recorder_get(pTHX)
{
    static atomic_bool was_used;
    struct nytp_recorder *rec = nytp_recorder_of(aTHX);
    if (rec != NULL || (PL_phase == PERL_PHASE_DESTRUCT && was_used))
        return rec;
    rec = nytp_recorder_add(aTHX);
    if (rec == NULL)
        return NULL;
    was_used = true;
    rec->wake_raw = UINT64_MAX;
    rec->wake_up = nytp_wake_up;
    nytp_clock_foresee(&rec->clock);
    nytp_options_init(&rec->options);
    nytp_names_init(rec);
    nytp_thread_of_process(aTHX_ rec);
    return rec;
}

void nytp_set_option(pTHX_ const char *name, const char *value)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    struct nytp_error error = {0};
    if (nytp_run_has_more_rights())
        return;
    if (rec != NULL && !nytp_options_set(&rec->options, name, value, &error))
        nytp_say(&rec->options, "%s", error.message);
}

static void run_own(pTHX_ CV *cv)
{
    dXSARGS;
    PERL_UNUSED_VAR(items);
    dSAVE_ERRNO;
    CvXSUBANY(cv).any_dxptr(aTHX_ NULL);
    RESTORE_ERRNO;
    XSRETURN_EMPTY;
}

/* Returns a block that runs `code`. It is nameless, so that the program can neither see nor
 * undefine it. */
static SV *own_block(pTHX_ DESTRUCTORFUNC_t code)
{
    CV *const cv = newXS(NULL, run_own, __FILE__);
    CvXSUBANY(cv).any_dxptr = code;
    nytp_sub_mark_own(cv);
    return (SV *)cv;
}

static void push_block(pTHX_ AV **blocks, DESTRUCTORFUNC_t code)
{
    if (*blocks == NULL)
        *blocks = newAV();
    av_push(*blocks, own_block(aTHX_ code));
}

static void unshift_block(pTHX_ AV **blocks, DESTRUCTORFUNC_t code)
{
    Perl_av_create_and_unshift_one(aTHX_ blocks, own_block(aTHX_ code));
}

static void finish(pTHX_ void *unused)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    struct itimerval timers[N_TIMERS];
    PERL_UNUSED_VAR(unused);
    if (rec == NULL)
        return;
    stop_timers(timers);
    nytp_become_child_if_forked(aTHX_ rec);
    nytp_profile_say_if_never_begun(rec);
    if (rec->state == NYTP_ARMED && !rec->run.is_ended && !rec->profile->is_thread)
        nytp_start_armed(aTHX_ rec);
    nytp_end_program(aTHX_ rec);
    restart_timers(timers);
}

static void begin_phase(pTHX_ void *unused)
{
    PERL_UNUSED_VAR(unused);
    nytp_enable(aTHX_ NULL);
}

static void begin_at_end(pTHX_ void *unused)
{
    PERL_UNUSED_VAR(unused);
    unshift_block(aTHX_ & PL_endav, begin_phase);
}

/* Undoes the debugger setup of perl -d as far as C code tests for it: DBI, for one, would take
 * eval frames for calls of DB::sub. perl repeats the setup when $^P gets a bit. Subs compiled
 * before us call others through PL_DBsub without a test. */
static void hide_debugger(pTHX_ struct nytp_recorder *rec)
{
    SV *const comes_late = get_sv("Devel::NYTProf::comes_late", 0);
    if (PL_perldb != 0 || PL_DBsub == NULL || GvCV(PL_DBsub) != NULL ||
        (comes_late != NULL && SvTRUE(comes_late)))
        return;
    nytp_debugger_subs_hide(aTHX_ rec);
    PL_DBsub = NULL;
    PL_DBsingle = NULL;
    nytp_debugger_lines_hide(aTHX_ rec);
}

/* Standard input has been read: perl need not keep source any more. */
static void on_program_compiled(pTHX_ void *unused)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    PERL_UNUSED_VAR(unused);
    PL_perldb &= ~(U32)PERLDBf_SAVESRC;
    if (rec != NULL)
        hide_debugger(aTHX_ rec);
}

static bool reads_standard_input(pTHX)
{
    return PL_origfilename != NULL && strEQ(PL_origfilename, "-");
}

/* The program has been compiled: its beginning may be older than the last switch. */
static void switch_main(pTHX_ void *unused)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    PERL_UNUSED_VAR(unused);
    if (rec != NULL)
        nytp_switch_ops_main(aTHX_ rec);
}

static const char *first_phase(const struct nytp_recorder *rec)
{
    return rec->options.start == NULL ? "begin" : rec->options.start;
}

/* Returns whether the first event starts recording, by the options so far. */
static bool starts_now(pTHX_ const struct nytp_recorder *rec)
{
    const char *const phase = first_phase(rec);
    return strEQ(phase, "begin") || (strEQ(phase, "init") && PL_main_start != NULL);
}

/* Our END block comes last: they run in the order of the array. In a further interpreter the
 * ops are redirected already, so the module's own code would be the first event, before the
 * options; there import() is awaited. */
static void plan_phases(pTHX_ struct nytp_recorder *rec)
{
    const char *const phase = first_phase(rec);
    const bool running = PL_main_start != NULL;
    push_block(aTHX_ & PL_endav, finish);
    call_atexit(on_destruction, NULL);
    if (PL_minus_c)
        push_block(aTHX_ & PL_checkav, finish);
    if (reads_standard_input(aTHX) && !running && !(rec->options.perldb & PERLDBf_SAVESRC))
        push_block(aTHX_ & PL_initav, on_program_compiled);
    if (rec->options.endatexit)
        PL_exit_flags |= PERL_EXIT_DESTRUCT_END;
    if (starts_now(aTHX_ rec))
        nytp_state_set(rec, rec->profile->is_thread ? NYTP_LOADED : NYTP_ARMED);
    else if (strEQ(phase, "init"))
        unshift_block(aTHX_ & PL_initav, begin_phase);
    else if (strEQ(phase, "end") && running)
        unshift_block(aTHX_ & PL_endav, begin_phase);
    else if (strEQ(phase, "end"))
        push_block(aTHX_ & PL_initav, begin_at_end);
}

/* Recording starts while the program is compiled. */
static void plan_switch_of_main(pTHX_ struct nytp_recorder *rec)
{
    if (PL_main_start != NULL || rec->load->switches_main)
        return;
    rec->load->switches_main = true;
    push_block(aTHX_ & PL_initav, switch_main);
}

/* Sets as few bits as the options need: others change what the program can see. */
static void set_debug_bits(pTHX_ struct nytp_recorder *rec)
{
    U32 bits = (U32)rec->options.perldb;
    if (!rec->options.optimize)
        bits |= PERLDBf_NOOPT;
    if (rec->options.use_db_sub && rec->options.sample == 0)
        bits |= PERLDBf_LINE | PERLDBf_SINGLE;
    if (reads_standard_input(aTHX) && PL_main_start == NULL)
        bits |= PERLDBf_SAVESRC; /* a script from a pipe can be read only once */
    SV *const variable = get_sv("\x10", GV_ADD);
    if (bits != 0 && PL_DBsub == NULL)
        sv_setiv_mg(variable, (IV)bits); /* prepares the DB package */
    PL_perldb = rec->load->perldb = bits;
    if (rec->options.use_db_sub && PL_DBsingle != NULL)
        sv_setiv_mg(PL_DBsingle, 1);
}

static void prepare_sampling(struct nytp_recorder *rec)
{
    struct nytp_options *const options = &rec->options;
    nytp_kind_set(rec, options->sample > 0 ? NYTP_SAMPLED : NYTP_EXACT);
    if ((options->sample > 0 || options->counts) &&
        !nytp_option_is_given(options, NYTP_OPTION_savesrc))
        options->savesrc = 0;
}

static bool may_profile(struct nytp_recorder *rec)
{
    if (rec->options.has_bad_file || rec->options.is_refused) {
        nytp_state_set(rec, NYTP_OFF); /* reported already */
        return false;
    }
    if (nytp_run_has_more_rights()) {
        nytp_say(&rec->options,
                 "a program with more rights than its caller (set-user-ID, capabilities) would "
                 "write where its caller says; it runs unprofiled");
        nytp_state_set(rec, NYTP_OFF);
        return false;
    }
    if (!rec->options.usecputime)
        return true;
    nytp_say(&rec->options,
             "option usecputime has been removed, use clock=2 for CPU time; the program "
             "runs unprofiled");
    nytp_state_set(rec, NYTP_OFF);
    return false;
}

/* Copies the seed as perl read it; the program may change its environment. */
static void note_hash_seed(struct nytp_recorder *rec)
{
    const char *const seed = getenv("PERL_HASH_SEED");
    const bool is_number =
        seed != NULL && isXDIGIT(*seed) && strlen(seed) < sizeof rec->load->hash_seed;
    my_strlcpy(rec->load->hash_seed, is_number ? seed : "random", sizeof rec->load->hash_seed);
}

/* At a safe point: begins recording after these statements, when import() would have come. */
static void wait_for_import(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    if (rec == NULL || rec->load->waits == 0)
        return;
    dSAVE_ERRNO;
    if (rec->state != NYTP_ARMED || rec->run.is_ended)
        rec->load->waits = 0;
    else if (nytp_is_between_statements(aTHX) && --rec->load->waits == 0)
        nytp_start(aTHX);
    else
        nytp_safe_point_ask((void *)rec->interpreter);
    RESTORE_ERRNO;
}

/* Without redirected ops (the program was compiled before us, or is sampled), import() or a few
 * statements of the program begin the recording. */
static void plan_wait(pTHX_ struct nytp_recorder *rec)
{
    if (rec->state != NYTP_ARMED || (rec->kind == NYTP_EXACT && !rec->run.comes_late))
        return;
    rec->load->waits = STATEMENTS_TO_IMPORT;
    rec->load->loaded_ns = nytp_clock_processor_ns();
    nytp_safe_point_set(NYTP_ASKER_LOAD, wait_for_import);
    nytp_safe_point_begin(aTHX);
    nytp_safe_point_ask((void *)rec->interpreter);
}

void nytp_load(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    if (rec == NULL || (rec->state != NYTP_LOADED && rec->state != NYTP_ARMED))
        return;
    if (rec->load->loader == 0) {
        rec->load->loader = getpid();
        rec->load->is_debugger = PL_perldb != 0;
        rec->run.comes_late = PL_main_start != NULL;
        note_hash_seed(rec);
        nytp_files_begin(aTHX_ rec);
        nytp_bytes_take_out_of_environment(aTHX);
    }
    prepare_sampling(rec);
    set_debug_bits(aTHX_ rec);
    if (!may_profile(rec) || !nytp_has_tables(rec))
        return;
    const bool is_first = !rec->load->is_planned;
    if (is_first) {
        nytp_watch_forks();
        nytp_program_text_copy(aTHX_ rec);
        plan_phases(aTHX_ rec);
    }
    nytp_profile_set_path_by_options(rec);
    rec->load->is_planned = true;
    nytp_state_set(rec, rec->state);
    nytp_hooks_install(aTHX_ rec);
    if (is_first)
        plan_wait(aTHX_ rec);
}

void nytp_load_forget_errors(pTHX)
{
    PERL_UNUSED_CONTEXT;
    if (PL_main_start == NULL)
        errno = 0;
}

/* ---- DB:: ---- */

/* Begins recording, or resumes it in the named file. */
static void record(pTHX_ struct nytp_recorder *rec, bool was_on)
{
    if (!was_on)
        nytp_hooks_watch_returns(aTHX_ rec);
    plan_switch_of_main(aTHX_ rec);
    if (rec->state == NYTP_PAUSED)
        nytp_begin_recording(aTHX_ rec);
    else if (rec->state != NYTP_RECORDING && rec->state != NYTP_OFF)
        nytp_start_recording(aTHX_ rec);
    if (!was_on)
        nytp_open_at_start_add(aTHX_ rec);
    if (!was_on && rec->on.stmts)
        nytp_stmt_resume(aTHX_ rec);
    if (!was_on && rec->on.stmts && PL_curcop != &PL_compiling)
        nytp_stmt_begin(aTHX_ rec, PL_curcop);
}

static bool open_next(pTHX_ struct nytp_recorder *rec, const char *path,
                      struct nytp_next_profile *next, char *text, size_t size)
{
    if (nytp_profile_open_next(aTHX_ rec, path, next))
        return true;
    snprintf(text, size, "%s; the profile goes on in %s", next->file.error.message,
             rec->file.path);
    return false;
}

static void go_on_in(pTHX_ struct nytp_recorder *rec, const struct nytp_next_profile *next)
{
    nytp_close(aTHX_ rec);
    nytp_profile_take_next(rec, next);
}

static bool enable(pTHX_ struct nytp_recorder *rec, const char *path)
{
    struct nytp_next_profile next;
    char text[500];
    nytp_become_child_if_forked(aTHX_ rec);
    nytp_profile_drop_abandoned(rec);
    const bool was_on = rec->state == NYTP_RECORDING;
    if (path != NULL && !nytp_file_is_open(rec)) {
        nytp_profile_set_path(rec, path);
    } else if (path != NULL) {
        if (!open_next(aTHX_ rec, path, &next, text, sizeof text)) {
            nytp_say(&rec->options, "%s", text);
            return was_on;
        }
        go_on_in(aTHX_ rec, &next);
    }
    record(aTHX_ rec, was_on);
    return was_on;
}

bool nytp_enable(pTHX_ const char *path)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    if (rec != NULL && !rec->load->is_planned)
        nytp_load(aTHX); /* with Devel::NYTProf::Core alone */
    if (rec == NULL || rec->state == NYTP_OFF || rec->run.is_ended)
        return false;
    if (path == NULL && rec->state == NYTP_CLOSED && rec->profile->n_finished > 0)
        nytp_say(&rec->options, "%s is finished, the profile goes on in %s.%u",
                 rec->profile->base_path, rec->profile->base_path,
                 rec->profile->n_finished + 1);
    return enable(aTHX_ rec, path);
}

bool nytp_enable_exact(pTHX_ const char *path)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    if (rec != NULL && rec->state == NYTP_RECORDING && rec->kind == NYTP_SAMPLED)
        nytp_pause_for_exact(aTHX_ rec);
    const bool was_on = nytp_enable(aTHX_ path);
    if (rec != NULL && rec->pause_for_exact->is_there && rec->state != NYTP_RECORDING)
        nytp_go_on_sampling(aTHX_ rec);
    return was_on;
}

void nytp_finish_exact(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    if (rec != NULL && rec->pause_for_exact->is_there)
        nytp_go_on_sampling(aTHX_ rec);
    else
        nytp_finish_profile(aTHX);
}

void nytp_enable_unasked(pTHX_ struct nytp_recorder *rec)
{
    if (rec->state == NYTP_OFF || rec->run.is_ended || !rec->load->is_planned)
        return;
    nytp_become_child_if_forked(aTHX_ rec);
    nytp_profile_name_as_child(rec);
    enable(aTHX_ rec, NULL);
}

bool nytp_rotate_unasked(pTHX_ const char *path, char *text, size_t size)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    struct nytp_next_profile next;
    if (rec != NULL && !rec->run.is_ended)
        nytp_become_child_if_forked(aTHX_ rec);
    if (rec == NULL || rec->run.is_ended || rec->state != NYTP_RECORDING) {
        snprintf(text, size, "nothing is being recorded");
        return false;
    }
    if (!open_next(aTHX_ rec, path, &next, text, size))
        return false;
    nytp_finished_profiles_add(rec);
    go_on_in(aTHX_ rec, &next);
    record(aTHX_ rec, false);
    const bool ok = rec->state == NYTP_RECORDING;
    snprintf(text, size, "%s", ok ? rec->file.path : rec->file.error.message);
    return ok;
}

bool nytp_rotate(pTHX_ const char *path)
{
    char text[500];
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    const bool is_on = rec != NULL && rec->state == NYTP_RECORDING;
    const bool ok = nytp_rotate_unasked(aTHX_ path, text, sizeof text);
    if (is_on && !ok && rec->state == NYTP_RECORDING)
        nytp_say(&rec->options, "%s", text);
    return ok;
}

bool nytp_disable(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    if (rec == NULL)
        return false;
    nytp_become_child_if_forked(aTHX_ rec);
    if (rec->state == NYTP_ARMED && !rec->run.is_ended)
        nytp_state_set(rec, NYTP_LOADED); /* before anything was recorded */
    if (rec->state != NYTP_RECORDING)
        return false;
    nytp_guard(rec);
    nytp_sample_pause(aTHX_ rec);
    nytp_bytes_pause(rec);
    if (rec->on.stmts)
        nytp_stmt_pause(aTHX_ rec);
    nytp_clock_pause(&rec->clock); /* the calls that are open go on */
    nytp_state_set(rec, NYTP_PAUSED);
    nytp_stream_flush(rec, NYTP_FLUSH_SYNC);
    nytp_switch_ops(aTHX_ rec, false);
    nytp_clock_resume(&rec->clock);
    nytp_unguard(rec);
    return true;
}

void nytp_finish_profile(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    if (rec == NULL)
        return;
    if (rec->pause_for_exact->is_there)
        nytp_go_on_sampling(aTHX_ rec);
    nytp_finish(aTHX_ rec);
    nytp_switch_ops(aTHX_ rec, false);
}

void nytp_label(pTHX_ SV **pairs, int n, bool of_profile)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    if (n % 2 != 0)
        croak("Usage: DB::label%s(KEY => VALUE, ...)", of_profile ? "_profile" : "");
    if (rec == NULL || rec->state == NYTP_OFF)
        return;
    nytp_become_child_if_forked(aTHX_ rec);
    if (nytp_sample_is_due(rec))
        nytp_sample_take_ticks(aTHX_ rec); /* these ticks came before the change */
    for (int i = 0; i < n; i += 2) {
        if (of_profile)
            nytp_label_profile(aTHX_ rec, pairs[i], pairs[i + 1]);
        else
            nytp_label_set(aTHX_ rec, pairs[i], pairs[i + 1]);
    }
}

void nytp_load_thread(struct nytp_recorder *rec, const struct nytp_recorder *from)
{
    *rec->load = *from->load;
    rec->run.comes_late = from->run.comes_late;
    rec->load->waits = 0;
}

/* The first of two successive statements: perl's optimizer drops it (op.c, OP_NEXTSTATE) unless
 * it is for the debugger or has a label. Every `use` has one. */
static bool is_empty_statement(pTHX_ const OP *op)
{
    const bool may_go = op->op_type == OP_DBSTATE && CopLABEL(cCOPx(op)) == NULL;
    const OP *const next = may_go ? op->op_next : NULL;
    PERL_UNUSED_CONTEXT;
    return next != NULL && (next->op_type == OP_DBSTATE || next->op_type == OP_NEXTSTATE);
}

void nytp_statement_by_db(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    if (rec == NULL)
        return;
    if (rec->state == NYTP_ARMED)
        nytp_start_armed(aTHX_ rec);
    if (rec->on.stmts && !is_empty_statement(aTHX_ PL_op))
        nytp_stmt_begin(aTHX_ rec, PL_curcop);
}

void nytp_start(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder_get(aTHX);
    if (rec != NULL)
        nytp_settle_options(rec);
    nytp_load(aTHX);
    if (rec == NULL)
        return;
    hide_debugger(aTHX_ rec); /* not before: import() itself is called through PL_DBsub */
    if (rec->state == NYTP_LOADED && rec->profile->is_thread && starts_now(aTHX_ rec))
        nytp_state_set(rec, NYTP_ARMED);
    if (rec->state != NYTP_ARMED)
        return;
    if (!rec->load->is_debugger)
        plan_switch_of_main(aTHX_ rec);
    if (rec->run.comes_late)
        nytp_hooks_watch_returns(aTHX_ rec);
    rec->run.is_importing = true;
    nytp_start_armed(aTHX_ rec);
    rec->run.is_importing = false;
}
