/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Massif's output, as read by ms_print and massif-visualizer (Valgrind's manual, "Massif";
 * massif/ms_main.c writes the format). It has snapshots of a process's memory in the order of
 * time. The last one, and the one with most in use, have a tree of who allocated it.
 *
 * With samples of bytes (memory=BYTES) the heap is the sampled memory in use. Without, it is
 * the process's memory in core, and there is no tree. The format holds one process: the one
 * with most memory. Like Massif's, the tree goes from the allocating frame up to its callers,
 * at most 30 deep; entries below 1 % are one leaf.
 */
#include "exporters/base/text.h"
#include "exporters/select/one_process.h"
#include "exporters/stacks/stacktree.h"

#include "formats/model/profile.h"

#include <stdlib.h>

enum {
    MOST_SNAPSHOTS = 100, /* and the last one */
    MOST_DEPTH = 30,
    LEAST_PERCENT = 1,
};

struct massif {
    const struct nytp_profile *profile;
    struct nytp_out *out;
    const struct nytp_memory_point *points; /* of the process; n */
    uint32_t process, n;
    bool has_bytes;
    const struct nytp_stacktree *at_peak; /* NULL: the end is the peak */
    const struct nytp_stacktree *tree;    /* the current one */
    struct nytp_scale scale;              /* to milliseconds */
    int64_t total;                        /* bytes of all the tree's stacks */
    uint64_t n_snapshots;
};

static int64_t bytes_at(const struct massif *m, const struct nytp_memory_point *point)
{
    return m->has_bytes ? point->in_use : point->resident;
}

/* Chooses the process with the highest peak; the first of several. */
static void choose_process(struct massif *m)
{
    const struct nytp_profile *const profile = m->profile;
    int64_t most = -1;
    for (uint32_t i = 0; i < profile->n_memory_points; i++)
        if (bytes_at(m, &profile->memory_points[i]) > most) {
            most = bytes_at(m, &profile->memory_points[i]);
            m->process = profile->memory_points[i].process;
        }
    const struct nytp_slice of = nytp_memory_points_of(profile, m->process, 1);
    m->n = of.n;
    m->points = m->n > 0 ? &profile->memory_points[of.first] : NULL;
}

/* ms_print takes # as the start of a comment. */
static void put_name(struct nytp_out *out, struct nytp_name name)
{
    for (uint32_t i = 0; i < name.len; i++) {
        const unsigned char c = (unsigned char)name.ptr[i];
        nytp_putc(out, c < ' ' || c == 0x7f || c == '#' ? '?' : (char)c);
    }
}

/* ---- the tree ---- */

/* A stack, and how far up it is already in the tree. */
struct item {
    const struct nytp_stack *at; /* depth 0: all of it is */
    int64_t bytes;
};

/* Items with the same frame. */
struct group {
    uint32_t from, to, frame;
    int64_t bytes;
};

static int by_frame(const void *x, const void *y)
{
    const struct item *a = x, *b = y;
    const uint32_t frame_a = a->at->depth > 0 ? a->at->frame : UINT32_MAX;
    const uint32_t frame_b = b->at->depth > 0 ? b->at->frame : UINT32_MAX;
    NYTP_RETURN_ORDER(frame_a, frame_b);
    return (a->at > b->at) - (a->at < b->at);
}

static int by_bytes(const void *x, const void *y)
{
    const struct group *a = x, *b = y;
    NYTP_RETURN_ORDER(b->bytes, a->bytes);
    return (a->frame > b->frame) - (a->frame < b->frame);
}

/* Sorts items by frame and groups those with one, largest first. Returns how many groups. */
static uint32_t make_groups(struct item *items, uint32_t from, uint32_t to,
                            struct group *groups)
{
    uint32_t n = 0;
    qsort(items + from, to - from, sizeof *items, by_frame);
    for (uint32_t i = from; i < to && items[i].at->depth > 0; i++) {
        if (n == 0 || groups[n - 1].frame != items[i].at->frame)
            groups[n++] = (struct group){.from = i, .frame = items[i].at->frame};
        groups[n - 1].to = i + 1;
        groups[n - 1].bytes += items[i].bytes;
    }
    qsort(groups, n, sizeof *groups, by_bytes);
    return n;
}

