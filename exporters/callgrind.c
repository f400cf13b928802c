/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * callgrind.out for KCachegrind and callgrind_annotate. The format is described in the
 * valgrind manual. The behaviour of the viewers beyond that was found by running them
 * (exporters/README.md, t/viewers/).
 *
 * - The file begins with comments up to byte 2047: KCachegrind loses that much of a pipe when
 *   it detects the format.
 * - Both viewers take the incoming edges of a function as its inclusive cost, so edges have the
 *   time of outermost calls only. KCachegrind hides edges of no cost; see make_visible().
 * - Lines of another file than the sub's (a required file, an eval) go under fi=, so that a sub
 *   stays one function.
 * - Each recording of a merged profile is a part of the file.
 */
#include "exporters/base/exporter.h"
#include "exporters/stacks/inclusive.h"
#include "exporters/stacks/viewer_names.h"
#include "exporters/base/text.h"
#include "formats/model/svs.h"

#include <stdlib.h>
#include <string.h>

#define SNIFFED_LEN 2047 /* bytes that KCachegrind reads ahead and loses on a pipe */

struct writer {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    struct nytp_out *out;
    const struct nytp_unit *unit;
    struct nytp_scale scale, cpu_scale;
    struct nytp_viewer_names *names;
    uint64_t *arc_costs, *arc_cpu, *arc_statements; /* by arc; arc_cpu in ticks */
    struct nytp_inclusive_memory arc_memory;
    bool time, cpu, statements; /* events that exist besides memory */

    /* indices sorted by recording, within it in the model's order */
    uint32_t *arcs, *line_costs;

    /* name ids of the current recording; 0 = not used yet. The last one of each is the
     * program; see put_program(). */
    uint32_t *sub_ids, *file_ids;
    uint32_t n_sub_ids, n_file_ids;
    struct nytp_name script;
};

/* Costs are unsigned. Carries the rounding error on, so that self costs add up to the total. */
static uint64_t self_cost(struct writer *w, struct nytp_scale *scale, int64_t ticks)
{
    return (uint64_t)nytp_scale_next(scale, nytp_not_negative(w->out, ticks));
}

static uint64_t edge_cost(struct writer *w, int64_t ticks)
{
    return (uint64_t)nytp_scale_once(&w->scale, nytp_not_negative(w->out, ticks));
}

/* Writes a name: its number, and its text at first use, unless the user wants plain names. */
static void put_name(struct writer *w, const char *key, uint32_t *id, uint32_t *n_ids,
                     struct nytp_name name)
{
    struct nytp_out *out = w->out;
    nytp_puts(out, key);
    if (!w->options->plain_names) {
        const bool known = *id != 0;
        if (!known)
            *id = ++*n_ids;
        nytp_putc(out, '(');
        nytp_put_u64(out, *id);
        nytp_putc(out, ')');
        if (known) {
            nytp_putc(out, '\n');
            return;
        }
        nytp_putc(out, ' ');
    }
    nytp_put(out, name.ptr, name.len);
    nytp_putc(out, '\n');
}

/* `file` n_files is the script as the program was called. */
static void put_file(struct writer *w, const char *key, uint32_t file)
{
    static const struct nytp_name unknown = {.ptr = "???", .len = 3};
    const struct nytp_name name = file == w->profile->n_files ? w->script
                                  : file == 0                 ? unknown
                                                              : w->names->files[file];
    put_name(w, key, &w->file_ids[file], &w->n_file_ids, name);
}

static void put_sub(struct writer *w, const char *key, uint32_t sub)
{
    static const struct nytp_name program = {.ptr = "main", .len = 4};
    const struct nytp_name name = sub == w->profile->n_subs ? program : w->names->subs[sub];
    put_name(w, key, &w->sub_ids[sub], &w->n_sub_ids, name);
}

