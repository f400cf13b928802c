/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What a stream tells in comments of processor time. A sampled one: "cpu N" before a time
 * record, of whose time N ticks were processor time (if it is the first of several that are one
 * sample, of all of them); without it all of it was. "cpu N ready": and it never slept in that
 * time, but waited for a processor. Each: "nytp-processor N", so many nanoseconds the process
 * was on a processor, from its PID_START to here; "nytp-memory-start N" and "nytp-memory-peak
 * N", so many bytes of it were in core then, and at most; "nytp-memory N" now and then, so many
 * bytes are in core here.
 */
#ifndef NYTP_SAMPLE_RECORDS_H
#define NYTP_SAMPLE_RECORDS_H

#include "formats/stream/event.h"

#include <string.h>

#define NYTP_SAMPLE_CPU_HEAD     "cpu"
#define NYTP_SAMPLE_CPU_READY    " ready"
#define NYTP_PROCESSOR_TIME_HEAD "nytp-processor"
#define NYTP_MEMORY_NOW_HEAD     "nytp-memory"
#define NYTP_MEMORY_START_HEAD   "nytp-memory-start"
#define NYTP_MEMORY_PEAK_HEAD    "nytp-memory-peak"

/* The number behind the word and a blank; -1: the comment tells something else. */
static inline int64_t nytp_comment_number(const struct nytp_str *comment, const char *word)
{
    const size_t head = strlen(word) + 1;
    if (comment->len <= head || comment->len > head + 18 ||
        memcmp(comment->ptr, word, head - 1) != 0 || comment->ptr[head - 1] != ' ')
        return -1;
    int64_t number = 0;
    for (const char *at = comment->ptr + head; at < comment->ptr + comment->len; at++) {
        if (*at == '\n')
            break;
        if (*at < '0' || *at > '9')
            return -1;
        number = number * 10 + (*at - '0');
    }
    return number;
}

/* Ticks, or -1; and whether it was ready to run all the time. */
static inline int64_t nytp_sample_cpu_read(const struct nytp_str *comment, bool *is_ready)
{
    static const char ready[] = NYTP_SAMPLE_CPU_READY;
    struct nytp_str number = *comment;
    if (number.len > 0 && number.ptr[number.len - 1] == '\n')
        number.len--;
    *is_ready =
        number.len >= sizeof ready &&
        memcmp(number.ptr + number.len - (sizeof ready - 1), ready, sizeof ready - 1) == 0;
    if (*is_ready)
        number.len -= sizeof ready - 1;
    return nytp_comment_number(&number, NYTP_SAMPLE_CPU_HEAD);
}

/* Nanoseconds, or -1. */
static inline int64_t nytp_processor_time_read(const struct nytp_str *comment)
{
    return nytp_comment_number(comment, NYTP_PROCESSOR_TIME_HEAD);
}

#endif
