/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The recorder's life: start, pause, finish, fork, exec, the program's end. load.c, hooks.c,
 * control.c and exits.c tell what has happened; here is what follows from it.
 *
 * Nothing here may stop or change the program: what goes wrong is said once, in one line, and
 * the program runs on unrecorded. $! is kept.
 */
#ifndef NYTP_LIFE_H
#define NYTP_LIFE_H

#include "XS/perl/perl_compat.h"
#include "XS/state/states.h"

#include "formats/deflate/deflate.h"

#include <sys/types.h>

struct nytp_recorder;

/* To go on from when an end is taken back. */
struct nytp_before_end {
    enum nytp_state state;
    pid_t pid;
    uint64_t wake_raw;
    uint64_t size;                     /* of the file, in bytes */
    int64_t call_point;                /* of rec->writer->calls */
    struct nytp_deflate_point deflate; /* level 0: a plain file */
};

/* The part of the state that life.c writes. */
struct nytp_rec_life {
    volatile bool forked; /* set in the child by the atfork handler, until it has become one */
    pid_t pid;            /* of the process that is recorded */
    unsigned n_forks;     /* generations of processes since the one that began */
    bool is_ended;        /* the stream has its end, which may yet be taken back */
    struct nytp_before_end before_end; /* valid while is_ended */
    unsigned n_thread_ends;            /* how often a thread seemed to be over */
};

/* ---- start ---- */

/* The tables that are needed, before anything is recorded; without memory for them it is said
 * and nothing is recorded. */
bool nytp_has_tables(struct nytp_recorder *rec);

/* The options have come: those that can do nothing beside the others are told, and left out. */
void nytp_settle_options(struct nytp_recorder *rec);
void nytp_start_recording(pTHX_ struct nytp_recorder *rec); /* in a new file */
void nytp_begin_recording(pTHX_ struct nytp_recorder *rec); /* in the file that is open */
/* At the first event; not while perl_clone() is still making the interpreter. */
void nytp_start_armed(pTHX_ struct nytp_recorder *rec) NYTP_COLD;

/* ---- end ---- */

/* End the file that is open, if any. */
void nytp_close(pTHX_ struct nytp_recorder *rec);
/* The same whatever the state; a program in which nothing ran has a profile, too. */
void nytp_finish(pTHX_ struct nytp_recorder *rec);
/* From a signal or atexit(): no perl, no memory. */
void nytp_finish_without_perl(struct nytp_recorder *rec);

/* The program is at its end, and the file gets one; perl code may still run, and takes it back.
 */
void nytp_end_program(pTHX_ struct nytp_recorder *rec);
/* Nothing can come any more: that end stays. */
void nytp_keep_end(struct nytp_recorder *rec);

/* A copy of the profile as it would be if the program ended now; recording goes on. `text`
 * becomes its name, or why there is none: then false. */
bool nytp_checkpoint(pTHX_ struct nytp_recorder *rec, char *text, size_t size);

/* The file that is open gets its end, and stays open without being written: it goes on from
 * *before_end, in the state that the recorder has then. */
void nytp_life_suspend(pTHX_ struct nytp_recorder *rec, struct nytp_before_end *before_end);
void nytp_life_resume(pTHX_ struct nytp_recorder *rec,
                      const struct nytp_before_end *before_end);
/* The same in a child: the file is the parent's. */
void nytp_life_resume_in_child(pTHX_ struct nytp_recorder *rec);

/* ---- fork and exec ---- */

/* Once for the process: be told of forks. */
void nytp_watch_forks(void);
/* In a process that was forked, before anything is done with the recorder: the file is the
 * parent's, and the child gets its own, if forkdepth= allows it. */
void nytp_become_child_if_forked(pTHX_ struct nytp_recorder *rec);
/* A process that was forked while nothing was recorded: its profile will be a child's. */
void nytp_name_as_child(struct nytp_recorder *rec);
/* The op exec: finish first, take that back if it fails. Returns the next op. */
OP *nytp_exec(pTHX_ struct nytp_recorder *rec);

/* ---- interpreters ---- */

/* The interpreter is a clone of the one that `from` records: it records at once, if that does,
 * or when it is told to. */
void nytp_life_inherit(struct nytp_recorder *rec, const struct nytp_recorder *from);

/* What is due at the clock reading *raw: a fork's consequences, a flush, a calibration. This is
 * the recorder's `wake_up`. */
void nytp_wake_up(pTHX_ struct nytp_recorder *rec, uint64_t *raw) NYTP_COLD;

/* The interpreter is being destroyed. Where perl is embedded (mod_perl), the process may make
 * another interpreter, and the object stays loaded: perl code that is still to run comes to our
 * op handlers. The interpreter then has no recorder. */
void nytp_recorder_free(pTHX_ struct nytp_recorder *rec);

#endif
