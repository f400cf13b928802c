/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Rows for tables of a sub's callers, its callees and the costs of its lines, summed over the
 * inputs of the profile.
 */
#ifndef NYTP_CALLS_H
#define NYTP_CALLS_H

#include "formats/model/model.h"

/* The arcs of a profile by callee; the model itself has them by caller. The callers of sub s
 * are arcs[first[s]] to before arcs[first[s + 1]]. */
struct nytp_callers {
    uint32_t *first; /* per sub, and one more: into arcs */
    uint32_t *arcs;  /* indices into the profile's arcs */
    uint64_t *svs;   /* by arc: inclusive; NULL where none were recorded, as the next */
    uint64_t *inuse_bytes;
    uint64_t
        *samples; /* by arc: what counts instead of calls; NULL unless the caller has set it */
};

/* Returns false if memory is out; nytp_callers_free() in either case. */
bool nytp_callers_init(struct nytp_callers *callers, const struct nytp_profile *profile);
void nytp_callers_free(struct nytp_callers *callers);

/* Calls between a sub and another one. */
struct nytp_call_row {
    uint32_t sub;        /* the other one */
    uint32_t file, line; /* of the call; of the call with most time where rows were summed */
    uint64_t calls;      /* or samples: see above */
    int64_t incl_ticks;  /* of outermost calls, as in struct nytp_arc */
    int64_t place_ticks; /* inclusive ticks of the call at file, line */
    int64_t svs, inuse_bytes; /* inclusive */
};

struct nytp_call_rows {
    struct nytp_call_row *rows;
    uint32_t n;
};

/* The subs that call `sub`, one row each, the most inclusive time first. NULL rows when memory
 * is out; the caller frees rows. */
struct nytp_call_rows nytp_calls_to(const struct nytp_profile *profile,
                                    const struct nytp_callers *callers, uint32_t sub);

/* The subs that `sub` calls, one row each, the most inclusive time first. */
struct nytp_call_rows nytp_calls_from(const struct nytp_profile *profile,
                                      const struct nytp_callers *callers, uint32_t sub);

/* The same, one row for each line and callee: sorted by file, line, then inclusive time. */
struct nytp_call_rows nytp_calls_by_line(const struct nytp_profile *profile,
                                         const struct nytp_callers *callers, uint32_t sub);

/* The cost of a line. */
struct nytp_line_row {
    uint32_t file, line;
    uint64_t statements;
    int64_t self_ticks;
    struct nytp_svs memory;
    int64_t key; /* for nytp_lines_sort() */
};

struct nytp_line_rows {
    struct nytp_line_row *rows;
    uint32_t n;
};

/* Sort by file and line, and make rows of one line one. */
void nytp_lines_sum(struct nytp_line_rows *rows);

/* The lines of a sub, sorted by file and line; NULL rows when memory is out. */
struct nytp_line_rows nytp_lines_of(const struct nytp_profile *profile, uint32_t sub);

/* The lines of the whole program. Builtins and xsubs have no lines: their own time is on the
 * line of the call, and at line 0 of their file where no call is known. So are their SVs. All
 * self_ticks add up to the total, and so do all SVs. */
struct nytp_line_rows nytp_lines_of_all(const struct nytp_profile *profile);

#endif
