/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * BEGIN blocks that ran unrecorded: before INIT with start=init, during a pause, with subs=0.
 *
 * One that is recorded is a sub of its own, Pkg::BEGIN@LINE. The others share one entry for
 * each package, "Pkg::BEGIN" with the lines of the last one, as in the list that perl -d keeps.
 * The entry is a struct nytp_rec_sub with is_begin set, and with a file while there is
 * something to tell. It is only written when the profile is closed, because each further block
 * changes it. subs.c tells what ran; profile.c has the entries written. No state of its own.
 */
#ifndef NYTP_BEGIN_BLOCKS_H
#define NYTP_BEGIN_BLOCKS_H

#include "XS/state/state.h"

/* The block with this body has run, or runs, and no call of it was recorded. `entry` is its
 * package's Pkg::BEGIN; NULL where the body is not that of a BEGIN block: nothing happens. */
void nytp_begin_ran(struct nytp_rec_sub *entry, const struct nytp_body *body);

/* A call of a BEGIN block of that package is recorded; `entry` is its Pkg::BEGIN. */
void nytp_begin_recorded(struct nytp_rec_sub *entry);

/* Before the entries are written: give the program's file its id where only `entry`, which is
 * main::BEGIN, needs it. */
void nytp_begin_blocks_introduce_file(pTHX_ struct nytp_recorder *rec,
                                      const struct nytp_rec_sub *entry);

/* At the end: a SUB_INFO record for each entry whose file the profile knows. */
void nytp_begin_blocks_write(struct nytp_recorder *rec);

#endif
