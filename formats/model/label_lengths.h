/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How long stretches of labels were. Lengths are counted under numbers with nine binary digits
 * after the first: memory does not grow with the number of stretches, and medians are right to
 * 0.2 %.
 */
#ifndef NYTP_LABEL_LENGTHS_H
#define NYTP_LABEL_LENGTHS_H

#include "formats/base/table.h"

#include <stdbool.h>
#include <stdint.h>

/* `n` stretches of a label were this long, to 0.2 %. */
struct nytp_label_length {
    uint32_t label; /* number of the label */
    double seconds;
    uint64_t n;
};

/* A zeroed struct is empty. */
struct nytp_label_lengths {
    struct nytp_label_length *all;
    uint32_t n, capacity;
    struct nytp_table by_length; /* (label, rounded length) -> length */
};

/* Counts a stretch. Returns false if memory is out. */
bool nytp_label_lengths_add(struct nytp_label_lengths *lengths, uint32_t label, double seconds);
void nytp_label_lengths_free(struct nytp_label_lengths *lengths);

/* Sorts them by label, then length; adding comes before that. */
void nytp_label_lengths_sort(struct nytp_label_lengths *lengths);

/* Return a length of the n stretches of one label, from its first length on: the one in the
 * middle, or halfway between the two in the middle; the smallest that at least 95 % do not
 * exceed. */
double nytp_label_median(const struct nytp_label_length *lengths, uint64_t n);
double nytp_label_p95(const struct nytp_label_length *lengths, uint64_t n);

#endif
