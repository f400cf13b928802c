/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * .cpuprofile, V8's format (https://chromedevtools.github.io/devtools-protocol/tot/Profiler/): VS Code
 * and Chrome's DevTools open it, and VS Code shows the times beside the lines of the source.
 *
 * Each process is a branch below "(root)". A stack with time of its own is one sample, which lasts
 * until the next one; so totals are exact to the microsecond that the format counts in, but the
 * order of samples is that of the stacks and no time line. positionTicks are microseconds, too.
 */
#include "core/exporter.h"
#include "core/json.h"
#include "core/process_stacks.h"
#include "core/stacktree.h"

#include <stdlib.h>

#define ROOT_ID 1u

/* Time on a line of a stack's last sub. */
struct tick_line {
    uint32_t stack, line;
    int64_t ticks;
};

struct sample {
    uint32_t id;
    int64_t us;
};

struct cpuprofile {
    const struct nytp_profile *profile;
    struct nytp_out *out;
    struct nytp_scale scale, line_scale;
    struct nytp_process_stacks stacks;
    struct tick_line *lines; /* of the process at hand, by stack and line */
    uint32_t n_lines;
    struct sample *samples;
    uint32_t n_samples, samples_size;
    uint32_t first_id; /* of the process's stack 0 */
};

static int by_stack_line(const void *x, const void *y)
{
    const struct tick_line *a = x, *b = y;
    if (a->stack != b->stack)
        return a->stack < b->stack ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* Lines of the sub's own file: the others belong to no line of the place that is shown. */
static bool gather_lines(struct cpuprofile *c, uint32_t process)
{
    const struct nytp_profile *p = c->profile;
    uint32_t first, end, n = 0;
    nytp_process_nodes(p, process, &first, &end);
    for (uint32_t i = first; i < end; i++)
        n += p->nodes[i].n_node_lines;
    free(c->lines);
    c->n_lines = 0;
    c->lines = malloc(((size_t)n + 1) * sizeof *c->lines);
    if (c->lines == NULL)
        return false;
    for (uint32_t i = first; i < end; i++) {
        const struct nytp_node *node = &p->nodes[i];
        const struct nytp_node_line *lines = p->node_lines + node->first_node_line;
        for (uint32_t k = 0; k < node->n_node_lines; k++)
            if (lines[k].line > 0 && lines[k].ticks > 0 && lines[k].file == p->subs[node->sub].file)
                c->lines[c->n_lines++] = (struct tick_line){
                    c->stacks.stack_of_node[i - first], lines[k].line, lines[k].ticks};
    }
    if (c->n_lines > 0)
        qsort(c->lines, c->n_lines, sizeof *c->lines, by_stack_line);
    return true;
}

/* `at` is the first line of the stack, and moves behind its last one. */
static void put_position_ticks(struct cpuprofile *c, uint32_t stack, uint32_t *at)
{
    const char *separator = ",\"positionTicks\":[";
    bool any = false;
    while (*at < c->n_lines && c->lines[*at].stack == stack) {
        const uint32_t line = c->lines[*at].line;
        int64_t ticks = 0;
        for (; *at < c->n_lines && c->lines[*at].stack == stack && c->lines[*at].line == line; (*at)++)
            ticks += c->lines[*at].ticks;
        nytp_printf(c->out, "%s{\"line\":%lu,\"ticks\":%lld}", separator, (unsigned long)line,
                    (long long)nytp_scale_next(&c->line_scale, ticks));
        separator = ",";
        any = true;
    }
    if (any)
        nytp_putc(c->out, ']');
}

static bool add_sample(struct cpuprofile *c, uint32_t id, int64_t us)
{
    if (c->n_samples == c->samples_size) {
        const uint32_t size = c->samples_size * 2 + 256;
        struct sample *samples = realloc(c->samples, (size_t)size * sizeof *samples);
        if (samples == NULL)
            return false;
        c->samples = samples;
        c->samples_size = size;
    }
    c->samples[c->n_samples++] = (struct sample){id, us};
    return true;
}

/* The list of each stack's children: first[stack] to first[stack + 1] of `ids`. */
static bool list_children(const struct nytp_process_stacks *stacks, uint32_t **first, uint32_t **ids)
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
    for (uint32_t i = 0; i < stacks->n; i++) /* first[parent + 1] moves to where it belongs */
        if (stacks->stacks[i].parent != i)
            (*ids)[(*first)[stacks->stacks[i].parent + 1]++] = i;
    return true;
}

