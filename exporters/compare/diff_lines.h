/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The lines of a comparison's subs. Lines are matched by how far they are behind the first line
 * of their sub that ran, so that code which moves as a whole is no change.
 */
#ifndef NYTP_DIFF_LINES_H
#define NYTP_DIFF_LINES_H

#include "diff.h"

#include "exporters/base/exporter.h"

struct nytp_diff_line {
    uint32_t row;    /* of the comparison */
    uint32_t offset; /* lines behind the sub's first one */
    uint32_t line;   /* as the new side has it, else the base */
    /* Means of a side's runs, rounded: statements, ticks and memory. */
    struct nytp_diff_cell mean[NYTP_DIFF_SIDES];
};

/* Zeroed = empty. */
struct nytp_diff_lines {
    struct nytp_diff_line *lines; /* by row, then offset */
    uint32_t n;
    uint32_t *first; /* of each row, into lines; one more than rows */
};

/* Only lines in the subs' own files. False when memory is out; free in either case. */
bool nytp_diff_lines_init(struct nytp_diff_lines *lines, const struct nytp_diff *diff);
void nytp_diff_lines_free(struct nytp_diff_lines *lines);

/* Whether a line is worth showing below its sub: its count changed, or its memory, if that is
 * the weight. Where no count of the sub did, all are, as only times can have. */
bool nytp_diff_line_matters(const struct nytp_diff_row *row, const struct nytp_diff_line *line,
                            enum nytp_weight weight);

/* What a line's statements changed by. */
int64_t nytp_diff_line_statements(const struct nytp_diff_line *line);

/* What of a line stands in the columns of the weight: of counts its statements. */
enum nytp_weight nytp_diff_line_weight(enum nytp_weight weight);

#endif
