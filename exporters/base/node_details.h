/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Details of a context besides its name: the regular expression of a matching builtin (option
 * regex=1 of the recorder), or the reason for which a builtin or an xsub waited (samples).
 */
#ifndef NYTP_NODE_DETAILS_H
#define NYTP_NODE_DETAILS_H

#include "regex_rows.h"
#include "wait_rows.h"

#include "formats/base/table.h"

struct nytp_node_details {
    const struct nytp_profile *profile;
    struct nytp_regex_rows regexes;
    struct nytp_wait_rows waits;
    struct nytp_table first_at, count_at; /* (file, line, kind): the row with most time there,
                                             and how many there are */
};

enum nytp_detail_kind {
    NYTP_DETAIL_NONE,
    NYTP_DETAIL_PATTERN,
    NYTP_DETAIL_WAIT,
};

struct nytp_detail {
    enum nytp_detail_kind kind;
    uint32_t row;    /* equal for contexts of the same detail */
    uint64_t n_more; /* others at the place, with less time */
};

/* Returns false if memory is out; nytp_node_details_free() in either case. */
bool nytp_node_details_init(struct nytp_node_details *details,
                            const struct nytp_profile *profile);
void nytp_node_details_free(struct nytp_node_details *details);

struct nytp_detail nytp_detail_of(const struct nytp_node_details *details, uint32_t node);

/* "HEAD /\d+/ and 2 more", "HEAD (socket 127.0.0.1:5432)"; without a head also without slashes
 * and brackets. The caller frees it; returns NULL if memory is out. */
char *nytp_detail_text(const struct nytp_node_details *details, struct nytp_detail detail,
                       struct nytp_name head, size_t *len);

#endif
