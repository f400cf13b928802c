/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What recording costs the program, measured in this very process, for readers that take it off
 * (formats/model.md, "What recording cost").
 */
#ifndef NYTP_COSTS_H
#define NYTP_COSTS_H

#include "state.h"

/* Measure, with the options in force, and write the comment that tells it: behind a process's
 * start, and again before its end, since the lower of two measurements is the one that met
 * no slow moment. Takes some 50 us, which are cut out of the time axis; the program sees
 * nothing of it. When memory is out nothing is written. */
void nytp_costs_write(pTHX_ struct nytp_recorder *rec);

#endif
