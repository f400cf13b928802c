/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Samples as a stream; see sampled_stream.h, and formats/sampling.md for how one is kept there.
 */
#include "sampled_stream.h"

#include "named_line.h"

#include "spy/perl/attach.h"
#include "spy/target/source_file.h"

#include "exporters/base/version.h"
#include "formats/base/arena.h"
#include "sampling/step.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    LONGEST_LINE = 1 << 20,
    HAS_SOURCE = 0x10 | 0x20, /* NEW_FID's flags: the source is kept */
};

struct sub {
    uint32_t name, file, first_line, last_line;
    uint32_t depth;  /* calls of it that are open */
    bool is_foreign; /* an xsub or a builtin */
    uint8_t *encoded;
    size_t encoded_len;
};

struct call {
    uint32_t sub, fid, line; /* the sub, and the place it was called from */
    uint32_t spied, file;    /* the sub and the calling file as their frames have them */
    int64_t start_ticks, child_ticks;
};

struct arc {
    uint32_t caller, callee, fid, line;
    uint32_t count, rec_depth;
    int64_t incl_ticks, excl_ticks, reci_ticks;
};

struct nytp_sampled_stream {
    struct nytp_names *names;
    struct nytp_stream_facts facts;
    struct nytp_writer *writer;
    struct nytp_table fids, subs_by_name, spied, arcs_by_place;
    NYTP_LIST(struct sub) subs;
    NYTP_LIST(struct call) calls;
    NYTP_LIST(struct arc) arcs;
    const struct nytp_frame **shown; /* frames of the sample that are calls, outermost first */
    uint32_t shown_capacity, n_fids;
    uint32_t n_begins_renamed; /* of one line, each in another file */
    uint32_t runtime;          /* main::RUNTIME, which calls what no sub calls */
    int64_t ticks;
    struct nytp_last_sample last;
    uint64_t n_samples;
    bool failed;
};

static double time_of_day(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- files ---- */

/* A name as the stream has it: absolute. */
static struct nytp_name whole_name(const struct nytp_sampled_stream *stream,
                                   struct nytp_name name, char *to, size_t size)
{
    const bool is_path = name.len > 0 && name.ptr[0] != '/' && name.ptr[0] != '(' &&
                         !(name.ptr[0] == '-' && name.len <= 2);
    if (!is_path || stream->facts.cwd == NULL)
        return name;
    const bool has_dot = name.len > 2 && memcmp(name.ptr, "./", 2) == 0;
    const char *const folder = strcmp(stream->facts.cwd, "/") == 0 ? "" : stream->facts.cwd;
    const int len = snprintf(to, size, "%s/%s", folder, name.ptr + (has_dot ? 2 : 0));
    return (struct nytp_name){to, (uint32_t)((size_t)len < size ? (size_t)len : size - 1)};
}

/* The file, unless it was changed since the program began. */
static FILE *open_source(const struct nytp_sampled_stream *stream, struct nytp_name name)
{
    const struct nytp_stream_facts *const facts = &stream->facts;
    enum nytp_source_file state;
    if (facts->no_source || name.len == 0 || name.ptr[0] != '/')
        return NULL;
    return nytp_source_file_open(facts->pid, name.ptr, facts->program_s, &state);
}

static void write_source(struct nytp_sampled_stream *stream, uint32_t fid, FILE *file)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    for (uint32_t n = 1; (len = getline(&line, &size, file)) > 0; n++)
        nytp_write_src_line(stream->writer, fid, n, line,
                            len < LONGEST_LINE ? (size_t)len : LONGEST_LINE);
    free(line);
    fclose(file);
}

/* The file's id; parent_fid and line are what ran a string eval, or 0. Of evals that share a
 * name, those of one statement are one. */
static uint32_t fid_of(struct nytp_sampled_stream *stream, uint32_t file, uint32_t parent_fid,
                       uint32_t parent_line)
{
    char room[4200];
    const bool is_folded = file == stream->names->folded_evals;
    const struct nytp_key key = {file, is_folded ? parent_fid : 0, is_folded ? parent_line : 0,
                                 0};
    const uint32_t known = nytp_table_get(&stream->fids, key);
    if (known != NYTP_TABLE_NONE)
        return known;
    const uint32_t fid = ++stream->n_fids;
    const struct nytp_name name =
        whole_name(stream, nytp_strings_get(stream->names->strings, file), room, sizeof room);
    FILE *const source = open_source(stream, name);
    if (!nytp_table_put(&stream->fids, key, fid))
        stream->failed = true;
    nytp_write_new_fid(stream->writer, &(struct nytp_new_fid){
                                           .fid = fid,
                                           .eval_fid = parent_fid,
                                           .eval_line = parent_line,
                                           .flags = source != NULL ? HAS_SOURCE : 0,
                                           .name = {.ptr = name.ptr, .len = name.len},
                                       });
    if (source != NULL)
        write_source(stream, fid, source);
    return fid;
}

