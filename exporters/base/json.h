/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The pieces of JSON that are easy to get wrong: strings and numbers.
 */
#ifndef NYTP_JSON_H
#define NYTP_JSON_H

#include "formats/base/units.h"
#include "out.h"

/* Put a quoted string. Control characters (those of Latin-1 and DEL too, since such text also
 * ends up in terminals), quote and backslash are escaped. A byte that is no part of valid UTF-8
 * is taken for Latin-1 and written as \u00XX, so the output is valid whatever the input.
 * Everything else passes as it is. */
void nytp_json_string(struct nytp_out *out, const char *text, size_t len);

/* The same for a NUL-terminated text. */
void nytp_json_text(struct nytp_out *out, const char *text);

/* "key": with quotes and colon; the key is written as it is. */
void nytp_json_key(struct nytp_out *out, const char *key);

/* `value` in units of 10^-decimals (0 to 19) as a decimal fraction without trailing zeros:
 * (1234500, 6) is 1.2345. Exact, independent of locale. The second one writes it at `at`, where
 * there is room for NYTP_MAX_FIXED bytes, and returns its end, as nytp_append() does. */
#define NYTP_MAX_FIXED (2 * NYTP_MAX_DIGITS + 2)
void nytp_json_fixed(struct nytp_out *out, int64_t value, unsigned decimals);
char *nytp_json_append_fixed(char *at, int64_t value, unsigned decimals);

/* Times as decimal numbers of a unit, exact to the nanosecond: times that add up in ticks do so
 * in any unit. */
struct nytp_json_times {
    struct nytp_scale scale;
    unsigned decimals;
};
void nytp_json_times_init(struct nytp_json_times *times, const struct nytp_unit *unit,
                          int64_t ticks_per_sec);
void nytp_json_time(struct nytp_out *out, const struct nytp_json_times *times, int64_t ticks);

/* A finite double by 17 digits, the same as printf's %.17g: it reads back as the same double.
 * Written at `at` in the same way. */
char *nytp_json_append_17_digits(char *at, double value);

/* The shortest decimal that reads back as the same double; null for infinity and NaN. */
void nytp_json_double(struct nytp_out *out, double value);
#define NYTP_DOUBLE_TEXT 40
const char *nytp_double_text(double value, char text[NYTP_DOUBLE_TEXT]);

#endif
