/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A profile made by hand for the exporters' tests: the test lists files, subs, contexts and
 * their lines, and what the model derives from contexts (totals, arcs, line costs) is derived
 * here in the plainest way. Contexts must come sorted as the model has them: parents first,
 * siblings by sub, file and line.
 */
#ifndef NYTP_TEST_FIXTURE_H
#define NYTP_TEST_FIXTURE_H

#include "exporters/base/exporter.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
    struct nytp_profile profile;
    struct nytp_recording recording;
    struct nytp_process process;
    struct nytp_file files[16];
    struct nytp_sub subs[16];
    struct nytp_node *nodes;
    struct nytp_node_line *node_lines;
    uint32_t *children;
    struct nytp_line_cost *line_costs;
    struct nytp_arc *arcs;
};

static inline struct nytp_name fixture_name(const char *text)
{
    return (struct nytp_name){.ptr = text, .len = (uint32_t)strlen(text)};
}

static inline void fixture_begin(struct fixture *f, uint32_t max_nodes)
{
    memset(f, 0, sizeof *f);
    f->nodes = calloc(max_nodes, sizeof *f->nodes);
    f->node_lines = calloc(2 * (size_t)max_nodes, sizeof *f->node_lines);
    f->children = calloc(max_nodes, sizeof *f->children);
    f->line_costs = calloc(2 * (size_t)max_nodes, sizeof *f->line_costs);
    f->arcs = calloc(max_nodes, sizeof *f->arcs);
    f->files[0].name = fixture_name("");
    f->profile.n_files = 1;
    f->recording.application = fixture_name("prog.pl");
    f->recording.perl_version = fixture_name("5.36.0");
    f->recording.path = fixture_name("nytprof.out");
    f->recording.n_processes = 1;
    f->process =
        (struct nytp_process){.pid = 77, .start_s = 1000, .end_s = 1001, .complete = true};
    f->profile.recordings = &f->recording;
    f->profile.processes = &f->process;
    f->profile.n_recordings = f->profile.n_processes = 1;
    f->profile.ticks_per_sec = 10000000;
    f->profile.has = NYTP_HAS_STATEMENTS | NYTP_HAS_ARCS | NYTP_HAS_CALLS | NYTP_HAS_ENTRIES;
}

static inline void fixture_free(struct fixture *f)
{
    free(f->nodes);
    free(f->node_lines);
    free(f->children);
    free(f->line_costs);
    free(f->arcs);
}

static inline uint32_t fixture_file(struct fixture *f, const char *name)
{
    f->files[f->profile.n_files].name = fixture_name(name);
    return f->profile.n_files++;
}

static inline uint32_t fixture_sub(struct fixture *f, struct nytp_name name, uint32_t file,
                                   uint32_t first_line, uint32_t last_line)
{
    f->subs[f->profile.n_subs] = (struct nytp_sub){
        .name = name, .file = file, .first_line = first_line, .last_line = last_line};
    return f->profile.n_subs++;
}

/* Its own lines must follow before the next context. */
static inline uint32_t fixture_node(struct fixture *f, uint32_t parent, uint32_t sub,
                                    uint32_t file, uint32_t line, uint64_t calls)
{
    const uint32_t n = f->profile.n_nodes++;
    f->nodes[n] = (struct nytp_node){
        .parent = parent,
        .sub = sub,
        .file = file,
        .line = line,
        .calls = calls,
        .depth = n == 0 ? 0 : f->nodes[parent].depth + 1,
        .first_node_line = f->profile.n_node_lines,
    };
    return n;
}

static inline void fixture_line(struct fixture *f, uint32_t file, uint32_t line, int64_t ticks,
                                uint64_t statements)
{
    struct nytp_node *node = &f->nodes[f->profile.n_nodes - 1];
    f->node_lines[f->profile.n_node_lines++] = (struct nytp_node_line){
        .file = file, .line = line, .ticks = ticks, .statements = statements};
    node->n_node_lines++;
    node->excl_ticks += ticks;
}

static inline bool fixture_is_nested(const struct fixture *f, uint32_t n)
{
    for (uint32_t up = n; f->nodes[up].parent != up;) {
        up = f->nodes[up].parent;
        if (f->nodes[up].sub == f->nodes[n].sub)
            return true;
    }
    return false;
}

