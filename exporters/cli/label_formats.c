/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * --by=label for programs; see label_formats.h. Times are in the unit of --unit, ns unless
 * given.
 */
#include "label_formats.h"

#include "exporters/base/json.h"
#include "exporters/stacks/stack_rows.h"
#include "exporters/table/sheet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool nytp_label_same_key(const struct nytp_label_row *a, const struct nytp_label_row *b)
{
    return nytp_compare_names(a->key, b->key) == 0;
}

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
    struct nytp_label_table *const table = (struct nytp_label_table *)sheet->context;
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

static struct nytp_sheet sheet_of(struct nytp_label_table *table)
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
static uint32_t put_by_key(struct nytp_label_table *table, struct nytp_sheet *sheet,
                           uint32_t (*write)(const struct nytp_sheet *, struct nytp_out *),
                           struct nytp_out *out)
{
    const struct nytp_label_row *const rows = table->rows;
    uint32_t n = 0;
    for (uint32_t first = 0, next = 0; first < table->n && n == first; first = next) {
        while (next < table->n && nytp_label_same_key(&rows[next], &rows[first]))
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

static void put_markdown(struct nytp_label_table *table, struct nytp_out *out)
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
static void show_columns(const struct nytp_label_table *table, struct nytp_sheet *sheet)
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

static void put_text(struct nytp_label_table *table, struct nytp_out *out)
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
    if (table->n > 0)
        nytp_puts(out, "\ntimes as recorded: what recording cost is in them\n");
}

void nytp_label_write(struct nytp_label_table *table, struct nytp_out *out)
{
    struct nytp_sheet sheet = sheet_of(table);
    if (sheet.options->as == NYTP_FORM_MARKDOWN)
        put_markdown(table, out);
    else if (!nytp_sheets_put(&sheet, 1, out))
        put_text(table, out);
}

/* ---- rows for ClickHouse and other engines ---- */

static void put_member(struct nytp_out *out, const char *key, struct nytp_name text)
{
    nytp_json_key(out, key);
    nytp_json_string(out, text.ptr, text.len);
    nytp_putc(out, ',');
}

void nytp_label_put_rows(const struct nytp_label_table *table, struct nytp_label_input input,
                         struct nytp_out *out)
{
    const struct nytp_export_options *const options = &table->run->cli.export;
    for (uint32_t i = 0; i < table->n; i++) {
        const struct nytp_label_row *const row = &table->rows[i];
        for (uint32_t l = 0; l < row->n_lengths; l++) {
            nytp_putc(out, '{');
            put_member(out, "host", nytp_given_label(options, "host", input.host));
            put_member(out, "service", nytp_given_label(options, "service", nytp_name_of_text("")));
            put_member(out, "release", nytp_given_label(options, "release", nytp_name_of_text("")));
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
