/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Writes --by=label in the formats that programs read: --json, --csv, --markdown and --rows.
 */
#ifndef NYTP_LABEL_FORMATS_H
#define NYTP_LABEL_FORMATS_H

#include "run.h"

#include "formats/model/label_sums.h"

/* Rows of one or several keys; those of a key stand together. */
struct nytp_label_table {
    struct run *run;
    const struct nytp_label_row *rows;
    uint32_t n;
    int64_t ticks_per_sec; /* for --unit=ticks */
    char place[400];       /* private */
};

/* Writes the table in the form of the options. */
void nytp_label_write(struct nytp_label_table *table, struct nytp_out *out);

/* A JSON line for each length of each label of one recording. */
void nytp_label_put_rows(const struct nytp_label_table *table, struct nytp_label_input input,
                         struct nytp_out *out);

bool nytp_label_same_key(const struct nytp_label_row *a, const struct nytp_label_row *b);

#endif
