/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Takes the facts of a stream; see builder_parts.h.
 */
#include "builder_parts.h"
#include "formats/stream/comments/attribute_records.h"
#include "formats/stream/comments/sample_records.h"
#include "formats/stream/comments/cost_records.h"
#include "formats/stream/comments/label_records.h"
#include "formats/stream/comments/open_calls.h"
#include "formats/stream/comments/regex_records.h"
#include "formats/stream/comments/source_records.h"

#include <string.h>

/* The most bytes of files with a checksum, together: to show their source they are read to the
 * end, and a stranger's profile may name a large one many times. */
#define MOST_PROVED_BYTES (UINT64_C(256) << 20)

bool nytp_builder_sub_info(struct nytp_builder *b, const struct nytp_event *e)
{
    uint32_t name, file;
    if (!nytp_builder_name(b, &e->u.sub_info.name, &name) ||
        !nytp_builder_file(b, e->u.sub_info.fid, &file))
        return false;
    if (!NYTP_GROW(&b->ranges))
        return nytp_builder_out_of_memory(b);
    b->ranges.at[b->ranges.n++] = (struct nytp_built_range){
        name, file, e->u.sub_info.first_line, e->u.sub_info.last_line};
    return true;
}

bool nytp_builder_source_line(struct nytp_builder *b, const struct nytp_event *e)
{
    struct nytp_profile *const p = b->p;
    b->p->has |= NYTP_HAS_SOURCE;
    if (!b->options.sources)
        return true;
    uint32_t file;
    if (!nytp_builder_file(b, e->u.src_line.fid, &file))
        return false;
    const uint32_t len = e->u.src_line.text.len;
    char *text = nytp_arena_alloc(b->p->arena, (size_t)len + 1);
    if (text == NULL ||
        !nytp_grow(&p->sources, &b->capacities.sources, p->n_sources, sizeof *p->sources))
        return nytp_builder_out_of_memory(b);
    memcpy(text, e->u.src_line.text.ptr, len);
    text[len] = '\0';
    p->sources[p->n_sources++] = (struct nytp_source_line){file, e->u.src_line.line, text, len};
    return true;
}

/* Remember a pair; of the same key the last counts. */
static bool keep_pair(struct nytp_builder *b, struct nytp_pair **list, uint32_t *n,
                      uint32_t *capacity, const struct nytp_event *e)
{
    uint32_t key, value;
    if (!nytp_builder_name(b, &e->u.setting.key, &key) ||
        !nytp_builder_name(b, &e->u.setting.value, &value))
        return false;
    const struct nytp_pair pair = {nytp_strings_get(b->strings, key),
                                   nytp_strings_get(b->strings, value)};
    for (uint32_t i = 0; i < *n; i++)
        if ((*list)[i].key.ptr == pair.key.ptr) {
            (*list)[i] = pair;
            return true;
        }
    if (*n >= 1000) /* a recording has some twenty */
        return true;
    if (!nytp_grow(list, capacity, *n, sizeof **list))
        return nytp_builder_out_of_memory(b);
    (*list)[(*n)++] = pair;
    return true;
}

static bool keep_attribute(struct nytp_builder *b, const struct nytp_event *e)
{
    return keep_pair(b, &b->p->attributes, &b->p->n_attributes, &b->capacities.attributes, e);
}

bool nytp_builder_attribute(struct nytp_builder *b, const struct nytp_event *e)
{
    if (nytp_str_is(e->u.setting.key, "ticks_per_sec")) {
        const uint64_t ticks = nytp_str_number(e->u.setting.value);
        if (ticks > 0 && ticks <= INT32_MAX)
            b->p->ticks_per_sec = (int64_t)ticks;
    } else if (nytp_str_is(e->u.setting.key, "sampled")) {
        b->settings.sampled = true;
    } else if (nytp_str_is(e->u.setting.key, "thread")) {
        b->settings.thread = (uint32_t)nytp_str_number(e->u.setting.value);
    } else if (nytp_str_is(e->u.setting.key, "parent_thread")) {
        b->settings.parent_thread = (uint32_t)nytp_str_number(e->u.setting.value);
    }
    return keep_attribute(b, e);
}

bool nytp_builder_option(struct nytp_builder *b, const struct nytp_event *e)
{
    if (nytp_str_is(e->u.setting.key, "calls"))
        b->settings.calls_2 = nytp_str_is(e->u.setting.value, "2");
    return keep_pair(b, &b->p->options, &b->p->n_options, &b->capacities.options, e);
}

