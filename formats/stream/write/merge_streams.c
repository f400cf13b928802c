/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Merges several profiles into one stream; see merge_streams.h.
 *
 * Events are written as they are read, with the output's file ids (merged_files.h). Attributes
 * and options are written when the first input has them (merged_settings.h). Only calls per
 * place are kept: they are added up and written at the end.
 */
#include "merge_streams.h"

#include "formats/model/order.h"
#include "formats/base/arena.h"
#include "formats/stream/comments/attribute_records.h"
#include "formats/stream/comments/cost_records.h"
#include "formats/stream/comments/hang_records.h"
#include "formats/stream/format.h"
#include "formats/stream/comments/label_records.h"
#include "formats/stream/comments/open_calls.h"
#include "formats/stream/comments/regex_records.h"
#include "formats/stream/comments/source_records.h"
#include "formats/stream/comments/sample_records.h"
#include "formats/stream/comments/bytes_records.h"
#include "formats/stream/comments/svs_records.h"
#include "formats/stream/comments/wait_records.h"
#include "merged_files.h"
#include "merged_settings.h"
#include "formats/base/strings.h"
#include "formats/base/table.h"
#include "formats/base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct nytp_merge {
    struct nytp_sink sink;
    struct nytp_writer *writer;
    int level;
    struct nytp_strings *strings;

    struct nytp_merged_settings settings;
    struct nytp_merged_files files;
    struct nytp_table subs_seen, arc_of_place;
    NYTP_LIST(struct nytp_sub_callers) arcs;

    bool began, deflating;

    /* the current input */
    uint32_t n_input; /* from 1 */
    double carry;     /* remainder of the conversion of ticks */
    bool discount;
    uint8_t *encoded; /* an encoded name */
    uint32_t encoded_capacity;
    struct nytp_error error;
    bool inflated;
};

static bool merge_event(struct nytp_sink *sink, const struct nytp_event *event);

struct nytp_merge *nytp_merge_new(nytp_bytes_fn *put, nytp_note_fn *note, void *context,
                                  int level)
{
    struct nytp_merge *m = calloc(1, sizeof *m);
    if (m == NULL)
        return NULL;
    m->sink.event = merge_event;
    m->level = level;
    m->strings = nytp_strings_new();
    m->writer = nytp_writer_new(put, context);
    m->settings = (struct nytp_merged_settings){
        .writer = m->writer,
        .strings = m->strings,
        .error = &m->error,
        .note = note,
        .context = context,
    };
    if (m->strings == NULL || m->writer == NULL ||
        !nytp_merged_files_init(&m->files, m->writer, m->strings, &m->error)) {
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
    nytp_table_free(&m->subs_seen);
    nytp_table_free(&m->arc_of_place);
    nytp_merged_files_free(&m->files);
    free(m->arcs.at);
    nytp_merged_settings_free(&m->settings);
    free(m->encoded);
    free(m);
}

/* --- header: attributes and options --- */

static void begin_output(struct nytp_merge *m)
{
    if (m->began)
        return;
    m->began = true;
    nytp_write_version(m->writer, 5, 0);
    nytp_write_comment(m->writer, "Perl profile database. Merged by nytprofmerge");
    /* numbers are written as this machine's doubles */
    nytp_write_attribute(m->writer, "nv_size", "8", 1);
}

/* Only attributes and options are not compressed. */
static bool begin_records(struct nytp_merge *m)
{
    begin_output(m);
    if (m->deflating || m->level == 0)
        return true;
    m->deflating = true;
    return nytp_write_start_deflate(m->writer, m->level) || nytp_out_of_memory(&m->error);
}

/* Returns the output's id of a file. An event may have file 0 (none), except for a statement.
 * Returns NONE, with the error set, if the id is undefined. */
static uint32_t out_fid(struct nytp_merge *m, const struct nytp_event *e, uint32_t fid)
{
    const bool is_time = e->tag == NYTP_TAG_TIME_LINE || e->tag == NYTP_TAG_TIME_BLOCK;
    if (fid == 0 && !is_time)
        return 0;
    uint32_t out;
    if (!nytp_merged_fid(&m->files, fid, &out))
        return NONE;
    if (out != 0)
        return out;
    nytp_error_at(&m->error, NYTP_ERR_FORMAT, e->offset, m->inflated,
                  "%s names file id %u, which is not defined", nytp_tag_name(e->tag),
                  (unsigned)fid);
    return NONE;
}

/* --- events --- */

/* The rounding error of each statement is carried to the next, so that the sum stays right. */
static int32_t statement_ticks(struct nytp_merge *m, int32_t ticks)
{
    if (nytp_merged_ticks_are_equal(&m->settings))
        return ticks;
    const double exact = nytp_merged_ticks(&m->settings, ticks) + m->carry;
    const double rounded = (double)nytp_whole(exact);
    const double bounded = rounded > INT32_MAX   ? INT32_MAX
                           : rounded < INT32_MIN ? INT32_MIN
                                                 : rounded;
    m->carry = exact - bounded;
    return (int32_t)bounded;
}

/* A DISCOUNT belongs to the next statement of the same process, so it is written right before
 * that. One left over at the end of a process would affect the next process. */
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
    if (e->u.sub_return.depth > NYTP_MAX_DEPTH)
        return nytp_error_at(&m->error, NYTP_ERR_LIMIT, e->offset, m->inflated,
                             "calls nested deeper than %u", NYTP_MAX_DEPTH);
    if (!nytp_reserve(&m->encoded, &m->encoded_capacity,
                      (uint64_t)name.len + NYTP_ENCODED_STR_EXTRA + NYTP_COPY_STEP, 1))
        return nytp_out_of_memory(&m->error);
    const size_t len = nytp_encode_str(m->encoded, name.ptr, name.len);
    nytp_write_sub_return(
        m->writer, e->u.sub_return.depth,
        nytp_whole(nytp_merged_ticks(&m->settings, e->u.sub_return.incl_ticks)),
        nytp_whole(nytp_merged_ticks(&m->settings, e->u.sub_return.excl_ticks)), m->encoded,
        len);
    return true;
}

