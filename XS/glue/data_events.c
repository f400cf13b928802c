/* SPDX-License-Identifier: Artistic-1.0-Perl OR GPL-1.0-or-later
 *
 * Structures of data.h from events; see data_events.h. Nearly all events of a stream are time
 * records.
 */
#define PERL_NO_GET_CONTEXT
#include <EXTERN.h>
#include <perl.h>

#include "data_events.h"
#include "formats/base/utf8.h"
#include "formats/stream/comments/attribute_records.h"

#define MOST_PAIRS 1000 /* attributes or options. Most recordings have some twenty of each */

const struct nytp_sums_at nytp_sums_of_sub = {SUB_CALL_COUNT, SUB_INCL, SUB_EXCL, SUB_RECI,
                                              SUB_REC_DEPTH};
const struct nytp_sums_at nytp_sums_of_call = {CALL_COUNT, CALL_INCL, CALL_EXCL, CALL_RECI,
                                               CALL_REC_DEPTH};

static bool is_ascii(struct nytp_str text)
{
    for (U32 i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] >= 0x80)
            return false;
    return true;
}

/* Returns true if the recording says that a text is UTF-8 and perl has to know. */
static bool is_utf8(struct nytp_str text)
{
    return text.utf8 && !is_ascii(text) && nytp_utf8_valid(text.ptr, text.len);
}

SV *nytp_data_new_text(pTHX_ struct nytp_str text)
{
    return newSVpvn_flags(text.ptr, text.len, is_utf8(text) ? SVf_UTF8 : 0);
}

/* Returns the length of a hash's key as perl takes it: negative of UTF-8. */
static I32 key_len(struct nytp_str key)
{
    return is_utf8(key) ? -(I32)key.len : (I32)key.len;
}

/* Puts a name into a hash that is a set. */
static void note_name(pTHX_ HV *names, struct nytp_str name)
{
    (void)hv_fetch(names, name.ptr, key_len(name), 1);
}

HV *nytp_data_hash_under(pTHX_ HV *hash, U32 number)
{
    char key[12];
    const int len = my_snprintf(key, sizeof key, "%lu", (unsigned long)number);
    SV **value = hv_fetch(hash, key, len, 0);
    if (value == NULL)
        value = hv_store(hash, key, len, newRV_noinc((SV *)newHV()), 0);
    return (HV *)SvRV(*value);
}

/* Returns the file of a record that needs one, or NULL with the error set. */
static struct nytp_data_file *need_file(struct nytp_data *data, const struct nytp_event *event,
                                        U32 fid)
{
    struct nytp_data_file *const file = nytp_data_file(data, fid);
    if (file == NULL)
        nytp_error_at(&data->error, NYTP_ERR_FORMAT, event->offset, data->inflated,
                      "%s names file id %u, which is not defined", nytp_tag_name(event->tag),
                      (unsigned)fid);
    return file;
}

static bool set_pair(pTHX_ HV *pairs, struct nytp_setting pair)
{
    const I32 len = key_len(pair.key);
    if (HvUSEDKEYS(pairs) < MOST_PAIRS || hv_exists(pairs, pair.key.ptr, len))
        (void)hv_store(pairs, pair.key.ptr, len, nytp_data_new_text(aTHX_ pair.value), 0);
    return true;
}

static bool add_attribute(pTHX_ struct nytp_data *data, struct nytp_setting attribute)
{
    if (nytp_str_is(attribute.key, "ticks_per_sec")) {
        char digits[32] = "";
        const struct nytp_str value = attribute.value;
        memcpy(digits, value.ptr,
               value.len < sizeof digits - 1 ? value.len : sizeof digits - 1);
        data->ticks_per_sec = strtod(digits, NULL);
    }
    return set_pair(aTHX_ data->attributes, attribute);
}

/* A recording of counts only says so; no other comment is needed. */
static bool add_comment(pTHX_ struct nytp_data *data, const struct nytp_event *event)
{
    struct nytp_event attribute;
    if (!nytp_attribute_record_read(event, &attribute) ||
        !nytp_str_is(attribute.u.setting.key, "counts"))
        return true;
    data->has_no_times = true;
    return add_attribute(aTHX_ data, attribute.u.setting);
}

