/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Chrome's Trace Event Format, JSON object form, as read by the Perfetto UI, chrome://tracing,
 * speedscope and the Firefox Profiler ("Trace Event Format", sections 1.1 and "X").
 *
 * Every call is a complete event: name, start and length in microseconds with three decimals.
 * A stretch with a label (DB::label) is one, too; each key has a track beside the calls.
 * Memory is counter events ("C"), one track for each kind. There are no other `args`, since
 * speedscope makes them part of a function's name.
 *
 * Without call events, or with --aggregate, the calling-context tree is laid out instead: the
 * callees of a context one after another. The track's name says so.
 */
#include "exporters/stacks/frames.h"
#include "exporters/base/json.h"
#include "exporters/stacks/label_tracks.h"
#include "exporters/stacks/timeline.h"
#include "exporters/base/waits.h"

#include "formats/base/arena.h"
#include "formats/model/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace {
    const struct nytp_profile *profile;
    struct nytp_out *out;
    struct nytp_frames frames;
    struct nytp_out *heads; /* in memory; see make_heads() */
    const uint8_t *head_text;
    size_t *head_ends;       /* per frame */
    struct nytp_scale scale; /* to nanoseconds */
    double first_start_s;    /* of all processes */
    uint32_t process;
    int64_t offset_ns; /* start of the process, relative to the first one */
    char ids[60];      /* of the process, as JSON */
    uint64_t tracks;   /* of labels, so far */
};

static const char *category(enum nytp_sub_kind kind)
{
    switch (kind) {
    case NYTP_SUB_XSUB:
        return "xsub";
    case NYTP_SUB_OPCODE:
        return "builtin";
    default:
        return "perl";
    }
}

static void put_ids(char *ids, size_t size, const struct trace *t, uint64_t thread)
{
    snprintf(ids, size, ",\"pid\":%lu,\"tid\":%llu",
             (unsigned long)t->profile->processes[t->process].pid, (unsigned long long)thread);
}

/* Two processes with one pid (recordings of several machines) differ by their thread. */
static void begin_process(struct trace *t, uint32_t process)
{
    t->process = process;
    t->offset_ns = nytp_process_offset_ns(&t->profile->processes[process], t->first_start_s);
    put_ids(t->ids, sizeof t->ids, t, (uint64_t)process + 1);
}

/* Prepares the text with which all calls of a frame begin: names are escaped only once. */
static bool make_heads(struct trace *t, const bool *is_waiting)
{
    const struct nytp_profile *profile = t->profile;
    t->head_ends = malloc(((size_t)t->frames.n_frames + 1) * sizeof *t->head_ends);
    t->heads = nytp_out_memory(true);
    if (t->head_ends == NULL || t->heads == NULL)
        return false;
    for (uint32_t i = 0; i < t->frames.n_frames; i++) {
        nytp_puts(t->heads, ",\n{\"ph\":\"X\",\"name\":");
        nytp_frames_json_name(profile, t->frames.frames[i], t->heads);
        const uint32_t sub = t->frames.frames[i].sub;
        nytp_printf(t->heads, ",\"cat\":\"%s%s\",\"ts\":", category(profile->subs[sub].kind),
                    is_waiting[sub] ? ",waiting" : "");
        nytp_out_bytes(t->heads, &t->head_ends[i]);
    }
    size_t len;
    t->head_text = nytp_out_bytes(t->heads, &len);
    return t->heads->error.status == NYTP_OK;
}

static void put_head(const struct trace *t, uint32_t frame)
{
    const size_t start = frame == 0 ? 0 : t->head_ends[frame - 1];
    nytp_put(t->out, t->head_text + start, t->head_ends[frame] - start);
}

static int64_t time_ns(const struct trace *t, int64_t ticks)
{
    return nytp_ticks_sum(t->offset_ns, nytp_scale_once(&t->scale, ticks));
}

static double time_us(const struct trace *t, int64_t ticks)
{
    return (double)time_ns(t, ticks) / 1000;
}

static bool takes_time(const struct trace *t, int64_t start_ticks, int64_t end_ticks)
{
    return nytp_scale_once(&t->scale, start_ticks) != nytp_scale_once(&t->scale, end_ticks);
}

