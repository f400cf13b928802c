/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A helper that is a thread; see helper_thread.h.
 */
#include "helper_thread.h"

#include <signal.h>
#include <string.h>

#define STACK_SIZE (256 * 1024)

static void *run(void *thread)
{
    struct nytp_helper_thread *const self = thread;
    pthread_mutex_lock(&self->lock);
    for (;;) {
        while (self->task == NULL && !self->ends)
            pthread_cond_wait(&self->changed, &self->lock);
        if (self->task == NULL)
            break;
        pthread_mutex_unlock(&self->lock);
        self->task(self->argument);
        pthread_mutex_lock(&self->lock);
        self->task = NULL;
        pthread_cond_signal(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* Signals are for the thread that was there before. */
static void start(struct nytp_helper_thread *self)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    self->is_running = pthread_attr_setstacksize(&attributes, STACK_SIZE) == 0 &&
                       pthread_create(&self->thread, &attributes, run, self) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

static void begin(struct nytp_helper *helper, void (*task)(void *argument), void *argument)
{
    struct nytp_helper_thread *const self = (struct nytp_helper_thread *)helper;
    if (!self->is_running)
        start(self);
    if (!self->is_running) {
        task(argument);
        return;
    }
    pthread_mutex_lock(&self->lock);
    self->task = task;
    self->argument = argument;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

static void wait_for_task(struct nytp_helper *helper)
{
    struct nytp_helper_thread *const self = (struct nytp_helper_thread *)helper;
    pthread_mutex_lock(&self->lock);
    while (self->task != NULL)
        pthread_cond_wait(&self->changed, &self->lock);
    pthread_mutex_unlock(&self->lock);
}

void nytp_helper_thread_init(struct nytp_helper_thread *self)
{
    memset(self, 0, sizeof *self);
    self->helper.begin = begin;
    self->helper.wait = wait_for_task;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
}

void nytp_helper_thread_end(struct nytp_helper_thread *self)
{
    if (self->is_running) {
        pthread_mutex_lock(&self->lock);
        self->ends = true;
        pthread_cond_signal(&self->changed);
        pthread_mutex_unlock(&self->lock);
        pthread_join(self->thread, NULL);
    }
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
}
