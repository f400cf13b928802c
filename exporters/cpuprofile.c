/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * .cpuprofile, V8's format (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/).
 * VS Code and Chrome's DevTools open it, and VS Code shows times beside source lines.
 *
 * Each process is a branch below "(root)". A stack with exclusive time is one sample, which
 * lasts until the next one. So totals are exact to the format's microseconds, but the order of
 * samples is that of the stacks and no time line.
 *
 * Readers take times from different fields. speedscope and VS Code use samples and timeDeltas.
 * DevTools uses hitCount, and positionTicks for lines, each as a part of all hits: so both are
 * in microseconds. VS Code shows times at frames only: with `lines` the lines of a sub are
 * frames within it.
 */
#include "exporters/base/exporter.h"
#include "exporters/base/json.h"
#include "exporters/stacks/process_stacks.h"

#include "formats/base/arena.h"
#include "formats/model/profile.h"

#include <stdlib.h>

#define ROOT_ID 1u

/* Time on one line of a stack's last sub. */
struct tick_line {
    uint32_t stack, line;
    int64_t ticks, us;
};

struct sample {
    uint32_t id;
    int64_t us;
};

struct cpuprofile {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    struct nytp_out *out;
    struct nytp_scale scale, line_scale;
    struct nytp_process_stacks stacks;
    struct tick_line *lines; /* of the current process, by stack and line */
    uint32_t n_lines;
    uint32_t *first_line; /* by stack: index into lines; one more than stacks */
    int64_t *us;          /* a stack's exclusive time, without lines that are frames */
    struct sample *samples;
    uint32_t n_samples, samples_size;
    uint32_t first_id; /* of the process's stack 0 */
};

static int by_stack_line(const void *x, const void *y)
{
    const struct tick_line *a = x, *b = y;
    NYTP_RETURN_ORDER(a->stack, b->stack);
    return (a->line > b->line) - (a->line < b->line);
}

static void merge_equal_lines(struct cpuprofile *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_lines; i++) {
        const struct tick_line line = c->lines[i];
        if (n > 0 && by_stack_line(&c->lines[n - 1], &line) == 0)
            c->lines[n - 1].ticks = nytp_ticks_sum(c->lines[n - 1].ticks, line.ticks);
        else
            c->lines[n++] = line;
    }
    c->n_lines = n;
}

/* Gathers the lines in the sub's file. Others have no line at the place that is shown. */
static bool gather_lines(struct cpuprofile *c, uint32_t process)
{
    const struct nytp_profile *p = c->profile;
    const uint32_t first = p->processes[process].root, end = nytp_process_nodes_end(p, process);
    uint32_t n = 0;
    for (uint32_t i = first; i < end; i++)
        n += p->nodes[i].n_node_lines;
    free(c->lines);
    free(c->first_line);
    c->n_lines = 0;
    c->lines = malloc(((size_t)n + 1) * sizeof *c->lines);
    c->first_line = calloc((size_t)c->stacks.n + 1, sizeof *c->first_line);
    if (c->lines == NULL || c->first_line == NULL)
        return false;
    for (uint32_t i = first; i < end; i++) {
        const struct nytp_node *node = &p->nodes[i];
        const struct nytp_node_line *lines = p->node_lines + node->first_node_line;
        for (uint32_t k = 0; k < node->n_node_lines; k++)
            if (lines[k].line > 0 && lines[k].ticks > 0 &&
                lines[k].file == p->subs[node->sub].file)
                c->lines[c->n_lines++] = (struct tick_line){c->stacks.stack_of_node[i - first],
                                                            lines[k].line, lines[k].ticks, 0};
    }
    qsort(c->lines, c->n_lines, sizeof *c->lines, by_stack_line);
    merge_equal_lines(c);
    for (uint32_t i = 0; i < c->n_lines; i++)
        c->first_line[c->lines[i].stack + 1]++;
    for (uint32_t i = 0; i < c->stacks.n; i++)
        c->first_line[i + 1] += c->first_line[i];
    return true;
}

static uint32_t count_nodes(const struct cpuprofile *c)
{
    return c->stacks.n + (c->options->lines ? c->n_lines : 0);
}

static uint32_t line_id(const struct cpuprofile *c, uint32_t line)
{
    return c->first_id + c->stacks.n + line;
}

static bool add_sample(struct cpuprofile *c, uint32_t id, int64_t us)
{
    if (!nytp_grow(&c->samples, &c->samples_size, c->n_samples, sizeof *c->samples))
        return false;
    c->samples[c->n_samples++] = (struct sample){id, us};
    return true;
}

