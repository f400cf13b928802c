/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Renames subs and files; see rename.h. The list of subs is sorted by name, so new names give
 * subs new indices, and the tree is rewritten to them.
 */
#include "rename.h"

#include "formats/model/eval_files.h"
#include "formats/base/strings.h"
#include "rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists of subs ---- */

struct nytp_listed_sub *nytp_list_subs(const struct nytp_profile *profile, uint32_t n_more)
{
    struct nytp_listed_sub *const list =
        calloc((size_t)profile->n_subs + n_more + 1, sizeof *list);
    for (uint32_t i = 0; list != NULL && i < profile->n_subs; i++)
        list[i] = (struct nytp_listed_sub){profile->subs[i], i};
    return list;
}

static int by_name_file(const void *x, const void *y)
{
    const struct nytp_listed_sub *a = x, *b = y;
    int order = nytp_compare_names(a->sub.name, b->sub.name);
    order = order != 0 ? order : (a->sub.file > b->sub.file) - (a->sub.file < b->sub.file);
    return order != 0 ? order : (a->old > b->old) - (a->old < b->old);
}

static bool same_identity(const struct nytp_sub *a, const struct nytp_sub *b)
{
    return a->file == b->file && nytp_compare_names(a->name, b->name) == 0;
}

bool nytp_install_subs(struct nytp_profile *profile, struct nytp_listed_sub *list, uint32_t n,
                       uint32_t *sub_of)
{
    struct nytp_sub *const subs = malloc(((size_t)n + 1) * sizeof *subs);
    uint32_t n_subs = 0;
    if (subs != NULL)
        qsort(list + 1, n - 1, sizeof *list, by_name_file);
    for (uint32_t i = 0; subs != NULL && i < n; i++) {
        if (n_subs > 1 && same_identity(&subs[n_subs - 1], &list[i].sub)) {
            subs[n_subs - 1].stmt_ticks += list[i].sub.stmt_ticks;
            subs[n_subs - 1].is_lost |= list[i].sub.is_lost;
        } else {
            subs[n_subs++] = list[i].sub;
        }
        sub_of[list[i].old] = n_subs - 1;
    }
    free(list);
    if (subs == NULL)
        return false;
    free(profile->subs);
    profile->subs = subs;
    profile->n_subs = n_subs;
    return true;
}

/* ---- files ---- */

struct named_file {
    struct nytp_name name;
    uint32_t file;
    bool is_eval;
};

static int by_file_name(const void *x, const void *y)
{
    const struct named_file *a = x, *b = y;
    const int order = nytp_compare_names(a->name, b->name);
    return order != 0 ? order : nytp_compare_u64(a->file, b->file);
}

/* Merges files of one name: either string evals, or all others. */
static bool rename_files(struct nytp_profile *profile, const struct nytp_name *names,
                         bool merges_evals, uint32_t *file_of)
{
    const uint32_t n = profile->n_files;
    struct named_file *list = malloc(((size_t)n + 1) * sizeof *list);
    if (list == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        file_of[i] = i;
        if (names != NULL)
            profile->files[i].name = names[i];
        list[i] =
            (struct named_file){profile->files[i].name, i, profile->files[i].eval_file != 0};
    }
    if (n > 1)
        qsort(list + 1, n - 1, sizeof *list, by_file_name);
    uint32_t first = 0;
    for (uint32_t i = 1; i < n; i++) {
        if (list[i].is_eval != merges_evals)
            continue;
        if (first == 0 || nytp_compare_names(list[first].name, list[i].name) != 0)
            first = i;
        file_of[list[i].file] = list[first].file;
    }
    for (uint32_t i = 0; i < n; i++)
        profile->files[i].eval_file = file_of[profile->files[i].eval_file];
    free(list);
    return nytp_cut_eval_rings(profile->files, n);
}

/* ---- subs ---- */

static bool rename_subs(struct nytp_profile *profile, const struct nytp_name *names,
                        const uint32_t *file_of, uint32_t *sub_of)
{
    struct nytp_listed_sub *const list = nytp_list_subs(profile, 0);
    for (uint32_t i = 0; list != NULL && i < profile->n_subs; i++) {
        list[i].sub.file = file_of[list[i].sub.file];
        if (names != NULL)
            list[i].sub.name = names[i];
    }
    return list != NULL && nytp_install_subs(profile, list, profile->n_subs, sub_of);
}

/* Returns true if one of n things became another one. */
static bool any_moved(const uint32_t *new_of, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (new_of[i] != i)
            return true;
    return false;
}

