/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Comments about SVs; see svs_records.h. Others are ignored.
 */
#include "svs_records.h"

#include "formats/stream/comments/words.h"

bool nytp_svs_record_read(const struct nytp_str *comment, struct nytp_svs_record *record)
{
    struct nytp_str rest = nytp_comment_text(comment);
    int64_t n;
    uint64_t place[2];
    if (!nytp_cut_word(&rest, NYTP_SVS_HEAD) || !nytp_cut_signed(&rest, NYTP_MOST_SVS, &n) ||
        !nytp_cut_numbers(&rest, '\0', UINT32_MAX, 2, place))
        return false;
    *record = (struct nytp_svs_record){
        .n = (int32_t)n, .fid = (uint32_t)place[0], .line = (uint32_t)place[1]};
    return true;
}

void nytp_svs_record_format(const struct nytp_svs_record *record, char text[NYTP_SVS_LONGEST])
{
    memcpy(text, NYTP_SVS_HEAD, sizeof NYTP_SVS_HEAD - 1);
    char *at = nytp_put_number(text + sizeof NYTP_SVS_HEAD - 1, record->n);
    at = nytp_put_number(at, record->fid);
    *nytp_put_number(at, record->line) = '\0';
}
