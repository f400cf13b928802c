/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The cost of recording, measured in this process, for readers that subtract it
 * (formats/model.md, "What recording cost").
 */
#ifndef NYTP_COSTS_H
#define NYTP_COSTS_H

#include "XS/state/state.h"

/* A measurement uses the options in force and takes some 100 us (500 us if the clock is a
 * system call). That time is cut out of the axis and leaves no trace in the program or the
 * records. A comment records the mean of all measurements so far and the extra time of handlers
 * in the program; the lowest measurement if the clock is a system call. If memory is out
 * nothing is written. */

/* At a process's start: makes the first measurement and writes its comment. */
void nytp_costs_begin(pTHX_ struct nytp_recorder *rec);

/* During the run: measures if that is due at clock reading `raw`, and now and then writes the
 * comment, for readers of a killed program. Returns the reading at which to call this again. */
uint64_t nytp_costs_wake_up(pTHX_ struct nytp_recorder *rec, uint64_t raw);

/* Before a process's end: writes the final comment. */
void nytp_costs_end(struct nytp_recorder *rec);

/* Returns the nanoseconds that recording adds to a builtin's own time, or 0 if unknown. */
double nytp_costs_in_builtin_ns(const struct nytp_recorder *rec);

void nytp_costs_free(pTHX_ struct nytp_recorder *rec);

#endif
