/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Takes the text of a comment apart, and writes numbers into one. The functions that cut return
 * false, with *rest unchanged or partly cut, if something else is there.
 */
#ifndef NYTP_WORDS_H
#define NYTP_WORDS_H

#include "formats/base/strings.h"

/* Returns the comment without its newline. */
static inline struct nytp_str nytp_comment_text(const struct nytp_str *comment)
{
    struct nytp_str text = *comment;
    if (text.len > 0 && text.ptr[text.len - 1] == '\n')
        text.len--;
    return text;
}

/* Cuts this word and the blank behind it off *rest. */
static inline bool nytp_cut_word(struct nytp_str *rest, const char *word)
{
    const size_t len = strlen(word);
    if (rest->len <= len || memcmp(rest->ptr, word, len) != 0 || rest->ptr[len] != ' ')
        return false;
    rest->ptr += len + 1;
    rest->len -= (uint32_t)len + 1;
    return true;
}

/* Cuts the text before `end`, and `end` itself, off *rest. Without an `end` it is all. */
static inline struct nytp_str nytp_cut_part(struct nytp_str *rest, char end)
{
    const char *const at = rest->len == 0 ? NULL : memchr(rest->ptr, end, rest->len);
    const uint32_t len = at == NULL ? rest->len : (uint32_t)(at - rest->ptr);
    const struct nytp_str part = {.ptr = rest->ptr, .len = len};
    rest->ptr += len + (at != NULL);
    rest->len -= len + (at != NULL);
    return part;
}

/* Cuts a decimal number of at most `most`, and the `end` behind it, off *rest. With '\0' the
 * text must end there. */
static inline bool nytp_cut_number(struct nytp_str *rest, char end, uint64_t most,
                                   uint64_t *number)
{
    uint64_t value = 0;
    uint32_t n = 0;
    for (; n < rest->len && rest->ptr[n] >= '0' && rest->ptr[n] <= '9'; n++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(rest->ptr[n] - '0'), &value))
            return false;
    const bool is_last = n == rest->len;
    if (n == 0 || value > most || (is_last ? end != '\0' : rest->ptr[n] != end))
        return false;
    rest->ptr += n + !is_last;
    rest->len -= n + !is_last;
    *number = value;
    return true;
}

/* The same for n numbers with blanks between them, and `end` behind the last. */
static inline bool nytp_cut_numbers(struct nytp_str *rest, char end, uint64_t most, size_t n,
                                    uint64_t *numbers)
{
    for (size_t i = 0; i < n; i++)
        if (!nytp_cut_number(rest, i + 1 < n ? ' ' : end, most, &numbers[i]))
            return false;
    return true;
}

/* Cuts a number that may be negative, and the blank behind it, off *rest. */
static inline bool nytp_cut_signed(struct nytp_str *rest, int64_t most, int64_t *number)
{
    const bool is_negative = rest->len > 0 && rest->ptr[0] == '-';
    uint64_t size;
    rest->ptr += is_negative;
    rest->len -= is_negative;
    if (!nytp_cut_number(rest, ' ', (uint64_t)most, &size))
        return false;
    *number = is_negative ? -(int64_t)size : (int64_t)size;
    return true;
}

/* Stores a blank and the number; returns their end. No printf(): it is called often, and in
 * signal handlers. */
static inline char *nytp_put_number(char *at, int64_t number)
{
    uint64_t size = number < 0 ? -(uint64_t)number : (uint64_t)number;
    char digits[20];
    int n = 0;
    do
        digits[n++] = (char)('0' + size % 10);
    while ((size /= 10) > 0);
    *at++ = ' ';
    if (number < 0)
        *at++ = '-';
    while (n > 0)
        *at++ = digits[--n];
    return at;
}

#endif
