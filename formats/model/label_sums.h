/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What each label of a recording took: how often it was set, how long each time, and how much
 * of that time was each sub's own. A sink for events, of one input or of several one after the
 * other; the times are as recorded.
 *
 * A label is a pair of key and value. It begins where the program sets it and ends where the
 * program gives the key another value, the same one once more, or none, else with its process.
 * A label of a whole profile is one such stretch, as long as all statements of the process.
 */
#ifndef NYTP_LABEL_SUMS_H
#define NYTP_LABEL_SUMS_H

#include "formats/stream/event.h"
#include "model.h"

/* More labels than this are counted under the value "(more)"; of more pairs of label and
 * sub nothing is kept, and these labels have no slowest sub. Where NYTP_MOST_IN_FORCE keys have
 * a value, all others are one key "(more)", as they are of a whole profile with so many. */
#define NYTP_MOST_LABELS     100000u
#define NYTP_MOST_LABEL_SUBS 5000000u

/* So many stretches of a label were so long, to 0.2 %. */
struct nytp_label_length {
    uint32_t label; /* a number of its own */
    double seconds;
    uint64_t n;
};

/* What the own time of a sub is. */
enum nytp_label_time {
    NYTP_LABEL_WORKING,
    NYTP_LABEL_DATABASE,
    NYTP_LABEL_WAITING,
};

/* `seconds` of own time in so many calls; 0 where calls are not known. */
typedef enum nytp_label_time nytp_label_time_fn(struct nytp_name sub, double seconds,
                                                uint64_t calls);

struct nytp_label_row {
    struct nytp_name key, value; /* as in the stream: control characters as \xHH */
    uint64_t n;                  /* stretches */
    double total_s, max_s;
    double median_s, p95_s;       /* to 0.2 % */
    double database_s, waiting_s; /* own time of such subs; 0 without nytp_label_sums_times() */
    bool knows_memory, knows_svs;
    int64_t memory_bytes; /* by how much what the process had in core grew meanwhile */
    int64_t svs;          /* values made less freed meanwhile */
    uint32_t max_input;   /* the longest was in this input, counted from 0 */
    /* The sub with the most own time in all these stretches, and where it begins; "" when no
     * call is known, or not all are, and where no line is. The profiler's own subs are not
     * looked at. */
    struct nytp_name slowest, slowest_file;
    uint32_t slowest_line;
    double slowest_s;
    const struct nytp_label_length *lengths; /* the shortest first */
    uint32_t n_lengths;
};

/* What the input that was begun last says of itself; "" where it does not. */
struct nytp_label_input {
    struct nytp_name host, application, basetime;
};

struct nytp_label_sums;

struct nytp_label_sums *nytp_label_sums_new(void); /* NULL: no memory */
void nytp_label_sums_free(struct nytp_label_sums *sums);

/* Tell the subs of the database and those that wait from others. */
void nytp_label_sums_times(struct nytp_label_sums *sums, nytp_label_time_fn *time_of);

/* For nytp_read(). */
struct nytp_sink *nytp_label_sums_sink(struct nytp_label_sums *sums);

/* From here on each value is counted under the text that `group` makes of it, which has to
 * live until its next call. */
typedef struct nytp_str nytp_label_group_fn(void *context, struct nytp_str value);
void nytp_label_sums_group(struct nytp_label_sums *sums, nytp_label_group_fn *group,
                           void *context);

/* An input has been read to its end, early or not. */
bool nytp_label_sums_end_input(struct nytp_label_sums *sums);

struct nytp_label_input nytp_label_sums_input(const struct nytp_label_sums *sums);

/* Of the inputs' clocks the finest. */
int64_t nytp_label_sums_ticks_per_sec(const struct nytp_label_sums *sums);

/* All rows: sorted by key, then total, the longest first, then value. To be freed with free();
 * what is in it lives as long as `sums`, which nothing can be added to from here on. NULL when
 * memory is out, also if that was so before. */
struct nytp_label_row *nytp_label_sums_rows(struct nytp_label_sums *sums, uint32_t *n_rows);

/* A text that lives as long as `sums`; ptr NULL: no memory. */
struct nytp_name nytp_label_sums_keep(struct nytp_label_sums *sums, const char *text,
                                      size_t len);

#endif
