/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A sample whose time record is to come, and how that is written: the time, and as a comment
 * what else is known of it (sample_records.h).
 */
#ifndef NYTP_SAMPLING_LAST_SAMPLE_H
#define NYTP_SAMPLING_LAST_SAMPLE_H

#include "formats/stream/comments/wait_records.h"
#include "formats/stream/write/writer.h"

enum {
    NYTP_WAIT_ROOM = NYTP_MAX_PEER + 40,
};

/* The sample whose time record is to come. */
struct nytp_last_sample {
    bool is_there;
    bool is_alloc; /* at no tick: a block was allocated there */
    struct nytp_encoded_place place;
    int64_t ticks, cpu_ticks; /* the same where the processor's clock is the axis */
    bool is_ready;            /* the program did not sleep in it */
    char wait[NYTP_WAIT_ROOM]; /* "REASON [PEER]", or "" */
};

/* Put it into the stream, if it is there; it is not any more then. */
void nytp_last_sample_put(struct nytp_writer *writer, struct nytp_last_sample *last);

/* The same for a sample that is not kept back: just what stands in the stream at its end. */
void nytp_last_sample_put_time(struct nytp_writer *writer, const struct nytp_last_sample *last);

/* A long sample may be followed by one as long, which may be the end: its time is put before
 * the next sample is known, which gets to know of it by a record that goes on, without time. */
void nytp_last_sample_put_if_long(struct nytp_writer *writer, struct nytp_last_sample *last);

#endif
