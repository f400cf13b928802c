/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * SQL statements and waiting of two sides; see diff_amounts.h.
 */
#include "diff_amounts.h"

#include "diff_formats.h"
#include "rank_test.h"

#include "exporters/base/wait_rows.h"
#include "exporters/stacks/queries.h"
#include "formats/base/arena.h"
#include "formats/base/table.h"
#include "formats/model/profile.h"
#include "formats/base/units.h"
#include "formats/base/wide.h"

#include <stdio.h>
#include <stdlib.h>

const char *const nytp_diff_status_names[NYTP_DIFF_STATUSES] = {
    [NYTP_DIFF_EQUAL] = "equal",         [NYTP_DIFF_CHANGED] = "changed",
    [NYTP_DIFF_ADDED] = "new",           [NYTP_DIFF_GONE] = "gone",
    [NYTP_DIFF_UNCALLED] = "not called", [NYTP_DIFF_RENAMED] = "renamed",
};

#define MOST_SHOWN 10 /* of a kind */

const char *const nytp_diff_amount_names[NYTP_DIFF_AMOUNT_KINDS] = {
    "queries", "loops", "request", "statement", "wait"};

struct counting {
    const struct nytp_diff *diff;
    struct nytp_diff_amounts *to;
    struct nytp_table by_name;
    int64_t *values; /* n_runs for each amount */
    uint32_t n_values, capacity, n_runs, run;
};

static bool add(struct counting *c, enum nytp_diff_amount_kind kind, struct nytp_name name,
                int64_t value)
{
    struct nytp_diff_amounts *const to = c->to;
    const uint32_t id = nytp_strings_intern(to->strings, name.ptr, name.len);
    const struct nytp_key key = {id, (uint32_t)kind, 0, 0};
    if (id == UINT32_MAX)
        return false;
    uint32_t at = nytp_table_get(&c->by_name, key);
    if (at == NYTP_TABLE_NONE) {
        at = to->n;
        if (!nytp_grow(&to->list, &to->capacity, at, sizeof *to->list) ||
            !nytp_table_put(&c->by_name, key, at))
            return false;
        to->list[to->n++] = (struct nytp_diff_amount){
            .kind = kind, .name = nytp_strings_get(to->strings, id), .first = c->n_values};
        for (uint32_t i = 0; i < c->n_runs; i++) {
            if (!nytp_grow(&c->values, &c->capacity, c->n_values, sizeof *c->values))
                return false;
            c->values[c->n_values++] = 0;
        }
    }
    int64_t *const sum = &c->values[to->list[at].first + c->run];
    *sum = nytp_ticks_sum(*sum, value);
    return true;
}

static bool add_statements(struct counting *c, const bool *only)
{
    struct nytp_queries queries;
    bool ok =
        nytp_queries_init_of(&queries, c->diff->profile, only, nytp_name_of_text(""));
    if (ok && queries.n > 0)
        ok = add(c, NYTP_DIFF_QUERIES, (struct nytp_name){"", 0}, (int64_t)queries.n) &&
             add(c, NYTP_DIFF_LOOPS, (struct nytp_name){"", 0}, queries.n_repeats);
    for (uint32_t i = 0; ok && i < queries.n_requests; i++)
        ok = queries.requests[i].n == 0 ||
             add(c, NYTP_DIFF_REQUEST, queries.requests[i].value,
                 (int64_t)queries.requests[i].most);
    for (uint32_t i = 0; ok && i < queries.n_sent; i++)
        ok = queries.sent[i].text.len == 0 ||
             add(c, NYTP_DIFF_STATEMENT, queries.sent[i].text,
                 (int64_t)queries.sent[i].calls);
    nytp_queries_free(&queries);
    return ok;
}

static bool add_waits(struct counting *c, const bool *only)
{
    struct nytp_wait_rows rows;
    bool ok = nytp_wait_rows_init(&rows, c->diff->profile, only);
    for (uint32_t i = 0; ok && i < rows.n; i++) {
        char text[NYTP_MAX_WAIT_TEXT];
        ok = add(c, NYTP_DIFF_WAIT, nytp_wait_text(&rows.rows[i], text),
                 nytp_mul_div_signed(rows.rows[i].ns, c->diff->ticks_per_sec, NYTP_NS_PER_SEC));
    }
    nytp_wait_rows_free(&rows);
    return ok;
}

static int64_t change(const struct nytp_diff_amount *amount)
{
    const int64_t by = amount->median[NYTP_DIFF_NEW] - amount->median[NYTP_DIFF_BASE];
    return by < 0 ? -by : by;
}

