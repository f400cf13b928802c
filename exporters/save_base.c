/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls and statements of each sub as a small sorted file. It can be kept in a repository and
 * given to --diff as the base; see compare/counts.h. For several inputs it has the medians.
 */
#include "exporters/base/exporter.h"
#include "exporters/base/json.h"
#include "exporters/compare/counts.h"
#include "exporters/compare/diff.h"

#include <stdlib.h>
#include <string.h>

/* `cell` is the new side of a diff without a base. */
static void put_counts(struct nytp_out *out, const struct nytp_diff_cell *cell)
{
    nytp_puts(out, ",\"statements\":");
    nytp_put_i64(out, cell->statements);
    nytp_puts(out, ",\"calls\":");
    nytp_put_i64(out, cell->calls);
}

static void put_conditions(struct nytp_out *out, const struct nytp_profile *profile)
{
    const struct nytp_conditions conditions = nytp_conditions_of(profile);
    const char *separator = "";
    nytp_puts(out, ",\"facts\":{");
    for (uint32_t i = 0; i < NYTP_N_CONDITIONS; i++) {
        if (nytp_condition_names[i].key == NULL || conditions.value[i].len == 0)
            continue;
        nytp_printf(out, "%s\"%s\":", separator, nytp_condition_names[i].key);
        nytp_json_string(out, conditions.value[i].ptr, conditions.value[i].len);
        separator = ",";
    }
    nytp_puts(out, profile->sampled ? "},\"sampled\":1" : "}");
}

static void write_counts(const struct nytp_diff *diff, struct nytp_out *out)
{
    struct nytp_name application = {"", 0};
    for (uint32_t i = 0; i < diff->profile->n_recordings && application.len == 0; i++)
        if (diff->side_of_recording[i] == NYTP_DIFF_NEW)
            application = nytp_base_name(diff->profile->recordings[i].application);
    nytp_printf(out, "{\"nytp_counts\":%d,\"application\":", NYTP_COUNTS_VERSION);
    nytp_json_string(out, application.ptr, application.len);
    put_conditions(out, diff->profile);
    put_counts(out, &diff->total.median[NYTP_DIFF_NEW]);
    nytp_puts(out, ",\"subs\":[");
    const char *separator = "\n";
    for (uint32_t i = 0; i < diff->n_rows; i++) {
        const struct nytp_diff_row *row = &diff->rows[i];
        const struct nytp_diff_cell *cell = &row->median[NYTP_DIFF_NEW];
        if (cell->statements == 0 && cell->calls == 0)
            continue;
        const struct nytp_name file = nytp_base_name(row->file);
        nytp_printf(out, "%s{\"sub\":", separator);
        nytp_json_string(out, row->name.ptr, row->name.len);
        nytp_puts(out, ",\"file\":");
        nytp_json_string(out, file.ptr, file.len);
        put_counts(out, cell);
        nytp_putc(out, '}');
        separator = ",\n";
    }
    nytp_puts(out, "\n]}\n");
}

static bool write_base(const struct nytp_profile *profile,
                       const struct nytp_export_options *options, struct nytp_out *out)
{
    uint8_t *side_of_recording = malloc((size_t)profile->n_recordings + 1);
    struct nytp_diff *diff = NULL;
    if (side_of_recording == NULL) {
        nytp_out_of_memory(&out->error);
    } else {
        memset(side_of_recording, NYTP_DIFF_NEW, (size_t)profile->n_recordings + 1);
        const struct nytp_diff_sides sides = {.side_of_recording = side_of_recording,
                                              .merge_runs = options->merge_runs};
        diff = nytp_diff_new(profile, &sides, &out->error);
    }
    if (diff != NULL)
        write_counts(diff, out);
    nytp_diff_free(diff);
    free(side_of_recording);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_save_base = {
    .name = "save-base",
    .title = "counts to compare with later, for a repository (--diff takes it)",
    .suffixes = ".nytp.json",
    .shows_counts = true,
    .needs = NYTP_HAS_STATEMENTS | NYTP_HAS_ARCS,
    .write = write_base,
    .stable_names = true,
    .no_diff = "it is what --diff takes",
    .takes = "merge-runs",
    .refuses = "no-merge-evals",
};
