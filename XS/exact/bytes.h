/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Samples of the bytes that the program allocates and frees (option memory=BYTES).
 * libnytp-malloc.so takes them if it is loaded (malloc/interface.h). Each event records, like
 * SVs, those since the last event, as comments (formats/stream/comments/bytes_records.h).
 */
#ifndef NYTP_BYTES_H
#define NYTP_BYTES_H

#include "XS/perl/perl_compat.h"
#include "malloc/interface.h"

struct nytp_place;
struct nytp_recorder;

struct nytp_rec_bytes {
    double objects_over; /* fraction of a block not yet recorded */
    const void *(*look)(void *context);
    void *context;
};

/* Finds the library if bytes are wanted. If it is not loaded, reports that; bytes are off. */
void nytp_bytes_prepare(struct nytp_recorder *rec);

/* If programs started by this one are not recorded, removes our library from LD_PRELOAD in
 * %ENV. The loader has read that already. */
void nytp_bytes_take_out_of_environment(pTHX);

/* In a sampled profile: `look` is called for each sampled block (malloc/interface.h). */
void nytp_bytes_set_look(struct nytp_recorder *rec, const void *(*look)(void *context),
                         void *context);

/* Blocks freed since the last recording event are recorded soon, too. */
void nytp_bytes_look_for_freed(struct nytp_recorder *rec);

/* Start or stop counting the thread's allocations. */
void nytp_bytes_start(struct nytp_recorder *rec);
void nytp_bytes_pause(struct nytp_recorder *rec);

/* Drops waiting samples, in a fork's child the parent's. */
void nytp_bytes_drop(struct nytp_recorder *rec);

/* Records waiting samples for the statement in progress. */
void nytp_bytes_emit_waiting(struct nytp_recorder *rec);

/* nytp_bytes_take() returns the waiting samples, oldest first, or NULL. Record each of them,
 * then give them back with nytp_bytes_done(). */
struct nytp_malloc_event *nytp_bytes_take(struct nytp_recorder *rec);
void nytp_bytes_done(struct nytp_recorder *rec, struct nytp_malloc_event *first);

/* Records one sample. An allocation without a place (NULL) is left out. */
void nytp_bytes_emit(struct nytp_recorder *rec, const struct nytp_malloc_event *event,
                     const struct nytp_place *place);

#endif
