/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Call graphs in the dot language of Graphviz: between packages, between all subs, and for each
 * file between its subs and those they deal with. See report.h.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#define NONE NYTP_REPORT_NONE

/* Somebody calls something. */
struct edge {
    struct nytp_name from, to;
    uint32_t from_file, to_file; /* NONE = unknown */
};

static int compare_edges(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;
    const int order = nytp_compare_names(a->from, b->from);
    return order != 0 ? order : nytp_compare_names(a->to, b->to);
}

static int by_name(const void *left, const void *right)
{
    return nytp_compare_names(*(const struct nytp_name *)left,
                              *(const struct nytp_name *)right);
}

/* Every pair of a caller and what it calls, sorted; a pair may be there more than once, with
 * other files. NULL when memory is out. */
static struct edge *all_edges(const struct nytp_report *report, uint32_t *n)
{
    const struct nytp_profile *profile = report->profile;
    struct edge *edges = malloc(((size_t)profile->n_arcs + 1) * sizeof *edges);
    *n = 0;
    for (uint32_t c = 0; edges != NULL && c < report->n_calls; c++) {
        const struct nytp_report_call *call = &report->calls[c];
        for (uint32_t i = 0; call->calls > 0 && i < call->n_callers; i++) {
            const uint32_t caller = report->callers[call->first_caller + i];
            edges[(*n)++] = (struct edge){
                .from = nytp_report_sub_name(report, caller),
                .to = nytp_report_sub_name(report, call->sub),
                .from_file = report->subs[caller].file,
                .to_file = report->subs[call->sub].file,
            };
        }
    }
    if (edges != NULL)
        qsort(edges, *n, sizeof *edges, compare_edges);
    return edges;
}

static void put_name(struct nytp_out *out, struct nytp_name name)
{
    nytp_html_dot(out, name.ptr, name.len);
}

static void put_edges(struct nytp_out *out, const struct edge *edges, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && compare_edges(&edges[i], &edges[i - 1]) == 0)
            continue;
        put_name(out, edges[i].from);
        nytp_puts(out, " -> ");
        put_name(out, edges[i].to);
        nytp_puts(out, ";\n");
    }
}

/* The subs that the edges join, package by package. `names` has room for two of each edge. */
static void put_clusters(struct nytp_out *out, const struct edge *edges, uint32_t n,
                         struct nytp_name *names)
{
    for (uint32_t i = 0; i < n; i++) {
        names[2 * i] = edges[i].from;
        names[2 * i + 1] = edges[i].to;
    }
    if (n > 0)
        qsort(names, 2 * (size_t)n, sizeof *names, by_name);
    for (uint32_t i = 0; i < 2 * n; i++) {
        const struct nytp_name package = nytp_package_of(names[i]);
        if (i > 0 && nytp_compare_names(names[i], names[i - 1]) == 0)
            continue;
        if (i == 0 || nytp_compare_names(package, nytp_package_of(names[i - 1])) != 0) {
            nytp_puts(out, i > 0 ? "}\nsubgraph cluster_" : "subgraph cluster_");
            nytp_put_u64(out, i);
            nytp_puts(out, " {\n\tlabel=");
            put_name(out, package);
            nytp_puts(out, ";\n");
        }
        nytp_putc(out, '\t');
        put_name(out, names[i]);
        nytp_puts(out, ";\n");
    }
    if (n > 0)
        nytp_puts(out, "}\n");
}

static void put_sub_graph(struct nytp_out *out, const struct edge *edges, uint32_t n,
                          struct nytp_name *names)
{
    nytp_puts(out, "digraph {\ngraph [overlap=false]\n");
    put_clusters(out, edges, n, names);
    put_edges(out, edges, n);
    nytp_puts(out, "}\n");
}

/* Changes the edges: packages take the place of subs. */
static void put_package_graph(struct nytp_out *out, struct edge *edges, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        edges[i].from = nytp_package_of(edges[i].from);
        edges[i].to = nytp_package_of(edges[i].to);
    }
    qsort(edges, n, sizeof *edges, compare_edges);
    nytp_puts(out, "digraph {\ngraph [overlap=false]\nnode [shape=doublecircle];\n");
    put_edges(out, edges, n);
    nytp_puts(out, "}\n");
}

static void put_file_graphs(struct nytp_report *report, const struct edge *edges, uint32_t n,
                            struct edge *some, struct nytp_name *names)
{
    for (uint32_t f = 0; f < report->profile->n_files; f++) {
        if (report->files[f].dot == NULL)
            continue;
        uint32_t n_some = 0;
        for (uint32_t i = 0; i < n; i++)
            if (edges[i].from_file == f || edges[i].to_file == f)
                some[n_some++] = edges[i];
        put_sub_graph(nytp_output_set_member(report->set, report->files[f].dot), some, n_some,
                      names);
    }
}

void nytp_report_dots(struct nytp_report *report)
{
    uint32_t n;
    struct edge *edges = all_edges(report, &n);
    struct edge *some = malloc(((size_t)n + 1) * sizeof *some);
    struct nytp_name *names = malloc((2 * (size_t)n + 1) * sizeof *names);
    struct nytp_out *out = nytp_output_set_member(report->set, "subs-callgraph.dot");
    if (edges != NULL && some != NULL && names != NULL) {
        put_sub_graph(out, edges, n, names);
        put_file_graphs(report, edges, n, some, names);
        put_package_graph(nytp_output_set_member(report->set, "packages-callgraph.dot"), edges,
                          n);
    } else {
        nytp_out_of_memory(&out->error);
    }
    free(edges);
    free(some);
    free(names);
}
