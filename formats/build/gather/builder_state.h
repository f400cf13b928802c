/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A builder holds the sums over the events of one input. builder.c and the files of this folder
 * fill it, and assign.c makes the model of it.
 */
#ifndef NYTP_BUILDER_STATE_H
#define NYTP_BUILDER_STATE_H

#include "accept_waits.h"
#include "build_options.h"
#include "sample_waits.h"
#include "span_budget.h"

#include "formats/base/arena.h"
#include "formats/base/strings.h"
#include "formats/base/table.h"
#include "formats/build/tree/callstack.h"
#include "formats/model/model.h"

#define NYTP_SMALL_FIDS   1024u
#define NYTP_RECENT_LINES 8192u
#define NYTP_RECENT_SUBS  1024u

struct nytp_built_file {
    struct nytp_file model; /* but for its name and eval_file */
    uint32_t name;          /* string id, as are all names here */
    uint32_t eval_fid;
    uint32_t from_file, from_line; /* the statement left before the file's first began */
    bool executed;
};

struct nytp_built_process {
    struct nytp_process model; /* as far as it is known */
    uint32_t root;             /* node of the growing tree */
    int64_t clock;             /* sum of statement ticks */
    int64_t processor_ns;      /* the last that it told */
    uint64_t statements;
    uint32_t n_spans; /* of its calls that are in the list of spans */
    bool has_entries; /* statements are in their contexts; else all on lines of the root */
};

/* Sums of a recent line that the root's record of it lacks yet. Loops return to the same lines,
 * and here each line is one look-up. */
struct nytp_recent_line {
    uint64_t place; /* file << 32 | line; 0: none */
    int64_t ticks;
    uint64_t counts; /* after_leave << 32 | statements */
};

/* Each slot has the last line of the current process that was met in it. */
struct nytp_recent_lines {
    struct nytp_recent_line at[NYTP_RECENT_LINES];
    uint32_t n_met;                  /* slots that have a line, */
    uint16_t met[NYTP_RECENT_LINES]; /* and which */
    uint32_t n_statements;           /* that are counted here, at most */
};

struct nytp_built_range {
    uint32_t name, file, first_line, last_line;
};

struct nytp_built_span {
    uint32_t sub, file, line, depth;
    int64_t start_ticks, ticks;
};

/* The point where a label changes. */
struct nytp_built_mark {
    uint32_t stretch;
    bool is_end;       /* false: its begin */
    uint32_t depth;    /* of the innermost call around it; 0 = none */
    uint32_t n_before; /* spans in the list that had ended */
    int64_t at_ticks;  /* estimate on the time axis */
};

struct nytp_built_labels { /* labels.c */
    NYTP_LIST(struct nytp_built_mark) marks; /* as they came */
    NYTP_LIST(uint32_t) in_force; /* stretches of the current process that have not ended */
    bool any;
    uint64_t left_out;
    uint32_t own_depth;  /* of the calls that comments told of since the last label changed */
    uint32_t n_timed;    /* marks whose time no sample changes any more */
    int64_t ahead_ticks; /* of a sampled process: the label's clock, less that of samples */
    bool has_ahead;
};

struct nytp_built_profile_label {
    uint32_t key, value; /* string ids */
    bool is_replaced;    /* a later one has its key */
};

struct nytp_built_profile_labels { /* labels.c; of the process in progress */
    NYTP_LIST(struct nytp_built_profile_label); /* as they came */
    struct nytp_table by_key; /* (key) -> the last one */
    size_t len;               /* of their text */
};

struct nytp_built_memory { /* memory_points.c */
    uint32_t first_sample; /* of the process in progress */
    int64_t in_use, svs;   /* of that process, now */
    uint32_t n_freed;      /* samples, of all processes */
    struct {
        int64_t in_use, at_ticks;
        uint32_t n_samples, n_freed; /* in the tree, and freed, up to then */
    } peak;                          /* when most was in use, likewise */
};

struct nytp_built_in_use { /* in_use_before.c; of the process in progress */
    uint32_t root;              /* a tree by itself, or NYTP_NO_NODE */
    NYTP_LIST(uint32_t) nodes;  /* of the calls 1, 2, ... */
};

struct nytp_built_input { /* as far as it was read */
    uint32_t path;
    uint64_t offset; /* of the latest event, in the inflated stream if `inflated` */
    bool inflated;
};

struct nytp_built_settings { /* say how the rest is read */
    bool sampled;
    bool calls_2;                   /* calls=2 */
    uint32_t thread, parent_thread; /* of processes that begin now */
};