/* ---- subs ---- */

static uint32_t sub_named(struct nytp_sampled_stream *stream, uint32_t name, bool is_foreign)
{
    const struct nytp_key key = {name, is_foreign, 0, 0};
    const uint32_t known = nytp_table_get(&stream->subs_by_name, key);
    if (known != NYTP_TABLE_NONE)
        return known;
    const struct nytp_name text = nytp_strings_get(stream->names->strings, name);
    struct sub sub = {.name = name, .is_foreign = is_foreign};
    sub.encoded = calloc(1, text.len + NYTP_ENCODED_STR_EXTRA + NYTP_COPY_STEP);
    if (sub.encoded == NULL || !NYTP_GROW(&stream->subs) ||
        !nytp_table_put(&stream->subs_by_name, key, stream->subs.n)) {
        free(sub.encoded);
        stream->failed = true;
        return 0;
    }
    sub.encoded_len = nytp_encode_str(sub.encoded, text.ptr, text.len);
    stream->subs.at[stream->subs.n] = sub;
    return stream->subs.n++;
}

/* The line by which a recorder names the sub. */
static uint32_t named_line(const struct nytp_sampled_stream *stream,
                           const struct nytp_spied_sub *from)
{
    char room[4200];
    FILE *const source = open_source(
        stream, whole_name(stream, nytp_strings_get(stream->names->strings, from->file), room,
                           sizeof room));
    if (source == NULL)
        return from->first_line;
    const uint32_t line = from->is_begin ? nytp_begin_line(source, from->first_line)
                                         : nytp_anonymous_line(source, from->first_line);
    fclose(source);
    return line;
}

/* The name that a recorder gives it: "Pkg::BEGIN@7", and where that is taken a number, or
 * "Pkg::__ANON__[file:12]". */
static uint32_t name_with_line(struct nytp_sampled_stream *stream,
                               const struct nytp_spied_sub *from, uint32_t line)
{
    struct nytp_strings *const strings = stream->names->strings;
    const struct nytp_name whole = nytp_strings_get(strings, from->name);
    struct nytp_label name = {.len = 0};
    uint32_t len = whole.len;
    while (len > 0 && whole.ptr[len - 1] != (from->is_begin ? '@' : ':'))
        len--;
    nytp_label_add(&name, whole.ptr, len);
    nytp_label_printf(&name, from->is_begin ? "%u" : "%u]", line);
    const uint32_t interned = nytp_strings_intern(strings, name.text, name.len);
    if (!from->is_begin ||
        nytp_table_get(&stream->subs_by_name, (struct nytp_key){interned, false, 0, 0}) ==
            NYTP_TABLE_NONE)
        return interned;
    nytp_label_printf(&name, ".%u", ++stream->n_begins_renamed);
    return nytp_strings_intern(strings, name.text, name.len);
}

static uint32_t sub_of_frame(struct nytp_sampled_stream *stream, const struct nytp_frame *frame)
{
    const struct nytp_spied_sub *const from = &stream->names->subs[frame->sub];
    const struct nytp_key key = {frame->sub, 0, 0, 0};
    const uint32_t known = nytp_table_get(&stream->spied, key);
    if (known != NYTP_TABLE_NONE)
        return known;
    const bool has_line = from->is_begin || from->is_anonymous;
    const uint32_t line = has_line ? named_line(stream, from) : from->first_line;
    const uint32_t number =
        sub_named(stream, has_line ? name_with_line(stream, from, line) : from->name, false);
    struct sub *const sub = &stream->subs.at[number];
    if (!nytp_table_put(&stream->spied, key, number))
        stream->failed = true;
    if (sub->first_line == 0) {
        sub->file = from->file;
        sub->first_line = from->is_begin ? line : from->first_line;
        sub->last_line = line;
    }
    return number;
}

/* The innermost open call is at this frame's statement. */
static void reach_line(struct nytp_sampled_stream *stream, const struct nytp_frame *frame)
{
    if (frame->sub == UINT32_MAX || stream->calls.n == 0)
        return;
    struct sub *const sub = &stream->subs.at[stream->calls.at[stream->calls.n - 1].sub];
    if (frame->file == sub->file && frame->line > sub->last_line)
        sub->last_line = frame->line;
}

