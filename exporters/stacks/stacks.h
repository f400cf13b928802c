/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Stacks of bounded depth. A context n frames deep costs n frames to write; twenty thousand
 * levels of recursion would be 200 million. So contexts beyond a bound are pruned. The model is
 * not changed: for each of its nodes these tables say on which node's stack it is counted, and
 * a format that writes stacks asks them instead of the model's own parents.
 *
 * - default bound: a frame beyond it is put on the nearest frame of the same sub further out,
 *   which is there in any recursion, together with what it calls. A sub that is not on the
 *   stack yet takes the place of the last frame. Each sub keeps its own time exactly, and all
 *   callers within the bound keep its inclusive time.
 * - max_depth (asked for by the user): frames beyond it are cut, their time is the last kept
 *   frame's.
 * - collapse_recursion: a run of one sub calling itself is one frame.
 */
#ifndef NYTP_STACKS_H
#define NYTP_STACKS_H

#include "exporters/base/exporter.h"

#define NYTP_ALL_PROCESSES UINT32_MAX /* in place of a process's index */
#define NYTP_STACKS_BOUND  256        /* the default */

struct nytp_stacks {
    const struct nytp_profile *profile;
    uint32_t first;
    /* By node from `first` on, all NULL when nothing is pruned. kept: the node on whose stack n
     * is counted, n itself or a lower index. outer, for n == kept: the next frame out, n itself
     * for a root. */
    uint32_t *kept, *outer;
    uint32_t *site; /* for n == kept: the node whose call site is where the outer one calls */
    uint64_t n_pruned; /* nodes for which kept != n */
};

/* `profile` must outlive the stacks; max_depth and collapse_recursion are taken from `options`.
 * Returns false if memory is out; nytp_stacks_free() in either case. */
bool nytp_stacks_init(struct nytp_stacks *stacks, const struct nytp_profile *profile,
                      const struct nytp_export_options *options);

/* The same for the nodes of whole processes, from `first` to before `end`: no others are looked
 * at, and none may be asked for. */
bool nytp_stacks_init_nodes(struct nytp_stacks *stacks, const struct nytp_profile *profile,
                            const struct nytp_export_options *options, uint32_t first,
                            uint32_t end);
void nytp_stacks_free(struct nytp_stacks *stacks);

/* The three tables for a node, where nothing was pruned too. nytp_stacks_outer() and
 * nytp_stacks_site() are for kept nodes only. */
static inline uint32_t nytp_stacks_kept(const struct nytp_stacks *stacks, uint32_t node)
{
    return stacks->kept != NULL ? stacks->kept[node - stacks->first] : node;
}

static inline uint32_t nytp_stacks_outer(const struct nytp_stacks *stacks, uint32_t node)
{
    return stacks->outer != NULL ? stacks->outer[node - stacks->first]
                                 : stacks->profile->nodes[node].parent;
}

static inline uint32_t nytp_stacks_site(const struct nytp_stacks *stacks, uint32_t node)
{
    return stacks->site != NULL ? stacks->site[node - stacks->first] : node;
}

#endif
