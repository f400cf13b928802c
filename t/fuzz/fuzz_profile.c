/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Fuzz target: any bytes through the readers into the model, through every selection and every
 * exporter. Whatever the bytes are, the model's invariants hold and nothing crashes.
 *
 * One source for libFuzzer and AFL++, which bring a main of their own, and for replaying files
 * without either: see target.h.
 */
#include "exporters/base/exporter.h"
#include "exporters/select/one_process.h"
#include "exporters/select/select.h"
#include "formats/build/build.h"
#include "formats/stream/format.h"
#include "formats/model/merge_profiles.h"
#include "formats/model/profile.h"

#include <string.h>

#include "target.h"

#define MAX_NODES 50000 /* more contexts than a short run needs */
#define MAX_SPANS 1000

static void must_hold(const struct nytp_profile *profile, const char *when)
{
    struct nytp_error error = {0};
    if (nytp_profile_adds_up(profile, &error))
        return;
    fprintf(stderr, "profile check %s: %s\n", when, error.message);
    abort();
}

static struct nytp_profile *load(const uint8_t *data, size_t size, char clock)
{
    struct nytp_error error = {0}, read_error = {0};
    const struct nytp_build_options options = {
        .sources = true, .max_spans = MAX_SPANS, .max_nodes = MAX_NODES};
    const struct nytp_read_options read_options = {.clock = clock};
    struct nytp_source *source = nytp_source_memory(data, size, &error);
    if (source == NULL)
        return NULL;
    struct nytp_builder *builder = nytp_builder_new(&options, "fuzz", &error);
    if (builder == NULL)
        abort();
    const bool whole =
        nytp_read(source, &read_options, nytp_builder_sink(builder), &read_error);
    if (whole != (read_error.status == NYTP_OK))
        abort();
    nytp_source_free(source);
    struct nytp_profile *profile =
        nytp_builder_finish(builder, whole ? NULL : &read_error, &error);
    if (profile == NULL && error.status == NYTP_OK)
        abort();
    return profile;
}

/* A few bytes may speak of any number of calls, and this exporter lists each. */
static bool is_endless(const struct nytp_exporter *exporter, const struct nytp_profile *profile)
{
    return profile->total.calls > 100000 && strcmp(exporter->name, "tmon") == 0;
}

static void export_all(const struct nytp_profile *profile,
                       const struct nytp_export_options *options)
{
    for (const struct nytp_exporter *const *e = nytp_exporters; *e != NULL; e++) {
        if (is_endless(*e, profile) || (*e)->write == NULL)
            continue;
        struct nytp_error error = {0};
        struct nytp_out *out = nytp_out_memory(false);
        if (out == NULL)
            abort();
        const bool written = (*e)->write(profile, options, out);
        const bool closed = nytp_out_close(out, &error);
        if (written != closed)
            abort();
    }
}

static void select_and_export(struct nytp_profile *profile, struct nytp_selection selection,
                              const char *when)
{
    struct nytp_error error = {0};
    if (nytp_select(profile, &selection, &error)) {
        must_hold(profile, when);
        export_all(profile, &(struct nytp_export_options){.aggregate = true,
                                                          .lines = true,
                                                          .plain_names = true,
                                                          .max_depth = 4,
                                                          .collapse_recursion = true});
    }
    nytp_profile_free(profile);
}

static void merge_with_itself(const uint8_t *data, size_t size, struct nytp_profile *profile)
{
    struct nytp_profile *other = load(data, size, 'r');
    if (other == NULL) {
        nytp_profile_free(profile);
        return;
    }
    struct nytp_error error = {0};
    struct nytp_profile *both[] = {profile, other};
    struct nytp_profile *merged = nytp_profiles_merge(both, 2, NYTP_MERGE_INTO_ONE, &error);
    if (merged == NULL)
        return;
    must_hold(merged, "after merging");
    for (uint32_t i = 0; i < merged->n_processes && i < 3; i++) {
        struct nytp_profile *one = nytp_select_processes_once(merged, i, 1, &error);
        if (one == NULL)
            continue;
        must_hold(one, "of one process");
        nytp_profile_free(one);
    }
    const struct nytp_selection selection = {.merge_evals = true, .min_percent = 1};
    select_and_export(merged, selection, "after merging evals");
}

/* Work beyond loading depends on the size, so that each run is short. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nytp_profile *profile = load(data, size, 0);
    if (profile == NULL)
        return 0;
    must_hold(profile, "after loading");
    const struct nytp_selection selection = {
        .no_builtins = true, .collapse_recursion = true, .max_depth = 3};
    switch (size % 4) {
    case 0:
        merge_with_itself(data, size, profile);
        break;
    case 1:
        select_and_export(profile, selection, "after selecting");
        break;
    case 2:
        export_all(profile, &(struct nytp_export_options){0});
        nytp_profile_free(profile);
        break;
    default:
        nytp_profile_free(profile);
    }
    return 0;
}