/* The costs on one line of the file. */
struct costs {
    uint64_t time, cpu, statements;
    uint64_t memory[NYTP_N_WEIGHTS];
};

static bool has(const struct writer *w, int weight)
{
    return nytp_profile_has(w->profile, (enum nytp_weight)weight);
}

static void add_memory(const struct writer *w, struct costs *costs, struct nytp_svs memory)
{
    for (int i = NYTP_MEMORY_FIRST; i < NYTP_MEMORY_END; i++)
        if (has(w, i))
            costs->memory[i] += (uint64_t)nytp_measures[i].weight(NULL, &memory);
}

static void put_costs(struct writer *w, struct costs costs)
{
    struct nytp_out *out = w->out;
    if (w->time)
        nytp_put_u64(out, costs.time);
    if (w->cpu) {
        nytp_putc(out, ' ');
        nytp_put_u64(out, costs.cpu);
    }
    if (w->statements) {
        nytp_puts(out, w->time ? " " : "");
        nytp_put_u64(out, costs.statements);
    }
    for (int i = NYTP_MEMORY_FIRST; i < NYTP_MEMORY_END; i++) {
        if (!has(w, i))
            continue;
        nytp_putc(out, ' ');
        nytp_put_u64(out, costs.memory[i]);
    }
    nytp_putc(out, '\n');
}

static void put_costs_at(struct writer *w, uint32_t line, struct costs costs)
{
    nytp_put_u64(w->out, line);
    nytp_putc(w->out, ' ');
    put_costs(w, costs);
}

static void put_call(struct writer *w, uint64_t calls, uint32_t callee)
{
    struct nytp_out *out = w->out;
    const struct nytp_sub *sub = &w->profile->subs[callee];
    put_file(w, "cfi=", nytp_sub_file(w->profile, callee));
    put_sub(w, "cfn=", callee);
    nytp_puts(out, "calls=");
    nytp_put_u64(out, calls > 0 ? calls : 1);
    nytp_putc(out, ' ');
    nytp_put_u64(out, sub->first_line);
    nytp_putc(out, '\n');
}

/* Switches from the file `current` to `file` for the next cost, if necessary. */
static void change_file(struct writer *w, uint32_t sub, uint32_t *current, uint32_t file,
                        uint32_t line)
{
    file = nytp_line_file(w->profile, sub, file, line);
    if (file == *current)
        return;
    put_file(w, file == nytp_sub_file(w->profile, sub) ? "fe=" : "fi=", file);
    *current = file;
}

static void put_arc(struct writer *w, uint32_t *current, uint32_t index)
{
    const struct nytp_arc *arc = &w->profile->arcs[index];
    change_file(w, arc->caller, current, arc->file, arc->line);
    put_call(w, arc->calls, arc->callee);
    struct costs costs = {.time = w->arc_costs[index],
                          .cpu = w->cpu ? edge_cost(w, (int64_t)w->arc_cpu[index]) : 0,
                          .statements = w->arc_statements[index]};
    for (int i = NYTP_MEMORY_FIRST; i < NYTP_MEMORY_END; i++)
        if (has(w, i))
            costs.memory[i] = w->arc_memory.of[i][index];
    put_costs_at(w, arc->line, costs);
}

static void put_line_cost(struct writer *w, uint32_t *current, uint32_t index)
{
    const struct nytp_line_cost *cost = &w->profile->line_costs[index];
    change_file(w, cost->sub, current, cost->file, cost->line);
    struct costs costs = {.time = self_cost(w, &w->scale, cost->excl_ticks),
                          .cpu = self_cost(w, &w->cpu_scale, cost->cpu_ticks),
                          .statements = cost->statements};
    add_memory(w, &costs, nytp_svs_of_cost(w->profile, index));
    put_costs_at(w, cost->line, costs);
}

