/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Processor time and memory, as comments.
 *
 * In a sampled stream, "cpu N" precedes a time record: N ticks of its time were processor
 * time. If several time records are one sample, the comment precedes the first and is for all
 * of them. Without the comment all of the time was processor time. "cpu N ready": the process
 * did not sleep, but waited for a processor.
 *
 * In any stream: "nytp-processor N" is the processor time in nanoseconds from PID_START to
 * here. "nytp-memory-start N" and "nytp-memory-peak N" are bytes in core at the start and at
 * most. "nytp-memory N", now and then, is bytes in core here.
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

/* Returns the number behind the word and a blank, or -1 for any other comment. */
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

/* Returns ticks, or -1. Sets `is_ready` if the process never slept. */
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
