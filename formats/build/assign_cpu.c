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

/* Make the values add up to `total`, in their proportion, or if there is none in that of the
 * time. */
static void make_sum(int64_t *values, const int64_t *times, uint32_t n, int64_t total)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += values[i];
    for (uint32_t i = 0; sum == 0 && i < n; i++)
        values[i] = nytp_at_least_0(times[i]);
    if (sum == 0)
        for (uint32_t i = 0; i < n; i++)
            sum += values[i];
    struct nytp_sharing sharing = {.total = total, .sum = sum};
    for (uint32_t i = 0; sum > 0 && i < n; i++)
        values[i] = nytp_next_share(&sharing, values[i]);
}

static int64_t wait_of_context(const struct nytp_assignment *s, uint32_t node)
{
    const struct nytp_calltree *const tree = &s->b->stack.tree;
    const uint32_t raw = s->raw_of_node[node];
    int64_t sum = nytp_wait_sums_get(&tree->waits, nytp_wait_of_node(raw));
    for (uint32_t l = tree->nodes[raw].first_line; l != 0; l = tree->lines[l].next)
        sum += nytp_wait_sums_get(
            &tree->waits, nytp_wait_of_line(raw, tree->lines[l].file, tree->lines[l].line));
    return sum;
}

/* Room for the numbers of contexts, or of the lines of one. */
struct room {
    int64_t *contexts, *context_times, *lines, *line_times;
};

static void assign_lines(struct nytp_assignment *s, uint32_t node, int64_t total,
                         const struct room *room)
{
    const struct nytp_wait_sums *const waits = &s->b->stack.tree.waits;
    const uint32_t raw = s->raw_of_node[node], n = s->p->nodes[node].n_node_lines;
    struct nytp_node_line *const lines = s->p->node_lines + s->p->nodes[node].first_node_line;
    for (uint32_t i = 0; i < n; i++) {
        const struct nytp_key place = nytp_wait_of_line(raw, lines[i].file, lines[i].line);
        room->line_times[i] = lines[i].ticks;
        room->lines[i] = nytp_at_least_0(lines[i].ticks - nytp_wait_sums_get(waits, place));
    }
    make_sum(room->lines, room->line_times, n, total);
    for (uint32_t i = 0; i < n; i++)
        lines[i].cpu_ticks = room->lines[i];
}

static void assign_process(struct nytp_assignment *s, uint32_t process, const struct room *room)
{
    struct nytp_profile *const p = s->p;
    const uint32_t root = p->processes[process].root;
    const uint32_t end = nytp_process_nodes_end(p, process);
    for (uint32_t n = root; n < end; n++) {
        const int64_t ticks = p->nodes[n].n_node_lines > 0 ? p->nodes[n].excl_ticks : 0;
        room->context_times[n - root] = ticks;
        room->contexts[n - root] =
            ticks > 0 ? nytp_at_least_0(ticks - wait_of_context(s, n)) : 0;
    }
    make_sum(room->contexts, room->context_times, end - root,
             nytp_at_least_0(p->processes[process].cpu_ticks));
    for (uint32_t n = root; n < end; n++)
        assign_lines(s, n, room->contexts[n - root], room);
}

bool nytp_assign_cpu(struct nytp_assignment *s)
{
    const size_t n_nodes = (size_t)s->p->n_nodes + 1, n_lines = (size_t)s->p->n_node_lines + 1;
    const struct room room = {
        .contexts = malloc(n_nodes * sizeof *room.contexts),
        .context_times = malloc(n_nodes * sizeof *room.context_times),
        .lines = malloc(n_lines * sizeof *room.lines),
        .line_times = malloc(n_lines * sizeof *room.line_times),
    };
    const bool ok = room.contexts != NULL && room.context_times != NULL && room.lines != NULL &&
                    room.line_times != NULL;
    for (uint32_t i = 0; ok && i < s->p->n_processes; i++)
        assign_process(s, i, &room);
    free(room.contexts);
    free(room.context_times);
    free(room.lines);
    free(room.line_times);
    return ok;
}
