/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads attributes from comments; see attribute_records.h.
 */
#include "attribute_records.h"

#include "formats/stream/comments/words.h"

bool nytp_attribute_record_read(const struct nytp_event *comment, struct nytp_event *attribute)
{
    struct nytp_str value = nytp_comment_text(&comment->u.comment.text);
    if (!nytp_cut_word(&value, NYTP_ATTRIBUTE_HEAD) ||
        memchr(value.ptr, '=', value.len) == NULL)
        return false;
    *attribute = *comment;
    attribute->tag = NYTP_TAG_ATTRIBUTE;
    attribute->u.setting.key = nytp_cut_part(&value, '=');
    attribute->u.setting.value = value;
    return true;
}
