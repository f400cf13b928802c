/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Some processes of a profile as a profile; see one_process.h. Their nodes, the nodes' lines,
 * children and spans each lie in one piece, which is copied and numbered from 0.
 */
#include "one_process.h"

#include "formats/model/in_use.h"
#include "formats/model/profile.h"
#include "formats/model/totals.h"

#include <stdlib.h>
#include <string.h>

static void *copy_of(const void *array, size_t first, size_t n, size_t size)
{
    void *copy = malloc((n + 1) * size);
    if (copy != NULL && n > 0)
        memcpy(copy, (const char *)array + first * size, n * size);
    return copy;
}

#define COPY(array, first, n) copy_of((array), (first), (n), sizeof *(array))

/* The processes from `first` on, and their recordings. */
static void take_recordings(struct nytp_profile *some, const struct nytp_profile *profile,
                            uint32_t first)
{
    const struct nytp_process *last = &profile->processes[first + some->n_processes - 1];
    const uint32_t first_recording = profile->processes[first].recording;
    some->n_recordings = last->recording - first_recording + 1;
    some->partial = false;
    for (uint32_t i = 0; i < some->n_recordings; i++) {
        some->recordings[i].n_processes = 0;
        some->partial |= some->recordings[i].partial;
    }
    for (uint32_t i = 0; i < some->n_processes; i++) {
        struct nytp_process *process = &some->processes[i];
        process->recording -= first_recording;
        process->root -= profile->processes[first].root;
        if (some->recordings[process->recording].n_processes++ == 0)
            some->recordings[process->recording].first_process = i;
    }
    for (uint32_t i = 0; i < some->n_files; i++) {
        const uint32_t recording =
            some->files[i].recording - first_recording; /* what came before wraps */
        some->files[i].recording = recording < some->n_recordings ? recording : 0;
    }
}

static void take_nodes(struct nytp_profile *some, uint32_t first_node, uint32_t first_line,
                       uint32_t first_child)
{
    for (uint32_t i = 0; i < some->n_nodes; i++) {
        struct nytp_node *node = &some->nodes[i];
        node->parent -= first_node;
        node->first_child = node->n_children > 0 ? node->first_child - first_child : 0;
        node->first_node_line = node->n_node_lines > 0 ? node->first_node_line - first_line : 0;
    }
    for (uint32_t i = 0; i < some->n_children; i++)
        some->children[i] -= first_node;
}

/* The nodes of a process, their lines and children are each contiguous. */

