/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * How the writer hands its bytes on.
 */
#include "bytes.h"

#include "formats/stream/write/writer.h"

struct handed {
    struct bytes bytes;
    unsigned n_puts;
};

static bool take(void *context, const uint8_t *bytes, size_t len)
{
    struct handed *const to = context;
    put(&to->bytes, bytes, len);
    to->n_puts++;
    return true;
}

static void begin(struct nytp_writer *writer, bool compress, size_t n_name)
{
    char *const name = malloc(n_name);
    memset(name, 'n', n_name);
    nytp_write_version(writer, 5, 0);
    nytp_write_attribute(writer, "application", name, n_name);
    if (compress)
        nytp_write_start_deflate(writer, 6);
    nytp_write_pid_start(writer, 1, 2, 3.0);
    free(name);
}

/* Both parts of the header are what a reader finds of a process that was killed right after. */
static void header(bool compress, size_t n_name, unsigned most_puts, const char *name)
{
    struct handed to = {.n_puts = 0};
    struct nytp_writer *const writer = nytp_writer_new(take, &to);
    begin(writer, compress, n_name);
    const bool was_early = to.n_puts > 0;
    nytp_writer_flush(writer, NYTP_FLUSH_SYNC);
    const uint8_t *const z = memchr(to.bytes.data, 'z', to.bytes.len);
    ok((most_puts > 1 || !was_early) && to.n_puts <= most_puts, name);
    ok(to.bytes.len > 12 && memcmp(to.bytes.data, "NYTProf 5 0\n", 12) == 0 &&
           (!compress || (z != NULL && z[1] == 0x78)),
       "all of it, in order");
    nytp_writer_free(writer);
    free(to.bytes.data);
}

/* Readers show source lines as they come; names they decode. */
static void source_line(void)
{
    static const uint8_t expected[] = "S\x01\x02'\x03\xc3\xa9\n@\x01\0\0\0\0\0\"\x02\xc3\xa9";
    struct handed to = {.n_puts = 0};
    struct nytp_writer *const writer = nytp_writer_new(take, &to);
    nytp_write_src_line(writer, 1, 2, "\xc3\xa9\n", 3);
    nytp_write_new_fid(writer, &(struct nytp_new_fid){.fid = 1, .name = {"\xc3\xa9", 2, false}});
    nytp_writer_flush(writer, NYTP_FLUSH_NONE);
    ok(to.bytes.len == sizeof expected - 1 &&
           memcmp(to.bytes.data, expected, sizeof expected - 1) == 0,
       "a source line makes no claim to be UTF-8, a name does");
    nytp_writer_free(writer);
    free(to.bytes.data);
}

int main(void)
{
    source_line();
    header(false, 10, 1, "plain: a header and the first records are handed on at once");
    header(true, 10, 1, "deflated: they are, too");
    header(true, 3 * NYTP_WRITER_MOST, 1000, "a header that is longer than a block");
    return done_testing();
}