/* "My::App::CORE:print": a builtin belongs to the package that calls it. */
static uint32_t sub_of_builtin(struct nytp_sampled_stream *stream, uint32_t caller,
                               const char *builtin)
{
    struct nytp_label name = {.len = 0};
    const struct nytp_name from =
        nytp_strings_get(stream->names->strings, stream->subs.at[caller].name);
    const char *const bracket = memchr(from.ptr, '[', from.len);
    size_t len = bracket == NULL ? from.len : (size_t)(bracket - from.ptr);
    while (len >= 2 && memcmp(from.ptr + len - 2, "::", 2) != 0)
        len--;
    nytp_label_add(&name, len >= 2 ? from.ptr : "main::", len >= 2 ? len : 6);
    nytp_label_printf(&name, "CORE:%s", builtin);
    return sub_named(stream, nytp_strings_intern(stream->names->strings, name.text, name.len),
                     true);
}

/* ---- calls ---- */

static uint32_t innermost_sub(const struct nytp_sampled_stream *stream)
{
    return stream->calls.n > 0 ? stream->calls.at[stream->calls.n - 1].sub : stream->runtime;
}

static struct arc *arc_of(struct nytp_sampled_stream *stream, const struct call *call,
                          uint32_t caller)
{
    const struct nytp_key key = {caller, call->sub, call->fid, call->line};
    const uint32_t known = nytp_table_get(&stream->arcs_by_place, key);
    if (known != NYTP_TABLE_NONE)
        return &stream->arcs.at[known];
    if (!NYTP_GROW(&stream->arcs) ||
        !nytp_table_put(&stream->arcs_by_place, key, stream->arcs.n)) {
        stream->failed = true;
        return NULL;
    }
    struct arc *const arc = &stream->arcs.at[stream->arcs.n++];
    *arc = (struct arc){
        .caller = caller, .callee = call->sub, .fid = call->fid, .line = call->line};
    return arc;
}

static void open_call(struct nytp_sampled_stream *stream, const struct call *call)
{
    if (!NYTP_GROW(&stream->calls)) {
        stream->failed = true;
        return;
    }
    nytp_write_sub_entry(stream->writer, call->fid, call->line);
    stream->calls.at[stream->calls.n] = *call;
    stream->calls.at[stream->calls.n++].start_ticks = stream->ticks;
    stream->subs.at[call->sub].depth++;
}

static void close_call(struct nytp_sampled_stream *stream, int64_t now)
{
    const struct call call = stream->calls.at[--stream->calls.n];
    struct sub *const sub = &stream->subs.at[call.sub];
    struct arc *const arc = arc_of(stream, &call, innermost_sub(stream));
    const int64_t incl = now - call.start_ticks;
    nytp_write_sub_return(stream->writer, stream->calls.n + 1, incl, incl - call.child_ticks,
                          sub->encoded, sub->encoded_len);
    if (stream->calls.n > 0)
        stream->calls.at[stream->calls.n - 1].child_ticks += incl;
    sub->depth--;
    if (arc == NULL)
        return;
    arc->count++;
    arc->excl_ticks += incl - call.child_ticks;
    *(sub->depth == 0 ? &arc->incl_ticks : &arc->reci_ticks) += incl;
    if (sub->depth > arc->rec_depth)
        arc->rec_depth = sub->depth;
}

/* ---- a sample ---- */

/* The place of a frame. A string eval is of the statement that runs it, in the frame below. */
static uint32_t fid_of_frame(struct nytp_sampled_stream *stream, const struct nytp_frame *frame)
{
    const struct nytp_frame *const below = frame + 1;
    if (frame->kind != NYTP_FRAME_EVAL || below->file == frame->file)
        return fid_of(stream, frame->file, 0, 0);
    return fid_of(stream, frame->file, fid_of_frame(stream, below), below->line);
}

/* The file of a frame, which tells its number; UINT32_MAX: that of an eval hangs on what runs
 * it, too. */
static uint32_t file_of(const struct nytp_frame *frame)
{
    return frame->kind == NYTP_FRAME_EVAL ? UINT32_MAX : frame->file;
}

static bool is_open(void *walk, uint32_t i)
{
    struct nytp_sampled_stream *const stream = walk;
    const struct call *const open = &stream->calls.at[i];
    const struct nytp_frame *const frame = stream->shown[i], *const caller = frame + 1;
    if (open->line != caller->line ||
        (open->spied != frame->sub && open->sub != sub_of_frame(stream, frame)))
        return false;
    return (open->file == file_of(caller) && open->file != UINT32_MAX) ||
           open->fid == fid_of_frame(stream, caller);
}

