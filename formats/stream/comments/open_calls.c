/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads the comments about open calls (open_calls.h). Any other comment is ignored.
 */
#include "open_calls.h"

#include "formats/stream/comments/words.h"

bool nytp_open_call_read(const struct nytp_str *comment, struct nytp_open_call *call)
{
    struct nytp_str rest = nytp_comment_text(comment);
    uint64_t depth;
    if (!nytp_cut_word(&rest, NYTP_OPEN_CALL_HEAD) ||
        !nytp_cut_number(&rest, ' ', 999999999, &depth) || depth == 0)
        return false;
    const struct nytp_str kind = nytp_cut_part(&rest, ' ');
    if (rest.len == 0)
        return false;
    *call = (struct nytp_open_call){.depth = (uint32_t)depth,
                                    .is_xsub = nytp_str_is(kind, NYTP_OPEN_CALL_XSUB),
                                    .name = rest};
    return true;
}

bool nytp_is_resumed_call(const struct nytp_str *comment)
{
    return nytp_str_is(nytp_comment_text(comment), NYTP_RESUMED_CALL);
}
