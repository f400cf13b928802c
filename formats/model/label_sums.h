/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What each label of a recording took: how often it was set, how long each time, and how much
 * of that time was each sub's own. A sink for events, of one input or of several one after the
 * other; the times are as recorded.
 *
 * A label is a pair of key and value. It begins where the program sets it and ends where the
 * program gives the key another value, the same one once more, or none, else with its process.
 * A label of a whole profile is one such stretch, as long as all statements of the process.
 */
#ifndef NYTP_LABEL_SUMS_H
#define NYTP_LABEL_SUMS_H

#include "formats/stream/event.h"
#include "model.h"

/* More labels than this are counted under the value "(more)"; more pairs of label and sub are
 * left out of what is known about subs. */
#define NYTP_MOST_LABELS     100000u
#define NYTP_MOST_LABEL_SUBS 5000000u

struct nytp_label_row {
    struct nytp_name key, value;     /* as in the stream: control characters as \xHH */
    uint64_t n;                      /* stretches */
    double total_s, median_s, p95_s; /* median and p95 to 0.2 % */
    /* The sub with the most own time in all these stretches; "" when no call is known. */
    struct nytp_name slowest;
    double slowest_s;
};

struct nytp_label_sums;

struct nytp_label_sums *nytp_label_sums_new(void); /* NULL: no memory */
void nytp_label_sums_free(struct nytp_label_sums *sums);

/* For nytp_read(). */
struct nytp_sink *nytp_label_sums_sink(struct nytp_label_sums *sums);

/* An input has been read to its end, early or not. */
bool nytp_label_sums_end_input(struct nytp_label_sums *sums);

/* The rows of one key, or of all with NULL: sorted by key, then total, the longest first, then
 * value. To be freed with free(); the names in it live as long as `sums`. NULL when memory is
 * out, also if that was so before. */
struct nytp_label_row *nytp_label_sums_rows(const struct nytp_label_sums *sums, const char *key,
                                            uint32_t *n_rows);

#endif
