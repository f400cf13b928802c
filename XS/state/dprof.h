/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * perl -d:DProf: the recorder writes Devel::DProf's tmon.out instead of its own stream. Each
 * entry and return of a call becomes a mark (formats/stream/write/marks.h) with readings of the
 * user, the system and the real clock. All other records are dropped.
 *
 * The real clock is the recorder's axis. Reading processor time costs a system call, so it is
 * read only after some real time has passed. Shorter stretches count as user time; the next
 * reading corrects that.
 */
#ifndef NYTP_DPROF_H
#define NYTP_DPROF_H

#include "XS/perl/perl_compat.h"

#include "formats/stream/write/marks.h"

struct nytp_recorder;
struct nytp_rec_sub;
struct nytp_dprof;

/* Makes the profile a tmon.out. Call it before anything is recorded. The environment sets the
 * clock ticks per second (PERL_DPROF_TICKS) and the buffer's size (PERL_DPROF_BUFFER). */
void nytp_dprof_choose(struct nytp_recorder *rec);

/* The writer's nytp_bytes_fn: drops the stream's records. */
bool nytp_dprof_discard(void *context, const uint8_t *bytes, size_t len);

/* Call it for a new profile file. `now` is the axis in ticks. Returns false if memory is
 * out. */
bool nytp_dprof_begin(struct nytp_recorder *rec, int64_t now);

/* Puts a mark: a call of `sub` begins, or ends. `now` is the axis in ticks. */
void nytp_dprof_enter(struct nytp_recorder *rec, struct nytp_rec_sub *sub, int64_t now);
void nytp_dprof_leave(struct nytp_recorder *rec, struct nytp_rec_sub *sub, int64_t now);
/* Replaces the sub of the last call, `was`, which was a wrong guess. */
void nytp_dprof_correct(struct nytp_recorder *rec, struct nytp_rec_sub *was,
                        struct nytp_rec_sub *sub, int64_t now);

/* Writes the buffered marks to the file. The time this takes is not charged to the program.
 * Returns false if writing failed. */
bool nytp_dprof_flush(struct nytp_recorder *rec);

/* A checkpoint takes an end back: nytp_dprof_keep_place() before it saves where the marks are,
 * nytp_dprof_take_back() after it goes on from there. */
void nytp_dprof_keep_place(struct nytp_recorder *rec);
void nytp_dprof_take_back(struct nytp_recorder *rec);

#endif
