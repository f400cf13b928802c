/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Which text a file had whose source is not kept, as a comment in the stream, which other
 * readers of the format pass over (nytprof-v5.md, "Records"). It stands behind the file's
 * NEW_FID record:
 *
 *     #nytp-source FID SUM
 *
 * SUM is the BLAKE2b of the whole file as perl read it, in 64 digits (`b2sum -l 256`). A reader
 * may show a file of its machine as the source if it has this sum. Nobody can tell the sum of a
 * file that he may not read, so no recording that a stranger made brings such a file to light.
 */
#ifndef NYTP_SOURCE_RECORDS_H
#define NYTP_SOURCE_RECORDS_H

#include "formats/base/blake2b.h"
#include "formats/stream/event.h"

#include <stdbool.h>

#define NYTP_SOURCE_HEAD    "nytp-source"
#define NYTP_SOURCE_LONGEST 100 /* such a comment is shorter */

struct nytp_source_record {
    uint32_t fid;
    uint8_t sum[NYTP_BLAKE2B_BYTES];
};

/* False when the comment is another. */
bool nytp_source_record_read(const struct nytp_str *comment, struct nytp_source_record *record);

/* The comment's text, without its "#". */
void nytp_source_record_format(const struct nytp_source_record *record,
                               char text[NYTP_SOURCE_LONGEST]);

#endif