static bool give_names(struct nytp_profile *profile, const struct nytp_name *subs,
                       const struct nytp_name *files, bool merges_evals,
                       struct nytp_error *error)
{
    const uint32_t n_subs = profile->n_subs;
    uint32_t *const file_of = calloc((size_t)profile->n_files + 1, sizeof *file_of);
    uint32_t *const sub_of = calloc((size_t)n_subs + 1, sizeof *sub_of);
    struct nytp_plan plan;
    const bool planned = nytp_plan_begin(&plan, profile) && file_of != NULL && sub_of != NULL &&
                         rename_files(profile, files, merges_evals, file_of) &&
                         rename_subs(profile, subs, file_of, sub_of);
    plan.sub_of = sub_of;
    plan.file_of = file_of;
    plan.changes =
        planned && (any_moved(file_of, profile->n_files) || any_moved(sub_of, n_subs));
    const bool ok = nytp_plan_end(&plan, planned, error);
    free(file_of);
    free(sub_of);
    return ok;
}

bool nytp_rename(struct nytp_profile *profile, const struct nytp_name *subs,
                 const struct nytp_name *files, struct nytp_error *error)
{
    return give_names(profile, subs, files, false, error);
}

/* ---- string evals ---- */

/* Returns the name, interned, with each "(eval N)" as "(eval 0)"; NULL ptr if memory is out. */
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

bool nytp_merge_evals(struct nytp_profile *profile, struct nytp_error *error)
{
    struct nytp_name *const subs = malloc(((size_t)profile->n_subs + 1) * sizeof *subs);
    struct nytp_name *const files = malloc(((size_t)profile->n_files + 1) * sizeof *files);
    bool ok = subs != NULL && files != NULL;
    for (uint32_t i = 0; ok && i < profile->n_subs; i++) {
        subs[i] = without_eval_numbers(profile, profile->subs[i].name);
        ok = subs[i].ptr != NULL;
    }
    for (uint32_t i = 0; ok && i < profile->n_files; i++) {
        files[i] = profile->files[i].name;
        if (profile->files[i].eval_file != 0)
            files[i] = without_eval_numbers(profile, files[i]);
        ok = files[i].ptr != NULL;
    }
    ok = ok ? give_names(profile, subs, files, true, error) : nytp_out_of_memory(error);
    free(subs);
    free(files);
    return ok;
}

/* ---- stable names ---- */

/* A sub whose name holds a line. */
struct placed {
    struct nytp_name stem; /* the part before the line: "main::__ANON__", "Foo::BEGIN" */
    uint32_t script;       /* the file, or that in which a string eval is */
    uint32_t eval_file, eval_line; /* of a string eval, where it is; else 0 */
    uint32_t file, line;
    uint32_t nth; /* of the BEGINs of one line: "BEGIN@7.2" */
    uint32_t sub;
};

static int by_place(const void *x, const void *y)
{
    const struct placed *a = x, *b = y;
    int order = nytp_compare_names(a->stem, b->stem);
    order = order != 0 ? order : nytp_compare_u64(a->script, b->script);
    order = order != 0 ? order : nytp_compare_u64(a->eval_file, b->eval_file);
    order = order != 0 ? order : nytp_compare_u64(a->eval_line, b->eval_line);
    order = order != 0 ? order : nytp_compare_u64(a->file, b->file);
    order = order != 0 ? order : nytp_compare_u64(a->line, b->line);
    order = order != 0 ? order : nytp_compare_u64(a->nth, b->nth);
    return order != 0 ? order : nytp_compare_u64(a->sub, b->sub);
}

/* The number that ends right before `*end`, which is moved to its start; false if there is
 * none. */
static bool number_before(struct nytp_name name, uint32_t *end, uint32_t *number)
{
    uint32_t start = *end;
    while (start > 0 && name.ptr[start - 1] >= '0' && name.ptr[start - 1] <= '9')
        start--;
    if (start == *end || *end - start > 9)
        return false;
    *number = 0;
    for (uint32_t i = start; i < *end; i++)
        *number = *number * 10 + (uint32_t)(name.ptr[i] - '0');
    *end = start;
    return true;
}

static bool ends_in(struct nytp_name name, uint32_t end, const char *text)
{
    const uint32_t len = (uint32_t)strlen(text);
    return end >= len && memcmp(name.ptr + end - len, text, len) == 0;
}

