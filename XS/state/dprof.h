/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl -d:DProf: the recorder writes Devel::DProf's tmon.out instead of its own stream. Calls
 * that are entered and left become marks (formats/stream/write/marks.h) with readings of the user, the
 * system and the real clock; all other records go nowhere.
 *
 * The real clock is the recorder's axis. Processor time costs a system call, so it is read when
 * more than a little real time has passed since it was read last; shorter stretches are taken
 * for user time, and the next reading sets that right.
 */
#ifndef NYTP_DPROF_H
#define NYTP_DPROF_H

#include "XS/perl/perl_compat.h"

#include "formats/stream/write/marks.h"

struct nytp_recorder;
struct nytp_rec_sub;
struct nytp_dprof;

/* From now on the profile is a tmon.out. To be called before anything is recorded. The
 * environment tells the clock ticks per second (PERL_DPROF_TICKS) and the buffer's size
 * (PERL_DPROF_BUFFER). */
void nytp_dprof_choose(pTHX_ struct nytp_recorder *rec);

/* What the writer puts its bytes into (nytp_bytes_fn): the stream's records are dropped. */
bool nytp_dprof_discard(void *context, const uint8_t *bytes, size_t len);

/* A new profile file has been opened; `now` is the axis in ticks. False when out of memory. */
bool nytp_dprof_begin(struct nytp_recorder *rec, int64_t now);

/* Put a mark: a call of `sub` begins, or ends. `now` is the axis in ticks. */
void nytp_dprof_enter(struct nytp_recorder *rec, struct nytp_rec_sub *sub, int64_t now);
void nytp_dprof_leave(struct nytp_recorder *rec, struct nytp_rec_sub *sub, int64_t now);
/* The call that was entered last is of another sub than was thought. */
void nytp_dprof_correct(struct nytp_recorder *rec, struct nytp_rec_sub *was,
                        struct nytp_rec_sub *sub, int64_t now);

/* Write the buffered marks to the file; the time that this takes is not the program's. False
 * when it failed. */
bool nytp_dprof_flush(struct nytp_recorder *rec);

/* Write the rest, and the header with the totals in place of the first one. An end may be taken
 * back, as a checkpoint does: nytp_dprof_keep_place() before it remembers where the marks are,
 * and nytp_dprof_take_back() after it goes on from there. */
void nytp_dprof_end(struct nytp_recorder *rec, int64_t now);
void nytp_dprof_keep_place(struct nytp_recorder *rec);
void nytp_dprof_take_back(struct nytp_recorder *rec);

void nytp_dprof_free(struct nytp_recorder *rec);

#endif
