/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads JSON text item by item; see json_scan.h.
 */
#include "json_scan.h"

#include "formats/base/utf8.h"

#include <stdlib.h>
#include <string.h>

void nytp_json_scan_begin(struct nytp_json_scan *scan, const char *text, size_t len)
{
    *scan = (struct nytp_json_scan){.start = text, .at = text, .end = text + len};
}

static bool fail(struct nytp_json_scan *scan, const char *what)
{
    return nytp_error_at(&scan->error, NYTP_ERR_FORMAT, (uint64_t)(scan->at - scan->start),
                         false, "%s", what);
}

static void skip_blanks(struct nytp_json_scan *scan)
{
    while (scan->at < scan->end && memchr(" \t\r\n", *scan->at, 4) != NULL)
        scan->at++;
}

bool nytp_json_scan_take(struct nytp_json_scan *scan, char c)
{
    skip_blanks(scan);
    if (scan->error.status != NYTP_OK || scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

bool nytp_json_scan_expect(struct nytp_json_scan *scan, char c)
{
    return nytp_json_scan_take(scan, c) ||
           nytp_error_at(&scan->error, NYTP_ERR_FORMAT, (uint64_t)(scan->at - scan->start),
                         false, "JSON: %c expected", c);
}

static bool hex4(const char *at, const char *end, uint32_t *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++, at++) {
        if (at >= end)
            return false;
        const char c = *at;
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0)
            return false;
        *value = *value << 4 | (uint32_t)digit;
    }
    return true;
}

/* Reads "\u1234", or two of them as a pair of surrogates; `at` is behind the u. Returns NULL if
 * it is neither. */
static const char *put_unicode(const char *at, const char *end, char **to)
{
    uint32_t c, low;
    if (!hex4(at, end, &c))
        return NULL;
    at += 4;
    const bool pair = c >= 0xd800 && c < 0xdc00 && end - at >= 6 && at[0] == '\\' &&
                      at[1] == 'u' && hex4(at + 2, end, &low) && low >= 0xdc00 && low < 0xe000;
    if (pair) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
    } else if (c >= 0xd800 && c < 0xe000) {
        return NULL;
    }
    *to += nytp_utf8_encode(c, *to);
    return at;
}

/* One escape, behind its backslash. */
static const char *put_escape(const char *at, const char *end, char **to)
{
    static const char from[] = "\"\\/bfnrt", is[] = "\"\\/\b\f\n\r\t";
    if (at == end)
        return NULL;
    if (*at == 'u')
        return put_unicode(at + 1, end, to);
    const char *which = memchr(from, *at, sizeof from - 1);
    if (which == NULL)
        return NULL;
    *(*to)++ = is[which - from];
    return at + 1;
}

bool nytp_json_scan_string(struct nytp_json_scan *scan, char **text, size_t *len)
{
    if (!nytp_json_scan_expect(scan, '"'))
        return false;
    const char *close = scan->at;
    while (close < scan->end && *close != '"')
        close += *close == '\\' && scan->end - close > 1 ? 2 : 1;
    if (close >= scan->end)
        return fail(scan, "JSON: a string without end");
    char *bytes = malloc((size_t)(close - scan->at) + 1); /* unescaped text is never longer */
    if (bytes == NULL)
        return nytp_out_of_memory(&scan->error);
    char *to = bytes;
    for (const char *at = scan->at; at != NULL && at < close;) {
        if (*at != '\\') {
            *to++ = *at++;
            continue;
        }
        at = put_escape(at + 1, close, &to);
        if (at == NULL) {
            free(bytes);
            return fail(scan, "JSON: no such escape in a string");
        }
    }
    if (!nytp_utf8_valid(bytes, (size_t)(to - bytes))) {
        free(bytes);
        return fail(scan, "JSON: a string that is no UTF-8");
    }
    *to = '\0';
    *text = bytes;
    *len = (size_t)(to - bytes);
    scan->at = close + 1;
    return true;
}

bool nytp_json_scan_count(struct nytp_json_scan *scan, int64_t *value)
{
    skip_blanks(scan);
    const char *at = scan->at;
    int64_t sum = 0;
    while (at < scan->end && *at >= '0' && *at <= '9' && at - scan->at < 18)
        sum = sum * 10 + (*at++ - '0');
    if (at == scan->at || (at < scan->end && memchr("0123456789.eE", *at, 13) != NULL))
        return fail(scan, "JSON: a whole number of at most 18 digits expected");
    *value = sum;
    scan->at = at;
    return true;
}

/* Counts brackets without matching them: skipped text must only end. */
bool nytp_json_scan_skip(struct nytp_json_scan *scan)
{
    size_t depth = 0;
    do {
        skip_blanks(scan);
        if (scan->error.status != NYTP_OK || scan->at == scan->end)
            return fail(scan, "JSON: the text ends early");
        if (*scan->at == '"') {
            char *text;
            size_t len;
            if (!nytp_json_scan_string(scan, &text, &len))
                return false;
            free(text);
            continue;
        }
        if (depth == 0 && memchr(",:]}", *scan->at, 4) != NULL)
            return fail(scan, "JSON: a value expected");
        depth += *scan->at == '[' || *scan->at == '{';
        depth -= *scan->at == ']' || *scan->at == '}';
        scan->at++;
        while (depth == 0 && scan->at < scan->end &&
               memchr(",]} \t\r\n", *scan->at, 7) == NULL &&
               memchr("]}", scan->at[-1], 2) == NULL)
            scan->at++;
    } while (depth > 0);
    return true;
}
