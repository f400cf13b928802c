/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * One deflate stream, framed as zlib or gzip; see deflate.h. Section numbers are those of RFC
 * 1951. README.md has the figures.
 *
 * matcher.h turns bytes into tokens. Enough tokens become a block: its symbols are counted and
 * codes are built for them (huffman.h). The block is written with these codes or with the
 * fixed codes of the standard, whichever is shorter.
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#endif
#include "deflate.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>
#ifdef NYTP_HAVE_ISAL
#include <isa-l.h>
#endif

#include "huffman.h"
#include "matcher.h"
#include "vectors.h"

enum {
    MOST_TOKENS = 16384, /* of a block */
    FEW_TOKENS = 192,
    N_LEVELS = 19, /* the alphabet of code lengths (3.2.7) */
    LONGEST_LEVEL = 7,
    TOKEN_BYTES = 6, /* at most, for a reference: 15 + 5 + 15 + 13 bits */
    HEAD_BYTES = 1024,
    SLICE = 16384,
    FEW_BYTES = 4096, /* for a checksum */
};

struct codes {
    struct nytp_code lengths[NYTP_HUFFMAN_MOST], distances[NYTP_N_DISTANCES + 1];
};

struct bits {
    uint64_t pending; /* bits short of a byte */
    unsigned n_pending;
    uint8_t *at; /* in `out` */
};

struct nytp_deflate {
    enum nytp_framing framing;
    bool is_started;
    uint32_t checksum, n_bytes; /* of the input; its length modulo 2^32 */
    struct codes fixed;
    struct bits bits;
    size_t n_tokens;
    nytp_token tokens[MOST_TOKENS + 1];
    uint8_t out[MOST_TOKENS * TOKEN_BYTES + HEAD_BYTES];
    struct nytp_matcher matcher;
};

static_assert(NYTP_DEFLATE_ROOM == NYTP_MATCHER_ROOM,
              "the matcher's room is that of the stream");

/* ---- bits ---- */

static void store_u64_le(uint8_t *to, uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    memcpy(to, &value, sizeof value);
}

/* Up to 56 bits. Overwrites eight bytes at `at`. */
static inline void put_bits(struct bits *to, uint64_t bits, unsigned n)
{
    to->pending |= bits << to->n_pending;
    to->n_pending += n;
    store_u64_le(to->at, to->pending);
    to->at += to->n_pending / 8;
    to->pending >>= to->n_pending / 8 * 8;
    to->n_pending %= 8;
}

static void put_code(struct bits *to, struct nytp_code code)
{
    put_bits(to, code.bits, code.len);
}

static void put_to_byte(struct bits *to)
{
    put_bits(to, 0, (8 - to->n_pending) % 8);
}

static bool put_packed(struct nytp_deflate *deflate, nytp_bytes_fn *put, void *context)
{
    const size_t len = (size_t)(deflate->bits.at - deflate->out);
    deflate->bits.at = deflate->out;
    return len == 0 || put(context, deflate->out, len);
}

/* ---- a block ---- */

struct counts {
    uint32_t lengths[NYTP_N_LENGTHS], distances[NYTP_N_DISTANCES + 1]; /* last: literals */
};

static inline void count_token(struct counts *counts, nytp_token token)
{
    counts->lengths[nytp_token_length(token)]++;
    counts->distances[nytp_token_distance(token)]++;
}

/* Two halves, so that a symbol that occurs twice in a row need not wait for its own count. */
static void count_tokens(const struct nytp_deflate *deflate, struct counts *counts)
{
    const nytp_token *const tokens = deflate->tokens;
    struct counts odd = {0};
    *counts = (struct counts){0};
    size_t i = 0;
    for (; i + 1 < deflate->n_tokens; i += 2) {
        count_token(counts, tokens[i]);
        count_token(&odd, tokens[i + 1]);
    }
    if (i < deflate->n_tokens)
        count_token(counts, tokens[i]);
    for (i = 0; i < NYTP_N_LENGTHS; i++)
        counts->lengths[i] += odd.lengths[i];
    for (i = 0; i < NYTP_N_DISTANCES; i++)
        counts->distances[i] += odd.distances[i];
    counts->lengths[NYTP_END_OF_BLOCK] = 1;
}

static void init_codes(struct codes *codes)
{
    memset(codes, 0, sizeof *codes);
    for (uint32_t i = 0; i < NYTP_N_LENGTHS; i++)
        codes->lengths[i].n_extra = nytp_length_n_extra(i);
    for (uint32_t i = 0; i < NYTP_N_DISTANCES; i++)
        codes->distances[i].n_extra = nytp_distance_n_extra(i);
}

