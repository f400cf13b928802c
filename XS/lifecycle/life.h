/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The recorder's lifecycle: start, pause, finish, fork, exec, the program's end. load.c,
 * hooks.c, control.c and exits.c report the events.
 *
 * Nothing here may stop or change the program: an error is reported once, in one line, and the
 * program runs on unrecorded. $! is kept.
 */
#ifndef NYTP_LIFE_H
#define NYTP_LIFE_H

#include "XS/perl/perl_compat.h"

struct nytp_before_end;
struct nytp_recorder;

/* ---- start ---- */

/* Allocates the tables for recording. Returns false, and reports it, if memory is out. */
bool nytp_has_tables(struct nytp_recorder *rec);

/* Options are complete: those without effect beside others are reported and ignored. */
void nytp_settle_options(struct nytp_recorder *rec);
void nytp_start_recording(pTHX_ struct nytp_recorder *rec); /* in a new file */
void nytp_begin_recording(pTHX_ struct nytp_recorder *rec); /* in the open file */
/* At the first event; not while perl_clone() is making the interpreter. */
void nytp_start_armed(pTHX_ struct nytp_recorder *rec) NYTP_COLD;

/* ---- end ---- */

void nytp_close(pTHX_ struct nytp_recorder *rec);
/* The same in any state; a program without events has a profile, too. */
void nytp_finish(pTHX_ struct nytp_recorder *rec);
/* From a signal or atexit(): uses neither perl nor memory. */
void nytp_finish_without_perl(struct nytp_recorder *rec);

/* At the program's end: completes the file. perl code that still runs takes the end back. */
void nytp_end_program(pTHX_ struct nytp_recorder *rec);
/* Makes that end final. */
void nytp_keep_end(struct nytp_recorder *rec);

/* Writes a copy of the profile as if the program ended now; recording goes on. Returns true and
 * its name in `text`, or false and the reason. */
bool nytp_checkpoint(pTHX_ struct nytp_recorder *rec, char *text, size_t size);

/* The first ends the open file and keeps it open without writing. The second goes on from
 * *before_end, in its state. */
void nytp_life_suspend(pTHX_ struct nytp_recorder *rec, struct nytp_before_end *before_end);
void nytp_life_resume(pTHX_ struct nytp_recorder *rec,
                      const struct nytp_before_end *before_end);
/* The same in a child: the file is the parent's. */
void nytp_life_resume_in_child(pTHX_ struct nytp_recorder *rec);

/* ---- fork and exec ---- */

/* Registers the fork handlers, once for the process. */
void nytp_watch_forks(void);
/* In a forked process, before any use of the recorder: leaves the file to the parent and opens
 * the child's own, if forkdepth= allows it. */
void nytp_become_child_if_forked(pTHX_ struct nytp_recorder *rec);
/* The op exec: finishes first, and takes that back if exec fails. Returns the next op. */
OP *nytp_exec(pTHX_ struct nytp_recorder *rec);

/* ---- interpreters ---- */

/* Does the work due at the clock reading *raw: a fork's consequences, a flush, a calibration.
 * This is the recorder's `wake_up`. */
void nytp_wake_up(pTHX_ struct nytp_recorder *rec, uint64_t *raw) NYTP_COLD;

/* For an interpreter that is being destroyed: leaves it without a recorder. If perl is embedded
 * (mod_perl), this library stays loaded, and later perl code still calls our op handlers. */
void nytp_recorder_free(struct nytp_recorder *rec);

#endif
