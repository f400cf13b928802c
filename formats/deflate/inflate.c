/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Decompression; see inflate.h. The same functions over ISA-L (NYTP_HAVE_ISAL) and over zlib.
 */
#include "inflate.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#ifdef NYTP_HAVE_ISAL
#include <string.h>

#include "vectors.h"

#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

static uint32_t span(const uint8_t *from, const uint8_t *to)
{
    const size_t len = (size_t)(to - from);
    return len > INT_MAX ? INT_MAX : (uint32_t)len;
}

#ifdef NYTP_HAVE_ISAL

struct nytp_inflate {
    struct inflate_state state;
    int error;
};

struct nytp_inflate *nytp_inflate_new(enum nytp_framing framing)
{
    /* Zeroed: a damaged stream can make ISA-L 2.30 copy from history that is not there yet. */
    struct nytp_inflate *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    isal_inflate_init(&self->state);
    self->state.crc_flag = framing == NYTP_GZIP ? ISAL_GZIP : ISAL_ZLIB;
    return self;
}

void nytp_inflate_free(struct nytp_inflate *self)
{
    free(self);
}

enum nytp_inflate_result nytp_inflate_step(struct nytp_inflate *self, const uint8_t **in,
                                           const uint8_t *in_end, uint8_t **out,
                                           const uint8_t *out_end)
{
    struct inflate_state *state = &self->state;
    state->next_in = (uint8_t *)(uintptr_t)*in;
    state->avail_in = span(*in, in_end);
    state->next_out = *out;
    state->avail_out = span(*out, out_end);
    const int code = isal_inflate(state);
    nytp_vectors_clear_upper();
    *in = state->next_in;
    *out = state->next_out;
    if (code != ISAL_DECOMP_OK) {
        self->error = code;
        return NYTP_INFLATE_DAMAGED;
    }
    if (state->block_state != ISAL_BLOCK_FINISH)
        return NYTP_INFLATE_MORE;
    /* ISA-L 2.30 keeps bytes that it read ahead; they belong to what follows the stream. */
    *in -= state->read_in_length / 8;
    state->read_in_length = 0;
    return NYTP_INFLATE_END;
}

enum {
    MOST_LEFT = 8, /* literals to look for behind the end; ISA-L keeps at most two */
};

/* Decodes with a copy of the state, as if `padding` bytes followed. With `is_complement`, the
 * output so far is inverted first. */
static size_t go_on(const struct inflate_state *before, struct inflate_state *copy,
                    uint8_t padding, bool is_complement, uint8_t *out)
{
    uint8_t in[sizeof before->read_in];
    memset(in, padding, sizeof in);
    *copy = *before;
    for (size_t i = 0; is_complement && i < sizeof copy->tmp_out_buffer; i++)
        copy->tmp_out_buffer[i] = (uint8_t)~copy->tmp_out_buffer[i];
    copy->next_in = in;
    copy->avail_in = sizeof in;
    copy->next_out = out;
    copy->avail_out = MOST_LEFT;
    isal_inflate(copy);
    nytp_vectors_clear_upper();
    return MOST_LEFT - copy->avail_out;
}

/* ISA-L decodes literals in pairs and withholds both until the pair is complete. A literal
 * whose code is complete is the same whatever bits follow, since no code begins with another.
 * A byte that a reference copies changes if the earlier output is inverted. So only bytes that
 * are the same in all four trials are written. */
void nytp_inflate_rest(struct nytp_inflate *self, uint8_t **out, const uint8_t *out_end)
{
    struct inflate_state *const copy = malloc(sizeof *copy);
    uint8_t given[4][MOST_LEFT];
    size_t n = span(*out, out_end);
    if (self->state.block_state != ISAL_BLOCK_CODED)
        n = 0;
    for (unsigned way = 0; way < 4 && n > 0; way++) {
        const size_t len = copy == NULL ? 0
                                        : go_on(&self->state, copy, way & 1 ? 0xFF : 0,
                                                (way & 2) != 0, given[way]);
        n = n < len ? n : len;
    }
    for (size_t i = 0; i < n && given[0][i] == given[1][i] && given[0][i] == given[2][i] &&
                       given[0][i] == given[3][i];
         i++)
        *(*out)++ = given[0][i];
    free(copy);
}

const char *nytp_inflate_reason(const struct nytp_inflate *self)
{
    switch (self->error) {
    case ISAL_INVALID_WRAPPER:
    case ISAL_UNSUPPORTED_METHOD:
        return "incorrect header";
    case ISAL_NEED_DICT:
        return "needs a dictionary";
    case ISAL_INCORRECT_CHECKSUM:
        return "incorrect checksum";
    default:
        return "invalid deflate data";
    }
}

#else

struct nytp_inflate {
    z_stream stream;
    int error;
};

struct nytp_inflate *nytp_inflate_new(enum nytp_framing framing)
{
    struct nytp_inflate *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    const int gzip_only = 16;
    if (inflateInit2(&self->stream, MAX_WBITS + (framing == NYTP_GZIP ? gzip_only : 0)) !=
        Z_OK) {
        free(self);
        return NULL;
    }
    return self;
}

void nytp_inflate_free(struct nytp_inflate *self)
{
    if (self == NULL)
        return;
    inflateEnd(&self->stream);
    free(self);
}

enum nytp_inflate_result nytp_inflate_step(struct nytp_inflate *self, const uint8_t **in,
                                           const uint8_t *in_end, uint8_t **out,
                                           const uint8_t *out_end)
{
    z_stream *stream = &self->stream;
    stream->next_in = (uint8_t *)(uintptr_t)*in;
    stream->avail_in = span(*in, in_end);
    stream->next_out = *out;
    stream->avail_out = span(*out, out_end);
    const int code = inflate(stream, Z_NO_FLUSH);
    *in = stream->next_in;
    *out = stream->next_out;
    if (code == Z_STREAM_END)
        return NYTP_INFLATE_END;
    if (code == Z_OK || code == Z_BUF_ERROR)
        return NYTP_INFLATE_MORE;
    self->error = code;
    return NYTP_INFLATE_DAMAGED;
}

/* zlib withholds nothing. */
void nytp_inflate_rest(struct nytp_inflate *self, uint8_t **out, const uint8_t *out_end)
{
    (void)self, (void)out, (void)out_end;
}

const char *nytp_inflate_reason(const struct nytp_inflate *self)
{
    switch (self->error) {
    case Z_NEED_DICT:
        return "needs a dictionary";
    case Z_MEM_ERROR:
        return "out of memory";
    default:
        return self->stream.msg != NULL ? self->stream.msg : "invalid deflate data";
    }
}

#endif
