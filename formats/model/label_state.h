/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The sums of label_sums.h while they grow. label_events.c fills them, and label_rows.c makes
 * rows of them.
 */
#ifndef NYTP_LABEL_STATE_H
#define NYTP_LABEL_STATE_H

#include "event_costs.h"
#include "label_sums.h"
#include "returns.h"

#include "formats/base/arena.h"
#include "formats/base/strings.h"
#include "formats/base/table.h"

struct label {
    uint32_t key; /* string id */
    /* Its lengths and its slowest sub are found in the end. */
    struct nytp_label_row row;
    bool lacks_subs; /* no room for the times of some subs */
    double around_s; /* subtracted from its total, but from no cell */
};

/* A label whose key has no other value yet. */
struct in_force {
    uint32_t label;
    int64_t since_ticks; /* on the process's axis */
    int64_t since_clock; /* statements' ticks */
    int64_t since_memory, since_svs;
    struct nytp_event_counts since;
};

struct in_force_list {
    NYTP_LIST(struct in_force);
};

/* A stretch that has ended. The costs are the means of more events, the later they are read. */
struct ended {
    uint32_t label;
    double seconds;
    struct nytp_event_counts n;
};

struct cell {
    uint32_t label, sub;
    double seconds;
    uint64_t calls; /* calls that returned under the label */
};

struct sub {
    uint32_t file, first_line; /* string id of its name; 0, 0: unknown */
    enum nytp_sub_kind kind;
    bool is_met;
    /* in the current process: */
    double seconds; /* exclusive */
    uint64_t calls;
    bool is_listed; /* among those that have some time */
};

/* The current process. */
struct process {
    double ticks_per_sec;
    int64_t clock;  /* sum of its statements so far */
    int64_t memory; /* last known bytes in core; 0: unknown */
    int64_t svs;    /* made minus freed so far */
    bool has_svs;
    double calls_s;          /* exclusive time of all its calls */
    struct nytp_costs costs; /* as told last */
    struct nytp_event_counter counter;
    NYTP_LIST(struct ended) ended; /* up to MOST_ENDED stretches */
    struct in_force_list active;
    struct in_force_list of_profile; /* of the whole profile, without a beginning */
    NYTP_LIST(uint32_t) timed;       /* subs that have exclusive time */
    struct recorded {
        double ticks;
        uint64_t n_returned; /* returns so far when it was first recorded */
    } * recorded;            /* by depth: recorded exclusive time of the open call */
    uint32_t recorded_capacity;
    struct nytp_returns returns; /* since the first such record */
};

struct nytp_label_sums {
    struct nytp_sink sink;
    bool failed; /* memory is out */
    bool as_recorded;
    double recording_s; /* subtracted, of all labels */
    struct nytp_strings *strings;
    uint32_t name_more;

    NYTP_LIST(struct label) labels;
    struct nytp_table by_pair; /* (key, value) -> label */
    struct nytp_label_lengths lengths;
    NYTP_LIST(struct cell) cells;
    struct nytp_table by_sub; /* (label, sub) -> cell */
    struct sub *subs;         /* by string id of the name */
    uint32_t subs_capacity;
    nytp_label_time_fn *time_of;
    nytp_label_group_fn *group;
    void *group_context;

    /* the current input */
    uint32_t input;
    struct nytp_table name_of_fid; /* (fid) -> string id */
    struct nytp_label_input attributes;
    int64_t most_ticks_per_sec; /* of all inputs so far; 0: unknown */

    struct process now;
};

#endif
