/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * What the compressor makes is a zlib or gzip stream that zlib inflates to the same bytes, at
 * however the bytes come and wherever they are flushed.
 */
#include "formats/deflate/deflate.h"
#include "formats/deflate/inflate.h"
#include "t/tap.h"

#include <stdlib.h>
#include <zlib.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

enum {
    MOST = 700000,
    ROOM = 2 * MOST,
};

/* How much is compressed: under valgrind or sanitizers, where all of it takes half a minute,
 * some windows full. */
static size_t n_bytes = MOST;

struct bytes {
    uint8_t *ptr;
    size_t len;
    bool refuses;
};

static bool put(void *context, const uint8_t *bytes, size_t len)
{
    struct bytes *const to = context;
    if (to->refuses || to->len + len > ROOM)
        return false;
    memcpy(to->ptr + to->len, bytes, len);
    to->len += len;
    return true;
}

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(random_state >> 8) * n >> 24);
}

typedef void fill_fn(uint8_t *bytes);

static void fill_zeros(uint8_t *bytes)
{
    memset(bytes, 0, n_bytes);
}

static void fill_noise(uint8_t *bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        bytes[i] = (uint8_t)random_below(256);
}

/* One symbol as good as always: the longest codes there are. */
static void fill_skewed(uint8_t *bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        uint8_t byte = 0;
        while (byte < 255 && random_below(2) == 0)
            byte++;
        bytes[i] = byte;
    }
}

/* Records as a profile has them: a tag, a time, a place that comes again. */
static void fill_records(uint8_t *bytes)
{
    for (size_t i = 0; i + 8 <= n_bytes; i += 8) {
        const uint8_t line = (uint8_t)(i / 8 % 23);
        const uint8_t record[8] = {'+', (uint8_t)random_below(12), 1, line, '+', 3, 2, 7};
        memcpy(bytes + i, record, sizeof record);
    }
    memset(bytes + n_bytes - 8, 'x', 8);
}

/* A block of noise that comes again as far back as a reference reaches, and one byte more. */
static void fill_far(uint8_t *bytes)
{
    fill_noise(bytes);
    for (size_t i = 32768; i < n_bytes; i++)
        bytes[i] = bytes[i - 32768 - (i >= n_bytes / 2)];
}

static const struct {
    const char *name;
    fill_fn *fill;
} kinds[] = {
    {"zeros", fill_zeros},     {"noise", fill_noise},    {"skewed bytes", fill_skewed},
    {"records", fill_records}, {"far copies", fill_far},
};

/* How much `stream` inflates to, all of it right, or 0; `is_whole`: its end and checksum, too.
 */
static size_t inflated(const struct bytes *stream, const uint8_t *expected, bool *is_whole)
{
    static uint8_t out[MOST + 1];
    z_stream zlib = {.next_in = stream->ptr,
                     .avail_in = (uInt)stream->len,
                     .next_out = out,
                     .avail_out = sizeof out};
    const int either_framing = 15 + 32;
    if (inflateInit2(&zlib, either_framing) != Z_OK)
        return 0;
    const int status = inflate(&zlib, Z_SYNC_FLUSH);
    const size_t len = sizeof out - zlib.avail_out;
    inflateEnd(&zlib);
    *is_whole = status == Z_STREAM_END && zlib.avail_in == 0;
    return (status == Z_OK || *is_whole) && memcmp(out, expected, len) == 0 ? len : 0;
}

/* All of it, through the compressor's room. */
static bool run(struct nytp_deflate *deflate, const uint8_t *bytes, size_t len,
                enum nytp_flush flush, struct bytes *stream)
{
    for (; len > NYTP_DEFLATE_ROOM; len -= NYTP_DEFLATE_ROOM, bytes += NYTP_DEFLATE_ROOM) {
        memcpy(nytp_deflate_room(deflate), bytes, NYTP_DEFLATE_ROOM);
        if (!nytp_deflate_run(deflate, NYTP_DEFLATE_ROOM, NYTP_FLUSH_NONE, put, stream))
            return false;
    }
    memcpy(nytp_deflate_room(deflate), bytes, len);
    return nytp_deflate_run(deflate, len, flush, put, stream);
}

/* In pieces of up to `longest` bytes; a flush after one in `flush_in` of them, which must make
 * everything so far readable. */
static bool survives(enum nytp_framing framing, const uint8_t *bytes, uint32_t longest,
                     uint32_t flush_in)
{
    static uint8_t room[ROOM];
    struct bytes stream = {.ptr = room};
    struct nytp_deflate *const deflate = nytp_deflate_new(framing);
    bool is_right = deflate != NULL, is_whole = false;
    for (size_t at = 0; is_right && at < n_bytes;) {
        const uint32_t most = 1 + random_below(longest);
        const size_t len = most < n_bytes - at ? most : n_bytes - at;
        const bool flushes = random_below(flush_in) == 0;
        is_right =
            run(deflate, bytes + at, len, flushes ? NYTP_FLUSH_SYNC : NYTP_FLUSH_NONE, &stream);
        at += len;
        if (is_right && flushes && random_below(8) == 0)
            is_right = inflated(&stream, bytes, &is_whole) == at && !is_whole;
    }
    is_right = is_right && nytp_deflate_run(deflate, 0, NYTP_FLUSH_FINISH, put, &stream) &&
               inflated(&stream, bytes, &is_whole) == n_bytes && is_whole;
    nytp_deflate_free(deflate);
    return is_right;
}

