/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Inclusive statement counts per arc; see inclusive.h.
 */
#include "inclusive.h"

#include <stdlib.h>

struct walk {
    const struct nytp_profile *profile;
    uint64_t *below;   /* by node: statements in its subtree */
    uint32_t *on_path; /* by sub: how often it is on the path from the root */
    uint32_t *next;    /* by node: how many of its children were visited */
    uint64_t *exact;   /* by arc */
    uint64_t *shared;  /* by first arc of caller, callee and part: of unknown call site */
};

static void sum_below(const struct walk *walk)
{
    const struct nytp_profile *profile = walk->profile;
    for (uint32_t n = profile->n_nodes; n-- > 0;) {
        const struct nytp_node *node = &profile->nodes[n];
        for (uint32_t i = 0; i < node->n_node_lines; i++)
            walk->below[n] += profile->node_lines[node->first_node_line + i].statements;
        if (node->parent != n)
            walk->below[node->parent] += walk->below[n];
    }
}

static int order(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* As arcs of one caller are sorted: callee, part, file, line. */
static int compare_arc(const struct nytp_arc *arc, const struct nytp_node *node, uint32_t part,
                       uint32_t file, uint32_t line)
{
    int c = order(arc->callee, node->sub);
    if (c == 0)
        c = order(arc->part, part);
    if (c == 0)
        c = order(arc->file, file);
    return c != 0 ? c : order(arc->line, line);
}

/* First of the caller's arcs that is not before the given place. */
static uint32_t lower_bound(const struct nytp_profile *profile, const struct nytp_sub *caller,
                            const struct nytp_node *node, uint32_t part, uint32_t file,
                            uint32_t line)
{
    uint32_t low = caller->first_arc, high = caller->first_arc + caller->n_arcs;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (compare_arc(&profile->arcs[middle], node, part, file, line) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void credit(const struct walk *walk, const struct nytp_node *node, uint32_t part,
                   uint64_t statements)
{
    const struct nytp_profile *profile = walk->profile;
    const struct nytp_sub *caller = &profile->subs[profile->nodes[node->parent].sub];
    const uint32_t end = caller->first_arc + caller->n_arcs;
    uint32_t arc = lower_bound(profile, caller, node, part, node->file, node->line);
    if (arc < end &&
        compare_arc(&profile->arcs[arc], node, part, node->file, node->line) == 0) {
        walk->exact[arc] += statements;
        return;
    }
    arc = lower_bound(profile, caller, node, part, 0, 0);
    if (arc < end && profile->arcs[arc].callee == node->sub && profile->arcs[arc].part == part)
        walk->shared[arc] += statements;
}

static void enter(const struct walk *walk, uint32_t n, uint32_t part)
{
    const struct nytp_node *node = &walk->profile->nodes[n];
    const bool is_root = node->parent == n;
    const bool outermost = walk->on_path[node->sub]++ == 0;
    if (outermost && !is_root)
        credit(walk, node, part, walk->below[n]);
}

static void visit_process(const struct walk *walk, const struct nytp_process *process)
{
    const struct nytp_profile *profile = walk->profile;
    uint32_t n = process->root;
    enter(walk, n, process->part);
    for (;;) {
        const struct nytp_node *node = &profile->nodes[n];
        if (walk->next[n] < node->n_children) {
            n = profile->children[node->first_child + walk->next[n]++];
            enter(walk, n, process->part);
            continue;
        }
        walk->on_path[node->sub]--;
        if (n == process->root)
            return;
        n = node->parent;
    }
}

/* value * part / whole, without overflow for what programs can do in a lifetime */
static uint64_t proportion(uint64_t value, uint64_t part, uint64_t whole)
{
    return (uint64_t)((long double)value * (long double)part / (long double)whole);
}

/* Share out over the arcs [first, end) so that exactly `statements` are given. */
static void share(const struct walk *walk, uint32_t first, uint32_t end, uint64_t statements)
{
    const struct nytp_arc *arcs = walk->profile->arcs;
    uint64_t calls = 0, seen = 0, given = 0;
    for (uint32_t i = first; i < end; i++)
        calls += arcs[i].calls;
    for (uint32_t i = first; i < end; i++) {
        seen += arcs[i].calls;
        const uint64_t upto =
            i == end - 1 || calls == 0 ? statements : proportion(statements, seen, calls);
        if (upto <= given)
            continue;
        walk->exact[i] += upto - given;
        given = upto;
    }
}

static void share_all(const struct walk *walk)
{
    const struct nytp_profile *profile = walk->profile;
    for (uint32_t i = 0; i < profile->n_arcs; i++) {
        if (walk->shared[i] == 0)
            continue;
        const struct nytp_arc *arc = &profile->arcs[i];
        uint32_t end = i + 1;
        while (end < profile->n_arcs && profile->arcs[end].caller == arc->caller &&
               profile->arcs[end].callee == arc->callee && profile->arcs[end].part == arc->part)
            end++;
        share(walk, i, end, walk->shared[i]);
    }
}

uint64_t *nytp_inclusive_statements(const struct nytp_profile *profile)
{
    struct walk walk = {
        .profile = profile,
        .below = calloc((size_t)profile->n_nodes + 1, sizeof *walk.below),
        .on_path = calloc((size_t)profile->n_subs + 1, sizeof *walk.on_path),
        .next = calloc((size_t)profile->n_nodes + 1, sizeof *walk.next),
        .exact = calloc((size_t)profile->n_arcs + 1, sizeof *walk.exact),
        .shared = calloc((size_t)profile->n_arcs + 1, sizeof *walk.shared),
    };
    const bool ok = walk.below != NULL && walk.on_path != NULL && walk.next != NULL &&
                    walk.exact != NULL && walk.shared != NULL;
    if (ok) {
        sum_below(&walk);
        for (uint32_t i = 0; i < profile->n_processes; i++)
            visit_process(&walk, &profile->processes[i]);
        share_all(&walk);
    } else {
        free(walk.exact);
        walk.exact = NULL;
    }
    free(walk.below);
    free(walk.on_path);
    free(walk.next);
    free(walk.shared);
    return walk.exact;
}
