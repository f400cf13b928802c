/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Arrays and tables of a summary; see summary.h.
 */
#include "summary.h"

#include <stdlib.h>
#include <string.h>

#define NONE NYTP_SUMMARY_NONE

void nytp_summary_free(struct nytp_summary *summary)
{
    if (summary == NULL)
        return;
    for (uint32_t f = 0; f < summary->files.n; f++) {
        for (int level = 0; level < NYTP_LEVELS; level++)
            free(summary->files.at[f].times[level].at);
        free(summary->files.at[f].source);
    }
    free(summary->files.at);
    free(summary->subs.at);
    free(summary->calls.at);
    free(summary->callers.at);
    free(summary->attributes.at);
    free(summary->options.at);
    free(summary->files.by_fid);
    free(summary->open.at);
    nytp_table_free(&summary->subs.by_name);
    nytp_table_free(&summary->calls.by_place);
    nytp_table_free(&summary->callers.by_call);
    nytp_strings_free(summary->strings);
    nytp_arena_free(summary->arena);
    free(summary);
}

static bool is_ascii(const char *bytes, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        if ((unsigned char)bytes[i] >= 0x80)
            return false;
    return true;
}

bool nytp_summary_keep_utf8(struct nytp_str text)
{
    return text.utf8 && !is_ascii(text.ptr, text.len) && nytp_utf8_valid(text.ptr, text.len);
}

bool nytp_summary_intern(struct nytp_summary *summary, struct nytp_str text,
                         struct nytp_summary_name *name)
{
    const uint32_t id = nytp_strings_intern(summary->strings, text.ptr, text.len);
    if (id == UINT32_MAX)
        return nytp_out_of_memory(&summary->error);
    *name = (struct nytp_summary_name){.id = id, .utf8 = nytp_summary_keep_utf8(text)};
    return true;
}

struct nytp_str nytp_summary_str(const struct nytp_summary *summary,
                                 struct nytp_summary_name name)
{
    const struct nytp_name text = nytp_strings_get(summary->strings, name.id);
    return (struct nytp_str){.ptr = text.ptr, .len = text.len, .utf8 = name.utf8};
}

uint32_t nytp_summary_file_of(const struct nytp_summary *summary, uint32_t fid)
{
    return fid < summary->files.n_fids ? summary->files.by_fid[fid] : NONE;
}

bool nytp_summary_reserve_line(struct nytp_summary *summary, void *array_ptr, uint32_t *n,
                               uint32_t line, size_t element_size)
{
    if (line < *n)
        return true;
    if (line > NYTP_SUMMARY_MAX_LINE)
        return nytp_error_set(&summary->error, NYTP_ERR_LIMIT, "line %u is above the limit %u",
                              (unsigned)line, NYTP_SUMMARY_MAX_LINE);
    uint32_t grown_n = line < 16 ? 32 : line + line / 2 + 1;
    if (grown_n > NYTP_SUMMARY_MAX_LINE + 1)
        grown_n = NYTP_SUMMARY_MAX_LINE + 1;
    summary->files.dense_lines += grown_n - *n;
    if (summary->files.dense_lines > NYTP_SUMMARY_MAX_LINES)
        return nytp_error_set(&summary->error, NYTP_ERR_LIMIT,
                              "lines of all files together are above the limit %u",
                              NYTP_SUMMARY_MAX_LINES);
    void **array = array_ptr;
    char *grown = realloc(*array, grown_n * element_size);
    if (grown == NULL)
        return nytp_out_of_memory(&summary->error);
    memset(grown + *n * element_size, 0, (grown_n - *n) * element_size);
    *array = grown;
    *n = grown_n;
    return true;
}

struct nytp_summary_time *nytp_summary_time_at(struct nytp_summary *summary, uint32_t file,
                                               enum nytp_level level, uint32_t line)
{
    struct nytp_summary_lines *lines = &summary->files.at[file].times[level];
    if (line >= lines->n &&
        !nytp_summary_reserve_line(summary, &lines->at, &lines->n, line, sizeof *lines->at))
        return NULL;
    return &lines->at[line];
}

uint32_t nytp_summary_call_at(struct nytp_summary *summary, uint32_t sub, uint32_t fid,
                              uint32_t line)
{
    const struct nytp_key key = {.a = sub, .b = fid, .c = line};
    const uint32_t known = nytp_table_get(&summary->calls.by_place, key);
    if (known != NYTP_TABLE_NONE)
        return known;
    if (!NYTP_GROW(&summary->calls) ||
        !nytp_table_put(&summary->calls.by_place, key, summary->calls.n)) {
        nytp_out_of_memory(&summary->error);
        return NONE;
    }
    const uint32_t at = summary->calls.n++;
    summary->calls.at[at] = (struct nytp_summary_call){
        .sub = sub, .fid = fid, .line = line, .first_caller = NONE, .next = NONE};
    struct nytp_summary_sub *callee = &summary->subs.at[sub];
    if (callee->last_call == NONE)
        callee->first_call = at;
    else
        summary->calls.at[callee->last_call].next = at;
    callee->last_call = at;
    return at;
}

bool nytp_summary_add_caller(struct nytp_summary *summary, uint32_t call,
                             struct nytp_summary_name name)
{
    const struct nytp_key key = {.a = call, .b = name.id, .c = name.utf8};
    if (nytp_table_get(&summary->callers.by_call, key) != NYTP_TABLE_NONE)
        return true;
    if (!NYTP_GROW(&summary->callers) ||
        !nytp_table_put(&summary->callers.by_call, key, summary->callers.n))
        return nytp_out_of_memory(&summary->error);
    const uint32_t at = summary->callers.n++;
    summary->callers.at[at] = (struct nytp_summary_caller){
        .name = name, .next = summary->calls.at[call].first_caller};
    summary->calls.at[call].first_caller = at;
    return true;
}

void nytp_summary_sum_subs(struct nytp_summary *summary)
{
    for (uint32_t s = 0; s < summary->subs.n; s++) {
        struct nytp_summary_sub *sub = &summary->subs.at[s];
        sub->count = 0;
        sub->rec_depth = 0;
        sub->incl_s = sub->excl_s = sub->reci_s = 0;
        for (uint32_t c = sub->first_call; c != NONE; c = summary->calls.at[c].next) {
            const struct nytp_summary_call *call = &summary->calls.at[c];
            sub->count += call->count;
            sub->incl_s += call->incl_s;
            sub->excl_s += call->excl_s;
            sub->reci_s += call->reci_s;
            if (call->rec_depth > sub->rec_depth)
                sub->rec_depth = call->rec_depth;
        }
    }
}
