/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Changes in the number of SVs (perl's values), as comments in the stream, which other readers
 * skip (nytprof-v5.md, "Records"). A comment is written if the number changed since the last
 * one:
 *
 *     #nytp-svs N FID LINE
 *
 * The change belongs to the innermost open call, in the statement at FID and LINE if that
 * statement began in this call.
 */
#ifndef NYTP_SVS_RECORDS_H
#define NYTP_SVS_RECORDS_H

#include "formats/stream/event.h"

#include <stdbool.h>

#define NYTP_SVS_HEAD    "nytp-svs"
#define NYTP_SVS_LONGEST 48         /* longer than any such comment */
#define NYTP_MOST_SVS    1000000000 /* SVs made or freed in one record */

struct nytp_svs_record {
    int32_t n;
    uint32_t fid, line;
};

/* Returns false for any other comment. */
bool nytp_svs_record_read(const struct nytp_str *comment, struct nytp_svs_record *record);

/* Stores the comment's text, without its "#". */
void nytp_svs_record_format(const struct nytp_svs_record *record, char text[NYTP_SVS_LONGEST]);

#endif
