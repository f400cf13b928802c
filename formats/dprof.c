/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Reads tmon.out, the text profile of Devel::DProf, in its old and its new form. The format,
 * and what dprofpp makes of it, are described in dprof.md; stream/tmon_lines.h reads its lines.
 *
 * A tmon.out holds marks (a sub is entered, left, or left for another by goto) and the time
 * that passed between them. The calls that are open are kept on a stack, so that each leave
 * mark becomes a call event with inclusive and exclusive time. Each stretch of time also
 * becomes a time record without a statement, so that the program's own time and the time axis
 * are there, too.
 *
 * The profiler measured what its own marks cost (its `over_` values). Half of that is taken
 * off at each mark, as dprofpp does, unless it is asked to keep it.
 */
#include "formats/base/arena.h"
#include "formats/base/fnv1a.h"
#include "formats/stream/format.h"
#include "formats/stream/tmon_lines.h"
#include "formats/base/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC              "#fOrTyTwO"
#define MAX_DEPTH          1000000u
#define MAX_NAMES          (256u * 1024 * 1024) /* bytes of all names together */
#define MAX_TICKS          9e15                 /* exact in a double */
#define FINE_TICKS_PER_SEC 10000000 /* when the overhead is a fraction of a clock tick */
#define PROFILER_SUB       "Devel::DProf::write" /* flushes the profiler's buffer */

struct sub {
    const char *name; /* in reader.names */
    uint32_t name_len;
};

struct frame {
    uint32_t sub;
    uint32_t exit_sub;     /* the sub its leave mark names: another one after a goto */
    bool hidden;           /* the profiler itself */
    int64_t start, inside; /* event ticks: when it began; what its callees took */
};

/* Each reading of the header and of marks has three clocks: processor time in the program, in
 * the kernel on its behalf, and time of day. */
enum {
    USER,
    SYSTEM,
    REAL,
    N_CLOCKS
};

struct reader {
    struct nytp_source *source;
    struct nytp_sink *sink;
    struct nytp_error *error;
    char clock;
    bool keep_overhead;

    int64_t hz; /* clock ticks per second */
    int64_t over[N_CLOCKS], over_tests, run[N_CLOCKS], total_marks;
    bool has_run, has_total_marks;

    double half_overhead; /* clock ticks per mark; below 0 when badly measured */
    int64_t scale;        /* ticks of the events per clock tick */
    int64_t previous;     /* old form: the last reading */
    int64_t pending;      /* clock ticks passed since the last mark */
    int64_t raw;          /* clock ticks passed until the last mark */
    double corrected;     /* the same less overhead */
    int64_t now;          /* the same in event ticks */
    int64_t axis;         /* event ticks put on the time axis */
    int64_t marks;

    struct nytp_table ids; /* id of the new form -> sub */
    NYTP_LIST(struct sub) subs;
    struct nytp_arena *names;
    size_t names_len;
    NYTP_LIST(struct frame) frames;
    uint32_t shown_depth;
};

static bool fail(struct reader *r, const struct nytp_tmon_line *line, enum nytp_status status,
                 const char *what)
{
    return nytp_error_at(r->error, status, line->offset, false, "%s: %.*s", what,
                         (int)(line->end - line->at < 100 ? line->end - line->at : 100),
                         line->at);
}

static bool out_of_memory(struct reader *r)
{
    return nytp_out_of_memory(r->error);
}

static bool deliver_event(struct reader *r, const struct nytp_event *event)
{
    return r->sink->event(r->sink, event) ||
           nytp_error_at(r->error, NYTP_ERR_STOPPED, event->offset, false, "stopped");
}

static const char *get_clocks(const char *at, const char *end, int64_t clocks[N_CLOCKS])
{
    for (int i = 0; i < N_CLOCKS && at != NULL; i++)
        at = nytp_tmon_number(at, end, &clocks[i]);
    return at;
}

static int64_t chosen_clock(const struct reader *r, const int64_t clocks[N_CLOCKS])
{
    switch (r->clock) {
    case 'u':
        return clocks[USER];
    case 's':
        return clocks[SYSTEM];
    case 'r':
        return clocks[REAL];
    default:
        return clocks[USER] + clocks[SYSTEM];
    }
}

/* The header: lines of $name=value; assignments */

static bool is_text(const char *at, const char *end, const char *name)
{
    return (size_t)(end - at) == strlen(name) && memcmp(at, name, strlen(name)) == 0;
}

