/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * nytp spy heap: the values of a process by type and class, and their growth between two times.
 *
 * The file's first line gives its version. A line follows for each kind,
 * "count<TAB>bytes<TAB>type<TAB>class<TAB>holder".
 */
#define _GNU_SOURCE
#include "cli.h"

#include "exporters/base/text.h"
#include "formats/base/arena.h"
#include "spy/perl/census.h"
#include "spy/target/process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char head[] = "nytp-heap 1";

enum {
    MOST_ROWS = 40
};

struct kind {
    const char *type, *class, *holder; /* borrowed */
    int64_t n, bytes;                  /* or the difference */
};

static void show_progress(uint64_t n)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%" PRIu64 " values ", n);
}

static void end_progress(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

/* Writes "1.2 MB", with a sign if requested. */
static void put_bytes(struct nytp_out *out, int64_t bytes, bool with_sign, int width)
{
    char text[40] = "+";
    const size_t at = with_sign && bytes >= 0;
    nytp_bytes_text(bytes, text + at, sizeof text - at);
    nytp_printf(out, "%*s", width, text);
}

static int by_bytes(const void *left, const void *right)
{
    const struct kind *const a = left, *const b = right;
    NYTP_RETURN_ORDER(b->bytes, a->bytes);
    const int type = strcmp(a->type, b->type);
    return type != 0 ? type : strcmp(a->class, b->class);
}

static void put_kinds(struct nytp_out *out, const char *output, const struct kind *kinds,
                      uint32_t n, bool with_sign)
{
    const uint32_t columns = nytp_spy_columns(output);
    nytp_puts(out, "\n     count       size  type            class\n");
    for (uint32_t i = 0; i < n && i < MOST_ROWS; i++) {
        nytp_spy_put_number(out, kinds[i].n, with_sign, 10);
        put_bytes(out, kinds[i].bytes, with_sign, 11);
        nytp_printf(out, *kinds[i].class == '\0' ? "  %s" : "  %-14s  ", kinds[i].type);
        nytp_text_put(out, nytp_name_of_text(kinds[i].class), nytp_spy_room(columns, 39));
        const char *const holder = kinds[i].holder;
        if (*holder != '\0') {
            nytp_puts(out, "\n                           held by ");
            nytp_text_put(out, nytp_name_of_text(holder), nytp_spy_room(columns, 35));
        }
        nytp_putc(out, '\n');
    }
    if (n > MOST_ROWS)
        nytp_printf(out, "%10s %u more kinds\n", "...", n - MOST_ROWS);
}

/* ---- a census ---- */

/* Writes a text without tabs and newlines. */
static void put_field(struct nytp_out *out, const char *text)
{
    for (; *text != '\0'; text++)
        nytp_putc(out, *text == '\t' || *text == '\n' ? ' ' : *text);
}

static void put_file(struct nytp_out *out, const struct kind *kinds, uint32_t n)
{
    nytp_printf(out, "%s\n", head);
    for (uint32_t i = 0; i < n; i++) {
        nytp_printf(out, "%" PRId64 "\t%" PRId64 "\t%s\t", kinds[i].n, kinds[i].bytes,
                    kinds[i].type);
        put_field(out, kinds[i].class);
        nytp_putc(out, '\t');
        put_field(out, kinds[i].holder);
        nytp_putc(out, '\n');
    }
}

static struct kind *kinds_of(const struct nytp_spy *spy, const struct nytp_census *census,
                             uint32_t *n)
{
    struct kind *const kinds = calloc(census->n_rows + 1, sizeof *kinds);
    *n = 0;
    for (uint32_t i = 0; kinds != NULL && i < census->n_rows; i++) {
        const struct nytp_census_row *const row = &census->rows[i];
        if (spy->objects && row->class == 0)
            continue;
        kinds[(*n)++] = (struct kind){
            .type = row->type,
            .class = nytp_strings_get(census->strings, row->class).ptr,
            .holder = nytp_strings_get(census->strings, row->holder).ptr,
            .n = (int64_t)row->n,
            .bytes = (int64_t)row->bytes,
        };
    }
    if (kinds != NULL)
        qsort(kinds, *n, sizeof *kinds, by_bytes);
    return kinds;
}

static void put_head(struct nytp_out *out, const struct nytp_session *session,
                     const struct nytp_census *census, double seconds)
{
    nytp_session_put(session, out, 60);
    nytp_putc(out, '\n');
    nytp_spy_put_number(out, (int64_t)census->n, false, 0);
    nytp_puts(out, " values");
    if (session->perl.n_interpreters > 1)
        nytp_printf(out, " of %u threads", session->perl.n_interpreters);
    nytp_puts(out, ", ");
    put_bytes(out, (int64_t)census->bytes, false, 0);
    nytp_puts(out, " (perl counts ");
    nytp_spy_put_number(out, census->count_before, false, 0);
    if (census->count_after != census->count_before) {
        nytp_puts(out, " before and ");
        nytp_spy_put_number(out, census->count_after, false, 0);
        nytp_puts(out, " after that");
    }
    nytp_puts(out, "); keys of hashes: ");
    put_bytes(out, (int64_t)census->key_bytes, false, 0);
    nytp_printf(out, "; %.1f s\n", seconds);
}

static enum nytp_spy_status write_out(const struct nytp_spy *spy,
                                      const struct nytp_session *session,
                                      const struct nytp_census *census, double seconds)
{
    struct nytp_error error = {0};
    struct nytp_out *const out = nytp_out_open(spy->output == NULL ? "-" : spy->output, &error);
    uint32_t n = 0;
    struct kind *const kinds = kinds_of(spy, census, &n);
    if (out != NULL && kinds != NULL && spy->output != NULL) {
        put_file(out, kinds, n);
    } else if (out != NULL && kinds != NULL) {
        put_head(out, session, census, seconds);
        put_kinds(out, NULL, kinds, n, false);
    }
    free(kinds);
    if (out != NULL)
        nytp_out_close(out, &error);
    return nytp_spy_output_status(spy->output, &error);
}

static enum nytp_spy_status look(const struct nytp_spy *spy, pid_t pid)
{
    static struct nytp_session session;
    struct nytp_census census = {0};
    struct nytp_error error = {0};
    enum nytp_spy_status status = SPY_REFUSED;
    const int64_t began = nytp_spy_now_ns();
    uint64_t work = nytp_memory_work_of(nytp_process_bytes(pid));
    if (!nytp_session_await(&session, spy, pid, &error)) {
        nytp_session_say(spy, &error);
        return SPY_REFUSED;
    }
    nytp_memory_bound(&session.target.memory, &work); /* or a core file's size */
    const struct nytp_interpreter *const of = session.perl.interpreters;
    const uint32_t n_of = session.perl.n_interpreters;
    const bool ok = nytp_census_take(&census, &session.perl, of, n_of, show_progress, &error) &&
                    nytp_find_holders(&census, &session.perl, of, n_of, show_progress);
    end_progress();
    const bool has_ended = spy->core == NULL && !nytp_may_read(&session.target.memory, &error);
    if (has_ended)
        nytp_spy_say("process %d ended while its values were counted", (int)pid);
    else if (ok)
        status = write_out(spy, &session, &census, (double)(nytp_spy_now_ns() - began) / 1e9);
    else
        nytp_spy_say("%s", error.message);
    if (census.holders_given_up)
        nytp_spy_say("what holds some objects is not told: the search for it was too long");
    if (status == SPY_DONE && nytp_session_was_too_much(&session, spy))
        status = SPY_REFUSED;
    nytp_census_free(&census);
    nytp_session_close(&session);
    return status;
}

/* ---- growth ---- */

struct heap_file {
    char *text; /* owned; lines cut into fields */
    struct kind *kinds;
    uint32_t n, capacity;
};

static bool take_line(struct heap_file *file, char *line)
{
    char *fields[5];
    for (int i = 0; i < 5; i++) {
        fields[i] = line == NULL ? NULL : strsep(&line, "\t");
        if (fields[i] == NULL)
            return false;
    }
    if (!nytp_grow(&file->kinds, &file->capacity, file->n, sizeof *file->kinds))
        return false;
    file->kinds[file->n++] = (struct kind){.n = strtoll(fields[0], NULL, 10),
                                           .bytes = strtoll(fields[1], NULL, 10),
                                           .type = fields[2],
                                           .class = fields[3],
                                           .holder = fields[4]};
    return true;
}

static bool read_file(struct heap_file *file, const char *path)
{
    size_t size = 0;
    FILE *const from = fopen(path, "re");
    if (from == NULL) {
        nytp_spy_say("%s: %s", path, strerror(errno));
        return false;
    }
    const ssize_t len = getdelim(&file->text, &size, '\0', from);
    fclose(from);
    char *rest = len > 0 ? file->text : NULL, *line = strsep(&rest, "\n");
    bool ok = line != NULL && strcmp(line, head) == 0;
    for (int n = 2; ok && (line = strsep(&rest, "\n")) != NULL && *line != '\0'; n++)
        if (!take_line(file, line)) {
            nytp_spy_say("%s: line %d is none of nytp spy heap -o", path, n);
            return false;
        }
    if (!ok)
        nytp_spy_say("%s: this is no file of nytp spy heap -o", path);
    return ok;
}

static void free_file(struct heap_file *file)
{
    free(file->kinds);
    free(file->text);
}

/* Returns after - before for each changed kind, or for objects only. */
static struct kind *differences(const struct heap_file *before, const struct heap_file *after,
                                bool objects, uint32_t *n)
{
    struct kind *const kinds = calloc(before->n + after->n + 1u, sizeof *kinds);
    if (kinds == NULL)
        return NULL;
    memcpy(kinds, after->kinds, after->n * sizeof *kinds);
    *n = after->n;
    for (uint32_t i = 0; i < before->n; i++) {
        const struct kind *const old = &before->kinds[i];
        uint32_t at = 0;
        while (at < *n && (strcmp(kinds[at].class, old->class) != 0 ||
                           strcmp(kinds[at].type, old->type) != 0))
            at++;
        if (at == *n)
            kinds[(*n)++] = (struct kind){.type = old->type, .class = old->class, .holder = ""};
        kinds[at].n -= old->n;
        kinds[at].bytes -= old->bytes;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *n; i++)
        if ((kinds[i].n != 0 || kinds[i].bytes != 0) && !(objects && *kinds[i].class == '\0'))
            kinds[kept++] = kinds[i];
    *n = kept;
    qsort(kinds, kept, sizeof *kinds, by_bytes);
    return kinds;
}

static enum nytp_spy_status compare(const struct nytp_spy *spy)
{
    struct heap_file before = {0}, after = {0};
    struct nytp_error error = {0};
    enum nytp_spy_status status = SPY_REFUSED;
    if (read_file(&before, spy->files[0]) && read_file(&after, spy->files[1])) {
        uint32_t n = 0;
        struct kind *const kinds = differences(&before, &after, spy->objects, &n);
        struct nytp_out *const out =
            nytp_out_open(spy->output == NULL ? "-" : spy->output, &error);
        if (out != NULL && n == 0)
            nytp_puts(out, "nothing has changed\n");
        else if (out != NULL && kinds != NULL)
            put_kinds(out, spy->output, kinds, n, true);
        free(kinds);
        if (out != NULL)
            nytp_out_close(out, &error);
        status = nytp_spy_output_status(spy->output, &error);
    }
    free_file(&before);
    free_file(&after);
    return status;
}

enum nytp_spy_status nytp_spy_heap(const struct nytp_spy *spy)
{
    if (spy->n_files == 2)
        return compare(spy);
    if (spy->core == NULL && spy->n_pids != 1) {
        nytp_spy_say("heap looks at one process; %u are named", spy->n_pids);
        return SPY_USAGE;
    }
    return look(spy, spy->core == NULL ? spy->pids[0] : 0);
}
