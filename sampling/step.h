/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The step from one sample to the next: calls are left and entered, and the time record of the
 * sample before is written, with what else is known of it (sample_records.h).
 */
#ifndef NYTP_SAMPLING_STEP_H
#define NYTP_SAMPLING_STEP_H

#include "formats/stream/comments/wait_records.h"
#include "formats/stream/write/writer.h"

/* A deep recursion is shown by its outermost and innermost calls. */
enum {
    NYTP_MOST_SHOWN = 1000,
    NYTP_INNERMOST_SHOWN = 64, /* of them, if there were more */
};

/* How each recorder keeps its calls. Calls count from 0, the outermost. */
struct nytp_steps {
    bool (*is_open)(void *walk, uint32_t i); /* call i of the new stack is the open one */
    void (*enter)(void *walk, uint32_t i);
    void (*leave)(void *walk); /* the innermost open call */
};

/* Steps from `n_open` calls to `n`; the first `n_same` are known to be open. Returns whether
 * there was a difference. */
bool nytp_step(const struct nytp_steps *steps, void *walk, uint32_t n_open, uint32_t n_same,
               uint32_t n);

enum {
    NYTP_WAIT_ROOM = NYTP_MAX_PEER + 40,
};

/* The sample whose time record is to come. */
struct nytp_last_sample {
    bool is_there;
    bool is_alloc; /* at no tick: a block was allocated there */
    struct nytp_encoded_place place;
    int64_t ticks, cpu_ticks;  /* the same where the processor's clock is the axis */
    bool is_ready;             /* the program did not sleep in it */
    char wait[NYTP_WAIT_ROOM]; /* "REASON [PEER]", or "" */
};

/* Keeps back the next sample, whose calls are entered, and puts the one before it into the
 * stream. A first one has none before it: its statement begins in its own calls. */
void nytp_last_sample_next(struct nytp_writer *writer, struct nytp_last_sample *last,
                           const struct nytp_last_sample *next);

/* Put it into the stream, if it is there; it is not any more then. */
void nytp_last_sample_put(struct nytp_writer *writer, struct nytp_last_sample *last);

/* A long sample may be the last one: its time is put before the next is known, which gets to know
 * of it by a record that goes on, without time. */
void nytp_last_sample_put_if_long(struct nytp_writer *writer, struct nytp_last_sample *last);

#endif
