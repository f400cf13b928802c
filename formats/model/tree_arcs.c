/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Arcs from the calling-context tree. Inclusive time counts for the outermost call, recursion
 * for the rest.
 */
#include "formats/base/arena.h"
#include "formats/base/table.h"
#include "outermost.h"
#include "profile.h"

struct tree_arcs {
    const struct nytp_profile *profile;
    struct nytp_arc_list *list;
    uint32_t recording;
    struct nytp_table by_key; /* of that recording: (caller, callee, file, line) */
};

/* Finds or makes the arc of a key in the current recording. Returns NULL if memory is out. */
static struct nytp_arc *arc_at(struct tree_arcs *t, struct nytp_key key)
{
    struct nytp_arc_list *const list = t->list;
    uint32_t index = nytp_table_get(&t->by_key, key);
    if (index == NYTP_TABLE_NONE) {
        if (!nytp_grow(&list->arcs, &list->capacity, list->n, sizeof *list->arcs) ||
            !nytp_table_put(&t->by_key, key, list->n))
            return NULL;
        index = list->n++;
        list->arcs[index] = (struct nytp_arc){.caller = key.a,
                                              .callee = key.b,
                                              .recording = t->recording,
                                              .file = key.c,
                                              .line = key.d};
    }
    return &list->arcs[index];
}

/* Adds a context to the arc of its call. */
static bool add_node(void *tree_arcs, uint32_t process, uint32_t node, uint32_t above)
{
    struct tree_arcs *const t = tree_arcs;
    const struct nytp_node *const n = &t->profile->nodes[node];
    if (t->profile->processes[process].recording != t->recording)
        nytp_table_free(&t->by_key);
    t->recording = t->profile->processes[process].recording;
    if (n->parent == node || (n->calls == 0 && n->incl_ticks == 0))
        return true;
    const uint32_t caller = t->profile->nodes[n->parent].sub;
    struct nytp_arc *const a = arc_at(t, (struct nytp_key){caller, n->sub, n->file, n->line});
    if (a == NULL)
        return false;
    a->calls += n->calls;
    a->excl_ticks += n->excl_ticks;
    if (above > 0)
        a->reci_ticks = nytp_ticks_sum(a->reci_ticks, n->incl_ticks);
    else
        a->incl_ticks += n->incl_ticks;
    if (a->rec_depth < above)
        a->rec_depth = above;
    return true;
}

bool nytp_profile_tree_arcs(const struct nytp_profile *p, struct nytp_arc_list *list)
{
    struct tree_arcs t = {.profile = p, .list = list};
    const bool ok = nytp_contexts_each(p, add_node, &t);
    nytp_table_free(&t.by_key);
    return ok;
}
