/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The lines of a comparison's subs. Lines are matched by their distance from the first line of
 * their sub that ran, so code that moves as a whole does not change.
 */
#ifndef NYTP_DIFF_LINES_H
#define NYTP_DIFF_LINES_H

#include "diff.h"

#include "exporters/base/exporter.h"

struct nytp_diff_line {
    uint32_t row;    /* of the comparison */
    uint32_t offset; /* lines behind the sub's first one */
    uint32_t line;   /* from the new side, else the base */
    /* Rounded means of a side's runs: statements, ticks and memory. */
    struct nytp_diff_cell mean[NYTP_DIFF_SIDES];
};

/* A zeroed struct is empty. */
struct nytp_diff_lines {
    struct nytp_diff_line *lines; /* sorted by row, then offset */
    uint32_t n;
    uint32_t *first; /* by row: index into lines; one more than rows */
};

/* Matches lines in the subs' own files. Returns false if memory is out; free in either case. */
bool nytp_diff_lines_init(struct nytp_diff_lines *lines, const struct nytp_diff *diff);
/* The same if the option `lines` is given and the base has lines; otherwise there are none, and
 * lines->lines is NULL. */
bool nytp_diff_lines_asked(struct nytp_diff_lines *lines, const struct nytp_diff *diff,
                           const struct nytp_export_options *options);
void nytp_diff_lines_free(struct nytp_diff_lines *lines);

/* Returns true if a line should be shown below its sub: its count changed, or its memory if
 * that is the weight. If no count of the sub changed, all lines are shown, as only times can
 * differ. */
bool nytp_diff_line_matters(const struct nytp_diff_row *row, const struct nytp_diff_line *line,
                            enum nytp_weight weight);

/* Returns the change in a line's statements. */
int64_t nytp_diff_line_statements(const struct nytp_diff_line *line);

/* Returns the weight for the columns of a line: statements for counts. */
enum nytp_weight nytp_diff_line_weight(enum nytp_weight weight);

#endif
