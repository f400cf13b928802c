/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Marks where labels change, and labels of whole processes.
 *
 * Where calls are recorded a mark stands behind the calls that have ended and inside those that
 * are open, which is exact. Samples are too far apart for that: of a sampled process the
 * label's own clock tells how far behind the last sample it changed. The two clocks are set by
 * the label that came soonest after a sample.
 *
 * Labels of a whole process become one text only in the end: a text made anew for each comment
 * would take a thousand times the room of the comments.
 */
#include "builder_parts.h"

#include <stdlib.h>
#include <string.h>

static bool add_mark(struct nytp_builder *b, uint32_t stretch, bool is_end, int64_t at_ticks,
                     uint32_t depth)
{
    struct nytp_built_labels *const l = &b->labels;
    if (!NYTP_GROW(&l->marks))
        return nytp_builder_out_of_memory(b);
    l->marks.at[l->marks.n++] = (struct nytp_built_mark){.stretch = stretch,
                                                         .is_end = is_end,
                                                         .depth = depth,
                                                         .n_before = b->spans.n,
                                                         .at_ticks = at_ticks};
    return true;
}

/* The stretch in force that has this key is none any more. */
static bool end_stretch(struct nytp_builder *b, struct nytp_name key, int64_t at_ticks,
                        uint32_t depth)
{
    struct nytp_built_labels *const l = &b->labels;
    for (uint32_t i = 0; i < l->in_force.n; i++) {
        const uint32_t stretch = l->in_force.at[i];
        if (b->p->stretches[stretch].key.ptr != key.ptr)
            continue;
        l->in_force.at[i] = l->in_force.at[--l->in_force.n];
        return add_mark(b, stretch, true, at_ticks, depth);
    }
    return true;
}

static bool begin_stretch(struct nytp_builder *b, struct nytp_name key, struct nytp_name value,
                          int64_t at_ticks, uint32_t depth)
{
    struct nytp_profile *const p = b->p;
    struct nytp_built_labels *const l = &b->labels;
    if (p->n_stretches >= NYTP_MOST_STRETCHES || l->in_force.n >= NYTP_MOST_IN_FORCE) {
        l->left_out++;
        return true;
    }
    if (!nytp_grow(&p->stretches, &b->capacities.stretches, p->n_stretches,
                   sizeof *p->stretches) ||
        !NYTP_GROW(&l->in_force))
        return nytp_builder_out_of_memory(b);
    const uint32_t stretch = p->n_stretches++;
    p->stretches[stretch] =
        (struct nytp_stretch){.process = b->processes.n - 1, .key = key, .value = value};
    l->in_force.at[l->in_force.n++] = stretch;
    return add_mark(b, stretch, false, at_ticks, depth);
}

/* When a label of a sampled process changes. */
static int64_t sampled_ticks(struct nytp_builder *b, int64_t label_ticks)
{
    struct nytp_built_labels *const l = &b->labels;
    const int64_t ahead = label_ticks - nytp_builder_process(b)->clock;
    if (!l->has_ahead || ahead < l->ahead_ticks)
        l->ahead_ticks = ahead;
    l->has_ahead = true;
    return label_ticks - l->ahead_ticks;
}

static int64_t ticks_of(struct nytp_builder *b, const struct nytp_label_record *record)
{
    return b->settings.sampled ? sampled_ticks(b, record->ticks) : b->time_position;
}

bool nytp_label_marks_note(struct nytp_builder *b, const struct nytp_label_record *record)
{
    struct nytp_built_labels *const l = &b->labels;
    if (b->options.max_spans == 0)
        return true;
    if (record->kind == NYTP_LABEL_OWN) {
        l->own_depth = record->depth > l->own_depth ? record->depth : l->own_depth;
        return true;
    }
    uint32_t key, value = 0;
    if (!nytp_builder_name(b, &record->key, &key) ||
        (record->kind == NYTP_LABEL_SET && !nytp_builder_name(b, &record->value, &value)))
        return false;
    const uint32_t known = nytp_callstack_depth(&b->stack, b->stack.top);
    const uint32_t depth = known > l->own_depth ? known : l->own_depth;
    const int64_t at_ticks = ticks_of(b, record);
    const struct nytp_name key_name = nytp_strings_get(b->strings, key);
    l->own_depth = 0;
    return end_stretch(b, key_name, at_ticks, depth) &&
           (record->kind == NYTP_LABEL_END ||
            begin_stretch(b, key_name, nytp_strings_get(b->strings, value), at_ticks, depth));
}

