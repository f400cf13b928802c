/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Merges sibling string evals of a summary. formats/model/sibling_evals.h and the manual of the
 * reading API say which evals are siblings.
 *
 * First files are merged. Then the survivor gets the subs of its merged evals. Then all calls
 * are made anew, because both the callee and the place may have changed.
 */
#include "summary.h"
#include "formats/base/fnv1a.h"
#include "formats/base/strings.h"
#include "formats/model/sibling_evals.h"

#include <stdlib.h>
#include <string.h>

#define NONE NYTP_SUMMARY_NONE

/* Returns 0 if no source was kept. */
static uint64_t hash_source(const struct nytp_summary_file *file)
{
    uint64_t hash = NYTP_FNV1A_64_START;
    bool any = false;
    for (uint32_t line = 1; line < file->n_source; line++) {
        const struct nytp_summary_text *text = &file->source[line];
        any = any || text->ptr != NULL;
        hash = nytp_fnv1a_64(nytp_fnv1a_64(hash, text->ptr, text->len), "\n", 1);
        if (text->ptr == NULL)
            break;
    }
    return any ? hash | 1 : 0;
}

static bool same_source(const void *context, uint32_t file_a, uint32_t file_b)
{
    const struct nytp_summary *summary = context;
    const struct nytp_summary_file *a = &summary->files.at[file_a],
                                   *b = &summary->files.at[file_b];
    const uint32_t n = a->n_source > b->n_source ? a->n_source : b->n_source;
    for (uint32_t line = 1; line < n; line++) {
        const struct nytp_summary_text none = {0};
        const struct nytp_summary_text x = line < a->n_source ? a->source[line] : none;
        const struct nytp_summary_text y = line < b->n_source ? b->source[line] : none;
        if (x.len != y.len || (x.len > 0 && memcmp(x.ptr, y.ptr, x.len) != 0))
            return false;
    }
    return true;
}

/* Takes over times of lines. Times of blocks and subs stay with each eval, so that a sum over
 * all file ids is right at those levels. */
static bool take_over_times(struct nytp_summary *summary, uint32_t into, uint32_t from)
{
    const struct nytp_summary_lines lines = summary->files.at[from].times[NYTP_LEVEL_LINE];
    for (uint32_t line = 0; line < lines.n; line++) {
        const struct nytp_summary_time time = lines.at[line];
        if (!time.seen)
            continue;
        struct nytp_summary_time *sum =
            nytp_summary_time_at(summary, into, NYTP_LEVEL_LINE, line);
        if (sum == NULL)
            return false;
        sum->ticks += time.ticks;
        sum->count += time.count;
        sum->seen = true;
    }
    return true;
}

static bool merge_files(struct nytp_summary *summary, uint32_t max_siblings)
{
    struct nytp_sibling_eval *evals = malloc((summary->files.n + 1) * sizeof *evals);
    if (evals == NULL)
        return nytp_out_of_memory(&summary->error);
    uint32_t n = 0;
    for (uint32_t f = 0; f < summary->files.n; f++)
        if (summary->files.at[f].eval_file != NONE)
            evals[n++] = (struct nytp_sibling_eval){
                .file = f,
                .ran_file = summary->files.at[f].eval_file,
                .ran_line = summary->files.at[f].eval_line,
                .hash = hash_source(&summary->files.at[f]),
                .has_evals = summary->files.at[f].has_evals,
            };
    nytp_sibling_evals_merge(evals, n, max_siblings, same_source, summary);
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++) {
        if (evals[i].merged_into == evals[i].file)
            continue;
        struct nytp_summary_file *const into = &summary->files.at[evals[i].merged_into];
        summary->files.at[evals[i].file].merged_into = evals[i].merged_into;
        into->n_merged++;
        into->src_varied |= evals[i].other_source;
        ok = take_over_times(summary, evals[i].merged_into, evals[i].file);
    }
    free(evals);
    return ok;
}

/* Makes the name of an anonymous sub of a merged eval: "Pkg::__ANON__[FILE:LINE]" with the
 * survivor's FILE. Returns false if the sub has no such name. */
static bool survivor_name(struct nytp_summary *summary, const struct nytp_summary_sub *sub,
                          const struct nytp_summary_file *file, char **buffer, size_t *size,
                          struct nytp_str *out)
{
    static const char mark[] = "::__ANON__[";
    const struct nytp_str name = nytp_summary_str(summary, sub->name);
    const struct nytp_str from = nytp_summary_str(summary, file->name);
    const struct nytp_summary_file *survivor =
        file->merged_into == NONE ? file : &summary->files.at[file->merged_into];
    const struct nytp_str to = nytp_summary_str(summary, survivor->name);
    uint32_t at = 0;
    while (at + sizeof mark - 1 + from.len < name.len &&
           memcmp(name.ptr + at, mark, sizeof mark - 1) != 0)
        at++;
    at += sizeof mark - 1;
    if (at + from.len >= name.len || memcmp(name.ptr + at, from.ptr, from.len) != 0)
        return false;
    const size_t len = (size_t)name.len - from.len + to.len;
    if (*size < len) {
        char *grown = realloc(*buffer, len);
        if (grown == NULL)
            return nytp_out_of_memory(&summary->error);
        *buffer = grown;
        *size = len;
    }
    memcpy(*buffer, name.ptr, at);
    memcpy(*buffer + at, to.ptr, to.len);
    memcpy(*buffer + at + to.len, name.ptr + at + from.len, name.len - at - from.len);
    *out = (struct nytp_str){.ptr = *buffer, .len = (uint32_t)len, .utf8 = name.utf8};
    return true;
}

