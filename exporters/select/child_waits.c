/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds what processes wait for each other, and takes it out if asked to; see child_waits.h.
 */
#include "child_waits.h"

#include "formats/model/profile.h"
#include "formats/model/totals.h"
#include "exporters/base/process_tree.h"
#include "exporters/base/waits.h"

#include <stdlib.h>

/* Per process what the processes that it began took, NULL when memory is out. wait() does not
 * wait for threads: they are no children here. */
static int64_t *times_of_children(const struct nytp_profile *profile)
{
    struct nytp_process_tree tree;
    int64_t *ticks = calloc((size_t)profile->n_processes + 1, sizeof *ticks);
    if (ticks == NULL || !nytp_process_tree_init(&tree, profile)) {
        free(ticks);
        return NULL;
    }
    for (uint32_t i = 0; i < profile->n_processes; i++) {
        const struct nytp_process *const child = &profile->processes[i];
        const int64_t own = profile->nodes[child->root].incl_ticks;
        const uint32_t parent = tree.parents[i];
        if (parent != NYTP_NO_PROCESS && profile->processes[parent].pid != child->pid &&
            own > 0)
            ticks[parent] += own;
    }
    nytp_process_tree_free(&tree);
    return ticks;
}

static int64_t at_most(int64_t ticks, int64_t most)
{
    return ticks < most ? ticks : most;
}

/* Take up to `most` ticks from a node and its lines; returns how many. */
static int64_t take_from(struct nytp_profile *profile, struct nytp_node *node, int64_t most)
{
    const int64_t taken = at_most(node->excl_ticks, most);
    int64_t left = taken;
    for (uint32_t i = 0; i < node->n_node_lines; i++) {
        struct nytp_node_line *line = &profile->node_lines[node->first_node_line + i];
        const int64_t part = at_most(line->ticks, left);
        if (part <= 0)
            continue;
        line->ticks -= part;
        left -= part;
    }
    node->excl_ticks -= taken - left;
    return taken - left;
}

static int64_t sum_waits(struct nytp_profile *profile, const struct nytp_waits *waits,
                         const int64_t *of_children, bool take_out)
{
    int64_t sum = 0;
    for (uint32_t p = 0; p < profile->n_processes; p++) {
        const uint32_t end = nytp_process_nodes_end(profile, p);
        int64_t left = of_children[p];
        for (uint32_t n = profile->processes[p].root; n < end && left > 0; n++)
            if (waits->kinds[n] == NYTP_WAIT_CHILD && profile->nodes[n].excl_ticks > 0)
                left -= take_out ? take_from(profile, &profile->nodes[n], left)
                                 : at_most(profile->nodes[n].excl_ticks, left);
        sum += of_children[p] - left;
    }
    return sum;
}

bool nytp_child_waits(struct nytp_profile *profile, bool take_out, int64_t *ticks,
                      struct nytp_error *error)
{
    struct nytp_arcs_before before = {0};
    struct nytp_waits waits = {0};
    if (profile->n_processes < 2)
        return true;
    int64_t *of_children = times_of_children(profile);
    bool ok = of_children != NULL && nytp_arcs_before_init(&before, profile);
    if (!ok)
        nytp_out_of_memory(error);
    ok = ok && nytp_waits_init(&waits, profile, NULL, error);
    if (ok) {
        const int64_t sum = sum_waits(profile, &waits, of_children, take_out);
        *ticks += sum;
        ok = !take_out || sum == 0 || nytp_profile_rebuild(profile, &before) ||
             nytp_out_of_memory(error);
    }
    nytp_waits_free(&waits);
    nytp_arcs_before_free(&before);
    free(of_children);
    return ok;
}
