/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * JSON strings and numbers; see json.h. Valid UTF-8 is what RFC 3629 allows: no overlong
 * forms, no surrogates, nothing above U+10FFFF.
 */
#include "json.h"

#include "formats/base/printable.h"
#include "formats/base/utf8.h"
#include "formats/base/wide.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes a character that may not stand in a string as it is. */
static void put_escaped(struct nytp_out *out, uint32_t character)
{
    static const char special[] = "\"\\\n\t\r", letters[] = "\"\\ntr";
    const bool is_ascii = character > 0 && character < 0x80;
    const char *const at = is_ascii ? strchr(special, (int)character) : NULL;
    if (at != NULL) {
        const char escape[2] = {'\\', letters[at - special]};
        nytp_put(out, escape, sizeof escape);
    } else {
        nytp_printf(out, "\\u%04x", (unsigned)character);
    }
}

void nytp_json_string(struct nytp_out *out, const char *text, size_t len)
{
    const char *at = text, *const end = text + len;
    const char *plain = at; /* first byte not written yet */
    nytp_putc(out, '"');
    while (at < end) {
        const unsigned char byte = (unsigned char)*at;
        const bool special = byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7f;
        uint32_t character = byte;
        const size_t step = special ? 0
                            : byte < 0x80
                                ? 1
                                : nytp_utf8_decode(at, (size_t)(end - at), &character);
        const struct nytp_name one = {at, (uint32_t)step};
        const bool steers = step > 1 && nytp_unsafe_bytes(one, 0) > 0;
        if (step > 0 && !steers) {
            at += step;
            continue;
        }
        nytp_put(out, plain, (size_t)(at - plain));
        put_escaped(out, character);
        at += steers ? step : 1;
        plain = at;
    }
    nytp_put(out, plain, (size_t)(at - plain));
    nytp_putc(out, '"');
}

void nytp_json_text(struct nytp_out *out, const char *text)
{
    nytp_json_string(out, text, strlen(text));
}

void nytp_json_key(struct nytp_out *out, const char *key)
{
    nytp_putc(out, '"');
    nytp_puts(out, key);
    nytp_put(out, "\":", 2);
}

/* Copies a fixed length each time; the next copy overwrites the excess. */
char *nytp_json_append_fixed(char *at, int64_t value, unsigned decimals)
{
    char digits[2 * NYTP_MAX_DIGITS] = {0};
    char *end = digits + NYTP_MAX_DIGITS;
    const char *const point = end - decimals;
    if (value < 0)
        *at++ = '-';
    char *digit = nytp_digits_before(end, value < 0 ? -(uint64_t)value : (uint64_t)value);
    while (digit >= point)
        *--digit = '0';
    while (end > point && end[-1] == '0')
        end--;
    memcpy(at, digit, NYTP_MAX_DIGITS);
    at += point - digit;
    if (point == end)
        return at;
    *at++ = '.';
    memcpy(at, point, NYTP_MAX_DIGITS);
    return at + (end - point);
}

void nytp_json_fixed(struct nytp_out *out, int64_t value, unsigned decimals)
{
    char text[NYTP_MAX_FIXED];
    nytp_put(out, text, (size_t)(nytp_json_append_fixed(text, value, decimals) - text));
}

void nytp_json_times_init(struct nytp_json_times *times, const struct nytp_unit *unit,
                          int64_t ticks_per_sec)
{
    const bool in_ticks = unit->per_sec == 0;
    nytp_scale_init(&times->scale, in_ticks ? unit : nytp_unit_find("ns"), ticks_per_sec);
    times->decimals = 0;
    for (int64_t per_sec = 1000000000; !in_ticks && per_sec > unit->per_sec; per_sec /= 10)
        times->decimals++;
}

void nytp_json_time(struct nytp_out *out, const struct nytp_json_times *times, int64_t ticks)
{
    nytp_json_fixed(out, nytp_scale_once(&times->scale, ticks), times->decimals);
}

/* Returns how many decimals a number of 17 digits has, from 0.001 to less than 2^53. Powers of
 * ten below 1 are a little more than that as doubles, so that these compare as the powers
 * themselves. */
static unsigned decimals_of_17_digits(double value)
{
    static const double powers[] = {1e-2, 1e-1, 1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,
                                    1e7,  1e8,  1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    unsigned decimals = 19;
    for (size_t i = 0; i < sizeof powers / sizeof *powers && value >= powers[i]; i++)
        decimals--;
    return decimals;
}

/* In the range for which numbers are written here, all is whole numbers: the value is
 * mantissa / 2^shift, and the mantissa times 10^19 less than 2^117. */
char *nytp_json_append_17_digits(char *at, double value)
{
    if (!(value >= 0.001 && value < 9007199254740992.0 /* 2^53 */))
        return at + snprintf(at, NYTP_MAX_FIXED, "%.17g", value);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t mantissa = (bits & 0xfffffffffffff) | 0x10000000000000;
    const unsigned shift = 1075 - (unsigned)(bits >> 52); /* IEEE 754's bias and 52 */
    const unsigned decimals = decimals_of_17_digits(value);
    uint64_t power = 1;
    for (unsigned i = 0; i < decimals; i++)
        power *= 10;
    const struct nytp_wide scaled = nytp_wide_mul(mantissa, power);
    uint64_t digits =
        shift == 0 ? scaled.low : scaled.high << (64 - shift) | scaled.low >> shift;
    const uint64_t rest = shift == 0 ? 0 : scaled.low << (64 - shift), half = UINT64_C(1) << 63;
    digits += rest > half || (rest == half && (digits & 1) == 1);
    return nytp_json_append_fixed(at, (int64_t)digits, decimals);
}

const char *nytp_double_text(double value, char text[NYTP_DOUBLE_TEXT])
{
    snprintf(text, NYTP_DOUBLE_TEXT, "null");
    for (int digits = 1; digits <= 17 && isfinite(value); digits++) {
        snprintf(text, NYTP_DOUBLE_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

void nytp_json_double(struct nytp_out *out, double value)
{
    char text[NYTP_DOUBLE_TEXT];
    nytp_puts(out, nytp_double_text(value, text));
}
