/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * One process of a profile as a profile; see one_process.h. Its nodes, their lines, children
 * and spans each lie in one piece, which is copied and numbered from 0.
 */
#include "one_process.h"

#include "formats/model/arcs_before.h"
#include "formats/model/profile.h"
#include "formats/model/totals.h"

#include <stdlib.h>
#include <string.h>

static void *copy_of(const void *array, size_t n, size_t size)
{
    void *copy = malloc((n + 1) * size);
    if (copy != NULL && n > 0)
        memcpy(copy, array, n * size);
    return copy;
}

#define COPY(array, first, n) copy_of((array) + (first), (n), sizeof *(array))

/* The part of the process alone, as part 0. */
static void take_part(struct nytp_profile *one, const struct nytp_profile *profile,
                      const struct nytp_process *process)
{
    one->parts[0] = profile->parts[process->part];
    one->parts[0].first_process = 0;
    one->parts[0].n_processes = 1;
    one->n_parts = 1;
    one->partial = one->parts[0].partial;
    one->processes[0] = *process;
    one->processes[0].part = 0;
    one->processes[0].root = 0;
    one->n_processes = 1;
    for (uint32_t i = 0; i < one->n_files; i++)
        one->files[i].part = 0;
}

static void take_nodes(struct nytp_profile *one, uint32_t first_node, uint32_t first_line,
                       uint32_t first_child)
{
    for (uint32_t i = 0; i < one->n_nodes; i++) {
        struct nytp_node *node = &one->nodes[i];
        node->parent -= first_node;
        node->first_child = node->n_children > 0 ? node->first_child - first_child : 0;
        node->first_node_line = node->n_node_lines > 0 ? node->first_node_line - first_line : 0;
    }
    for (uint32_t i = 0; i < one->n_children; i++)
        one->children[i] -= first_node;
}

/* The nodes of a process, their lines and children are each contiguous. */
struct slice {
    uint32_t first, n;
};

static struct slice slice_lines(const struct nytp_profile *profile, struct slice nodes)
{
    struct slice lines = {0, 0};
    for (uint32_t i = nodes.first; i < nodes.first + nodes.n; i++) {
        const struct nytp_node *node = &profile->nodes[i];
        if (node->n_node_lines == 0)
            continue;
        if (lines.n == 0)
            lines.first = node->first_node_line;
        lines.n = node->first_node_line + node->n_node_lines - lines.first;
    }
    return lines;
}

static struct slice slice_children(const struct nytp_profile *profile, struct slice nodes)
{
    struct slice children = {0, 0};
    for (uint32_t i = nodes.first; i < nodes.first + nodes.n; i++) {
        const struct nytp_node *node = &profile->nodes[i];
        if (node->n_children == 0)
            continue;
        if (children.n == 0)
            children.first = node->first_child;
        children.n = node->first_child + node->n_children - children.first;
    }
    return children;
}

/* The part's calls, as far as this process made all of them or its tree tells. */
static bool take_arcs(struct nytp_profile *one, const struct nytp_profile *profile,
                      uint32_t part)
{
    struct nytp_arcs_before before;
    if (!nytp_arcs_before_init(&before, profile))
        return false;
    nytp_arcs_before_take_part(&before, part);
    const bool ok = nytp_profile_rebuild(one, &before);
    nytp_arcs_before_free(&before);
    return ok;
}

/* Spans are sorted by process. */
static struct slice slice_spans(const struct nytp_profile *profile, struct slice nodes)
{
    uint32_t low = 0, high = profile->n_spans;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (profile->spans[middle].node < nodes.first)
            low = middle + 1;
        else
            high = middle;
    }
    struct slice spans = {low, 0};
    while (low + spans.n < profile->n_spans &&
           profile->spans[low + spans.n].node < nodes.first + nodes.n)
        spans.n++;
    return spans;
}

static bool copy_process(struct nytp_profile *one, const struct nytp_profile *profile,
                         uint32_t process)
{
    const uint32_t root = profile->processes[process].root;
    const struct slice nodes = {root, nytp_process_nodes_end(profile, process) - root};
    const struct slice lines = slice_lines(profile, nodes);
    const struct slice children = slice_children(profile, nodes);
    *one = *profile;
    one->strings = NULL;
    one->arena = NULL;
    one->line_costs = NULL;
    one->arcs = NULL;
    one->n_line_costs = one->n_arcs = 0;
    one->n_nodes = nodes.n;
    one->n_node_lines = lines.n;
    one->n_children = children.n;
    one->parts = COPY(profile->parts, 0, 1);
    one->processes = COPY(profile->processes, 0, 1);
    one->attributes = COPY(profile->attributes, 0, profile->n_attributes);
    one->options = COPY(profile->options, 0, profile->n_options);
    one->files = COPY(profile->files, 0, profile->n_files);
    one->sources = COPY(profile->sources, 0, profile->n_sources);
    one->subs = COPY(profile->subs, 0, profile->n_subs);
    one->nodes = COPY(profile->nodes, nodes.first, nodes.n);
    one->node_lines = COPY(profile->node_lines, lines.first, lines.n);
    one->children = COPY(profile->children, children.first, children.n);
    const struct slice spans = slice_spans(profile, nodes);
    one->spans = COPY(profile->spans, spans.first, spans.n);
    one->n_spans = spans.n;
    if (one->parts == NULL || one->processes == NULL || one->attributes == NULL ||
        one->options == NULL || one->files == NULL || one->sources == NULL ||
        one->subs == NULL || one->nodes == NULL || one->node_lines == NULL ||
        one->children == NULL || one->spans == NULL)
        return false;
    take_part(one, profile, &profile->processes[process]);
    take_nodes(one, nodes.first, lines.first, children.first);
    for (uint32_t i = 0; i < spans.n; i++)
        one->spans[i].node -= nodes.first;
    return take_arcs(one, profile, profile->processes[process].part);
}

struct nytp_profile *nytp_select_process(const struct nytp_profile *profile, uint32_t process,
                                         struct nytp_error *error)
{
    struct nytp_profile *one = malloc(sizeof *one);
    if (one != NULL && copy_process(one, profile, process))
        return one;
    if (one != NULL)
        nytp_profile_free(one);
    nytp_error_set(error, NYTP_ERR_MEMORY, "out of memory");
    return NULL;
}