/* KCachegrind hides an edge of no cost, with its caller and callee: an edge of nested calls,
 * or of calls shorter than a tick. Such an edge gets one unit from the callee's most costly
 * edge, so the callee's inclusive cost does not change. This is done only if that edge is so
 * large that nobody notices. KCachegrind does not count the edge of a sub to itself, so that
 * one gets a unit for free. */
static void make_visible(const struct writer *w, uint32_t *n_hidden, uint32_t *most_costly)
{
    const uint64_t hardly_seen = 1000;
    const uint32_t n_arcs = w->profile->n_arcs;
    const struct nytp_arc *arcs = w->profile->arcs;
    for (uint32_t i = 0; i < n_arcs; i++) {
        uint32_t *most = &most_costly[arcs[i].callee];
        if (w->arc_costs[i] == 0)
            n_hidden[arcs[i].callee] += arcs[i].caller != arcs[i].callee;
        else if (w->arc_costs[i] > w->arc_costs[*most] || arcs[*most].callee != arcs[i].callee)
            *most = i;
    }
    for (uint32_t i = 0; i < n_arcs; i++) {
        const uint32_t callee = arcs[i].callee, most = most_costly[callee];
        const uint64_t needed = (uint64_t)n_hidden[callee] * hardly_seen;
        if (w->arc_costs[i] == 0 && arcs[most].callee == callee && w->arc_costs[most] > needed)
            w->arc_costs[i] = 1;
    }
    for (uint32_t i = 0; i < n_arcs; i++)
        if (most_costly[arcs[i].callee] == i &&
            w->arc_costs[i] > n_hidden[arcs[i].callee] * hardly_seen)
            w->arc_costs[i] -= n_hidden[arcs[i].callee];
}

static bool cost_arcs(struct writer *w)
{
    const struct nytp_profile *profile = w->profile;
    w->arc_costs = calloc((size_t)profile->n_arcs + 1, sizeof *w->arc_costs);
    uint32_t *n_hidden = calloc(profile->n_subs, sizeof *n_hidden);
    uint32_t *most_costly = calloc(profile->n_subs, sizeof *most_costly);
    const bool ok = w->arc_costs != NULL && n_hidden != NULL && most_costly != NULL;
    for (uint32_t i = 0; ok && i < profile->n_arcs; i++)
        w->arc_costs[i] = edge_cost(w, profile->arcs[i].incl_ticks);
    if (ok && profile->n_arcs > 0)
        make_visible(w, n_hidden, most_costly);
    free(n_hidden);
    free(most_costly);
    return ok;
}

/* A range of indices of arcs or line costs. */
struct range {
    const uint32_t *at, *end;
};

static void put_function(struct writer *w, uint32_t sub, struct range *lines,
                         struct range *arcs)
{
    const struct nytp_profile *profile = w->profile;
    uint32_t current = nytp_sub_file(profile, sub);
    nytp_putc(w->out, '\n');
    put_file(w, "fl=", current);
    put_sub(w, "fn=", sub);
    for (; lines->at < lines->end && profile->line_costs[*lines->at].sub == sub; lines->at++)
        put_line_cost(w, &current, *lines->at);
    for (; arcs->at < arcs->end && profile->arcs[*arcs->at].caller == sub; arcs->at++)
        put_arc(w, &current, *arcs->at);
}

static void put_functions(struct writer *w, struct range lines, struct range arcs)
{
    const struct nytp_profile *profile = w->profile;
    while (lines.at < lines.end || arcs.at < arcs.end) {
        uint32_t sub = UINT32_MAX;
        if (lines.at < lines.end)
            sub = profile->line_costs[*lines.at].sub;
        if (arcs.at < arcs.end && profile->arcs[*arcs.at].caller < sub)
            sub = profile->arcs[*arcs.at].caller;
        put_function(w, sub, &lines, &arcs);
    }
}

/* KCachegrind selects a function called exactly "main" when it opens a file. This writes one,
 * without exclusive cost, that calls the main::RUNTIME of each process. */
