/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Ticks: a thread of the process's own looks at a program from time to time without touching
 * it.
 *
 * At a tick it copies a few words that show what the program is doing, with the time and the
 * processor time, into a ring that the program's thread empties when it next comes to a safe
 * point. No signal is sent, so no system call of the program is ever interrupted; nothing that
 * the words point to is looked at.
 *
 * There is one such thread in a process, however many rings it fills. It waits for descriptors,
 * too, if somebody wants that.
 *
 * The thread calls nothing of perl's, allocates nothing and takes no lock but one of ours, on
 * which it never waits: a fork() may come at any moment, and the child must find all locks
 * free.
 */
#ifndef NYTP_TICKS_H
#define NYTP_TICKS_H

#include "kernel.h"
#include "wait_look.h"

#include <poll.h>

enum {
    NYTP_TICKS_IN_RING = 256, /* a power of two */
    NYTP_TICK_WORDS = 3,
    NYTP_TICK_CALLS = 12,
    NYTP_TICK_FDS = 8,
};

/* A call that was open, copied from one of the program's stacks. */
struct nytp_tick_call {
    const void *code, *site; /* what was called, and from which statement */
    const void *caller;      /* PL_comppad of its caller; NULL: its context does not say */
    const void *stack;       /* that it lies on */
    int32_t index;           /* its place there */
    int32_t depth;           /* of recursion, from 1; 0: not a sub but a file or string eval */
};

/* A copy of the program's stacks by the tick thread. It is made a moment after the words were
 * read, and each part may be half old and half new: every value needs a check before use. */
struct nytp_tick_copy {
    int n_calls;       /* outermost first; -1: nothing could be copied */
    int n_there;       /* of them were there yet; those above may be over */
    const void *stack; /* that was in use */
    int stack_type;
    int32_t top;            /* place on it that was the top at the tick */
    const void *last_stack; /* that was looked at, from this one outwards */
    int32_t lowest;         /* calls at lower places of that one were not looked at */
    const void *op_handler; /* of the operation in progress */
    unsigned op_type;
    const void *callee; /* what the operation calls, if it does */
    struct nytp_tick_call calls[NYTP_TICK_CALLS];
};

/* A state of the program that one or more ticks saw. */
struct nytp_tick {
    _Atomic uint64_t ns;     /* of the ring's clock, at the last tick that saw this */
    _Atomic uint64_t cpu_ns; /* processor time of the thread that is looked at */
    const void *words[NYTP_TICK_WORDS];
    _Atomic uint32_t n;         /* ticks that saw this */
    struct nytp_wait_seen wait; /* by the last of them that saw it wait */
    struct nytp_tick_copy copy;
};

struct nytp_ring;

/* Ticks of one interpreter, from the tick thread to the interpreter's own. */
struct nytp_ring {
    /* Set before nytp_ticks_add(). */
    const void *const volatile *look_at[NYTP_TICK_WORDS]; /* read at each tick */
    volatile int *asked;                                  /* becomes 1 with each tick */
    /* Called in the thread when the words are others than before; NULL: not. */
    void (*copy)(const struct nytp_ring *ring, struct nytp_tick *tick);
    /* The same, after each tick; NULL: not. */
    void (*ticked)(struct nytp_ring *ring);
    const void *owner; /* is for `ticked` */
    void *interpreter; /* these two are for `copy` */
    const void *home;  /* the program's first stack; NULL: not known */
    long pid;          /* of this process */
    clockid_t clock;
    _Atomic clockid_t cpu_clock; /* of the thread that runs it; may be changed at any time */
    struct nytp_own_fd call;     /* wait_look.h: of the same thread */

    _Atomic uint32_t head, tail; /* ticks put, ticks taken */
    _Atomic uint64_t n_ticks;
    struct nytp_ring *next; /* of all rings */
    struct nytp_tick ticks[NYTP_TICKS_IN_RING];
};

/* From now on the ring is filled. Starts the thread if it does not run; false if it cannot be
 * had, and the ring is not added. `error` is what there is to say then. */
bool nytp_ticks_add(struct nytp_ring *ring, char *error, size_t size);

/* The ring is not touched any more. Without any ring or watch the thread is ended. */
void nytp_ticks_remove(struct nytp_ring *ring);

/* Returns how long it is from one wake to the next: from half a period to one and a half. At
 * even distances wakes fall into step with a program that does the same again and again, and
 * see the same few lines each time. `random` is kept for the next call, and is never 0. */
static inline uint64_t nytp_next_distance_ns(uint64_t *random, uint64_t period_ns)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return period_ns / 2 + *random % period_ns;
}

/* From one tick to the next; 0: no ticks. For all rings. */
void nytp_ticks_set_period(uint32_t us);
uint32_t nytp_ticks_period(void);

/* In the interpreter's thread: the oldest tick that was not taken yet; NULL: none. It stays
 * valid until nytp_tick_taken(). */
static inline struct nytp_tick *nytp_tick_next(struct nytp_ring *ring)
{
    const uint32_t tail = ring->tail;
    return tail == ring->head ? NULL : &ring->ticks[tail % NYTP_TICKS_IN_RING];
}

static inline void nytp_tick_taken(struct nytp_ring *ring)
{
    ring->tail++;
}

/* Descriptors that the thread waits for as well. */
struct nytp_tick_watch {
    struct pollfd fds[NYTP_TICK_FDS];
    unsigned n;
    uint32_t again_ms; /* on_ready() is called after that time, too; 0: not */
    /* Runs in the thread when some descriptor is ready, with fds[].revents as poll() gives
     * them. It does not wait, and may change all of the above. It must not call what is
     * declared here. */
    void (*on_ready)(struct nytp_tick_watch *watch);
    /* The same when the program is to look at its rights at its next safe point; if they are
     * not the thread's any more, this is the last that the thread does. */
    void (*on_rights)(void);
};

/* Watch, one at a time; NULL: no more, when this returns on_ready() does not run. Something
 * that becomes ready, a socket that is shut down, say, lets the thread take notice at once.
 * False as for nytp_ticks_add(). */
bool nytp_ticks_watch(struct nytp_tick_watch *watch, char *error, size_t size);

/* Between these two on_ready() does not run, so that what it looks at can be changed. A fork is
 * between them, so its child inherits nothing half done. */
void nytp_ticks_hold(void);
void nytp_ticks_let_go(void);

/* In the child, from the handler of a fork, in place of nytp_ticks_let_go(): the thread stayed
 * behind. What was put into the rings is forgotten. nytp_ticks_run() starts it again. */
void nytp_ticks_forked(void);

/* Start the thread if something is wanted of it and it does not run. Cheap if it does. */
bool nytp_ticks_run(char *error, size_t size);
bool nytp_ticks_are_run(void);

/* The thread ends when the program has not its rights any more (rights.h). At each safe point:
 * start another if that has happened, let it end if users or groups have changed. True: these
 * have. Two memory accesses, but for programs that can change them a few system calls every 10
 * ms. */
bool nytp_ticks_follow_rights(void);

/* End the thread, for a system call that the kernel denies to processes that have threads; what
 * is wanted of it stays so, for nytp_ticks_run(). False: there was none. */
bool nytp_ticks_stop(void);

#endif
