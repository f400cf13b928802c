/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds what processes wait for each other, and takes it out if asked to; see select.h.
 */
#include "select.h"

#include "formats/base/wide.h"
#include "formats/model/profile.h"
#include "formats/model/totals.h"
#include "exporters/base/process_tree.h"
#include "exporters/base/waits.h"

#include <stdlib.h>

/* The processes of several profiles, and the recordings that they are of, so that it can be
 * told which began which: nothing else is in it. */
static bool list_processes(struct nytp_profile *all, struct nytp_profile *const *profiles,
                           uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        all->n_processes += profiles[i]->n_processes;
        all->n_recordings += profiles[i]->n_recordings;
    }
    all->processes = calloc((size_t)all->n_processes + 1, sizeof *all->processes);
    all->recordings = calloc((size_t)all->n_recordings + 1, sizeof *all->recordings);
    if (all->processes == NULL || all->recordings == NULL)
        return false;
    uint32_t process = 0, recording = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t p = 0; p < profiles[i]->n_processes; p++) {
            all->processes[process] = profiles[i]->processes[p];
            all->processes[process++].recording += recording;
        }
        for (uint32_t r = 0; r < profiles[i]->n_recordings; r++)
            all->recordings[recording++] = profiles[i]->recordings[r];
    }
    return true;
}

/* The unit of a process's time, by its number in all profiles. */
static int64_t ticks_per_sec_of(struct nytp_profile *const *profiles, uint32_t process)
{
    for (; process >= (*profiles)->n_processes; profiles++)
        process -= (*profiles)->n_processes;
    return (*profiles)->ticks_per_sec;
}

/* Per process what the processes that it began took, NULL when memory is out. wait() does not
 * wait for threads: they are no children here. */
static int64_t *times_of_children(struct nytp_profile *const *profiles, uint32_t n)
{
    struct nytp_profile all = {0};
    struct nytp_process_tree tree = {0};
    int64_t *ticks = NULL;
    if (list_processes(&all, profiles, n) && nytp_process_tree_init(&tree, &all))
        ticks = calloc((size_t)all.n_processes + 1, sizeof *ticks);
    uint32_t child = 0;
    for (uint32_t i = 0; ticks != NULL && i < n; i++)
        for (uint32_t p = 0; p < profiles[i]->n_processes; p++, child++) {
            const int64_t own = profiles[i]->nodes[profiles[i]->processes[p].root].incl_ticks;
            const uint32_t parent = tree.parents[child];
            if (parent != NYTP_NO_PROCESS &&
                all.processes[parent].pid != all.processes[child].pid && own > 0)
                ticks[parent] = nytp_ticks_sum(
                    ticks[parent], nytp_mul_div_signed(own, ticks_per_sec_of(profiles, parent),
                                                       profiles[i]->ticks_per_sec));
        }
    nytp_process_tree_free(&tree);
    free(all.processes);
    free(all.recordings);
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

static bool sum_profile(struct nytp_profile *profile, const int64_t *of_children, bool take_out,
                        int64_t *ticks, struct nytp_error *error)
{
    struct nytp_arcs_before before = {0};
    struct nytp_waits waits = {0};
    bool ok = nytp_arcs_before_init(&before, profile);
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
    return ok;
}

bool nytp_child_waits(struct nytp_profile *const *profiles, uint32_t n, bool take_out,
                      int64_t *ticks, struct nytp_error *error)
{
    uint32_t n_processes = 0;
    for (uint32_t i = 0; i < n; i++)
        n_processes += profiles[i]->n_processes;
    if (n_processes < 2)
        return true;
    int64_t *const of_children = times_of_children(profiles, n);
    if (of_children == NULL)
        return nytp_out_of_memory(error);
    bool ok = true;
    uint32_t first = 0;
    for (uint32_t i = 0; ok && i < n; first += profiles[i++]->n_processes)
        ok = sum_profile(profiles[i], of_children + first, take_out, ticks, error);
    free(of_children);
    return ok;
}
