/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Chooses the file that counts memory in use; see in_use.h.
 *
 * Files of one process have the same host, process id and thread. But process ids are reused:
 * a file that begins after the previous one has ended, and has no memory from before, is of
 * another process (or nothing was in use).
 *
 * Inherited memory is known as a sum per line, not per block. If only the parent, or only one
 * of several children, freed a block after the fork, it counts as if both had.
 */
#include "in_use.h"

#include "profile.h"

#include <stdlib.h>
#include <string.h>

/* A process with memory that process `pid` allocated: a file of the process itself, or a child.
 */
struct holder {
    const struct nytp_process *process;
    struct nytp_name host;
    uint32_t pid;
    bool is_child;
    uint32_t index; /* of the process */
};

static int compare_memory(const struct holder *a, const struct holder *b)
{
    NYTP_RETURN_ORDER(a->pid, b->pid);
    NYTP_RETURN_ORDER(a->host.len, b->host.len);
    return memcmp(a->host.ptr, b->host.ptr, a->host.len);
}

static int compare_starts(const struct holder *a, const struct holder *b)
{
    NYTP_RETURN_ORDER(a->process->start_s, b->process->start_s);
    return a->index < b->index ? -1 : a->index > b->index;
}

/* ---- several files of a process ---- */

static int by_process_and_start(const void *x, const void *y)
{
    const struct holder *const a = x, *const b = y;
    const int order = compare_memory(a, b);
    if (order != 0)
        return order;
    NYTP_RETURN_ORDER(a->process->thread, b->process->thread);
    return compare_starts(a, b);
}

/* The end of a killed process is unknown. */
static bool ends_before(const struct holder *a, const struct holder *b)
{
    return a->process->complete &&
           (!b->process->complete || a->process->end_s <= b->process->end_s);
}

static bool is_same_process(const struct holder *last, const struct holder *next)
{
    return compare_memory(last, next) == 0 && last->process->thread == next->process->thread &&
           (next->process->knows_before ||
            (last->process->knows_before && ends_before(next, last) &&
             last->process->complete));
}

static void change_lines(struct nytp_profile *p, uint32_t process,
                         void (*change)(struct nytp_svs *svs))
{
    const uint32_t end = nytp_process_nodes_end(p, process);
    for (uint32_t i = p->processes[process].root; i < end; i++) {
        const struct nytp_node *const node = &p->nodes[i];
        for (uint32_t l = 0; l < node->n_node_lines; l++)
            change(&p->node_line_svs[node->first_node_line + l]);
    }
}

static void count_in_use(struct nytp_svs *svs, struct nytp_in_use in_use, int sign)
{
    svs->bytes.of[NYTP_INUSE_OBJECTS] += sign * in_use.objects;
    svs->bytes.of[NYTP_INUSE_SPACE] += sign * in_use.space;
    svs->elsewhere.objects -= sign * in_use.objects;
    svs->elsewhere.space -= sign * in_use.space;
}

static void count_all_here(struct nytp_svs *svs)
{
    count_in_use(svs, svs->elsewhere, 1);
}

static void count_none_here(struct nytp_svs *svs)
{
    const struct nytp_in_use all = {svs->bytes.of[NYTP_INUSE_OBJECTS],
                                    svs->bytes.of[NYTP_INUSE_SPACE]};
    count_in_use(svs, all, -1);
}

static void count_inherited_elsewhere(struct nytp_svs *svs)
{
    count_in_use(svs, svs->inherited, -1);
}

static void supersede(struct nytp_profile *p, const struct holder *file)
{
    change_lines(p, file->index, count_none_here);
    p->processes[file->index].is_superseded = true;
}

static struct holder file_of(const struct nytp_profile *p, uint32_t process)
{
    return (struct holder){.process = &p->processes[process],
                           .host = p->recordings[p->processes[process].recording].host,
                           .pid = p->processes[process].pid,
                           .index = process};
}

/* Supersedes the first to end of two adjacent files, and compares the other with the next.
 * There is room for all of them. */
static void keep_last_of_each(struct nytp_profile *p, struct holder *files)
{
    for (uint32_t i = 0; i < p->n_processes; i++)
        files[i] = file_of(p, i);
    qsort(files, p->n_processes, sizeof *files, by_process_and_start);
    const struct holder *last = &files[0];
    for (uint32_t i = 1; i < p->n_processes; i++) {
        const struct holder *const next = &files[i];
        if (!is_same_process(last, next)) {
            last = next;
        } else if (ends_before(next, last)) {
            supersede(p, next);
        } else {
            supersede(p, last);
            last = next;
        }
    }
}

/* ---- inherited memory ---- */

/* The first in this order counts the memory. */
static int by_memory(const void *x, const void *y)
{
    const struct holder *const a = x, *const b = y;
    const int order = compare_memory(a, b);
    if (order != 0)
        return order;
    if (a->is_child != b->is_child)
        return a->is_child ? 1 : -1;
    return compare_starts(a, b);
}

/* There is room for twice as many as processes. */
static void count_inherited_once(struct nytp_profile *p, struct holder *holders)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_processes; i++) {
        if (p->processes[i].is_superseded)
            continue;
        struct holder holder = file_of(p, i);
        holders[n++] = holder;
        holder.pid = p->processes[i].inherits_from;
        holder.is_child = true;
        if (holder.pid != 0)
            holders[n++] = holder;
    }
    qsort(holders, n, sizeof *holders, by_memory);
    for (uint32_t i = 1; i < n; i++)
        if (holders[i].is_child && compare_memory(&holders[i - 1], &holders[i]) == 0)
            change_lines(p, holders[i].index, count_inherited_elsewhere);
}

bool nytp_in_use_count_once(struct nytp_profile *p)
{
    bool share = false;
    for (uint32_t i = 0; i < p->n_processes; i++) {
        struct nytp_process *const process = &p->processes[i];
        share |= process->knows_before || process->inherits_from != 0 || process->is_superseded;
        process->is_superseded = false;
    }
    if (!share || p->node_line_svs == NULL)
        return true;
    struct holder *const holders = malloc(2 * (size_t)p->n_processes * sizeof *holders);
    if (holders == NULL)
        return false;
    for (uint32_t i = 0; i < p->n_processes; i++)
        change_lines(p, i, count_all_here);
    keep_last_of_each(p, holders);
    count_inherited_once(p, holders);
    free(holders);
    return true;
}
