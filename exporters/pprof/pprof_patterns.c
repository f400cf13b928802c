/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Patterns as labels; see pprof_patterns.h. A node says where its builtin was called, and so do
 * the rows of patterns.
 */
#include "pprof_patterns.h"

#include "exporters/base/regex_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Builtins as their subs are called, behind the package. */
static const struct {
    const char *name;
    enum nytp_regex_kind kind;
} builtins[] = {
    {"CORE:match", NYTP_REGEX_MATCH},     {"CORE:subst", NYTP_REGEX_SUBST},
    {"CORE:substcont", NYTP_REGEX_SUBST}, {"CORE:regcomp", NYTP_REGEX_COMPILE},
    {"CORE:split", NYTP_REGEX_SPLIT},
};

static struct nytp_key key_of(uint32_t file, uint32_t line, enum nytp_regex_kind kind)
{
    return (struct nytp_key){file, line, (uint32_t)kind, 0};
}

/* How many patterns the place of a row has; rows are those with most time first. */
static uint64_t count_patterns(const struct nytp_regex_rows *rows,
                               const struct nytp_table *counts, uint32_t i)
{
    const struct nytp_regex *const sums = &rows->rows[i].sums;
    const uint32_t n = nytp_table_get(counts, key_of(sums->file, sums->line, sums->kind));
    return sums->kind == NYTP_REGEX_COMPILE ? rows->rows[i].n_patterns : n;
}

static bool add_row(struct nytp_pprof_patterns *patterns, struct nytp_pprof_tables *tables,
                    const struct nytp_regex *sums, uint64_t n)
{
    const struct nytp_key key = key_of(sums->file, sums->line, sums->kind);
    if (sums->pattern.len == 0 || nytp_table_get(&patterns->by_place, key) != NYTP_TABLE_NONE)
        return true;
    char more[40] = "";
    if (n > 1)
        snprintf(more, sizeof more, " and %llu more", (unsigned long long)n - 1);
    const size_t more_len = strlen(more);
    char *const text = malloc(sums->pattern.len + more_len + 1);
    if (text == NULL)
        return false;
    memcpy(text, sums->pattern.ptr, sums->pattern.len);
    memcpy(text + sums->pattern.len, more, more_len);
    const struct nytp_name whole = {text, (uint32_t)(sums->pattern.len + more_len)};
    const bool ok =
        nytp_table_put(&patterns->by_place, key, nytp_pprof_escaped_id(tables, whole));
    free(text);
    return ok;
}

bool nytp_pprof_patterns_init(struct nytp_pprof_patterns *patterns,
                              struct nytp_pprof_tables *tables)
{
    struct nytp_regex_rows rows;
    struct nytp_table counts = {0};
    bool ok = nytp_regex_rows_init(&rows, tables->profile);
    *patterns = (struct nytp_pprof_patterns){0};
    for (uint32_t i = 0; ok && i < rows.n; i++) {
        const struct nytp_regex *const sums = &rows.rows[i].sums;
        const struct nytp_key key = key_of(sums->file, sums->line, sums->kind);
        const uint32_t known = nytp_table_get(&counts, key);
        ok = nytp_table_put(&counts, key, known == NYTP_TABLE_NONE ? 1 : known + 1);
    }
    for (uint32_t i = 0; ok && i < rows.n; i++)
        ok = add_row(patterns, tables, &rows.rows[i].sums, count_patterns(&rows, &counts, i));
    nytp_table_free(&counts);
    nytp_regex_rows_free(&rows);
    return ok;
}

void nytp_pprof_patterns_free(struct nytp_pprof_patterns *patterns)
{
    nytp_table_free(&patterns->by_place);
}

static bool ends_in(struct nytp_name name, const char *end)
{
    const size_t len = strlen(end);
    return name.len >= len && memcmp(name.ptr + name.len - len, end, len) == 0;
}

uint32_t nytp_pprof_pattern_of(const struct nytp_pprof_patterns *patterns,
                               const struct nytp_profile *profile, uint32_t n)
{
    const struct nytp_node *const node = &profile->nodes[n];
    const struct nytp_sub *const sub = &profile->subs[node->sub];
    if (profile->n_regexes == 0 || sub->kind != NYTP_SUB_OPCODE)
        return 0;
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
        if (!ends_in(sub->name, builtins[i].name))
            continue;
        const uint32_t found = nytp_table_get(&patterns->by_place,
                                              key_of(node->file, node->line, builtins[i].kind));
        return found == NYTP_TABLE_NONE ? 0 : found;
    }
    return 0;
}
