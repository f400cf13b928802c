/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What a sampled stream tells in comments: "cpu N" before a time record, of whose time N ticks
 * were processor time (if it is the first of several that are one sample, of all of them).
 * Without it all of it was.
 */
#ifndef NYTP_SAMPLE_RECORDS_H
#define NYTP_SAMPLE_RECORDS_H

#include "formats/stream/event.h"

#include <string.h>

#define NYTP_SAMPLE_CPU_HEAD "cpu"

/* The ticks; -1: the comment tells something else. */
static inline int64_t nytp_sample_cpu_read(const struct nytp_str *comment)
{
    const size_t head = sizeof NYTP_SAMPLE_CPU_HEAD; /* with the blank */
    if (comment->len <= head || comment->len > head + 18 ||
        memcmp(comment->ptr, NYTP_SAMPLE_CPU_HEAD " ", head) != 0)
        return -1;
    int64_t ticks = 0;
    for (const char *at = comment->ptr + head; at < comment->ptr + comment->len; at++) {
        if (*at == '\n')
            break;
        if (*at < '0' || *at > '9')
            return -1;
        ticks = ticks * 10 + (*at - '0');
    }
    return ticks;
}

#endif
