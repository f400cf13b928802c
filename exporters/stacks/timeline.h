/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A process's calls as opening and closing events in order of time, from the profile's spans.
 * Properly nested, never going back, everything closed at the end; the process itself is the
 * outermost frame.
 */
#ifndef NYTP_TIMELINE_H
#define NYTP_TIMELINE_H

#include "exporters/base/exporter.h"

struct nytp_timeline {
    /* the event that nytp_timeline_next() found */
    bool opens;
    uint32_t node;
    int64_t at_ticks;   /* from the process's start */
    uint32_t n_open;    /* frames open after it; what opens is number n_open - 1 */
    uint32_t innermost; /* node of the innermost of them; the root when none is */

    /* private */
    const struct nytp_profile *profile;
    uint32_t root, next, end; /* spans */
    int64_t end_ticks;
    uint32_t *open; /* spans that are open inside of the root's */
    uint32_t capacity;
    bool begun, no_memory;
};

/* Viewers go down a stack by recursion, and speedscope fails at some 6,000 calls. What is
 * called from call number NYTP_MOST_DRAWN on is drawn in one row above it, one after the other:
 * at each moment the innermost call. So each sub keeps its own time. */
#define NYTP_MOST_DRAWN 1000u

/* Begin with the process of this index; nytp_timeline_end() frees what it holds. */
void nytp_timeline_begin(struct nytp_timeline *timeline, const struct nytp_profile *profile,
                         uint32_t process);

/* Find the next event. False after the last one, and when memory is out (no_memory). */
bool nytp_timeline_next(struct nytp_timeline *timeline);
void nytp_timeline_end(struct nytp_timeline *timeline);

/* Returns whether a process's calls are there as spans. Of several inputs some may have been
 * recorded without call events (calls=0), and a selection may have taken the spans of all. */
bool nytp_process_has_timeline(const struct nytp_profile *profile, uint32_t process);

/* Returns whether calls of the process are deeper than NYTP_MOST_DRAWN. */
bool nytp_process_is_too_deep(const struct nytp_profile *profile, uint32_t process);

/* ", short calls (up to 12 µs) are in their callers", or "" when all calls of the process's
 * input are in the time line, and ", 12 stretches of labels are left out" likewise. Returns
 * `text`. */
const char *nytp_timeline_remark(const struct nytp_profile *profile, uint32_t process,
                                 char *text, size_t size);

/* When the first of all processes began, in seconds since 1970; 0: that is not known of any.
 * It looks at each of them: ask once for a profile. */
double nytp_first_start_s(const struct nytp_profile *profile);

/* Returns how long after that this process began, by the clock of the day: whole microseconds,
 * as nanoseconds. 0 when its start is not known, and when that is more than 92 days, which a
 * viewer's axis does not hold; the remark for the process's label then says so, and is ""
 * otherwise. */
int64_t nytp_process_offset_ns(const struct nytp_process *process, double first_start_s);
const char *nytp_process_offset_remark(const struct nytp_process *process,
                                       double first_start_s);

#endif
