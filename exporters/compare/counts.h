/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A table of counts as a file: a base that is kept in a repository. It has only calls and
 * statements, which are the same on every machine. It is sorted, with one line for each sub
 * and without dates and folders, so that version control shows what changed:
 *
 *     {"nytp_counts":1,"application":"app.pl","facts":{"perl":"5.36.0",...},
 *      "statements":931525,"calls":310320,"subs":[
 *     {"sub":"main::add","file":"app.pl","statements":42000,"calls":20000},
 *     ...
 *     ]}
 *
 * A table from samples has "sampled":1. Its counts cannot be used as limits.
 */
#ifndef NYTP_COUNTS_H
#define NYTP_COUNTS_H

#include "conditions.h"
#include "formats/base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define NYTP_COUNTS_VERSION 1 /* grows if the meaning of a field changes */

struct nytp_counts_sub {
    struct nytp_name name, file; /* file: without folders, may be "" */
    int64_t statements, calls;
};

struct nytp_counts {
    struct nytp_name application;      /* NULL if unknown; the table owns all texts */
    struct nytp_conditions conditions; /* of the recordings */
    bool sampled;                      /* the counts are samples */
    int64_t version, statements, calls;
    struct nytp_counts_sub *subs;
    uint32_t n_subs;
};

/* Returns true if a regular file begins like a table of counts. Reading from a pipe would lose
 * bytes, so other files are never opened. */
bool nytp_counts_is_one(const char *path);

/* Reads a table, ignoring unknown fields. Returns NULL with *error set on failure. */
struct nytp_counts *nytp_counts_read(const char *path, struct nytp_error *error);
void nytp_counts_free(struct nytp_counts *counts);

#endif