/* "Foo::__ANON__[FILE:12]" */
static bool is_anonymous(struct nytp_name name, struct placed *placed)
{
    static const char mark[] = "__ANON__[";
    const uint32_t mark_len = sizeof mark - 1;
    uint32_t end = name.len;
    if (end == 0 || name.ptr[--end] != ']' || !number_before(name, &end, &placed->line) ||
        end == 0 || name.ptr[end - 1] != ':')
        return false;
    for (uint32_t i = mark_len; i < end; i++)
        if (ends_in(name, i, mark)) {
            placed->stem = (struct nytp_name){name.ptr, i - 1};
            return true;
        }
    return false;
}

/* "Foo::BEGIN@7", "Foo::BEGIN@7.2" */
static bool is_begin(struct nytp_name name, struct placed *placed)
{
    uint32_t end = name.len;
    if (!number_before(name, &end, &placed->line))
        return false;
    placed->nth = 0;
    if (end > 0 && name.ptr[end - 1] == '.') {
        placed->nth = placed->line;
        end--;
        if (!number_before(name, &end, &placed->line))
            return false;
    }
    if (!ends_in(name, end, "BEGIN@"))
        return false;
    placed->stem = (struct nytp_name){name.ptr, end - 1};
    return true;
}

/* "main::__ANON__#2" is the second one in its file, "main::__ANON__(eval#3)#1" the first one of
 * the third string eval there that has any. */
static bool intern_numbered(const struct nytp_profile *profile, const struct placed *placed,
                            uint32_t eval, uint32_t number, struct nytp_name *name)
{
    const struct nytp_name stem = placed->stem;
    const size_t size = (size_t)stem.len + 40;
    char *text = malloc(size), site[20] = "";
    uint32_t id = UINT32_MAX;
    if (placed->eval_file != 0)
        snprintf(site, sizeof site, "(eval#%lu)", (unsigned long)eval);
    if (text != NULL) {
        memcpy(text, stem.ptr, stem.len);
        const int len = snprintf(text + stem.len, 40, "%s#%lu", site, (unsigned long)number);
        id = nytp_strings_intern(profile->strings, text, stem.len + (size_t)len);
    }
    free(text);
    if (id == UINT32_MAX)
        return false;
    *name = nytp_strings_get(profile->strings, id);
    return true;
}

static bool number_placed(const struct nytp_profile *profile, struct placed *list, uint32_t n,
                          struct nytp_name *names)
{
    qsort(list, n, sizeof *list, by_place);
    uint32_t number = 0, eval = 0;
    for (uint32_t i = 0; i < n; i++) {
        const bool same_script = i > 0 && list[i - 1].script == list[i].script &&
                                 nytp_compare_names(list[i - 1].stem, list[i].stem) == 0;
        const bool same_file = same_script && list[i - 1].file == list[i].file;
        eval = (same_script ? eval : 0) + (!same_file && list[i].eval_file != 0);
        number = same_file ? number + 1 : 1;
        if (!intern_numbered(profile, &list[i], eval, number, &names[list[i].sub]))
            return false;
    }
    return true;
}

/* The stable name of each sub; the caller frees the array. Returns NULL if memory is out. */
static struct nytp_name *stable_names(const struct nytp_profile *profile, bool number_begins)
{
    struct nytp_name *names = malloc(((size_t)profile->n_subs + 1) * sizeof *names);
    struct placed *list = malloc(((size_t)profile->n_subs + 1) * sizeof *list);
    uint32_t *const outermost = nytp_outermost_files(profile);
    uint32_t n = 0;
    bool ok = names != NULL && list != NULL && outermost != NULL;
    for (uint32_t i = 0; ok && i < profile->n_subs; i++) {
        const uint32_t file = profile->subs[i].file;
        struct placed placed = {.sub = i,
                                .file = file,
                                .script = outermost[file],
                                .eval_file = profile->files[file].eval_file,
                                .eval_line = profile->files[file].eval_line};
        names[i] = profile->subs[i].name;
        if (is_anonymous(names[i], &placed) || (number_begins && is_begin(names[i], &placed)))
            list[n++] = placed;
    }
    ok = ok && number_placed(profile, list, n, names);
    free(outermost);
    free(list);
    if (ok)
        return names;
    free(names);
    return NULL;
}

bool nytp_rename_stably(struct nytp_profile *profile, bool number_begins,
                        struct nytp_error *error)
{
    struct nytp_name *names = stable_names(profile, number_begins);
    if (names == NULL)
        return nytp_out_of_memory(error);
    bool changed = false;
    for (uint32_t i = 0; i < profile->n_subs; i++)
        changed |= names[i].ptr != profile->subs[i].name.ptr;
    const bool ok = !changed || nytp_rename(profile, names, NULL, error);
    free(names);
    return ok;
}
