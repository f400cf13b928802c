/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Renames files of the base; see match.h.
 */
#include "match.h"

#include "formats/base/bisect.h"
#include "formats/base/arena.h"
#include "formats/base/strings.h"
#include "exporters/select/rename.h"

#include <stdlib.h>
#include <string.h>

struct based {
    struct nytp_name base, name;
};

static int by_base(const void *x, const void *y)
{
    const struct based *a = x, *b = y;
    const int order = nytp_compare_names(a->base, b->base);
    return order != 0 ? order : nytp_compare_names(a->name, b->name);
}

static struct based *list_files(const struct nytp_profile *profile, uint32_t *n)
{
    struct based *list = malloc(((size_t)profile->n_files + 1) * sizeof *list);
    *n = 0;
    for (uint32_t i = 1; list != NULL && i < profile->n_files; i++)
        if (profile->files[i].eval_file == 0)
            list[(*n)++] =
                (struct based){nytp_base_name(profile->files[i].name), profile->files[i].name};
    if (list != NULL && *n > 0)
        qsort(list, *n, sizeof *list, by_base);
    return list;
}

/* Returns the file's new name, or the old one if the list has that or no single match. */
static struct nytp_name adopted_name(const struct based *list, uint32_t n,
                                     struct nytp_name name)
{
    const struct nytp_name base = nytp_base_name(name);
    uint32_t low = 0;
    NYTP_BISECT(low, n, middle, nytp_compare_names(list[middle].base, base) < 0);
    uint32_t count = 0;
    for (; low + count < n && nytp_compare_names(list[low + count].base, base) == 0; count++)
        if (nytp_compare_names(list[low + count].name, name) == 0)
            return name;
    return count == 1 ? list[low].name : name;
}

/* ---- the subs of a side ---- */

static int by_name(const void *x, const void *y)
{
    const struct nytp_name *a = x, *b = y;
    return nytp_compare_names(*a, *b);
}

/* A sub without body or lines that is only mentioned by name is not defined. */
static bool is_defined(const struct nytp_sub *sub)
{
    return sub->last_line > 0 || sub->calls > 0 || sub->kind == NYTP_SUB_XSUB;
}

static bool copy_name(struct nytp_defined *defined, struct nytp_name name,
                      struct nytp_name *copy)
{
    if (defined->arena == NULL && (defined->arena = nytp_arena_new()) == NULL)
        return false;
    char *const text = nytp_arena_alloc(defined->arena, (size_t)name.len + 1);
    if (text == NULL)
        return false;
    memcpy(text, name.ptr, name.len);
    text[name.len] = '\0';
    *copy = (struct nytp_name){text, name.len};
    return true;
}

static bool add_name(struct nytp_defined *defined, struct nytp_name **list, uint32_t *n,
                     uint32_t *capacity, struct nytp_name name)
{
    return nytp_grow(list, capacity, *n, sizeof **list) &&
           copy_name(defined, name, &(*list)[(*n)++]);
}

bool nytp_defined_add(struct nytp_defined *defined, const struct nytp_profile *profile)
{
    for (uint32_t i = 1; i < profile->n_subs; i++) {
        const struct nytp_sub *const sub = &profile->subs[i];
        if ((is_defined(sub) &&
             !add_name(defined, &defined->names, &defined->n, &defined->capacity, sub->name)) ||
            (sub->is_lost && !add_name(defined, &defined->lost, &defined->n_lost,
                                       &defined->lost_capacity, sub->name)))
            return false;
    }
    if (defined->n > 0)
        qsort(defined->names, defined->n, sizeof *defined->names, by_name);
    return true;
}

bool nytp_defined_has(const struct nytp_defined *defined, struct nytp_name name)
{
    return defined != NULL && defined->n > 0 &&
           bsearch(&name, defined->names, defined->n, sizeof name, by_name) != NULL;
}

static bool note_adopted(struct nytp_defined *defined, struct nytp_name name,
                         struct nytp_name base)
{
    struct nytp_adopted_file file;
    if (!nytp_grow(&defined->adopted, &defined->adopted_capacity, defined->n_adopted,
                   sizeof *defined->adopted) ||
        !copy_name(defined, name, &file.name) || !copy_name(defined, base, &file.base))
        return false;
    defined->adopted[defined->n_adopted++] = file;
    return true;
}

bool nytp_adopt_file_names(struct nytp_profile *base, const struct nytp_profile *now,
                           struct nytp_defined *defined, struct nytp_error *error)
{
    uint32_t n;
    bool changed = false;
    struct based *list = list_files(now, &n);
    struct nytp_name *names = malloc(((size_t)base->n_files + 1) * sizeof *names);
    bool ok = list != NULL && names != NULL;
    for (uint32_t i = 0; ok && i < base->n_files; i++) {
        names[i] = base->files[i].name;
        if (i == 0 || base->files[i].eval_file != 0)
            continue;
        const struct nytp_name name = adopted_name(list, n, names[i]);
        const uint32_t id = nytp_strings_intern(base->strings, name.ptr, name.len);
        ok = id != UINT32_MAX;
        if (ok)
            names[i] = nytp_strings_get(base->strings, id);
        if (ok && names[i].ptr != base->files[i].name.ptr) {
            ok = note_adopted(defined, names[i], base->files[i].name);
            changed = true;
        }
    }
    if (!ok)
        nytp_out_of_memory(error);
    else if (changed)
        ok = nytp_rename(base, NULL, names, error);
    free(list);
    free(names);
    return ok;
}

struct nytp_name nytp_base_file(const struct nytp_defined *defined, struct nytp_name file)
{
    for (uint32_t i = 0; defined != NULL && i < defined->n_adopted; i++)
        if (nytp_compare_names(defined->adopted[i].name, file) == 0)
            return defined->adopted[i].base;
    return file;
}

void nytp_defined_free(struct nytp_defined *defined)
{
    free(defined->adopted);
    nytp_arena_free(defined->arena);
    free(defined->names);
    free(defined->lost);
    *defined = (struct nytp_defined){0};
}
