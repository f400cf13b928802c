/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Input; see source.h. A source is a stack of at most three stages: raw bytes (a descriptor or
 * memory), gunzip, inflate. Each stage fills its buffer from the stage below. The topmost
 * buffer is the window that the decoder sees.
 *
 * A new stage copies nothing: the unread bytes of the old window are its first input.
 *
 * With a helper the inflating stage has two windows. While one is read, the helper fills the
 * other, behind room for the unread rest of the first. All stages belong to the helper until
 * it was waited for; questions meanwhile are answered from a copy.
 */
#include "source.h"

#include "formats/deflate/inflate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_SIZE (256 * 1024)
#define MAX_STAGES  3
#define AHEAD_ROOM  NYTP_SOURCE_MAX_NEED /* more than the unread rest at a refill */

static const uint8_t gzip_magic[2] = {0x1f, 0x8b};

struct stage {
    const uint8_t *at, *end;      /* unread output; for the top stage in struct nytp_source */
    uint8_t *buffer;              /* NULL: memory, all of it in at..end */
    struct nytp_inflate *inflate; /* NULL for the raw stage */
    enum nytp_framing framing;
    uint64_t produced; /* offset of `end` */
    bool ended;        /* produces no more */
};

/* The source's answers to questions. */
struct shown {
    uint64_t produced, raw_bytes;
    struct nytp_error error;
};

/* The state of the helper. */
struct ahead {
    struct nytp_helper *helper; /* or NULL */
    uint8_t *buffer;            /* the other window */
    size_t n;                   /* bytes in it */
    bool is_running;
    struct shown shown; /* answers while the helper runs */
};

struct nytp_source_impl {
    int fd; /* -1: memory */
    bool close_fd;
    uint64_t raw_size;
    struct nytp_error error;
    struct stage stages[MAX_STAGES];
    int n_stages;
    struct ahead ahead;
};

static struct stage *top_stage(const struct nytp_source *source)
{
    return &source->impl->stages[source->impl->n_stages - 1];
}

static bool is_inflating(const struct stage *stage)
{
    return stage->inflate != NULL && stage->framing == NYTP_ZLIB;
}

/* `offset` is in the stage's output. The message adds the place in its input. */
static void fail_inflate(struct nytp_source_impl *impl, const struct stage *stage,
                         uint64_t offset, enum nytp_status status, const char *what,
                         const char *reason)
{
    const struct stage *below = stage - 1;
    const uint64_t input_offset = below->produced - (uint64_t)(below->end - below->at);
    nytp_error_at(&impl->error, status, offset, is_inflating(stage),
                  "%s stream %s%s (at byte %llu of the compressed input)",
                  stage->framing == NYTP_GZIP ? "gzip" : "zlib", what, reason,
                  (unsigned long long)input_offset);
}

/* Stores at most out_end - out bytes at `out`. Returns how many; 0 if it ended or failed. */
static size_t produce(struct nytp_source_impl *impl, struct stage *stage, uint8_t *out,
                      const uint8_t *out_end);

static size_t produce_raw(struct nytp_source_impl *impl, struct stage *stage, uint8_t *out,
                          const uint8_t *out_end)
{
    ssize_t n;
    do
        n = read(impl->fd, out, (size_t)(out_end - out));
    while (n < 0 && errno == EINTR);
    if (n < 0)
        nytp_error_at(&impl->error, NYTP_ERR_IO, stage->produced, false, "cannot read: %s",
                      strerror(errno));
    return n > 0 ? (size_t)n : 0;
}

/* Refills the input of the stage above. Keeps the last bytes, which inflate may give back. */
static bool refill_input(struct nytp_source_impl *impl, struct stage *stage)
{
    if (stage->buffer == NULL || stage->ended)
        return false;
    const size_t used = (size_t)(stage->end - stage->buffer);
    const size_t kept = used < NYTP_INFLATE_AHEAD ? used : NYTP_INFLATE_AHEAD;
    memmove(stage->buffer, stage->end - kept, kept);
    stage->at = stage->buffer + kept;
    const size_t n = produce(impl, stage, stage->buffer + kept, stage->buffer + WINDOW_SIZE);
    stage->end = stage->at + n;
    return n > 0;
}

