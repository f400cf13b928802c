/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Every record of version 5.0 is read as nytprof-v5.md says, from any kind of input; older
 * versions are in nytprof_versions_test.c, damage in nytprof_damage_test.c.
 */
#include "nytprof_streams.h"

#include "formats/stream/record.h"

static void test_records(void)
{
    struct bytes b = whole(false);
    is_read(&b, joined(head_text, records_text, ""), "all records of version 5.0");
    free(b.data);

    b = whole(true);
    is_read(&b, joined(head_text, "START_DEFLATE\n", records_text),
            "deflated records, then a trailer");
    struct bytes gz = {0};
    put_gzip(&gz, b.data, b.len);
    is_read(&gz, joined(head_text, "START_DEFLATE\n", records_text), "gzip around it");
    free(gz.data);
    free(b.data);

    struct bytes inner = {0};
    const char *const head = HEAD;
    put_text(&inner, head + strlen("NYTProf 5 0\n"));
    put_records(&inner);
    b = stream("NYTProf 5 0\nz");
    put_zlib(&b, inner.data, inner.len);
    char expected[4096];
    snprintf(expected, sizeof expected, "VERSION 5.0\nSTART_DEFLATE\n%s%s",
             head_text + strlen("VERSION 5.0\n"), records_text);
    is_read(&b, expected, "deflated from right behind the header");
    free(b.data);
    free(inner.data);
}

static void test_trickle(void)
{
    for (int deflated = 0; deflated < 2; deflated++) {
        struct bytes b = whole(deflated);
        struct log log;
        struct nytp_error error;
        read_trickle(&b, deflated ? 1 : 3, &log, &error);
        is_text(log_text(&log),
                joined(head_text, deflated ? "START_DEFLATE\n" : "", records_text),
                deflated ? "byte by byte through a pipe, deflated" : "through a slow pipe");
        free(log.text.data);
        free(b.data);
    }
}

static void test_offsets(void)
{
    struct bytes b = stream("NYTProf 5 0\n"), inner = {0};
    put_byte(&b, '-');
    put_byte(&inner, '-');
    put_record(&inner, '>', 2, 1, 300);
    put_byte(&inner, '-');
    put_byte(&b, 'z');
    put_zlib(&b, inner.data, inner.len);
    struct log log = log_new();
    log.with_offsets = true;
    struct nytp_error error = {0};
    struct nytp_source *source = nytp_source_memory(b.data, b.len, &error);
    nytp_read(source, NULL, &log.sink, &error);
    is_text(log_text(&log),
            "@0 VERSION 5.0\n@12 DISCOUNT\n@13 START_DEFLATE\n@0 DISCOUNT\n"
            "@1 SUB_ENTRY from=1:300\n@5 DISCOUNT\n",
            "offsets are those of the tag bytes, and start again in the inflated data");
    nytp_source_free(source);
    free(log.text.data);
    free(inner.data);
    free(b.data);
}

static void test_integers(void)
{
    struct bytes b = stream("NYTProf 5 0\n");
    static const uint8_t odd[] = {'>',  0xff, 0,    0, 0, 5,    0xf3, 0x01, 0x02,
                                  0x03, '>',  0xc0, 0, 1, 0xe0, 0,    0,    2};
    put(&b, odd, sizeof odd);
    static const uint32_t edges[] = {0,          0x7f,       0x80,       0x3fff,
                                     0x4000,     0x1fffff,   0x200000,   0xfffffff,
                                     0x10000000, 0x7fffffff, 0x80000000, 0xffffffff};
    char expected[2048] = "VERSION 5.0\nSUB_ENTRY from=5:50397699\nSUB_ENTRY from=1:2\n";
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        put_record(&b, '+', 3, edges[i], edges[i], edges[i]);
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected),
                 "TIME_LINE ticks=%d at=%u:%u block=0 sub=0\n", (int32_t)edges[i], edges[i],
                 edges[i]);
    }
    is_read(&b, expected, "integers of all lengths, also longer than needed");
    free(b.data);
}

/* A sink that takes statements in runs, and logs what they stand for. */
static bool runs_are_summed;

static bool log_run(struct nytp_sink *sink, const struct nytp_run *run, uint64_t offset)
{
    int64_t ticks = 0;
    uint32_t n_discounted = 0;
    for (uint32_t i = 0; i < run->n; i++) {
        const struct nytp_statement *const s = &run->at[i];
        const struct nytp_event discount = {.tag = NYTP_TAG_DISCOUNT, .offset = offset};
        const struct nytp_event time = {
            .tag = NYTP_TAG_TIME_LINE,
            .offset = offset,
            .u.time = {.ticks = s->ticks, .fid = s->fid, .line = s->line}};
        if (s->what == NYTP_STATEMENT_DISCOUNTED && !sink->event(sink, &discount))
            return false;
        if (!sink->event(sink, &time))
            return false;
        n_discounted += s->what == NYTP_STATEMENT_DISCOUNTED;
        ticks += s->ticks;
        runs_are_summed = runs_are_summed && s->fid == run->at->fid;
    }
    runs_are_summed = runs_are_summed && run->n > 0 && run->n <= NYTP_MAX_RUN &&
                      ticks == run->ticks && n_discounted == run->n_discounted;
    return true;
}