/* One assignment of the header; names that are not known are passed over. */
static bool assign_header_value(struct reader *r, const struct nytp_tmon_line *line,
                                const char *name, const char *name_end, const char *value)
{
    const struct {
        const char *name;
        int64_t *value;
    } known[] = {
        {"hz", &r->hz},
        {"over_utime", &r->over[USER]},
        {"over_stime", &r->over[SYSTEM]},
        {"over_rtime", &r->over[REAL]},
        {"over_tests", &r->over_tests},
        {"rrun_utime", &r->run[USER]},
        {"rrun_stime", &r->run[SYSTEM]},
        {"rrun_rtime", &r->run[REAL]},
        {"total_marks", &r->total_marks},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!is_text(name, name_end, known[i].name))
            continue;
        if (nytp_tmon_number(value, line->end, known[i].value) == NULL)
            return fail(r, line, NYTP_ERR_FORMAT, "header value is no number");
        r->has_run = r->has_run || known[i].value == &r->run[REAL];
        r->has_total_marks = r->has_total_marks || known[i].value == &r->total_marks;
    }
    return true;
}

static bool deliver_pair(struct reader *r, const struct nytp_tmon_line *line, enum nytp_tag tag,
                         const char *key, struct nytp_str value)
{
    const struct nytp_event event = {
        .tag = tag,
        .offset = line->offset,
        .u.setting = {.key = {.ptr = key, .len = (uint32_t)strlen(key)}, .value = value},
    };
    return deliver_event(r, &event);
}

static bool read_header_line(struct reader *r, const struct nytp_tmon_line *line)
{
    const char *at = line->at;
    while (at < line->end && (at = memchr(at, '$', (size_t)(line->end - at))) != NULL) {
        const char *name = at + 1;
        const char *equals = memchr(name, '=', (size_t)(line->end - name));
        if (equals == NULL)
            break;
        if (!assign_header_value(r, line, name, equals, equals + 1))
            return false;
        at = equals + 1;
        if (!is_text(name, equals, "XS_VERSION"))
            continue;
        const char *value = at < line->end && *at == '\'' ? at + 1 : at;
        const char *end = value;
        while (end < line->end && *end != '\'' && *end != ';')
            end++;
        const struct nytp_str version = {.ptr = value, .len = (uint32_t)(end - value)};
        if (!deliver_pair(r, line, NYTP_TAG_ATTRIBUTE, "xs_version", version))
            return false;
    }
    return true;
}

static bool deliver_option(struct reader *r, const struct nytp_tmon_line *line, const char *key,
                           const char *digit)
{
    const struct nytp_str value = {.ptr = digit, .len = 1};
    return deliver_pair(r, line, NYTP_TAG_OPTION, key, value);
}

/* The header is over. Deliver what others want to know ahead of the calls: the length of a
 * tick, the options that a native recording of the same content would have, and that a process
 * begins. */
static bool begin_events(struct reader *r, const struct nytp_tmon_line *line)
{
    if (r->hz < 1 || r->hz > 1000000000)
        return fail(r, line, NYTP_ERR_FORMAT, "no usable $hz before");
    const int64_t over = chosen_clock(r, r->over);
    if (!r->keep_overhead && r->over_tests > 0)
        r->half_overhead = (double)over / (double)r->over_tests / 2;
    const bool is_fraction = r->half_overhead < 0 || r->half_overhead > 0;
    r->scale = is_fraction && r->hz < FINE_TICKS_PER_SEC ? FINE_TICKS_PER_SEC / r->hz : 1;
    char number[32];
    const int len = snprintf(number, sizeof number, "%" PRId64, r->hz * r->scale);
    const struct nytp_str ticks_per_sec = {.ptr = number, .len = (uint32_t)len};
    const struct nytp_event start = {.tag = NYTP_TAG_PID_START, .offset = line->offset};
    return deliver_pair(r, line, NYTP_TAG_ATTRIBUTE, "ticks_per_sec", ticks_per_sec) &&
           deliver_option(r, line, "subs", "1") && deliver_option(r, line, "stmts", "0") &&
           deliver_option(r, line, "calls", "2") && deliver_event(r, &start);
}

static bool read_header(struct reader *r)
{
    struct nytp_tmon_line line = {0};
    while (nytp_tmon_next(r->source, r->error, &line)) {
        if (is_text(line.at, line.end, "PART2"))
            return begin_events(r, &line);
        if (!read_header_line(r, &line))
            return false;
    }
    return nytp_error_at(r->error, NYTP_ERR_TRUNCATED, nytp_source_offset(r->source), false,
                         "the input ends inside the header");
}

/* Subs */

