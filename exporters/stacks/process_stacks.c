/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Stacks of a process; see process_stacks.h. Nodes come parents first, so each node's stack is
 * one more frame on a stack that is known.
 */
#include "process_stacks.h"

#include "formats/base/arena.h"
#include "formats/model/profile.h"
#include "formats/model/svs.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

uint32_t nytp_first_of_name(const struct nytp_profile *profile, uint32_t sub)
{
    while (sub > 1 && profile->subs[sub - 1].name.ptr == profile->subs[sub].name.ptr)
        sub--;
    return sub;
}

/* The stack that is `parent` with one more frame, made if it is not there. */
static uint32_t add_stack(struct nytp_process_stacks *stacks,
                          const struct nytp_profile *profile, uint32_t parent,
                          const struct nytp_node *node, const struct nytp_node *site)
{
    const bool outside =
        !stacks->by_name && parent != NONE && stacks->stacks[parent].unreturned;
    const bool unreturned = outside || (node->flags & NYTP_NODE_UNRETURNED) != 0;
    const uint32_t sub = stacks->by_name ? nytp_first_of_name(profile, node->sub) : node->sub;
    const uint32_t file = stacks->by_line ? site->file : 0,
                   line = stacks->by_line ? site->line : 0;
    const struct nytp_key key = {parent, sub, (uint32_t)unreturned << 31 | file, line};
    uint32_t id = nytp_table_get(&stacks->known, key);
    if (id != NYTP_TABLE_NONE)
        return id;
    id = stacks->n;
    if (!nytp_grow(&stacks->stacks, &stacks->capacity, id, sizeof *stacks->stacks) ||
        !nytp_table_put(&stacks->known, key, id))
        return NONE;
    stacks->stacks[stacks->n++] = (struct nytp_process_stack){
        .parent = parent == NONE ? id : parent,
        .sub = sub,
        .unreturned = unreturned,
        .site_file = file,
        .site_line = line,
    };
    return id;
}

static void add_values(struct nytp_process_stack *stack, const struct nytp_profile *profile,
                       const struct nytp_node *node)
{
    const struct nytp_node_line *lines = profile->node_lines + node->first_node_line;
    stack->calls += node->calls;
    stack->ticks += node->excl_ticks;
    for (uint32_t i = 0; i < node->n_node_lines; i++) {
        stack->statements += lines[i].statements;
        stack->cpu_ticks += lines[i].cpu_ticks;
        nytp_svs_add(&stack->svs, nytp_svs_of_line(profile, node->first_node_line + i));
    }
}

/* Subs are sorted by name, so their number tells the order. */
struct sibling {
    uint32_t parent_rank, sub; /* parent plus 1: the root comes first */
    uint32_t unreturned, file, line, stack;
};

static int by_parent(const void *x, const void *y)
{
    const struct sibling *a = x, *b = y;
    NYTP_RETURN_ORDER(a->parent_rank, b->parent_rank);
    NYTP_RETURN_ORDER(a->sub, b->sub);
    NYTP_RETURN_ORDER(a->unreturned, b->unreturned);
    NYTP_RETURN_ORDER(a->file, b->file);
    return a->line < b->line ? -1 : a->line > b->line;
}

/* Depth first: a stack and those that are longer take as many places as they are. */
static bool put_in_order(struct nytp_process_stacks *stacks)
{
    const uint32_t n = stacks->n;
    struct sibling *siblings = malloc(((size_t)n + 1) * sizeof *siblings);
    uint32_t *size = calloc((size_t)n + 1, sizeof *size); /* by the stack's own number plus 1 */
    uint32_t *next = calloc((size_t)n + 1, sizeof *next); /* place, by parent_rank */
    free(stacks->order);
    stacks->order = malloc(((size_t)n + 1) * sizeof *stacks->order);
    const bool ok = siblings != NULL && size != NULL && next != NULL && stacks->order != NULL;
    for (uint32_t i = ok ? n : 0; i-- > 0;) {
        const struct nytp_process_stack *stack = &stacks->stacks[i];
        const uint32_t rank = stack->parent == i ? 0 : stack->parent + 1;
        siblings[i] = (struct sibling){
            rank, stack->sub, stack->unreturned, stack->site_file, stack->site_line, i};
        size[i + 1]++;
        size[rank] += size[i + 1];
    }
    if (ok && n > 0)
        qsort(siblings, n, sizeof *siblings, by_parent);
    for (uint32_t i = 0; ok && i < n; i++) {
        const uint32_t stack = siblings[i].stack, place = next[siblings[i].parent_rank];
        stacks->order[place] = stack;
        next[siblings[i].parent_rank] += size[stack + 1];
        next[stack + 1] = place + 1;
    }
    free(siblings);
    free(size);
    free(next);
    return ok;
}