/* V8 counts lines from 0, -1 is none; url is what DevTools and VS Code open. */
static void put_node(struct cpuprofile *c, uint32_t stack, const uint32_t *children, uint32_t n_children,
                     uint32_t *line)
{
    const struct nytp_sub *sub = &c->profile->subs[c->stacks.stacks[stack].sub];
    const struct nytp_name file = c->profile->files[sub->file].name;
    nytp_printf(c->out, ",\n{\"id\":%lu,\"callFrame\":{\"functionName\":",
                (unsigned long)(c->first_id + stack));
    nytp_json_string(c->out, sub->name.ptr, sub->name.len);
    nytp_printf(c->out, ",\"scriptId\":\"%lu\",\"url\":", (unsigned long)sub->file);
    nytp_json_string(c->out, file.ptr, file.len);
    nytp_printf(c->out, ",\"lineNumber\":%ld,\"columnNumber\":0},\"hitCount\":%d",
                (long)sub->first_line - 1, c->stacks.stacks[stack].ticks > 0);
    for (uint32_t i = 0; i < n_children; i++)
        nytp_printf(c->out, "%s%lu", i == 0 ? ",\"children\":[" : ",",
                    (unsigned long)(c->first_id + children[i]));
    nytp_puts(c->out, n_children > 0 ? "]" : "");
    put_position_ticks(c, stack, line);
    nytp_putc(c->out, '}');
}

static bool put_process(struct cpuprofile *c, const struct nytp_stacks *bounds, uint32_t process)
{
    if (!nytp_process_stacks_fill(&c->stacks, c->profile, bounds, process) ||
        !gather_lines(c, process))
        return false;
    uint32_t line = 0, *first, *children;
    bool ok = list_children(&c->stacks, &first, &children);
    for (uint32_t i = 0; ok && i < c->stacks.n; i++)
        put_node(c, i, children + first[i], first[i + 1] - first[i], &line);
    free(first);
    free(children);
    for (uint32_t i = 0; ok && i < c->stacks.n; i++) {
        const int64_t ticks = c->stacks.stacks[c->stacks.order[i]].ticks;
        const int64_t us = ticks > 0 ? nytp_scale_next(&c->scale, ticks) : 0;
        c->out->n_negative += ticks < 0;
        if (us > 0)
            ok = add_sample(c, c->first_id + c->stacks.order[i], us);
    }
    c->first_id += c->stacks.n;
    return ok;
}

/* A sample lasts until the next one, so the last one, of the root, lasts no time. */
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

/* The first node, whose children are the processes' own roots. */
static bool put_root(struct cpuprofile *c, const struct nytp_stacks *bounds)
{
    nytp_puts(c->out, "{\"nodes\":[\n{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\",\"scriptId\":\"0\","
                      "\"url\":\"\",\"lineNumber\":-1,\"columnNumber\":-1},\"hitCount\":0,\"children\":[");
    uint32_t id = c->first_id;
    for (uint32_t i = 0; i < c->profile->n_processes; i++) {
        if (!nytp_process_stacks_fill(&c->stacks, c->profile, bounds, i))
            return false;
        nytp_printf(c->out, "%s%lu", i > 0 ? "," : "", (unsigned long)id);
        id += c->stacks.n;
    }
    nytp_puts(c->out, "]}");
    return true;
}

static bool write_cpuprofile(const struct nytp_profile *profile,
                             const struct nytp_export_options *options, struct nytp_out *out)
{
    struct cpuprofile c = {.profile = profile, .out = out, .first_id = ROOT_ID + 1};
    struct nytp_stacks bounds;
    nytp_scale_init(&c.scale, nytp_unit_find("us"), profile->ticks_per_sec);
    c.line_scale = c.scale;
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
    free(c.samples);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_cpuprofile = {
    .name = "cpuprofile",
    .title = "V8's .cpuprofile: VS Code with times at lines, Chrome DevTools",
    .suffixes = ".cpuprofile",
    .needs = NYTP_HAS_STATEMENTS | NYTP_HAS_CALLS,
    .no_diff = "use --speedscope or --pprof",
    .write = write_cpuprofile,
};
