/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The Firefox Profiler's processed profile format, version 47; the viewer converts it to newer
 * ones. See https://github.com/firefox-devtools/profiler, docs-developer and
 * src/types/profile.ts.
 *
 * Each process has up to two threads, the timeline and the totals (firefox/thread.h). Memory
 * is counters beside the timeline.
 */
#include "exporters/base/json.h"
#include "exporters/base/waits.h"
#include "exporters/firefox/thread.h"
#include "exporters/stacks/frames.h"
#include "exporters/stacks/timeline.h"

#include "formats/model/profile.h"

#include <stdlib.h>

#define FORMAT_VERSION 47

static bool has_timeline(const struct nytp_profile *profile,
                         const struct nytp_export_options *options, uint32_t process)
{
    return !options->aggregate && nytp_process_has_timeline(profile, process);
}

static bool write_threads(const struct nytp_profile *profile,
                          const struct nytp_export_options *options, const bool *is_waiting,
                          double first_start_s, struct nytp_out *out)
{
    for (uint32_t i = 0; i < profile->n_processes; i++) {
        const struct nytp_firefox_process process = {profile, i, is_waiting, first_start_s};
        const bool timeline = has_timeline(profile, options, i);
        nytp_puts(out, i == 0 ? "\n" : ",\n");
        if (timeline && !nytp_firefox_put_timeline(&process, out))
            return false;
        nytp_puts(out, timeline ? ",\n" : "");
        if (!nytp_firefox_put_totals(&process, options, timeline, out))
            return false;
    }
    return true;
}

/* Writes the description of the file: version, categories, time of recording. */
static void write_meta(const struct nytp_profile *profile, double first_start_s,
                       struct nytp_out *out)
{
    nytp_printf(out, "{\"meta\":{\"version\":27,\"preprocessedProfileVersion\":%d,\"product\":",
                FORMAT_VERSION);
    nytp_process_json_label(profile, 0, "", out);
    nytp_puts(out, ",\"importedFrom\":\"nytp-export\",\"startTime\":");
    const struct nytp_process *const process = &profile->processes[0];
    nytp_json_double(out, process->start_s * 1e3 -
                              (double)nytp_process_offset_ns(process, first_start_s) / 1e6);
    nytp_puts(
        out,
        ",\"interval\":1,\"processType\":0,\"stackwalk\":1,\"debug\":false,\n"
        "\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,"
        "\"symbolicationNotSupported\":true,\"sourceCodeIsNotOnSearchfox\":true,\n"
        "\"markerSchema\":[{\"name\":\"label\",\"display\":[\"marker-chart\",\"marker-table\","
        "\"timeline-overview\"],\"tooltipLabel\":\"{marker.name}: {marker.data.value}\","
        "\"tableLabel\":\"{marker.data.value}\",\"chartLabel\":\"{marker.data.value}\","
        "\"data\":"
        "[{\"key\":\"value\",\"label\":\"Value\",\"format\":\"string\",\"searchable\":true}]}],"
        "\n"
        "\"categories\":["
        "{\"name\":\"Program\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
        "{\"name\":\"Perl\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
        "{\"name\":\"XS\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
        "{\"name\":\"Builtin\",\"color\":\"blue\",\"subcategories\":[\"Other\"]},"
        "{\"name\":\"Waiting\",\"color\":\"lightblue\",\"subcategories\":[\"Other\"]},"
        "{\"name\":\"Label\",\"color\":\"purple\",\"subcategories\":[\"Other\"]}]},\n"
        "\"libs\":[],\"pages\":[],\"counters\":[");
}

struct counter {
    const char *name, *description, *color;
    bool is_in_use; /* by samples of bytes; else resident */
};

static const struct counter counters[] = {
    {"resident", "Memory of the process in core", "purple", false},
    {"in use", "Allocated and not freed, since recording began", "orange", true},
};

static int64_t count_at(const struct counter *counter, const struct nytp_memory_point *point)
{
    return counter->is_in_use ? point->in_use : point->resident;
}

/* A sample is the difference to the previous one. */
static void put_counter(struct nytp_out *out, const struct nytp_profile *profile,
                        const struct counter *counter, struct nytp_slice points,
                        uint32_t thread, int64_t offset_ns)
{
    const struct nytp_memory_point *const first = &profile->memory_points[points.first];
    struct nytp_scale scale;
    nytp_scale_init(&scale, nytp_unit_find("ns"), profile->ticks_per_sec);
    nytp_printf(out,
                "{\"name\":\"%s\",\"category\":\"Memory\",\"description\":\"%s\","
                "\"color\":\"%s\",\"pid\":\"%u\",\"mainThreadIndex\":%u,"
                "\"sampleGroups\":[{\"id\":0,\"samples\":{\"time\":[",
                counter->name, counter->description, counter->color,
                profile->processes[first->process].pid, thread);
    for (uint32_t i = 0; i < points.n; i++) {
        nytp_puts(out, i > 0 ? "," : "");
        nytp_json_fixed(
            out, nytp_ticks_sum(offset_ns, nytp_scale_once(&scale, first[i].at_ticks)), 6);
    }
    nytp_puts(out, "],\"count\":[");
    for (uint32_t i = 0; i < points.n; i++)
        nytp_printf(out, "%s%lld", i > 0 ? "," : "",
                    (long long)(count_at(counter, &first[i]) -
                                (i > 0 ? count_at(counter, &first[i - 1]) : 0)));
    nytp_printf(out, "],\"length\":%u}}]}", points.n);
}

/* Writes counters of processes with a timeline. */
static void write_counters(const struct nytp_profile *profile,
                           const struct nytp_export_options *options, double first_start_s,
                           struct nytp_out *out)
{
    const char *before = "\n";
    uint32_t thread = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++) {
        const unsigned has = profile->recordings[profile->processes[i].recording].has;
        const bool timeline = has_timeline(profile, options, i);
        const struct nytp_slice of = nytp_memory_points_of(profile, i, 1);
        for (size_t c = 0; c < sizeof counters / sizeof *counters; c++)
            if (timeline && of.n > 0 &&
                (!counters[c].is_in_use || (has & NYTP_HAS_BYTES) != 0)) {
                nytp_puts(out, before);
                put_counter(out, profile, &counters[c], of, thread,
                            nytp_process_offset_ns(&profile->processes[i], first_start_s));
                before = ",\n";
            }
        thread += timeline ? 2 : 1;
    }
}

static bool write_firefox(const struct nytp_profile *profile,
                          const struct nytp_export_options *options, struct nytp_out *out)
{
    struct nytp_waits waits;
    const bool known = nytp_waits_init(&waits, profile, options->waits, &out->error);
    bool *is_waiting = known ? nytp_waits_subs(&waits, profile) : NULL;
    nytp_waits_free(&waits);
    const double first_start_s = nytp_first_start_s(profile);
    write_meta(profile, first_start_s, out);
    write_counters(profile, options, first_start_s, out);
    nytp_puts(out, "],\"threads\":[");
    if (is_waiting == NULL || !write_threads(profile, options, is_waiting, first_start_s, out))
        nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory for the Firefox profile");
    nytp_puts(out, "]}\n");
    free(is_waiting);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_firefox = {
    .name = "firefox",
    .title = "Firefox Profiler: profiler.firefox.com, call tree, flame graph, lines",
    .suffixes = ".firefox.json",
    .needs = NYTP_HAS_CALLS,
    .wants_spans = true,
    .no_diff = "two runs have no common time axis; use --speedscope",
    .write = write_firefox,
    .takes = "aggregate max-calls wait",
};
