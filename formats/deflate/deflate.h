/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * One deflate stream (RFC 1951), compressed piece by piece and framed as zlib (RFC 1950) or
 * gzip (RFC 1952). The same bytes give the same stream only if they are put and flushed in the
 * same pieces.
 */
#ifndef NYTP_DEFLATE_H
#define NYTP_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes compressed bytes, which are borrowed. Returns false to stop the compression. */
typedef bool nytp_bytes_fn(void *context, const uint8_t *bytes, size_t len);

enum nytp_flush {
    NYTP_FLUSH_NONE,   /* bytes may stay in the compressor */
    NYTP_FLUSH_SYNC,   /* all that was put can be inflated from the output */
    NYTP_FLUSH_FINISH, /* the same, and the stream ends */
};

/* The frame around the stream. A gzip header has no time stamp and no file name. */
enum nytp_framing {
    NYTP_ZLIB,
    NYTP_GZIP,
};

struct nytp_deflate;

/* Returns a compressor of about 0.7 MB, or NULL if memory is out. */
struct nytp_deflate *nytp_deflate_new(enum nytp_framing framing);

/* A point of the stream from which it can be continued, even after it was ended. Right after a
 * NYTP_FLUSH_SYNC the compressor holds nothing else but history, which is dispensable. */
struct nytp_deflate_point {
    bool is_set; /* false: no point */
    enum nytp_framing framing;
    uint32_t checksum, n_bytes;
};

/* Returns the present point. Call it right after a NYTP_FLUSH_SYNC. */
struct nytp_deflate_point nytp_deflate_point(const struct nytp_deflate *deflate);

/* Returns a compressor that continues from there, or NULL if memory is out. */
struct nytp_deflate *nytp_deflate_new_at(const struct nytp_deflate_point *point);

/* Accepts NULL. */
void nytp_deflate_free(struct nytp_deflate *deflate);

#define NYTP_DEFLATE_ROOM 262144

/* Returns the room where the caller stores bytes for nytp_deflate_run(): NYTP_DEFLATE_ROOM
 * bytes inside the compressor, always at the same place. */
uint8_t *nytp_deflate_room(struct nytp_deflate *deflate);

/* Compresses the first `len` bytes of the room and passes the output to `put`. The room can be
 * filled again afterwards. Allocates nothing. Returns false if `put` did; the stream is then
 * unusable. */
bool nytp_deflate_run(struct nytp_deflate *deflate, size_t len, enum nytp_flush flush,
                      nytp_bytes_fn *put, void *context);

#endif
