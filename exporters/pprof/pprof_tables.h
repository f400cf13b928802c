/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Strings, functions and locations of pprof's message. They are numbered in the order of first
 * use, and written after all samples. Comments are for facts that no other field has: the
 * program and perl, and what is missing or estimated; `pprof -comments` shows them.
 */
#ifndef NYTP_PPROF_TABLES_H
#define NYTP_PPROF_TABLES_H

#define NYTP_PPROF_MAX_COMMENTS 32 /* further ones are dropped */

#include "formats/base/strings.h"
#include "formats/base/table.h"
#include "exporters/stacks/viewer_names.h"

struct nytp_pprof_location {
    uint32_t function, line;
};

struct nytp_pprof_function {
    uint32_t name, filename; /* strings */
    uint32_t start_line;
};

struct nytp_pprof_tables {
    const struct nytp_profile *profile;
    struct nytp_viewer_names *names; /* escaped names for viewers */
    struct nytp_strings *strings;
    struct nytp_table location_ids; /* (sub, file, line, 0) */
    struct nytp_table function_ids; /* (sub, file, 0, 0) */
    struct nytp_pprof_location *locations;
    struct nytp_pprof_function *functions;
    uint32_t n_locations, n_functions;
    uint32_t locations_size, functions_size;
    int64_t comments[NYTP_PPROF_MAX_COMMENTS]; /* strings */
    size_t n_comments;
    bool no_memory; /* memory was out: later results are invalid */
};

/* Returns false if memory is out. Call nytp_pprof_tables_free() in either case. */
bool nytp_pprof_tables_init(struct nytp_pprof_tables *tables,
                            const struct nytp_profile *profile);
void nytp_pprof_tables_free(struct nytp_pprof_tables *tables);

/* Returns the number of a text, which is copied. Strings count from 0, which is "". */
uint32_t nytp_pprof_string_id(struct nytp_pprof_tables *tables, const char *text, size_t len);

/* The same for a name that viewers accept (viewer_names.h). */
uint32_t nytp_pprof_escaped_id(struct nytp_pprof_tables *tables, struct nytp_name name);

/* Returns the number, from 1, of a line of a sub. `file` is the line's, 0 if unknown. */
uint32_t nytp_pprof_location_id(struct nytp_pprof_tables *tables, uint32_t sub, uint32_t file,
                                uint32_t line);

/* Adds a comment in printf() style, cut to 1023 bytes. */
__attribute__((format(printf, 2, 3))) void
nytp_pprof_comment(struct nytp_pprof_tables *tables, const char *format, ...);

/* Adds script, perl, partial and estimated parts, and the number of pruned contexts. */
void nytp_pprof_comment_all(struct nytp_pprof_tables *tables, uint64_t n_pruned);

#endif
