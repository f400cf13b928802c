/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * --by: what each label of the inputs took (formats/model/label_sums.h), as a table for people
 * or in a format of label_formats.c.
 */
#include "label_formats.h"
#include "load.h"
#include "modes.h"
#include "outputs.h"

#include "exporters/table/sheet.h"

#include "exporters/base/near.h"
#include "formats/base/printable.h"
#include "exporters/base/substitute.h"
#include "exporters/base/text.h"
#include "exporters/base/waits.h"
#include "exporters/select/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- reading ---- */

static struct nytp_str group_value(void *context, struct nytp_str value)
{
    return nytp_substitute_apply(context, value);
}

static enum nytp_label_time time_of(struct nytp_name sub, double seconds, uint64_t calls)
{
    if (strncmp(sub.ptr, "DBI::", 5) == 0 || strncmp(sub.ptr, "DBD::", 5) == 0)
        return NYTP_LABEL_DATABASE;
    return nytp_waits_by_name(sub, calls > 0 ? seconds / (double)calls : seconds)
               ? NYTP_LABEL_WAITING
               : NYTP_LABEL_WORKING;
}

static struct nytp_label_sums *new_sums(const struct run *run)
{
    struct nytp_label_sums *const sums = nytp_label_sums_new();
    if (sums != NULL)
        nytp_label_sums_times(sums, time_of);
    if (sums != NULL && run->cli.group != NULL)
        nytp_label_sums_group(sums, group_value, run->cli.group);
    return sums;
}

static void read_input(struct run *run, struct nytp_sink *sink, const char *path)
{
    struct nytp_error error = {0};
    if (!nytp_cli_read(run, path, true, sink, &error))
        nytp_cli_note_failed(run, path, &error);
}

/* The keys that there are, for who asked for another; each stands in its rows only. */
static void say_keys(const char *key, const struct nytp_label_row *rows, uint32_t n)
{
    char text[400];
    const char *near = NULL;
    unsigned distance = 1 + (unsigned)strlen(key) / 3;
    int len = snprintf(text, sizeof text, "no label %.80s in the input", key);
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && nytp_label_same_key(&rows[i], &rows[i - 1]))
            continue;
        const unsigned d =
            nytp_edit_distance(key, strlen(key), rows[i].key.ptr, rows[i].key.len);
        near = d <= distance ? rows[i].key.ptr : near;
        distance = d < distance ? d : distance;
        if (len > 0 && (size_t)len < sizeof text)
            len += snprintf(text + len, sizeof text - (size_t)len, "%s%.80s",
                            i == 0 ? "; labels are: " : ", ", rows[i].key.ptr);
    }
    if (near != NULL && len > 0 && (size_t)len < sizeof text)
        snprintf(text + len, sizeof text - (size_t)len, "; did you mean %.80s?", near);
    nytp_make_printable(text);
    nytp_cli_say("%s", text);
}

/* Only the rows of the key that is asked for stay; how many. With none all are as they were. */
static uint32_t keep_key(const struct run *run, struct nytp_label_row *rows, uint32_t n)
{
    const char *const key = run->cli.by_key;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (key == NULL || strcmp(rows[i].key.ptr, key) == 0)
            rows[kept++] = rows[i];
    return kept;
}

/* Says that no row stayed. Returns true if that is no failure: none was asked for by name. */
static bool may_be_empty(const struct run *run, const struct nytp_label_row *rows, uint32_t n)
{
    const char *const key = run->cli.by_key;
    if (key != NULL)
        say_keys(key, rows, n);
    else if (!run->cli.quiet)
        nytp_cli_say(
            "no labels in the input: a program sets them with DB::label(KEY => VALUE)");
    return key == NULL;
}

/* ---- writing ---- */

static void write_table(void *context, struct nytp_out *out)
{
    struct nytp_label_table *const table = context;
    const struct nytp_exporter *const exporter = table->run->cli.exporter;
    for (int i = 0; exporter != NULL && i < NYTP_N_FORMS; i++)
        if (strcmp(exporter->name, nytp_form_names[i]) == 0)
            table->run->cli.export.as = (enum nytp_form)i;
    nytp_label_write(table, out);
}