static void put_program(struct writer *w, const struct nytp_recording *recording,
                        struct costs costs)
{
    const struct nytp_profile *profile = w->profile;
    uint32_t file = profile->subs[0].file;
    if (file == 0)
        file = profile->n_files;
    int64_t ticks = 0;
    for (uint32_t i = 0; i < recording->n_processes; i++)
        ticks +=
            profile->nodes[profile->processes[recording->first_process + i].root].incl_ticks;
    nytp_putc(w->out, '\n');
    put_file(w, "fl=", file);
    put_sub(w, "fn=", profile->n_subs);
    put_call(w, recording->n_processes, 0);
    costs.time = edge_cost(w, ticks);
    put_costs_at(w, 0, costs);
}

static struct costs costs_of(struct writer *w, struct range lines)
{
    struct nytp_scale scale = w->scale, cpu_scale = w->cpu_scale;
    const uint64_t n_negative = w->out->n_negative;
    struct costs sum = {0};
    for (; lines.at < lines.end; lines.at++) {
        const struct nytp_line_cost *cost = &w->profile->line_costs[*lines.at];
        sum.time += self_cost(w, &scale, cost->excl_ticks);
        sum.cpu += self_cost(w, &cpu_scale, cost->cpu_ticks);
        sum.statements += cost->statements;
        add_memory(w, &sum, nytp_svs_of_cost(w->profile, *lines.at));
    }
    w->out->n_negative = n_negative;
    return sum;
}

static void put_text_line(struct writer *w, const char *key, struct nytp_name value)
{
    struct nytp_name text;
    if (value.len == 0)
        return;
    if (!nytp_viewer_names_escape(w->names, value, &text)) {
        nytp_out_of_memory(&w->out->error);
        return;
    }
    nytp_puts(w->out, key);
    nytp_put(w->out, text.ptr, text.len);
    nytp_putc(w->out, '\n');
}

static void put_preamble(struct nytp_out *out)
{
    static const char text[] =
        "# callgrind format\n"
        "# A profile of a Perl program, for KCachegrind and callgrind_annotate.\n"
        "# The lines of # make it readable from a pipe: kcachegrind /dev/stdin\n";
    static const char filler[] =
        "###############################################################################\n";
    size_t left = SNIFFED_LEN - (sizeof text - 1);
    nytp_puts(out, text);
    while (left > 2 * sizeof filler) {
        nytp_puts(out, filler);
        left -= sizeof filler - 1;
    }
    while (left-- > 1)
        nytp_putc(out, '#');
    nytp_putc(out, '\n');
}

static void put_events(struct writer *w, struct costs costs)
{
    static const char *const descriptions[] = {"Statements", "Samples",
                                               "Statements and samples"};
    struct nytp_out *out = w->out;
    const char *const stmts = nytp_text_stmts(w->profile);
    nytp_puts(out, "positions: line\n");
    if (w->time)
        nytp_printf(out, "event: %s : Time [%s]\n", w->unit->name, w->unit->long_name);
    if (w->cpu)
        nytp_printf(out, "event: cpu : Processor time [%s]\n", w->unit->long_name);
    if (w->statements)
        nytp_printf(out, "event: %s : %s\n", stmts,
                    descriptions[nytp_text_counted(w->profile)]);
    for (int i = NYTP_MEMORY_FIRST; i < NYTP_MEMORY_END; i++)
        if (has(w, i))
            nytp_printf(out, "event: %s : %s\n", nytp_measures[i].event, nytp_measures[i].kept);
    nytp_printf(out, "events: %s%s%s%s", w->time ? w->unit->name : "", w->cpu ? " cpu" : "",
                w->statements && w->time ? " " : "", w->statements ? stmts : "");
    for (int i = NYTP_MEMORY_FIRST; i < NYTP_MEMORY_END; i++)
        if (has(w, i))
            nytp_printf(out, " %s", nytp_measures[i].event);
    nytp_puts(out, "\nsummary: ");
    put_costs(w, costs);
}

