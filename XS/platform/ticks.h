/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Ticks: one thread of the process looks at the program from time to time without touching it.
 * At a tick it copies a few words that show what the program is doing, with the time and the
 * processor time, into a ring that the program's thread empties at its next safe point. It
 * sends no signal, so no system call of the program is interrupted. It can wait for
 * descriptors, too.
 *
 * The thread calls nothing of perl's, allocates nothing and takes no lock but one of ours, on
 * which it never waits: a fork() may come at any moment, and its child must find all locks
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

/* An open call, copied from one of the program's stacks. */
struct nytp_tick_call {
    const void *code, *site; /* the code called, and the calling statement */
    const void *caller;      /* PL_comppad of its caller; NULL: its context does not say */
    const void *stack;       /* its stack */
    int32_t index;           /* its place there */
    int32_t depth;           /* of recursion, from 1; 0: not a sub but a file or string eval */
};

/* A copy of the program's stacks, made a moment after the words were read. Each part may be
 * half old and half new: every value needs a check before use. */
struct nytp_tick_copy {
    int n_calls;       /* outermost first; -1: nothing could be copied */
    int n_there;       /* calls still open at the copy; deeper ones may have returned */
    const void *stack; /* the one in use */
    int stack_type;
    int32_t top;             /* its top at the tick */
    const void *stack_below; /* the one below that in use; NULL: not copied */
    int32_t top_below;
    const void *last_stack; /* the outermost one looked at */
    int32_t lowest;         /* calls at lower places of that one were not looked at */
    const void *op_handler; /* of the operation in progress */
    const void *op_next;    /* the op behind it */
    unsigned op_type;
    const void *callee; /* the sub that the operation calls; NULL: none */
    struct nytp_tick_call calls[NYTP_TICK_CALLS];
};

/* A state of the program that one or more ticks saw. */
struct nytp_tick {
    _Atomic uint64_t ns;     /* of the ring's clock, at the last tick that saw this */
    _Atomic uint64_t cpu_ns; /* processor time of the thread that is looked at, then */
    uint64_t blocked_cpu_ns; /* the same at the first of them, if it waited; else 0 */
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
    const void *owner; /* for `ticked` */
    void *interpreter; /* both for `copy` */
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

/* Fills the ring from now on. Starts the thread if it does not run; returns false with the
 * reason in `error` if that fails. */
bool nytp_ticks_add(struct nytp_ring *ring, char *error, size_t size);

/* Does not touch the ring any more. Without any ring or watch the thread ends. */
void nytp_ticks_remove(struct nytp_ring *ring);

/* Returns the time to the next wake: half a period to one and a half. Even distances fall into
 * step with a loop and see the same few lines each time. `random` is kept for the next call and
 * is never 0. */
static inline uint64_t nytp_next_distance_ns(uint64_t *random, uint64_t period_ns)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return period_ns / 2 + *random % period_ns;
}

/* The period of all rings' ticks; 0: no ticks. */
void nytp_ticks_set_period(uint32_t us);
uint32_t nytp_ticks_period(void);

/* In the interpreter's thread: returns the oldest tick not taken yet, or NULL. Valid until
 * nytp_tick_taken(). */
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
    /* Runs in the thread when a descriptor is ready, with fds[].revents as from poll(). It does
     * not wait, may change all of the above, and calls nothing that is declared here. */
    void (*on_ready)(struct nytp_tick_watch *watch);
    /* The same when the program is to look at its rights at its next safe point. If they are
     * not the thread's any more, the thread ends afterwards. */
    void (*on_rights)(void);
};

/* Sets the one watch. NULL removes it: on_ready() does not run any more. A descriptor that
 * becomes ready, say a socket that is shut down, wakes the thread. Returns false as
 * nytp_ticks_add(). */
bool nytp_ticks_watch(struct nytp_tick_watch *watch, char *error, size_t size);

/* Between these two on_ready() does not run, so its data can be changed. A fork is between
 * them: its child inherits nothing half done. */
void nytp_ticks_hold(void);
void nytp_ticks_let_go(void);

/* In a fork's child, in place of nytp_ticks_let_go(): there is no thread, and the rings are
 * emptied. nytp_ticks_run() starts it again. */
void nytp_ticks_forked(void);

/* Starts the thread if there is a ring or watch and it does not run. */
bool nytp_ticks_run(char *error, size_t size);
bool nytp_ticks_are_run(void);

/* At each safe point. The thread ends when the program has other rights (rights.h). Starts
 * another if it has ended, and lets it end if users or groups have changed; then returns true.
 * Two memory accesses; if the program can change its rights a few system calls every 10 ms. */
bool nytp_ticks_follow_rights(void);

/* Ends the thread, for a system call that the kernel denies to processes with threads.
 * nytp_ticks_run() starts it again. Returns false if there was none. */
bool nytp_ticks_stop(void);

#endif