/* Viewers expect an address; this is the frame's number. */
static void put_frame(const struct massif *m, const struct group *group)
{
    const struct nytp_stack_frame *const frame = &m->tree->frames[group->frame];
    nytp_printf(m->out, "%lld 0x%X: ", (long long)group->bytes, (unsigned)group->frame + 1);
    put_name(m->out, m->profile->subs[frame->sub].name);
    if (frame->line > 0) {
        nytp_puts(m->out, " (");
        put_name(m->out, m->profile->files[frame->file].name);
        nytp_printf(m->out, ":%u)", (unsigned)frame->line);
    }
    nytp_putc(m->out, '\n');
}

/* Writes the callers that the items have in common, behind a node's "n" of children. The
 * recursion is as deep as the tree. */
static bool put_children(const struct massif *m, struct item *items, uint32_t from, uint32_t to,
                         const struct group *node, uint32_t depth)
{
    struct group *const groups = calloc((size_t)(to - from) + 1, sizeof *groups);
    if (groups == NULL)
        return false;
    const uint32_t n = depth < MOST_DEPTH ? make_groups(items, from, to, groups) : 0;
    uint32_t shown = 0;
    int64_t below = 0;
    while (shown < n && (double)groups[shown].bytes * 100 >= (double)m->total * LEAST_PERCENT)
        shown++;
    for (uint32_t i = shown; i < n; i++)
        below += groups[i].bytes;
    nytp_text_pad(m->out, depth);
    nytp_printf(m->out, "n%u: ", (unsigned)(shown + (shown < n)));
    if (node != NULL)
        put_frame(m, node);
    else
        nytp_printf(m->out, "%lld (heap allocation functions) malloc, by samples\n",
                    (long long)m->total);
    bool ok = true;
    for (uint32_t g = 0; g < shown && ok; g++) {
        for (uint32_t i = groups[g].from; i < groups[g].to; i++)
            items[i].at = &m->tree->stacks[items[i].at->parent];
        ok = put_children(m, items, groups[g].from, groups[g].to, &groups[g], depth + 1);
    }
    if (shown < n) {
        nytp_text_pad(m->out, depth + 1);
        nytp_printf(m->out, "n0: %lld in %u places, all below massif's threshold (%u.00%%)\n",
                    (long long)below, (unsigned)(n - shown), (unsigned)LEAST_PERCENT);
    }
    free(groups);
    return ok;
}

static int64_t total_of(const struct nytp_stacktree *tree)
{
    int64_t total = 0;
    for (uint32_t i = 0; i < tree->n_stacks; i++)
        total += tree->stacks[i].value;
    return total;
}

static bool put_tree(const struct massif *m)
{
    struct item *const items = malloc(((size_t)m->tree->n_stacks + 1) * sizeof *items);
    if (items == NULL)
        return false;
    uint32_t n = 0;
    for (uint32_t i = 1; i < m->tree->n_stacks; i++)
        if (m->tree->stacks[i].value > 0)
            items[n++] = (struct item){&m->tree->stacks[i], m->tree->stacks[i].value};
    const bool ok = put_children(m, items, 0, n, NULL, 0);
    free(items);
    return ok;
}

/* ---- snapshots ---- */

static void put_snapshot(struct massif *m, int64_t at_ticks, int64_t bytes, const char *tree)
{
    nytp_printf(m->out,
                "#-----------\nsnapshot=%llu\n#-----------\ntime=%lld\nmem_heap_B=%lld\n"
                "mem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
                (unsigned long long)m->n_snapshots++,
                (long long)nytp_scale_once(&m->scale, at_ticks), (long long)bytes, tree);
}

static bool put_detailed(struct massif *m, const struct nytp_stacktree *tree, int64_t at_ticks,
                         const char *kind)
{
    m->tree = tree;
    m->total = total_of(tree);
    put_snapshot(m, at_ticks, m->total, kind);
    return put_tree(m);
}

static bool put_peak(struct massif *m)
{
    const struct nytp_process *const process = &m->profile->processes[m->process];
    return put_detailed(m, m->at_peak, process->peak_ticks, "peak");
}

/* Writes the largest point of each step of time, and the peak at its place. The very last
 * point is written elsewhere. */
