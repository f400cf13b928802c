/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Stacks of a process; see process_stacks.h. Nodes come parents first, so each node's stack is
 * one more frame on a stack that is known.
 */
#include "process_stacks.h"

#include "stacktree.h"

#include "../../formats/core/arena.h"
#include "../../formats/core/table.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

static uint32_t add_stack(struct nytp_process_stacks *stacks, struct nytp_table *known,
                          uint32_t parent, const struct nytp_node *node)
{
    const bool unreturned = (node->flags & NYTP_NODE_UNRETURNED) != 0 ||
                            (parent != NONE && stacks->stacks[parent].unreturned);
    const struct nytp_key key = {parent, node->sub, unreturned, 0};
    uint32_t id = nytp_table_get(known, key);
    if (id != NYTP_TABLE_NONE)
        return id;
    id = stacks->n;
    if (!nytp_grow(&stacks->stacks, &stacks->capacity, id, sizeof *stacks->stacks) ||
        !nytp_table_put(known, key, id))
        return NONE;
    stacks->stacks[stacks->n++] = (struct nytp_process_stack){
        .parent = parent == NONE ? id : parent, .sub = node->sub, .unreturned = unreturned};
    return id;
}

static void add_values(struct nytp_process_stack *stack, const struct nytp_profile *profile,
                       const struct nytp_node *node)
{
    const struct nytp_node_line *lines = profile->node_lines + node->first_node_line;
    stack->calls += node->calls;
    stack->ticks += node->excl_ticks;
    for (uint32_t i = 0; i < node->n_node_lines; i++)
        stack->statements += lines[i].statements;
}

/* Subs are sorted by name, so their number tells the order; a root's sub is 0. */
struct sibling {
    uint32_t parent, sub, unreturned, stack;
};

static int by_parent(const void *x, const void *y)
{
    const struct sibling *a = x, *b = y;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->sub != b->sub)
        return a->sub < b->sub ? -1 : 1;
    return (int)a->unreturned - (int)b->unreturned;
}

/* Depth first by a list of what is still to be visited. */
static bool put_in_order(struct nytp_process_stacks *stacks)
{
    const uint32_t n = stacks->n;
    struct sibling *siblings = malloc(((size_t)n + 1) * sizeof *siblings);
    uint32_t *first = calloc((size_t)n + 2, sizeof *first);
    uint32_t *open = malloc(((size_t)n + 1) * sizeof *open);
    free(stacks->order);
    stacks->order = malloc(((size_t)n + 1) * sizeof *stacks->order);
    const bool ok = siblings != NULL && first != NULL && open != NULL && stacks->order != NULL;
    uint32_t n_siblings = 0, n_open = 0, n_order = 0;
    for (uint32_t i = 0; ok && i < n; i++) {
        const struct nytp_process_stack *stack = &stacks->stacks[i];
        if (stack->parent == i) {
            open[n_open++] = i;
            continue;
        }
        first[stack->parent + 1]++;
        siblings[n_siblings++] = (struct sibling){stack->parent, stack->sub, stack->unreturned, i};
    }
    for (uint32_t i = 0; ok && i < n; i++)
        first[i + 1] += first[i];
    if (ok && n_siblings > 0)
        qsort(siblings, n_siblings, sizeof *siblings, by_parent);
    while (ok && n_open > 0) {
        const uint32_t stack = open[--n_open];
        stacks->order[n_order++] = stack;
        for (uint32_t i = first[stack + 1]; i-- > first[stack];)
            open[n_open++] = siblings[i].stack;
    }
    free(siblings);
    free(first);
    free(open);
    return ok;
}

bool nytp_process_stacks_fill(struct nytp_process_stacks *stacks,
                              const struct nytp_profile *profile,
                              const struct nytp_stacks *bounds, uint32_t process)
{
    uint32_t first, end;
    struct nytp_table known = {0};
    nytp_process_nodes(profile, process, &first, &end);
    stacks->n = 0;
    if (end - first > stacks->n_nodes) {
        free(stacks->stack_of_node);
        stacks->n_nodes = end - first;
        stacks->stack_of_node = malloc((size_t)stacks->n_nodes * sizeof *stacks->stack_of_node);
    }
    bool ok = stacks->stack_of_node != NULL;
    for (uint32_t i = first; ok && i < end; i++) {
        const uint32_t kept = nytp_stacks_kept(bounds, i);
        const uint32_t outer = nytp_stacks_outer(bounds, kept);
        uint32_t *stack = &stacks->stack_of_node[i - first];
        *stack = kept != i ? stacks->stack_of_node[kept - first]
                           : add_stack(stacks, &known,
                                       outer == i ? NONE : stacks->stack_of_node[outer - first],
                                       &profile->nodes[i]);
        ok = *stack != NONE;
        if (ok)
            add_values(&stacks->stacks[*stack], profile, &profile->nodes[i]);
    }
    nytp_table_free(&known);
    return ok && put_in_order(stacks);
}

void nytp_process_stacks_free(struct nytp_process_stacks *stacks)
{
    free(stacks->stacks);
    free(stacks->order);
    free(stacks->stack_of_node);
    *stacks = (struct nytp_process_stacks){0};
}
