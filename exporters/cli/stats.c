/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Prints --stats of an input: when and by what it was recorded, how much is in it, and how many
 * records of each kind; see dump.h.
 */
#include "dump.h"

#include "exporters/base/json.h"
#include "exporters/base/text.h"

#include "formats/model/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool count_event(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct nytp_count *count = (struct nytp_count *)sink;
    count->n[event->tag]++;
    if (event->tag == NYTP_TAG_VERSION) {
        count->major = event->u.version.major;
        count->minor = event->u.version.minor;
    }
    return count->next->event(count->next, event);
}

void nytp_count_init(struct nytp_count *count, struct nytp_sink *next)
{
    memset(count, 0, sizeof *count);
    count->sink.event = count_event;
    count->next = next;
}

static void put_label(struct nytp_out *out, const char *label)
{
    nytp_printf(out, "%-14s", label);
}

static void put_seconds(struct nytp_out *out, const struct nytp_profile *profile, int64_t ticks)
{
    struct nytp_scale scale;
    nytp_scale_init(&scale, nytp_unit_find("ns"), profile->ticks_per_sec);
    nytp_json_fixed(out, nytp_scale_once(&scale, ticks), 9);
    nytp_puts(out, " s");
}

static void put_name(struct nytp_out *out, struct nytp_name name)
{
    nytp_text_put(out, name, 0);
}

static void put_if_known(struct nytp_out *out, const char *label, struct nytp_name value)
{
    if (value.len == 0)
        return;
    put_label(out, label);
    put_name(out, value);
    nytp_putc(out, '\n');
}

/* Prints the facts about the input as a whole. */
static void put_recording(struct nytp_out *out, const struct nytp_profile *profile,
                          const struct nytp_recording *recording)
{
    put_label(out, "file");
    put_name(out, recording->path);
    nytp_putc(out, '\n');
    put_label(out, "state");
    if (!recording->partial) {
        nytp_puts(out, "complete\n");
    } else {
        nytp_puts(out, "partial: ");
        if (recording->error.has_offset)
            nytp_printf(out, "byte %llu%s: ", (unsigned long long)recording->error.offset,
                        recording->error.inflated ? " (inflated)" : "");
        nytp_printf(out, "%s\n", recording->error.message);
    }
    put_if_known(out, "application", recording->application);
    put_if_known(out, "perl", recording->perl_version);
    put_if_known(out, "recorder", recording->xs_version);
    for (uint32_t i = 0; i < recording->n_processes; i++) {
        const struct nytp_process *process = &profile->processes[recording->first_process + i];
        put_label(out, i == 0 ? "processes" : "");
        nytp_printf(out, "pid %lu, parent %lu, ", (unsigned long)process->pid,
                    (unsigned long)process->ppid);
        if (process->thread > 0)
            nytp_printf(out, "thread %lu, ", (unsigned long)process->thread);
        put_seconds(out, profile, profile->nodes[process->root].incl_ticks);
        nytp_puts(out, process->complete ? "\n" : ", end not seen\n");
    }
}

/* Seconds since 1970, of what is known: the first start and the last end of all processes. */
static void put_when(struct nytp_out *out, const struct nytp_profile *profile)
{
    double start = 0, end = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++) {
        const struct nytp_process *process = &profile->processes[i];
        if (process->start_s > 0 && (start == 0 || process->start_s < start))
            start = process->start_s;
        if (process->end_s > end)
            end = process->end_s;
    }
    if (start > 0)
        nytp_printf(out, "%-14s%.6f\n", "start", start);
    if (end > 0)
        nytp_printf(out, "%-14s%.6f\n", "end", end);
}

static void put_pairs(struct nytp_out *out, const char *label, const struct nytp_pair *pairs,
                      uint32_t n)
{
    put_label(out, label);
    for (uint32_t i = 0; i < n; i++) {
        nytp_puts(out, i == 0 ? "" : " ");
        put_name(out, pairs[i].key);
        nytp_putc(out, '=');
        put_name(out, pairs[i].value);
    }
    nytp_putc(out, '\n');
}

static void put_count(struct nytp_out *out, const char *label, uint64_t n)
{
    put_label(out, label);
    nytp_put_u64(out, n);
    nytp_putc(out, '\n');
}