/* Where a call begins and ends for a reader. */
struct bounds {
    double start_us, end_us;
};

static const struct bounds anywhere = {-HUGE_VAL, HUGE_VAL};

/* Writes start and length at *at, moves it on, and returns the bounds that readers compute.
 *
 * Readers add start and length as binary fractions of a microsecond. If the sum is not exactly
 * the end, a call may seem to outlast its caller by 1e-12 s, and speedscope rejects the
 * nesting. So the length gets as many digits as it needs, up to 17. If no length fits, the
 * call ends just before, and so do all calls that end with it: `within` is the computed bounds
 * of the caller. */
static struct bounds append_times(char **at, int64_t start_ns, int64_t end_ns,
                                  struct bounds within)
{
    const double recorded_us = (double)start_ns / 1000, end_us = (double)end_ns / 1000;
    const double length_us = (double)(end_ns - start_ns) / 1000;
    const double most_us = end_us < within.end_us ? end_us : within.end_us;
    const double start_us = recorded_us > within.start_us ? recorded_us : within.start_us;
    if (start_us > most_us) { /* a call of no length at its caller's end */
        *at = nytp_append(nytp_json_append_17_digits(*at, most_us), ",\"dur\":0");
        return (struct bounds){most_us, most_us};
    }
    *at = start_us > recorded_us ? nytp_json_append_17_digits(*at, start_us)
                                 : nytp_json_append_fixed(*at, start_ns, 3);
    *at = nytp_append(*at, ",\"dur\":");
    if (start_us + length_us == most_us) {
        *at = nytp_json_append_fixed(*at, end_ns - start_ns, 3);
        return (struct bounds){start_us, most_us};
    }
    double fitting_us = most_us - start_us;
    while (start_us + fitting_us < most_us)
        fitting_us = nextafter(fitting_us, HUGE_VAL);
    while (fitting_us > 0 && start_us + fitting_us > most_us)
        fitting_us = nextafter(fitting_us, 0);
    *at = nytp_json_append_17_digits(*at, fitting_us);
    return (struct bounds){start_us, start_us + fitting_us};
}

/* Writes a call and returns its computed bounds. A call of no time is left out: at the end of
 * its caller it would begin together with the next call, and speedscope would take it for that
 * one's caller. Its result is its caller's bounds. */
static struct bounds put_call(const struct trace *t, uint32_t node, int64_t start_ticks,
                              int64_t end_ticks, struct bounds within)
{
    if (!takes_time(t, start_ticks, end_ticks) && t->profile->nodes[node].parent != node)
        return within;
    put_head(t, nytp_frames_of_node(&t->frames, &t->profile->nodes[node]));
    char text[2 * NYTP_MAX_FIXED + sizeof t->ids + 20], *at = text;
    const struct bounds bounds =
        append_times(&at, time_ns(t, start_ticks), time_ns(t, end_ticks), within);
    at = nytp_append(nytp_append(at, t->ids), "}");
    nytp_put(t->out, text, (size_t)(at - text));
    return bounds;
}

/* Returns the bounds for a call that begins where several calls end: it begins a little later.
 * If one of them has its name, speedscope would begin it first and keep the others open. */
static struct bounds after_several(struct bounds within, double start_us)
{
    const double later_us = nextafter(start_us, HUGE_VAL);
    if (within.start_us < later_us)
        within.start_us = later_us;
    return within;
}

/* A thread has a name in addition to that of its process. */
static void put_name(const struct trace *t, const char *remark)
{
    const bool is_thread = t->profile->processes[t->process].thread > 0;
    nytp_puts(t->out, t->process == 0 ? "\n" : ",\n");
    nytp_printf(t->out, "{\"ph\":\"M\",\"name\":\"%s\"",
                is_thread ? "thread_name" : "process_name");
    nytp_puts(t->out, t->ids);
    nytp_puts(t->out, ",\"args\":{\"name\":");
    char both[300];
    snprintf(both, sizeof both, "%s%s", remark,
             nytp_process_offset_remark(&t->profile->processes[t->process], t->first_start_s));
    nytp_process_json_label(t->profile, t->process, both, t->out);
    nytp_puts(t->out, "}}");
}