/* Numbers of all lengths in every combination, some longer than needed; one file for long; and
 * what ends a run. */
static void test_runs(void)
{
    static const uint32_t numbers[] = {
        0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0x1fffff, 0x200000, 0xfffffff, 0x10000000, INT32_MAX};
    enum {
        N = sizeof numbers / sizeof *numbers
    };
    static const uint8_t ends[] = {'+',  0x80, 1, 0x80, 5,   0x80, 7,    '-',  '-',
                                   '+',  1,    5, 7,    '-', '+',  0xff, 0xff, 0xff,
                                   0xff, 0xff, 5, 7,    '-', '>',  5,    7};
    struct bytes b = stream("NYTProf 5 0\n");
    for (size_t i = 0; i < N * N * N * 3; i++) {
        if (i % 3 == 2)
            put_byte(&b, '-');
        put_record(&b, '+', 3, numbers[i / 3 % N], numbers[i / 3 / N / N],
                   numbers[i / 3 / N % N]);
    }
    put(&b, ends, sizeof ends);
    for (uint32_t i = 0; i < 3 * NYTP_MAX_RUN; i++)
        put_record(&b, '+', 3, i % 3, 5, i);

    struct log events, runs = log_new();
    struct nytp_statement room[NYTP_MAX_RUN];
    struct nytp_error error = {0};
    ok(read_bytes(b.data, b.len, &events, &error), "statements of numbers of all lengths");
    runs.sink.statements = log_run;
    runs.sink.room = room;
    runs_are_summed = true;
    struct nytp_source *source = nytp_source_memory(b.data, b.len, &error);
    ok(nytp_read(source, NULL, &runs.sink, &error) && runs_are_summed,
       "in runs with their sums");
    is_text(log_text(&runs), log_text(&events), "tell the same as one by one");
    nytp_source_free(source);
    free(runs.text.data);
    free(events.text.data);
    free(b.data);
}

static void test_strings(void)
{
    struct bytes b = stream("NYTProf 5 0\n");
    put_record(&b, 'S', 2, 1, 1);
    put_counted(&b, '\'', "a\0b\nc\xe9", 6);
    put_record(&b, 'S', 2, 1, 2);
    put_counted(&b, '"', "\xc3\xa9", 2);
    put_record(&b, 'S', 2, 1, 3);
    put_string(&b, "");
    is_read(&b,
            "VERSION 5.0\nSRC_LINE at=1:1 text=\"a\\x00b\\x0ac\\xe9\"\n"
            "SRC_LINE at=1:2 text=u\"\\xc3\\xa9\"\nSRC_LINE at=1:3 text=\"\"\n",
            "strings of both kinds hold any byte");
    free(b.data);

    b = stream("NYTProf 5 0\n");
    put_record(&b, 'S', 2, 1, 1);
    put_text(&b, "Xabc");
    is_refused(&b, NYTP_ERR_FORMAT, 12, "byte 0x58 where a string must begin", "VERSION 5.0\n");
    free(b.data);
}

/* Strings longer than the window, and one that lies across its end. */
static void test_large(void)
{
    static char text[3000000];
    uint32_t sum = 0;
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (char)('a' + i * 7 % 23);
        sum = sum * 31 + (unsigned char)text[i];
    }
    struct bytes records = {0};
    put_record(&records, 'S', 2, 1, 1);
    put_counted(&records, '\'', text, 262130);
    put_record(&records, 'c', 2, 1, 1);
    put_counted(&records, '\'', text, sizeof text);
    put_u32(&records, 0x10000000);
    for (int i = 0; i < 3; i++)
        put_double(&records, i);
    put_u32(&records, 300);
    put_counted(&records, '"', text, sizeof text);
    put_byte(&records, '-');
    struct bytes deflated = stream("NYTProf 5 0\nz");
    put_zlib(&deflated, records.data, records.len);
    char caller[200];
    snprintf(caller, sizeof caller, "%.100s... 3000000 bytes, sum %08x", text, sum);
    struct log log;
    struct nytp_error error;
    const bool read = read_trickle(&deflated, 1000, &log, &error);
    const char *callers = strstr(log_text(&log), "SUB_CALLERS");
    char expected[1024];
    snprintf(expected, sizeof expected,
             "SUB_CALLERS at=1:1 count=268435456 incl=0 excl=1 reci=2 depth=300"
             " caller=\"%s\" callee=u\"%s\"\nDISCOUNT\n",
             caller, caller);
    is_text(callers != NULL ? callers : "", expected,
            "a record larger than the window is whole");
    ok(read, "and is no error");
    free(log.text.data);
    free(deflated.data);
    free(records.data);
}

