/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * The modes that look at each input by itself: --stats (what is in it), --check (whether it
 * adds up) and --dump (every record of it).
 */
#include "load.h"
#include "modes.h"
#include "outputs.h"
#include "exporters/base/json.h"
#include "exporters/base/text.h"
#include "exporters/select/one_process.h"
#include "exporters/stacks/timeline.h"
#include "formats/model/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- --dump ---- */

/* A record is a line: its offset, its tag, its fields as key=value, strings quoted as in JSON.
 * formats/stream/fields.def has the fields of each tag. */
struct dump {
    struct nytp_sink sink; /* first: give &dump.sink to nytp_read() */
    struct nytp_out *out;
    uint32_t n_running;   /* processes that have begun and not ended */
    uint64_t last_offset; /* of a record */
    bool inflated;        /* offsets count bytes of the inflated stream */
};

static void put_key(struct nytp_out *out, const char *key)
{
    nytp_putc(out, ' ');
    nytp_puts(out, key);
    nytp_putc(out, '=');
}

static void put_UINT(struct nytp_out *out, const char *key, int64_t value)
{
    put_key(out, key);
    nytp_put_i64(out, value);
}

static void put_NUMBER(struct nytp_out *out, const char *key, double value)
{
    put_key(out, key);
    nytp_json_double(out, value);
}

/* A byte string that claims to be UTF-8 gets a u in front of its quote. */
static void put_TEXT(struct nytp_out *out, const char *key, struct nytp_str text)
{
    put_key(out, key);
    nytp_puts(out, text.utf8 ? "u" : "");
    nytp_json_string(out, text.ptr, text.len);
}

#define put_INT put_UINT

static void put_fields(struct nytp_out *out, const struct nytp_event *event)
{
    switch (event->tag) {
#define NYTP_RECORD(tag, n) case NYTP_TAG_##tag:
#define NYTP_FIELD(kind, record, field, position)                                              \
    put_##kind(out, #field, event->u.record.field);
#define NYTP_RECORD_END break;
#include "formats/stream/fields.def"
    case NYTP_TAG_COUNT:
        break;
    }
}

static bool dump_event(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct dump *const dump = (struct dump *)sink;
    struct nytp_out *const out = dump->out;
    nytp_put_u64(out, event->offset);
    nytp_putc(out, ' ');
    nytp_puts(out, nytp_tag_name(event->tag));
    put_fields(out, event);
    nytp_putc(out, '\n');
    dump->last_offset = event->offset;
    if (event->tag == NYTP_TAG_START_DEFLATE)
        dump->inflated = true;
    else if (event->tag == NYTP_TAG_PID_START)
        dump->n_running++;
    else if (event->tag == NYTP_TAG_PID_END && dump->n_running > 0)
        dump->n_running--;
    return out->error.status == NYTP_OK;
}

/* Returns false with *error set if a process has no end. */
static bool dump_is_whole(const struct dump *dump, struct nytp_error *error)
{
    return dump->n_running == 0 ||
           nytp_error_at(error, NYTP_ERR_TRUNCATED, dump->last_offset, dump->inflated,
                         "no end of %" PRIu32 " process%s after this", dump->n_running,
                         dump->n_running == 1 ? "" : "es");
}

/* ---- --stats ---- */

static void put_label(struct nytp_out *out, const char *label)
{
    nytp_printf(out, "%-14s", label);
}

