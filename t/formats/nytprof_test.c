/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Every record of every version is read as nytprof-v5.md says, from any kind of input, and
 * damage gives what is before it and one error.
 */
#include "bytes.h"

#include <unistd.h>

#define NOON 1700000000.25

/* Reading */

static bool read_all(struct nytp_source *source, struct log *log, struct nytp_error *error)
{
    *log = log_new();
    const bool read = nytp_read(source, NULL, &log->sink, error);
    nytp_source_free(source);
    log_text(log);
    return read;
}

static bool read_bytes(const void *data, size_t len, struct log *log, struct nytp_error *error)
{
    *error = (struct nytp_error){0};
    struct nytp_source *source = nytp_source_memory(data, len, error);
    assert(source != NULL);
    return read_all(source, log, error);
}

/* Through a pipe that gives a few bytes at a time, so that no record is ever whole at first. */
static bool read_trickle(const struct bytes *b, size_t chunk, struct log *log,
                         struct nytp_error *error)
{
    int fds[2];
    const int made = pipe(fds);
    assert(made == 0);
    (void)made;
    fflush(stdout);
    const pid_t pid = fork();
    assert(pid >= 0);
    if (pid == 0) {
        close(fds[0]);
        for (size_t at = 0; at < b->len; at += chunk) {
            const size_t n = b->len - at < chunk ? b->len - at : chunk;
            if (write(fds[1], b->data + at, n) != (ssize_t)n)
                _exit(1);
        }
        _exit(0);
    }
    close(fds[1]);
    *error = (struct nytp_error){0};
    struct nytp_source *source = nytp_source_fd(fds[0], error);
    assert(source != NULL);
    const bool read = read_all(source, log, error);
    close(fds[0]);
    return read;
}

static void is_read(const struct bytes *b, const char *expected, const char *name)
{
    struct log log;
    struct nytp_error error;
    const bool read = read_bytes(b->data, b->len, &log, &error);
    if (!read)
        fprintf(stderr, "# %s: %s\n", name, error.message);
    is_text(log_text(&log), expected, name);
    ok(read && log.offsets_grow, "without an error, offsets growing");
    free(log.text.data);
}

/* The input ends in this error; `expected` are the events before. NULL: any. */
static void is_refused(const struct bytes *b, enum nytp_status status, uint64_t offset,
                       const char *message, const char *expected)
{
    struct log log;
    struct nytp_error error;
    const bool read = read_bytes(b->data, b->len, &log, &error);
    const bool right = !read && error.status == status && error.has_offset &&
                       error.offset == offset && strcmp(error.message, message) == 0;
    if (!ok(right, message))
        fprintf(stderr, "# status %d at %" PRIu64 ": %s\n", error.status, error.offset,
                error.message);
    if (expected != NULL)
        is_text(log_text(&log), expected, "the events before it were delivered");
    free(log.text.data);
}

/* Streams */

static struct bytes stream(const char *head)
{
    struct bytes b = {0};
    put_text(&b, head);
    return b;
}

#define PUT_TIME(b, tag, pids, ...)                                                            \
    do {                                                                                       \
        put_record(b, tag, pids, __VA_ARGS__);                                                 \
        put_double(b, NOON);                                                                   \
    } while (0)

static void put_return(struct bytes *b, uint32_t depth, double incl, double excl,
                       const char *name)
{
    put_record(b, '<', 1, depth);
    put_double(b, incl);
    put_double(b, excl);
    put_string(b, name);
}

