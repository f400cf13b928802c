/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Bytes come whole, gzipped and deflated, also where a helper unpacks them ahead. Files and
 * pipes are read in test_nytprof.py and test_stream.py.
 */
#include "bytes.h"
#include "exporters/base/helper_thread.h"

#define SIZE 700001 /* more than two windows */

/* Helpers that do a task as soon, or as late, as can be. */
struct slow_helper {
    struct nytp_helper helper;
    void (*task)(void *);
    void *argument;
};

static void do_at_once(struct nytp_helper *self, void (*task)(void *), void *argument)
{
    (void)self;
    task(argument);
}

static void do_later(struct nytp_helper *helper, void (*task)(void *), void *argument)
{
    struct slow_helper *self = (struct slow_helper *)helper;
    self->task = task;
    self->argument = argument;
}

static void do_nothing(struct nytp_helper *self)
{
    (void)self;
}

static void do_now(struct nytp_helper *helper)
{
    const struct slow_helper *self = (struct slow_helper *)helper;
    self->task(self->argument);
}

/* Whose help the sources of the tests have. */
static struct nytp_helper *helper;

static struct bytes pattern(size_t len)
{
    struct bytes b = {0};
    uint32_t state = 1;
    for (size_t i = 0; i < len; i++) {
        state = state * 1664525 + 1013904223;
        put_byte(&b, (int)(state >> 28) + 'A');
    }
    return b;
}

/* Everything that is left, read with changing needs. */
static struct bytes drain(struct nytp_source *source)
{
    struct bytes b = {0};
    size_t need = 1;
    const uint64_t begun = nytp_source_offset(source);
    while (nytp_source_fill(source, need) > 0) {
        assert(nytp_source_offset(source) == begun + b.len);
        const size_t have = (size_t)(source->end - source->at);
        const size_t n = have < need ? have : need;
        put(&b, source->at, n);
        source->at += n;
        need = need * 7 % NYTP_SOURCE_MAX_NEED + 1;
    }
    return b;
}

static bool same(struct bytes got, const struct bytes *expected)
{
    const bool equal = got.len == expected->len &&
                       (got.len == 0 || memcmp(got.data, expected->data, got.len) == 0);
    free(got.data);
    return equal;
}

static bool arrives(struct nytp_source *source, const struct bytes *expected)
{
    const bool equal = same(drain(source), expected);
    const bool clean = nytp_source_error(source)->status == NYTP_OK;
    const bool counted = nytp_source_offset(source) == expected->len;
    nytp_source_free(source);
    return equal && clean && counted;
}

static struct nytp_source *memory(const struct bytes *b)
{
    struct nytp_error error = {0};
    struct nytp_source *source = nytp_source_memory(b->data, b->len, &error);
    assert(source != NULL);
    if (helper != NULL)
        nytp_source_read_ahead(source, helper);
    return source;
}

static void test_gzip(const struct bytes *data)
{
    struct bytes gz = {0};
    put_gzip(&gz, data->data, data->len);
    ok(arrives(memory(&gz), data), "gzip is unwrapped");

    const size_t half = data->len / 2;
    struct bytes two = {0};
    put_gzip(&two, data->data, half);
    put_gzip(&two, data->data + half, data->len - half);
    ok(arrives(memory(&two), data), "two gzip members are one input");
    put_text(&two, "garbage");
    ok(arrives(memory(&two), data), "garbage after gzip is ignored");

    gz.len -= 9;
    struct nytp_source *source = memory(&gz);
    ok(same(drain(source), data), "a gzip without its end gives all its bytes");
    const struct nytp_error *source_error = nytp_source_error(source);
    ok(source_error->status == NYTP_ERR_TRUNCATED && source_error->has_offset &&
           source_error->offset == SIZE && !source_error->inflated,
       "and then an error with offset");
    nytp_source_free(source);
    free(gz.data);
    free(two.data);
}

static struct nytp_source *inflating(const struct bytes *b, size_t skip)
{
    struct nytp_source *source = memory(b);
    nytp_source_fill(source, skip);
    source->at += skip;
    ok(!nytp_source_inflating(source) && nytp_source_start_inflate(source) &&
           nytp_source_inflating(source) && nytp_source_offset(source) == 0,
       "the rest is inflated on request");
    return source;
}

