/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Control of the recorder from outside; see control.h. Each interpreter of the process is a
 * target of its own; a thread begins as one. The first receives the signal and passes it to
 * all.
 */
#include "control.h"

#include "control_socket.h"
#include "heap_copy.h"
#include "XS/lifecycle/exits.h"
#include "XS/options/file_name.h"
#include "XS/lifecycle/life.h"
#include "XS/lifecycle/load.h"
#include "XS/platform/ticks.h"
#include "XS/perl/safe_point.h"
#include "XS/output/say.h"
#include "XS/state/state.h"
#include "XS/lifecycle/pause_for_exact.h"
#include "XS/lifecycle/lifecycle.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static struct nytp_recorder *steered; /* the first; NULL: none */
static atomic_uint n_steered;
static atomic_bool has_forked;
static atomic_uint n_toggles; /* signals received */
static char *template;        /* for the socket's name, absolute; NULL: no socket */
static bool is_child;

/* ---- commands ---- */

typedef bool obey_fn(pTHX_ struct nytp_recorder *rec, const char *name, char *text,
                     size_t size);

static bool answer(char *text, size_t size, const char *words, const char *path)
{
    snprintf(text, size, "%s%s%.400s", words, path == NULL ? "" : " ",
             path == NULL ? "" : path);
    return true;
}

static bool obey_on(pTHX_ struct nytp_recorder *rec, const char *name, char *text, size_t size)
{
    PERL_UNUSED_VAR(name);
    if (rec->state == NYTP_RECORDING && rec->kind == NYTP_EXACT)
        return answer(text, size, "is on already", rec->file.path);
    if (rec->state == NYTP_RECORDING)
        nytp_pause_for_exact(aTHX_ rec);
    nytp_enable_unasked(aTHX_ rec);
    if (rec->state == NYTP_RECORDING)
        return answer(text, size, "on", rec->file.path);
    const bool has_failed = rec->file.error.status != NYTP_OK;
    answer(text, size, has_failed ? rec->file.error.message : "not to be had here", NULL);
    if (rec->pause_for_exact->is_there)
        nytp_go_on_sampling(aTHX_ rec);
    return false;
}

/* Ends the profile, since its user wants to read it. After an exact one, sampling goes on. */
static bool obey_off(pTHX_ struct nytp_recorder *rec, const char *name, char *text, size_t size)
{
    PERL_UNUSED_VAR(name);
    if (!nytp_file_is_open(rec) && !rec->pause_for_exact->is_there)
        return answer(text, size, "is off", NULL);
    answer(text, size, "off", rec->file.path);
    if (rec->pause_for_exact->is_there)
        nytp_go_on_sampling(aTHX_ rec);
    else
        nytp_finish_profile(aTHX);
    return true;
}

static bool obey_checkpoint(pTHX_ struct nytp_recorder *rec, const char *name, char *text,
                            size_t size)
{
    PERL_UNUSED_VAR(name);
    return nytp_checkpoint(aTHX_ rec, text, size);
}

static bool obey_rotate(pTHX_ struct nytp_recorder *rec, const char *name, char *text,
                        size_t size)
{
    char next[NYTP_CONTROL_LINE];
    PERL_UNUSED_VAR(rec);
    const bool ok = nytp_rotate_unasked(aTHX_ * name == '\0' ? NULL : name, next, sizeof next);
    answer(text, size, ok ? "goes on in" : next, ok ? next : NULL);
    return ok;
}

/* The first thread to come here makes the copy; it contains all threads. */
static bool obey_heap(pTHX_ struct nytp_recorder *rec, const char *name, char *text,
                      size_t size)
{
    struct nytp_own_fd client;
    PERL_UNUSED_VAR(name);
    if (!nytp_control_take_client(&client))
        return answer(text, size, "nobody waits for it any more", NULL) && false;
    const bool has_clock = nytp_file_is_open(rec);
    if (has_clock)
        nytp_clock_pause(&rec->clock);
    const bool ok = nytp_heap_copy_make(&client, text, size);
    if (has_clock)
        nytp_clock_resume(&rec->clock);
    return ok;
}

