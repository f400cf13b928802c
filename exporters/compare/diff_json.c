/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * A comparison as JSON: totals, and each sub with any difference. Times are numbers of `unit`,
 * exact to the nanosecond, or null if the base has none; p is null if times were not tested.
 */
#include "exporters/base/json.h"
#include "diff_amounts.h"
#include "diff_formats.h"
#include "diff_lines.h"

#define VERSION 1 /* of this layout; grows if the meaning of a field changes */

struct json {
    const struct nytp_diff *diff;
    struct nytp_out *out;
    struct nytp_json_times times;
    struct nytp_diff_lines lines; /* empty unless asked for */
};

static void put_time(const struct json *j, const char *key, int64_t ticks, bool known)
{
    nytp_putc(j->out, ',');
    nytp_json_key(j->out, key);
    if (known)
        nytp_json_time(j->out, &j->times, ticks);
    else
        nytp_puts(j->out, "null");
}

/* Writes the measures that all recordings of the side have. */
static void put_memory(const struct json *j, enum nytp_diff_side side,
                       const struct nytp_diff_cell *cell)
{
    for (int weight = NYTP_MEMORY_FIRST; weight < NYTP_MEMORY_END; weight++)
        if (nytp_diff_side_has(j->diff, side, weight)) {
            nytp_printf(j->out, ",\"%s\":", nytp_measures[weight].name);
            nytp_put_i64(j->out, nytp_diff_value(cell, weight));
        }
}

static bool has_times(const struct json *j, enum nytp_diff_side side)
{
    return side == NYTP_DIFF_NEW ? j->diff->has_times : j->diff->base_has_times;
}

static void put_cell(const struct json *j, enum nytp_diff_side side,
                     const struct nytp_diff_cell *cell)
{
    const bool times = has_times(j, side);
    nytp_puts(j->out, side == NYTP_DIFF_NEW ? ",\"new\":" : ",\"base\":");
    nytp_puts(j->out, "{\"statements\":");
    nytp_put_i64(j->out, cell->statements);
    nytp_puts(j->out, ",\"calls\":");
    nytp_put_i64(j->out, cell->calls);
    nytp_puts(j->out, ",\"ops\":");
    nytp_put_i64(j->out, cell->statements + cell->calls);
    put_time(j, "exclusive", cell->ticks, times);
    put_time(j, "inclusive", cell->incl_ticks, times);
    put_memory(j, side, cell);
    nytp_putc(j->out, '}');
}

static void put_values(const struct json *j, const struct nytp_diff_row *row)
{
    put_cell(j, NYTP_DIFF_BASE, &row->median[NYTP_DIFF_BASE]);
    put_cell(j, NYTP_DIFF_NEW, &row->median[NYTP_DIFF_NEW]);
    nytp_puts(j->out, ",\"p\":");
    if (row->p < 0)
        nytp_puts(j->out, "null");
    else
        nytp_json_double(j->out, row->p);
    nytp_printf(j->out, ",\"significant\":%s,\"runs_differ\":%s",
                row->significant ? "true" : "false", row->varies ? "true" : "false");
}

static void put_line_side(const struct json *j, enum nytp_diff_side side,
                          const struct nytp_diff_cell *mean)
{
    nytp_printf(j->out, ",\"%s\":{\"statements\":%lld", side == NYTP_DIFF_NEW ? "new" : "base",
                (long long)mean->statements);
    put_time(j, "exclusive", mean->ticks, has_times(j, side));
    put_memory(j, side, mean);
    nytp_putc(j->out, '}');
}

static void put_line(const struct json *j, const struct nytp_diff_line *line)
{
    nytp_printf(j->out, "{\"line\":%lu", (unsigned long)line->line);
    put_line_side(j, NYTP_DIFF_BASE, &line->mean[NYTP_DIFF_BASE]);
    put_line_side(j, NYTP_DIFF_NEW, &line->mean[NYTP_DIFF_NEW]);
    nytp_putc(j->out, '}');
}

static void put_lines(const struct json *j, const struct nytp_diff_row *row)
{
    const uint32_t at = (uint32_t)(row - j->diff->rows);
    nytp_puts(j->out, ",\"lines\":[");
    for (uint32_t i = j->lines.first[at]; i < j->lines.first[at + 1]; i++) {
        nytp_puts(j->out, i > j->lines.first[at] ? "," : "");
        put_line(j, &j->lines.lines[i]);
    }
    nytp_putc(j->out, ']');
}

