/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The peak of memory in use; see memory_peak.h.
 */
#include "memory_peak.h"

int64_t nytp_memory_ticks_now(const struct nytp_builder *b)
{
    const int64_t clock = b->processes[b->n_processes - 1].clock;
    const int64_t ticks = clock > b->time_position ? clock : b->time_position;
    return ticks > 0 ? ticks : 0;
}

void nytp_memory_peak_note(struct nytp_builder *b)
{
    struct nytp_built_memory *const m = &b->memory;
    if (m->in_use <= m->peak.in_use)
        return;
    m->peak.in_use = m->in_use;
    m->peak.at_ticks = nytp_memory_ticks_now(b);
    m->peak.n_samples = b->stack.tree.n_samples;
    m->peak.n_freed = m->n_freed;
}

void nytp_memory_peak_end(struct nytp_builder *b)
{
    struct nytp_built_process *const process = &b->processes[b->n_processes - 1];
    const struct nytp_built_memory *const m = &b->memory;
    process->model.peak_in_use = m->peak.in_use;
    process->model.peak_ticks = m->peak.at_ticks;
    for (uint32_t i = b->first_sample; i < m->peak.n_samples; i++) {
        struct nytp_tree_sample *const sample = &b->stack.tree.samples[i];
        sample->is_of_peak = sample->freed_as == 0 || sample->freed_as > m->peak.n_freed;
    }
}