static bool add_pid_start(struct nytp_data *data, const struct nytp_event *event)
{
    if (!NYTP_GROW(&data->open))
        return nytp_out_of_memory(&data->error);
    data->open.at[data->open.n++] =
        (struct nytp_data_process){event->u.process.pid, event->u.process.time_s};
    data->start_s = event->u.process.time_s;
    data->has_processes = true;
    data->discount = false; /* the process before may have left one */
    return true;
}

static bool add_pid_end(struct nytp_data *data, const struct nytp_event *event)
{
    data->end_s = event->u.process.time_s;
    for (U32 i = data->open.n; i-- > 0;)
        if (data->open.at[i].pid == event->u.process.pid) {
            data->duration_s += event->u.process.time_s - data->open.at[i].start_s;
            data->open.at[i] = data->open.at[--data->open.n];
            break;
        }
    return true;
}

/* ---- files, their lines and texts ---- */

static bool add_file(pTHX_ struct nytp_data *data, const struct nytp_event *event)
{
    const struct nytp_new_fid *const new = &event->u.new_fid;
    if (new->fid == 0 || new->fid > NYTP_DATA_MAX_FID)
        return nytp_error_at(&data->error, new->fid == 0 ? NYTP_ERR_FORMAT : NYTP_ERR_LIMIT,
                             event->offset, data->inflated, "file id %u is not in 1..%u",
                             (unsigned)new->fid, NYTP_DATA_MAX_FID);
    if (!nytp_reserve_zeroed(&data->files, &data->n_files, (uint64_t) new->fid + 1,
                             sizeof *data->files))
        return nytp_out_of_memory(&data->error);
    if (data->files[new->fid] == NULL)
        Newxz(data->files[new->fid], 1, struct nytp_data_file);
    struct nytp_data_file *const file = data->files[new->fid];
    file->fid = new->fid;
    file->eval_fid = new->eval_fid;
    file->eval_line = new->eval_line;
    file->flags = new->flags;
    file->size = new->size;
    file->mtime_s = new->mtime_s;
    SvREFCNT_dec(file->name);
    file->name = nytp_data_new_text(aTHX_ new->name);
    return true;
}

static bool check_line(struct nytp_data *data, U32 line)
{
    return line <= NYTP_DATA_MAX_LINE ||
           nytp_error_set(&data->error, NYTP_ERR_LIMIT, "line %u is above the limit %u",
                          (unsigned)line, NYTP_DATA_MAX_LINE);
}

/* Counts the lines by which an array has grown. */
static bool count_lines(struct nytp_data *data, U32 grown)
{
    data->dense_lines += grown;
    return data->dense_lines <= NYTP_DATA_MAX_LINES ||
           nytp_error_set(&data->error, NYTP_ERR_LIMIT,
                          "lines of all files together are above the limit %u",
                          NYTP_DATA_MAX_LINES);
}

struct nytp_data_time *nytp_data_time_at(struct nytp_data *data, struct nytp_data_lines *lines,
                                         U32 line)
{
    const U32 before = lines->n;
    if (line < before)
        return &lines->at[line];
    if (!check_line(data, line))
        return NULL;
    if (!nytp_reserve_zeroed(&lines->at, &lines->n, (uint64_t)line + 1, sizeof *lines->at)) {
        nytp_out_of_memory(&data->error);
        return NULL;
    }
    return count_lines(data, lines->n - before) ? &lines->at[line] : NULL;
}

/* Adds the time of a statement to a line, at one of the levels. */
static bool charge_time(struct nytp_data *data, struct nytp_data_lines *lines, U32 line,
                        int64_t ticks, U32 count)
{
    struct nytp_data_time *const time = nytp_data_time_at(data, lines, line);
    if (time == NULL)
        return false;
    time->ticks += ticks;
    time->count += count;
    time->seen = true;
    return true;
}

