/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Finds the parents of processes; see process_tree.h.
 */
#include "process_tree.h"

#include "formats/base/bisect.h"
#include "formats/base/strings.h"

#include <stdlib.h>

struct by_pid {
    uint32_t pid, process;
    double start_s;
};

static int by_start(const void *x, const void *y)
{
    const struct by_pid *a = x, *b = y;
    NYTP_RETURN_ORDER(a->start_s, b->start_s);
    return (a->process > b->process) - (a->process < b->process);
}

static int by_pid_and_start(const void *x, const void *y)
{
    const struct by_pid *a = x, *b = y;
    NYTP_RETURN_ORDER(a->pid, b->pid);
    return by_start(x, y);
}

static struct nytp_name host_of(const struct nytp_profile *profile, uint32_t process)
{
    return profile->recordings[profile->processes[process].recording].host;
}

/* The last process of this host, pid and thread, or of any thread where that is none, that
 * began before the child did, for pids return. Being earlier is a strict order, so there are no
 * circles. */
static uint32_t find_earlier(const struct nytp_profile *profile, const struct by_pid *pids,
                             uint32_t child, uint32_t pid, uint32_t thread)
{
    const struct by_pid wanted = {pid, child, profile->processes[child].start_s};
    uint32_t low = 0, of_any_thread = NYTP_NO_PROCESS;
    NYTP_BISECT(low, profile->n_processes, middle,
                by_pid_and_start(&pids[middle], &wanted) < 0);
    while (low > 0 && pids[low - 1].pid == pid) {
        const uint32_t process = pids[--low].process;
        if (nytp_compare_names(host_of(profile, process), host_of(profile, child)) != 0)
            continue;
        if (profile->processes[process].thread == thread)
            return process;
        if (of_any_thread == NYTP_NO_PROCESS)
            of_any_thread = process;
    }
    return of_any_thread;
}

/* A thread belongs below the thread that made it. What a thread forked has its number. */
static uint32_t find_parent(const struct nytp_profile *profile, const struct by_pid *pids,
                            uint32_t child)
{
    const struct nytp_process *const p = &profile->processes[child];
    const uint32_t maker = p->thread == 0
                               ? NYTP_NO_PROCESS
                               : find_earlier(profile, pids, child, p->pid, p->parent_thread);
    return maker != NYTP_NO_PROCESS ? maker
                                    : find_earlier(profile, pids, child, p->ppid, p->thread);
}

bool nytp_process_tree_init(struct nytp_process_tree *tree, const struct nytp_profile *profile)
{
    const uint32_t n = profile->n_processes;
    struct by_pid *pids = calloc((size_t)n + 1, sizeof *pids);
    tree->parents = calloc((size_t)n + 1, sizeof *tree->parents);
    tree->order = calloc((size_t)n + 1, sizeof *tree->order);
    const bool ok = pids != NULL && tree->parents != NULL && tree->order != NULL;
    for (uint32_t i = 0; ok && i < n; i++)
        pids[i] = (struct by_pid){profile->processes[i].pid, i, profile->processes[i].start_s};
    if (ok)
        qsort(pids, n, sizeof *pids, by_start);
    for (uint32_t i = 0; ok && i < n; i++)
        tree->order[i] = pids[i].process;
    if (ok)
        qsort(pids, n, sizeof *pids, by_pid_and_start);
    for (uint32_t i = 0; ok && i < n; i++)
        tree->parents[i] = find_parent(profile, pids, i);
    free(pids);
    if (!ok)
        nytp_process_tree_free(tree);
    return ok;
}

void nytp_process_tree_free(struct nytp_process_tree *tree)
{
    free(tree->parents);
    free(tree->order);
    *tree = (struct nytp_process_tree){0};
}
