/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The table that engines load: one row for each distinct stack of each process or, with the
 * option `lines`, for each line of one. Values are the row's own, so that sums over rows count
 * nothing twice.
 *
 * The same input gives the same rows, and `profile` is the same for a process each time, so a
 * table that replaces equal rows can be loaded twice.
 */
#ifndef NYTP_STACK_ROWS_H
#define NYTP_STACK_ROWS_H

#include "exporters/base/exporter.h"

enum nytp_row_flag {
    NYTP_ROW_UNRETURNED = 1,
    NYTP_ROW_ESTIMATED = 2,
    NYTP_ROW_PARTIAL = 4,
    NYTP_ROW_SAMPLED = 8, /* statements are samples, calls at least so many, cpu_ns is known */
    NYTP_ROW_COUNTS = 16, /* no times were recorded */
};

/* The columns with which all rows of a process begin. */
struct nytp_row_process {
    char profile[17]; /* hash of host, pid, thread, start and application: 16 hex digits */
    struct nytp_name host, service, application, script, perl, recorder;
    uint32_t pid, ppid;
    uint32_t thread; /* 0 = the first */
    int64_t start_s, start_ns, duration_ns;
};

struct nytp_stack_row {
    const struct nytp_row_process *process;
    const struct nytp_name *stack, *files; /* frames, the root first; the file and the … */
    const uint32_t *lines; /* … line where each was, both NULL without the option `lines` */
    uint32_t depth;
    struct nytp_name sub, file; /* the last frame: of the sub, with lines of the statement */
    uint32_t line;
    int64_t calls, statements, wall_ns; /* with lines a stack's first line has its calls */
    int64_t cpu_ns;                     /* of a sampled process, else 0 */
    uint32_t has; /* enum nytp_has of the profile */
    struct nytp_svs svs;
    unsigned flags; /* enum nytp_row_flag */
};

/* Gets one row, which is borrowed; false to stop. */
typedef bool nytp_stack_row_fn(void *context, const struct nytp_stack_row *row);

/* Give all rows to `put`: processes in their order, their stacks by name, lines in order.
 * Values that were below 0 are counted in out->n_negative, nothing is written. Returns false if
 * memory is out or the function said so. */
bool nytp_stack_rows(const struct nytp_profile *profile,
                     const struct nytp_export_options *options, struct nytp_out *out,
                     nytp_stack_row_fn *put, void *context);

/* The two parts of the user's i-th label "KEY=VALUE", borrowed from the options. */
struct nytp_name nytp_label_key(const struct nytp_export_options *options, uint32_t i);
struct nytp_name nytp_label_value(const struct nytp_export_options *options, uint32_t i);

/* The value of the last one of this key, or `otherwise`. */
struct nytp_name nytp_given_label(const struct nytp_export_options *options, const char *key,
                                  struct nytp_name otherwise);

#endif
