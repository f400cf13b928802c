/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Which file tells what is in use; see in_use.h.
 *
 * Those of one process have the same host, process id and thread. A process id is used again:
 * one that begins when the file before has ended, and knows of nothing from before, is of
 * another process, or nothing was in use.
 */
#include "in_use.h"

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
    if (p->pid != q->pid)
        return p->pid < q->pid ? -1 : 1;
    if (p->thread != q->thread)
        return p->thread < q->thread ? -1 : 1;
    if (a->host.len != b->host.len)
        return a->host.len < b->host.len ? -1 : 1;
    const int order = memcmp(a->host.ptr, b->host.ptr, a->host.len);
    if (order != 0)
        return order;
    if (p->start_s != q->start_s)
        return p->start_s < q->start_s ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Of a process that was killed the end is not known. */
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

static void drop_in_use(struct nytp_profile *p, const struct file *file)
{
    const bool is_last = file->index + 1 == p->n_processes;
    const uint32_t end = is_last ? p->n_nodes : file->process[1].root;
    for (uint32_t i = file->process->root; i < end; i++) {
        const struct nytp_node *const node = &p->nodes[i];
        struct nytp_svs *const svs = &p->node_line_svs[node->first_node_line];
        for (uint32_t l = 0; l < node->n_node_lines; l++)
            svs[l].bytes.of[NYTP_INUSE_OBJECTS] = svs[l].bytes.of[NYTP_INUSE_SPACE] = 0;
    }
}

/* Of a file and the next the one that ends first; the other remains to be compared. */
static void keep_last(struct nytp_profile *p, const struct file *files)
{
    const struct file *last = &files[0];
    for (uint32_t i = 1; i < p->n_processes; i++) {
        const struct file *const next = &files[i];
        if (!is_same_process(last, next)) {
            last = next;
        } else if (ends_before(next, last)) {
            drop_in_use(p, next);
        } else {
            drop_in_use(p, last);
            last = next;
        }
    }
}

bool nytp_in_use_keep_last(struct nytp_profile *p)
{
    bool knows_before = false;
    for (uint32_t i = 0; i < p->n_processes; i++)
        knows_before |= p->processes[i].knows_before;
    if (!knows_before || p->n_processes < 2 || p->node_line_svs == NULL)
        return true;
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
