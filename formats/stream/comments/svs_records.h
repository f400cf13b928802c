/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * By how many the program's SVs, perl's values, became more or fewer, as comments in the
 * stream, which other readers of the format pass over (nytprof-v5.md, "Records"). One stands
 * wherever that was told since the comment before it and is not 0:
 *
 *     #nytp-svs N FID LINE
 *
 * Since then the innermost open call ran, in the statement at FID and LINE if that statement
 * began in it.
 */
#ifndef NYTP_SVS_RECORDS_H
#define NYTP_SVS_RECORDS_H

#include "formats/stream/event.h"

#include <stdbool.h>

#define NYTP_SVS_HEAD    "nytp-svs"
#define NYTP_SVS_LONGEST 48         /* such a comment is shorter */
#define NYTP_MOST_SVS    1000000000 /* that one tells, made or freed */

struct nytp_svs_record {
    int32_t n;
    uint32_t fid, line;
};

/* False when the comment is another. */
bool nytp_svs_record_read(const struct nytp_str *comment, struct nytp_svs_record *record);

/* The comment's text, without its "#". */
void nytp_svs_record_format(const struct nytp_svs_record *record, char text[NYTP_SVS_LONGEST]);

#endif
