/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Walks over contexts and outermost calls; see outermost.h.
 */
#include "outermost.h"

#include "profile.h"

#include <stdlib.h>

bool nytp_contexts_each(const struct nytp_profile *p, nytp_context_fn *visit, void *context)
{
    uint32_t *const on_path = calloc((size_t)p->n_subs + 1, sizeof *on_path); /* by sub */
    uint32_t *const path = malloc(((size_t)p->n_nodes + 1) * sizeof *path);
    uint32_t n_path = 0, process = 0;
    bool ok = on_path != NULL && path != NULL;
    for (uint32_t i = 0; ok && i < p->n_nodes; i++) {
        const struct nytp_node *const node = &p->nodes[i];
        process += i == nytp_process_nodes_end(p, process);
        while (n_path > node->depth)
            on_path[path[--n_path]]--;
        path[n_path++] = node->sub;
        ok = visit(context, process, i, on_path[node->sub]++);
    }
    free(on_path);
    free(path);
    return ok;
}

struct outermost {
    nytp_outermost_fn *visit;
    void *context;
};

static bool visit_if_outermost(void *context, uint32_t process, uint32_t node, uint32_t above)
{
    const struct outermost *const outermost = context;
    if (above == 0)
        outermost->visit(outermost->context, process, node);
    return true;
}

bool nytp_outermost_each(const struct nytp_profile *profile, nytp_outermost_fn *visit,
                         void *context)
{
    struct outermost outermost = {visit, context};
    return nytp_contexts_each(profile, visit_if_outermost, &outermost);
}
