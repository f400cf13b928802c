/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How the profiler drives libnytp-malloc.so: one struct of functions, which it finds by
 * dlsym(RTLD_DEFAULT, NYTP_MALLOC_SYMBOL) where the library is loaded. A struct that is not
 * compatible has another name.
 *
 * Samples wait in a queue. The allocations of one thread go to one queue, and so does, later,
 * that a sampled block was freed, whichever thread frees it. One thread at a time takes from
 * it.
 */
#ifndef NYTP_MALLOC_INTERFACE_H
#define NYTP_MALLOC_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>

#define NYTP_MALLOC_SYMBOL "nytp_malloc_1"

/* A sampled block was allocated, or freed. */
struct nytp_malloc_event {
    struct nytp_malloc_event *next; /* of the same queue, in the order in which they came */
    uint64_t id;                    /* of the block; never 0, never given twice in a process or
                                       to the child of its fork */
    uint64_t size;                  /* bytes that were asked for */
    uint64_t mean;                  /* the mean distance at which it was sampled */
    const void *where; /* what `look` of its queue returned; NULL: there was none */
    bool is_free;
};

struct nytp_malloc_queue {
    struct nytp_malloc_event *_Atomic waiting; /* the last one first; NULL: nothing waits */
    /* Called where a sampled block is allocated, inside malloc(): it allocates nothing. Set by
     * the thread that is sampled into the queue, or before there is one; NULL: not wanted. */
    const void *(*look)(void *context);
    void *context;
    /* what follows is the library's own */
};

struct nytp_malloc {
    /* A new queue; NULL when out of memory. */
    struct nytp_malloc_queue *(*open)(void);

    /* Sample the calling thread's allocations into this queue, one every `mean` bytes (1: each
     * of them), and no other thread's any more. */
    void (*sample)(struct nytp_malloc_queue *queue, uint64_t mean);

    /* If the calling thread's go into this queue, no longer. What was sampled goes on being
     * looked for when it is freed. */
    void (*stop)(struct nytp_malloc_queue *queue);

    /* All that waits, the first one first, with what comes next in `next`; NULL: nothing. */
    struct nytp_malloc_event *(*take)(struct nytp_malloc_queue *queue);

    /* The caller has done with all that take() gave it. */
    void (*done)(struct nytp_malloc_event *first);

    /* What the calling thread allocates between these two is not sampled. Pairs may nest. */
    void (*hold)(void);
    void (*resume)(void);

    /* The queue is not asked any more, and does not call `look`. From any thread. */
    void (*close)(struct nytp_malloc_queue *queue);
};

#endif
