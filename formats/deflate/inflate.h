/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A decompressor as a step function: compressed bytes in, plain bytes out, checksum verified.
 * It uses ISA-L where that is installed, else zlib. Both give the same for a whole or
 * truncated stream; they may notice damage at different places.
 */
#ifndef NYTP_INFLATE_H
#define NYTP_INFLATE_H

#include "deflate.h"

enum nytp_inflate_result {
    NYTP_INFLATE_MORE,    /* all input was taken or all room used up */
    NYTP_INFLATE_END,     /* end of the stream reached, its checksum is right */
    NYTP_INFLATE_DAMAGED, /* see nytp_inflate_reason() */
};

struct nytp_inflate;

/* Takes one zlib stream, or one member of gzip. Returns NULL if memory is out. */
struct nytp_inflate *nytp_inflate_new(enum nytp_framing framing);
void nytp_inflate_free(struct nytp_inflate *self);

/* Reads from `*in`..`in_end`, writes plain bytes to `*out`..`out_end`, and moves `*in` and
 * `*out` on. Bytes written are valid even if the result is DAMAGED. After END, `*in` is at the
 * first byte behind the stream. For that it may go back by up to NYTP_INFLATE_AHEAD bytes of
 * earlier calls, which must still be there. */
#define NYTP_INFLATE_AHEAD 8
enum nytp_inflate_result nytp_inflate_step(struct nytp_inflate *self, const uint8_t **in,
                                           const uint8_t *in_end, uint8_t **out,
                                           const uint8_t *out_end);

/* After MORE at the end of a truncated input: writes what the input still determines. */
void nytp_inflate_rest(struct nytp_inflate *self, uint8_t **out, const uint8_t *out_end);

/* After DAMAGED: the reason, in a few words. */
const char *nytp_inflate_reason(const struct nytp_inflate *self);

#endif