static obey_fn *const obey[] = {
    [NYTP_COMMAND_ON] = obey_on,
    [NYTP_COMMAND_OFF] = obey_off,
    [NYTP_COMMAND_CHECKPOINT] = obey_checkpoint,
    [NYTP_COMMAND_ROTATE] = obey_rotate,
    [NYTP_COMMAND_HEAP] = obey_heap,
};

static void obey_command(pTHX_ struct nytp_recorder *rec)
{
    char name[NYTP_CONTROL_LINE], text[480] = "", line[NYTP_CONTROL_LINE], who[32] = "";
    struct nytp_control_target *const target = rec->control;
    unsigned number;
    const enum nytp_command command = nytp_control_command(target, name, &number);
    if (command == NYTP_COMMAND_NONE)
        return;
    const bool ok = obey[command](aTHX_ rec, name, text, sizeof text);
    if (target->thread > 0)
        snprintf(who, sizeof who, "thread %u: ", target->thread);
    snprintf(line, sizeof line, "%s %s%.*s", ok ? "ok" : "error", who, 440, text);
    if (ok && command == NYTP_COMMAND_ON && *name != '\0')
        nytp_control_off_after(number, strtoull(name, NULL, 10) * 1000000);
    nytp_control_answer(target, number, line);
}

static void pass_signals_on(const struct nytp_recorder *rec)
{
    if (rec != steered || atomic_exchange(&n_toggles, 0) % 2 == 0)
        return;
    const bool is_exact = nytp_file_is_open(rec) && rec->kind == NYTP_EXACT;
    nytp_control_ask_all(is_exact ? NYTP_COMMAND_OFF : NYTP_COMMAND_ON);
}

/* ---- the socket ---- */

/* A child's socket has its process id appended, like its profile, unless the name has a %p. */
static void listen_here(pTHX_ struct nytp_recorder *rec)
{
    char path[300], error[sizeof path + 100];
    const struct nytp_file_name_values values = {
        .pid = (long)getpid(),
        .started = (long long)PL_basetime,
        .program = PL_origfilename == NULL ? "" : PL_origfilename,
    };
    char *const expanded = nytp_file_name_expand(template, &values);
    if (expanded == NULL)
        return;
    const bool adds_pid = is_child && !nytp_file_name_has_pid(template);
    snprintf(path, sizeof path, adds_pid ? "%s.%ld" : "%s", expanded, (long)getpid());
    free(expanded);
    if (!nytp_control_listen(path, error, sizeof error))
        nytp_say(&rec->options, "%s; the program runs without it", error);
}

/* The parent's request for a while of exact recording does not apply to the child. */
static void begin_child(pTHX_ struct nytp_recorder *rec)
{
    if (rec->pause_for_exact->is_there)
        nytp_go_on_sampling(aTHX_ rec);
    if (template != NULL)
        listen_here(aTHX_ rec);
}

static void at_safe_point(pTHX)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    if (rec == NULL || rec->control == NULL)
        return;
    dSAVE_ERRNO;
    if (atomic_exchange(&has_forked, false))
        begin_child(aTHX_ rec);
    else if (nytp_control_is_lost())
        listen_here(aTHX_ rec);
    pass_signals_on(rec);
    obey_command(aTHX_ rec);
    RESTORE_ERRNO;
}

/* Only the forking thread lives in the child, as its first. */
static void on_fork_in_child(void)
{
    struct nytp_recorder *const rec = nytp_recorder_after_fork();
    struct nytp_control_target *const target = rec == NULL ? NULL : rec->control;
    is_child = true;
    nytp_control_forked(target);
    atomic_store(&n_steered, target != NULL);
    steered = target == NULL ? NULL : rec;
    if (target == NULL)
        return;
    atomic_store(&has_forked, true);
    nytp_safe_point_ask(target->interpreter);
}

/* The process becomes another program or ends behind perl's back. */
static void before_end(void)
{
    dTHX;
    dSAVE_ERRNO;
    nytp_control_leave();
    nytp_safe_point_ask((void *)NYTP_THX); /* in case that fails */
    RESTORE_ERRNO;
}

static void on_destruction(pTHX_ void *unused)
{
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    PERL_UNUSED_VAR(unused);
    if (rec == NULL || rec->control == NULL)
        return;
    nytp_control_remove_target(rec->control);
    free(rec->control);
    rec->control = NULL;
    const bool is_last = atomic_fetch_sub(&n_steered, 1) == 1;
    if (rec != steered && !is_last)
        return; /* the program ends with the first */
    steered = NULL;
    nytp_safe_point_set(NYTP_ASKER_CONTROL, NULL);
    nytp_exits_leave_first(NULL, NULL);
    nytp_control_close();
    free(template);
    template = NULL;
}

