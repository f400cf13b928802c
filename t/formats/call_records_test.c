/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls in comments: very many places, and names that no line holds. The writer's other bytes
 * are read in t/xs/call_comments.t; the reader is tested in t/cli/test_calls_in_comments.py.
 */
#include "bytes.h"

#include "formats/stream/format.h"
#include "formats/stream/write/writer.h"

struct returns {
    struct nytp_sink sink;
    uint32_t line; /* of the last call */
    unsigned n;
};

static bool note(struct nytp_sink *sink, const struct nytp_event *e)
{
    struct returns *const seen = (struct returns *)sink;
    if (e->tag == NYTP_TAG_SUB_ENTRY)
        seen->line = e->u.sub_entry.caller_line;
    else if (e->tag == NYTP_TAG_SUB_RETURN && e->u.sub_return.incl_ticks == 5)
        seen->n++;
    return true;
}

/* Whether the reader finds one call of 5 ticks, from that line. */
static bool has_call(const struct bytes *b, uint32_t line)
{
    struct returns seen = {.sink = {.event = note}};
    struct nytp_error error = {0};
    struct nytp_source *source = nytp_source_memory(b->data, b->len, &error);
    assert(source != NULL);
    const bool read = nytp_read(source, NULL, &seen.sink, &error);
    nytp_source_free(source);
    if (!read)
        fprintf(stderr, "# %s\n", error.message);
    return read && seen.n == 1 && seen.line == line;
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

/* Writes one call from `site`, and ends the stream. */
static void call(struct nytp_writer *writer, const struct nytp_encoded_entry *site)
{
    nytp_write_call_entry_at(writer, site, 0, 0);
    nytp_write_call_return_at(writer, 0, 5);
    nytp_writer_flush(writer, NYTP_FLUSH_NONE);
    nytp_writer_free(writer);
}

/* Sites are numbered in four bytes or more after some two million. */
static void test_many_sites(void)
{
    struct bytes b = {0};
    struct nytp_writer *const w = begin(&b);
    struct nytp_encoded_entry last = {.len = 0};
    const uint32_t n = (uint32_t)rounds(2000000);
    for (uint32_t i = 0; i < n; i++)
        last = nytp_write_call_site(w, 1, i, '\'', "f", 1);
    call(w, &last);
    ok(has_call(&b, n - 1), "two million places");
    free(b.data);
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
        call(w, &f);
        ok(has_call(&b, 2), "a name of 200,000 bytes");
        free(b.data);
    }
}

int main(void)
{
    test_many_sites();
    test_long_names();
    return done_testing();
}
