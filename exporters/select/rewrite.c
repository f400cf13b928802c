/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Makes the tree anew; see rewrite.h.
 *
 * The new tree grows in the order of the old one, parents first: a table finds the child of
 * the same sub and call site, or one is added. Then siblings are sorted, and the nodes are
 * numbered depth first as the model wants them.
 */
#include "rewrite.h"

#include "exporters/base/sql_text.h"
#include "formats/base/table.h"
#include "formats/model/profile.h"
#include "formats/model/svs.h"
#include "formats/model/totals.h"
#include "formats/base/strings.h"

#include <stdlib.h>

#define NOWHERE UINT32_MAX

/* Where an old node's cost goes. */
struct place {
    uint32_t node;       /* new node, before renumbering; NOWHERE = dropped */
    uint32_t file, line; /* the call site that stands for it, if `at_site` */
    bool at_site;        /* its lines are not its new node's */
    bool bare;           /* its lines are forgotten */
};

struct grown_line {
    uint32_t node;       /* new */
    uint32_t file, line; /* where it goes */
    uint32_t old;        /* index of the node line that it was */
};

struct growing {
    struct nytp_profile *profile;
    struct nytp_plan *plan;
    struct place *places; /* per old node */
    bool *alive;          /* per old node: it or something below it keeps cost */
    struct nytp_node *nodes;
    uint32_t n_nodes;
    struct grown_line *lines;
    uint32_t n_lines;
    struct nytp_table by_call;
    uint32_t *number;  /* per new node: its place in depth-first order */
    uint32_t *root_of; /* per process: new node */
    bool dropped;
};

static uint32_t new_sub(const struct growing *g, uint32_t old)
{
    const struct nytp_plan *const plan = g->plan;
    const uint32_t sub = g->profile->nodes[old].sub;
    return plan->sub_of_node != NULL ? plan->sub_of_node[old]
           : plan->sub_of != NULL    ? plan->sub_of[sub]
                                     : sub;
}

static uint32_t new_file(const struct growing *g, uint32_t file)
{
    return g->plan->file_of != NULL ? g->plan->file_of[file] : file;
}

static bool is_dropped(const struct growing *g, uint32_t old)
{
    return g->plan->action[old] == NYTP_DROP || g->plan->drop[old];
}

static void find_alive(struct growing *g)
{
    const struct nytp_node *nodes = g->profile->nodes;
    for (uint32_t i = g->profile->n_nodes; i-- > 0;) {
        const bool stays = !is_dropped(g, i);
        g->dropped |= !stays;
        g->alive[i] |= stays;
        if (g->alive[i])
            g->alive[nodes[i].parent] = true;
    }
}

static uint32_t add_node(struct growing *g, const struct nytp_node *node)
{
    g->nodes[g->n_nodes] = *node;
    return g->n_nodes++;
}

/* The child of new node `parent`, made if need be; NOWHERE when memory is out. */
static uint32_t child_of(struct growing *g, uint32_t parent, uint32_t sub, uint32_t file,
                         uint32_t line, uint32_t flags)
{
    const struct nytp_key key = {
        .a = parent,
        .b = sub << 1 | ((flags & NYTP_NODE_UNRETURNED) != 0),
        .c = file,
        .d = line,
    };
    uint32_t node = nytp_table_get(&g->by_call, key);
    if (node != NYTP_TABLE_NONE)
        return node;
    node = add_node(
        g, &(struct nytp_node){
               .parent = parent, .sub = sub, .file = file, .line = line, .flags = flags});
    return nytp_table_put(&g->by_call, key, node) ? node : NOWHERE;
}

static bool place_root(struct growing *g, uint32_t old)
{
    const struct nytp_node *from = &g->profile->nodes[old];
    struct nytp_node root = {.sub = new_sub(g, old),
                             .flags = from->flags,
                             .calls = is_dropped(g, old) ? 0 : from->calls};
    root.parent = g->n_nodes;
    g->places[old] = (struct place){.node = add_node(g, &root)};
    return true;
}

/* Call site of an old node as seen from the new parent. */
static void call_site(const struct growing *g, uint32_t old, uint32_t *file, uint32_t *line)
{
    const struct nytp_node *from = &g->profile->nodes[old];
    const struct place *parent = &g->places[from->parent];
    *file = parent->at_site ? parent->file : new_file(g, from->file);
    *line = parent->at_site ? parent->line : from->line;
}

/* Put an old node into the new tree: as a child, or as part of the node that stands for its
 * caller. */
