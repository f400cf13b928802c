/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The command line of nytp-spy, and what its commands share. Only this folder prints and
 * chooses an exit status: 0 done, 1 the target cannot be looked at, 2 usage, 4 the output
 * cannot be written.
 */
#ifndef NYTP_SPY_CLI_H
#define NYTP_SPY_CLI_H

#include "spy/perl/attach.h"
#include "spy/perl/stack.h"

#include "exporters/base/out.h"
#include "exporters/base/patterns.h"

#include <signal.h>

enum nytp_spy_status {
    SPY_DONE = 0,
    SPY_REFUSED = 1,
    SPY_USAGE = 2,
    SPY_OUTPUT = 4
};

struct nytp_spy {
    pid_t *pids; /* of the command line, or found by --pattern */
    uint32_t n_pids, pids_capacity;
    const char *pattern, *core, *exe, *output;
    const char *format; /* of nytp-export, which record writes; or NULL */
    struct nytp_patterns patterns; /* that of `pattern` */
    uint32_t rate;                 /* samples a second */
    double duration_s;             /* 0: until it ends or is interrupted */
    double interval_s;             /* of top */
    bool subprocesses, idle, objects, no_source, no_realtime;
    char **argv;        /* the program to start, after --; or NULL */
    const char **files; /* heap: what to compare */
    uint32_t n_files;
};

/* A perl that is looked at. */
struct nytp_session {
    struct nytp_target target;
    struct nytp_perl perl;
    struct nytp_names names;
    char command[4096];
};

/* False with *error set; NYTP_ERR_TRUNCATED: perl is only beginning there;
 * NYTP_ERR_ABSENT: there is none. */
bool nytp_session_open(struct nytp_session *session, const struct nytp_spy *spy, pid_t pid,
                       struct nytp_error *error);

/* The same for who has nothing else to look at: waits a while for a perl to begin. */
bool nytp_session_await(struct nytp_session *session, const struct nytp_spy *spy, pid_t pid,
                        struct nytp_error *error);

/* Whether reading has taken more than that of any program does, which is said: what was told is
 * not all. */
bool nytp_session_was_too_much(const struct nytp_session *session, const struct nytp_spy *spy);
void nytp_session_close(struct nytp_session *session);

/* The processes whose command line matches, as an array for free(); not nytp-spy, nor what it
 * runs under. Sets *error where an expression gives up. */
pid_t *nytp_spy_matches(const struct nytp_patterns *patterns, uint32_t *n,
                        struct nytp_error *error);

/* What has come of an output at a path, of which none is "-": SPY_OUTPUT, and said why, unless
 * it was written or its reader went away. */
enum nytp_spy_status nytp_spy_output_status(const char *path, const struct nytp_error *error);

/* A line on standard error with the program's name. */
void nytp_spy_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Set by SIGINT, SIGTERM, SIGQUIT and SIGHUP. */
extern volatile sig_atomic_t nytp_spy_stop;

/* Columns of the terminal to which is written; 0 where there is none, as `output` is the path
 * of a file, or standard output is none. Lines are whole there. */
uint32_t nytp_spy_columns(const char *output, bool *is_terminal);

/* What is left of so many columns, at least 20; 0 stays 0. */
uint32_t nytp_spy_room(uint32_t columns, uint32_t taken);

/* Puts "12,345", right-aligned, with a sign where that is asked for. */
void nytp_spy_put_number(struct nytp_out *out, int64_t value, bool with_sign, int width);

enum nytp_spy_status nytp_spy_dump(const struct nytp_spy *spy);
enum nytp_spy_status nytp_spy_record(const struct nytp_spy *spy);
enum nytp_spy_status nytp_spy_top(const struct nytp_spy *spy);
enum nytp_spy_status nytp_spy_heap(const struct nytp_spy *spy);

#endif
