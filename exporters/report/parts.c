/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The hottest subs of each part that the flame graph can show: a process, a label, a package.
 * See report.h and README.md. The sums include contexts that are small frames in the flame
 * graph.
 */
#include "flame_tree.h"

#include "formats/model/label_sums.h"
#include "formats/model/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE NYTP_REPORT_NONE

#define MOST_PACKAGES 10 /* those of the hottest subs */

/* `sums` is of one part, by the report's subs; one more element is for all other subs. */
struct parts {
    struct nytp_report *report;
    struct nytp_report_sub *sums;
    uint32_t *top, n_top, most; /* subs, exclusive time descending */
    int64_t total;
};

/* Returns the report's sub for a sub of a part's profile, or NONE. */
static uint32_t shown_sub(const struct nytp_report *report, const struct nytp_profile *profile,
                          uint32_t sub)
{
    const struct nytp_profile *const whole = report->profile;
    const struct nytp_sub *const wanted = &profile->subs[sub];
    uint32_t found = profile == whole ? sub : nytp_flame_sub_of_name(whole, wanted->name);
    for (uint32_t s = found; profile != whole && s < whole->n_subs &&
                             nytp_compare_names(whole->subs[s].name, wanted->name) == 0;
         s++)
        if (nytp_compare_names(whole->files[whole->subs[s].file].name,
                               profile->files[wanted->file].name) == 0)
            found = s;
    return found != NONE ? nytp_report_merged_sub(report, found) : NONE;
}

/* Adds up the nodes from `first` to before `end`, callers before callees. Time in nested calls
 * of the same sub counts once. Returns false if memory is out. */
static bool sum_nodes(struct parts *parts, const struct nytp_profile *profile, uint32_t first,
                      uint32_t end)
{
    const uint32_t n_subs = parts->report->profile->n_subs;
    uint32_t *const sub_of = malloc(((size_t)profile->n_subs + 1) * sizeof *sub_of);
    uint32_t *const open = calloc((size_t)n_subs + 1, sizeof *open);
    uint32_t *const path = malloc(((size_t)end - first + 1) * sizeof *path);
    const bool ok = sub_of != NULL && open != NULL && path != NULL;
    for (uint32_t i = 0; ok && i < profile->n_subs; i++) {
        const uint32_t sub = shown_sub(parts->report, profile, i);
        sub_of[i] = sub != NONE ? sub : n_subs;
    }
    memset(parts->sums, 0, ((size_t)n_subs + 1) * sizeof *parts->sums);
    parts->total = 0;
    for (uint32_t i = first, depth = 0; ok && i < end; i++) {
        const struct nytp_node *const node = &profile->nodes[i];
        const uint32_t sub = sub_of[node->sub];
        struct nytp_report_sub *const sum = &parts->sums[sub];
        while (depth > 0 && depth > node->depth)
            open[path[--depth]]--;
        sum->calls += node->calls;
        sum->excl_ticks = nytp_ticks_sum(sum->excl_ticks, node->excl_ticks);
        if (open[sub] == 0)
            sum->incl_ticks = nytp_ticks_sum(sum->incl_ticks, node->incl_ticks);
        parts->total = nytp_ticks_sum(parts->total, node->excl_ticks);
        open[sub]++;
        path[depth++] = sub;
    }
    free(sub_of);
    free(open);
    free(path);
    return ok;
}

static void offer(struct parts *parts, uint32_t sub)
{
    uint32_t at = parts->n_top;
    while (at > 0 && parts->sums[parts->top[at - 1]].excl_ticks < parts->sums[sub].excl_ticks) {
        if (at < parts->most)
            parts->top[at] = parts->top[at - 1];
        at--;
    }
    if (at < parts->most)
        parts->top[at] = sub;
    parts->n_top += parts->n_top < parts->most;
}

static void begin_part(struct nytp_out *out, const char *key, size_t len)
{
    nytp_puts(out, "<div data-of=\"");
    nytp_html_attribute(out, key, len);
    nytp_puts(out, "\" hidden>");
}

static void put_part(struct parts *parts, unsigned number, char kind, const char *caption)
{
    char id[32];
    parts->n_top = 0;
    for (uint32_t sub = 0; sub < parts->report->profile->n_subs; sub++)
        if (parts->sums[sub].calls > 0 || parts->sums[sub].excl_ticks > 0)
            offer(parts, sub);
    const int len = snprintf(id, sizeof id, "top%u%c top", number, kind);
    begin_part(parts->report->out, id + 3, (size_t)len - strlen("top top"));
    nytp_report_part_table(
        parts->report, id, caption,
        (struct nytp_report_part){parts->sums, parts->total, parts->top, parts->n_top});
    nytp_puts(parts->report->out, "</div>\n");
}