struct defined_sub {
    struct nytp_str name;
    uint32_t sub;
};

static int by_name(const void *a, const void *b)
{
    const struct defined_sub *x = a, *y = b;
    return nytp_compare_texts(x->name, y->name);
}

/* Appends a sub to the list of `into`. rebuild_calls() moves its calls. */
static void take_over_sub(struct nytp_summary *summary, uint32_t into, uint32_t from)
{
    struct nytp_summary_sub *subs = summary->subs.at;
    subs[from].merged_into = into;
    if (subs[into].last_merged == NONE)
        subs[into].first_merged = from;
    else
        subs[subs[into].last_merged].next_merged = from;
    subs[into].last_merged = from;
}

/* Lists, sorted by name, the subs that merged evals and their survivors define. Returns their
 * number. */
static uint32_t list_defined(const struct nytp_summary *summary, struct defined_sub *list)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < summary->subs.n; s++) {
        const uint32_t f = nytp_summary_file_of(summary, summary->subs.at[s].fid);
        if (f != NONE &&
            (summary->files.at[f].merged_into != NONE || summary->files.at[f].n_merged > 0))
            list[n++] = (struct defined_sub){
                .name = nytp_summary_str(summary, summary->subs.at[s].name), .sub = s};
    }
    qsort(list, n, sizeof *list, by_name);
    return n;
}

/* Gives the subs of merged evals to the survivors. If anonymous subs become one, the first by
 * name keeps its name, as in stock readers. */
static bool merge_subs(struct nytp_summary *summary)
{
    struct defined_sub *list = malloc((summary->subs.n + 1) * sizeof *list);
    if (list == NULL)
        return nytp_out_of_memory(&summary->error);
    const uint32_t n = list_defined(summary, list);
    struct nytp_table known = {0};
    char *buffer = NULL;
    size_t size = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++) {
        struct nytp_summary_sub *sub = &summary->subs.at[list[i].sub];
        const struct nytp_summary_file *file =
            &summary->files.at[nytp_summary_file_of(summary, sub->fid)];
        if (file->merged_into != NONE)
            sub->fid = summary->files.at[file->merged_into].fid;
        struct nytp_str text;
        struct nytp_summary_name name;
        if (!survivor_name(summary, sub, file, &buffer, &size, &text))
            continue;
        ok = nytp_summary_intern(summary, text, &name);
        const struct nytp_key key = {.a = name.id, .b = name.utf8};
        const uint32_t into = ok ? nytp_table_get(&known, key) : NYTP_TABLE_NONE;
        if (into == NYTP_TABLE_NONE)
            ok = ok && nytp_table_put(&known, key, list[i].sub);
        else
            take_over_sub(summary, into, list[i].sub);
    }
    nytp_table_free(&known);
    free(buffer);
    free(list);
    return ok && summary->error.status == NYTP_OK;
}

/* Adds a call to its present sub and place. */
static bool move_call(struct nytp_summary *summary, const struct nytp_summary_call *call,
                      const struct nytp_summary_caller *callers)
{
    const uint32_t into = summary->subs.at[call->sub].merged_into;
    const uint32_t f = nytp_summary_file_of(summary, call->fid);
    const bool moved = f != NONE && summary->files.at[f].merged_into != NONE;
    const uint32_t at = nytp_summary_call_at(
        summary, into == NONE ? call->sub : into,
        moved ? summary->files.at[summary->files.at[f].merged_into].fid : call->fid,
        call->line);
    if (at == NONE)
        return false;
    struct nytp_summary_call *sum = &summary->calls.at[at];
    sum->count += call->count;
    sum->incl_s += call->incl_s;
    sum->excl_s += call->excl_s;
    sum->reci_s += call->reci_s;
    if (call->rec_depth > sum->rec_depth)
        sum->rec_depth = call->rec_depth;
    for (uint32_t c = call->first_caller; c != NONE; c = callers[c].next)
        if (!nytp_summary_add_caller(summary, at, callers[c].name))
            return false;
    return true;
}

/* Makes all calls anew: both the callee and the place may have changed. */
static bool rebuild_calls(struct nytp_summary *summary)
{
    struct nytp_summary_calls calls = summary->calls;
    struct nytp_summary_callers callers = summary->callers;
    summary->calls = (struct nytp_summary_calls){0};
    summary->callers = (struct nytp_summary_callers){0};
    for (uint32_t s = 0; s < summary->subs.n; s++)
        summary->subs.at[s].first_call = summary->subs.at[s].last_call = NONE;
    bool ok = true;
    for (uint32_t c = 0; ok && c < calls.n; c++)
        ok = move_call(summary, &calls.at[c], callers.at);
    free(calls.at);
    free(callers.at);
    nytp_table_free(&calls.by_place);
    nytp_table_free(&callers.by_call);
    nytp_summary_sum_subs(summary);
    return ok;
}

bool nytp_summary_merge_evals(struct nytp_summary *summary, uint32_t max_siblings)
{
    if (!merge_files(summary, max_siblings))
        return false;
    bool any = false;
    for (uint32_t f = 0; f < summary->files.n; f++)
        any = any || summary->files.at[f].n_merged > 0;
    return !any || (merge_subs(summary) && rebuild_calls(summary));
}
