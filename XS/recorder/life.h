/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The recorder's life: start, pause, finish, fork, exec, the program's end.
 */
#ifndef NYTP_LIFE_H
#define NYTP_LIFE_H

#include "state.h"

/* The tables that are needed, before anything is recorded; without memory for them it is said
 * and nothing is recorded. */
bool nytp_has_tables(struct nytp_recorder *rec);

void nytp_start_recording(pTHX_ struct nytp_recorder *rec); /* in a new file */
void nytp_begin_recording(struct nytp_recorder *rec);       /* in the file that is open */
void nytp_start_armed(pTHX_ struct nytp_recorder *rec) NYTP_COLD;

/* End the file that is open, if any. */
void nytp_close(pTHX_ struct nytp_recorder *rec);
void nytp_finish(pTHX_ struct nytp_recorder *rec);        /* the same, whatever the state */
void nytp_finish_without_perl(struct nytp_recorder *rec); /* from a signal or atexit() */

/* The program is at its end, and the file gets one; perl code may still run, and takes it back.
 */
void nytp_end_program(pTHX_ struct nytp_recorder *rec);
void nytp_keep_end(struct nytp_recorder *rec); /* nothing can come any more */

void nytp_watch_forks(void);
void nytp_become_child_if_forked(pTHX_ struct nytp_recorder *rec);
OP *nytp_exec(
    pTHX_ struct nytp_recorder *rec); /* exec: finish first, take it back if it fails */

void nytp_wake_up(pTHX_ struct nytp_recorder *rec, uint64_t *raw) NYTP_COLD;

/* Where perl is embedded (mod_perl), the process may make another interpreter, and the object
 * stays loaded: perl code that is still to run comes to our op handlers. What is left is a
 * recorder of no interpreter, which the next one takes over. */
void nytp_recorder_free(pTHX_ struct nytp_recorder *rec);

#endif