static enum exit_status write_to(struct run *run, write_output_fn *write, void *context)
{
    const char *const output = run->cli.output != NULL ? run->cli.output : "-";
    if (strcmp(output, "-") == 0 && isatty(STDOUT_FILENO))
        nytp_cli_fit_terminal(&run->cli.export);
    return nytp_cli_write_output(output, write, context);
}

/* All inputs together. */
static enum exit_status sum_up(struct run *run, struct nytp_label_sums *sums)
{
    struct nytp_label_table table = {.run = run};
    bool has_memory = true;
    for (int i = 0; i < run->cli.n_files && has_memory; i++) {
        read_input(run, nytp_label_sums_sink(sums), run->cli.files[i]);
        has_memory = nytp_label_sums_end_input(sums);
    }
    struct nytp_label_row *const rows =
        has_memory ? nytp_label_rows_named(sums, &table.n) : NULL;
    enum exit_status status = EXIT_INPUT;
    table.rows = rows;
    table.ticks_per_sec = nytp_label_sums_ticks_per_sec(sums);
    if (rows == NULL) {
        status = nytp_cli_no_memory();
    } else if (run->failed && (run->cli.strict || table.n == 0)) {
        nytp_cli_say_partial(run);
    } else {
        const uint32_t n = table.n;
        table.n = keep_key(run, rows, n);
        if (table.n > 0 || may_be_empty(run, rows, n))
            status = write_to(run, write_table, &table);
    }
    free(rows);
    return status;
}

/* ---- rows ---- */

/* Each recording has sums of its own, since its rows tell its host. */
struct rows_of_recordings {
    struct nytp_sink sink;
    struct run *run;
    struct nytp_out *out;
    struct nytp_label_sums *sums; /* of the current recording; NULL: memory is out */
    uint64_t n;                   /* rows so far */
};

/* Writes the rows of the current recording and starts the next one. */
static bool next_recording(struct rows_of_recordings *all)
{
    struct nytp_label_table table = {.run = all->run};
    struct nytp_label_row *const rows =
        all->sums != NULL && nytp_label_sums_end_input(all->sums)
            ? nytp_label_rows_named(all->sums, &table.n)
            : NULL;
    if (rows != NULL) {
        table.rows = rows;
        table.n = keep_key(all->run, rows, table.n);
        all->n += table.n;
        nytp_label_put_rows(&table, nytp_label_sums_input(all->sums), all->out);
    }
    nytp_label_sums_free(all->sums);
    all->sums = rows != NULL ? new_sums(all->run) : NULL;
    free(rows);
    if (all->sums == NULL)
        nytp_out_of_memory(&all->out->error);
    return all->sums != NULL;
}

static bool rows_event(struct nytp_sink *sink, const struct nytp_event *e)
{
    struct rows_of_recordings *const all = (struct rows_of_recordings *)sink;
    if (e->tag == NYTP_TAG_VERSION && !next_recording(all))
        return false;
    struct nytp_sink *const of_sums = nytp_label_sums_sink(all->sums);
    return of_sums->event(of_sums, e);
}

static void write_rows(void *context, struct nytp_out *out)
{
    struct rows_of_recordings *const all = context;
    struct run *const run = all->run;
    all->sink.event = rows_event;
    all->out = out;
    all->sums = new_sums(run);
    for (int i = 0; i < run->cli.n_files && all->sums != NULL; i++) {
        read_input(run, &all->sink, run->cli.files[i]);
        next_recording(all);
    }
    if (all->sums == NULL)
        nytp_out_of_memory(&out->error);
    nytp_label_sums_free(all->sums);
}

enum exit_status nytp_cli_run_by_label(struct run *run)
{
    enum exit_status status = EXIT_INPUT;
    if (run->cli.exporter != NULL && strcmp(run->cli.exporter->name, "rows") == 0) {
        struct rows_of_recordings all = {.run = run};
        status = write_to(run, write_rows, &all);
        if (status == EXIT_DONE && all.n == 0 && !run->failed && !may_be_empty(run, NULL, 0))
            status = EXIT_INPUT;
    } else {
        struct nytp_label_sums *const sums = new_sums(run);
        status = sums != NULL ? sum_up(run, sums) : nytp_cli_no_memory();
        nytp_label_sums_free(sums);
    }
    if (status != EXIT_DONE)
        return status;
    status = nytp_cli_done(run);
    return run->failed ? EXIT_INPUT : status;
}
