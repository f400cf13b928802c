/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Fuzz target: the compressor beside zlib. The first bytes choose the framing, how long the
 * pieces are, where it is flushed and where it goes on from a copy of itself; the rest,
 * repeated at a distance so that there is something to find, is what gets compressed. zlib must
 * inflate every flushed part to the bytes put so far, and the whole to all of them.
 */
#include "formats/deflate/deflate.h"

#include <string.h>
#include <zlib.h>

#include "target.h"

enum {
    HEAD = 6,
    MOST = 1 << 17,
};

struct packed {
    uint8_t bytes[2 * MOST + 65536];
    size_t len;
};

static bool put(void *context, const uint8_t *bytes, size_t len)
{
    struct packed *const to = context;
    must(len <= sizeof to->bytes - to->len, "more came out than twice what went in");
    memcpy(to->bytes + to->len, bytes, len);
    to->len += len;
    return true;
}

/* Whether zlib makes the first `len` bytes of `plain` of it, and nothing else. */
static void inflates_to(const struct packed *packed, const uint8_t *plain, size_t len,
                        bool is_whole)
{
    static uint8_t out[MOST + 1];
    z_stream zlib = {.next_in = (uint8_t *)(uintptr_t)packed->bytes,
                     .avail_in = (uInt)packed->len,
                     .next_out = out,
                     .avail_out = sizeof out};
    const int either_framing = 15 + 32;
    if (inflateInit2(&zlib, either_framing) != Z_OK)
        abort();
    const int status = inflate(&zlib, Z_SYNC_FLUSH);
    const size_t n = sizeof out - zlib.avail_out;
    inflateEnd(&zlib);
    must(status == (is_whole ? Z_STREAM_END : Z_OK), "zlib takes it for damaged or not whole");
    must(!is_whole || zlib.avail_in == 0, "bytes behind the end");
    must(n == len && memcmp(out, plain, len) == 0, "other bytes come out");
}

/* The input's bytes, and the same again `distance` later, until there is enough. */
static size_t make_plain(uint8_t *plain, const uint8_t *data, size_t size, size_t distance)
{
    size_t len = size < MOST ? size : MOST;
    memcpy(plain, data, len);
    if (len == 0)
        return 0;
    while (len < MOST / 4 && distance % 5 != 0) {
        const size_t back = 1 + distance % len;
        const size_t n = back < MOST - len ? back : MOST - len;
        memmove(plain + len, plain + len - back, n);
        plain[len] ^= (uint8_t)(distance & 1);
        len += n;
        distance = distance * 31 + 7;
    }
    return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t plain[MOST];
    static struct packed packed;
    if (size < HEAD)
        return 0;
    const size_t len =
        make_plain(plain, data + HEAD, size - HEAD, data[3] | (size_t)data[4] << 8);
    const size_t piece = 1 + (size_t)data[1] * data[1] * 4;
    struct nytp_deflate *deflate = nytp_deflate_new(data[0] % 2);
    if (deflate == NULL)
        abort();
    packed.len = 0;
    for (size_t at = 0, i = 0; at < len; i++) {
        const size_t n = piece < len - at ? piece : len - at;
        const bool flushes = data[2] > 0 && i % data[2] == 0;
        memcpy(nytp_deflate_room(deflate), plain + at, n);
        nytp_deflate_run(deflate, n, flushes ? NYTP_FLUSH_SYNC : NYTP_FLUSH_NONE, put, &packed);
        at += n;
        if (flushes && i < 4)
            inflates_to(&packed, plain, at, false);
        if (flushes && data[5] == i) {
            const struct nytp_deflate_point point = nytp_deflate_point(deflate);
            nytp_deflate_free(deflate);
            deflate = nytp_deflate_new_at(&point);
            if (deflate == NULL)
                abort();
        }
    }
    nytp_deflate_run(deflate, 0, NYTP_FLUSH_FINISH, put, &packed);
    nytp_deflate_free(deflate);
    inflates_to(&packed, plain, len, true);
    return 0;
}
