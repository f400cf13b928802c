/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The interface between the profiler and libnytp-malloc.so: one struct of functions. The
 * profiler finds it by dlsym(RTLD_DEFAULT, NYTP_MALLOC_SYMBOL) if the library is loaded. An
 * incompatible struct gets another name.
 *
 * Samples wait in a queue. The allocations of a thread go to one queue. When any thread frees
 * the sampled block, that goes to the same queue. Only one thread at a time takes from a
 * queue.
 */
#ifndef NYTP_MALLOC_INTERFACE_H
#define NYTP_MALLOC_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>

#define NYTP_MALLOC_SYMBOL "nytp_malloc_1"

/* A sampled block was allocated, or freed. */
struct nytp_malloc_event {
    struct nytp_malloc_event *next; /* next in the same queue, in order of time */
    uint64_t id;                    /* of the block; never 0, unique also in a forked child */
    uint64_t size;                  /* bytes requested */
    uint64_t mean;                  /* mean distance of sampling */
    const void *where; /* the result of the queue's `look`, or NULL */
    bool is_free;
};

struct nytp_malloc_queue {
    struct nytp_malloc_event *_Atomic waiting; /* the last one first; NULL: empty */
    /* Called inside malloc() when a block is sampled; must not allocate. Set by the sampled
     * thread, or before there is one. NULL: not wanted. */
    const void *(*look)(void *context);
    void *context;
    /* the rest is private to the library */
};

struct nytp_malloc {
    /* Returns a new queue, or NULL if memory is out. */
    struct nytp_malloc_queue *(*open)(void);

    /* Samples the calling thread's allocations into this queue, one every `mean` bytes (1:
     * each of them). Any other thread stops using the queue. */
    void (*sample)(struct nytp_malloc_queue *queue, uint64_t mean);

    /* Stops sampling the calling thread into this queue. Sampled blocks are still watched. */
    void (*stop)(struct nytp_malloc_queue *queue);

    /* Returns all waiting events, linked by `next`, the first one first, or NULL. */
    struct nytp_malloc_event *(*take)(struct nytp_malloc_queue *queue);

    /* Gives back all that take() returned. */
    void (*done)(struct nytp_malloc_event *first);

    /* Allocations of the calling thread between these two are not sampled. Pairs may nest. */
    void (*hold)(void);
    void (*resume)(void);

    /* Ends a queue: it does not call `look` any more. From any thread. */
    void (*close)(struct nytp_malloc_queue *queue);
};

#endif
