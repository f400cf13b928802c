/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Comments about allocated bytes; see bytes_records.h. Others are ignored.
 */
#include "bytes_records.h"

#include "formats/stream/comments/words.h"

static bool read_place(struct nytp_str *rest, char end, uint32_t *fid, uint32_t *line)
{
    uint64_t place[2];
    if (!nytp_cut_numbers(rest, end, UINT32_MAX, 2, place))
        return false;
    *fid = (uint32_t)place[0];
    *line = (uint32_t)place[1];
    return true;
}

bool nytp_bytes_record_read(const struct nytp_str *comment, struct nytp_bytes_record *record)
{
    struct nytp_str rest = nytp_comment_text(comment);
    struct nytp_bytes_record r = {.is_free = nytp_cut_word(&rest, NYTP_FREE_HEAD)};
    uint64_t size[2], call = 0, parent_pid = 0;
    const bool is_inherited = !r.is_free && nytp_cut_word(&rest, NYTP_INHERITED_HEAD);
    r.is_from_before = is_inherited || (!r.is_free && nytp_cut_word(&rest, NYTP_IN_USE_HEAD));
    if ((!r.is_free && !r.is_from_before && !nytp_cut_word(&rest, NYTP_ALLOC_HEAD)) ||
        !nytp_cut_number(&rest, r.is_free ? '\0' : ' ', INT64_MAX, &r.id))
        return false;
    if (!r.is_free) {
        if (!nytp_cut_numbers(&rest, ' ', NYTP_MOST_SAMPLE_BYTES, 2, size) ||
            (r.is_from_before && !nytp_cut_number(&rest, ' ', UINT32_MAX, &call)) ||
            !read_place(&rest, is_inherited ? ' ' : '\0', &r.fid, &r.line) ||
            (is_inherited &&
             (!nytp_cut_number(&rest, '\0', UINT32_MAX, &parent_pid) || parent_pid == 0)))
            return false;
        r.space = size[0];
        r.objects = size[1];
    }
    r.call = (uint32_t)call;
    r.parent_pid = (uint32_t)parent_pid;
    *record = r;
    return true;
}

static char *put_head(char *text, const char *head)
{
    const size_t len = strlen(head);
    memcpy(text, head, len);
    return text + len;
}

void nytp_bytes_record_format(const struct nytp_bytes_record *record,
                              char text[NYTP_BYTES_LONGEST])
{
    const char *const head = record->is_free           ? NYTP_FREE_HEAD
                             : record->parent_pid != 0 ? NYTP_INHERITED_HEAD
                             : record->is_from_before  ? NYTP_IN_USE_HEAD
                                                       : NYTP_ALLOC_HEAD;
    char *at = nytp_put_number(put_head(text, head), (int64_t)record->id);
    if (!record->is_free) {
        at = nytp_put_number(at, (int64_t)record->space);
        at = nytp_put_number(at, (int64_t)record->objects);
        if (record->is_from_before)
            at = nytp_put_number(at, record->call);
        at = nytp_put_number(at, record->fid);
        at = nytp_put_number(at, record->line);
        if (record->parent_pid != 0)
            at = nytp_put_number(at, record->parent_pid);
    }
    *at = '\0';
}

bool nytp_in_use_call_read(const struct nytp_str *comment, struct nytp_in_use_call *call)
{
    struct nytp_str rest = nytp_comment_text(comment);
    struct nytp_in_use_call read;
    uint64_t numbers[2];
    if (!nytp_cut_word(&rest, NYTP_IN_USE_CALL_HEAD) ||
        !nytp_cut_numbers(&rest, ' ', UINT32_MAX, 2, numbers) || numbers[1] >= numbers[0] ||
        !read_place(&rest, ' ', &read.fid, &read.line) || rest.len == 0)
        return false;
    read.number = (uint32_t)numbers[0];
    read.caller = (uint32_t)numbers[1];
    read.name = rest;
    *call = read;
    return true;
}

void nytp_in_use_call_format(const struct nytp_in_use_call *call,
                             char text[NYTP_IN_USE_CALL_ROOM])
{
    const uint32_t len =
        call->name.len < NYTP_IN_USE_NAME_MOST ? call->name.len : NYTP_IN_USE_NAME_MOST;
    char *at = nytp_put_number(put_head(text, NYTP_IN_USE_CALL_HEAD), call->number);
    at = nytp_put_number(at, call->caller);
    at = nytp_put_number(at, call->fid);
    at = nytp_put_number(at, call->line);
    *at++ = ' ';
    memcpy(at, call->name.ptr, len);
    at[len] = '\0';
}
