/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The regular expressions with the most time, as a table for the terminal: what was matched
 * where, how often, how long, and a hint for improvement.
 */
#include "exporters/base/regex_rows.h"
#include "exporters/base/text.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_ROWS 20
#define NARROW       140 /* narrower terminals get only the most important columns */
#define FIXED        76  /* columns before the place */
#define FIXED_NARROW 36
#define LEAST        16 /* columns of a pattern */

struct layout {
    bool has_calls;          /* samples have no calls */
    uint32_t place, pattern; /* columns; 0: no limit */
};

static struct layout layout_of(const struct nytp_profile *profile, uint32_t columns)
{
    const bool is_narrow = columns > 0 && columns < NARROW;
    const bool has_calls = !is_narrow && !profile->sampled;
    const uint32_t place = is_narrow ? 24 : 32;
    const uint32_t used = (has_calls ? FIXED : FIXED_NARROW) + place + 1;
    return (struct layout){has_calls, place,
                           columns == 0             ? 0
                           : columns > used + LEAST ? columns - used - 1
                                                    : LEAST};
}

static void put_time(struct nytp_out *out, const struct nytp_export_options *options,
                     uint64_t ns)
{
    nytp_text_time(out, (int64_t)ns, NYTP_NS_PER_SEC, options->unit, 10);
    nytp_putc(out, ' ');
}

static void put_place(struct nytp_out *out, const struct nytp_profile *profile,
                      const struct nytp_regex *sums, uint32_t columns)
{
    char buffer[400];
    const struct nytp_name place =
        nytp_text_place(profile, sums->file, sums->line, buffer, sizeof buffer);
    const uint32_t width = nytp_text_put_tail(out, place, columns);
    nytp_text_pad(out, width < columns ? columns - width + 1 : 1);
}

static void put_pattern(struct nytp_out *out, const struct nytp_regex_row *row,
                        uint32_t columns)
{
    char more[40] = "";
    if (row->n_patterns > 1)
        snprintf(more, sizeof more, " and %llu more", (unsigned long long)row->n_patterns - 1);
    const uint32_t used = (uint32_t)strlen(more);
    nytp_text_put(out, row->sums.pattern,
                  columns == 0         ? 0
                  : columns > used + 4 ? columns - used
                                       : 4);
    nytp_puts(out, more);
}

static void put_row(struct nytp_out *out, const struct nytp_profile *profile,
                    const struct nytp_export_options *options, const struct layout *layout,
                    const struct nytp_regex_row *row)
{
    const struct nytp_regex *const sums = &row->sums;
    const bool is_compile = sums->kind == NYTP_REGEX_COMPILE;
    char remark[100];
    nytp_regex_remark(row, remark);
    put_time(out, options, sums->total_ns);
    nytp_text_percent(out, (int64_t)sums->total_ns, nytp_total_ns(profile));
    nytp_printf(out, " %8llu ", (unsigned long long)sums->calls);
    if (layout->has_calls) {
        nytp_printf(out, "%8llu ",
                    (unsigned long long)(is_compile ? sums->compiled : sums->matches));
        put_time(out, options, sums->calls > 0 ? sums->total_ns / sums->calls : 0);
        put_time(out, options, sums->max_ns);
        nytp_printf(out, "%8llu ", (unsigned long long)sums->max_len);
    }
    nytp_printf(out, "%-7s ", nytp_regex_kind_names[sums->kind]);
    put_place(out, profile, sums, layout->place);
    put_pattern(out, row, layout->pattern);
    nytp_putc(out, '\n');
    if (*remark == '\0')
        return;
    nytp_text_style(out, options->color, NYTP_STYLE_HOT);
    nytp_printf(out, "           ^ %s", remark);
    nytp_text_style(out, options->color, NYTP_STYLE_PLAIN);
    nytp_putc(out, '\n');
}

static bool write_patterns(const struct nytp_profile *profile,
                           const struct nytp_export_options *options, struct nytp_out *out)
{
    struct nytp_regex_rows rows;
    if (!nytp_regex_rows_init(&rows, profile))
        nytp_out_of_memory(&out->error);
    const struct layout layout = layout_of(profile, options->columns);
    const uint32_t wanted = options->top > 0 ? options->top : DEFAULT_ROWS;
    nytp_text_headline(out, profile, options);
    if (rows.n == 0)
        nytp_puts(out, "No regular expression was recorded; NYTPROF=regex=1 does that.\n");
    nytp_text_style(out, options->color, NYTP_STYLE_BOLD);
    nytp_printf(out, "      time      %%  %s %sop      %-*s pattern",
                profile->sampled ? "samples" : "  calls",
                layout.has_calls ? "   found       mean    longest of bytes " : "",
                (int)layout.place, "place");
    nytp_text_style(out, options->color, NYTP_STYLE_PLAIN);
    nytp_putc(out, '\n');
    for (uint32_t i = 0; i < rows.n && i < wanted; i++)
        put_row(out, profile, options, &layout, &rows.rows[i]);
    if (rows.n > wanted)
        nytp_printf(out, "%lu more\n", (unsigned long)(rows.n - wanted));
    nytp_regex_rows_free(&rows);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_patterns = {
    .name = "patterns",
    .title =
        "regular expressions with the most time, in the terminal; of recordings with regex=1",
    .suffixes = "",
    .adds_processes = true,
    .write = write_patterns,
    .no_diff = "it has no runs to compare; use --top",
};
