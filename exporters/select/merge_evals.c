/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Merges the string evals of one place; see select.h. Files and subs get new numbers,
 * then the tree is rewritten to them (rewrite.h).
 */
#include "merge_evals.h"

#include "formats/model/eval_files.h"
#include "formats/base/strings.h"
#include "plan.h"
#include "sub_list.h"

#include <stdlib.h>
#include <string.h>

/* `name` with the number of every "(eval N)" as 0, interned; the name itself if it has none.
 * NULL ptr when memory is out. */
static struct nytp_name without_eval_numbers(struct nytp_profile *profile,
                                             struct nytp_name name)
{
    static const char mark[] = "(eval ";
    const size_t mark_len = sizeof mark - 1;
    char *text = malloc((size_t)name.len + 1);
    if (text == NULL)
        return (struct nytp_name){0};
    size_t len = 0;
    bool found = false;
    for (uint32_t i = 0; i < name.len;) {
        text[len++] = name.ptr[i++];
        if (len < mark_len || memcmp(text + len - mark_len, mark, mark_len) != 0)
            continue;
        uint32_t end = i;
        while (end < name.len && name.ptr[end] >= '0' && name.ptr[end] <= '9')
            end++;
        if (end == i || end == name.len || name.ptr[end] != ')')
            continue;
        text[len++] = '0';
        i = end;
        found = true;
    }
    if (found) {
        const uint32_t id = nytp_strings_intern(profile->strings, text, len);
        name =
            id != UINT32_MAX ? nytp_strings_get(profile->strings, id) : (struct nytp_name){0};
    }
    free(text);
    return name;
}

struct named_file {
    struct nytp_name name;
    uint32_t part, file;
};

static int by_file_name(const void *x, const void *y)
{
    const struct named_file *a = x, *b = y;
    const int order = nytp_compare_names(a->name, b->name);
    return order != 0 ? order : (a->file > b->file) - (a->file < b->file);
}

/* Rename the files of string evals; file_of[] leads to the first of each name. */
static bool merge_files(struct nytp_profile *profile, uint32_t *file_of)
{
    struct named_file *list = malloc(((size_t)profile->n_files + 1) * sizeof *list);
    uint32_t n = 0;
    bool ok = list != NULL;
    for (uint32_t i = 0; ok && i < profile->n_files; i++) {
        file_of[i] = i;
        if (profile->files[i].eval_file == 0)
            continue;
        const struct nytp_name name = without_eval_numbers(profile, profile->files[i].name);
        ok = name.ptr != NULL;
        list[n++] = (struct named_file){.name = name, .file = i};
    }
    if (ok)
        qsort(list, n, sizeof *list, by_file_name);
    for (uint32_t i = 0, first = 0; ok && i < n; i++) {
        if (nytp_compare_names(list[first].name, list[i].name) != 0)
            first = i;
        file_of[list[i].file] = list[first].file;
        profile->files[list[i].file].name = list[i].name;
    }
    for (uint32_t i = 0; ok && i < profile->n_files; i++)
        profile->files[i].eval_file = file_of[profile->files[i].eval_file];
    free(list);
    return ok && nytp_cut_eval_rings(profile->files, profile->n_files);
}

static bool merge_subs(struct nytp_profile *profile, const uint32_t *file_of, uint32_t *sub_of)
{
    const uint32_t n = profile->n_subs;
    struct nytp_listed_sub *list = calloc((size_t)n + 1, sizeof *list);
    struct nytp_sub *subs = calloc((size_t)n + 1, sizeof *subs);
    bool ok = list != NULL && subs != NULL;
    for (uint32_t i = 0; ok && i < n; i++) {
        list[i] = (struct nytp_listed_sub){profile->subs[i], i};
        list[i].sub.file = file_of[list[i].sub.file];
        list[i].sub.name = without_eval_numbers(profile, list[i].sub.name);
        ok = list[i].sub.name.ptr != NULL;
    }
    if (ok)
        nytp_install_subs(profile, list, n, subs, sub_of);
    else
        free(subs);
    free(list);
    return ok;
}

/* Some of n things became another one. */
static bool any_moved(const uint32_t *new_of, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (new_of[i] != i)
            return true;
    return false;
}

bool nytp_merge_evals(struct nytp_profile *profile, struct nytp_error *error)
{
    const uint32_t n_subs = profile->n_subs;
    struct nytp_plan plan;
    uint32_t *file_of = calloc((size_t)profile->n_files + 1, sizeof *file_of);
    uint32_t *sub_of = calloc((size_t)profile->n_subs + 1, sizeof *sub_of);
    const bool planned = nytp_plan_begin(&plan, profile) && file_of != NULL && sub_of != NULL &&
                         merge_files(profile, file_of) && merge_subs(profile, file_of, sub_of);
    plan.rewriting.file_of = file_of;
    plan.rewriting.sub_of = sub_of;
    plan.changes =
        planned && (any_moved(file_of, profile->n_files) || any_moved(sub_of, n_subs));
    const bool ok = nytp_plan_end(&plan, planned, error);
    free(file_of);
    free(sub_of);
    return ok;
}