static bool put_processes(struct parts *parts)
{
    const struct nytp_profile *const profile = parts->report->profile;
    bool ok = true;
    for (uint32_t i = 0; ok && i < profile->n_processes; i++) {
        if (!nytp_report_process_is_part(parts->report, i))
            continue;
        ok = sum_nodes(parts, profile, profile->processes[i].root,
                       nytp_process_nodes_end(profile, i));
        put_part(parts, (unsigned)i, 'p', "Top subroutines of this process");
    }
    return ok;
}

static bool put_labels(struct parts *parts)
{
    const struct nytp_report_options *const options = &parts->report->options->report;
    bool ok = true;
    for (uint32_t i = 0; ok && options->label_parts != NULL && i < options->n_label_rows; i++) {
        const struct nytp_profile *const profile = options->label_parts[i];
        if (profile == NULL)
            continue;
        ok = sum_nodes(parts, profile, 0, profile->n_nodes);
        put_part(parts, (unsigned)i, 'l', "Top subroutines under this label");
    }
    return ok;
}

/* ---- packages ---- */

static struct nytp_name package_of(const struct nytp_report *report, uint32_t sub)
{
    const struct nytp_name name = nytp_report_sub_name(report, sub);
    return (struct nytp_name){name.ptr, nytp_package_len(name)};
}

static bool has_package(const struct nytp_name *packages, uint32_t n, struct nytp_name package)
{
    for (uint32_t i = 0; i < n; i++)
        if (nytp_compare_names(packages[i], package) == 0)
            return true;
    return package.len <= 2;
}

/* A package contains all calls of its subs, so the numbers are those of the whole program. */
static void put_package(struct parts *parts, unsigned number, struct nytp_name package)
{
    struct nytp_report *const report = parts->report;
    char id[32];
    parts->n_top = 0;
    for (uint32_t i = 0; i < report->n_called && parts->n_top < parts->most; i++)
        if (nytp_compare_names(package_of(report, report->subs_by_time[i]), package) == 0)
            parts->top[parts->n_top++] = report->subs_by_time[i];
    snprintf(id, sizeof id, "top%uk top", number);
    begin_part(report->out, package.ptr, package.len - 2);
    nytp_report_sub_table(report, id, "Top subroutines of this package", parts->top,
                          parts->n_top);
    nytp_puts(report->out, "</div>\n");
}

static void put_packages(struct parts *parts)
{
    const struct nytp_report *const report = parts->report;
    struct nytp_name packages[MOST_PACKAGES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < report->n_called && n < MOST_PACKAGES; i++) {
        const struct nytp_name package = package_of(report, report->subs_by_time[i]);
        if (has_package(packages, n, package))
            continue;
        put_package(parts, n, package);
        packages[n++] = package;
    }
}

bool nytp_report_put_label_part(struct nytp_report *report, struct nytp_name key,
                                struct nytp_name value)
{
    const struct nytp_report_options *const options = &report->options->report;
    const uint32_t n =
        report->flame && options->label_parts != NULL ? options->n_label_rows : 0;
    for (uint32_t i = 0; i < n; i++)
        if (options->label_parts[i] != NULL &&
            nytp_compare_names(options->label_rows[i].key, key) == 0 &&
            nytp_compare_names(options->label_rows[i].value, value) == 0) {
            nytp_printf(report->out, " data-part=%ul", (unsigned)i);
            return true;
        }
    return false;
}

void nytp_report_put_part_bounds(struct nytp_report *report)
{
    if (report->flame)
        nytp_printf(report->out,
                    "<p><small>The flame graph can be of a row alone for the %d labels and the "
                    "%d statements that took longest, by the texts that DB::label() or sql=1 "
                    "gave, if the recordings are whole and have no more than %d "
                    "MB.</small></p>\n",
                    NYTP_LABEL_PARTS, NYTP_STATEMENT_PARTS, NYTP_LABEL_PARTS_BYTES >> 20);
}

void nytp_report_part_tables(struct nytp_report *report, uint32_t most)
{
    struct parts parts = {.report = report, .most = most};
    if (!report->flame)
        return;
    report->explained = false; /* the table before them explains the columns */
    parts.sums = malloc(((size_t)report->profile->n_subs + 1) * sizeof *parts.sums);
    parts.top = malloc(((size_t)most + 1) * sizeof *parts.top);
    if (parts.sums != NULL && parts.top != NULL && put_processes(&parts) && put_labels(&parts))
        put_packages(&parts);
    else
        nytp_out_of_memory(&report->out->error);
    free(parts.sums);
    free(parts.top);
    report->explained = true;
}