/* 3.2.6 */
static void set_fixed_codes(struct codes *codes)
{
    for (size_t i = 0; i < NYTP_HUFFMAN_MOST; i++)
        codes->lengths[i].len = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    for (size_t i = 0; i < NYTP_N_DISTANCES; i++)
        codes->distances[i].len = 5;
    nytp_huffman_number(codes->lengths, NYTP_HUFFMAN_MOST);
    nytp_huffman_number(codes->distances, NYTP_N_DISTANCES);
}

static void build_codes(struct codes *codes, const struct counts *counts)
{
    nytp_huffman_build(counts->lengths, NYTP_N_LENGTHS, NYTP_HUFFMAN_LONGEST, codes->lengths);
    nytp_huffman_build(counts->distances, NYTP_N_DISTANCES, NYTP_HUFFMAN_LONGEST,
                       codes->distances);
}

static uint64_t sum_bits(const uint32_t *counts, const struct nytp_code *codes, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (uint64_t)counts[i] * codes[i].len;
    return sum;
}

/* Without the bits behind the codes, which are the same with any code. */
static uint64_t token_bits(const struct counts *counts, const struct codes *codes)
{
    return sum_bits(counts->lengths, codes->lengths, NYTP_N_LENGTHS) +
           sum_bits(counts->distances, codes->distances, NYTP_N_DISTANCES);
}

/* The description of a block's codes: their lengths as runs, and the codes of those (3.2.7). */
struct head {
    size_t n_lengths, n_distances, n_levels, n_runs;
    struct run {
        uint8_t level, extra;
    } runs[NYTP_N_LENGTHS + NYTP_N_DISTANCES];
    uint32_t counts[N_LEVELS];
    struct nytp_code levels[N_LEVELS];
};

enum {
    RUN_OF_SAME = 16,
    RUN_OF_ZERO = 17,
    LONG_RUN_OF_ZERO = 18,
};

static const uint8_t level_extras[N_LEVELS] = {
    [RUN_OF_SAME] = 2, [RUN_OF_ZERO] = 3, [LONG_RUN_OF_ZERO] = 7};
static const uint8_t level_order[N_LEVELS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                              11, 4,  12, 3, 13, 2, 14, 1, 15};

static void add_run(struct head *head, uint8_t level, size_t extra)
{
    head->runs[head->n_runs++] = (struct run){level, (uint8_t)extra};
    head->counts[level]++;
}

static size_t least(size_t left, size_t right)
{
    return left < right ? left : right;
}

static void add_runs(struct head *head, uint8_t len, size_t n)
{
    while (len == 0 && n >= 11) {
        const size_t part = least(n, 138);
        add_run(head, LONG_RUN_OF_ZERO, part - 11);
        n -= part;
    }
    if (len == 0 && n >= 3) {
        add_run(head, RUN_OF_ZERO, n - 3);
        return;
    }
    while (len > 0 && n >= 4) {
        const size_t part = least(n - 1, 6);
        add_run(head, len, 0);
        add_run(head, RUN_OF_SAME, part - 3);
        n -= part + 1;
    }
    while (n-- > 0)
        add_run(head, len, 0);
}

static size_t used(const struct nytp_code *codes, size_t n, size_t fewest)
{
    while (n > fewest && codes[n - 1].len == 0)
        n--;
    return n;
}

static void plan_head(struct head *head, const struct codes *codes)
{
    uint8_t lens[NYTP_N_LENGTHS + NYTP_N_DISTANCES];
    memset(head, 0, sizeof *head);
    head->n_lengths = used(codes->lengths, NYTP_N_LENGTHS, 257);
    head->n_distances = used(codes->distances, NYTP_N_DISTANCES, 1);
    const size_t n = head->n_lengths + head->n_distances;
    for (size_t i = 0; i < n; i++)
        lens[i] = i < head->n_lengths ? codes->lengths[i].len
                                      : codes->distances[i - head->n_lengths].len;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && lens[to] == lens[from];)
            to++;
        add_runs(head, lens[from], to - from);
    }
    nytp_huffman_build(head->counts, N_LEVELS, LONGEST_LEVEL, head->levels);
    for (head->n_levels = N_LEVELS; head->levels[level_order[head->n_levels - 1]].len == 0;)
        head->n_levels--;
}

static uint64_t head_bits(const struct head *head)
{
    uint64_t sum = 14 + 3 * head->n_levels + sum_bits(head->counts, head->levels, N_LEVELS);
    for (size_t i = RUN_OF_SAME; i < N_LEVELS; i++)
        sum += head->counts[i] * level_extras[i];
    return sum;
}

