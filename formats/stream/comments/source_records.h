/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The checksum of a file whose source is not recorded, as a comment behind the file's NEW_FID
 * record. Other readers skip it (nytprof-v5.md, "Records"):
 *
 *     #nytp-source FID SUM
 *
 * SUM is the BLAKE2b of the whole file as perl read it, in 64 digits (`b2sum -l 256`). A
 * reader may show a file of its machine as the source if it has this sum. Nobody knows the sum
 * of a file that he may not read, so a forged recording cannot expose such a file.
 */
#ifndef NYTP_SOURCE_RECORDS_H
#define NYTP_SOURCE_RECORDS_H

#include "formats/base/blake2b.h"
#include "formats/stream/event.h"

#include <stdbool.h>

#define NYTP_SOURCE_HEAD    "nytp-source"
#define NYTP_SOURCE_LONGEST 100 /* longer than any such comment */

struct nytp_source_record {
    uint32_t fid;
    uint8_t sum[NYTP_BLAKE2B_BYTES];
};

/* Returns false for any other comment. */
bool nytp_source_record_read(const struct nytp_str *comment, struct nytp_source_record *record);

/* Stores the comment's text, without its "#". */
void nytp_source_record_format(const struct nytp_source_record *record,
                               char text[NYTP_SOURCE_LONGEST]);

#endif