/* All records of version 5.0 in a sensible order. */
static void put_records(struct bytes *b)
{
    PUT_TIME(b, 'P', 2, 1050, 1041);
    put_record(b, '@', 6, 1, 0, 0, 0x32, 0, 0);
    put_string(b, "/home/x/t1.pl");
    put_record(b, '@', 6, 200, 1, 300, 0x22, 70000, 0xffffffff);
    put_string(b, "(eval 1)[/home/x/t1.pl:300]");
    put_record(b, '+', 3, 23, 1, 3);
    put_record(b, '>', 2, 1, 16383);
    put_record(b, '*', 5, (uint32_t)-5, 1, 2097151, 16384, 268435456);
    put_return(b, 2, 5, -3, "main::bar");
    put_byte(b, '-');
    put_text(b, ":cumulative_overhead_ticks=3.09915e+06\n");
    put_record(b, 'S', 2, 1, 1);
    put_string(b, "print 1;\n");
    put_record(b, 's', 1, 1);
    put_string(b, "main::bar");
    put_u32(b, 7);
    put_u32(b, 9);
    put_record(b, 'c', 2, 1, 12);
    put_string(b, "main::RUNTIME");
    put_u32(b, 4);
    put_double(b, 0.5);
    put_double(b, 0.25);
    put_double(b, 0.125);
    put_u32(b, 3);
    put_string(b, "main::bar");
    PUT_TIME(b, 'p', 1, 1050);
}

#define HEAD                                                                                   \
    "NYTProf 5 0\n# comment = 1\n:basetime=1\n:application=a=b c\n:nv_size=8\n!calls=2\n!x=\n"

static const char records_text[] =
    "PID_START pid=1050 ppid=1041 time=1700000000.250000\n"
    "NEW_FID fid=1 eval=0:0 flags=0x32 size=0 mtime=0 name=\"/home/x/t1.pl\"\n"
    "NEW_FID fid=200 eval=1:300 flags=0x22 size=70000 mtime=4294967295"
    " name=\"(eval 1)[/home/x/t1.pl:300]\"\n"
    "TIME_LINE ticks=23 at=1:3 block=0 sub=0\n"
    "SUB_ENTRY from=1:16383\n"
    "TIME_BLOCK ticks=-5 at=1:2097151 block=16384 sub=268435456\n"
    "SUB_RETURN depth=2 incl=5 excl=-3 name=\"main::bar\"\n"
    "DISCOUNT\n"
    "ATTRIBUTE key=\"cumulative_overhead_ticks\" value=\"3.09915e+06\"\n"
    "SRC_LINE at=1:1 text=\"print 1;\\x0a\"\n"
    "SUB_INFO fid=1 lines=7-9 name=\"main::bar\"\n"
    "SUB_CALLERS at=1:12 count=4 incl=0.5 excl=0.25 reci=0.125 depth=3"
    " caller=\"main::RUNTIME\" callee=\"main::bar\"\n"
    "PID_END pid=1050 time=1700000000.250000\n";

static const char head_text[] = "VERSION 5.0\n"
                                "COMMENT text=\" comment = 1\\x0a\"\n"
                                "ATTRIBUTE key=\"basetime\" value=\"1\"\n"
                                "ATTRIBUTE key=\"application\" value=\"a=b c\"\n"
                                "ATTRIBUTE key=\"nv_size\" value=\"8\"\n"
                                "OPTION key=\"calls\" value=\"2\"\n"
                                "OPTION key=\"x\" value=\"\"\n";

static char *joined(const char *a, const char *b, const char *c)
{
    static char text[4096];
    snprintf(text, sizeof text, "%s%s%s", a, b, c);
    return text;
}

static struct bytes whole(bool deflated)
{
    struct bytes b = stream(HEAD), records = {0};
    put_records(&records);
    if (deflated) {
        put_byte(&b, 'z');
        put_zlib(&b, records.data, records.len);
        put_text(&b, "#\n# Compressed 1 bytes to 2\n");
    } else {
        put(&b, records.data, records.len);
    }
    free(records.data);
    return b;
}

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

