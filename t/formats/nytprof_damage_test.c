/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Damage gives the events that stand before it and one error; what a stream claims is never
 * believed.
 */
#include "nytprof_streams.h"

static void test_claims(void)
{
    struct bytes b = stream("NYTProf 5 0\n-S");
    put_u32(&b, 1);
    put_u32(&b, 1);
    put_byte(&b, '\'');
    put_u32(&b, 4026531840u);
    put_text(&b, "abc");
    is_refused(&b, NYTP_ERR_TRUNCATED, 13, "SRC_LINE: string of 4026531840 bytes, only 3 left",
               "VERSION 5.0\nDISCOUNT\n");
    for (int i = 0; i < 20000; i++)
        put_text(&b, "more text");
    is_refused(&b, NYTP_ERR_LIMIT, 13,
               "SRC_LINE: string of 4026531840 bytes, the limit of a record is 67108864", NULL);
    free(b.data);

    b = stream("NYTProf 5 0\nS");
    put_u32(&b, 1);
    put_u32(&b, 1);
    put_byte(&b, '\'');
    put_u32(&b, 60000000);
    for (int i = 0; i < 20000; i++)
        put_text(&b, "0123456789");
    is_refused(&b, NYTP_ERR_TRUNCATED, 12,
               "SRC_LINE: string of 60000000 bytes, only 200000 left", NULL);
    free(b.data);
}

static void test_damage(void)
{
    struct bytes b = stream("NYTProf 5 0\n--Q+++");
    is_refused(&b, NYTP_ERR_FORMAT, 14, "unknown record tag 0x51",
               "VERSION 5.0\nDISCOUNT\nDISCOUNT\n");
    b.data[14] = '\'';
    is_refused(&b, NYTP_ERR_FORMAT, 14, "unknown record tag 0x27", NULL);
    b.data[14] = 0;
    is_refused(&b, NYTP_ERR_FORMAT, 14, "unknown record tag 0x00", NULL);
    free(b.data);

    b = stream("NYTProf 5 0\nz");
    put_zlib(&b, "-z-", 3);
    is_refused(&b, NYTP_ERR_FORMAT, 2, "deflated data inside deflated data",
               "VERSION 5.0\nSTART_DEFLATE\nDISCOUNT\nSTART_DEFLATE\n");
    free(b.data);

    b = stream("NYTProf 5 0\nz");
    struct log log;
    struct nytp_error error;
    ok(!read_bytes(b.data, b.len, &log, &error) && error.status == NYTP_ERR_TRUNCATED &&
           error.inflated && error.offset == 0,
       "a file that ends where its deflated part begins is cut");
    free(log.text.data);
    free(b.data);
}

static bool is_prefix(const char *text, const char *whole_text)
{
    return strncmp(text, whole_text, strlen(text)) == 0;
}

/* A plain stream cut between two records is a shorter stream; cut elsewhere it is an error at
 * the record's start. A deflated one is always an error. */
static void test_cuts(void)
{
    for (int deflated = 0; deflated < 2; deflated++) {
        struct bytes b = whole(deflated);
        char *expected =
            strdup(joined(head_text, deflated ? "START_DEFLATE\n" : "", records_text));
        const size_t body = strlen(HEAD), trailer = deflated ? 28 : 0;
        bool prefix = true, said = true;
        int clean = 0;
        for (size_t len = 1; len < b.len - trailer; len++) {
            struct log log;
            struct nytp_error error;
            const bool read = read_bytes(b.data, len, &log, &error);
            clean += read;
            prefix = prefix && is_prefix(log_text(&log), expected);
            if (!read && len >= 8)
                said = said && error.status == NYTP_ERR_TRUNCATED && error.has_offset &&
                       error.offset <= 1000 && error.inflated == (deflated && len > body);
            free(log.text.data);
        }
        ok(prefix, "cut at any byte: the events before are delivered");
        ok(said, "cut inside a record: an error with offset");
        ok(clean == (deflated ? 7 : 19), "cut between records: no error");
        free(expected);
        free(b.data);
    }
}

/* Nothing but a result or an error comes of random damage. */
static void test_noise(void)
{
    uint32_t state = 12345;
    int read = 0;
    for (int round = 0; round < 4000; round++) {
        struct bytes b = whole(round % 4 == 3);
        for (int i = 0; i < 1 + round % 3; i++) {
            state = state * 1664525 + 1013904223;
            b.data[(state >> 8) % b.len] = (uint8_t)(state >> 3);
        }
        struct log log;
        struct nytp_error error;
        const bool success = read_bytes(b.data, b.len, &log, &error);
        assert(success == (error.status == NYTP_OK));
        assert(success || error.message[0] != '\0');
        read += success;
        free(log.text.data);
        free(b.data);
    }
    ok(read > 100 && read < 3900, "random damage is an error or other values");
}

static void test_stop(void)
{
    struct bytes b = whole(false);
    bool stopped = true;
    for (uint64_t after = 1; after <= 20; after++) {
        struct log log = log_new();
        log.stop_after = after;
        struct nytp_error error = {0};
        struct nytp_source *source = nytp_source_memory(b.data, b.len, &error);
        const bool read = nytp_read(source, NULL, &log.sink, &error);
        stopped = stopped && !read && error.status == NYTP_ERR_STOPPED && log.n_events == after;
        nytp_source_free(source);
        free(log.text.data);
    }
    ok(stopped, "a sink that says stop gets no more");
    free(b.data);
}

int main(void)
{
    test_claims();
    test_damage();
    test_cuts();
    test_noise();
    test_stop();
    return done_testing();
}
