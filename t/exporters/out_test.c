/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Output: what is put arrives, a failure is told once and leaves the target as it was.
 */
#define _XOPEN_SOURCE 700
#include "exporters/base/out.h"
#include "t/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char folder[] = "/tmp/nytp-out-test.XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static int next;
    char *at = path[next++ % 4];
    snprintf(at, sizeof path[0], "%s/%s", folder, name);
    return at;
}

static size_t file_size(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (size_t)st.st_size : (size_t)-1;
}

static bool file_is(const char *path, const char *text)
{
    char buffer[256] = "";
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    const size_t n = fread(buffer, 1, sizeof buffer - 1, file);
    fclose(file);
    return n == strlen(text) && memcmp(buffer, text, n) == 0;
}

static void numbers_are_decimal(void)
{
    struct nytp_out *out = nytp_out_memory(true);
    nytp_put_u64(out, 0);
    nytp_putc(out, ' ');
    nytp_put_u64(out, UINT64_MAX);
    nytp_putc(out, ' ');
    nytp_put_i64(out, INT64_MIN);
    nytp_printf(out, " %d", 7);
    size_t len;
    const uint8_t *bytes = nytp_out_bytes(out, &len);
    const char *want = "0 18446744073709551615 -9223372036854775808 7";
    ok(len == strlen(want) && memcmp(bytes, want, len) == 0, "numbers are decimal");
    ok(out->n_bytes == len, "n_bytes counts what was put");
    nytp_out_discard(out);
}

/* Pieces of every size, around and above the buffer, with and without compression. */
static void every_byte_arrives(bool gzip)
{
    enum {
        TOTAL = 3000000
    };
    uint8_t *want = malloc(TOTAL);
    for (size_t i = 0; i < TOTAL; i++)
        want[i] = (uint8_t)(i * 2654435761u >> 13);
    const char *path = in_folder("all");
    struct nytp_error error = {0};
    struct nytp_out *out = nytp_out_open(path, &error);
    ok(out != NULL && !out->is_pipe, "a regular file is no pipe");
    if (gzip)
        nytp_out_gzip(out);
    for (size_t at = 0, piece = 1; at < TOTAL; at += piece, piece = piece * 3 + 1) {
        piece = piece > TOTAL - at ? TOTAL - at : piece;
        if (piece == 1)
            nytp_putc(out, (char)want[at]);
        else
            nytp_put(out, want + at, piece);
    }
    ok(nytp_out_close(out, &error), "close succeeds");
    gzFile file = gzopen(path, "rb");
    uint8_t *got = malloc(TOTAL + 1);
    ok(gzdirect(file) == !gzip, gzip ? "the file is gzip" : "the file is plain");
    ok(gzread(file, got, TOTAL + 1) == TOTAL && memcmp(got, want, TOTAL) == 0,
       "every byte arrives");
    gzclose(file);
    free(got);
    free(want);
    unlink(path);
}

static void target_appears_when_closed(void)
{
    struct nytp_error error = {0};
    const char *path = in_folder("target");
    struct nytp_out *out = nytp_out_open(path, &error);
    nytp_puts(out, "new");
    ok(file_size(path) == (size_t)-1, "nothing exists under the name before close");
    ok(nytp_out_temp_path(out) != NULL && file_size(nytp_out_temp_path(out)) == 0,
       "a temporary file does");
    nytp_out_close(out, &error);
    ok(file_is(path, "new"), "it does afterwards");

    chmod(path, 0640);
    out = nytp_out_open(path, &error);
    nytp_puts(out, "newer");
    nytp_out_discard(out);
    ok(file_is(path, "new"), "a discarded output leaves the old content");
    out = nytp_out_open(path, &error);
    nytp_puts(out, "newer");
    nytp_out_close(out, &error);
    struct stat st;
    stat(path, &st);
    ok(file_is(path, "newer") && (st.st_mode & 07777) == 0640, "the old file's mode is kept");

    const char *link = in_folder("link");
    if (symlink(path, link) != 0)
        perror("symlink");
    out = nytp_out_open(link, &error);
    nytp_puts(out, "newest");
    nytp_out_close(out, &error);
    ok(lstat(link, &st) == 0 && S_ISLNK(st.st_mode) && file_is(path, "newest"),
       "a symbolic link stays one and its target is replaced");
    unlink(link);
    unlink(path);
}

static void failures_are_told(void)
{
    struct nytp_error error = {0};
    struct nytp_out *out = nytp_out_open("/dev/full", &error);
    for (int i = 0; i < 100000; i++)
        nytp_puts(out, "0123456789");
    ok(out->error.status == NYTP_ERR_IO, "a full device is a sticky error");
    ok(!nytp_out_close(out, &error) && strstr(error.message, "No space left") != NULL,
       "close tells it");

    memset(&error, 0, sizeof error);
    out = nytp_out_open("/dev/full", &error);
    nytp_puts(out, "small");
    ok(!nytp_out_close(out, &error) && error.status == NYTP_ERR_IO,
       "so does close when the output fits the buffer");

    memset(&error, 0, sizeof error);
    ok(nytp_out_open(in_folder("no/such/folder"), &error) == NULL &&
           error.status == NYTP_ERR_IO,
       "a missing folder is an error at once");
}

static void nothing_is_left_behind(void)
{
    ok(rmdir(folder) == 0, "no temporary file is left behind");
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 1;
    numbers_are_decimal();
    every_byte_arrives(false);
    every_byte_arrives(true);
    target_appears_when_closed();
    failures_are_told();
    nothing_is_left_behind();
    return done_testing();
}
