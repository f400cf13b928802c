/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The lines with the most time of their own, over the whole program, as a table for the
 * terminal (--top --lines).
 */
#ifndef NYTP_HOT_LINES_H
#define NYTP_HOT_LINES_H

#include "calls.h"

#include "exporters/base/exporter.h"

/* Sorts lines by a measure of memory, by statements, or by time; the largest first. For SVs the
 * measure is kept_svs: a sub may free on one line what it made on another. */
void nytp_lines_sort(struct nytp_line_rows *rows, enum nytp_weight weight);

/* Put at most `wanted` lines with their source, then one row for the rest. A line's time and
 * SVs are those of its statements with the builtins and xsubs that they call. False with out's
 * sticky error set. */
bool nytp_put_hot_lines(const struct nytp_profile *profile,
                        const struct nytp_export_options *options, uint32_t wanted,
                        struct nytp_out *out);

#endif
