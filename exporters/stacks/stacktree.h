/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The calling-context tree as distinct stacks of frames: what the formats need that know
 * stacks but no call sites. The model tells contexts apart by call site; here those with equal
 * frames are one. Deep stacks are bounded as stacks.h says.
 */
#ifndef NYTP_STACKTREE_H
#define NYTP_STACKTREE_H

#include "exporters/base/exporter.h"
#include "stacks.h"

struct nytp_stack_frame {
    uint32_t sub;        /* of the profile; the first of its name with `by_name` */
    bool unreturned;     /* stands for calls that never returned */
    uint32_t file, line; /* where it was executing; 0,0 without option `lines` */
};

struct nytp_stack {
    uint32_t parent;                 /* index; the stack without the last frame */
    uint32_t frame;                  /* index; the last frame */
    uint32_t depth;                  /* frames in it */
    uint32_t first_entry, n_entries; /* private, of its list in `entries` */
    int64_t value; /* its own, by the chosen weight: ticks, calls or statements */
    int64_t base;  /* the same of the base's side; 0 unless two sides were given */
};

struct nytp_stack_entry { /* private */
    uint32_t parent, rank, stack;
    bool own;
};

/* A stack's own allocated memory, in bytes, at least 0. */
struct nytp_stack_bytes {
    int64_t allocated, in_use;
};

struct nytp_stacktree {
    struct nytp_stack_frame *frames;
    struct nytp_stack *stacks;      /* 0 = the empty stack; parents precede children */
    struct nytp_stack_bytes *bytes; /* by stack; NULL unless asked for */
    struct nytp_stack_entry *entries;
    uint32_t n_frames, n_stacks, n_entries;
    uint32_t max_depth; /* of all stacks */
};

/* The stacks of one process, or of NYTP_ALL_PROCESSES merged. Of the options it heeds `weight`,
 * `max_depth`, `collapse_recursion` and `lines`; with `lines` a frame carries the line of the
 * call, the last one the line of the statement. `by_name`: subs of the same name in different
 * files are one frame. Returns NULL if memory is out; nytp_stacktree_free() at the end. */
struct nytp_stacktree *nytp_stacktree_new(const struct nytp_profile *profile,
                                          const struct nytp_export_options *options,
                                          uint32_t process, bool by_name);

/* The same of one process by time, with `bytes`. */
struct nytp_stacktree *nytp_stacktree_new_with_bytes(const struct nytp_profile *profile,
                                                     const struct nytp_export_options *options,
                                                     uint32_t process);

/* Make several frames one: same[frame] is the frame that stands for it, itself or another.
 * Stacks that become equal are added up. To be called before nytp_stacktree_sort(). Returns
 * false if memory is out. */
bool nytp_stacktree_merge_frames(struct nytp_stacktree *tree, const uint32_t *same);

/* The stacks of two sides of a comparison (compare/diff.h). All processes are merged; the
 * values of those whose recording is of the base's side go to `base`, those of others to
 * `value`. With the option `normalize` the base's are made larger or smaller in proportion, so
 * that both sides have the same sum. */
struct nytp_stacktree *nytp_stacktree_of_sides(const struct nytp_profile *profile,
                                               const struct nytp_export_options *options,
                                               const uint8_t *side_of_recording);
void nytp_stacktree_free(struct nytp_stacktree *tree);

/* Fix the order in which the stacks are walked over. ranks[2 * frame] places the stack that
 * ends in `frame`, ranks[2 * frame + 1] all stacks that go on from it, among those with the
 * same beginning. NULL = in order of sub, line, the shorter stack first. Returns false if
 * memory is out. */
bool nytp_stacktree_sort(struct nytp_stacktree *tree, const uint32_t *ranks);

/* Visits each stack with a value, or a base's value, other than 0: depth first, in sorted
 * order. */
struct nytp_stack_walk {
    const struct nytp_stacktree *tree;
    const struct nytp_stack *stack; /* the one visited */
    uint32_t *path;                 /* its frames, outermost first; stack->depth of them */
    uint32_t *next_entry;           /* private, as is `listed` */
    uint32_t listed;
};

/* Needs a sorted tree. Returns false if memory is out. */
bool nytp_stack_walk_begin(struct nytp_stack_walk *walk, const struct nytp_stacktree *tree);
bool nytp_stack_walk_next(struct nytp_stack_walk *walk); /* false at the end */
void nytp_stack_walk_end(struct nytp_stack_walk *walk);

#endif
