/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * speedscope's JSON: https://www.speedscope.app/file-format-schema.json, file-format-spec.ts.
 *
 * One file has two kinds of profile, to be chosen in the title bar:
 *
 *   - evented, one per process: every call at its place in time. If a recording has more calls
 *     than the timeline keeps, the shortest are counted in their callers, and the profile's
 *     name says so.
 *   - sampled: all processes, one weighted sample per distinct stack; always exact. A sampled
 *     recording has a second one, of processor time.
 *
 * speedscope's rules: frames are identified by index, so each sub is one; events must not go
 * back in time and must nest; a closing event precedes an opening one of the same time.
 */
#include "exporters/compare/diff.h"
#include "exporters/stacks/frames.h"
#include "exporters/base/json.h"
#include "exporters/stacks/stacktree.h"
#include "exporters/stacks/timeline.h"

#include <stdio.h>
#include <string.h>

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
    const struct nytp_profile *profile;
    const struct nytp_export_options *options;
    const struct nytp_unit *unit;
    struct nytp_out *out;
    struct nytp_frames frames;
};

/* The value of a stack in a sampled profile: its time or, for two sides, that of one of them
 * or the surplus of one over the other. */
enum shown {
    SHOWN_VALUE,
    SHOWN_BASE,
    SHOWN_MORE,
    SHOWN_LESS
};

static int64_t shown_ticks(const struct nytp_stack *stack, enum shown shown)
{
    switch (shown) {
    case SHOWN_VALUE:
        return stack->value;
    case SHOWN_BASE:
        return stack->base;
    case SHOWN_MORE:
        return stack->value > stack->base ? stack->value - stack->base : 0;
    case SHOWN_LESS:
        break;
    }
    return stack->base > stack->value ? stack->base - stack->value : 0;
}

static void write_frames(const struct speedscope *s)
{
    const struct nytp_profile *profile = s->profile;
    struct nytp_out *out = s->out;
    for (uint32_t i = 0; i < s->frames.n_frames; i++) {
        const struct nytp_sub *sub = &profile->subs[s->frames.frames[i].sub];
        nytp_puts(out, i == 0 ? "\n{\"name\":" : ",\n{\"name\":");
        nytp_frames_json_name(profile, s->frames.frames[i], out);
        if (sub->file != 0) {
            const struct nytp_name *file = &profile->files[sub->file].name;
            nytp_puts(out, ",\"file\":");
            nytp_json_string(out, file->ptr, file->len);
        }
        if (sub->first_line > 0)
            nytp_printf(out, ",\"line\":%u", sub->first_line);
        nytp_putc(out, '}');
    }
}

static void begin_profile(const struct speedscope *s, bool first, const char *type)
{
    nytp_printf(s->out, "%s\n{\"type\":\"%s\",\"unit\":\"%s\",\"name\":", first ? "" : ",",
                type, s->unit->long_name);
}

static void put_event(const struct speedscope *s, bool opens, uint32_t node, bool first,
                      int64_t at)
{
    char text[2 * NYTP_MAX_FIXED + 50], *end = text;
    end = nytp_append(end, first ? "\n{\"type\":\"" : ",\n{\"type\":\"");
    *end++ = opens ? 'O' : 'C';
    end = nytp_append(end, "\",\"frame\":");
    end = nytp_append_u64(end, nytp_frames_of_node(&s->frames, &s->profile->nodes[node]));
    end = nytp_append(end, ",\"at\":");
    end = nytp_append(nytp_json_append_fixed(end, at, 0), "}");
    nytp_put(s->out, text, (size_t)(end - text));
}

/* Writes an event. If deep calls are drawn in one row, it also closes or reopens the call that
 * the event hides or reveals. `inner` was the innermost call before. */
static void put_events(const struct speedscope *s, const struct nytp_timeline *t,
                       uint32_t inner, int64_t at)
{
    if (t->opens && t->n_open > NYTP_MOST_DRAWN + 2)
        put_event(s, false, inner, false, at);
    put_event(s, t->opens, t->node, t->opens && t->n_open == 1, at);
    if (!t->opens && t->n_open > NYTP_MOST_DRAWN + 1)
        put_event(s, true, t->innermost, false, at);
}

