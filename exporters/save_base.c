/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Calls and statements of each sub as a small sorted file that can be kept in a repository and be
 * given to --diff as the base; see compare/counts.h. Of several inputs it holds the medians.
 */
#include "exporters/compare/counts.h"
#include "exporters/base/exporter.h"
#include "exporters/select/rename.h"

#include <stdlib.h>
#include <string.h>

static bool write_base(const struct nytp_profile *profile,
                       const struct nytp_export_options *options, struct nytp_out *out)
{
    uint8_t *side_of_part = malloc((size_t)profile->n_parts + 1);
    struct nytp_diff *diff = NULL;
    if (side_of_part == NULL) {
        nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory");
    } else {
        memset(side_of_part, NYTP_DIFF_NEW, (size_t)profile->n_parts + 1);
        const struct nytp_diff_sides sides = {.side_of_part = side_of_part,
                                              .merge_runs = options->merge_runs};
        diff = nytp_diff_new(profile, &sides, &out->error);
    }
    if (diff != NULL)
        nytp_counts_write(diff, out);
    nytp_diff_free(diff);
    free(side_of_part);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_save_base = {
    .name = "save-base",
    .title = "counts to compare with later, for a repository (--diff takes it)",
    .suffixes = ".nytp.json",
    .needs = NYTP_HAS_STATEMENTS | NYTP_HAS_ARCS,
    .write = write_base,
    .stable_names = true,
    .no_diff = "it is what --diff takes",
};
