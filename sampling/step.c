/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The step from sample to sample; see step.h.
 */
#include "step.h"

#include "formats/stream/comments/sample_records.h"

#include <stdio.h>

enum {
    LONG_TICKS = 500000, /* a sample that long is not kept back from the disk */
    CPU_NOTE_SHARE = 16, /* processor time is told where it differs by one part in so many */
};

static void write_time(struct nytp_writer *writer, const struct nytp_last_sample *last)
{
    int64_t ticks = last->ticks;
    for (; ticks > INT32_MAX; ticks -= INT32_MAX) {
        nytp_write_time_at(writer, INT32_MAX, &last->place);
        nytp_write_discount(writer);
    }
    nytp_write_time_at(writer, (int32_t)ticks, &last->place);
}

/* Readers that do not know what the comment says skip it. */
static void write_cpu(struct nytp_writer *writer, const struct nytp_last_sample *last)
{
    char text[NYTP_WAIT_ROOM + 40];
    const int64_t wait = last->ticks - last->cpu_ticks;
    if ((wait < 0 ? -wait : wait) * CPU_NOTE_SHARE <= last->ticks)
        return;
    if (wait > 0 && last->wait[0] != '\0') {
        snprintf(text, sizeof text, NYTP_WAIT_HEAD " %s", last->wait);
        nytp_write_comment(writer, text);
    }
    snprintf(text, sizeof text, NYTP_SAMPLE_CPU_HEAD " %lld%s", (long long)last->cpu_ticks,
             last->is_ready ? " " NYTP_SAMPLE_CPU_READY : "");
    nytp_write_comment(writer, text);
}

void nytp_last_sample_put_if_long(struct nytp_writer *writer, struct nytp_last_sample *last)
{
    if (!last->is_there || last->ticks < LONG_TICKS)
        return;
    write_cpu(writer, last);
    write_time(writer, last);
    nytp_write_discount(writer);
    last->ticks = last->cpu_ticks = 0;
}

void nytp_last_sample_put(struct nytp_writer *writer, struct nytp_last_sample *last)
{
    if (!last->is_there)
        return;
    last->is_there = false;
    write_cpu(writer, last);
    if (last->is_alloc && last->ticks == 0)
        nytp_write_discount(writer); /* no statement was seen by a tick */
    write_time(writer, last);
}

void nytp_last_sample_next(struct nytp_writer *writer, struct nytp_last_sample *last,
                           const struct nytp_last_sample *next)
{
    if (!last->is_there) {
        nytp_write_discount(writer);
        nytp_write_time_at(writer, 0, &next->place);
    }
    nytp_last_sample_put(writer, last);
    *last = *next;
}

bool nytp_step(const struct nytp_steps *steps, void *walk, uint32_t n_open, uint32_t n_same,
               uint32_t n)
{
    const uint32_t most = n < n_open ? n : n_open;
    uint32_t same = n_same < most ? n_same : most;
    while (same < most && steps->is_open(walk, same))
        same++;
    for (uint32_t i = same; i < n_open; i++)
        steps->leave(walk);
    for (uint32_t i = same; i < n; i++)
        steps->enter(walk, i);
    return same < n_open || same < n;
}