static struct nytp_slice slice_lines(const struct nytp_profile *profile,
                                     struct nytp_slice nodes)
{
    struct nytp_slice lines = {0, 0};
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

static struct nytp_slice slice_children(const struct nytp_profile *profile,
                                        struct nytp_slice nodes)
{
    struct nytp_slice children = {0, 0};
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

/* The recordings' calls, as far as these processes made all of them or their trees tell. */
static bool take_arcs(struct nytp_profile *some, const struct nytp_arcs_before *calls,
                      uint32_t first_recording)
{
    struct nytp_arcs_before before;
    if (!nytp_arcs_before_of_recordings(&before, calls, first_recording, some->n_recordings))
        return false;
    const bool ok = nytp_profile_rebuild(some, &before);
    nytp_arcs_before_free(&before);
    return ok;
}

/* Spans are sorted by process. */
static struct nytp_slice slice_spans(const struct nytp_profile *profile,
                                     struct nytp_slice nodes)
{
    uint32_t low = 0, high = profile->n_spans;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (profile->spans[middle].node < nodes.first)
            low = middle + 1;
        else
            high = middle;
    }
    struct nytp_slice spans = {low, 0};
    while (low + spans.n < profile->n_spans &&
           profile->spans[low + spans.n].node < nodes.first + nodes.n)
        spans.n++;
    return spans;
}

static bool copy_processes(struct nytp_profile *some, const struct nytp_profile *profile,
                           const struct nytp_arcs_before *calls, uint32_t first, uint32_t n)
{
    const uint32_t root = profile->processes[first].root;
    const struct nytp_slice nodes = {root,
                                     nytp_process_nodes_end(profile, first + n - 1) - root};
    const uint32_t first_recording = profile->processes[first].recording;
    const uint32_t n_recordings =
        profile->processes[first + n - 1].recording - first_recording + 1;
    const struct nytp_slice lines = slice_lines(profile, nodes);
    const struct nytp_slice children = slice_children(profile, nodes);
    *some = *profile;
    some->strings = NULL;
    some->arena = NULL;
    some->line_costs = NULL;
    some->line_cost_svs = NULL;
    some->arcs = NULL;
    some->n_line_costs = some->n_arcs = 0;
    some->n_nodes = nodes.n;
    some->n_node_lines = lines.n;
    some->n_children = children.n;
    some->n_processes = n;
    some->recordings = COPY(profile->recordings, first_recording, n_recordings);
    some->processes = COPY(profile->processes, first, n);
    some->attributes = COPY(profile->attributes, 0, profile->n_attributes);
    some->options = COPY(profile->options, 0, profile->n_options);
    some->files = COPY(profile->files, 0, profile->n_files);
    some->sources = COPY(profile->sources, 0, profile->n_sources);
    some->blocks = COPY(profile->blocks, 0, profile->n_blocks);
    const struct nytp_slice regexes = nytp_regexes_of(profile, first, n);
    some->regexes = COPY(profile->regexes, regexes.first, regexes.n);
    some->n_regexes = regexes.n;
    for (uint32_t i = 0; some->regexes != NULL && i < regexes.n; i++)
        some->regexes[i].process -= first;
    const struct nytp_slice waited = nytp_waited_of(profile, first, n);
    some->waited = COPY(profile->waited, waited.first, waited.n);
    some->n_waited = waited.n;
    for (uint32_t i = 0; some->waited != NULL && i < waited.n; i++)
        some->waited[i].process -= first;
    some->subs = COPY(profile->subs, 0, profile->n_subs);
    some->nodes = COPY(profile->nodes, nodes.first, nodes.n);
    some->node_lines = COPY(profile->node_lines, lines.first, lines.n);
    if (profile->node_line_svs != NULL)
        some->node_line_svs = COPY(profile->node_line_svs, lines.first, lines.n);
    some->children = COPY(profile->children, children.first, children.n);
    const struct nytp_slice spans = slice_spans(profile, nodes);
    some->spans = COPY(profile->spans, spans.first, spans.n);
    some->n_spans = spans.n;
    const struct nytp_slice stretches = nytp_stretches_of(profile, first, n);
    some->stretches = COPY(profile->stretches, stretches.first, stretches.n);
    some->n_stretches = stretches.n;
    for (uint32_t i = 0; some->stretches != NULL && i < stretches.n; i++)
        some->stretches[i].process -= first;
    const struct nytp_slice points = nytp_memory_points_of(profile, first, n);
    some->memory_points = COPY(profile->memory_points, points.first, points.n);
    some->n_memory_points = points.n;
    for (uint32_t i = 0; some->memory_points != NULL && i < points.n; i++)
        some->memory_points[i].process -= first;
    if (some->recordings == NULL || some->processes == NULL || some->attributes == NULL ||
        some->options == NULL || some->files == NULL || some->sources == NULL ||
        some->blocks == NULL || some->regexes == NULL || some->waited == NULL ||
        some->subs == NULL || some->nodes == NULL || some->node_lines == NULL ||
        some->children == NULL || some->spans == NULL || some->stretches == NULL ||
        some->memory_points == NULL ||
        (profile->node_line_svs != NULL && some->node_line_svs == NULL))
        return false;
    take_recordings(some, profile, first);
    take_nodes(some, nodes.first, lines.first, children.first);
    for (uint32_t i = 0; i < spans.n; i++)
        some->spans[i].node -= nodes.first;
    return nytp_in_use_count_once(some) && take_arcs(some, calls, first_recording);
}

struct nytp_profile *nytp_select_processes(const struct nytp_profile *profile,
                                           const struct nytp_arcs_before *calls, uint32_t first,
                                           uint32_t n, struct nytp_error *error)
{
    struct nytp_profile *some = malloc(sizeof *some);
    if (some != NULL && copy_processes(some, profile, calls, first, n))
        return some;
    if (some != NULL)
        nytp_profile_free(some);
    nytp_out_of_memory(error);
    return NULL;
}

struct nytp_profile *nytp_select_processes_once(const struct nytp_profile *profile,
                                                uint32_t first, uint32_t n,
                                                struct nytp_error *error)
{
    struct nytp_arcs_before calls;
    if (!nytp_arcs_before_init(&calls, profile)) {
        nytp_out_of_memory(error);
        return NULL;
    }
    struct nytp_profile *const some = nytp_select_processes(profile, &calls, first, n, error);
    nytp_arcs_before_free(&calls);
    return some;
}
