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

#include "formats/stream/comments/words.h"

#define NYTP_SAMPLE_CPU_HEAD     "cpu"
#define NYTP_SAMPLE_CPU_READY    "ready"
#define NYTP_PROCESSOR_TIME_HEAD "nytp-processor"
#define NYTP_MEMORY_NOW_HEAD     "nytp-memory"
#define NYTP_MEMORY_START_HEAD   "nytp-memory-start"
#define NYTP_MEMORY_PEAK_HEAD    "nytp-memory-peak"

/* Returns the number behind the word and a blank, or -1 for any other comment. */
static inline int64_t nytp_comment_number(const struct nytp_str *comment, const char *word)
{
    struct nytp_str rest = nytp_comment_text(comment);
    uint64_t number;
    const bool is_one =
        nytp_cut_word(&rest, word) && nytp_cut_number(&rest, '\0', INT64_MAX, &number);
    return is_one ? (int64_t)number : -1;
}

/* Returns ticks, or -1. Sets `is_ready` if the process never slept. */
static inline int64_t nytp_sample_cpu_read(const struct nytp_str *comment, bool *is_ready)
{
    struct nytp_str rest = nytp_comment_text(comment);
    uint64_t ticks;
    if (!nytp_cut_word(&rest, NYTP_SAMPLE_CPU_HEAD))
        return -1;
    *is_ready = nytp_cut_number(&rest, ' ', INT64_MAX, &ticks) &&
                nytp_str_is(rest, NYTP_SAMPLE_CPU_READY);
    return *is_ready || nytp_cut_number(&rest, '\0', INT64_MAX, &ticks) ? (int64_t)ticks : -1;
}

#endif