static bool place_child(struct growing *g, uint32_t old)
{
    const struct nytp_node *from = &g->profile->nodes[old];
    const enum nytp_rewrite_action action = (enum nytp_rewrite_action)g->plan->action[old];
    const struct place parent = g->places[from->parent];
    struct place *place = &g->places[old];
    *place = parent;
    const uint64_t calls = is_dropped(g, old) ? 0 : from->calls;
    if (action == NYTP_PRUNE_BELOW || action == NYTP_MERGE_INTO_CALLER) {
        g->nodes[place->node].calls += action == NYTP_MERGE_INTO_CALLER ? calls : 0;
        return true;
    }
    call_site(g, old, &place->file, &place->line);
    if (action == NYTP_DROP)
        place->file = place->line = 0;
    if (action == NYTP_DROP || action == NYTP_HIDE) {
        place->at_site = true;
        return true;
    }
    const uint32_t sub = action == NYTP_PRUNE ? g->plan->pruned_sub : new_sub(g, old);
    place->at_site = false;
    place->bare = action == NYTP_PRUNE;
    place->node = child_of(g, parent.node, sub, place->file, place->line, from->flags);
    if (place->node == NOWHERE)
        return false;
    g->nodes[place->node].calls += calls;
    return true;
}

static void move_cost(struct growing *g, uint32_t old)
{
    const struct nytp_node *from = &g->profile->nodes[old];
    const struct place *place = &g->places[old];
    g->nodes[place->node].excl_ticks += from->excl_ticks;
    for (uint32_t i = 0; i < from->n_node_lines; i++) {
        struct grown_line *line = &g->lines[g->n_lines++];
        line->node = place->node;
        line->old = from->first_node_line + i;
        if (place->at_site) {
            line->file = place->file;
            line->line = place->line;
        } else if (place->bare) {
            line->file = line->line = 0;
        } else {
            line->file = new_file(g, g->profile->node_lines[line->old].file);
            line->line = g->profile->node_lines[line->old].line;
        }
    }
}

static bool grow_tree(struct growing *g)
{
    const struct nytp_profile *profile = g->profile;
    for (uint32_t i = 0; i < profile->n_nodes; i++) {
        const bool is_root = profile->nodes[i].parent == i;
        g->places[i].node = NOWHERE;
        if (!g->alive[i] && !is_root)
            continue;
        if (!(is_root ? place_root(g, i) : place_child(g, i)))
            return false;
        if (!is_dropped(g, i))
            move_cost(g, i);
    }
    for (uint32_t i = 0; i < profile->n_processes; i++)
        g->root_of[i] = g->places[profile->processes[i].root].node;
    return true;
}

/* ---- depth-first order ---- */

/* A new node with what sorts it among its siblings. */
struct sibling {
    uint32_t parent, sub, file, line, flags, node;
};

static int by_call(const void *x, const void *y)
{
    const struct sibling *a = x, *b = y;
    NYTP_RETURN_ORDER(a->parent, b->parent);
    NYTP_RETURN_ORDER(a->sub, b->sub);
    NYTP_RETURN_ORDER(a->file, b->file);
    NYTP_RETURN_ORDER(a->line, b->line);
    NYTP_RETURN_ORDER(a->flags, b->flags);
    return nytp_compare_u64(a->node, b->node);
}

/* Write the numbers of all nodes below each root; `first` holds where a node's children begin
 * in the sorted list, with one entry more than there are nodes. */
static void number_depth_first(struct growing *g, const struct sibling *siblings,
                               const uint32_t *first, uint32_t *stack)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < g->profile->n_processes; i++) {
        uint32_t n_stack = 0;
        stack[n_stack++] = g->root_of[i];
        while (n_stack > 0) {
            const uint32_t node = stack[--n_stack];
            g->number[node] = next++;
            for (uint32_t c = first[node + 1]; c-- > first[node];)
                stack[n_stack++] = siblings[c].node;
        }
    }
}

/* Number the new nodes depth first, siblings in their order. */
static bool number_nodes(struct growing *g)
{
    const size_t n = (size_t)g->n_nodes + 2;
    struct sibling *siblings = malloc(n * sizeof *siblings);
    uint32_t *first = calloc(n, sizeof *first);
    uint32_t *stack = malloc(n * sizeof *stack);
    const bool ok = siblings != NULL && first != NULL && stack != NULL;
    if (ok) {
        uint32_t n_siblings = 0;
        for (uint32_t i = 0; i < g->n_nodes; i++) {
            const struct nytp_node *node = &g->nodes[i];
            if (node->parent == i)
                continue;
            first[node->parent + 1]++;
            siblings[n_siblings++] = (struct sibling){node->parent, node->sub,   node->file,
                                                      node->line,   node->flags, i};
        }
        for (uint32_t i = 0; i < g->n_nodes; i++)
            first[i + 1] += first[i];
        qsort(siblings, n_siblings, sizeof *siblings, by_call);
        number_depth_first(g, siblings, first, stack);
    }
    free(siblings);
    free(first);
    free(stack);
    return ok;
}

