/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Any bytes as a profile, written as an HTML report: folder and single file, evals merged or
 * not. Whatever the profile's names are, the single file holds the two scripts that are ours
 * and no more, is valid UTF-8 and has no control characters. What recording cost is taken off
 * both the model and the summary, with costs that the input need not tell: sums still hold
 * then.
 */
#include "exporters/cli/report_input.h"
#include "exporters/base/exporter.h"
#include "exporters/select/select.h"
#include "formats/build/build.h"
#include "formats/by_position/corrected_summary.h"
#include "formats/stream/format.h"
#include "formats/model/profile.h"
#include "formats/stream/source.h"
#include "formats/base/strings.h"

#include <stdlib.h>
#include <string.h>

extern const struct nytp_exporter nytp_exporter_html;

/* Reads the bytes into both sinks; false when there is nothing to report. */
static bool load(const uint8_t *data, size_t size, struct nytp_summary *summary,
                 struct nytp_profile **profile)
{
    struct nytp_error error = {0}, read_error = {0};
    struct nytp_read_options read_options = {0};
    struct nytp_source *source = nytp_source_memory(data, size, &error);
    struct nytp_builder *builder =
        nytp_builder_new(&(struct nytp_build_options){.as_recorded = true}, "x", &error);
    summary->keep_rolls = size % 4 != 0;
    if (source == NULL || builder == NULL)
        abort();
    struct nytp_tee tee;
    nytp_tee_init(&tee, &summary->sink, nytp_builder_sink(builder));
    const bool whole = nytp_read(source, &read_options, &tee.sink, &read_error);
    nytp_source_free(source);
    *profile = nytp_builder_finish(builder, whole ? NULL : &read_error, &error);
    summary->error = (struct nytp_error){0};
    return nytp_summary_finish(summary);
}

/* Sum of a level's times; none may be negative that was not before (*negative of them were). */
static int64_t sum_of(const struct nytp_summary *summary, enum nytp_level level,
                      uint64_t *negative)
{
    int64_t sum = 0;
    *negative = 0;
    for (uint32_t f = 0; f < summary->n_files; f++)
        for (uint32_t line = 0; line < summary->files[f].times[level].n; line++) {
            const int64_t ticks = summary->files[f].times[level].at[line].ticks;
            sum += ticks;
            *negative += ticks < 0;
        }
    return sum;
}

static void correct(struct nytp_profile *profile, struct nytp_summary *summary, size_t size)
{
    uint64_t negative, negative_after;
    struct nytp_error error = {0};
    for (uint32_t i = 0; i < profile->n_processes; i++) {
        const int64_t cost = (int64_t)(size % 11) * 40000;
        profile->processes[i].costs =
            (struct nytp_costs){cost, cost, cost, 2 * cost, cost, cost, 3 * cost, cost};
    }
    const int64_t before = sum_of(summary, NYTP_LEVEL_LINE, &negative);
    if (!nytp_take_off_both(profile, summary))
        abort();
    const int64_t after = sum_of(summary, NYTP_LEVEL_LINE, &negative_after);
    if (!nytp_profile_adds_up(profile, &error) || negative != negative_after || after > before)
        abort();
    if (negative == 0 && summary->total_ticks >= 0 && before - after > summary->recording_ticks)
        abort();
}

static uint32_t occurrences(const char *text, size_t len, const char *word)
{
    uint32_t n = 0;
    const size_t word_len = strlen(word);
    for (size_t i = 0; i + word_len <= len; i++)
        n += text[i] == word[0] && memcmp(text + i, word, word_len) == 0;
    return n;
}

static void must_be_safe(struct nytp_out *out, bool has_flame)
{
    size_t len;
    const char *text = (const char *)nytp_out_bytes(out, &len);
    if (!nytp_utf8_valid(text, len))
        abort();
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t')
            abort();
    if (occurrences(text, len, "</script") != 1u + has_flame ||
        occurrences(text, len, "</style") != 1 || occurrences(text, len, "</main") != 1)
        abort();
}

static void write_report(const struct nytp_profile *profile, const struct nytp_summary *summary,
                         bool single)
{
    const struct nytp_export_options options = {.selected = "--focus=<b>", .title = "</title>"};
    struct nytp_out *out = nytp_out_memory(single);
    struct nytp_outset *set = single ? nytp_outset_single(out) : nytp_outset_nowhere();
    struct nytp_error error = {0};
    if (out == NULL || set == NULL ||
        !nytp_exporter_html.write_set(profile, summary, &options, set) ||
        !nytp_outset_finish(set, &error, NULL))
        abort();
    if (single)
        must_be_safe(out, profile != NULL && profile->total_ticks > 0);
    nytp_outset_free(set);
    nytp_out_discard(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nytp_summary *summary = nytp_summary_new();
    struct nytp_profile *profile = NULL;
    if (summary == NULL)
        abort();
    const bool loaded = load(data, size, summary, &profile);
    if (loaded && profile != NULL)
        correct(profile, summary, size);
    if (loaded && (size % 2 == 0 || nytp_summary_merge_evals(summary, size % 3))) {
        if (size % 5 == 0) {
            nytp_profile_free(profile);
            profile = NULL;
        }
        write_report(profile, summary, size % 7 < 4);
    }
    nytp_profile_free(profile);
    nytp_summary_free(summary);
    return 0;
}

#include "replay.h"
