/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Merges string evals that are shown as one: those of one line that have the same source and
 * ran no string evals. If a line has too many distinct ones, all that ran no evals are merged.
 * The one with the lowest number stays.
 */
#ifndef NYTP_SIBLING_EVALS_H
#define NYTP_SIBLING_EVALS_H

#include <stdbool.h>
#include <stdint.h>

struct nytp_sibling_eval {
    uint32_t file, ran_file, ran_line; /* its number, and the line that ran it */
    uint64_t hash;                     /* of its source; 0 = unknown */
    bool has_evals;                    /* some line of it ran a string eval */
    bool other_source;                 /* out: the one it is shown as may have another source */
    uint32_t merged_into;              /* out: number of the one it is shown as, or its own */
};

/* Sets `merged_into` and `other_source`, and sorts the evals by place. Merged ones are then in
 * the order of their numbers. */
void nytp_sibling_evals_merge(struct nytp_sibling_eval *evals, uint32_t n,
                              uint32_t max_siblings,
                              bool (*same_source)(const void *context, uint32_t a, uint32_t b),
                              const void *context);

#endif
