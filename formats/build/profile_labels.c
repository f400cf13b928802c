/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Labels of whole processes; see profile_labels.h.
 */
#include "profile_labels.h"

#include <stdlib.h>
#include <string.h>

/* The bytes of its line "KEY=VALUE". */
static size_t line_len(const struct nytp_builder *b, const struct nytp_built_profile_label *l)
{
    return (size_t)nytp_strings_get(b->strings, l->key).len +
           nytp_strings_get(b->strings, l->value).len + 2;
}

bool nytp_profile_labels_add(struct nytp_builder *b, const struct nytp_label_record *record)
{
    struct nytp_built_profile_labels *const all = &b->profile_labels;
    struct nytp_built_profile_label label = {.process = b->n_processes - 1};
    if (!nytp_builder_name(b, &record->key, &label.key) ||
        !nytp_builder_name(b, &record->value, &label.value))
        return false;
    if (all->n == 0 || all->list[all->n - 1].process != label.process)
        all->len = 0;
    if (all->len + line_len(b, &label) > NYTP_LABELS_LONGEST)
        return true;
    const struct nytp_key key = {label.process, label.key, 0, 0};
    const uint32_t before = nytp_table_get(&all->by_key, key);
    if (!nytp_grow(&all->list, &all->capacity, all->n, sizeof *all->list) ||
        !nytp_table_put(&all->by_key, key, all->n))
        return nytp_builder_out_of_memory(b);
    if (before != NYTP_TABLE_NONE) {
        all->list[before].is_replaced = true;
        all->len -= line_len(b, &all->list[before]);
    }
    all->len += line_len(b, &label);
    all->list[all->n++] = label;
    return true;
}

static size_t put_name(char *to, struct nytp_name name, char end)
{
    memcpy(to, name.ptr, name.len);
    to[name.len] = end;
    return (size_t)name.len + 1;
}

bool nytp_profile_labels_take(const struct nytp_builder *b, struct nytp_profile *p)
{
    const struct nytp_built_profile_labels *const all = &b->profile_labels;
    char *const text = malloc(NYTP_LABELS_LONGEST);
    bool ok = text != NULL;
    for (uint32_t i = 0; i < p->n_processes; i++)
        p->processes[i].labels = nytp_strings_get(b->strings, 0);
    for (uint32_t i = 0, end; ok && i < all->n; i = end) {
        const uint32_t process = all->list[i].process;
        size_t len = 0;
        for (end = i; end < all->n && all->list[end].process == process; end++)
            if (!all->list[end].is_replaced) {
                len +=
                    put_name(text + len, nytp_strings_get(b->strings, all->list[end].key), '=');
                len += put_name(text + len, nytp_strings_get(b->strings, all->list[end].value),
                                '\n');
            }
        const uint32_t id = nytp_strings_intern(b->strings, text, len);
        ok = id != UINT32_MAX;
        if (ok)
            p->processes[process].labels = nytp_strings_get(b->strings, id);
    }
    free(text);
    return ok;
}

void nytp_profile_labels_free(struct nytp_builder *b)
{
    free(b->profile_labels.list);
    nytp_table_free(&b->profile_labels.by_key);
}