static inline int fixture_compare_arcs(const void *left, const void *right)
{
    const struct nytp_arc *a = left, *b = right;
    const uint32_t keys[][2] = {{a->caller, b->caller},
                                {a->callee, b->callee},
                                {a->recording, b->recording},
                                {a->file, b->file},
                                {a->line, b->line}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static inline int fixture_compare_costs(const void *left, const void *right)
{
    const struct nytp_line_cost *a = left, *b = right;
    const uint32_t keys[][2] = {
        {a->sub, b->sub}, {a->recording, b->recording}, {a->file, b->file}, {a->line, b->line}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static inline void fixture_add_arc(struct fixture *f, uint32_t n)
{
    const struct nytp_node *node = &f->nodes[n];
    const struct nytp_arc key = {.caller = f->nodes[node->parent].sub,
                                 .callee = node->sub,
                                 .file = node->file,
                                 .line = node->line};
    uint32_t i = 0;
    while (i < f->profile.n_arcs && fixture_compare_arcs(&f->arcs[i], &key) != 0)
        i++;
    if (i == f->profile.n_arcs) {
        f->arcs[i] = key;
        f->profile.n_arcs++;
    }
    const bool nested = fixture_is_nested(f, n);
    f->arcs[i].calls += node->calls;
    f->arcs[i].excl_ticks += node->excl_ticks;
    *(nested ? &f->arcs[i].reci_ticks : &f->arcs[i].incl_ticks) += node->incl_ticks;
    *(nested ? &f->subs[node->sub].reci_ticks : &f->subs[node->sub].incl_ticks) +=
        node->incl_ticks;
}

static inline void fixture_add_costs(struct fixture *f, uint32_t n)
{
    const struct nytp_node *node = &f->nodes[n];
    struct nytp_sub *sub = &f->subs[node->sub];
    for (uint32_t l = 0; l < node->n_node_lines; l++) {
        const struct nytp_node_line *line = &f->node_lines[node->first_node_line + l];
        const struct nytp_line_cost key = {
            .sub = node->sub, .file = line->file, .line = line->line};
        uint32_t i = 0;
        while (i < f->profile.n_line_costs &&
               fixture_compare_costs(&f->line_costs[i], &key) != 0)
            i++;
        if (i == f->profile.n_line_costs) {
            f->line_costs[i] = key;
            f->profile.n_line_costs++;
        }
        f->line_costs[i].excl_ticks += line->ticks;
        f->line_costs[i].statements += line->statements;
        sub->statements += line->statements;
    }
    sub->excl_ticks += node->excl_ticks;
    sub->calls += node->calls;
}

static inline void fixture_add_children(struct fixture *f)
{
    for (uint32_t n = 0; n < f->profile.n_nodes; n++) {
        f->nodes[n].first_child = f->profile.n_children;
        for (uint32_t c = n + 1; c < f->profile.n_nodes; c++)
            if (f->nodes[c].parent == n)
                f->children[f->profile.n_children++] = c;
        f->nodes[n].n_children = f->profile.n_children - f->nodes[n].first_child;
    }
}

/* Everything is listed: derive the rest. The profile lives as long as the fixture. */
static inline const struct nytp_profile *fixture_finish(struct fixture *f)
{
    struct nytp_profile *p = &f->profile;
    for (uint32_t n = p->n_nodes; n-- > 0;) {
        f->nodes[n].incl_ticks += f->nodes[n].excl_ticks;
        if (n > 0)
            f->nodes[f->nodes[n].parent].incl_ticks += f->nodes[n].incl_ticks;
    }
    for (uint32_t n = 0; n < p->n_nodes; n++) {
        fixture_add_costs(f, n);
        if (n > 0)
            fixture_add_arc(f, n);
    }
    p->total_ticks = f->subs[0].incl_ticks = f->nodes[0].incl_ticks;
    for (uint32_t i = 0; i < p->n_node_lines; i++)
        p->total_statements += f->node_lines[i].statements;
    fixture_add_children(f);
    qsort(f->arcs, p->n_arcs, sizeof *f->arcs, fixture_compare_arcs);
    qsort(f->line_costs, p->n_line_costs, sizeof *f->line_costs, fixture_compare_costs);
    for (uint32_t i = p->n_arcs; i-- > 0;) {
        f->subs[f->arcs[i].caller].first_arc = i;
        f->subs[f->arcs[i].caller].n_arcs++;
    }
    for (uint32_t i = p->n_line_costs; i-- > 0;) {
        f->subs[f->line_costs[i].sub].first_line_cost = i;
        f->subs[f->line_costs[i].sub].n_line_costs++;
    }
    p->files = f->files;
    p->subs = f->subs;
    p->nodes = f->nodes;
    p->node_lines = f->node_lines;
    p->children = f->children;
    p->line_costs = f->line_costs;
    p->arcs = f->arcs;
    return p;
}

#endif
