/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What recording costs the program, measured in this very process, for readers that take it off
 * (formats/model.md, "What recording cost").
 */
#ifndef NYTP_COSTS_H
#define NYTP_COSTS_H

#include "XS/state/state.h"

/* Each measurement is made with the options in force, takes some 100 us (half a millisecond
 * where the clock is a system call), which are cut out of the time axis, and leaves no trace in
 * the program or in the records. The comment that tells the costs says the mean of all
 * measurements so far, and by how much handlers take longer in the program than there; the
 * lowest measurement where the clock is a system call. When memory is out
 * nothing is written.
 */

/* Behind a process's start: the first measurement, and its comment. */
void nytp_costs_begin(pTHX_ struct nytp_recorder *rec);

/* While the program runs: measure if it is due at clock reading `raw`, and now and then write
 * the comment, for readers of a program that is killed. Returns the reading at which this wants
 * to be called again. */
uint64_t nytp_costs_wake_up(pTHX_ struct nytp_recorder *rec, uint64_t raw);

/* Before a process's end: the comment that holds. */
void nytp_costs_end(struct nytp_recorder *rec);

/* Nanoseconds that recording adds to a builtin's own time, as far as it is known; 0: it is not.
 */
double nytp_costs_in_builtin_ns(const struct nytp_recorder *rec);

void nytp_costs_free(pTHX_ struct nytp_recorder *rec);

#endif
