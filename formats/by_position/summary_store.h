/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A profile summed up the way the recording numbers it: per file id and line, per sub and call
 * site. This is what the loading API of the Perl side shows (positions, not a call tree);
 * exporters use the model instead.
 *
 * Give `sink` to a reader, then call nytp_summary_finish() once and, if wanted,
 * nytp_summary_merge_evals(). Everything is then flat arrays that refer to each other by index;
 * where an index leads nowhere it is NYTP_SUMMARY_NONE ("NONE" below). The summary owns all of
 * them, and everything goes with nytp_summary_free().
 *
 * Times of statements are in ticks of the recording's clock (ticks_per_sec), times of calls in
 * seconds: each as the stream has them.
 */
#ifndef NYTP_SUMMARY_STORE_H
#define NYTP_SUMMARY_STORE_H

#include "formats/base/arena.h"
#include "formats/base/error.h"
#include "formats/stream/event.h"
#include "formats/base/strings.h"
#include "formats/base/table.h"

/* What a damaged file can make us allocate: arrays by file id and by line are dense, as the
 * Perl structures built from them are. */
#define NYTP_SUMMARY_MAX_FID   0x3fffffu  /* highest file id */
#define NYTP_SUMMARY_MAX_LINE  0x3fffffu  /* highest line of a file */
#define NYTP_SUMMARY_MAX_LINES 0x1000000u /* dense line slots of all files together */

#define NYTP_SUMMARY_NONE UINT32_MAX

/* What the time of a statement is booked on: its own line, the first line of the innermost
 * block around it, or the first line of the sub that it is in. The last two are recorded with
 * the option blocks=1 only. */
enum nytp_level {
    NYTP_LEVEL_LINE,
    NYTP_LEVEL_BLOCK,
    NYTP_LEVEL_SUB,
    NYTP_LEVELS
};

/* A name: bytes as recorded. `utf8` only where the recording says so, they are well-formed
 * and not plain ASCII. */
struct nytp_summary_name {
    uint32_t id; /* in the summary's strings */
    bool utf8;
};

/* What a line, a block or a sub took: all of its statements together. */
struct nytp_summary_time {
    int64_t ticks;
    uint32_t count; /* statements that were run; records that only add time do not count */
    bool seen;      /* a statement of this line was recorded (its count may still be 0) */
};

struct nytp_summary_lines {
    struct nytp_summary_time *at; /* by line, at[0] is line 0 */
    uint32_t n;
};

/* A source line as it was recorded. ptr NULL: the recording has no text for this line. */
struct nytp_summary_text {
    const char *ptr;
    uint32_t len;
    bool utf8;
};

/* A file of the program or a string eval. The first members are those of its NEW_FID record
 * (nytprof-v5.md); mtime_s is in seconds since 1970, eval_fid is 0 for what is no eval. */
struct nytp_summary_file {
    uint32_t fid, eval_fid, eval_line, flags, size, mtime_s;
    struct nytp_summary_name name;
    struct nytp_summary_lines times[NYTP_LEVELS];
    struct nytp_summary_text *source; /* by line; source[0] is never set */
    uint32_t n_source;
    uint32_t eval_file;   /* index of the file whose line ran this string eval, or NONE */
    uint32_t merged_into; /* index of the sibling that took it over, or NONE */
    /* The files that it took over are a list in order of fid: first_merged and last_merged are
     * its ends, next_merged leads from one of them to the next. NONE where there is none. */
    uint32_t first_merged, last_merged, next_merged;
    uint32_t n_merged;
    bool has_evals;  /* it is the eval_file of some file */
    bool src_varied; /* it took over evals of other source than its own */
};

/* Calls of one sub from one place: an arc. Times are in seconds. Inclusive time counts
 * outermost calls of the callee only; the inclusive time of those inside another call of it is
 * reci_s. */
struct nytp_summary_call {
    uint32_t sub;       /* callee */
    uint32_t fid, line; /* call site */
    uint32_t count, rec_depth;
    double incl_s, excl_s, reci_s;
    uint32_t first_caller; /* into callers */
    uint32_t next;         /* next call of the same sub, or NONE */
};

/* The name of a sub that called from that place; there can be several. */
struct nytp_summary_caller {
    struct nytp_summary_name name;
    uint32_t next; /* next caller of the same call, or NONE */
};

