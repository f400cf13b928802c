/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * For the tests of the native stream: a stream that has every record of version 5.0, with the
 * text of its events; and what is read of any bytes, compared with what should be.
 */
#ifndef NYTP_TEST_NYTPROF_STREAMS_H
#define NYTP_TEST_NYTPROF_STREAMS_H

#include "bytes.h"

#include <unistd.h>

#define NOON                                                                                   \
    1700000000.25 /* a time of day that every kind of number holds, but for the float */

/* Reading */

static inline bool read_all(struct nytp_source *source, struct log *log,
                            struct nytp_error *error)
{
    *log = log_new();
    const bool read = nytp_read(source, NULL, &log->sink, error);
    nytp_source_free(source);
    log_text(log);
    return read;
}

static inline bool read_bytes(const void *data, size_t len, struct log *log,
                              struct nytp_error *error)
{
    *error = (struct nytp_error){0};
    struct nytp_source *source = nytp_source_memory(data, len, error);
    assert(source != NULL);
    return read_all(source, log, error);
}

/* Through a pipe that gives a few bytes at a time, so that no record is ever whole at first. */
static inline bool read_trickle(const struct bytes *b, size_t chunk, struct log *log,
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
                break;
        }
        free(b->data); /* valgrind looks for leaks in the child, too */
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

static inline void is_read(const struct bytes *b, const char *expected, const char *name)
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
static inline void is_refused(const struct bytes *b, enum nytp_status status, uint64_t offset,
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

static inline struct bytes stream(const char *head)
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

static inline void put_return(struct bytes *b, uint32_t depth, double incl, double excl,
                              const char *name)
{
    put_record(b, '<', 1, depth);
    put_double(b, incl);
    put_double(b, excl);
    put_string(b, name);
}

/* All records of version 5.0 in a sensible order. */
static inline void put_records(struct bytes *b)
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

__attribute__((unused)) static const char records_text[] =
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

__attribute__((unused)) static const char head_text[] =
    "VERSION 5.0\n"
    "COMMENT text=\" comment = 1\\x0a\"\n"
    "ATTRIBUTE key=\"basetime\" value=\"1\"\n"
    "ATTRIBUTE key=\"application\" value=\"a=b c\"\n"
    "ATTRIBUTE key=\"nv_size\" value=\"8\"\n"
    "OPTION key=\"calls\" value=\"2\"\n"
    "OPTION key=\"x\" value=\"\"\n";

static inline char *joined(const char *a, const char *b, const char *c)
{
    static char text[4096];
    snprintf(text, sizeof text, "%s%s%s", a, b, c);
    return text;
}

static inline struct bytes whole(bool deflated)
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

#endif
