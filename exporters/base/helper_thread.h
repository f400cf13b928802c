/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A helper (formats/stream/helper.h) that is a thread.
 *
 *     struct nytp_helper_thread thread;
 *     nytp_helper_thread_init(&thread);
 *     … thread.helper …
 *     nytp_helper_thread_end(&thread);
 *
 * The thread starts with the first task. Where none can be had, tasks are done by who begins
 * them.
 */
#ifndef NYTP_HELPER_THREAD_H
#define NYTP_HELPER_THREAD_H

#include "formats/stream/helper.h"

#include <pthread.h>
#include <stdbool.h>

struct nytp_helper_thread {
    struct nytp_helper helper;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the members that follow */
    pthread_cond_t changed;
    void (*task)(void *argument); /* NULL: done */
    void *argument;
    bool is_running, ends;
};

void nytp_helper_thread_init(struct nytp_helper_thread *self);

/* No task is in progress. */
void nytp_helper_thread_end(struct nytp_helper_thread *self);

#endif