/* Writes the track's name, and what its drawing omits. `line` NULL: the tree is laid out. */
static void put_track_name(const struct trace *t, const struct nytp_timeline *line,
                           char *remark, size_t size)
{
    unsigned long n_short = 0;
    for (uint32_t i = line != NULL ? line->next : 0; line != NULL && i < line->end; i++) {
        const struct nytp_span *span = &t->profile->spans[i];
        n_short +=
            span->node != line->root && !takes_time(t, span->start_ticks, span->end_ticks);
    }
    size_t len = strlen(remark);
    if (n_short > 0)
        len += (size_t)snprintf(remark + len, size - len, ", %lu calls of no time left out",
                                n_short);
    if (nytp_process_is_too_deep(t->profile, t->process))
        snprintf(remark + len, size - len, ", deep calls are in one row");
    put_name(t, remark);
}

/* An open call, and its bounds as readers compute them. */
struct open_call {
    const struct nytp_span *span;
    struct bounds bounds;
};

/* The open calls. From NYTP_MOST_DRAWN on only the innermost is drawn, in pieces. */
struct open_calls {
    struct open_call *at;
    uint32_t n, capacity;
    int64_t drawn_ticks; /* the pieces are drawn up to here */
    double ended_us;     /* the latest end of drawn calls */
    uint32_t n_ended;    /* how many of them ended there */
};

static void note_end(struct open_calls *open, double end_us)
{
    open->n_ended = end_us == open->ended_us ? open->n_ended + 1 : 1;
    open->ended_us = end_us;
}

/* Draws the innermost call until then, if it is drawn in pieces. */
static void draw_piece(const struct trace *t, struct open_calls *open, int64_t end_ticks)
{
    if (open->n <= NYTP_MOST_DRAWN || end_ticks <= open->drawn_ticks)
        return;
    const struct bounds bounds =
        put_call(t, open->at[open->n - 1].span->node, open->drawn_ticks, end_ticks,
                 open->at[NYTP_MOST_DRAWN - 1].bounds);
    note_end(open, bounds.end_us);
    open->drawn_ticks = end_ticks;
}

static void close_call(const struct trace *t, struct open_calls *open)
{
    const struct nytp_span *const span = open->at[open->n - 1].span;
    draw_piece(t, open, span->end_ticks);
    if (open->n <= NYTP_MOST_DRAWN && takes_time(t, span->start_ticks, span->end_ticks))
        note_end(open, open->at[open->n - 1].bounds.end_us);
    open->n--;
}

static bool open_call(const struct trace *t, struct open_calls *open,
                      const struct nytp_span *span, struct bounds whole)
{
    const double start_us = time_us(t, span->start_ticks);
    struct bounds bounds = open->n > 0 ? open->at[open->n - 1].bounds : whole;
    if (!nytp_grow(&open->at, &open->capacity, open->n, sizeof *open->at))
        return false;
    draw_piece(t, open, span->start_ticks);
    if (open->n == NYTP_MOST_DRAWN)
        open->drawn_ticks = span->start_ticks;
    if (open->n_ended > 1 && start_us == open->ended_us)
        bounds = after_several(bounds, start_us);
    if (open->n < NYTP_MOST_DRAWN)
        bounds = put_call(t, span->node, span->start_ticks, span->end_ticks, bounds);
    open->at[open->n++] = (struct open_call){span, bounds};
    return true;
}

static bool put_timeline(const struct trace *t)
{
    const struct nytp_profile *profile = t->profile;
    char remark[240];
    struct nytp_timeline line;
    nytp_timeline_begin(&line, profile, t->process);
    nytp_timeline_remark(profile, t->process, remark, sizeof remark);
    put_track_name(t, &line, remark, sizeof remark);
    struct open_calls open = {0};
    const struct bounds whole = put_call(t, line.root, 0, line.end_ticks, anywhere);
    bool ok = true;
    while (ok && nytp_timeline_next(&line)) {
        if (line.node == line.root)
            continue;
        if (line.opens)
            ok = open_call(t, &open, &profile->spans[line.next - 1], whole);
        else
            close_call(t, &open);
    }
    ok = ok && !line.no_memory;
    free(open.at);
    nytp_timeline_end(&line);
    return ok;
}

