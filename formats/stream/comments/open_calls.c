/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads the comments about open calls (open_calls.h). Any other comment is ignored.
 */
#include "open_calls.h"

#include <string.h>

/* Cuts the next word and the blank behind it off *rest. Returns false if there is no blank. */
static bool next_word(struct nytp_str *rest, struct nytp_str *word)
{
    const char *const blank = rest->len == 0 ? NULL : memchr(rest->ptr, ' ', rest->len);
    if (blank == NULL)
        return false;
    *word = (struct nytp_str){.ptr = rest->ptr, .len = (uint32_t)(blank - rest->ptr)};
    rest->ptr = blank + 1;
    rest->len -= word->len + 1;
    return true;
}

static bool is_word(const struct nytp_str *word, const char *text)
{
    return word->len == strlen(text) && memcmp(word->ptr, text, word->len) == 0;
}

/* Reads a number of at most nine digits; 0 for anything else. */
static uint32_t read_number(const struct nytp_str *word)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < word->len; i++) {
        const char digit = word->ptr[i];
        if (digit < '0' || digit > '9' || i >= 9)
            return 0;
        value = value * 10 + (uint32_t)(digit - '0');
    }
    return value;
}

static struct nytp_str without_newline(struct nytp_str text)
{
    if (text.len > 0 && text.ptr[text.len - 1] == '\n')
        text.len--;
    return text;
}

bool nytp_open_call_read(const struct nytp_str *comment, struct nytp_open_call *call)
{
    struct nytp_str rest = without_newline(*comment), head, depth, kind;
    if (!next_word(&rest, &head) || !is_word(&head, NYTP_OPEN_CALL_HEAD) ||
        !next_word(&rest, &depth) || read_number(&depth) == 0 || !next_word(&rest, &kind) ||
        rest.len == 0)
        return false;
    *call = (struct nytp_open_call){.depth = read_number(&depth),
                                    .is_xsub = is_word(&kind, NYTP_OPEN_CALL_XSUB),
                                    .name = rest};
    return true;
}

bool nytp_is_resumed_call(const struct nytp_str *comment)
{
    const struct nytp_str text = without_newline(*comment);
    return is_word(&text, NYTP_RESUMED_CALL);
}