static void enter(void *walk, uint32_t i)
{
    struct nytp_sampled_stream *const stream = walk;
    const struct nytp_frame *const frame = stream->shown[i], *const caller = frame + 1;
    reach_line(stream, caller);
    open_call(stream, &(struct call){.sub = sub_of_frame(stream, frame),
                                     .fid = fid_of_frame(stream, caller),
                                     .line = caller->line,
                                     .spied = frame->sub,
                                     .file = file_of(caller)});
}

static void leave(void *walk)
{
    struct nytp_sampled_stream *const stream = walk;
    close_call(stream, stream->ticks);
}

static void go_to(struct nytp_sampled_stream *stream, const struct nytp_stack *stack)
{
    static const struct nytp_steps steps = {is_open, enter, leave};
    uint32_t n = 0;
    for (uint32_t i = stack->n - 1; i-- > 0;)
        if (stack->frames[i].sub != UINT32_MAX)
            stream->shown[n++] = &stack->frames[i];
    nytp_step(&steps, stream, stream->calls.n, 0, n);
    reach_line(stream, &stack->frames[0]);
}

/* An xsub or builtin is a whole call inside its statement. */
static void enter_and_leave(struct nytp_sampled_stream *stream, const struct nytp_stack *stack,
                            uint32_t fid, int64_t ticks)
{
    struct call call = {.fid = fid, .line = stack->frames[0].line};
    const char *const builtin = nytp_timed_builtin(stream->names->perl, stack->builtin);
    if (stack->xsub != UINT32_MAX)
        call.sub = sub_named(stream, stream->names->subs[stack->xsub].name, true);
    else if (builtin != NULL)
        call.sub = sub_of_builtin(stream, innermost_sub(stream), builtin);
    else
        return;
    open_call(stream, &call);
    close_call(stream, stream->ticks + ticks);
}

/* The main program is in the file of the outermost statement, but while perl compiles that:
 * then it is in the file that it uses. */
static void place_runtime(struct nytp_sampled_stream *stream, const struct nytp_frame *frame)
{
    struct sub *const runtime = &stream->subs.at[stream->runtime];
    if (runtime->first_line > 0 && nytp_is_compiling(stream->names->perl, frame->cop))
        return;
    runtime->file = frame->file;
    runtime->first_line = runtime->last_line = 1;
}

bool nytp_sampled_stream_add(struct nytp_sampled_stream *stream, const struct nytp_stack *stack,
                             int64_t ticks, int64_t cpu_ticks)
{
    if (!nytp_reserve(&stream->shown, &stream->shown_capacity, stack->n, sizeof *stream->shown))
        stream->failed = true;
    if (stack->n == 0 || ticks <= 0 || stream->failed)
        return !stream->failed;
    place_runtime(stream, &stack->frames[stack->n - 1]);
    go_to(stream, stack);
    const uint32_t fid = fid_of_frame(stream, stack->frames);
    nytp_last_sample_next(stream->writer, &stream->last,
                          &(struct nytp_last_sample){
                              .is_there = true,
                              .place = nytp_encode_place(fid, stack->frames[0].line),
                              .ticks = ticks,
                              .cpu_ticks = cpu_ticks < ticks ? cpu_ticks : ticks,
                              .is_ready = cpu_ticks > 0,
                          });
    enter_and_leave(stream, stack, fid, ticks);
    stream->ticks += ticks;
    stream->n_samples++;
    return !stream->failed && !stream->writer->failed;
}

/* ---- begin and end ---- */

static void write_header(struct nytp_sampled_stream *stream)
{
    const struct nytp_stream_facts *const facts = &stream->facts;
    const struct nytp_perl *const perl = stream->names->perl;
    char text[40];
    nytp_write_version(stream->writer, 5, 0);
    nytp_write_comment(stream->writer,
                       "Perl profile database. Sampled from outside by nytp-spy");
    nytp_write_number_attribute(stream->writer, "basetime", (uint64_t)facts->program_s);
    nytp_write_text_attribute(stream->writer, "application", facts->application);
    snprintf(text, sizeof text, "5.%u.%u", perl->version, perl->subversion);
    nytp_write_text_attribute(stream->writer, "perl_version", text);
    nytp_write_number_attribute(stream->writer, "nv_size", sizeof(double));
    nytp_write_text_attribute(stream->writer, "xs_version", NYTP_COMPATIBLE_VERSION);
    nytp_write_text_attribute(stream->writer, "host", facts->host);
    nytp_write_number_attribute(stream->writer, "ticks_per_sec", NYTP_SPY_TICKS_PER_S);
    if (facts->thread > 0) {
        nytp_write_number_attribute(stream->writer, "thread", facts->thread);
        nytp_write_number_attribute(stream->writer, "parent_thread", 0);
    }
    nytp_write_start_deflate(stream->writer, 6);
    nytp_write_pid_start(stream->writer, (uint32_t)facts->pid, (uint32_t)facts->parent,
                         time_of_day());
    nytp_write_number_attribute(stream->writer, "sampled", 1);
    nytp_write_number_attribute(stream->writer, "sample_interval_ns",
                                1000000000u / facts->rate);
    nytp_write_text_attribute(stream->writer, "sample_clock", "wall");
}