static bool put_snapshots(struct massif *m)
{
    const int64_t end = m->n > 0 ? m->points[m->n - 1].at_ticks + 1 : 1;
    const int64_t step = end / MOST_SNAPSHOTS + 1;
    const int64_t peak_ticks = m->profile->processes[m->process].peak_ticks;
    bool is_due = m->at_peak != NULL, ok = true;
    for (uint32_t i = 0, next; ok && i + 1 < m->n; i = next) {
        const struct nytp_memory_point *largest = &m->points[i];
        for (next = i + 1;
             next + 1 < m->n && m->points[next].at_ticks / step == m->points[i].at_ticks / step;
             next++)
            if (bytes_at(m, &m->points[next]) > bytes_at(m, largest))
                largest = &m->points[next];
        if (is_due && peak_ticks <= largest->at_ticks) {
            ok = put_peak(m);
            is_due = false;
            if (peak_ticks == largest->at_ticks)
                continue;
        }
        put_snapshot(m, largest->at_ticks, bytes_at(m, largest), "empty");
    }
    return ok && (!is_due || put_peak(m));
}

static void put_head(const struct massif *m)
{
    const struct nytp_profile *const profile = m->profile;
    const struct nytp_process *const process = &profile->processes[m->process];
    nytp_printf(m->out, "desc: nytp-export, %s, ",
                m->has_bytes ? "bytes in use by samples" : "memory in core");
    if (m->n > 0 || profile->n_processes == 1)
        nytp_printf(m->out, "pid %u", (unsigned)process->pid);
    if (profile->n_processes > 1)
        nytp_printf(m->out, "%s %u processes (--per-process)",
                    m->n > 0 ? ", the largest of" : "all", (unsigned)profile->n_processes);
    nytp_puts(m->out, m->n > 0 ? "\ncmd: " : ", the end alone: no curve is known\ncmd: ");
    put_name(m->out, nytp_text_program(&profile->recordings[process->recording]));
    nytp_puts(m->out, "\ntime_unit: ms\n");
}

static bool write_snapshots(struct massif *m, const struct nytp_stacktree *at_end)
{
    put_head(m);
    const struct nytp_memory_point *const last = m->n > 0 ? &m->points[m->n - 1] : NULL;
    const int64_t at_ticks = last != NULL ? last->at_ticks : 0;
    if (!put_snapshots(m))
        return false;
    if (m->has_bytes)
        return put_detailed(m, at_end, at_ticks, m->at_peak != NULL ? "detailed" : "peak");
    put_snapshot(m, at_ticks, last != NULL ? last->resident : 0, "empty");
    return true;
}

static bool write_trees(struct massif *m, const struct nytp_export_options *user,
                        const struct nytp_profile *profile)
{
    struct nytp_export_options options = *user;
    options.weight = NYTP_WEIGHT_INUSE_SPACE;
    options.lines = true;
    struct nytp_stacktree *const at_end =
        nytp_stacktree_new(profile, &options, NYTP_ALL_PROCESSES, false);
    options.weight = NYTP_WEIGHT_PEAK_SPACE;
    struct nytp_stacktree *const at_peak =
        nytp_stacktree_new(profile, &options, NYTP_ALL_PROCESSES, false);
    bool ok = at_end != NULL && at_peak != NULL;
    if (ok && m->n > 0 && total_of(at_peak) > total_of(at_end))
        m->at_peak = at_peak;
    ok = ok && write_snapshots(m, at_end);
    nytp_stacktree_free(at_end);
    nytp_stacktree_free(at_peak);
    return ok;
}

static bool write_massif(const struct nytp_profile *profile,
                         const struct nytp_export_options *user, struct nytp_out *out)
{
    struct massif m = {
        .profile = profile, .out = out, .has_bytes = (profile->has & NYTP_HAS_BYTES) != 0};
    choose_process(&m);
    nytp_scale_init(&m.scale, nytp_unit_find("ms"), profile->ticks_per_sec);
    struct nytp_profile *one = NULL;
    if (m.n > 0 && profile->n_processes > 1 &&
        (one = nytp_select_processes_once(profile, m.process, 1, &out->error)) == NULL)
        return false;
    if (!write_trees(&m, user, one != NULL ? one : profile))
        nytp_out_of_memory(&out->error);
    if (one != NULL)
        nytp_profile_free(one);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_massif = {
    .name = "massif",
    .title = "massif.out of a process's memory over time: ms_print, massif-visualizer",
    .suffixes = ".massif massif.out*",
    .viewer = "massif-visualizer",
    .no_diff = "it holds one run; use --pprof, or --flamegraph --weight=inuse_space",
    .write = write_massif,
};
