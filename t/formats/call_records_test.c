/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls in comments: what the writer says of entries and returns is what the reader gives, by
 * way of the bytes that nytprof-v5.md describes.
 */
#include "bytes.h"

#include "formats/stream/format.h"
#include "formats/stream/write/writer.h"

#include <stdarg.h>

struct log {
    struct nytp_sink sink;
    struct bytes text;
};

static void log_printf(struct log *log, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    put_text(&log->text, line);
}

static void log_string(struct log *log, const char *field, struct nytp_str s)
{
    log_printf(log, " %s=%s", field, s.utf8 ? "u\"" : "\"");
    for (uint32_t i = 0; i < s.len && i < 100; i++)
        log_printf(log, s.ptr[i] >= ' ' && s.ptr[i] < 127 ? "%c" : "\\x%02x",
                   (unsigned char)s.ptr[i]);
    put_text(&log->text, "\"");
}

/* Events as text. */
static bool log_event(struct nytp_sink *sink, const struct nytp_event *e)
{
    struct log *log = (struct log *)sink;
    put_text(&log->text, nytp_tag_name(e->tag));
    if (e->tag == NYTP_TAG_COMMENT)
        log_string(log, "text", e->u.comment.text);
    else if (e->tag == NYTP_TAG_TIME_LINE)
        log_printf(log, " ticks=%d at=%u:%u", e->u.time.ticks, e->u.time.fid, e->u.time.line);
    else if (e->tag == NYTP_TAG_SUB_ENTRY)
        log_printf(log, " from=%u:%u", e->u.sub_entry.caller_fid, e->u.sub_entry.caller_line);
    else if (e->tag == NYTP_TAG_SUB_RETURN) {
        log_printf(log, " depth=%u incl=%g excl=%g", e->u.sub_return.depth,
                   e->u.sub_return.incl_ticks, e->u.sub_return.excl_ticks);
        log_string(log, "name", e->u.sub_return.name);
    }
    put_text(&log->text, "\n");
    return true;
}

static bool read_bytes(const struct bytes *b, struct log *log)
{
    struct nytp_error error = {0};
    *log = (struct log){.sink = {.event = log_event}};
    struct nytp_source *source = nytp_source_memory(b->data, b->len, &error);
    assert(source != NULL);
    const bool read = nytp_read(source, NULL, &log->sink, &error);
    nytp_source_free(source);
    if (!read)
        fprintf(stderr, "# %s\n", error.message);
    put_byte(&log->text, '\0');
    return read;
}

static bool reads(const struct bytes *b, const char *text)
{
    struct log log;
    const bool found = read_bytes(b, &log) && strstr((char *)log.text.data, text) != NULL;
    free(log.text.data);
    return found;
}

static bool take(void *context, const uint8_t *bytes, size_t len)
{
    put(context, bytes, len);
    return true;
}

static struct nytp_writer *begin(struct bytes *to)
{
    struct nytp_writer *const writer = nytp_writer_new(take, to);
    nytp_write_version(writer, 5, 0);
    nytp_write_attribute(writer, "basetime", "1", 1);
    nytp_write_pid_start(writer, 1, 2, 1700000000.25);
    nytp_write_calls_head(writer);
    return writer;
}

/* Write the statement 7:8 up to `now`, as the recorder does. */
static void statement(struct nytp_writer *writer, int64_t *since, int64_t now)
{
    nytp_writer_meet(writer, now, now - *since);
    nytp_write_time_line(writer, (int32_t)(now - *since), 7, 8);
    *since = now;
}

/* Compares the events of the input, without the beginning. */
static void gives(struct nytp_writer *writer, struct bytes *b, const char *expected,
                  const char *name)
{
    struct log log;
    nytp_writer_flush(writer, NYTP_FLUSH_NONE);
    nytp_writer_free(writer);
    read_bytes(b, &log);
    const char *const pid = strstr((char *)log.text.data, "COMMENT");
    is_text(pid == NULL ? "" : strchr(pid, '\n') + 1, expected, name);
    free(log.text.data);
    free(b->data);
}

static void test_points(void)
{
    struct bytes b = {0};
    struct nytp_writer *const w = begin(&b);
    int64_t since = 1000; /* the writer's axis begins anywhere */
    const struct nytp_encoded_entry f = nytp_write_call_site(w, 1, 300, '\'', "m::f", 4);
    const struct nytp_encoded_entry g = nytp_write_call_site(w, 2, 10, '"', "m::\xc3\xa9", 5);
    nytp_write_call_entry(w, &f, since, 1010);
    statement(w, &since, 1010); /* m::f begins at 10 */
    nytp_write_call_entry_at(w, &g, since, 1013);
    nytp_write_call_return_at(w, since, 1313);
    nytp_write_call_entry_at(w, &g, since, 1320);
    nytp_write_call_entry_at(w, &f, since, 1320);
    nytp_write_call_return_at(w, since, 1325);
    nytp_write_call_return(w, since, 1330); /* and no statement ends there */
    statement(w, &since, 1340);
    nytp_write_call_return(w, since, 1350);
    statement(w, &since, 1350);
    gives(w, &b,
          "SUB_ENTRY from=1:300\nTIME_LINE ticks=10 at=7:8\n"
          "SUB_ENTRY from=2:10\nSUB_RETURN depth=2 incl=300 excl=300 name=u\"m::\\xc3\\xa9\"\n"
          "SUB_ENTRY from=2:10\nSUB_ENTRY from=1:300\n"
          "SUB_RETURN depth=3 incl=5 excl=5 name=\"m::f\"\n"
          "SUB_RETURN depth=2 incl=10 excl=5 name=u\"m::\\xc3\\xa9\"\n"
          "TIME_LINE ticks=330 at=7:8\n"
          "SUB_RETURN depth=1 incl=340 excl=30 name=\"m::f\"\n"
          "TIME_LINE ticks=10 at=7:8\n",
          "entries and returns lie where statements end, or so much after one");
}