/* A sub with lines is written once for each file, since the lines say whose the statements
 * are. One without (an xsub) is written once, if nothing is known of its name. */
static bool write_sub_info(struct nytp_merge *m, const struct nytp_event *e)
{
    const uint32_t fid = out_fid(m, e, e->u.sub_info.fid);
    const uint32_t name = nytp_merged_intern(&m->settings, e->u.sub_info.name);
    if (fid == NONE || name == UINT32_MAX)
        return false;
    const bool has_range = e->u.sub_info.first_line != 0;
    const struct nytp_key any = {.a = name}, here = {.a = name, .b = fid};
    if (nytp_table_get(&m->subs_seen, has_range ? here : any) != NYTP_TABLE_NONE)
        return true;
    if (!nytp_table_put(&m->subs_seen, any, 1) || !nytp_table_put(&m->subs_seen, here, 1))
        return nytp_out_of_memory(&m->error);
    struct nytp_sub_info info = e->u.sub_info;
    info.fid = fid;
    nytp_write_sub_info(m->writer, &info);
    return true;
}

static bool write_source(struct nytp_merge *m, const struct nytp_event *e)
{
    const uint32_t fid = out_fid(m, e, e->u.src_line.fid);
    if (fid == NONE)
        return false;
    if (fid == 0)
        return true;
    if (nytp_merged_file_has_source(&m->files, fid, m->n_input))
        nytp_write_src_line(m->writer, fid, e->u.src_line.line, e->u.src_line.text.ptr,
                            e->u.src_line.text.len);
    return true;
}

static struct nytp_str text_of(const struct nytp_merge *m, uint32_t id)
{
    const struct nytp_name name = nytp_strings_get(m->strings, id);
    return (struct nytp_str){.ptr = name.ptr, .len = name.len};
}

/* Adds calls from a place to those of other inputs. They are written at the end. */
static bool add_calls(struct nytp_merge *m, const struct nytp_event *e)
{
    const uint32_t fid = out_fid(m, e, e->u.sub_callers.fid);
    const uint32_t caller = nytp_merged_intern(&m->settings, e->u.sub_callers.caller);
    const uint32_t callee = nytp_merged_intern(&m->settings, e->u.sub_callers.callee);
    if (fid == NONE || caller == UINT32_MAX || callee == UINT32_MAX)
        return false;
    const struct nytp_key key = {fid, e->u.sub_callers.line, caller, callee};
    uint32_t at = nytp_table_get(&m->arc_of_place, key);
    if (at == NYTP_TABLE_NONE) {
        at = m->arcs.n;
        if (!NYTP_GROW(&m->arcs) || !nytp_table_put(&m->arc_of_place, key, at))
            return nytp_out_of_memory(&m->error);
        m->arcs.at[m->arcs.n++] = (struct nytp_sub_callers){.fid = fid,
                                                            .line = e->u.sub_callers.line,
                                                            .caller = text_of(m, caller),
                                                            .callee = text_of(m, callee)};
    }
    struct nytp_sub_callers *sum = &m->arcs.at[at];
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
        return nytp_merged_file_add(&m->files, &e->u.new_fid);
    case NYTP_TAG_PID_START:
        m->discount = false;
        nytp_merged_process_begins(&m->settings);
        nytp_write_pid_start(m->writer, e->u.process.pid, e->u.process.ppid,
                             e->u.process.time_s);
        return true;
    case NYTP_TAG_PID_END:
        m->discount = false;
        nytp_write_pid_end(m->writer, e->u.process.pid, e->u.process.time_s);
        return true;
    default:
        return true;
    }
}

