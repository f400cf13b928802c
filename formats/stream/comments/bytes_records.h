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
 * that it stands for is. An ID is of one process; one that was never told is of its parent's.
 */
#ifndef NYTP_BYTES_RECORDS_H
#define NYTP_BYTES_RECORDS_H

#include "formats/stream/event.h"

#include <stdbool.h>

#define NYTP_ALLOC_HEAD        "nytp-alloc"
#define NYTP_FREE_HEAD         "nytp-free"
#define NYTP_BYTES_LONGEST     112                /* such a comment is shorter */
#define NYTP_MOST_SAMPLE_BYTES (INT64_C(1) << 50) /* and blocks, that one stands for */

struct nytp_bytes_record {
    uint64_t id;
    bool is_free;            /* then there is nothing else */
    uint64_t space, objects; /* at most NYTP_MOST_SAMPLE_BYTES */
    uint32_t fid, line;
};

/* False when the comment is another. */
bool nytp_bytes_record_read(const struct nytp_str *comment, struct nytp_bytes_record *record);

/* The comment's text, without its "#". */
void nytp_bytes_record_format(const struct nytp_bytes_record *record,
                              char text[NYTP_BYTES_LONGEST]);

#endif
