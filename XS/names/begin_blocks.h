/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * BEGIN blocks that ran unrecorded: before INIT with start=init, during a pause, with subs=0.
 *
 * A recorded block is a sub of its own, Pkg::BEGIN@LINE. The others share one entry per
 * package, "Pkg::BEGIN" with the lines of the last one, as in perl -d's list. The entry is a
 * struct nytp_rec_sub with is_begin set, and with a file if it is to be written. It is written
 * when the profile is closed, since each further block changes it. subs.c reports which blocks
 * ran. No state of its own.
 */
#ifndef NYTP_BEGIN_BLOCKS_H
#define NYTP_BEGIN_BLOCKS_H

#include "XS/state/state.h"
#include "tables.h"

/* The block with this body has run or is running, unrecorded. `entry` is its package's
 * Pkg::BEGIN; NULL, for other bodies, does nothing. */
void nytp_begin_ran(struct nytp_rec_sub *entry, const struct nytp_body *body);

/* A call of a BEGIN block of that package is recorded; `entry` is its Pkg::BEGIN. */
void nytp_begin_recorded(struct nytp_rec_sub *entry);

/* Before these are written: gives the program's file its id if only `entry`, main::BEGIN, needs
 * it. */
void nytp_begin_blocks_introduce_file(pTHX_ struct nytp_recorder *rec,
                                      const struct nytp_rec_sub *entry);

#endif
