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

struct file {
    const struct nytp_process *process;
    struct nytp_name host;
    uint32_t index; /* of the process */
};

static int by_process_and_start(const void *x, const void *y)
{
    const struct file *const a = x, *const b = y;
    const struct nytp_process *const p = a->process, *const q = b->process;
    NYTP_RETURN_ORDER(p->pid, q->pid);
    NYTP_RETURN_ORDER(p->thread, q->thread);
    NYTP_RETURN_ORDER(a->host.len, b->host.len);
    const int order = memcmp(a->host.ptr, b->host.ptr, a->host.len);
    if (order != 0)
        return order;
    NYTP_RETURN_ORDER(p->start_s, q->start_s);
    return a->index < b->index ? -1 : a->index > b->index;
}

/* The end of a killed process is unknown. */
static bool ends_before(const struct file *a, const struct file *b)
{
    return a->process->complete &&
           (!b->process->complete || a->process->end_s <= b->process->end_s);
}

static bool is_same_process(const struct file *last, const struct file *next)
{
    return last->process->pid == next->process->pid &&
           last->process->thread == next->process->thread && last->host.len == next->host.len &&
           memcmp(last->host.ptr, next->host.ptr, last->host.len) == 0 &&
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

static void supersede(struct nytp_profile *p, const struct file *file)
{
    change_lines(p, file->index, count_none_here);
    p->processes[file->index].is_superseded = true;
}

/* Supersedes the first to end of two adjacent files, and compares the other with the next. */
static void keep_last(struct nytp_profile *p, const struct file *files)
{
    const struct file *last = &files[0];
    for (uint32_t i = 1; i < p->n_processes; i++) {
        const struct file *const next = &files[i];
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

static bool keep_last_of_each(struct nytp_profile *p)
{
    struct file *const files = malloc(p->n_processes * sizeof *files);
    if (files == NULL)
        return false;
    for (uint32_t i = 0; i < p->n_processes; i++)
        files[i] = (struct file){.process = &p->processes[i],
                                 .host = p->recordings[p->processes[i].recording].host,
                                 .index = i};
    qsort(files, p->n_processes, sizeof *files, by_process_and_start);
    keep_last(p, files);
    free(files);
    return true;
}

/* ---- inherited memory ---- */

/* A process with memory that process `pid` allocated: the process itself or a child. */
struct holder {
    struct nytp_name host;
    uint32_t pid;
    bool is_child;
    double start_s;
    uint32_t index; /* of the process */
};

static int compare_memory(const struct holder *a, const struct holder *b)
{
    NYTP_RETURN_ORDER(a->pid, b->pid);
    NYTP_RETURN_ORDER(a->host.len, b->host.len);
    return memcmp(a->host.ptr, b->host.ptr, a->host.len);
}

/* The first in this order counts the memory. */
static int by_memory(const void *x, const void *y)
{
    const struct holder *const a = x, *const b = y;
    const int order = compare_memory(a, b);
    if (order != 0)
        return order;
    if (a->is_child != b->is_child)
        return a->is_child ? 1 : -1;
    NYTP_RETURN_ORDER(a->start_s, b->start_s);
    return a->index < b->index ? -1 : a->index > b->index;
}

static uint32_t list_holders(const struct nytp_profile *p, struct holder *holders)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_processes; i++) {
        const struct nytp_process *const process = &p->processes[i];
        if (process->is_superseded)
            continue;
        struct holder holder = {.host = p->recordings[process->recording].host,
                                .pid = process->pid,
                                .start_s = process->start_s,
                                .index = i};
        holders[n++] = holder;
        holder.pid = process->inherits_from;
        holder.is_child = true;
        if (holder.pid != 0)
            holders[n++] = holder;
    }
    return n;
}

static bool count_inherited_once(struct nytp_profile *p)
{
    struct holder *const holders = malloc(2 * (size_t)p->n_processes * sizeof *holders);
    if (holders == NULL)
        return false;
    const uint32_t n = list_holders(p, holders);
    qsort(holders, n, sizeof *holders, by_memory);
    for (uint32_t i = 1; i < n; i++)
        if (holders[i].is_child && compare_memory(&holders[i - 1], &holders[i]) == 0)
            change_lines(p, holders[i].index, count_inherited_elsewhere);
    free(holders);
    return true;
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
    for (uint32_t i = 0; i < p->n_processes; i++)
        change_lines(p, i, count_all_here);
    return keep_last_of_each(p) && count_inherited_once(p);
}
