/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The tree of flame graphs: the model's calling-context tree without call sites. Calls of a
 * sub from several lines of its caller are one frame.
 */
#ifndef NYTP_FLAME_H
#define NYTP_FLAME_H

#include "report.h"

#include "exporters/stacks/process_stacks.h"

struct nytp_flame_frame {
    uint32_t parent; /* index, lower than this one; NONE for a root */
    uint32_t sub;    /* of the model; the first with its name */
    uint32_t depth;
    uint32_t n_small; /* children that are not listed */
    bool unreturned;
    bool listed; /* large enough; set by choose_frames() */
    uint64_t calls;
    int64_t own, width, small_width; /* ticks; the last of those children */
};

struct nytp_flame {
    struct nytp_report *report;
    struct nytp_process_stacks stacks; /* of all processes */
    struct nytp_flame_frame *frames;   /* by stack */
    uint32_t n;
    const uint32_t *order; /* all frames, depth first, children by name */
    uint32_t *name_ids;    /* by sub and unreturned: index in the script's list, or NONE */
    int64_t total;
};

/* Time and calls of a part of the program, such as a label, by frame of the whole tree. */
struct nytp_flame_part {
    int64_t *width;
    uint64_t *calls;
    int64_t total;
};

/* Sums up the nodes from `first` to before `end` of the stacks' profile, which may be another
 * one than the report's. Frames are then matched by name; a frame that the whole tree lacks
 * counts for its caller. Returns false if memory is out. Call nytp_flame_part_free() in either
 * case. */
bool nytp_flame_part_init(const struct nytp_flame *flame, const struct nytp_stacks *stacks,
                          uint32_t first, uint32_t end, struct nytp_flame_part *part);
void nytp_flame_part_free(struct nytp_flame_part *part);

/* Returns false if memory is out. Call nytp_flame_free() in either case. */
bool nytp_flame_init(struct nytp_report *report, struct nytp_flame *flame);
void nytp_flame_free(struct nytp_flame *flame);

/* Returns the first sub of that name, or NYTP_REPORT_NONE. */
uint32_t nytp_flame_sub_of_name(const struct nytp_profile *profile, struct nytp_name name);

#endif
