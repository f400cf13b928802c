/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Lines and numbers of a tmon.out; see tmon_lines.h.
 */
#include "tmon_lines.h"

#include <string.h>

static bool fail_line(struct nytp_error *error, uint64_t offset, size_t have)
{
    if (have >= NYTP_SOURCE_MAX_NEED)
        return nytp_error_at(error, NYTP_ERR_LIMIT, offset, false,
                             "line is longer than %d bytes", NYTP_SOURCE_MAX_NEED);
    return nytp_error_at(error, NYTP_ERR_TRUNCATED, offset, false,
                         "the input ends inside a line");
}

bool nytp_tmon_next(struct nytp_source *source, struct nytp_error *error,
                    struct nytp_tmon_line *line)
{
    size_t have = nytp_source_fill(source, 1);
    while (have > 0) {
        const size_t most = have < NYTP_SOURCE_MAX_NEED ? have : NYTP_SOURCE_MAX_NEED;
        const uint8_t *newline = memchr(source->at, '\n', most);
        line->offset = nytp_source_offset(source);
        if (newline == NULL) {
            if (have < NYTP_SOURCE_MAX_NEED && nytp_source_fill(source, have + 1) > have) {
                have = (size_t)(source->end - source->at);
                continue;
            }
            if (nytp_source_error(source)->status == NYTP_OK)
                return fail_line(error, line->offset, have);
            break;
        }
        line->at = (const char *)source->at;
        line->end = (const char *)newline;
        source->at = newline + 1;
        while (line->end > line->at && (line->end[-1] == '\r' || line->end[-1] == ' '))
            line->end--;
        if (line->end > line->at)
            return true;
        have = nytp_source_fill(source, 1);
    }
    *error = *nytp_source_error(source);
    return false;
}

const char *nytp_tmon_skip_blanks(const char *at, const char *end)
{
    while (at < end && *at == ' ')
        at++;
    return at;
}

const char *nytp_tmon_number(const char *at, const char *end, int64_t *value)
{
    at = nytp_tmon_skip_blanks(at, end);
    const bool negative = at < end && *at == '-';
    at += negative;
    if (at == end || *at < '0' || *at > '9')
        return NULL;
    int64_t number = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (*at - '0');
        if (number > NYTP_TMON_MAX_NUMBER)
            return NULL;
    }
    *value = negative ? -number : number;
    return at;
}

const char *nytp_tmon_id(const char *at, const char *end, uint32_t *id)
{
    static const char digits[] = "0123456789abcdef";
    const char *const start = at = nytp_tmon_skip_blanks(at, end);
    uint64_t number = 0;
    for (; at < end && *at != ' '; at++) {
        const char *digit = *at != '\0' ? strchr(digits, *at) : NULL;
        number = digit == NULL ? UINT64_MAX : number * 16 + (uint64_t)(digit - digits);
        if (number > UINT32_MAX)
            return NULL;
    }
    if (at == start)
        return NULL;
    *id = (uint32_t)number;
    return at;
}