/* Prints facts that few recordings have. */
static void put_oddities(struct nytp_out *out, const struct nytp_profile *profile)
{
    if (profile->negative_times > 0)
        put_count(out, "negative", profile->negative_times);
    if (profile->wrapped_statements > 0)
        put_count(out, "wrapped", profile->wrapped_statements);
    if (profile->unreturned_frames > 0)
        put_count(out, "unreturned", profile->unreturned_frames);
}

/* Prints the recorder's clock: the kernel's clock source whose counter it read, or
 * clock_gettime. If it gave the counter up, by how much that was ahead. */
static void put_clock(struct nytp_out *out, const struct nytp_profile *profile)
{
    const struct nytp_name *const clock = nytp_profile_attribute(profile, "clock");
    const struct nytp_name *const parted = nytp_profile_attribute(profile, "clock_parted");
    static const char system[] = "clock_gettime";
    char text[60] = "";
    long long at_ticks, apart_ns;
    if (parted != NULL && parted->len < sizeof text)
        memcpy(text, parted->ptr, parted->len);
    put_label(out, "clock");
    nytp_printf(out, "%lld ticks per second", (long long)profile->ticks_per_sec);
    if (clock != NULL && clock->len == sizeof system - 1 &&
        memcmp(clock->ptr, system, clock->len) == 0) {
        nytp_puts(out, ", by clock_gettime()");
    } else if (clock != NULL) {
        nytp_puts(out, ", by the processor's counter, which is the kernel's ");
        put_name(out, *clock);
    }
    if (sscanf(text, "%lld %lld", &at_ticks, &apart_ns) == 2) {
        nytp_puts(out, "; from ");
        put_seconds(out, profile, at_ticks);
        nytp_printf(out, " on by clock_gettime(), as the counter was %lld us %s",
                    llabs(apart_ns / 1000), apart_ns < 0 ? "behind" : "ahead");
    }
    nytp_putc(out, '\n');
}

static void put_records(struct nytp_out *out, const struct nytp_count *count)
{
    put_label(out, "records");
    const char *blank = "";
    for (int tag = 0; tag < NYTP_TAG_COUNT; tag++) {
        if (count->n[tag] == 0)
            continue;
        nytp_printf(out, "%s%s=%llu", blank, nytp_tag_name((enum nytp_tag)tag),
                    (unsigned long long)count->n[tag]);
        blank = " ";
    }
    nytp_putc(out, '\n');
}

void nytp_put_stats(struct nytp_out *out, const struct nytp_profile *profile,
                    const struct nytp_count *count)
{
    for (uint32_t i = 0; i < profile->n_recordings; i++)
        put_recording(out, profile, &profile->recordings[i]);
    put_when(out, profile);
    if (count->n[NYTP_TAG_VERSION] > 0) {
        put_label(out, "format");
        nytp_printf(out, "%lu.%lu\n", (unsigned long)count->major, (unsigned long)count->minor);
    }
    put_clock(out, profile);
    put_pairs(out, "attributes", profile->attributes, profile->n_attributes);
    put_pairs(out, "options", profile->options, profile->n_options);
    put_label(out, "time");
    put_seconds(out, profile, profile->total_ticks);
    nytp_putc(out, '\n');
    if (nytp_recording_ticks(profile) != 0) {
        put_label(out, "recording");
        put_seconds(out, profile, nytp_recording_ticks(profile));
        nytp_puts(out, " taken off\n");
    }
    put_count(out, nytp_text_statements(profile), profile->total_statements);
    put_count(out, nytp_text_calls(profile), profile->total_calls);
    put_count(out, "files", profile->n_files - 1);
    put_count(out, "subs", profile->n_subs);
    put_count(out, "call sites", profile->n_arcs);
    put_label(out, "stacks");
    nytp_put_u64(out, profile->n_nodes);
    nytp_puts(out, profile->estimated_tree ? ", estimated from call sites\n" : "\n");
    put_count(out, "source lines", count->n[NYTP_TAG_SRC_LINE]);
    put_oddities(out, profile);
    put_records(out, count);
}