static bool assign_nodes(struct growing *g)
{
    struct nytp_profile *profile = g->profile;
    struct nytp_node *nodes = malloc(((size_t)g->n_nodes + 1) * sizeof *nodes);
    if (nodes == NULL)
        return false;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        struct nytp_node *node = &nodes[g->number[i]];
        *node = g->nodes[i];
        node->parent = g->number[node->parent];
        node->first_node_line = node->n_node_lines = 0;
    }
    free(profile->nodes);
    profile->nodes = nodes;
    profile->n_nodes = g->n_nodes;
    for (uint32_t i = 0; i < profile->n_processes; i++)
        profile->processes[i].root = g->number[g->root_of[i]];
    return true;
}

/* Siblings have ascending numbers, so filling in order of number sorts the children. */
static bool assign_children(struct nytp_profile *profile)
{
    uint32_t *children = malloc(((size_t)profile->n_nodes + 1) * sizeof *children);
    if (children == NULL)
        return false;
    for (uint32_t i = 0; i < profile->n_nodes; i++) {
        struct nytp_node *node = &profile->nodes[i];
        node->depth = 0;
        node->n_children = 0;
        if (node->parent == i)
            continue;
        node->depth = profile->nodes[node->parent].depth + 1;
        profile->nodes[node->parent].n_children++;
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < profile->n_nodes; i++) {
        profile->nodes[i].first_child = first;
        first += profile->nodes[i].n_children;
        profile->nodes[i].n_children = 0;
    }
    for (uint32_t i = 0; i < profile->n_nodes; i++) {
        struct nytp_node *parent = &profile->nodes[profile->nodes[i].parent];
        if (profile->nodes[i].parent != i)
            children[parent->first_child + parent->n_children++] = i;
    }
    free(profile->children);
    profile->children = children;
    profile->n_children = first;
    return true;
}

/* ---- lines and spans ---- */

static int by_node_place(const void *x, const void *y)
{
    const struct grown_line *a = x, *b = y;
    NYTP_RETURN_ORDER(a->node, b->node);
    NYTP_RETURN_ORDER(a->file, b->file);
    return nytp_compare_u64(a->line, b->line);
}

static bool assign_lines(struct growing *g)
{
    struct nytp_profile *profile = g->profile;
    struct nytp_node_line *lines = malloc(((size_t)g->n_lines + 1) * sizeof *lines);
    struct nytp_svs *svs = NULL;
    if (profile->node_line_svs != NULL)
        svs = calloc((size_t)g->n_lines + 1, sizeof *svs);
    if (lines == NULL || (svs == NULL && profile->node_line_svs != NULL)) {
        free(lines);
        return false;
    }
    for (uint32_t i = 0; i < g->n_lines; i++)
        g->lines[i].node = g->number[g->lines[i].node];
    qsort(g->lines, g->n_lines, sizeof *g->lines, by_node_place);
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_lines; i++) {
        const struct grown_line *from = &g->lines[i];
        const struct nytp_node_line *old = &profile->node_lines[from->old];
        if (i > 0 && by_node_place(from - 1, from) == 0) {
            lines[n - 1].ticks += old->ticks;
            lines[n - 1].statements += old->statements;
            lines[n - 1].cpu_ticks += old->cpu_ticks;
        } else {
            struct nytp_node *node = &profile->nodes[from->node];
            if (node->n_node_lines++ == 0)
                node->first_node_line = n;
            lines[n] = *old;
            lines[n].file = from->file;
            lines[n++].line = from->line;
        }
        if (svs != NULL)
            nytp_svs_add(&svs[n - 1], profile->node_line_svs[from->old]);
    }
    free(profile->node_lines);
    free(profile->node_line_svs);
    profile->node_lines = lines;
    profile->node_line_svs = svs;
    profile->n_node_lines = n;
    return true;
}

/* A call that goes, or loses its name, may be one that statements are counted by. */
static void note_lost_span(struct growing *g, uint32_t old)
{
    struct nytp_profile *const profile = g->profile;
    if ((profile->lost & NYTP_LOST_CALLS) == 0 &&
        nytp_is_of_database(profile->subs[new_sub(g, old)].name))
        profile->lost |= NYTP_LOST_CALLS;
}

