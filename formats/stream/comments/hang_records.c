/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads comments about a program that hangs (hang_records.h). Others are ignored.
 */
#include "hang_records.h"

#include <string.h>

#define MOST_TICKS INT64_C(9000000000000000) /* 28 years of 100 ns */

/* Cuts the text up to `end` off *rest, and `end` itself, or all of it. */
static struct nytp_str next_part(struct nytp_str *rest, char end)
{
    const char *const at = rest->len == 0 ? NULL : memchr(rest->ptr, end, rest->len);
    const uint32_t len = at == NULL ? rest->len : (uint32_t)(at - rest->ptr);
    const struct nytp_str part = {.ptr = rest->ptr, .len = len};
    rest->ptr += at == NULL ? len : len + 1;
    rest->len -= at == NULL ? len : len + 1;
    return part;
}

static bool is_word(const struct nytp_str *word, const char *text)
{
    return word->len == strlen(text) && memcmp(word->ptr, text, word->len) == 0;
}

/* Returns false if the word is not a number or is more than `most`. */
static bool number_of(struct nytp_str word, uint64_t most, uint64_t *number)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < word.len; i++) {
        const uint64_t digit = (uint64_t)(word.ptr[i] - '0');
        if (digit > 9 || value > (most - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    return word.len > 0;
}

static uint64_t sum_of(const struct nytp_str *body)
{
    uint64_t sum = NYTP_HANG_SUM;
    for (uint32_t i = 0; i < body->len; i++)
        sum = NYTP_HANG_SUM_STEP(sum, body->ptr[i]);
    return sum;
}

bool nytp_last_stack_body(const struct nytp_str *comment, struct nytp_str *body)
{
    struct nytp_str rest = *comment;
    uint64_t sum, len;
    const struct nytp_str head = next_part(&rest, ' ');
    if (!is_word(&head, NYTP_HANG_NOTE) ||
        !number_of(next_part(&rest, ' '), UINT64_MAX, &sum) ||
        !number_of(next_part(&rest, ' '), NYTP_HANG_ROOM, &len) || len > rest.len)
        return false;
    *body = (struct nytp_str){.ptr = rest.ptr, .len = (uint32_t)len};
    return sum_of(body) == sum;
}

static bool read_leaf(struct nytp_str part, struct nytp_hang *hang)
{
    if (is_word(&part, "-"))
        return true;
    const struct nytp_str kind = next_part(&part, ' ');
    hang->has_leaf = true;
    hang->leaf_is_xsub = is_word(&kind, "xsub");
    hang->leaf = part;
    return part.len > 0 && (hang->leaf_is_xsub || is_word(&kind, "builtin"));
}

static bool read_body(const struct nytp_str *body, struct nytp_hang *hang)
{
    struct nytp_str rest = *body, numbers = next_part(&rest, '\t');
    uint64_t at, ticks, cpu_ticks, depth;
    struct nytp_hang read = {0};
    if (!number_of(next_part(&numbers, ' '), UINT64_MAX, &at) ||
        !number_of(next_part(&numbers, ' '), MOST_TICKS, &ticks) ||
        !number_of(next_part(&numbers, ' '), MOST_TICKS, &cpu_ticks) ||
        !number_of(next_part(&numbers, ' '), NYTP_MAX_DEPTH, &depth) ||
        !read_leaf(next_part(&rest, '\t'), &read) || rest.len == 0)
        return false;
    *hang = read;
    hang->at = at;
    hang->ticks = (int64_t)ticks;
    hang->cpu_ticks = (int64_t)(cpu_ticks < ticks ? cpu_ticks : ticks);
    hang->depth = (uint32_t)depth;
    if (numbers.len > 0)
        hang->reason = nytp_wait_reason_read(numbers.ptr, numbers.len, &hang->peer);
    hang->calls = rest;
    return true;
}

bool nytp_hang_read(const struct nytp_str *comment, struct nytp_hang *hang)
{
    struct nytp_str rest = *comment;
    if (rest.len > 0 && rest.ptr[rest.len - 1] == '\n')
        rest.len--;
    const struct nytp_str head = next_part(&rest, ' ');
    return is_word(&head, NYTP_HANG_HEAD) && read_body(&rest, hang);
}

bool nytp_hang_next(struct nytp_hang *hang, struct nytp_hang_call *call)
{
    if (hang->calls.len == 0)
        return false;
    const struct nytp_str name = next_part(&hang->calls, '\t');
    const struct nytp_str place = next_part(&hang->calls, '\t');
    uint32_t at = place.len;
    while (at > 0 && place.ptr[at - 1] != ':')
        at--;
    uint64_t line = 0;
    if (at == 0 || !number_of((struct nytp_str){.ptr = place.ptr + at, .len = place.len - at},
                              UINT32_MAX, &line))
        return false;
    if (at > 1)
        hang->file = (struct nytp_str){.ptr = place.ptr, .len = at - 1};
    *call = (struct nytp_hang_call){.name = name, .file = hang->file, .line = (uint32_t)line};
    return true;
}
