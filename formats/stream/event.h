/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The events between input formats and everything behind them. A reader (formats/NAME.c) turns
 * bytes into struct nytp_event and passes each to a sink: the builder of the model, the
 * summary, the merge of streams, the dump, or the callbacks of Perl code.
 */
#ifndef NYTP_EVENT_H
#define NYTP_EVENT_H

#include "formats/base/strings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NYTP_MAX_DEPTH 1000000u /* of calls; anything deeper is damage */

enum nytp_tag {
#define NYTP_TAG(name, byte) NYTP_TAG_##name,
#include "tags.def"
    NYTP_TAG_COUNT
};

/* "TIME_LINE" and so on; valid for every enum value. */
const char *nytp_tag_name(enum nytp_tag tag);

/* Returns true if the attribute is a count, so that several inputs have the sum. */
bool nytp_attribute_is_count(const char *key, size_t len);

/* Fields and units: nytprof-v5.md, section "Records". Times are as on disk: ticks in
 * SUB_RETURN, seconds in SUB_CALLERS. Ticks may be negative. fields.def lists the fields for
 * loops over them. */

struct nytp_version {
    uint32_t major, minor;
};

struct nytp_setting { /* ATTRIBUTE and OPTION */
    struct nytp_str key, value;
};

struct nytp_comment { /* includes the newline */
    struct nytp_str text;
};

struct nytp_process_event { /* PID_START, and PID_END without ppid */
    uint32_t pid, ppid;
    double time_s; /* epoch; 0 if the format version has none */
};

struct nytp_new_fid {
    uint32_t fid, eval_fid, eval_line, flags, size, mtime_s;
    struct nytp_str name;
};

struct nytp_time { /* block_line and sub_line are 0 for TIME_LINE */
    int32_t ticks;
    uint32_t fid, line, block_line, sub_line;
};

struct nytp_sub_entry {
    uint32_t caller_fid, caller_line;
};

struct nytp_sub_return {
    uint32_t depth; /* 1 = outermost */
    double incl_ticks, excl_ticks;
    struct nytp_str name;
    uint32_t name_number; /* identifies the name until the process ends; 0: no number */
};

struct nytp_src_line {
    uint32_t fid, line;
    struct nytp_str text;
};

struct nytp_sub_info {
    uint32_t fid, first_line, last_line;
    struct nytp_str name;
};

struct nytp_sub_callers {
    uint32_t fid, line, count, rec_depth;
    double incl_s, excl_s, reci_s;
    struct nytp_str caller, callee;
};

struct nytp_event {
    enum nytp_tag tag;
    uint64_t offset; /* of the tag byte, in the inflated stream once it has begun */
    union {
        struct nytp_version version;
        struct nytp_setting setting;
        struct nytp_comment comment;
        struct nytp_process_event process;
        struct nytp_new_fid new_fid;
        struct nytp_time time;
        struct nytp_sub_entry sub_entry;
        struct nytp_sub_return sub_return;
        struct nytp_src_line src_line;
        struct nytp_sub_info sub_info;
        struct nytp_sub_callers sub_callers;
    } u;
};

/* A TIME_LINE record of at least 0 ticks, and the DISCOUNT right before it, if any. */
struct nytp_statement {
    uint32_t what; /* NYTP_STATEMENT_COUNTS or _DISCOUNTED */
    int32_t ticks;
    uint32_t fid, line;
};
#define NYTP_STATEMENT_COUNTS     1u
#define NYTP_STATEMENT_DISCOUNTED 2u

/* One or more consecutive statements of one file, and their sums. */
#define NYTP_MAX_RUN 256u
struct nytp_run {
    const struct nytp_statement *at;
    uint32_t n, n_discounted;
    int64_t ticks;
};

/* Receives events in stream order. `event` returns false to stop the reader, which then fails
 * with NYTP_ERR_STOPPED unless the sink has set a better error.
 *
 * Nearly all events are statements. A sink that sets `statements` may get consecutive ones of
 * one file there, instead of up to two events for each; `offset` is that of the last one. The
 * reader stores them at `room`, which the sink owns and may change after each event. */
struct nytp_sink {
    bool (*event)(struct nytp_sink *sink, const struct nytp_event *event);
    bool (*statements)(struct nytp_sink *sink, const struct nytp_run *run, uint64_t offset);
    struct nytp_statement *room; /* NYTP_MAX_RUN statements */
};

#endif