static void put_row(const struct json *j, const struct nytp_diff_row *row,
                    const char *separator)
{
    nytp_printf(j->out, "%s{\"sub\":", separator);
    nytp_json_string(j->out, row->name.ptr, row->name.len);
    nytp_puts(j->out, ",\"file\":");
    nytp_json_string(j->out, row->shown_file.ptr, row->shown_file.len);
    nytp_printf(j->out, ",\"line\":%lu,\"status\":\"%s\"", (unsigned long)row->line,
                nytp_diff_status_names[row->status]);
    if (row->status == NYTP_DIFF_RENAMED) {
        nytp_puts(j->out, ",\"was\":");
        nytp_json_string(j->out, row->was.ptr, row->was.len);
    }
    put_values(j, row);
    if (j->lines.lines != NULL)
        put_lines(j, row);
    nytp_putc(j->out, '}');
}

static void put_inputs(const struct json *j, enum nytp_diff_side side)
{
    const struct nytp_profile *profile = j->diff->profile;
    nytp_printf(j->out, ",\n\"%s_inputs\":[", side == NYTP_DIFF_NEW ? "new" : "base");
    const char *separator = "";
    for (uint32_t i = 0; i < profile->n_recordings; i++) {
        if (j->diff->side_of_recording[i] != side)
            continue;
        nytp_puts(j->out, separator);
        nytp_json_string(j->out, profile->recordings[i].path.ptr,
                         profile->recordings[i].path.len);
        separator = ",";
    }
    nytp_putc(j->out, ']');
}

/* SQL statements are counts, waits are times. */
static void put_amounts(const struct json *j)
{
    struct nytp_diff_amounts amounts;
    if (!nytp_diff_amounts_init(&amounts, j->diff))
        nytp_out_of_memory(&j->out->error);
    for (uint32_t i = 0; i < amounts.n; i++) {
        const struct nytp_diff_amount *const amount = &amounts.list[i];
        nytp_printf(j->out, "%s\n{\"kind\":\"%s\",\"name\":", i > 0 ? "," : ",\n\"besides\":[",
                    nytp_diff_amount_names[amount->kind]);
        nytp_json_string(j->out, amount->name.ptr, amount->name.len);
        for (int side = 0; side < NYTP_DIFF_SIDES; side++) {
            nytp_puts(j->out, side == NYTP_DIFF_NEW ? ",\"new\":" : ",\"base\":");
            if (amount->kind == NYTP_DIFF_WAIT)
                nytp_json_time(j->out, &j->times, amount->median[side]);
            else
                nytp_put_i64(j->out, amount->median[side]);
        }
        nytp_putc(j->out, '}');
    }
    nytp_puts(j->out, amounts.n > 0 ? "]" : "");
    nytp_diff_amounts_free(&amounts);
}

bool nytp_diff_write_json(const struct nytp_diff *diff,
                          const struct nytp_export_options *options, struct nytp_out *out)
{
    const struct nytp_unit *unit = options->unit != NULL ? options->unit : nytp_unit_find("ns");
    struct json j = {.diff = diff, .out = out};
    if (!nytp_diff_lines_asked(&j.lines, diff, options)) {
        nytp_diff_lines_free(&j.lines);
        return nytp_out_of_memory(&out->error);
    }
    nytp_json_times_init(&j.times, unit, diff->ticks_per_sec);
    nytp_printf(out, "{\"nytp_diff\":%d,\"unit\":\"%s\",\"base_runs\":%lu,\"new_runs\":%lu",
                VERSION, unit->long_name, (unsigned long)diff->n_runs[NYTP_DIFF_BASE],
                (unsigned long)diff->n_runs[NYTP_DIFF_NEW]);
    put_inputs(&j, NYTP_DIFF_BASE);
    put_inputs(&j, NYTP_DIFF_NEW);
    char answer[240];
    nytp_diff_answer(diff, answer, sizeof answer);
    nytp_puts(out, ",\n\"answer\":");
    nytp_json_text(out, answer);
    nytp_puts(out, ",\n\"notes\":[");
    for (uint32_t i = 0; i < diff->n_notes; i++) {
        nytp_puts(out, i > 0 ? "," : "");
        nytp_json_text(out, diff->notes[i]);
    }
    nytp_puts(out, "],\n\"total\":{\"subs\":");
    nytp_put_u64(out, diff->n_rows);
    nytp_puts(out, ",\"tested\":");
    nytp_put_u64(out, diff->n_tested);
    put_values(&j, &diff->total);
    nytp_puts(out, "},\n\"diff\":[");
    const char *separator = "\n";
    for (uint32_t i = 0; i < diff->n_rows; i++) {
        if (!nytp_diff_row_differs(diff, &diff->rows[i]))
            continue;
        put_row(&j, &diff->rows[i], separator);
        separator = ",\n";
    }
    nytp_putc(out, ']');
    put_amounts(&j);
    nytp_puts(out, "}\n");
    nytp_diff_lines_free(&j.lines);
    return out->error.status == NYTP_OK;
}
