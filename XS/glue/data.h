/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A profile on its way into the Perl structures of Devel::NYTProf::Data: positional arrays
 * whose indices are published constants (Devel::NYTProf::Constants), so they are part of the
 * interface.
 *
 * data_events.h puts each event of a recording where it belongs. Calls go into the arrays that
 * Perl code gets; the times of lines, which are most of a recording, into arrays of C.
 * data_evals.h merges string evals. load.c makes the rest and links files and subs.
 *
 * Statements have ticks, calls seconds. Include perl.h before it.
 */
#ifndef NYTP_DATA_H
#define NYTP_DATA_H

#include "formats/base/arena.h"
#include "formats/base/error.h"
#include "formats/stream/event.h"

/* Limits against damaged files. Arrays by file id and by line are dense, as in Perl. */
#define NYTP_DATA_MAX_FID   0x3fffffu  /* highest file id */
#define NYTP_DATA_MAX_LINE  0x3fffffu  /* highest line of a file */
#define NYTP_DATA_MAX_LINES 0x1000000u /* lines of all files together */

enum nytp_file_index {
    FILE_NAME,
    FILE_EVAL_FID,
    FILE_EVAL_LINE,
    FILE_FID,
    FILE_FLAGS,
    FILE_SIZE,
    FILE_MTIME,
    FILE_PROFILE,
    FILE_EVAL_FI,
    FILE_HAS_EVALS,
    FILE_SUBS_DEFINED,
    FILE_SUBS_CALLED,
    FILE_META = 13
};

enum nytp_sub_index {
    SUB_FID,
    SUB_FIRST_LINE,
    SUB_LAST_LINE,
    SUB_CALL_COUNT,
    SUB_INCL,
    SUB_EXCL,
    SUB_NAME,
    SUB_PROFILE,
    SUB_REC_DEPTH,
    SUB_RECI,
    SUB_CALLED_BY, /* a hash {file id}{line}: an array of the calls from there */
    SUB_META = 12
};

enum nytp_call_index {
    CALL_COUNT,
    CALL_INCL,
    CALL_EXCL,
    CALL_SPARE, /* and the one behind it: 0 */
    CALL_RECI = 5,
    CALL_REC_DEPTH,
    CALL_CALLERS /* a hash: names of the subs that called from there */
};

/* The positions of the five sums in the array of a sub or a call. */
struct nytp_sums_at {
    SSize_t count, incl, excl, reci, rec_depth;
};

/* The time of a statement is booked on its own line, on the first line of the innermost block
 * around it, and on the first line of its sub. The last two need the option blocks=1. */
enum nytp_level {
    NYTP_LEVEL_LINE,
    NYTP_LEVEL_BLOCK,
    NYTP_LEVEL_SUB,
    NYTP_LEVELS
};

struct nytp_data_time {
    int64_t ticks;
    uint32_t count; /* executions; records that only add time do not count */
    bool seen;      /* a statement of this line was recorded; `count` may be 0 */
};

struct nytp_data_lines {
    struct nytp_data_time *at; /* by line, from 0 */
    U32 n;
};

/* A file or a string eval. The numbers are those of its NEW_FID record (nytprof-v5.md). */
struct nytp_data_file {
    U32 fid, eval_fid, eval_line, flags, size, mtime_s;
    SV *name;
    struct nytp_data_lines times[NYTP_LEVELS];
    AV *source; /* recorded text by line, or NULL; belongs to fid_srclines */
    struct nytp_data_file *ran;         /* the file that ran this string eval, or NULL */
    struct nytp_data_file *merged_into; /* the sibling that took it over, or NULL */
    U32 n_merged;                       /* files that it took over */
    bool has_evals;                     /* it ran another */
    bool src_varied;                    /* some evals merged into it had other source */
    U32 walk;                           /* see cut_eval_rings() */
    AV *info;                           /* its FileInfo, or NULL: not made yet, or merged */
};

struct nytp_data_process {
    U32 pid;
    NV start_s;
};

struct nytp_data {
    struct nytp_sink sink; /* for a reader */
    struct nytp_statement run[NYTP_MAX_RUN];
    struct nytp_error error; /* the reason why `sink` stopped the reader */
#ifdef MULTIPLICITY
    tTHX perl;
#endif
    HV *profile; /* the object; the members below belong to it */
    HV *attributes, *options;
    HV *subs;    /* by name: references to SubInfo arrays, not yet blessed */
    AV *sources; /* by file id */
    HV *foreign; /* names of xsubs and opcodes */

    struct nytp_data_file **files; /* by file id; NULL: not defined */
    U32 n_files;
    uint64_t dense_lines; /* of all of them */

    NYTP_LIST(struct nytp_data_process) open; /* their ends were not seen */
    NV ticks_per_sec;            /* 0: not known */
    NV start_s, end_s;           /* epoch, of the last process */
    NV duration_s;               /* of all processes together */
    uint64_t n_times;            /* time records of statements */
    uint64_t n_sub_calls;        /* in the recording's sums */
    uint64_t n_discounts;        /* time records that do not count a statement */
    int64_t total_ticks;
    bool has_blocks, has_processes;
    bool has_no_times; /* counts=1 */
    bool discount;     /* DISCOUNT seen since the last time record */
    bool inflated;
};

/* Returns the file, or NULL if the id is not defined. */
static inline struct nytp_data_file *nytp_data_file(const struct nytp_data *data, U32 fid)
{
    return fid < data->n_files ? data->files[fid] : NULL;
}

#endif