static void put_head(struct bits *to, const struct head *head)
{
    put_bits(to, head->n_lengths - 257, 5);
    put_bits(to, head->n_distances - 1, 5);
    put_bits(to, head->n_levels - 4, 4);
    for (size_t i = 0; i < head->n_levels; i++)
        put_bits(to, head->levels[level_order[i]].len, 3);
    for (size_t i = 0; i < head->n_runs; i++) {
        put_code(to, head->levels[head->runs[i].level]);
        put_bits(to, head->runs[i].extra, level_extras[head->runs[i].level]);
    }
}

static void put_tokens(struct nytp_deflate *deflate, const struct codes *codes)
{
    struct bits to = deflate->bits; /* keeps it in registers */
    for (size_t i = 0; i < deflate->n_tokens; i++) {
        const nytp_token token = deflate->tokens[i];
        const struct nytp_code length = codes->lengths[nytp_token_length(token)];
        const struct nytp_code distance = codes->distances[nytp_token_distance(token)];
        uint64_t bits = length.bits;
        unsigned n = length.len;
        bits |= (uint64_t)nytp_token_length_bits(token) << n;
        n += length.n_extra;
        bits |= (uint64_t)distance.bits << n;
        n += distance.len;
        bits |= (uint64_t)nytp_token_distance_bits(token) << n;
        put_bits(&to, bits, n + distance.n_extra);
    }
    put_code(&to, codes->lengths[NYTP_END_OF_BLOCK]);
    deflate->bits = to;
}

/* Writes a block with codes built for it, or returns false if the fixed codes are as short. */
static bool put_own_codes_block(struct nytp_deflate *deflate, bool is_last)
{
    struct counts counts;
    struct codes codes;
    struct head head;
    count_tokens(deflate, &counts);
    init_codes(&codes);
    build_codes(&codes, &counts);
    plan_head(&head, &codes);
    if (token_bits(&counts, &deflate->fixed) <= head_bits(&head) + token_bits(&counts, &codes))
        return false;
    put_bits(&deflate->bits, is_last, 1);
    put_bits(&deflate->bits, 2, 2);
    put_head(&deflate->bits, &head);
    put_tokens(deflate, &codes);
    return true;
}

/* Writes the tokens so far as a block. Few tokens do not pay for a description of codes. */
static void put_block(struct nytp_deflate *deflate, bool is_last)
{
    if (deflate->n_tokens < FEW_TOKENS || !put_own_codes_block(deflate, is_last)) {
        put_bits(&deflate->bits, is_last, 1);
        put_bits(&deflate->bits, 1, 2);
        put_tokens(deflate, &deflate->fixed);
    }
    deflate->n_tokens = 0;
}

/* ---- the stream ---- */

/* Private pages, since a short stream touches few of them. calloc() would clear them all if
 * they were in use before; free() would change what the program's malloc() maps. */
