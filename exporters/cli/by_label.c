/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * --by: what each label of the inputs took (formats/model/label_sums.h), as a table, or as rows
 * for other programs. Times are in the unit of --unit, for programs ns unless given.
 */
#include "load.h"
#include "modes.h"
#include "outputs.h"

#include "exporters/base/json.h"
#include "exporters/base/waits.h"
#include "exporters/select/sandbox.h"
#include "exporters/stacks/stack_rows.h"
#include "exporters/table/sheet.h"

#include "formats/base/edit_distance.h"
#include "formats/base/printable.h"
#include "formats/model/label_sums.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows of one or several keys; those of a key stand together. */
struct label_table {
    struct run *run;
    const struct nytp_label_row *rows;
    uint32_t n;
    int64_t ticks_per_sec; /* for --unit=ticks */
    bool is_corrected;     /* what recording cost is subtracted */
    char place[400];       /* for sub_and_place() */
};

static bool same_key(const struct nytp_label_row *a, const struct nytp_label_row *b)
{
    return nytp_compare_names(a->key, b->key) == 0;
}

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
    struct nytp_label_sums *const sums = nytp_label_sums_new(run->cli.as_recorded);
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
        if (i > 0 && same_key(&rows[i], &rows[i - 1]))
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

/* ---- the table ---- */

/* A damaged file may tell any time, which is cut at 9e18. */
static int64_t ns_of(double seconds)
{
    const double ns = seconds * NYTP_NS_PER_SEC + 0.5, most = 9e18;
    return !(ns > -most) ? (int64_t)-most : ns < most ? (int64_t)ns : (int64_t)most;
}

enum {
    KEY,
    VALUE,
    N,
    TOTAL,
    MEDIAN,
    P95,
    MAX,
    MAX_FILE,
    SLOWEST,
    OWN,
    DATABASE,
    WAITING,
    FILE_NAME,
    LINE,
    MEMORY,
    SVS,
    N_FIELDS,
    /* for people */
    DATABASE_SHARE = N_FIELDS,
    WAITING_SHARE,
    SLOWEST_AT,
    N_COLUMNS
};

static const struct nytp_column columns[] = {
    [KEY] = {"key", "key", NYTP_CELL_CODE},
    [VALUE] = {"value", "value", NYTP_CELL_CODE, .gap = 1},
    [N] = {"n", "n", NYTP_CELL_COUNT, 8, 8},
    [TOTAL] = {"total", "total", NYTP_CELL_NS, 11},
    [MEDIAN] = {"median", "median", NYTP_CELL_NS, 11, 11},
    [P95] = {"p95", "p95", NYTP_CELL_NS, 11, 11},
    [MAX] = {"max", "max", NYTP_CELL_NS, 11},
    [MAX_FILE] = {"max_file", "slowest in  ", NYTP_CELL_CODE, .gap = 1, .words = "slowest in"},
    [SLOWEST] = {"slowest_sub", "slowest sub", NYTP_CELL_CODE},
    [OWN] = {"slowest_sub_own", "own", NYTP_CELL_NS, 11, .dashes_zero = true},
    [DATABASE] = {"database", "database", NYTP_CELL_NS},
    [WAITING] = {"waiting", "waiting", NYTP_CELL_NS},
    [FILE_NAME] = {"file", "file", NYTP_CELL_CODE},
    [LINE] = {"line", "line", NYTP_CELL_COUNT},
    [MEMORY] = {"memory_grown", "rss +", NYTP_CELL_BYTES, 10, 10},
    [SVS] = {"svs_grown", "svs +", NYTP_CELL_COUNT, 10, 10},
    [DATABASE_SHARE] = {"", "db", NYTP_CELL_SHARE, 7},
    [WAITING_SHARE] = {"", "wait", NYTP_CELL_SHARE, 7},
    [SLOWEST_AT] = {"", "slowest sub ", NYTP_CELL_CODE, 1, 1, .gap = 1},
};

/* "main::work a.pl:7" */
static struct nytp_name sub_and_place(const struct nytp_label_row *row, char *buffer,
                                      size_t size)
{
    const struct nytp_name file = nytp_base_name(row->slowest_file);
    size_t len =
        (size_t)snprintf(buffer, size, "%s", row->slowest.len > 0 ? row->slowest.ptr : "-");
    if (row->slowest_line > 0 && len < size)
        len += (size_t)snprintf(buffer + len, size - len, " %.*s:%lu", (int)file.len, file.ptr,
                                (unsigned long)row->slowest_line);
    return (struct nytp_name){buffer, (uint32_t)(len < size ? len : size - 1)};
}