/* Adds a sub. Returns room for its name of `len` bytes, or NULL with the error set. */
static char *add_sub(struct reader *r, const struct nytp_tmon_line *line, size_t len,
                     uint32_t *index)
{
    if (r->subs.n == UINT32_MAX / 2 || len > MAX_NAMES - r->names_len) {
        fail(r, line, NYTP_ERR_LIMIT, "too many subs");
        return NULL;
    }
    char *const name = nytp_arena_alloc(r->names, len);
    if (name == NULL || !NYTP_GROW(&r->subs)) {
        out_of_memory(r);
        return NULL;
    }
    r->names_len += len;
    *index = r->subs.n++;
    r->subs.at[*index] = (struct sub){.name = name, .name_len = (uint32_t)len};
    return name;
}

/* "& 2 main bar": from here on, id 2 stands for main::bar. */
static bool introduce_sub(struct reader *r, const struct nytp_tmon_line *line)
{
    uint32_t id, sub;
    const char *package = nytp_tmon_id(line->at + 1, line->end, &id);
    if (package == NULL)
        return fail(r, line, NYTP_ERR_FORMAT, "malformed sub");
    package = nytp_tmon_skip_blanks(package, line->end);
    if (package == line->end)
        return fail(r, line, NYTP_ERR_FORMAT, "malformed sub");
    /* a sub may be named "Foo::": then nothing comes behind the package */
    const char *blank = memchr(package, ' ', (size_t)(line->end - package));
    if (blank == NULL)
        blank = line->end;
    const char *name = blank < line->end ? blank + 1 : blank;
    const size_t package_len = (size_t)(blank - package), name_len = (size_t)(line->end - name);
    char *const text = add_sub(r, line, package_len + 2 + name_len, &sub);
    if (text == NULL)
        return false;
    memcpy(text, package, package_len);
    memcpy(text + package_len, "::", 2);
    memcpy(text + package_len + 2, name, name_len);
    return nytp_table_put(&r->ids, (struct nytp_key){.a = id}, sub) || out_of_memory(r);
}

/* A sub given by its name. Old profiles name it at each mark, so the text is looked up by its
 * hash and compared. */
static bool find_named(struct reader *r, const struct nytp_tmon_line *line, const char *name,
                       uint32_t *sub)
{
    const size_t len = (size_t)(line->end - name);
    const uint64_t hash = nytp_fnv1a_64(NYTP_FNV1A_64_START, name, len);
    struct nytp_key key = {
        .b = (uint32_t)hash, .c = (uint32_t)(hash >> 32), .d = (uint32_t)len + 1};
    for (;; key.a++) {
        *sub = nytp_table_get(&r->ids, key);
        if (*sub == NYTP_TABLE_NONE)
            break;
        const struct sub *found = &r->subs.at[*sub];
        if (found->name_len == len && memcmp(found->name, name, len) == 0)
            return true;
    }
    char *const text = add_sub(r, line, len, sub);
    if (text == NULL)
        return false;
    memcpy(text, name, len);
    return nytp_table_put(&r->ids, key, *sub) || out_of_memory(r);
}

static bool is_profiler(const struct reader *r, uint32_t sub)
{
    const struct sub *s = &r->subs.at[sub];
    return s->name_len == strlen(PROFILER_SUB) &&
           memcmp(s->name, PROFILER_SUB, s->name_len) == 0;
}

/* Time */

/* A stretch of time without a statement, in pieces that the event can hold. */
static bool deliver_time(struct reader *r, const struct nytp_tmon_line *line, int64_t ticks)
{
    const struct nytp_event discount = {.tag = NYTP_TAG_DISCOUNT, .offset = line->offset};
    struct nytp_event time = {.tag = NYTP_TAG_TIME_LINE, .offset = line->offset};
    do {
        time.u.time.ticks = (int32_t)(ticks > INT32_MAX   ? INT32_MAX
                                      : ticks < INT32_MIN ? INT32_MIN
                                                          : ticks);
        ticks -= time.u.time.ticks;
        if (!deliver_event(r, &discount) || !deliver_event(r, &time))
            return false;
    } while (ticks != 0);
    return true;
}

/* The time axis does not run back: while the overhead taken off exceeds what the coarse clock
 * has shown so far, it stands still. */
static bool advance_axis(struct reader *r, const struct nytp_tmon_line *line)
{
    const int64_t step = r->now > r->axis ? r->now - r->axis : 0;
    r->axis += step;
    return deliver_time(r, line, step);
}

/* Returns whether the innermost frame is the profiler's own. */
static bool in_profiler(const struct reader *r)
{
    return r->frames.n > 0 && r->frames.at[r->frames.n - 1].hidden;
}

/* A mark ends the time since the last one. The overhead of marks is taken off: `halves` halves
 * of the cost of a pair. */
