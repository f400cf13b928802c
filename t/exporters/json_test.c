/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * JSON strings are valid whatever the bytes; numbers are exact.
 */
#include "exporters/core/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int n_tests;

/* Takes `out`; its content must be `want`. */
static void is(struct nytp_out *out, const char *want, const char *name)
{
    size_t len;
    const char *got = (const char *)nytp_out_bytes(out, &len);
    const bool same = len == strlen(want) && memcmp(got, want, len) == 0;
    printf("%sok %d - %s\n", same ? "" : "not ", ++n_tests, name);
    if (!same)
        printf("# got %.*s\n# want %s\n", (int)len, got, want);
    nytp_out_discard(out);
}

static struct nytp_out *string(const char *text, size_t len)
{
    struct nytp_out *out = nytp_out_memory(true);
    nytp_json_string(out, text, len);
    return out;
}

static struct nytp_out *fixed(int64_t value, unsigned decimals)
{
    struct nytp_out *out = nytp_out_memory(true);
    nytp_json_fixed(out, value, decimals);
    return out;
}

static struct nytp_out *number(double value)
{
    struct nytp_out *out = nytp_out_memory(true);
    nytp_json_double(out, value);
    return out;
}

#define STRING(literal) string(literal, sizeof literal - 1)

int main(void)
{
    is(STRING("plain"), "\"plain\"", "plain text passes");
    is(STRING(""), "\"\"", "an empty string is one");
    is(STRING("a\"b\\c\n\t\r\x01\0z\x7f"), "\"a\\\"b\\\\c\\n\\t\\r\\u0001\\u0000z\\u007f\"",
       "control characters are escaped");
    is(STRING("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80"),
       "\"na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80\"", "UTF-8 passes");
    is(STRING("\xc2\x9b"
              "1m\xc2\xa0"),
       "\"\\u009b1m\xc2\xa0\"", "so are those of Latin-1");
    is(STRING("na\xefve"), "\"na\\u00efve\"", "a lone byte is Latin-1");
    is(STRING("\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82"),
       "\"\\u00c0\\u00af \\u00ed\\u00a0\\u0080 \\u00f4\\u0090\\u0080\\u0080 "
       "\\u00e2\\u0082\"",
       "overlong, surrogate, too large and cut sequences are no UTF-8");
    is(fixed(1234500, 6), "1.2345", "trailing zeros go");
    is(fixed(5000, 3), "5", "so does an empty fraction");
    is(fixed(-7, 3), "-0.007", "small negative values keep sign and zeros");
    is(fixed(INT64_MIN, 0), "-9223372036854775808", "the smallest value");
    is(number(0.1), "0.1", "a double is as short as can be");
    is(number(1.0 / 3), "0.3333333333333333", "and as long as needed");
    is(number((double)NAN), "null", "NaN is null");
    printf("1..%d\n", n_tests);
    return 0;
}
