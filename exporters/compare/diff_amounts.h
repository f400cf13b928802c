/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Amounts that a comparison shows besides subs: SQL statements sent through DBI, if all calls
 * were recorded one by one, and waits of sampled runs.
 */
#ifndef NYTP_DIFF_AMOUNTS_H
#define NYTP_DIFF_AMOUNTS_H

#include "diff.h"

enum nytp_diff_amount_kind {
    NYTP_DIFF_QUERIES,      /* SQL statements in all */
    NYTP_DIFF_LOOPS,        /* statements sent again and again (N+1) */
    NYTP_DIFF_REQUEST,      /* the most in one request of a name */
    NYTP_DIFF_STATEMENT,    /* how often one is sent, without its values */
    NYTP_DIFF_WAIT,         /* time waited for a reason and other side, in ticks */
    NYTP_DIFF_AMOUNT_KINDS
};

extern const char *const nytp_diff_amount_names[NYTP_DIFF_AMOUNT_KINDS];

struct nytp_diff_amount {
    enum nytp_diff_amount_kind kind;
    struct nytp_name name; /* "" for QUERIES and LOOPS */
    int64_t median[NYTP_DIFF_SIDES];
    uint32_t first; /* private */
};

/* Sorted by kind, the largest changes first. */
struct nytp_diff_amounts {
    struct nytp_diff_amount *list;
    uint32_t n, capacity;
    uint32_t n_left; /* number that nytp_diff_amounts_keep_changed() dropped for lack of room */
    struct nytp_strings *strings; /* owns the names */
};

/* Returns false if memory is out. Call nytp_diff_amounts_free() in either case. */
bool nytp_diff_amounts_init(struct nytp_diff_amounts *amounts, const struct nytp_diff *diff);
void nytp_diff_amounts_free(struct nytp_diff_amounts *amounts);

/* Keeps ten changed ones of each kind, and the number of SQL statements in all. */
void nytp_diff_amounts_keep_changed(struct nytp_diff_amounts *amounts);

/* An amount in words; `what`, such as "waiting for ", precedes its name. */
struct nytp_diff_amount_text {
    const char *what;
    char base[40], now[40], change[24];
};
struct nytp_diff_amount_text nytp_diff_amount_text(const struct nytp_diff *diff,
                                                   const struct nytp_diff_amount *amount);

/* Marks the recordings of a run; `only` has an element for each. */
void nytp_diff_choose_run(const struct nytp_diff *diff, uint32_t run, bool *only);

/* Returns true if all recordings have all calls one by one, so that statements are known.
 * Without `with_base` only the new side is tested. */
bool nytp_diff_has_calls(const struct nytp_diff *diff, bool with_base);

#endif