static int by_change(const void *x, const void *y)
{
    const struct nytp_diff_amount *const a = x, *const b = y;
    NYTP_RETURN_ORDER(a->kind, b->kind);
    NYTP_RETURN_ORDER(change(b), change(a));
    return nytp_compare_names(a->name, b->name);
}

bool nytp_diff_amounts_init(struct nytp_diff_amounts *amounts, const struct nytp_diff *diff)
{
    const uint32_t n_base = diff->n_runs[NYTP_DIFF_BASE];
    struct counting c = {
        .diff = diff, .to = amounts, .n_runs = n_base + diff->n_runs[NYTP_DIFF_NEW]};
    *amounts = (struct nytp_diff_amounts){.strings = nytp_strings_new()};
    bool *const only = calloc((size_t)diff->profile->n_recordings + 1, sizeof *only);
    bool ok = only != NULL && amounts->strings != NULL;
    const bool has_statements = nytp_diff_has_calls(diff, true);
    for (; ok && diff->base_has_times && c.run < c.n_runs; c.run++) {
        nytp_diff_choose_run(diff, c.run, only);
        ok = (!has_statements || add_statements(&c, only)) && add_waits(&c, only);
    }
    for (uint32_t i = 0; ok && i < amounts->n; i++) {
        int64_t *const values = c.values + amounts->list[i].first;
        amounts->list[i].median[NYTP_DIFF_BASE] = nytp_median(values, n_base);
        amounts->list[i].median[NYTP_DIFF_NEW] =
            nytp_median(values + n_base, c.n_runs - n_base);
    }
    if (ok && amounts->n > 0)
        qsort(amounts->list, amounts->n, sizeof *amounts->list, by_change);
    free(only);
    free(c.values);
    nytp_table_free(&c.by_name);
    return ok;
}

void nytp_diff_amounts_keep_changed(struct nytp_diff_amounts *amounts)
{
    uint32_t n_of_kind[NYTP_DIFF_AMOUNT_KINDS] = {0}, n = 0;
    for (uint32_t i = 0; i < amounts->n; i++) {
        const struct nytp_diff_amount *const amount = &amounts->list[i];
        if (change(amount) == 0 && amount->kind != NYTP_DIFF_QUERIES)
            continue;
        if (n_of_kind[amount->kind]++ < MOST_SHOWN)
            amounts->list[n++] = *amount;
        else
            amounts->n_left++;
    }
    amounts->n = n;
}

struct nytp_diff_amount_text nytp_diff_amount_text(const struct nytp_diff *diff,
                                                   const struct nytp_diff_amount *amount)
{
    static const char *const words[NYTP_DIFF_AMOUNT_KINDS] = {
        "SQL statements", "loops of statements", "most in one ", "",
        "waiting for "};
    const int64_t base = amount->median[NYTP_DIFF_BASE], now = amount->median[NYTP_DIFF_NEW];
    const enum nytp_weight weight =
        amount->kind == NYTP_DIFF_WAIT ? NYTP_WEIGHT_TIME : NYTP_WEIGHT_CALLS;
    struct nytp_diff_amount_text text = {.what = words[amount->kind]};
    nytp_diff_text(diff, base, weight, text.base, sizeof text.base);
    nytp_diff_text(diff, now, weight, text.now, sizeof text.now);
    if (now == 0 && base != 0)
        snprintf(text.change, sizeof text.change, "gone");
    else
        nytp_diff_percent(base, now, text.change, sizeof text.change);
    return text;
}

void nytp_diff_amounts_free(struct nytp_diff_amounts *amounts)
{
    free(amounts->list);
    nytp_strings_free(amounts->strings);
}

void nytp_diff_choose_run(const struct nytp_diff *diff, uint32_t run, bool *only)
{
    for (uint32_t i = 0; i < diff->profile->n_recordings; i++)
        only[i] = diff->run_of_recording[i] == run;
}

bool nytp_diff_has_calls(const struct nytp_diff *diff, bool with_base)
{
    const struct nytp_profile *const profile = diff->profile;
    bool all = (profile->lost & NYTP_LOST_CALLS) == 0;
    for (uint32_t i = 0; i < profile->n_recordings; i++)
        if (with_base || diff->side_of_recording[i] == NYTP_DIFF_NEW)
            all = all && (profile->recordings[i].has & NYTP_HAS_CALLS) != 0 &&
                  profile->recordings[i].spans_pruned == 0;
    return all;
}
