/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The subs with the most time, as a table for the terminal. The last line sums up what is left
 * out, so that the self column always adds up to the total.
 */
#include "exporters/compare/diff_formats.h"
#include "exporters/base/exporter.h"
#include "exporters/stacks/hot_lines.h"
#include "exporters/stacks/spread.h"
#include "exporters/stacks/sub_rows.h"
#include "exporters/base/columns.h"
#include "exporters/base/waits.h"

#include "formats/build/correct/correction.h"

#define MIN_NAME     16  /* least columns for a name, and for a place */
#define MOST_ALIGNED 200 /* in a file, places are aligned behind names up to this width */
#define HOT_PERCENT  10  /* of the total: subs with more exclusive time are coloured */

struct top {
    struct nytp_sub_rows subs;
    void (*fill)(const struct nytp_sheet *sheet, uint32_t row, struct nytp_cell *cells);
    uint32_t name_width;
};

static struct nytp_name place_of(const struct nytp_sheet *sheet, const struct nytp_sub *sub,
                                 char *buffer, size_t size)
{
    return nytp_text_place_in(sheet->profile, sub->file, sub->first_line,
                              sheet->options->columns, buffer, size);
}

/* Returns the width for names: the longest name, or the terminal's width minus a place. In a
 * file names are whole, and one enormous name does not push all places away. */
static uint32_t name_columns(const struct nytp_sheet *sheet)
{
    const uint32_t fixed = nytp_sheet_fixed(sheet), columns = sheet->options->columns;
    uint32_t longest = 4, longest_place = MIN_NAME;
    char buffer[4096];
    for (uint32_t i = 0; i < sheet->n && i < sheet->wanted; i++) {
        const struct nytp_sub *const sub = &sheet->profile->subs[sheet->rows[i]];
        const uint32_t width = nytp_text_width(sub->name);
        const uint32_t place = nytp_text_width(place_of(sheet, sub, buffer, sizeof buffer));
        longest = width > longest ? width : longest;
        longest_place = place > longest_place ? place : longest_place;
    }
    if (columns == 0)
        return longest < MOST_ALIGNED ? longest : MOST_ALIGNED;
    const uint32_t left = columns > fixed + MIN_NAME ? columns - fixed : MIN_NAME;
    const uint32_t place = longest_place + 2 < left / 2 ? longest_place + 2 : left / 3;
    const uint32_t most = left > 2 * MIN_NAME + 2 ? left - place : left;
    return longest < most ? longest : most;
}

/* Drops leading packages until the name fits. */
static struct nytp_name in_room(struct nytp_name name, uint32_t columns)
{
    uint32_t width = nytp_text_width(name), begin = 0;
    for (uint32_t i = 0; width > columns && i + 2 < name.len && name.ptr[i] != '['; i++) {
        if (name.ptr[i] != ':' || name.ptr[i + 1] != ':')
            continue;
        i++;
        width -= nytp_text_width((struct nytp_name){name.ptr + begin, i + 1 - begin});
        begin = i + 1;
    }
    return (struct nytp_name){name.ptr + begin, name.len - begin};
}

/* Writes the name and, if it fits, the place. */
static void put_name(const struct nytp_sheet *sheet, uint32_t row, uint32_t pad, uint32_t room,
                     struct nytp_out *out)
{
    const struct top *const top = sheet->context;
    const struct nytp_sub *const sub = &sheet->profile->subs[row];
    const bool color = sheet->options->color, whole = room == 0;
    const uint32_t used = nytp_sheet_fixed(sheet) + top->name_width + 2;
    char buffer[4096];
    nytp_text_pad(out, pad);
    nytp_text_style(out, color,
                    sub->excl_ticks > sheet->profile->total.ticks / 100 * HOT_PERCENT
                        ? NYTP_STYLE_HOT
                        : NYTP_STYLE_PLAIN);
    const uint32_t width =
        nytp_text_put_tail(out, whole ? sub->name : in_room(sub->name, top->name_width),
                           whole ? 0 : top->name_width);
    nytp_text_style(out, color, NYTP_STYLE_PLAIN);
    const struct nytp_name place = place_of(sheet, sub, buffer, sizeof buffer);
    if (place.len == 0 || (!whole && sheet->options->columns < used + MIN_NAME))
        return;
    nytp_text_pad(out, width < top->name_width ? top->name_width - width + 2 : 2);
    nytp_text_style(out, color, NYTP_STYLE_DIM);
    nytp_text_put_tail(out, place, whole ? 0 : sheet->options->columns - used);
    nytp_text_style(out, color, NYTP_STYLE_PLAIN);
}

/* Marks times of subs whose recording cost exceeds the rest, unless both are negligible. */
static void fill(const struct nytp_sheet *sheet, uint32_t row, struct nytp_cell *cells)
{
    const struct top *const top = sheet->context;
    const double rest = (double)sheet->profile->subs[row].excl_ticks,
                 cost = top->subs.costs[row];
    top->fill(sheet, row, cells);
    cells[NYTP_SUB_SELF].is_about = sheet->unit == NULL && cost > rest &&
                                    (cost + rest) * 100 > (double)sheet->profile->total.ticks;
}