static struct nytp_str name_of(const struct nytp_sampled_stream *stream, uint32_t sub)
{
    const struct nytp_name name =
        nytp_strings_get(stream->names->strings, stream->subs.at[sub].name);
    return (struct nytp_str){.ptr = name.ptr, .len = name.len};
}

static void write_sub_infos(struct nytp_sampled_stream *stream)
{
    for (uint32_t i = 0; i < stream->subs.n; i++) {
        const struct sub *const sub = &stream->subs.at[i];
        const bool has_place = !sub->is_foreign && sub->first_line > 0;
        nytp_write_sub_info(stream->writer,
                            &(struct nytp_sub_info){
                                .fid = has_place ? fid_of(stream, sub->file, 0, 0) : 0,
                                .first_line = sub->first_line,
                                .last_line = sub->last_line,
                                .name = name_of(stream, i),
                            });
    }
}

static void write_arcs(struct nytp_sampled_stream *stream)
{
    const double per_s = NYTP_SPY_TICKS_PER_S;
    for (uint32_t i = 0; i < stream->subs.n; i++)
        if (stream->subs.at[i].is_foreign) /* says that it is none of Perl */
            nytp_write_sub_callers(stream->writer,
                                   &(struct nytp_sub_callers){.caller = {.ptr = ""},
                                                              .callee = name_of(stream, i)});
    for (uint32_t i = 0; i < stream->arcs.n; i++) {
        const struct arc *const arc = &stream->arcs.at[i];
        nytp_write_sub_callers(stream->writer, &(struct nytp_sub_callers){
                                                   .fid = arc->fid,
                                                   .line = arc->line,
                                                   .count = arc->count,
                                                   .rec_depth = arc->rec_depth,
                                                   .incl_s = (double)arc->incl_ticks / per_s,
                                                   .excl_s = (double)arc->excl_ticks / per_s,
                                                   .reci_s = (double)arc->reci_ticks / per_s,
                                                   .caller = name_of(stream, arc->caller),
                                                   .callee = name_of(stream, arc->callee),
                                               });
    }
}

static void free_stream(struct nytp_sampled_stream *stream)
{
    for (uint32_t i = 0; i < stream->subs.n; i++)
        free(stream->subs.at[i].encoded);
    nytp_writer_free(stream->writer);
    nytp_table_free(&stream->fids);
    nytp_table_free(&stream->subs_by_name);
    nytp_table_free(&stream->spied);
    nytp_table_free(&stream->arcs_by_place);
    free(stream->subs.at);
    free(stream->calls.at);
    free(stream->shown);
    free(stream->arcs.at);
    free(stream);
}

struct nytp_sampled_stream *nytp_sampled_stream_new(struct nytp_names *names,
                                                    const struct nytp_stream_facts *facts,
                                                    nytp_bytes_fn *put, void *context)
{
    static const char runtime[] = "main::RUNTIME";
    struct nytp_sampled_stream *const stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return NULL;
    stream->names = names;
    stream->facts = *facts;
    stream->writer = nytp_writer_new(put, context);
    if (stream->writer == NULL) {
        free_stream(stream);
        return NULL;
    }
    stream->runtime = sub_named(
        stream, nytp_strings_intern(names->strings, runtime, sizeof runtime - 1), false);
    write_header(stream);
    return stream;
}

bool nytp_sampled_stream_end(struct nytp_sampled_stream *stream, uint64_t n_looks,
                             uint64_t n_torn)
{
    while (stream->calls.n > 0)
        close_call(stream, stream->ticks);
    nytp_last_sample_put(stream->writer, &stream->last);
    nytp_write_number_attribute(stream->writer, "samples", stream->n_samples);
    nytp_write_number_attribute(stream->writer, "sample_ticks", n_looks);
    nytp_write_number_attribute(stream->writer, "samples_torn", n_torn);
    write_sub_infos(stream);
    nytp_write_pid_end(stream->writer, (uint32_t)stream->facts.pid, time_of_day());
    write_arcs(stream);
    const bool ok = nytp_writer_flush(stream->writer, NYTP_FLUSH_FINISH) && !stream->failed;
    free_stream(stream);
    return ok;
}