/* A gzip file may have several members. Begins the next one, if any. */
static bool next_member(struct nytp_source_impl *impl, struct stage *stage, struct stage *below)
{
    if (stage->framing != NYTP_GZIP)
        return false;
    if (below->at == below->end && !refill_input(impl, below))
        return false;
    if (*below->at != gzip_magic[0])
        return false;
    nytp_inflate_free(stage->inflate);
    stage->inflate = nytp_inflate_new(NYTP_GZIP);
    if (stage->inflate == NULL)
        nytp_out_of_memory(&impl->error);
    return stage->inflate != NULL;
}

static size_t produce_inflated(struct nytp_source_impl *impl, struct stage *stage, uint8_t *out,
                               const uint8_t *out_end)
{
    struct stage *below = stage - 1;
    uint8_t *const start = out;
    while (out == start) {
        const bool more = below->at < below->end || refill_input(impl, below);
        const enum nytp_inflate_result result =
            nytp_inflate_step(stage->inflate, &below->at, below->end, &out, out_end);
        if (result == NYTP_INFLATE_MORE && (more || out > start))
            continue;
        if (result == NYTP_INFLATE_END && next_member(impl, stage, below))
            continue;
        if (result == NYTP_INFLATE_MORE)
            nytp_inflate_rest(stage->inflate, &out, out_end);
        const uint64_t offset = stage->produced + (uint64_t)(out - start);
        if (result == NYTP_INFLATE_DAMAGED)
            fail_inflate(impl, stage, offset, NYTP_ERR_FORMAT,
                         "is damaged: ", nytp_inflate_reason(stage->inflate));
        else if (result == NYTP_INFLATE_MORE)
            fail_inflate(impl, stage, offset, NYTP_ERR_TRUNCATED, "ends early", "");
        stage->ended = true;
        break;
    }
    return (size_t)(out - start);
}

static size_t produce(struct nytp_source_impl *impl, struct stage *stage, uint8_t *out,
                      const uint8_t *out_end)
{
    const size_t n = stage->inflate != NULL ? produce_inflated(impl, stage, out, out_end)
                                            : produce_raw(impl, stage, out, out_end);
    if (n == 0)
        stage->ended = true;
    stage->produced += n;
    return n;
}

static struct stage *push_stage(struct nytp_source *source, size_t buffer_size)
{
    struct nytp_source_impl *impl = source->impl;
    struct stage *stage = &impl->stages[impl->n_stages];
    if (buffer_size > 0) {
        stage->buffer = malloc(buffer_size);
        if (stage->buffer == NULL) {
            nytp_out_of_memory(&impl->error);
            return NULL;
        }
    }
    impl->n_stages++;
    return stage;
}

static bool push_inflate(struct nytp_source *source, enum nytp_framing framing)
{
    struct stage *below = top_stage(source);
    struct nytp_inflate *inflate = nytp_inflate_new(framing);
    struct stage *stage = inflate != NULL ? push_stage(source, AHEAD_ROOM + WINDOW_SIZE) : NULL;
    if (stage == NULL) {
        nytp_inflate_free(inflate);
        return nytp_out_of_memory(&source->impl->error);
    }
    stage->inflate = inflate;
    stage->framing = framing;
    below->at = source->at;
    below->end = source->end;
    source->at = source->end = stage->buffer;
    return true;
}

static void push_gunzip_if_packed(struct nytp_source *source)
{
    const size_t n = nytp_source_fill(source, sizeof gzip_magic);
    if (n >= sizeof gzip_magic && memcmp(source->at, gzip_magic, sizeof gzip_magic) == 0)
        push_inflate(source, NYTP_GZIP);
}

/* ---- a window ahead ---- */

static void fill_other_window(void *source_impl)
{
    struct nytp_source_impl *impl = source_impl;
    uint8_t *const at = impl->ahead.buffer + AHEAD_ROOM;
    impl->ahead.n = produce(impl, &impl->stages[impl->n_stages - 1], at, at + WINDOW_SIZE);
}

