/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads attributes from comments; see attribute_records.h.
 */
#include "attribute_records.h"

#include <string.h>

bool nytp_attribute_record_read(const struct nytp_event *comment, struct nytp_event *attribute)
{
    const uint32_t head = sizeof NYTP_ATTRIBUTE_HEAD - 1;
    struct nytp_str text = comment->u.comment.text;
    if (text.len > 0 && text.ptr[text.len - 1] == '\n')
        text.len--;
    if (text.len <= head || memcmp(text.ptr, NYTP_ATTRIBUTE_HEAD, head) != 0)
        return false;
    const struct nytp_str pair = {.ptr = text.ptr + head, .len = text.len - head};
    const char *const equals = memchr(pair.ptr, '=', pair.len);
    if (equals == NULL)
        return false;
    const uint32_t key_len = (uint32_t)(equals - pair.ptr);
    *attribute = *comment;
    attribute->tag = NYTP_TAG_ATTRIBUTE;
    attribute->u.pair.key = (struct nytp_str){.ptr = pair.ptr, .len = key_len};
    attribute->u.pair.value =
        (struct nytp_str){.ptr = equals + 1, .len = pair.len - key_len - 1};
    return true;
}