static int64_t to_us(struct cpuprofile *c, struct nytp_scale *scale, int64_t ticks)
{
    return nytp_scale_next(scale, nytp_not_negative(c->out, ticks));
}

/* Computes microseconds of all stacks and lines in the order of samples. */
static bool work_out_times(struct cpuprofile *c)
{
    bool ok = true;
    free(c->us);
    c->us = calloc((size_t)c->stacks.n + 1, sizeof *c->us);
    for (uint32_t i = 0; c->us != NULL && ok && i < c->stacks.n; i++) {
        const uint32_t stack = c->stacks.order[i];
        int64_t ticks = c->stacks.stacks[stack].ticks;
        c->line_scale = c->scale; /* so that lines add up to their stack */
        for (uint32_t k = c->first_line[stack]; k < c->first_line[stack + 1]; k++) {
            struct tick_line *line = &c->lines[k];
            line->us = to_us(c, c->options->lines ? &c->scale : &c->line_scale, line->ticks);
            ticks -= c->options->lines ? line->ticks : 0;
            if (ok && c->options->lines && line->us > 0)
                ok = add_sample(c, line_id(c, k), line->us);
        }
        c->us[stack] = to_us(c, &c->scale, ticks);
        if (ok && c->us[stack] > 0)
            ok = add_sample(c, c->first_id + stack, c->us[stack]);
    }
    return ok && c->us != NULL;
}

/* Lists each stack's children: first[stack] to first[stack + 1] of `ids`. */
static bool list_children(const struct nytp_process_stacks *stacks, uint32_t **first,
                          uint32_t **ids)
{
    *first = calloc((size_t)stacks->n + 2, sizeof **first);
    *ids = malloc(((size_t)stacks->n + 1) * sizeof **ids);
    if (*first == NULL || *ids == NULL)
        return false;
    for (uint32_t i = 0; i < stacks->n; i++)
        if (stacks->stacks[i].parent != i)
            (*first)[stacks->stacks[i].parent + 2]++;
    for (uint32_t i = 2; i <= stacks->n; i++)
        (*first)[i] += (*first)[i - 1];
    for (uint32_t i = 0; i < stacks->n; i++) /* first[parent + 1] moves to its place */
        if (stacks->stacks[i].parent != i)
            (*ids)[(*first)[stacks->stacks[i].parent + 1]++] = i;
    return true;
}

/* V8 counts lines from 0; -1 is none. Viewers open `url`. `line` is 0 for the sub itself. */
static void put_call_frame(struct cpuprofile *c, uint32_t id, const struct nytp_sub *sub,
                           uint32_t line, int64_t us)
{
    const struct nytp_name file = c->profile->files[sub->file].name;
    nytp_printf(c->out, ",\n{\"id\":%lu,\"callFrame\":{\"functionName\":", (unsigned long)id);
    if (line == 0)
        nytp_json_string(c->out, sub->name.ptr, sub->name.len);
    else
        nytp_printf(c->out, "\"line %lu\"", (unsigned long)line);
    nytp_printf(c->out, ",\"scriptId\":\"%lu\",\"url\":", (unsigned long)sub->file);
    nytp_json_string(c->out, file.ptr, file.len);
    nytp_printf(c->out, ",\"lineNumber\":%ld,\"columnNumber\":0},\"hitCount\":%lld",
                (long)(line == 0 ? sub->first_line : line) - 1, (long long)us);
}

static void put_position_ticks(struct cpuprofile *c, uint32_t first, uint32_t end)
{
    for (uint32_t k = first; k < end; k++)
        nytp_printf(c->out, "%s{\"line\":%lu,\"ticks\":%lld}",
                    k == first ? ",\"positionTicks\":[" : ",", (unsigned long)c->lines[k].line,
                    (long long)c->lines[k].us);
    nytp_puts(c->out, end > first ? "]" : "");
}

static void put_stack(struct cpuprofile *c, uint32_t stack, const uint32_t *children,
                      uint32_t n_children)
{
    const uint32_t first = c->first_line[stack], end = c->first_line[stack + 1];
    const char *separator = ",\"children\":[";
    put_call_frame(c, c->first_id + stack, &c->profile->subs[c->stacks.stacks[stack].sub], 0,
                   c->us[stack]);
    for (uint32_t i = 0; i < n_children; i++, separator = ",")
        nytp_printf(c->out, "%s%lu", separator, (unsigned long)(c->first_id + children[i]));
    for (uint32_t k = first; c->options->lines && k < end; k++, separator = ",")
        nytp_printf(c->out, "%s%lu", separator, (unsigned long)line_id(c, k));
    nytp_puts(c->out, *separator == ',' && separator[1] == '\0' ? "]" : "");
    if (!c->options->lines)
        put_position_ticks(c, first, end);
    nytp_putc(c->out, '}');
}

