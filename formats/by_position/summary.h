/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A summary holds the sums of a recording by file id and line, and by sub and call site.
 * Perl's reading API shows these positions. Exporters use the model, which has a call tree.
 *
 * Give `sink` to a reader, then call nytp_summary_finish() once and, if wanted,
 * nytp_summary_merge_evals(). The flat arrays then refer to each other by index; an index that
 * leads nowhere is NYTP_SUMMARY_NONE ("NONE" below). nytp_summary_free() frees all of them.
 *
 * Times have the stream's units: statements ticks (ticks_per_sec), calls seconds.
 */
#ifndef NYTP_SUMMARY_H
#define NYTP_SUMMARY_H

#include "formats/base/arena.h"
#include "formats/base/error.h"
#include "formats/stream/event.h"
#include "formats/base/strings.h"
#include "formats/base/table.h"

/* Limits of the arrays, against damaged files. Arrays by file id and by line are dense, as the
 * Perl structures built from them are. */
#define NYTP_SUMMARY_MAX_FID   0x3fffffu  /* highest file id */
#define NYTP_SUMMARY_MAX_LINE  0x3fffffu  /* highest line of a file */
#define NYTP_SUMMARY_MAX_LINES 0x1000000u /* dense line slots of all files together */

#define NYTP_SUMMARY_NONE UINT32_MAX

/* The time of a statement is booked on its own line, on the first line of the innermost block
 * around it, and on the first line of its sub. The last two need the option blocks=1. */
enum nytp_level {
    NYTP_LEVEL_LINE,
    NYTP_LEVEL_BLOCK,
    NYTP_LEVEL_SUB,
    NYTP_LEVELS
};

/* The bytes of a name as recorded. `utf8`: the recording says so, and they are well-formed and
 * not plain ASCII. */
struct nytp_summary_name {
    uint32_t id; /* in the summary's strings */
    bool utf8;
};

/* The sum over all statements of a line, a block or a sub. */
struct nytp_summary_time {
    int64_t ticks;
    uint32_t count; /* executions; records that only add time do not count */
    bool seen;      /* a statement of this line was recorded; `count` may be 0 */
};

struct nytp_summary_lines {
    struct nytp_summary_time *at; /* by line, at[0] is line 0 */
    uint32_t n;
};

/* A recorded source line. ptr is NULL if the recording has no text for it. */
struct nytp_summary_text {
    const char *ptr;
    uint32_t len;
    bool utf8;
};

/* A file of the program or a string eval. The first members are those of its NEW_FID record
 * (nytprof-v5.md). mtime_s is in seconds since 1970. eval_fid is 0 if it is no eval. */
struct nytp_summary_file {
    uint32_t fid, eval_fid, eval_line, flags, size, mtime_s;
    struct nytp_summary_name name;
    struct nytp_summary_lines times[NYTP_LEVELS];
    struct nytp_summary_text *source; /* by line; source[0] is never set */
    uint32_t n_source;
    uint32_t eval_file;   /* index of the file whose line ran this string eval, or NONE */
    uint32_t merged_into; /* index of the sibling that took it over, or NONE */
    uint32_t n_merged;    /* files that it took over */
    bool has_evals;  /* some file's eval_file is this one */
    bool src_varied; /* some evals merged into it had other source */
};

/* An arc: the calls of one sub from one place. Times are in seconds. incl_s is the inclusive
 * time of outermost calls, reci_s that of calls within another call of the same sub. */
struct nytp_summary_call {
    uint32_t sub;       /* callee */
    uint32_t fid, line; /* call site */
    uint32_t count, rec_depth;
    double incl_s, excl_s, reci_s;
    uint32_t first_caller; /* into callers */
    uint32_t next;         /* next call of the same sub, or NONE */
};

/* The name of a sub that called from that place. Several may have. */
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
    uint32_t merged_into;           /* the sub that took it over, or NONE */
    /* A list, in order of name, of the subs that it took over. first_merged and last_merged are
     * its ends, and each sub's next_merged is the next one, or NONE. */
    uint32_t first_merged, last_merged, next_merged;
};

struct nytp_summary_pair {
    struct nytp_summary_name key, value;
};

/* In order of first sight. A later value replaces an earlier one. Holds 1000 at most. */
struct nytp_summary_pairs {
    NYTP_LIST(struct nytp_summary_pair);
};

