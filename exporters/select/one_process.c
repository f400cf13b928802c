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

/* Returns a copy of a slice. If memory is out, it is NULL, and *ok becomes false. */
static void *copy_of(bool *ok, const void *array, struct nytp_slice slice, size_t size)
{
    void *copy = malloc(((size_t)slice.n + 1) * size);
    *ok = *ok && copy != NULL;
    if (copy != NULL && slice.n > 0)
        memcpy(copy, (const char *)array + slice.first * size, slice.n * size);
    return copy;
}

#define COPY(ok, array, slice) copy_of((ok), (array), (slice), sizeof *(array))
#define COPY_ALL(ok, array, n) COPY(ok, array, ((struct nytp_slice){0, (n)}))

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
            some->files[i].recording - first_recording; /* an earlier one wraps around */
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

static void extend(struct nytp_slice *slice, uint32_t first, uint32_t n)
{
    if (n == 0)
        return;
    if (slice->n == 0)
        slice->first = first;
    slice->n = first + n - slice->first;
}

/* Copies nodes with their lines and children, each of which is contiguous. */
static void copy_nodes(struct nytp_profile *some, const struct nytp_profile *profile,
                       struct nytp_slice nodes, bool *ok)
{
    struct nytp_slice lines = {0, 0}, children = {0, 0};
    for (uint32_t i = nodes.first; i < nodes.first + nodes.n; i++) {
        const struct nytp_node *const node = &profile->nodes[i];
        extend(&lines, node->first_node_line, node->n_node_lines);
        extend(&children, node->first_child, node->n_children);
    }
    some->n_nodes = nodes.n;
    some->n_node_lines = lines.n;
    some->n_children = children.n;
    some->nodes = COPY(ok, profile->nodes, nodes);
    some->node_lines = COPY(ok, profile->node_lines, lines);
    if (profile->node_line_svs != NULL)
        some->node_line_svs = COPY(ok, profile->node_line_svs, lines);
    some->children = COPY(ok, profile->children, children);
    if (some->nodes != NULL && some->children != NULL)
        take_nodes(some, nodes.first, lines.first, children.first);
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

static void copy_spans(struct nytp_profile *some, const struct nytp_profile *profile,
                       struct nytp_slice nodes, bool *ok)
{
    const uint32_t first = nytp_first_span(profile, nodes.first);
    const struct nytp_slice spans = {first,
                                     nytp_first_span(profile, nodes.first + nodes.n) - first};
    some->spans = COPY(ok, profile->spans, spans);
    some->n_spans = spans.n;
    for (uint32_t i = 0; some->spans != NULL && i < spans.n; i++)
        some->spans[i].node -= nodes.first;
}

/* Copies the rows of processes in a list that is sorted by process. */
#define COPY_ROWS(rows, n_rows, slice)                                                         \
    do {                                                                                       \
        some->rows = COPY(ok, profile->rows, slice);                                           \
        some->n_rows = (slice).n;                                                              \
        for (uint32_t i = 0; some->rows != NULL && i < (slice).n; i++)                         \
            some->rows[i].process -= first;                                                    \
    } while (0)

static void copy_rows(struct nytp_profile *some, const struct nytp_profile *profile,
                      uint32_t first, uint32_t n, bool *ok)
{
    COPY_ROWS(regexes, n_regexes, nytp_regexes_of(profile, first, n));
    COPY_ROWS(waited, n_waited, nytp_waited_of(profile, first, n));
    COPY_ROWS(stretches, n_stretches, nytp_stretches_of(profile, first, n));
    COPY_ROWS(memory_points, n_memory_points, nytp_memory_points_of(profile, first, n));
}

static bool copy_processes(struct nytp_profile *some, const struct nytp_profile *profile,
                           const struct nytp_arcs_before *calls, uint32_t first, uint32_t n)
{
    const uint32_t root = profile->processes[first].root;
    const struct nytp_slice nodes = {root,
                                     nytp_process_nodes_end(profile, first + n - 1) - root};
    const uint32_t first_recording = profile->processes[first].recording;
    const struct nytp_slice recordings = {
        first_recording, profile->processes[first + n - 1].recording - first_recording + 1};
    bool ok = true;
    *some = *profile;
    some->strings = NULL;
    some->arena = NULL;
    some->line_costs = NULL;
    some->line_cost_svs = NULL;
    some->arcs = NULL;
    some->n_line_costs = some->n_arcs = 0;
    some->n_processes = n;
    some->recordings = COPY(&ok, profile->recordings, recordings);
    some->processes = COPY(&ok, profile->processes, ((struct nytp_slice){first, n}));
    some->attributes = COPY_ALL(&ok, profile->attributes, profile->n_attributes);
    some->options = COPY_ALL(&ok, profile->options, profile->n_options);
    some->files = COPY_ALL(&ok, profile->files, profile->n_files);
    some->sources = COPY_ALL(&ok, profile->sources, profile->n_sources);
    some->blocks = COPY_ALL(&ok, profile->blocks, profile->n_blocks);
    some->subs = COPY_ALL(&ok, profile->subs, profile->n_subs);
    copy_nodes(some, profile, nodes, &ok);
    copy_spans(some, profile, nodes, &ok);
    copy_rows(some, profile, first, n, &ok);
    if (!ok)
        return false;
    take_recordings(some, profile, first);
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
