/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A table of counts as a file: what a base is when it is kept in a repository. Calls and
 * statements only, since those are the same on every machine; sorted, a line for each sub, no
 * dates and no folders, so that a version control system shows what changed.
 *
 *     {"nytp_counts":1,"application":"app.pl","facts":{"perl":"5.36.0",...},
 *      "statements":931525,"calls":310320,"subs":[
 *     {"sub":"main::add","file":"app.pl","statements":42000,"calls":20000},
 *     ...
 *     ]}
 *
 * What was sampled says so: "sampled":1. Its counts are no limit for anything.
 */
#ifndef NYTP_COUNTS_H
#define NYTP_COUNTS_H

#include "conditions.h"
#include "formats/base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define NYTP_COUNTS_VERSION 1 /* grows when a field changes its meaning or goes */

struct nytp_counts_sub {
    char *name, *file; /* file: without folders, may be "" */
    uint32_t name_len, file_len;
    int64_t statements, calls;
};

struct nytp_counts {
    char *application;
    struct nytp_conditions conditions; /* of the recordings; its texts are the table's */
    bool sampled;                      /* the counts are samples */
    int64_t statements, calls;
    struct nytp_counts_sub *subs;
    uint32_t n_subs;
};

/* Whether the file begins like a table of counts. Only regular files are looked at: what is
 * read from a pipe would be lost. */
bool nytp_counts_is_one(const char *path);

/* Read a table; fields that are not known are skipped. NULL with *error set; nytp_counts_free()
 * at the end. */
struct nytp_counts *nytp_counts_read(const char *path, struct nytp_error *error);
void nytp_counts_free(struct nytp_counts *counts);

#endif
