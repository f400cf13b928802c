/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Opens and closes targets; common functions of the commands.
 */
#define _GNU_SOURCE
#include "cli.h"

#include "exporters/base/text.h"
#include "spy/target/process.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_WAITS = 30, /* for a perl to start */
    WAIT_NS = 1000000,
    MOST_ANCESTORS = 1000, /* a changing list may lead back to itself */
};

#define TOO_MUCH "reading it was given up, as it leads in circles: it is damaged"

volatile sig_atomic_t nytp_spy_stop;

void nytp_spy_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("nytp-spy: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static void say_if_cut(const struct nytp_session *session, const struct nytp_spy *spy)
{
    uint64_t len;
    const uint64_t whole = nytp_target_whole_len(&session->target, &len);
    if (whole > 0)
        nytp_spy_say("%s: it is cut: %" PRIu64 " of %" PRIu64
                     " bytes are there; what lies behind them is left out",
                     spy->core, len, whole);
}

/* A cut core file is the reason why perl is not found. */
static void blame_cut(const struct nytp_session *session, struct nytp_error *error)
{
    uint64_t len;
    const uint64_t whole = nytp_target_whole_len(&session->target, &len);
    if (whole == 0)
        return;
    *error = (struct nytp_error){0};
    nytp_error_set(error, NYTP_ERR_FORMAT,
                   "it is cut: %" PRIu64 " of %" PRIu64
                   " bytes are there, too few to find perl",
                   len, whole);
}

bool nytp_session_open(struct nytp_session *session, const struct nytp_spy *spy, pid_t pid,
                       struct nytp_error *error)
{
    *session = (struct nytp_session){.target = {.memory = {.fd = -1}}};
    const bool is_open = spy->core != NULL
                             ? nytp_target_of_core(&session->target, spy->core, spy->exe, error)
                             : nytp_target_of_process(&session->target, pid, error);
    if (!is_open)
        return false;
    if (nytp_attach(&session->perl, &session->target, error)) {
        if (spy->core == NULL)
            nytp_process_command(pid, session->command, sizeof session->command);
        if (nytp_name_cache_init(&session->names, &session->perl)) {
            say_if_cut(session, spy);
            return true;
        }
        nytp_out_of_memory(error);
    }
    if (nytp_memory_is_spent(&session->target.memory))
        *error = (struct nytp_error){.status = NYTP_ERR_FORMAT, .message = TOO_MUCH};
    blame_cut(session, error);
    nytp_session_close(session);
    return false;
}

bool nytp_session_was_too_much(const struct nytp_session *session, const struct nytp_spy *spy)
{
    if (!nytp_memory_is_spent(&session->target.memory))
        return false;
    if (spy->core != NULL)
        nytp_spy_say("%s: %s", spy->core, TOO_MUCH);
    else
        nytp_spy_say("process %d: reading it was given up: it takes longer than any program of "
                     "its size does",
                     (int)session->target.pid);
    return true;
}

bool nytp_session_await(struct nytp_session *session, const struct nytp_spy *spy, pid_t pid,
                        struct nytp_error *error)
{
    for (int i = 0;; i++) {
        *error = (struct nytp_error){0};
        if (nytp_session_open(session, spy, pid, error))
            return true;
        if (error->status != NYTP_ERR_TRUNCATED || spy->core != NULL || i == MOST_WAITS)
            return false;
        nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
    }
}

void nytp_session_say(const struct nytp_spy *spy, const struct nytp_error *error)
{
    nytp_spy_say("%s%s%s", spy->core != NULL ? spy->core : "", spy->core != NULL ? ": " : "",
                 error->message);
}

void nytp_session_put(const struct nytp_session *session, struct nytp_out *out, uint32_t width)
{
    const bool is_core = session->target.core != NULL;
    nytp_printf(out, is_core ? "Core of process %d" : "Process %d: ", (int)session->target.pid);
    if (!is_core)
        nytp_text_put(out, nytp_name_of_text(session->command), width);
}

void nytp_session_close(struct nytp_session *session)
{
    nytp_name_cache_free(&session->names);
    nytp_detach(&session->perl);
    nytp_target_close(&session->target);
}

/* Returns whether this is nytp-spy or an ancestor, such as sudo, timeout or a shell: their
 * command lines contain the pattern. */
static bool is_ours(pid_t pid)
{
    pid_t at = getpid();
    for (int i = 0; i < MOST_ANCESTORS && at > 0; i++) {
        if (at == pid)
            return true;
        at = nytp_process_status(at).parent;
    }
    return false;
}

pid_t *nytp_spy_matches(const struct nytp_patterns *patterns, uint32_t *n,
                        struct nytp_error *error)
{
    char command[4096];
    uint32_t n_all;
    pid_t *const all = nytp_processes(&n_all);
    *n = 0;
    for (uint32_t i = 0; i < n_all; i++)
        if (nytp_process_command(all[i], command, sizeof command) &&
            nytp_patterns_match(
                patterns, (struct nytp_name){command, (uint32_t)strlen(command)}, error) &&
            !is_ours(all[i]))
            all[(*n)++] = all[i];
    return all;
}

enum nytp_spy_status nytp_spy_output_status(const char *path, const struct nytp_error *error)
{
    if (error->status == NYTP_OK || error->status == NYTP_ERR_STOPPED)
        return SPY_DONE;
    nytp_spy_say("%s: %s", path == NULL ? "-" : path, error->message);
    return SPY_OUTPUT;
}

struct rlimit nytp_spy_raise_descriptors(void)
{
    struct rlimit before = {RLIM_INFINITY, RLIM_INFINITY};
    if (getrlimit(RLIMIT_NOFILE, &before) == 0)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){before.rlim_max, before.rlim_max});
    return before;
}

uint32_t nytp_spy_columns(const char *output)
{
    struct winsize size;
    if ((output != NULL && strcmp(output, "-") != 0) || !isatty(STDOUT_FILENO))
        return 0;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

uint32_t nytp_spy_room(uint32_t columns, uint32_t taken)
{
    return columns == 0 ? 0 : columns > taken + 20 ? columns - taken : 20;
}

void nytp_spy_put_number(struct nytp_out *out, int64_t value, bool with_sign, int width)
{
    char digits[40], text[60];
    const int n = snprintf(digits, sizeof digits, "%" PRIu64,
                           value < 0 ? -(uint64_t)value : (uint64_t)value);
    int at = 0;
    if (value < 0 || (with_sign && value > 0))
        text[at++] = value < 0 ? '-' : '+';
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
    nytp_printf(out, "%*s", width, text);
}