static void put_seconds(struct nytp_out *out, const struct nytp_profile *profile, int64_t ticks)
{
    if (!nytp_profile_has(profile, NYTP_WEIGHT_TIME)) {
        nytp_puts(out, NYTP_COUNTS_ONLY);
        return;
    }
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
    put_if_known(out, "file", recording->path);
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

/* The first start and the last end of all processes, as far as known, in seconds since 1970. */
static void put_when(struct nytp_out *out, const struct nytp_profile *profile)
{
    const double start = nytp_first_start_s(profile);
    double end = 0;
    for (uint32_t i = 0; i < profile->n_processes; i++)
        if (profile->processes[i].end_s > end)
            end = profile->processes[i].end_s;
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
    if (profile->faults.negative_times > 0)
        put_count(out, "negative", profile->faults.negative_times);
    if (profile->faults.wrapped_statements > 0)
        put_count(out, "wrapped", profile->faults.wrapped_statements);
    if (profile->faults.unreturned_frames > 0)
        put_count(out, "unreturned", profile->faults.unreturned_frames);
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

static void put_stats(struct nytp_out *out, const struct nytp_profile *profile,
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
    put_seconds(out, profile, profile->total.ticks);
    nytp_putc(out, '\n');
    if (nytp_recording_ticks(profile) != 0) {
        put_label(out, "recording");
        put_seconds(out, profile, nytp_recording_ticks(profile));
        nytp_puts(out, " taken off\n");
    }
    put_count(out, nytp_text_statements(profile), profile->total.statements);
    put_count(out, nytp_text_calls(profile), profile->total.calls);
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

/* ---- the modes ---- */

static void stats_of(struct run *run, const char *path, struct nytp_out *out, bool first)
{
    struct nytp_count count;
    struct nytp_profile *profile = nytp_cli_load_one(run, path, &count);
    if (profile == NULL)
        return;
    if (!first)
        nytp_putc(out, '\n');
    put_stats(out, profile, &count);
    nytp_profile_free(profile);
}

/* With --per-process each process by itself. */
static bool check_profile(const struct nytp_cli *cli, struct nytp_profile *profile,
                          struct nytp_error *error)
{
    if (!nytp_select(profile, &cli->selection, error) || !nytp_profile_check(profile, error))
        return false;
    if (!cli->per_process)
        return true;
    struct nytp_arcs_before calls;
    if (!nytp_arcs_before_init(&calls, profile))
        return nytp_out_of_memory(error);
    bool ok = true;
    for (uint32_t i = 0; ok && i < profile->n_processes; i++) {
        struct nytp_profile *one = nytp_select_processes(profile, &calls, i, 1, error);
        ok = one != NULL && nytp_profile_check(one, error);
        nytp_profile_free(one);
    }
    nytp_arcs_before_free(&calls);
    return ok;
}

static void check_of(struct run *run, const char *path, struct nytp_out *out)
{
    struct nytp_profile *profile = nytp_cli_load_one(run, path, NULL);
    if (profile == NULL)
        return;
    struct nytp_error error = {0};
    if (check_profile(&run->cli, profile, &error)) {
        nytp_text_put(out, nytp_name_of_text(path), 0);
        nytp_puts(out, profile->partial ? ": adds up, but partial\n" : ": ok\n");
    } else {
        nytp_cli_say_unusable(run, path, &error);
    }
    nytp_profile_free(profile);
}

static void dump_of(struct run *run, const char *path, struct nytp_out *out)
{
    struct dump dump = {.sink.event = dump_event, .out = out};
    struct nytp_error error = {0};
    const uint64_t n_before = out->n_bytes;
    const bool is_read = nytp_cli_read(run, path, false, &dump.sink, &error);
    if (out->error.status != NYTP_OK || (is_read && dump_is_whole(&dump, &error)))
        return;
    if (out->n_bytes == n_before)
        nytp_cli_say_unusable(run, path, &error);
    else
        nytp_cli_note_partial(run, path, &error);
}

static void inspect_inputs(void *context, struct nytp_out *out)
{
    struct run *run = context;
    const struct nytp_cli *cli = &run->cli;
    for (int i = 0; i < cli->n_files && out->error.status == NYTP_OK; i++) {
        if (cli->mode == NYTP_MODE_STATS)
            stats_of(run, cli->files[i], out, i == 0);
        else if (cli->mode == NYTP_MODE_CHECK)
            check_of(run, cli->files[i], out);
        else
            dump_of(run, cli->files[i], out);
    }
}

enum exit_status nytp_cli_run_inspection(struct run *run)
{
    const char *output = run->cli.output != NULL ? run->cli.output : "-";
    enum exit_status status = nytp_cli_write_output(output, inspect_inputs, run);
    if (status == EXIT_DONE)
        status = nytp_cli_done(run);
    return status == EXIT_PARTIAL && run->failed ? EXIT_INPUT : status;
}
