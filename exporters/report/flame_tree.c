/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The tree of flame graphs; see flame_tree.h. stacks.h limits deep recursion.
 */
#include "flame_tree.h"

#include "formats/base/bisect.h"

#include <stdlib.h>

#define NONE NYTP_REPORT_NONE

#define SMALLEST_PART 20000  /* a frame is small below total / SMALLEST_PART */
#define MAX_FRAMES    100000 /* in the script's list */

/* Makes the frames of all stacks, with the calls and own time of their nodes. Parents come
 * first. */
static bool make_frames(struct nytp_flame *flame, const struct nytp_stacks *bounds)
{
    const struct nytp_profile *const profile = flame->report->profile;
    struct nytp_process_stacks *const stacks = &flame->stacks;
    stacks->by_name = true;
    if (!nytp_process_stacks_fill(stacks, profile, bounds, NYTP_ALL_PROCESSES))
        return false;
    flame->n = stacks->n;
    flame->order = stacks->order;
    flame->frames = malloc(((size_t)stacks->n + 1) * sizeof *flame->frames);
    for (uint32_t i = 0; flame->frames != NULL && i < stacks->n; i++) {
        const struct nytp_process_stack *const stack = &stacks->stacks[i];
        const bool is_root = stack->parent == i;
        flame->frames[i] = (struct nytp_flame_frame){
            .parent = is_root ? NONE : stack->parent,
            .sub = stack->sub,
            .depth = is_root ? 0 : flame->frames[stack->parent].depth + 1,
            .unreturned = stack->unreturned,
        };
    }
    for (uint32_t i = 0; flame->frames != NULL && i < profile->n_nodes; i++) {
        const struct nytp_node *const node = &profile->nodes[i];
        struct nytp_flame_frame *const frame = &flame->frames[stacks->stack_of_node[i]];
        frame->calls += nytp_stacks_kept(bounds, i) == i ? node->calls : 0;
        frame->own += node->excl_ticks > 0 ? node->excl_ticks : 0;
    }
    return flame->frames != NULL;
}

static void sum_widths(struct nytp_flame *flame)
{
    for (uint32_t i = 0; i < flame->n; i++)
        flame->frames[i].width = flame->frames[i].own;
    for (uint32_t i = flame->n; i-- > 0;) {
        const struct nytp_flame_frame *frame = &flame->frames[i];
        if (frame->parent != NONE)
            flame->frames[frame->parent].width += frame->width;
        else
            flame->total += frame->width;
    }
}

static int compare_widths(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a < b) - (a > b);
}

/* Lists frames above a least width. No frame is wider than its parent, so everything below an
 * unlisted frame is unlisted, too. */
static bool choose_frames(struct nytp_flame *flame)
{
    int64_t least = flame->total / SMALLEST_PART;
    least = least > 0 ? least : 1;
    if (flame->n > MAX_FRAMES) {
        int64_t *widths = malloc(flame->n * sizeof *widths);
        if (widths == NULL)
            return false;
        for (uint32_t i = 0; i < flame->n; i++)
            widths[i] = flame->frames[i].width;
        qsort(widths, flame->n, sizeof *widths, compare_widths);
        least = widths[MAX_FRAMES] >= least ? widths[MAX_FRAMES] + 1 : least;
        free(widths);
    }
    for (uint32_t i = 0; i < flame->n; i++) {
        struct nytp_flame_frame *frame = &flame->frames[i];
        frame->listed = frame->width >= least;
        if (frame->listed || frame->parent == NONE)
            continue;
        flame->frames[frame->parent].n_small++;
        flame->frames[frame->parent].small_width += frame->width;
    }
    return true;
}

void nytp_flame_free(struct nytp_flame *flame)
{
    free(flame->frames);
    free(flame->name_ids);
    nytp_process_stacks_free(&flame->stacks);
}

/* ---- parts ---- */

uint32_t nytp_flame_sub_of_name(const struct nytp_profile *profile, struct nytp_name name)
{
    uint32_t low = 1; /* the first is main::RUNTIME, out of order */
    if (profile->n_subs > 0 && nytp_compare_names(profile->subs[0].name, name) == 0)
        return 0;
    NYTP_BISECT(low, profile->n_subs, middle,
                nytp_compare_names(profile->subs[middle].name, name) < 0);
    return low < profile->n_subs && nytp_compare_names(profile->subs[low].name, name) == 0
               ? low
               : NONE;
}

/* Returns the frame of a kept node below its parent's frame. */
static uint32_t part_frame(const struct nytp_flame *flame, const struct nytp_profile *profile,
                           uint32_t node, uint32_t parent)
{
    const struct nytp_profile *const whole = flame->report->profile;
    const uint32_t sub = profile->nodes[node].sub;
    const bool unreturned = (profile->nodes[node].flags & NYTP_NODE_UNRETURNED) != 0;
    const struct nytp_key key = {
        .a = parent,
        .b = profile == whole ? nytp_first_of_name(whole, sub)
                              : nytp_flame_sub_of_name(whole, profile->subs[sub].name),
        .c = (uint32_t)unreturned << 31,
    };
    const uint32_t found = nytp_table_get(&flame->stacks.known, key);
    return found != NYTP_TABLE_NONE ? found : parent;
}

bool nytp_flame_part_init(const struct nytp_flame *flame, const struct nytp_stacks *stacks,
                          uint32_t first, uint32_t end, struct nytp_flame_part *part)
{
    const struct nytp_profile *const profile = stacks->profile;
    uint32_t *const frame_of = malloc(((size_t)end - first + 1) * sizeof *frame_of);
    *part = (struct nytp_flame_part){.width = calloc((size_t)flame->n + 1, sizeof(int64_t)),
                                     .calls = calloc((size_t)flame->n + 1, sizeof(uint64_t))};
    const bool ok = frame_of != NULL && part->width != NULL && part->calls != NULL;
    for (uint32_t i = first; ok && i < end; i++) {
        const uint32_t kept = nytp_stacks_kept(stacks, i);
        const uint32_t outer = kept == i ? nytp_stacks_outer(stacks, i) : kept;
        const uint32_t parent = outer == i ? NONE : frame_of[outer - first];
        const uint32_t frame = kept == i ? part_frame(flame, profile, i, parent) : parent;
        frame_of[i - first] = frame;
        if (frame == NONE)
            continue;
        part->calls[frame] += kept == i && frame != parent ? profile->nodes[i].calls : 0;
        part->width[frame] +=
            profile->nodes[i].excl_ticks > 0 ? profile->nodes[i].excl_ticks : 0;
    }
    for (uint32_t i = ok ? flame->n : 0; i-- > 0;)
        if (flame->frames[i].parent != NONE)
            part->width[flame->frames[i].parent] += part->width[i];
        else
            part->total += part->width[i];
    free(frame_of);
    return ok;
}

void nytp_flame_part_free(struct nytp_flame_part *part)
{
    free(part->width);
    free(part->calls);
}

bool nytp_flame_init(struct nytp_report *report, struct nytp_flame *flame)
{
    struct nytp_stacks stacks = {0};
    *flame = (struct nytp_flame){.report = report};
    bool ok = nytp_stacks_init(&stacks, report->profile, report->options) &&
              make_frames(flame, &stacks);
    if (ok) {
        sum_widths(flame);
        ok = choose_frames(flame);
    }
    nytp_stacks_free(&stacks);
    return ok;
}
