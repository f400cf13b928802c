/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The command line of nytp-spy. Only this folder prints and chooses an exit status: 0 done, 1
 * the target cannot be read, 2 usage, 4 the output cannot be written.
 */
#ifndef NYTP_SPY_CLI_H
#define NYTP_SPY_CLI_H

#include "spy/perl/attach.h"
#include "spy/perl/stack.h"

#include "exporters/base/out.h"
#include "exporters/base/patterns.h"

#include <signal.h>
#include <sys/resource.h>

enum nytp_spy_status {
    SPY_DONE = 0,
    SPY_REFUSED = 1,
    SPY_USAGE = 2,
    SPY_OUTPUT = 4
};

struct nytp_spy {
    pid_t *pids; /* from the command line or --pattern */
    uint32_t n_pids, pids_capacity;
    const char *pattern, *core, *exe, *output;
    const char *format; /* nytp-export's format for record, or NULL */
    struct nytp_patterns patterns;
    uint32_t rate;
    double duration_s; /* 0: until it ends or is interrupted */
    double interval_s;
    bool subprocesses, idle, objects, no_source, no_realtime;
    char **argv;        /* the program to start, after --; or NULL */
    const char **files; /* heap: the files to compare */
    uint32_t n_files;
};

/* An open perl process or core file. */
struct nytp_session {
    struct nytp_target target;
    struct nytp_perl perl;
    struct nytp_names names;
    char command[4096];
};

/* Returns false with *error set. NYTP_ERR_TRUNCATED: perl is starting; NYTP_ERR_ABSENT:
 * none. */
bool nytp_session_open(struct nytp_session *session, const struct nytp_spy *spy, pid_t pid,
                       struct nytp_error *error);

/* The same, but waits a while for a perl to start, if there is nothing else to look at. */
bool nytp_session_await(struct nytp_session *session, const struct nytp_spy *spy, pid_t pid,
                        struct nytp_error *error);

/* Returns whether reading took too much work, and reports that the output is incomplete. */
bool nytp_session_was_too_much(const struct nytp_session *session, const struct nytp_spy *spy);
void nytp_session_close(struct nytp_session *session);

/* Reports why it cannot be opened. */
void nytp_session_say(const struct nytp_spy *spy, const struct nytp_error *error);

/* Writes "Process 17: perl app.pl", the command cut to `width` columns, or "Core of process
 * 17". */
void nytp_session_put(const struct nytp_session *session, struct nytp_out *out, uint32_t width);

/* Returns the processes whose command line matches, as an array for free(), without nytp-spy
 * and its ancestors. Sets *error if a match was given up. */
pid_t *nytp_spy_matches(const struct nytp_patterns *patterns, uint32_t *n,
                        struct nytp_error *error);

/* Returns SPY_OUTPUT, and reports it, if an output failed, unless its reader ended. `path` is
 * "-" for standard output. */
enum nytp_spy_status nytp_spy_output_status(const char *path, const struct nytp_error *error);

/* Writes a line to standard error with the program's name. */
void nytp_spy_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Set by SIGINT, SIGTERM, SIGQUIT and SIGHUP. */
extern volatile sig_atomic_t nytp_spy_stop;

/* Raises the limit of descriptors, since each process and thread needs some. Returns the old
 * limit. */
struct rlimit nytp_spy_raise_descriptors(void);

/* Returns the columns of the output's terminal, or 0 if `output` is a file's path or standard
 * output is no terminal. Then lines are not cut. */
uint32_t nytp_spy_columns(const char *output);

/* Returns the columns left, at least 20; 0 stays 0. */
uint32_t nytp_spy_room(uint32_t columns, uint32_t taken);

static inline double nytp_spy_percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* Writes "12,345", right-aligned, with a sign if requested. */
void nytp_spy_put_number(struct nytp_out *out, int64_t value, bool with_sign, int width);

enum nytp_spy_status nytp_spy_dump(const struct nytp_spy *spy);
enum nytp_spy_status nytp_spy_record(const struct nytp_spy *spy);
enum nytp_spy_status nytp_spy_top(const struct nytp_spy *spy);
enum nytp_spy_status nytp_spy_heap(const struct nytp_spy *spy);

#endif