static void fill(const struct nytp_sheet *sheet, uint32_t index, struct nytp_cell *cells)
{
    struct label_table *const table = (struct label_table *)sheet->context;
    const struct nytp_label_row *const row = &table->rows[index];
    const int64_t total = ns_of(row->total_s);
    const struct nytp_cell known[] = {
        [KEY] = {.text = row->key},
        [VALUE] = {.text = row->value},
        [N] = {.value = (int64_t)row->n},
        [TOTAL] = {.value = total},
        [MEDIAN] = {.value = ns_of(row->median_s)},
        [P95] = {.value = ns_of(row->p95_s)},
        [MAX] = {.value = ns_of(row->max_s)},
        [MAX_FILE] = {.text = nytp_name_of_text(table->run->cli.files[row->max_input])},
        [SLOWEST] = {.text = row->slowest},
        [OWN] = {.value = ns_of(row->slowest_s)},
        [DATABASE] = {.value = ns_of(row->database_s)},
        [WAITING] = {.value = ns_of(row->waiting_s)},
        [FILE_NAME] = {.text = row->slowest_file},
        [LINE] = {.value = row->slowest_line},
        [MEMORY] = {.value = row->memory_bytes, .is_none = !row->knows_memory},
        [SVS] = {.value = row->svs, .is_none = !row->knows_svs},
        [DATABASE_SHARE] = {.value = ns_of(row->database_s), .of = total},
        [WAITING_SHARE] = {.value = ns_of(row->waiting_s), .of = total},
        [SLOWEST_AT] = {.text = sub_and_place(row, table->place, sizeof table->place)},
    };
    memcpy(cells, known, sizeof known);
}

static struct nytp_sheet sheet_of(struct label_table *table)
{
    struct nytp_sheet sheet = nytp_sheet_of(NULL, &table->run->cli.export, columns, N_COLUMNS);
    sheet.name = "labels";
    sheet.n_shown = N_FIELDS;
    sheet.ticks_per_sec = table->ticks_per_sec;
    sheet.context = table;
    sheet.n = sheet.wanted = table->n;
    sheet.fill = fill;
    return sheet;
}

/* Each key has a table. Calls `write` with rows of one key, which returns how many it wrote.
 * Returns the sum. */
static uint32_t put_by_key(struct label_table *table, struct nytp_sheet *sheet,
                           uint32_t (*write)(const struct nytp_sheet *, struct nytp_out *),
                           struct nytp_out *out)
{
    const struct nytp_label_row *const rows = table->rows;
    uint32_t n = 0;
    for (uint32_t first = 0, next = 0; first < table->n && n == first; first = next) {
        while (next < table->n && same_key(&rows[next], &rows[first]))
            next++;
        table->rows = &rows[first];
        sheet->n = sheet->wanted = next - first;
        sheet->columns[VALUE].title = rows[first].key.ptr;
        nytp_puts(out, first > 0 ? "\n" : "");
        n += write(sheet, out);
    }
    table->rows = rows;
    return n;
}

static void put_markdown(struct label_table *table, struct nytp_out *out)
{
    static const uint8_t shown[] = {VALUE, N, TOTAL, MEDIAN, P95, MAX, SLOWEST};
    struct nytp_sheet sheet = sheet_of(table);
    nytp_sheet_show_only(&sheet, shown, sizeof shown);
    const uint32_t n = put_by_key(table, &sheet, nytp_sheet_put_markdown, out);
    if (n < table->n)
        nytp_printf(out, "\n%lu more labels\n", (unsigned long)(table->n - n));
}

/* ---- for the terminal ---- */

enum {
    NARROW = 120, /* columns of a terminal */
    MOST_NAME = 40,
    LEAST_NAME = 12,
};

static uint32_t put_rows_of_key(const struct nytp_sheet *sheet, struct nytp_out *out)
{
    nytp_sheet_put_text(sheet, out);
    return sheet->n;
}