/* Rounding to the unit keeps order: calls that nest in ticks still nest in the file. */
static bool write_evented(const struct speedscope *s, uint32_t process, bool first)
{
    struct nytp_scale scale;
    nytp_scale_init(&scale, s->unit, s->profile->ticks_per_sec);
    char remark[200];
    begin_profile(s, first, "evented");
    nytp_timeline_remark(s->profile, process, remark, sizeof remark);
    if (nytp_process_is_too_deep(s->profile, process))
        strcat(remark, ", deep calls are in one row");
    nytp_process_json_label(s->profile, process, remark, s->out);
    struct nytp_timeline t;
    nytp_timeline_begin(&t, s->profile, process);
    nytp_puts(s->out, ",\"startValue\":0,\"endValue\":");
    nytp_put_i64(s->out, nytp_scale_once(&scale, t.end_ticks));
    nytp_puts(s->out, ",\"events\":[");
    for (uint32_t inner = t.root; nytp_timeline_next(&t); inner = t.innermost)
        put_events(s, &t, inner, nytp_scale_once(&scale, t.at_ticks));
    const bool ok = !t.no_memory;
    nytp_timeline_end(&t);
    nytp_puts(s->out, "]}");
    return ok;
}

/* Writes one list of a sampled profile: the stacks, or (`stacks` false) their weights. */
static bool write_samples(const struct speedscope *s, const struct nytp_stacktree *tree,
                          enum shown shown, bool stacks)
{
    struct nytp_scale scale;
    nytp_scale_init(&scale, s->unit, s->profile->ticks_per_sec);
    struct nytp_stack_walk walk;
    if (!nytp_stack_walk_begin(&walk, tree))
        return false;
    const char *separator = "\n";
    while (nytp_stack_walk_next(&walk)) {
        const int64_t ticks = shown_ticks(walk.stack, shown);
        if (ticks <= 0) {
            s->out->n_negative += stacks && ticks < 0;
            continue;
        }
        nytp_puts(s->out, separator);
        separator = ",\n";
        if (!stacks) {
            nytp_put_i64(s->out, nytp_scale_next(&scale, ticks));
            continue;
        }
        for (uint32_t i = 0; i < walk.stack->depth; i++) {
            const struct nytp_stack_frame *frame = &tree->frames[walk.path[i]];
            nytp_putc(s->out, i == 0 ? '[' : ',');
            nytp_put_u64(s->out, nytp_frames_id(&s->frames, frame->sub, frame->unreturned));
        }
        nytp_putc(s->out, ']');
    }
    nytp_stack_walk_end(&walk);
    return true;
}

static int64_t positive_ticks(const struct nytp_stacktree *tree, enum shown shown)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < tree->n_stacks; i++) {
        const int64_t ticks = shown_ticks(&tree->stacks[i], shown);
        sum += ticks > 0 ? ticks : 0;
    }
    return sum;
}

/* Writes the rest of a sampled profile, behind its name. */
static bool write_stacks(const struct speedscope *s, const struct nytp_stacktree *tree,
                         enum shown shown)
{
    struct nytp_scale scale;
    nytp_scale_init(&scale, s->unit, s->profile->ticks_per_sec);
    nytp_printf(s->out, ",\"startValue\":0,\"endValue\":%lld,\"samples\":[",
                (long long)nytp_scale_once(&scale, positive_ticks(tree, shown)));
    bool ok = write_samples(s, tree, shown, true);
    nytp_puts(s->out, "],\"weights\":[");
    ok = ok && write_samples(s, tree, shown, false);
    nytp_puts(s->out, "]}");
    return ok;
}

/* Writes the totals of one weight, which `remark` names. */
static bool write_sampled(const struct speedscope *s, bool first, enum nytp_weight weight,
                          const char *remark)
{
    struct nytp_export_options options = *s->options;
    char text[40];
    snprintf(text, sizeof text, "%s%s", s->profile->n_processes > 1 ? " and others, " : ", ",
             remark);
    options.weight = weight;
    options.lines = false;
    struct nytp_stacktree *tree =
        nytp_stacktree_new(s->profile, &options, NYTP_ALL_PROCESSES, false);
    bool ok = tree != NULL && nytp_stacktree_sort(tree, NULL);
    if (ok) {
        begin_profile(s, first, "sampled");
        nytp_process_json_label(s->profile, 0, text, s->out);
        ok = write_stacks(s, tree, SHOWN_VALUE);
    }
    nytp_stacktree_free(tree);
    return ok;
}

static bool has_timeline(const struct speedscope *s, uint32_t process)
{
    return !s->options->aggregate && nytp_process_has_timeline(s->profile, process);
}

/* Returns the profile to open: the first time line, or the totals (last) if a time line is
 * incomplete. The sandwich view of an incomplete one would rank the time of many short calls
 * under their callers. */
static uint32_t first_view(const struct speedscope *s)
{
    uint32_t n_timelines = 0;
    uint64_t n_pruned = 0;
    for (uint32_t i = 0; i < s->profile->n_processes; i++)
        n_timelines += has_timeline(s, i);
    for (uint32_t i = 0; i < s->profile->n_recordings; i++)
        n_pruned += s->profile->recordings[i].spans_pruned;
    return n_pruned > 0 ? n_timelines : 0;
}

