/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Sums of regular expressions over all processes (option regex=1 of the recorder). Each
 * operation at a place with a pattern has a row; compilations have one row for each place.
 */
#ifndef NYTP_REGEX_ROWS_H
#define NYTP_REGEX_ROWS_H

#include "exporter.h"

#include "formats/model/model.h"

/* Growth beyond this is worth a warning: time grows faster than the subject. */
#define NYTP_REGEX_STEEP 1.5

struct nytp_regex_row {
    struct nytp_regex sums; /* process and sizes mean nothing; of a compilation: the pattern is
                               the one with most time */
    struct nytp_name file;
    uint64_t n_patterns; /* of a compilation: different ones */
    double growth;       /* time is about the subject's length to this power; 0: not known */
};

struct nytp_regex_rows {
    struct nytp_regex_row *rows; /* those with most time first */
    uint32_t n;
};

/* To be freed also where it fails, because memory is out. */
bool nytp_regex_rows_init(struct nytp_regex_rows *rows, const struct nytp_profile *profile);
void nytp_regex_rows_free(struct nytp_regex_rows *rows);

/* Writes advice on a row, in a few words of ASCII; "" if there is none. */
void nytp_regex_remark(const struct nytp_regex_row *row, char text[100]);

/* The profile's total in nanoseconds. */
int64_t nytp_total_ns(const struct nytp_profile *profile);

#endif
