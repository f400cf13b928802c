/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Attribution of a sampled recording: what of the time of each context and line was processor
 * time. Of a context it is its exclusive time less what was waited in it, of a line the same.
 * Where that does not come out (the time of a wait went to another place than where it was
 * told), the sum that is known one level up is shared out in the proportion of what is
 * possible, so that nothing is lost: a process's over its contexts, a context's over its lines.
 */
#include "assignment.h"
#include "formats/model/profile.h"

#include <stdlib.h>

/* A context or a line: its processor time, and all of its time. */
struct part {
    int64_t cpu_ticks, ticks;
};

/* Makes the processor times add up to `total`, in their proportion, or if there is none in that
 * of all time. */
static void make_sum(struct part *parts, uint32_t n, int64_t total)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += parts[i].cpu_ticks;
    for (uint32_t i = 0; sum == 0 && i < n; i++)
        parts[i].cpu_ticks = nytp_at_least_0(parts[i].ticks);
    if (sum == 0)
        for (uint32_t i = 0; i < n; i++)
            sum += parts[i].cpu_ticks;
    struct nytp_sharing sharing = {.total = total, .sum = sum};
    for (uint32_t i = 0; sum > 0 && i < n; i++)
        parts[i].cpu_ticks = nytp_next_share(&sharing, parts[i].cpu_ticks);
}

static int64_t wait_of_context(const struct nytp_assignment *s, uint32_t node)
{
    const struct nytp_calltree *const tree = &s->b->stack.tree;
    const uint32_t raw = s->raw_of_node[node];
    int64_t sum = nytp_tick_sums_get(&tree->waits, nytp_wait_of_node(raw));
    for (uint32_t l = tree->nodes[raw].first_line; l != 0; l = tree->lines[l].next)
        sum += nytp_tick_sums_get(
            &tree->waits, nytp_wait_of_line(raw, tree->lines[l].file, tree->lines[l].line));
    return sum;
}

static void assign_lines(struct nytp_assignment *s, uint32_t node, int64_t total,
                         struct part *parts)
{
    const struct nytp_tick_sums *const waits = &s->b->stack.tree.waits;
    const uint32_t raw = s->raw_of_node[node], n = s->p->nodes[node].n_node_lines;
    struct nytp_node_line *const lines = s->p->node_lines + s->p->nodes[node].first_node_line;
    for (uint32_t i = 0; i < n; i++) {
        const struct nytp_key place = nytp_wait_of_line(raw, lines[i].file, lines[i].line);
        parts[i].ticks = lines[i].ticks;
        parts[i].cpu_ticks = nytp_at_least_0(lines[i].ticks - nytp_tick_sums_get(waits, place));
    }
    make_sum(parts, n, total);
    for (uint32_t i = 0; i < n; i++)
        lines[i].cpu_ticks = parts[i].cpu_ticks;
}

/* `contexts` and `lines` have room for all of them. */
static void assign_process(struct nytp_assignment *s, uint32_t process, struct part *contexts,
                           struct part *lines)
{
    struct nytp_profile *const p = s->p;
    const uint32_t root = p->processes[process].root;
    const uint32_t end = nytp_process_nodes_end(p, process);
    for (uint32_t n = root; n < end; n++) {
        const int64_t ticks = p->nodes[n].n_node_lines > 0 ? p->nodes[n].excl_ticks : 0;
        contexts[n - root].ticks = ticks;
        contexts[n - root].cpu_ticks =
            ticks > 0 ? nytp_at_least_0(ticks - wait_of_context(s, n)) : 0;
    }
    make_sum(contexts, end - root, nytp_at_least_0(p->processes[process].cpu_ticks));
    for (uint32_t n = root; n < end; n++)
        assign_lines(s, n, contexts[n - root].cpu_ticks, lines);
}

bool nytp_assign_cpu(struct nytp_assignment *s)
{
    struct part *const contexts = malloc(((size_t)s->p->n_nodes + 1) * sizeof *contexts);
    struct part *const lines = malloc(((size_t)s->p->n_node_lines + 1) * sizeof *lines);
    const bool ok = contexts != NULL && lines != NULL;
    for (uint32_t i = 0; ok && i < s->p->n_processes; i++)
        assign_process(s, i, contexts, lines);
    free(contexts);
    free(lines);
    return ok;
}
