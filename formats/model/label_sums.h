/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Times of labels: how often each was set, how long each time, and the exclusive time of each
 * sub meanwhile. It is a sink for the events of one or several inputs. What recording cost is
 * subtracted (../model.md, "Labels").
 *
 * A label is a pair of key and value. It begins when the program sets it. It ends when the
 * program sets the key again or clears it, or with the process. A label of a whole profile is
 * one stretch, as long as all statements of the process.
 */
#ifndef NYTP_LABEL_SUMS_H
#define NYTP_LABEL_SUMS_H

#include "formats/stream/event.h"
#include "label_lengths.h"
#include "model.h"

/* Further labels are counted under the value "(more)". Further pairs of label and sub are
 * dropped, and their labels have no slowest sub. When NYTP_MOST_IN_FORCE keys have a value,
 * all others are counted as one key "(more)"; the same goes for labels of a whole profile. */
#define NYTP_MOST_LABELS     100000u
#define NYTP_MOST_LABEL_SUBS 5000000u

/* The kind of a sub's exclusive time. */
enum nytp_label_time {
    NYTP_LABEL_WORKING,
    NYTP_LABEL_DATABASE,
    NYTP_LABEL_WAITING,
};

/* `seconds` are exclusive; `calls` is 0 if unknown. */
typedef enum nytp_label_time nytp_label_time_fn(struct nytp_name sub, double seconds,
                                                uint64_t calls);

struct nytp_label_row {
    struct nytp_name key, value; /* as in the stream: control characters as \xHH */
    uint64_t n;                  /* stretches */
    double total_s, max_s;
    double median_s, p95_s;       /* to 0.2 % */
    double database_s, waiting_s; /* exclusive; 0 without nytp_label_sums_times() */
    bool knows_memory, knows_svs;
    int64_t memory_bytes; /* growth of the process in core meanwhile */
    int64_t svs;          /* values made minus freed meanwhile */
    uint32_t max_input;   /* input with the longest, counted from 0 */
    /* The sub with the most exclusive time in all these stretches, and its first line. "" if
     * calls are unknown or incomplete; no file if the line is unknown. The profiler's own subs
     * are excluded. */
    struct nytp_name slowest, slowest_file;
    uint32_t slowest_line;
    double slowest_s;
    const struct nytp_label_length *lengths; /* sorted, the shortest first */
    uint32_t n_lengths;
};

/* Attributes of the last recording that has them; "" if missing. */
struct nytp_label_input {
    struct nytp_name host, application, basetime;
};

struct nytp_label_sums;

/* NULL: memory is out. `as_recorded`: what recording cost is not subtracted. */
struct nytp_label_sums *nytp_label_sums_new(bool as_recorded);
void nytp_label_sums_free(struct nytp_label_sums *sums);

/* Sets the function that classifies subs. */
void nytp_label_sums_times(struct nytp_label_sums *sums, nytp_label_time_fn *time_of);

/* Returns the sink for nytp_read(). */
struct nytp_sink *nytp_label_sums_sink(struct nytp_label_sums *sums);

/* Counts values under the text that `group` returns, which must live until its next call. */
typedef struct nytp_str nytp_label_group_fn(void *context, struct nytp_str value);
void nytp_label_sums_group(struct nytp_label_sums *sums, nytp_label_group_fn *group,
                           void *context);

/* Returns whether any cost was subtracted. */
bool nytp_label_sums_are_corrected(const struct nytp_label_sums *sums);

/* Ends an input, complete or not. */
bool nytp_label_sums_end_input(struct nytp_label_sums *sums);

struct nytp_label_input nytp_label_sums_input(const struct nytp_label_sums *sums);

/* Returns the finest clock of all inputs. */
int64_t nytp_label_sums_ticks_per_sec(const struct nytp_label_sums *sums);

/* Returns all rows, sorted by key, then total (longest first), then value. The caller frees
 * the array; its contents live as long as `sums`, which accepts nothing more. Returns NULL if
 * memory is or was out. */
struct nytp_label_row *nytp_label_sums_rows(struct nytp_label_sums *sums, uint32_t *n_rows);

/* Copies a text that lives as long as `sums`. ptr is NULL if memory is out. */
struct nytp_name nytp_label_sums_keep(struct nytp_label_sums *sums, const char *text,
                                      size_t len);

#endif