static bool add_time(struct nytp_data *data, const struct nytp_event *event)
{
    const struct nytp_time *const time = &event->u.time;
    struct nytp_data_file *const file = need_file(data, event, time->fid);
    if (file == NULL)
        return false;
    const U32 count = !data->discount;
    data->n_discounts += data->discount;
    data->discount = false;
    data->n_times++;
    data->total_ticks += time->ticks;
    struct nytp_data_lines *const at = file->times;
    if (!charge_time(data, &at[NYTP_LEVEL_LINE], time->line, time->ticks, count))
        return false;
    if (event->tag == NYTP_TAG_TIME_LINE)
        return true;
    data->has_blocks = true;
    return charge_time(data, &at[NYTP_LEVEL_BLOCK], time->block_line, time->ticks, count) &&
           charge_time(data, &at[NYTP_LEVEL_SUB], time->sub_line, time->ticks, count);
}

/* Adds one statement of a run as the events that it stands for. */
static bool add_statement_event(struct nytp_data *data, const struct nytp_statement *statement,
                                uint64_t offset)
{
    const struct nytp_event event = {
        .tag = NYTP_TAG_TIME_LINE,
        .offset = offset,
        .u.time = {.ticks = statement->ticks, .fid = statement->fid, .line = statement->line}};
    data->discount = data->discount || statement->what == NYTP_STATEMENT_DISCOUNTED;
    return data->sink.event(&data->sink, &event);
}

/* Adds statements up to the first that is invalid or on a new line. Returns how many. */
static size_t add_known(struct nytp_data *data, const struct nytp_statement *run, size_t n)
{
    const struct nytp_data_file *const file = nytp_data_file(data, run->fid);
    if (file == NULL || data->discount)
        return 0;
    const struct nytp_data_lines lines = file->times[NYTP_LEVEL_LINE];
    uint64_t discounts = 0;
    int64_t ticks = 0;
    const struct nytp_statement *s = run, *const end = run + n;
    for (; s < end && s->line < lines.n; s++) {
        struct nytp_data_time *const time = &lines.at[s->line];
        time->ticks += s->ticks;
        time->count += s->what == NYTP_STATEMENT_COUNTS;
        time->seen = true;
        discounts += s->what == NYTP_STATEMENT_DISCOUNTED;
        ticks += s->ticks;
    }
    const size_t added = (size_t)(s - run);
    data->n_discounts += discounts;
    data->n_times += added;
    data->total_ticks += ticks;
    return added;
}

/* Adds consecutive TIME_LINE records. An invalid record, or one of a new line, is added as a
 * single event. */
static bool add_statements(struct nytp_sink *sink, const struct nytp_run *run, uint64_t offset)
{
    struct nytp_data *const data = (struct nytp_data *)sink;
    for (size_t i = 0; i < run->n;) {
        i += add_known(data, &run->at[i], run->n - i);
        if (i < run->n && !add_statement_event(data, &run->at[i++], offset))
            return false;
    }
    return true;
}

static bool add_source_line(pTHX_ struct nytp_data *data, const struct nytp_event *event)
{
    struct nytp_data_file *const file = nytp_data_file(data, event->u.src_line.fid);
    const U32 line = event->u.src_line.line;
    if (file == NULL) /* stock readers accept source of an undefined file */
        return true;
    if (file->source == NULL) {
        file->source = newAV();
        av_store(data->sources, file->fid, newRV_noinc((SV *)file->source));
    }
    const SSize_t last = av_len(file->source);
    if (!check_line(data, line) ||
        !count_lines(data, (SSize_t)line > last ? (U32)((SSize_t)line - last) : 0))
        return false;
    av_store(file->source, line, nytp_data_new_text(aTHX_ event->u.src_line.text));
    return true;
}

/* ---- subs and calls ---- */