/* Writes the name of a label track. Viewers that sort tracks put it above the calls. */
static void put_track(const struct trace *t, struct nytp_name key, const char *ids)
{
    nytp_printf(t->out, ",\n{\"ph\":\"M\",\"name\":\"thread_name\"%s,\"args\":{\"name\":", ids);
    nytp_json_string(t->out, key.ptr, key.len);
    nytp_printf(
        t->out,
        "}},\n{\"ph\":\"M\",\"name\":\"thread_sort_index\"%s,\"args\":{\"sort_index\":-1}}",
        ids);
}

static void put_label(const struct trace *t, const struct nytp_stretch *stretch,
                      const char *ids)
{
    nytp_puts(t->out, ",\n{\"ph\":\"X\",\"name\":");
    nytp_json_string(t->out, stretch->value.ptr, stretch->value.len);
    nytp_puts(t->out, ",\"cat\":\"label\",\"ts\":");
    char text[2 * NYTP_MAX_FIXED + 20], *at = text;
    append_times(&at, time_ns(t, stretch->start_ticks), time_ns(t, stretch->end_ticks),
                 anywhere);
    nytp_put(t->out, text, (size_t)(at - text));
    nytp_puts(t->out, ids);
    nytp_putc(t->out, '}');
}

/* The ids of label tracks follow those of all processes. */
static bool put_labels(struct trace *t)
{
    struct nytp_label_tracks tracks;
    const bool ok = nytp_label_tracks_init(&tracks, t->profile, t->process);
    for (uint32_t track = 0; ok && track < tracks.n_keys; track++) {
        char ids[sizeof t->ids];
        put_ids(ids, sizeof ids, t, t->profile->n_processes + ++t->tracks);
        put_track(t, tracks.keys[track], ids);
    }
    for (uint32_t i = 0; ok && i < tracks.n_stretches; i++) {
        char ids[sizeof t->ids];
        put_ids(ids, sizeof ids, t,
                t->profile->n_processes + t->tracks - tracks.n_keys + 1 + tracks.track[i]);
        put_label(t, &tracks.stretches[i], ids);
    }
    nytp_label_tracks_free(&tracks);
    return ok;
}

static void put_counter(const struct trace *t, const struct nytp_memory_point *point,
                        const char *name, const char *unit, int64_t value)
{
    char text[NYTP_MAX_FIXED + 1];
    nytp_printf(t->out, ",\n{\"ph\":\"C\",\"name\":\"%s\",\"ts\":", name);
    nytp_put(t->out, text,
             (size_t)(nytp_json_append_fixed(text, time_ns(t, point->at_ticks), 3) - text));
    nytp_printf(t->out, "%s,\"args\":{\"%s\":%lld}}", t->ids, unit, (long long)value);
}

static void put_memory(const struct trace *t)
{
    const struct nytp_profile *const profile = t->profile;
    const unsigned has = profile->recordings[profile->processes[t->process].recording].has;
    const struct nytp_slice of = nytp_memory_points_of(profile, t->process, 1);
    for (uint32_t i = of.first; i < of.first + of.n; i++) {
        const struct nytp_memory_point *const point = &profile->memory_points[i];
        put_counter(t, point, "resident memory", "bytes", point->resident);
        if ((has & NYTP_HAS_BYTES) != 0)
            put_counter(t, point, "allocated memory in use", "bytes", point->in_use);
        if ((has & NYTP_HAS_SVS) != 0)
            put_counter(t, point, "values kept", "SVs", point->svs);
    }
}

static int64_t positive(int64_t ticks)
{
    return ticks > 0 ? ticks : 0;
}

static int64_t callees_ticks(const struct nytp_profile *profile, uint32_t node)
{
    const struct nytp_node *const caller = &profile->nodes[node];
    int64_t sum = 0;
    for (uint32_t c = 0; c < caller->n_children; c++)
        sum += positive(profile->nodes[profile->children[caller->first_child + c]].incl_ticks);
    return sum;
}

/* Where a node is laid out. */
struct place {
    int64_t start_ticks;
    struct bounds bounds; /* its caller's, until it is drawn */
};

