/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * One zlib stream from either of two libraries; see deflate.h.
 *
 * Measured on the 60 MB that profiling perltidy gives: ISA-L's level 2 takes 2.8 ns a byte for
 * 12.8 MB, its level 3 twice that for 12.1 MB, zlib's level 3 takes 14 ns for 12.4 MB and its
 * level 6 27 ns for 9.6 MB. Only streams that repeat themselves for long, as benchmarks do,
 * come out much smaller with zlib.
 */
#include "deflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef NYTP_HAVE_ISAL
#include <isa-l.h>
#endif

enum {
    OUT_SIZE = 32768,
    HIGHEST_ISAL_LEVEL = 6,
};

/* Without ISA-L the middle of our scale is the last of zlib's levels that does not search
 * long. */
static const int zlib_levels[] = {0, 1, 1, 2, 3, 3, 3, 5, 6, 9};

struct nytp_deflate {
    bool is_isal;
    int level;
    z_stream zlib;
#ifdef NYTP_HAVE_ISAL
    struct isal_zstream isal;
#endif
    uint8_t out[OUT_SIZE];
};

#ifdef NYTP_HAVE_ISAL

#define STRING_OF(x)  #x
#define VERSION_OF(x) STRING_OF(x)
#define ISAL_TITLE                                                                              \
    "ISA-L " VERSION_OF(ISAL_MAJOR_VERSION) "." VERSION_OF(ISAL_MINOR_VERSION) "." VERSION_OF(   \
        ISAL_PATCH_VERSION)

enum {
    ISAL_LEVEL = 2,
    ISAL_BUFFER = ISAL_DEF_LVL2_LARGE,
};

static bool isal_start(struct nytp_deflate *deflate)
{
    uint8_t *const buffer = calloc(1, ISAL_BUFFER);
    if (buffer == NULL)
        return false;
    isal_deflate_init(&deflate->isal);
    deflate->isal.gzip_flag = IGZIP_ZLIB;
    deflate->isal.level = ISAL_LEVEL;
    deflate->isal.level_buf = buffer;
    deflate->isal.level_buf_size = ISAL_BUFFER;
    deflate->is_isal = true;
    return true;
}

static bool isal_run(struct nytp_deflate *deflate, enum nytp_flush flush, nytp_bytes_fn *put,
                     void *context)
{
    struct isal_zstream *const stream = &deflate->isal;
    stream->flush = flush == NYTP_FLUSH_NONE ? NO_FLUSH : SYNC_FLUSH;
    stream->end_of_stream = flush == NYTP_FLUSH_FINISH;
    do {
        stream->next_out = deflate->out;
        stream->avail_out = OUT_SIZE;
        if (isal_deflate(stream) != COMP_OK)
            return false;
        const size_t len = OUT_SIZE - stream->avail_out;
        if (len > 0 && !put(context, deflate->out, len))
            return false;
    } while (stream->avail_out == 0 || stream->avail_in > 0);
    return true;
}

#endif

static bool zlib_start(struct nytp_deflate *deflate)
{
    return deflateInit2(&deflate->zlib, zlib_levels[deflate->level], Z_DEFLATED, MAX_WBITS, 9,
                        Z_DEFAULT_STRATEGY) == Z_OK;
}

static bool zlib_run(struct nytp_deflate *self, enum nytp_flush flush, nytp_bytes_fn *put,
                     void *context)
{
    static const int modes[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FINISH};
    z_stream *const stream = &self->zlib;
    do {
        stream->next_out = self->out;
        stream->avail_out = OUT_SIZE;
        if (deflate(stream, modes[flush]) == Z_STREAM_ERROR)
            return false;
        const size_t len = OUT_SIZE - stream->avail_out;
        if (len > 0 && !put(context, self->out, len))
            return false;
    } while (stream->avail_out == 0);
    return true;
}

struct nytp_deflate *nytp_deflate_new(int level)
{
    if (level < 1 || level > 9)
        return NULL;
    struct nytp_deflate *const deflate = calloc(1, sizeof *deflate);
    if (deflate == NULL)
        return NULL;
    deflate->level = level;
#ifdef NYTP_HAVE_ISAL
    if (level <= HIGHEST_ISAL_LEVEL && isal_start(deflate))
        return deflate;
#endif
    if (zlib_start(deflate))
        return deflate;
    free(deflate);
    return NULL;
}

struct nytp_deflate *nytp_deflate_copy(const struct nytp_deflate *deflate)
{
    struct nytp_deflate *const copy = malloc(sizeof *copy);
    if (copy == NULL)
        return NULL;
    memcpy(copy, deflate, sizeof *copy);
#ifdef NYTP_HAVE_ISAL
    if (deflate->is_isal) {
        copy->isal.level_buf = malloc(deflate->isal.level_buf_size);
        if (copy->isal.level_buf != NULL) {
            memcpy(copy->isal.level_buf, deflate->isal.level_buf, deflate->isal.level_buf_size);
            return copy;
        }
        free(copy);
        return NULL;
    }
#endif
    z_stream *const source = (z_stream *)&deflate->zlib; /* zlib takes it as not const */
    if (deflateCopy(&copy->zlib, source) == Z_OK)
        return copy;
    free(copy);
    return NULL;
}

void nytp_deflate_free(struct nytp_deflate *deflate)
{
    if (deflate == NULL)
        return;
#ifdef NYTP_HAVE_ISAL
    if (deflate->is_isal)
        free(deflate->isal.level_buf);
#endif
    if (!deflate->is_isal)
        deflateEnd(&deflate->zlib);
    free(deflate);
}

bool nytp_deflate_run(struct nytp_deflate *deflate, const uint8_t *bytes, size_t len,
                      enum nytp_flush flush, nytp_bytes_fn *put, void *context)
{
#ifdef NYTP_HAVE_ISAL
    if (deflate->is_isal) {
        deflate->isal.next_in = (uint8_t *)bytes; /* ISA-L takes it as not const */
        deflate->isal.avail_in = (uint32_t)len;
        return isal_run(deflate, flush, put, context);
    }
#endif
    deflate->zlib.next_in = (Bytef *)bytes;
    deflate->zlib.avail_in = (uInt)len;
    return zlib_run(deflate, flush, put, context);
}

const char *nytp_deflate_title(const struct nytp_deflate *deflate)
{
#ifdef NYTP_HAVE_ISAL
    if (deflate->is_isal)
        return ISAL_TITLE;
#endif
    (void)deflate;
    return "zlib " ZLIB_VERSION;
}