static bool pass_time(struct reader *r, const struct nytp_tmon_line *line, int halves)
{
    if (!in_profiler(r))
        r->corrected += (double)r->pending - halves * r->half_overhead;
    const double position = r->corrected * (double)r->scale;
    if (__builtin_add_overflow(r->raw, r->pending, &r->raw) || !(fabs(position) < MAX_TICKS))
        return fail(r, line, NYTP_ERR_LIMIT, "time out of range");
    r->now = llround(position);
    r->pending = 0;
    return true;
}

static bool add_pending(struct reader *r, const struct nytp_tmon_line *line, int64_t ticks)
{
    return !__builtin_add_overflow(r->pending, ticks, &r->pending) ||
           fail(r, line, NYTP_ERR_LIMIT, "time out of range");
}

/* Marks */

/* Opens a call. The profiler's own calls are on the stack, but are not reported. */
static bool push_frame(struct reader *r, const struct nytp_tmon_line *line, uint32_t sub,
                       uint32_t exit_sub)
{
    if (r->frames.n == MAX_DEPTH)
        return fail(r, line, NYTP_ERR_LIMIT, "calls nested too deep");
    if (!NYTP_GROW(&r->frames))
        return out_of_memory(r);
    const bool hidden = !r->keep_overhead && is_profiler(r, sub);
    r->frames.at[r->frames.n++] =
        (struct frame){.sub = sub, .exit_sub = exit_sub, .hidden = hidden, .start = r->now};
    if (hidden)
        return true;
    r->shown_depth++;
    const struct nytp_event entry = {.tag = NYTP_TAG_SUB_ENTRY, .offset = line->offset};
    return deliver_event(r, &entry);
}

/* Close the innermost call and tell its times. */
static bool pop_frame(struct reader *r, const struct nytp_tmon_line *line)
{
    const struct frame *f = &r->frames.at[--r->frames.n];
    if (f->hidden)
        return true;
    const int64_t incl = r->now - f->start;
    if (r->frames.n > 0)
        r->frames.at[r->frames.n - 1].inside += incl;
    const struct sub *s = &r->subs.at[f->sub];
    const struct nytp_event event = {
        .tag = NYTP_TAG_SUB_RETURN,
        .offset = line->offset,
        .u.sub_return = {.depth = r->shown_depth--,
                         .incl_ticks = (double)incl,
                         .excl_ticks = (double)(incl - f->inside),
                         .name = {.ptr = s->name, .len = s->name_len}},
    };
    return deliver_event(r, &event);
}

static bool enter_sub(struct reader *r, const struct nytp_tmon_line *line, uint32_t sub)
{
    return pass_time(r, line, 1) && push_frame(r, line, sub, sub) && advance_axis(r, line);
}

/* A frame is left by the name under which it was entered or, as older recorders write, by that
 * of the sub that it has jumped to last. Frames above it were left without a mark. */
static bool leave_sub(struct reader *r, const struct nytp_tmon_line *line, uint32_t sub)
{
    uint32_t target = r->frames.n;
    while (target > 0 && r->frames.at[target - 1].exit_sub != sub &&
           r->frames.at[target - 1].sub != sub)
        target--;
    if (target == 0)
        return fail(r, line, NYTP_ERR_FORMAT, "a sub is left that was not entered");
    if (!pass_time(r, line, 1))
        return false;
    while (r->frames.n >= target)
        if (!pop_frame(r, line))
            return false;
    return advance_axis(r, line);
}

/* goto &sub: one frame ends and another begins in its place. */
static bool jump_to_sub(struct reader *r, const struct nytp_tmon_line *line, uint32_t sub)
{
    if (!pass_time(r, line, 2))
        return false;
    uint32_t exit_sub = sub;
    if (r->frames.n > 0) {
        exit_sub = r->frames.at[r->frames.n - 1].exit_sub;
        if (!pop_frame(r, line))
            return false;
    }
    return push_frame(r, line, sub, exit_sub) && advance_axis(r, line);
}

static bool apply_mark(struct reader *r, const struct nytp_tmon_line *line, uint32_t sub)
{
    r->marks++;
    switch (*line->at) {
    case '+':
        return enter_sub(r, line, sub);
    case '*':
        return jump_to_sub(r, line, sub);
    default: /* '-', or '/' when left by die, next, last */
        return leave_sub(r, line, sub);
    }
}

/* A mark in any of its forms: "+ 2" (an id that was introduced), "+ & Devel::DProf::write" (a
 * name) or, in the old form, "+ 26 28 566822884 main::bar" (clocks, then a name). */
