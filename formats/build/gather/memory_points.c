/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The curve of a process's memory, and its peak. Samples come in their order, so it is known to
 * the sample which of them were in use at the peak.
 *
 * However many points an input has, few are kept: when there are too many, one takes the place
 * of two neighbours. Those that come later stand closer together then, until that happens
 * again.
 */
#include "builder_parts.h"

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* One of two that follow one another in a process. */
static struct nytp_memory_point join(const struct nytp_memory_point *first,
                                     const struct nytp_memory_point *second)
{
    return (struct nytp_memory_point){
        .process = second->process,
        .at_ticks = second->at_ticks,
        .resident = larger(first->resident, second->resident),
        .in_use = larger(first->in_use, second->in_use),
        .svs = larger(first->svs, second->svs),
    };
}

static void halve(struct nytp_profile *p)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->n_memory_points; i++) {
        const struct nytp_memory_point *const here = &p->memory_points[i];
        const bool is_pair = i + 1 < p->n_memory_points && here[1].process == here->process;
        p->memory_points[kept++] = is_pair ? join(here, &here[1]) : *here;
        i += is_pair;
    }
    p->n_memory_points = kept;
}

/* Returns where the process in progress is on its axis of time, as recorded. */
static int64_t ticks_now(const struct nytp_builder *b)
{
    const int64_t clock = nytp_builder_process(b)->clock;
    const int64_t ticks = clock > b->time_position ? clock : b->time_position;
    return ticks > 0 ? ticks : 0;
}

bool nytp_memory_points_note(struct nytp_builder *b, int64_t resident)
{
    struct nytp_profile *const p = b->p;
    struct nytp_built_memory *const m = &b->memory;
    if (p->n_memory_points >= NYTP_MOST_MEMORY_POINTS)
        halve(p);
    if (p->n_memory_points >= NYTP_MOST_MEMORY_POINTS) /* more processes than points */
        return true;
    if (!nytp_grow(&p->memory_points, &b->capacities.memory_points, p->n_memory_points,
                   sizeof *p->memory_points))
        return nytp_builder_out_of_memory(b);
    p->memory_points[p->n_memory_points++] = (struct nytp_memory_point){
        .process = b->processes.n - 1,
        .at_ticks = ticks_now(b),
        .resident = resident,
        .in_use = m->in_use,
        .svs = m->svs,
    };
    return true;
}

void nytp_memory_peak_note(struct nytp_builder *b)
{
    struct nytp_built_memory *const m = &b->memory;
    if (m->in_use <= m->peak.in_use)
        return;
    m->peak.in_use = m->in_use;
    m->peak.at_ticks = ticks_now(b);
    m->peak.n_samples = b->stack.tree.samples.n;
    m->peak.n_freed = m->n_freed;
}

void nytp_memory_peak_end(struct nytp_builder *b)
{
    struct nytp_built_process *const process = nytp_builder_process(b);
    const struct nytp_built_memory *const m = &b->memory;
    process->model.peak_in_use = m->peak.in_use;
    process->model.peak_ticks = m->peak.at_ticks;
    for (uint32_t i = b->memory.first_sample; i < m->peak.n_samples; i++) {
        struct nytp_tree_sample *const sample = &b->stack.tree.samples.at[i];
        sample->is_of_peak = sample->freed_as == 0 || sample->freed_as > m->peak.n_freed;
    }
}

/* Statements of negative time set the clock back, which a curve cannot show. */
void nytp_memory_points_limit(struct nytp_profile *p)
{
    for (uint32_t i = 0; i < p->n_memory_points; i++) {
        struct nytp_memory_point *const point = &p->memory_points[i];
        const int64_t end = larger(p->nodes[p->processes[point->process].root].incl_ticks, 0);
        if (i > 0 && point[-1].process == point->process)
            point->at_ticks = larger(point->at_ticks, point[-1].at_ticks);
        if (point->at_ticks > end)
            point->at_ticks = end;
    }
    for (uint32_t i = 0; i < p->n_processes; i++) {
        const int64_t end = larger(p->nodes[p->processes[i].root].incl_ticks, 0);
        if (p->processes[i].peak_ticks > end)
            p->processes[i].peak_ticks = end;
    }
}
