/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Which bytes the program allocates and frees (option memory=BYTES): samples, which
 * libnytp-malloc.so takes where it is loaded (malloc/interface.h), told as comments
 * (formats/stream/comments/bytes_records.h) from one event to the next, as SVs are.
 */
#ifndef NYTP_BYTES_H
#define NYTP_BYTES_H

#include "XS/perl/perl_compat.h"
#include "malloc/interface.h"

#include <stdatomic.h>
#include <stddef.h>

struct nytp_place;
struct nytp_recorder;

/* The part of the state that belongs to bytes.c. */
struct nytp_rec_bytes {
    const struct nytp_malloc *library; /* NULL: bytes are not wanted, or it is not loaded */
    struct nytp_malloc_queue *queue;   /* owned; NULL: there is none yet */
    double objects_over;               /* parts of blocks that no comment has told */
    const void *(*look)(void *context);
    void *context; /* of `look` */
    bool is_over;
};

/* Find the library where bytes are wanted; where it is not loaded say so, and want none. */
void nytp_bytes_prepare(struct nytp_recorder *rec);

/* The same for a thread of that recorder's. */
void nytp_bytes_inherit(struct nytp_recorder *rec, const struct nytp_recorder *from);

/* Where the programs that this one starts are not recorded they need no library of ours: take
 * it out of LD_PRELOAD in %ENV. The loader has read that already. */
void nytp_bytes_take_out_of_environment(pTHX);

/* In a sampled profile: called where a sampled block is allocated (malloc/interface.h). */
void nytp_bytes_set_look(struct nytp_recorder *rec, const void *(*look)(void *context),
                         void *context);

/* What was freed since the last event that told anything is told soon, too. */
void nytp_bytes_look_for_freed(struct nytp_recorder *rec);

/* The thread's allocations count from now on; no longer; the interpreter records no more. */
void nytp_bytes_start(struct nytp_recorder *rec);
void nytp_bytes_pause(struct nytp_recorder *rec);
void nytp_bytes_free(struct nytp_recorder *rec);

/* What waits is another process's: the parent's. */
void nytp_bytes_drop(struct nytp_recorder *rec);

/* Tell what waits: of the statement in progress. */
void nytp_bytes_tell_waiting(struct nytp_recorder *rec);

/* What waits, the first one first, to be told one by one; NULL: nothing. Then it is done with.
 */
struct nytp_malloc_event *nytp_bytes_take(struct nytp_recorder *rec);
void nytp_bytes_done(struct nytp_recorder *rec, struct nytp_malloc_event *first);

/* Tell of one. An allocation whose statement is not known, NULL, is left out. */
void nytp_bytes_tell(struct nytp_recorder *rec, const struct nytp_malloc_event *event,
                     const struct nytp_place *place);

static inline bool nytp_bytes_wait(const struct nytp_rec_bytes *bytes)
{
    return bytes->queue != NULL &&
           atomic_load_explicit(&bytes->queue->waiting, memory_order_relaxed) != NULL;
}

/* From now on what waits is told and no more: no memory may be had or freed, as in a signal. So
 * no later file knows of it, and the library keeps its samples. */
void nytp_bytes_end(struct nytp_rec_bytes *bytes);

/* What is allocated between these two is ours. Pairs may nest. */
static inline void nytp_bytes_hold(const struct nytp_rec_bytes *bytes)
{
    if (bytes->library != NULL)
        bytes->library->hold();
}

static inline void nytp_bytes_resume(const struct nytp_rec_bytes *bytes)
{
    if (bytes->library != NULL)
        bytes->library->resume();
}

#endif
