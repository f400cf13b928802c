/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Several profiles into one stream; see merge_streams.h.
 */
#include "merge_streams.h"

#include "arena.h"
#include "correction.h"
#include "format.h"
#include "model.h"
#include "strings.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define NONE    UINT32_MAX
#define MAX_FID 0x3fffffu

/* A file of the output. */
struct out_file {
    uint32_t source_from; /* number of the input whose source lines it has; 0 = none yet */
};

/* A file id of the current input. */
struct in_file {
    uint32_t fid;     /* in the output; 0 = not defined or not written yet */
    uint32_t pending; /* 1 + index into pending while it waits; 0 = it does not */
    uint32_t waiting; /* first of the evals that wait for this file, likewise */
};

/* An eval that came before the file that ran it, as in what a forked child repeats. */
struct pending_eval {
    uint32_t fid, eval_fid; /* in the input */
    uint32_t eval_line, flags, size, mtime_s;
    uint32_t name;
    uint32_t next; /* that waits for the same file; 1 + index, 0 = none */
};

struct arc {
    uint32_t fid, line, caller, callee; /* names are string ids */
    struct nytp_call_totals totals;
};

struct run_of { /* how many inputs had this application */
    uint32_t name, n;
};

struct setting { /* an attribute or option that is written once */
    uint32_t key, value;
    bool noted; /* that inputs differ was said */
};

struct nytp_merge {
    struct nytp_sink sink;
    struct nytp_writer *writer;
    nytp_note_fn *note;
    void *context;
    int level;
    struct nytp_strings *strings;

    struct out_file *files; /* by id in the output */
    struct nytp_table fid_of_name, sub_of_name, arc_of_place;
    struct arc *arcs;
    struct run_of *runs;
    struct setting *settings;
    struct pending_eval *pending;
    uint32_t n_files, n_arcs, n_runs, n_settings, n_pending;
    uint32_t files_capacity, arcs_capacity, runs_capacity, settings_capacity, pending_capacity;

    bool began, deflating;
    double ticks_per_sec; /* of the output: that of the first input */
    double basetime_s;    /* earliest; 0 = none yet */
    double overhead_ticks;

    /* the current input */
    const char *path;
    uint32_t n_input; /* from 1 */
    struct in_file *in_files;
    uint32_t n_in_files;
    double in_ticks_per_sec, in_overhead_ticks;
    double carry; /* of the conversion of ticks */
    bool discount;
    uint8_t *encoded; /* a name being written */
    size_t encoded_size;
    struct nytp_error error;
    bool inflated;
};

static bool no_memory(struct nytp_merge *m)
{
    return nytp_error_set(&m->error, NYTP_ERR_MEMORY, "out of memory");
}

static bool merge_event(struct nytp_sink *sink, const struct nytp_event *event);

struct nytp_merge *nytp_merge_new(nytp_bytes_fn *put, nytp_note_fn *note, void *context,
                                  int level)
{
    struct nytp_merge *m = calloc(1, sizeof *m);
    if (m == NULL)
        return NULL;
    m->sink.event = merge_event;
    m->note = note;
    m->context = context;
    m->level = level;
    m->n_files = 1; /* id 0 is no file */
    m->strings = nytp_strings_new();
    m->writer = nytp_writer_new(put, context);
    if (m->strings == NULL || m->writer == NULL ||
        !nytp_grow(&m->files, &m->files_capacity, 0, sizeof *m->files)) {
        nytp_merge_free(m);
        return NULL;
    }
    return m;
}

void nytp_merge_free(struct nytp_merge *m)
{
    if (m == NULL)
        return;
    nytp_writer_free(m->writer);
    nytp_strings_free(m->strings);
    nytp_table_free(&m->fid_of_name);
    nytp_table_free(&m->sub_of_name);
    nytp_table_free(&m->arc_of_place);
    free(m->files);
    free(m->arcs);
    free(m->runs);
    free(m->settings);
    free(m->pending);
    free(m->in_files);
    free(m->encoded);
    free(m);
}

static uint32_t intern(struct nytp_merge *m, struct nytp_str text)
{
    const uint32_t id = nytp_strings_intern(m->strings, text.ptr, text.len);
    if (id == UINT32_MAX)
        no_memory(m);
    return id;
}

