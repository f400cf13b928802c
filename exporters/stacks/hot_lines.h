/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The lines with the most time of their own, over the whole program, as a table for the
 * terminal (--top --lines).
 */
#ifndef NYTP_HOT_LINES_H
#define NYTP_HOT_LINES_H

#include "exporters/base/exporter.h"

/* The order of lines (struct nytp_line_row), most time first. */
int nytp_compare_line_times(const void *x, const void *y);

/* The same by what contexts kept of perl's values: what a sub makes on one line and frees on
 * another is of no interest. */
int nytp_compare_line_svs(const void *x, const void *y);

/* Put at most `wanted` lines with their source, then one row for the rest. A line's time and
 * SVs are those of its statements with the builtins and xsubs that they call. False with out's
 * sticky error set. */
bool nytp_put_hot_lines(const struct nytp_profile *profile,
                        const struct nytp_export_options *options, uint32_t wanted,
                        struct nytp_out *out);

#endif
