/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reasons for waiting in a sampled stream, as comments: "nytp-wait REASON [PEER]" before the
 * comment "cpu N" of a time record (sample_records.h). The part of the record's time that was
 * no processor time was spent waiting for that reason. PEER is the other side of a socket, as
 * text.
 */
#ifndef NYTP_WAIT_RECORDS_H
#define NYTP_WAIT_RECORDS_H

#include "formats/base/utf8.h"
#include "formats/stream/event.h"

#include "formats/stream/comments/words.h"

#define NYTP_WAIT_HEAD "nytp-wait"
#define NYTP_MAX_PEER  120 /* bytes; longer ones are cut between characters */

enum nytp_wait_reason {
    NYTP_WAIT_UNKNOWN, /* too short to be seen, or waited for a processor */
#define NYTP_WAIT_REASON(name, text) NYTP_WAIT_FOR_##name,
#include "wait_reasons.def"
    NYTP_WAIT_REASONS
};

static inline const char *nytp_wait_reason_name(enum nytp_wait_reason reason)
{
    static const char *const names[NYTP_WAIT_REASONS] = {
        "other",
#define NYTP_WAIT_REASON(name, text) text,
#include "wait_reasons.def"
    };
    return names[reason];
}

/* Reads "REASON [PEER]". Returns NYTP_WAIT_UNKNOWN for anything else. `peer` may be empty. */
static inline enum nytp_wait_reason nytp_wait_reason_read(struct nytp_str text,
                                                          struct nytp_str *peer)
{
    const struct nytp_str word = nytp_cut_part(&text, ' ');
    *peer = text;
    peer->len = (uint32_t)nytp_utf8_whole(peer->ptr, peer->len, NYTP_MAX_PEER);
    for (int i = NYTP_WAIT_UNKNOWN + 1; i < NYTP_WAIT_REASONS; i++)
        if (nytp_str_is(word, nytp_wait_reason_name((enum nytp_wait_reason)i)))
            return (enum nytp_wait_reason)i;
    return NYTP_WAIT_UNKNOWN;
}

/* The same for a whole comment. */
static inline enum nytp_wait_reason nytp_wait_record_read(const struct nytp_str *comment,
                                                          struct nytp_str *peer)
{
    struct nytp_str rest = nytp_comment_text(comment);
    return nytp_cut_word(&rest, NYTP_WAIT_HEAD) ? nytp_wait_reason_read(rest, peer)
                                                : NYTP_WAIT_UNKNOWN;
}

#endif