static struct nytp_name text_of(const struct nytp_merge *m, uint32_t id)
{
    return nytp_strings_get(m->strings, id);
}

static bool is(struct nytp_str text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.ptr, word, text.len) == 0;
}

static bool differs(const struct nytp_merge *m, uint32_t id, struct nytp_str text)
{
    const struct nytp_name name = text_of(m, id);
    return name.len != text.len || memcmp(name.ptr, text.ptr, text.len) != 0;
}

/* The nearest integer; what is no number, or absurd, is 0. */
static int64_t whole(double value)
{
    if (!(value > -9e18 && value < 9e18))
        return 0;
    return (int64_t)llround(value);
}

static double number_of(struct nytp_str text)
{
    char digits[40] = "";
    memcpy(digits, text.ptr, text.len < sizeof digits - 1 ? text.len : sizeof digits - 1);
    return strtod(digits, NULL);
}

/* --- header: attributes and options --- */

static void begin(struct nytp_merge *m)
{
    if (m->began)
        return;
    m->began = true;
    nytp_write_version(m->writer, 5, 0);
    nytp_write_comment(m->writer, "Perl profile database. Merged by nytprofmerge");
    /* numbers are written as this machine's doubles, whatever the inputs held */
    nytp_write_attribute(m->writer, "nv_size", "8", 1);
}

/* Everything that is not an attribute or option is compressed. */
static bool begin_records(struct nytp_merge *m)
{
    begin(m);
    if (m->deflating || m->level == 0)
        return true;
    m->deflating = true;
    return nytp_write_start_deflate(m->writer, m->level) || no_memory(m);
}

static void note_difference(struct nytp_merge *m, const char *what, struct setting *first,
                            struct nytp_str key, struct nytp_str value)
{
    if (first->noted || m->note == NULL)
        return;
    first->noted = true;
    char text[400];
    const struct nytp_name was = text_of(m, first->value);
    snprintf(text, sizeof text, "%s %.*s is %.*s in %.200s and was %.*s before", what,
             (int)(key.len < 60 ? key.len : 60), key.ptr,
             (int)(value.len < 40 ? value.len : 40), value.ptr, m->path,
             (int)(was.len < 40 ? was.len : 40), was.ptr);
    m->note(m->context, text);
}

/* The first value is written. *first tells whether this is it. NULL on failure. */
static struct setting *setting_of(struct nytp_merge *m, struct nytp_str key,
                                  struct nytp_str value, bool *first)
{
    const uint32_t key_id = intern(m, key), value_id = intern(m, value);
    if (key_id == UINT32_MAX || value_id == UINT32_MAX)
        return NULL;
    *first = false;
    for (uint32_t i = 0; i < m->n_settings; i++)
        if (m->settings[i].key == key_id)
            return &m->settings[i];
    if (!nytp_grow(&m->settings, &m->settings_capacity, m->n_settings, sizeof *m->settings)) {
        no_memory(m);
        return NULL;
    }
    *first = true;
    m->settings[m->n_settings] = (struct setting){.key = key_id, .value = value_id};
    return &m->settings[m->n_settings++];
}

static bool add_run(struct nytp_merge *m, struct nytp_str application)
{
    const uint32_t name = intern(m, application);
    if (name == UINT32_MAX)
        return false;
    for (uint32_t i = 0; i < m->n_runs; i++)
        if (m->runs[i].name == name) {
            m->runs[i].n++;
            return true;
        }
    if (!nytp_grow(&m->runs, &m->runs_capacity, m->n_runs, sizeof *m->runs))
        return no_memory(m);
    m->runs[m->n_runs++] = (struct run_of){.name = name, .n = 1};
    return true;
}

static bool add_ticks_per_sec(struct nytp_merge *m, struct nytp_str value)
{
    m->in_ticks_per_sec = number_of(value);
    if (!(m->in_ticks_per_sec > 0))
        return nytp_error_set(&m->error, NYTP_ERR_FORMAT, "ticks_per_sec is not positive");
    if (m->ticks_per_sec > 0)
        return true;
    m->ticks_per_sec = m->in_ticks_per_sec;
    nytp_write_attribute(m->writer, "ticks_per_sec", value.ptr, value.len);
    return true;
}

