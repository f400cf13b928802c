/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Times of regular expressions (option regex=1): each match, substitution, split and tr is
 * measured, and each compilation at run time, by place and pattern. The sums are recorded now
 * and then and before a process ends, as comments (formats/stream/comments/regex_records.h).
 *
 * perl's handlers of these ops are wrapped, below those that record builtins as subs. An op
 * recorded as a sub has that sub's own time; otherwise perl's handler alone is measured. The
 * noting is cut out of the time axis. In a sampled profile the op in progress gets the sample's
 * time.
 */
#ifndef NYTP_REGEXES_H
#define NYTP_REGEXES_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;
struct nytp_rec_regexes;
struct nytp_place;

/* Starts measuring ops compiled from now on, and allocates the tables. */
void nytp_regexes_begin(struct nytp_recorder *rec);

/* Call it when the frame of a builtin that ran such an op (rec->last.ended_regex) has been
 * closed. `ticks` is its exclusive time. */
void nytp_regexes_builtin_ended(pTHX_ struct nytp_recorder *rec, int64_t ticks);

/* Adds a sample of `ticks` to the pattern of the op, whose memory may be freed by now. */
void nytp_regexes_sampled(pTHX_ struct nytp_recorder *rec, int type, const void *op,
                          const struct nytp_place *place, int64_t ticks);

/* Write the sums since the last call; they do nothing without the option. The second does so
 * ever more rarely, for readers of a killed program. The cost of recording a builtin is
 * subtracted. */
void nytp_regexes_write(struct nytp_recorder *rec);
void nytp_regexes_write_if_due(struct nytp_recorder *rec, uint64_t raw);

#endif
