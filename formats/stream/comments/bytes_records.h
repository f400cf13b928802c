/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Samples of allocated bytes, as comments in the stream, which other readers skip
 * (nytprof-v5.md, "Records"):
 *
 *     #nytp-alloc ID SPACE OBJECTS FID LINE
 *     #nytp-free ID
 *
 * A sample represents SPACE bytes in OBJECTS blocks. The innermost open call allocated them,
 * in the statement at FID and LINE if that statement began in this call. When the sampled
 * block is freed, all that it represents is freed. An ID belongs to one process and, up to a
 * fork, to its child.
 *
 * Samples from an earlier file of the same process that are still in use are repeated behind
 * PID_START. If an exact profile was recorded beside a sampled one, they are repeated where
 * the sampled one continues:
 *
 *     #nytp-in-use-call CALL CALLER FID LINE NAME
 *     #nytp-in-use ID SPACE OBJECTS CALL FID LINE
 *
 * Calls are numbered 1, 2, ...; 1 begins a new list. CALLER is the number of an earlier call,
 * or 0 for the program itself; it called the sub NAME at FID and LINE. CALL allocated the
 * sample. LINE is 0 if it had begun no statement.
 *
 * After a fork, the files of the child also list samples that its parent PID (or a parent of
 * that) allocated and the child has not freed. Their calls are in the same list:
 *
 *     #nytp-inherited ID SPACE OBJECTS CALL FID LINE PID
 */
#ifndef NYTP_BYTES_RECORDS_H
#define NYTP_BYTES_RECORDS_H

#include "formats/stream/event.h"

#include <stdbool.h>

#define NYTP_ALLOC_HEAD        "nytp-alloc"
#define NYTP_FREE_HEAD         "nytp-free"
#define NYTP_IN_USE_HEAD       "nytp-in-use"
#define NYTP_INHERITED_HEAD    "nytp-inherited"
#define NYTP_IN_USE_CALL_HEAD  "nytp-in-use-call"
#define NYTP_BYTES_LONGEST     128                /* longer than any such comment */
#define NYTP_MOST_SAMPLE_BYTES (INT64_C(1) << 50) /* and blocks, of one sample */

struct nytp_bytes_record {
    uint64_t id;
    bool is_free;            /* only `id` is valid */
    bool is_from_before;     /* allocated in another file; `call` is valid */
    uint64_t space, objects; /* at most NYTP_MOST_SAMPLE_BYTES */
    uint32_t fid, line;
    uint32_t call;
    uint32_t parent_pid; /* 0: this process allocated it */
};

/* A call that allocated a repeated sample, or one of its callers. */
struct nytp_in_use_call {
    uint32_t number, caller; /* less than `number` */
    uint32_t fid, line;
    struct nytp_str name; /* not empty, no newline; points into the comment */
};

#define NYTP_IN_USE_NAME_MOST 1024 /* bytes; calls with longer names are left out */
#define NYTP_IN_USE_CALL_ROOM (NYTP_IN_USE_NAME_MOST + 80) /* longer than any such comment */

/* Returns false for any other comment. */
bool nytp_bytes_record_read(const struct nytp_str *comment, struct nytp_bytes_record *record);

/* Stores the comment's text, without its "#". */
void nytp_bytes_record_format(const struct nytp_bytes_record *record,
                              char text[NYTP_BYTES_LONGEST]);

/* The same for calls. */
bool nytp_in_use_call_read(const struct nytp_str *comment, struct nytp_in_use_call *call);
void nytp_in_use_call_format(const struct nytp_in_use_call *call,
                             char text[NYTP_IN_USE_CALL_ROOM]);

#endif