static AV *new_sums(pTHX_ const struct nytp_sums_at *at, SSize_t last)
{
    AV *const av = newAV();
    av_extend(av, last);
    av_store(av, at->count, newSVuv(0));
    av_store(av, at->rec_depth, newSVuv(0));
    av_store(av, at->incl, newSVnv(0));
    av_store(av, at->excl, newSVnv(0));
    av_store(av, at->reci, newSVnv(0));
    return av;
}

static void add_uv(pTHX_ AV *av, SSize_t at, UV more)
{
    SV *const sum = *av_fetch(av, at, 0);
    sv_setuv(sum, SvUV(sum) + more);
}

static void add_nv(pTHX_ AV *av, SSize_t at, NV more)
{
    SV *const sum = *av_fetch(av, at, 0);
    sv_setnv(sum, SvNV(sum) + more);
}

static void raise_uv(pTHX_ AV *av, SSize_t at, UV least)
{
    SV *const most = *av_fetch(av, at, 0);
    if (SvUV(most) < least)
        sv_setuv(most, least);
}

static void add_calls(pTHX_ AV *av, const struct nytp_sums_at *at,
                      const struct nytp_sub_callers *calls)
{
    add_uv(aTHX_ av, at->count, calls->count);
    add_nv(aTHX_ av, at->incl, calls->incl_s);
    add_nv(aTHX_ av, at->excl, calls->excl_s);
    add_nv(aTHX_ av, at->reci, calls->reci_s);
    raise_uv(aTHX_ av, at->rec_depth, calls->rec_depth);
}

void nytp_data_add_sums(pTHX_ AV *into, AV *from, const struct nytp_sums_at *at)
{
    add_uv(aTHX_ into, at->count, SvUV(*av_fetch(from, at->count, 0)));
    add_nv(aTHX_ into, at->incl, SvNV(*av_fetch(from, at->incl, 0)));
    add_nv(aTHX_ into, at->excl, SvNV(*av_fetch(from, at->excl, 0)));
    add_nv(aTHX_ into, at->reci, SvNV(*av_fetch(from, at->reci, 0)));
    raise_uv(aTHX_ into, at->rec_depth, SvUV(*av_fetch(from, at->rec_depth, 0)));
}

/* Returns the sub of this name, made if absent. */
static AV *sub_named(pTHX_ struct nytp_data *data, struct nytp_str name)
{
    SV **const known = hv_fetch(data->subs, name.ptr, key_len(name), 0);
    if (known != NULL)
        return (AV *)SvRV(*known);
    AV *const sub = new_sums(aTHX_ & nytp_sums_of_sub, SUB_META);
    av_store(sub, SUB_FID, newSVuv(0));
    av_store(sub, SUB_FIRST_LINE, newSV(0));
    av_store(sub, SUB_LAST_LINE, newSV(0));
    av_store(sub, SUB_NAME, nytp_data_new_text(aTHX_ name));
    (void)hv_store(data->subs, name.ptr, key_len(name), newRV_noinc((SV *)sub), 0);
    return sub;
}

/* A sub may be defined in several files, mostly evals. The lowest file id stays. */
static bool add_sub_info(pTHX_ struct nytp_data *data, const struct nytp_event *event)
{
    const struct nytp_sub_info *const info = &event->u.sub_info;
    if (info->fid != 0 && need_file(data, event, info->fid) == NULL)
        return false;
    AV *const sub = sub_named(aTHX_ data, info->name);
    SV *const fid = *av_fetch(sub, SUB_FID, 0);
    if (SvUV(fid) != 0 && SvUV(fid) <= info->fid)
        return true;
    sv_setuv(fid, info->fid);
    sv_setuv(*av_fetch(sub, SUB_FIRST_LINE, 0), info->first_line);
    sv_setuv(*av_fetch(sub, SUB_LAST_LINE, 0), info->last_line);
    return true;
}

HV *nytp_data_called_by(pTHX_ AV *sub)
{
    SV **value = av_fetch(sub, SUB_CALLED_BY, 0);
    if (value == NULL)
        value = av_store(sub, SUB_CALLED_BY, newRV_noinc((SV *)newHV()));
    return (HV *)SvRV(*value);
}