static void put_lines(struct cpuprofile *c)
{
    for (uint32_t k = 0; k < c->n_lines; k++) {
        const struct tick_line *line = &c->lines[k];
        put_call_frame(c, line_id(c, k), &c->profile->subs[c->stacks.stacks[line->stack].sub],
                       line->line, line->us);
        put_position_ticks(c, k, k + 1);
        nytp_putc(c->out, '}');
    }
}

static bool put_process(struct cpuprofile *c, const struct nytp_stacks *bounds,
                        uint32_t process)
{
    if (!nytp_process_stacks_fill(&c->stacks, c->profile, bounds, process) ||
        !gather_lines(c, process) || !work_out_times(c))
        return false;
    uint32_t *first, *children;
    const bool ok = list_children(&c->stacks, &first, &children);
    for (uint32_t i = 0; ok && i < c->stacks.n; i++)
        put_stack(c, i, children + first[i], first[i + 1] - first[i]);
    if (ok && c->options->lines)
        put_lines(c);
    free(first);
    free(children);
    c->first_id += count_nodes(c);
    return ok;
}

/* A sample lasts until the next one, so the last one, of the root, has no time. */
static void put_samples(struct cpuprofile *c, int64_t start_us)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < c->n_samples; i++)
        sum = nytp_ticks_sum(sum, c->samples[i].us);
    nytp_printf(c->out, "],\n\"startTime\":%lld,\"endTime\":%lld,\n\"samples\":[",
                (long long)start_us, (long long)nytp_ticks_sum(start_us, sum));
    for (uint32_t i = 0; i < c->n_samples; i++)
        nytp_printf(c->out, "%lu,", (unsigned long)c->samples[i].id);
    nytp_printf(c->out, "%u],\n\"timeDeltas\":[0", ROOT_ID);
    for (uint32_t i = 0; i < c->n_samples; i++)
        nytp_printf(c->out, ",%lld", (long long)c->samples[i].us);
    nytp_puts(c->out, "]}\n");
}

/* Writes the first node, whose children are the processes' roots. */
static bool put_root(struct cpuprofile *c, const struct nytp_stacks *bounds)
{
    nytp_puts(
        c->out,
        "{\"nodes\":[\n{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\",\"scriptId\":\"0\","
        "\"url\":\"\",\"lineNumber\":-1,\"columnNumber\":-1},\"hitCount\":0,\"children\":[");
    uint32_t id = c->first_id;
    for (uint32_t i = 0; i < c->profile->n_processes; i++) {
        if (!nytp_process_stacks_fill(&c->stacks, c->profile, bounds, i) ||
            (c->options->lines && !gather_lines(c, i)))
            return false;
        nytp_printf(c->out, "%s%lu", i > 0 ? "," : "", (unsigned long)id);
        id += count_nodes(c);
    }
    nytp_puts(c->out, "]}");
    return true;
}

static bool write_cpuprofile(const struct nytp_profile *profile,
                             const struct nytp_export_options *options, struct nytp_out *out)
{
    struct cpuprofile c = {
        .profile = profile, .options = options, .out = out, .first_id = ROOT_ID + 1};
    struct nytp_stacks bounds;
    nytp_scale_init(&c.scale, nytp_unit_find("us"), profile->ticks_per_sec);
    bool ok = nytp_stacks_init(&bounds, profile, options);
    ok = ok && put_root(&c, &bounds);
    for (uint32_t i = 0; ok && i < profile->n_processes; i++)
        ok = put_process(&c, &bounds, i);
    const double start = profile->n_processes > 0 ? profile->processes[0].start_s : 0;
    if (ok)
        put_samples(&c, start > 0 && start < 4e9 ? (int64_t)(start * 1e6) : 0);
    else
        nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory for cpuprofile");
    nytp_stacks_free(&bounds);
    nytp_process_stacks_free(&c.stacks);
    free(c.lines);
    free(c.first_line);
    free(c.us);
    free(c.samples);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_cpuprofile = {
    .name = "cpuprofile",
    .title = "V8's .cpuprofile: VS Code, Chrome DevTools",
    .suffixes = ".cpuprofile",
    .needs = NYTP_HAS_STATEMENTS | NYTP_HAS_CALLS,
    .no_diff = "use --speedscope or --pprof",
    .write = write_cpuprofile,
    .takes = "lines",
};
