/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A sheet with a row for each sub and a column for each measure: --top, --markdown, --csv.
 */
#ifndef NYTP_SUB_ROWS_H
#define NYTP_SUB_ROWS_H

#include "inclusive.h"

#include "exporters/table/sheet.h"

enum nytp_sub_column {
    NYTP_SUB_SELF,
    NYTP_SUB_SELF_SHARE,
    NYTP_SUB_INCL,
    NYTP_SUB_INCL_SHARE,
    NYTP_SUB_CALLS,
    NYTP_SUB_SAMPLES,
    NYTP_SUB_STATEMENTS,
    NYTP_SUB_PER_CALL,
    NYTP_SUB_CPU,
    NYTP_SUB_WAIT,
    NYTP_SUB_OPS,
    NYTP_SUB_MEMORY, /* and behind it, by measure: its own, with what it calls */
    NYTP_SUB_NAME = NYTP_SUB_MEMORY + 2 * NYTP_N_MEMORY,
    NYTP_SUB_PLACE,
    NYTP_SUB_COLUMNS
};
_Static_assert(NYTP_SUB_COLUMNS <= (int)NYTP_MOST_COLUMNS, "a sheet has room for all columns");

/* Arrays are by sub, and NULL if not recorded. Owned. */
struct nytp_sub_rows {
    struct nytp_sheet sheet; /* of all subs; it points to this struct */
    uint32_t *rows;          /* n_subs, for the sheet's order */
    uint64_t *samples;       /* where samples are counted in place of calls */
    struct nytp_inclusive_memory inclusive;
    int64_t *waits; /* to be set by the user; or NULL */
    double *costs;  /* likewise: recording cost that was subtracted */
};

/* Begins a sheet without columns. Returns false if memory is out; free in either case. */
bool nytp_sub_rows_init(struct nytp_sub_rows *rows, const struct nytp_profile *profile,
                        const struct nytp_export_options *options);
void nytp_sub_rows_free(struct nytp_sub_rows *rows);

/* Keeps subs with anything to show, the largest by a key of --sort first. */
bool nytp_sub_rows_sort(struct nytp_sub_rows *rows, const char *sort);

/* Returns the column of a measure of memory. */
static inline unsigned nytp_sub_column_of(int weight)
{
    return (unsigned)(NYTP_SUB_MEMORY + 2 * (weight - NYTP_MEMORY_FIRST));
}

/* Shows both columns of memory (text.h). */
void nytp_sub_rows_show_memory(struct nytp_sub_rows *rows, enum nytp_memory_columns memory);

#endif