/* A narrow terminal has no room for sums and files, and cuts names. */
static void show_columns(const struct label_table *table, struct nytp_sheet *sheet)
{
    const uint32_t columns = sheet->options->columns;
    bool has_database = false, has_waiting = false, has_memory = false, has_svs = false;
    for (uint32_t i = 0; i < table->n; i++) {
        has_database |= table->rows[i].database_s > 0;
        has_waiting |= table->rows[i].waiting_s > 0;
        has_memory |= table->rows[i].knows_memory;
        has_svs |= table->rows[i].knows_svs;
    }
    sheet->is_narrow = columns > 0 && columns < NARROW;
    sheet->n_shown = 0;
    for (unsigned i = N; i <= MAX; i++)
        nytp_sheet_show(sheet, i, true);
    nytp_sheet_show(sheet, OWN, true);
    nytp_sheet_show(sheet, DATABASE_SHARE, has_database);
    nytp_sheet_show(sheet, WAITING_SHARE, has_waiting);
    nytp_sheet_show(sheet, MEMORY, has_memory);
    nytp_sheet_show(sheet, SVS, has_svs);
    nytp_sheet_show(sheet, SLOWEST_AT, true);
    nytp_sheet_show(sheet, MAX_FILE, table->run->cli.n_files > 1 && !sheet->is_narrow);
    nytp_sheet_show(sheet, VALUE, true);
}

static void put_text(struct label_table *table, struct nytp_out *out)
{
    struct nytp_sheet sheet = sheet_of(table);
    const uint32_t columns = sheet.options->columns;
    show_columns(table, &sheet);
    nytp_sheet_fit(&sheet, MAX_FILE, MOST_NAME);
    sheet.columns[MAX_FILE].is_cut = sheet.columns[SLOWEST_AT].is_cut = columns > 0;
    const uint32_t fixed = nytp_sheet_fixed(&sheet) - 2;
    const uint32_t left = columns > fixed + 2 * LEAST_NAME ? columns - fixed : 2 * LEAST_NAME;
    const uint32_t most = columns > 0 && left / 2 - 1 < MOST_NAME ? left / 2 - 1 : MOST_NAME;
    nytp_sheet_fit(&sheet, SLOWEST_AT, most);
    put_by_key(table, &sheet, put_rows_of_key, out);
    if (table->n > 0 && !table->is_corrected)
        nytp_puts(out, "\ntimes as recorded: what recording cost is in them\n");
}

static void write_table(void *context, struct nytp_out *out)
{
    struct label_table *const table = context;
    struct nytp_export_options *const options = &table->run->cli.export;
    const struct nytp_exporter *const exporter = table->run->cli.exporter;
    for (int i = 0; exporter != NULL && i < NYTP_N_FORMS; i++)
        if (strcmp(exporter->name, nytp_form_names[i]) == 0)
            options->as = (enum nytp_form)i;
    struct nytp_sheet sheet = sheet_of(table);
    if (options->as == NYTP_FORM_MARKDOWN)
        put_markdown(table, out);
    else if (!nytp_sheets_put(&sheet, 1, out))
        put_text(table, out);
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
    struct label_table table = {.run = run};
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
    table.is_corrected = nytp_label_sums_are_corrected(sums);
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

/* ---- rows for ClickHouse and other engines ---- */

static void put_member(struct nytp_out *out, const char *key, struct nytp_name text)
{
    nytp_json_key(out, key);
    nytp_json_string(out, text.ptr, text.len);
    nytp_putc(out, ',');
}

/* A JSON line for each length of each label of one recording. */
static void put_rows(const struct label_table *table, struct nytp_label_input input,
                     struct nytp_out *out)
{
    const struct nytp_export_options *const options = &table->run->cli.export;
    for (uint32_t i = 0; i < table->n; i++) {
        const struct nytp_label_row *const row = &table->rows[i];
        for (uint32_t l = 0; l < row->n_lengths; l++) {
            nytp_putc(out, '{');
            put_member(out, "host", nytp_given_label(options, "host", input.host));
            put_member(out, "service",
                       nytp_given_label(options, "service", nytp_name_of_text("")));
            put_member(out, "release",
                       nytp_given_label(options, "release", nytp_name_of_text("")));
            put_member(out, "application", input.application);
            put_member(out, "label_key", row->key);
            put_member(out, "label_value", row->value);
            put_member(out, "slowest_sub", row->slowest);
            nytp_printf(out, "\"start\":%lld,\"n\":%llu,\"ns\":%lld}\n",
                        strtoll(input.basetime.ptr, NULL, 10),
                        (unsigned long long)row->lengths[l].n,
                        (long long)ns_of(row->lengths[l].seconds));
        }
    }
}

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
    struct label_table table = {.run = all->run};
    struct nytp_label_row *const rows =
        all->sums != NULL && nytp_label_sums_end_input(all->sums)
            ? nytp_label_rows_named(all->sums, &table.n)
            : NULL;
    if (rows != NULL) {
        table.rows = rows;
        table.n = keep_key(all->run, rows, table.n);
        all->n += table.n;
        put_rows(&table, nytp_label_sums_input(all->sums), all->out);
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
