/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Writes Devel::DProf's tmon.out while a program runs (formats/dprof.md describes the format;
 * exporters/tmon.c writes one of a finished profile). Marks are lines of text in a buffer,
 * passed on when it is full or flushed. The file is a profile at any time: a header without
 * totals, and the marks so far. The header has a fixed length, so that the totals can
 * overwrite it at the end.
 */
#ifndef NYTP_MARKS_H
#define NYTP_MARKS_H

#include "formats/deflate/deflate.h"

/* Readings of the three clocks, in nanoseconds since the profile began. */
enum nytp_marks_clock {
    NYTP_MARKS_USER,
    NYTP_MARKS_SYSTEM,
    NYTP_MARKS_REAL,
    NYTP_MARKS_CLOCKS
};

struct nytp_marks_times {
    int64_t ns[NYTP_MARKS_CLOCKS];
};

/* The state of a writer. If its buffer is empty, restoring a copy goes back to that state. */
struct nytp_marks_place {
    int64_t ticks[NYTP_MARKS_CLOCKS]; /* sums of the `@` lines so far */
    int64_t n_marks;
    uint32_t last_id;
};

struct nytp_marks {
    struct nytp_marks_place place;
    uint32_t hz;                   /* clock ticks per second */
    struct nytp_marks_times *cost; /* of `n_cost` calls of the recorder, or NULL; borrowed */
    uint32_t n_cost;
    char *at, *block, *end;  /* the buffer; owned */
    char *enter, *enter_end; /* the last enter mark, if nothing follows it */
    bool failed;             /* sticky: `put` refused */
    nytp_bytes_fn *put;
    void *context;
};

/* Returns a writer with a buffer of at least `size` bytes, or NULL if memory is out. */
struct nytp_marks *nytp_marks_new(uint32_t hz, size_t size, nytp_bytes_fn *put, void *context);
void nytp_marks_free(struct nytp_marks *marks); /* does not flush; accepts NULL */

#define NYTP_MARKS_HEADER 512

/* Stores the header's text. `run` is the time of the whole run, or NULL while it goes on:
 * readers then take the profile for that of a killed program. */
void nytp_marks_header(const struct nytp_marks *marks, const struct nytp_marks_times *run,
                       char header[NYTP_MARKS_HEADER]);

/* Begins a new profile with a header without totals. Discards the buffer. */
void nytp_marks_begin(struct nytp_marks *marks);

/* Records the entry to a sub. `*id` is its number in this profile; 0 becomes a new one. */
void nytp_marks_enter(struct nytp_marks *marks, const struct nytp_marks_times *now,
                      uint32_t *id, const char *name, size_t name_len);

/* Records the return of the innermost open sub. */
void nytp_marks_leave(struct nytp_marks *marks, const struct nytp_marks_times *now,
                      uint32_t id);

/* Replaces the last enter mark, of the sub `*old_id`, by one of another sub. */
void nytp_marks_correct(struct nytp_marks *marks, const struct nytp_marks_times *now,
                        uint32_t *old_id, uint32_t *id, const char *name, size_t name_len);

/* Passes the buffer on. Returns false if the writer has failed. */
bool nytp_marks_flush(struct nytp_marks *marks);

#endif