static bool regex_event(struct nytp_builder *b, const struct nytp_regex_record *record)
{
    struct nytp_profile *const p = b->p;
    struct nytp_regex regex = {
        .kind = record->kind,
        .process = b->processes.n - 1,
        .line = record->line,
        .calls = record->calls,
        .matches = record->matches,
        .compiled = record->compiled,
        .total_ns = record->ns,
        .max_ns = record->max_ns,
        .max_len = record->max_len,
    };
    uint32_t pattern;
    if (!nytp_builder_file(b, record->fid, &regex.file) ||
        !nytp_builder_name(b, &record->pattern, &pattern))
        return false;
    regex.pattern = nytp_strings_get(b->strings, pattern);
    struct nytp_regex_size *const sizes = nytp_arena_alloc(b->p->arena, sizeof record->sizes);
    if (sizes == NULL ||
        !nytp_grow(&p->regexes, &b->capacities.regexes, p->n_regexes, sizeof *p->regexes))
        return nytp_builder_out_of_memory(b);
    memcpy(sizes, record->sizes, sizeof record->sizes);
    regex.sizes = sizes;
    p->regexes[p->n_regexes++] = regex;
    return true;
}

/* A file may be told again, as by another process of one recording: then with the same text. */
static bool source_event(struct nytp_builder *b, const struct nytp_source_record *record)
{
    uint32_t index;
    if (!nytp_builder_file(b, record->fid, &index))
        return false;
    struct nytp_file *const file = &b->files.at[index].model;
    if (file->n_text_sums > 0) {
        if (memcmp(file->text_sum, record->sum, sizeof file->text_sum) != 0)
            file->n_text_sums = 2;
    } else if (b->seen.proved_bytes + file->size <= MOST_PROVED_BYTES) {
        memcpy(file->text_sum, record->sum, sizeof file->text_sum);
        file->n_text_sums = 1;
        b->seen.proved_bytes += file->size;
    }
    return true;
}

/* Takes a comment of the recorder: its own attributes, its costs, the names of open calls, and
 * calls that were not made. */
bool nytp_builder_comment(struct nytp_builder *b, const struct nytp_event *e)
{
    struct nytp_event attribute;
    struct nytp_open_call call;
    struct nytp_regex_record regex;
    struct nytp_source_record source;
    enum nytp_wait_reason reason;
    struct nytp_str peer;
    uint32_t name;
    if (nytp_attribute_record_read(e, &attribute)) {
        if (nytp_str_is(attribute.u.setting.key, "counts"))
            nytp_builder_has_no_times(b);
        return keep_attribute(b, &attribute);
    }
    if (!b->in_process)
        return true;
    if (b->settings.sampled && nytp_sample_waits_note(&b->waits, &e->u.comment.text))
        return true;
    if (b->settings.sampled &&
        (reason = nytp_wait_record_read(&e->u.comment.text, &peer)) != NYTP_WAIT_UNKNOWN) {
        b->waits.reason = reason;
        return nytp_builder_name(b, &peer, &b->waits.peer);
    }
    nytp_costs_note(&nytp_builder_process(b)->model.costs, &e->u.comment.text);
    const int64_t cpu_ns = nytp_comment_number(&e->u.comment.text, NYTP_PROCESSOR_TIME_HEAD);
    if (cpu_ns >= 0)
        nytp_builder_process(b)->processor_ns = cpu_ns;
    const int64_t start = nytp_comment_number(&e->u.comment.text, NYTP_MEMORY_START_HEAD);
    if (start >= 0)
        nytp_builder_process(b)->model.memory_start = start;
    const int64_t peak = nytp_comment_number(&e->u.comment.text, NYTP_MEMORY_PEAK_HEAD);
    if (peak >= 0)
        nytp_builder_process(b)->model.memory_peak = peak;
    const int64_t resident = nytp_comment_number(&e->u.comment.text, NYTP_MEMORY_NOW_HEAD);
    if (resident > 0)
        return nytp_memory_points_note(b, resident);
    const struct nytp_label_record label = nytp_label_record_read(&e->u.comment.text);
    b->labels.any |= label.kind == NYTP_LABEL_SET;
    if (label.kind != NYTP_LABEL_NONE && label.kind != NYTP_LABEL_PROFILE)
        return nytp_label_marks_note(b, &label);
    if (label.kind == NYTP_LABEL_PROFILE)
        return nytp_profile_labels_add(b, &label);
    if (nytp_regex_record_read(&e->u.comment.text, &regex))
        return regex_event(b, &regex);
    if (nytp_source_record_read(&e->u.comment.text, &source))
        return source_event(b, &source);
    if (nytp_is_resumed_call(&e->u.comment.text)) {
        nytp_callstack_resumed(&b->stack);
        return true;
    }
    if (!nytp_open_call_read(&e->u.comment.text, &call))
        return true;
    if (!nytp_builder_name(b, &call.name, &name))
        return false;
    if (call.is_xsub && !nytp_builder_xsub(b, name))
        return false;
    return nytp_callstack_note_name(&b->stack, call.depth, name) || nytp_builder_tree_failed(b);
}
