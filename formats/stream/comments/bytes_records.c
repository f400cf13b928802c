/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Comments about allocated bytes; see bytes_records.h. Others are ignored.
 */
#include "bytes_records.h"

#include <string.h>

static const char alloc_head[] = NYTP_ALLOC_HEAD, free_head[] = NYTP_FREE_HEAD,
                  in_use_head[] = NYTP_IN_USE_HEAD, inherited_head[] = NYTP_INHERITED_HEAD,
                  call_head[] = NYTP_IN_USE_CALL_HEAD;

/* Reads the number at *at and the character `end` behind it; moves *at behind both. */
static bool next_number(const char **at, const char *end_of_text, char end, uint64_t most,
                        uint64_t *value)
{
    uint64_t sum = 0;
    const char *const first = *at;
    const char *p = first;
    for (; p < end_of_text && *p >= '0' && *p <= '9' && p - first < 19; p++)
        sum = sum * 10 + (uint64_t)(*p - '0');
    if (p == first || p == end_of_text || *p != end || sum > most)
        return false;
    *value = sum;
    *at = p + 1;
    return true;
}

/* Returns true if the comment begins with this word and a space; moves *at behind them. */
static bool has_head(const struct nytp_str *comment, const char *head, size_t len,
                     const char **at)
{
    if (comment->len <= len || memcmp(comment->ptr, head, len) != 0 || comment->ptr[len] != ' ')
        return false;
    *at = comment->ptr + len + 1;
    return true;
}

bool nytp_bytes_record_read(const struct nytp_str *comment, struct nytp_bytes_record *record)
{
    const char *at, *const end = comment->ptr + comment->len;
    struct nytp_bytes_record r = {0};
    uint64_t call = 0, fid = 0, line = 0, parent_pid = 0;
    if (has_head(comment, free_head, sizeof free_head - 1, &at)) {
        r.is_free = true;
        if (!next_number(&at, end, '\n', INT64_MAX, &r.id) || at != end)
            return false;
    } else {
        const bool is_inherited =
            has_head(comment, inherited_head, sizeof inherited_head - 1, &at);
        r.is_from_before =
            is_inherited || has_head(comment, in_use_head, sizeof in_use_head - 1, &at);
        if ((!r.is_from_before && !has_head(comment, alloc_head, sizeof alloc_head - 1, &at)) ||
            !next_number(&at, end, ' ', INT64_MAX, &r.id) ||
            !next_number(&at, end, ' ', NYTP_MOST_SAMPLE_BYTES, &r.space) ||
            !next_number(&at, end, ' ', NYTP_MOST_SAMPLE_BYTES, &r.objects) ||
            (r.is_from_before && !next_number(&at, end, ' ', UINT32_MAX, &call)) ||
            !next_number(&at, end, ' ', UINT32_MAX, &fid) ||
            !next_number(&at, end, is_inherited ? ' ' : '\n', UINT32_MAX, &line) ||
            (is_inherited && !next_number(&at, end, '\n', UINT32_MAX, &parent_pid)) ||
            (is_inherited && parent_pid == 0) || at != end)
            return false;
    }
    r.call = (uint32_t)call;
    r.fid = (uint32_t)fid;
    r.line = (uint32_t)line;
    r.parent_pid = (uint32_t)parent_pid;
    *record = r;
    return true;
}

/* Stores a space and the digits. No printf(): signal handlers may come here. */
static char *put_number(char *at, uint64_t number)
{
    char digits[20];
    int n = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    *at++ = ' ';
    while (n > 0)
        *at++ = digits[--n];
    return at;
}

void nytp_bytes_record_format(const struct nytp_bytes_record *record,
                              char text[NYTP_BYTES_LONGEST])
{
    const char *const head = record->is_free           ? free_head
                             : record->parent_pid != 0 ? inherited_head
                             : record->is_from_before  ? in_use_head
                                                       : alloc_head;
    const size_t len = strlen(head);
    memcpy(text, head, len);
    char *at = put_number(text + len, record->id);
    if (!record->is_free) {
        at = put_number(at, record->space);
        at = put_number(at, record->objects);
        if (record->is_from_before)
            at = put_number(at, record->call);
        at = put_number(at, record->fid);
        at = put_number(at, record->line);
        if (record->parent_pid != 0)
            at = put_number(at, record->parent_pid);
    }
    *at = '\0';
}

bool nytp_in_use_call_read(const struct nytp_str *comment, struct nytp_in_use_call *call)
{
    const char *at, *const end = comment->ptr + comment->len;
    uint64_t number, caller, fid, line;
    if (!has_head(comment, call_head, sizeof call_head - 1, &at) ||
        !next_number(&at, end, ' ', UINT32_MAX, &number) ||
        !next_number(&at, end, ' ', UINT32_MAX, &caller) ||
        !next_number(&at, end, ' ', UINT32_MAX, &fid) ||
        !next_number(&at, end, ' ', UINT32_MAX, &line) || caller >= number || end - at < 2 ||
        end[-1] != '\n')
        return false;
    *call = (struct nytp_in_use_call){
        .number = (uint32_t)number,
        .caller = (uint32_t)caller,
        .fid = (uint32_t)fid,
        .line = (uint32_t)line,
        .name = {.ptr = at, .len = (uint32_t)(end - 1 - at)},
    };
    return true;
}

void nytp_in_use_call_format(const struct nytp_in_use_call *call,
                             char text[NYTP_IN_USE_CALL_ROOM])
{
    const uint32_t len =
        call->name.len < NYTP_IN_USE_NAME_MOST ? call->name.len : NYTP_IN_USE_NAME_MOST;
    memcpy(text, call_head, sizeof call_head - 1);
    char *at = put_number(text + sizeof call_head - 1, call->number);
    at = put_number(at, call->caller);
    at = put_number(at, call->fid);
    at = put_number(at, call->line);
    *at++ = ' ';
    memcpy(at, call->name.ptr, len);
    at[len] = '\0';
}