static void test_inflate(const struct bytes *data)
{
    struct bytes b = {0};
    put_text(&b, "head");
    put_zlib(&b, data->data, data->len);
    const size_t end = b.len;
    ok(arrives(inflating(&b, 4), data), "inflated bytes arrive whole");

    put_text(&b, "trailer, then another stream");
    put_zlib(&b, "other", 5);
    ok(arrives(inflating(&b, 4), data), "what follows the stream is ignored");

    struct nytp_source *source = inflating(&b, 4);
    nytp_source_fill(source, 100);
    source->at += 100;
    ok(!nytp_source_start_inflate(source) &&
           nytp_source_error(source)->status == NYTP_ERR_FORMAT &&
           nytp_source_error(source)->inflated && nytp_source_error(source)->offset == 100,
       "deflated data inside deflated data is refused");
    nytp_source_free(source);

    struct bytes gz = {0};
    put_gzip(&gz, b.data, b.len);
    ok(arrives(inflating(&gz, 4), data), "gzip around a deflated stream");
    free(gz.data);

    b.len = end - 1; /* the checksum is one byte short */
    source = inflating(&b, 4);
    ok(same(drain(source), data), "a cut stream gives all its bytes");
    ok(nytp_source_error(source)->status == NYTP_ERR_TRUNCATED &&
           nytp_source_error(source)->inflated && nytp_source_error(source)->offset == SIZE,
       "and then says that it is cut");
    nytp_source_free(source);

    b.len = end;
    b.data[end - 1] ^= 1;
    source = inflating(&b, 4);
    ok(same(drain(source), data), "a wrong checksum comes after all bytes");
    ok(nytp_source_error(source)->status == NYTP_ERR_FORMAT, "and is an error");
    nytp_source_free(source);

    struct bytes none = {0};
    put_text(&none, "head not zlib at all");
    source = inflating(&none, 4);
    ok(nytp_source_fill(source, 1) == 0 &&
           nytp_source_error(source)->status == NYTP_ERR_FORMAT &&
           nytp_source_error(source)->offset == 0,
       "what is no zlib stream is an error");
    nytp_source_free(source);
    free(none.data);
    free(b.data);
}

/* Every prefix of a stream gives a prefix of the data, nearly all that is in it. */
static void test_cuts(void)
{
    struct bytes data = pattern((size_t)rounds(3000)), b = {0};
    put_zlib(&b, data.data, data.len);
    bool prefix = true, said = true;
    size_t previous = 0;
    for (size_t len = 0; len < b.len; len++) {
        struct bytes cut = {.data = b.data, .len = len};
        struct nytp_source *source = memory(&cut);
        nytp_source_start_inflate(source);
        struct bytes got = drain(source);
        prefix = prefix && got.len >= previous && got.len <= data.len &&
                 (got.len == 0 || memcmp(got.data, data.data, got.len) == 0);
        said = said && nytp_source_error(source)->status == NYTP_ERR_TRUNCATED &&
               nytp_source_error(source)->offset == got.len;
        previous = got.len;
        free(got.data);
        nytp_source_free(source);
    }
    ok(prefix && previous == data.len, "a stream cut anywhere gives what is in it");
    ok(said, "and is an error at the place where it ends");
    free(data.data);
    free(b.data);
}

/* Everything about unpacking, with a helper who is quick, slow, or a thread. */
static void test_ahead(const struct bytes *data)
{
    struct slow_helper quick = {.helper = {do_at_once, do_nothing}};
    struct slow_helper slow = {.helper = {do_later, do_now}};
    struct nytp_helper_thread thread;
    nytp_helper_thread_init(&thread);
    struct nytp_helper *const helpers[] = {&quick.helper, &slow.helper, &thread.helper};
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++) {
        helper = helpers[i];
        test_inflate(data);
        test_gzip(data);
        test_cuts();
        struct bytes b = {0};
        put_zlib(&b, data->data, data->len);
        struct nytp_source *source = inflating(&b, 0);
        nytp_source_fill(source, 1);
        nytp_source_leave_inflate(source);
        ok(nytp_source_inflating(source), "a stream that goes on is not left");
        const uint64_t taken = nytp_source_raw_bytes(source);
        ok(taken > 0 && taken < b.len, "input of the window ahead is not counted yet");
        nytp_source_free(source); /* amid a task */
        b.len = 0;
        put_zlib(&b, data->data, 1000);
        b.len--;
        source = inflating(&b, 0);
        nytp_source_fill(source, 1);
        ok(!nytp_source_start_inflate(source) &&
               nytp_source_error(source)->status == NYTP_ERR_FORMAT,
           "an error that the helper met is not told before its place");
        nytp_source_free(source);
        free(b.data);
    }
    helper = NULL;
    nytp_helper_thread_end(&thread);
}

int main(void)
{
    struct bytes data = pattern(SIZE);
    test_gzip(&data);
    test_inflate(&data);
    test_cuts();
    test_ahead(&data);
    free(data.data);
    return done_testing();
}