static int by_stack_line(const void *x, const void *y)
{
    const struct nytp_process_line *a = x, *b = y;
    NYTP_RETURN_ORDER(a->stack, b->stack);
    NYTP_RETURN_ORDER(a->file, b->file);
    return a->line < b->line ? -1 : a->line > b->line;
}

/* Sort the lines, make equal ones one, and index them by stack. */
static void index_lines(struct nytp_process_stacks *stacks, uint32_t n)
{
    uint32_t kept = 0;
    struct nytp_process_line *lines = stacks->lines;
    if (n > 0)
        qsort(lines, n, sizeof *lines, by_stack_line);
    for (uint32_t i = 0; i < n; i++) {
        if (kept > 0 && by_stack_line(&lines[kept - 1], &lines[i]) == 0) {
            lines[kept - 1].statements += lines[i].statements;
            lines[kept - 1].ticks += lines[i].ticks;
            lines[kept - 1].cpu_ticks += lines[i].cpu_ticks;
            nytp_svs_add(&lines[kept - 1].svs, lines[i].svs);
        } else {
            lines[kept++] = lines[i];
            stacks->first_line[lines[i].stack + 1]++;
        }
    }
    for (uint32_t i = 0; i < stacks->n; i++)
        stacks->first_line[i + 1] += stacks->first_line[i];
}

/* Collect what each stack's last frame spent on lines. */
static bool gather_lines(struct nytp_process_stacks *stacks, const struct nytp_profile *profile,
                         uint32_t first, uint32_t end)
{
    size_t n = 0;
    for (uint32_t i = first; i < end; i++)
        n += profile->nodes[i].n_node_lines;
    free(stacks->lines);
    free(stacks->first_line);
    stacks->lines = malloc((n + 1) * sizeof *stacks->lines);
    stacks->first_line = calloc((size_t)stacks->n + 1, sizeof *stacks->first_line);
    if (stacks->lines == NULL || stacks->first_line == NULL)
        return false;
    n = 0;
    for (uint32_t i = first; i < end; i++) {
        const struct nytp_node *node = &profile->nodes[i];
        const struct nytp_node_line *lines = profile->node_lines + node->first_node_line;
        for (uint32_t k = 0; k < node->n_node_lines; k++)
            stacks->lines[n++] = (struct nytp_process_line){
                .stack = stacks->stack_of_node[i - first],
                .file = lines[k].file,
                .line = lines[k].line,
                .statements = lines[k].statements,
                .ticks = lines[k].ticks,
                .cpu_ticks = lines[k].cpu_ticks,
                .svs = nytp_svs_of_line(profile, node->first_node_line + k)};
    }
    index_lines(stacks, (uint32_t)n);
    return true;
}

bool nytp_process_stacks_fill(struct nytp_process_stacks *stacks,
                              const struct nytp_profile *profile,
                              const struct nytp_stacks *bounds, uint32_t process)
{
    const bool all = process == NYTP_ALL_PROCESSES;
    const uint32_t first = all ? 0 : profile->processes[process].root,
                   end = all ? profile->n_nodes : nytp_process_nodes_end(profile, process);
    stacks->n = 0;
    nytp_table_free(&stacks->known);
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
                           : add_stack(stacks, profile,
                                       outer == i ? NONE : stacks->stack_of_node[outer - first],
                                       &profile->nodes[i],
                                       &profile->nodes[nytp_stacks_site(bounds, i)]);
        ok = *stack != NONE;
        if (ok)
            add_values(&stacks->stacks[*stack], profile, &profile->nodes[i]);
    }
    return ok && put_in_order(stacks) &&
           (!stacks->by_line || gather_lines(stacks, profile, first, end));
}

void nytp_process_stacks_free(struct nytp_process_stacks *stacks)
{
    free(stacks->stacks);
    free(stacks->order);
    free(stacks->lines);
    free(stacks->first_line);
    free(stacks->stack_of_node);
    nytp_table_free(&stacks->known);
    *stacks = (struct nytp_process_stacks){0};
}