static void test_lines(void)
{
    struct bytes b = stream("NYTProf 5 0\n:no equals sign\n!\n#\n:=v\n");
    is_read(
        &b,
        "VERSION 5.0\nATTRIBUTE key=\"no equals sign\" value=\"\"\n"
        "OPTION key=\"\" value=\"\"\nCOMMENT text=\"\\x0a\"\nATTRIBUTE key=\"\" value=\"v\"\n",
        "malformed attributes are no error");
    put_text(&b, "#");
    const size_t offset = b.len - 1;
    for (int i = 0; i < 5999; i++)
        put_text(&b, "0123456789");
    put_text(&b, "\n");
    struct log log;
    struct nytp_error error;
    ok(read_bytes(b.data, b.len, &log, &error), "a text line may have 59,991 bytes");
    free(log.text.data);
    b.len--;
    is_refused(&b, NYTP_ERR_TRUNCATED, offset, "COMMENT: the input ends inside the record",
               NULL);
    put_text(&b, "01234567890");
    is_refused(&b, NYTP_ERR_LIMIT, offset, "text line is longer than 60000 bytes", NULL);
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
        {" NYTProf 5 0\n", "this is not a profile in any known format", NYTP_ERR_FORMAT},
        {"<html>\n", "this is not a profile in any known format", NYTP_ERR_FORMAT},
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

/* Numbers */

/* As on a machine of the other byte order. */
static void put_reversed(struct bytes *b, void (*put_number)(struct bytes *b, double value),
                         double value)
{
    struct bytes le = {0};
    put_number(&le, value);
    for (size_t i = le.len; i-- > 0;)
        put_byte(b, le.data[i]);
    free(le.data);
}

static void put_number_big_endian(struct bytes *b, double value)
{
    put_reversed(b, put_double, value);
}

static void put_number_float(struct bytes *b, double value)
{
    const float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    put_le(b, bits, sizeof bits);
}

static void put_wide(struct bytes *b, double value, bool quad)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t sign = bits >> 63, fraction = bits & ((UINT64_C(1) << 52) - 1);
    uint64_t exponent = (bits >> 52 & 0x7ff) + 16383 - 1023;
    exponent = value == 0 ? 0 : (bits >> 52 & 0x7ff) == 0x7ff ? 0x7fff : exponent;
    const uint64_t top = sign << 15 | exponent;
    if (quad) {
        put_le(b, fraction << 60, 8);
        put_le(b, top << 48 | fraction >> 4, 8);
    } else {
        put_le(b, fraction << 11 | (exponent != 0 ? UINT64_C(1) << 63 : 0), 8);
        put_le(b, top | UINT64_C(0xdeadbeef) << 32, 8); /* padding holds anything */
    }
}

static void put_number_x87(struct bytes *b, double value)
{
    put_wide(b, value, false);
}

static void put_number_quad(struct bytes *b, double value)
{
    put_wide(b, value, true);
}

static void put_number_quad_big_endian(struct bytes *b, double value)
{
    put_reversed(b, put_number_quad, value);
}

static void put_number_two_doubles(struct bytes *b, double value)
{
    put_number_big_endian(b, value);
    put_number_big_endian(b, value / 1e17);
}

static void put_number_x87_12(struct bytes *b, double value)
{
    put_wide(b, value, false);
    b->len -= 4;
}

