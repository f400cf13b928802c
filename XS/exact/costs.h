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
 * nothing is written. The first is made at the file's begin; rec->costs.builtin_ns is what
 * recording adds to a builtin's own time. */

/* During the run: measures if that is due at clock reading `raw`, and now and then writes the
 * comment, for readers of a killed program. Returns the reading at which to call this again. */
uint64_t nytp_costs_wake_up(pTHX_ struct nytp_recorder *rec, uint64_t raw);

#endif