static bool read_mark(struct reader *r, const struct nytp_tmon_line *line)
{
    const char *at = nytp_tmon_skip_blanks(line->at + 1, line->end);
    uint32_t id, sub;
    if (at < line->end && *at == '&')
        return find_named(r, line, nytp_tmon_skip_blanks(at + 1, line->end), &sub) &&
               apply_mark(r, line, sub);
    const char *after = nytp_tmon_id(at, line->end, &id);
    if (after != NULL && after == line->end) {
        sub = nytp_table_get(&r->ids, (struct nytp_key){.a = id});
        if (sub == NYTP_TABLE_NONE)
            return fail(r, line, NYTP_ERR_FORMAT, "mark of a sub that was not introduced");
        return apply_mark(r, line, sub);
    }
    int64_t clocks[N_CLOCKS];
    at = get_clocks(at, line->end, clocks);
    if (at == NULL || at == line->end || *at != ' ')
        return fail(r, line, NYTP_ERR_FORMAT, "malformed mark");
    const int64_t reading = chosen_clock(r, clocks);
    /* User and system time count from the process's start, real time from any point. */
    if (r->marks == 0 && r->clock == 'r')
        r->previous = reading;
    const int64_t passed = reading - r->previous;
    r->previous = reading;
    return add_pending(r, line, passed) && find_named(r, line, at + 1, &sub) &&
           apply_mark(r, line, sub);
}

static bool read_time(struct reader *r, const struct nytp_tmon_line *line)
{
    int64_t clocks[N_CLOCKS];
    if (get_clocks(line->at + 1, line->end, clocks) == NULL)
        return fail(r, line, NYTP_ERR_FORMAT, "malformed time");
    return add_pending(r, line, chosen_clock(r, clocks));
}

static bool read_body_line(struct reader *r, const struct nytp_tmon_line *line)
{
    switch (*line->at) {
    case '@':
        return read_time(r, line);
    case '&':
        return introduce_sub(r, line);
    case '+':
    case '-':
    case '/':
    case '*':
        return read_mark(r, line);
    default:
        return fail(r, line, NYTP_ERR_FORMAT, "unknown line");
    }
}

/* The header is completed when the program ends: it tells the whole time and the number of
 * marks. What passed after the last mark is the innermost open frame's. */
static bool finish_events(struct reader *r)
{
    const struct nytp_tmon_line line = {
        .at = "", .end = "", .offset = nytp_source_offset(r->source)};
    if (r->has_total_marks ? r->marks > 0 && r->total_marks == 0 : !r->has_run)
        return nytp_error_at(r->error, NYTP_ERR_TRUNCATED, line.offset, false,
                             "the recording was not finished");
    if (r->has_total_marks && r->marks < r->total_marks)
        return nytp_error_at(r->error, NYTP_ERR_TRUNCATED, line.offset, false,
                             "the input ends after %" PRId64 " of %" PRId64 " marks", r->marks,
                             r->total_marks);
    const int64_t run = r->has_run ? chosen_clock(r, r->run) : 0;
    if (run > 0)
        r->pending = run > r->raw ? run - r->raw : 0;
    if (!pass_time(r, &line, 0) || !deliver_time(r, &line, r->now - r->axis))
        return false;
    const struct nytp_event end = {.tag = NYTP_TAG_PID_END, .offset = line.offset};
    return deliver_event(r, &end);
}

static bool read_body(struct reader *r)
{
    struct nytp_tmon_line line;
    while (nytp_tmon_next(r->source, r->error, &line))
        if (!read_body_line(r, &line))
            return false;
    return r->error->status == NYTP_OK && finish_events(r);
}

static bool dprof_detect(const uint8_t *head, size_t len)
{
    return len >= strlen(MAGIC) && memcmp(head, MAGIC, strlen(MAGIC)) == 0;
}

static bool dprof_read(struct nytp_source *source, const struct nytp_read_options *options,
                       struct nytp_sink *sink, struct nytp_error *error)
{
    struct reader reader = {.source = source, .sink = sink, .error = error};
    if (options != NULL) {
        reader.clock = options->clock;
        reader.keep_overhead = options->keep_overhead;
    }
    reader.names = nytp_arena_new();
    const bool read = (reader.names != NULL || out_of_memory(&reader)) &&
                      read_header(&reader) && read_body(&reader);
    nytp_table_free(&reader.ids);
    free(reader.subs.at);
    nytp_arena_free(reader.names);
    free(reader.frames.at);
    return read;
}

const struct nytp_format nytp_format_dprof = {
    .name = "dprof",
    .title = "Devel::DProf profile (tmon.out)",
    .detect = dprof_detect,
    .read = dprof_read,
};
