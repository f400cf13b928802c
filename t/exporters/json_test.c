/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * JSON strings are valid whatever the bytes; numbers are exact.
 */
#include "exporters/base/json.h"
#include "t/tap.h"

#include <math.h>

/* Takes `out`; its content must be `want`. */
static void is(struct nytp_out *out, const char *want, const char *name)
{
    size_t len;
    const char *got = (const char *)nytp_out_bytes(out, &len);
    const bool same = len == strlen(want) && memcmp(got, want, len) == 0;
    if (!ok(same, name))
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

/* Doubles of all sizes that the writer of 17 digits has a way of its own for, the bounds of
 * that, ties, and others. */
static double any_double(uint32_t i)
{
    static const double special[] = {0.001,
                                     0.00099999999999999998,
                                     0.0099999999999999985,
                                     9.9999999999999982,
                                     0,
                                     -1.5,
                                     1e-7,
                                     1e300,
                                     9007199254740991.0,
                                     9007199254740992.0,
                                     1.0 / 3,
                                     99999.999999999985,
                                     0.5};
    static uint64_t state = 1;
    if (i < sizeof special / sizeof *special)
        return special[i];
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double fraction = (double)(state >> 11) / 9007199254740992.0;
    const int exponent = (int)(i % 70) - 14;
    if (i % 3 == 0)
        return (double)(state >> 40) / 1000; /* nanoseconds as microseconds */
    return ldexp(fraction, exponent); /* from 2^50 on some lie half between two of 17 digits */
}

static bool writes_17_digits_as_printf(void)
{
    for (uint32_t i = 0, n = (uint32_t)rounds(300000); i < n; i++) {
        const double value = any_double(i);
        char want[NYTP_MAX_FIXED], got[NYTP_MAX_FIXED];
        const int len = snprintf(want, sizeof want, "%.17g", value);
        const char *const end = nytp_json_append_17_digits(got, value);
        if (end - got == len && memcmp(got, want, (size_t)len) == 0)
            continue;
        printf("# got %.*s, want %s\n", (int)(end - got), got, want);
        return false;
    }
    return true;
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
    is(STRING("a\xe2\x80\xae"
              "b\xe2\x80\x94"),
       "\"a\\u202eb\xe2\x80\x94\"", "and marks that turn the direction of text");
    is(STRING("na\xefve"), "\"na\\u00efve\"", "a lone byte is Latin-1");
    is(STRING("\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82"),
       "\"\\u00c0\\u00af \\u00ed\\u00a0\\u0080 \\u00f4\\u0090\\u0080\\u0080 "
       "\\u00e2\\u0082\"",
       "overlong, surrogate, too large and cut sequences are no UTF-8");
    is(fixed(1234500, 6), "1.2345", "trailing zeros go");
    is(fixed(5000, 3), "5", "so does an empty fraction");
    is(fixed(-7, 3), "-0.007", "small negative values keep sign and zeros");
    is(fixed(INT64_MIN, 0), "-9223372036854775808", "the smallest value");
    is(fixed(INT64_MIN, 19), "-0.9223372036854775808", "all decimals that there can be");
    is(fixed(0, 6), "0", "nothing");
    is(number(0.1), "0.1", "a double is as short as can be");
    is(number(1.0 / 3), "0.3333333333333333", "and as long as needed");
    is(number((double)NAN), "null", "NaN is null");
    ok(writes_17_digits_as_printf(), "17 digits are those of printf");
    return done_testing();
}