/* ---- the signal ---- */

static void on_signal(int number)
{
    PERL_UNUSED_VAR(number);
    struct nytp_recorder *const rec = steered;
    if (rec == NULL)
        return;
    atomic_fetch_add(&n_toggles, 1);
    nytp_safe_point_ask((void *)rec->interpreter);
}

/* A signal with a handler, or ignored by the program or its starter, stays as it is. */
static void catch_toggle(struct nytp_recorder *rec)
{
    struct sigaction now;
    const char *const name = rec->options.sigcontrol;
    const int number = nytp_signal_number(name, strlen(name));
    if (number == 0) {
        nytp_say(&rec->options, "option sigcontrol: '%s' is no signal", name);
        return;
    }
    if (sigaction(number, NULL, &now) != 0 || now.sa_handler != SIG_DFL) {
        nytp_say(&rec->options, "option sigcontrol: %s is taken", name);
        return;
    }
    now = (struct sigaction){.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(number, &now, NULL);
}

/* ---- begin ---- */

static void watch_forks(void)
{
    pthread_atfork(nytp_ticks_hold, nytp_ticks_let_go, on_fork_in_child);
    atexit(nytp_control_remove_name); /* perl skips its own list while threads run */
}

/* Appends a path, escaped, to a name with placeholders. */
static void put_literally(struct nytp_text *to, const char *path)
{
    for (; *path != '\0'; path++)
        nytp_text_printf(to, *path == '%' ? "%%%%" : "%c", *path);
}

/* control=1: in the user's runtime folder, or beside the profile. */
static char *usual_template(struct nytp_recorder *rec)
{
    const char *const folder = getenv("XDG_RUNTIME_DIR");
    nytp_text_clear(&rec->scratch);
    if (folder != NULL && folder[0] == '/') {
        put_literally(&rec->scratch, folder);
        nytp_text_puts(&rec->scratch, "/nytp.%p");
    } else {
        if (rec->profile->is_template)
            nytp_text_puts(&rec->scratch, rec->profile->base_path);
        else
            put_literally(&rec->scratch, rec->profile->base_path);
        nytp_text_puts(&rec->scratch, ".ctl");
    }
    return strdup(rec->scratch.ptr);
}

static bool add_target(struct nytp_recorder *rec)
{
    struct nytp_control_target *const target = calloc(1, sizeof *target);
    if (target == NULL)
        return false;
    target->interpreter = (void *)rec->interpreter;
    target->state = &rec->state;
    target->path = (const char *const volatile *)&rec->file.path;
    target->began_s = &rec->profile->began_s;
    target->thread = rec->profile->is_thread ? rec->profile->thread : 0;
    rec->control = target;
    atomic_fetch_add(&n_steered, 1);
    nytp_control_add_target(target);
    return true;
}

void nytp_control_begin(pTHX)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct nytp_recorder *const rec = nytp_recorder_of(aTHX);
    if (rec == NULL || rec->control != NULL || rec->state == NYTP_OFF ||
        (rec->options.control == NULL && rec->options.sigcontrol == NULL))
        return;
    const bool is_first = atomic_load(&n_steered) == 0;
    if (!add_target(rec))
        return;
    nytp_safe_point_begin(aTHX);
    if (!is_first)
        return;
    steered = rec;
    is_child = false;
    pthread_once(&once, watch_forks);
    call_atexit(on_destruction, NULL);
    nytp_safe_point_set(NYTP_ASKER_CONTROL, at_safe_point);
    if (rec->options.sigcontrol != NULL)
        catch_toggle(rec);
    if (rec->options.control == NULL)
        return;
    template = strEQ(rec->options.control, "1") ? usual_template(rec)
                                                : nytp_absolute_path(rec->options.control);
    if (template == NULL)
        return;
    nytp_exits_leave_first(before_end, nytp_control_remove_name);
    nytp_exits_watch(rec,
                     nytp_finish_without_perl); /* with start=no no profile has done this */
    listen_here(aTHX_ rec);
}