static void wait_for_helper(struct nytp_source_impl *impl)
{
    if (impl->ahead.is_running)
        impl->ahead.helper->wait(impl->ahead.helper);
    impl->ahead.is_running = false;
}

static uint64_t raw_bytes(const struct nytp_source *source)
{
    const struct nytp_source_impl *impl = source->impl;
    const struct stage *raw = &impl->stages[0];
    if (impl->fd >= 0)
        return raw->produced;
    const uint8_t *at = impl->n_stages > 1 ? raw->at : source->at;
    const uint8_t *end = impl->n_stages > 1 ? raw->end : source->end;
    return raw->produced - (uint64_t)(end - at);
}

static struct shown show(const struct nytp_source *source)
{
    return (struct shown){.produced = top_stage(source)->produced,
                          .raw_bytes = raw_bytes(source),
                          .error = source->impl->error};
}

/* ---- opening and closing ---- */

void nytp_source_leave_inflate(struct nytp_source *source)
{
    struct nytp_source_impl *impl = source->impl;
    if (impl->ahead.is_running) /* the end is not reached yet */
        return;
    while (impl->n_stages > 1 && top_stage(source)->ended && source->at == source->end &&
           impl->error.status == NYTP_OK) {
        struct stage *const stage = top_stage(source);
        nytp_inflate_free(stage->inflate);
        free(stage->buffer);
        *stage = (struct stage){0};
        impl->n_stages--;
        source->at = stage[-1].at;
        source->end = stage[-1].end;
        nytp_source_fill(source, 1);
    }
    if (impl->n_stages == 1)
        push_gunzip_if_packed(source);
}

static struct nytp_source *source_new(struct nytp_error *error)
{
    struct nytp_source *source = calloc(1, sizeof *source);
    struct nytp_source_impl *impl = calloc(1, sizeof *impl);
    if (source == NULL || impl == NULL) {
        free(source);
        free(impl);
        nytp_out_of_memory(error);
        return NULL;
    }
    source->impl = impl;
    impl->fd = -1;
    return source;
}

/* Unwraps gzip. Fails if the very first bytes cannot be read, as with a directory. Later
 * errors are sticky in the source. */
static struct nytp_source *unwrap(struct nytp_source *source, struct nytp_error *error)
{
    struct nytp_source_impl *impl = source->impl;
    push_gunzip_if_packed(source);
    if (impl->error.status == NYTP_OK)
        return source;
    *error = impl->error;
    nytp_source_free(source);
    return NULL;
}

static struct nytp_source *open_fd(int fd, bool close_fd, struct nytp_error *error)
{
    struct nytp_source *source = source_new(error);
    if (source == NULL) {
        if (close_fd)
            close(fd);
        return NULL;
    }
    source->impl->fd = fd;
    source->impl->close_fd = close_fd;
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        source->impl->raw_size = (uint64_t)st.st_size;
    struct stage *stage = push_stage(source, WINDOW_SIZE);
    if (stage == NULL) {
        *error = source->impl->error;
        nytp_source_free(source);
        return NULL;
    }
    source->at = source->end = stage->buffer;
    return unwrap(source, error);
}

struct nytp_source *nytp_source_open(const char *path, struct nytp_error *error)
{
    if (strcmp(path, "-") == 0)
        return open_fd(STDIN_FILENO, false, error);
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        nytp_error_set(error, NYTP_ERR_IO, "cannot open: %s", strerror(errno));
        return NULL;
    }
    return open_fd(fd, true, error);
}

struct nytp_source *nytp_source_memory(const void *data, size_t len, struct nytp_error *error)
{
    struct nytp_source *source = source_new(error);
    if (source == NULL)
        return NULL;
    struct stage *stage = push_stage(source, 0);
    stage->produced = len;
    source->impl->raw_size = len;
    source->at = data;
    source->end = source->at + len;
    return unwrap(source, error);
}

void nytp_source_free(struct nytp_source *source)
{
    if (source == NULL)
        return;
    struct nytp_source_impl *impl = source->impl;
    wait_for_helper(impl);
    free(impl->ahead.buffer);
    for (int i = 0; i < impl->n_stages; i++) {
        nytp_inflate_free(impl->stages[i].inflate);
        free(impl->stages[i].buffer);
    }
    if (impl->close_fd)
        close(impl->fd);
    free(impl);
    free(source);
}