/* The words of a comment that are a file's id or ticks. Its head is word 0. */
static const struct changed_words {
    const char *head;
    uint32_t fid, first_ticks, last_ticks; /* 0: none */
} changed_words[] = {
    {NYTP_SOURCE_HEAD, .fid = 1},
    {NYTP_REGEX_HEAD, .fid = 2},
    {NYTP_SVS_HEAD, .fid = 2},
    {NYTP_ALLOC_HEAD, .fid = 4},
    {NYTP_IN_USE_HEAD, .fid = 5},
    {NYTP_INHERITED_HEAD, .fid = 5},
    {NYTP_IN_USE_CALL_HEAD, .fid = 3},
    {NYTP_SAMPLE_CPU_HEAD, .first_ticks = 1, .last_ticks = 1},
    {NYTP_LABEL_HEAD, .first_ticks = 1, .last_ticks = 1},
    {NYTP_OWN_HEAD, .first_ticks = 2, .last_ticks = 2},
    {NYTP_HANG_HEAD, .first_ticks = 2, .last_ticks = 3},
};

/* Returns true for comments about the process that are valid in the output, too. */
static bool is_kept(const struct nytp_str *comment)
{
    struct nytp_svs_record svs;
    struct nytp_bytes_record bytes;
    struct nytp_in_use_call in_use;
    struct nytp_regex_record regex;
    struct nytp_source_record source;
    struct nytp_open_call call;
    struct nytp_hang hang;
    struct nytp_str peer;
    bool is_ready;
    return nytp_svs_record_read(comment, &svs) || nytp_bytes_record_read(comment, &bytes) ||
           nytp_in_use_call_read(comment, &in_use) || nytp_regex_record_read(comment, &regex) ||
           nytp_source_record_read(comment, &source) || nytp_is_costs(comment) ||
           nytp_is_resumed_call(comment) || nytp_open_call_read(comment, &call) ||
           nytp_hang_read(comment, &hang) || nytp_sample_cpu_read(comment, &is_ready) >= 0 ||
           nytp_wait_record_read(comment, &peer) != NYTP_WAIT_UNKNOWN ||
           nytp_comment_number(comment, NYTP_PROCESSOR_TIME_HEAD) >= 0 ||
           nytp_comment_number(comment, NYTP_MEMORY_NOW_HEAD) >= 0 ||
           nytp_comment_number(comment, NYTP_MEMORY_START_HEAD) >= 0 ||
           nytp_comment_number(comment, NYTP_MEMORY_PEAK_HEAD) >= 0 ||
           nytp_label_record_read(comment).kind != NYTP_LABEL_NONE;
}

static struct changed_words changes_of(struct nytp_str text)
{
    const struct nytp_str head = nytp_cut_part(&text, ' ');
    for (size_t i = 0; i < sizeof changed_words / sizeof *changed_words; i++)
        if (nytp_str_is(head, changed_words[i].head))
            return changed_words[i];
    return (struct changed_words){0};
}

#define MOST_TEXT   (NYTP_LABEL_LONGEST > NYTP_HANG_ROOM ? NYTP_LABEL_LONGEST : NYTP_HANG_ROOM)
#define MOST_DIGITS 20 /* of a number, with its sign */
#define MOST_LINE   (MOST_TEXT + 2 * MOST_DIGITS)

/* Stores a blank and a word, changed if it is the file's id or ticks, which are known to be
 * numbers. Returns its end, or NULL, with the error set, if the file is undefined. */
static char *put_word(struct nytp_merge *m, const struct nytp_event *e,
                      const struct changed_words *change, uint32_t n, struct nytp_str word,
                      char *to)
{
    const bool is_ticks = n >= change->first_ticks && n <= change->last_ticks &&
                          !nytp_merged_ticks_are_equal(&m->settings);
    if (n != change->fid && !is_ticks) {
        *to = ' ';
        memcpy(to + 1, word.ptr, word.len);
        return to + 1 + word.len;
    }
    const int64_t number = strtoll(word.ptr, NULL, 10); /* something else follows it */
    if (is_ticks)
        return nytp_put_number(to, nytp_whole(nytp_merged_ticks(&m->settings, (double)number)));
    const uint32_t fid = out_fid(m, e, (uint32_t)number);
    return fid == NONE ? NULL : nytp_put_number(to, fid);
}