static AV *new_call(pTHX)
{
    AV *const call = new_sums(aTHX_ & nytp_sums_of_call, CALL_CALLERS);
    av_store(call, CALL_SPARE, newSVnv(0));
    av_store(call, CALL_SPARE + 1, newSVnv(0));
    av_store(call, CALL_CALLERS, newRV_noinc((SV *)newHV()));
    return call;
}

/* Returns the calls of a sub from a line, made if absent. */
static AV *call_at(pTHX_ AV *sub, U32 fid, U32 line)
{
    HV *const by_line = nytp_data_hash_under(aTHX_ nytp_data_called_by(aTHX_ sub), fid);
    char key[12];
    const int len = my_snprintf(key, sizeof key, "%lu", (unsigned long)line);
    SV **value = hv_fetch(by_line, key, len, 0);
    if (value == NULL)
        value = hv_store(by_line, key, len, newRV_noinc((SV *)new_call(aTHX)), 0);
    return (AV *)SvRV(*value);
}

static bool add_sub_callers(pTHX_ struct nytp_data *data, const struct nytp_event *event)
{
    const struct nytp_sub_callers *const calls = &event->u.sub_callers;
    if (calls->fid != 0 && need_file(data, event, calls->fid) == NULL)
        return false;
    AV *const sub = sub_named(aTHX_ data, calls->callee);
    if (calls->fid == 0 && calls->count == 0) { /* such a record only marks the kind of sub */
        note_name(aTHX_ data->foreign, calls->callee);
        (void)nytp_data_hash_under(aTHX_ nytp_data_called_by(aTHX_ sub), 0);
        return true;
    }
    AV *const call = call_at(aTHX_ sub, calls->fid, calls->line);
    add_calls(aTHX_ call, &nytp_sums_of_call, calls);
    add_calls(aTHX_ sub, &nytp_sums_of_sub, calls);
    data->n_sub_calls += calls->count;
    if (calls->caller.len > 0)
        note_name(aTHX_(HV *) SvRV(*av_fetch(call, CALL_CALLERS, 0)), calls->caller);
    return true;
}

static bool add_event(pTHX_ struct nytp_data *data, const struct nytp_event *event)
{
    switch (event->tag) {
    case NYTP_TAG_TIME_LINE:
    case NYTP_TAG_TIME_BLOCK:
        return add_time(data, event);
    case NYTP_TAG_DISCOUNT:
        data->discount = true;
        return true;
    case NYTP_TAG_SRC_LINE:
        return add_source_line(aTHX_ data, event);
    case NYTP_TAG_SUB_INFO:
        return add_sub_info(aTHX_ data, event);
    case NYTP_TAG_SUB_CALLERS:
        return add_sub_callers(aTHX_ data, event);
    case NYTP_TAG_NEW_FID:
        return add_file(aTHX_ data, event);
    case NYTP_TAG_ATTRIBUTE:
        return add_attribute(aTHX_ data, event->u.setting);
    case NYTP_TAG_OPTION:
        return set_pair(aTHX_ data->options, event->u.setting);
    case NYTP_TAG_PID_START:
        return add_pid_start(data, event);
    case NYTP_TAG_PID_END:
        return add_pid_end(data, event);
    case NYTP_TAG_START_DEFLATE:
        data->inflated = true;
        return true;
    case NYTP_TAG_COMMENT:
        return add_comment(aTHX_ data, event);
    default: /* calls one by one: the records of sums suffice */
        return true;
    }
}

static bool add_event_to_data(struct nytp_sink *sink, const struct nytp_event *event)
{
    struct nytp_data *const data = (struct nytp_data *)sink;
    dTHXa(data->perl);
    if (add_event(aTHX_ data, event))
        return true;
    if (!data->error.has_offset) {
        data->error.has_offset = true;
        data->error.offset = event->offset;
        data->error.inflated = data->inflated;
    }
    return false;
}

void nytp_data_set_sink(struct nytp_data *data)
{
    data->sink = (struct nytp_sink){add_event_to_data, add_statements, data->run};
}
