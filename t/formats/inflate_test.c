/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A stream that is cut short gives what zlib gives of it, wherever it is cut.
 */
#include "formats/deflate/inflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "t/tap.h"

enum {
    PLAIN = 20000,
    ROOM = PLAIN + 64,
};

/* Records as of a profile: some bytes that come again, some that are noise. */
static void fill(uint8_t *plain)
{
    uint32_t noise = 1;
    for (size_t i = 0; i < PLAIN; i++) {
        noise = noise * 1103515245u + 12345u;
        plain[i] = i % 7 == 0   ? '+'
                   : i % 7 < 3  ? (uint8_t)(noise >> 16 & 0x3F)
                   : i % 7 == 3 ? (uint8_t)(noise >> 29)
                                : (uint8_t)(i / 350 + i % 7);
    }
}

static size_t pack(const uint8_t *plain, int level, uint8_t *packed, size_t room)
{
    uLongf len = room;
    return compress2(packed, &len, plain, PLAIN, level) == Z_OK ? len : 0;
}

static size_t by_zlib(const uint8_t *packed, size_t len, uint8_t *out)
{
    z_stream stream = {.next_in = (uint8_t *)(uintptr_t)packed,
                       .avail_in = (uInt)len,
                       .next_out = out,
                       .avail_out = ROOM};
    inflateInit(&stream);
    inflate(&stream, Z_SYNC_FLUSH);
    inflateEnd(&stream);
    return ROOM - stream.avail_out;
}

/* In two steps, as a file is read in parts. */
static size_t by_ours(const uint8_t *packed, size_t len, uint8_t *out)
{
    struct nytp_inflate *const inflate = nytp_inflate_new(NYTP_ZLIB);
    const uint8_t *in = packed;
    uint8_t *at = out;
    enum nytp_inflate_result result =
        nytp_inflate_step(inflate, &in, packed + len / 2, &at, out + ROOM);
    while (result == NYTP_INFLATE_MORE && in < packed + len)
        result = nytp_inflate_step(inflate, &in, packed + len, &at, out + ROOM);
    if (result == NYTP_INFLATE_MORE)
        nytp_inflate_rest(inflate, &at, out + ROOM);
    nytp_inflate_free(inflate);
    return (size_t)(at - out);
}

/* How often the two differ, over all places to cut. */
static size_t differ(int level)
{
    static uint8_t plain[PLAIN], packed[2 * PLAIN], theirs[ROOM], ours[ROOM];
    size_t n = 0;
    fill(plain);
    const size_t len = pack(plain, level, packed, sizeof packed);
    const size_t step = is_slow() ? 97 : 1;
    for (size_t cut = 0; cut <= len; cut += step) {
        const size_t n_theirs = by_zlib(packed, cut, theirs),
                     n_ours = by_ours(packed, cut, ours);
        n += n_theirs != n_ours || memcmp(theirs, ours, n_ours) != 0;
    }
    return len > 0 ? n : 1;
}

int main(void)
{
    for (int level = 0; level <= 9; level += 3) {
        const size_t n = differ(level);
        if (!ok(n == 0, "as by zlib, wherever it is cut"))
            fprintf(stderr, "# level %d: %zu places\n", level, n);
    }
    return done_testing();
}