static bool add_attribute(struct nytp_merge *m, struct nytp_str key, struct nytp_str value)
{
    begin(m);
    if (is(key, "application"))
        return add_run(m, value);
    if (is(key, "ticks_per_sec"))
        return add_ticks_per_sec(m, value);
    if (is(key, "cumulative_overhead_ticks")) {
        m->in_overhead_ticks += number_of(value);
        return true;
    }
    if (is(key, "basetime")) {
        const double time_s = number_of(value);
        if (m->basetime_s == 0 || time_s < m->basetime_s)
            m->basetime_s = time_s;
        return true;
    }
    if (is(key, "nv_size"))
        return true;
    bool first;
    struct setting *setting = setting_of(m, key, value, &first);
    if (setting == NULL)
        return false;
    if (first) {
        const struct nytp_name name = text_of(m, setting->key);
        nytp_write_attribute(m->writer, name.ptr, value.ptr, value.len);
    } else if (is(key, "clock_id") && differs(m, setting->value, value)) {
        note_difference(m, "attribute", setting, key, value);
    }
    return true;
}

/* Whether it matters to a reader of the sums that inputs were recorded with another value. */
static bool shapes_the_data(struct nytp_str key)
{
    static const char *const keys[] = {"stmts", "subs",    "blocks",     "leave",
                                       "calls", "slowops", "use_db_sub", "findcaller"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (is(key, keys[i]))
            return true;
    return false;
}

static bool add_option(struct nytp_merge *m, struct nytp_str key, struct nytp_str value)
{
    begin(m);
    bool first;
    struct setting *setting = setting_of(m, key, value, &first);
    if (setting == NULL)
        return false;
    if (first)
        nytp_write_option(m->writer, text_of(m, setting->key).ptr, whole(number_of(value)));
    else if (shapes_the_data(key) && differs(m, setting->value, value))
        note_difference(m, "option", setting, key, value);
    return true;
}

/* --- files --- */

static bool reserve_in_file(struct nytp_merge *m, uint32_t fid)
{
    if (fid < m->n_in_files)
        return true;
    if (fid > MAX_FID)
        return nytp_error_set(&m->error, NYTP_ERR_LIMIT, "file id %u is above the limit %u",
                              (unsigned)fid, MAX_FID);
    uint32_t n = m->n_in_files == 0 ? 64 : m->n_in_files;
    while (n <= fid)
        n *= 2;
    struct in_file *grown = realloc(m->in_files, n * sizeof *grown);
    if (grown == NULL)
        return no_memory(m);
    memset(grown + m->n_in_files, 0, (n - m->n_in_files) * sizeof *grown);
    m->in_files = grown;
    m->n_in_files = n;
    return true;
}

/* A new id of the output; 0 on failure. */
static uint32_t new_file(struct nytp_merge *m)
{
    if (!nytp_grow(&m->files, &m->files_capacity, m->n_files, sizeof *m->files)) {
        no_memory(m);
        return 0;
    }
    m->files[m->n_files] = (struct out_file){0};
    return m->n_files++;
}

static bool write_file(struct nytp_merge *m, uint32_t in_fid, uint32_t eval_fid,
                       uint32_t eval_line, uint32_t flags, uint32_t size, uint32_t mtime_s,
                       uint32_t name_id)
{
    struct in_file *in = &m->in_files[in_fid];
    in->pending = 0;
    const struct nytp_key key = {.a = name_id};
    if (eval_fid == 0) {
        const uint32_t known = nytp_table_get(&m->fid_of_name, key);
        if (known != NYTP_TABLE_NONE) {
            in->fid = known;
            return true;
        }
    }
    in->fid = new_file(m);
    if (in->fid == 0)
        return false;
    if (eval_fid == 0 && !nytp_table_put(&m->fid_of_name, key, in->fid))
        return no_memory(m);
    const struct nytp_name name = text_of(m, name_id);
    nytp_write_new_fid(m->writer, in->fid, eval_fid, eval_fid != 0 ? eval_line : 0, flags, size,
                       mtime_s, name.ptr, name.len);
    return true;
}

static bool write_pending(struct nytp_merge *m, uint32_t at, uint32_t eval_fid)
{
    const struct pending_eval p = m->pending[at - 1];
    return write_file(m, p.fid, eval_fid, p.eval_line, p.flags, p.size, p.mtime_s, p.name);
}

/* The evals that wait for a file, and those that wait for them, which join the end of the
 * list as it is written. */
static bool write_waiting(struct nytp_merge *m, uint32_t in_fid)
{
    uint32_t last = 0;
    uint32_t at = m->in_files[in_fid].waiting;
    m->in_files[in_fid].waiting = 0;
    for (uint32_t i = at; i != 0; i = m->pending[i - 1].next)
        last = i;
    for (; at != 0; at = m->pending[at - 1].next) {
        const struct pending_eval *p = &m->pending[at - 1];
        if (m->in_files[p->fid].pending != at) /* written, or defined again */
            continue;
        if (!write_pending(m, at, m->in_files[p->eval_fid].fid))
            return false;
        struct in_file *eval = &m->in_files[p->fid];
        m->pending[last - 1].next = eval->waiting;
        eval->waiting = 0;
        while (m->pending[last - 1].next != 0)
            last = m->pending[last - 1].next;
    }
    return true;
}

static bool add_pending(struct nytp_merge *m, const struct nytp_event *e, uint32_t name)
{
    const uint32_t fid = e->u.new_fid.fid, eval_fid = e->u.new_fid.eval_fid;
    if (!nytp_grow(&m->pending, &m->pending_capacity, m->n_pending, sizeof *m->pending))
        return no_memory(m);
    m->pending[m->n_pending++] = (struct pending_eval){
        .fid = fid,
        .eval_fid = eval_fid,
        .eval_line = e->u.new_fid.eval_line,
        .flags = e->u.new_fid.flags,
        .size = e->u.new_fid.size,
        .mtime_s = e->u.new_fid.mtime_s,
        .name = name,
        .next = m->in_files[eval_fid].waiting,
    };
    m->in_files[eval_fid].waiting = m->n_pending;
    m->in_files[fid].fid = 0;
    m->in_files[fid].pending = m->n_pending;
    return true;
}

static bool add_file(struct nytp_merge *m, const struct nytp_event *e)
{
    const uint32_t fid = e->u.new_fid.fid, eval_fid = e->u.new_fid.eval_fid;
    if (!reserve_in_file(m, fid) || !reserve_in_file(m, eval_fid))
        return false;
    const uint32_t name = intern(m, e->u.new_fid.name);
    if (name == UINT32_MAX)
        return false;
    const bool is_eval = eval_fid != 0 && eval_fid != fid;
    if (is_eval && m->in_files[eval_fid].fid == 0)
        return add_pending(m, e, name);
    return write_file(m, fid, is_eval ? m->in_files[eval_fid].fid : 0, e->u.new_fid.eval_line,
                      e->u.new_fid.flags, e->u.new_fid.size, e->u.new_fid.mtime_s, name) &&
           write_waiting(m, fid);
}

/* The id in the output; 0 for 0, but in statements, which are always in a file. NONE with the
 * error set when it is not defined. */
static uint32_t out_fid(struct nytp_merge *m, const struct nytp_event *e, uint32_t fid)
{
    const bool is_time = e->tag == NYTP_TAG_TIME_LINE || e->tag == NYTP_TAG_TIME_BLOCK;
    if (fid == 0 && !is_time)
        return 0;
    if (fid != 0 && fid < m->n_in_files) {
        const uint32_t pending = m->in_files[fid].pending;
        if (pending != 0 &&
            !write_pending(m, pending, 0)) /* what ran it did not come in time */
            return NONE;
        if (m->in_files[fid].fid != 0)
            return m->in_files[fid].fid;
    }
    nytp_error_at(&m->error, NYTP_ERR_FORMAT, e->offset, m->inflated,
                  "%s names file id %u, which is not defined", nytp_tag_name(e->tag),
                  (unsigned)fid);
    return NONE;
}

/* --- events --- */

static bool same_ticks(const struct nytp_merge *m)
{
    return m->in_ticks_per_sec == m->ticks_per_sec || !(m->in_ticks_per_sec > 0) ||
           !(m->ticks_per_sec > 0);
}

static double converted(const struct nytp_merge *m, double ticks)
{
    return same_ticks(m) ? ticks : ticks * (m->ticks_per_sec / m->in_ticks_per_sec);
}

/* Statement ticks carry what rounding left over, so that their sum stays right. */
static int32_t statement_ticks(struct nytp_merge *m, int32_t ticks)
{
    if (same_ticks(m))
        return ticks;
    const double exact = converted(m, ticks) + m->carry;
    const double rounded = (double)whole(exact);
    const double bounded = rounded > INT32_MAX   ? INT32_MAX
                           : rounded < INT32_MIN ? INT32_MIN
                                                 : rounded;
    m->carry = exact - bounded;
    return (int32_t)bounded;
}

/* A DISCOUNT is for the next statement of the same process, so it is written right before
 * it; one that is left over when a process ends would be taken for the next process. */
static bool write_time(struct nytp_merge *m, const struct nytp_event *e)
{
    const uint32_t fid = out_fid(m, e, e->u.time.fid);
    if (fid == NONE)
        return false;
    if (m->discount)
        nytp_write_discount(m->writer);
    m->discount = false;
    const int32_t ticks = statement_ticks(m, e->u.time.ticks);
    if (e->tag == NYTP_TAG_TIME_LINE)
        nytp_write_time_line(m->writer, ticks, fid, e->u.time.line);
    else
        nytp_write_time_block(m->writer, ticks, fid, e->u.time.line, e->u.time.block_line,
                              e->u.time.sub_line);
    return true;
}

static bool write_return(struct nytp_merge *m, const struct nytp_event *e)
{
    const struct nytp_str name = e->u.sub_return.name;
    const size_t need = (size_t)name.len + NYTP_ENCODED_STR_EXTRA + NYTP_COPY_STEP;
    if (need > m->encoded_size) {
        uint8_t *grown = realloc(m->encoded, need * 2);
        if (grown == NULL)
            return no_memory(m);
        m->encoded = grown;
        m->encoded_size = need * 2;
    }
    const size_t len = nytp_encode_str(m->encoded, name.ptr, name.len);
    nytp_write_sub_return(m->writer, e->u.sub_return.depth,
                          whole(converted(m, e->u.sub_return.incl_ticks)),
                          whole(converted(m, e->u.sub_return.excl_ticks)), m->encoded, len);
    return true;
}

/* Once for each name, and again where only an xsub of that name was known. */
static bool write_sub_info(struct nytp_merge *m, const struct nytp_event *e)
{
    const uint32_t fid = out_fid(m, e, e->u.sub_info.fid);
    const uint32_t name = intern(m, e->u.sub_info.name);
    if (fid == NONE || name == UINT32_MAX)
        return false;
    const struct nytp_key key = {.a = name};
    const uint32_t known = nytp_table_get(&m->sub_of_name, key);
    const bool has_range = e->u.sub_info.first_line != 0;
    if (known != NYTP_TABLE_NONE && (known != 0 || !has_range))
        return true;
    if (!nytp_table_put(&m->sub_of_name, key, has_range))
        return no_memory(m);
    nytp_write_sub_info(m->writer, fid, e->u.sub_info.name.ptr, e->u.sub_info.name.len,
                        e->u.sub_info.first_line, e->u.sub_info.last_line);
    return true;
}

static bool write_source(struct nytp_merge *m, const struct nytp_event *e)
{
    const uint32_t fid = out_fid(m, e, e->u.src_line.fid);
    if (fid == NONE)
        return false;
    if (fid == 0)
        return true;
    struct out_file *file = &m->files[fid];
    if (file->source_from == 0)
        file->source_from = m->n_input;
    if (file->source_from == m->n_input)
        nytp_write_src_line(m->writer, fid, e->u.src_line.line, e->u.src_line.text.ptr,
                            e->u.src_line.text.len);
    return true;
}

static bool add_calls(struct nytp_merge *m, const struct nytp_event *e)
{
    const uint32_t fid = out_fid(m, e, e->u.sub_callers.fid);
    const uint32_t caller = intern(m, e->u.sub_callers.caller);
    const uint32_t callee = intern(m, e->u.sub_callers.callee);
    if (fid == NONE || caller == UINT32_MAX || callee == UINT32_MAX)
        return false;
    const struct nytp_key key = {fid, e->u.sub_callers.line, caller, callee};
    uint32_t at = nytp_table_get(&m->arc_of_place, key);
    if (at == NYTP_TABLE_NONE) {
        at = m->n_arcs;
        if (!nytp_grow(&m->arcs, &m->arcs_capacity, at, sizeof *m->arcs) ||
            !nytp_table_put(&m->arc_of_place, key, at))
            return no_memory(m);
        m->arcs[m->n_arcs++] = (struct arc){
            .fid = fid, .line = e->u.sub_callers.line, .caller = caller, .callee = callee};
    }
    struct nytp_call_totals *sum = &m->arcs[at].totals;
    const uint32_t count = e->u.sub_callers.count;
    sum->count = count > UINT32_MAX - sum->count ? UINT32_MAX : sum->count + count;
    sum->incl_s += e->u.sub_callers.incl_s;
    sum->excl_s += e->u.sub_callers.excl_s;
    sum->reci_s += e->u.sub_callers.reci_s;
    if (e->u.sub_callers.rec_depth > sum->rec_depth)
        sum->rec_depth = e->u.sub_callers.rec_depth;
    return true;
}

static bool write_record(struct nytp_merge *m, const struct nytp_event *e)
{
    switch (e->tag) {
    case NYTP_TAG_TIME_LINE:
    case NYTP_TAG_TIME_BLOCK:
        return write_time(m, e);
    case NYTP_TAG_DISCOUNT:
        m->discount = true;
        return true;
    case NYTP_TAG_SUB_ENTRY: {
        const uint32_t fid = out_fid(m, e, e->u.sub_entry.caller_fid);
        if (fid == NONE)
            return false;
        nytp_write_sub_entry(m->writer, fid, e->u.sub_entry.caller_line);
        return true;
    }
    case NYTP_TAG_SUB_RETURN:
        return write_return(m, e);
    case NYTP_TAG_SRC_LINE:
        return write_source(m, e);
    case NYTP_TAG_SUB_INFO:
        return write_sub_info(m, e);
    case NYTP_TAG_SUB_CALLERS:
        return add_calls(m, e);
    case NYTP_TAG_NEW_FID:
        return add_file(m, e);
    case NYTP_TAG_PID_START:
        m->discount = false;
        nytp_write_pid_start(m->writer, e->u.pid_start.pid, e->u.pid_start.ppid,
                             e->u.pid_start.time_s);
        return true;
    case NYTP_TAG_PID_END:
        m->discount = false;
        nytp_write_pid_end(m->writer, e->u.pid_end.pid, e->u.pid_end.time_s);
        return true;
    default:
        return true;
    }
}

/* What recording cost, of the process in which it stands. */
static bool write_costs(struct nytp_merge *m, const struct nytp_event *e)
{
    struct nytp_str text = e->u.comment.text;
    char line[400];
    if (text.len > 0 && text.ptr[text.len - 1] == '\n')
        text.len--;
    if (text.len >= sizeof line)
        return true;
    memcpy(line, text.ptr, text.len);
    line[text.len] = '\0';
    nytp_write_comment(m->writer, line);
    return true;
}

static bool take(struct nytp_merge *m, const struct nytp_event *e)
{
    switch (e->tag) {
    case NYTP_TAG_VERSION:
        return true;
    case NYTP_TAG_COMMENT:
        return !nytp_is_costs(&e->u.comment.text) || (begin_records(m) && write_costs(m, e));
    case NYTP_TAG_START_DEFLATE:
        m->inflated = true;
        return true;
    case NYTP_TAG_ATTRIBUTE:
        return add_attribute(m, e->u.pair.key, e->u.pair.value);
    case NYTP_TAG_OPTION:
        return add_option(m, e->u.pair.key, e->u.pair.value);
    default:
        return begin_records(m) && write_record(m, e);
    }
}

static bool merge_event(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct nytp_merge *m = (struct nytp_merge *)sink;
    if (take(m, event) && !m->writer->failed)
        return true;
    if (m->writer->failed)
        nytp_error_set(&m->error, NYTP_ERR_IO, "the output cannot be written");
    if (!m->error.has_offset && m->error.status == NYTP_ERR_FORMAT) {
        m->error.has_offset = true;
        m->error.offset = event->offset;
        m->error.inflated = m->inflated;
    }
    return false;
}

bool nytp_merge_add(struct nytp_merge *m, const char *path, struct nytp_error *error)
{
    struct nytp_source *source = nytp_source_open(path, error);
    if (source == NULL)
        return false;
    m->path = path;
    m->n_input++;
    m->n_pending = 0;
    m->in_ticks_per_sec = m->in_overhead_ticks = m->carry = 0;
    m->discount = m->inflated = false;
    m->error = (struct nytp_error){0};
    if (m->n_in_files > 0)
        memset(m->in_files, 0, m->n_in_files * sizeof *m->in_files);
    const struct nytp_read_options options = {0};
    const bool ok = nytp_read(source, &options, &m->sink, error);
    nytp_source_free(source);
    m->overhead_ticks += converted(m, m->in_overhead_ticks);
    if (m->error.status != NYTP_OK)
        *error = m->error;
    return ok;
}

/* --- the closing part --- */

struct sorted_arc {
    const struct arc *arc;
    struct nytp_name callee, caller;
};

static int compare_names(struct nytp_name x, struct nytp_name y)
{
    const int order = memcmp(x.ptr, y.ptr, x.len < y.len ? x.len : y.len);
    return order != 0 ? order : x.len < y.len ? -1 : x.len > y.len;
}

static int by_callee_and_place(const void *a, const void *b)
{
    const struct sorted_arc *x = a, *y = b;
    if (x->arc->callee != y->arc->callee)
        return compare_names(x->callee, y->callee);
    if (x->arc->fid != y->arc->fid)
        return x->arc->fid < y->arc->fid ? -1 : 1;
    if (x->arc->line != y->arc->line)
        return x->arc->line < y->arc->line ? -1 : 1;
    return compare_names(x->caller, y->caller);
}

static bool write_arcs(struct nytp_merge *m)
{
    struct sorted_arc *sorted = malloc((m->n_arcs + 1) * sizeof *sorted);
    if (sorted == NULL)
        return no_memory(m);
    for (uint32_t i = 0; i < m->n_arcs; i++)
        sorted[i] = (struct sorted_arc){.arc = &m->arcs[i],
                                        .callee = text_of(m, m->arcs[i].callee),
                                        .caller = text_of(m, m->arcs[i].caller)};
    qsort(sorted, m->n_arcs, sizeof *sorted, by_callee_and_place);
    for (uint32_t i = 0; i < m->n_arcs; i++) {
        const struct sorted_arc *s = &sorted[i];
        nytp_write_sub_callers(m->writer, s->arc->fid, s->arc->line, s->caller.ptr,
                               s->caller.len, &s->arc->totals, s->callee.ptr, s->callee.len);
    }
    free(sorted);
    return true;
}

/* "a.pl (3 runs), b.pl and c.pl" */
static bool write_application(struct nytp_merge *m)
{
    size_t size = 1;
    for (uint32_t i = 0; i < m->n_runs; i++)
        size += text_of(m, m->runs[i].name).len + 40;
    char *text = malloc(size);
    if (text == NULL)
        return no_memory(m);
    size_t len = 0;
    for (uint32_t i = 0; i < m->n_runs; i++) {
        const struct nytp_name name = text_of(m, m->runs[i].name);
        if (i > 0)
            len += (size_t)snprintf(text + len, size - len, "%s",
                                    i + 1 == m->n_runs ? " and " : ", ");
        memcpy(text + len, name.ptr, name.len);
        len += name.len;
        if (m->runs[i].n > 1)
            len +=
                (size_t)snprintf(text + len, size - len, " (%u runs)", (unsigned)m->runs[i].n);
    }
    if (m->n_runs > 0)
        nytp_write_attribute(m->writer, "application", text, len);
    free(text);
    return true;
}

static void write_number(struct nytp_merge *m, const char *key, double value)
{
    char text[64];
    const int len = snprintf(text, sizeof text, "%.0f", value);
    nytp_write_attribute(m->writer, key, text, (size_t)len);
}

bool nytp_merge_finish(struct nytp_merge *m, struct nytp_error *error)
{
    m->error = (struct nytp_error){0};
    bool ok = begin_records(m);
    ok = ok && write_arcs(m) && write_application(m);
    if (ok) {
        if (m->basetime_s != 0)
            write_number(m, "basetime", m->basetime_s);
        write_number(m, "cumulative_overhead_ticks", m->overhead_ticks);
    }
    if (ok && (!nytp_writer_flush(m->writer, NYTP_FLUSH_FINISH) ||
               !nytp_writer_put_trailer(m->writer)))
        ok = nytp_error_set(&m->error, NYTP_ERR_IO, "the output cannot be written");
    if (!ok)
        *error = m->error;
    return ok;
}
