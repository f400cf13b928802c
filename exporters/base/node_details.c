/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Details of contexts; see node_details.h. A context says where it was called, and so do the
 * rows of patterns and of waiting.
 */
#include "node_details.h"

#include "waits.h"

#include "formats/base/strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAITS NYTP_REGEX_KINDS /* beside the kinds of operations */

/* Builtins that match. */
static const struct {
    const char *name;
    enum nytp_regex_kind kind;
} matching[] = {
    {"match", NYTP_REGEX_MATCH},     {"subst", NYTP_REGEX_SUBST},
    {"substcont", NYTP_REGEX_SUBST}, {"regcomp", NYTP_REGEX_COMPILE},
    {"split", NYTP_REGEX_SPLIT},
};

static bool add(struct nytp_node_details *details, uint32_t file, uint32_t line, uint32_t kind,
                uint32_t row, uint64_t n)
{
    const struct nytp_key key = {file, line, kind, 0};
    const uint32_t count = nytp_table_get(&details->count_at, key);
    const bool is_first = count == NYTP_TABLE_NONE;
    return (!is_first || nytp_table_put(&details->first_at, key, row)) &&
           nytp_table_put(&details->count_at, key, (uint32_t)n + (is_first ? 0 : count));
}

bool nytp_node_details_init(struct nytp_node_details *details,
                            const struct nytp_profile *profile)
{
    *details = (struct nytp_node_details){.profile = profile};
    bool ok = nytp_regex_rows_init(&details->regexes, profile) &&
              nytp_wait_rows_init(&details->waits, profile, NULL);
    for (uint32_t i = 0; ok && i < details->regexes.n; i++) {
        const struct nytp_regex_row *const row = &details->regexes.rows[i];
        ok = row->sums.pattern.len == 0 ||
             add(details, row->sums.file, row->sums.line, row->sums.kind, i, row->n_patterns);
    }
    for (uint32_t i = 0; ok && i < details->waits.n; i++) {
        const struct nytp_waited *const row = &details->waits.rows[i];
        ok =
            row->reason == NYTP_WAIT_UNKNOWN || add(details, row->file, row->line, WAITS, i, 1);
    }
    return ok;
}

void nytp_node_details_free(struct nytp_node_details *details)
{
    nytp_table_free(&details->first_at);
    nytp_table_free(&details->count_at);
    nytp_regex_rows_free(&details->regexes);
    nytp_wait_rows_free(&details->waits);
}

/* More than half of its own time. */
static bool mostly_waited(const struct nytp_profile *profile, const struct nytp_node *node)
{
    int64_t cpu = 0;
    for (uint32_t i = 0; i < node->n_node_lines; i++)
        cpu += profile->node_lines[node->first_node_line + i].cpu_ticks;
    return profile->sampled && cpu < node->excl_ticks - cpu;
}

/* Returns the kind of rows to search, or NYTP_DETAIL_NONE if no rows have such a context. */
static enum nytp_detail_kind question(const struct nytp_profile *profile,
                                      const struct nytp_node *node, uint32_t *kind)
{
    const struct nytp_sub *const sub = &profile->subs[node->sub];
    const struct nytp_name builtin = nytp_builtin_name(sub);
    for (size_t i = 0; i < sizeof matching / sizeof *matching; i++) {
        if (nytp_compare_names(builtin, nytp_name_of_text(matching[i].name)) != 0)
            continue;
        *kind = matching[i].kind;
        return NYTP_DETAIL_PATTERN;
    }
    *kind = WAITS;
    return (sub->kind == NYTP_SUB_OPCODE || sub->kind == NYTP_SUB_XSUB) &&
                   mostly_waited(profile, node)
               ? NYTP_DETAIL_WAIT
               : NYTP_DETAIL_NONE;
}

struct nytp_detail nytp_detail_of(const struct nytp_node_details *details, uint32_t node)
{
    const struct nytp_profile *const profile = details->profile;
    const struct nytp_node *const n = &profile->nodes[node];
    struct nytp_detail detail = {0};
    struct nytp_key key = {n->file, n->line, 0, 0};
    if (profile->n_regexes + profile->n_waited == 0)
        return detail;
    const enum nytp_detail_kind kind = question(profile, n, &key.c);
    if (kind == NYTP_DETAIL_NONE)
        return detail;
    const uint32_t row = nytp_table_get(&details->first_at, key);
    if (row == NYTP_TABLE_NONE)
        return detail;
    return (struct nytp_detail){kind, row,
                                nytp_table_get(&details->count_at, key) - UINT64_C(1)};
}

static char *put(char *at, const char *text, size_t len)
{
    memcpy(at, text, len);
    return at + len;
}

char *nytp_detail_text(const struct nytp_node_details *details, struct nytp_detail detail,
                       struct nytp_name head, size_t *len)
{
    static const char *const marks[][2] = {{"", ""}, {" /", "/"}, {" (", ")"}};
    const char *const *const around = marks[head.len > 0 ? detail.kind : NYTP_DETAIL_NONE];
    char waited[NYTP_MAX_WAIT_TEXT], more[40] = "";
    const struct nytp_name text =
        detail.kind == NYTP_DETAIL_PATTERN
            ? details->regexes.rows[detail.row].sums.pattern
            : nytp_wait_text(&details->waits.rows[detail.row], waited);
    if (detail.n_more > 0)
        snprintf(more, sizeof more, " and %llu more", (unsigned long long)detail.n_more);
    char *const whole = malloc((size_t)head.len + text.len + sizeof more + 8);
    if (whole == NULL)
        return NULL;
    char *at = put(whole, head.ptr, head.len);
    at = put(at, around[0], strlen(around[0]));
    at = put(at, text.ptr, text.len);
    at = put(at, around[1], strlen(around[1]));
    at = put(at, more, strlen(more));
    *len = (size_t)(at - whole);
    return whole;
}
