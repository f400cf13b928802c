/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * For the tests of what reads and writes bytes: growing bytes, packed ones.
 */
#ifndef NYTP_TEST_BYTES_H
#define NYTP_TEST_BYTES_H

#include "formats/stream/source.h"
#include "t/tap.h"

#include <assert.h>
#include <stdlib.h>
#include <zlib.h>

/* Growing bytes */

struct bytes {
    uint8_t *data;
    size_t len, size;
};

static inline void put(struct bytes *b, const void *data, size_t len)
{
    if (b->len + len > b->size) {
        b->size = (b->len + len) * 2 + 64;
        b->data = realloc(b->data, b->size);
        assert(b->data != NULL);
    }
    if (len > 0)
        memcpy(b->data + b->len, data, len);
    b->len += len;
}

static inline void put_byte(struct bytes *b, int byte)
{
    const uint8_t value = (uint8_t)byte;
    put(b, &value, 1);
}

static inline void put_text(struct bytes *b, const char *text)
{
    put(b, text, strlen(text));
}

static inline void put_packed(struct bytes *b, const void *data, size_t len, int window_bits)
{
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)data, .avail_in = (uInt)len};
    const int init = deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, window_bits, 9, Z_DEFAULT_STRATEGY);
    assert(init == Z_OK);
    (void)init;
    const size_t bound = deflateBound(&z, (uLong)len) + 64;
    uint8_t *out = malloc(bound);
    assert(out != NULL);
    z.next_out = out;
    z.avail_out = (uInt)bound;
    const int end = deflate(&z, Z_FINISH);
    assert(end == Z_STREAM_END);
    (void)end;
    put(b, out, z.total_out);
    deflateEnd(&z);
    free(out);
}

static inline void put_zlib(struct bytes *b, const void *data, size_t len)
{
    put_packed(b, data, len, 15);
}

static inline void put_gzip(struct bytes *b, const void *data, size_t len)
{
    put_packed(b, data, len, 15 + 16);
}

#endif