static bool write_profiles(const struct speedscope *s)
{
    bool first = true;
    for (uint32_t i = 0; i < s->profile->n_processes; i++) {
        if (!has_timeline(s, i))
            continue;
        if (!write_evented(s, i, first))
            return false;
        first = false;
    }
    bool ok = write_sampled(s, first, NYTP_WEIGHT_TIME, "totals") &&
              (!s->profile->sampled ||
               write_sampled(s, false, NYTP_WEIGHT_CPU, "totals of processor time"));
    for (int w = NYTP_MEMORY_FIRST; ok && w < NYTP_MEMORY_END; w++) {
        static const struct nytp_unit none = {"none", "none", 0}, bytes = {"bytes", "bytes", 0};
        const enum nytp_weight weight = (enum nytp_weight)w;
        struct speedscope counted = *s; /* nothing is converted */
        counted.unit = nytp_weight_is_space(weight) ? &bytes : &none;
        ok = !nytp_profile_has(s->profile, weight) ||
             write_sampled(&counted, false, weight, nytp_measures[weight].kept);
    }
    return ok;
}

/* speedscope has no view of a difference. So the file has both sides, and the surplus of each
 * over the other, as four profiles. */
static bool write_sides(const struct speedscope *s, const struct nytp_stacktree *tree)
{
    static const struct {
        const char *name;
        enum shown shown;
    } views[] = {
        {"new", SHOWN_VALUE}, {"base", SHOWN_BASE}, {"more", SHOWN_MORE}, {"less", SHOWN_LESS}};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof views / sizeof *views; i++) {
        begin_profile(s, i == 0, "sampled");
        nytp_json_text(s->out, views[i].name);
        ok = write_stacks(s, tree, views[i].shown);
    }
    return ok;
}

static struct nytp_stacktree *tree_of_sides(const struct nytp_diff *diff,
                                            const struct nytp_export_options *given)
{
    struct nytp_export_options options = *given;
    options.weight = NYTP_WEIGHT_TIME;
    options.lines = false;
    struct nytp_stacktree *tree =
        nytp_stacktree_of_sides(diff->profile, &options, diff->side_of_recording);
    if (tree != NULL && nytp_stacktree_sort(tree, NULL))
        return tree;
    nytp_stacktree_free(tree);
    return NULL;
}

/* `diff` is NULL for one profile. */
static bool write_file(const struct nytp_profile *profile, const struct nytp_diff *diff,
                       const struct nytp_export_options *options, struct nytp_out *out)
{
    struct speedscope s = {
        .profile = profile,
        .options = options,
        .unit = options->unit != NULL ? options->unit : nytp_unit_find("ns"),
        .out = out,
    };
    struct nytp_stacktree *tree = diff != NULL ? tree_of_sides(diff, options) : NULL;
    bool ok = diff == NULL ? nytp_frames_init(&s.frames, profile, 0, profile->n_nodes)
                           : tree != NULL && nytp_frames_init_of_tree(&s.frames, profile, tree);
    if (ok) {
        nytp_puts(out, "{\"$schema\":\"" SCHEMA "\",\n\"exporter\":\"nytp-export\",\"name\":");
        nytp_process_json_label(profile, 0, "", out);
        nytp_printf(out, ",\n\"activeProfileIndex\":%lu,\"shared\":{\"frames\":[",
                    (unsigned long)(diff != NULL ? 0 : first_view(&s)));
        write_frames(&s);
        nytp_puts(out, "]},\n\"profiles\":[");
        ok = diff != NULL ? write_sides(&s, tree) : write_profiles(&s);
        nytp_puts(out, "]}\n");
    }
    if (!ok)
        nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory for speedscope");
    nytp_stacktree_free(tree);
    nytp_frames_free(&s.frames);
    return out->error.status == NYTP_OK;
}

static bool write_speedscope(const struct nytp_profile *profile,
                             const struct nytp_export_options *options, struct nytp_out *out)
{
    return write_file(profile, NULL, options, out);
}

static bool write_speedscope_diff(const struct nytp_diff *diff,
                                  const struct nytp_export_options *options,
                                  struct nytp_out *out)
{
    return write_file(diff->profile, diff, options, out);
}

const struct nytp_exporter nytp_exporter_speedscope = {
    .name = "speedscope",
    .title = "speedscope JSON: timeline, left heavy and sandwich views",
    .suffixes = ".speedscope.json",
    .needs = NYTP_HAS_CALLS,
    .wants_spans = true,
    .viewer = "speedscope",
    .viewer_leaves = true,
    .write = write_speedscope,
    .write_diff = write_speedscope_diff,
    .shows_stacks = true,
    .sums_runs = true,
    .takes = "aggregate max-calls open unit",
    .takes_diff = "normalize open unit",
};
