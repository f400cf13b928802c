/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Which string evals are shown as one: those that one line ran, that have the same source and
 * ran no string evals themselves; where a line has more than a number of distinct ones, all of
 * them that ran none. The one with the lowest number stays.
 */
#ifndef NYTP_SIBLING_EVALS_H
#define NYTP_SIBLING_EVALS_H

#include <stdbool.h>
#include <stdint.h>

struct nytp_sibling_eval {
    uint32_t file, ran_file, ran_line; /* its number, and the line that ran it */
    uint64_t hash;                     /* of its source; 0 = none is known */
    bool has_evals;                    /* it ran string evals */
    bool other_source;                 /* out: what it is shown as may have another source */
    uint32_t merged_into;              /* out: what it is shown as, or its own number */
};

/* Fill in what the rule says of each of them, and sort them by place; what becomes one is then
 * in the order of its numbers. */
void nytp_sibling_evals_merge(struct nytp_sibling_eval *evals, uint32_t n,
                              uint32_t max_siblings,
                              bool (*same_source)(const void *context, uint32_t a, uint32_t b),
                              const void *context);

#endif
