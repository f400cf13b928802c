/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How many instructions a thread executes in user space, by the processor's counter (Linux
 * perf_event_open(2)): in all, as long as the program is recorded, less what the recorder does
 * from time to time of itself.
 *
 * The counter is a descriptor, ours among the program's (own_fd.h). What is behind it has no
 * inode of its own, so it is known by the kernel's number for it as well. A count that was in
 * part read, because the processor had not enough counters for all who asked, is none: the
 * counter is asked for whole or not at all.
 */
#ifndef NYTP_INSTRUCTIONS_H
#define NYTP_INSTRUCTIONS_H

#include "own_fd.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed = there is no counter. The functions but the first do nothing then, and leave errno as
 * it is; all may be called in a signal. */
struct nytp_instructions {
    bool is_open;
    struct nytp_own_fd own;
    uint64_t id;      /* the kernel's */
    pthread_t thread; /* that is counted */
    int64_t total;    /* up to when it last began to count */
    int64_t since;    /* the counter then; -1: it does not count */
    unsigned pauses;  /* nested */
    bool is_recording;
};

/* Count the calling thread, from now on. False where the kernel does not let us: `reason` says
 * why, for people. */
bool nytp_instructions_open(struct nytp_instructions *counter, char *reason, size_t size);

void nytp_instructions_close(struct nytp_instructions *counter);

/* Whether the program is recorded now. */
void nytp_instructions_set_recording(struct nytp_instructions *counter, bool is_recording);

/* Between these two nothing is counted. Pairs may nest. */
void nytp_instructions_pause(struct nytp_instructions *counter);
void nytp_instructions_resume(struct nytp_instructions *counter);

/* So far; -1: not known. It is not where the program closed the descriptor, and in another
 * thread than the one that is counted. */
int64_t nytp_instructions_total(struct nytp_instructions *counter);

#endif