/* Switches to the window filled ahead and lets the helper fill the other one. */
static void take_next_window(struct nytp_source *source)
{
    struct nytp_source_impl *impl = source->impl;
    struct stage *stage = top_stage(source);
    struct ahead *ahead = &impl->ahead;
    if (ahead->is_running)
        wait_for_helper(impl);
    else
        fill_other_window(impl);
    const size_t have = (size_t)(source->end - source->at);
    uint8_t *const filled = ahead->buffer;
    memcpy(filled + AHEAD_ROOM - have, source->at, have);
    source->at = filled + AHEAD_ROOM - have;
    source->end = filled + AHEAD_ROOM + ahead->n;
    ahead->buffer = stage->buffer;
    stage->buffer = filled;
    if (stage->ended)
        return;
    ahead->shown = show(source);
    ahead->is_running = true;
    ahead->helper->begin(ahead->helper, fill_other_window, impl);
}

static bool reads_ahead(const struct nytp_source *source)
{
    return source->impl->ahead.buffer != NULL && is_inflating(top_stage(source));
}

size_t nytp_source_fill(struct nytp_source *source, size_t need)
{
    struct stage *stage = top_stage(source);
    struct ahead *ahead = &source->impl->ahead;
    size_t have = (size_t)(source->end - source->at);
    if (have >= need || stage->buffer == NULL || (!ahead->is_running && stage->ended))
        return have;
    if (reads_ahead(source)) {
        while (have < need && (ahead->is_running || !stage->ended)) {
            take_next_window(source);
            have = (size_t)(source->end - source->at);
        }
        return have;
    }
    memmove(stage->buffer, source->at, have);
    while (have < need && !stage->ended)
        have += produce(source->impl, stage, stage->buffer + have, stage->buffer + WINDOW_SIZE);
    source->at = stage->buffer;
    source->end = stage->buffer + have;
    return have;
}

uint64_t nytp_source_offset(const struct nytp_source *source)
{
    const struct ahead *ahead = &source->impl->ahead;
    const uint64_t produced =
        ahead->is_running ? ahead->shown.produced : top_stage(source)->produced;
    return produced - (uint64_t)(source->end - source->at);
}

bool nytp_source_inflating(const struct nytp_source *source)
{
    return is_inflating(top_stage(source));
}

void nytp_source_read_ahead(struct nytp_source *source, struct nytp_helper *helper)
{
    source->impl->ahead.helper = helper;
}

bool nytp_source_start_inflate(struct nytp_source *source)
{
    struct nytp_source_impl *impl = source->impl;
    if (nytp_source_inflating(source)) {
        const uint64_t offset = nytp_source_offset(source);
        const struct nytp_error before = *nytp_source_error(source);
        wait_for_helper(impl);
        impl->error = before; /* the helper's error is further on */
        return nytp_error_at(&impl->error, NYTP_ERR_FORMAT, offset, true,
                             "deflated data inside deflated data");
    }
    if (impl->ahead.helper != NULL && impl->ahead.buffer == NULL) {
        impl->ahead.buffer = malloc(AHEAD_ROOM + WINDOW_SIZE);
        if (impl->ahead.buffer == NULL)
            return nytp_out_of_memory(&impl->error);
    }
    return push_inflate(source, NYTP_ZLIB);
}

const struct nytp_error *nytp_source_error(const struct nytp_source *source)
{
    const struct nytp_source_impl *impl = source->impl;
    return impl->ahead.is_running ? &impl->ahead.shown.error : &impl->error;
}

uint64_t nytp_source_raw_bytes(const struct nytp_source *source)
{
    const struct nytp_source_impl *impl = source->impl;
    return impl->ahead.is_running ? impl->ahead.shown.raw_bytes : raw_bytes(source);
}

uint64_t nytp_source_raw_size(const struct nytp_source *source)
{
    return source->impl->raw_size;
}

uint64_t nytp_source_file_bytes(const struct nytp_source *source)
{
    const struct stage *const top = top_stage(source);
    return (is_inflating(top) ? top - 1 : top)->produced;
}