static bool change_comment(struct nytp_merge *m, const struct nytp_event *e,
                           struct nytp_str text, char line[MOST_LINE])
{
    const char *const end = text.ptr + text.len;
    const struct changed_words change = changes_of(text);
    struct nytp_str word = nytp_cut_part(&text, ' ');
    memcpy(line, word.ptr, word.len);
    char *to = line + word.len;
    for (uint32_t n = 1; to != NULL && word.ptr + word.len < end; n++) {
        word = nytp_cut_part(&text, ' ');
        to = put_word(m, e, &change, n, word, to);
    }
    if (to != NULL)
        *to = '\0';
    return to != NULL;
}

static bool merge_comment(struct nytp_merge *m, const struct nytp_event *e)
{
    const struct nytp_str text = nytp_comment_text(&e->u.comment.text);
    struct nytp_event attribute;
    char line[MOST_LINE];
    if (nytp_attribute_record_read(e, &attribute)) {
        begin_output(m);
        return nytp_merged_attribute_record(&m->settings, &attribute.u.setting);
    }
    if (!is_kept(&e->u.comment.text) || text.len >= MOST_TEXT)
        return true;
    if (!begin_records(m) || !change_comment(m, e, text, line))
        return false;
    nytp_write_comment(m->writer, line);
    return true;
}

static bool merge_record(struct nytp_merge *m, const struct nytp_event *e)
{
    switch (e->tag) {
    case NYTP_TAG_VERSION:
        return true;
    case NYTP_TAG_COMMENT:
        return merge_comment(m, e);
    case NYTP_TAG_START_DEFLATE:
        m->inflated = true;
        return true;
    case NYTP_TAG_ATTRIBUTE:
        begin_output(m);
        return nytp_merged_attribute(&m->settings, &e->u.setting);
    case NYTP_TAG_OPTION:
        begin_output(m);
        return nytp_merged_option(&m->settings, &e->u.setting);
    default:
        return begin_records(m) && write_record(m, e);
    }
}

static bool merge_event(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct nytp_merge *m = (struct nytp_merge *)sink;
    if (merge_record(m, event) && !m->writer->failed)
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

static bool add_recording(struct nytp_merge *m, struct nytp_source *source, const char *path,
                          struct nytp_error *error)
{
    m->n_input++;
    nytp_merged_settings_next_input(&m->settings, path);
    nytp_merged_files_next_input(&m->files);
    m->carry = 0;
    m->discount = m->inflated = false;
    m->error = (struct nytp_error){0};
    const struct nytp_read_options options = {.one_of_several = true};
    const bool ok = nytp_read(source, &options, &m->sink, error);
    nytp_merged_settings_end_input(&m->settings);
    if (m->error.status != NYTP_OK)
        *error = m->error;
    return ok;
}

bool nytp_merge_add(struct nytp_merge *m, const char *path, struct nytp_error *error)
{
    struct nytp_source *source = nytp_source_open(path, error);
    if (source == NULL)
        return false;
    bool ok;
    do
        ok = add_recording(m, source, path, error);
    while (ok && nytp_read_another(source));
    nytp_source_free(source);
    return ok;
}

/* --- the closing part --- */

static int by_callee_and_place(const void *a, const void *b)
{
    const struct nytp_sub_callers *x = a, *y = b;
    const int order = nytp_compare_texts(x->callee, y->callee);
    if (order != 0)
        return order;
    NYTP_RETURN_ORDER(x->fid, y->fid);
    NYTP_RETURN_ORDER(x->line, y->line);
    return nytp_compare_texts(x->caller, y->caller);
}

static void write_arcs(struct nytp_merge *m)
{
    if (m->arcs.n > 0)
        qsort(m->arcs.at, m->arcs.n, sizeof *m->arcs.at, by_callee_and_place);
    for (uint32_t i = 0; i < m->arcs.n; i++)
        nytp_write_sub_callers(m->writer, &m->arcs.at[i]);
}

bool nytp_merge_finish(struct nytp_merge *m, struct nytp_error *error)
{
    m->error = (struct nytp_error){0};
    bool ok = begin_records(m);
    if (ok)
        write_arcs(m);
    ok = ok && nytp_merged_settings_finish(&m->settings);
    if (ok && (!nytp_writer_flush(m->writer, NYTP_FLUSH_FINISH) ||
               !nytp_writer_put_trailer(m->writer)))
        ok = nytp_error_set(&m->error, NYTP_ERR_IO, "the output cannot be written");
    if (!ok)
        *error = m->error;
    return ok;
}