/* Returns, by sub, the waits in it or below. Returns NULL if they are less than a percent of
 * the whole, the terminal has no room, or on failure, with out->error set. */
static int64_t *waits_to_show(const struct nytp_profile *profile,
                              const struct nytp_export_options *options, struct nytp_out *out)
{
    struct nytp_waits waits;
    int64_t *by_sub = NULL;
    const bool room = !nytp_text_is_narrow(options->columns);
    const bool known = nytp_waits_init(&waits, profile, options->waits, &out->error);
    if (known && room && waits.ticks > 0 && waits.ticks >= profile->total.ticks / 100) {
        by_sub = nytp_inclusive_waits(profile, &waits);
        if (by_sub == NULL)
            nytp_out_of_memory(&out->error);
    }
    nytp_waits_free(&waits);
    return by_sub;
}

static void explain_mark(const struct nytp_sheet *sheet, struct nytp_out *out)
{
    struct nytp_cell cells[NYTP_MOST_COLUMNS];
    for (uint32_t i = 0; i < sheet->n && i < sheet->wanted; i++) {
        nytp_sheet_cells(sheet, i, cells);
        if (!cells[NYTP_SUB_SELF].is_about)
            continue;
        nytp_puts(out, "~ recording took more than is left: NYTPROF=sample=1000 is nearer\n");
        return;
    }
}

/* Where waits and memory leave no room for names, other numbers go. */
static void show_columns(struct nytp_sub_rows *subs)
{
    struct nytp_sheet *const sheet = &subs->sheet;
    const uint32_t columns = sheet->options->columns;
    const bool of_samples = subs->samples != NULL;
    const bool has_times = nytp_profile_has(sheet->profile, NYTP_WEIGHT_TIME);
    const char *const sort = sheet->options->sort;
    nytp_sheet_show(sheet, NYTP_SUB_STATEMENTS, !has_times);
    nytp_sheet_show(sheet, NYTP_SUB_SELF, true);
    nytp_sheet_show(sheet, NYTP_SUB_SELF_SHARE, true);
    nytp_sheet_show(sheet, NYTP_SUB_INCL, true);
    nytp_sheet_show(sheet, NYTP_SUB_INCL_SHARE, true);
    nytp_sheet_show(sheet, of_samples ? NYTP_SUB_SAMPLES : NYTP_SUB_CALLS, true);
    nytp_sheet_show(sheet, NYTP_SUB_PER_CALL, !of_samples);
    nytp_sheet_show(sheet, NYTP_SUB_CPU, sheet->profile->sampled);
    nytp_sheet_show(sheet, NYTP_SUB_WAIT, subs->waits != NULL);
    nytp_sheet_show(sheet, NYTP_SUB_OPS,
                    !has_times || (sort != NULL && strcmp(sort, "ops") == 0));
    nytp_sub_rows_show_memory(subs, nytp_text_memory_columns(sheet->profile, sort));
    nytp_sheet_show(sheet, NYTP_SUB_NAME, true);
    nytp_sheet_show(sheet, NYTP_SUB_PLACE, true);
    sheet->is_narrow = nytp_text_is_narrow(columns) ||
                       (columns > 0 && columns <= nytp_sheet_fixed(sheet) + MIN_NAME);
}

static bool top_write(const struct nytp_profile *profile,
                      const struct nytp_export_options *options, struct nytp_out *out)
{
    const uint32_t wanted = nytp_wanted_rows(options);
    if (options->lines || options->spread) {
        if (options->as == NYTP_FORM_TEXT)
            nytp_text_headline(out, profile, options);
        return options->lines ? nytp_put_hot_lines(profile, options, wanted, out)
                              : nytp_put_spread(profile, options, wanted, out);
    }
    struct top top;
    struct nytp_sheet *const sheet = &top.subs.sheet;
    bool ok = nytp_sub_rows_init(&top.subs, profile, options);
    top.fill = sheet->fill;
    top.subs.costs = nytp_recording_by_sub(profile);
    top.subs.waits = waits_to_show(profile, options, out);
    ok = ok && top.subs.costs != NULL && nytp_sub_rows_sort(&top.subs, options->sort);
    if (ok) {
        sheet->fill = fill;
        sheet->tail = put_name;
        show_columns(&top.subs);
        top.name_width = name_columns(sheet);
    }
    if (!ok) {
        nytp_out_of_memory(&out->error);
    } else if (!nytp_sheets_put(sheet, 1, out)) {
        nytp_text_headline(out, profile, options);
        nytp_sheet_put_text(sheet, out);
        explain_mark(sheet, out);
    }
    nytp_sub_rows_free(&top.subs);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_top = {
    .name = "top",
    .title = "subs with the most time, for the terminal",
    .shows_counts = true,
    .needs = NYTP_HAS_ARCS,
    .write_diff = nytp_diff_write_table,
    .adds_processes = true,
    .write = top_write,
    .takes = "as lines no-source-files sort source-files spread unit wait",
    .takes_diff = "lines no-source-files source-files weight",
    .options = NYTP_OPTIONS(NYTP_OWN_OPTION(
        "top", ROWS, top, "[=N]", "the N subs with the most time, default 20; 0 is all")),
};