static void put_descriptions(struct writer *w, const struct nytp_recording *recording)
{
    struct nytp_out *out = w->out;
    const struct nytp_profile *profile = w->profile;
    put_text_line(w, "desc: Perl: ", recording->perl_version);
    put_text_line(w, "desc: Recorder: ", recording->xs_version);
    nytp_puts(out, "desc: Processes:");
    for (uint32_t i = 0; i < recording->n_processes; i++)
        nytp_printf(out, " %lu",
                    (unsigned long)profile->processes[recording->first_process + i].pid);
    nytp_putc(out, '\n');
    if (recording->partial)
        put_text_line(w, "desc: Partial: ",
                      (struct nytp_name){.ptr = recording->error.message,
                                         .len = (uint32_t)strlen(recording->error.message)});
    if (profile->sampled)
        nytp_puts(out, "desc: Sampled: numbers of calls are at least so many\n");
    if (recording->estimated_tree)
        nytp_puts(out, "desc: Estimated: inclusive statement counts (no call events)\n");
}

/* Writes a part of the file: one recording of a merged profile. */
static void put_recording(struct writer *w, uint32_t index, struct range lines,
                          struct range arcs)
{
    const struct nytp_profile *profile = w->profile;
    const struct nytp_recording *recording = &profile->recordings[index];
    struct nytp_out *out = w->out;
    memset(w->sub_ids, 0, (profile->n_subs + 1) * sizeof *w->sub_ids);
    memset(w->file_ids, 0, (profile->n_files + 1) * sizeof *w->file_ids);
    w->n_sub_ids = w->n_file_ids = 0;
    w->script = (struct nytp_name){.ptr = "???", .len = 3};
    if (recording->application.len > 0 &&
        !nytp_viewer_names_escape(w->names, recording->application, &w->script)) {
        nytp_out_of_memory(&out->error);
        return;
    }

    if (index > 0)
        nytp_putc(out, '\n');
    nytp_puts(out, "version: 1\ncreator: nytp-export\n");
    if (recording->n_processes > 0)
        nytp_printf(out, "pid: %lu\n",
                    (unsigned long)profile->processes[recording->first_process].pid);
    /* KCachegrind rejects a second command */
    const bool same = recording->application.ptr == profile->recordings[0].application.ptr;
    put_text_line(w, same ? "cmd: " : "desc: Command: ", recording->application);
    if (profile->n_recordings > 1)
        nytp_printf(out, "part: %lu\n", (unsigned long)index + 1);
    put_descriptions(w, recording);
    const struct costs costs = costs_of(w, lines);
    put_events(w, costs);
    if (recording->n_processes > 0)
        put_program(w, recording, costs);
    put_functions(w, lines, arcs);
    nytp_puts(out, "\ntotals: ");
    put_costs(w, costs);
}

static uint32_t recording_of_arc(const struct nytp_profile *profile, uint32_t i)
{
    return profile->arcs[i].recording;
}

static uint32_t recording_of_line_cost(const struct nytp_profile *profile, uint32_t i)
{
    return profile->line_costs[i].recording;
}

/* Sorts indices of n things by recording, stably. first[recording] becomes the start of a
 * recording; `first` has n_recordings + 2 zeroed elements. */
static void sort_by_recording(const struct nytp_profile *profile, uint32_t *sorted, uint32_t n,
                              uint32_t (*recording_of)(const struct nytp_profile *, uint32_t),
                              uint32_t *first)
{
    uint32_t *const next = first + 1;
    for (uint32_t i = 0; i < n; i++)
        next[recording_of(profile, i) + 1]++;
    for (uint32_t p = 0; p < profile->n_recordings; p++)
        next[p + 1] += next[p];
    for (uint32_t i = 0; i < n; i++)
        sorted[next[recording_of(profile, i)]++] = i;
}

