/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The frames of the JSON formats, numbered: one per sub and, apart from it, one per sub with
 * calls that never returned (exec, _exit, a killed program), which viewers show with a mark.
 */
#ifndef NYTP_FRAMES_H
#define NYTP_FRAMES_H

#include "exporters/base/exporter.h"

#define NYTP_UNRETURNED_MARK "[unreturned]" /* set off by a blank; by '_' in collapsed */

struct nytp_named_frame {
    uint32_t sub;
    bool unreturned;
};

struct nytp_frames {
    struct nytp_named_frame *frames; /* those that occur in the nodes, in order of subs */
    uint32_t n_frames;
    uint32_t *ids; /* private: [2 * sub + unreturned] */
};

/* Number the frames of the nodes from `first_node` to before `end_node`. Returns false if
 * memory is out; nytp_frames_free() in either case. */
bool nytp_frames_init(struct nytp_frames *frames, const struct nytp_profile *profile,
                      uint32_t first_node, uint32_t end_node);
/* The same for a tree of stacks (stacktree.h). Where it has two sides, subs of one name are one
 * frame there, which the model's nodes do not know. Returns false if memory is out. */
struct nytp_stacktree;
bool nytp_frames_init_of_tree(struct nytp_frames *frames, const struct nytp_profile *profile,
                              const struct nytp_stacktree *tree);
void nytp_frames_free(struct nytp_frames *frames);

/* The number of a frame, an index of `frames`; for one that occurs. */
static inline uint32_t nytp_frames_id(const struct nytp_frames *frames, uint32_t sub,
                                      bool unreturned)
{
    return frames->ids[2 * sub + (unreturned ? 1 : 0)];
}

static inline uint32_t nytp_frames_of_node(const struct nytp_frames *frames,
                                           const struct nytp_node *node)
{
    return nytp_frames_id(frames, node->sub, (node->flags & NYTP_NODE_UNRETURNED) != 0);
}

/* The frame's name as a JSON string. */
void nytp_frames_json_name(const struct nytp_profile *profile, struct nytp_named_frame frame,
                           struct nytp_out *out);

/* Writes a process's name as a JSON string: the name of its script or of the input, without
 * folders; its pid; the number of the thread; then `remark`. */
void nytp_process_json_label(const struct nytp_profile *profile, uint32_t process,
                             const char *remark, struct nytp_out *out);
/* The same of all threads of a process. */
void nytp_process_json_name(const struct nytp_profile *profile, uint32_t process,
                            struct nytp_out *out);

#endif