static void test_lines(void)
{
    struct bytes b = stream("NYTProf 5 0\n:no equals sign\n!\n#\n:=v\n");
    is_read(
        &b,
        "VERSION 5.0\nATTRIBUTE key=\"no equals sign\" value=\"\"\n"
        "OPTION key=\"\" value=\"\"\nCOMMENT text=\"\\x0a\"\nATTRIBUTE key=\"\" value=\"v\"\n",
        "malformed attributes are no error");
    free(b.data);
}

static void put_letters(struct bytes *b, size_t n)
{
    while (n-- > 0)
        put_byte(b, 'x');
}

/* Records behind a text line of any length up to the limit are read. */
static void test_long_lines(void)
{
    static const size_t lens[] = {60000, 65534, 65535, 65536, 262143, 262144, 3000000};
    static const char *const begins[] = {
        "NYTProf 5 0\n#",
        "NYTProf 5 0\n:a=", "NYTProf 5 0\n:basetime=1\n#nytp-calls 1\n#\x01\x11\x11'f",
        "NYTProf 1 0\nS\x01\n"};
    for (size_t i = 0; i < sizeof lens / sizeof *lens * 4; i++) {
        struct bytes b = stream(begins[i % 4]);
        struct log log;
        struct nytp_error error;
        put_letters(&b, lens[i / 4]);
        const size_t cut = b.len;
        put_text(&b, "\n-\n"); /* the last byte is no record */
        const bool read = i % 2 == 0 ? read_bytes(b.data, b.len, &log, &error)
                                     : read_trickle(&b, 1000, &log, &error);
        ok(!read && error.offset == b.len - 1 && strstr(log_text(&log), "\nDISCOUNT\n") != NULL,
           "what is behind a long line is read");
        free(log.text.data);
        b.len = cut;
        ok(!read_bytes(b.data, b.len, &log, &error) && error.status == NYTP_ERR_TRUNCATED,
           "a long line without an end is cut");
        free(log.text.data);
        free(b.data);
    }
    struct bytes b = stream("NYTProf 5 0\n#");
    struct log log;
    struct nytp_error error;
    put_letters(&b, NYTP_MAX_RECORD);
    put_text(&b, "\n");
    ok(!read_trickle(&b, 60000, &log, &error) && error.status == NYTP_ERR_LIMIT &&
           strcmp(error.message,
                  "COMMENT: 67108865 bytes, the limit of a record is 67108864") == 0,
       "a line has a limit");
    free(log.text.data);
    memcpy(b.data + 11, "xx", 2); /* the first line is one only where it is short */
    is_refused(&b, NYTP_ERR_FORMAT, 0, "header line without a version", "");
    free(b.data);
}

static void test_headers(void)
{
    static const char *const good[] = {"NYTProf 5 0\n", "NYTProf5   0\n", "NYTProf 5 0 junk\n",
                                       "NYTProf 5 0\r\n"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct bytes b = stream(good[i]);
        is_read(&b, "VERSION 5.0\n", "an accepted header line");
        free(b.data);
    }
    struct bytes b = stream("NYTProf 5 17\n-");
    is_read(&b, "VERSION 5.17\nDISCOUNT\n", "a newer minor version is read on");
    free(b.data);

    static const char unknown[] = "this is not a profile in any known format (Devel::NYTProf's "
                                  "since July 2008, Devel::DProf's)";
    static const struct {
        const char *text;
        const char *message;
        enum nytp_status status;
    } bad[] = {
        {"NYTProf 6 0\n", "format version 6.0 is not supported", NYTP_ERR_FORMAT},
        {"NYTProf 0 9\n", "format version 0.9 is not supported", NYTP_ERR_FORMAT},
        {"NYTProf 4294967301 0\n", "format version 429496730.0 is not supported",
         NYTP_ERR_FORMAT},
        {"NYTProf 5\n", "header line without a version", NYTP_ERR_FORMAT},
        {"NYTProf\n", "header line without a version", NYTP_ERR_FORMAT},
        {"NYTProf 5 0", "VERSION: the input ends inside the record", NYTP_ERR_TRUNCATED},
        {" NYTProf 5 0\n", unknown, NYTP_ERR_FORMAT},
        {"{\"nytp_totals\":1,", "this is what --json wrote, not a recording", NYTP_ERR_FORMAT},
        {"{\"nytp_counts\":1,",
         "this is what --save-base wrote: a base, which --diff takes from a file, not from a "
         "pipe",
         NYTP_ERR_FORMAT},
        {"<html>\n", unknown, NYTP_ERR_FORMAT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        b = stream(bad[i].text);
        is_refused(&b, bad[i].status, 0, bad[i].message, "");
        free(b.data);
    }
    struct log log;
    struct nytp_error error;
    ok(!read_bytes("", 0, &log, &error) && error.status == NYTP_ERR_FORMAT &&
           strcmp(error.message, "the input is empty") == 0,
       "an empty input is refused");
    free(log.text.data);
}

int main(void)
{
    test_records();
    test_trickle();
    test_offsets();
    test_integers();
    test_runs();
    test_strings();
    test_large();
    test_lines();
    test_long_lines();
    test_headers();
    return done_testing();
}
