/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Which regular expression a context of a builtin that matches is about (option regex=1 of the
 * recorder), as the text of a label.
 */
#ifndef NYTP_PPROF_PATTERNS_H
#define NYTP_PPROF_PATTERNS_H

#include "pprof_tables.h"

struct nytp_pprof_patterns {
    struct nytp_table by_place; /* (file, line, kind) -> string */
};

/* Texts become strings of the tables. False when memory is out; nytp_pprof_patterns_free() in
 * either case. */
bool nytp_pprof_patterns_init(struct nytp_pprof_patterns *patterns,
                              struct nytp_pprof_tables *tables);
void nytp_pprof_patterns_free(struct nytp_pprof_patterns *patterns);

/* The string of the pattern of a node, 0 for none: the one with most time where a line has
 * several, and how many more there are. */
uint32_t nytp_pprof_pattern_of(const struct nytp_pprof_patterns *patterns,
                               const struct nytp_profile *profile, uint32_t node);

#endif