/* A span stays with a node that stays: then the spans above it still enclose it. */
static void assign_spans(struct growing *g)
{
    struct nytp_profile *profile = g->profile;
    uint32_t n = 0;
    for (uint32_t i = 0; i < profile->n_spans; i++) {
        const uint32_t old = profile->spans[i].node;
        const uint8_t action = g->plan->action[old];
        if (g->dropped || action != NYTP_KEEP)
            note_lost_span(g, old);
        if (g->dropped || (action != NYTP_KEEP && action != NYTP_PRUNE))
            continue;
        profile->spans[n] = profile->spans[i];
        profile->spans[n++].node = g->number[g->places[old].node];
    }
    profile->n_spans = n;
    if (g->dropped)
        profile->n_stretches = profile->n_memory_points = 0;
}

/* Moves the facts about places that are not in the tree to the new files. */
static void assign_places(struct growing *g)
{
    if (g->dropped)
        nytp_profile_lose_time(g->profile);
    for (uint32_t i = 0; i < g->profile->n_regexes; i++)
        g->profile->regexes[i].file = new_file(g, g->profile->regexes[i].file);
    for (uint32_t i = 0; i < g->profile->n_waited; i++)
        g->profile->waited[i].file = new_file(g, g->profile->waited[i].file);
}

/* Frames that go, whoever calls them. */
static void note_lost_subs(struct growing *g)
{
    for (uint32_t i = 0; i < g->profile->n_nodes; i++) {
        const uint8_t action = g->plan->action[i];
        if (action == NYTP_HIDE || action == NYTP_PRUNE || action == NYTP_PRUNE_BELOW)
            g->profile->subs[new_sub(g, i)].is_lost = true;
    }
}

static bool make_tree_anew(struct growing *g)
{
    find_alive(g);
    if (!grow_tree(g) ||
        (g->number = malloc(((size_t)g->n_nodes + 1) * sizeof *g->number)) == NULL ||
        !number_nodes(g))
        return false;
    assign_spans(g);
    assign_places(g);
    nytp_arcs_before_renumber(&g->plan->before, g->plan->sub_of, g->plan->file_of);
    note_lost_subs(g);
    const bool ok = assign_nodes(g) && assign_children(g->profile) && assign_lines(g) &&
                    nytp_profile_rebuild(g->profile, &g->plan->before);
    for (uint32_t i = 0; ok && i < g->profile->n_subs; i++)
        g->profile->subs[i].is_lost &= g->profile->subs[i].calls == 0;
    return ok;
}

static bool rewrite(struct nytp_plan *plan, struct nytp_error *error)
{
    const struct nytp_profile *const profile = plan->profile;
    const size_t n = (size_t)profile->n_nodes + 1;
    struct growing g = {
        .profile = plan->profile,
        .plan = plan,
        .places = calloc(n, sizeof *g.places),
        .alive = calloc(n, sizeof *g.alive),
        .nodes = malloc(n * sizeof *g.nodes),
        .lines = malloc(((size_t)profile->n_node_lines + 1) * sizeof *g.lines),
        .root_of = calloc((size_t)profile->n_processes + 1, sizeof *g.root_of),
    };
    const bool ok = g.places != NULL && g.alive != NULL && g.nodes != NULL && g.lines != NULL &&
                    g.root_of != NULL && make_tree_anew(&g);
    nytp_table_free(&g.by_call);
    free(g.places);
    free(g.alive);
    free(g.nodes);
    free(g.lines);
    free(g.root_of);
    free(g.number);
    if (!ok)
        nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory: tree of %lu nodes",
                       (unsigned long)profile->n_nodes);
    return ok;
}

/* ---- plans ---- */

bool nytp_plan_begin(struct nytp_plan *plan, struct nytp_profile *profile)
{
    *plan = (struct nytp_plan){
        .profile = profile,
        .action = calloc((size_t)profile->n_nodes + 1, sizeof *plan->action),
        .drop = calloc((size_t)profile->n_nodes + 1, sizeof *plan->drop),
    };
    return plan->action != NULL && plan->drop != NULL &&
           nytp_arcs_before_init(&plan->before, profile);
}

void nytp_plan_action(struct nytp_plan *plan, uint32_t node, enum nytp_rewrite_action action)
{
    plan->action[node] = (uint8_t)action;
    plan->changes |= action != NYTP_KEEP;
}

void nytp_plan_drop(struct nytp_plan *plan, uint32_t node)
{
    plan->drop[node] = true;
    plan->changes = true;
}

bool nytp_plan_end(struct nytp_plan *plan, bool planned, struct nytp_error *error)
{
    bool ok = planned;
    if (!planned)
        nytp_out_of_memory(error);
    else if (plan->changes)
        ok = rewrite(plan, error);
    nytp_arcs_before_free(&plan->before);
    free(plan->action);
    free(plan->drop);
    return ok;
}