static void test_numbers(void)
{
    static const struct {
        const char *name;
        int size;
        void (*put)(struct bytes *b, double value);
        const char *time;
    } kinds[] = {
        {"double", 8, put_double, "1700000000.250000"},
        {"big-endian double", 8, put_number_big_endian, "1700000000.250000"},
        {"x87 long double", 16, put_number_x87, "1700000000.250000"},
        {"quad", 16, put_number_quad, "1700000000.250000"},
        {"big-endian quad", 16, put_number_quad_big_endian, "1700000000.250000"},
        {"pair of doubles", 16, put_number_two_doubles, "1700000000.250000"},
        {"x87 long double of 12 bytes", 12, put_number_x87_12, "1700000000.250000"},
        {"float", 4, put_number_float, "1700000000.000000"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char line[64], name[100], expected[512];
        snprintf(line, sizeof line, "NYTProf 5 0\n:nv_size=%d\n", kinds[i].size);
        struct bytes b = stream(line);
        put_record(&b, 'P', 2, 1, 2);
        kinds[i].put(&b, NOON);
        put_record(&b, '<', 1, 1);
        kinds[i].put(&b, 5);
        kinds[i].put(&b, -0.25);
        put_string(&b, "main::f");
        put_record(&b, '<', 1, 1);
        kinds[i].put(&b, 0);
        kinds[i].put(&b, 1e300 * 1e300);
        put_string(&b, "main::f");
        snprintf(expected, sizeof expected,
                 "VERSION 5.0\nATTRIBUTE key=\"nv_size\" value=\"%d\"\n"
                 "PID_START pid=1 ppid=2 time=%s\n"
                 "SUB_RETURN depth=1 incl=5 excl=-0.25 name=\"main::f\"\n"
                 "SUB_RETURN depth=1 incl=0 excl=inf name=\"main::f\"\n",
                 kinds[i].size, kinds[i].time);
        snprintf(name, sizeof name, "numbers as %s", kinds[i].name);
        is_read(&b, expected, name);
        free(b.data);
    }
    struct bytes b = stream("NYTProf 5 0\n:nv_size=7\n");
    is_refused(&b, NYTP_ERR_FORMAT, 12, "nv_size=7 is no size of a number", "VERSION 5.0\n");
    free(b.data);
}

/* Older versions */

static void test_version_1(void)
{
    struct bytes b = stream("NYTProf 1 0\n:basetime=5\n");
    put_record(&b, 'P', 2, 10, 9);
    put_record(&b, '@', 3, 1, 0, 0);
    put_text(&b, "/x/a.pl\n");
    put_record(&b, '+', 3, 7, 1, 3);
    put_record(&b, 's', 3, 1, 5, 8);
    put_text(&b, "main::a\n");
    put_record(&b, 'c', 3, 1, 3, 2);
    put_text(&b, "main::a\n");
    put_record(&b, 'p', 1, 10);
    is_read(&b,
            "VERSION 1.0\nATTRIBUTE key=\"basetime\" value=\"5\"\n"
            "PID_START pid=10 ppid=9 time=0.000000\n"
            "NEW_FID fid=1 eval=0:0 flags=0x0 size=0 mtime=0 name=\"/x/a.pl\"\n"
            "TIME_LINE ticks=7 at=1:3 block=0 sub=0\n"
            "SUB_INFO fid=1 lines=5-8 name=\"main::a\"\n"
            "SUB_CALLERS at=1:3 count=2 incl=0 excl=0 reci=0 depth=0 caller=\"\""
            " callee=\"main::a\"\n"
            "PID_END pid=10 time=0.000000\n",
            "version 1.0");
    free(b.data);

    b = stream("NYTProf 1 1\n");
    put_record(&b, '@', 6, 1, 0, 0, 2, 300, 400);
    put_text(&b, "/x/a.pl\n");
    is_read(&b,
            "VERSION 1.1\n"
            "NEW_FID fid=1 eval=0:0 flags=0x2 size=300 mtime=400 name=\"/x/a.pl\"\n",
            "version 1.1");
    free(b.data);

    b = stream("NYTProf 1 2\n");
    put_record(&b, 'c', 3, 1, 3, 2);
    for (int i = 1; i <= 4; i++)
        put_double(&b, i);
    put_text(&b, "main::a\n-");
    is_read(&b,
            "VERSION 1.2\nSUB_CALLERS at=1:3 count=2 incl=1 excl=2 reci=0 depth=0 caller=\"\""
            " callee=\"main::a\"\nDISCOUNT\n",
            "version 1.2");
    free(b.data);
}

static void test_version_2(void)
{
    struct bytes b = stream("NYTProf 2 0\n");
    put_record(&b, 'P', 2, 10, 9);
    put_record(&b, '@', 6, 1, 0, 0, 2, 300, 400);
    put_string(&b, "/x/a.pl");
    put_record(&b, 'c', 3, 1, 3, 2);
    for (int i = 1; i <= 4; i++)
        put_double(&b, i);
    put_string(&b, "main::a");
    put_record(&b, 'p', 1, 10);
    is_read(&b,
            "VERSION 2.0\nPID_START pid=10 ppid=9 time=0.000000\n"
            "NEW_FID fid=1 eval=0:0 flags=0x2 size=300 mtime=400 name=\"/x/a.pl\"\n"
            "SUB_CALLERS at=1:3 count=2 incl=1 excl=2 reci=0 depth=0 caller=\"\""
            " callee=\"main::a\"\nPID_END pid=10 time=0.000000\n",
            "version 2.0");
    free(b.data);

    b = stream("NYTProf 2 1\n");
    PUT_TIME(&b, 'P', 2, 10, 9);
    put_record(&b, 's', 3, 1, 5, 8);
    put_string(&b, "main::a");
    put_record(&b, 'c', 3, 1, 3, 2);
    for (int i = 1; i <= 5; i++)
        put_double(&b, i);
    put_u32(&b, 6);
    put_string(&b, "main::a");
    PUT_TIME(&b, 'p', 1, 10);
    is_read(&b,
            "VERSION 2.1\nPID_START pid=10 ppid=9 time=1700000000.250000\n"
            "SUB_INFO fid=1 lines=5-8 name=\"main::a\"\n"
            "SUB_CALLERS at=1:3 count=2 incl=1 excl=2 reci=5 depth=6 caller=\"\""
            " callee=\"main::a\"\nPID_END pid=10 time=1700000000.250000\n",
            "version 2.1");
    free(b.data);
}

static void test_version_3(void)
{
    struct bytes b = stream("NYTProf 3 0\n");
    put_record(&b, 's', 1, 1);
    put_string(&b, "main::a");
    for (uint32_t i = 5; i <= 6; i++)
        put_u32(&b, i);
    put_u32(&b, 3);
    for (uint32_t i = 1; i <= 3; i++)
        put_u32(&b, i * 1000);
    put_record(&b, 'c', 2, 1, 3);
    put_string(&b, "main::main");
    put_u32(&b, 2);
    for (int i = 1; i <= 5; i++)
        put_double(&b, i);
    put_u32(&b, 6);
    put_string(&b, "main::a");
    put_record(&b, '+', 3, 0x80000005, 1, 3);
    put_record(&b, '+', 3, 0xffffffff, 1, 3);
    put_record(&b, '>', 2, 1, 1);
    is_read(&b,
            "VERSION 3.0\nSUB_INFO fid=1 lines=5-6 name=\"main::a\"\n"
            "SUB_CALLERS at=1:3 count=2 incl=1 excl=2 reci=5 depth=6 caller=\"main::main\""
            " callee=\"main::a\"\n"
            "TIME_LINE ticks=2147483647 at=1:3 block=0 sub=0\nDISCOUNT\n"
            "TIME_LINE ticks=6 at=1:3 block=0 sub=0\n"
            "TIME_LINE ticks=2147483647 at=1:3 block=0 sub=0\nDISCOUNT\n"
            "TIME_LINE ticks=2147483647 at=1:3 block=0 sub=0\nDISCOUNT\n"
            "TIME_LINE ticks=1 at=1:3 block=0 sub=0\n"
            "SUB_ENTRY from=1:1\n",
            "version 3.0; its unsigned ticks are one statement in pieces");
    b.len = strlen("NYTProf 3 0\n");
    put_record(&b, 's', 1, 1);
    put_string(&b, "main::a");
    for (uint32_t i = 0; i < 2; i++)
        put_u32(&b, i);
    put_u32(&b, 0xfffffff0);
    for (uint32_t i = 0; i < 100000; i++)
        put_u32(&b, i);
    is_refused(&b, NYTP_ERR_LIMIT, 12, "SUB_INFO with 4294967280 extra numbers",
               "VERSION 3.0\n");
    free(b.data);
}

static void test_version_4(void)
{
    struct bytes b = stream("NYTProf 4 0\n");
    struct bytes records = {0};
    put_records(&records);
    put(&b, records.data, records.len);
    is_read(&b, joined("VERSION 4.0\n", records_text, ""), "version 4.0");
    free(records.data);
    free(b.data);
}

/* Damage */

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
    test_records();
    test_trickle();
    test_offsets();
    test_integers();
    test_strings();
    test_large();
    test_claims();
    test_lines();
    test_headers();
    test_numbers();
    test_version_1();
    test_version_2();
    test_version_3();
    test_version_4();
    test_damage();
    test_cuts();
    test_noise();
    test_stop();
    printf("1..%d\n", n_tests);
    return 0;
}