static bool survives_pieces(const uint8_t *bytes)
{
    return survives(NYTP_ZLIB, bytes, 16384, 1000) && survives(NYTP_GZIP, bytes, 200000, 2) &&
           survives(NYTP_ZLIB, bytes, 3000, 2);
}

static size_t compressed_len(const uint8_t *bytes)
{
    static uint8_t room[ROOM];
    struct bytes stream = {.ptr = room};
    struct nytp_deflate *const deflate = nytp_deflate_new(NYTP_ZLIB);
    const bool is_right = run(deflate, bytes, n_bytes, NYTP_FLUSH_FINISH, &stream);
    nytp_deflate_free(deflate);
    return is_right ? stream.len : SIZE_MAX;
}

/* A stream that was ended, and goes on from a point before. */
static bool point_goes_on(const uint8_t *bytes)
{
    static uint8_t room[ROOM];
    struct bytes stream = {.ptr = room};
    bool is_whole = false;
    struct nytp_deflate *const ended = nytp_deflate_new(NYTP_ZLIB);
    run(ended, bytes, n_bytes / 3, NYTP_FLUSH_SYNC, &stream);
    const struct nytp_deflate_point point = nytp_deflate_point(ended);
    const size_t before = stream.len;
    run(ended, bytes, 1000, NYTP_FLUSH_FINISH, &stream);
    nytp_deflate_free(ended);
    stream.len = before;
    struct nytp_deflate *const going_on = nytp_deflate_new_at(&point);
    run(going_on, bytes + n_bytes / 3, n_bytes - n_bytes / 3, NYTP_FLUSH_FINISH, &stream);
    nytp_deflate_free(going_on);
    return inflated(&stream, bytes, &is_whole) == n_bytes && is_whole;
}

/* Whether the processor says that upper halves of vector registers are in use (bits 2 and 6 of
 * what xgetbv has, where it can tell); false where it cannot. */
static bool upper_halves_are_in_use(void)
{
    uint32_t in_use = 0;
#ifdef __x86_64__
    enum {
        TELLS = 4, /* of CPUID leaf 13.1 */
    };
    uint32_t eax = 0, ebx, ecx, edx;
    if (__get_cpuid_count(13, 1, &eax, &ebx, &ecx, &edx) && (eax & TELLS))
        __asm__ volatile("xgetbv" : "=a"(in_use), "=d"(edx) : "c"(1));
#endif
    return (in_use & (1u << 2 | 1u << 6)) != 0;
}

static bool leaves_no_upper_halves(enum nytp_framing framing, const uint8_t *bytes)
{
    static uint8_t room[ROOM], back[MOST];
    struct bytes stream = {.ptr = room};
    struct nytp_deflate *const deflate = nytp_deflate_new(framing);
    run(deflate, bytes, n_bytes, NYTP_FLUSH_FINISH, &stream);
    const bool after_deflate = upper_halves_are_in_use();
    nytp_deflate_free(deflate);
    struct nytp_inflate *const inflate = nytp_inflate_new(framing);
    const uint8_t *in = room;
    uint8_t *out = back;
    while (nytp_inflate_step(inflate, &in, room + stream.len, &out, back + n_bytes) ==
               NYTP_INFLATE_MORE &&
           in < room + stream.len && out < back + n_bytes) {
    }
    const bool after_inflate = upper_halves_are_in_use();
    nytp_inflate_free(inflate);
    return out == back + n_bytes && !after_deflate && !after_inflate;
}

static bool is_empty_stream(enum nytp_framing framing)
{
    uint8_t room[64];
    struct bytes stream = {.ptr = room};
    bool is_whole = false;
    struct nytp_deflate *const deflate = nytp_deflate_new(framing);
    nytp_deflate_run(deflate, 0, NYTP_FLUSH_SYNC, put, &stream);
    nytp_deflate_run(deflate, 0, NYTP_FLUSH_FINISH, put, &stream);
    nytp_deflate_free(deflate);
    return inflated(&stream, room, &is_whole) == 0 && is_whole;
}

static bool stops_when_refused(const uint8_t *bytes)
{
    struct bytes stream = {.refuses = true};
    struct nytp_deflate *const deflate = nytp_deflate_new(NYTP_ZLIB);
    const bool went_on = run(deflate, bytes, n_bytes, NYTP_FLUSH_NONE, &stream);
    nytp_deflate_free(deflate);
    return !went_on;
}

int main(void)
{
    static uint8_t bytes[MOST];
    if (is_slow())
        n_bytes = 200000;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        kinds[i].fill(bytes);
        ok(survives_pieces(bytes), kinds[i].name);
    }
    ok(is_empty_stream(NYTP_ZLIB) && is_empty_stream(NYTP_GZIP), "an empty stream is one");

    fill_zeros(bytes);
    ok(compressed_len(bytes) < n_bytes / 250, "zeros become next to nothing");
    fill_noise(bytes);
    ok(compressed_len(bytes) < n_bytes + n_bytes / 50, "noise grows by less than 2 %");
    fill_far(bytes);
    ok(compressed_len(bytes) < n_bytes / 2 + 32768 + n_bytes / 50,
       "what comes again 32768 bytes later is found");
    fill_records(bytes);
    ok(point_goes_on(bytes), "a stream that was ended goes on from a point before");
    ok(leaves_no_upper_halves(NYTP_ZLIB, bytes) && leaves_no_upper_halves(NYTP_GZIP, bytes),
       "no upper half of a vector register is left in use");
    ok(stops_when_refused(bytes), "a put that fails stops the compression");
    return done_testing();
}
