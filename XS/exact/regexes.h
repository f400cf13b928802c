/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What regular expressions take (option regex=1): each match, substitution, split and tr is
 * measured, and each compilation at run time, by place and pattern. It is told now and
 * then and before the end of a process, as comments (formats/stream/comments/regex_records.h).
 *
 * perl's own handlers of these ops are wrapped, below those that record builtins as subs: what
 * is measured is perl alone. What is done here is cut out of the time axis.
 */
#ifndef NYTP_REGEXES_H
#define NYTP_REGEXES_H

#include "XS/perl/perl_compat.h"

struct nytp_recorder;
struct nytp_rec_regexes;

/* Ops that are compiled from now on are measured, and a recorder has where to keep it. */
void nytp_regexes_begin(struct nytp_recorder *rec);

/* Everything that was measured belongs to another profile or process. */
void nytp_regexes_forget(struct nytp_recorder *rec);

/* Tell what was measured since this was called last; nothing happens without the option. The
 * second does so now and then, ever more rarely, for readers of a program that is killed. */
void nytp_regexes_write(struct nytp_recorder *rec);
void nytp_regexes_write_if_due(struct nytp_recorder *rec, uint64_t raw);
void nytp_regexes_free(struct nytp_recorder *rec);

#endif
