/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What a comparison tells besides subs: SQL statements that are sent through DBI, where all
 * calls are known one by one, and what sampled runs waited for.
 */
#ifndef NYTP_DIFF_AMOUNTS_H
#define NYTP_DIFF_AMOUNTS_H

#include "diff.h"

enum nytp_diff_amount_kind {
    NYTP_DIFF_QUERIES,      /* SQL statements in all */
    NYTP_DIFF_LOOPS,        /* of them those that are sent again and again (N+1) */
    NYTP_DIFF_REQUEST,      /* the most in one of the requests of a name */
    NYTP_DIFF_STATEMENT,    /* how often one is sent, without its values */
    NYTP_DIFF_WAIT,         /* the time waited for a reason, with its other side: ticks */
    NYTP_DIFF_AMOUNT_KINDS
};

extern const char *const nytp_diff_amount_names[NYTP_DIFF_AMOUNT_KINDS];

struct nytp_diff_amount {
    enum nytp_diff_amount_kind kind;
    struct nytp_name name; /* of QUERIES and LOOPS: "" */
    int64_t median[NYTP_DIFF_SIDES];
    uint32_t first; /* private */
};

/* By kind; then those that changed most come first. */
struct nytp_diff_amounts {
    struct nytp_diff_amount *list;
    uint32_t n, capacity;
    uint32_t n_left; /* of those that nytp_diff_amounts_keep_changed() took away, for room */
    struct nytp_strings *strings; /* owns the names */
};

/* False when memory is out; nytp_diff_amounts_free() in either case. */
bool nytp_diff_amounts_init(struct nytp_diff_amounts *amounts, const struct nytp_diff *diff);
void nytp_diff_amounts_free(struct nytp_diff_amounts *amounts);

/* Keep what a person wants to see: ten of a kind that changed, and how many SQL statements
 * there are in all. */
void nytp_diff_amounts_keep_changed(struct nytp_diff_amounts *amounts);

/* One of them in words; `what`, "waiting for ", stands before its name. */
struct nytp_diff_amount_text {
    const char *what;
    char base[40], now[40], change[24];
};
struct nytp_diff_amount_text nytp_diff_amount_text(const struct nytp_diff *diff,
                                                   const struct nytp_diff_amount *amount);

/* Which recordings are of a run: `only` has room for all. */
void nytp_diff_choose_run(const struct nytp_diff *diff, uint32_t run, bool *only);

/* Whether all calls, one by one, are known of all recordings, so that statements are; without
 * `with_base` of the new side's. */
bool nytp_diff_has_calls(const struct nytp_diff *diff, bool with_base);

#endif
