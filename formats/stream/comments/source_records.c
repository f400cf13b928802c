/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads and writes the comments about files without recorded source; see source_records.h.
 */
#include "source_records.h"

#include <stdio.h>
#include <string.h>

static const char digits[] = "0123456789abcdef";

bool nytp_source_record_read(const struct nytp_str *comment, struct nytp_source_record *record)
{
    char text[NYTP_SOURCE_LONGEST], again[NYTP_SOURCE_LONGEST], sum[2 * NYTP_BLAKE2B_BYTES + 1];
    const uint32_t len =
        comment->len - (comment->len > 0 && comment->ptr[comment->len - 1] == '\n');
    if (len >= sizeof text)
        return false;
    memcpy(text, comment->ptr, len);
    text[len] = '\0';
    if (sscanf(text, NYTP_SOURCE_HEAD " %9u %64[0-9a-f]", &record->fid, sum) != 2 ||
        strlen(sum) != sizeof sum - 1)
        return false;
    for (size_t i = 0; i < NYTP_BLAKE2B_BYTES; i++)
        record->sum[i] = (uint8_t)((strchr(digits, sum[2 * i]) - digits) << 4 |
                                   (strchr(digits, sum[2 * i + 1]) - digits));
    nytp_source_record_format(record, again);
    return strcmp(text, again) == 0;
}

void nytp_source_record_format(const struct nytp_source_record *record,
                               char text[NYTP_SOURCE_LONGEST])
{
    int len = snprintf(text, NYTP_SOURCE_LONGEST, "%s %u ", NYTP_SOURCE_HEAD, record->fid);
    for (size_t i = 0; i < NYTP_BLAKE2B_BYTES; i++) {
        text[len++] = digits[record->sum[i] >> 4];
        text[len++] = digits[record->sum[i] & 15];
    }
    text[len] = '\0';
}
