/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Lengths of stretches of labels; see label_lengths.h.
 */
#include "label_lengths.h"

#include "formats/base/arena.h"
#include "order.h"

#include <math.h>
#include <stdlib.h>

/* Rounds a length to its binary exponent and nine digits after the first. */
static uint32_t rounded(double seconds)
{
    int exponent;
    const double fraction = frexp(seconds, &exponent); /* 0.5 to 1 */
    return seconds <= 0 ? 0
                        : (uint32_t)(exponent + 1100) << 9 | (uint32_t)(fraction * 1024 - 512);
}

bool nytp_label_lengths_add(struct nytp_label_lengths *lengths, uint32_t label, double seconds)
{
    const struct nytp_key key = {label, rounded(seconds), 0, 0};
    uint32_t at = nytp_table_get(&lengths->by_length, key);
    if (at == NYTP_TABLE_NONE) {
        if (!nytp_grow(&lengths->all, &lengths->capacity, lengths->n, sizeof *lengths->all) ||
            !nytp_table_put(&lengths->by_length, key, lengths->n))
            return false;
        at = lengths->n++;
        lengths->all[at] = (struct nytp_label_length){.label = label, .seconds = seconds};
    }
    lengths->all[at].n++;
    return true;
}

void nytp_label_lengths_free(struct nytp_label_lengths *lengths)
{
    nytp_table_free(&lengths->by_length);
    free(lengths->all);
    *lengths = (struct nytp_label_lengths){0};
}

static int by_label_and_length(const void *x, const void *y)
{
    const struct nytp_label_length *a = x, *b = y;
    NYTP_RETURN_ORDER(a->label, b->label);
    return a->seconds < b->seconds ? -1 : a->seconds > b->seconds;
}

void nytp_label_lengths_sort(struct nytp_label_lengths *lengths)
{
    if (lengths->n > 0)
        qsort(lengths->all, lengths->n, sizeof *lengths->all, by_label_and_length);
}

/* Returns the length of this rank, from 1, of sorted lengths that are counted together. */
static double length_at(const struct nytp_label_length *lengths, uint64_t rank)
{
    uint64_t seen = 0;
    while ((seen += lengths->n) < rank)
        lengths++;
    return lengths->seconds;
}

double nytp_label_median(const struct nytp_label_length *lengths, uint64_t n)
{
    return (length_at(lengths, (n + 1) / 2) + length_at(lengths, n / 2 + 1)) / 2;
}

double nytp_label_p95(const struct nytp_label_length *lengths, uint64_t n)
{
    return length_at(lengths, (uint64_t)ceil(0.95 * (double)n));
}