/* Places a node's callees: they fill its time from its start; the rest is its exclusive time.
 * `places` has the nodes from `first` on. */
static void place_callees(const struct trace *t, uint32_t node, struct place *places,
                          uint32_t first)
{
    const struct nytp_node *const caller = &t->profile->nodes[node];
    struct place next = places[node - first];
    for (uint32_t c = 0; c < caller->n_children; c++) {
        const uint32_t child = t->profile->children[caller->first_child + c];
        const int64_t start_ticks = next.start_ticks;
        places[child - first] = next;
        next.start_ticks += positive(t->profile->nodes[child].incl_ticks);
        if (takes_time(t, start_ticks, next.start_ticks) &&
            !takes_time(t, start_ticks + callees_ticks(t->profile, child), next.start_ticks))
            next.bounds = after_several(next.bounds, time_us(t, next.start_ticks));
    }
}

static bool put_layout(const struct trace *t)
{
    const struct nytp_node *nodes = t->profile->nodes;
    char remark[120] = ", totals: positions are not times";
    put_track_name(t, NULL, remark, sizeof remark);
    const uint32_t first = t->profile->processes[t->process].root,
                   end = nytp_process_nodes_end(t->profile, t->process);
    struct place *const places = calloc((size_t)(end - first) + 1, sizeof *places);
    for (uint32_t i = first; places != NULL && i < end; i++) {
        struct place *const place = &places[i - first];
        const int64_t start_ticks = place->start_ticks,
                      callees_end_ticks = start_ticks + callees_ticks(t->profile, i),
                      end_ticks = start_ticks + positive(nodes[i].incl_ticks);
        if (nodes[i].parent == i)
            place->bounds = anywhere;
        if (nodes[i].depth <= NYTP_MOST_DRAWN)
            place->bounds = put_call(t, i, start_ticks, end_ticks, place->bounds);
        else if (callees_end_ticks <
                 end_ticks) /* in one row: exclusive time behind its callees' */
            put_call(t, i, callees_end_ticks, end_ticks, place->bounds);
        place_callees(t, i, places, first);
    }
    const bool ok = places != NULL;
    free(places);
    return ok;
}

static bool write_processes(struct trace *t, bool aggregate)
{
    for (uint32_t i = 0; i < t->profile->n_processes; i++) {
        begin_process(t, i);
        const bool timeline = !aggregate && nytp_process_has_timeline(t->profile, i);
        if (!(timeline ? put_timeline(t) && put_labels(t) : put_layout(t)))
            return false;
        if (timeline)
            put_memory(t);
    }
    return true;
}

static bool write_chrome_trace(const struct nytp_profile *profile,
                               const struct nytp_export_options *options, struct nytp_out *out)
{
    struct trace t = {
        .profile = profile, .out = out, .first_start_s = nytp_first_start_s(profile)};
    struct nytp_waits waits;
    const bool known = nytp_waits_init(&waits, profile, options->waits, &out->error);
    bool *is_waiting = known ? nytp_waits_subs(&waits, profile) : NULL;
    nytp_waits_free(&waits);
    nytp_scale_init(&t.scale, nytp_unit_find("ns"), profile->ticks_per_sec);
    bool ok = is_waiting != NULL && nytp_frames_init(&t.frames, profile, 0, profile->n_nodes) &&
              make_heads(&t, is_waiting);
    free(is_waiting);
    if (ok) {
        nytp_puts(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
        ok = write_processes(&t, options->aggregate);
        nytp_puts(out, "]}\n");
    }
    if (!ok)
        nytp_error_set(&out->error, NYTP_ERR_MEMORY, "out of memory for the trace");
    nytp_out_discard(t.heads);
    free(t.head_ends);
    nytp_frames_free(&t.frames);
    return out->error.status == NYTP_OK;
}

const struct nytp_exporter nytp_exporter_chrome_trace = {
    .name = "chrome-trace",
    .title = "Chrome trace events: Perfetto UI, chrome://tracing, speedscope",
    .suffixes = ".trace.json",
    .needs = NYTP_HAS_CALLS,
    .wants_spans = true,
    .no_diff = "two runs have no common time axis; use --speedscope",
    .write = write_chrome_trace,
    .takes = "aggregate max-calls wait",
};
