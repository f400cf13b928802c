/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Numbers the frames that the JSON formats name, and writes their names; see frames.h.
 */
#include "frames.h"

#include "exporters/base/json.h"
#include "stacktree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool alloc_frames(struct nytp_frames *frames, const struct nytp_profile *profile)
{
    const size_t n = (size_t)profile->n_subs * 2;
    *frames = (struct nytp_frames){
        .frames = malloc((n + 1) * sizeof *frames->frames),
        .ids = calloc(n + 1, sizeof *frames->ids),
    };
    if (frames->frames != NULL && frames->ids != NULL)
        return true;
    nytp_frames_free(frames);
    return false;
}

/* Give numbers to those whose id is not 0. */
static void number_frames(struct nytp_frames *frames, const struct nytp_profile *profile)
{
    const size_t n = (size_t)profile->n_subs * 2;
    for (size_t i = 0; i < n; i++) {
        if (frames->ids[i] == 0)
            continue;
        frames->ids[i] = frames->n_frames;
        frames->frames[frames->n_frames++] =
            (struct nytp_named_frame){.sub = (uint32_t)(i / 2), .unreturned = i % 2 == 1};
    }
}

bool nytp_frames_init(struct nytp_frames *frames, const struct nytp_profile *profile,
                      uint32_t first_node, uint32_t end_node)
{
    if (!alloc_frames(frames, profile))
        return false;
    for (uint32_t i = first_node; i < end_node; i++) {
        const struct nytp_node *node = &profile->nodes[i];
        frames->ids[2 * node->sub + ((node->flags & NYTP_NODE_UNRETURNED) != 0)] = 1;
    }
    number_frames(frames, profile);
    return true;
}

bool nytp_frames_init_of_tree(struct nytp_frames *frames, const struct nytp_profile *profile,
                              const struct nytp_stacktree *tree)
{
    if (!alloc_frames(frames, profile))
        return false;
    for (uint32_t i = 0; i < tree->n_frames; i++)
        frames->ids[2 * tree->frames[i].sub + tree->frames[i].unreturned] = 1;
    number_frames(frames, profile);
    return true;
}

void nytp_frames_free(struct nytp_frames *frames)
{
    free(frames->frames);
    free(frames->ids);
    *frames = (struct nytp_frames){0};
}

/* Puts a JSON string of several pieces; the first may hold any bytes. */
static void json_joined(struct nytp_out *out, struct nytp_name first, const char *rest)
{
    const size_t rest_len = strlen(rest);
    char *joined = malloc(first.len + rest_len + 1);
    if (joined == NULL) {
        nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory for a name");
        return;
    }
    memcpy(joined, first.ptr, first.len);
    memcpy(joined + first.len, rest, rest_len);
    nytp_json_string(out, joined, first.len + rest_len);
    free(joined);
}

void nytp_frames_json_name(const struct nytp_profile *profile, struct nytp_named_frame frame,
                           struct nytp_out *out)
{
    const struct nytp_name name = profile->subs[frame.sub].name;
    if (frame.unreturned)
        json_joined(out, name, " " NYTP_UNRETURNED_MARK);
    else
        nytp_json_string(out, name.ptr, name.len);
}

static void put_process(const struct nytp_profile *profile, uint32_t process, const char *rest,
                        struct nytp_out *out)
{
    const struct nytp_recording *recording =
        &profile->recordings[profile->processes[process].recording];
    struct nytp_name label = nytp_without_folders(recording->application);
    if (label.len == 0)
        label = nytp_without_folders(recording->path);
    json_joined(out, label, rest);
}

void nytp_process_json_label(const struct nytp_profile *profile, uint32_t process,
                             const char *remark, struct nytp_out *out)
{
    const struct nytp_process *const p = &profile->processes[process];
    char rest[240], thread[32] = "";
    if (p->thread > 0)
        snprintf(thread, sizeof thread, ", thread %u", p->thread);
    snprintf(rest, sizeof rest, " (pid %u%s)%s", p->pid, thread, remark);
    put_process(profile, process, rest, out);
}

void nytp_process_json_name(const struct nytp_profile *profile, uint32_t process,
                            struct nytp_out *out)
{
    char rest[40];
    snprintf(rest, sizeof rest, " (pid %u)", profile->processes[process].pid);
    put_process(profile, process, rest, out);
}
