/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A decompressor as a step function: compressed bytes in, plain bytes out, checksum verified.
 * ISA-L does the work where it is installed, else zlib. A stream that is whole or cut short
 * gives the same with either; in a damaged one the two may notice the damage at different
 * places.
 */
#ifndef NYTP_INFLATE_H
#define NYTP_INFLATE_H

#include <stddef.h>
#include <stdint.h>

enum nytp_inflate_wrapper {
    NYTP_INFLATE_ZLIB, /* RFC 1950: header, deflate data, Adler-32 */
    NYTP_INFLATE_GZIP, /* RFC 1952: one member */
};

enum nytp_inflate_result {
    NYTP_INFLATE_MORE,    /* all input was taken or all room used up */
    NYTP_INFLATE_END,     /* end of the stream reached, its checksum is right */
    NYTP_INFLATE_DAMAGED, /* see nytp_inflate_reason() */
};

struct nytp_inflate;

/* NULL when memory is short. */
struct nytp_inflate *nytp_inflate_new(enum nytp_inflate_wrapper wrapper);
void nytp_inflate_free(struct nytp_inflate *self);

/* Take bytes from `*in`..`in_end` and write plain bytes to `*out`..`out_end`, moving `*in` and
 * `*out` on. What was written counts whatever the result: damage found late does not take
 * back what came before it. After END the rest of the input is left where it is, for which `*in`
 * may go back by up to NYTP_INFLATE_AHEAD bytes that earlier calls took: they must still be there. */
#define NYTP_INFLATE_AHEAD 8
enum nytp_inflate_result nytp_inflate_step(struct nytp_inflate *self, const uint8_t **in,
                                           const uint8_t *in_end, uint8_t **out,
                                           const uint8_t *out_end);

/* After MORE where no more comes: write what the input that was taken still tells. */
void nytp_inflate_rest(struct nytp_inflate *self, uint8_t **out, const uint8_t *out_end);

/* After DAMAGED: what is wrong, a few words. */
const char *nytp_inflate_reason(const struct nytp_inflate *self);

#endif
