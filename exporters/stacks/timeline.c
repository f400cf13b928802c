/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Turns spans into opening and closing events in order of time; see timeline.h. The spans come
 * sorted by start and nested, so the open ones lie on a stack, and the next event is either
 * the end of the innermost or the start of the next span.
 */
#include "timeline.h"

#include "formats/base/arena.h"
#include "formats/model/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nytp_timeline_begin(struct nytp_timeline *timeline, const struct nytp_profile *profile,
                         uint32_t process)
{
    const uint32_t first_node = profile->processes[process].root;
    *timeline = (struct nytp_timeline){
        .profile = profile,
        .root = first_node,
        .next = nytp_first_span(profile, first_node),
        .end = nytp_first_span(profile, nytp_process_nodes_end(profile, process)),
        .end_ticks = profile->nodes[first_node].incl_ticks,
    };
    for (uint32_t i = timeline->next; i < timeline->end; i++)
        if (profile->spans[i].end_ticks > timeline->end_ticks)
            timeline->end_ticks = profile->spans[i].end_ticks;
    if (timeline->end_ticks < 0)
        timeline->end_ticks = 0;
}

static bool set_event(struct nytp_timeline *t, bool opens, uint32_t node, int64_t at_ticks)
{
    t->opens = opens;
    t->node = node;
    if (at_ticks > t->at_ticks)
        t->at_ticks = at_ticks;
    t->n_open = opens ? t->n_open + 1 : t->n_open - 1;
    t->innermost = t->n_open < 2 ? t->root : t->profile->spans[t->open[t->n_open - 2]].node;
    return true;
}

static bool open_span(struct nytp_timeline *t, uint32_t index)
{
    /* open[0] is the first span inside of the root's */
    if (!nytp_grow(&t->open, &t->capacity, t->n_open - 1, sizeof *t->open)) {
        t->no_memory = true;
        return false;
    }
    t->open[t->n_open - 1] = index;
    t->next = index + 1;
    const struct nytp_span *span = &t->profile->spans[index];
    return set_event(t, true, span->node, span->start_ticks);
}

/* Returns whether a call of `node` can lie within one of `outer`: below it in the tree. */
static bool is_inside(const struct nytp_profile *profile, uint32_t node, uint32_t outer)
{
    const uint32_t depth = profile->nodes[outer].depth;
    if (profile->nodes[node].depth <= depth)
        return false;
    while (profile->nodes[node].depth > depth)
        node = profile->nodes[node].parent;
    return node == outer;
}

bool nytp_timeline_next(struct nytp_timeline *t)
{
    const struct nytp_profile *profile = t->profile;
    if (!t->begun) {
        t->begun = true;
        return set_event(t, true, t->root, 0);
    }
    if (t->n_open == 0)
        return false;

    while (t->next < t->end && profile->spans[t->next].node == t->root)
        t->next++;
    if (t->n_open > 1) {
        const struct nytp_span *last = &profile->spans[t->open[t->n_open - 2]];
        if (t->next == t->end || !is_inside(profile, profile->spans[t->next].node, last->node))
            return set_event(t, false, last->node, last->end_ticks);
    }
    if (t->next < t->end)
        return open_span(t, t->next);
    return set_event(t, false, t->root, t->end_ticks);
}

void nytp_timeline_end(struct nytp_timeline *timeline)
{
    free(timeline->open);
    *timeline = (struct nytp_timeline){0};
}

bool nytp_process_has_timeline(const struct nytp_profile *profile, uint32_t process)
{
    const struct nytp_recording *recording =
        &profile->recordings[profile->processes[process].recording];
    return profile->n_spans > 0 && (recording->has & NYTP_HAS_CALLS) != 0;
}

bool nytp_process_is_too_deep(const struct nytp_profile *profile, uint32_t process)
{
    const uint32_t end = nytp_process_nodes_end(profile, process);
    for (uint32_t i = profile->processes[process].root; i < end; i++)
        if (profile->nodes[i].depth > NYTP_MOST_DRAWN)
            return true;
    return false;
}

const char *nytp_timeline_remark(const struct nytp_profile *profile, uint32_t process,
                                 char *text, size_t size)
{
    const struct nytp_recording *recording =
        &profile->recordings[profile->processes[process].recording];
    text[0] = '\0';
    if (recording->spans_pruned > 0)
        snprintf(text, size, ", short calls (up to %.3g \xc2\xb5s) are in their callers",
                 (double)recording->pruned_span_ticks * 1e6 / (double)profile->ticks_per_sec);
    const size_t len = strlen(text);
    if (recording->stretches_left_out > 0)
        snprintf(text + len, size - len, ", %llu stretches of labels are left out",
                 (unsigned long long)recording->stretches_left_out);
    return text;
}

/* Farther apart, nanoseconds are no whole numbers for those who read JSON as doubles. */
#define FAR_US 8e12

double nytp_first_start_s(const struct nytp_profile *profile)
{
    double first_s = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++) {
        const double start_s = profile->processes[i].start_s;
        if (start_s > 0 && (first_s == 0 || start_s < first_s))
            first_s = start_s;
    }
    return first_s;
}

static double offset_us(const struct nytp_process *process, double first_start_s)
{
    return (process->start_s - first_start_s) * 1e6 + 0.5;
}

int64_t nytp_process_offset_ns(const struct nytp_process *process, double first_start_s)
{
    const double us = offset_us(process, first_start_s);
    return us > 0 && us < FAR_US ? (int64_t)us * 1000 : 0;
}

const char *nytp_process_offset_remark(const struct nytp_process *process, double first_start_s)
{
    return offset_us(process, first_start_s) < FAR_US
               ? ""
               : ", drawn at 0: it began more than 92 days after the first";
}