struct nytp_built_totals {          /* without signs; all have limits */
    int64_t ticks, statement_ticks; /* of all calls, all statements */
    int64_t bytes;                  /* that were allocated, and blocks */
    int64_t svs;                    /* that were made or freed */
    uint64_t proved_bytes;          /* of files of whose text the sum is known */
};

struct nytp_built_capacities { /* of the profile's arrays */
    uint32_t attributes, options, sources, blocks, regexes, stretches, memory_points;
};

struct nytp_built_files {
    NYTP_LIST(struct nytp_built_file);      /* [0] unused */
    struct nytp_table by_fid;               /* (fid) -> index */
    uint32_t by_small_fid[NYTP_SMALL_FIDS]; /* the same for low fids, 0 = not known */
};

struct nytp_built_arcs {
    NYTP_LIST(struct nytp_arc); /* caller and callee are string ids; caller 0: not recorded */
    struct nytp_table by_key;   /* (caller, callee, file, line) -> index */
};

struct nytp_built_subs {     /* by their names */
    uint32_t runtime, null;  /* main::RUNTIME, main::NULL */
    struct nytp_table xsubs; /* (name) -> 1 */
    uint32_t *names; /* of returns in the process in progress, by their number; 0: not met */
    uint32_t names_capacity;
    struct nytp_recent_sub {
        uint32_t name;
        bool is_leaf;
    } recent[NYTP_RECENT_SUBS]; /* that returned; leaf: known as a builtin or xsub */
};

struct nytp_built_spans {
    NYTP_LIST(struct nytp_built_span); /* by process, then in the order in which they ended */
    struct nytp_span_cut cut; /* of those so far */
    uint32_t wanted_depth; /* of the last call that was wanted (options.spans_of); 0 = none:
                              calls that end less deep lie around it */
    int64_t pruned_ticks;  /* the longest call that was left out of the time line */
    uint64_t n_pruned;
};

struct nytp_left_statement { /* the last one, and events since its time record */
    uint32_t file, line;
    bool discount;
    bool returned;       /* a Perl sub returned */
    bool discount_calls; /* the discount is for such a return, not for a block that was left */
};

struct nytp_builder {
    struct nytp_sink sink;
    struct nytp_build_options options;
    struct nytp_error error;
    struct nytp_built_input input;
    struct nytp_built_settings settings;
    struct nytp_built_totals seen;

    /* The profile: owns strings and arena. Here already have their rows, as they came:
     * attributes and options, sources, blocks (also of string evals), regexes, memory points
     * (at_ticks as recorded) and stretches (their times come from the marks). It also has the
     * contents of the recording and the faults so far. */
    struct nytp_profile *p;
    struct nytp_built_capacities capacities;
    struct nytp_strings *strings;
    struct nytp_callstack stack; /* and the tree that grows from it */

    NYTP_LIST(struct nytp_built_process) processes;
    bool in_process;
    int64_t time_position; /* the latest instant that is taken on the current time axis */
    struct nytp_left_statement left;

    struct nytp_built_files files;
    struct nytp_recent_lines *recent; /* NULL: no line was met yet */
    NYTP_LIST(struct nytp_built_range) ranges;
    struct nytp_built_arcs arcs;
    struct nytp_built_subs subs;
    struct nytp_table block_by_lines; /* all four of them */
    struct nytp_built_spans spans;
    struct nytp_built_labels labels;
    struct nytp_built_profile_labels profile_labels;
    struct nytp_built_memory memory;
    struct nytp_built_in_use in_use;
    struct nytp_accept_waits accepts;
    struct nytp_sample_waits waits; /* if sampled */
};

/* The recording has counts only: takes all its ticks as 0. Does nothing behind its first
 * statement or call. */
void nytp_builder_has_no_times(struct nytp_builder *b);

/* Set the builder's error and return false. The second: the call stack reached a limit, which
 * the message names, or memory is out. */
bool nytp_builder_out_of_memory(struct nytp_builder *builder);
bool nytp_builder_tree_failed(struct nytp_builder *builder);

/* Notes that the sub of this name is an xsub. Returns false with the builder's error set. */
bool nytp_builder_xsub(struct nytp_builder *builder, uint32_t name);

/* Finds the id of a string of the stream, in UTF-8. Returns false with the builder's error set. */
static inline bool nytp_builder_name(struct nytp_builder *b, const struct nytp_str *s,
                                     uint32_t *id)
{
    *id = nytp_strings_intern_mixed(b->strings, s->ptr, s->len);
    return *id != UINT32_MAX || nytp_builder_out_of_memory(b);
}

#endif
