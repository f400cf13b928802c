/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Arcs from the calling-context tree. The tree of each process is walked once, counting how
 * often each sub is on the path: inclusive time counts for the outermost call, recursion for
 * the rest.
 */
#include "formats/base/arena.h"
#include "formats/base/table.h"
#include "profile.h"

#include <stdlib.h>

struct tree_arcs {
    struct nytp_arc_list *list;
    struct nytp_table by_key; /* of the current recording: (caller, callee, file, line) */
};

/* Finds or makes the arc of a key in the current recording. Returns NULL if memory is out. */
static struct nytp_arc *arc_at(struct tree_arcs *t, struct nytp_key key, uint32_t recording)
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
                                              .recording = recording,
                                              .file = key.c,
                                              .line = key.d};
    }
    return &list->arcs[index];
}

/* Adds a context to the arc of its call. `above` is how often its sub is on the path above. */
static bool add_node(const struct nytp_profile *p, uint32_t node, struct tree_arcs *t,
                     uint32_t recording, uint32_t above)
{
    const struct nytp_node *n = &p->nodes[node];
    if (n->calls == 0 && n->incl_ticks == 0)
        return true;
    const uint32_t caller = p->nodes[n->parent].sub;
    struct nytp_arc *a =
        arc_at(t, (struct nytp_key){caller, n->sub, n->file, n->line}, recording);
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

static bool walk_process(const struct nytp_profile *p, uint32_t process, struct tree_arcs *t,
                         uint32_t *on_path, uint32_t *path)
{
    const uint32_t root = p->processes[process].root;
    const uint32_t end = nytp_process_nodes_end(p, process);
    uint32_t n_path = 0;
    for (uint32_t i = root; i < end; i++) {
        const struct nytp_node *n = &p->nodes[i];
        while (n_path > n->depth)
            on_path[path[--n_path]]--;
        if (i != root &&
            !add_node(p, i, t, p->processes[process].recording, on_path[n->sub]))
            return false;
        path[n_path++] = n->sub;
        on_path[n->sub]++;
    }
    while (n_path > 0)
        on_path[path[--n_path]]--;
    return true;
}

bool nytp_profile_tree_arcs(const struct nytp_profile *p, struct nytp_arc_list *list)
{
    struct tree_arcs t = {.list = list};
    uint32_t max_depth = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++)
        if (p->nodes[i].depth > max_depth)
            max_depth = p->nodes[i].depth;
    uint32_t *on_path = calloc(p->n_subs, sizeof *on_path);
    uint32_t *path = malloc(((size_t)max_depth + 1) * sizeof *path);
    bool ok = on_path != NULL && path != NULL;
    for (uint32_t i = 0; ok && i < p->n_processes; i++) {
        if (i > 0 && p->processes[i].recording != p->processes[i - 1].recording)
            nytp_table_free(&t.by_key);
        ok = walk_process(p, i, &t, on_path, path);
    }
    nytp_table_free(&t.by_key);
    free(on_path);
    free(path);
    return ok;
}
