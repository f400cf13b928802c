/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Comments about SVs; see svs_records.h. Others are ignored.
 */
#include "svs_records.h"

#include <string.h>

static const char head[] = NYTP_SVS_HEAD " ";

/* Reads the number at *at and the character `end` behind it; moves *at behind both. */
static bool next_number(const char **at, const char *end_of_text, char end, uint64_t most,
                        uint64_t *value)
{
    uint64_t sum = 0;
    const char *const first = *at;
    const char *p = first;
    for (; p < end_of_text && *p >= '0' && *p <= '9' && sum <= most; p++)
        sum = sum * 10 + (uint64_t)(*p - '0');
    if (p == first || p == end_of_text || *p != end || sum > most)
        return false;
    *value = sum;
    *at = p + 1;
    return true;
}

bool nytp_svs_record_read(const struct nytp_str *comment, struct nytp_svs_record *record)
{
    const size_t head_len = sizeof head - 1;
    uint64_t n, fid, line;
    if (comment->len <= head_len || memcmp(comment->ptr, head, head_len) != 0)
        return false;
    const char *at = comment->ptr + head_len, *const end = comment->ptr + comment->len;
    const bool is_less = *at == '-';
    at += is_less;
    if (!next_number(&at, end, ' ', NYTP_MOST_SVS, &n) ||
        !next_number(&at, end, ' ', UINT32_MAX, &fid) ||
        !next_number(&at, end, '\n', UINT32_MAX, &line) || at != end)
        return false;
    *record = (struct nytp_svs_record){
        .n = is_less ? -(int32_t)n : (int32_t)n, .fid = (uint32_t)fid, .line = (uint32_t)line};
    return true;
}

/* Stores the digits and `end`. No printf(): called often, and in signal handlers. */
static char *put_number(char *at, uint32_t number, char end)
{
    char digits[10];
    int n = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0)
        *at++ = digits[--n];
    *at = end;
    return at + 1;
}

void nytp_svs_record_format(const struct nytp_svs_record *record, char text[NYTP_SVS_LONGEST])
{
    char *at = text;
    memcpy(at, head, sizeof head - 1);
    at += sizeof head - 1;
    if (record->n < 0)
        *at++ = '-';
    at = put_number(at, record->n < 0 ? -(uint32_t)record->n : (uint32_t)record->n, ' ');
    at = put_number(at, record->fid, ' ');
    put_number(at, record->line, '\0');
}
