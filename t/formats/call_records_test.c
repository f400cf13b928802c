/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls in comments: what the writer says of entries and returns is what the reader gives, by
 * way of the bytes that nytprof-v5.md describes; and what is damaged is refused.
 */
#include "nytprof_streams.h"

#include "formats/stream/write/writer.h"

#define BEGINNING "NYTProf 5 0\n:basetime=1\n"

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
    nytp_write_pid_start(writer, 1, 2, NOON);
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

/* The input, whole and byte by byte, without the beginning. */
static void gives(struct nytp_writer *writer, struct bytes *b, const char *expected,
                  const char *name)
{
    nytp_writer_flush(writer, NYTP_FLUSH_NONE);
    nytp_writer_free(writer);
    struct log log;
    struct nytp_error error = {0};
    if (!read_bytes(b->data, b->len, &log, &error))
        fprintf(stderr, "# %s: %s\n", name, error.message);
    const char *const pid = strstr(log_text(&log), "COMMENT");
    is_text(pid == NULL ? "" : strchr(pid, '\n') + 1, expected, name);
    static char
        *whole_text; /* whoever writes the pipe that is read next has it, too, and ends */
    whole_text = strdup(log_text(&log));
    free(log.text.data);
    read_trickle(b, 1, &log, &error);
    is_text(log_text(&log), whole_text, "the same byte by byte");
    free(whole_text);
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
          "SUB_ENTRY from=1:300\nTIME_LINE ticks=10 at=7:8 block=0 sub=0\n"
          "SUB_ENTRY from=2:10\nSUB_RETURN depth=2 incl=300 excl=300 name=u\"m::\\xc3\\xa9\"\n"
          "SUB_ENTRY from=2:10\nSUB_ENTRY from=1:300\n"
          "SUB_RETURN depth=3 incl=5 excl=5 name=\"m::f\"\n"
          "SUB_RETURN depth=2 incl=10 excl=5 name=u\"m::\\xc3\\xa9\"\n"
          "TIME_LINE ticks=330 at=7:8 block=0 sub=0\n"
          "SUB_RETURN depth=1 incl=340 excl=30 name=\"m::f\"\n"
          "TIME_LINE ticks=10 at=7:8 block=0 sub=0\n",
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
          "COMMENT text=\"between\\x0a\"\nTIME_LINE ticks=200 at=7:8 block=0 sub=0\n"
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
    for (uint32_t i = 0; i < 2000000; i++)
        last = nytp_write_call_site(w, 1, i, '\'', "f", 1);
    nytp_write_call_entry_at(w, &last, 0, 0);
    nytp_writer_flush(w, NYTP_FLUSH_NONE);
    struct log log;
    struct nytp_error error;
    ok(read_bytes(b.data, b.len, &log, &error) &&
           strstr(log_text(&log), "\nSUB_ENTRY from=1:1999999\n") != NULL,
       "two million places");
    free(log.text.data);
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
        struct log log;
        struct nytp_error error = {0};
        ok(read_bytes(b.data, b.len, &log, &error) &&
               strstr(log_text(&log), "SUB_RETURN depth=1 incl=5 excl=5") != NULL,
           "a name of 200,000 bytes");
        free(log.text.data);
        free(b.data);
        nytp_writer_free(w);
    }
}

static const struct {
    const char *name, *records, *message;
} damages[] = {
    {"a place that was not told", "#\x02\x10\n+\x01\x01\x01", "no such place of a call"},
    {"a return of nothing", "#\x05\x10\n", "a return, and no call is open"},
    {"another name for nothing", "#\x01\x11\x11'f\n#\x0b\x10\n", "no such place of a call"},
    {"a return that nothing places", "#\x01\x11\x11'f\n#\x02\x10\n-",
     "nothing tells when it was"},
    {"an unknown first byte", "#\x06\x10\n", "its first byte is none that is known"},
    {"a number of other bytes", "#\x07\x80\x0f\n", "a byte that is part of no number"},
    {"a number without end", "#\x07\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x10\n",
     "a byte that is part of no number"},
    {"more behind a number", "#\x05\x10\x10\n", "no newline where it should end"},
    {"a place without a name", "#\x01\x11\x11\n", "no place and name"},
};

static void test_damage(void)
{
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct bytes b = {0};
        nytp_writer_free(begin(&b));
        b = stream(BEGINNING);
        put_byte(&b, 'P');
        put_u32(&b, 1);
        put_u32(&b, 2);
        const double noon = NOON;
        put(&b, &noon, sizeof noon);
        put_text(&b, "#nytp-calls 1\n");
        put_text(&b, damages[i].records);
        struct log log;
        struct nytp_error error;
        ok(!read_bytes(b.data, b.len, &log, &error) && error.status == NYTP_ERR_FORMAT &&
               strstr(error.message, damages[i].message) != NULL,
           damages[i].name);
        free(log.text.data);
        free(b.data);
    }
}

/* Devel::NYTProf's merger copies comments, and gives files other ids; what it writes has the
 * attribute `basetime` at its end. */
static void test_copies(void)
{
    struct bytes b =
        stream("NYTProf 5 0\n#nytp-calls 1\n#\x02\x10\n:basetime=1\n#nytp-calls 2\n#\x04\n");
    is_read(
        &b,
        "VERSION 5.0\nCOMMENT text=\"nytp-calls 1\\x0a\"\nCOMMENT text=\"\\x02\\x10\\x0a\"\n"
        "ATTRIBUTE key=\"basetime\" value=\"1\"\nCOMMENT text=\"nytp-calls 2\\x0a\"\n"
        "COMMENT text=\"\\x04\\x0a\"\n",
        "comments in a copy are comments");
    free(b.data);
}

int main(void)
{
    test_points();
    test_changes();
    test_numbers();
    test_many_sites();
    test_long_names();
    test_damage();
    test_copies();
    return done_testing();
}
