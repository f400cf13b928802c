/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A profile file: its name, its header, its end, and what is said about it. life.c decides when
 * one begins and ends.
 *
 * The name comes from file= or DB::enable_profile(FILE). Appended to it are, in this order:
 * .PID with addpid=1 and in children, .tN in threads, .N for the second and later files of this
 * name, and the time with addtimestamp=1.
 */
#ifndef NYTP_PROFILE_H
#define NYTP_PROFILE_H

#include "XS/output/outfile.h"
#include "XS/perl/perl_compat.h"

#include <time.h>

struct nytp_recorder;

/* The part of the state that profile.c writes. */
struct nytp_rec_profile {
    uint32_t generation;   /* the number of the profile file, from 1 */
    uint32_t n_opened;     /* profile files so far */
    int64_t overhead_base; /* clock.overhead_ticks when this profile file began */
    char *base_path;       /* absolute, with nothing appended */
    bool is_template;      /* it has placeholders (file_name.h) */
    bool is_default_path;
    bool is_round;          /* base_path is the sampled profile's whole name and ".exact" */
    unsigned n_of_rounds;   /* exact profiles that were completed beside the sampled one */
    bool is_child;          /* of the process that base_path belongs to */
    time_t started;         /* when this process's first profile was opened; 0: not yet */
    int64_t memory_start;   /* bytes in core when the present one was begun; 0: not known */
    int64_t processor_ns;   /* of this thread when the present one was begun */
    time_t began_s;         /* when the present one was */
    unsigned n_finished;    /* profile files that were completed under base_path */
    bool is_thread;         /* not the process's first interpreter: its number is in the name */
    unsigned thread;        /* which; 0: the first */
    unsigned parent_thread; /* whose interpreter ours was made of; 0: the first's */
    bool said_end;          /* what is said at a program's end has been said */
    bool has_comments;      /* its calls are told in comments (formats/stream/call_records.h) */
};

/* ---- its name ---- */

/* The name as given, absolute, so that a child finds the place after a chdir. */
void nytp_profile_set_path(struct nytp_recorder *rec, const char *path);
/* By option file=, which may hold placeholders. */
void nytp_profile_set_path_by_options(struct nytp_recorder *rec);

/* An exact profile is to be written beside the sampled one that is open, by its name. `sampled`
 * gets what that goes on with when the exact one, which had that much overhead, is closed. */
void nytp_profile_suspend(struct nytp_recorder *rec, struct nytp_rec_profile *sampled);
void nytp_profile_resume(struct nytp_recorder *rec, const struct nytp_rec_profile *sampled,
                         int64_t overhead_ticks);

/* The process has another interpreter: a number tells this profile from the other's. */
void nytp_profile_be_further(pTHX_ struct nytp_recorder *rec);
/* The interpreter is a clone of the one that `from` records, and is being made. */
void nytp_profile_inherit(pTHX_ struct nytp_recorder *rec, const struct nytp_recorder *from);

/* The process is a child of the one that the path belongs to, and its first profile begins: the
 * next file has the child's pid in its name. */
void nytp_profile_be_child(struct nytp_recorder *rec);
/* The same for a process that was forked while no profile was open: files that the parent had
 * finished before still count in its names. */
void nytp_profile_name_as_child(struct nytp_recorder *rec);

/* ---- its beginning and end ---- */

/* Open the file, unless it is open already, and write its header. False when that fails, which
 * is said; the next one may succeed. */
bool nytp_profile_open(pTHX_ struct nytp_recorder *rec);

/* The file that is to follow the present one. */
struct nytp_next_profile {
    struct nytp_outfile file;
    struct nytp_rec_profile profile;
};

/* Open it while the present one is being written, so that this goes on when that fails: then
 * false, with next->file.error. The name is `path`, or with NULL the next of the present name.
 * A name that leads to the present file is opened later, by nytp_profile_open(). */
bool nytp_profile_open_next(pTHX_ struct nytp_recorder *rec, const char *path,
                            struct nytp_next_profile *next);
/* The present one is closed: nytp_profile_open() is to be about `next` now. */
void nytp_profile_take_next(struct nytp_recorder *rec, const struct nytp_next_profile *next);
/* What could not be written is let go of; a device or FIFO may take the next one. */
void nytp_profile_drop_abandoned(struct nytp_recorder *rec);

/* The part of the stream that only the end can tell. */
void nytp_profile_write_closing(pTHX_ struct nytp_recorder *rec);
/* As much of it as can be told inside a signal: allocates nothing. */
void nytp_profile_write_closing_without_perl(struct nytp_recorder *rec);

/* The file has its end and is closed; the next one gets another name. */
void nytp_profile_finished(struct nytp_recorder *rec);

/* ---- what is said ---- */

/* Once for each file: that it is lost, that there are others of the same run. */
void nytp_profile_say_end(struct nytp_recorder *rec);
/* At the end of the program: that recording has never begun, where one would not know. */
void nytp_profile_say_if_never_begun(struct nytp_recorder *rec);

/* Nanoseconds that this thread was on a processor; -1: nobody can tell. */
int64_t nytp_profile_processor_ns(void);

void nytp_profile_free(struct nytp_recorder *rec);

#endif
