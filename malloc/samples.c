/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Samples and their queues; see samples.h.
 *
 * A sample contains both of its events, so that freeing never needs memory. It is freed when
 * its second event has been passed on, or, after the queue is closed, when its block is freed.
 */
#define _GNU_SOURCE
#include "samples.h"

#include <sched.h>
#include <string.h>
#include <time.h>

/* ---- distances */

/* The number of bytes until the next sample. Distances are random and exponentially
 * distributed, so that one sample says nothing about the next. */
struct distance {
    uint64_t mean;
    uint64_t random; /* state of the generator; it may begin with anything */
};

#define MOST_MEAN (INT64_C(1) << 50) /* larger means are reduced to this */

/* splitmix64, by Sebastiano Vigna, in the public domain. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Returns the natural logarithm of a positive, normal number to some 13 digits, so that no
 * program has to load the mathematical library. It is the logarithm of its power of two plus
 * that of the rest m, from 1 to 2: twice the area tangent of (m-1)/(m+1). */
static double logarithm(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
    double m;
    memcpy(&m, &bits, sizeof m);
    const double z = (m - 1) / (m + 1), square = z * z;
    double sum = 0;
    for (int i = 27; i >= 1; i -= 2)
        sum = sum * square + 1.0 / i;
    return exponent * 0.693147180559945309417 + 2 * z * sum;
}

/* Returns a distance in bytes. The block that reaches it, together with the blocks before it,
 * is sampled. Returns 0, for every block, if the mean is 1. */
static uint64_t distance_next(struct distance *distance)
{
    if (distance->mean <= 1)
        return 0;
    const double uniform = (double)((next_random(&distance->random) >> 11) + 1) * 0x1p-53;
    return (uint64_t)(-logarithm(uniform) * (double)distance->mean) + 1;
}

/* ---- samples */

struct thread;

/* An open queue. Its users are its samples, its opener, and threads sampled into it: a thread
 * may end, or live on, without being stopped. */
struct queue {
    struct nytp_malloc_queue shared;
    _Atomic uint32_t users;
    atomic_bool closed, is_looking;
    _Atomic(const struct thread *) thread; /* the thread sampled into it */
};

struct nytp_sample {
    struct nytp_malloc_event made, freed;
    struct queue *queue;
    atomic_bool reported; /* `made` is not in use any more */
};

/* A thread's state, without the bytes that are left. */
struct thread {
    struct queue *queue; /* NULL: it takes no samples */
    struct distance distance;
    uint64_t to_sample_then; /* saved by hold() */
    uint32_t holds;
};

#define FOREVER     UINT64_MAX
#define MOST_YIELDS 10000

static _Atomic int queues_open;
_Thread_local uint64_t nytp_bytes_to_sample = FOREVER;
static _Thread_local struct thread own __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t last_id;

static void set_to_sample(uint64_t to_sample)
{
    if (own.holds > 0)
        own.to_sample_then = to_sample;
    else
        nytp_bytes_to_sample = to_sample;
}

/* No calloc(): it may come back to us; see wrap.c. */
static void *zeros(size_t size)
{
    void *const block = nytp_next.malloc(size);
    return block != NULL ? memset(block, 0, size) : NULL;
}

static void push(struct queue *queue, struct nytp_malloc_event *event)
{
    event->next = atomic_load(&queue->shared.waiting);
    while (!atomic_compare_exchange_weak(&queue->shared.waiting, &event->next, event))
        ;
}

static void leave_queue(struct queue *queue)
{
    if (atomic_fetch_sub(&queue->users, 1) == 1)
        nytp_next.free(queue);
}

static void stop_own(void)
{
    if (own.queue != NULL)
        leave_queue(own.queue);
    own.queue = NULL;
    set_to_sample(FOREVER);
}

static bool is_over(struct queue *queue)
{
    return atomic_load(&queue->closed) || atomic_load(&queue->thread) != &own;
}

static void let_go(struct nytp_sample *sample)
{
    leave_queue(sample->queue);
    nytp_next.free(sample);
}

/* ---- called by the program */

/* close_queue() waits for this to return. In a fork's child the thread here may be gone. */
static const void *look(struct queue *queue)
{
    const void *where = NULL;
    atomic_store(&queue->is_looking, true);
    if (queue->shared.look != NULL && !atomic_load(&queue->closed))
        where = queue->shared.look(queue->shared.context);
    atomic_store(&queue->is_looking, false);
    return where;
}

