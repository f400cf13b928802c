/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads comments that hold labels (label_records.h). Others are ignored.
 */
#include "label_records.h"

#include "formats/stream/comments/words.h"

#define MOST_TICKS INT64_C(99999999999999999) /* 17 digits */

static const struct nytp_label_record none = {.kind = NYTP_LABEL_NONE};

static struct nytp_label_record read_pair(enum nytp_label_kind kind, int64_t ticks,
                                          struct nytp_str text)
{
    struct nytp_str rest = text;
    struct nytp_label_record record = {
        .kind = kind, .ticks = ticks, .key = nytp_cut_part(&rest, '=')};
    if (record.key.len < text.len)
        record.value = rest;
    else
        record.kind = kind == NYTP_LABEL_SET ? NYTP_LABEL_END : NYTP_LABEL_NONE;
    return record.key.len == 0 ? none : record;
}

static struct nytp_label_record read_own(struct nytp_str text)
{
    uint64_t depth;
    int64_t ticks;
    if (!nytp_cut_number(&text, ' ', INT32_MAX, &depth) || depth == 0 ||
        !nytp_cut_signed(&text, MOST_TICKS, &ticks) || text.len == 0)
        return none;
    return (struct nytp_label_record){
        .kind = NYTP_LABEL_OWN, .ticks = ticks, .depth = (uint32_t)depth, .value = text};
}

struct nytp_label_record nytp_label_record_read(const struct nytp_str *comment)
{
    struct nytp_str rest = nytp_comment_text(comment);
    int64_t ticks;
    if (nytp_cut_word(&rest, NYTP_LABEL_PROFILE_HEAD))
        return read_pair(NYTP_LABEL_PROFILE, 0, rest);
    if (nytp_cut_word(&rest, NYTP_OWN_HEAD))
        return read_own(rest);
    if (!nytp_cut_word(&rest, NYTP_LABEL_HEAD) || !nytp_cut_signed(&rest, MOST_TICKS, &ticks))
        return none;
    return read_pair(NYTP_LABEL_SET, ticks, rest);
}

bool nytp_labels_next(struct nytp_str *rest, struct nytp_str *key, struct nytp_str *value)
{
    if (rest->len == 0)
        return false;
    *value = nytp_cut_part(rest, '\n');
    *key = nytp_cut_part(value, '=');
    return true;
}
