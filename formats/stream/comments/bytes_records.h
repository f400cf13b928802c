/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Samples of the bytes that the program allocates, as comments in the stream, which other
 * readers of the format pass over (nytprof-v5.md, "Records"):
 *
 *     #nytp-alloc ID SPACE OBJECTS FID LINE
 *     #nytp-free ID
 *
 * The sample stands for SPACE bytes in OBJECTS blocks, which the innermost open call allocated,
 * in the statement at FID and LINE if that statement began in it. When its block is freed, all
 * that it stands for is. An ID is of one process and, up to a fork, of its child.
 *
 * What an earlier file of the same process told and is in use still, stands behind PID_START,
 * or, after an exact profile was recorded beside a sampled one, where that goes on:
 *
 *     #nytp-in-use-call CALL CALLER FID LINE NAME
 *     #nytp-in-use ID SPACE OBJECTS CALL FID LINE
 *
 * Calls are numbered 1, 2, ...; with 1 a new list begins. CALLER is one of before, or 0: the
 * program itself; it called the sub NAME at FID and LINE. CALL allocated the sample; LINE is 0
 * where it had begun no statement.
 *
 * In the child of a fork, and its later files, there is also what its parent PID (or a parent
 * of that) allocated before and the child has not freed. Its calls are in the same list:
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
#define NYTP_BYTES_LONGEST     128                /* such a comment is shorter */
#define NYTP_MOST_SAMPLE_BYTES (INT64_C(1) << 50) /* and blocks, that one stands for */

struct nytp_bytes_record {
    uint64_t id;
    bool is_free;            /* then there is nothing else */
    bool is_from_before;     /* another file told the allocation; then there is `call` */
    uint64_t space, objects; /* at most NYTP_MOST_SAMPLE_BYTES */
    uint32_t fid, line;
    uint32_t call;
    uint32_t parent_pid; /* from before, of a file of this process; 0: of an own one */
};

/* A call that allocated what is in use from before, or led there. */
struct nytp_in_use_call {
    uint32_t number, caller; /* less than `number` */
    uint32_t fid, line;
    struct nytp_str name; /* not empty, without a newline; inside the comment's text */
};

#define NYTP_IN_USE_NAME_MOST 1024 /* bytes; a call of a sub with a longer name is not told */
#define NYTP_IN_USE_CALL_ROOM (NYTP_IN_USE_NAME_MOST + 80) /* such a comment is shorter */

/* False when the comment is another. */
bool nytp_bytes_record_read(const struct nytp_str *comment, struct nytp_bytes_record *record);

/* The comment's text, without its "#". */
void nytp_bytes_record_format(const struct nytp_bytes_record *record,
                              char text[NYTP_BYTES_LONGEST]);

/* The same for calls. */
bool nytp_in_use_call_read(const struct nytp_str *comment, struct nytp_in_use_call *call);
void nytp_in_use_call_format(const struct nytp_in_use_call *call,
                             char text[NYTP_IN_USE_CALL_ROOM]);

#endif