static struct nytp_sample *new_sample(size_t size)
{
    struct nytp_sample *const sample = zeros(sizeof *sample);
    if (sample == NULL)
        return NULL;
    sample->made = (struct nytp_malloc_event){
        .id = atomic_fetch_add(&last_id, 1) + 1, .size = size, .mean = own.distance.mean};
    sample->freed = sample->made;
    sample->freed.is_free = true;
    sample->made.where = look(own.queue);
    sample->queue = own.queue;
    atomic_fetch_add(&own.queue->users, 1);
    return sample;
}

void nytp_sample_made(void *block, size_t size)
{
    if (own.queue == NULL || own.holds > 0) {
        nytp_bytes_to_sample = FOREVER;
        return;
    }
    if (is_over(own.queue)) {
        stop_own();
        return;
    }
    nytp_bytes_to_sample = distance_next(&own.distance);
    /* The block was freed in a way that we do not see: its address is in use again. */
    struct nytp_sample *const gone = nytp_sample_of_freed(block);
    if (gone != NULL)
        nytp_sample_freed(gone);
    struct nytp_sample *const sample = new_sample(size);
    if (sample == NULL)
        return;
    if (nytp_address_put(block, sample))
        push(sample->queue, &sample->made);
    else
        let_go(sample);
}

void nytp_sample_freed(struct nytp_sample *sample)
{
    if (!atomic_load(&sample->queue->closed))
        push(sample->queue, &sample->freed);
    else if (atomic_load(&sample->reported))
        let_go(sample);
}

/* Its entry is free or reused. Without memory for a new one the block counts as freed. */
void nytp_sample_not_freed(const void *block, struct nytp_sample *sample)
{
    if (!nytp_address_put(block, sample))
        nytp_sample_freed(sample);
}

/* ---- called by the profiler */

static struct nytp_malloc_queue *open_queue(void)
{
    struct queue *const queue = zeros(sizeof *queue);
    if (queue == NULL)
        return NULL;
    queue->users = 1;
    atomic_fetch_add(&queues_open, 1);
    return &queue->shared;
}

static void sample(struct nytp_malloc_queue *shared, uint64_t mean)
{
    struct queue *const queue = (struct queue *)shared;
    atomic_fetch_add(&queue->users, 1);
    stop_own();
    own.queue = queue;
    atomic_store(&queue->thread, &own);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    own.distance.mean = mean < 1 ? 1 : mean > MOST_MEAN ? MOST_MEAN : mean;
    own.distance.random = (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec ^ (uintptr_t)&own;
    set_to_sample(distance_next(&own.distance));
}

static void stop(struct nytp_malloc_queue *queue)
{
    if (own.queue == (struct queue *)queue)
        stop_own();
}

static struct nytp_malloc_event *take(struct nytp_malloc_queue *queue)
{
    struct nytp_malloc_event *last = atomic_exchange(&queue->waiting, NULL), *first = NULL;
    while (last != NULL) {
        struct nytp_malloc_event *const before = last->next;
        last->next = first;
        first = last;
        last = before;
    }
    return first;
}

static struct nytp_sample *sample_of(struct nytp_malloc_event *event)
{
    const size_t at = event->is_free ? offsetof(struct nytp_sample, freed)
                                     : offsetof(struct nytp_sample, made);
    return (struct nytp_sample *)((char *)event - at);
}

static void done(struct nytp_malloc_event *first)
{
    while (first != NULL) {
        struct nytp_malloc_event *const event = first;
        first = event->next;
        if (event->is_free)
            let_go(sample_of(event));
        else
            atomic_store(&sample_of(event)->reported, true);
    }
}

static void hold(void)
{
    if (own.holds++ > 0)
        return;
    own.to_sample_then = nytp_bytes_to_sample;
    nytp_bytes_to_sample = FOREVER;
}

static void resume(void)
{
    if (own.holds > 0 && --own.holds == 0)
        nytp_bytes_to_sample = own.to_sample_then;
}

/* The last queue empties the set: later frees are not noticed, and addresses are used again. */
static void close_queue(struct nytp_malloc_queue *shared)
{
    struct queue *const queue = (struct queue *)shared;
    atomic_store(&queue->closed, true);
    for (int i = 0; i < MOST_YIELDS && atomic_load(&queue->is_looking); i++)
        sched_yield();
    done(take(shared));
    if (atomic_fetch_sub(&queues_open, 1) == 1)
        nytp_addresses_clear(nytp_sample_freed);
    leave_queue(queue);
}

extern const struct nytp_malloc nytp_malloc_1 __attribute__((visibility("default")));

const struct nytp_malloc nytp_malloc_1 = {
    .open = open_queue,
    .sample = sample,
    .stop = stop,
    .take = take,
    .done = done,
    .hold = hold,
    .resume = resume,
    .close = close_queue,
};
