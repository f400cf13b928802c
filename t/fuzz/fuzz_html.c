/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Any bytes as a profile, written as an HTML report: folder and single file, evals merged or
 * not. Whatever the profile's names are, the single file holds the two scripts that are ours
 * and no more, is valid UTF-8 and has no control characters.
 */
#include "exporters/base/exporter.h"
#include "formats/build/build.h"
#include "formats/stream/format.h"
#include "formats/model/profile.h"
#include "formats/stream/source.h"
#include "formats/base/strings.h"

#include <string.h>

#include "target.h"

extern const struct nytp_exporter nytp_exporter_html;

/* NULL when there is nothing to report. */
static struct nytp_profile *load(const uint8_t *data, size_t size)
{
    struct nytp_error error = {0}, read_error = {0};
    struct nytp_read_options read_options = {0};
    const struct nytp_build_options options = {
        .sources = true, .blocks = size % 4 != 0, .as_recorded = size % 5 == 0};
    struct nytp_source *source = nytp_source_memory(data, size, &error);
    struct nytp_builder *builder = nytp_builder_new(&options, "x", &error);
    if (source == NULL || builder == NULL)
        abort();
    const bool whole =
        nytp_read(source, &read_options, nytp_builder_sink(builder), &read_error);
    nytp_source_free(source);
    return nytp_builder_finish(builder, whole ? NULL : &read_error, &error);
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

static void write_report(const struct nytp_profile *profile, bool merge_evals, bool single)
{
    const struct nytp_export_options options = {
        .selected = "--focus=<b>", .title = "</title>", .report.no_merge_evals = !merge_evals};
    struct nytp_out *out = nytp_out_memory(single);
    struct nytp_output_set *set =
        single ? nytp_output_set_single(out) : nytp_output_set_nowhere();
    struct nytp_error error = {0};
    if (out == NULL || set == NULL || !nytp_exporter_html.write_set(profile, &options, set) ||
        !nytp_output_set_finish(set, &error, NULL))
        abort();
    if (single)
        must_be_safe(out, profile->total.ticks > 0);
    nytp_output_set_free(set);
    nytp_out_discard(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nytp_profile *profile = load(data, size);
    if (profile != NULL)
        write_report(profile, size % 2 == 0, size % 7 < 4);
    nytp_profile_free(profile);
    return 0;
}
