/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Devel::DProf's tmon.out, written while a program runs (formats/dprof.md describes the format;
 * exporters/tmon.c writes one of a finished profile). Marks are lines of text, so the writer
 * only collects them in a buffer and hands that on when it is full or is flushed. What is on
 * disk is a profile at any time: a header without totals, and the marks so far. The header has
 * a fixed length, so that it can be written over with the totals at the end.
 */
#ifndef NYTP_MARKS_H
#define NYTP_MARKS_H

#include "formats/deflate/deflate.h"

/* Readings of the three clocks, in nanoseconds from when the profile began. */
enum nytp_marks_clock {
    NYTP_MARKS_USER,
    NYTP_MARKS_SYSTEM,
    NYTP_MARKS_REAL,
    NYTP_MARKS_CLOCKS
};

struct nytp_marks_times {
    int64_t ns[NYTP_MARKS_CLOCKS];
};

/* Where a writer is; a copy of it is enough to go back, if the buffer was empty. */
struct nytp_marks_place {
    int64_t ticks[NYTP_MARKS_CLOCKS]; /* clock ticks that `@` lines have told */
    int64_t n_marks;
    uint32_t last_id;
};

struct nytp_marks {
    struct nytp_marks_place place;
    uint32_t hz;                   /* clock ticks per second */
    struct nytp_marks_times *cost; /* of `n_cost` calls of the recorder, or NULL; borrowed */
    uint32_t n_cost;
    char *at, *block, *end;  /* the buffer; owned */
    char *enter, *enter_end; /* the last enter mark, while nothing follows it */
    bool failed;             /* sticky: `put` refused */
    nytp_bytes_fn *put;
    void *context;
};

/* `size` bytes of buffer at least. NULL when out of memory. */
struct nytp_marks *nytp_marks_new(uint32_t hz, size_t size, nytp_bytes_fn *put, void *context);
void nytp_marks_free(struct nytp_marks *marks); /* does not flush; accepts NULL */

#define NYTP_MARKS_HEADER 512

/* Fill `header` with the header's text. `run` is what the whole run took; NULL while it goes
 * on: readers take the profile for that of a program that was killed. */
void nytp_marks_header(const struct nytp_marks *marks, const struct nytp_marks_times *run,
                       char header[NYTP_MARKS_HEADER]);

/* Begin a new profile: the header, without totals. What the buffer held is forgotten. */
void nytp_marks_begin(struct nytp_marks *marks);

/* A sub is entered at `now`. `*id` is the number that this profile knows it by, 0: none yet. */
void nytp_marks_enter(struct nytp_marks *marks, const struct nytp_marks_times *now,
                      uint32_t *id, const char *name, size_t name_len);

/* The innermost sub that is open is left. */
void nytp_marks_leave(struct nytp_marks *marks, const struct nytp_marks_times *now,
                      uint32_t id);

/* The last mark, an enter mark of the sub with `*old_id`, turns out to be that of another sub.
 */
void nytp_marks_correct(struct nytp_marks *marks, const struct nytp_marks_times *now,
                        uint32_t *old_id, uint32_t *id, const char *name, size_t name_len);

/* Hand on what the buffer holds. False when the writer has failed. */
bool nytp_marks_flush(struct nytp_marks *marks);

#endif