static struct nytp_deflate *new_zeroed(void)
{
    void *const pages = mmap(NULL, sizeof(struct nytp_deflate), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

struct nytp_deflate *nytp_deflate_new(enum nytp_framing framing)
{
    struct nytp_deflate *const deflate = new_zeroed();
    if (deflate == NULL)
        return NULL;
    nytp_matcher_init(&deflate->matcher);
    deflate->framing = framing;
    deflate->checksum = framing == NYTP_GZIP ? 0 : 1;
    deflate->bits.at = deflate->out;
    init_codes(&deflate->fixed);
    set_fixed_codes(&deflate->fixed);
    return deflate;
}

struct nytp_deflate_point nytp_deflate_point(const struct nytp_deflate *deflate)
{
    return (struct nytp_deflate_point){
        .is_set = true,
        .framing = deflate->framing,
        .checksum = deflate->checksum,
        .n_bytes = deflate->n_bytes,
    };
}

struct nytp_deflate *nytp_deflate_new_at(const struct nytp_deflate_point *point)
{
    struct nytp_deflate *const deflate = nytp_deflate_new(point->framing);
    if (deflate == NULL)
        return NULL;
    deflate->is_started = true;
    deflate->checksum = point->checksum;
    deflate->n_bytes = point->n_bytes;
    return deflate;
}

void nytp_deflate_free(struct nytp_deflate *deflate)
{
    if (deflate != NULL)
        munmap(deflate, sizeof *deflate);
}

uint8_t *nytp_deflate_room(struct nytp_deflate *deflate)
{
    return nytp_matcher_room(&deflate->matcher);
}

/* ISA-L takes a fifth of zlib's time. But its first call queries the processor, which on a
 * virtual machine takes longer than a whole short profile. */
static uint32_t checksum(const struct nytp_deflate *deflate, const uint8_t *bytes, size_t len)
{
    if (deflate->framing == NYTP_ZLIB && len <= FEW_BYTES)
        return (uint32_t)adler32_z(deflate->checksum, bytes, len);
#ifdef NYTP_HAVE_ISAL
    const uint32_t sum = deflate->framing == NYTP_GZIP
                             ? crc32_gzip_refl(deflate->checksum, bytes, len)
                             : isal_adler32(deflate->checksum, bytes, len);
    nytp_vectors_clear_upper();
    return sum;
#else
    return (uint32_t)(deflate->framing == NYTP_GZIP ? crc32_z(deflate->checksum, bytes, len)
                                                    : adler32_z(deflate->checksum, bytes, len));
#endif
}

/* RFC 1950, 2.2: deflate, a window of 32768, the usual effort. */
static void put_zlib_start(struct nytp_deflate *deflate)
{
    put_bits(&deflate->bits, 0x9C78, 16);
}

/* RFC 1952, 2.3: deflate, no options, no time stamp, unknown system. */
static void put_gzip_start(struct nytp_deflate *deflate)
{
    static const uint8_t head[10] = {0x1F, 0x8B, 8, [9] = 255};
    for (size_t i = 0; i < sizeof head; i++)
        put_bits(&deflate->bits, head[i], 8);
}

static void put_start(struct nytp_deflate *deflate)
{
    if (deflate->framing == NYTP_GZIP)
        put_gzip_start(deflate);
    else
        put_zlib_start(deflate);
    deflate->is_started = true;
}

/* zlib ends with its checksum, high byte first; gzip with checksum and length, low first. */
static void put_end(struct nytp_deflate *deflate)
{
    put_to_byte(&deflate->bits);
    if (deflate->framing == NYTP_GZIP) {
        put_bits(&deflate->bits, deflate->checksum, 32);
        put_bits(&deflate->bits, deflate->n_bytes, 32);
    } else {
        put_bits(&deflate->bits, __builtin_bswap32(deflate->checksum), 32);
    }
}

/* An empty stored block (3.2.4), which ends at a byte boundary. */
static void put_sync(struct nytp_deflate *deflate)
{
    put_bits(&deflate->bits, 0, 3);
    put_to_byte(&deflate->bits);
    put_bits(&deflate->bits, 0xFFFF0000u, 32);
}

static bool run_matcher(struct nytp_deflate *deflate, bool all, nytp_bytes_fn *put,
                        void *context)
{
    for (;;) {
        deflate->n_tokens +=
            nytp_matcher_run(&deflate->matcher, all, deflate->tokens + deflate->n_tokens,
                             MOST_TOKENS - deflate->n_tokens);
        if (deflate->n_tokens < MOST_TOKENS)
            return true;
        put_block(deflate, false);
        if (!put_packed(deflate, put, context))
            return false;
    }
}

/* In slices: the matcher finds what the checksum has read in the processor's cache. */
static bool run_slices(struct nytp_deflate *deflate, size_t len, nytp_bytes_fn *put,
                       void *context)
{
    const uint8_t *bytes = nytp_deflate_room(deflate);
    while (len > 0) {
        const size_t n = least(len, SLICE);
        deflate->checksum = checksum(deflate, bytes, n);
        deflate->n_bytes += (uint32_t)n;
        nytp_matcher_take(&deflate->matcher, n);
        bytes += n;
        len -= n;
        if (!run_matcher(deflate, false, put, context))
            return false;
    }
    return true;
}

static bool run_flush(struct nytp_deflate *deflate, enum nytp_flush flush, nytp_bytes_fn *put,
                      void *context)
{
    if (!run_matcher(deflate, true, put, context))
        return false;
    put_block(deflate, flush == NYTP_FLUSH_FINISH);
    if (flush == NYTP_FLUSH_FINISH)
        put_end(deflate);
    else
        put_sync(deflate);
    return put_packed(deflate, put, context);
}

bool nytp_deflate_run(struct nytp_deflate *deflate, size_t len, enum nytp_flush flush,
                      nytp_bytes_fn *put, void *context)
{
    if (!deflate->is_started)
        put_start(deflate);
    if (!run_slices(deflate, len, put, context))
        return false;
    if (flush != NYTP_FLUSH_NONE && !run_flush(deflate, flush, put, context))
        return false;
    nytp_matcher_slide(&deflate->matcher);
    return true;
}
