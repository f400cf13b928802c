/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What regular expressions take (option regex=1): each match, substitution, split and tr is
 * measured, and each compilation at run time, by place and pattern. It is told now and
 * then and before the end of a process, as comments (formats/stream/comments/regex_records.h).
 *
 * perl's own handlers of these ops are wrapped, below those that record builtins as subs. An op
 * that is recorded as a sub has that sub's own time; of others perl alone is measured. What is
 * done to note it is cut out of the time axis. In a sampled profile the operation that was in
 * progress is noted with the time of the sample.
 */
#ifndef NYTP_REGEXES_H
#define NYTP_REGEXES_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;
struct nytp_rec_regexes;
struct nytp_place;

/* Ops that are compiled from now on are measured, and a recorder has where to keep it. */
void nytp_regexes_begin(struct nytp_recorder *rec);

/* Everything that was measured belongs to another profile or process. */
void nytp_regexes_forget(struct nytp_recorder *rec);

/* The frame of a builtin was closed, in which such an op ran (rec->ended_regex) and which took
 * so long without what it called. */
void nytp_regexes_builtin_ended(pTHX_ struct nytp_recorder *rec, int64_t ticks);

/* A sample that is so long was in an operation, which may be gone by now: one of a pattern is
 * noted. */
void nytp_regexes_sampled(pTHX_ struct nytp_recorder *rec, int type, const void *op,
                          const struct nytp_place *place, int64_t ticks);

/* Tell what was measured since this was called last; nothing happens without the option. The
 * second does so now and then, ever more rarely, for readers of a program that is killed.
 * `builtin_ns` is what recording adds to a builtin's own time, which is taken off. */
void nytp_regexes_write(struct nytp_recorder *rec, double builtin_ns);
void nytp_regexes_write_if_due(struct nytp_recorder *rec, uint64_t raw, double builtin_ns);
void nytp_regexes_free(struct nytp_recorder *rec);

#endif