static void test_changes(void)
{
    struct bytes b = {0};
    struct nytp_writer *const w = begin(&b);
    int64_t since = 0;
    const struct nytp_encoded_entry odd = nytp_write_call_site(w, 0, 0, '\'', "a\n\\n\\", 5);
    const struct nytp_encoded_entry f = nytp_write_call_site(w, 1, 2, '\'', "m::f", 4);
    nytp_write_call_site_change(w, NYTP_CALL_OPEN, &odd);
    nytp_write_call_change(w, NYTP_CALL_SHIFT, 500);
    since += 500;
    nytp_write_call_entry_at(w, &odd, since, 600);
    nytp_write_call_site_change(w, NYTP_CALL_RENAME, &f);
    nytp_write_call_change(w, NYTP_CALL_WAIT, 40);
    nytp_write_call_return(w, since, 700);
    nytp_write_comment(w, "between"); /* comes after what it was written after */
    statement(w, &since, 700);
    nytp_write_call_return_at(w, since, -100); /* a clock that was set back */
    gives(w, &b,
          "SUB_ENTRY from=0:0\nSUB_RETURN depth=2 incl=60 excl=60 name=\"m::f\"\n"
          "COMMENT text=\"between\\x0a\"\nTIME_LINE ticks=200 at=7:8\n"
          "SUB_RETURN depth=1 incl=-140 excl=-200 name=\"a\\x0a\\n\\\"\n",
          "calls that were open, waits, other names, time of no statement");
}

/* Numbers of every length, in none of which is a newline. */
static void test_numbers(void)
{
    struct bytes b = {0};
    struct nytp_writer *const w = begin(&b);
    const struct nytp_encoded_entry f = nytp_write_call_site(w, 1, 2, '\'', "f", 1);
    char expected[8192] = "";
    int64_t now = 0;
    for (int bits = 0; bits < 38; bits++)
        for (int64_t more = -20; more <= 20; more += 10) {
            const int64_t ticks = ((int64_t)1 << bits) + more;
            if (ticks < 0 || bits % 5 > 1)
                continue;
            nytp_write_call_entry_at(w, &f, 0, now);
            nytp_write_call_return_at(w, 0, now += ticks);
            snprintf(expected + strlen(expected), sizeof expected - strlen(expected),
                     "SUB_ENTRY from=1:2\nSUB_RETURN depth=1 incl=%g excl=%g name=\"f\"\n",
                     (double)ticks, (double)ticks);
        }
    gives(w, &b, expected, "numbers of all lengths");
}

/* Sites are numbered in four bytes or more after some two million. */
static void test_many_sites(void)
{
    struct bytes b = {0};
    struct nytp_writer *const w = begin(&b);
    struct nytp_encoded_entry last = {.len = 0};
    for (uint32_t i = 0; i < (uint32_t)rounds(2000000); i++)
        last = nytp_write_call_site(w, 1, i, '\'', "f", 1);
    nytp_write_call_entry_at(w, &last, 0, 0);
    nytp_writer_flush(w, NYTP_FLUSH_NONE);
    ok(reads(&b, is_slow() ? "from=1:99999\n" : "from=1:1999999\n"), "two million places");
    free(b.data);
    nytp_writer_free(w);
}

/* A sub may have a name that no line holds: what comes behind its calls is read still. */
static void test_long_names(void)
{
    static char name[200000];
    static const char *const kinds[] = {"xx", "\n\n", "\\\\", "\xc3\xa9"};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        for (size_t i = 0; i < sizeof name; i++)
            name[i] = kinds[kind][(i + 1) % 2];
        struct bytes b = {0};
        struct nytp_writer *const w = begin(&b);
        const char tag = kind == 3 ? '"' : '\'';
        const struct nytp_encoded_entry f =
            nytp_write_call_site(w, 1, 2, (uint8_t)tag, name + 1, sizeof name - 1);
        nytp_write_call_entry_at(w, &f, 0, 0);
        nytp_write_call_return_at(w, 0, 5);
        nytp_writer_flush(w, NYTP_FLUSH_NONE);
        ok(reads(&b, "SUB_RETURN depth=1 incl=5 excl=5"), "a name of 200,000 bytes");
        free(b.data);
        nytp_writer_free(w);
    }
}

int main(void)
{
    test_points();
    test_changes();
    test_numbers();
    test_many_sites();
    test_long_names();
    return done_testing();
}
