/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * BEGIN blocks that ran unrecorded.
 */
#ifndef NYTP_BEGINS_H
#define NYTP_BEGINS_H

#include "state.h"

void nytp_begin_ran(struct nytp_recorder *rec, const struct nytp_body *body);
/* A call of a BEGIN block of that package is recorded; `entry` is its Pkg::BEGIN. */
void nytp_begin_recorded(struct nytp_recorder *rec, struct nytp_rec_sub *entry);
/* Their files, before SUB_INFO; `entry` is main::BEGIN. */
void nytp_begins_tell(pTHX_ struct nytp_recorder *rec, const struct nytp_rec_sub *entry);
void nytp_begins_write(struct nytp_recorder *rec); /* at the end */

#endif