bool nytp_label_marks_end_process(struct nytp_builder *b, int64_t at_ticks)
{
    struct nytp_built_labels *const l = &b->labels;
    while (l->in_force.n > 0)
        if (!end_stretch(b, b->p->stretches[l->in_force.at[0]].key, at_ticks, 0))
            return false;
    nytp_label_marks_sampled(b, at_ticks);
    l->has_ahead = false;
    l->own_depth = 0;
    return true;
}

void nytp_label_stretches_end(struct nytp_profile *p)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->n_stretches; i++) {
        struct nytp_stretch s = p->stretches[i];
        const struct nytp_stretch *const before = kept > 0 ? &p->stretches[kept - 1] : NULL;
        if (before != NULL && before->process == s.process &&
            before->start_ticks > s.start_ticks)
            s.start_ticks = before->start_ticks; /* its depth was not known */
        if (s.end_ticks > s.start_ticks)
            p->stretches[kept++] = s;
    }
    p->n_stretches = kept;
}

/* ---- of whole processes ---- */

/* The bytes of its line "KEY=VALUE". */
static size_t line_len(const struct nytp_builder *b, const struct nytp_built_profile_label *l)
{
    return (size_t)nytp_strings_get(b->strings, l->key).len +
           nytp_strings_get(b->strings, l->value).len + 2;
}

bool nytp_profile_labels_add(struct nytp_builder *b, const struct nytp_label_record *record)
{
    struct nytp_built_profile_labels *const all = &b->profile_labels;
    struct nytp_built_profile_label label = {0};
    if (!nytp_builder_name(b, &record->key, &label.key) ||
        !nytp_builder_name(b, &record->value, &label.value))
        return false;
    if (all->len + line_len(b, &label) > NYTP_LABELS_LONGEST)
        return true;
    const struct nytp_key key = {.a = label.key};
    const uint32_t before = nytp_table_get(&all->by_key, key);
    if (!NYTP_GROW(all) || !nytp_table_put(&all->by_key, key, all->n))
        return nytp_builder_out_of_memory(b);
    if (before != NYTP_TABLE_NONE) {
        all->at[before].is_replaced = true;
        all->len -= line_len(b, &all->at[before]);
    }
    all->len += line_len(b, &label);
    all->at[all->n++] = label;
    return true;
}

static size_t put_name(char *to, struct nytp_name name, char end)
{
    memcpy(to, name.ptr, name.len);
    to[name.len] = end;
    return (size_t)name.len + 1;
}

bool nytp_profile_labels_end_process(struct nytp_builder *b)
{
    struct nytp_built_profile_labels *const all = &b->profile_labels;
    char *const text = malloc(all->len + 1);
    if (text == NULL)
        return nytp_builder_out_of_memory(b);
    size_t len = 0;
    for (uint32_t i = 0; i < all->n; i++) {
        if (all->at[i].is_replaced)
            continue;
        len += put_name(text + len, nytp_strings_get(b->strings, all->at[i].key), '=');
        len += put_name(text + len, nytp_strings_get(b->strings, all->at[i].value), '\n');
    }
    const uint32_t id = nytp_strings_intern(b->strings, text, len);
    free(text);
    if (id == UINT32_MAX)
        return nytp_builder_out_of_memory(b);
    nytp_builder_process(b)->model.labels = nytp_strings_get(b->strings, id);
    nytp_table_free(&all->by_key);
    all->n = 0;
    all->len = 0;
    return true;
}