struct nytp_summary_sub {
    struct nytp_summary_name name;
    uint32_t fid; /* 0 = no SUB_INFO */
    uint32_t first_line, last_line;
    bool has_range;  /* first_line and last_line are known */
    bool is_foreign; /* marked as xsub or opcode */
    uint64_t count;  /* sums over its calls, by nytp_summary_finish() */
    uint32_t rec_depth;
    double incl_s, excl_s, reci_s;
    uint32_t first_call, last_call; /* ends of the list of its calls, which `next` links */
    uint32_t merged_into;           /* the sub that took it over, or NONE, … */
    uint32_t first_merged, last_merged, next_merged; /* … and its list, as for files */
};

struct nytp_summary_pair {
    struct nytp_summary_name key, value;
};

struct nytp_summary_pairs { /* in order of first sight; a later value replaces an earlier one;
                             * 1000 at most, others are not kept */
    struct nytp_summary_pair *at;
    uint32_t n, capacity;
};

struct nytp_summary {
    struct nytp_sink sink;
    struct nytp_statement run[NYTP_MAX_RUN]; /* the room of `sink` */
    struct nytp_error error;                 /* why `sink` stopped the reader */

    struct nytp_summary_pairs attributes, options;
    struct nytp_summary_file *files; /* sorted by fid after nytp_summary_finish() */
    struct nytp_summary_sub *subs;   /* in order of first sight */
    struct nytp_summary_call *calls;
    struct nytp_summary_caller *callers;
    uint32_t n_files, n_subs, n_calls, n_callers;
    uint32_t max_fid;

    double ticks_per_sec;
    double start_s, end_s; /* epoch, of the last process */
    double duration_s;     /* of all processes together */
    uint32_t n_open;       /* processes whose end was not seen */
    /* n_times: time records of statements. n_sub_calls: calls of subs, by the recording's sums.
     * n_negative: those of the time records whose ticks are below 0. */
    uint64_t n_times, n_sub_calls, n_negative;
    uint64_t n_discounts; /* time records that add time to a statement without counting one */
    int64_t total_ticks;
    bool has_blocks, has_processes;

    /* the rest belongs to summary.c */
    struct nytp_strings *strings;
    struct nytp_arena *arena;
    uint32_t *file_of_fid; /* by fid, NONE = undefined */
    uint32_t n_fids;
    struct nytp_table sub_of_name, call_of_place, caller_of_call;
    uint32_t files_capacity, subs_capacity, calls_capacity, callers_capacity;
    uint64_t dense_lines;
    bool discount; /* DISCOUNT seen since the last time record */
    bool inflated;
    uint32_t *pids;
    double *pid_starts;
    uint32_t n_pids, pids_capacity, pid_starts_capacity;
};

void nytp_summary_free(struct nytp_summary *summary); /* accepts NULL */

/* Index of the file, or NONE. */
uint32_t nytp_summary_file_of(const struct nytp_summary *summary, uint32_t fid);

/* Bytes of a name. */
struct nytp_str nytp_summary_str(const struct nytp_summary *summary,
                                 struct nytp_summary_name name);

/* For who fills it: the name with this text; a call at a place of a sub, added when absent
 * (NONE when memory is out); a caller of it; the slot of a line, grown as needed (NULL on
 * failure); the sums of all subs over their calls. */
bool nytp_summary_intern(struct nytp_summary *summary, struct nytp_str text,
                         struct nytp_summary_name *name);
uint32_t nytp_summary_call_at(struct nytp_summary *summary, uint32_t sub, uint32_t fid,
                              uint32_t line);
bool nytp_summary_add_caller(struct nytp_summary *summary, uint32_t call,
                             struct nytp_summary_name name);
struct nytp_summary_time *nytp_summary_time_at(struct nytp_summary *summary, uint32_t file,
                                               enum nytp_level level, uint32_t line);
void nytp_summary_sum_subs(struct nytp_summary *summary);

/* Set the error and return false. */
bool nytp_summary_no_memory(struct nytp_summary *summary);

/* Whether a text is told to be UTF-8, is it, and is not plain ASCII. */
bool nytp_summary_keep_utf8(struct nytp_str text);

/* Grow a dense array by line to hold `line`; new elements are zero. */
bool nytp_summary_reserve_line(struct nytp_summary *summary, void *array_ptr, uint32_t *n,
                               uint32_t line, size_t element_size);

#endif
