/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Walks over the outermost calls; see outermost.h. It goes depth first without recursion,
 * since a program may nest calls to any depth.
 */
#include "outermost.h"

#include <stdlib.h>

struct walk {
    const struct nytp_profile *profile;
    uint32_t process;
    uint32_t *on_path; /* by sub: how often it is on the path from the root */
    uint32_t *next;    /* by node: how many children were visited */
    nytp_outermost_fn *visit;
    void *context;
};

static void enter_node(const struct walk *walk, uint32_t n)
{
    if (walk->on_path[walk->profile->nodes[n].sub]++ == 0)
        walk->visit(walk->context, walk->process, n);
}

static void walk_process(const struct walk *walk)
{
    const struct nytp_profile *profile = walk->profile;
    const uint32_t root = profile->processes[walk->process].root;
    uint32_t n = root;
    enter_node(walk, n);
    for (;;) {
        const struct nytp_node *node = &profile->nodes[n];
        if (walk->next[n] < node->n_children) {
            n = profile->children[node->first_child + walk->next[n]++];
            enter_node(walk, n);
            continue;
        }
        walk->on_path[node->sub]--;
        if (n == root)
            return;
        n = node->parent;
    }
}

bool nytp_outermost_each(const struct nytp_profile *profile, nytp_outermost_fn *visit,
                         void *context)
{
    struct walk walk = {
        .profile = profile,
        .on_path = calloc((size_t)profile->n_subs + 1, sizeof *walk.on_path),
        .next = calloc((size_t)profile->n_nodes + 1, sizeof *walk.next),
        .visit = visit,
        .context = context,
    };
    const bool ok = walk.on_path != NULL && walk.next != NULL;
    for (; ok && walk.process < profile->n_processes; walk.process++)
        walk_process(&walk);
    free(walk.on_path);
    free(walk.next);
    return ok;
}
