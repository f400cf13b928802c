/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * One deflate stream (RFC 1951), compressed piece by piece and framed as zlib (RFC 1950) or
 * gzip (RFC 1952). Any inflater reads it. The same bytes put at the same level give the same
 * stream only if they are put and flushed in the same pieces.
 */
#ifndef NYTP_DEFLATE_H
#define NYTP_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes compressed bytes; false stops the compression. The bytes are borrowed. */
typedef bool nytp_bytes_fn(void *context, const uint8_t *bytes, size_t len);

enum nytp_flush {
    NYTP_FLUSH_NONE,   /* bytes may stay inside the compressor */
    NYTP_FLUSH_SYNC,   /* everything put so far can be inflated from what came out */
    NYTP_FLUSH_FINISH, /* the same, and the stream ends */
};

/* What stands around the stream. A gzip header has no time stamp and no file name. */
enum nytp_framing {
    NYTP_ZLIB,
    NYTP_GZIP,
};

struct nytp_deflate;

/* Returns a compressor of about 0.7 MB, or NULL if memory is out or `level` is not 1 (fast) to 9.
 * Levels 2 to 9 are the same. */
struct nytp_deflate *nytp_deflate_new(int level, enum nytp_framing framing);

/* A point of the stream, so that it can be ended and, when that turns out to be premature,
 * continued from before: behind a NYTP_FLUSH_SYNC nothing is left in the compressor but this
 * and what it might refer back to, which can be done without. */
struct nytp_deflate_point {
    int level; /* 0: no point */
    enum nytp_framing framing;
    uint32_t checksum, n_bytes;
};

/* Where the stream is, right behind a NYTP_FLUSH_SYNC. */
struct nytp_deflate_point nytp_deflate_point(const struct nytp_deflate *deflate);

/* A compressor that goes on from there. NULL when out of memory. */
struct nytp_deflate *nytp_deflate_new_at(const struct nytp_deflate_point *point);

/* Accepts NULL. */
void nytp_deflate_free(struct nytp_deflate *deflate);

#define NYTP_DEFLATE_ROOM 262144

/* Where bytes are stored for nytp_deflate_run(), NYTP_DEFLATE_ROOM of them: always the same
 * place, inside the compressor. */
uint8_t *nytp_deflate_room(struct nytp_deflate *deflate);

/* Compress the first `len` bytes of the room, which is free for others then, and hand what
 * comes out to `put`. Allocates nothing. False when `put` said so; the stream is then
 * unusable. */
bool nytp_deflate_run(struct nytp_deflate *deflate, size_t len, enum nytp_flush flush,
                      nytp_bytes_fn *put, void *context);

#endif
