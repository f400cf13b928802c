/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads numbers; see number.h. The digits are copied without their "_" for strtod() to convert.
 */
#include "number.h"

#include <math.h>
#include <stdlib.h>

#define MAX_LEN 64

struct digits {
    char text[MAX_LEN];
    unsigned len;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void keep(struct digits *digits, char c)
{
    if (digits->len < MAX_LEN)
        digits->text[digits->len++] = c;
}

/* Digits, and between two of them "_". Returns what follows. */
static const char *take_digits(struct digits *digits, const char *at)
{
    for (; is_digit(*at); at += at[1] == '_' && is_digit(at[2]) ? 2 : 1)
        keep(digits, *at);
    return at;
}

bool nytp_read_number(const char *text, const char **end, double *number)
{
    struct digits digits = {.len = 0};
    const char *at = take_digits(&digits, text);
    if (*at == '.' && (is_digit(at[1]) || at > text)) {
        keep(&digits, '.');
        at = take_digits(&digits, at + 1);
    }
    if (digits.len == 0)
        return false;
    const char *exponent = at + 1 + ((*at == 'e' || *at == 'E') && (at[1] == '+' || at[1] == '-'));
    if ((*at == 'e' || *at == 'E') && is_digit(*exponent)) {
        for (; at < exponent; at++)
            keep(&digits, *at);
        at = take_digits(&digits, at);
    }
    if (digits.len >= MAX_LEN)
        return false;
    digits.text[digits.len] = '\0';
    const double value = strtod(digits.text, NULL);
    if (!isfinite(value))
        return false;
    *number = value;
    *end = at;
    return true;
}
