/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads comments about a program that hangs (hang_records.h). Others are ignored.
 */
#include "hang_records.h"

#include "formats/stream/comments/words.h"

#define MOST_TICKS INT64_C(9000000000000000) /* 28 years of 100 ns */

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
    if (!nytp_cut_word(&rest, NYTP_HANG_NOTE) ||
        !nytp_cut_number(&rest, ' ', UINT64_MAX, &sum) ||
        !nytp_cut_number(&rest, ' ', NYTP_HANG_ROOM, &len) || len > rest.len)
        return false;
    *body = (struct nytp_str){.ptr = rest.ptr, .len = (uint32_t)len};
    return sum_of(body) == sum;
}

static bool read_leaf(struct nytp_str part, struct nytp_hang *hang)
{
    if (nytp_str_is(part, "-"))
        return true;
    hang->has_leaf = true;
    hang->leaf_is_xsub = nytp_cut_word(&part, "xsub");
    const bool is_known = hang->leaf_is_xsub || nytp_cut_word(&part, "builtin");
    hang->leaf = part;
    return is_known && part.len > 0;
}

static bool read_body(struct nytp_str rest, struct nytp_hang *hang)
{
    struct nytp_str numbers = nytp_cut_part(&rest, '\t');
    uint64_t at, ticks[2], depth;
    struct nytp_hang read = {0};
    if (!nytp_cut_number(&numbers, ' ', UINT64_MAX, &at) ||
        !nytp_cut_numbers(&numbers, ' ', MOST_TICKS, 2, ticks) ||
        (!nytp_cut_number(&numbers, ' ', NYTP_MAX_DEPTH, &depth) &&
         !nytp_cut_number(&numbers, '\0', NYTP_MAX_DEPTH, &depth)) ||
        !read_leaf(nytp_cut_part(&rest, '\t'), &read) || rest.len == 0)
        return false;
    *hang = read;
    hang->at = at;
    hang->ticks = (int64_t)ticks[0];
    hang->cpu_ticks = (int64_t)(ticks[1] < ticks[0] ? ticks[1] : ticks[0]);
    hang->depth = (uint32_t)depth;
    if (numbers.len > 0)
        hang->reason = nytp_wait_reason_read(numbers, &hang->peer);
    hang->calls = rest;
    return true;
}

bool nytp_hang_read(const struct nytp_str *comment, struct nytp_hang *hang)
{
    struct nytp_str rest = nytp_comment_text(comment);
    return nytp_cut_word(&rest, NYTP_HANG_HEAD) && read_body(rest, hang);
}

bool nytp_hang_next(struct nytp_hang *hang, struct nytp_hang_call *call)
{
    if (hang->calls.len == 0)
        return false;
    const struct nytp_str name = nytp_cut_part(&hang->calls, '\t');
    const struct nytp_str place = nytp_cut_part(&hang->calls, '\t');
    uint32_t at = place.len;
    while (at > 0 && place.ptr[at - 1] != ':')
        at--;
    struct nytp_str digits = {.ptr = place.ptr + at, .len = place.len - at};
    uint64_t line;
    if (at == 0 || !nytp_cut_number(&digits, '\0', UINT32_MAX, &line))
        return false;
    if (at > 1)
        hang->file = (struct nytp_str){.ptr = place.ptr, .len = at - 1};
    *call = (struct nytp_hang_call){.name = name, .file = hang->file, .line = (uint32_t)line};
    return true;
}