struct nytp_summary_files {
    NYTP_LIST(struct nytp_summary_file); /* sorted by fid after nytp_summary_finish() */
    uint32_t *by_fid;                    /* indices; NONE = undefined */
    uint32_t n_fids;
    uint64_t dense_lines; /* of all of them */
};

struct nytp_summary_subs {
    NYTP_LIST(struct nytp_summary_sub); /* in order of first sight */
    struct nytp_table by_name;
};

struct nytp_summary_calls {
    NYTP_LIST(struct nytp_summary_call);
    struct nytp_table by_place;
};

struct nytp_summary_callers {
    NYTP_LIST(struct nytp_summary_caller);
    struct nytp_table by_call;
};

struct nytp_summary_process {
    uint32_t pid;
    double start_s;
};

struct nytp_summary {
    struct nytp_sink sink;
    struct nytp_statement run[NYTP_MAX_RUN]; /* the room of `sink` */
    struct nytp_error error;                 /* the reason why `sink` stopped the reader */

    struct nytp_summary_pairs attributes, options;
    struct nytp_summary_files files;
    struct nytp_summary_subs subs;
    struct nytp_summary_calls calls;
    struct nytp_summary_callers callers;

    double ticks_per_sec;
    double start_s, end_s; /* epoch, of the last process */
    double duration_s;     /* of all processes together */
    NYTP_LIST(struct nytp_summary_process) open; /* their ends were not seen */
    uint64_t n_times;      /* time records of statements */
    uint64_t n_sub_calls;  /* in the recording's sums */
    uint64_t n_discounts;  /* time records that add time to a statement without counting one */
    int64_t total_ticks;
    bool has_blocks, has_processes;
    bool has_no_times; /* counts=1 */

    struct nytp_strings *strings;
    struct nytp_arena *arena;
    bool discount; /* DISCOUNT seen since the last time record */
    bool inflated;
};

/* Returns a summary for one input, or NULL if memory is out. Freeing accepts NULL. */
struct nytp_summary *nytp_summary_new(void);
void nytp_summary_free(struct nytp_summary *summary);

/* Sorts the files, finds the file that ran each eval, sums the subs. Returns false with
 * summary->error set. */
bool nytp_summary_finish(struct nytp_summary *summary);

/* Merges sibling string evals (formats/model/sibling_evals.h). The lowest file id stays and
 * takes over calls, subs and times of lines, not of blocks and subs. Anonymous subs of the same
 * line of merged evals become one. Returns false with summary->error set. */
bool nytp_summary_merge_evals(struct nytp_summary *summary, uint32_t max_siblings);

/* Returns the index of the file, or NONE. */
uint32_t nytp_summary_file_of(const struct nytp_summary *summary, uint32_t fid);

/* Returns the bytes of a name, which belong to the summary. */
struct nytp_str nytp_summary_str(const struct nytp_summary *summary,
                                 struct nytp_summary_name name);

/* ---- for the files that fill a summary ---- */

/* Makes the name with this text. */
bool nytp_summary_intern(struct nytp_summary *summary, struct nytp_str text,
                         struct nytp_summary_name *name);
/* Returns the call of a sub from a place, added if absent, or NONE if memory is out. */
uint32_t nytp_summary_call_at(struct nytp_summary *summary, uint32_t sub, uint32_t fid,
                              uint32_t line);
/* Adds a caller to a call. */
bool nytp_summary_add_caller(struct nytp_summary *summary, uint32_t call,
                             struct nytp_summary_name name);
/* Returns the slot of a line, whose array grows as needed, or NULL. */
struct nytp_summary_time *nytp_summary_time_at(struct nytp_summary *summary, uint32_t file,
                                               enum nytp_level level, uint32_t line);
/* Sums up each sub over its calls. */
void nytp_summary_sum_subs(struct nytp_summary *summary);

/* Returns true if a text is marked as UTF-8, is valid UTF-8, and is not plain ASCII. */
bool nytp_summary_keep_utf8(struct nytp_str text);

/* Grows a dense array by line so that it holds `line`. New elements are zero. */
bool nytp_summary_reserve_line(struct nytp_summary *summary, void *array_ptr, uint32_t *n,
                               uint32_t line, size_t element_size);

#endif