static void put_recordings(struct writer *w, uint32_t *first_line, uint32_t *first_arc)
{
    const struct nytp_profile *profile = w->profile;
    sort_by_recording(profile, w->line_costs, profile->n_line_costs, recording_of_line_cost,
                      first_line);
    sort_by_recording(profile, w->arcs, profile->n_arcs, recording_of_arc, first_arc);
    put_preamble(w->out);
    for (uint32_t p = 0; p < profile->n_recordings; p++)
        put_recording(
            w, p,
            (struct range){w->line_costs + first_line[p], w->line_costs + first_line[p + 1]},
            (struct range){w->arcs + first_arc[p], w->arcs + first_arc[p + 1]});
}

static bool write_callgrind(const struct nytp_profile *profile,
                            const struct nytp_export_options *options, struct nytp_out *out)
{
    struct writer w = {
        .profile = profile,
        .options = options,
        .out = out,
        .unit = options->unit != NULL ? options->unit : nytp_unit_find("ns"),
        .names = nytp_viewer_names_new(profile),
        .arc_cpu = profile->sampled
                       ? nytp_inclusive(profile, nytp_measures[NYTP_WEIGHT_CPU].own)
                       : calloc((size_t)profile->n_arcs + 1, sizeof(uint64_t)),
        .arc_statements = nytp_inclusive(profile, nytp_measures[NYTP_WEIGHT_STATEMENTS].own),
        .time = nytp_profile_has(profile, NYTP_WEIGHT_TIME),
        .cpu = profile->sampled,
        .statements =
            profile->total.statements > 0 || !nytp_profile_has(profile, NYTP_WEIGHT_TIME),
        .arcs = calloc((size_t)profile->n_arcs + 1, sizeof *w.arcs),
        .line_costs = calloc((size_t)profile->n_line_costs + 1, sizeof *w.line_costs),
        .sub_ids = calloc((size_t)profile->n_subs + 1, sizeof *w.sub_ids),
        .file_ids = calloc((size_t)profile->n_files + 1, sizeof *w.file_ids),
    };
    nytp_scale_init(&w.scale, w.unit, profile->ticks_per_sec);
    w.cpu_scale = w.scale;
    uint32_t *first_line = calloc((size_t)profile->n_recordings + 2, sizeof *first_line);
    uint32_t *first_arc = calloc((size_t)profile->n_recordings + 2, sizeof *first_arc);
    const bool has_memory = nytp_inclusive_memory_init(&w.arc_memory, profile, true, true);
    if (has_memory && w.names != NULL && w.arc_cpu != NULL && w.arc_statements != NULL &&
        w.arcs != NULL && w.line_costs != NULL && w.sub_ids != NULL && w.file_ids != NULL &&
        first_line != NULL && first_arc != NULL && cost_arcs(&w))
        put_recordings(&w, first_line, first_arc);
    else
        nytp_out_of_memory(&out->error);
    free(first_line);
    free(first_arc);
    free(w.file_ids);
    free(w.sub_ids);
    free(w.line_costs);
    free(w.arcs);
    free(w.arc_costs);
    free(w.arc_cpu);
    free(w.arc_statements);
    nytp_inclusive_memory_free(&w.arc_memory);
    nytp_viewer_names_free(w.names);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_callgrind = {
    .name = "callgrind",
    .title = "callgrind.out for KCachegrind and callgrind_annotate",
    .suffixes = ".callgrind callgrind.out*",
    .shows_counts = true,
    .needs = NYTP_HAS_STATEMENTS | NYTP_HAS_ARCS,
    .viewer = "kcachegrind|qcachegrind",
    .no_diff = "its costs have no sign; use --pprof",
    .write = write_callgrind,
    .takes = "open unit",
    .options = NYTP_OPTIONS(
        NYTP_OWN_OPTION("plain-names", FLAG, plain_names, "", "no name compression")),
};
